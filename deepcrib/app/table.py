"""What the person has been told so far, which trails the engine: points are pegged one after another, with reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from deepcrib.app.words import (
    Part,
    card_name,
    card_names,
    grouped,
    margin_word,
    play_parts,
    points_word,
    show_parts,
)
from deepcrib.board import HIDDEN, TableView, pegs_behind, view_of
from deepcrib.game.cards import NO_CARD, NUM_SUITS, VALUES
from deepcrib.game.rules import COUNT_LIMIT, HAND_SIZE, MAX_SCORE, discard_slots
from deepcrib.records import Event

TITLE, EVENT, POINTS, DETAIL = "title", "event", "points", "detail"


class Line(NamedTuple):
    """A line of the log and its kind: title, event, points (an event with points) or detail (a reason)."""

    text: str
    kind: str = EVENT


class Counted(NamedTuple):
    """A hand or the crib at the show: whose, its cards, what it scored and why."""

    seat: int
    is_crib: bool
    cards: tuple[int, ...]
    parts: tuple[Part, ...]
    points: int


class Table:
    """Scores, log and view of one game, as far as the person has been told.

    Args:
        names: by seat; the person is spoken of as `you`.
        person: seat.
        suits: how cards are written, a key of `words.SUIT_SIGNS`.
    """

    def __init__(self, names: Sequence[str], person: int, suits: str = "symbols") -> None:
        self.names = tuple(names)
        self.person = person
        self.suits = suits
        self.scores = [0] * len(names)
        self.previous = [0] * len(names)
        self.log: list[Line] = []
        self.counted: Counted | None = None
        """What is being counted at the show."""
        self._dealer = 0
        self._starter = NO_CARD
        self._series: list[int] = []
        self._num_played = 0
        self._said_go: set[int] = set()
        self._crib_known = False

    def who(self, seat: int) -> str:
        """`you`, or a name."""
        return "you" if seat == self.person else self.names[seat]

    def tell(self, event: Event) -> None:
        """Take in the next event: its points are pegged, its words are in the log."""
        getattr(self, f"_tell_{event.kind}", lambda event: None)(event)
        if event.points:
            before = list(self.scores)
            self.scores[event.seat] = min(before[event.seat] + event.points, MAX_SCORE)
            self.previous = list(pegs_behind(self.previous, before, self.scores))

    def tell_goes(self, goes: Sequence[bool]) -> list[int]:
        """Say who has said go in the series and was not said so yet; returns their seats."""
        new = [seat for seat, said in enumerate(goes) if said and seat not in self._said_go]
        for seat in new:
            self._said_go.add(seat)
            self.log.append(Line(f"{self.who(seat)} {self._verb(seat, 'say')} go"))
        return new

    def view(self, game: Any, turn: int | None, held: int | None = None) -> TableView:
        """The table as the person sees it; a held choice is shown as if it were made, without what follows from it."""
        previous = [min(peg, score) for peg, score in zip(self.previous, self.scores, strict=True)]
        view = view_of(game, self.person, [0] * len(self.names), self.names, turn)
        view = replace(view, scores=tuple(self.scores), previous_scores=tuple(previous))
        if not self._crib_known:
            view = replace(view, crib=(HIDDEN,) * len(view.crib))
        return view if held is None else _with_held(view, self.person, held)

    # --- one for each kind of event -------------------------------------------------------------------------

    def _tell_deal(self, event: Event) -> None:
        self._dealer, self._starter, self._num_played = event.seat, NO_CARD, 0
        self._series, self.counted, self._crib_known = [], None, False
        self._said_go.clear()
        self.log = [Line(f"Hand {event.hand + 1}: {self.who(event.seat)} {self._verb(event.seat, 'deal')}", TITLE)]

    def _tell_discard(self, event: Event) -> None:
        cards = "a card" if len(event.cards) == 1 else f"{len(event.cards)} cards"
        shown = self._cards(event.cards) if event.seat == self.person else cards
        self.log.append(Line(f"{self.who(event.seat)} {self._verb(event.seat, 'throw')} {shown}"))

    def _tell_starter(self, event: Event) -> None:
        self._starter = event.cards[0]
        heels = f": his heels for {event.points}, to {self.who(event.seat)}" if event.points else ""
        self.log.append(Line(f"starter {self._cards(event.cards)}{heels}", POINTS if heels else EVENT))

    def _tell_play(self, event: Event) -> None:
        self._series.append(event.cards[0])
        self._num_played += 1
        count = sum(int(VALUES[card // NUM_SUITS]) for card in self._series)
        is_last = self._num_played == HAND_SIZE * len(self.names)
        parts = play_parts(self._series, event.points, is_last)
        why = ", ".join(map(str, parts))
        text = f"{self.who(event.seat)}: {self._cards(event.cards)} makes {count}" + (f", {why}" if why else "")
        self.log.append(Line(text, POINTS if why else EVENT))
        if count == COUNT_LIMIT or any(part.reason in ("go", "last card") for part in parts):
            self._series = []
            self._said_go.clear()

    def _tell_hand(self, event: Event) -> None:
        self._count(event, is_crib=False)

    def _tell_crib(self, event: Event) -> None:
        self._crib_known = True
        self._count(event, is_crib=True)

    def _count(self, event: Event, is_crib: bool) -> None:
        parts = tuple(show_parts(event.cards, self._starter, is_crib))
        self.counted = Counted(event.seat, is_crib, event.cards, parts, event.points)
        what = f"{self.whose(event.seat)} {'crib' if is_crib else 'hand'}"
        self.log.append(Line(f"{what} {self._cards(event.cards)}: {points_word(event.points)}", POINTS))
        for reason, points, groups in grouped(parts):
            cards = ", ".join(self._cards(cards) for cards in groups)
            self.log.append(Line(f"  {reason} for {points}: {cards}", DETAIL))

    def _tell_end(self, event: Event) -> None:
        skunk = margin_word(event.scores, event.seat)
        result = "-".join(str(score) for score in sorted(event.scores, reverse=True))
        text = f"{self.who(event.seat)} {self._verb(event.seat, 'win')} {result}" + (f", a {skunk}" if skunk else "")
        self.log.append(Line(text, TITLE))

    def whose(self, seat: int) -> str:
        """`your`, or a name's genitive."""
        return "your" if seat == self.person else f"{self.names[seat]}'s"

    def _verb(self, seat: int, verb: str) -> str:
        return verb if seat == self.person else f"{verb}s"

    def _cards(self, cards: Sequence[int]) -> str:
        return card_names(cards, self.suits)


