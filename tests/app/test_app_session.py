"""A game as a person drives it: what can be taken back, what is recorded, and what is said about points."""

import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepcrib.agents import AgentError, make_agent
from deepcrib.app import Session, check_resumable, new_header
from deepcrib.app.hints import play_hint
from deepcrib.app.table import Table, held_words
from deepcrib.app.words import play_parts, show_parts, spoken
from deepcrib.game.cards import parse_card, parse_cards
from deepcrib.game.engine import IllegalActionError
from deepcrib.game.observations import PlayObservation
from deepcrib.game.rules import discard_slots, is_legal_play, show_points
from deepcrib.records import Event, GameWriter, Player, RecordError, read_games, replay
from tests.support.reference import pegs


def session(path: Path, seed: int = 1, dealer: int | None = None) -> Session:
    header = new_header("Ann", [Player("greedy", "agent", "greedy")], "acc", seed, 0)
    return Session(header, [None, make_agent("greedy")], GameWriter(path), dealer)


def legal(one: Session) -> list[int]:
    """The person's actions."""
    if one.phase == "discard":
        return list(range(len(discard_slots(one.game["dealt"].shape[1]))))
    return [slot for slot in range(4) if is_legal_play(one.game["count"], one.game["left"][one.person, slot])]


def go_on(one: Session, until: Callable[[Session], bool] = lambda one: one.over, seed: int = 0) -> list[Event]:
    """Play with the person choosing at random; returns what happened."""
    random = np.random.default_rng(seed)
    events = []
    while not one.over and not until(one):
        if one.to_choose is None:
            events += one.step()
        elif one.to_choose == one.person:
            events += one.choose(int(random.choice(legal(one))))
        else:
            events += one.answer()
    return events


def my_turn(phase: str) -> Callable[[Session], bool]:
    return lambda one: one.phase == phase and one.to_choose == one.person


def test_the_file_holds_what_happened_and_replays_to_the_same_game(tmp_path: Path) -> None:
    one = session(tmp_path / "game.jsonl", 5)
    events = go_on(one)
    (record,) = read_games(tmp_path / "game.jsonl")
    assert record.events == tuple(events) == tuple(one.events)
    assert replace(record, file=None, line=0) == one.record and record.finished
    again = replay(record)
    assert (again.games.scores[0] == one.game["scores"]).all() and max(one.game["scores"]) == 121


def test_choices_that_the_rules_do_not_allow_are_refused(tmp_path: Path) -> None:
    one = session(tmp_path / "game.jsonl", dealer=1)
    with pytest.raises(IllegalActionError, match="not your turn"):
        one.choose(0)
    go_on(one, my_turn("discard"))
    for action in (-1, 15):
        with pytest.raises(IllegalActionError, match=f"{action}"):
            one.choose(action)
    with pytest.raises(IllegalActionError, match="no agent's turn"):
        one.answer()
    refusals_over = False
    for seed in range(3):
        one = session(tmp_path / f"{seed}.jsonl", seed)
        while not one.over:
            go_on(one, my_turn("play"), seed)
            if one.over:
                break
            for slot in range(-1, 5):
                if slot not in legal(one):
                    with pytest.raises(IllegalActionError):
                        one.choose(slot)
                    refusals_over |= one.game["count"] > 21
            one.choose(legal(one)[0])
    assert refusals_over


def test_an_agent_that_fails_or_cheats_is_named_and_the_record_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        name = "broken"
        num_players = frozenset({2})

        def discard(self, observation: object) -> np.ndarray:
            raise ZeroDivisionError("oh")

        play = discard

    path = tmp_path / "game.jsonl"
    one = Session(
        new_header("Ann", [Player("broken", "agent", "x")], "acc", 1, 0), [None, Broken()], GameWriter(path), 0
    )
    one.step()
    with pytest.raises(AgentError, match="broken failed: ZeroDivisionError: oh"):
        one.answer()
    monkeypatch.setattr(Broken, "discard", lambda self, observation: np.array([15]))
    with pytest.raises(IllegalActionError, match="broken broke the rules.*15"):
        one.answer()
    assert [event.kind for event in read_games(path)[0].events] == ["deal"]


