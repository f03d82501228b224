"""A canvas of characters in colours: the one drawing of the table, which text, terminal and picture show."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from rich.text import Text

from deepcrib.board.view import HIDDEN
from deepcrib.errors import OptionError
from deepcrib.game.cards import NO_CARD, NUM_SUITS, RANK_NAMES, SUIT_NAMES, SUIT_SIGNS

COLUMNS = 80
CARD_WIDTH, CARD_STEP = 5, 6

# 256-colour terminals' colours after the palette of Okabe and Ito (2008), which the colour-blind tell apart: suits
# green, blue, vermilion and the terminal's own colour in bold; players blue, orange, green, purple.
SUIT_STYLES = ("color(36)", "color(39)", "color(202)", "bold")
SEAT_STYLES = ("color(39)", "color(214)", "color(36)", "color(175)")


class Signs(NamedTuple):
    """Characters. A frame has corners (upper left, upper right, lower left, lower right), horizontal and vertical."""

    hole: str
    front: str
    back: str
    bar: str
    turn: str
    face_down: str
    framed: str
    heavy: str
    suits: str


SIGNS = {
    "symbols": Signs("·", "●", "○", "│", "▶", "▒▒", "┌┐└┘─│", "┏┓┗┛━┃", SUIT_SIGNS),
    "letters": Signs(".", "@", "o", "|", ">", "??", "++++-|", "****=#", SUIT_NAMES),
}
ASIDE = " " * 6  # the frame of cards that have none


class Canvas:
    """Lines of 80 columns, drawn upon at (line, column).

    Attributes:
        cells: by line and column a character and its style, as rich names styles.
        top: the line that the drawing functions count as 0.
        signs: the characters of the drawing.

    Args:
        lines: number of lines.
        suits: `symbols` for 5♥, or `letters` for 5H and nothing outside ASCII but the names. Raises OptionError.
    """

    def __init__(self, lines: int, suits: str = "symbols") -> None:
        if suits not in SIGNS:
            raise OptionError(f"suits is {suits!r}, expected one of {', '.join(SIGNS)}")
        self.cells = [[(" ", "")] * COLUMNS for _ in range(lines)]
        self.top = 0
        self.signs = SIGNS[suits]

    def put(self, line: int, column: int, text: str, style: str = "") -> None:
        """Write a text."""
        self.cells[self.top + line][column : column + len(text)] = [(character, style) for character in text]

    def put_cards(self, line: int, column: int, cards: Sequence[int]) -> None:
        """Cards side by side, four columns each; the place of one that is gone stays empty."""
        for place, card in enumerate(cards):
            if card != NO_CARD:
                self.put(line, column + 4 * place, *self._face(card))

    def put_framed(
        self, line: int, column: int, card: int, frame: str, mark: str = "", mark_style: str = "", dim: bool = False
    ) -> None:
        """A card of 5 columns and 3 lines, with a character in its lower edge."""
        top_left, top_right, low_left, low_right, across, side = tuple(frame)
        edge = "dim" if dim or frame == ASIDE else "bold" if frame == self.signs.heavy else ""
        name, style = self._face(card)
        self.put(line, column, top_left + 3 * across + top_right, edge)
        self.put(line + 1, column, f"{side}   {side}", edge)
        self.put(line + 1, column + 1, name, f"{style} dim" if edge == "dim" else style)
        self.put(line + 2, column, low_left + 3 * across + low_right, edge)
        self.put(line + 2, column + 2, mark, mark_style)

    def _face(self, card: int) -> tuple[str, str]:
        if card == HIDDEN:
            return self.signs.face_down, "dim"
        return card_name(card, self.signs.suits), SUIT_STYLES[card % NUM_SUITS]

    @property
    def text(self) -> Text:
        """All lines in colours; they do not end with blanks."""
        return Text("\n", no_wrap=True).join(map(_line, self.cells))


def _line(cells: list[tuple[str, str]]) -> Text:
    runs = [("".join(text for text, _ in run), style) for style, run in groupby(cells, key=lambda cell: cell[1])]
    line = Text.assemble(*runs, no_wrap=True)
    line.rstrip()
    return line


def card_name(card: int, suits: str) -> str:
    """`10♥`: rank and sign of the suit, of the four."""
    return RANK_NAMES[card // NUM_SUITS].replace("T", "10") + suits[card % NUM_SUITS]