def _with_held(view: TableView, seat: int, action: int) -> TableView:
    """The view with the person's choice carried out."""
    hand = view.hands[seat]
    if view.phase == "discard":
        slots = discard_slots(len(hand))[action].tolist()
        thrown = tuple(hand[slot] for slot in slots)
        kept = tuple(card for slot, card in enumerate(hand) if slot not in slots)
        crib = (*view.crib, *([HIDDEN] * len(thrown)))
        turn = view.turn if view.turn != seat else None
        return replace(view, hands=_replaced(view.hands, seat, kept), thrown=thrown, crib=crib, turn=turn, legal=None)
    card = hand[action]
    left = tuple(NO_CARD if slot == action else each for slot, each in enumerate(hand))
    return replace(
        view,
        hands=_replaced(view.hands, seat, left),
        history=(*view.history, (seat, card)),
        count=view.count + int(VALUES[card // NUM_SUITS]),
        turn=None,
        legal=None,
    )


def _replaced(hands: Sequence[tuple[int, ...]], seat: int, hand: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    return tuple(hand if who == seat else each for who, each in enumerate(hands))


def held_words(table: Table, view: TableView, action: int) -> str:
    """What a choice that does not count yet is, before it is carried out in `view`."""
    hand = view.hands[table.person]
    if view.phase == "discard":
        cards = [hand[slot] for slot in discard_slots(len(hand))[action].tolist()]
        return f"you throw {card_names(cards, table.suits)}"
    return f"you play {card_name(hand[action], table.suits)}"


def thrown_line(table: Table, view: TableView) -> Line:
    """What the person has in the crib."""
    return Line(f"in the crib: {card_names(view.thrown, table.suits)}" if view.thrown else "")
