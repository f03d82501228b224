"""`deepcrib report`: people's games are counted as they ended, and reviewed; wrong calls end with one line."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from benchmarks.people.human_choices import choices_of
from deepcrib.evaluation.evaluate import ROLES
from deepcrib.evaluation.recorded import baselines, paper_baseline, played_games, whole_games
from deepcrib.records import Event, GameRecord, Player
from deepcrib.records.schema import event_line, header_line
from tests.support.commands import report
from tests.support.recorded import played, write


@cache
def game(seed: int, person: int, opponent: str = "deterministic", name: str = "Ann", hands: int = 0) -> GameRecord:
    """A game of greedy, said to be a person, against an agent."""
    agents = ("greedy", opponent) if person == 0 else (opponent, "greedy")
    return played(seed, agents=agents, person=person, name=name, hands=hands)


def games(number: int = 6, **options: Any) -> list[GameRecord]:
    return [game(seed, seed % 2, **options) for seed in range(number)]


def with_hint(record: GameRecord) -> GameRecord:
    return replace(record, events=(record.events[0], Event("hint", record.humans[0]), *record.events[1:]))


def summary_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "summary.json").read_text())


def lines_of(record: GameRecord) -> list[dict[str, Any]]:
    """What a file of the game says, read without this package's reader."""
    return [json.loads(line) for line in (header_line(record), *map(event_line, record.events))]


# --- people ---


def test_wins_skunks_and_deals_are_those_of_the_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = games(8)
    assert report(f"humans games={write(tmp_path / 'a.jsonl', *records)}", tmp_path / "out") == 0
    ends = [lines_of(record)[-1] for record in records]
    seats = [record.humans[0] for record in records]
    wins = sum(end["winner"] == seat for end, seat in zip(ends, seats, strict=True))
    margins = [end["scores"][seat] - end["scores"][1 - seat] for end, seat in zip(ends, seats, strict=True)]
    first = sum(lines_of(record)[1]["dealer"] == seat for record, seat in zip(records, seats, strict=True))
    (row,) = summary_of(tmp_path / "out")["baselines"]
    figures = row["evaluation"]
    assert (row["people"], row["opponent"], row["first_deals"]) == (["Ann"], "deterministic", first)
    assert (figures["games"], figures["wins"]) == (8, wins)
    assert figures["skunks"] == sum(m > 30 for m in margins) and figures["skunks_against"] == sum(
        m < -30 for m in margins
    )
    text = capsys.readouterr().out
    assert "59.3% [40.7, 75.5]" in text and "people against agents: 8 games, 1 person" in text
    beyond, margin = row["beyond"], figures["luck_free"]["hand_margin"]
    assert beyond["low"] < beyond["estimate"] < beyond["high"] and beyond["estimate"] == pytest.approx(margin)
    shown = "{estimate:+.2f} [{low:+.2f}, {high:+.2f}]".format(**beyond)
    assert f"Ann against deterministic: {shown} points a hand better than the cards" in text


def test_the_published_row_is_16_of_27() -> None:
    """Section 3.4 of the paper prints 59.3% and +- 0.1853; Wilson's interval of it is 40.7 to 75.5."""
    published = paper_baseline()
    assert (published["wins"], published["games"]) == (16, 27)
    assert [round(100 * published[name], 1) for name in ("win_rate", "ci_low", "ci_high")] == [59.3, 40.7, 75.5]
    share = 16 / 27
    assert 1.96 * (share * (1 - share) / 27) ** 0.5 == pytest.approx(published["printed_half_width"], abs=1e-4)


def test_points_by_role_are_those_of_the_lines_and_of_the_engine() -> None:
    found, _ = played_games(games())
    (baseline,) = baselines(found)
    sums: dict[tuple[str, str], list[int]] = {}
    for record in games():
        dealer = -1
        for line in lines_of(record):
            dealer = line.get("dealer", dealer)
            if line["event"] in ("hand", "crib") and line.get("seat", dealer) == record.humans[0]:
                role = "dealer" if dealer == record.humans[0] else "pone"
                sums.setdefault((role, line["event"]), []).append(line["points"])
    for (role, kind), points in sums.items():
        assert baseline.points[role][kind].estimate == pytest.approx(sum(points) / len(points))
    assert len(sums) == 3
    for role in ROLES:  # the engine counts by itself
        means = {kind: interval.estimate for kind, interval in baseline.points[role].items()}
        assert means == pytest.approx(baseline.evaluation.points[role])
        means = {kind: interval.estimate for kind, interval in baseline.opponent_points[role].items()}
        assert means == pytest.approx(baseline.evaluation.opponent_points[role])


