"""The table as a picture: pegs where the scores say, cards that can be told apart, nothing hidden in any pixel."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from deepcrib.board import HIDDEN, picture_of, text_of
from deepcrib.board.canvas import SEAT_STYLES, SUIT_STYLES, Canvas
from deepcrib.board.pegboard import place_of
from deepcrib.board.picture import BACKGROUND, HEIGHT, WIDTH, color_of, painted
from deepcrib.errors import OptionError
from tests.support.hidden import shuffled_behind
from tests.support.tables import moments, seen, start, views, with_scores

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
        for seat, points in enumerate(scores):
            assert at_hole(picture, players, seat, points) == color_of(SEAT_STYLES[seat])
            assert at_hole(empty, players, seat, points) != color_of(SEAT_STYLES[seat])


@pytest.mark.parametrize("players", PLAYERS)
def test_hidden_cards_change_no_pixel(players: int) -> None:
    rng = np.random.default_rng(46)
    for index, (games, turn) in enumerate(moments(players, max_hands=1)):
        viewer = index % players
        if games.state.shown[0]:
            continue
        shown = picture_of(seen(games, viewer, turn))
        assert shown.dtype == np.uint8 and shown.shape == (24 * (3 * players + 16), 960, 3)
        other = shuffled_behind(games, np.array([viewer]), rng)
        assert (picture_of(seen(other, viewer, turn)) == shown).all()
        assert (picture_of(seen(other, None, turn)) != picture_of(seen(games, None, turn))).any()


def test_every_card_has_a_face_of_its_own_and_not_by_colour_alone() -> None:
    faces = set()
    for card in [*range(52), HIDDEN]:
        canvas = Canvas(3)
        canvas.put_framed(0, 0, card, canvas.signs.framed)
        faces.add((painted(canvas).max(axis=2) > 110).tobytes())  # without the colours
    assert len(faces) == 53


def test_cards_of_the_play_can_be_told_apart() -> None:
    """Of sixteen cards laid, exchanging any changes the picture; those of earlier series are fainter."""
    history = tuple((index % 4, card) for index, card in enumerate(range(0, 48, 3)))
    view = replace(views(4, 0)[10], history=history, series_start=0)
    shown = picture_of(view)
    for index, (seat, card) in enumerate(history):
        for other in ((card // 4 + 1) % 13 * 4 + card % 4, card ^ 1):  # another rank, another suit
            changed = (*history[:index], (seat, other), *history[index + 1 :])
            assert (picture_of(replace(view, history=changed)) != shown).any()
    assert picture_of(replace(view, series_start=5)).sum() < shown.sum()


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
