"""`deepcrib report runs=...`: known figures in hand-written run folders come out in its tables; what it refuses."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from deepcrib.analysis.report.result import usual_opponent
from deepcrib.analysis.report.runs import SETUP, load_runs, repeated, with_setups
from deepcrib.cli import main
from deepcrib.errors import RunError
from deepcrib.intervals import over_seeds, welch
from deepcrib.jobs import report as report_job
from deepcrib.training.progress import PROGRESS_FILE, ProgressFile
from tests.support.commands import report

T_2, T_4 = 4.302653, 2.776445  # two-sided 95% quantiles of Student's t with 2 and 4 degrees of freedom
MACHINE = {"processor": "Test CPU", "cores": 2, "memory_gb": 8.0, "gpus": []}
LEARNER = {"name": "replay", "iterations": 4, "batch_size": 64, "passes": 1.0, "play_lr": 7e-4}


def options(algorithm: str = "sarsa", network: str = "mlp", seed: int = 1, **learner: Any) -> dict[str, Any]:
    return {
        "seed": seed,
        "learner": LEARNER | learner,
        "algorithm": {"name": algorithm},
        "reward": {"play": "offensive_defensive"},
        "discard_network": {"name": "belanger2019", "suit_convolution": True},
        "play_network": {"name": network, "hidden": [256, 256]},
        "evaluation": {"opponents": ["deterministic"], "games": 100, "final_games": 1000, "seed": None},
    }


def match(wins: int, games: int = 1000, hands: int = 0, hands_taken: int = 0) -> dict[str, Any]:
    figures: dict[str, Any] = {"games": games, "wins": wins, "win_rate": wins / games}
    if hands:
        figures["hands_won"] = {"hands": hands, "wins": hands_taken, "win_rate": hands_taken / hands}
    return {"deterministic": figures}


def write_run(
    folder: Path,
    told: Mapping[str, Any],
    summary: Mapping[str, Any] | None,
    *,
    rates: Sequence[float] = (),
    seconds: Sequence[float] = (),
    command: Sequence[str] = ("deepcrib train", "experiment=a b"),
    environment: Mapping[str, Any] | None = None,
) -> Path:
    """A run folder; win rates after iterations 2, 4, ..., seconds of iterations 1, 2, ..., two thirds playing."""
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(yaml.safe_dump(dict(told)))
    content = {
        **{"time": "2026-11-22T01:00:00+00:00", "command": list(command), "seconds": 60.0},
        **{"commit": "abcdef0123456789", "versions": {"deepcrib": "0.1.0"}, "machine": MACHINE},
    }
    (folder / "environment.json").write_text(json.dumps(content | dict(environment or {})))
    rows: dict[int, dict[str, float]] = {index + 1: {} for index in range(max(2 * len(rates), len(seconds)))}
    for index, rate in enumerate(rates):
        rows[2 * (index + 1)]["deterministic/win_rate"] = rate
    for index, spent in enumerate(seconds):
        rows[index + 1] |= {"speed/playing_seconds": spent * 2 / 3, "speed/processor_seconds": spent}
    if rows:
        file = ProgressFile(folder, 0)
        for step, metrics in rows.items():
            file.add(step, 100.0 * step, metrics)
    if summary is not None:
        (folder / "summary.json").write_text(json.dumps(dict(summary)))
    return folder


def table_of(page: str, title: str, number: int = 0) -> list[dict[str, str]]:
    """Rows of a table of a section, by the heads of its columns."""
    section = page.split(f"\n## {title}\n")[1].split("\n## ")[0]
    lines = [block.splitlines() for block in section.split("\n\n") if block.startswith("|")][number]
    heads, _, *rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [dict(zip(heads, row, strict=True)) for row in rows]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A report on two algorithms by three seeds, one failed and one unfinished run, and a search; and its text."""
    root = tmp_path_factory.mktemp("runs")
    wins = {"monte_carlo": (400, 430, 460), "sarsa": (500, 530, 560)}
    spent = {"monte_carlo": (1.0, 2.0, 6.0), "sarsa": (3.0, 6.0, 12.0)}  # means 3 and 7
    for algorithm in ("sarsa", "monte_carlo"):
        for seed in (1, 2, 3):
            write_run(
                root / "pairs" / f"{algorithm}_{seed}",
                options(algorithm, seed=seed),
                match(wins[algorithm][seed - 1]),
                rates=(0.3, 0.3 + seed / 10),
                seconds=(99.0, spent[algorithm][seed - 1], spent[algorithm][seed - 1]),
                command=["deepcrib train", "-m", f"algorithm={algorithm}", "seed=1,2,3"],
            )
    write_run(root / "pairs" / "stopped", options(seed=9), None, rates=(0.9,))
    failed = write_run(root / "pairs" / "failed", options(seed=10), None)
    (failed / "error.json").write_text(json.dumps({"error": "the learning | diverged", "exit_code": 2}))
    write_search(root / "pairs" / "search")
    out = root / "out"
    assert report(f"runs={root / 'pairs'}", out) == 0
    return out, (out / "report.md").read_text()


