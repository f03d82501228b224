"""Matches scored as in Lang's thesis of 2018: its printed tables, intervals, round robins, and the job."""

import json
import math
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepcrib.agents import make_agent
from deepcrib.cli import main
from deepcrib.errors import OptionError, RunError
from deepcrib.evaluation.evaluate import evaluate
from deepcrib.evaluation.league.tournament import (
    acc_winner,
    against_checkpoints,
    margin_interval,
    repeated_matches,
    round_robin,
    score_match,
)
from deepcrib.matches import MatchResult, play_match
from deepcrib.networks.checkpoints import save_weights
from deepcrib.training.run_files import checkpoint_files
from tests.support.agents import network_agent

SCRIPTED = {name: make_agent(name) for name in ("greedy", "deterministic", "random")}


def match_of(margins: list[int], pairs: list[int] | None = None) -> MatchResult:
    """Games with these final margins for the first agent, who counts as having dealt first throughout."""
    n, margin = len(margins), np.array(margins)
    loser = 121 - np.abs(margin)
    scores = np.where(margin[:, None] * [1, -1] > 0, 121, loser[:, None])
    return MatchResult(
        winner=(margin < 0).astype(np.int8),
        scores=scores.astype(np.int16),
        hands=np.full(n, 9, dtype=np.int32),
        pair=np.arange(n) if pairs is None else np.array(pairs),
        points=np.zeros((n, 2, 2, 4), dtype=np.int32),
        counts=np.zeros((n, 2, 2, 4), dtype=np.int32),
        first_dealer=np.zeros(n, dtype=np.int8),
        seconds=0.0,
    )


# --- the score of a match -----------------------------------------------------------------------------------


def test_the_nine_games_of_the_thesis() -> None:
    """Table 2: random 12 points, +39, 5 wins; trained 9 points, 4 wins; three of the nine games are skunks."""
    games = [(104, 121), (121, 114), (75, 121), (121, 118), (111, 121), (121, 99), (121, 87), (110, 121), (121, 64)]
    score = score_match(match_of([first - second for first, second in games]))
    assert (score.games, score.game_points, score.spread, score.wins) == (9, (12, 9), 39, (5, 4))
    assert score.skunks == (2, 1)
    assert score.winner == 0
    # by hand: the squared deviations of the nine margins from 39/9 sum to 7,404; t of 8 degrees of freedom 2.306
    half = 2.306004 * math.sqrt(7404 / 8 / 9)
    assert score.spread_per_game == pytest.approx(39 / 9)
    assert score.spread_per_game_low == pytest.approx(39 / 9 - half, rel=1e-4)
    assert (score.spread_low, score.spread_high) == pytest.approx((39 - 9 * half, 39 + 9 * half), rel=1e-4)
    assert score.spread_low < 0 < score.spread_high  # so the match says nothing about who is better


# Score, spread and wins of the checkpoint, score and wins of the final agent: table 3, matches of 100 games.
TABLE_3 = [
    (126, 523, 59, 86, 41),
    (122, 200, 55, 104, 45),
    (108, -27, 47, 118, 53),
    (105, -180, 48, 116, 52),
    (87, -510, 41, 133, 59),
    (97, -386, 43, 129, 57),
    (117, 370, 52, 98, 48),
    (107, -174, 48, 115, 52),
    (124, 239, 56, 96, 44),
    (111, -82, 51, 111, 49),
]


def margins_of(points: int, wins: int) -> list[int]:
    """The least margins with which so many wins make so many game points: 31 for a skunk, else 1."""
    skunks = points - 2 * wins
    assert 0 <= skunks <= wins
    return [31] * skunks + [1] * (wins - skunks)


