"""The table as text: items of a scene as characters, with colours where these are wanted."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from deepcrib.board import scene
from deepcrib.board.scene import Card, Item, Sign
from deepcrib.board.view import HIDDEN, TableView
from deepcrib.errors import OptionError
from deepcrib.game.cards import NUM_SUITS, RANK_NAMES

# 256-colour terminals' colours after the palette of Okabe and Ito (2008), which the colour-blind tell apart: suits
# green, blue, vermilion and the terminal's own colour in bold; players blue, orange, green, purple.
SUIT_STYLES = ("color(36)", "color(39)", "color(202)", "bold")
_SEATS = zip(scene.SEATS, ("color(39)", "color(214)", "color(36)", "color(175)"), strict=True)
STYLES = {scene.PLAIN: "", scene.STRONG: "bold", scene.QUIET: "dim", scene.WOOD: "dim", **dict(_SEATS)}


class Signs(NamedTuple):
    """Characters: of scene signs by kind, the back of a card, corners and lines of frames by kind, and suits."""

    kinds: dict[str, str]
    face_down: str
    frames: dict[str, tuple[str, ...]]
    suits: str


def _signs(kinds: str, face_down: str, light: str, heavy: str, suits: str) -> Signs:
    names = (scene.HOLE, scene.FRONT, scene.BACK, scene.BAR, scene.TURN)
    frames = {scene.FRAMED: tuple(light), scene.HEAVY: tuple(heavy), scene.ASIDE: (" ",) * len(light)}
    frames[scene.DIM] = frames[scene.FRAMED]
    return Signs(dict(zip(names, kinds, strict=True)), face_down, frames, suits)


SIGNS = {
    "symbols": _signs("·●○│▶", "▒▒", "┌┐└┘─│", "┏┓┗┛━┃", "♣♦♥♠"),
    "letters": _signs(".@o|>", "??", "++++-|", "****=#", "CDHS"),
}


def text_of(view: TableView, color: bool = False, suits: str = "symbols") -> str:
    """The table as text: at most 80 columns, and 21 lines for two players, 27 for four.

    color: with ANSI escapes. suits: `symbols` for 5♥, or `letters` for 5H and nothing outside ASCII but the names.
    Raises OptionError for others.
    """
    if suits not in SIGNS:
        raise OptionError(f"suits is {suits!r}, expected one of {', '.join(SIGNS)}")
    table = scene.table(view)
    if not color:
        return "\n".join("".join(text for text, _ in line).rstrip() for line in _cells(*table, suits)).rstrip()
    text = drawn(*table, suits)
    text.rstrip()
    written = io.StringIO()
    console = Console(file=written, force_terminal=True, color_system="256", width=scene.COLUMNS, legacy_windows=False)
    console.print(text, end="", soft_wrap=True)
    return written.getvalue()


def drawn(items: Iterable[Item], lines: int, suits: str) -> Text:
    """A part of the table in so many lines, which do not end with blanks."""
    return Text("\n", no_wrap=True).join(map(_line, _cells(items, lines, suits)))


def _cells(items: Iterable[Item], lines: int, suits: str) -> list[list[tuple[str, str]]]:
    """(character, style) of each column of each line."""
    cells = [[(" ", "")] * scene.COLUMNS for _ in range(lines)]
    for item in items:
        for line, column, text, style in _pieces(item, SIGNS[suits]):
            cells[line][column : column + len(text)] = [(character, style) for character in text]
    return cells


def _line(cells: list[tuple[str, str]]) -> Text:
    runs = [("".join(text for text, _ in run), style) for style, run in groupby(cells, key=lambda cell: cell[1])]
    line = Text.assemble(*runs, no_wrap=True)
    line.rstrip()
    return line


def _pieces(item: Item, signs: Signs) -> Iterator[tuple[int, int, str, str]]:
    """(line, column, text, style) of all that an item is made of."""
    if isinstance(item, Card):
        yield from _card(item, signs)
    elif isinstance(item, Sign):
        yield item.line, item.column, signs.kinds[item.kind], STYLES[item.role]
    else:
        yield item.line, item.column - len(item.text) * item.ends, item.text, STYLES[item.role]


def _card(item: Card, signs: Signs) -> Iterator[tuple[int, int, str, str]]:
    line, column, card = item.line, item.column, item.card
    name, style = (signs.face_down, "dim") if card == HIDDEN else (card_name(card, signs.suits), suit_style(card))
    if item.kind == scene.SMALL:
        yield line, column, name, style
        return
    top_left, top_right, low_left, low_right, across, side = signs.frames[item.kind]
    dim = item.kind in (scene.DIM, scene.ASIDE)
    edge = "dim" if dim else "bold" if item.kind == scene.HEAVY else ""
    yield line, column, top_left + 3 * across + top_right, edge
    yield line + 1, column, f"{side}   {side}", edge
    yield line + 1, column + 1, name, f"{style} dim" if dim else style
    yield line + 2, column, low_left + 3 * across + low_right, edge
    yield line + 2, column + 2, item.mark, STYLES[item.role]


def rank_text(card: int) -> str:
    """`10` for tens, one letter or digit else."""
    return RANK_NAMES[card // NUM_SUITS].replace("T", "10")


def card_name(card: int, signs: str) -> str:
    """`10♥`: rank and sign of the suit, of the four."""
    return rank_text(card) + signs[card % NUM_SUITS]


def suit_style(card: int) -> str:
    """The style of a card's name."""
    return SUIT_STYLES[card % NUM_SUITS]
