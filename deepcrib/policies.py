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

from deepcrib.cards import rank_of, value_of_rank
from deepcrib.kernels import jit
from deepcrib.randomness import below
from deepcrib.rules import (
    COUNT_LIMIT,
    HAND_SIZE,
    KEPT_SLOTS_5,
    KEPT_SLOTS_6,
    card_points,
    four_card_points,
    is_legal_play,
)

RANDOM, DETERMINISTIC, GREEDY = 0, 1, 2
POLICIES = {"random": RANDOM, "deterministic": DETERMINISTIC, "greedy": GREEDY}
MAX_SERIES = 16  # cards of four players: no series is longer


@jit
def most_points_discards(hand: np.ndarray) -> int:
    """Mask of the discards of a sorted hand [6 or 5] that keep the most points by themselves."""
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
    """How much a policy likes to play a rank that makes these points and this count: it plays one of the most liked."""
    if policy == GREEDY:
        return points * 16 + rank  # a rank is below 16: it breaks ties only
    if policy == DETERMINISTIC:
        return points - 2 if count == COUNT_LIMIT else points
    return 0


@jit
def play_choices(policy: int, hand: np.ndarray, series: np.ndarray, n: int, count: int) -> int:
    """Mask of the slots between which a policy chooses uniformly.

    hand [4] holds NO_CARD in played slots; series holds the n ranks of the series, with room for one more, and is
    left as it was found but for that room.
    """
    best = -1
    mask = 0
    for slot in range(HAND_SIZE):
        card = hand[slot]
        if not is_legal_play(count, card):
            continue
        rank = rank_of(card)
        series[n] = rank
        total = count + value_of_rank(rank)
        value = liking(policy, rank, card_points(series, n + 1, total), total)
        if value > best:
            best = value
            mask = 0
        if value == best:
            mask |= 1 << slot
    return mask


@jit
def count_choices(mask: int) -> int:
    """Number of choices in a mask."""
    n = 0
    while mask:
        mask &= mask - 1
        n += 1
    return n


@jit
def pick(mask: int, key: int) -> int:
    """One of the choices of a non-empty mask, uniformly, by the decision's key."""
    skip = below(key, 0, count_choices(mask))
    choice = 0
    while True:
        if mask >> choice & 1:
            if skip == 0:
                return choice
            skip -= 1
        choice += 1
