"""The scripted players' choices as scalar compiled functions.

One source for the agents of these names, for pegging records and for search that models such an opponent. Each
function returns the set of choices that the player is indifferent between, as a bit mask; the player takes one of
them uniformly (`pick`).

- random: any legal choice.
- deterministic (Bélanger et al. 2019, section 3.3, and their published code): keeps the four cards with the most
  points by themselves, ties uniform; plays the card with the most immediate points from fifteens, pairs and runs,
  where the 2 for thirty-one and the go are not counted, ties uniform.
- greedy (Lang 2018): the same discard; plays the card with the most immediate points, thirty-one counted, ties to
  the highest rank.
"""

from __future__ import annotations

import numpy as np

from deepcrib.game.cards import NUM_RANKS, rank_of, suit_of, value_of_rank
from deepcrib.game.randomness import below
from deepcrib.game.rank_sets import rank_set_of, rank_sets
from deepcrib.game.rules import (
    COUNT_LIMIT,
    HAND_SIZE,
    KEPT_SLOTS_5,
    KEPT_SLOTS_6,
    RANK_POINTS_4,
    add_rank,
    four_card_points,
    is_legal_play,
    play_points,
)
from deepcrib.kernels import jit

RANDOM, DETERMINISTIC, GREEDY = 0, 1, 2
POLICIES = {"random": RANDOM, "deterministic": DETERMINISTIC, "greedy": GREEDY}


def _rank_choices() -> np.ndarray:
    """int16 [18564]: mask of the discards that keep the most points of the ranks of six cards, suits left out."""
    sets = rank_sets(6).astype(np.int64)
    kept = sets[:, KEPT_SLOTS_6]  # [18564, 15, 4]
    points = RANK_POINTS_4[kept @ NUM_RANKS ** np.arange(3, -1, -1)]
    best = points == points.max(axis=1, keepdims=True)
    return np.asarray(best @ (1 << np.arange(best.shape[1])), dtype=np.int16)


_RANK_CHOICES = _rank_choices()


@jit
def _may_flush(hand: np.ndarray) -> bool:
    """Whether four or more cards of a hand share a suit: four bits count each suit."""
    suits = 0
    for slot in range(len(hand)):
        suits += 1 << 4 * suit_of(hand[slot])
    return suits & 0x4444 != 0


@jit
def most_points_discards(hand: np.ndarray) -> int:
    """Mask of the discards of a sorted hand [6 or 5] that keep the most points by themselves."""
    if len(hand) == 6 and not _may_flush(hand):
        return int(_RANK_CHOICES[rank_set_of(hand)])
    slots = KEPT_SLOTS_6 if len(hand) == 6 else KEPT_SLOTS_5
    best = -1
    mask = 0
    for action in range(len(slots)):
        a, b, c, d = slots[action, 0], slots[action, 1], slots[action, 2], slots[action, 3]
        points = four_card_points(hand[a], hand[b], hand[c], hand[d])
        if points > best:
            best = points
            mask = 0
        if points == best:
            mask |= 1 << action
    return mask


@jit
def discard_choices(policy: int, hand: np.ndarray) -> int:
    """Mask of the discard actions between which a policy chooses uniformly; hand is sorted, [6 or 5]."""
    if policy == RANDOM:
        return (1 << (len(KEPT_SLOTS_6) if len(hand) == 6 else len(KEPT_SLOTS_5))) - 1
    return most_points_discards(hand)


@jit
def liking(policy: int, rank: int, points: int, count: int) -> int:
    """How much a policy likes to play a rank that makes these points and this count: it plays one of the most liked.

    More than this no policy sees; a player that looks at the series is a class of `agents`.
    """
    if policy == GREEDY:
        return points * 16 + rank  # a rank is below 16: it breaks ties only
    if policy == DETERMINISTIC:
        return points - 2 if count == COUNT_LIMIT else points
    return 0


@jit(inlined=True)
def play_choices(policy: int, hand: np.ndarray, series: int, count: int) -> int:
    """Mask of the slots between which a policy chooses uniformly; hand [4] holds NO_CARD in played slots."""
    best = -1
    mask = 0
    for slot in range(HAND_SIZE):
        rank = rank_of(hand[slot])
        total = count + value_of_rank(rank)
        value = liking(policy, rank, play_points(add_rank(series, rank), total), total)
        value = value if is_legal_play(count, hand[slot]) else -1  # selected, not skipped: no branch on random cards
        mask = (mask if value <= best else 0) | (1 if value >= 0 and best <= value else 0) << slot
        best = max(best, value)
    return mask


@jit
def count_choices(mask: int) -> int:
    """Number of choices in a mask; the compiler makes one instruction of this loop."""
    n = 0
    while mask:
        mask &= mask - 1
        n += 1
    return n


@jit
def lowest(mask: int) -> int:
    """The lowest choice of a non-empty mask."""
    return count_choices((mask & -mask) - 1)


@jit
def pick(mask: int, key: int) -> int:
    """One of the choices of a non-empty mask, uniformly, by the decision's key."""
    if mask & (mask - 1) == 0:
        return lowest(mask)
    skip = below(key, 0, count_choices(mask))
    choice = 0
    while True:
        if mask >> choice & 1:
            if skip == 0:
                return choice
            skip -= 1
        choice += 1
