"""Martin's matrix against cribs counted one by one, the known mean of all hands, and what it was made to show."""

import math
from itertools import combinations

import numpy as np
import pytest

from benchmarks.exact.martin2000 import (
    IMPOSSIBLE,
    card_pairs,
    crib_bounds,
    crib_matrix,
    crib_totals,
    pair_number,
    rank_pair_matrix,
)
from deepcrib.game.rank_sets import rank_set_2
from tests.support import reference
from tests.support.reference import cards

MEAN_OF_ALL_HANDS = 4.7692
"""Points of the 12,994,800 hands of four cards with a starter (a rulebook figure, see any cribbage statistics)."""


def plain_total(first: list[int], second: list[int]) -> int:
    """Points of a crib over its 48 starters, counted by the tests' own rulebook."""
    crib = [*first, *second]
    return sum(reference.show(crib, starter, is_crib=True) for starter in range(52) if starter not in crib)


def number(text: str) -> int:
    return pair_number(*sorted(cards(text)))


def test_random_cribs() -> None:
    """Half of them of clubs alone, so that flushes occur."""
    rng = np.random.default_rng(1)
    totals, flushes = crib_totals(), 0
    for attempt in range(400):
        deck = rng.permutation(52) if attempt % 2 else rng.permutation(range(0, 52, 4))
        first, second = sorted(map(int, deck[:2])), sorted(map(int, deck[2:4]))
        flushes += len({card % 4 for card in (*first, *second)}) == 1
        assert totals[pair_number(*first), pair_number(*second)] == plain_total(first, second), (first, second)
    assert flushes > 150


def test_pairs_that_share_a_card_make_no_crib() -> None:
    totals, matrix = crib_totals(), crib_matrix()
    pairs = card_pairs()
    shared = (pairs[:, None, :, None] == pairs[None, :, None, :]).any(axis=(2, 3))
    assert np.array_equal(totals == IMPOSSIBLE, shared) and np.array_equal(np.isnan(matrix), shared)
    assert (~shared).sum() == 1_326 * math.comb(50, 2)


def test_the_mean_of_all_cribs_follows_from_that_of_all_hands() -> None:
    """Every crib is a hand but for the flush of four: 4 of 52 choose 4 x 4 suits, by 39 of 48 starters.

    Each four cards are in six entries, so the mean of the matrix is the mean of all cribs.
    """
    flush_of_four = 4 * (4 * math.comb(13, 4) / math.comb(52, 4)) * 39 / 48
    matrix = crib_matrix().astype(np.float64)
    assert np.nanmean(matrix) == pytest.approx(MEAN_OF_ALL_HANDS - flush_of_four, abs=0.00005 + 1e-6)


def test_by_ranks() -> None:
    """Means over all cards of two pairs of ranks, counted one by one."""
    matrix = rank_pair_matrix()
    for first, second in [("5C 5D", "JC JD"), ("8C 8D", "8H 8S"), ("AC KC", "KD KH")]:
        options = [
            [pair for pair in combinations(range(52), 2) if sorted(map(reference.rank, pair)) == ranks]
            for ranks in (sorted(map(reference.rank, cards(text))) for text in (first, second))
        ]
        cribs = [plain_total([*a], [*b]) for a in options[0] for b in options[1] if not set(a) & set(b)]
        rows = [rank_set_2(*sorted(map(reference.rank, cards(text)))) for text in (first, second)]
        assert matrix[rows[0], rows[1]] == pytest.approx(np.mean(cribs) / 48, abs=1e-12)


def test_bounds_of_a_pair() -> None:
    bounds = crib_bounds()
    for text in ("5H 5S", "9C KD"):
        own = cards(text)
        others = combinations([card for card in range(52) if card not in own], 2)
        totals = [crib_totals()[number(text), pair_number(*pair)] for pair in others]
        assert bounds[number(text)] == pytest.approx(
            [min(totals) / 48, sum(map(int, totals)) / math.comb(50, 2) / 48, max(totals) / 48], abs=1e-12
        )


def test_four_fives_by_hand() -> None:
    """Six pairs (12) and four times 5 5 5 (8); a card that counts ten adds four fifteens (8), others nothing."""
    assert crib_totals()[number("5C 5D"), number("5H 5S")] == 16 * 28 + 32 * 20
    assert crib_bounds()[number("5C 5D"), 2] == (16 * 28 + 32 * 20) / 48  # nothing is better


def test_the_pone_should_not_throw_pairs_or_fifteens() -> None:
    """Martin's conclusion: each makes the crib better than the mean of all, other throws (mostly) worse."""
    ranks = card_pairs() // 4
    values = np.minimum(ranks + 1, 10).sum(axis=1)
    mean = crib_bounds()[:, 1]
    rich = (ranks[:, 0] == ranks[:, 1]) | (values == 15)
    assert mean[rich].min() > mean.mean()
    assert mean[~rich].mean() < mean.mean()
    best, worst = int(mean.argmax()), int(mean.argmin())
    assert reference.cards("5C 5D") == card_pairs()[best].tolist()
    assert sorted(card_pairs()[worst] // 4) == [9, 12]  # ten and king: no run, no fifteen but with a five
