"""Charts of this learner on the Custom Scalars page of TensorBoard, by category and title: patterns of whole tags."""

CHARTS = {
    "Learning": {
        "loss": "loss/.*",
        "targets": "target/.*",
        "hands a game": "self_play/hands_per_game",
        "learning rate": "schedule/lr",
    },
    "Throughput": {"games a second": "speed/games_per_second", "share of playing": "speed/playing_share"},
}