def write_search(folder: Path) -> None:
    for number in range(12):
        write_run(folder / f"trial_{number}", options(play_lr=1e-4 * 2**number), match(500, 1000, 1000, 400))
    (folder / "trials.csv").write_text("number,id\n")


# --- the answer ---------------------------------------------------------------------------------------------


def test_a_page_begins_with_who_is_stronger_and_whether_that_is_separated(page: tuple[Path, str]) -> None:
    half, lead = 100 * T_2 * 0.03 / math.sqrt(3), 100 * T_4 * math.sqrt(2 * 0.03**2 / 3)
    first, second = table_of(page[1], "Result")
    answer = page[1].split("\n## ")[1].splitlines()[2]
    won, ahead = f"53.0% [{53 - half:.1f}, {53 + half:.1f}]", f"10.0 [{10 - lead:.1f}, {10 + lead:.1f}]"
    assert page[1].split("\n## ")[1].startswith("Result\n") and answer == (
        f"**sarsa** is not separated from deterministic: it won {won} of 3,000 games (95%, Student's t over 3 seeds) "
        f"after 6.67 minutes of training a run. It leads monte_carlo by {ahead} points (95%, Welch's t over seeds)."
    )
    assert (first["setup"], second["setup"], second["separated"]) == ("sarsa", "monte_carlo", "yes")
    assert (first["won, Wilson over games"], second["behind the first, points"]) == ("53.0% [51.2, 54.8]", ahead)
    assert [first[name] for name in ("seeds", "games", "training", "command")] == ["3", "3,000", "6.67 minutes", "c1"]
    times = [row["processor seconds an iteration"] for row in (first, second)]
    assert times == [
        "7, not comparable",
        "3, not comparable",
    ]  # playing took four times as long in one run as in another
    assert "`deepcrib train -m algorithm=sarsa seed=1,2,3`" in page[1]
    result, _ = json.loads((page[0] / "summary.json").read_text())["results"]
    assert (result["setup"], result["seeds"], result["games"]) == ("sarsa", 3, 3000)
    assert result["won"] == pytest.approx([0.53, 0.53 - half / 100, 0.53 + half / 100], abs=1e-5)


def test_one_seed_speaks_of_its_agent_and_other_learners_have_their_place(tmp_path: Path) -> None:
    """Newcombe 1998, table II: 56 of 70 less 48 of 80 is 0.2 [0.0524, 0.3339]."""
    write_run(tmp_path / "runs" / "a", options(seed=1), match(48, 80))
    other = {name: value for name, value in options().items() if name in ("seed", "evaluation")}
    write_run(tmp_path / "runs" / "b", other | {"learner": {"name": "weighted", "games": 9}}, match(56, 70))
    assert report(f"runs={tmp_path / 'runs'}", tmp_path / "out") == 0
    text = (tmp_path / "out" / "report.md").read_text()
    assert "It leads mlp, sarsa by 20.0 [5.2, 33.4] points (95%, Newcombe over games). One seed:" in text
    first, second = table_of(text, "Result")
    assert (first["setup"], second["separated"]) == ("weighted", "these agents")
    assert {"option": "learner.games", "mlp, sarsa": "-", "weighted": "9"} in table_of(text, "Options")


def test_the_opponent_is_the_one_that_most_runs_met(tmp_path: Path) -> None:
    for number, names in enumerate((["greedy"], ["deterministic", "greedy"], ["deterministic"])):
        write_run(tmp_path / str(number), options(seed=number), dict.fromkeys(names, match(5)["deterministic"]))
    runs = load_runs([str(tmp_path)])
    assert usual_opponent(runs) == "deterministic" and usual_opponent(runs[:2]) == "greedy"


