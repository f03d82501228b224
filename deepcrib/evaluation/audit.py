"""What each decision of an agent costs against a known opponent: regret, and the worst decisions with their cards.

The regret of a decision is the value of the best card (or discard) minus that of the one taken, in points, when both
are followed by the best response to the opponent. Values are exact means over what the player does not know.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.errors import OptionError
from deepcrib.evaluation.metrics import Metrics
from deepcrib.evaluation.regrets import KINDS, NOTHING, Decision, Priced, price
from deepcrib.game.engine import Games
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.intervals import mean_interval
from deepcrib.matches import Progress, Recorder, batches, play_hand
from deepcrib.search.best_response import BestResponseAgent
from deepcrib.search.minimax import has_choice

if TYPE_CHECKING:
    from deepcrib.agents import Agent

BATCH = 64  # hands between two reports of progress


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
    agent: Agent,
    opponent: Agent,
    hands: int,
    seed: int,
    *,
    worst: int = 20,
    within: float | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Play single hands at 0-0, roles balanced, and price every decision of `agent` that had a choice.

    `opponent` must be one that can be answered (`BestResponseAgent`, which `within` belongs to): AgentError else. With
    the default every discard has its exact value. Raises OptionError for fewer than two hands.
    """
    if hands < 2:
        raise OptionError(f"hands={hands}: expected at least 2 hands")
    responder = BestResponseAgent(opponent, within)
    found: list[Decision] = []
    regrets: dict[str, list[NDArray[np.float64]]] = {kind: [] for kind in KINDS}
    for ids in batches(hands, BATCH, progress):
        for priced in _priced(agent, opponent, responder, ids, seed, worst):
            regrets[priced.kind].append(priced.losses)
            found += [decision for decision in priced.worst if decision.regret >= NOTHING]
        found = sorted(found, key=lambda decision: -decision.regret)[:worst]
    kinds = {kind: _regret(np.concatenate(parts), hands) for kind, parts in regrets.items() if sum(map(len, parts)) > 1}
    return Audit(agent.name, opponent.name, hands, kinds, found)


def _regret(losses: NDArray[np.float64], hands: int) -> Regret:
    interval = mean_interval(losses)
    return Regret(len(losses), *interval, right=float((losses < NOTHING).mean()), per_hand=float(losses.sum() / hands))


class _Decisions(Recorder):
    """Prices the decisions of seat 0 in the hands of deals `ids` [N], the worst of each kind described."""

    def __init__(self, responder: BestResponseAgent, ids: NDArray[np.int64], worst: int) -> None:
        self._responder, self._ids, self._worst = responder, ids, worst
        self.priced: list[Priced] = []

    def discards(self, rows: NDArray[np.int64], observation: DiscardObservation, actions: NDArray[np.int8]) -> None:
        self._price(rows, observation, actions, observation.seat == 0)

    def plays(self, rows: NDArray[np.int64], observation: PlayObservation, slots: NDArray[np.int8]) -> None:
        self._price(rows, observation, slots, (observation.seat == 0) & has_choice(observation))

    def _price(
        self, rows: NDArray[np.int64], observation: Any, taken: NDArray[np.int8], own: NDArray[np.bool_]
    ) -> None:
        if own.any():
            hands = self._ids[rows[own]]
            self.priced += price(self._responder, observation.take(own), taken[own], hands, self._worst)


def _priced(
    agent: Agent, opponent: Agent, responder: BestResponseAgent, ids: NDArray[np.int64], seed: int, worst: int
) -> list[Priced]:
    table = Games(ids, seed, first_dealer=(ids % 2).astype(np.int8), stop_at_121=False)
    decisions = _Decisions(responder, ids, worst)
    play_hand(table, [agent, opponent], np.tile([0, 1], (len(ids), 1)), decisions)
    return decisions.priced
