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


def price_discards(
    responder: BestResponseAgent,
    observation: DiscardObservation,
    actions: NDArray[np.int8],
    hands: NDArray[np.int64],
    worst: int | None = None,
) -> Priced:
    """Discards [N] of `hands` [N]; at most `worst` of them are described (by default all)."""
    values = responder.discard_values(observation)
    losses = _losses(values, actions)
    described = [
        _discard_text(observation, i, values[i], actions[i], losses[i], int(hands[i]))
        for i in np.argsort(-losses, kind="stable")[:worst]
    ]
    return Priced("discard", losses, described)


def price_plays(
    responder: BestResponseAgent,
    observation: PlayObservation,
    slots: NDArray[np.int8],
    hands: NDArray[np.int64],
    worst: int | None = None,
) -> list[Priced]:
    """Plays [N] of `hands` [N], none of them a last card, by kind; at most `worst` of each are described."""
    values = responder.play_values(observation)
    losses = _losses(values, slots)
    numbers = HAND_SIZE - (observation.hand != NO_CARD).sum(axis=1)
    priced = []
    for number in np.unique(numbers):
        which = np.flatnonzero(numbers == number)
        described = [
            _play_text(observation, i, values[i], slots[i], losses[i], int(hands[i]))
            for i in which[np.argsort(-losses[which], kind="stable")[:worst]]
        ]
        priced.append(Priced(KINDS[1 + number], losses[which], described))
    return priced


def _losses(values: NDArray[np.float64], taken: NDArray[np.int8]) -> NDArray[np.float64]:
    """[N] best value minus that of what was taken; 1e-9 and less, rounding, is 0."""
    losses = values.max(axis=1) - values[np.arange(len(values)), taken]
    return np.where(losses > 1e-9, losses, 0.0)


def _discard_text(
    o: DiscardObservation, i: int, values: NDArray[np.float64], action: int, regret: float, hand: int
) -> Decision:
    def thrown(action: int) -> str:
        return f"{format_cards(o.hand[i, DISCARD_SLOTS_6[action]])} ({values[action]:+.2f})"

    best = int(values.argmax())
    role = ROLES[int(o.is_dealer[i])]
    return Decision("discard", role, hand, format_cards(o.hand[i]), "", thrown(action), thrown(best), float(regret))


def _play_text(
    o: PlayObservation, i: int, values: NDArray[np.float64], slot: int, regret: float, hand: int
) -> Decision:
    def card(slot: int) -> str:
        return f"{format_cards(o.hand[i, slot : slot + 1])} ({values[slot]:+.2f})"

    left = o.hand[i][o.hand[i] != NO_CARD]
    start, end = int(o.series_start[i]), int((o.history[i] != NO_CARD).sum())
    series = format_cards(o.history[i, start:end]) or "-"
    before = format_cards(o.history[i, :start])
    seen = f"starter {format_cards(o.starter[i : i + 1])}, series {series} = {o.count[i]}"
    seen += f", before {before}" if before else ""
    kind = KINDS[1 + HAND_SIZE - len(left)]
    role = ROLES[int(o.is_dealer[i])]
    return Decision(kind, role, hand, format_cards(left), seen, card(slot), card(int(values.argmax())), float(regret))
