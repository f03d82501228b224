"""Weighted strategies by score location (Lang 2018, chapter 3)."""
