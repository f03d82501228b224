"""What a Q-network learns towards: returns, and distributions of them."""
