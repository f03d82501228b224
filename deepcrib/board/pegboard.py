"""The cribbage board: where its holes are, and its drawing.

Each player has a track of 120 holes and the finish, hole 121. The tracks run along the upper row to hole 60 at the
right, turn, and come back along the lower row to the finish, which lies under the start; holes stand in groups of five,
two rows of two streets of thirty. Pegs before the game stand in holes 0 and -1.
"""

from __future__ import annotations

from functools import cache

from deepcrib.board.canvas import SEAT_STYLES, Canvas
from deepcrib.board.view import TableView
from deepcrib.game.rules import MAX_SCORE, SKUNK_MARGIN

GROUP, STREET = 5, 30
_ROW = 2 * STREET
FIRST_HOLE, LAST_HOLE = -1, MAX_SCORE
MARKED_HOLES = (*range(GROUP, LAST_HOLE, GROUP), LAST_HOLE)  # holes with a number beside them
_LEFT = 2  # column of the first hole, behind the labels
_START = 7  # of holes 1 and 120; room for a bar and a number between them and the holes 0 and 121


@cache
def place_of(num_players: int, seat: int, hole: int) -> tuple[int, int]:
    """(line, column) of a seat's hole -1..121; an empty column separates groups of five.

    In the lower row the tracks lie in the other order, as they do after a turn.
    """
    line = 1 + seat if hole <= _ROW else 2 * num_players + 1 - seat
    if hole in (FIRST_HOLE, 0, LAST_HOLE):
        return line, _LEFT + (hole != FIRST_HOLE)
    along = hole - 1 if hole <= _ROW else 2 * _ROW - hole
    return line, _START + along + along // GROUP


def peg_holes(score: int, previous: int) -> tuple[int, int]:
    """Holes of a player's front and back peg; the back peg is never in the front peg's hole."""
    return score, min(previous, score - 1)


def draw_board(canvas: Canvas, view: TableView) -> None:
    """The board with its pegs: 2P + 3 lines."""
    players, signs = view.num_players, canvas.signs
    for seat, style in enumerate(SEAT_STYLES[:players]):
        for hole in range(FIRST_HOLE, LAST_HOLE + 1):
            canvas.put(*place_of(players, seat, hole), signs.hole, "dim")
        front, back = peg_holes(view.scores[seat], view.previous_scores[seat])
        canvas.put(*place_of(players, seat, back), signs.back, style)
        canvas.put(*place_of(players, seat, front), signs.front, style)
        for line in (1 + seat, 2 * players + 1 - seat):
            canvas.put(line, 0, view.labels[seat], style)
            for column in (_START - 2, place_of(players, seat, STREET)[1] + 1):  # the streets are parted here
                canvas.put(line, column, signs.bar, "dim")
    for hole in MARKED_HOLES:
        number, line = str(hole), 0 if hole <= _ROW else 2 * players + 2
        canvas.put(line, place_of(players, 0, hole)[1] + 1 - len(number), number, "dim")
    # A loser that has not passed hole 90 is skunked.
    canvas.put(players + 1, place_of(players, 0, MAX_SCORE - SKUNK_MARGIN)[1] - 1, "S", "dim")
