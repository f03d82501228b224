"""The price of decisions: the value of the best card (or discard) minus that of the one taken, in points.

Both are followed by the best response to a known opponent (`BestResponseAgent`); values are exact means over what the
player does not know, at the score 0-0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deepcrib.evaluation.evaluate import ROLES
from deepcrib.game.cards import NO_CARD, format_cards
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.rules import DISCARD_SLOTS_6, HAND_SIZE
from deepcrib.search.best_response import BestResponseAgent

KINDS = ("discard", "play 1", "play 2", "play 3")
"""The decisions of a hand: the discard, and the cards that one plays; the last one is never a choice."""
NOTHING = 1e-6  # points; what costs less was right
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Decision:
    """One decision: what was seen, taken, best, as text; regret in points. hand: number of the deal or in a game."""

    kind: str
    role: str
    hand: int
    cards: str
    seen: str
    taken: str
    best: str
    regret: float


@dataclass(frozen=True)
class Priced:
    """Decisions of one of KINDS: points lost by each, [M], and the costliest of them described, these first."""

    kind: str
    losses: NDArray[np.float64]
    worst: list[Decision]


def price(
    responder: BestResponseAgent,
    observation: DiscardObservation | PlayObservation,
    taken: NDArray[np.integer],
    hands: NDArray[np.integer],
    worst: int | None = None,
) -> list[Priced]:
    """Discards, or plays of which none is a last card, [N] of `hands` [N], by kind; `worst` of each are described."""
    if isinstance(observation, DiscardObservation):
        values, kinds = responder.discard_values(observation), np.zeros(len(observation), dtype=np.int64)
    else:
        values = responder.play_values(observation)
        kinds = 1 + HAND_SIZE - (observation.hand != NO_CARD).sum(axis=1)
    losses = values.max(axis=1) - values[np.arange(len(values)), taken]
    losses = np.where(losses > _ROUNDING, losses, 0.0)
    priced = []
    for kind in np.unique(kinds):
        rows = np.flatnonzero(kinds == kind)
        costliest = rows[np.argsort(-losses[rows], kind="stable")[:worst]]
        described = [
            _described(KINDS[kind], observation, i, values[i], int(taken[i]), float(losses[i]), int(hands[i]))
            for i in costliest
        ]
        priced.append(Priced(KINDS[kind], losses[rows], described))
    return priced


def _described(
    kind: str,
    o: DiscardObservation | PlayObservation,
    i: int,
    values: NDArray[np.float64],
    taken: int,
    regret: float,
    hand: int,
) -> Decision:
    cards, seen = o.hand[i], "" if isinstance(o, DiscardObservation) else _seen(o, i)

    def text(choice: int) -> str:
        chosen = cards[DISCARD_SLOTS_6[choice]] if isinstance(o, DiscardObservation) else cards[[choice]]
        return f"{format_cards(chosen)} ({values[choice]:+.2f})"

    held, best = format_cards(cards[cards != NO_CARD]), int(values.argmax())
    return Decision(kind, ROLES[int(o.is_dealer[i])], hand, held, seen, text(taken), text(best), regret)


def _seen(o: PlayObservation, i: int) -> str:
    """Starter, series and the cards before it."""
    start, end = int(o.series_start[i]), int((o.history[i] != NO_CARD).sum())
    series, before = format_cards(o.history[i, start:end]) or "-", format_cards(o.history[i, :start])
    seen = f"starter {format_cards(o.starter[i : i + 1])}, series {series} = {o.count[i]}"
    return f"{seen}, before {before}" if before else seen