def test_games_that_do_not_count_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    again = replace(game(1, 1), started="2026-11-22T09:00:00+00:00")
    records = [
        *(game(0, 0), game(1, 1), again, with_hint(game(2, 0)), game(3, 0, hands=2)),
        *(played(4), played(5, 3), replace(game(6, 0), players=(Player("Ann", "human"), Player("Bob", "human")))),
    ]
    path = write(tmp_path / "a.jsonl", *records)
    assert report(f"humans games={path}", tmp_path / "out") == 0
    counts = {"unfinished": 1, "not of one person against one agent": 3, "there twice": 1, "with hints": 1}
    assert summary_of(tmp_path / "out")["left_out"] == counts
    text = capsys.readouterr().out
    assert all(f"left out, {reason}: {number} game" in text for reason, number in counts.items())
    assert len(played_games(records, "include")[0]) == 3 and len(played_games(records, "only")[0]) == 1
    assert played_games([again, game(1, 1)])[0][0].record is game(1, 1)  # the one started first


def test_an_interrupted_game_that_goes_on_elsewhere_counts_once(tmp_path: Path) -> None:
    """What `deepcrib play resume=` leaves behind: the beginning in one file, all of it in another."""
    whole = game(0, 0, "greedy")
    parts = [replace(whole, events=whole.events[:length]) for length in (1, 9, 30)]
    otherwise = game(0, 0, "greedy", hands=1)
    otherwise = replace(otherwise, events=(*otherwise.events[:-1], Event("hint", 0)))
    assert whole_games([parts[1], whole, parts[2], otherwise, whole]) == [whole, otherwise, whole]
    counted, left_out = played_games([*parts, whole, otherwise])
    assert [found.record for found in counted] == [whole]
    assert left_out == {"gone on with in another record": 3, "unfinished": 1}
    assert len(choices_of([*parts, whole])) == len(choices_of([whole]))
    one_hand = game(0, 0, "greedy", hands=1)
    path = write(tmp_path / "a.jsonl", replace(one_hand, events=one_hand.events[:-2]), one_hand)
    assert report(f"review games={path}", tmp_path / "out") == 0
    summary = summary_of(tmp_path / "out")
    assert (summary["left_out"], summary["losses"]["discard"]["decisions"]) == (1, 1)


def test_rows_are_of_opponents_or_of_persons(tmp_path: Path) -> None:
    records = [*games(2), *games(2, name="Bob"), *games(2, opponent="greedy")]
    folder = tmp_path / "games" / "of" / "people"
    write(folder / "a.jsonl", *records[:3])
    write(folder / "b.jsonl", *records[3:])
    for by, expected in (
        ("opponent", [(["Ann", "Bob"], "deterministic", 4), (["Ann"], "greedy", 2)]),
        ("person", [(["Ann"], "deterministic", 2), (["Bob"], "deterministic", 2), (["Ann"], "greedy", 2)]),
    ):
        places = f"[{tmp_path / 'games'},{folder / 'a.jsonl'}]"  # the second file is in the folder
        assert report(f"humans games={places} by={by}", tmp_path / by) == 0
        rows = summary_of(tmp_path / by)["baselines"]
        assert [(row["people"], row["opponent"], row["evaluation"]["games"]) for row in rows] == expected


def test_agents_of_one_name_are_told_apart_by_their_specs() -> None:
    opponents = [Player("m", "agent", {"samples": number}) for number in (0, 2)]
    records = [replace(game(2, 0), players=(Player("Ann", "human"), opponent)) for opponent in opponents]
    found = baselines(played_games(records)[0])
    assert [baseline.opponent for baseline in found] == ['m {"samples": 0}', 'm {"samples": 2}']


# --- reviews ---


