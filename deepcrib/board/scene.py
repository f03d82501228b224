"""What lies where on the table: the one layout that text, picture and terminal draw.

A part of the table is a list of items on lines of 80 columns; `table` stacks all parts, the terminal shows each in a
place of its own. Roles say what an item is for: each drawing gives them its colours, and colour alone tells nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from deepcrib.board.track import (
    BAR_COLUMNS,
    FIRST_HOLE,
    LAST_HOLE,
    MARKED_HOLES,
    ROW,
    SKUNK_COLUMN,
    column_of,
    peg_holes,
    place_of,
)
from deepcrib.board.view import HIDDEN, TableView
from deepcrib.game.cards import NO_CARD
from deepcrib.game.rules import HAND_SIZE

COLUMNS = 80
PLAIN, STRONG, QUIET, WOOD, SEATS = "plain", "strong", "quiet", "wood", ("seat0", "seat1", "seat2", "seat3")
"""Roles; WOOD: what is painted on the board."""
HOLE, FRONT, BACK, BAR, TURN = "hole", "front", "back", "bar", "turn"
"""Kinds of signs: holes, pegs, bars between streets, and who must choose."""
SMALL, FRAMED, HEAVY, DIM, ASIDE = "small", "framed", "heavy", "dim", "aside"
"""Kinds of cards. Small ones take 3 columns, others 5 by 3 lines; DIM: not to be chosen, ASIDE: of a series before."""

BOARD_LINE = 1  # of the table, where the board begins
TRACKS = 2  # column of the first holes, behind the labels
CARD_WIDTH, CARD_HEIGHT, CARD_STEP = 5, 3, 6
NAME_WIDTH = 16


class Words(NamedTuple):
    """A text that begins in a column, or ends before it."""

    line: int
    column: int
    text: str
    role: str = PLAIN
    ends: bool = False


class Sign(NamedTuple):
    """One of the signs above."""

    line: int
    column: int
    kind: str
    role: str = WOOD


class Card(NamedTuple):
    """A card id or HIDDEN, by its upper left corner; mark: a character in its lower edge."""

    line: int
    column: int
    card: int
    kind: str = SMALL
    mark: str = ""
    role: str = PLAIN


Item = Words | Sign | Card
Part = Iterable[Item]


def table(view: TableView) -> tuple[list[Item], int]:
    """All of the table, and its number of lines: 3P + 15."""
    players = view.num_players
    shown = view.turn if view.viewer is None else view.viewer
    gap: tuple[Part, int] = ((), 1)
    rows: list[tuple[Part, int]] = [(player(view, seat, cards=seat != shown), 1) for seat in range(players)]
    parts: list[tuple[Part, int]] = [
        ([Words(0, 0, headline(view), STRONG)], 1),
        (board(view), 2 * players + 3),
        gap,
        *rows,
        gap,
    ]
    parts += [(play(view), 4), gap, ([Words(0, 0, task(view), STRONG)], 1)]
    parts.append(([] if shown is None else hand(view, shown), 4))
    items: list[Item] = []
    line = 0
    for part, height in parts:
        items += [type(item)(line + item[0], *item[1:]) for item in part]  # `_replace` takes three times as long
        line += height
    return items, line


# --- the board ----------------------------------------------------------------------------------------------------


def board(view: TableView) -> list[Item]:
    """The board with its pegs: 2P + 3 lines."""
    players, labels = view.num_players, labels_of(view.names)
    items: list[Item] = []
    for seat in range(players):
        items += [Words(_track(players, seat, hole), 0, labels[seat], SEATS[seat]) for hole in (FIRST_HOLE, LAST_HOLE)]
        items += [in_hole(players, seat, hole, HOLE, WOOD) for hole in range(FIRST_HOLE, LAST_HOLE + 1)]
        front, back = peg_holes(view.scores[seat], view.previous_scores[seat])
        items += [in_hole(players, seat, back, BACK, SEATS[seat]), in_hole(players, seat, front, FRONT, SEATS[seat])]
        items += [Sign(_track(players, seat, hole), TRACKS + at, BAR) for hole in (0, LAST_HOLE) for at in BAR_COLUMNS]
    for hole in MARKED_HOLES:
        line = 0 if hole <= ROW else 2 * players + 2
        items.append(Words(line, TRACKS + column_of(hole) + 1, str(hole), WOOD, ends=True))
    return [*items, Words(players + 1, TRACKS + SKUNK_COLUMN, "S", WOOD)]


def _track(players: int, seat: int, hole: int) -> int:
    """Line of a seat's hole, under the numbers; a line parts the two rows."""
    line = place_of(players, seat, hole).line
    return line + (1 if line < players else 2)


@cache
def in_hole(players: int, seat: int, hole: int, kind: str, role: str) -> Sign:
    """What is in a seat's hole, or the hole itself."""
    return Sign(_track(players, seat, hole), TRACKS + column_of(hole), kind, role)


# --- players and cards --------------------------------------------------------------------------------------------


