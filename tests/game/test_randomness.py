"""The counter-based generator: known values, purity, and uniformity.

Seeds are fixed, so nothing here is flaky. Statistical limits are chi-square at a stated error level: a
faultless generator would have failed with that probability when the seeds were chosen.
"""

from itertools import product

import numpy as np
import pytest

from deepcrib.game.randomness import (
    CUT,
    DEAL,
    DEALER,
    FINAL_MATCHES,
    MINIBATCHES,
    MONITORING,
    NETWORKS,
    PRETRAINING,
    SELF_PLAY,
    below,
    derive,
    hash_key,
    uniform,
    word,
)
from deepcrib.kernels import jit
from tests.support.reference import chi_square_limit

ERROR_LEVEL = 1e-6


@jit
def draws_below(key: int, size: int, n: int) -> np.ndarray:
    """`size` numbers of one key's stream."""
    out = np.empty(size, dtype=np.int64)
    for i in range(size):
        out[i] = below(key, i, n)
    return out


@jit
def draws_uniform(key: int, size: int) -> np.ndarray:
    out = np.empty(size, dtype=np.float64)
    for i in range(size):
        out[i] = uniform(key, i)
    return out


@jit
def draws_of_keys(seed: int, games: int, hands: int, seats: int, decisions: int) -> np.ndarray:
    """Key of every decision, [games, hands, seats, decisions]."""
    out = np.empty((games, hands, seats, decisions), dtype=np.uint64)
    for g in range(games):
        for h in range(hands):
            for s in range(seats):
                for d in range(decisions):
                    out[g, h, s, d] = hash_key(seed, g, h, s - 1, d)
    return out


def key_of(*place: int) -> np.uint64:
    """hash_key as the 64-bit word it is: of Python integers above 2^63 Numba makes what it last saw."""
    return np.uint64(hash_key(*place))


def chi_square(counts: np.ndarray) -> float:
    expected = counts.sum() / counts.size
    return float(((counts - expected) ** 2 / expected).sum())


def assert_uniform(counts: np.ndarray, error_level: float = ERROR_LEVEL) -> None:
    """Neither uneven nor evener than chance."""
    value, freedom = chi_square(counts), counts.size - 1
    assert value < chi_square_limit(freedom, error_level)
    assert value > chi_square_limit(freedom, 1 - error_level)


def test_published_values_of_splitmix64() -> None:
    # The first words of the generator started at 0 and at 1234567, as its authors' C program gives them.
    from_zero = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    from_1234567 = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [int(word(0, i)) for i in range(3)] == from_zero
    assert [int(word(1234567, i)) for i in range(3)] == from_1234567


def test_hash_key_is_pure_and_the_same_whatever_integer_type() -> None:
    keys = {
        int(hash_key(kind(7), kind(3), kind(2), kind(1), kind(5)))
        for kind in (int, np.int64, np.int32, np.int8, np.uint64)
    }
    assert len(keys) == 1
    assert int(hash_key(7, 3, 2, -1, 5)) == int(hash_key(np.int64(7), np.int32(3), 2, np.int8(-1), 5))


def test_keys_differ_between_all_decisions() -> None:
    keys = np.concatenate([draws_of_keys(seed, 60, 20, 5, 24).ravel() for seed in (0, 1)])
    assert len(np.unique(keys)) == keys.size == 2 * 60 * 20 * 5 * 24
    low, high = keys & np.uint64(0xFFFFFFFF), keys >> np.uint64(32)
    for half in (low, high):  # neither half is wasted: about size^2 / 2^33 = 10 chance meetings
        assert keys.size - len(np.unique(half)) < 35


def test_every_input_bit_changes_half_of_the_key() -> None:
    flips = []
    for base in product((0, 12345), (0, 999), (0, 7), (0, 1), (0, 9)):
        key = int(hash_key(*base))
        for position, bits in zip(range(5), (40, 30, 8, 2, 5), strict=True):
            for bit in range(bits):
                other = list(base)
                other[position] ^= 1 << bit
                flips.append(bin(key ^ int(hash_key(*other))).count("1"))
    # Each count is binomial(64, 1/2): standard deviation 4, so 22 away is one in 10^7.5.
    assert np.mean(flips) == pytest.approx(32, abs=0.4)
    assert min(flips) >= 10 and max(flips) <= 54


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 13, 15, 52])
def test_below_is_uniform_in_one_stream(n: int) -> None:
    numbers = draws_below(key_of(11, 0, 0, 0, 0), 200_000, n)
    assert numbers.min() == 0 and numbers.max() == n - 1
    if n > 1:
        assert_uniform(np.bincount(numbers, minlength=n))


@pytest.mark.parametrize("n", [2, 3, 15])
@pytest.mark.parametrize("axis", range(4))
def test_below_is_uniform_over_neighbouring_keys(n: int, axis: int) -> None:
    """Keys next to each other in game, hand, seat or decision give numbers that do not know of each other."""
    keys = draws_of_keys(5, 250, 20, 4, 12)
    numbers = np.array([below(key, 0, n) for key in keys.ravel()]).reshape(keys.shape)
    assert_uniform(np.bincount(numbers.ravel(), minlength=n))
    first, second = np.moveaxis(numbers, axis, 0)[:-1], np.moveaxis(numbers, axis, 0)[1:]
    assert_uniform(np.bincount((first * n + second).ravel(), minlength=n * n))


def test_successive_words_of_a_stream_are_independent() -> None:
    numbers = draws_below(key_of(3, 1, 4, 1, 5), 400_001, 15)
    assert_uniform(np.bincount(numbers[:-1] * 15 + numbers[1:], minlength=225))


def test_uniform_fills_the_unit_interval() -> None:
    numbers = draws_uniform(key_of(2, 0, 0, 0, 0), 400_000)
    assert numbers.min() >= 0 and numbers.max() < 1
    assert_uniform(np.bincount((numbers * 100).astype(int), minlength=100))
    assert_uniform(np.bincount((numbers * 2**20).astype(int) % 64, minlength=64))  # the low bits too
    assert numbers.mean() == pytest.approx(0.5, abs=5 * np.sqrt(1 / 12 / 400_000))


def test_derived_seeds_are_pure_distinct_and_positive() -> None:
    purposes = (NETWORKS, PRETRAINING, SELF_PLAY, MINIBATCHES, MONITORING, FINAL_MATCHES)
    places = list(product((0, 1, 2, 12345), purposes, range(50)))
    seeds = [derive(*place) for place in places]
    assert seeds == [derive(*place) for place in places]
    assert len(set(seeds)) == len(seeds)
    assert all(isinstance(seed, int) and 0 <= seed < 2**63 for seed in seeds)
    assert derive(7, SELF_PLAY) == derive(7, SELF_PLAY, 0)
    # A purpose is no deal, cut or dealer of a game, and no decision of a seat.
    assert len(set(purposes) | {DEAL, CUT, DEALER}) == 9 and min(purposes) > 100
    assert derive(2**63 - 1, SELF_PLAY, 3) != derive(2**62, SELF_PLAY, 3)  # as derived seeds themselves may be
