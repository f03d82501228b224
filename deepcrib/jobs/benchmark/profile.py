"""What `deepcrib benchmark profile` measures: where the time of a replay iteration goes, part by part.

For as long as it measures, named functions are replaced by ones that look at the clock when they are entered and left
(`Parts`). Every moment belongs to the innermost of them that is running, so the parts add up to the whole; when nothing
is measured there is nothing in their way.
"""

from __future__ import annotations

import copy
import functools
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from hydra import compose
from omegaconf import OmegaConf
from rich.table import Table

from deepcrib.agents import q_network
from deepcrib.agents.q_network import QFunction
from deepcrib.analysis.tables import plain_table
from deepcrib.errors import OptionError
from deepcrib.evaluation.evaluate import evaluate
from deepcrib.files import runs
from deepcrib.game.engine import Games
from deepcrib.jobs import JOBS
from deepcrib.jobs.hydra.schema import choices, register_schema
from deepcrib.jobs.train.config import Config as TrainConfig
from deepcrib.learners.replay import learner as replay
from deepcrib.learners.replay import learning
from deepcrib.learners.replay.learning import LearnedNetwork
from deepcrib.learners.replay.minibatches.inputs import SampleInputs
from deepcrib.learners.replay.monitoring import Monitor
from deepcrib.learners.replay.options import ReplayOptions, Settings
from deepcrib.matches import trajectories
from deepcrib.networks import QNetwork
from deepcrib.networks.encoders import DiscardEncoder, PlayEncoder

PLAYING, TARGETS, LEARNING, MATCHES, SAVING, REST = "playing", "targets", "learning", "matches", "saving", "rest"
ENGINE, ENCODING, NETWORK = "rules, observations", "encoding", "network"
OUTSIDE = (REST, REST)
Place = tuple[str, str]
"""(phase of an iteration, part of that phase)."""
PHASES: Sequence[tuple[Any, str, str]] = (
    (replay, "play_episodes", PLAYING),
    (replay, "play_samples", TARGETS),
    (replay, "discard_samples", TARGETS),
    (LearnedNetwork, "train_pass", LEARNING),
    (Monitor, "__call__", MATCHES),
    (replay, "_checkpoint", SAVING),
)
"""(owner, function, phase); what is in none of them is `rest`: the buffer, figures."""
PARTS: Sequence[tuple[Any, tuple[str, ...], str]] = (
    (
        Games,
        ("deal", "discard_observation", "discard", "start_play", "play_observation", "play", "show"),
        ENGINE,
    ),
    (q_network, ("compact_discard", "compact_play"), ENCODING),
    (trajectories, ("compact_discard", "compact_play"), ENCODING),
    (DiscardEncoder, ("encode", "legal"), ENCODING),
    (PlayEncoder, ("encode", "legal"), ENCODING),
    (QFunction, ("_evaluate",), NETWORK),
    (q_network, ("_choose",), "choosing"),
    (SampleInputs, ("__init__",), "index columns"),
    (SampleInputs, ("batch",), "minibatches' inputs"),
    (QNetwork, ("losses",), "forward, loss"),
    (torch.Tensor, ("backward",), "backward"),
    (learning, ("adam_step",), "optimiser"),
)
"""(owner, functions, part) within a phase; what is in none of them is that phase's `rest`."""
WHOLE = (MATCHES, SAVING)
"""Phases that are not divided, and that do not come every iteration: their time is shared among those between two."""


@dataclass
class Seconds:
    """Of a part: by the clock, and of this process's processor time, which other processes disturb less."""

    wall: float = 0.0
    cpu: float = 0.0


class Parts:
    """Two clocks that are charged to one place at a time, the innermost that was entered."""

    def __init__(self, device: torch.device) -> None:
        """On a GPU, what was asked of it is waited for at every boundary, else later parts would pay for it."""
        self._device = device
        self.clear()

    def clear(self) -> None:
        """Begin anew."""
        self.seconds: dict[Place, Seconds] = {}
        self._inside: list[Place] = [OUTSIDE]
        self._last = self._now()

    def charge(self) -> None:
        """Give the time since the last call to the present place."""
        now = self._now()
        spent = self.seconds.setdefault(self._inside[-1], Seconds())
        spent.wall += now[0] - self._last[0]
        spent.cpu += now[1] - self._last[1]
        self._last = now

    @contextmanager
    def inside(self, phase: str | None, part: str) -> Iterator[None]:
        """A part of the given phase, or of the present one; of phases that are not divided, the phase itself."""
        present = self._inside[-1][0]
        self.charge()
        self._inside.append((present, REST) if present in WHOLE else (phase or present, part))
        try:
            yield
        finally:
            self.charge()
            self._inside.pop()

    def timed(self, function: Callable[..., Any], phase: str | None, part: str) -> Callable[..., Any]:
        """The function, within its part."""

        @functools.wraps(function)
        def within(*arguments: Any, **options: Any) -> Any:
            with self.inside(phase, part):
                return function(*arguments, **options)

        return within

    def _now(self) -> tuple[float, float]:
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        return time.perf_counter(), time.process_time()


