"""Leads beside experts' rules: python -m benchmarks.people.expert_rules [AGENT ..] [--discards AGENT] [--to FILE.json].

How often an agent leads as experts do: the three rules of Bélanger et al. 2019, section 3.5, over many hands, and its
leads of the three hands of section 4.6 (docs/expert_rules.md). A lead is the pone's first card of the hand, from four
cards, at 0-0. Every card may be led, so what a player that leads at random does follows from the hand. With the values
of a best responder (`BestResponseAgent.play_values`) each rule has its price too: the best lead that it names, less the
best one that it does not, in points.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml
from numpy.typing import NDArray
from rich import print as show
from rich.table import Table

from benchmarks.people.probes import PROBES, Probe, ProbeResult, Values, probe, rank_label
from deepcrib.agents import make_agent, require_players
from deepcrib.agents.asking import ask
from deepcrib.analysis.tables import NONE, Cell, bounds, percent, plain_table, table_of
from deepcrib.errors import OptionError, UserError
from deepcrib.exact.pegging import DEALER, PONE
from deepcrib.files.runs import write_json
from deepcrib.game.cards import NUM_RANKS, RANKS, VALUES
from deepcrib.game.engine import Games
from deepcrib.game.observations import PlayObservation
from deepcrib.game.rules import COUNT_LIMIT
from deepcrib.intervals import mean_interval, wilson
from deepcrib.jobs.shared.common import chosen_agents, use_threads
from deepcrib.search.best_response import BestResponseAgent

if TYPE_CHECKING:
    from deepcrib.agents import Agent

AGENTS = ("greedy", "deterministic", "td_perceptron", "partida_network", "hill_climber", "greedy_minimax")
"""The fixed opponents, and each that learned or searches its play within seconds."""
BATCH = 1024  # decisions asked for at a time
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
    table.discard(rows, seats, in_parts(lambda part: ask(discards, part), seen))
    table.discard(rows, np.full(hands, DEALER, dtype=np.int8), np.zeros(hands, dtype=np.int8))
    table.start_play()
    return table.play_observation(rows)


def expert_rules(agent: Agent, leads: PlayObservation, best_values: Values | None = None) -> ExpertRules:
    """How often an agent's leads [N] are of each kind of RULES.

    best_values: [M, 4] a best responder's values of the first M leads. Raises AgentError.
    """
    require_players(agent, 2)
    slots = in_parts(agent.play, leads)
    kinds = rule_slots(leads.hand)
    rules = {rule.name: _rule_figures(*kinds[rule.name], slots, best_values) for rule in RULES}
    lost = None
    if best_values is not None:
        number = len(best_values)
        lost = _points(best_values.max(axis=1) - best_values[np.arange(number), slots[:number]])
    return ExpertRules(len(leads), rules, lost)


def in_parts(function: Callable[[Any], NDArray[Any]], observation: Any) -> NDArray[Any]:
    """A function of one observation or more, applied to BATCH rows at a time."""
    lows = range(0, len(observation), BATCH)
    return np.concatenate([function(observation.take(slice(low, low + BATCH))) for low in lows])


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


# --- tables -----

Probes = Mapping[str, Mapping[str, ProbeResult]]
"""By agent, by the name of the probe."""


def expert_tables(probes: Probes, rules: Mapping[str, ExpertRules]) -> list[Table]:
    """One table a probe, one a rule, and what the leads cost where that is known."""
    tables = [probe_table(hand, probes) for hand in PROBES]
    tables += [rule_table(rule, rules) for rule in RULES]
    lost = {name: found.lost for name, found in rules.items() if found.lost is not None}
    columns: dict[str, Cell] = {
        "agent": "{0}",
        "hands": "{1.hands:,}",
        "points lost [95%]": lambda _, points: _points_cell(points, ".2f"),
    }
    return [*tables, table_of("what a lead costs", lost.items(), columns)] if lost else tables


def probe_table(hand: Probe, probes: Probes) -> Table:
    """One row an agent: how often it leads each rank, the mean value of that, and the order by value."""
    ranks = [rank_label(rank) for rank in dict.fromkeys(hand.ranks)]
    found = {name: results[hand.name] for name, results in probes.items()}
    rows = [
        (name, *(_led(result, rank) for rank in ranks), " ".join(result.order or [NONE]))
        for name, result in found.items()
    ]
    cards = " ".join(map(rank_label, hand.ranks))
    title = f"{cards}: led (value); the agent of 2019 led {hand.paper}, experts lead {hand.experts}"
    return plain_table(title, ("agent", *ranks, "by value"), rows)


def _led(result: ProbeResult, rank: str) -> str:
    value = "" if result.values is None else f" ({result.values[rank]:+.2f})"
    return f"{100 * result.leads[rank]:.0f}%{value}"


def rule_table(rule: Rule, rules: Mapping[str, ExpertRules]) -> Table:
    """One row an agent: its share, that of any card, and the best response's share and gain in the first hands."""
    found = {name: agent.rules[rule.name] for name, agent in rules.items()}
    rows = [(name, *_rule_cells(figures)) for name, figures in found.items()]
    title = f"{rule.title} ({'experts do' if rule.experts_seek else 'experts do not'}); counted: {rule.counted}"
    columns = (
        "agent",
        "led [95%]",
        "hands",
        "random",
        "best response\n[95%]",
        "hands",
        "its gain by it\n(points) [95%]",
    )
    return plain_table(title, columns, rows)