@pytest.mark.parametrize("row", TABLE_3)
def test_the_matches_of_table_3(row: tuple[int, ...]) -> None:
    """Every row can come from 100 games, and is scored as printed; the last is 111 - 111, decided by its spread.

    59 wins that make 126 points are 8 skunks.
    """
    points, spread, wins, points_against, wins_against = row
    ours, theirs = margins_of(points, wins), margins_of(points_against, wins_against)
    rest = spread - sum(ours) + sum(theirs)
    side, rest = (ours, rest) if rest > 0 else (theirs, -rest)
    for game, least in enumerate(side):  # larger margins where they leave the game what it was
        added = min(rest, (121 if least == 31 else 30) - least)
        side[game], rest = least + added, rest - added
    assert rest == 0
    score = score_match(match_of(ours + [-margin for margin in theirs]))
    assert (score.game_points, score.wins, score.spread) == ((points, points_against), (wins, wins_against), spread)
    assert score.winner == (0 if points > points_against else 1)
    assert score.skunks == (points - 2 * wins, points_against - 2 * wins_against)


@given(st.lists(st.integers(-121, 121).filter(bool), min_size=1, max_size=12))
def test_the_score_turned_round_is_the_opponents(margins: list[int]) -> None:
    ours, theirs = score_match(match_of(margins)), score_match(match_of([-margin for margin in margins]))
    assert ours.game_points == theirs.game_points[::-1]
    assert ours.wins == theirs.wins[::-1] and ours.skunks == theirs.skunks[::-1]
    assert ours.spread == -theirs.spread
    assert ours.spread_low == pytest.approx(-theirs.spread_high)
    assert ours.spread_low <= ours.spread <= ours.spread_high
    level = (ours.game_points[0] == ours.game_points[1]) and ours.spread == 0 and ours.wins[0] == ours.wins[1]
    assert level or ours.winner == 1 - theirs.winner
    assert not level or ours.winner == theirs.winner == 0


def test_the_order_of_what_decides_a_match() -> None:
    assert acc_winner((9, 8), -50, (3, 4)) == 0  # game points
    assert acc_winner((8, 8), -1, (4, 3)) == 1  # spread
    assert acc_winner((9, 9), 0, (3, 4)) == 1  # wins: three by skunks against four and one skunk
    assert acc_winner((9, 9), 0, (4, 4)) == 0  # the first


# --- intervals ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("games", "tolerance"), [(9, 0.02), (100, 0.015)])
def test_the_interval_of_the_spread_covers_in_95_of_100(games: int, tolerance: float) -> None:
    """3,000 matches between players of known strength: margins of cribbage's size, skewed, with a mean of 2.4."""
    margins = np.random.default_rng(1).choice([-60, -31, -12, -5, 4, 11, 25, 45], size=(3000, games))
    true = np.mean([-60, -31, -12, -5, 4, 11, 25, 45])
    bounds = [margin_interval(row) for row in margins]
    covered = np.mean([low <= true <= high for _, low, high in bounds])
    assert abs(covered - 0.95) < tolerance


def test_the_interval_is_over_pairs_on_duplicate_deals() -> None:
    """Pairs +10 -8, +40 -30, -6 +2 and +3 +9: means 1, 5, -2, 6; mean 2.5, deviations squared 41, t of 3: 3.182."""
    score = score_match(match_of([10, -8, 40, -30, -6, 2, 3, 9], pairs=[0, 0, 1, 1, 2, 2, 3, 3]))
    half = 3.182446 * math.sqrt(41 / 3 / 4)
    assert score.spread == 20
    assert score.spread_high - 20 == pytest.approx(8 * half, rel=5e-3)
    assert 20 - score.spread_low == pytest.approx(8 * half, rel=5e-3)


def test_one_game_says_next_to_nothing() -> None:
    """It has no deviation to estimate an error from, so its interval is most of what can happen."""
    score = score_match(match_of([7]))
    assert -121 <= score.spread_low < -90 and 90 < score.spread_high <= 121


# --- matches played -----------------------------------------------------------------------------------------


def test_a_match_is_that_of_evaluate() -> None:
    score = repeated_matches(SCRIPTED["greedy"], SCRIPTED["random"], 101, 1, seed=4).total
    figures = evaluate("greedy", "random", 101, seed=4)
    assert score.game_points == (figures.game_points, figures.game_points_against)
    assert score.spread == round(101 * figures.margin)
    assert (score.win_rate, score.ci_low, score.ci_high) == (figures.win_rate, figures.ci_low, figures.ci_high)


