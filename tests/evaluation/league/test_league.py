"""The league: arithmetic against play_match, faults of agents, going on after an interruption, tables and the job."""

import csv
import json
import os
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from deepcrib.agents import make_agent
from deepcrib.agents.packaged import CHAMPIONS_OWN
from deepcrib.agents.specs.registry import BUILDERS
from deepcrib.analysis.league import RESPONDER, Ceiling, league_of, league_tables
from deepcrib.cli import main
from deepcrib.errors import OptionError, RunError
from deepcrib.evaluation.evaluate import evaluate
from deepcrib.evaluation.exploit import exploit
from deepcrib.evaluation.league import league
from deepcrib.evaluation.league.league import all_members, identity, pairing_file, plan_pairings, play_pairing, reopen
from deepcrib.evaluation.league.pair_sums import Sums, sum_up
from deepcrib.evaluation.league.tournament import pairing_seed, round_robin
from deepcrib.files.weights import write_weights
from deepcrib.intervals import pairs_interval
from deepcrib.matches import play_match

NAMES = ("greedy", "expected_value", "random")
AGENTS: dict[str, Any] = {name: make_agent(name) for name in NAMES}
SPECS = {name: name for name in NAMES}


def played(folder: Path, games: int = 48, seed: int = 5, names: tuple[str, ...] = NAMES) -> list[league.Pairing]:
    pairings = [reopen(p, folder) for p in plan_pairings({name: name for name in names}, games, seed)]
    for pairing in pairings:
        play_pairing(pairing, AGENTS, folder)
    return pairings


# --- arithmetic -----------------------------------------------------------------------------------------------


def test_a_pairing_is_that_of_a_round_robin(tmp_path: Path) -> None:
    """Same seed, same games: wins, skunks and win rate of each pairing are the round robin's on duplicate deals."""
    expected = round_robin(AGENTS, 48, 5, duplicate=True)
    for pairing in played(tmp_path):
        total = expected.pairings[pairing.names].total
        sums = pairing.sums
        assert (sums.games, sums.wins) == (48, total.wins[0])
        assert (sums.skunks, sums.skunks_against) == total.skunks
        assert sums.win_rate == pytest.approx((total.win_rate, total.ci_low, total.ci_high))


def test_matches_of_several_games_are_the_units(tmp_path: Path) -> None:
    """Win rate and interval are those of an evaluation in the same matches; parts and resumption change nothing."""
    specs = {name: name for name in ("greedy", "random")}
    (pairing,) = plan_pairings(specs, 96, 5, games_per_match=6)
    play_pairing(pairing, AGENTS, tmp_path)
    seed = pairing_seed(5, "greedy", "random")
    expected = evaluate("greedy", "random", 96, seed, duplicate=True, games_per_match=6)
    assert pairing.sums.win_rate == pytest.approx((expected.win_rate, expected.ci_low, expected.ci_high))
    assert (pairing.sums.games, pairing.sums.pairs, pairing.sums.wins) == (96, 8, expected.wins)
    with pytest.raises(OptionError, match="games=100: pairs of matches of games_per_match=6"):
        plan_pairings(specs, 100, 5, games_per_match=6)


def test_points_a_hand_against_plain_python() -> None:
    """The gain and its error by the delta method, worked out game by game from a match's arrays."""
    result = play_match([AGENTS["greedy"], AGENTS["random"]], 200, 3, duplicate=True)
    gains, hands = [], []
    for pair in range(100):
        rows = [row for row in range(200) if result.pair[row] == pair]
        assert len(rows) == 2
        gains.append(sum(int(result.points[row, 0].sum()) - int(result.points[row, 1].sum()) for row in rows))
        hands.append(sum(int(result.hands[row]) for row in rows))
    sums = sum_up(result)
    assert sums.gain.estimate == pytest.approx(sum(gains) / sum(hands))
    leave_one_out = [(sum(gains) - g) / (sum(hands) - h) for g, h in zip(gains, hands, strict=True)]
    error = np.sqrt(99 / 100 * np.sum((np.array(leave_one_out) - np.mean(leave_one_out)) ** 2))  # the jackknife's
    assert sums.gain.high - sums.gain.estimate == pytest.approx(1.96 * error, rel=0.03)
    won = [sum(result.winner[row] == 0 for row in range(200) if result.pair[row] == pair) / 2 for pair in range(100)]
    assert sums.win_rate == pytest.approx(pairs_interval(won))


