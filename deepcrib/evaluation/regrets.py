"""The price of decisions: the value of the best card (or discard) minus that of the one taken, in points.

Both are followed by the best response to a known opponent (`BestResponseAgent`); values are exact means over what the
player does not know, at the score 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import Agent
from deepcrib.errors import OptionError
from deepcrib.evaluation.evaluate import ROLES
from deepcrib.evaluation.metrics import Metrics
from deepcrib.game.cards import NO_CARD, format_cards
from deepcrib.game.engine import Games
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.rules import DISCARD_SLOTS_6, HAND_SIZE
from deepcrib.intervals import mean_interval
from deepcrib.matches import Progress, Recorder, batches, play_hand
from deepcrib.search.best_response import BestResponseAgent
from deepcrib.search.minimax import has_choice

KINDS = ("discard", "play 1", "play 2", "play 3")
"""The decisions of a hand: the discard, and the cards that one plays; the last one is never a choice."""
NOTHING = 1e-6  # points; what costs less was right
_ROUNDING = 1e-9
_BATCH = 64  # hands between two reports of progress


@dataclass(frozen=True)
class Decision:
    """One decision: what was seen, taken, best, as text; regret in points. hand: number of the deal or in a game.

    chance_lost: share of a game, 0..1; None where no score is known.
    """

    kind: str
    role: str
    hand: int
    cards: str
    seen: str
    taken: str
    best: str
    regret: float
    chance_lost: float | None = None


def price(
    responder: BestResponseAgent,
    observation: DiscardObservation | PlayObservation,
    taken: NDArray[np.integer],
    hands: NDArray[np.integer],
) -> list[Decision]:
    """Discards, or plays of which none is a last card, [N] of `hands` [N], in their order."""
    if isinstance(observation, DiscardObservation):
        values = responder.discard_values(observation)
    else:
        values = responder.play_values(observation)
    losses = values.max(axis=1) - values[np.arange(len(values)), taken]
    losses = np.where(losses > _ROUNDING, losses, 0.0)
    return [
        _decision(observation, row, values[row], int(taken[row]), float(losses[row]), int(hands[row]))
        for row in range(len(losses))
    ]


def worst_of(decisions: Iterable[Decision], number: int) -> list[Decision]:
    """The costliest of the decisions that lost something, these first."""
    costly = [decision for decision in decisions if decision.regret >= NOTHING]
    return sorted(costly, key=lambda decision: -decision.regret)[:number]


def _decision(
    o: DiscardObservation | PlayObservation, i: int, values: NDArray[np.float64], taken: int, regret: float, hand: int
) -> Decision:
    cards, best = o.hand[i], int(values.argmax())
    held = cards[cards != NO_CARD]
    kind, seen = KINDS[0], ""
    if isinstance(o, PlayObservation):
        kind, seen = KINDS[1 + HAND_SIZE - len(held)], seen_of(o, i)

    def text(choice: int) -> str:
        chosen = cards[DISCARD_SLOTS_6[choice]] if isinstance(o, DiscardObservation) else cards[[choice]]
        return f"{format_cards(chosen)} ({values[choice]:+.2f})"

    return Decision(kind, ROLES[int(o.is_dealer[i])], hand, format_cards(held), seen, text(taken), text(best), regret)


def seen_of(o: PlayObservation, i: int) -> str:
    """Starter, series and the cards before it."""
    start, end = int(o.series_start[i]), int((o.history[i] != NO_CARD).sum())
    series, before = format_cards(o.history[i, start:end]) or "-", format_cards(o.history[i, :start])
    seen = f"starter {format_cards(o.starter[i : i + 1])}, series {series} = {o.count[i]}"
    return f"{seen}, before {before}" if before else seen


# --- an agent's decisions in hands that it plays -----------------------------------------------------------------


@dataclass
class Regret:
    """Of one kind of decision: how many there were, points lost by one on average (95%, Student's t).

    A play is a decision where cards of different ranks may be played.

    right: share of them, 0..1, that lost nothing (less than 1e-6 points). per_hand: points that they cost a hand.
    """

    decisions: int
    regret: float
    ci_low: float
    ci_high: float
    right: float
    per_hand: float


@dataclass
class Audit(Metrics):
    """An agent's decisions in some hands against an opponent.

    kinds: those of KINDS of which there were two or more. worst: those that lost something, costliest first.
    """

    agent: str
    opponent: str
    hands: int
    kinds: dict[str, Regret]
    worst: list[Decision]


def audit(
    agent: Agent, opponent: Agent, hands: int, seed: int, *, worst: int = 20, progress: Progress | None = None
) -> Audit:
    """Play single hands at 0-0, roles balanced, and price every decision of `agent` that had a choice.

    `opponent` must be one that can be answered (`BestResponseAgent`): AgentError else. Every discard has its exact
    value. Raises OptionError for fewer than two hands.
    """
    if hands < 2:
        raise OptionError(f"hands={hands}: expected at least 2 hands")
    responder = BestResponseAgent(opponent)
    decisions: list[Decision] = []
    for ids in batches(hands, _BATCH, progress):
        table = Games(ids, seed, first_dealer=(ids % 2).astype(np.int8), stop_at_121=False)
        play_hand(table, [agent, opponent], np.tile([0, 1], (len(ids), 1)), _Pricing(responder, ids, decisions))
    losses = {kind: np.array([one.regret for one in decisions if one.kind == kind]) for kind in KINDS}
    kinds = {kind: _regret(values, hands) for kind, values in losses.items() if len(values) > 1}
    return Audit(agent.name, opponent.name, hands, kinds, worst_of(decisions, worst))


def _regret(losses: NDArray[np.float64], hands: int) -> Regret:
    interval = mean_interval(losses)
    return Regret(len(losses), *interval, right=float((losses < NOTHING).mean()), per_hand=float(losses.sum() / hands))


class _Pricing(Recorder):
    """Appends to `decisions` those of seat 0 in the hands of deals `ids` [N]."""

    def __init__(self, responder: BestResponseAgent, ids: NDArray[np.int64], decisions: list[Decision]) -> None:
        self._responder, self._ids, self._decisions = responder, ids, decisions

    def discards(self, rows: NDArray[np.int64], observation: DiscardObservation, actions: NDArray[np.int8]) -> None:
        self._price(rows, observation, actions, observation.seat == 0)

    def plays(self, rows: NDArray[np.int64], observation: PlayObservation, slots: NDArray[np.int8]) -> None:
        self._price(rows, observation, slots, (observation.seat == 0) & has_choice(observation))

    def _price(
        self, rows: NDArray[np.int64], observation: Any, taken: NDArray[np.int8], own: NDArray[np.bool_]
    ) -> None:
        if own.any():
            self._decisions += price(self._responder, observation.take(own), taken[own], self._ids[rows[own]])
