"""The table as a picture of its text: pegs, cards that can be told apart, contrast."""

from __future__ import annotations

import sys

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from deepcrib.board import HIDDEN, picture_of, text_of
from deepcrib.board.canvas import SEAT_STYLES, SUIT_STYLES, Canvas
from deepcrib.board.pegboard import place_of
from deepcrib.board.picture import BACKGROUND, HEIGHT, WIDTH, color_of, painted
from deepcrib.errors import OptionError
from tests.support.tables import start, views, with_scores

PLAYERS = (2, 3, 4)


def at_hole(picture: np.ndarray, players: int, seat: int, hole: int) -> tuple[int, ...]:
    """The colour in the middle of a hole, or of a peg in it; the board begins in the second line."""
    line, column = place_of(players, seat, hole)
    y, x = round((line + 1.5) * HEIGHT), round((column + 0.5) * WIDTH)
    return tuple(picture[y, x].tolist())


@pytest.mark.parametrize("players", PLAYERS)
def test_pegs_stand_where_the_scores_say_in_the_picture(players: int) -> None:
    empty = picture_of(with_scores(start(players), [0] * players, [0] * players))
    for score in range(1, 122, 5):
        scores = [(score + 37 * seat) % 121 + 1 for seat in range(players)]
        picture = picture_of(with_scores(start(players), scores, [0] * players))
        assert picture.dtype == np.uint8 and picture.shape == (24 * (3 * players + 16), 960, 3)
        for seat, points in enumerate(scores):
            assert at_hole(picture, players, seat, points) == color_of(SEAT_STYLES[seat])
            assert at_hole(empty, players, seat, points) != color_of(SEAT_STYLES[seat])


def test_every_card_has_a_face_of_its_own_and_not_by_colour_alone() -> None:
    faces = set()
    for card in [*range(52), HIDDEN]:
        canvas = Canvas(3)
        canvas.put_framed(0, 0, card, canvas.signs.framed)
        faces.add((painted(canvas).max(axis=2) > 110).tobytes())  # without the colours
    assert len(faces) == 53


def luminance(color: tuple[int, int, int]) -> float:
    """Relative luminance after WCAG 2.1."""
    parts = [part / 255 for part in color]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("style", [*SUIT_STYLES, *SEAT_STYLES, "", "dim", "bold"])
def test_colours_have_contrast(style: str) -> None:
    """WCAG 2.1 asks 4.5:1 of small text."""
    assert (luminance(color_of(style)) + 0.05) / (luminance(BACKGROUND) + 0.05) >= 4.5


@pytest.mark.parametrize("missing", ["PIL", "matplotlib"])
def test_without_its_libraries_there_is_no_picture_but_one_line(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    view = views(2, 0)[0]
    monkeypatch.delitem(sys.modules, "deepcrib.board.picture", raising=False)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(OptionError, match=r"pip install -e '.\[envs\]'"):
        picture_of(view)
    assert text_of(view)
