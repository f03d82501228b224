"""Card numbers, tables, parsing and formatting."""

from itertools import product

import numpy as np
import pytest

from deepcrib.game import cards
from deepcrib.game.cards import CardError, format_card, format_cards, parse_card, parse_cards

FACES = ["A", "2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K"]


def test_ids_are_four_times_rank_plus_suit() -> None:
    names = [face + suit for face, suit in product(FACES, "CDHS")]
    assert [parse_card(name) for name in names] == list(range(52))
    assert [format_card(card) for card in range(52)] == names
    assert (cards.NUM_CARDS, cards.NUM_RANKS, cards.NUM_SUITS, cards.NO_CARD) == (52, 13, 4, -1)


def test_tables_and_functions_agree() -> None:
    assert cards.RANKS.dtype == cards.SUITS.dtype == cards.VALUES.dtype == np.int8
    assert cards.VALUES.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10]
    for card in range(52):
        assert cards.rank_of(card) == cards.RANKS[card] == card // 4
        assert cards.suit_of(card) == cards.SUITS[card] == card % 4
    assert [cards.value_of_rank(rank) for rank in range(13)] == cards.VALUES.tolist()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("5H", "5H"),
        ("5h", "5H"),
        ("th", "TH"),
        ("10h", "TH"),
        ("10H", "TH"),
        (" Ad ", "AD"),
        ("kS", "KS"),
        ("5♥", "5H"),
        ("10♢", "TD"),
        ("a♠\ufe0f", "AS"),
    ],
)
def test_parse_card_spellings(text: str, name: str) -> None:
    assert format_card(parse_card(text)) == name


@pytest.mark.parametrize(
    "text", ["", " ", "5", "H", "H5", "1H", "0C", "11S", "5X", "5HH", "55H", "10", "100H", "--", "5 H", "♥5"]
)
def test_what_is_no_card_is_refused_by_name(text: str) -> None:
    with pytest.raises(CardError) as error:
        parse_card(text)
    assert repr(text) in str(error.value)
    assert isinstance(error.value, ValueError)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text", ["5H 5S JD", "5h,5s,jd", "5H, 5S, JD", "  5H\t5S\nJD ", "5H5SJD", "5♥ 5♠ J♦", "5♥5sJ♦,"]
)
def test_parse_cards_keeps_the_order(text: str) -> None:
    assert parse_cards(text) == [18, 19, 41]
    assert format_cards(parse_cards(text)) == "5H 5S JD"


def test_cards_that_cannot_be_read_or_written() -> None:
    assert parse_cards("") == [] and format_cards([]) == format_cards([-1, -1]) == ""
    assert format_card(cards.NO_CARD) == "--"
    assert format_cards(np.array([18, -1, 41], dtype=np.int8)) == "5H JD"
    for text, name in (("TH 5S 10h", "TH"), ("5H 5Z JD", "5Z")):  # a card twice; a bad one among good ones
        with pytest.raises(CardError, match=name):
            parse_cards(text)
    for card in (-2, 52, 100):
        with pytest.raises(CardError, match=str(card)):
            format_card(card)
