"""deepcrib: deep reinforcement learning for the card game cribbage."""

__version__ = "0.1.0"
