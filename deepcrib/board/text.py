"""A `TableView` as lines of text, with or without ANSI colours.

At most 80 columns, and 24 lines for two players, 30 for four. Nothing is told by colour alone: each player has its own
track, front and back pegs are different signs, and suits are symbols or letters.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from deepcrib.board import words
from deepcrib.board.track import (
    BAR_COLUMNS,
    FIRST_HOLE,
    LAST_HOLE,
    NUM_COLUMNS,
    ROW,
    SKUNK_COLUMN,
    column_of,
    marked_holes,
    peg_holes,
    place_of,
)
from deepcrib.board.view import HIDDEN, TableView
from deepcrib.errors import OptionError
from deepcrib.game.cards import NO_CARD, NUM_SUITS, format_card

# Codes of 256-colour terminals, after the palette of Okabe and Ito (2008), which the colour-blind tell apart: suits
# green, blue, vermilion and the terminal's own colour in bold; players blue, orange, green, purple.
SUIT_COLORS = ("38;5;36", "38;5;39", "38;5;202", "1")
SEAT_COLORS = ("38;5;39", "38;5;214", "38;5;36", "38;5;175")
PLAIN, BOLD, FAINT = "", "1", "2"

LABEL_WIDTH = 2
CARD_WIDTH = 3

Line = list[tuple[str, str]]
"""Pieces of text, each with the code of its colour."""


class Signs(NamedTuple):
    """Characters of a style; frame holds the six corners and lines of a card."""

    hole: str
    front: str
    back: str
    bar: str
    face_down: str
    frame: str
    suits: str  # empty: letters


SIGNS = {
    "suits": Signs("·", "●", "○", "│", "▒▒", "┌┐└┘─│", "♣♦♥♠"),
    "letters": Signs(".", "@", "o", "|", "??", "++++-|", ""),
}


def text_of(view: TableView, color: bool = False, symbols: str = "suits") -> str:
    """The table as text: the board with its pegs, players, cards, the play, and what is to be done.

    color: with ANSI escapes. symbols: `suits` for 5♥, or `letters` for 5H and nothing outside ASCII but the names.
    Raises OptionError for other symbols.
    """
    if symbols not in SIGNS:
        raise OptionError(f"symbols is {symbols!r}, expected one of {', '.join(SIGNS)}")
    signs = SIGNS[symbols]
    lines = [
        [(words.headline(view), BOLD)],
        *board_lines(view, signs),
        [],
        *(_player(view, seat, signs) for seat in range(view.num_players)),
        [],
        *_play(view, signs),
        _middle(view, signs),
        [],
        [(words.task(view), BOLD)],
        *_own_hand(view, signs),
    ]
    return "\n".join(_written(line, color) for line in lines)


def _written(line: Line, color: bool) -> str:
    """A line without blanks at its end, neighbours of the same colour in one escape."""
    while line and not line[-1][0].rstrip():
        line = line[:-1]
    if line:
        line = [*line[:-1], (line[-1][0].rstrip(), line[-1][1])]
    runs = [("".join(text for text, _ in run), code) for code, run in groupby(line, key=lambda piece: piece[1])]
    return "".join(f"\x1b[{code}m{text}\x1b[0m" if color and code else text for text, code in runs)


# --- the board ----------------------------------------------------------------------------------------------------


def board_lines(view: TableView, signs: Signs) -> list[Line]:
    """The board with its pegs: 2P + 3 lines of at most 80 columns."""
    num_players = view.num_players
    grid = [_track(view, line, signs) for line in range(2 * num_players)]
    for seat in range(num_players):
        front, back = peg_holes(view.scores[seat], view.previous_scores[seat])
        for hole, sign in ((back, signs.back), (front, signs.front)):
            place = place_of(num_players, seat, hole)
            grid[place.line][1 + place.column] = (sign, SEAT_COLORS[seat])
    holes = marked_holes()
    upper, lower = (_ruler(hole for hole in holes if (hole <= ROW) == first) for first in (True, False))
    skunk = [(" " * (LABEL_WIDTH + SKUNK_COLUMN) + "S", FAINT)]
    return [upper, *grid[:num_players], skunk, *grid[num_players:], lower]


def _track(view: TableView, line: int, signs: Signs) -> Line:
    """One player's track in one row of the board, without pegs: its label, then a piece for every column."""
    upper = line < view.num_players
    seat = line if upper else 2 * view.num_players - 1 - line
    cells = [(" ", PLAIN)] * NUM_COLUMNS
    for hole in range(FIRST_HOLE, ROW + 1) if upper else range(ROW + 1, LAST_HOLE + 1):
        cells[column_of(hole)] = (signs.hole, FAINT)
    for column in BAR_COLUMNS:
        cells[column] = (signs.bar, FAINT)
    return [(f"{words.labels_of(view.names)[seat]:{LABEL_WIDTH}}", SEAT_COLORS[seat]), *cells]