def test_an_interrupted_game_goes_on_from_anywhere_with_the_same_cards(tmp_path: Path) -> None:
    """Cut after every event of a hand or two: what is dealt afterwards is what would have been dealt."""
    whole = session(tmp_path / "whole.jsonl", 3)
    go_on(whole)
    deals = [event for event in whole.events if event.kind in ("deal", "starter")]
    for length in [0, 1, 2, 3, 4, 9, 12, 13, 14, 15, 16, 20, len(whole.events) - 1]:
        cut = replace(whole.record, events=tuple(whole.events[:length]), file=Path("game.jsonl"), line=1)
        check_resumable(cut)
        path = tmp_path / f"{length}.jsonl"
        one = Session(cut, [None, make_agent("greedy")], GameWriter(path))
        assert one.events[:length] == whole.events[:length]
        go_on(one, lambda one, least=length + 24: len(one.events) > least)
        (record,) = read_games(path)
        assert record.events == tuple(one.events)
        replay(record)
        found = [event for event in record.events if event.kind in ("deal", "starter")]
        assert found == deals[: len(found)] and len(found) > 2 - record.finished


def test_games_that_cannot_go_on_are_refused(tmp_path: Path) -> None:
    one = session(tmp_path / "game.jsonl", 2)
    go_on(one)
    check_resumable(replace(one.record, seed=None))  # one that is over is looked at again
    part = replace(one.record, events=tuple(one.events[:9]))
    with pytest.raises(RecordError, match="needs a seed"):
        check_resumable(replace(part, seed=None))
    with pytest.raises(RecordError, match="one person, found 2"):
        check_resumable(replace(part, players=(Player("Ann", "human"), Player("Bob", "human"))))
    with pytest.raises(RecordError, match="do not follow from seed 8"):
        Session(replace(part, seed=8), [None, make_agent("greedy")], GameWriter(tmp_path / "other.jsonl"))
    assert not (tmp_path / "other.jsonl").exists()


# --- words ------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 51), min_size=5, max_size=5, unique=True), st.booleans())
def test_the_reasons_of_a_show_add_up(cards: list[int], is_crib: bool) -> None:
    hand, starter = cards[:4], cards[4]
    parts = show_parts(hand, starter, is_crib)
    assert sum(part.points for part in parts) == show_points(np.array(hand), starter, is_crib)
    assert all(part.cards and set(part.cards) <= set(cards) for part in parts)
    assert len({(part.reason, part.cards) for part in parts}) == len(parts)


@pytest.mark.parametrize(
    ("hand", "starter", "is_crib", "expected"),
    [
        ("5C 5D 5S JH", "5H", False, {"fifteen": 16, "pair": 12, "nobs": 1}),
        ("3C 4D 5S 6H", "6C", False, {"fifteen": 6, "pair": 2, "run of 4": 8}),
        ("2H 4H 8H KH", "QC", False, {"flush": 4}),
        ("2H 4H 8H KH", "QC", True, {}),
        ("AC AD 2S 2H", "3C", False, {"pair": 4, "run of 3": 12}),
    ],
)
def test_shows_of_the_rulebook_in_words(hand: str, starter: str, is_crib: bool, expected: dict[str, int]) -> None:
    found: Counter[str] = Counter()
    for part in show_parts(parse_cards(hand), parse_card(starter), is_crib):
        found[part.reason] += part.points
    assert found == expected


def test_the_count_is_spoken_as_players_do() -> None:
    """Of the rulebook's words, and the hand of 29."""

    def said(hand: str, starter: str) -> str:
        return "; ".join(text for text, _ in spoken(show_parts(parse_cards(hand), parse_card(starter), False)))

    assert said("7C 8D 8H KS", "2C") == "fifteen two, fifteen four; and a pair is six"
    fifteens = "fifteen two, fifteen four, fifteen six, fifteen eight"
    assert said("4C 5D 6H 6S", "9C") == f"{fifteens}; and a pair is ten; and two runs of 3 are sixteen"
    assert said("5C 5D 5S JH", "5H").endswith("sixteen; and six pairs are twenty-eight; and nobs is twenty-nine")
    assert said("2H 4H 8H KH", "QC") == "a flush is four"


@given(st.lists(st.integers(0, 51), min_size=1, max_size=8, unique=True), st.integers(0, 1))
def test_the_reasons_of_a_play_add_up(cards: list[int], last: int) -> None:
    ranks = np.array(cards) // 4
    counts = np.minimum(ranks + 1, 10).cumsum()
    cards = cards[: max(1, int((counts <= 31).sum()))]
    points = pegs(cards)
    parts = play_parts(cards, int(points) + last, is_last=False)
    assert sum(part.points for part in parts) == points + last
    assert [part.reason for part in parts].count("go") == last


