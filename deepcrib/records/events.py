"""What happened in a hand, event by event, read from the state of a game."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deepcrib.game.cards import NO_CARD
from deepcrib.game.rules import HAND_SIZE

_Cards = tuple[int, ...]
CHOICES = ("discard", "play")  # the kinds of event that are a player's choice


@dataclass(frozen=True)
class Event:
    """One event of a game. `docs/game_records.md` says which fields each kind has.

    kind: deal, discard, starter, play, hand, crib, hint or end. seat: who; the dealer of a deal, a starter and a crib,
    the winner at the end. cards: card ids. hands: of a deal, by seat. points: pegged by it, also those beyond 121.
    line: of the file it was read from, which no comparison looks at.
    """

    kind: str
    seat: int = -1
    cards: _Cards = ()
    hands: tuple[_Cards, ...] = ()
    hand: int = -1
    points: int = 0
    scores: tuple[int, ...] = ()
    line: int = field(default=0, compare=False)


def events_of(g: Any) -> Iterator[Event]:
    """The events of the current hand of a game, a record of `Games.state`, in the order in which they happened.

    While a hand goes on there are only more, where seats discard in turn from the dealer's left (as `Turns` asks them).
    """
    dealer, num_players = int(g["dealer"]), len(g["scores"])
    seats = [(dealer + step) % num_players for step in range(1, num_players + 1)]
    if g["dealt"][0, 0] < 0:
        return
    extra = (int(g["hidden"][1]),) if num_players == 3 else ()  # the deck's card for the crib of three
    yield Event("deal", dealer, extra, tuple(_cards(hand) for hand in g["dealt"]), int(g["hand_number"]))
    for seat in seats:
        if g["kept"][seat, 0] >= 0:
            yield Event("discard", seat, _cards(g["discards"][seat]))
    if g["starter"] < 0:
        return
    yield Event("starter", dealer, (int(g["starter"]),), points=int(g["heels"]))
    for number in range(int(g["num_played"])):
        card, seat = int(g["history"][number]), int(g["history_seats"][number])
        yield Event("play", seat, (card,), points=int(g["play_points"][number]))
    if g["shown"]:
        yield from _show(g, seats)
    if g["finished"]:
        yield Event("end", int(g["winner"]), scores=tuple(map(int, g["scores"])))


def _show(g: Any, seats: list[int]) -> Iterator[Event]:
    """Hands from the dealer's left and the crib, as far as they were counted before somebody won."""
    dealer, winner = seats[-1], int(g["winner"])
    for seat in seats:
        yield Event("hand", seat, _cards(g["kept"][seat]), points=int(g["hand_points"][seat]))
        if seat == winner and (seat != dealer or g["crib_points"] == 0):
            return
    yield Event("crib", dealer, _cards(np.sort(g["crib"][:HAND_SIZE])), points=int(g["crib_points"]))


def _cards(cards: np.ndarray) -> _Cards:
    return tuple(int(card) for card in cards if card != NO_CARD)
