"""The play in plain Python over the rules of `reference`: steps, values of cards with both hands known, greedy."""

from __future__ import annotations

from functools import cache

from tests.support import reference
from tests.support.reference import pips, rank

Hands = tuple[tuple[int, ...], tuple[int, ...]]


PLAYER, OPPONENT = 0, 1


def fits(hand: tuple[int, ...], series: tuple[int, ...]) -> list[int]:
    return [card for card in hand if sum(map(pips, series)) + pips(card) <= 31]


def after(hands: Hands, series: tuple[int, ...], seat: int, card: int) -> tuple[int, int, Hands, tuple[int, ...]]:
    """Points of a card, then who plays next (-1: nobody), with what hands and series."""
    at = hands[seat].index(card)
    left = hands[seat][:at] + hands[seat][at + 1 :]
    hands = (left, hands[1]) if seat == 0 else (hands[0], left)
    series = (*series, card)
    points = reference.pegs(series)
    if sum(map(pips, series)) != 31:
        for player in (1 - seat, seat):
            if fits(hands[player], series):
                return points, player, hands, series
        points += 1  # a go, or the last card
    following = next((player for player in (1 - seat, seat) if hands[player]), -1)
    return points, following, hands, ()


@cache
def worth(hands: Hands, series: tuple[int, ...], seat: int, greedy: bool) -> int:
    """Points of the player minus the opponent's, from this choice to the end."""
    if seat < 0:
        return 0
    choices = fits(hands[seat], series)
    if greedy and seat == OPPONENT:
        choices = [max(choices, key=lambda card: (reference.pegs((*series, card)), rank(card)))]
    values = [card_worth(hands, series, seat, card, greedy) for card in choices]
    return max(values) if seat == PLAYER else min(values)


def card_worth(hands: Hands, series: tuple[int, ...], seat: int, card: int, greedy: bool) -> int:
    points, following, left, longer = after(hands, series, seat, card)
    return (points if seat == PLAYER else -points) + worth(left, longer, following, greedy)


def plain_play(pone: list[int], dealer: list[int]) -> tuple[int, int]:
    """Points of pone and dealer, both greedy: most points with 31 counted, then the highest rank."""
    hands: Hands = (tuple(pone), tuple(dealer))
    series: tuple[int, ...] = ()
    seat, scores = 0, [0, 0]
    while seat >= 0:
        card = max(fits(hands[seat], series), key=lambda card: (reference.pegs((*series, card)), rank(card)))
        points, following, hands, series = after(hands, series, seat, card)
        scores[seat] += points
        seat = following
    return scores[0], scores[1]
