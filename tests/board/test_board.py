"""The table as a view and as text: pegs where the scores say, every visible card, and nothing hidden."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepcrib.board import HIDDEN, pegs_behind, text_of, view_of
from deepcrib.board.pegboard import peg_holes
from deepcrib.game.engine import Games
from tests.support.hidden import shuffled_behind
from tests.support.reference import cards, pips
from tests.support.tables import NAMES, moments, seen, start, views, with_scores

PLAYERS = (2, 3, 4)
LONG_NAMES = ("A name that is too long", "WWWWWWWWWWWW", "MMMMMMMMMMMM", "WMWMWMWMWMWM")
MAX_LINES = {2: 24, 3: 30, 4: 30}
CARD_NAME = re.compile(r"(?<![A-Z0-9])[A23456789TJQK][CDHS](?![A-Za-z0-9])")


# --- the board ----------------------------------------------------------------------------------------------


@given(st.integers(0, 121), st.integers(0, 121))
def test_two_pegs_never_share_a_hole(score: int, previous: int) -> None:
    front, back = peg_holes(score, min(score, previous))
    assert front == score and -1 <= back < front
    assert back == previous or previous >= score


def test_the_back_peg_stays_where_the_front_peg_was() -> None:
    """As on a wooden board: whoever pegs moves its rear peg in front of the other."""
    previous, scores = (0, 0), (0, 0)
    for now, expected in [((2, 0), (0, 0)), ((2, 1), (0, 0)), ((2, 1), (0, 0)), ((7, 1), (2, 0)), ((7, 9), (2, 1))]:
        previous, scores = pegs_behind(previous, scores, now), now
        assert previous == expected


# --- the view -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", PLAYERS)
def test_nothing_hidden_reaches_a_view(players: int) -> None:
    rng = np.random.default_rng(44)
    compared = 0
    for games, turn in moments(players, max_hands=3):
        if games.state.shown[0]:
            continue  # all cards are open
        for viewer in range(players):
            shown = seen(games, viewer, turn)
            for _ in range(3):
                other = shuffled_behind(games, np.array([viewer]), rng)
                assert (other.state != games.state).all()
                assert seen(other, viewer, turn) == shown
                compared += 1
    assert compared == 3 * players * 3 * (5 * players + 1)


@pytest.mark.parametrize("players", PLAYERS)
def test_a_view_shows_what_is_on_the_table(players: int) -> None:
    for games, turn in moments(players, max_hands=2):
        state = games.state[0]
        for viewer in range(players):
            view = seen(games, viewer, turn)
            laid = [card for card in state.history.tolist() if card >= 0]
            assert [card for _, card in view.history] == laid
            assert view.count == sum(pips(card) for _, card in view.history[view.series_start :])
            assert view.starter == state.starter and view.dealer == state.dealer
            own = [card for card in view.hands[viewer] if card >= 0]
            if state.shown:
                assert view.phase in ("show", "over")
                assert view.hands == tuple(map(tuple, state.kept.tolist())) and view.crib == tuple(state.crib.tolist())
                assert sum(view.hand_points) + view.crib_points > 0
            else:
                played = [card for seat, card in view.history if seat == viewer]
                assert sorted([*own, *played, *view.thrown]) == state.dealt[viewer].tolist()
                assert set(view.crib) <= {HIDDEN} and not view.hand_points
                for seat in set(range(players)) - {viewer}:
                    held = (state.left if state.kept[seat, 0] >= 0 else state.dealt)[seat]
                    assert view.hands[seat] == (HIDDEN,) * (held >= 0).sum()


@pytest.mark.parametrize("players", PLAYERS)
def test_turn_and_legal_slots(players: int) -> None:
    for games, turn in moments(players, max_hands=2):
        for viewer in (*range(players), None):
            view = seen(games, viewer, turn)
            expected = turn if turn is not None else int(games.turn[0])
            assert view.turn == (None if expected < 0 else expected)
            if view.turn is None or viewer not in (None, view.turn):
                assert view.legal is None
            elif view.phase == "discard":
                assert view.legal == tuple(range({2: 6, 3: 5, 4: 5}[players]))
            else:
                legal = games.play_observation(np.array([0])).legal[0]
                assert view.legal == tuple(np.flatnonzero(legal))
                assert all(view.hands[view.turn][slot] >= 0 for slot in view.legal)


def test_a_spectator_sees_all_hands_and_the_crib() -> None:
    for games, turn in moments(3, max_hands=1):
        state, view = games.state[0], seen(games, None, turn)
        assert HIDDEN not in [*view.crib, *(card for hand in view.hands for card in hand)]
        if state.starter < 0:
            assert view.starter == -1  # which nobody knows before it is turned
            assert set(view.crib) == set(state.discards[state.discards >= 0].tolist())
        else:
            assert view.crib == tuple(state.crib.tolist())


def test_before_the_first_deal_and_beyond_121() -> None:
    games = Games([1], 3, stop_at_121=False)
    view = seen(games, 0)
    assert view.hands == ((), ()) and view.turn is None and view.hand_number == -1
    assert (view.crib, view.thrown, view.history, view.goes) == ((), (), (), (False, False))
    assert text_of(view)
    games.state.scores[:] = [[140, 300]]
    games.deal()
    view = view_of(games.state[0], 1, [130, 7], NAMES[:2])
    assert view.scores == (121, 121) and view.previous_scores == (121, 7)
    assert pegs_in_text(text_of(view), 2) == [(121, 120), (121, 7)]


def test_a_view_holds_plain_values_and_cannot_be_changed() -> None:
    def plain(value: object) -> bool:
        return all(map(plain, value)) if isinstance(value, tuple) else type(value) in (int, bool, str, type(None))

    for view in views(2, 0)[:40]:
        assert all(plain(getattr(view, field.name)) for field in fields(view)), view
    with pytest.raises(FrozenInstanceError):
        view.count = 3  # type: ignore[misc]


# --- the text -----------------------------------------------------------------------------------------------


def pegs_in_text(text: str, players: int) -> list[tuple[int, int]]:
    """(front, back) of each seat, found by counting the holes of its track: the ruler is the second line."""
    lines = text.splitlines()[2 : 2 + 2 * players + 1]
    upper, lower = lines[:players], lines[players + 1 :][::-1]
    pegs = []
    for there, back_again in zip(upper, lower, strict=True):
        assert there[0] == back_again[0]  # the same label
        holes = re.sub(r"[ │]", "", there[1:]) + re.sub(r"[ │]", "", back_again[1:])[::-1]
        assert len(holes) == 123 and set(holes) <= set("·●○")
        pegs.append((holes.index("●") - 1, holes.index("○") - 1))
    return pegs


@pytest.mark.parametrize("players", PLAYERS)
def test_pegs_stand_where_the_scores_say_in_the_text(players: int) -> None:
    rng = np.random.default_rng(45)
    for score in range(122):
        scores = [score] + rng.integers(122, size=players - 1).tolist()
        previous = [int(rng.integers(points)) if points else 0 for points in scores]
        text = text_of(with_scores(start(players), scores, previous))
        expected = [(points, old if points else -1) for points, old in zip(scores, previous, strict=True)]
        assert pegs_in_text(text, players) == expected


def check_size(text: str, players: int) -> None:
    lines = text.splitlines()
    assert len(lines) <= MAX_LINES[players] and max(map(len, lines)) <= 80, text


@pytest.mark.parametrize("players", PLAYERS)
def test_the_text_fits_into_a_terminal(players: int) -> None:
    for viewer in (0, None):
        for view in views(players, viewer):
            named = replace(view, names=LONG_NAMES[:players])
            fullest = replace(
                named,
                goes=(True,) * players,
                scores=(121,) * players,
                previous_scores=(92,) * players,
                hand_points=(29,) * players if view.hand_points else (),
            )
            for drawn in (view, named, fullest):
                check_size(text_of(drawn), players)
                check_size(text_of(drawn, suits="letters"), players)


def test_the_longest_play_fits() -> None:
    """Sixteen cards with a bar between series and the highest count, hands still held, tens everywhere."""
    history = tuple((index % 4, card) for index, card in enumerate(cards("TC TD TH TS") * 4))
    view = replace(views(4, 0)[10], names=LONG_NAMES, history=history, series_start=9, count=31, goes=(True,) * 4)
    check_size(text_of(view), 4)


def visible_cards(games: Games, viewer: int) -> set[int]:
    """What a player has seen by now, off the engine's record."""
    state = games.state[0]
    visible = {*state.dealt[viewer].tolist(), *state.history.tolist(), int(state.starter)}
    if state.shown:
        visible |= {*state.kept.ravel().tolist(), *state.crib.tolist()}
    return visible - {-1}


