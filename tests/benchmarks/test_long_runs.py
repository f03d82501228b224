"""The queue of long runs: what it runs in which order, what it keeps, and that it goes on where it stopped."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import long_runs as script
from benchmarks.long_run import LongRun
from benchmarks.long_runs import Queue, finished, main
from benchmarks.long_runs_list import long_runs
from benchmarks.paper2019.runs import best_again
from benchmarks.paper2019.values import TABLE_3
from tests.support.composing import composed_today

RUNS = list(long_runs())
COMMIT = "c0ffee0" * 5
ONE = LongRun("some", "one", ("experiment=smoke",), ("seed=1",), 0.5, ("deterministic.",), COMMIT)
MEASURED = LongRun(
    *("some", "two", ("experiment=smoke",), ("seed=2",), 0.5, ("deterministic.",), COMMIT),
    match=("opponent=greedy", "games=20"),
    curve=("deterministic/win_rate",),
)
PROGRESS = """step,seconds,speed/processor_seconds,speed/monitoring_seconds,deterministic/win_rate
0,4.0,,4.0,0.4
1,14.0,9.5,,
2,28.0,9.0,5.0,0.6
"""


@pytest.fixture
def queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Queue:
    """A queue whose results go to a folder of their own, and whose commands are not run."""
    monkeypatch.setattr(script, "DATA", tmp_path / "data")
    monkeypatch.setattr(script, "clone_at", lambda path, commit: path)
    monkeypatch.setattr(script.os, "nice", lambda more: more)
    monkeypatch.setattr(script.signal, "signal", lambda *_: None)
    monkeypatch.setattr(script, "long_runs", lambda finished: iter([ONE, MEASURED]))
    return Queue(tmp_path / "queue")


def write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


class Deepcrib:
    """Stands for the command: leaves what a run leaves, or fails in the calls that are named."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.failing: tuple[str, ...] = ()

    def __call__(self, clone: Path, words: list[str], output: Any) -> int:
        script = words[0] == "benchmarks/count.py"
        words = words if script else words[2:]
        self.calls.append(words)
        if script:
            write(Path(words[-1]), {"found": {"mean": 2.5, "left_out": 1}})
            return 0
        if words[0] in self.failing:
            return 1
        (place,) = [word.partition("=")[2] for word in words if word.startswith(("hydra.run.dir=", "resume="))]
        figures = {"deterministic": {"win_rate": 0.6}} if words[0] == "train" else {"win_rate": 0.55, "seconds": 3}
        write(Path(place) / "summary.json", figures | {"hours": 1})
        write(Path(place) / "environment.json", {"machine": {"processor": "A", "host": "a name"}, "seconds": 30.0})
        write(Path(place) / "progress.csv", PROGRESS)
        return 0


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Deepcrib:
    stands_in = Deepcrib()
    monkeypatch.setattr(script, "run_python", stands_in)
    return stands_in


def test_the_best_trial_of_a_row_runs_again_when_all_have_run() -> None:
    row = TABLE_3[3]
    won = {f"{number:03d}": (50 + number % 7, 50 - number % 5) for number in range(1, row.trials + 1)}
    beginning = "deterministic.hands_won."
    found = {
        name: {"figures": {f"{beginning}wins": wins, f"{beginning}losses": losses, f"{beginning}hands": 120}}
        for name, (wins, losses) in won.items()
    }
    runs = [*best_again(row, found)]
    (trial,) = [run for run in RUNS if (run.group, run.name) == ("table3_game_full", "019")]  # 55 and 46
    assert [run.name for run in runs] == [f"table3_game_full_{seed}" for seed in (1001, 1002, 1003)]
    assert runs[0].words == (*trial.words[:-1], "seed=1001", "evaluation.hands=100000")
    assert [run for run in long_runs(lambda group: found if "game_full" in group else {}) if run not in RUNS] == runs
    del found["001"]
    assert not [*best_again(row, found)]


def test_leads_stand_behind_the_training_that_they_are_of() -> None:
    named = {f"RUNS/{run.group}/{run.name}": number for number, run in enumerate(RUNS)}
    read = [(word, number) for number, run in enumerate(RUNS) for word in run.words if word.startswith("RUNS/")]
    assert len(read) >= 9 and all(named[word] == number - 1 for word, number in read)


TRAININGS = [run for run in RUNS if not run.script]


@pytest.mark.parametrize(
    "run", [*TRAININGS[:1], TRAININGS[300], *TRAININGS[318:327]], ids=lambda run: f"{run.group}_{run.name}"
)
def test_their_options_are_those_of_the_configs(run: LongRun) -> None:
    options = composed_today(run.words)
    if run.group.startswith("table3"):
        assert (options.play_network.name, options.play_network.hidden) == ("belanger2019_mlp", [128, 64, 32])
        assert (options.learner.discard_agent, options.learner.epsilon) == ("deterministic", 0.1)
        assert run.group == f"table3_{options.reward.play}_{options.state.play}" or "game" in run.group
        assert options.learner.iterations == 100 and options.evaluation.hands == 10_000
    else:
        name = "cnn_lstm_monte_carlo" if "ideal" in run.group else run.name
        assert f"{options.play_network.name}_{options.algorithm.name}" == f"belanger2019_{name}"
        assert options.learner.iterations == 500 and options.evaluation.exploring
        assert options.evaluation.at[-1] == 500 and set(range(10, 501, 10)) < set(options.evaluation.at)