@pytest.mark.parametrize(("games", "duplicate"), [(9, False), (10, True)])
def test_twenty_matches_are_the_games_of_one_long_match(games: int, duplicate: bool) -> None:
    agents = [SCRIPTED["greedy"], SCRIPTED["deterministic"]]
    series = repeated_matches(*agents, games, 20, seed=2, duplicate=duplicate)
    scores = play_match(agents, 20 * games, 2, duplicate=duplicate).scores.astype(int)
    margins = (scores[:, 0] - scores[:, 1]).reshape(20, games)
    assert [score.spread for score in series.scores] == margins.sum(axis=1).tolist()
    assert series.total.spread == margins.sum()
    assert series.match_spread == pytest.approx(margins.sum(axis=1).mean())
    assert series.match_spread_low == pytest.approx(series.total.spread_low / 20)
    assert series.matches_won[1] == 20 - series.matches_won[0] == sum(s.winner for s in series.scores)
    alone = repeated_matches(*agents, games, 1, seed=2, duplicate=duplicate).total
    assert alone == series.scores[0]


@pytest.mark.parametrize(("games", "matches", "duplicate"), [(0, 1, False), (9, 2, True), (9, 0, False)])
def test_counts_that_cannot_be_played(games: int, matches: int, duplicate: bool) -> None:
    with pytest.raises(OptionError):
        repeated_matches(SCRIPTED["greedy"], SCRIPTED["random"], games, matches, 1, duplicate=duplicate)


def test_games_against_a_checkpoint_follow_from_its_number() -> None:
    agents = {200: SCRIPTED["random"], 3: SCRIPTED["deterministic"], 100: SCRIPTED["greedy"]}
    every = against_checkpoints(SCRIPTED["greedy"], agents, 9, 4, seed=6)
    assert list(every) == [3, 100, 200]
    alone = against_checkpoints(SCRIPTED["greedy"], {100: SCRIPTED["greedy"]}, 9, 4, seed=6)
    assert alone[100] == every[100]
    assert alone != against_checkpoints(SCRIPTED["greedy"], {100: SCRIPTED["greedy"]}, 9, 4, seed=7)
    same = against_checkpoints(SCRIPTED["greedy"], {n: SCRIPTED["greedy"] for n in (1, 2)}, 50, 1, seed=6)
    assert same[1].total.spread != same[2].total.spread  # other cards


# --- round robin --------------------------------------------------------------------------------------------


def test_a_round_robin_is_a_zero_sum() -> None:
    found = round_robin(SCRIPTED, 30, 5, matches=3)
    assert set(found.pairings) == set(combinations(sorted(SCRIPTED), 2))
    standings = {standing.name: standing for standing in found.standings}
    assert sum(s.spread for s in standings.values()) == 0
    assert sum(s.wins for s in standings.values()) == 3 * 90
    assert sum(s.matches_won for s in standings.values()) == 3 * 3
    assert sum(s.skunks for s in standings.values()) == sum(s.skunks_against for s in standings.values())
    for name, standing in standings.items():
        assert (standing.games, standing.matches) == (2 * 90, 2 * 3)
        assert standing.game_points == 2 * standing.wins + standing.skunks
        own = [(pair.index(name), series) for pair, series in found.pairings.items() if name in pair]
        assert standing.spread == sum(series.total.spread * (-1) ** side for side, series in own)
    points = [standing.game_points for standing in found.standings]
    assert points == sorted(points, reverse=True)
    assert found.standings[-1].name == "random"


def test_neither_order_nor_company_changes_a_pairing() -> None:
    found = round_robin(SCRIPTED, 20, 5)
    assert round_robin(dict(reversed(SCRIPTED.items())), 20, 5) == found
    two = round_robin({name: SCRIPTED[name] for name in ("random", "greedy")}, 20, 5)
    assert two.pairings["greedy", "random"] == found.pairings["greedy", "random"]
    other = round_robin(SCRIPTED, 20, 6)
    assert all(other.pairings[pair] != found.pairings[pair] for pair in found.pairings)


# --- the job ------------------------------------------------------------------------------------------------