def test_a_review_lists_the_costliest_choices_and_sums(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "a.jsonl", game(0, 0, "greedy", hands=2), game(1, 1, "greedy", hands=1), played(5, 3))
    assert report(f"review games={path} worst=3", tmp_path / "out") == 0
    summary = summary_of(tmp_path / "out")
    first, second = summary["games"]
    for found in (first, second):
        costs = sorted((one["regret"] for hand in found["hands"] for one in hand["decisions"]), reverse=True)
        assert [one["regret"] for one in found["worst"]] == [cost for cost in costs[:3] if cost] != []
    assert [found["opponent"] for found in (first, second)] == ["expected_value", "expected_value"]
    assert summary["left_out"] == 1 and summary["losses"]["discard"]["decisions"] == 3
    lost = sum(found["lost"] for found in (first, second))
    assert summary["losses"]["all"]["per_hand"]["estimate"] == pytest.approx(lost / 3)
    beyond = [points for found in (first, second) for points in found["beyond"]]
    text = capsys.readouterr().out
    assert len(beyond) == 3 and f"Ann: {sum(beyond) / 3:+.2f} [" in text
    assert "1: Ann against greedy, not finished" in text and f"{first['worst'][0]['regret']:.2f}" in text
    page = tmp_path / "pages" / "mine.html"
    assert report(f"review games={path} name=Ann worst=0 path={page}", tmp_path / "named") == 0
    assert page.is_file() and not (tmp_path / "named" / "review.html").exists()
    assert [found["lost"] for found in summary_of(tmp_path / "named")["games"]] == [first["lost"], second["lost"]]


def test_a_name_is_text_whatever_it_looks_like(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "a.jsonl", game(0, 0, "greedy", name="[/b][red]Ann"))
    assert report(f"humans games={path}", tmp_path / "humans") == 0
    assert report(f"review games={path} worst=1", tmp_path / "review") == 0
    text = capsys.readouterr().out
    assert "[/b][red]Ann as dealer" in text and "1: [/b][red]Ann against greedy" in text


# --- wrong calls ---


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("humans", "option games is missing: expected games=PATH"),
        ("games=[]", "games=[]: expected a file of recorded games"),
        ("games={tmp}/none.jsonl", "none.jsonl: cannot be read: No such file"),
        ("games={tmp}/empty", "empty: no games: expected files *.jsonl in this folder"),
        ("games={tmp}/foreign.jsonl", "foreign.jsonl, line 1: no line of a game record: JSON is malformed"),
        ("games={tmp}/broken.jsonl", "broken.jsonl, line 3: "),
        ("games={tmp}/agents.jsonl", "no games to count (left out, not of one person against one agent: 1 game)"),
        ("games={tmp}/a.jsonl hints=only", "no games to count (left out, without hints: 1 game)"),
        ("games={tmp}/a.jsonl by=day", "by=day: expected one of opponent, person"),
        ("games={tmp}/a.jsonl seat=0", "seat=0: only for review, not for humans"),
        ("review games={tmp}/a.jsonl seat=2", "seat=2: expected 0 or 1"),
        ("review games={tmp}/a.jsonl seat=0 name=Ann", "seat=0 name=Ann: expected one of them"),
        (
            "review games={tmp}/a.jsonl name=Eve",
            "no choices of Eve, expected seat=0, seat=1 or name=NAME of Ann, determin",
        ),
        ("review games={tmp}/a.jsonl path={tmp}/a.md", "a.md: expected a file name that ends in .html"),
        ("review games={tmp}/a.jsonl path={tmp}/own.html", "own.html: there is a file, not written by deepcrib report"),
        ("humans games={tmp}/a.jsonl path={tmp}/a.html", "a.html: only for runs and review, not for humans"),
        ("review games={tmp}/a.jsonl opponent=minimax", "no best response to minimax"),
        ("review games={tmp}/agents.jsonl", "no choices of people, expected seat=0, seat=1 or name=NAME of greedy"),
        ("review games={tmp}/three.jsonl", "no games of two players, which alone can be reviewed"),
    ],
)
def test_a_wrong_call_ends_with_one_line(
    command: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "foreign.jsonl").write_text("hand,dealer\n5H,1\n")
    (tmp_path / "own.html").write_text("<p>mine</p>")
    write(tmp_path / "a.jsonl", game(0, 0))
    write(tmp_path / "agents.jsonl", game_of(2))
    write(tmp_path / "three.jsonl", game_of(3))
    broken = game(0, 0)
    write(tmp_path / "broken.jsonl", replace(broken, events=(broken.events[0], *broken.events[2:])))
    assert report(command.format(tmp=tmp_path), tmp_path / "out") == 2
    text = capsys.readouterr().err
    assert problem in text and text.count("\n") == 1
    assert not (tmp_path / "out").exists()


@cache
def game_of(players: int) -> GameRecord:
    """A game of agents alone."""
    return played(1, players)
