"""What the opponent may hold, given how it discards, how it plays, and all that has been seen."""
