"""Proximal policy gradients in the play (Schulman et al. 2017), with much entropy (Rudolph et al. 2025)."""
