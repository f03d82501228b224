"""Charts of this learner on the Custom Scalars page of TensorBoard, by category and title: patterns of whole tags."""

CHARTS = {
    "Learning": {
        "losses": "loss/.*",
        "entropy of the policy (nats)": "policy/entropy",
        "temperature (points)": "schedule/temperature",
    },
    "Throughput": {"hands a second": "speed/hands_per_second"},
}
