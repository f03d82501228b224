"""The game tree of the play and what walks it: sampled minimax and best responses."""
