"""Charts of this learner on the Custom Scalars page of TensorBoard, by category and title: patterns of whole tags."""

CHARTS = {
    "Learning": {
        "losses": "loss/.*",
        "points a hand that the best response is ahead": "opponents/points_ahead_per_hand",
        "epsilon": "schedule/epsilon",
    },
    "Throughput": {"hands a second": "speed/hands_per_second"},
}
