"""Minibatches: which samples, and their inputs."""
