"""Searches: what is searched and refused, exact accounts of trials by several workers, and what killed ones leave."""

import json
import math
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy._core import multiarray

from deepcrib.cli import main
from deepcrib.errors import OptionError, RunError
from deepcrib.intervals import wilson
from deepcrib.jobs import Outcome

pytest.importorskip("orion")
pytestmark = pytest.mark.filterwarnings("ignore")

from orion.client import build_experiment  # noqa: E402
from orion.core.io.database import DatabaseError, DatabaseTimeout  # noqa: E402
from orion.core.utils.flatten import flatten  # noqa: E402
from pymongo.errors import AutoReconnect  # noqa: E402

from hydra_plugins.deepcrib_orion import _search, _space, _storage, _study, _trials  # noqa: E402
from hydra_plugins.deepcrib_orion._options import OrionSweeperConf  # noqa: E402
from hydra_plugins.deepcrib_orion._pickles import read_pickle  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def dead() -> str:
    """The name of a worker on this machine whose process has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    host, _, place, token = _storage.new_worker().split(":")
    return f"{host}:{process.pid}:{place}:{token}"


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
        "learner.iterations": "fidelity(low=1, high=9, base=3)",
    }
    searched, fixed = _space.split_overrides(words, params, kinds)
    assert {item.key: item.prior for item in searched} == {
        "algorithm": "choices(['sarsa', 'q_learning'])",
        "learner.batch_size": "uniform(16, 64, discrete=True)",
        "learner.buffer_size": "choices([10000, 45000])",
        "learner.iterations": "fidelity(1, 9, 3)",
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
    item = _space.parameter(key, sweep, {})
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
        ("learner.step=0.1,0.2 hydra.sweeper.name=null", "option hydra.sweeper.name is missing"),
        ("learner.step=0.1,0.2 hydra.sweeper.name=a/b", "hydra.sweeper.name=a/b: expected letters"),
        ("learner.step=0.1,0.2 hydra.sweeper.max_trails=3", "did you mean hydra.sweeper.max_trials?"),
        ("learner.step=0.1,0.2 hydra.sweeper.settings.n=3", "To append to your config use +hydra.sweeper.settings.n=3"),
        ("learner.step=0.1,0.2 hydra.sweeper.algorithm=tpee", "hydra.sweeper.algorithm=tpee:"),
        ("learner.step=0.1,0.2 hydra.sweeper.algorithm=asha", "asha: expected an option with fidelity(low,high,base)"),
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
    value, error = _trials.measured(summary, "deterministic.win_rate")
    assert value == 0.6 and error == pytest.approx(math.sqrt(0.6 * 0.4 / 1000), rel=0.01)
    assert _trials.measured(summary, "deterministic.hands_won.win_rate")[1] == pytest.approx(0.2 / 3.92, rel=0.001)
    assert _trials.measured(summary, "deterministic.points_per_hand") == (12.0, pytest.approx(1 / 1.96, rel=0.001))
    assert _trials.measured(summary, "deterministic.hands_won.margin") == (0.1, None)
    with pytest.raises(OptionError, match=r"deterministic.wins: expected one of .*deterministic.win_rate"):
        _trials.measured(summary, "deterministic.wins")
    with pytest.raises(OptionError, match="expected one of"):
        _trials.measured(summary, "deterministic.duplicate")  # true or false is no measure


def test_the_best_trial_is_first_in_either_direction() -> None:
    def row(number: int, state: str, objective: float | None) -> _trials.TrialRow:
        return _trials.TrialRow(number, f"{number}", state, {"learner.x": number}, objective, None, 1.0, "", "", "")

    rows = [row(0, "completed", 0.5), row(1, "broken", None), row(2, "completed", 0.7), row(3, "completed", 0.5)]
    assert [item.number for item in _trials.best_first(rows, maximize=True)] == [2, 0, 3]
    assert [item.number for item in _trials.best_first(rows, maximize=False)] == [0, 3, 2]
    assert _trials.states_text(rows) == "3 completed, 1 broken"
    assert _trials.trials_csv(rows).splitlines()[0] == (
        "number,id,state,learner.x,objective,standard_error,seconds,worker,folder,error"
    )


# who holds what


def test_a_process_is_known_to_have_ended_only_on_its_own_machine(dead: str) -> None:
    assert not _storage.has_ended(_storage.new_worker())
    assert _storage.has_ended(dead)
    host, pid, place, token = dead.split(":")
    assert not _storage.has_ended(f"{host}:{pid}:00000000:{token}")  # another machine or container of that name
    assert not _storage.has_ended(None)


def open_study(
    database: Path, said: list[str] | None = None, max_trials: int = 4, heartbeat: float = 10, **changes: Any
) -> _study.Study:
    item = _space.Parameter("learner.x", "real", (0.0, 1.0))
    known = {"job": "train", "space": {item.key: item.prior}, "algorithm": "random", "settings": {"seed": 1}}
    record = known | {"objective": "score", "direction": "maximize", "fixed": []} | changes
    searched = {"algorithm": str(record["algorithm"]), "objective": "score", "heartbeat": heartbeat}
    options = OrionSweeperConf(name="study", max_trials=max_trials, max_broken=3, **searched)
    return _study.Study(options, str(database), [item], record, ([] if said is None else said).append)


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def study(tmp_path: Path, said: list[str]) -> Iterator[_study.Study]:
    opened = open_study(tmp_path / "orion.pkl", said)
    yield opened
    opened.storage.close()


def lock(study: _study.Study, **fields: Any) -> None:
    study.storage._db.write("algo", fields, {"experiment": study.experiment.id})


def test_the_lock_of_a_killed_process_is_released(study: _study.Study, said: list[str], dead: str) -> None:
    lock(study, locked=1, worker=dead)
    begin = time.monotonic()
    assert study.ask() is not None
    assert time.monotonic() - begin < 5
    assert len(said) == 1 and "lock is released" in said[0] and dead.split(":")[1] in said[0]


def test_the_lock_of_a_live_process_is_waited_for(tmp_path: Path, said: list[str]) -> None:
    workers = [open_study(tmp_path / "orion.pkl", said, heartbeat=0.05) for _ in range(2)]
    inside, most = 0, 0

    def hold(study: _study.Study) -> None:
        nonlocal inside, most
        for _ in range(3):
            with study.storage.acquire_algorithm_lock(uid=study.experiment.id):
                inside += 1
                most = max(most, inside)
                time.sleep(0.4)  # more than the patience of five heartbeats
                inside -= 1

    threads = [threading.Thread(target=hold, args=(study,)) for study in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1 and not said


def test_a_lock_of_another_machine_is_released_once_it_stands_still(tmp_path: Path, said: list[str]) -> None:
    study = open_study(tmp_path / "orion.pkl", said, heartbeat=0.1)
    worker, uid = "elsewhere:1:2:3", study.experiment.id
    lock(study, locked=1, worker=worker)
    for _ in range(10):  # one second of signs of life, twice the patience
        study.storage.change("algo", {"worker": worker}, {})
        study.storage.release_stale_lock(uid)
        time.sleep(0.1)
    assert not said
    time.sleep(0.6)
    study.storage.release_stale_lock(uid)
    assert len(said) == 1 and "elsewhere:1" in said[0]


def test_who_lost_the_lock_can_neither_release_it_nor_write_its_state(study: _study.Study) -> None:
    uid = study.experiment.id
    with study.storage.acquire_algorithm_lock(uid=uid) as locked:
        locked.set_state({"of": "the former holder"})
        lock(study, worker="elsewhere:1:2:3")
    (document,) = study.storage._db.read("algo", {"experiment": uid})
    assert document["locked"] == 1 and document["worker"] == "elsewhere:1:2:3" and document["state"] is None


def test_the_trial_of_a_killed_process_is_run_again(
    study: _study.Study, said: list[str], dead: str, tmp_path: Path
) -> None:
    trial = study.ask()
    assert trial is not None
    again = open_study(tmp_path / "orion.pkl", said)
    assert again.trials()[0].status == "reserved" and not said  # its process, this one, is alive
    study.storage._db.write("trials", {"worker": dead}, {"id": trial.id})
    recovered = again.ask()
    assert recovered is not None and recovered.id == trial.id and len(said) == 1
    again.complete(recovered, 0.5, 0.1)
    study.complete(trial, 0.9, 0.1)  # too late: the other result counts
    (row,) = again.rows(Path())
    assert (row.state, row.objective, row.standard_error) == ("completed", 0.5, 0.1)


def test_results_whose_worker_was_killed_before_the_algorithm_heard_of_them_are_learnt(study: _study.Study) -> None:
    trial = study.ask()
    assert trial is not None
    study.storage.release(trial, "completed", [{"name": "score", "type": "objective", "value": -1.0}])
    second = study.ask()
    assert second is not None and second.id != trial.id
    with study.experiment.acquire_algorithm_lock() as algorithm:
        assert algorithm.has_observed(study.storage.get_trial(trial))


def test_no_worker_suggests_more_than_the_study_has(tmp_path: Path, said: list[str]) -> None:
    workers = [open_study(tmp_path / "orion.pkl", said, max_trials=3) for _ in range(2)]
    trials = [worker.ask() for worker in (*workers, *workers)]
    assert [trial is not None for trial in trials] == [True, True, True, False]
    workers[0].fail(trials[0], "no reason")
    assert workers[0].ask() is None and not workers[0].is_over()  # it waits for the other two
    workers[1].complete(trials[1], 0.1, None)
    workers[0].complete(trials[2], 0.2, None)
    assert [worker.is_over() for worker in workers] == [True, True]
    rows = workers[1].rows(Path())
    assert [row.state for row in rows] == ["broken", "completed", "completed"]
    assert rows[0].error == "no reason" and [row.objective for row in rows] == [None, 0.1, 0.2]
    more = open_study(tmp_path / "orion.pkl", said, max_trials=4)
    trial = more.ask()
    assert trial is not None and trial.id not in {row.id for row in rows}
    more.give_back(trial)
    assert workers[0].trials()[-1].status == "interrupted"


@pytest.mark.parametrize(
    "changes",
    [{"space": {"learner.x": "uniform(0, 2)"}}, {"algorithm": "tpe"}, {"objective": "other"}, {"fixed": ["seed=2"]}],
)
def test_another_study_of_the_same_name_is_refused(study: _study.Study, changes: dict[str, Any]) -> None:
    path = Path(study.database)
    before = path.read_bytes()
    (part,) = changes
    with pytest.raises(OptionError, match=f"a study with another {part}, .* another hydra.sweeper.name"):
        open_study(path, **changes)
    names = {item["version"] for item in study.storage.fetch_experiments({"name": "study"})}
    assert names == {1} and len(path.read_bytes()) == len(before)


@pytest.mark.parametrize("content", [b"some text", b"\x80\x05K\x01.", b"cos\nsystem\n(S'touch harm'\ntR."])
def test_a_file_that_orion_did_not_write_is_left_alone(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "data.pkl"
    path.write_bytes(content)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OptionError, match="pipe: expected a database that Orion wrote, or a new file"):
        open_study(tmp_path / "pipe")
    (tmp_path / "pipe").unlink()
    with pytest.raises(OptionError, match="data.pkl: expected a database that Orion wrote, or a new file"):
        open_study(path)
    assert path.read_bytes() == content and [file.name for file in tmp_path.iterdir()] == ["data.pkl"]


class Harm:
    """Runs a command when it is read."""

    def __init__(self, path: Path) -> None:
        self.command = f"touch {path}"

    def __reduce__(self) -> Any:
        return os.system, (self.command,)


@pytest.mark.parametrize("place", ["database", "algorithm"])
def test_a_strangers_database_runs_nothing(study: _study.Study, place: str, tmp_path: Path) -> None:
    """By itself, or as the state of the algorithm, a pickle within the pickle."""
    path = Path(study.database)
    held, harm = pickle.loads(path.read_bytes()), Harm(tmp_path / "harm")
    if place == "algorithm":
        held.write("algo", {"state": pickle.dumps({"rng": harm})}, {"locked": 0})
    else:
        held._db["harm"] = harm
    path.write_bytes(pickle.dumps(held))
    line = f"{path} cannot be read: it names (posix|nt).system, expected data of Orion's"
    with pytest.raises(RunError, match=line), open_study(path).failures_in_one_line():
        study._suggest()
    assert not (tmp_path / "harm").exists()


def changed(study: _study.Study, collection: str, changes: dict[str, Any]) -> Path:
    """The file of a study in which a stranger has written this."""
    path = Path(study.database)
    held = pickle.loads(path.read_bytes())
    (document,) = held._db[collection]._documents
    document._data = {name: value for name, value in document._data.items() if name not in changes}
    document._data.update(flatten(changes))
    path.write_bytes(pickle.dumps(held))
    return path


COMMAND = "np.lib._npyio_impl.os.system('touch harm')"
ADAPTER = {"of_type": "DimensionPriorChange", "name": "x", "old_prior": COMMAND, "new_prior": "uniform(0, 1)"}
OTHER = {"type": "legacy", "database": {"type": "pickleddb", "host": "other.pkl"}}


@pytest.mark.parametrize(
    "part, value",
    [
        ("space", {"learner/x": f"uniform(0, {COMMAND})"}),
        ("space", {"learner/x": "uniform(0, 1)", "learner/y": "uniform(0, 1)"}),
        ("refers", {"parent_id": None, "root_id": 1, "adapter": [ADAPTER]}),
        ("refers", {"parent_id": 2, "root_id": 2, "adapter": []}),
        ("knowledge_base", {"KnowledgeBase": {"storage": OTHER}}),
        ("algorithm", {"tpe": {"seed": 1}}),
        ("producer", {"strategy": "x"}),
        ("metadata.user_script", "x"),
    ],
)
def test_a_strangers_study_is_not_evaluated(
    study: _study.Study, part: str, value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Orion evaluates the priors of an experiment, and opens the database that it may name."""
    monkeypatch.chdir(tmp_path)
    Path("other.pkl").write_bytes(pickle.dumps(Harm(tmp_path / "harm")))
    path = changed(study, "experiments", {part: value})
    with pytest.raises(
        RunError, match=f"{path} cannot be read: .*with a {part.partition('.')[0]} that deepcrib does not"
    ):
        open_study(path)
    assert not Path("harm").exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"params": [{"name": "learner/x", "type": "real", "value": value}]}
        for value in ("${run_folder:/../../made}", "0.5", True, math.nan, [0.5], None)
    ]
    + [{"params": []}, {"params": 5}, {"id": "other"}, {"results": 5}, {"worker": 5}, {"status": "what"}]
    + [{"results": [{"name": "score", "type": "objective", "value": "x"}]}, {"start_time": 1, "end_time": "x"}],
    ids=str,
)
def test_a_strangers_trial_is_one_of_the_search(study: _study.Study, changes: dict[str, Any]) -> None:
    """What is no value that can have been searched would be worked out; under another name it is waited for forever."""
    trial = study.ask()
    assert trial is not None
    study.give_back(trial)
    path = changed(study, "trials", changes)
    with pytest.raises(RunError, match=f"^{path}[: ].*(trial .* has|cannot be read: it is damaged)"):
        open_study(path)


