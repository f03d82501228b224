"""The person's hand as a widget."""

from __future__ import annotations

from textual.events import Click
from textual.widgets import Static

from deepcrib.board import TableView
from deepcrib.board.canvas import CARD_STEP, CARD_WIDTH, Canvas
from deepcrib.board.scene import HAND_LINES, draw_hand
from deepcrib.game.cards import NO_CARD


class Hand(Static):
    """The person's cards: clicked, marked, and gone through by a cursor."""

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

    async def on_click(self, event: Click) -> None:
        """A click is the card's key."""
        slot, within = divmod(event.x, CARD_STEP)
        if within < CARD_WIDTH and slot < len(self._cards) and self._cards[slot] != NO_CARD:
            await self.run_action(f"screen.slot({slot})")
