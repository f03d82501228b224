"""Magnetic mirror descent in the play (Sokota et al. 2023)."""
