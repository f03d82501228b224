"""Charts of this learner on the Custom Scalars page of TensorBoard, by category and title: patterns of whole tags."""

MEASURED = "leads"
"""What else is measured where matches are played: how experts' positions are led."""

CHARTS = {
    "Points a hand": {"self-play, a player: play, hand, crib": "self_play/.*_points_per_hand"},
    "Learning": {
        "loss of the discard network": "loss/discard",
        "loss of the play network": "loss/play",
        "discard values and targets, mean (points)": "(q|target)/discard_mean",
        "play values and targets, mean (points)": "(q|target)/play_mean",
        "discard values and targets, deviation (points)": "(q|target)/discard_std",
        "play values and targets, deviation (points)": "(q|target)/play_std",
    },
    "Throughput": {
        "hands a second": "speed/hands_per_second",
        "samples a second": "speed/samples_per_second",
        "seconds of an iteration: playing, learning, monitoring": "speed/(playing|learning|monitoring)_seconds",
    },
    "Schedule": {"epsilon": "schedule/epsilon", "learning rates": "schedule/.*_lr"},
}
