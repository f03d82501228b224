"""What each discard of one hand is worth, and what agents discard from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import starmap
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table

from deepcrib.agents import Agent, AgentError, require_players
from deepcrib.agents.asking import ask, require_probabilities
from deepcrib.analysis.tables import NONE, Cell, plain_table, table_of
from deepcrib.evaluation.evaluate import ROLES
from deepcrib.evaluation.review import CHANCE, SCALE
from deepcrib.exact.beliefs.cribs import values_by_starter
from deepcrib.exact.discards import HAND_STARTERS, discard_statistics
from deepcrib.game.cards import RANK_NAMES, format_cards
from deepcrib.game.observations import DiscardObservation, dealt
from deepcrib.game.randomness import hash_key
from deepcrib.game.rules import DISCARD_SLOTS_6, KEPT_SLOTS_6
from deepcrib.search.best_response import BestResponseAgent
from deepcrib.search.rollouts import usual_responder, usual_rollouts

_SAME = 1e-9
"""Points, or a chance, by which two values may differ through rounding alone."""


class DiscardFigures(NamedTuple):
    """One discard; but for names and the chance to win all in points, and but for the hand's lowest and highest means.

    As a `BestResponseAgent` has them: crib_mean is negative to the pone, pegging own minus the opponent's points of the
    play; the opponent's hand and heels, which no discard changes, are left out. win: chance to win the game from this
    score by `usual_rollouts`; differences are known to a per cent or less.
    """

    discard: str
    keep: str
    hand_mean: float
    hand_min: int
    hand_max: int
    crib_mean: float
    pegging: float
    total: float
    win: float


@dataclass(frozen=True)
class AgentChoice:
    """What an agent does with the hand.

    action: what it discards. place: 1 where no discard has a higher total, 2 where one has, and so on. gives_up: points
    of total less than the best. probabilities: [15] by discard action, None where the agent knows none. values: [15]
    in `unit`, each None where the agent does not value that discard; None with no unit for one without values.
    """

    action: int
    place: int
    gives_up: float
    probabilities: tuple[float, ...] | None
    values: tuple[float | None, ...] | None
    unit: str | None

    @property
    def likeliest(self) -> tuple[int, ...]:
        """Actions that it takes as often as any, in their order; several where it is indifferent between them."""
        if self.probabilities is None:
            return (self.action,)
        most = max(self.probabilities) - _SAME
        return tuple(action for action, chance in enumerate(self.probabilities) if chance >= most)


@dataclass(frozen=True)
class HandValues:
    """A hand in one role at one score: its 15 discards by action, and agents by name.

    opponent: as whom the other player is taken to answer.
    """

    opponent: str
    hand: str
    role: str
    score: tuple[int, int]
    discards: tuple[DiscardFigures, ...]
    agents: Mapping[str, AgentChoice]

    @property
    def best_first(self) -> list[int]:
        """Actions by their totals; equal ones stay in their order."""
        return sorted(range(len(self.discards)), key=lambda action: -self.discards[action].total)

    def chosen_by(self, action: int) -> list[str]:
        """Names of the agents for which a discard is the likeliest, or one of them."""
        return [name for name, choice in self.agents.items() if action in choice.likeliest]

    def to_dict(self) -> dict[str, Any]:
        """All metrics as plain values: discards with the best first, agents' metrics by the cards discarded."""
        rows = [self.discards[action]._asdict() | {"chosen_by": self.chosen_by(action)} for action in self.best_first]
        return {"discards": rows, "agents": {name: self._plain(choice) for name, choice in self.agents.items()}}

    def _plain(self, choice: AgentChoice) -> dict[str, Any]:
        chosen, names = self.discards[choice.action], [row.discard for row in self.discards]
        plain: dict[str, Any] = {"discard": chosen.discard, "keep": chosen.keep}
        plain |= {"place": choice.place, "gives_up": choice.gives_up}
        for name, numbers in (("probabilities", choice.probabilities), ("values", choice.values)):
            plain[name] = numbers and dict(zip(names, numbers, strict=True))
        return plain | {"unit": choice.unit}


def hand_values(
    hand: Sequence[int],
    is_dealer: bool,
    score: tuple[int, int],
    agents: Mapping[str, Agent],
    seed: int = 1,
    responder: BestResponseAgent | None = None,
) -> HandValues:
    """The discards of a sorted hand of six card ids in a role, and what agents discard.

    score: own and opponent's points before the hand, 0..120. seed: of what agents leave to chance. responder: whose
    values they are, by default `usual_responder`. Raises AgentError for an agent that does not play with two, and what
    an agent raises.
    """
    responder = responder or usual_responder()
    for agent in agents.values():
        require_players(agent, 2)
    observation = decision(hand, is_dealer, score, seed)
    discards = _discards(observation, responder)
    totals = np.array([row.total for row in discards])
    choices = {name: _choice(agent, observation, totals) for name, agent in agents.items()}
    return HandValues(responder.to.name, format_cards(hand), ROLES[int(is_dealer)], score, discards, choices)


def decision(hand: Sequence[int], is_dealer: bool, score: tuple[int, int], seed: int) -> DiscardObservation:
    """The discard of one hand as a decision of seat 0."""
    seen, key = dealt(np.array([hand], dtype=np.int8), np.array([is_dealer])), hash_key(seed, 0, 0, 0, 0)
    return replace(seen, scores=np.array([score], dtype=np.int8), key=np.array([key], dtype=np.uint64))