def test_a_setup_is_named_by_the_options_that_tell_it_apart(tmp_path: Path) -> None:
    """`...` where more differ; `hidden` ends the names of two options, and is told by its full name."""
    for number, more in enumerate(({}, {"batch_size": 128, "iterations": 9}, {"iterations": 9}, {"passes": 2.0})):
        write_run(tmp_path / str(number), options(**more), match(5))
    assert sorted(with_setups(load_runs([str(tmp_path)]))[SETUP]) == [
        "batch_size=128, iterations=9, passes=1.0",
        "batch_size=64, iterations=4, passes=1.0",
        "batch_size=64, iterations=4, passes=2.0",
        "batch_size=64, iterations=9, passes=1.0",
    ]
    assert with_setups(load_runs([str(tmp_path / "[01]")]))[SETUP].to_list() == [
        "batch_size=64, ...",
        "batch_size=128, ...",
    ]
    for number, hidden in enumerate(([8], [16])):
        told = options() | {"play_network": {"name": "mlp", "hidden": hidden}, "discard_network": {"hidden": [4]}}
        write_run(tmp_path / "wide" / str(number), told, match(5))
    found = with_setups(load_runs([str(tmp_path / "wide")]))
    assert found[SETUP].to_list() == ["play_network.hidden=[8]", "play_network.hidden=[16]"]


# --- figures ------------------------------------------------------------------------------------------------


def test_curves_are_means_over_the_finished_seeds(page: tuple[Path, str]) -> None:
    _, row = table_of(page[1], "Learning curves: mlp")
    assert (row["setup"], row["seeds x games each"]) == ("sarsa", "3 x 100")
    half = T_2 * 0.1 / math.sqrt(3)
    assert row["step 4"] == f"50.0% [{100 * (0.5 - half):.1f}, {100 * (0.5 + half):.1f}]"
    floor = T_2 * math.sqrt(0.3 * 0.7 / 300)  # three equal rates: the games alone make the interval this wide
    assert row["step 2"] == f"30.0% [{100 * (0.3 - floor):.1f}, {100 * (0.3 + floor):.1f}]"
    assert (page[0] / "figures" / "curves_1.png").read_bytes()[:4] == b"\x89PNG"
    assert "](figures/curves_1.png)" in page[1]


def test_a_curves_cells_stand_under_their_own_iterations(tmp_path: Path) -> None:
    """One setup ends earlier; of another only one seed was measured at iteration 2."""
    for number, (algorithm, seed, rates) in enumerate(
        (("sarsa", 1, (0.1, 0.2, 0.3)), ("q_learning", 1, (0.4, 0.5)), ("monte_carlo", 1, (0.6, 0.7, 0.8)))
    ):
        write_run(tmp_path / "runs" / str(number), options(algorithm, seed=seed), match(5), rates=rates)
    late = write_run(tmp_path / "runs" / "late", options("monte_carlo", seed=2), match(5))
    file = ProgressFile(late, 0)
    for step, rate in ((4, 0.7), (6, 0.8)):
        file.add(step, 100.0 * step, {"deterministic/win_rate": rate})
    assert report(f"runs={tmp_path / 'runs'}", tmp_path / "out") == 0
    rows = table_of((tmp_path / "out" / "report.md").read_text(), "Learning curves: mlp")
    found = {row["setup"]: [row[f"step {step}"].partition(" ")[0] for step in (2, 4, 6)] for row in rows}
    assert found == {
        "monte_carlo": ["-", "70.0%", "80.0%"],
        "q_learning": ["40.0%", "50.0%", "-"],
        "sarsa": ["10.0%", "20.0%", "30.0%"],
    }


def test_runs_that_came_to_nothing_are_listed_and_count_nowhere(page: tuple[Path, str]) -> None:
    states = json.loads((page[0] / "summary.json").read_text())["states"]
    assert states == {"finished": 18, "failed": 1, "unfinished": 1}
    failed, stopped = table_of(page[1], "The runs")
    assert list(failed.values())[:6] == ["failed", "failed", "10", "sarsa", "mlp", r"the learning \| diverged"]
    assert (stopped["run"], stopped["state"]) == ("stopped", "unfinished")
    assert "Runs: 18 finished, 1 failed, 1 unfinished." in page[1]


# --- run folders --------------------------------------------------------------------------------------------


def test_runs_group_by_all_options_but_the_seed(tmp_path: Path) -> None:
    write_run(tmp_path / "a", options(seed=1), match(5))
    write_run(tmp_path / "b", options(seed=2), match(5))
    write_run(tmp_path / "c", options(seed=1, play_lr=1e-3), match(5))
    runs = with_setups(load_runs([str(tmp_path / "[abc]"), str(tmp_path)]))
    found = [*zip(runs[SETUP], runs.seed, strict=True)]
    assert found == [("play_lr=0.0007", 1), ("play_lr=0.0007", 2), ("play_lr=0.001", 1)]


