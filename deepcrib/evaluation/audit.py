"""What each decision of an agent costs against a known opponent: regret, and the worst decisions with their cards.

The regret of a decision is the value of the best card (or discard) minus that of the one taken, in points, when both
are followed by the best response to the opponent. Values are exact means over what the player does not know.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.best_response import BestResponseAgent
from deepcrib.agents.minimax import has_choice
from deepcrib.cards import NO_CARD, format_cards
from deepcrib.engine import Games
from deepcrib.errors import OptionError
from deepcrib.intervals import mean_interval
from deepcrib.matches import Recorder, play_hand
from deepcrib.observations import DiscardObservation, PlayObservation
from deepcrib.rules import DISCARD_SLOTS_6

if TYPE_CHECKING:
    from deepcrib.agents import Agent

BATCH = 64  # hands between two reports of progress
KINDS = ("discard", "play 1", "play 2", "play 3")
"""The decisions of a hand: the discard, and the cards that one plays; the last one is never a choice."""


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


@dataclass(frozen=True)
class Decision:
    """One decision: what was seen, taken and best, as text; regret in points. hand: number of the deal."""

    kind: str
    role: str
    hand: int
    cards: str
    seen: str
    taken: str
    best: str
    regret: float


@dataclass
class Audit:
    """An agent's decisions in some hands against an opponent.

    kinds: those of KINDS of which there were two or more. worst: the costliest decisions first.
    """

    agent: str
    opponent: str
    hands: int
    kinds: dict[str, Regret]
    worst: list[Decision]

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain values, for `summary.json`."""
        return asdict(self)


def audit(
    agent: Agent,
    opponent: Agent,
    hands: int,
    seed: int,
    *,
    worst: int = 20,
    within: float | None = None,
    progress: Callable[[int], None] | None = None,
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
    for low in range(0, hands, BATCH):
        ids = np.arange(low, min(low + BATCH, hands), dtype=np.int64)
        for kind, losses, decisions in _priced(agent, opponent, responder, ids, seed, worst):
            regrets[kind].append(losses)
            found += decisions
        found = sorted(found, key=lambda decision: -decision.regret)[:worst]
        if progress is not None:
            progress(len(ids))
    kinds = {kind: _regret(np.concatenate(parts), hands) for kind, parts in regrets.items() if sum(map(len, parts)) > 1}
    return Audit(agent.name, opponent.name, hands, kinds, found)


def _regret(losses: NDArray[np.float64], hands: int) -> Regret:
    interval = mean_interval(losses)
    return Regret(len(losses), *interval, right=float((losses < 1e-6).mean()), per_hand=float(losses.sum() / hands))


class _Decisions(Recorder):
    """Keeps the decisions of seat 0."""

    def __init__(self) -> None:
        self.discarded: list[tuple[NDArray[np.int64], DiscardObservation, NDArray[np.int8]]] = []
        self.played: list[tuple[NDArray[np.int64], PlayObservation, NDArray[np.int8]]] = []

    def discards(self, rows: NDArray[np.int64], observation: DiscardObservation, actions: NDArray[np.int8]) -> None:
        mine = observation.seat == 0
        self.discarded.append((rows[mine], observation.take(mine), actions[mine]))

    def plays(self, rows: NDArray[np.int64], observation: PlayObservation, slots: NDArray[np.int8]) -> None:
        mine = (observation.seat == 0) & has_choice(observation)
        if mine.any():
            self.played.append((rows[mine], observation.take(mine), slots[mine]))


def _priced(
    agent: Agent, opponent: Agent, responder: BestResponseAgent, ids: NDArray[np.int64], seed: int, worst: int
) -> list[tuple[str, NDArray[np.float64], list[Decision]]]:
    """(kind, regret [M], the worst of them described) for the decisions of deals `ids`."""
    table = Games(ids, seed, first_dealer=(ids % 2).astype(np.int8), stop_at_121=False)
    decisions = _Decisions()
    play_hand(table, [agent, opponent], np.tile([0, 1], (len(ids), 1)), decisions)
    priced = []
    for rows, observation, actions in decisions.discarded:
        if len(rows):
            values = responder.discard_values(observation)
            losses = _losses(values, actions)
            described = [
                _discard_text(observation, i, values[i], actions[i], losses[i], int(ids[rows[i]]))
                for i in np.argsort(-losses)[:worst]
            ]
            priced.append(("discard", losses, described))
    for rows, played, slots in decisions.played:
        values = responder.play_values(played)
        losses = _losses(values, slots)
        numbers = 4 - (played.hand != NO_CARD).sum(axis=1)
        for number in np.unique(numbers):
            which = np.flatnonzero(numbers == number)
            described = [
                _play_text(played, i, values[i], slots[i], losses[i], int(ids[rows[i]]))
                for i in which[np.argsort(-losses[which])[:worst]]
            ]
            priced.append((KINDS[1 + number], losses[which], described))
    return priced


def _losses(values: NDArray[np.float64], taken: NDArray[np.int8]) -> NDArray[np.float64]:
    """[N] best value minus that of what was taken; 1e-9 and less, rounding, is 0."""
    losses = values.max(axis=1) - values[np.arange(len(values)), taken]
    return np.where(losses > 1e-9, losses, 0.0)


def _role(is_dealer: bool) -> str:
    return "dealer" if is_dealer else "pone"


def _discard_text(
    o: DiscardObservation, i: int, values: NDArray[np.float64], action: int, regret: float, hand: int
) -> Decision:
    def thrown(action: int) -> str:
        return f"{format_cards(o.hand[i, DISCARD_SLOTS_6[action]])} ({values[action]:+.2f})"

    best = int(values.argmax())
    role = _role(bool(o.is_dealer[i]))
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
    kind = KINDS[1 + 4 - len(left)]
    role = _role(bool(o.is_dealer[i]))
    return Decision(kind, role, hand, format_cards(left), seen, card(slot), card(int(values.argmax())), float(regret))
