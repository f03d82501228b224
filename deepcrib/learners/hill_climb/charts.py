"""Charts of this learner on the Custom Scalars page of TensorBoard, by category and title: patterns of whole tags."""

CHARTS = {
    "Contests": {
        "share of the pairs' points, and what is required": "contest/(share|required)",
        "share of contests that moved the champion": "contest/moved",
        "norm of the weights": "weights/norm",
    },
    "Throughput": {"games a second": "speed/games_per_second"},
}
