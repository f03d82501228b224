"""Cribs against weighted discards and the experts' discards: counted one by one, answered once more, and published."""

from collections import defaultdict
from functools import cache
from importlib import resources
from itertools import combinations_with_replacement, product
from math import comb
from pathlib import Path

import numpy as np
import pytest

from benchmarks.exact.solve_experts import discard_weights, rank_pair_means, save, solve
from benchmarks.exact.tables import crib_table
from deepcrib.exact.classes import class_hands, class_sizes, suit_classes
from deepcrib.exact.cribs import crib_sums, uniform_weights
from deepcrib.exact.discards import HAND_STARTERS, crib_means, discard_statistics
from deepcrib.exact.experts import Experts, expert_sums, experts
from tests.support import brute_force
from tests.support.brute_force import DISCARDS, varied_hands

RANKS = "A23456789TJQK"
PAIRS = list(combinations_with_replacement(range(13), 2))
WAYS = {(a, b): 6 if a == b else 16 for a, b in PAIRS}
"""Of the 1,326 pairs of cards."""


def random_weights(seed: int, zeros: float = 0.0) -> np.ndarray:
    """Symmetric weights [13, 13], a share of them 0."""
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.uniform(0.1, 5, (13, 13)) * (rng.random((13, 13)) >= zeros))
    return weights + np.triu(weights, 1).T


def relative(shares: dict[tuple[int, int], float]) -> np.ndarray:
    """Weights of discards by how often each pair of ranks a <= b is thrown."""
    weights = np.zeros((13, 13))
    for (a, b), share in shares.items():
        weights[a, b] = weights[b, a] = share / sum(shares.values()) / (WAYS[a, b] / 1_326)
    return weights


# --- weighted cribs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("zeros", [0.0, 0.6])
def test_weighted_cribs(zeros: float) -> None:
    """Of hands with flushes and jacks among them, thrown by either player."""
    weights = random_weights(1, zeros)
    hands = varied_hands(24, seed=6)
    means = crib_means(hands, crib_sums(weights))
    for hand, row in zip(hands.tolist(), means, strict=True):
        sums, cribs = brute_force.crib_sums(hand, weights)
        assert row == pytest.approx(sums / cribs, rel=1e-12), hand


def test_cribs_by_the_ranks_thrown() -> None:
    """Means over all cards of two ranks; the suits of those that differ are the same 4 times in 16."""
    weights = random_weights(3)
    means = rank_pair_means(weights)
    assert np.array_equal(means, means.T)
    for a, b in [(4, 4), (10, 10), (4, 10), (0, 12), (6, 7)]:
        cards = [sorted((4 * a + s, 4 * b + t)) for s, t in product(range(4), repeat=2) if 4 * a + s != 4 * b + t]
        expected = np.mean([brute_force.crib_mean(pair, weights) for pair in cards])
        assert means[a, b] == pytest.approx(expected, rel=1e-12), (a, b)