@pytest.mark.parametrize("state", [5, {"a": 1}], ids=str)
def test_a_strangers_algorithm_ends_in_one_line(study: _study.Study, state: Any) -> None:
    path = changed(study, "algo", {"state": pickle.dumps(state)})
    with pytest.raises(RunError, match=f"^{path} cannot be read: it is damaged"):
        open_study(path).ask()


def test_a_strangers_lock_is_released(study: _study.Study, dead: str) -> None:
    assert open_study(changed(study, "algo", {"locked": 7, "worker": dead})).ask() is not None


def test_values_of_a_choice_are_those_that_were_named() -> None:
    item = _space.parameter("learner.climb", "choice(both,play,3)", {})
    assert [item.holds(value) for value in ("both", 3, "${oc.env:HOME}", 4, None, ["both"])] == [True] * 2 + [False] * 4


@pytest.mark.parametrize("algorithm", ["random", "tpe", "gridsearch", "asha", "hyperband", "evolutiones", "pbt"])
def test_databases_of_orions_own_algorithms_are_data(algorithm: str, tmp_path: Path) -> None:
    space = {"lr": "loguniform(1e-5, 1.0)", "n": "uniform(1, 10, discrete=True)", "c": "choices(['a', 3])"}
    space |= {"steps": "fidelity(1, 9, base=3)"} if algorithm in ("asha", "hyperband", "evolutiones", "pbt") else {}
    settings = {} if algorithm == "gridsearch" else {"seed": 1}
    settings |= {"population_size": 4, "generations": 2} if algorithm == "pbt" else {}
    database = {"type": "pickleddb", "host": str(tmp_path / "orion.pkl")}
    client = build_experiment(
        "study",
        space=space,
        algorithm={algorithm: settings},
        storage={"type": "legacy", "database": database},
        max_trials=9,
    )
    for value in range(3):
        client.observe(client.suggest(), [{"name": "loss", "type": "objective", "value": float(value)}])
    held = read_pickle((tmp_path / "orion.pkl").read_bytes())
    assert len(held.read("trials")) >= 3
    for found in held.read("algo"):
        if state := found["state"]:
            assert pickle.dumps(read_pickle(pickle.dumps(read_pickle(state)))) == pickle.dumps(pickle.loads(state))


