"""Charts of this learner on the Custom Scalars page of TensorBoard, by category and title: patterns of whole tags."""

MEASURED = "pairs"
"""What else is measured where matches are played: margins of pairs of hands."""

CHARTS = {
    "Learning": {"squared error": "loss/squared_error", "values after the discard": "value/.*"},
    "Throughput": {"hands a second": "speed/hands_per_second"},
}
