"""What turns features into values: a linear head, duels, distributions of returns."""