class Calls:
    """A pickle of it calls something with arguments, and may set a state behind it."""

    def __init__(self, *what: Any) -> None:
        self.what = what

    def __reduce__(self) -> Any:
        return self.what


RECORD = (3, "|", None, ("a",), {"a": (np.dtype("O"), 0)}, 8, 1, 0)
"""The state of a type that says that it is eight bytes without pointers, and has one in them."""


@pytest.mark.parametrize(
    "held",
    [
        Calls(np.ndarray, ((1,), np.dtype("O"), b"AAAAAAAA")),
        Calls(np.ndarray, ((1,), "O", b"AAAAAAAA")),
        Calls(multiarray.scalar, (Calls(np.dtype, ("V8", False, True), RECORD), b"AAAAAAAA")),
        Calls(multiarray.scalar, (Calls(np.dtype, ("i8", False, True), RECORD), b"AAAAAAAAA")),
        Calls(
            multiarray._reconstruct,
            (np.ndarray, (0,), b"b"),
            (1, (1,), Calls(np.dtype, ("V8", False, True), RECORD), False, b"AAAAAAAA"),
        ),
        Calls(multiarray._reconstruct, (np.ndarray, (0,), b"b"), (1, (10**6,), np.dtype("i8"), False, b"AAAAAAAA")),
        np.array([object], dtype=object),
        np.zeros(1, dtype=[("a", "i4")]),
    ],
    ids=["object", "object by name", "record", "bytes", "array of records", "short", "objects", "fields"],
)
def test_arrays_of_a_strangers_database_are_numbers_and_text(held: Any) -> None:
    """NumPy reads an address in memory from a pickle's bytes where the pickle says that there is one."""
    with pytest.raises(pickle.UnpicklingError):
        read_pickle(pickle.dumps({"state": held}))


