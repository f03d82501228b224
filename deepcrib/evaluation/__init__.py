"""How good is an agent: matches turned into win rates with intervals, and points by role and kind."""
