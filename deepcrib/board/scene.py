"""What lies where on the table. The whole table stacks all parts; the terminal shows each in a place of its own.

Every part is drawn from line `canvas.top` on. Colour alone tells nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from deepcrib.board.canvas import ASIDE, CARD_STEP, SEAT_STYLES, Canvas
from deepcrib.board.pegboard import draw_board
from deepcrib.board.view import HIDDEN, TableView, shortened
from deepcrib.game.cards import NO_CARD
from deepcrib.game.rules import HAND_SIZE

STRONG, QUIET = "bold", "dim"
PLAY_LINES = HAND_LINES = 4


def drawn_table(view: TableView, suits: str = "symbols", first: int = 0) -> Canvas:
    """All of the table: 3P + 16 lines. Raises OptionError on suits that there are not."""
    players = view.num_players
    shown = view.turn if view.viewer is None else view.viewer
    canvas = Canvas(3 * players + 16, suits)
    dealer = shortened(view.names[view.dealer])
    hand = f"Hand {view.hand_number + 1}, dealer and crib: {dealer}" if view.hand_number >= 0 else f"Dealer: {dealer}"
    canvas.put(0, 0, hand, STRONG)
    canvas.top = 1
    draw_board(canvas, view)
    canvas.top += 2 * players + 4
    for seat in range(players):
        draw_player(canvas, view, seat, cards=seat != shown)
        canvas.top += 1
    canvas.top += 1
    draw_play(canvas, view)
    canvas.top += PLAY_LINES + 1
    canvas.put(0, 0, task(view), STRONG)
    canvas.top += 1
    if shown is not None:
        draw_hand(canvas, view, shown, first)
    return canvas


def draw_player(canvas: Canvas, view: TableView, seat: int, cards: bool = True) -> None:
    """A line: whose turn it is, who, points and the last ones, role, the cards held, what they counted, and go."""
    gained = view.scores[seat] - view.previous_scores[seat]
    canvas.put(0, 0, canvas.signs.turn if seat == view.turn else "", STRONG)
    canvas.put(0, 2, f"{view.labels[seat]} {shortened(view.names[seat])}", SEAT_STYLES[seat])
    canvas.put(0, 21, f"{view.scores[seat]:>3}", STRONG)
    canvas.put(0, 25, f"+{gained}" if gained else "")
    canvas.put(0, 29, "dealer" if seat == view.dealer else "pone" if view.num_players == 2 else "")
    if cards:
        canvas.put_cards(0, 36, view.hands[seat])
    if view.hand_points:
        canvas.put(0, 54, f"{view.hand_points[seat]} points")
    canvas.put(0, 65 if cards else 36, "go" if view.goes[seat] else "", STRONG)


def draw_play(canvas: Canvas, view: TableView, counted: tuple[str, Sequence[int]] | None = None) -> None:
    """Four lines: starter, crib, and the cards played with the count; or a hand that is counted, and its title."""
    signs = canvas.signs
    canvas.put(0, 0, "starter", QUIET)
    canvas.put_framed(1, 0, HIDDEN if view.starter == NO_CARD else view.starter, signs.framed)
    canvas.put(0, 9, "crib", QUIET)
    canvas.put_cards(0, 14, view.crib)
    if view.hand_points:
        canvas.put(0, 31, f"{view.crib_points} points")
    elif view.thrown:
        canvas.put(0, 31, "own", QUIET)
        canvas.put_cards(0, 35, view.thrown)
    if counted is not None:
        canvas.put(0, 46, counted[0], STRONG)
        for place, card in enumerate(counted[1]):
            canvas.put_framed(1, 9 + CARD_STEP * place, card, signs.framed)
        return
    if view.phase == "play":
        canvas.put(0, 46, f"count {view.count}", STRONG)
    step = CARD_STEP if view.num_players < 4 else CARD_STEP - 2
    for place, (seat, card) in enumerate(view.history):
        frame = signs.framed if place >= view.series_start else ASIDE
        canvas.put_framed(1, 9 + step * place, card, frame, view.labels[seat], SEAT_STYLES[seat])


def draw_hand(
    canvas: Canvas, view: TableView, seat: int, first: int = 0, cursor: int = -1, chosen: Collection[int] = ()
) -> None:
    """Four lines: a seat's cards with the numbers of those that may be chosen, and notes under them.

    first: number of the first slot. cursor, chosen: a slot that is in a heavy frame, and those marked for the crib.
    """
    legal = view.legal if view.turn == seat else None
    for slot, card in enumerate(view.hands[seat]):
        if card == NO_CARD:
            continue
        free = legal is None or slot in legal
        frame = canvas.signs.heavy if slot == cursor and free and legal is not None else canvas.signs.framed
        mark = str(slot + first) if free and legal is not None else ""
        canvas.put_framed(0, CARD_STEP * slot, card, frame, mark, dim=not free)
        note, style = ("crib", STRONG) if slot in chosen else ("" if free else "over", QUIET)
        canvas.put(3, CARD_STEP * slot + 1, note, style)


# --- in words -----------------------------------------------------------------------------------------------------


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
