"""Charts of this learner on the Custom Scalars page of TensorBoard, by category and title: patterns of whole tags."""

CHARTS = {
    "Discards": {
        "share of the best points, held-out hands": "held_out.*/hand",
        "the same with the crib": "held_out.*/with_crib",
    },
    "Evolution": {"updates": "update/(?!deals$).*", "spread of the values of ranks": "weights/spread"},
}
