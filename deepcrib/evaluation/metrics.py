"""Metrics as plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


class Metrics:
    """What a dataclass of metrics inherits."""

    def to_dict(self) -> dict[str, Any]:
        """All metrics as plain values, for `summary.json`."""
        return asdict(self)  # type: ignore[call-overload]


@dataclass
class Gain:
    """Points a hand that a responder gains, with the 95% interval (Student's t on deals).

    discards, play: the parts of it that are due to other discards, and to another play of the agent's own discards;
    None of a responder whose deals are played.
    """

    deals: int
    gain: float
    ci_low: float
    ci_high: float
    discards: float | None = None
    play: float | None = None


@dataclass
class Exploitability(Metrics):
    """What an agent loses to a responder: by the responder's role (`pone`, `dealer`), and over both alike.

    hands, seconds: of networks that learned to beat it, from so many hands.
    """

    agent: str
    deals: int
    total: Gain
    roles: dict[str, Gain]
    hands: int | None = None
    seconds: float | None = None
