"""The parts of the table as rich text: board, cards, players. Nothing is told by colour alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rich.text import Text

from deepcrib.app.table import Counted, Line, Table
from deepcrib.app.words import card_name
from deepcrib.board import HIDDEN, TableView
from deepcrib.board.text import SEAT_COLORS, SIGNS, SUIT_COLORS, Signs, board_lines
from deepcrib.board.words import labels_of, last_points, role
from deepcrib.game.cards import NO_CARD, NUM_SUITS

CARD_WIDTH = 5
STEP = CARD_WIDTH + 1
"""Columns from one card to the next."""
NAME_WIDTH = 20
"""Of a player's name, beside its points and cards."""
KINDS = {"title": "bold", "event": "", "points": "bold", "detail": ""}
_HEAVY = {"symbols": "┏┓┗┛━┃", "letters": "****=#"}
TURN = {"symbols": "▶", "letters": ">"}


def style_of(code: str) -> str:
    """The rich style of a colour code of `board.text`."""
    if code.startswith("38;5;"):
        return f"color({code.removeprefix('38;5;')})"
    return {"1": "bold", "2": "dim"}.get(code, "")


def board_text(view: TableView, suits: str) -> Text:
    """The board with its pegs: 2P + 3 lines of at most 80 columns."""
    text = Text("\n").join(
        Text.assemble(*((piece, style_of(code)) for piece, code in line)) for line in board_lines(view, signs_of(suits))
    )
    text.no_wrap = True
    return text


def signs_of(suits: str) -> Signs:
    """The board's characters."""
    return SIGNS["letters" if suits == "letters" else "suits"]


def card_text(card: int, suits: str) -> Text:
    """A card's name in its suit's colour, its back, or nothing."""
    if card == NO_CARD:
        return Text("")
    if card == HIDDEN:
        return Text(signs_of(suits).face_down, "dim")
    return Text(card_name(card, suits), style_of(SUIT_COLORS[card % NUM_SUITS]))


def boxes(
    cards: Sequence[int],
    suits: str,
    marks: Sequence[str] = (),
    *,
    cursor: int = -1,
    faint: Collection[int] = (),
) -> list[Text]:
    """Three lines of framed cards side by side, each with a mark in its lower edge.

    cursor: place of the one with a heavy frame. faint: places of those that are dimmed. NO_CARD leaves its place empty.
    """
    lines = [Text(no_wrap=True) for _ in range(3)]
    for place, card in enumerate(cards):
        if card == NO_CARD:
            for line in lines:
                line.append(" " * STEP)
            continue
        frame = _HEAVY[suits] if place == cursor else signs_of(suits).frame
        mark = marks[place] if place < len(marks) else ""
        style = "dim" if place in faint else "bold" if place == cursor else ""
        name = card_text(card, suits)
        pad = 3 - len(name.plain)
        if place in faint:
            name.stylize("dim")
        lines[0].append(f"{frame[0]}{frame[4] * 3}{frame[1]} ", style)
        lines[1].append(frame[5] + " " * (pad > 1), style).append_text(name)
        lines[1].append(" " * (pad - (pad > 1)) + f"{frame[5]} ", style)
        lines[2].append(f"{frame[2]}{frame[4]}{mark or frame[4]}{frame[4]}{frame[3]} ", style)
    return lines


def player_text(view: TableView, table: Table, seat: int, note: str = "") -> Text:
    """Who, points, the last ones, role; a note; of others also the cards they hold."""
    own = seat == table.person
    label, points = labels_of(view.names)[seat], last_points(view, seat)
    name = view.names[seat][:NAME_WIDTH] + (" (you)" if own and view.names[seat] != "you" else "")
    text = Text(no_wrap=True, overflow="ellipsis")
    text.append(f"{TURN[table.suits]} " if seat == view.turn else "  ", "bold")
    text.append(f"{label} {name}", f"bold {style_of(SEAT_COLORS[seat])}")
    text.append(f"  {view.scores[seat]}", "bold").append(f" {points:4}").append(role(view, seat))
    if not own:
        text.append("   ")
        for card in view.hands[seat]:
            text.append_text(card_text(card, table.suits)).append(" ")
    if view.goes[seat]:
        text.append("  go", "bold")
    return text.append(note)


def play_text(view: TableView, table: Table) -> Text:
    """Four lines: starter, crib, and the cards laid with the count; or the hand that is counted at the show."""
    suits, labels = table.suits, labels_of(view.names)
    starter = boxes([HIDDEN if view.starter == NO_CARD else view.starter], suits)
    crib = boxes([HIDDEN], suits, [str(len(view.crib))]) if view.crib else [Text(" " * STEP)] * 3
    title = Text.assemble((f"{'starter':9}{'crib':8}", "dim"), no_wrap=True)
    if table.counted is not None:
        title.append(_counted_title(table, table.counted), "bold")
        right = boxes(table.counted.cards, suits)
    else:
        earlier = range(view.series_start)
        marks = [labels[seat] for seat, _ in view.history]
        right = boxes([card for _, card in view.history], suits, marks, faint=earlier)
        if view.phase == "play":
            title.append(f"count {view.count}", "bold").append("   cards played, by whom", "dim")
    lines = [title]
    for number in range(3):
        lines.append(Text.assemble(starter[number], "   ", crib[number], "  ", right[number], no_wrap=True))
    return Text("\n").join(lines)


def _counted_title(table: Table, counted: Counted) -> str:
    what = "crib" if counted.is_crib else "hand"
    return f"{table.whose(counted.seat)} {what}: {counted.points}"


def hand_text(view: TableView, table: Table, cursor: int, chosen: Collection[int]) -> Text:
    """Four lines: the person's cards with their keys, and under them what is marked for the crib or goes over 31."""
    hand, legal = view.hands[table.person], view.legal
    mine = legal is not None and view.turn == table.person
    faint = [slot for slot in range(len(hand)) if mine and legal is not None and slot not in legal]
    marks = ["" if slot in faint or not mine else str(slot + 1) for slot in range(len(hand))]
    below = Text(no_wrap=True)
    for slot, card in enumerate(hand):
        note = "crib" if slot in chosen else "over" if slot in faint and card != NO_CARD else ""
        below.append(f" {note:{STEP - 1}}", "bold" if slot in chosen else "dim")
    lines = boxes(hand, table.suits, marks, cursor=cursor if mine else -1, faint=faint)
    return Text("\n").join([*lines, below])


def log_text(lines: Sequence[Line], suits: str) -> Text:
    """The log; suits stand in their colours."""
    text = Text("\n").join(Text(line.text, KINDS[line.kind]) for line in lines)
    for suit, sign in enumerate(signs_of(suits).suits):
        text.highlight_regex(rf"(?:10|[A2-9JQK]){sign}", style_of(SUIT_COLORS[suit]))
    return text
