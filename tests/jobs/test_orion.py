"""Searches: what is searched and refused, exact accounts of trials by several workers, and what killed ones leave."""

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas
import pytest

from deepcrib.cli import main
from deepcrib.errors import OptionError, RunError
from deepcrib.intervals import wilson
from deepcrib.jobs import Outcome
from deepcrib.jobs.hydra.schema import parse

pytest.importorskip("orion")
pytestmark = pytest.mark.filterwarnings("ignore")

from hydra_plugins.deepcrib_orion import _search, _space, _study  # noqa: E402
from hydra_plugins.deepcrib_orion._options import OrionSweeperConf  # noqa: E402
from tests.support.studies import open_study  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]


def parameter(key: str, sweep: str) -> _space.Parameter:
    return _space.parameter(parse([f"{key}={sweep}"])[0], {})


# what is searched


def test_hydras_sweeps_become_orions_priors_and_fixed_overrides_pass_verbatim() -> None:
    kinds = {"learner.play_lr": float, "learner.batch_size": int, "learner.buffer_size": int | None}
    words = [
        "algorithm=sarsa,q_learning",
        "play_network.hidden=[64,64]",
        "learner.play_lr=tag(log, interval(1e-4, 0.1))",
        "learner.batch_size=interval(16,64)",
        "evaluation.opponents=[{name: minimax, samples: 10}]",
        "learner.discard_lr=0.5",
    ]
    params = {
        "learner.buffer_size": "choice(10000,45000)",
        "learner.discard_lr": "interval(0,1)",
        "learner.iterations": "tag(fidelity,interval(1,9))",
    }
    searched, fixed = _space.split_overrides(words, params, kinds)
    assert {item.key: item.prior for item in searched} == {
        "algorithm": "choices(['sarsa', 'q_learning'])",
        "learner.batch_size": "uniform(16, 64, discrete=True)",
        "learner.buffer_size": "choices([10000, 45000])",
        "learner.iterations": "fidelity(1, 9)",
        "learner.play_lr": "loguniform(0.0001, 0.1)",
    }
    assert fixed == [words[1], words[4], words[5]]  # and a fixed value beats the space of the config


@pytest.mark.parametrize(
    "key, sweep, value, word",
    [
        ("learner.play_lr", "interval(0,1)", 0.25, "learner.play_lr=0.25"),
        ("learner.batch_size", "int(interval(1,9))", 4.0, "learner.batch_size=4"),
        ("learner.hidden", "choice([16],[64,64])", "[64,64]", "learner.hidden=[64,64]"),
        ("evaluation.name", "choice('a b',c)", "'a b'", "evaluation.name='a b'"),
        ("learner.buffer_size", "range(10,40,10)", 20, "learner.buffer_size=20"),
    ],
)
def test_values_come_back_as_overrides(key: str, sweep: str, value: Any, word: str) -> None:
    item = parameter(key, sweep)
    assert item.override(value) == word
    assert "." not in item.name


# what is refused, before anything is started

QUICK = "train -m hydra/sweeper=orion learner=hill_climb hydra.sweeper.name=study"


@pytest.mark.parametrize(
    "word, said",
    [
        ("learner.sigma=interval(1,0.1)", "learner.sigma=interval(1,0.1): expected a lower bound below the upper one"),
        ("learner.sigma=interval(0,inf)", "expected a lower bound below the upper one"),
        ("learner.sigma=tag(log,interval(0,1))", "a logarithmic scale begins above 0"),
        ("learner.pairs=interval(0.5,20)", "expected whole numbers as bounds"),
        ("learner.pairs=tag(fidelity,interval(0,20))", "expected a lowest fidelity of 1 or more"),
        ("learner.climb=glob(*)", "learner.climb=glob(*): expected choice(a,b)"),
        ("learner.climb=both,both", "expected different values"),
        ("learner.games=2", "nothing to search"),
    ],
)
def test_an_impossible_space_is_refused(word: str, said: str) -> None:
    with pytest.raises(OptionError) as refusal:
        _space.split_overrides([word], {}, {"learner.pairs": int})
    assert said in str(refusal.value)


