"""Learning: rewards, targets, the replay buffer, pretraining and the training loop."""
