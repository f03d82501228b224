"""Charts of this learner on the Custom Scalars page of TensorBoard, by category and title: patterns of whole tags."""

CHARTS = {
    "Play": {"play points a hand, own less greedy's": "play_only/difference"},
    "Learning": {"loss (points²)": "loss/value", "targets (points)": "target/.*", "learning rate": "schedule/lr"},
}
