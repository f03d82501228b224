"""A `state.pt` with a valid checksum and made-up contents: one line, or a training that goes on with finite numbers."""

from __future__ import annotations

import copy
import math
import random
import subprocess
import sys
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
import torch

from deepcrib.cli import main
from deepcrib.errors import UserError
from deepcrib.files.weights import CheckpointError
from deepcrib.jobs import JOBS
from deepcrib.jobs.hydra.help import default_config
from deepcrib.jobs.hydra.resume import checked_options
from deepcrib.jobs.hydra.schema import register_schema
from deepcrib.learners.registry import make_learner
from deepcrib.networks.checkpoints import STATE_FORMAT, load_state, save_state
from deepcrib.training.fit import restore
from deepcrib.training.learner import Learner, Setting

ROOT = Path(__file__).resolve().parents[2]
SMALL = "experiment=smoke pretraining.enabled=false learner.iterations=3 learner.episodes=4"
RUNS = {
    "replay": SMALL,
    "pool": f"{SMALL} learner.opponents=[past] learner.past_every=1 algorithm=sarsa learner.target_every=2",
    "pretraining": "experiment=smoke pretraining.enabled=true pretraining.epochs=1 pretraining.batch_size=90000",
    "lessons": f"{SMALL} pretraining.teacher=greedy pretraining.teacher_episodes=4 pretraining.epochs=3",
    "nfsp": "learner=nfsp learner.iterations=3 learner.hands=8 learner.recent=99 learner.reservoir=99 play_network=mlp",
    "mirror": "learner=mirror learner.iterations=3 learner.hands=8 play_network=mlp",
    "weighted": "learner=weighted learner.games=30 learner.checkpoint_every=10 learner.update_records=true",
    "td": "learner=td learner.hands=30 learner.checkpoint_every=10",
    "partida": "learner=partida learner.checkpoint_every=1",
    "evolution": "learner=evolution learner.checkpoint_every=1",
    "hill_climb": "learner=hill_climb learner.games=30 learner.checkpoint_every=10",
}
PICKED = 60
"""Changes of a learner's state that are tried here; the slow test tries all."""


@cache
def options_of(name: str) -> Any:
    words = [*RUNS[name].split(), "evaluation.opponents=[]", "evaluation.every=0", "threads=1"]
    job = JOBS["train"]
    register_schema(job)
    return checked_options(default_config(job, *words), [])


def new_learner(name: str) -> Learner:
    options = copy.deepcopy(options_of(name))
    setting = Setting(options.seed, options.evaluation, options.rules.name, options.device)
    return make_learner(options.learner, setting, vars(options))


def stop(stage: Learner, steps: int) -> None:
    """Interrupt it."""
    stage.stopping = True


def state_of(learner: Learner) -> dict[str, Any]:
    return {"learner": type(learner).__name__, "state": learner.state_dict(), "steps": learner.steps_done}


def saved(name: str, folder: Path) -> dict[str, Any]:
    """The state of a learner after a step, or within its pretraining, as it is read back."""
    learner = new_learner(name)
    for stage in learner.stages:
        stage.tick = partial(stop, stage)
        stage.step()
        assert 0 < stage.steps_done < stage.num_steps
    if not learner.stages:
        learner.step()
    found = state_of(learner) | {"stages": [state_of(stage) for stage in learner.stages]}
    found |= {"seconds": 1.0, "metrics": {"loss": 0.5}, "seed": learner.setting.seed}
    save_state(folder / "state.pt", found)
    return load_state(folder / "state.pt")


