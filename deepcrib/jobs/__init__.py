"""What `deepcrib <job>` can do: one module a job.

To add a job: a module here with `Config` (a dataclass, the schema of `conf/<job>.yaml`) and
`run(config, run) -> Outcome`, a YAML of the same name in `conf/`, and a line in `JOBS`.

This file imports none of them, so that `deepcrib --help` answers at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType

    from deepcrib.runs import RunFolder


@dataclass(frozen=True)
class Job:
    """A line of `deepcrib --help`. `tasks`: bare words allowed after the job, the values of `Config.task`."""

    name: str
    summary: str
    examples: tuple[str, ...]
    tasks: tuple[str, ...] = ()
    resumable: bool = False

    def module(self) -> ModuleType:
        """Import the job's module (which may take seconds: PyTorch, Numba)."""
        return import_module(f"deepcrib.jobs.{self.name}")


@dataclass
class Outcome:
    """What a job came to: the content of `summary.json`, and what is printed last."""

    summary: Mapping[str, Any]
    tables: Sequence[RenderableType] = ()


@dataclass
class Run:
    """What a job is given besides its config.

    start: called with no argument once the options have proved usable; claims the run folder.
    """

    folder: RunFolder
    start: Callable[[], None]
    resuming: bool = False
    show_progress: bool = False
    notes: list[str] = field(default_factory=list)


JOBS = {
    job.name: job
    for job in (
        Job(
            "train",
            "train the discard and play networks by self-play, then measure them",
            (
                "deepcrib train experiment=quick",
                "deepcrib train algorithm=sarsa learner.iterations=100 seed=2",
                "deepcrib train -m algorithm=monte_carlo,sarsa seed=1,2",
                "deepcrib train resume=outputs/train/2026-11-20/09-30-00",
            ),
            resumable=True,
        ),
        Job(
            "pretrain",
            "pretrain a discard network on the show value of every four-card hand",
            ("deepcrib pretrain discard_network=mlp", "deepcrib pretrain pretraining.starter=true"),
        ),
        Job(
            "evaluate",
            "play two agents against each other: win rate with its interval, points by role",
            (
                "deepcrib evaluate agent=greedy opponent=deterministic games=10000 seed=1",
                "deepcrib evaluate agent=outputs/train/2026-11-20/09-30-00 opponent=greedy duplicate=true",
                "deepcrib evaluate 'agent={name: random}' opponent=greedy",
            ),
        ),
        Job(
            "benchmark",
            "measure speed on this machine: games and replay iterations",
            ("deepcrib benchmark", "deepcrib benchmark games", "deepcrib benchmark iteration"),
            tasks=("games", "iteration"),
        ),
    )
}