@contextmanager
def timed_functions(parts: Parts) -> Iterator[None]:
    """Put the timed functions in the place of those named above, and these back at the end."""
    named: list[tuple[Any, str, str | None, str]] = [(owner, name, phase, REST) for owner, name, phase in PHASES]
    named += [(owner, name, None, part) for owner, names, part in PARTS for name in names]
    before = [(owner, name, vars(owner).get(name)) for owner, name, _, _ in named]
    try:
        for owner, name, phase, part in named:
            setattr(owner, name, parts.timed(getattr(owner, name), phase, part))
        yield
    finally:
        for owner, name, function in before:
            if function is None:  # inherited
                delattr(owner, name)
            else:
                setattr(owner, name, function)


def check_experiments(names: Sequence[str]) -> None:
    """Refuse names of no experiment."""
    known = choices("experiment", [runs.conf_folder()])
    for name in names:
        if name not in known:
            raise OptionError(f"experiments={name}: expected some of {', '.join(known)}")


def time_parts(experiment: str, iterations: int, seed: int, device: str) -> dict[str, Any]:
    """Seconds of each part of a replay iteration, the mean of so many whose buffer is full; one thread.

    Pretraining is left out. Matches and saving are measured once, and what of them falls to one iteration is given.
    """
    settings = experiment_settings(experiment, seed, device)
    learner, evaluation = settings.learner, settings.evaluation
    matches = sum(map(evaluation.due, range(learner.iterations + 1)))
    shares = {MATCHES: learner.iterations / matches if matches else 0, SAVING: learner.checkpoint_every}
    parts = Parts(torch.device(device))
    _train(_tiny(settings), parts, 0)  # compiles
    warm = max(1, learner.epochs_kept - 1)
    learner.iterations = learner.checkpoint_every = warm + iterations
    evaluation.every, evaluation.at = (learner.iterations if evaluation.every else 0), None
    _train(settings, parts, warm)
    return _figures(parts.seconds, iterations, shares, on_cpu=device == "cpu")


def _train(settings: Settings, parts: Parts, warm: int) -> None:
    """Train with the clock on after so many iterations."""

    def note(done: int, figures: Mapping[str, float]) -> None:
        if done == warm:
            parts.clear()
        parts.charge()

    parts.clear()
    with tempfile.TemporaryDirectory() as folder, timed_functions(parts):
        replay.train(settings, Path(folder), evaluate, progress=note)


def _tiny(settings: Settings) -> Settings:
    """An iteration with a match of the same networks, made small."""
    tiny = copy.deepcopy(settings)
    tiny.learner.iterations, tiny.learner.episodes = 1, 2
    tiny.evaluation.every, tiny.evaluation.at, tiny.evaluation.games = min(1, tiny.evaluation.every), None, 2
    return tiny


def experiment_settings(experiment: str, seed: int, device: str) -> Settings:
    """Options of `deepcrib train experiment=...`, to be called while Hydra is initialised."""
    register_schema(JOBS["train"])
    settings = OmegaConf.to_object(compose("train", overrides=[f"experiment={experiment}"]))
    assert isinstance(settings, TrainConfig)
    if not isinstance(settings.learner, ReplayOptions):
        raise OptionError(f"experiments={experiment}: expected experiments of learner=replay")
    settings.seed, settings.device, settings.pretraining.enabled = seed, device, False
    return cast(Settings, settings)


def _figures(
    seconds: Mapping[Place, Seconds], iterations: int, shares: Mapping[str, float], on_cpu: bool
) -> dict[str, Any]:
    """Means per iteration by `phase: part`, and shares of the total: of processor seconds on a CPU, else of all."""
    means: dict[str, dict[str, float]] = {}
    for (phase, part), spent in sorted(seconds.items()):
        times = shares[phase] if phase in WHOLE else iterations
        if times:
            name = phase if part == REST and phase in (*WHOLE, REST) else f"{phase}: {part}"
            means[name] = {"seconds": spent.wall / times, "cpu_seconds": spent.cpu / times}
    total = {clock: sum(mean[clock] for mean in means.values()) for clock in ("seconds", "cpu_seconds")}
    clock = "cpu_seconds" if on_cpu else "seconds"
    for mean in means.values():
        mean["share"] = mean[clock] / total[clock]
    return total | {"iterations_timed": iterations, "parts": means}


def parts_table(timed: Mapping[str, Any]) -> Table:
    """A row for each part, a column for each experiment: milliseconds of an iteration and its share."""
    order = {phase: number for number, phase in enumerate((PLAYING, TARGETS, LEARNING, MATCHES, SAVING, REST))}
    names = list(dict.fromkeys(name for figures in timed.values() for name in figures["parts"]))
    names.sort(key=lambda name: (order[name.split(":")[0]], name.endswith(REST)))
    rows = []
    for name in names:
        parts = [figures["parts"].get(name) for figures in timed.values()]
        rows.append(
            (name, *("-" if p is None else f"{p['cpu_seconds']:.3f} s {100 * p['share']:5.1f}%" for p in parts))
        )
    totals = [f"{figures['cpu_seconds']:.3f} s 100.0%" for figures in timed.values()]
    rows.append(("all, processor seconds", *totals))
    rows.append(("all, by the clock", *(f"{figures['seconds']:.3f} s       " for figures in timed.values())))
    title = "processor seconds of a replay iteration with a full buffer, and shares; one thread"
    columns = ("part", *(name.replace("paper2019_", "paper2019\n") for name in timed))
    return plain_table(title, columns, rows)