def _ruler(holes: Iterable[int]) -> Line:
    """Numbers that end over, or under, their holes."""
    cells = [" "] * (LABEL_WIDTH + NUM_COLUMNS)
    for hole in holes:
        end = LABEL_WIDTH + column_of(hole) + 1
        cells[end - len(str(hole)) : end] = str(hole)
    return [("".join(cells), FAINT)]


# --- the table ----------------------------------------------------------------------------------------------------


def _card(card: int, signs: Signs) -> Line:
    """A card in three columns."""
    if card == NO_CARD:
        return [(" " * CARD_WIDTH, PLAIN)]
    if card == HIDDEN:
        return [(f"{signs.face_down:{CARD_WIDTH}}", FAINT)]
    suit = card % NUM_SUITS
    name = words.rank_text(card) + signs.suits[suit] if signs.suits else format_card(card)
    return [(f"{name:{CARD_WIDTH}}", SUIT_COLORS[suit])]


def _cards(cards: Iterable[int], signs: Signs) -> Line:
    return [piece for card in cards for piece in (*_card(card, signs), (" ", PLAIN))]


def _player(view: TableView, seat: int, signs: Signs) -> Line:
    """Whose turn it is, who, points and the last ones, the cards held, and go."""
    label, name = words.labels_of(view.names)[seat], words.shortened(view.names[seat])
    points = f" {view.scores[seat]:3d} {words.last_points(view, seat):4}{words.role(view, seat):8}"
    shown = f" {view.hand_points[seat]} points" if view.hand_points else ""
    return [
        ("> " if seat == view.turn else "  ", BOLD),
        (f"{label} {name:{words.LONGEST_NAME}}", SEAT_COLORS[seat]),
        (points, PLAIN),
        *_cards(view.hands[seat], signs),
        (shown + (" says go" if view.goes[seat] else ""), PLAIN),
    ]


def _play(view: TableView, signs: Signs) -> list[Line]:
    """The cards laid, a bar before the current series, its count, and under each card whose it was."""
    labels = words.labels_of(view.names)
    above: Line = [("Play     ", PLAIN)]
    below: Line = [("         ", PLAIN)]
    for index, (seat, card) in enumerate(view.history):
        if index and index == view.series_start:
            above.append((f"{signs.bar} ", FAINT))
            below.append(("  ", PLAIN))
        above += _cards([card], signs)
        below.append((f"{labels[seat]:4}", SEAT_COLORS[seat]))
    if view.count:
        above.append((f"= {view.count}", BOLD))
    return [above, below]


def _middle(view: TableView, signs: Signs) -> Line:
    """Starter, crib, and what the viewer has thrown to it."""
    line: Line = [("Starter  ", PLAIN), *_card(HIDDEN if view.starter == NO_CARD else view.starter, signs)]
    line += [("     Crib  ", PLAIN), *_cards(view.crib, signs)]
    if view.hand_points:
        line.append((f" {view.crib_points} points", PLAIN))
    elif view.thrown:
        line += [("    own  ", PLAIN), *_cards(view.thrown, signs)]
    return line


def _own_hand(view: TableView, signs: Signs) -> list[Line]:
    """The viewer's cards (a spectator's: of who must choose) in frames; under those that may be chosen, the slot."""
    seat = view.turn if view.viewer is None else view.viewer
    if seat is None or all(card == NO_CARD for card in view.hands[seat]):
        return []
    top_left, top_right, low_left, low_right, across, side = tuple(signs.frame)
    edge, border = across * (CARD_WIDTH + 1), (side, PLAIN)
    lines: list[Line] = [[], [], []]
    for slot, card in enumerate(view.hands[seat]):
        if card == NO_CARD:
            continue
        mark = f"{slot}" if view.legal is not None and slot in view.legal else across
        lines[0].append((top_left + edge + top_right + " ", PLAIN))
        lines[1] += [border, (" ", PLAIN), *_card(card, signs), border, (" ", PLAIN)]
        lines[2].append((low_left + across + mark + across * 2 + low_right + " ", PLAIN))
    return lines