@pytest.mark.parametrize("players", PLAYERS)
def test_the_text_names_every_visible_card_and_no_other(players: int) -> None:
    for games, turn in moments(players, max_hands=2):
        for viewer in range(players):
            view = seen(games, viewer, turn)
            letters = text_of(view, suits="letters").replace("10", "T")
            assert set(cards(" ".join(CARD_NAME.findall(letters)))) == visible_cards(games, viewer)
            symbols = text_of(view).translate(str.maketrans("♣♦♥♠", "CDHS")).replace("10", "T")
            assert set(CARD_NAME.findall(symbols)) == set(CARD_NAME.findall(letters))
            assert letters.isascii()


def test_the_text_tells_the_state_of_the_game() -> None:
    for view in views(2, 0):
        text = text_of(view)
        for seat in (0, 1):
            (row,) = re.findall(rf"^(.) {NAMES[seat][0]} {NAMES[seat]} +(\d+) (.*)$", text, re.MULTILINE)
            assert row[0].strip() == ("▶" if view.turn == seat else "")
            assert int(row[1]) == view.scores[seat]
            assert ("dealer" in row[2]) == (view.dealer == seat) and ("pone" in row[2]) == (view.dealer != seat)
            assert row[2].endswith("go") == view.goes[seat]
            face_down = sum(card == HIDDEN for card in view.hands[seat])
            assert row[2].count("▒▒") == face_down
        assert (f"count {view.count}\n" in text) == (view.phase == "play")
        if view.turn is not None:
            name = NAMES[view.turn]
            assert f"{name}: " in text.replace("crib: ", "") and (("throw" in text) == (view.phase == "discard"))
    assert view.phase == "over" and view.winner is not None
    assert f"Winner: {NAMES[view.winner]}, 121:{view.scores[1 - view.winner]}" in text


