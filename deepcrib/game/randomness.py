"""Counter-based random numbers: pure functions of their arguments, with no state to keep or to share.

Every shuffled deck and every agent's coin toss is a hash of where in the match it stands, so a match does not
depend on batch size, thread count or order. The mixer is the finaliser of SplitMix64 (Steele, Lea and Flood,
"Fast splittable pseudorandom number generators", OOPSLA 2014).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11, _S32 = (np.uint64(s) for s in (30, 27, 31, 11, 32))
_UNIT = 1.0 / 9007199254740992.0  # 2**-53

Word = Any
"""A 64-bit unsigned integer: NumPy's inside compiled code, Python's to a caller from Python."""

# What a hash is for: the `decision` argument of hash_key beyond any real decision number.
DEAL, CUT, DEALER, START = 1000, 1001, 1002, 1003
# Where the learner sits in an episode of an environment.
LEARNER_SEAT = 1010
# Cards that no game deals: four each, without a discard; the evolutionary discarders' deals, and the chances of a
# hand of theirs.
KEPT_DEAL, SHOW_DEAL, EVOLUTION_STEP = 1100, 1103, 1104
# Purposes of `derive`.
NETWORKS, PRETRAINING, SELF_PLAY, MINIBATCHES, MONITORING, FINAL_MATCHES = range(2000, 2006)


@jit
def mix64(x: Word) -> Word:
    """A bijection of 64-bit words under which near inputs have unrelated outputs."""
    z = np.uint64(x) + _GAMMA
    z = (z ^ (z >> _S30)) * _M1
    z = (z ^ (z >> _S27)) * _M2
    return z ^ (z >> _S31)


@jit
def hash_key(seed: int, game: int, hand: int, seat: int, decision: int) -> Word:
    """64-bit key of one decision (or, with seat -1, of one deal)."""
    key = mix64(np.uint64(seed))
    key = mix64(key ^ np.uint64(game))
    place = (np.int64(hand) << 24) ^ (np.int64(seat + 1) << 16) ^ np.int64(decision)
    return mix64(key ^ np.uint64(place))


@jit
def word(key: Word, counter: int) -> Word:
    """The counter-th 64-bit word of a key's stream."""
    return mix64(np.uint64(key) + _GAMMA * np.uint64(counter))


@jit
def below(key: Word, counter: int, n: int) -> int:
    """Uniform integer in [0, n), n < 2**31, by fixed-point multiplication (bias below n / 2**32)."""
    return int(((word(key, counter) >> _S32) * np.uint64(n)) >> _S32)


@jit
def uniform(key: Word, counter: int) -> float:
    """Uniform float in [0, 1) with 53 random bits."""
    return float(word(key, counter) >> _S11) * _UNIT


@jit
def gaussian(key: Word, counter: int) -> float:
    """A standard normal number (Box and Muller 1958)."""
    radius = np.sqrt(-2 * np.log(1 - uniform(key, 2 * counter)))
    return float(radius * np.cos(2 * np.pi * uniform(key, 2 * counter + 1)))


def derive(seed: int, purpose: int, index: int = 0) -> int:
    """A seed in [0, 2**63) for one purpose of a run, unrelated to those of its other purposes and indices."""
    return int(hash_key(seed, index, 0, -1, purpose)) >> 1


def draw(chances: NDArray[np.float64], keys: NDArray[np.uint64]) -> NDArray[np.int8]:
    """[N] actions drawn by their chances [N, A], each row by its decision's key."""
    actions = np.empty(len(chances), dtype=np.int8)
    run_rows(_draw_rows, len(actions), chances, keys, actions)
    return actions


@jit
def _draw_rows(part: Part, chances: np.ndarray, keys: np.ndarray, actions: np.ndarray) -> None:
    for r in range(*part):
        left = uniform(keys[r], 0)
        for action in range(chances.shape[1]):
            if chances[r, action] > 0:
                actions[r] = action  # the last one, should rounding leave something over
                left -= chances[r, action]
                if left < 0:
                    break
