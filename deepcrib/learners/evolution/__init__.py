"""Values of cards that choose the discard, evolved (Kendall and Shaw 2002)."""
