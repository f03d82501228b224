"""A small network for the play, trained on random four-card hands (Partida 2022)."""