def test_parts_add_up() -> None:
    result = play_match([AGENTS["greedy"], AGENTS["random"]], 40, 3, duplicate=True)
    whole, parts = sum_up(result), Sums()
    for low in (0, 8, 24):
        parts.add(sum_up(result.take(slice(low, {0: 8, 8: 24, 24: 40}[low]))))
    assert parts == whole


def test_the_cross_table_against_the_matches(tmp_path: Path) -> None:
    found = league_of(played(tmp_path))
    assert {frozenset(pair) for pair in found.cells} == {frozenset(pair) for pair in combinations(NAMES, 2)}
    for (name, other), (rate, gain) in found.cells.items():
        opposite, loss = found.cells[other, name]
        assert (rate.estimate, rate.low) == pytest.approx((1 - opposite.estimate, 1 - opposite.high))
        assert (gain.estimate, gain.high) == pytest.approx((-loss.estimate, -loss.low))
    for row in found.rows:
        own = [rate.estimate for (name, _), (rate, _) in found.cells.items() if name == row.agent]
        assert row.win_rate is not None and row.win_rate.estimate == pytest.approx(np.mean(own))
        assert row.games == 96
    rates = [row.win_rate.estimate for row in found.rows if row.win_rate and row.rating]
    assert rates == sorted(rates, reverse=True)  # all met all, equally often: ratings rank as win rates do


def test_who_else_plays_changes_nothing(tmp_path: Path) -> None:
    three = {pairing.names: pairing.sums for pairing in played(tmp_path / "three")}
    (pair,) = played(tmp_path / "two", names=("random", "greedy"))
    assert pair.sums == three[pair.names]


# --- going on ---------------------------------------------------------------------------------------------------


def test_an_interrupted_league_comes_to_the_same(tmp_path: Path) -> None:
    """Stopped within a pairing: what had been played is kept, and the rest makes it whole."""
    whole = [pairing.sums for pairing in played(tmp_path / "whole")]
    pairings = plan_pairings(SPECS, 48, 5)
    parts = 0

    def stop(games: int) -> None:
        nonlocal parts
        parts += 1
        if parts == 16:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        for pairing in pairings:
            play_pairing(pairing, AGENTS, tmp_path / "broken", stop)
    saved = [reopen(pairing, tmp_path / "broken").sums.games for pairing in plan_pairings(SPECS, 48, 5)]
    assert saved[0] == 48 and 0 < saved[1] < 48 and saved[2] == 0
    assert [pairing.sums for pairing in played(tmp_path / "broken")] == whole


def test_other_games_are_refused_and_named(tmp_path: Path) -> None:
    played(tmp_path)
    for changed, line in (
        (plan_pairings(SPECS, 96, 5)[0], "games=48, not 96"),
        (plan_pairings(SPECS, 48, 6)[0], "seed=5, not 6"),
        (plan_pairings(SPECS, 48, 5, dealing="random_dealer")[0], 'dealing="acc", not "random_dealer"'),
        (plan_pairings({**SPECS, "greedy": {"name": "greedy"}}, 48, 5)[0], "agents="),
    ):
        with pytest.raises(RunError, match=line):
            reopen(changed, tmp_path)
    pairing = plan_pairings(SPECS, 48, 5)[0]
    terms = json.dumps(pairing.terms)
    pairing.terms["sources"] = "0" * 64
    with pytest.raises(RunError, match="other code"):
        reopen(pairing, tmp_path)
    for sums in (
        '{"wins": "many"}',
        '{"games": 3}',
        "null",
        "[1]",
        '{"wins": 1e999}',
        '{"wins": -1}',
        '{"wins": 25}',
        "",
    ):
        content = f'{{"terms": {terms}, "seconds": 1, "sums": {sums}}}'
        pairing_file(tmp_path, pairing).write_text(content)
        with pytest.raises(RunError, match="is damaged: remove it"):
            reopen(plan_pairings(SPECS, 48, 5)[0], tmp_path)