@pytest.mark.parametrize("kept", [np.arange(6.0).reshape(2, 3).T, np.array(["a", "bc"]), np.float32(0.5), np.bool_(1)])
def test_arrays_of_numbers_and_text_are_read_as_they_were(kept: Any) -> None:
    found = read_pickle(pickle.dumps(kept))
    assert found.dtype == kept.dtype and (found == kept).all()
    assert pickle.loads(pickle.dumps(found)).tobytes() == kept.tobytes()


def test_a_misspelt_address_of_a_database_makes_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OptionError, match="mongo://host/x: expected a file, or mongodb://"):
        _study.database_config("mongo://host/x")
    assert not list(tmp_path.iterdir())


def test_mongodb_is_given_its_address() -> None:
    address = "mongodb://me:secret@host:27017/orion"
    assert _study.database_config(address) == {"type": "mongodb", "host": address}
    assert "secret" not in _study._without_password(address)


def unreachable() -> DatabaseError:
    """As Orion raises it."""
    error = DatabaseError("Connection Failure: database not found on specified uri")
    error.__cause__ = AutoReconnect("host:27017: refused (configured timeouts: ...), Timeout: 5.0s, Topology: <long>")
    return error


@pytest.mark.parametrize(
    "error, said",
    [
        (unreachable(), "hydra.sweeper.database=mongodb://...@host/x: host:27017: refused"),
        (AutoReconnect("host:27017: closed (configured timeouts: ...)"), "...@host/x: host:27017: closed"),
        (DatabaseTimeout(), "...@host/x: no answer in time"),
        (
            OSError(28, "No space left on device", "orion.pkl.tmp"),
            "cannot write orion.pkl.tmp: No space left on device",
        ),
    ],
)
def test_what_a_database_refuses_is_told_in_one_line(error: Exception, said: str) -> None:
    line = _study.failure_line("mongodb://me:secret@host/x", error)
    assert line.endswith(said) and "secret" not in line


