"""What is known of a hand's discards and of sets in the play, gathered into rows for tables and files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import comb, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.evaluation.evaluate import ROLES
from deepcrib.exact.discards import CRIB_COMPLETIONS, HAND_STARTERS, crib_means, discard_statistics
from deepcrib.exact.experts import expert_sums
from deepcrib.exact.pegging import PeggingRecords, exact_records
from deepcrib.exact.table import lang_index
from deepcrib.game.cards import NUM_RANKS, NUM_SUITS, RANK_NAMES, format_cards
from deepcrib.game.rank_sets import rank_set_of_kept, rank_sets
from deepcrib.game.rules import DISCARD_SLOTS_6, HAND_SIZE, KEPT_SLOTS_6

PONE, DEALER = 0, 1
OPPONENTS = ("experts", "uniform")
"""Whose discards a mean of the crib is against: those of `exact.experts`, or any two cards alike."""


@dataclass(frozen=True)
class DiscardRow:
    """One discard of a hand; all but names and index in points, and but for lowest, median and highest means.

    crib_uniform: against any two cards alike; crib_dealer, crib_pone: against an expert, from the view of either role.
    total_dealer is hand plus crib, total_pone hand minus crib. play_dealer, play_pone: what the kept cards peg.
    """

    keep: str
    toss: str
    index: int
    hand_min: int
    hand_mean: float
    hand_median: float
    hand_max: int
    crib_uniform: float
    crib_dealer: float
    crib_pone: float
    total_dealer: float
    total_pone: float
    play_dealer: float
    play_pone: float


def discard_rows(hand: Sequence[int], opponent: str) -> list[DiscardRow]:
    """The 15 discards of a sorted hand of six, by action; opponent, of OPPONENTS, is whom the totals are against."""
    cards = np.array(hand)
    statistics = discard_statistics(cards)[0]
    uniform = statistics["crib_sum"] / CRIB_COMPLETIONS
    expert = {is_dealer: crib_means(cards, expert_sums(is_dealer))[0] for is_dealer in (False, True)}
    pegged = exact_records().mean_gained
    rows = []
    for action, (kept_slots, tossed_slots) in enumerate(zip(KEPT_SLOTS_6, DISCARD_SLOTS_6, strict=True)):
        keep, toss = cards[kept_slots], cards[tossed_slots]
        own = statistics[action]
        mean = float(own["hand_sum"] / HAND_STARTERS)
        dealer, pone = (float(uniform[action] if opponent == "uniform" else expert[b][action]) for b in (True, False))
        play = pegged[rank_set_of_kept(keep)]
        rows.append(
            DiscardRow(
                keep=format_cards(keep),
                toss=format_cards(toss),
                index=lang_index(keep, toss),
                hand_min=int(own["hand_min"]),
                hand_mean=mean,
                hand_median=float(own["hand_median_2"] / 2),
                hand_max=int(own["hand_max"]),
                crib_uniform=float(uniform[action]),
                crib_dealer=float(expert[True][action]),
                crib_pone=float(expert[False][action]),
                total_dealer=mean + dealer,
                total_pone=mean - pone,
                play_dealer=float(play[DEALER]),
                play_pone=float(play[PONE]),
            )
        )
    return rows


def best_first(rows: Sequence[DiscardRow], is_dealer: bool) -> list[DiscardRow]:
    """By hand plus crib for the dealer, hand minus crib for the pone; ties stay in the order of their actions."""
    return sorted(rows, key=lambda row: -(row.total_dealer if is_dealer else row.total_pone))


# --- the play -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PeggingRow:
    """What one rank multiset of four did in one role: points a hand, with standard errors of the means.

    nan, None in `to_dict`, where too few hands are recorded.
    """

    rank_set: str
    role: str
    hands: int
    mean_gained: float
    median_gained: float
    mean_given: float
    se_gained: float
    se_given: float

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain values."""
        return {name: None if value != value else value for name, value in asdict(self).items()}


def pegging_rows(records: PeggingRecords, names: Sequence[str] | None = None) -> list[PeggingRow]:
    """All 1,820 sets, or those of the records by these names, each as pone and as dealer."""
    hands, errors = records.hands, records.standard_error
    figures = records.known()
    return [
        PeggingRow(
            name, ROLES[role], int(hands[number, role]), *figures[number, role].tolist(), *errors[number, role].tolist()
        )
        for number, name in enumerate(names or rank_set_names(HAND_SIZE))
        for role in (PONE, DEALER)
    ]


def extreme_sets(rows: Sequence[PeggingRow], role: str, count: int) -> tuple[list[PeggingRow], list[PeggingRow]]:
    """The sets that gain most and least in a role, each from the most on; those without a record are left out."""
    recorded = [row for row in rows if row.role == role and row.hands > 0]
    recorded.sort(key=lambda row: -row.mean_gained)
    return recorded[:count], recorded[count:][-count:]


def overall_pegging(records: PeggingRecords) -> list[PeggingRow]:
    """One row a role, over all sets as often as they are dealt; what is sampled weighs what it is recorded."""
    weights = _times_dealt() if records.exact else np.ones(len(records.gained), dtype=np.int64)
    gained, given = (
        (weights[:, None, None] * counts).sum(axis=0, keepdims=True) for counts in (records.gained, records.given)
    )
    return pegging_rows(PeggingRecords(gained, given, records.exact), ["all"])


def _times_dealt() -> NDArray[np.int64]:
    """[1820] hands of four cards with the ranks of each set: 270,725 in all."""
    counts = (rank_sets(HAND_SIZE)[:, :, None] == np.arange(NUM_RANKS)).sum(axis=1)
    return np.array([prod(comb(NUM_SUITS, count) for count in row) for row in counts.tolist()])


def rank_set_names(size: int) -> list[str]:
    """`A2JK` for each multiset of ranks, in the order of their numbers."""
    return ["".join(RANK_NAMES[rank] for rank in row) for row in rank_sets(size).tolist()]
