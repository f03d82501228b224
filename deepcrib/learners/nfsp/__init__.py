"""Neural fictitious self-play in the play (Heinrich and Silver 2016)."""