def test_plays_in_words() -> None:
    def why(cards: str, points: int, is_last: bool = False) -> str:
        return ", ".join(map(str, play_parts(parse_cards(cards), points, is_last)))

    assert why("7C 8D", 2) == "fifteen for 2"
    assert why("7C 8D 9H", 3) == "run of 3 for 3"
    assert why("5C 5D 5H", 8) == "fifteen for 2, pair royal for 6"
    assert why("TC JD KH AC", 2) == "thirty-one for 2"
    assert why("TC KH 8C", 1) == "go for 1"
    assert why("TC 5H", 3, is_last=True) == "fifteen for 2, last card for 1"
    assert why("2C 2H 2S 2D", 12) == "double pair royal for 12"
    assert why("TC KH", 0) == ""


# --- the table ------------------------------------------------------------------------------------------------


def test_the_table_tells_points_one_after_another_and_ends_at_the_scores(tmp_path: Path) -> None:
    for seed in range(2):
        one = session(tmp_path / f"{seed}.jsonl", seed)
        table = Table(["Ann", "greedy"], 0)
        told = 0
        while not one.over:
            told_before = len(one.events)
            for event in go_on(one, lambda one, seen=told_before: len(one.events) > seen):
                before = list(table.scores)
                table.tell(event)
                told += 1
                moved = [seat for seat in (0, 1) if table.scores[seat] != before[seat]]
                assert moved == ([event.seat] if event.points else [])
                view = table.view(one.game, one.to_choose if one.phase == "discard" else None)
                assert list(view.scores) == table.scores
        assert table.scores == list(one.game["scores"]) and told == len(one.events)


def test_a_held_choice_shows_no_consequences(tmp_path: Path) -> None:
    """The count is the sum, though the series may be over with the card; nobody has said go."""
    one = session(tmp_path / "game.jsonl", 1)
    table = Table(["Ann", "greedy"], 0)
    seen = 0
    while not one.over:
        for event in go_on(one, lambda one: one.to_choose == 0):
            table.tell(event)
        if one.over:
            break
        slot = legal(one)[0]
        before = table.view(one.game, 0 if one.phase == "discard" else None)
        after = table.view(one.game, 0 if one.phase == "discard" else None, slot)
        assert (after.scores, after.goes, after.legal, after.turn) == (before.scores, before.goes, None, None)
        if one.phase == "play":
            card = int(one.game["left"][0, slot])
            assert after.history == (*before.history, (0, card))
            assert after.count == before.count + min(card // 4 + 1, 10)
            assert "you play" in held_words(table, before, slot)
            seen += 1
        else:
            assert len(after.hands[0]) == 4 and len(after.thrown) == 2
        for event in one.choose(slot):
            table.tell(event)
    assert seen > 20


def test_opponents_cards_are_nowhere_before_the_show(tmp_path: Path) -> None:
    one = session(tmp_path / "game.jsonl", 6)
    table = Table(["Ann", "greedy"], 0)
    go_on(one, lambda one: [table.tell(event) for event in one.events[-1:]] and one.phase == "play")
    view = table.view(one.game, None)
    hidden = {int(card) for card in one.game["dealt"][1]}
    shown = {card for hand in (*view.hands, view.crib, view.thrown) for card in hand}
    assert not hidden & shown
    names = [Table(["Ann", "greedy"], 0, suits).named([card]) for card in hidden for suits in ("symbols", "letters")]
    assert not any(name in line.plain for name, line in itertools.product(names, table.log))


# --- hints ------------------------------------------------------------------------------------------------------


def test_a_play_hint_names_points_and_choices(tmp_path: Path) -> None:
    one = session(tmp_path / "game.jsonl", 3)
    greedy, seen = make_agent("greedy"), 0
    while not one.over:
        go_on(one, my_turn("play"))
        if one.over:
            break
        observation = one.observation()
        assert isinstance(observation, PlayObservation)
        hint = play_hint(observation, {"greedy": greedy})
        assert list(hint.slots) == legal(one)
        assert hint.values == {"greedy": None} and hint.choices["greedy"][0] in hint.slots
        most = max(sum(part.points for part in parts) for parts in hint.parts)
        assert sum(part.points for part in hint.parts[hint.best_first[0]]) == most
        seen += most > 0
        one.choose(hint.slots[hint.best_first[0]])
    assert seen > 5
