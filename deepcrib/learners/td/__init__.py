"""A perceptron by temporal differences (O'Connor 2000)."""