def test_a_param_that_searches_nothing_is_refused() -> None:
    with pytest.raises(OptionError, match="learner.pairs=5: expected choice"):
        _space.split_overrides([], {"learner.pairs": 5}, {})


@pytest.mark.parametrize(
    "words, said",
    [
        ("learner.sigmaa=interval(0.1,1)", "unknown option learner.sigmaa: did you mean learner.sigma?"),
        ("learner.play_lr=interval(0.1,1)", "unknown option learner.play_lr: "),
        ("learner.share=interval(0,2)", "learner.share=2.0: expected 0 to 1"),
        ("learner.pairs=choice(1,many)", "learner.pairs=many: expected a whole number"),
        ("rules=acc,whist", "rules=whist: expected one of acc, random_dealer"),
        ("+hydra.sweeper.params.learner.stepp='interval(0,1)'", "learner.stepp: did you mean learner.step?"),
        ("learner.step=0.1,0.2 hydra.sweeper.max_trials=0", "hydra.sweeper.max_trials=0: expected 1 or more"),
        ("learner.step=0.1,0.2 hydra.sweeper.name=null", "hydra.sweeper.name=None: expected a name"),
        ("learner.step=0.1,0.2 hydra.sweeper.name=a/b", "hydra.sweeper.name=a/b: expected a name"),
        ("learner.step=0.1,0.2 hydra.sweeper.max_trails=3", "did you mean hydra.sweeper.max_trials?"),
        ("learner.step=0.1,0.2 hydra.sweeper.settings.n=3", "To append to your config use +hydra.sweeper.settings.n=3"),
        ("learner.step=0.1,0.2 hydra.sweeper.algorithm=tpee", "hydra.sweeper.algorithm=tpee:"),
        ("learner.step=0.1,0.2 hydra.sweeper.algorithm=asha", "hydra.sweeper.algorithm=asha: "),
        ("learner.step=0.1,0.2 +hydra.sweeper.settings.n=3", "hydra.sweeper.algorithm=tpe:"),
    ],
)
def test_a_wrong_search_is_refused_in_one_line(
    words: str, said: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([*QUICK.split(), *words.split(), f"hydra.sweep.dir={tmp_path}/study"]) == 2
    line = capfd.readouterr().err.strip()
    assert said in line and len(line.splitlines()) == 1
    assert not list(tmp_path.glob("study/*/"))


# the outcome of a run


def test_the_standard_error_is_that_of_the_intervals_width() -> None:
    interval = wilson(600, 1000)
    summary = {
        "deterministic": {
            "win_rate": interval.estimate,
            "ci_low": interval.low,
            "ci_high": interval.high,
            "duplicate": True,
            "points_per_hand": 12.0,
            "points_per_hand_low": 11.0,
            "points_per_hand_high": 13.0,
            "hands_won": {"win_rate": 0.5, "ci_low": 0.4, "ci_high": 0.6, "margin": 0.1},
        }
    }
    value, error = _search.measured(summary, "deterministic.win_rate")
    assert value == 0.6 and error == pytest.approx(math.sqrt(0.6 * 0.4 / 1000), rel=0.01)
    assert _search.measured(summary, "deterministic.hands_won.win_rate")[1] == pytest.approx(0.2 / 3.92, rel=0.001)
    assert _search.measured(summary, "deterministic.points_per_hand") == (12.0, pytest.approx(1 / 1.96, rel=0.001))
    assert _search.measured(summary, "deterministic.hands_won.margin") == (0.1, None)
    with pytest.raises(OptionError, match=r"deterministic.wins: expected one of .*deterministic.win_rate"):
        _search.measured(summary, "deterministic.wins")
    with pytest.raises(OptionError, match="expected one of"):
        _search.measured(summary, "deterministic.duplicate")  # true or false is no measure


def test_the_best_trial_is_first_in_either_direction() -> None:
    objectives = [0.5, None, 0.7, 0.5]
    rows = [_study.Trial(str(number), {}, objective=value) for number, value in enumerate(objectives)]
    assert [row.id for row in _search.best_first(rows, maximize=True)] == ["2", "0", "3"]
    assert [row.id for row in _search.best_first(rows, maximize=False)] == ["0", "3", "2"]


# who holds what


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def study(tmp_path: Path, said: list[str]) -> Iterator[_study.Study]:
    opened = open_study(tmp_path / "study.json", said)
    yield opened
    opened.close()


OTHER_WORKER = """
import sys
from pathlib import Path
from hydra_plugins.deepcrib_orion._options import OrionSweeperConf  # noqa: E402
from tests.support.studies import open_study
study = open_study(Path(sys.argv[1]))
with study._held():
    print(study.worker, flush=True)
    input()
"""


def test_the_locks_of_a_killed_process_are_free(study: _study.Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of the file, and that by which its trials are known to be at work."""
    command = [sys.executable, "-c", OTHER_WORKER, str(study.path)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        worker = other.stdout.readline().strip()
        with (
            monkeypatch.context() as patched,
            pytest.raises(RunError, match="cannot write .*study.json: The file lock .* could not be acquired"),
        ):
            patched.setattr(_study, "PATIENCE", 0.1)
            study.ask()
        assert not study.has_ended(worker)
        other.kill()
        other.wait()
    assert study.has_ended(worker) and study.ask() is not None


@pytest.mark.parametrize("worker", ["", "host:1", "host:1:../../x", "host:1:00000000"])
def test_a_worker_without_a_lock_has_ended(worker: str, study: _study.Study) -> None:
    assert study.has_ended(worker) and not study.has_ended(study.worker)


def test_the_trial_of_a_killed_process_is_run_again(study: _study.Study, said: list[str], tmp_path: Path) -> None:
    trial = study.ask()
    assert trial is not None
    again = open_study(tmp_path / "study.json", said)
    assert again.trials()[0].state == "reserved" and not said  # its process, this one, is alive
    changed(study, {"worker": "host:1:00000000"})
    recovered = again.ask()
    assert recovered is not None and recovered.id == trial.id and len(said) == 1
    again.release(recovered, "completed", objective=0.5, standard_error=0.1)
    study.release(trial, "completed", objective=0.9, standard_error=0.1)  # too late: the other result counts
    (row,) = again.trials()
    assert (row.state, row.objective, row.standard_error) == ("completed", 0.5, 0.1)


@pytest.mark.parametrize("algorithm", ["random", "tpe", "gridsearch", "asha", "hyperband", "evolutiones"])
def test_an_algorithm_made_anew_goes_on_as_one_that_was_there(algorithm: str, tmp_path: Path) -> None:
    """Whether one worker has all trials, or another begins for each: the same values follow."""
    items = [
        _space.Parameter("learner.x", "real", (0.0, 1.0)),
        _space.Parameter("learner.c", "choice", choices=("a", 3)),
    ]
    if algorithm in ("asha", "hyperband", "evolutiones"):
        items.append(_space.Parameter("learner.steps", "fidelity", (1.0, 9.0), whole=True))
    record = {"settings": {} if algorithm == "gridsearch" else {"seed": 1}}
    options = OrionSweeperConf(name="study", algorithm=algorithm, max_trials=25)

    def work(folder: Path, anew: bool) -> list[dict[str, Any]]:
        study = _study.Study(options, folder / "study.json", items, record, print)
        for _ in range(25):
            if (trial := study.ask()) is not None:
                study.release(trial, "completed", objective=trial.values["learner.x"], standard_error=None)
            if anew:
                study.close()
                study = _study.Study(options, folder / "study.json", items, record, print)
        study.close()
        return [trial.values for trial in study.trials()]

    found = work(tmp_path / "one", anew=False)
    assert len(found) >= 8 and work(tmp_path / "many", anew=True) == found
    if algorithm == "asha":
        assert {values["learner.steps"] for values in found} > {1}  # some were promoted


def test_no_worker_suggests_more_than_the_study_has(tmp_path: Path, said: list[str]) -> None:
    workers = [open_study(tmp_path / "study.json", said, max_trials=3) for _ in range(2)]
    trials: list[Any] = [worker.ask() for worker in (*workers, *workers)]
    assert [trial is not None for trial in trials] == [True, True, True, False]
    workers[0].release(trials[0], "broken", error="no reason")
    assert workers[0].ask() is None and not workers[0].is_over()  # it waits for the other two
    workers[1].release(trials[1], "completed", objective=0.1, standard_error=None)
    workers[0].release(trials[2], "completed", objective=0.2, standard_error=None)
    assert [worker.is_over() for worker in workers] == [True, True]
    rows = workers[1].trials()
    assert [row.state for row in rows] == ["broken", "completed", "completed"]
    assert rows[0].error == "no reason" and [row.objective for row in rows[1:]] == [0.1, 0.2]
    more = open_study(tmp_path / "study.json", said, max_trials=4)
    trial = more.ask()
    assert trial is not None and trial.id not in {row.id for row in rows}
    more.release(trial, "interrupted")
    assert workers[0].trials()[-1].state == "interrupted"


@pytest.mark.parametrize(
    "changes",
    [{"space": {"learner.x": "uniform(0, 2)"}}, {"algorithm": "tpe"}, {"objective": "other"}, {"fixed": ["seed=2"]}],
)
def test_another_study_of_the_same_name_is_refused(study: _study.Study, changes: dict[str, Any]) -> None:
    before = study.path.read_bytes()
    (part,) = changes
    with pytest.raises(OptionError, match=f"a study with another {part}, .* another hydra.sweeper.name"):
        open_study(study.path, **changes)
    assert study.path.read_bytes() == before


def test_values_of_a_choice_are_those_that_were_named() -> None:
    item = parameter("learner.climb", "choice(both,play,3)")
    assert [item.holds(value) for value in ("both", 3, "${oc.env:HOME}", 4, None, ["both"])] == [True] * 2 + [False] * 4


def test_a_result_that_cannot_be_written_is_no_lost_trial(study: _study.Study, monkeypatch: pytest.MonkeyPatch) -> None:
    trial = study.ask()
    assert trial is not None

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("deepcrib.files.os.replace", full)
        with pytest.raises(RunError, match="cannot write .*study.json: No space left on device"):
            study.release(trial, "completed", objective=0.5, standard_error=None)
    assert study.trials()[0].state == "reserved"


# a study from anybody is data, of the very search that is named


def changed(study: _study.Study, changes: dict[str, Any], event: int = -1) -> None:
    """Write this into an event of a study's file."""
    content = json.loads(study.path.read_text())
    content["events"][event].update(changes)
    study.path.write_text(json.dumps(content))


@pytest.mark.parametrize(
    "changes",
    [{"values": {"learner.x": value}} for value in ("${run_folder:/../../made}", "0.5", True, math.nan, [0.5], None)]
    + [
        {"values": {}},
        {"values": {"learner.x": 0.5, "learner.y": 1}},
        {"values": {"learner.x": 10**400}},
        {"values": 5},
        {"id": "../other"},
        {"state": "what"},
        {"worker": 5},
        {"start": "x"},
        {"more": 1},
    ]
    + [{"state": "completed"}, {"state": "completed", "objective": "x"}],
    ids=str,
)
def test_a_strangers_trial_is_one_of_the_search(study: _study.Study, changes: dict[str, Any]) -> None:
    """What is no value that can have been searched would be worked out; under another name it leads elsewhere."""
    assert study.ask() is not None
    if "values" in changes and isinstance(changes["values"], dict):
        changes = changes | {"id": _study.trial_id(changes["values"])}
    changed(study, changes, event=0)
    with pytest.raises(RunError, match=f"^{study.path}[: ].*cannot be read: it is damaged"):
        open_study(study.path)


@pytest.mark.parametrize("content", ["some text", "[]", "{}", "[" * 100_000, '{"name": "study", "objective": "score"}'])
def test_a_file_that_holds_no_study_is_left_alone(content: str, tmp_path: Path) -> None:
    path = tmp_path / "study.json"
    path.write_text(content)
    with pytest.raises((OptionError, RunError), match="study.json (holds no study|cannot be read: it is damaged)"):
        open_study(path)
    assert path.read_text() == content
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OptionError, match="pipe: expected a study of deepcrib's, or a new file"):
        open_study(tmp_path / "pipe")


# the command, with a job that takes no time


def score(options: Any, run: Any) -> Outcome:
    """A job of no work: the best is at sigma 0.3; step 0.5 fails, 0.25 measures nothing."""
    run.start()
    if options.learner.step == 0.5:
        raise RunError("step 0.5 fails")
    value = 1 - abs(options.learner.sigma - 0.3) if options.learner.step != 0.25 else math.nan
    return Outcome({"deterministic": {"win_rate": value, "ci_low": value - 0.0196, "ci_high": value + 0.0196}}, [])


@pytest.fixture
def job(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    monkeypatch.setattr("deepcrib.jobs.train.run", score)
    return [*QUICK.split(), "learner.sigma=interval(0.1,0.9)", f"hydra.sweep.dir={tmp_path}/study"]


def trials(folder: Path) -> list[dict[str, Any]]:
    table = pandas.read_csv(folder / "study" / "trials.csv")
    rows: list[dict[str, Any]] = table.astype(object).where(table.notna(), None).to_dict("records")
    return rows


def test_a_study_goes_on_to_more_trials_and_shows_the_best(
    job: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([*job, "learner.step=0.1", "hydra.sweeper.max_trials=3"]) == 0
    first = trials(tmp_path)
    assert [row["state"] for row in first] == ["completed"] * 3
    for row in first:
        saved = json.loads((Path(row["folder"]) / "summary.json").read_text())
        assert row["objective"] == saved["deterministic"]["win_rate"] == 1 - abs(row["learner.sigma"] - 0.3)
        assert row["standard_error"] == pytest.approx(0.01, rel=0.001)
    assert main([*job, "learner.step=0.1", "hydra.sweeper.max_trials=5"]) == 0
    second = trials(tmp_path)
    assert second[:3] == first and len({row["id"] for row in second}) == 5
    assert (tmp_path / "study" / "study.json").stat().st_size
    best = max(second, key=lambda row: row["objective"])
    shown = capfd.readouterr().out
    lines = [line for line in shown[shown.rindex("5 completed") :].splitlines() if "[0." in line]
    assert best["id"][:6] in lines[0]
    assert main([*job, "learner.step=0.2", "hydra.sweeper.max_trials=5"]) == 2
    assert "another fixed" in capfd.readouterr().err


def test_failed_and_unmeasured_trials_are_broken_with_the_reason(
    job: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["learner.step=0.1,0.5,0.25", "hydra.sweeper.max_trials=40", "hydra.sweeper.max_broken=4"]
    assert main([*job, *words]) == 2
    rows = trials(tmp_path)
    reasons = {0.1: None, 0.5: "step 0.5 fails", 0.25: "deterministic.win_rate is nan"}
    assert all(row["error"] == reasons[row["learner.step"]] for row in rows)
    assert all((row["state"] == "broken") == bool(row["error"]) for row in rows)
    assert len([row for row in rows if row["error"]]) == 4
    assert "4 broken trials (hydra.sweeper.max_broken=4), the last of them:" in capfd.readouterr().err


def test_a_measure_that_is_not_there_ends_the_search_and_loses_no_trial(
    job: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([*job, "hydra.sweeper.objective=greedy.win_rate"]) == 2
    assert "hydra.sweeper.objective=greedy.win_rate: expected one of deterministic.ci_high" in capfd.readouterr().err
    assert [row["state"] for row in trials(tmp_path)] == ["interrupted"]


def test_ctrl_c_gives_the_trial_back(job: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(options: Any, run: Any) -> Outcome:
        raise KeyboardInterrupt

    monkeypatch.setattr("deepcrib.jobs.train.run", interrupt)
    assert main([*job, "hydra.sweeper.max_trials=1"]) == 130
    (before,) = trials(tmp_path)
    assert before["state"] == "interrupted"
    monkeypatch.setattr("deepcrib.jobs.train.run", score)
    assert main([*job, "hydra.sweeper.max_trials=1"]) == 0
    (after,) = trials(tmp_path)
    assert after["state"] == "completed" and after["id"] == before["id"]


def test_a_full_disk_is_no_fault_of_the_trial(
    job: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def full(options: Any, run: Any) -> Outcome:
        run.start()
        raise RunError("cannot write state.pt: No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("deepcrib.jobs.train.run", full)
        assert main([*job, "hydra.sweeper.max_trials=1"]) == 2
    assert [row["state"] for row in trials(tmp_path)] == ["interrupted"]
    printed = capfd.readouterr()
    assert printed.err.splitlines()[-1] == "deepcrib: cannot write state.pt: No space left on device"
    assert "study study: 1 interrupted\n" in printed.out  # and no table of nothing
    assert main([*job, "hydra.sweeper.max_trials=1"]) == 0
    assert [row["state"] for row in trials(tmp_path)] == ["completed"]


def test_a_trial_whose_process_outlived_its_worker_is_waited_for(
    job: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    held = iter([True, True, True])

    def taken(options: Any, run: Any) -> Outcome:
        monkeypatch.setattr("deepcrib.jobs.train.run", score)
        raise RunError("process 1 of host is at work on it")

    monkeypatch.setattr(_search, "POLL", 0.0)
    monkeypatch.setattr("deepcrib.jobs.train.run", taken)
    monkeypatch.setattr("deepcrib.jobs.hydra.sweep_runs.is_held", lambda folder: next(held, False))
    assert main([*job, "hydra.sweeper.max_trials=1"]) == 0
    assert [row["state"] for row in trials(tmp_path)] == ["completed"]
    assert capfd.readouterr().err.count("waits for the end of that process") == 1


def test_a_search_ends_when_nothing_more_is_suggested(
    job: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Asha and hyperband do not say that they are done with a space of a few values."""
    ask = _study.Study.ask
    monkeypatch.setattr(_search, "POLL", 0.0)
    monkeypatch.setattr(_study.Study, "ask", lambda study: None if study.trials() else ask(study))
    assert main([*job, "hydra.sweeper.max_trials=9"]) == 0
    assert [row["state"] for row in trials(tmp_path)] == ["completed"]
    assert "hydra.sweeper.algorithm=tpe has no further trial to suggest" in capfd.readouterr().err


def test_a_grid_has_no_seed_and_is_gone_through(job: list[str], tmp_path: Path) -> None:
    words = ["hydra.sweeper.algorithm=gridsearch", "+hydra.sweeper.settings.n_values=3", "hydra.sweeper.max_trials=9"]
    assert main([*job, "learner.step=0.1", *words]) == 0
    assert sorted(row["learner.sigma"] for row in trials(tmp_path)) == pytest.approx([0.1, 0.5, 0.9])


# several processes, one of them killed

WORKERS = """
import json, os, signal, sys, time
from pathlib import Path
import deepcrib.jobs.train as train
from deepcrib.cli import main
from deepcrib.jobs import Outcome
from deepcrib.jobs.hydra.schema import parse
from tests.support.compose_faster import compose_faster

compose_faster()
folder, *words = sys.argv[1:]

def start(mark, seconds):
    def run(options, run):
        mark.touch()
        time.sleep(seconds)
        run.start()
        return Outcome({"deterministic": {"win_rate": options.learner.sigma}}, [])

    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        train.run = run
        os._exit(main(words))
    return pid

mark = Path(folder) / "begun"
killed = start(mark, 60)
while not mark.exists() and os.waitpid(killed, os.WNOHANG) == (0, 0):
    time.sleep(0.01)
os.kill(killed, signal.SIGKILL)
ends = [os.waitpid(killed, 0)[1]]
for worker in [start(mark, 0.1) for _ in range(2)]:
    ends.append(os.waitpid(worker, 0)[1])
print(json.dumps([killed, [os.waitstatus_to_exitcode(end) for end in ends]]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the workers are copies of one process, which imports once")
def test_two_workers_and_a_killed_one_leave_an_exact_account(job: list[str], tmp_path: Path) -> None:
    command = [sys.executable, "-c", WORKERS, str(tmp_path), *job, "hydra.sweeper.max_trials=7"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, timeout=250, check=True)
    killed, codes = json.loads(done.stdout)
    assert codes == [-signal.SIGKILL, 0, 0]
    rows = trials(tmp_path)
    assert [row["state"] for row in rows] == ["completed"] * 7
    assert len({row["id"] for row in rows}) == 7
    assert all(row["objective"] == row["learner.sigma"] for row in rows)
    assert str(killed) not in {row["worker"].split(":")[1] for row in rows}
