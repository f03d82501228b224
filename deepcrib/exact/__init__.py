"""Exact statistics of discards and cribs, crib tables, pegging records, and the strategies made of them."""
