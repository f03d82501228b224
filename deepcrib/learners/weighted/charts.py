"""Charts of this learner on the Custom Scalars page of TensorBoard, by category and title: patterns of whole tags."""

CHARTS = {
    "Weights": {
        "mean weights as pone": "weights_pone/(?!largest$|change$).*",
        "mean weights as dealer": "weights_dealer/(?!largest$|change$).*",
        "largest weight, mean over scores": "weights_.*/largest",
        "change since the last checkpoint": "weights_.*/change",
    },
    "Throughput": {"games a second": "speed/games_per_second"},
}
