"""What the person has been told so far, which trails the engine: points are pegged one after another, with reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rich.text import Text

from deepcrib.app.words import card_names, colored, margin_word, missed_parts, play_parts, show_parts, spoken
from deepcrib.board import HIDDEN, TableView, pegs_behind, view_of
from deepcrib.game.cards import NO_CARD, RANKS, VALUES
from deepcrib.game.rules import COUNT_LIMIT, HAND_SIZE, MAX_SCORE, discard_slots
from deepcrib.records import Event

SHOWN = ("hand", "crib")  # the kinds of event that are a count


class Table:
    """Scores, log and view of one game, as far as the person has been told.

    names: by seat; the person is spoken of as `you`. suits: how cards are written, a key of `board.canvas.SIGNS`.
    """

    def __init__(self, names: Sequence[str], person: int, suits: str = "symbols") -> None:
        self.names = tuple(names)
        self.person = person
        self.suits = suits
        self.scores = [0] * len(names)
        self.previous = [0] * len(names)
        self.log: list[Text] = []  # the lines of the whole game
        self.counted: tuple[str, tuple[int, ...]] | None = None
        """What is being counted at the show: whose, with its points, and the cards."""
        self._starter = NO_CARD
        self._series: list[int] = []
        self._num_played = 0
        self._said_go: set[int] = set()
        self._crib_known = False

    def tell(self, event: Event) -> None:
        """Take in the next event: its points are pegged, its words are in the log."""
        say = getattr(self, f"_tell_{'count' if event.kind in SHOWN else event.kind}", None)
        if say is not None:
            say(event)
        if event.points:
            before = list(self.scores)
            self.scores[event.seat] = min(before[event.seat] + event.points, MAX_SCORE)
            self.previous = list(pegs_behind(self.previous, before, self.scores))

    def tell_goes(self, goes: Sequence[bool]) -> list[int]:
        """Say who has said go in the series and was not said so yet; returns their seats."""
        new = [seat for seat, said in enumerate(goes) if said and seat not in self._said_go]
        for seat in new:
            self._said_go.add(seat)
            self._add(f"{self._does(seat, 'say')} go")
        return new

    def ask_count(self, event: Event) -> str:
        """Show a hand or crib before it is counted; returns the question."""
        self.counted = f"{self.whose(event.seat)} {event.kind}: ?", event.cards
        return f"how many points has {self.whose(event.seat)} {event.kind}, with the starter? Type it, then Enter: "

    def judge_count(self, event: Event, said: int) -> str:
        """What a count told after it has been asked for was worth; what it missed is in the log."""
        missed = event.points - said
        if missed > 0:
            parts = missed_parts(show_parts(event.cards, self._starter, event.kind == "crib"), missed)
            self._add(f"missed {missed}, such as {'; '.join(f'{part}: {self.named(part.cards)}' for part in parts)}")
        verdict = "right" if missed == 0 else f"{missed} missed" if missed > 0 else f"{-missed} too many"
        return f"{self.whose(event.seat)} {event.kind}: {event.points}; you said {said}, {verdict}"

    def view(self, game: Any, turn: int | None, held: int | None = None) -> TableView:
        """The table as the person sees it; a held choice is shown as if it were made, without what follows from it."""
        names = list(self.names)
        names[self.person] += "" if names[self.person] == "you" else " (you)"
        view = view_of(game, self.person, [0] * len(names), names, turn)
        previous = tuple(min(peg, score) for peg, score in zip(self.previous, self.scores, strict=True))
        view = replace(view, scores=tuple(self.scores), previous_scores=previous)
        if not self._crib_known:
            view = replace(view, crib=(HIDDEN,) * len(view.crib), hand_points=())
        return view if held is None else _with_held(view, self.person, held)

    def whose(self, seat: int) -> str:
        """`your`, or a name's genitive."""
        return "your" if seat == self.person else f"{self.names[seat]}'s"

    def named(self, cards: Sequence[int]) -> str:
        """Cards as they are written at this table."""
        return card_names(cards, self.suits)

    # --- one for each kind of event -------------------------------------------------------------------------

    def _tell_deal(self, event: Event) -> None:
        self._starter, self._num_played, self._series = NO_CARD, 0, []
        self.counted, self._crib_known = None, False
        self._said_go.clear()
        self._add(f"Hand {event.hand + 1}: {self._does(event.seat, 'deal')}", "bold")

    def _tell_discard(self, event: Event) -> None:
        hidden = "a card" if len(event.cards) == 1 else f"{len(event.cards)} cards"
        thrown = self.named(event.cards) if event.seat == self.person else hidden
        self._add(f"{self._does(event.seat, 'throw')} {thrown}")

    def _tell_starter(self, event: Event) -> None:
        self._starter = event.cards[0]
        heels = f": his heels for {event.points}, to {self._who(event.seat)}" if event.points else ""
        self._add(f"starter {self.named(event.cards)}{heels}", "bold" if heels else "")

    def _tell_play(self, event: Event) -> None:
        self._series.append(event.cards[0])
        self._num_played += 1
        count = int(VALUES[RANKS[self._series]].sum())
        parts = play_parts(self._series, event.points, self._num_played == HAND_SIZE * len(self.names))
        why = "".join(f", {part}" for part in parts)
        self._add(f"{self._who(event.seat)}: {self.named(event.cards)} makes {count}{why}", "bold" if why else "")
        if count == COUNT_LIMIT or any(part.reason in ("go", "last card") for part in parts):
            self._series = []
            self._said_go.clear()

    def _tell_count(self, event: Event) -> None:
        is_crib = event.kind == "crib"
        self._crib_known |= is_crib
        what = f"{self.whose(event.seat)} {event.kind}"
        self.counted = f"{what}: {event.points}", event.cards
        points = f"{event.points or 'no'} point{'' if event.points == 1 else 's'}"
        self._add(f"{what} {self.named(event.cards)}: {points}", "bold")
        for said, groups in spoken(show_parts(event.cards, self._starter, is_crib)):
            self._add(f"  {said}: {', '.join(map(self.named, groups))}")

    def _tell_end(self, event: Event) -> None:
        skunk = margin_word(event.scores, event.seat)
        result = "-".join(str(score) for score in sorted(event.scores, reverse=True))
        self._add(f"{self._does(event.seat, 'win')} {result}" + (f", a {skunk}" if skunk else ""), "bold")

    def _add(self, text: str, style: str = "") -> None:
        self.log.append(colored(text, self.suits, style))

    def _who(self, seat: int) -> str:
        return "you" if seat == self.person else self.names[seat]

    def _does(self, seat: int, verb: str) -> str:
        return f"you {verb}" if seat == self.person else f"{self.names[seat]} {verb}s"


