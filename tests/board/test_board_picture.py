"""The table as a picture: pegs where the scores say, cards that can be told apart, nothing hidden in any pixel."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("PIL")

from deepcrib.board import HIDDEN, picture_of, scene, text_of
from deepcrib.board.picture import HEIGHT, LABEL_COLORS, PAPER, SEAT_COLORS, SUIT_COLORS, card_sprite, middle_of
from deepcrib.errors import OptionError
from deepcrib.game.engine import Games
from tests.board.test_board import PLAYERS, moments, seen, start, views, with_scores
from tests.support.hidden import shuffled_behind


def hole_position(players: int, seat: int, hole: int) -> tuple[int, int]:
    """Pixel (x, y) of the middle of a hole."""
    sign = scene.in_hole(players, seat, hole, scene.HOLE, scene.WOOD)
    return middle_of(sign._replace(line=sign.line + scene.BOARD_LINE), HEIGHT / scene.table(start(players))[1])


@pytest.mark.parametrize("players", PLAYERS)
def test_pegs_leave_the_middles_of_other_holes_free(players: int) -> None:
    holes = [(seat, hole) for seat in range(players) for hole in range(-1, 122)]
    middles = np.array([hole_position(players, seat, hole) for seat, hole in holes])
    apart = np.hypot(*(middles[:, None] - middles[None]).transpose(2, 0, 1))
    assert apart[~np.eye(len(holes), dtype=bool)].min() >= 11  # a peg is 13 pixels wide


@pytest.mark.parametrize("players", PLAYERS)
def test_pegs_stand_where_the_scores_say_in_the_picture(players: int) -> None:
    empty = picture_of(with_scores(start(players), [0] * players, [0] * players))
    for score in range(1, 122, 2):
        scores = [(score + 37 * seat) % 121 + 1 for seat in range(players)]
        picture = picture_of(with_scores(start(players), scores, [points - 1 for points in scores]))
        for seat, points in enumerate(scores):
            for hole, color in ((points, (255, 255, 255)), (points - 1, SEAT_COLORS[seat])):
                x, y = hole_position(players, seat, hole)
                assert tuple(picture[y, x]) == color
            x, y = hole_position(players, seat, points)
            assert tuple(empty[y, x]) != (255, 255, 255)


def test_a_picture_is_the_same_each_time_and_changes_with_every_point() -> None:
    view = start(2)
    assert picture_of(view).dtype == np.uint8 and picture_of(view).shape == (640, 960, 3)
    assert (picture_of(view) == picture_of(replace(view))).all()
    assert picture_of(view).flags.writeable and not np.shares_memory(picture_of(view), picture_of(view))
    boards = [picture_of(with_scores(view, [score, 0], [0, 0]))[:235] for score in range(0, 122, 10)]
    for one, two in pairwise(boards):
        assert (one != two).any()


@pytest.mark.parametrize("players", PLAYERS)
def test_hidden_cards_change_no_pixel(players: int) -> None:
    rng = np.random.default_rng(46)
    for index, (games, turn) in enumerate(moments(players, max_hands=1)):
        viewer = index % players
        if games.state.shown[0]:
            continue
        shown = picture_of(seen(games, viewer, turn))
        other = shuffled_behind(games, np.array([viewer]), rng)
        assert (picture_of(seen(other, viewer, turn)) == shown).all()
        assert (picture_of(seen(other, None, turn)) != picture_of(seen(games, None, turn))).any()


def test_a_table_before_the_first_deal_and_one_beyond_121() -> None:
    games = Games([1], 3, stop_at_121=False)
    assert picture_of(seen(games, 0)).shape == (640, 960, 3)
    beyond = picture_of(with_scores(start(2), [121, 121], [121, 7]))
    x, y = hole_position(2, 0, 120)
    assert tuple(beyond[y, x]) == SEAT_COLORS[0]


def test_every_card_has_a_face_of_its_own() -> None:
    faces = {np.asarray(card_sprite(card, 58, 82)).tobytes() for card in [*range(52), HIDDEN]}
    assert len(faces) == 53


def test_suits_are_told_by_shape_and_not_by_colour_alone() -> None:
    aces = [np.asarray(card_sprite(suit, 58, 82))[26:78, 4:54, :3].astype(int) for suit in range(4)]  # without the rank
    inked = np.array([np.abs(ace - PAPER).max(axis=2) > 60 for ace in aces])
    for one in range(4):
        for two in range(one):
            assert (inked[one] != inked[two]).sum() > 0.1 * inked[one].sum()


def test_covered_cards_of_the_play_can_be_told_apart() -> None:
    """Of sixteen cards laid, each shows its left edge: exchanging any card changes the picture."""
    history = tuple((index % 4, card) for index, card in enumerate(range(0, 48, 3)))
    view = replace(views(4, 0)[10], history=history, series_start=0)
    shown = picture_of(view)
    for index in range(16):
        other = [*history]
        other[index] = (other[index][0], (other[index][1] // 4 + 1) % 13 * 4 + other[index][1] % 4)
        rank_only = picture_of(replace(view, history=tuple(other)))
        other[index] = (other[index][0], history[index][1] ^ 1)
        suit_only = picture_of(replace(view, history=tuple(other)))
        assert (rank_only != shown).any() and (suit_only != shown).any()
    earlier = picture_of(replace(view, series_start=5))  # the cards of earlier series are faded
    assert (earlier != shown).any() and earlier.sum() < shown.sum()


def luminance(color: tuple[int, int, int]) -> float:
    """Relative luminance after WCAG 2.1."""
    parts = [part / 255 for part in color]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_colours_have_contrast() -> None:
    """WCAG 2.1 asks 3:1 of large signs, 4.5:1 of small text."""
    paper = luminance(PAPER)
    assert all((paper + 0.05) / (luminance(color) + 0.05) >= 3 for color in SUIT_COLORS)
    for badge, label in zip(SEAT_COLORS, LABEL_COLORS, strict=True):
        low, high = sorted([luminance(badge), luminance(label)])
        assert (high + 0.05) / (low + 0.05) >= 4.5


def test_without_pillow_there_is_no_picture_but_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    view = views(2, 0)[0]
    for name in ("deepcrib.board.picture",):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(OptionError, match=r"pip install -e '.\[envs\]'"):
        picture_of(view)
    assert text_of(view)