@pytest.fixture
def played(tmp_path: Path) -> Callable[[str], dict]:
    """Run a tournament that ends well, in a folder of its own, and return its summary."""

    def play(words: str) -> dict:
        folder = tmp_path / f"run{len(list(tmp_path.glob('run*')))}"
        assert main(["tournament", *words.split(), f"hydra.run.dir={folder}"]) == 0
        return json.loads((folder / "summary.json").read_text())

    return play


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    """The folder of a run: networks by chance, the later ones with names that do not sort as numbers do."""
    folder = tmp_path / "trained"
    (folder / "checkpoints").mkdir(parents=True)
    names = ["checkpoints/games_00000000", "checkpoints/games_00100000", "checkpoints/1000000", "weights"]
    for seed, name in enumerate(names):
        agent = network_agent(seed)
        save_weights(folder / f"{name}.safetensors", {}, discard=agent.discard_q.network, play=agent.play_q.network)
    return folder


def test_a_round_robin_by_command(played: Callable[[str], dict], capsys: pytest.CaptureFixture[str]) -> None:
    summary = played("agents=[random,greedy,random] games=20 matches=2 seed=3")
    agents = {"random": SCRIPTED["random"], "greedy": SCRIPTED["greedy"], "random (2)": SCRIPTED["random"]}
    expected = round_robin(agents, 20, 3, matches=2)
    assert summary["standings"] == json.loads(json.dumps(expected.to_dict()))["standings"]
    assert [pairing["agents"] for pairing in summary["pairings"]] == [list(pair) for pair in expected.pairings]
    text = capsys.readouterr().out
    assert "every pair: 2 matches of 20 games, seed 3" in text and text.index("every pair") < text.index("standings")


def test_a_run_against_its_checkpoints(
    played: Callable[[str], dict], trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = played(f"checkpoints run={trained} games=9 matches=2 seed=8")
    assert list(summary["checkpoints"]) == ["0", "100000", "1000000"]
    weights = {0: "checkpoints/games_00000000", 100_000: "checkpoints/games_00100000", 1_000_000: "checkpoints/1000000"}
    checkpoints = {number: make_agent(str(trained / f"{name}.safetensors")) for number, name in weights.items()}
    expected = against_checkpoints(make_agent(str(trained)), checkpoints, 9, 2, 8)
    for number, series in expected.items():
        assert summary["checkpoints"][str(number)] == json.loads(json.dumps(series.to_dict()))
    assert "the final agent against each checkpoint: 2 matches of 9 games" in capsys.readouterr().out
    (trained / "weights.safetensors").unlink()  # of an unfinished run another agent can play the checkpoints
    summary = played(f"checkpoints run={trained} against=greedy games=20")
    assert all(series["total"]["wins"][0] > 10 for series in summary["checkpoints"].values())
    words = ["checkpoints", f"run={trained}", "games=20", f"hydra.run.dir={trained}_out"]
    assert main(["tournament", *words]) == 2
    assert "not a finished run" in capsys.readouterr().err


def test_checkpoints_without_a_number_of_their_own(trained: Path) -> None:
    assert list(checkpoint_files(trained)) == [0, 100_000, 1_000_000]
    (trained / "checkpoints" / "100000.safetensors").write_bytes(b"")
    with pytest.raises(RunError, match="a number of its own"):
        checkpoint_files(trained)
    (trained / "checkpoints" / "100000.safetensors").rename(trained / "checkpoints" / "best.safetensors")
    with pytest.raises(RunError, match=r"best\.safetensors: expected a name with a number"):
        checkpoint_files(trained)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("agents=[greedy]", "agents=['greedy']: expected two or more agents"),
        ("agents=greedy", "expected a list"),
        ("agents=[greedy,random] matches=0", "matches=0: expected 1 or more"),
        ("agents=[greedy,random] games=9 duplicate=true", "games=9: duplicate deals are played in pairs"),
        ("agents=[greedy,random] run=somewhere", "run=somewhere: only for checkpoints, not for round_robin"),
        ("checkpoints", "option run is missing: expected run=FOLDER"),
        ("checkpoints run=no/such/folder", "run=no/such/folder: expected a run folder with checkpoints"),
    ],
)
def test_wrong_calls_end_with_one_line(
    words: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tournament", *words.split(), f"hydra.run.dir={tmp_path}/run"]) == 2
    text = capsys.readouterr().err
    assert expected in text and text.count("\n") == 1
