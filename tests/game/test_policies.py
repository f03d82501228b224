"""The scripted players against plain-Python versions of their descriptions, and the fairness of ties."""

from itertools import combinations

import numpy as np
import pytest

from deepcrib.game.policies import DETERMINISTIC, GREEDY, POLICIES, count_choices, discard_choices, pick, play_choices
from deepcrib.game.randomness import hash_key
from deepcrib.game.rules import pack_series
from tests.support import reference
from tests.support.reference import assert_drawn, cards, int8, plain_discards, plain_plays


def choices(mask: int) -> set[int]:
    return {choice for choice in range(15) if int(mask) >> choice & 1}


def play_mask(policy: str, hand: list[int], series: list[int]) -> set[int]:
    packed = pack_series(int8([card // 4 for card in series]), len(series))
    count = sum(map(reference.pips, series))
    return choices(play_choices(POLICIES[policy], int8(hand), packed, count))


# --- by example ---------------------------------------------------------------------------------------------


def slots(text: str) -> list[int]:
    return [-1 if word == "--" else cards(word)[0] for word in text.split()]


DISCARDS = [
    # the sorted hand, the slots thrown in every best discard
    ("5C 5D 5H 5S KC KD", [(4, 5)]),  # four fives count 20
    ("4C 5D 6H 6S QC KD", [(4, 5)]),  # 4 5 6 6: two fifteens, a pair, a double run: 12
    ("AC 3C 5C 7C 9D JD", [(4, 5)]),  # the flush: 4
    ("2C 3D 7H 8S JC QD", [(2, 3)]),  # 2+3+J and 2+3+Q against 7+8
    # 7 8 with any two others: neither starter, nobs nor the crib is thought of
    ("2C 4D 7H 8S JC QD", [(0, 1), (0, 4), (0, 5), (1, 4), (1, 5), (4, 5)]),
    ("2C 4D 6H 8S TC QD", list(combinations(range(6), 2))),  # nothing at all
    ("4C 5D 6H QS KC", [(3,), (4,)]),  # of five cards: 15, run of three, 5 with the one court card kept
    ("AC 3C 5C 7C 9D", [(4,)]),  # 4 for the flush
]


@pytest.mark.parametrize(("hand", "thrown"), DISCARDS)
def test_discard_examples(hand: str, thrown: list[tuple[int, ...]]) -> None:
    actions = list(combinations(range(len(cards(hand))), len(cards(hand)) - 4))
    expected = {actions.index(away) for away in thrown}
    assert plain_discards("greedy", cards(hand)) == expected
    for policy in (DETERMINISTIC, GREEDY):
        assert choices(discard_choices(policy, int8(cards(hand)))) == expected


PLAYS = [
    # hand in slots, series; choices of deterministic, of greedy
    ("4C 6D 9H KS", "", {0, 1, 2, 3}, {3}),  # nothing to gain: any, and the highest rank
    ("2C 6D 9H TS", "5H", {3}, {3}),  # fifteen
    ("2C TD 9H TS", "5H", {1, 3}, {1, 3}),  # equal ranks: both toss a coin between the tens
    ("2C KD 9H TS", "5H", {1, 3}, {1}),  # fifteen either way: greedy takes the king
    ("5C TD KH KS", "5H 6S TC", {1}, {1}),  # on 21: a pair and thirty-one
    ("5C 9D KH KS", "5H 6S TC", {0, 1, 2, 3}, {2, 3}),  # thirty-one alone
    ("2C 6D -- KS", "KC 5D 6H", {1}, {3}),  # a pair or thirty-one: greedy sees 2 in both and takes the king
    ("AC 4D -- KS", "KC QD", {0, 1, 3}, {3}),
    ("AC 2D -- --", "KC QD KH", {0}, {0}),  # only the ace is lawful
    ("5C 6D 7H 8S", "6C 7S", {0, 3}, {3}),  # 5 6 7 and 6 7 8 are runs of three
    ("4C 6D 8H --", "9C 5D", {0, 1, 2}, {2}),
    ("2C 5D QH --", "6H 5S JC", {0, 1, 2}, {2}),  # on 21: only greedy counts the thirty-one
    ("AC 2D -- --", "8H KS TC", {0, 1}, {1}),  # either card may earn the go, which is not thought of
]


@pytest.mark.parametrize(("hand", "series", "deterministic", "greedy"), PLAYS)
def test_play_examples(hand: str, series: str, deterministic: set[int], greedy: set[int]) -> None:
    assert plain_plays("deterministic", slots(hand), cards(series)) == deterministic
    assert plain_plays("greedy", slots(hand), cards(series)) == greedy
    assert play_mask("deterministic", slots(hand), cards(series)) == deterministic
    assert play_mask("greedy", slots(hand), cards(series)) == greedy


# --- in bulk ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dealt", [6, 5])
@pytest.mark.parametrize("policy", ["random", "deterministic", "greedy"])
def test_discards_of_random_hands(policy: str, dealt: int) -> None:
    rng = np.random.default_rng(20 + dealt)
    for number in range(1_000):
        # Every third hand from one suit and a half, so that flushes occur.
        deck = rng.permutation(52) if number % 3 else rng.permutation([*range(0, 52, 4), *range(1, 27, 4)])
        hand = sorted(int(card) for card in deck[:dealt])
        assert choices(discard_choices(POLICIES[policy], int8(hand))) == plain_discards(policy, hand), hand


@pytest.mark.parametrize("policy", ["random", "deterministic", "greedy"])
def test_plays_in_random_positions(policy: str) -> None:
    rng = np.random.default_rng(30)
    differing = 0
    for number in range(4_000):
        deck = [int(card) for card in rng.permutation(52 if number % 2 else 28)]
        hand = sorted(deck[:4])
        for slot in range(int(rng.integers(0, 4))):
            hand[slot] = -1
        series: list[int] = []
        for card in deck[4 : 4 + int(rng.integers(0, 13))]:
            if sum(map(reference.pips, series)) + reference.pips(card) <= 31:
                series.append(card)
        expected = plain_plays(policy, hand, series)
        assert play_mask(policy, hand, series) == expected, (hand, series)
        differing += 1 < len(expected) < 4
    assert differing > 200  # ties were met


def test_nothing_lawful_is_no_choice() -> None:
    for policy in POLICIES:
        assert play_mask(policy, slots("5C 6D KH --"), cards("9H KS TC")) == set()


# --- ties ---------------------------------------------------------------------------------------------------


def test_count_choices() -> None:
    assert [count_choices(mask) for mask in (0, 1, 2, 3, 0b1011, (1 << 15) - 1)] == [0, 1, 1, 2, 3, 15]


@pytest.mark.parametrize(
    "mask", [0b1, 0b11, 0b101, 0b1010, 0b1111, 0b100000000000001, 0b111010001000110, (1 << 15) - 1]
)
def test_ties_are_uniform(mask: int) -> None:
    """Chi-square over the keys of neighbouring decisions, at an error level of 1e-6 each."""
    keys = [
        np.uint64(hash_key(4, game, hand, seat, 2)) for game in range(1_500) for hand in range(4) for seat in range(2)
    ]
    picked = [int(pick(mask, key)) for key in keys]
    assert set(picked) == choices(mask)
    assert picked == [int(pick(mask, key)) for key in keys]
    assert_drawn(np.bincount(picked)[sorted(choices(mask))])


def test_ties_of_the_same_seat_are_independent_from_decision_to_decision() -> None:
    keys = [[np.uint64(hash_key(5, game, 0, 1, decision)) for decision in (0, 1)] for game in range(12_000)]
    assert_drawn(np.bincount([pick(0b111, one) * 3 + pick(0b111, two) for one, two in keys], minlength=9))
