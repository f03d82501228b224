"""Cards as small integers: id = 4 * rank + suit.

Ranks run from 0 (ace) to 12 (king), suits from 0 to 3 in the order c, d, h, s. An absent card is `NO_CARD`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from deepcrib.errors import UserError
from deepcrib.kernels import jit

NUM_RANKS = 13
NUM_SUITS = 4
NUM_CARDS = NUM_RANKS * NUM_SUITS
NO_CARD = -1

RANKS = (np.arange(NUM_CARDS) // NUM_SUITS).astype(np.int8)
SUITS = (np.arange(NUM_CARDS) % NUM_SUITS).astype(np.int8)
VALUES = np.minimum(np.arange(NUM_RANKS) + 1, 10).astype(np.int8)
"""Count of a card by rank: ace 1, pips their number, ten and court cards 10."""

JACK = 10
RANK_NAMES = "A23456789TJQK"
SUIT_NAMES = "CDHS"
SUIT_SIGNS = "♣♦♥♠"
_LETTERS = str.maketrans(f"{SUIT_SIGNS}♧♢♡♤", 2 * SUIT_NAMES, "\ufe0f")  # the last asks for a coloured sign
_CARD = "(?:10|[A2-9TJQK])[CDHS]"


class CardError(UserError):
    """A text that is not a card, or cards that cannot be held together."""


@jit
def rank_of(card: int) -> int:
    """Rank 0..12 of a card id."""
    return card >> 2


@jit
def suit_of(card: int) -> int:
    """Suit 0..3 of a card id."""
    return card & 3


@jit
def value_of_rank(rank: int) -> int:
    """Count 1..10 of a rank."""
    return min(rank + 1, 10)


@jit
def card_set(cards: np.ndarray) -> int:
    """Bit set of card ids, absent ones left out."""
    bits = 0
    for i in range(len(cards)):
        if cards[i] >= 0:
            bits |= 1 << cards[i]
    return bits


def parse_card(text: str) -> int:
    """Card id of a text such as `5H`, `th`, `10H` or `5♥`. Raises CardError on anything else."""
    name = _spelt(text.strip())
    if not re.fullmatch(_CARD, name):
        raise CardError(
            f"not a card: {text!r} (expected a rank A 2 3 4 5 6 7 8 9 10 J Q K and a suit C D H S, such as 5H or 5♥)"
        )
    name = name.replace("10", "T")
    return NUM_SUITS * RANK_NAMES.index(name[0]) + SUIT_NAMES.index(name[1])


def _spelt(text: str) -> str:
    return text.upper().translate(_LETTERS)


def parse_cards(text: str) -> list[int]:
    """Card ids of a text such as `5H 5S, JD` or `5♥5♠J♦`, in its order. Raises CardError; a card twice is an error."""
    cards: list[int] = []
    for word in filter(None, re.split(r"[\s,]+", text)):
        run_together = re.fullmatch(f"(?:{_CARD})+", _spelt(word))
        cards += map(parse_card, re.findall(_CARD, _spelt(word)) if run_together else [word])
    for card in cards:
        if cards.count(card) > 1:
            raise CardError(f"the card {format_card(card)} stands twice in {text!r}")
    return cards


def format_card(card: int) -> str:
    """`5H` for a card id, `--` for NO_CARD. Raises CardError on an id outside 0..51."""
    if card == NO_CARD:
        return "--"
    if not 0 <= card < NUM_CARDS:
        raise CardError(f"not a card id: {card} (expected 0..{NUM_CARDS - 1})")
    return RANK_NAMES[card // NUM_SUITS] + SUIT_NAMES[card % NUM_SUITS]


def format_cards(cards: Iterable[int]) -> str:
    """`5H 5S JD` for card ids, absent ones left out."""
    return " ".join(format_card(int(card)) for card in cards if card != NO_CARD)
