"""Cribbage itself: cards, rules, chance, scripted policies, what a player sees, and the engine."""