# --- best replies -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_dealer", [True, False])
def test_best_discards_of_a_few_hands(is_dealer: bool) -> None:
    """Counted hand by hand, discards of the same worth sharing a hand."""
    theirs, hands = random_weights(4), varied_hands(24, seed=8)
    sizes = np.random.default_rng(9).integers(1, 25, len(hands))
    means = np.array([brute_force.hand_points(hand).mean(axis=1) for hand in hands.tolist()])
    shares: dict[tuple[int, int], float] = defaultdict(float)
    ties = 0
    for hand, size, mean in zip(hands.tolist(), sizes.tolist(), means, strict=True):
        sums, cribs = brute_force.crib_sums(hand, theirs)
        values = mean + sums / cribs if is_dealer else mean - sums / cribs
        best = [DISCARDS[action].tolist() for action in range(15) if values[action] > values.max() - 1e-9]
        ties += len(best) > 1
        for first, second in best:
            shares[hand[first] // 4, hand[second] // 4] += size / len(best)
    assert ties > 0
    found = discard_weights(hands.astype(np.int8), sizes, means, theirs, is_dealer)
    assert found == pytest.approx(relative(shares), rel=1e-12)


@cache
def best_reply(is_dealer: bool) -> np.ndarray:
    """Weights of the best discards of all hands against the experts."""
    keys = suit_classes().keys
    hands = class_hands(keys)
    means = discard_statistics(hands)["hand_sum"] / HAND_STARTERS
    return discard_weights(hands, class_sizes(keys), means, experts().against(is_dealer), is_dealer)


@pytest.mark.parametrize("is_dealer", [True, False])
def test_experts_answer_each_other(is_dealer: bool) -> None:
    """The best reply to one is the other, up to discards that are worth nearly the same."""
    own = experts().dealer if is_dealer else experts().pone
    reply = best_reply(is_dealer)
    assert np.abs(rank_pair_means(reply) - rank_pair_means(own)).max() < 0.01
    moved = sum(WAYS[pair] / 1_326 * abs(reply[pair] - own[pair]) for pair in PAIRS) / 2
    assert moved < 0.01  # of all discards


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_experts_are_found_again() -> None:
    """From uniform discards, most of the way: by then an iteration moves no crib by a thousandth of a point."""
    changes: list[float] = []
    found, iterations, change = solve(most=18, progress=lambda _, moved: changes.append(moved))
    assert iterations == len(changes) == 18 and changes[0] > 1 > 0.001 > change == changes[-1]
    for mine, written in ((found.dealer, experts().dealer), (found.pone, experts().pone)):
        assert np.abs(rank_pair_means(mine) - rank_pair_means(written)).max() < 0.005


# --- the experts --------------------------------------------------------------------------------------------


def test_weights_are_one_on_average() -> None:
    for weights in (experts().dealer, experts().pone):
        assert weights.shape == (13, 13) and (weights >= 0).all() and np.array_equal(weights, weights.T)
        assert sum(WAYS[pair] * weights[pair] for pair in PAIRS) / comb(52, 2) == pytest.approx(1, abs=1e-7)
    assert experts().against(True) is experts().pone and experts().against(False) is experts().dealer
    assert np.array_equal(expert_sums(True).weights, experts().pone)


def test_what_each_throws() -> None:
    """A dealer keeps its crib in mind, a pone the opponent's: fives and pairs in the one, ten and king in the other."""
    dealer, pone = experts().dealer, experts().pone
    assert (np.diag(dealer) > np.diag(pone)).all()
    assert (dealer[4] > pone[4]).all()
    assert pone[9, 12] > 2 > 1 > dealer[9, 12]


def test_the_mean_of_all_cribs() -> None:
    """When any two cards meet any two cards."""
    any_cards = crib_table(Experts(uniform_weights(), uniform_weights()))
    ways = [WAYS[pair] for pair in PAIRS]
    for column in (2, 3):
        assert np.average([row[column] for row in any_cards], weights=ways) == pytest.approx(4.73482, abs=5e-6)


# Own crib, opponent's crib: averages of the tables of Hessel, Colvert and Rasmussen (M. Schell, Cribbage Forum, 2000).
PUBLISHED = {
    "55": (8.79, 9.37),
    "23": (7.00, 7.33),
    "5J": (7.00, 7.76),
    "78": (6.53, 7.63),
    "A4": (5.43, 5.72),
    "QK": (3.46, 4.49),
    "A9": (3.40, 4.55),
    "6T": (3.17, 4.31),
    "9K": (3.06, 4.03),
    "TK": (2.84, 3.88),
}


def test_it_is_as_published() -> None:
    """Within 0.4 points: players' tables count what was thrown, ours two who weigh hand and crib alone."""
    table = {first + second: (own, other) for first, second, own, other in crib_table(experts())}
    for names, expected in PUBLISHED.items():
        assert table[names] == pytest.approx(expected, abs=0.4), names
    for column in (0, 1):
        mine, theirs = ([values[names][column] for names in PUBLISHED] for values in (table, PUBLISHED))
        assert np.corrcoef(mine, theirs)[0, 1] > 0.995


def test_weights_are_written_in_the_very_format_of_the_packages_own(tmp_path: Path) -> None:
    save(experts(), tmp_path / "experts.csv")
    packaged = resources.files("deepcrib.exact").joinpath("experts.csv").read_text()
    assert (tmp_path / "experts.csv").read_text() == packaged
