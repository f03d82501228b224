"""The three hands of Bélanger et al. 2019, section 4.6, as probes: what is led of them, and the values of each lead.

A lead is the pone's first card of the hand, at 0-0. For the rules by which experts lead, see `expert_rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import require_players
from deepcrib.agents.asking import ask
from deepcrib.errors import OptionError
from deepcrib.game.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS, RANK_NAMES
from deepcrib.game.observations import PlayObservation, opening
from deepcrib.game.rules import HAND_SIZE

if TYPE_CHECKING:
    from deepcrib.agents import Agent

_NUM_DISCARDS = 2  # cards
PROBE_DEALS, PROBE_SEED = 64, 1
Values = NDArray[np.floating]


@dataclass(frozen=True)
class Probe:
    """One of the three hands of section 4.6.

    ranks: the four of its cards, ascending. paper, experts: the ranks that the paper's agent led, and that an expert
    would, as `rank_label` has them.
    """

    name: str
    ranks: tuple[int, int, int, int]
    paper: str
    experts: str


PROBES = (
    Probe("A45T", (0, 3, 4, 9), paper="10", experts="4"),  # 4: no single card makes 15 of it
    Probe("A79T", (0, 6, 8, 9), paper="7", experts="7"),  # bait: 8 makes 15, and 9 the run
    Probe("88QA", (0, 7, 7, 11), paper="8", experts="8"),  # from the pair: 6 points if it is paired
)


@dataclass
class ProbeResult:
    """An agent's leads of one hand, over many suits, starters and discards.

    leads: by rank, how often it is led, 0..1. values: by rank, the mean of what the agent counts it at, in its own
    unit; None for an agent without values. order: ranks by these, the highest first.
    """

    deals: int
    leads: dict[str, float]
    values: dict[str, float] | None
    order: list[str] | None


def rank_label(rank: int) -> str:
    """`A`, `7`, `10`, `Q` for ranks 0, 6, 9, 11."""
    return "10" if RANK_NAMES[rank] == "T" else RANK_NAMES[rank]


def probe_observation(deals: int = PROBE_DEALS, seed: int = PROBE_SEED) -> PlayObservation:
    """Row p * deals + d: the pone is to lead PROBES[p] in its deal d.

    Suits, the starter and the two cards thrown away are drawn at random from the deck, all as likely, whatever a good
    player would throw: so a result is one of the hand, not of a starter. Raises OptionError.
    """
    if deals < 1:
        raise OptionError(f"deals={deals}: expected 1 or more")
    generator = np.random.default_rng(seed)
    hands, rest = zip(*(_drawn(probe.ranks, deals, generator) for probe in PROBES), strict=True)
    hand, hidden = np.concatenate(hands), np.concatenate(rest)
    thrown, starters = np.sort(hidden[:, :_NUM_DISCARDS], axis=1), hidden[:, _NUM_DISCARDS]
    seen = opening(hand, thrown, starters, np.zeros(len(hand), bool))
    return replace(seen, key=generator.integers(0, 2**64, len(hand), dtype=np.uint64))


def _drawn(
    ranks: Sequence[int], deals: int, generator: np.random.Generator
) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Sorted cards [deals, 4] of these ranks in random suits, and three other cards [deals, 3] of the deck."""
    order = generator.random((deals, NUM_CARDS))
    by_rank = order.reshape(deals, NUM_RANKS, NUM_SUITS).argsort(axis=2)
    suits = [by_rank[:, rank, ranks[:slot].count(rank)] for slot, rank in enumerate(ranks)]
    hand = np.sort(NUM_SUITS * np.asarray(ranks) + np.stack(suits, axis=1), axis=1)
    np.put_along_axis(order, hand, np.inf, axis=1)
    rest = order.argsort(axis=1)[:, : _NUM_DISCARDS + 1]
    return hand.astype(np.int8), rest.astype(np.int8)


def probe(agent: Agent, deals: int = PROBE_DEALS, seed: int = PROBE_SEED) -> dict[str, ProbeResult]:
    """What an agent leads of each of PROBES, and its values, by the probe's name; the same deals for every agent.

    Raises AgentError for one that does not play with two, OptionError for fewer than one deal.
    """
    require_players(agent, 2)
    observation = probe_observation(deals, seed)
    values = _values(agent, observation)
    led = np.eye(HAND_SIZE)[ask(agent, observation)]
    found = {}
    for number, hand in enumerate(PROBES):
        rows = slice(number * deals, (number + 1) * deals)
        leads = _by_rank(hand.ranks, led[rows].mean(axis=0), np.sum)
        means = None if values is None else _by_rank(hand.ranks, values[rows].mean(axis=0), np.mean)
        order = None if means is None else sorted(means, key=lambda rank: -means[rank])
        found[hand.name] = ProbeResult(deals, leads, means, order)
    return found


def _values(agent: Any, observation: PlayObservation) -> Values | None:
    """[N, 4] of an agent with `play_values`; None for one without."""
    return agent.play_values(observation) if hasattr(agent, "play_values") else None


def _by_rank(ranks: Sequence[int], metrics: Values, join: Callable[[Values], Any]) -> dict[str, float]:
    """Figures [4] by slot, joined where slots share a rank."""
    slots = np.asarray(ranks)
    return {rank_label(rank): float(join(metrics[slots == rank])) for rank in dict.fromkeys(ranks)}
