"""How often an agent leads as experts do: the three rules of Bélanger et al. 2019, section 3.5, over many hands.

A lead is the pone's first card of the hand, from four cards, at 0-0. Every card may be led, so what a player that leads
at random does follows from the hand. With the values of a best responder (`BestResponseAgent.play_values`) each rule
has its price too: the best lead that it names, less the best one that it does not, in points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import require_players
from deepcrib.agents.asking import ask
from deepcrib.errors import OptionError
from deepcrib.evaluation.studies.experts import DEALER, PONE, Values
from deepcrib.game.cards import NUM_RANKS, RANKS, VALUES
from deepcrib.game.engine import Games
from deepcrib.game.observations import PlayObservation
from deepcrib.game.rules import COUNT_LIMIT
from deepcrib.intervals import mean_interval, wilson

if TYPE_CHECKING:
    from deepcrib.agents import Agent

BATCH = 1024  # leads between two reports of progress
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Rule:
    """A kind of lead that experts shun or seek (section 3.5).

    counted: the hands in which it is a choice, in words.
    """

    name: str
    title: str
    counted: str
    experts_seek: bool


RULES = (
    Rule("five", "a five is led", "a five, and a card that is no five or ten-card", False),
    Rule("ten_card", "a ten-card (10 J Q K) is led", "a ten-card, and a card that is no five or ten-card", False),
    Rule("five_or_ten", "a five or a ten-card is led", "such a card, and one that is not", False),
    Rule("bait", "the lead baits a run", "7 or 8 together with 6 or 9", True),
    Rule("pair", "one of a pair is led", "a pair, and a card that is of none", True),
    Rule("low_pair", "one of a pair is led, no five or ten-card", "such a pair, and a card that is of none such", True),
)


def baits_run(lead: int, third: int) -> bool:
    """Whether a rank led may be answered with a fifteen that makes a run of three with `third`, which may be played.

    Section 3.5: a 7 is led, the opponent makes 15 with an 8, and one's 9 makes 7-8-9.
    """
    return any(
        VALUES[lead] + VALUES[answer] == 15
        and np.diff(sorted((lead, answer, third))).tolist() == [1, 1]
        and 15 + VALUES[third] <= COUNT_LIMIT
        for answer in range(NUM_RANKS)
    )


BAITS = np.array([[baits_run(lead, third) for third in range(NUM_RANKS)] for lead in range(NUM_RANKS)])
"""[13, 13] `baits_run` by the rank led and the third one: a 7 or an 8 with a 6 or a 9, and no other."""


def rule_slots(hands: NDArray[np.int8]) -> dict[str, tuple[Bools, Bools]]:
    """For each of RULES: the slots [N, 4] of whole hands [N, 4] that it names, and those that are the other choice."""
    ranks = RANKS[hands]
    five, ten = ranks == 4, VALUES[ranks] == 10
    alike = ranks[:, :, None] == ranks[:, None, :]
    pair = alike.sum(axis=2) > 1  # cards of three and four of a kind are of a pair
    bait = BAITS[ranks[:, :, None], ranks[:, None, :]].any(axis=2)
    neither = ~five & ~ten
    low_pair = pair & neither
    return {
        "five": (five, neither),
        "ten_card": (ten, neither),
        "five_or_ten": (five | ten, neither),
        "bait": (bait, ~bait),
        "pair": (pair, ~pair),
        "low_pair": (low_pair, ~low_pair),
    }


@dataclass
class Share:
    """Of `hands` in which a kind of lead was a choice, it was taken `led` times; with its 95% interval (Wilson)."""

    hands: int
    led: int
    share: float
    ci_low: float
    ci_high: float


@dataclass
class Points:
    """A mean over hands, in points, with its 95% interval (Student's t)."""

    hands: int
    points: float
    ci_low: float
    ci_high: float


@dataclass
class RuleFigures:
    """One of RULES in an agent's leads; None where there were no hands to count.

    random: expected of one that leads any card. best: a best responder, in the first of the same hands. gain: the
    value of the best lead that the rule names less that of the best other one, to a best responder.
    """

    agent: Share | None
    random: float | None
    best: Share | None
    gain: Points | None


@dataclass
class ExpertRules:
    """An agent's leads by rule. lost: what a lead costs it beside the best one, to a best responder."""

    hands: int
    rules: dict[str, RuleFigures]
    lost: Points | None


def deal_leads(discards: Agent, hands: int, seed: int) -> PlayObservation:
    """[hands] the pone is to lead, in the deals of a seed, from the four cards that `discards` kept.

    What the dealer keeps is hidden from it. Raises OptionError for fewer than one hand, AgentError.
    """
    if hands < 1:
        raise OptionError(f"hands={hands}: expected 1 or more")
    require_players(discards, 2)
    table = Games(np.arange(hands), seed, first_dealer=np.full(hands, DEALER), stop_at_121=False)
    rows = table.deal()
    seats = np.full(hands, PONE, dtype=np.int8)
    seen = table.discard_observation(rows, seats)
    parts = [ask(discards, seen.take(slice(low, low + BATCH))) for low in range(0, hands, BATCH)]
    table.discard(rows, seats, np.concatenate(parts))
    table.discard(rows, np.full(hands, DEALER, dtype=np.int8), np.zeros(hands, dtype=np.int8))
    table.start_play()
    return table.play_observation(rows)


def expert_rules(
    agent: Agent,
    leads: PlayObservation,
    best_values: Values | None = None,
    progress: Callable[[int], None] | None = None,
) -> ExpertRules:
    """How often an agent's leads [N] are of each kind of RULES.

    best_values: [M, 4] a best responder's values of the first M leads. Raises AgentError.
    """
    require_players(agent, 2)
    slots = in_parts(agent.play, leads, BATCH, progress)
    kinds = rule_slots(leads.hand)
    rules = {rule.name: _rule_figures(*kinds[rule.name], slots, best_values) for rule in RULES}
    lost = None
    if best_values is not None:
        number = len(best_values)
        lost = _points(best_values.max(axis=1) - best_values[np.arange(number), slots[:number]])
    return ExpertRules(len(leads), rules, lost)


def in_parts(
    function: Callable[[PlayObservation], NDArray[Any]],
    observation: PlayObservation,
    size: int,
    progress: Callable[[int], None] | None = None,
) -> NDArray[Any]:
    """A function of one observation or more, applied to so many rows at a time."""
    parts = []
    for low in range(0, len(observation), size):
        part = observation.take(slice(low, low + size))
        parts.append(function(part))
        if progress is not None:
            progress(len(part))
    return np.concatenate(parts)


def _rule_figures(named: Bools, other: Bools, slots: NDArray[np.int8], best_values: Values | None) -> RuleFigures:
    counts: Bools = np.logical_and(named.any(axis=1), other.any(axis=1))
    agent = _share(named, slots, counts)
    expected = float(named[counts].mean()) if agent is not None else None
    if best_values is None:
        return RuleFigures(agent, expected, None, None)
    first = slice(len(best_values))
    best = _share(named[first], best_values.argmax(axis=1), counts[first])
    ours, others = (np.where(kind[first], best_values, -np.inf).max(axis=1)[counts[first]] for kind in (named, other))
    return RuleFigures(agent, expected, best, _points(ours - others))


def _share(named: Bools, slots: NDArray[np.integer], counts: Bools) -> Share | None:
    hands = int(counts.sum())
    if hands == 0:
        return None
    led = int((named[np.arange(len(slots)), slots] & counts).sum())
    return Share(hands, led, *wilson(led, hands))


def _points(values: Values) -> Points | None:
    return Points(len(values), *mean_interval(values)) if len(values) > 1 else None
