"""The best reply to a known way of playing with unknown cards: one tree for players of `policies` and for any other."""
