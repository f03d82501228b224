"""The game tree of the play against a plain recursion, card by card, over the rules in `reference`."""

from __future__ import annotations

import numpy as np
import pytest

from deepcrib.game.rules import add_rank
from deepcrib.search.play_tree import NO_VALUE, NUM_ENDS, STACK, fill_play_values, join_hands, pack_hand
from tests.support.plays import OPPONENT, PLAYER, Hands, after, card_worth, fits
from tests.support.reference import cards, pips, rank


def slots(hand: tuple[int, ...]) -> np.ndarray:
    return np.array([*sorted(hand), *[-1] * (4 - len(hand))], dtype=np.int8)


def found(hands: Hands, series: tuple[int, ...], greedy: bool, gaps: np.ndarray | None = None) -> list[int]:
    """What the package says of the four slots of the player's hand (`gaps`: with the played cards where they stood)."""
    own = slots(hands[PLAYER]) if gaps is None else gaps
    packed = 0
    for card in series:
        packed = add_rank(packed, rank(card))
    room = np.empty(STACK, dtype=np.int64), np.empty(NUM_ENDS, dtype=np.int8)
    values = np.empty(4, dtype=np.int64)
    both = join_hands(pack_hand(own), pack_hand(slots(hands[OPPONENT])))
    fill_play_values(both, packed, sum(map(pips, series)), greedy, *room, values)
    return [int(value) for value in values]


def expected(hands: Hands, series: tuple[int, ...], greedy: bool) -> list[int]:
    own = slots(hands[PLAYER]).tolist()
    lawful = fits(hands[PLAYER], series)
    return [card_worth(hands, series, PLAYER, card, greedy) if card in lawful else NO_VALUE for card in own]


@pytest.mark.parametrize("greedy", [False, True])
@pytest.mark.parametrize("deck", [range(52), range(8, 32), range(12, 44)], ids=["all", "low", "middle"])
def test_every_position_of_random_plays(deck: range, greedy: bool) -> None:
    """All positions of the player in plays of random cards, goes and new series among them."""
    rng = np.random.default_rng(len(deck))
    after_go = later = 0
    for _ in range(25):
        drawn = [int(card) for card in rng.permutation(deck)[:8]]
        hands: Hands = (tuple(drawn[:4]), tuple(drawn[4:]))
        series: tuple[int, ...] = ()
        seat, last = int(rng.integers(2)), -1
        while seat >= 0:
            if seat == PLAYER:
                assert found(hands, series, greedy) == expected(hands, series, greedy), (hands, series)
                after_go += bool(series) and last == PLAYER
                later += not series and last >= 0
            card = int(rng.choice(fits(hands[seat], series)))
            last = seat
            _, seat, hands, series = after(hands, series, seat, card)
    assert after_go and later


KNOWN = [
    # player, opponent, series, what the player's cards are worth
    ("KC", "", "", [1]),  # last card
    ("AC", "", "TC TD TH", [2]),  # thirty-one, and no point for the last card beside it
    ("5C", "5D", "", [-3]),  # the other pairs it (2) and has the last card (1)
]


@pytest.mark.parametrize(("player", "opponent", "series", "values"), KNOWN)
def test_values_by_hand(player: str, opponent: str, series: str, values: list[int]) -> None:
    hands = (tuple(cards(player)), tuple(cards(opponent)))
    for greedy in (False, True):
        assert found(hands, tuple(cards(series)), greedy) == [*values, *[NO_VALUE] * (4 - len(values))]


def test_a_greedy_opponent_is_never_harder_than_one_who_knows_both_hands() -> None:
    rng = np.random.default_rng(5)
    differ = 0
    for _ in range(300):
        drawn = [int(card) for card in rng.permutation(52)[:8]]
        hands: Hands = (tuple(drawn[:4]), tuple(drawn[4:]))
        best, naive = found(hands, (), False), found(hands, (), True)
        assert all(a <= b for a, b in zip(best, naive, strict=True))
        differ += best != naive
    assert differ > 100


def test_cards_in_their_slots_and_equal_ranks() -> None:
    """Gaps where cards were played change nothing, and cards of one rank are worth the same."""
    hands: Hands = (tuple(cards("5C 5D")), tuple(cards("4C 6D KH")))
    series = tuple(cards("8C"))
    a, b = cards("5C 5D")
    plain = found(hands, series, False)[:2]
    assert plain[0] == plain[1]
    assert found(hands, series, False, np.array([-1, a, -1, b], dtype=np.int8)) == [
        *(NO_VALUE, plain[0], NO_VALUE, plain[1])
    ]
