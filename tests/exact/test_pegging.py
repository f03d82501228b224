"""Pegging records against plays in plain Python, brute force over opponents' hands, and their own conservation laws."""

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.exact.pegging_records import play_every_pair
from deepcrib.errors import OptionError
from deepcrib.exact.pegging import (
    MAX_POINTS,
    MEAN_GAINED,
    MEAN_GIVEN,
    PeggingRecords,
    add_record,
    exact_records,
    greedy_pegging,
    sampled_records,
)
from deepcrib.game.rank_sets import NUM_RANK_SETS_4, rank_sets
from deepcrib.kernels.workers import use_workers
from tests.support import reference
from tests.support.plays import plain_play
from tests.support.reference import assert_drawn, cards, chi_square_limit

PONE, DEALER = 0, 1
ERROR_LEVEL = 1e-6
SETS = [tuple(map(int, row)) for row in rank_sets(4)]
WAYS = np.array([math.prod(math.comb(4, n) for n in Counter(ranks).values()) for ranks in SETS])
"""How many of the 270,725 hands of four cards have these ranks."""


def played(pone: list[int], dealer: list[int]) -> tuple[int, ...]:
    return tuple(map(int, greedy_pegging(np.array(pone, dtype=np.int8), np.array(dealer, dtype=np.int8))))


# --- the play -----------------------------------------------------------------------------------------------


PLAYS = [
    # pone, dealer, the points of each
    # 7 7 (2) 7 (6) 7 (12, go 1), 4 4 (2) 4 (6) 4 (12, last card 1): the most that can be pegged at all
    ("4C 4D 7C 7D", "4H 4S 7H 7S", (12, 30)),
    # K Q J (run 3, go 1), 9 T 8 (run 3) 2 (go 1), 7 (last card 1)
    ("KC JD TC 2D", "QC 9D 8C 7D", (5, 4)),
    # K K (2) K (6) A (31: 2), K A 2 2 (pair and fifteen: 4, last card 1)
    ("KC KD AC AD", "KH KS 2C 2D", (8, 7)),
]


@pytest.mark.parametrize(("pone", "dealer", "points"), PLAYS)
def test_plays_by_hand(pone: str, dealer: str, points: tuple[int, int]) -> None:
    assert plain_play(cards(pone), cards(dealer)) == points
    assert played(cards(pone), cards(dealer)) == points


@pytest.mark.parametrize("deck", [range(52), range(16), range(12, 36)], ids=["all", "low", "middle"])
def test_plays_of_random_hands(deck: range) -> None:
    rng = np.random.default_rng(len(deck))
    for _ in range(2_000):
        drawn = [int(card) for card in rng.permutation(deck)[:8]]
        assert played(drawn[:4], drawn[4:]) == plain_play(drawn[:4], drawn[4:]), drawn


# --- exact records ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["5C 5D 5H JS", "AC 4D 7H KS", "8C 8D 8H 8S"])
def test_exact_records_are_brute_force(text: str) -> None:
    """Against each of the 194,580 hands that the other player may hold, counted card by card."""
    own = cards(text)
    others = [card for card in range(52) if card not in own]
    held = Counter(tuple(map(reference.rank, hand)) for hand in combinations(others, 4))
    number = SETS.index(tuple(map(reference.rank, own)))
    records, summary = exact_records(), exact_records().summary()
    for role in (PONE, DEALER):
        points = np.zeros((len(held), 2), dtype=np.int64)  # own, the opponent's
        for row, ranks in enumerate(held):
            other = [4 * rank for rank in ranks]
            pone, dealer = plain_play(*((own, other) if role == PONE else (other, own)))
            points[row] = (pone, dealer) if role == PONE else (dealer, pone)
        every = np.repeat(points, list(held.values()), axis=0)
        gained, given = (np.bincount(every[:, column], minlength=MAX_POINTS) for column in (0, 1))
        assert np.array_equal(records.gained[number, role], gained)
        assert np.array_equal(records.given[number, role], given)
        mean, median = every.mean(axis=0), np.median(every[:, 0])
        assert summary[number, role] == pytest.approx([mean[0], median, mean[1]], abs=1e-9)


def test_exact_records_are_of_all_hands() -> None:
    for counts in (exact_records().gained, exact_records().given):
        assert (counts.sum(axis=2) == math.comb(48, 4)).all()
    assert WAYS.sum() == math.comb(52, 4)


def test_what_one_gains_the_other_gives() -> None:
    """Every play is in two cells: over all hands, a role gains point by point what the other role gives."""
    records = exact_records()
    for role in (PONE, DEALER):
        assert np.array_equal(WAYS @ records.gained[:, role], WAYS @ records.given[:, 1 - role])
    sample = sampled_records(5_000, seed=2)
    for role in (PONE, DEALER):
        assert np.array_equal(sample.gained[:, role].sum(axis=0), sample.given[:, 1 - role].sum(axis=0))
        assert sample.gained.sum(axis=2)[:, role].sum() == 5_000