def test_seconds_are_the_runs_own_or_those_of_training(tmp_path: Path) -> None:
    """A killed run is read again when it has learned more, also in one process, as in a notebook."""
    write_run(tmp_path / "a", options(seed=2), match(5), seconds=(3.0, 6.0))
    killed = write_run(tmp_path / "b", options(), None, seconds=(3.0, 6.0), environment={"seconds": None})
    assert load_runs([str(tmp_path)]).spent.to_list() == [60, 200]
    ProgressFile(killed, 2).add(3, 350.0, {"loss/play": 1.0})
    assert load_runs([str(tmp_path)]).spent.to_list() == [60, 350]


def test_a_repeated_run_counts_once_the_later_one(tmp_path: Path) -> None:
    write_run(tmp_path / "a", options(), match(5), environment={"time": "2026-11-22T02:00:00+00:00"})
    write_run(tmp_path / "b", options(), match(5))
    runs = load_runs([str(tmp_path)])
    assert dict(zip(runs["name"], repeated(runs), strict=True)) == {"a": False, "b": True}


def test_a_run_that_failed_before_its_options_were_saved_is_found(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "error.json").write_text(json.dumps({"error": "no\nsuch option", "overrides": ["seed=x"]}))
    (run,) = load_runs([str(tmp_path)]).to_dict("records")
    assert (run["state"], run["error"], run["overrides"]) == ("failed", "no such option", ("seed=x",))


def test_other_programs_files_and_hidden_folders_are_passed_over(tmp_path: Path) -> None:
    write_run(tmp_path / "a", options(), match(5))
    write_run(tmp_path / ".old" / "b", options(), match(5))
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "config.yaml").write_text("site_name: x")
    assert load_runs([str(tmp_path)])["name"].to_list() == ["a"]


# --- where the page goes ------------------------------------------------------------------------------------


def test_a_page_is_written_anew_but_nothing_else_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write_run(tmp_path / "a", options(), match(5))
    path = tmp_path / "page.md"
    path.write_text("mine")
    assert report(f"runs={run} path={path}", tmp_path / "out1") == 2
    assert "there is a file, not written by deepcrib report: overwrite=true replaces it" in capsys.readouterr().err
    assert path.read_text() == "mine" and not (tmp_path / "out1").exists()
    assert report(f"runs={run} path={path} overwrite=true title=Ours", tmp_path / "out2") == 0
    assert "# Ours" in path.read_text()
    assert report(f"runs={run} path={path}", tmp_path / "out3") == 0
    assert "# Training runs\n" in path.read_text()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("runs={tmp}/nowhere", "nowhere: expected a folder of runs, a list of them, or a pattern"),
        ("runs={tmp}/empty", "empty: no runs of deepcrib train there: expected folders that hold config.yaml"),
        ("runs=[]", "runs=[]: expected a folder of runs, or a list of them"),
        ("", "no runs of deepcrib train there: expected"),
        ("runs={tmp}/match", "match: no runs of deepcrib train there"),
        ("runs={tmp}/torn", "summary.json: cannot be read"),
        ("runs={tmp}/good path={tmp}/page.txt", "page.txt: expected a file name that ends in .md"),
        ("runs={tmp}/good path={tmp}/good/config.yaml/page.md", "config.yaml would be a folder, but a file is there"),
        ("runs={tmp}/good by=person", "by=person: only for humans, not for runs"),
    ],
)
def test_what_cannot_be_reported_is_refused_in_one_line(
    command: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.setattr(report_job, "outputs_folder", lambda: tmp_path / "empty")
    write_run(tmp_path / "good", options(), match(5))
    write_run(tmp_path / "match", {"games": 5}, {}, command=["deepcrib evaluate", "games=5"])
    write_run(tmp_path / "torn", options(), None).joinpath("summary.json").write_text("{")
    assert report(command.format(tmp=tmp_path), tmp_path / "out") == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "place", "value", "message"),
    [
        ("environment.json", (), [1], ": expected a mapping"),
        ("environment.json", ("command",), 5, ": command=5: expected a list of words"),
        ("environment.json", ("machine",), [], ": machine=[]: expected a mapping"),
        ("environment.json", ("earlier",), [5], ": earlier=[5]: expected a list of mappings"),
        ("environment.json", ("commands",), [{"command": "x"}], ': command="x": expected a list'),
        ("environment.json", ("seconds",), 10**400, "expected a number"),
        ("summary.json", ("deterministic", "win_rate"), 1.5, "win_rate=1.5: expected a number from 0 to 1"),
        ("summary.json", ("deterministic", "wins"), 1001, "deterministic.wins=1001: expected 0 to 1,000"),
        ("summary.json", ("deterministic",), {"win_rate": 0.5}, "deterministic.games=null: expected a whole number"),
        ("summary.json", ("deterministic", "hands_won"), {"hands": 0}, "hands_won.hands=0: expected a whole number"),
        ("config.yaml", ("evaluation", "games"), "many", 'evaluation.games="many": expected a whole number above 0'),
    ],
)
def test_a_file_of_another_shape_is_refused_by_name(
    name: str, place: tuple[str, ...], value: Any, message: str, tmp_path: Path
) -> None:
    path = write_run(tmp_path / "a", options(), match(500)) / name
    content: Any = yaml.safe_load(path.read_text())
    inner = content
    for key in place[:-1]:
        inner = inner[key]
    if place:
        inner[place[-1]] = value
    path.write_text(json.dumps(content if place else value))  # JSON is YAML
    with pytest.raises(RunError) as error:
        load_runs([str(tmp_path)])
    assert str(error.value).startswith(str(path)) and message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["environment.json", "summary.json", "error.json", "config.yaml", PROGRESS_FILE])