def test_weights_are_known_by_their_content(tmp_path: Path) -> None:
    file = tmp_path / "agent.safetensors"
    file.write_bytes(b"one")
    first = identity({"name": "best_response", "to": str(file)})
    assert first == identity({"name": "best_response", "to": str(file)})
    file.write_bytes(b"two")
    assert first != identity({"name": "best_response", "to": str(file)})
    write_weights(tmp_path / "whole.safetensors", "q_network", {"x": np.zeros(1)}, {"discards_by": str(file)})
    whole = identity(str(tmp_path / "whole.safetensors"))
    assert whole["discards_by"] == identity(str(file))
    file.write_bytes(b"three")
    assert whole != identity(str(tmp_path / "whole.safetensors"))
    assert identity("greedy") == "greedy"
    own = {name: identity(weights) for name, weights in CHAMPIONS_OWN.items()}
    assert identity("champion") == {"name": "champion"} | own
    assert identity({"name": "lookahead", "agent": "greedy"}) == {"name": "lookahead"} | own | {"agent": "greedy"}
    assert identity({"name": "minimax", "samples": 50}) == {"name": "minimax", "samples": 50}


# --- what is planned --------------------------------------------------------------------------------------------


def test_fewer_games_for_the_slow() -> None:
    games = {p.names: p.terms["games"] for p in plan_pairings(SPECS, 100, 1, limits={"random": 40, "greedy": 200})}
    assert games == {("expected_value", "greedy"): 100, ("expected_value", "random"): 40, ("greedy", "random"): 40}
    with pytest.raises(OptionError, match="games=7: duplicate deals are played in pairs"):
        plan_pairings(SPECS, 100, 1, limits={"random": 7})
    with pytest.raises(OptionError, match="expected two or more agents"):
        plan_pairings({"greedy": "greedy"}, 100, 1)


def test_every_member_can_be_made_and_none_twice() -> None:
    known = all_members()
    assert len(set(known)) == len(known)
    assert set(known) - set(BUILDERS) <= set(league.packaged_weights())


# --- tables -----------------------------------------------------------------------------------------------------


def many(num: int) -> list[league.Pairing]:
    """A league of agents with long names, all results drawn."""
    rng = np.random.default_rng(1)
    pairings = []
    for a, b in combinations([f"semi_pure_pegging_{i:02}_avg_gained" for i in range(num)], 2):
        lost, shared, won = map(int, rng.multinomial(1000, (0.25, 0.5, 0.25)))
        wins = {"games": 2000, "pairs": lost + shared + won, "wins": shared + 2 * won, "wins_squared": shared + 4 * won}
        points = {"hands": 18000, "points": 140000, "opponent_points": 139000, "gain_squared": 400000}
        sums = Sums(**wins, **points, hands_squared=324500, gain_hands=18000)
        pairings.append(league.Pairing({"a": a, "b": b, "games": 2000}, sums))
    return pairings


def test_twenty_agents_fit_the_screen() -> None:
    found = league_of(many(20))
    console = Console(width=100, record=True, file=open(os.devnull, "w"), highlight=False)  # noqa: SIM115
    known = [
        Ceiling({}, {"pone": (0.31, 0.3, 0.32)}),
        Ceiling({"hands": 9}, dict.fromkeys(RESPONDER, (0.31, 0.3, 0.32))),
    ]
    ceilings = dict(zip(found.names, known, strict=False))
    for table in league_tables("20 agents", found, ceilings):
        console.print(table)
    text = console.export_text()
    assert all(len(line.rstrip()) <= 100 for line in text.splitlines())
    rows = [line for line in text.splitlines() if line.startswith("20 semi_pure_pegging")]
    assert len(rows) == 1 and len(rows[0].split()) == 22  # its rank, its name and twenty cells
    assert "+0.31 / -" in text and text.count("- / -") == 18
    assert "at least +0.31 / +0.31" in text
    assert "│ 20 │" in text


# --- the job ----------------------------------------------------------------------------------------------------

WORDS = ["tournament", "league", "agents=[greedy,deterministic,random]", "games=64"]


