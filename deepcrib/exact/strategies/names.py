"""The names of the strategies of Lang 2018 (section 3.1), apart from the compiled functions that they are."""

THESIS_STRATEGIES = (
    "hand_max_min",
    "hand_max_avg",
    "hand_max_med",
    "hand_max_poss",
    "crib_min_avg",
    "pegging_max_avg_gained",
    "pegging_max_med_gained",
    "pegging_min_avg_given",
)
"""The thesis's eight, in its order."""
STRATEGIES = (*THESIS_STRATEGIES, "crib_max_avg")
"""All strategies by name: the eight and what they lack, the dealer's wish for a rich crib."""
