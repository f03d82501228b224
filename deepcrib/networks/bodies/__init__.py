"""What turns inputs into features: feed-forward, convolutions, LSTM."""
