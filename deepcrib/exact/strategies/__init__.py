"""The discard and play strategies of Lang 2018, by exact statistics."""