def test_bytes_that_are_no_text_of_its_kind_are_refused_by_name(name: str, tmp_path: Path) -> None:
    path = write_run(tmp_path / "a", options(), None, environment={"seconds": None}) / name
    for content in (b"\xff\xfe\x00", b'{"a": [1', b"[" * 100_000):
        path.write_bytes(content)
        with pytest.raises(RunError, match="cannot be read: ") as error:
            load_runs([str(tmp_path)])
        assert str(error.value).startswith(str(path)) and "\n" not in str(error.value)


def test_what_a_strangers_run_says_is_text_in_the_page(tmp_path: Path) -> None:
    """No HTML, no link, no heading, no end of a command's code, and nothing that a terminal would obey."""
    harm = "<img src=x onerror=go()>`<b>`\x1b[31m\n\n# Heading\n\n[click](javascript:go())"
    folder = write_run(tmp_path / "a", options() | {"device": harm}, match(450), command=["deepcrib train", harm])
    environment = json.loads((folder / "environment.json").read_text())
    environment["machine"] = {"processor": harm}
    (folder / "environment.json").write_text(json.dumps(environment))
    assert main(["report", f"runs={folder}", f"path={tmp_path}/page.md", f"hydra.run.dir={tmp_path}/report"]) == 0
    text = (tmp_path / "page.md").read_text()
    assert text.count("onerror=go()") >= 2 and "# Heading" in text
    code = re.compile(r"`[^`]*`")
    assert "<" not in code.sub("", text.split("\n", 1)[1])
    assert "](javascript" not in text and "\n# Heading" not in text and "\x1b" not in text


# --- statistics ---------------------------------------------------------------------------------------------


def test_an_interval_over_seeds_is_no_narrower_than_the_games_allow() -> None:
    assert over_seeds([0.5, 0.5, 0.5]) == pytest.approx((0.5, 0.5, 0.5))
    half = T_2 * math.sqrt(0.25 / 300)
    assert over_seeds([0.5, 0.5, 0.5], 100) == pytest.approx((0.5, 0.5 - half, 0.5 + half), abs=1e-6)
    assert over_seeds([0, 0], 20).high == pytest.approx(12.7062 * math.sqrt(1 / 40 * 39 / 40 / 40), abs=1e-4)
    assert over_seeds([0.4, 0.5, 0.6], 10**9) == pytest.approx(over_seeds([0.4, 0.5, 0.6]))
    assert math.isnan(over_seeds([0.5]).low)
    assert welch([0.5, 0.5], [0.5, 0.5], (100, 100)).high > 0.1
    assert welch([0.5, 0.5], [0.5, 0.5], (0, 0)) == (0, 0, 0)


def test_a_missing_library_is_named_with_the_extra_that_brings_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(tmp_path / "a", options(), match(5))
    monkeypatch.setattr("deepcrib.jobs.shared.common.find_spec", lambda name: None if name == "tabulate" else object())
    assert report(f"runs={tmp_path}", tmp_path / "out") == 2
    error = capsys.readouterr().err
    assert "expected tabulate, which is not installed: pip install -e '.[report]'" in error and error.count("\n") == 1
