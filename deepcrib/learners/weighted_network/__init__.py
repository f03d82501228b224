"""A small network over strategies and score (Lang 2018, section 5.2)."""