def _discards(observation: DiscardObservation, responder: BestResponseAgent) -> tuple[DiscardFigures, ...]:
    """The 15 discards of one decision, by action."""
    own, cards = discard_statistics(observation.hand), observation.hand[0]
    hands, shows = own["hand_sum"] / HAND_STARTERS, responder.show_values(observation)
    totals = responder.discard_values(observation, shows)
    wins = usual_rollouts(responder.to).all_chances(observation).mean(axis=2)
    columns = hands, own["hand_min"], own["hand_max"], shows - hands, totals - shows, totals, wins
    texts = ([format_cards(cards[slots]) for slots in of_each] for of_each in (DISCARD_SLOTS_6, KEPT_SLOTS_6))
    return tuple(starmap(DiscardFigures, zip(*texts, *(column[0].tolist() for column in columns), strict=True)))


def _choice(agent: Any, observation: DiscardObservation, totals: NDArray[np.float64]) -> AgentChoice:
    """What an agent does with one decision, whose discards have totals [15]."""
    action = int(ask(agent, observation)[0])
    unit, values, probabilities = getattr(agent, "discard_unit", None) or None, None, None
    if unit:
        values = tuple(value if np.isfinite(value) else None for value in agent.discard_values(observation)[0].tolist())
    with suppress(AgentError):  # it, or the agent that it leaves its discards to, knows none
        probabilities = tuple(require_probabilities(agent).discard_probabilities(observation)[0].tolist())
    place, gives_up = 1 + int((totals > totals[action] + _SAME).sum()), float(totals.max() - totals[action])
    return AgentChoice(action, place, gives_up, probabilities, values, unit)


_DISCARDS_NOTE = (
    f"{SCALE}. hand: over 46 starters; crib: {{whose}}; total: hand, crib and play, without heels and the opponent's "
    f"hand. {CHANCE}"
)
_STARTERS_NOTE = "with a starter of that rank; the play, and nobs and flush in the crib, are means over all starters"
_BY_STARTER = 5  # discards
_WHOSE = {"dealer": "one's own", "pone": "the opponent's"}
_AGENTS_NOTE = (
    "gives up: points of total. chance: of this discard, where an agent may take others too. "
    "its value: what the agent itself counts it at"
)


def hand_tables(values: HandValues) -> tuple[Table, Table]:
    """One row a discard, the best first, with the numbers of the agents; one row an agent."""
    numbers = {name: str(number) for number, name in enumerate(values.agents, start=1)}
    discards: dict[str, Cell] = {
        "discard": "{1.discard}",
        "keep": "{1.keep}",
        "hand\nmean": "{1.hand_mean:.2f}",
        "hand\nrange": "{1.hand_min}-{1.hand_max}",
        "crib": "{1.crib_mean:+.2f}",
        "play": "{1.pegging:+.2f}",
        "total": "{1.total:.2f}",
        "win%": lambda _, row: f"{100 * row.win:.1f}",
        "by": lambda action, _: " ".join(numbers[name] for name in values.chosen_by(action)),
    }
    title = f"{values.hand} as {values.role} at {'-'.join(map(str, values.score))}: best first"
    first = table_of(title, [(action, values.discards[action]) for action in values.best_first], discards)
    first.columns[0].no_wrap = first.columns[1].no_wrap = True
    first.columns[-1].justify = "left"
    agents: dict[str, Cell] = {
        "agent": lambda name, _: f"{numbers[name]} {escape(name)}",
        "discards": lambda _, choice: values.discards[choice.action].discard,
        "place\nof 15": "{1.place}",
        "gives\nup": "{1.gives_up:.2f}",
        "chance": lambda _, one: NONE if one.probabilities is None else f"{100 * one.probabilities[one.action]:.0f}%",
        "its value": lambda _, choice: _value(choice),
    }
    second = table_of(f"what each agent discards as {values.role}", values.agents.items(), agents)
    first.caption = _DISCARDS_NOTE.format(values.opponent, whose=_WHOSE[values.role])
    second.caption = _AGENTS_NOTE
    return first, second


def starters_table(values: HandValues, hand: Sequence[int], responder: BestResponseAgent) -> Table:
    """The best five discards by the rank of the starter."""
    worth = values_by_starter(hand, values.role == ROLES[1], responder.model)
    best = values.best_first[:_BY_STARTER]
    play = [values.discards[action].pegging for action in best]
    rows = [
        (rank, *(f"{worth[action, number] + play[place]:.2f}" for place, action in enumerate(best)))
        for number, rank in enumerate(RANK_NAMES)
        if not np.isnan(worth[0, number])
    ]
    rows.append(("mean", *(f"{values.discards[action].total:.2f}" for action in best)))
    names = ("starter", *(values.discards[action].discard for action in best))
    table = plain_table(f"{values.hand} as {values.role}: total by starter", names, rows)
    table.caption = _STARTERS_NOTE
    return table


def _value(choice: AgentChoice) -> str:
    value = None if choice.values is None else choice.values[choice.action]
    return NONE if value is None else f"{value:+.2f} {choice.unit}"