def test_the_shared_records_cannot_be_changed() -> None:
    records = exact_records()
    for counts in (records.gained, records.given):
        with pytest.raises(ValueError, match="read-only"):
            counts[0, 0, 0] = 1


def test_the_packaged_records_are_those_of_every_pair() -> None:
    records, played = exact_records(), play_every_pair()
    assert np.array_equal(records.gained, played.gained)
    assert np.array_equal(records.given, played.given)


# --- sampled records ----------------------------------------------------------------------------------------


def test_sampled_records_agree_with_exact_ones() -> None:
    """100,000 random hands, as in the thesis: which hands, their points, and the mean points of each."""
    exact, sample = exact_records(), sampled_records(100_000, seed=1)
    for role in (PONE, DEALER):
        assert_drawn(sample.gained.sum(axis=2)[:, role], WAYS)
        assert_drawn(sample.gained[:, role].sum(axis=0), WAYS @ exact.gained[:, role])
        assert_drawn(sample.given[:, role].sum(axis=0), WAYS @ exact.given[:, role])
    often = sample.gained.sum(axis=2) >= 50
    assert often.sum() > 1_400  # four different ranks: 256 of 270,725 hands each
    for figure, counts in ((MEAN_GAINED, exact.gained), (MEAN_GIVEN, exact.given)):
        mean, difference = exact.summary()[..., figure], (sample.summary() - exact.summary())[..., figure]
        shares, points = counts / counts.sum(axis=2, keepdims=True), np.arange(MAX_POINTS)
        deviation = np.sqrt((shares * (points - mean[..., None]) ** 2).sum(axis=2))
        z = difference * np.sqrt(sample.gained.sum(axis=2)) / deviation
        assert (z[often] ** 2).sum() < chi_square_limit(int(often.sum()), ERROR_LEVEL)


@pytest.mark.usefixtures("many_parts")
def test_a_sample_does_not_depend_on_threads_or_size() -> None:
    records = []
    for threads in (1, 2):
        use_workers(threads)
        records.append(sampled_records(3_000, seed=9))
    assert np.array_equal(records[0].gained, records[1].gained) and np.array_equal(records[0].given, records[1].given)
    fewer, other = sampled_records(2_000, seed=9), sampled_records(3_000, seed=10)
    assert (fewer.gained <= records[0].gained).all() and (fewer.given <= records[0].given).all()
    assert not np.array_equal(other.gained, records[0].gained)


@pytest.mark.parametrize("hands", [0, -5])
def test_no_hands_no_sample(hands: int) -> None:
    with pytest.raises(OptionError, match=f"hands={hands}: expected at least 1"):
        sampled_records(hands, seed=0)


# --- figures ------------------------------------------------------------------------------------------------


def records_of(hands: list[tuple[int, int]], number: int = 7, role: int = DEALER) -> PeggingRecords:
    """Records of hands (points gained, points given) in a single cell."""
    gained, given_ = np.zeros((2, NUM_RANK_SETS_4, 2, MAX_POINTS), dtype=np.int64)
    for mine, theirs in hands:
        gained[number, role, mine] += 1
        given_[number, role, theirs] += 1
    return PeggingRecords(gained, given_)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, MAX_POINTS - 1), st.integers(0, MAX_POINTS - 1)), min_size=1, max_size=40))
def test_figures_are_those_of_the_hands_one_by_one(hands: list[tuple[int, int]]) -> None:
    records, points = records_of(hands), np.array(hands)
    mean, median = points.mean(axis=0), float(np.median(points[:, 0]))
    assert records.summary()[7, DEALER] == pytest.approx([mean[0], median, mean[1]])
    assert (np.isnan(records.summary()).sum(axis=(0, 1)) == 2 * NUM_RANK_SETS_4 - 1).all()


def test_added_records_are_as_good_as_rebuilt_ones() -> None:
    records, hands = sampled_records(500, seed=4), sampled_records(3_000, seed=5)
    summary = records.summary()
    before, recorded = summary.copy(), hands.gained.sum(axis=2) > 0
    rng = np.random.default_rng(6)
    for number, role in zip(*np.nonzero(recorded), strict=True):
        gains = np.repeat(np.arange(MAX_POINTS), hands.gained[number, role])
        gives = np.repeat(np.arange(MAX_POINTS), hands.given[number, role])
        for mine, theirs in zip(rng.permutation(gains), rng.permutation(gives), strict=True):
            add_record(records.gained, records.given, summary, number, role, mine, theirs)
    both = PeggingRecords(
        sampled_records(500, seed=4).gained + hands.gained, sampled_records(500, seed=4).given + hands.given
    )
    assert np.array_equal(records.gained, both.gained) and np.array_equal(records.given, both.given)
    assert np.array_equal(summary[recorded], both.summary()[recorded])
    assert np.array_equal(summary[~recorded], before[~recorded], equal_nan=True)