def test_only_cards_of_the_current_series_are_framed() -> None:
    aside = 0
    for view in views(3, 0):
        lines = text_of(view, suits="letters").splitlines()
        (first,) = [number for number, line in enumerate(lines) if line.startswith("starter")]
        frames, names = lines[first + 1][9:], lines[first + 2][9:]
        found = [cards(names[6 * place + 1 :][:3].replace("10", "T").strip("| ")) for place in range(len(view.history))]
        assert found == [[card] for _, card in view.history]
        assert [frames[6 * place :].startswith("+---+") for place in range(len(found))] == [
            place >= view.series_start for place in range(len(found))
        ]
        marks = lines[first + 3][9:]
        assert [marks[6 * place + 2] for place in range(len(found))] == [NAMES[seat][0] for seat, _ in view.history]
        aside += 0 < view.series_start < len(view.history)
    assert aside > 10


def test_slots_that_may_be_chosen_stand_under_their_cards() -> None:
    for view in views(2, 0):
        if view.legal is None or view.legal == ():
            continue
        lines = text_of(view, suits="letters").splitlines()
        task = next(number for number, line in enumerate(lines) if line.startswith("North: "))
        cards_line, slots_line, *notes = lines[task + 2 :]
        for slot in view.legal:
            left = slots_line.index(f"-{slot}-")
            assert cards(cards_line[left : left + 4].strip("| ")) == [view.hands[0][slot]]
        held = sum(card >= 0 for card in view.hands[0])
        assert " ".join(notes).split() == ["over"] * (held - len(view.legal))
        assert len(re.findall(r"\d", slots_line)) == len(view.legal)


def test_colours_only_colour() -> None:
    for view in views(3, 0)[:60]:
        for suits in ("symbols", "letters"):
            colored = text_of(view, color=True, suits=suits)
            stripped = re.sub(r"\x1b\[[\d;]*m", "", colored)
            assert "\x1b" in colored and "\x1b" not in text_of(view, suits=suits)
            assert stripped == text_of(view, suits=suits)
            assert all(line == line.rstrip() for line in stripped.splitlines())


def test_labels_are_initials_where_these_differ() -> None:
    view = views(2, 0)[0]
    assert [line[0] for line in text_of(view).splitlines()[2:4]] == ["N", "E"]
    for names in (("player_0", "player_1"), ("", "East"), ("\x1b[31m", "[")):
        text = text_of(replace(view, names=names))
        assert [line[0] for line in text.splitlines()[2:4]] == ["0", "1"] and "\x1b" not in text
