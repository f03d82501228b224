"""What is played for docs/results/search.md: rows of the play alone, full games, and which of them are compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from deepcrib.agents.specs.registry import MINIMAX_NAMES

SAMPLES = (10, 20, 30, 40, 50, 75, 100, 150, 200, 300, 400)
SEED = 2022
PUBLISHED = {"random": -1.14, "minimax": -0.11, "greedy_minimax": 0.12}
"""Points a hand: of 10,000 hands for random, and for the searches the means over all N, 40 times 1,000 hands."""


@dataclass(frozen=True)
class Row:
    """An agent of the table."""

    name: str
    hands: str = ""
    samples: int = -1

    @property
    def spec(self) -> Any:
        """What `make_agent` is given."""
        return {"name": self.name, "hands": self.hands, "samples": self.samples} if self.hands else self.name

    @property
    def label(self) -> str:
        """The row's name in a table."""
        number = f"N = {self.samples}" if self.samples else "all hands"
        return f"{self.name}, {self.hands}, {number}" if self.hands else self.name


def rows() -> Iterator[Row]:
    """Random; both searches by the number of samples; at N = 50 the other ways to sample; all hands instead."""
    yield Row("random")
    for samples in SAMPLES:
        for name in MINIMAX_NAMES:
            yield Row(name, "ranks", samples)
    for name in MINIMAX_NAMES:
        for hands in ("unseen", "kept"):
            yield Row(name, hands, 50)
    for name in MINIMAX_NAMES:
        yield Row(name, "ranks", 0)
        yield Row(name, "unseen", 0)


BOTH = ("greedy", "deterministic")
PEGGING = "discards: expected_value_pegging"


def with_pegging(name: str) -> str:
    """The label of a search whose discards count the play."""
    return f"{name}, {PEGGING}"


def matches() -> Iterator[tuple[str, Any, tuple[str, ...], int]]:
    """Full games: (label, agent, opponents, games in thousands); searches first."""
    for name in MINIMAX_NAMES:
        yield name, name, BOTH, 10
    yield "expected_value_pegging", "expected_value_pegging", (*BOTH, "expected_value"), 200
    yield "expected_value", "expected_value", BOTH, 200
    for name in MINIMAX_NAMES:
        yield with_pegging(name), {"name": name, "discards": "expected_value_pegging"}, BOTH, 10
    yield "minimax, hands: kept", {"name": "minimax", "hands": "kept"}, BOTH, 2  # some times slower than the others


def match_comparisons() -> Iterator[tuple[str, str, str]]:
    """(label, less label, opponent) of matches on the same deals."""
    for opponent in BOTH:
        yield from ((with_pegging(name), name, opponent) for name in MINIMAX_NAMES)
        yield "expected_value_pegging", "expected_value", opponent
        yield "minimax, hands: kept", "minimax", opponent


def comparisons() -> Iterator[tuple[Row, Row]]:
    """Rows whose difference on the same cards says something: the two searches, the samples' source, their number."""
    first, second = MINIMAX_NAMES
    for hands, samples in (("ranks", 50), ("ranks", 400), ("unseen", 50), ("unseen", 0)):
        yield Row(second, hands, samples), Row(first, hands, samples)
    for name in MINIMAX_NAMES:
        yield Row(name, "unseen", 50), Row(name, "ranks", 50)
        yield Row(name, "kept", 50), Row(name, "unseen", 50)
        yield Row(name, "ranks", 100), Row(name, "ranks", 50)
        yield Row(name, "ranks", 400), Row(name, "ranks", 100)
        yield Row(name, "unseen", 0), Row(name, "unseen", 50)