def test_a_run_is_started_kept_and_then_left_alone(queue: Queue, command: Deepcrib) -> None:
    main([str(queue.folder)])
    main([str(queue.folder)])
    place = queue.place(MEASURED)
    assert [words[0] for words in command.calls] == ["train", "train", "evaluate"]
    assert command.calls[1] == ["train", "experiment=smoke", "seed=2", f"hydra.run.dir={place}"]
    assert command.calls[2][1:4] == [f"agent={place}", "opponent=greedy", "games=20"]
    kept = json.loads((script.DATA / "some.json").read_text())
    assert kept["command"] == "deepcrib train experiment=smoke" and "a name" not in str(kept)
    assert kept["runs"]["one"]["options"] == ["seed=1"]
    assert kept["runs"]["one"]["figures"] == {"deterministic.win_rate": 0.6}
    two = kept["runs"]["two"]
    assert two["match_figures"] == {"win_rate": 0.55}
    assert (two["training_processor_seconds"], two["training_seconds"]) == (18.5, 19.0)  # 28 less 4 and 5 of matches
    assert two["curve"] == {"step": [0, 2], "deterministic/win_rate": [0.4, 0.6]}


def test_a_script_says_where_its_figures_are_and_a_match_names_its_run(queue: Queue, command: Deepcrib) -> None:
    counted = LongRun(
        "counts", "one", ("--hands", "5"), ("--seed", "1"), 0.1, ("found.mean",), COMMIT, script="count.py"
    )
    against_start = LongRun("some", "three", (), (), 0.1, ("x",), COMMIT, match=("opponent=RUN/checkpoints/first",))
    for run in (counted, against_start):
        assert queue.work(run) == "done"
    place = queue.place(counted)
    assert command.calls[0] == ["benchmarks/count.py", "--hands", "5", "--seed", "1", "--to", f"{place}/summary.json"]
    kept = json.loads((script.DATA / "counts.json").read_text())
    assert kept["command"] == "python benchmarks/count.py --hands 5"
    assert kept["runs"]["one"]["figures"] == {"found.mean": 2.5}
    assert command.calls[-1][2] == f"opponent={queue.place(against_start)}/checkpoints/first"


def test_a_script_that_reads_a_run_waits_for_its_end(
    queue: Queue, command: Deepcrib, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reader = LongRun("counts", "of_one", (), ("RUNS/some/one",), 0.1, ("found.",), COMMIT, script="count.py")
    monkeypatch.setattr(script, "long_runs", lambda finished: iter([ONE, reader]))
    with queue.lock("some-one"):  # by another process
        main([str(queue.folder)])
        main([str(queue.folder), "--list"])
    assert not command.calls and "0 open, 1 waiting; 0.0 core hours left" in capsys.readouterr().out
    main([str(queue.folder)])
    assert command.calls[-1] == [
        "benchmarks/count.py",
        str(queue.place(ONE)),
        "--to",
        f"{queue.place(reader)}/summary.json",
    ]
    assert finished("counts")["of_one"]["options"] == ["RUNS/some/one"]


def test_a_half_done_run_is_resumed_and_its_match_begins_anew(queue: Queue, command: Deepcrib) -> None:
    write(queue.place(MEASURED) / "config.yaml", "seed: 2")
    write(queue.match(MEASURED) / "config.yaml", "seed: 2")
    write(queue.place(MEASURED).with_suffix(".seconds"), "100.0")
    assert queue.work(MEASURED) == "done"
    assert command.calls[0] == ["train", f"resume={queue.place(MEASURED)}"]
    assert not (queue.match(MEASURED) / "config.yaml").exists()
    assert finished("some")["two"]["processor_seconds"] >= 100


def test_what_fails_is_noted_and_passed(queue: Queue, command: Deepcrib, capsys: pytest.CaptureFixture[str]) -> None:
    command.failing = ("evaluate",)
    main([str(queue.folder)])
    main([str(queue.folder)])
    assert [words[0] for words in command.calls] == ["train", "train", "evaluate"]
    assert set(finished("some")) == {"one"}
    assert "exit code 1, see " in queue.failed(MEASURED).read_text()
    main([str(queue.folder), "--list"])
    assert "1 done, 0 running, 1 failed, 0 open; 0.0 core hours left" in capsys.readouterr().out


def test_a_damaged_file_of_figures_is_not_written_over(queue: Queue, command: Deepcrib) -> None:
    damaged = '{"runs": {\n<<<<<<< HEAD\n'
    write(script.DATA / "some.json", damaged)
    with pytest.raises(SystemExit, match=r"some\.json: expected the runs of a group as JSON .*; restore it first"):
        main([str(queue.folder)])
    assert (script.DATA / "some.json").read_text() == damaged


def test_what_another_process_runs_is_left_to_it(
    queue: Queue, command: Deepcrib, capsys: pytest.CaptureFixture[str]
) -> None:
    with queue.lock("some-two"):
        main([str(queue.folder)])
        assert [words[0] for words in command.calls] == ["train"]
        main([str(queue.folder), "--list"])
    assert "1 done, 1 running, 0 failed, 0 open; 0.5 core hours left" in capsys.readouterr().out
