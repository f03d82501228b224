"""The person's hand as a widget, and the button under it."""

from __future__ import annotations

from rich.table import Table as RichTable
from rich.text import Text
from textual.events import Click
from textual.message import Message
from textual.widgets import Static

from deepcrib.app.table import Table
from deepcrib.app.words import grid
from deepcrib.board import TableView
from deepcrib.board.canvas import CARD_STEP, CARD_WIDTH, Canvas
from deepcrib.board.scene import HAND_LINES, draw_hand
from deepcrib.game.cards import NO_CARD
from deepcrib.game.rules import MAX_SCORE


class Hand(Static):
    """The person's cards: clicked, marked, and gone through by a cursor."""

    class Chosen(Message):
        """A card was clicked."""

        def __init__(self, slot: int) -> None:
            super().__init__()
            self.slot = slot

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.cursor = 0
        self.chosen: list[int] = []
        self._cards: tuple[int, ...] = ()

    def show(self, view: TableView, seat: int, suits: str) -> None:
        """Draw the hand of a view."""
        hand = view.hands[seat]
        if len(hand) != len(self._cards):
            self.cursor = 0
        self._cards = hand
        if hand and hand[min(self.cursor, len(hand) - 1)] == NO_CARD:
            self.move(1)
        canvas = Canvas(HAND_LINES, suits)
        draw_hand(canvas, view, seat, 1, self.cursor, self.chosen)
        self.update(canvas.text)

    def move(self, step: int) -> None:
        """The cursor to the next card in a direction, around the ends."""
        places = [(self.cursor + step * distance) % len(self._cards) for distance in range(1, len(self._cards) + 1)]
        self.cursor = next((place for place in places if self._cards[place] != NO_CARD), self.cursor)

    def toggle(self, slot: int, most: int) -> None:
        """Mark a card or unmark it; of more than `most`, the one marked first is unmarked."""
        if slot in self.chosen:
            self.chosen.remove(slot)
        else:
            self.chosen = [*self.chosen, slot][-most:]

    def on_click(self, event: Click) -> None:
        """Which card was clicked."""
        slot, within = divmod(event.x, CARD_STEP)
        if within < CARD_WIDTH and slot < len(self._cards) and self._cards[slot] != NO_CARD:
            self.post_message(self.Chosen(slot))


class Button(Static):
    """One line that can be clicked in place of Enter."""

    def show(self, word: str) -> None:
        """What Enter does now; empty: nothing."""
        self.update(Text.assemble((" Enter ", "reverse"), f" {word} ") if word else Text(""))

    def on_click(self, event: Click) -> None:
        """As if Enter were pressed."""
        event.stop()
        self.app.simulate_key("enter")


def score_sheet(table: Table) -> RichTable:
    """A row a hand, the last one first: each player's points of play, hand and crib, and the score that they made."""
    rows, scores = [], [0] * len(table.names)
    for number, hand in enumerate(table.points, start=1):
        scores = [min(score + sum(own.values()), MAX_SCORE) for score, own in zip(scores, hand, strict=True)]
        cells = [
            cell
            for own, score in zip(hand, scores, strict=True)
            for cell in ("+".join(map(str, own.values())), Text(str(score), "bold"))
        ]
        rows.append([str(number), *cells])
    columns = ("hand", *(column for name in table.names for column in (name, "")))
    sheet = grid(columns, reversed(rows), left=range(1, len(columns), 2))
    sheet.caption, sheet.caption_justify = "play+hand+crib, score", "left"
    return sheet