def test_the_job_writes_its_files_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    assert main([*WORDS, "games_of={random: 32}", f"hydra.run.dir={folder}"]) == 0
    assert "standings" in capsys.readouterr().out
    summary = json.loads((folder / "summary.json").read_text())
    assert [row["agent"] for row in summary["standings"]][-1] == "random"
    assert {tuple(p["terms"][k] for k in "ab"): p["terms"]["games"] for p in summary["pairings"]} == {
        ("deterministic", "greedy"): 64,
        ("deterministic", "random"): 32,
        ("greedy", "random"): 32,
    }
    rows = list(csv.DictReader((folder / "pairings.csv").open()))
    assert [row["games"] for row in rows] == ["64", "32", "32"]
    assert (folder / "league.png").stat().st_size > 5000
    before = {path.name: path.stat().st_mtime_ns for path in (folder / "pairings").iterdir()}
    # another agent joins; what has been played is not played again
    assert main(["tournament", f"resume={folder}", "agents=[greedy,deterministic,random,hand_max_avg]"]) == 0
    after = {path.name: path.stat().st_mtime_ns for path in (folder / "pairings").iterdir()}
    assert len(after) == 6 and {name: after[name] for name in before} == before
    assert main(["tournament", f"resume={folder}", "games=128"]) == 2
    assert "was played with other games=64, not 128" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["league", "agents=[greedy,random]", "games=7"], "games=7: duplicate deals are played in pairs"),
        (["league", "agents=[greedy,random]", "games_of={rnd: 20}"], "games_of.rnd: no such agent plays"),
        (
            ["league", "agents=[greedy,random]", "games_of={random: few}"],
            "games_of.random=few: expected an even number",
        ),
        (
            ["league", "agents=[greedy,random]", "deals=40", "deals_of={random: 3}"],
            "deals_of.random=3: expected an even number of deals, 4 or more",
        ),
        (["league", "agents=[greedy,random]", "games_of=20"], "games_of=20: expected games by agent"),
        (["league", "agents=[greedy,random]", "matches=2"], "matches=2: a pairing of a league is one match"),
        (["league", "run=outputs"], "run=outputs: only for checkpoints, not for league"),
        (["agents=all"], "expected two or more agents, as agents="),
        (["agents=[greedy,random]", "games_of={random: 20}"], "only for league, not for round_robin"),
    ],
)
def test_wrong_calls(words: list[str], line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tournament", *words, f"hydra.run.dir={tmp_path}/run"]) == 2
    assert line in capsys.readouterr().err
    assert not list(tmp_path.glob("run/*"))


def test_only_a_league_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tournament", "agents=[greedy,random]", "games=10", f"hydra.run.dir={tmp_path}/run"]) == 0
    assert main(["tournament", f"resume={tmp_path}/run"]) == 2
    assert "only a league can be resumed, not the task round_robin" in capsys.readouterr().err


@pytest.mark.usefixtures("known_models")
def test_the_ceiling_of_each_agent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a best responder gains stands beside the agents that can be answered, and is not measured twice."""
    words = ["tournament", "league", "agents=[greedy,hand_max_avg]", "games=8", "deals=6", "deals_of={greedy: 4}"]
    run, path = tmp_path / "run", tmp_path / "run" / "ceilings.json"
    assert main([*words, f"hydra.run.dir={run}"]) == 0
    known = json.loads(path.read_text())
    assert {name: entry["terms"]["deals"] for name, entry in known.items()} == {"greedy": 4, "hand_max_avg": 6}
    found = exploit(make_agent("greedy"), 4, 1)
    for role, gain in {"both": found.total, **found.roles}.items():
        assert known["greedy"]["roles"][role] == pytest.approx([gain.gain, gain.ci_low, gain.ci_high])
        rows = {row["agent"]: row for row in csv.DictReader((run / "league.csv").open())}
        assert float(rows["greedy"][f"ceiling_{role}"]) == pytest.approx(gain.gain)
    known["greedy"]["roles"]["pone"] = [7.77, 7.7, 7.8]
    path.write_text(json.dumps(known))
    assert main(["tournament", f"resume={run}"]) == 0
    assert ",7.77,7.7,7.8," in (run / "league.csv").read_text()
    capsys.readouterr()
    known["greedy"]["roles"] = {"pone": 7}
    path.write_text(json.dumps(known))
    assert main(["tournament", f"resume={run}"]) == 2
    assert "ceilings.json is damaged: remove it" in capsys.readouterr().err
