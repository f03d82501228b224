"""Trainings of a learner that learns a number, what stops them, and what they leave."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from deepcrib.networks import checkpoints
from deepcrib.training.learner import Setting
from deepcrib.training.options import EvaluationOptions
from deepcrib.training.progress import PROGRESS_FILE
from tests.support.figures import match_of
from tests.support.tiny_learner import TinyLearner, TinyOptions, value_in


class StoppedError(Exception):
    """What stops a training in a test."""


class ByStep(TinyLearner):
    """Evaluated by steps, of one game each."""

    unit = "iterations"
    stride = 1


class Matches:
    """Stands in for matches: notes (value of the agent, opponent, games, seed), and may be stopped in one."""

    def __init__(self, stop_in: int | None = None) -> None:
        self.calls: list[tuple[int, str, int, int]] = []
        self.stop_in = stop_in

    def __call__(self, agent: Any, opponent: Any, games: int, seed: int) -> SimpleNamespace:
        if len(self.calls) == self.stop_in:
            raise StoppedError
        self.calls.append((agent.value, opponent.name, games, seed))
        return match_of(win_rate=agent.value / 1_000_003, hand_margin_low=None)


class Writer:
    """Stands in for a SummaryWriter: notes scalars, and what there was at each flush."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.scalars: list[tuple[str, float, int]] = []
        self.flushes: list[tuple[int, int]] = []

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        self.scalars.append((tag, value, step))

    def flush(self) -> None:
        self.flushes.append((self.scalars[-1][2] if self.scalars else 0, steps_in(self.folder)))

    def steps(self, tag: str) -> list[int]:
        return [step for name, _, step in self.scalars if name == tag]


def tiny(
    kind: type[TinyLearner] = TinyLearner,
    games: int = 7,
    checkpoint_every: int = 2,
    seed: int = 1,
    opponents: tuple[str, ...] = ("random", "greedy"),
    **evaluation: Any,
) -> TinyLearner:
    matches = EvaluationOptions(opponents=list(opponents), games=4, **{"every": 1, **evaluation})
    return kind(TinyOptions("tiny", games, checkpoint_every), Setting(seed, matches))


def steps_in(folder: Path) -> int:
    """Steps of the state in a run folder; 0 where there is none."""
    path = folder / "state.pt"
    return int(checkpoints.load_state(path)["steps"]) if path.exists() else 0


def weights_in(folder: Path) -> dict[str, int]:
    """Values by the names of all files of weights."""
    return {str(path.relative_to(folder)): value_in(path) for path in sorted(folder.rglob("*.safetensors"))}


def rows_in(folder: Path) -> list[dict[str, str]]:
    with open(folder / PROGRESS_FILE, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def matches_in(folder: Path) -> list[str]:
    """Steps of the rows with matches."""
    return [row["step"] for row in rows_in(folder) if row.get("random/win_rate")]


def untimed(folder: Path) -> list[dict[str, str]]:
    return [{name: value for name, value in row.items() if "seconds" not in name} for row in rows_in(folder)]


def stop_at(steps: int, within: bool = False) -> Callable[[int, Mapping[str, float]], None]:
    """Stop after so many steps: within the last of them, or when its metrics are shown."""

    def progress(done: int, metrics: Mapping[str, float]) -> None:
        if done == steps and bool(metrics) != within:
            raise StoppedError

    return progress
