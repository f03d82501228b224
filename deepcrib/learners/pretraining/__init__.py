"""What networks learn before the first iteration of self-play, each a learner that `fit` runs as a stage."""
