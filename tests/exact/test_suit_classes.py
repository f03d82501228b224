"""Classes of hands under renaming of suits against plain orbits and Burnside's count."""

from functools import cache
from itertools import permutations
from math import comb

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deepcrib.exact.classes import class_hands, class_sizes, suit_classes
from deepcrib.exact.discards import discard_statistics
from deepcrib.game.rank_sets import rank_sets
from tests.support.brute_force import DISCARDS, varied_hands

RENAMINGS = list(permutations(range(4)))
HANDS = st.lists(st.integers(0, 51), min_size=6, max_size=6, unique=True).map(sorted)
ACTIONS = st.integers(0, 14)


def renamed(hand: list[int], suits: tuple[int, ...]) -> list[int]:
    """The cards of a hand in their order, with other suits."""
    return [card // 4 * 4 + suits[card % 4] for card in hand]


def orbit(hand: list[int]) -> set[tuple[int, ...]]:
    """All hands that renaming suits makes of one."""
    return {tuple(sorted(renamed(hand, suits))) for suits in RENAMINGS}


@cache
def numbers() -> dict[int, int]:
    """The number of each class by its key."""
    return {key: number for number, key in enumerate(suit_classes().keys.tolist())}


def found_class(hand: list[int]) -> int:
    """The number of a hand's class: its suits as sets of ranks, the largest number lowest in the key."""
    suits = sorted((sum(1 << card // 4 for card in hand if card % 4 == suit) for suit in range(4)), reverse=True)
    return numbers()[sum(ranks << 13 * place for place, ranks in enumerate(suits))]


# --- classes ------------------------------------------------------------------------------------------------


def test_as_many_classes_as_burnside_counts() -> None:
    """The mean, over the 24 renamings, of how many hands each leaves as they are.

    Such a hand has, in each rank, all suits of a cycle of the renaming or none; so it is counted by the coefficient of
    x^6 in the 13th power of the product of 1 + x^length over the cycles.
    """
    fixed = 0
    for suits in RENAMINGS:
        cycles = {frozenset(iterate(suits, suit)) for suit in range(4)}
        rank = np.array([1], dtype=object)
        for cycle in cycles:
            rank = np.convolve(rank, [1] + [0] * (len(cycle) - 1) + [1])
        every = np.array([1], dtype=object)
        for _ in range(13):
            every = np.convolve(every, rank)
        fixed += every[6]
    assert fixed == 24 * 962_988
    assert len(suit_classes().keys) == 962_988


def iterate(suits: tuple[int, ...], start: int) -> list[int]:
    """The cycle of a renaming in which a suit lies."""
    cycle = [start]
    while suits[cycle[-1]] != start:
        cycle.append(suits[cycle[-1]])
    return cycle


def test_every_hand_is_in_one_class() -> None:
    classes = suit_classes()
    hands = class_hands(classes.keys)
    assert class_sizes(classes.keys).sum() == comb(52, 6) == 20_358_520
    assert (np.diff(hands, axis=1) > 0).all() and hands.min() == 0 and hands.max() == 51
    assert len(np.unique(hands.astype(np.int64) @ 64 ** np.arange(6))) == 962_988
    of_ranks = np.diff(classes.starts)
    assert len(of_ranks) == 18_564 and (of_ranks > 0).sum() == 18_395
    assert np.array_equal(hands // 4, np.repeat(rank_sets(6), of_ranks, axis=0))


def test_classes_are_orbits() -> None:
    """Every hand of an orbit, and no other, has its class, which knows how many they are."""
    classes = suit_classes()
    hands, sizes = class_hands(classes.keys), class_sizes(classes.keys)
    orbits: dict[int, set[tuple[int, ...]]] = {}
    for hand in varied_hands(500, seed=1).tolist():
        members = orbit(hand)
        (number,) = {found_class([*member]) for member in members}
        assert orbits.setdefault(number, members) == members
        assert len(members) == sizes[number] and tuple(hands[number].tolist()) in members
    assert len({len(members) for members in orbits.values()}) >= 3


@given(HANDS, st.sampled_from(RENAMINGS), ACTIONS)
def test_suits_have_no_names(hand: list[int], suits: tuple[int, ...], action: int) -> None:
    """A hand with other suits has the same class, and each discard the same statistics."""
    cards_now = renamed(hand, suits)
    other = sorted(cards_now)
    assert found_class(other) == found_class(hand)
    slots = sorted(other.index(cards_now[slot]) for slot in DISCARDS[action])
    same = DISCARDS.tolist().index(slots)
    assert discard_statistics([other])[0, same] == discard_statistics([hand])[0, action]
