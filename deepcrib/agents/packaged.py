"""The trained agents that come with the package, `weights/NAME.safetensors`, and the cards beside them.

What a training wrote of itself is in the metadata of its weights. A card, `weights/NAME.json`, holds what its run
folder tells besides, and what was measured later; `benchmarks/zoo.py` writes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from pathlib import Path

import msgspec

WEIGHTS = Path(__file__).resolve().parents[1] / "weights"
CHAMPION, CHAMPION_NETWORKS = "champion", "champion_networks"
CHAMPIONS_OWN = {"agent": CHAMPION_NETWORKS, "rollouts": "champion_rollouts"}
"""By what the strongest agent, whom `deepcrib play` meets, looks ahead."""
LEVELS = {"beginner": (6.0, 0.4), "easy": (4.0, 0.24), "medium": (2.5, 0.13), "hard": (1.5, 0.03), "expert": (0.6, 0.0)}
"""Weaker players by the champion's networks: the temperature of their plays, points, and the share of random choices.

Chosen for even steps of the win rate against the champion's networks, which docs/play.md has.
"""
LIBRARY = (
    *("deterministic", "greedy", "expected_value", "minimax", "greedy_minimax"),
    *("td_perceptron", "quick", "evolutionary", "random"),
)
"""Whom an opponent may be like, for an agent that learns it, beside the champion."""

Estimate = tuple[float, float, float]
"""A figure with the bounds of its 95% interval."""


@dataclass(frozen=True)
class LeaguePlace:
    """A place in the league, whose page has the whole of it.

    gain: points a hand, own minus the opponent's. exploited: points a hand that a best responder gains, over so many
    deals; None where that has not been measured.
    """

    rank: int
    agents: int
    rating: Estimate
    win_rate: Estimate
    gain: Estimate
    exploited: Estimate | None = None
    deals: int = 0


@dataclass(frozen=True)
class Card:
    """Where a trained agent comes from, and how strong it is.

    what: in words. command, commit, machine, seconds: of the whole training, its matches included. chosen_by: the rule
    by which it was taken, and what it came to. sha256, size: of the file of weights, in bytes.
    """

    what: str
    command: str
    commit: str
    machine: str
    seconds: float
    chosen_by: str
    sha256: str
    size: int
    league: LeaguePlace | None = None


def packaged_weights() -> dict[str, Path]:
    """The weights that come with the package, by name."""
    return {path.stem: path for path in sorted(WEIGHTS.glob("*.safetensors"))}


def read_cards() -> dict[str, Card]:
    """The cards of all of them by name, the best of the league first."""
    files = {name: path.with_suffix(".json") for name, path in packaged_weights().items()}
    cards = {name: msgspec.json.decode(path.read_bytes(), type=Card) for name, path in files.items()}
    return dict(sorted(cards.items(), key=lambda item: item[1].league.rank if item[1].league else inf))
