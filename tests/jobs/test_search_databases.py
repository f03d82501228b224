"""Databases of searches are data: a stranger's runs nothing, and only trials of the very search are read."""

import math
import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy._core import multiarray

from deepcrib.errors import OptionError, RunError

pytest.importorskip("orion")
pytestmark = pytest.mark.filterwarnings("ignore")

from orion.client import build_experiment  # noqa: E402
from orion.core.utils.flatten import flatten  # noqa: E402

from hydra_plugins.deepcrib_orion import _study  # noqa: E402
from hydra_plugins.deepcrib_orion._pickles import read_pickle  # noqa: E402
from tests.support.studies import open_study  # noqa: E402


@pytest.fixture
def study(tmp_path: Path) -> Iterator[_study.Study]:
    opened = open_study(tmp_path / "orion.pkl")
    yield opened
    opened.storage.close()


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