def leaves(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of everything in a nested state, containers too."""
    if place:
        yield place
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*place, key))
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from leaves(item, (*place, number))


def others(value: Any) -> Iterator[Any]:
    """What might stand in the place of a value, of whatever type it is."""
    yield from (None, "x", [], {}, -1, 1e308, math.nan, True, 2**62)
    yield from (torch.zeros(0), torch.zeros(3), torch.tensor(True))
    if isinstance(value, torch.Tensor):
        flat = value.reshape(-1)
        yield from (flat[:0], flat, value[None], value.double(), value.float() * math.nan, -value.float() - 5)
        yield from (torch.full_like(value, 77), torch.full_like(value, 127), flat[:1].expand(10**6))
    if isinstance(value, dict) and value:
        yield {key: item for key, item in value.items() if key != next(iter(value))}
        yield value | {"more": 1}
    if isinstance(value, list | tuple) and value:
        yield from (list(value) * 2, list(value)[:-1])


def changed(state: dict[str, Any], place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    new = copy.deepcopy(state)
    at: Any = new
    for key in place[:-1]:
        if isinstance(at[key], tuple):
            at[key] = list(at[key])
        at = at[key]
    at[place[-1]] = value
    return new


def try_on(name: str, state: dict[str, Any], file: Path) -> None:
    """Take a state over and go on: refused in one line that names the file, or numbers stay finite."""
    torch.save({"format": STATE_FORMAT, "state": state}, file)
    learner = new_learner(name)
    try:
        restore(learner, file)
        for stage in learner.stages:
            if stage.steps_done < stage.num_steps:
                stage.step()
        if learner.steps_done < learner.num_steps:
            learner.step()
    except UserError as error:
        assert "\n" not in str(error) and len(str(error)) < 600
        return
    states = [one.state_dict() for one in (learner, *learner.stages)]
    tensors = [value for value in flat_tensors(states) if value.is_floating_point()]
    assert all(bool(value.isfinite().all()) for value in tensors)


def flat_tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from flat_tensors(item)
    elif hasattr(value, "dtype"):
        yield torch.as_tensor(value)


def changes(name: str, folder: Path) -> list[tuple[tuple[Any, ...], Any]]:
    state = saved(name, folder)
    found = []
    for place in leaves(state):
        at: Any = state
        for key in place:
            at = at[key]
        found += [(place, value) for value in others(at)]
    return found


@pytest.mark.parametrize("name", RUNS)
def test_made_up_contents_end_in_one_line(name: str, tmp_path: Path) -> None:
    every = changes(name, tmp_path)
    state = load_state(tmp_path / "state.pt")
    for place, value in random.Random(name).sample(every, min(PICKED, len(every))):
        with_place(name, state, place, value, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(900)  # pretraining alone takes five minutes beside other work
@pytest.mark.parametrize("name", RUNS)
def test_all_made_up_contents_end_in_one_line(name: str, tmp_path: Path) -> None:
    every = changes(name, tmp_path)
    state = load_state(tmp_path / "state.pt")
    for place, value in every:
        with_place(name, state, place, value, tmp_path)


def with_place(name: str, state: dict[str, Any], place: tuple[Any, ...], value: Any, folder: Path) -> None:
    try:
        try_on(name, changed(state, place, value), folder / "made_up.pt")
    except Exception as error:
        shown = f"{type(value).__name__} {tuple(value.shape) if isinstance(value, torch.Tensor) else value!r:.40}"
        pytest.fail(f"{name} {place} = {shown}: {type(error).__name__}: {error}")


@pytest.mark.parametrize(
    "made",
    [
        lambda: torch.zeros(1).expand(10**12),
        lambda: torch.zeros(4, 4).to_sparse(),
        lambda: torch.zeros(10**9, device="meta"),
        lambda: torch.quantize_per_tensor(torch.zeros(4), 0.1, 0, torch.qint8),
        lambda: torch.zeros(10)[::2].as_strided((10**6,), (0,)),
    ],
    ids=["expanded", "sparse", "meta", "quantised", "strided"],
)
def test_tensors_that_are_larger_than_their_bytes(made: Any, tmp_path: Path) -> None:
    state = {"learner": "ReplayLearner", "state": {"play": made()}, "steps": 0, "seconds": 0.0, "metrics": {}}
    torch.save({"format": STATE_FORMAT, "state": state}, tmp_path / "state.pt")
    assert (tmp_path / "state.pt").stat().st_size < 4000
    with pytest.raises(CheckpointError, match="state.pt is damaged or not a training state of deepcrib"):
        load_state(tmp_path / "state.pt")


def test_nothing_in_the_run_folder_changes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [*SMALL.split(), "evaluation.opponents=[]", "evaluation.every=0", "threads=1"]
    assert main(["train", *words, f"hydra.run.dir={tmp_path}/run"]) == 0
    state = load_state(tmp_path / "run" / "state.pt")
    state["state"]["play"]["optimizer"]["state"][0]["exp_avg"] = torch.full((3,), math.nan)
    torch.save({"format": STATE_FORMAT, "state": state}, tmp_path / "run" / "state.pt")
    before = {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}
    capsys.readouterr()
    assert main(["train", f"resume={tmp_path}/run", "learner.iterations=5"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "state.pt does not fit the options of this run: its optimiser has another exp_avg of parameter 0" in line
    assert {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()} == before


def test_a_tensor_in_the_place_of_a_mapping_ends_in_one_line(tmp_path: Path) -> None:
    """PyTorch says more about it than the error."""
    save_state(tmp_path / "state.pt", {"state": torch.ones(1)})
    code = "from pathlib import Path; from deepcrib.training.run_files import fitting_state\n"
    code += f"with fitting_state(Path({str(tmp_path / 'state.pt')!r})) as saved: saved['state']['net']"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert "UserWarning" not in done.stderr and "state.pt does not fit the options" in done.stderr