def _rule_cells(figures: RuleFigures) -> tuple[str, ...]:
    random = NONE if figures.random is None else f"{100 * figures.random:.1f}%"
    return (*_share_cells(figures.agent), random, *_share_cells(figures.best), _points_cell(figures.gain))


def _share_cells(share: Share | None) -> tuple[str, str]:
    return (NONE, NONE) if share is None else (percent(share.share, share.ci_low, share.ci_high), f"{share.hands:,}")


def _points_cell(points: Points | None, form: str = "+.2f") -> str:
    return NONE if points is None else bounds(points.points, points.ci_low, points.ci_high, form)


# --- the script -------------------------------------------------------------------------------------------------


def main(words: Sequence[str] | None = None) -> None:
    """Count the leads of all agents, print the tables and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agents", nargs="*", type=yaml.safe_load, help=f"by default {', '.join(AGENTS)}")
    parser.add_argument("--hands", type=int, default=10_000, help="of which each agent leads")
    parser.add_argument("--discards", type=yaml.safe_load, help="whose kept cards all lead from, if not each its own")
    parser.add_argument("--deals", type=int, default=200, help="of each of the three hands")
    parser.add_argument("--opponent", type=yaml.safe_load, default="greedy", help="of the best response")
    parser.add_argument("--best-response-hands", type=int, default=500, help="so many hands it is asked about; 0: none")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--to", type=Path, help="JSON, from which expert_figure.py draws")
    options = parser.parse_args(words)
    if not 0 <= options.best_response_hands <= options.hands:
        parser.error(f"--best-response-hands {options.best_response_hands}: expected 0 to --hands {options.hands}")
    try:
        found = _lead(options)
    except UserError as error:
        parser.error(str(error))
    if options.to is not None:
        write_json(options.to, found)


def _lead(options: argparse.Namespace) -> dict[str, Any]:
    agents = chosen_agents(options.agents or None, AGENTS, "cpu")
    discards = None if options.discards is None else make_agent(options.discards)
    responder = BestResponseAgent(make_agent(options.opponent)) if options.best_response_hands else None
    use_threads(0)
    known: dict[bytes, Values] = {}
    rules: dict[str, ExpertRules] = {}
    for name, agent in agents.items():
        leads = deal_leads(discards or agent, options.hands, options.seed)
        first = leads.take(slice(options.best_response_hands))
        best = None if responder is None else _best_values(responder, first, known)
        rules[name] = expert_rules(agent, leads, best)
    probed = agents if responder is None else {**agents, responder.name: responder}
    probes = {name: probe(agent, options.deals, options.seed) for name, agent in probed.items()}
    for table in expert_tables(probes, rules):
        show(table)
    settings = {name: value for name, value in vars(options).items() if name not in ("agents", "to")}
    return settings | {
        "probes": {name: {hand: asdict(one) for hand, one in found.items()} for name, found in probes.items()},
        "rules": {name: asdict(found) for name, found in rules.items()},
    }


def _best_values(responder: BestResponseAgent, leads: PlayObservation, known: dict[bytes, Values]) -> Values:
    """[N, 4], worked out once for agents that kept the same cards, and held in `known`."""
    seen = b"".join(getattr(leads, column.name).tobytes() for column in fields(leads))
    if seen not in known:
        known[seen] = in_parts(responder.play_values, leads)
    return known[seen]


if __name__ == "__main__":
    main()
