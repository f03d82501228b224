"""Where the holes of a cribbage board are, on a grid.

Each player has a track of 120 holes and the finish, hole 121. The tracks run along the upper row to hole 60 at the
right, turn, and come back along the lower row to the finish, which lies under the start; holes stand in groups of five,
two rows of two streets of thirty. Pegs before the game stand in holes 0 and -1.
"""

from __future__ import annotations

from typing import NamedTuple

from deepcrib.game.rules import MAX_SCORE, SKUNK_MARGIN

GROUP, STREET = 5, 30
ROW = 2 * STREET
FIRST_HOLE, LAST_HOLE = -1, MAX_SCORE
MARKED_HOLES = (*range(GROUP, LAST_HOLE, GROUP), LAST_HOLE)
"""Holes with a number beside them."""
_START_COLUMN = 5  # of holes 1 and 120; room for a bar and a number between them and the holes 0 and 121


class Place(NamedTuple):
    """A hole on the grid: line 0..2P-1 from the top (the first P are the upper row), column from the left."""

    line: int
    column: int


def column_of(hole: int) -> int:
    """Column of a hole -1..121, 0 at the left end; an empty column separates groups of five."""
    if hole <= 0:
        return hole - FIRST_HOLE
    if hole == LAST_HOLE:
        return column_of(0)
    along = hole - 1 if hole <= ROW else 2 * ROW - hole
    return _START_COLUMN + along + along // GROUP


NUM_COLUMNS = column_of(ROW) + 1
BAR_COLUMNS = (_START_COLUMN - 2, column_of(STREET) + 1)
"""Empty columns where the streets are parted, in both rows."""
SKUNK_COLUMN = column_of(MAX_SCORE - SKUNK_MARGIN) - 1
"""Empty column of the lower row: a loser that has not passed it, hole 90, is skunked."""


def place_of(num_players: int, seat: int, hole: int) -> Place:
    """Place of a seat's hole. In the lower row the tracks lie in the other order, as they do after a turn."""
    return Place(seat if hole <= ROW else 2 * num_players - 1 - seat, column_of(hole))


def peg_holes(score: int, previous: int) -> tuple[int, int]:
    """Holes of a player's front and back peg; the back peg is never in the front peg's hole."""
    return score, min(previous, score - 1)
