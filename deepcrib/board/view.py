"""`TableView`: all that is drawn, and nothing that its viewer may not see.

The drawings get a view and never the engine's record, so what a view leaves out cannot show in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any

from deepcrib.game.cards import NO_CARD
from deepcrib.game.rules import HAND_SIZE, MAX_SCORE, is_legal_play

HIDDEN = -2  # a card that lies face down; `NO_CARD` is the place of one that is gone

_NAME_WIDTH = 16
_Cards = tuple[int, ...]


@dataclass(frozen=True)
class TableView:
    """The table of one game of P players as a viewer sees it, in plain values.

    Cards are ids 0..51, HIDDEN face down, NO_CARD absent. Tuples are by seat where nothing else is said.

    Attributes:
        names: [P] what the players are called.
        viewer: seat that looks, or None for a spectator who sees every hand and the crib.
        dealer: seat that deals, to whom the crib belongs.
        scores: points 0..121, where the front pegs stand.
        previous_scores: points before the last ones were pegged, where the back pegs stand.
        winner: seat that reached 121, or None.
        hand_number: hands since the game began, from 0 (-1 before the first deal).
        phase: `discard`, `play`, `show` (hands and crib have been counted), or `over`.
        turn: seat that must choose, or None.
        legal: slots of that seat's hand that may be chosen, or None where the viewer does not see its hand. In the
            discard these are the slots of all its cards.
        hands: the cards held. One's own stand in their slots, NO_CARD where one has been played; of a hand that is
            face down only the number is told, since slots are in order of rank. After the show, all four cards.
        starter: NO_CARD before the play.
        crib: the cards in it so far, HIDDEN until the show.
        thrown: what the viewer itself has thrown, empty for a spectator.
        history: (seat, card) of every card laid in this hand, in order.
        series_start: index in history where the current series begins.
        count: count 0..31 of the current series.
        goes: whether a seat has said go in the current series.
        hand_points, crib_points: what the show counted; empty and 0 before it.
    """

    names: tuple[str, ...]
    viewer: int | None
    dealer: int
    scores: tuple[int, ...]
    previous_scores: tuple[int, ...]
    winner: int | None
    hand_number: int
    phase: str
    turn: int | None
    legal: tuple[int, ...] | None
    hands: tuple[_Cards, ...]
    starter: int
    crib: _Cards
    thrown: _Cards
    history: tuple[tuple[int, int], ...]
    series_start: int
    count: int
    goes: tuple[bool, ...]
    hand_points: tuple[int, ...]
    crib_points: int

    @property
    def num_players(self) -> int:
        """P: 2, 3 or 4."""
        return len(self.names)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """`labels_of` the names."""
        return labels_of(self.names)


def labels_of(names: Sequence[str]) -> tuple[str, ...]:
    """One character a player: the first of each name where these differ, else the number of the seat."""
    first = tuple(shortened(name).strip().upper()[:1] for name in names)
    return first if all(first) and len(set(first)) == len(first) else tuple(map(str, range(len(first))))


def shortened(name: str) -> str:
    """A name of at most 16 characters, the rest cut off; what cannot be printed is left out."""
    name = "".join(character for character in name if character.isprintable())
    return name if len(name) <= _NAME_WIDTH else name[: _NAME_WIDTH - 1] + "~"


def pegs_behind(previous: Sequence[int], before: Sequence[int], now: Sequence[int]) -> tuple[int, ...]:
    """Where the back pegs [P] stand after a step that moved the scores from `before` to `now`.

    A player that pegged leaves its back peg where its front peg was; the others' stay at `previous`.
    """
    return tuple(int(old if score == after else score) for old, score, after in zip(previous, before, now, strict=True))


def view_of(
    game: Any, viewer: int | None, previous_scores: Sequence[int], names: Sequence[str], turn: int | None = None
) -> TableView:
    """What `viewer` sees of one game: a record of `Games.state`, which is only read.

    previous_scores: [P] points before the last ones, see `pegs_behind`. names: [P]. turn: who discards next, which
    the record does not tell; None: the first from the dealer's left that has not. In the play the record knows.
    """
    g = SimpleNamespace(**{name: game[name].tolist() for name in game.dtype.names})
    dealt = g.hand_number >= 0
    phase = "over" if g.finished else "show" if g.shown else "play" if g.starter >= 0 else "discard"
    choosing = _turn(g, phase, turn)
    return TableView(
        names=tuple(names),
        viewer=None if viewer is None else int(viewer),
        dealer=g.dealer,
        scores=tuple(min(score, MAX_SCORE) for score in g.scores),
        previous_scores=tuple(min(int(score), MAX_SCORE) for score in previous_scores),
        winner=g.winner if g.winner >= 0 else None,
        hand_number=g.hand_number,
        phase=phase,
        turn=choosing,
        legal=_legal(g, phase, choosing) if viewer in (None, choosing) else None,
        hands=tuple(_hand(g, seat, viewer) if dealt else () for seat in range(len(names))),
        starter=g.starter,
        crib=_crib(g, viewer) if dealt else (),
        thrown=() if viewer is None or not dealt else _present(g.discards[viewer]),
        history=tuple(zip(g.history_seats, g.history, strict=True))[: g.num_played if dealt else 0],
        series_start=g.series_start,
        count=g.count,
        goes=tuple(map(bool, g.goes)),
        hand_points=tuple(g.hand_points) if g.shown else (),
        crib_points=g.crib_points if g.shown else 0,
    )


def _present(cards: Sequence[int]) -> _Cards:
    return tuple(card for card in cards if card != NO_CARD)


# g is the record in plain values.


def _has_discarded(g: Any, seat: int) -> bool:
    return bool(g.kept[seat][0] != NO_CARD)


def _turn(g: Any, phase: str, turn: int | None) -> int | None:
    if phase == "play":
        return g.turn if g.turn >= 0 else None
    if phase != "discard" or g.hand_number < 0:
        return None
    seats = [(g.dealer + step) % len(g.scores) for step in range(1, len(g.scores) + 1)] if turn is None else [turn]
    return next((seat for seat in seats if not _has_discarded(g, seat)), None)


def _hand(g: Any, seat: int, viewer: int | None) -> _Cards:
    if g.shown:
        return tuple(g.kept[seat])
    cards = (g.left if _has_discarded(g, seat) else g.dealt)[seat]
    return tuple(cards) if viewer in (None, seat) else (HIDDEN,) * len(_present(cards))


def _crib(g: Any, viewer: int | None) -> _Cards:
    """Before the play the crib is what has been thrown so far; with three players, a card of the deck comes last."""
    cards = _present(g.crib if g.starter >= 0 else [card for thrown in g.discards for card in thrown])
    return cards if g.shown or viewer is None else (HIDDEN,) * len(cards)


def _legal(g: Any, phase: str, seat: int | None) -> tuple[int, ...] | None:
    if seat is None:
        return None
    if phase == "discard":
        return tuple(range(len(g.dealt[seat])))
    return tuple(slot for slot in range(HAND_SIZE) if is_legal_play(g.count, g.left[seat][slot]))
