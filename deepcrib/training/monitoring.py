"""Matches on the way: what is shown of them, by TensorBoard tag."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from deepcrib.agents import Agent

MATCH_METRICS = {
    "win_rate": "win_rate",
    "win_rate_low": "ci_low",
    "win_rate_high": "ci_high",
    "margin": "margin",
    "hand_margin": "hand_margin",
    "hand_margin_low": "hand_margin_low",
    "hand_margin_high": "hand_margin_high",
    "points_per_hand": "points_per_hand",
    "opponent_points_per_hand": "opponent_points_per_hand",
}
"""The end of a tag, and which field of a match's result it shows."""


Evaluate = Callable[[Agent, Any, int, int], Any]
"""(agent, opponent, games, seed) -> what has the fields of MATCH_METRICS: `evaluation` is no room to import here."""


def match_metrics(name: str, found: Any) -> dict[str, float]:
    """A match against the opponent of that name, without bounds that there are not."""
    metrics = {f"{name}/{tag}": getattr(found, field) for tag, field in MATCH_METRICS.items()}
    return {tag: value for tag, value in metrics.items() if value is not None}