def player(view: TableView, seat: int, cards: bool = True) -> Iterator[Item]:
    """A line: whose turn it is, who, points and the last ones, role, the cards held, what they counted, and go."""
    if seat == view.turn:
        yield Sign(0, 0, TURN, STRONG)
    yield Words(0, 2, labels_of(view.names)[seat], SEATS[seat])
    yield Words(0, 4, shortened(view.names[seat]), SEATS[seat])
    yield Words(0, 24, str(view.scores[seat]), STRONG, ends=True)
    gained = view.scores[seat] - view.previous_scores[seat]
    yield Words(0, 25, f"+{gained}" if gained else "")
    yield Words(0, 29, role_of(view, seat))
    if cards:
        yield from _small(view.hands[seat], 36)
    if view.hand_points:
        yield Words(0, 54, f"{view.hand_points[seat]} points")
    yield Words(0, 65 if cards else 36, "go" if view.goes[seat] else "", STRONG)


def play(view: TableView, counted: tuple[str, Sequence[int]] | None = None) -> Iterator[Item]:
    """Four lines: starter, crib, and the cards played with the count; or a hand that is counted, and its title."""
    yield Words(0, 0, "starter", QUIET)
    yield Card(1, 0, HIDDEN if view.starter == NO_CARD else view.starter, FRAMED)
    yield Words(0, 9, "crib", QUIET)
    yield from _small(view.crib, 14)
    if view.hand_points:
        yield Words(0, 31, f"{view.crib_points} points")
    elif view.thrown:
        yield Words(0, 31, "own", QUIET)
        yield from _small(view.thrown, 35)
    if counted is not None:
        yield Words(0, 46, counted[0], STRONG)
        yield from (Card(1, 9 + CARD_STEP * place, card, FRAMED) for place, card in enumerate(counted[1]))
        return
    if view.phase == "play":
        yield Words(0, 46, f"count {view.count}", STRONG)
    labels, step = labels_of(view.names), CARD_STEP if view.num_players < 4 else CARD_STEP - 2
    for place, (seat, card) in enumerate(view.history):
        kind = FRAMED if place >= view.series_start else ASIDE
        yield Card(1, 9 + step * place, card, kind, labels[seat], SEATS[seat])


def hand(view: TableView, seat: int, first: int = 0, cursor: int = -1, chosen: Collection[int] = ()) -> Iterator[Item]:
    """Four lines: a seat's cards with the numbers of those that may be chosen, and notes under them.

    first: number of the first slot. cursor, chosen: a slot that is in a heavy frame, and those marked for the crib.
    """
    legal = view.legal if view.turn == seat else None
    for slot, card in enumerate(view.hands[seat]):
        if card == NO_CARD:
            continue
        free = legal is None or slot in legal
        kind = DIM if not free else HEAVY if slot == cursor and legal is not None else FRAMED
        yield Card(0, CARD_STEP * slot, card, kind, str(slot + first) if free and legal is not None else "")
        note = "crib" if slot in chosen else "" if free else "over"
        yield Words(3, CARD_STEP * slot + 1, note, STRONG if slot in chosen else QUIET)


def _small(cards: Sequence[int], column: int) -> list[Item]:
    return [Card(0, column + 4 * place, card) for place, card in enumerate(cards) if card != NO_CARD]


# --- in words -----------------------------------------------------------------------------------------------------


def shortened(name: str) -> str:
    """A name of at most 16 characters, the rest cut off; what cannot be printed is left out."""
    name = "".join(character for character in name if character.isprintable())
    return name if len(name) <= NAME_WIDTH else name[: NAME_WIDTH - 1] + "~"


def labels_of(names: Sequence[str]) -> tuple[str, ...]:
    """One character a player: the first of each name where these differ, else the number of the seat."""
    first = tuple(shortened(name).strip().upper()[:1] for name in names)
    return first if all(first) and len(set(first)) == len(names) else tuple(str(seat) for seat in range(len(names)))


def role_of(view: TableView, seat: int) -> str:
    """`dealer`; of two players the other one is the `pone`."""
    return "dealer" if seat == view.dealer else "pone" if view.num_players == 2 else ""


def headline(view: TableView) -> str:
    """The hand, and whose crib it is."""
    dealer = shortened(view.names[view.dealer])
    return f"Hand {view.hand_number + 1}, dealer and crib: {dealer}" if view.hand_number >= 0 else f"Dealer: {dealer}"


def task(view: TableView) -> str:
    """What is to be done, by whom; or how the game has ended."""
    if view.phase == "over":
        return _ending(view)
    if view.phase == "show":
        return "The hands and the crib have been counted"
    if view.turn is None:
        waiting = "All have discarded" if view.hand_number >= 0 else "Nothing has been dealt"
        return "All cards have been played" if view.phase == "play" else waiting
    name = shortened(view.names[view.turn])
    if view.phase == "discard":
        thrown = len(view.hands[view.turn]) - HAND_SIZE
        return f"{name}: throw {'two cards' if thrown == 2 else 'one card'} to the crib"
    return f"{name}: play a card on {view.count}" if view.count else f"{name}: lead a card"


def _ending(view: TableView) -> str:
    if view.winner is None:
        return "The game is over"
    others = [score for seat, score in enumerate(view.scores) if seat != view.winner]
    result = ":".join(str(score) for score in [view.scores[view.winner], *others])
    return f"Winner: {shortened(view.names[view.winner])}, {result}"