def _with_held(view: TableView, seat: int, action: int) -> TableView:
    """The view with the person's choice carried out."""
    hand, hands = view.hands[seat], list(view.hands)
    if view.phase == "discard":
        slots = discard_slots(len(hand))[action].tolist()
        hands[seat] = tuple(card for slot, card in enumerate(hand) if slot not in slots)
        crib, turn = (*view.crib, *([HIDDEN] * len(slots))), view.turn if view.turn != seat else None
        thrown = tuple(hand[slot] for slot in slots)
        return replace(view, hands=tuple(hands), thrown=thrown, crib=crib, turn=turn, legal=None)
    card = hand[action]
    hands[seat] = tuple(NO_CARD if slot == action else each for slot, each in enumerate(hand))
    history, count = (*view.history, (seat, card)), view.count + int(VALUES[RANKS[card]])
    return replace(view, hands=tuple(hands), history=history, count=count, turn=None, legal=None)


def held_words(table: Table, view: TableView, action: int) -> str:
    """What a choice that does not count yet is, before it is carried out in `view`."""
    hand = view.hands[table.person]
    if view.phase == "discard":
        return f"you throw {table.named([hand[slot] for slot in discard_slots(len(hand))[action].tolist()])}"
    return f"you play {table.named([hand[action]])}"
