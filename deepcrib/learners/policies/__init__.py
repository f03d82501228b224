"""What learners of a mixed policy share: a network that is one, the agent's weights, hands of self-play."""
