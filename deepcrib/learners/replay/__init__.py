"""The deep-RL core: self-play, a replay buffer, targets and Q-networks (Bélanger et al. 2019)."""
