"""What four kept cards peg: records of the greedy player against itself (Lang 2018, sections 3.1 and 5.1).

Points of the play alone, go and last card included and heels left out, that a player gains and that its opponent gains
(gives), by the rank multiset of its four cards and its role (0 pone, 1 dealer; the pone leads). Greedy is indifferent
only between cards of one rank, so the two rank multisets decide the whole play.

The thesis samples 100,000 random hands. `sampled_records` does the same; `exact_records` are of every pair of
multisets, each as often as it can be dealt.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from deepcrib.errors import OptionError
from deepcrib.game.cards import NUM_CARDS
from deepcrib.game.policies import GREEDY, lowest, play_choices
from deepcrib.game.randomness import KEPT_DEAL, below, hash_key
from deepcrib.game.rank_sets import NUM_RANK_SETS_4, rank_set_of
from deepcrib.game.rules import HAND_SIZE, play_step
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows

RECORDS_FILE = "pegging.npz"
PONE, DEALER = 0, 1
MAX_POINTS = 32
"""Points of one player in one play are below it: at most 24 as pone and 30 as dealer, however the cards are laid."""
MEAN_GAINED, MEDIAN_GAINED, MEAN_GIVEN = 0, 1, 2


@dataclass(frozen=True)
class PeggingRecords:
    """How often each rank multiset of four, in each role, gained and gave so many points.

    gained, given: int64 [1820, 2, MAX_POINTS], hands by set, role and points.
    """

    gained: NDArray[np.int64]
    given: NDArray[np.int64]

    def summary(self) -> NDArray[np.float64]:
        """[1820, 2, 3]: mean gained, median gained, mean given, in points; nan without a record.

        A median is halfway between the middle two for an even number of hands.
        """
        summary = np.empty((NUM_RANK_SETS_4, 2, 3))
        run_rows(_summarise_rows, NUM_RANK_SETS_4, self.gained, self.given, summary)
        return summary

    def pooled(self) -> PeggingRecords:
        """Copies that do not tell the roles apart: in both cells of a set stand the records of either.

        So Lang's records are kept (`AggregatePlayedHandRecord`), which know the four cards alone.
        """
        gained, given = (
            np.repeat(counts.sum(axis=1, keepdims=True), 2, axis=1) for counts in (self.gained, self.given)
        )
        return PeggingRecords(gained, given)


# --- making records -----------------------------------------------------------------------------------------------


@cache
def exact_records() -> PeggingRecords:
    """All pairs of rank multisets, weighted by the hands that the opponent may hold: 194,580 a cell.

    Both players' cards are drawn from one deck, and nothing is known of the discards. Played and saved by a script,
    `benchmarks/exact/pegging_records.py`, so that nobody has to wait for them. The arrays cannot be written.
    """
    with resources.files("deepcrib.exact").joinpath(RECORDS_FILE).open("rb") as file, np.load(file) as arrays:
        records = PeggingRecords(arrays["gained"], arrays["given"])
    records.gained.flags.writeable = False
    records.given.flags.writeable = False
    return records


def sampled_records(hands: int, seed: int) -> PeggingRecords:
    """The thesis's prior: `hands` plays between two random hands of four cards from one deck (there 100,000).

    Both players' points are recorded. Raises OptionError when hands is below 1.
    """
    if hands < 1:
        raise OptionError(f"hands={hands}: expected at least 1 hand to record")
    sets = np.zeros((hands, 2), dtype=np.int64)
    points = np.zeros((hands, 2), dtype=np.int64)
    run_rows(_play_random, len(sets), seed, sets, points, piece=512)
    records = PeggingRecords(no_records(), no_records())
    for role in (PONE, DEALER):
        np.add.at(records.gained[:, role], (sets[:, role], points[:, role]), 1)
        np.add.at(records.given[:, role], (sets[:, role], points[:, 1 - role]), 1)
    return records


@jit
def add_record(
    gained: np.ndarray, given: np.ndarray, summary: np.ndarray, set_index: int, role: int, pegged: int, opposed: int
) -> None:
    """Add one hand, in which the player pegged and its opponent pegged `opposed` points, and refresh its summary.

    gained, given: int64 [1820, 2, MAX_POINTS]. summary: float64 [1820, 2, 3], of which the cell of this set and role
    alone changes; a cell without a record keeps the figures that it was given.
    """
    gained[set_index, role, pegged] += 1
    given[set_index, role, opposed] += 1
    _summarise(gained[set_index, role], given[set_index, role], summary[set_index, role])


# --- the play -----------------------------------------------------------------------------------------------------


@jit
def greedy_pegging(pone_cards: np.ndarray, dealer_cards: np.ndarray) -> tuple[int, int]:
    """Points that greedy pegs against itself as pone and as dealer, with four cards [4] (ids) each."""
    left = np.empty((2, HAND_SIZE), dtype=np.int8)
    for slot in range(HAND_SIZE):
        left[PONE, slot] = pone_cards[slot]
        left[DEALER, slot] = dealer_cards[slot]
    goes = np.zeros(2, dtype=np.int8)
    pegged = np.zeros(2, dtype=np.int64)
    seat, series, count = PONE, 0, 0
    while seat >= 0:
        mask = play_choices(GREEDY, left[seat], series, count)
        slot = lowest(mask)  # choices are of one rank: any of them
        points, last, following, series, count = play_step(left, goes, series, count, seat, slot)
        pegged[seat] += points + last
        seat = following
    return pegged[PONE], pegged[DEALER]


@jit
def deal_kept(seed: int, hand: int) -> tuple[np.ndarray, np.ndarray]:
    """Sorted card ids [4] of pone and of dealer: two random hands of four cards from one deck, by (seed, hand)."""
    key = hash_key(seed, hand, 0, -1, KEPT_DEAL)
    deck = np.arange(NUM_CARDS)
    for i in range(2 * HAND_SIZE):
        j = i + below(key, i, NUM_CARDS - i)
        deck[i], deck[j] = deck[j], deck[i]
    return np.sort(deck[:HAND_SIZE]), np.sort(deck[HAND_SIZE : 2 * HAND_SIZE])


@jit
def _play_random(part: Part, seed: int, sets: np.ndarray, points: np.ndarray) -> None:
    """Deal and play hand 0, 1, ..: sets [N, 2] and points [N, 2] of pone and dealer."""
    for hand in range(*part):
        pone_cards, dealer_cards = deal_kept(seed, hand)
        sets[hand, PONE] = rank_set_of(pone_cards)
        sets[hand, DEALER] = rank_set_of(dealer_cards)
        points[hand, PONE], points[hand, DEALER] = greedy_pegging(pone_cards, dealer_cards)


# --- figures ------------------------------------------------------------------------------------------------------


@jit
def _mean(histogram: np.ndarray) -> float:
    hands = 0
    total = 0
    for points in range(len(histogram)):
        hands += histogram[points]
        total += points * histogram[points]
    return total / hands  # nan without a hand


@jit
def _median(histogram: np.ndarray) -> float:
    """The middle value of a histogram's hands, or halfway between the middle two; nan without a hand."""
    hands = histogram.sum()
    lower = upper = -1
    seen = 0
    for points in range(len(histogram)):
        seen += histogram[points]
        if lower < 0 and 2 * seen >= hands:
            lower = points
        if upper < 0 and 2 * seen > hands:
            upper = points
    return (lower + upper) / 2 if hands > 0 else np.nan


@jit
def _summarise(gained: np.ndarray, given: np.ndarray, summary: np.ndarray) -> None:
    summary[MEAN_GAINED] = _mean(gained)
    summary[MEDIAN_GAINED] = _median(gained)
    summary[MEAN_GIVEN] = _mean(given)


@jit
def _summarise_rows(part: Part, gained: np.ndarray, given: np.ndarray, summary: np.ndarray) -> None:
    for row in range(*part):
        for role in range(2):
            _summarise(gained[row, role], given[row, role], summary[row, role])


def no_records() -> NDArray[np.int64]:
    """[1820, 2, MAX_POINTS] zeros."""
    return np.zeros((NUM_RANK_SETS_4, 2, MAX_POINTS), dtype=np.int64)