def test_a_result_that_the_database_did_not_take_is_no_lost_trial(
    study: _study.Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = study.ask()
    with monkeypatch.context() as patched:
        patched.setattr(study.storage, "change", lambda *arguments: (_ for _ in ()).throw(unreachable()))
        with pytest.raises(DatabaseError):
            study.complete(trial, 0.5, None)
    assert study.trials()[0].status == "reserved" and not study.is_idle()


@pytest.mark.parametrize("error", [DatabaseTimeout(), AutoReconnect("closed"), OSError(28, "No space left on device")])
def test_a_sign_of_life_that_fails_is_not_the_last(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    signs: list[int] = []

    def sign(*arguments: Any) -> None:
        signs.append(1)
        raise error

    study = open_study(tmp_path / "orion.pkl", heartbeat=0.01)
    monkeypatch.setattr(study.storage._db, "write", sign)
    end = time.monotonic() + 10
    while len(signs) < 3 and time.monotonic() < end:
        time.sleep(0.01)
    study.storage.close()
    assert len(signs) >= 3


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
    rows: list[dict[str, Any]] = json.loads((folder / "study" / "trials.json").read_text())
    return rows


def test_a_study_goes_on_to_more_trials_and_shows_the_best(
    job: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([*job, "learner.step=0.1", "hydra.sweeper.max_trials=3"]) == 0
    first = trials(tmp_path)
    assert [row["state"] for row in first] == ["completed"] * 3
    for row in first:
        saved = json.loads((Path(row["folder"]) / "summary.json").read_text())
        assert row["objective"] == saved["deterministic"]["win_rate"] == 1 - abs(row["values"]["learner.sigma"] - 0.3)
        assert row["standard_error"] == pytest.approx(0.01, rel=0.001)
    assert main([*job, "learner.step=0.1", "hydra.sweeper.max_trials=5"]) == 0
    second = trials(tmp_path)
    assert second[:3] == first and len({row["id"] for row in second}) == 5
    for name in ("trials.csv", "study.json", "regret.html", "parallel_coordinates.html", "importance.html"):
        assert (tmp_path / "study" / name).stat().st_size
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
    reasons = {0.1: "", 0.5: "step 0.5 fails", 0.25: "deterministic.win_rate is nan"}
    assert all(row["error"] == reasons[row["values"]["learner.step"]] for row in rows)
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
    assert sorted(row["values"]["learner.sigma"] for row in trials(tmp_path)) == pytest.approx([0.1, 0.5, 0.9])


# several processes, one of them killed

WORKERS = """
import json, os, signal, sys, time
from pathlib import Path
import deepcrib.jobs.train as train
from deepcrib.cli import main
from deepcrib.jobs import Outcome
from hydra_plugins.deepcrib_orion import _search
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

_search.write_figures = lambda folder, study: []  # they take longer than all else
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
    assert all(row["objective"] == row["values"]["learner.sigma"] for row in rows)
    assert str(killed) not in {row["worker"].split(":")[1] for row in rows}
