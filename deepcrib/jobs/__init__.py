"""What `deepcrib <job>` can do: one module a job.

To add a job: a module here with `Config` (a dataclass, the schema of `conf/<job>.yaml`) and
`run(config, run) -> Outcome`, a YAML of the same name in `conf/`, and a line in `JOBS`.

This file imports none of them, so that `deepcrib --help` answers at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType

    from deepcrib.files.runs import RunFolder
    from deepcrib.training.fit import Callback


@dataclass(frozen=True)
class Job:
    """A line of `deepcrib --help`.

    tasks: bare words allowed after the job, the values of `Config.task`. bare: the option that other bare words make.
    repeats: whether a finished run can be resumed with the same options, since it depends on more than these.
    """

    name: str
    summary: str
    examples: tuple[str, ...]
    tasks: tuple[str, ...] = ()
    bare: str = ""
    resumable: bool = False
    repeats: bool = False

    def module(self) -> ModuleType:
        """Import the job's module (which may take seconds: PyTorch, Numba)."""
        return import_module(f"deepcrib.jobs.{self.name}")


@dataclass
class Outcome:
    """The outcome of a job: the content of `summary.json`, and what is printed last."""

    summary: Mapping[str, Any]
    tables: Sequence[RenderableType] = ()


@dataclass
class Run:
    """What a job is given besides its config.

    start: called with no argument once the options have proved usable; claims the run folder.
    show_progress: whether to draw bars, in a terminal. show_lines: whether to say now and then how far it is, in a log.
    """

    folder: RunFolder
    start: Callable[[], None]
    resuming: bool = False
    show_progress: bool = False
    show_lines: bool = False
    notes: list[str] = field(default_factory=list)


CALLBACK: ContextVar[Callback | None] = ContextVar("CALLBACK", default=None)
"""What a training in this context calls, as `training.fit.Callback` says."""
JOBS = {
    job.name: job
    for job in (
        Job(
            "train",
            "train an agent in play against itself or others, then measure it",
            (
                "deepcrib train experiment=quick",
                "deepcrib train algorithm=sarsa learner.iterations=100 seed=2",
                "deepcrib train learner=weighted learner.games=200000 learner.scaling=10",
                "deepcrib train -m algorithm=monte_carlo,sarsa seed=1,2",
                "deepcrib train resume=outputs/train/2026-11-20/09-30-00",
            ),
            resumable=True,
        ),
        Job(
            "evaluate",
            "play two agents against each other: win rate with its interval, points by role",
            (
                "deepcrib evaluate agent=greedy opponent=deterministic games=10000 seed=1",
                "deepcrib evaluate agent=outputs/train/2026-11-20/09-30-00 opponent=greedy duplicate=true",
                "deepcrib evaluate 'agent={name: random}' opponent=greedy",
                "deepcrib evaluate play agent=greedy_minimax opponent=greedy hands=20000",
                "deepcrib evaluate pairs agent=td_perceptron opponent=random pairs=20000",
                "deepcrib evaluate agent=expected_value opponent=greedy exploit=true deals=1000",
                "deepcrib evaluate agent=minimax opponent=greedy exploit=learned hands=1000000",
                "deepcrib evaluate audit agent=td_perceptron opponent=greedy hands=200",
                "deepcrib evaluate agent=greedy opponent=hand_max_avg duplicate=true until=significant games=100000",
            ),
            tasks=("games", "play", "pairs", "audit"),
        ),
        Job(
            "tournament",
            "matches by game points: round robin, a run's checkpoints; the league, with ratings",
            (
                "deepcrib tournament agents=[greedy,deterministic,random] games=1000",
                "deepcrib tournament checkpoints run=outputs/train/2026-11-20/09-30-00 games=100 matches=20",
                "deepcrib tournament league agents=all games=20000",
                "deepcrib tournament resume=outputs/tournament/2026-11-20/09-30-00",
            ),
            tasks=("round_robin", "checkpoints", "league"),
            resumable=True,
            repeats=True,
        ),
        Job(
            "analyse",
            "what a hand's discards, or the cards of a position in the play, are worth, and to whom",
            (
                'deepcrib analyse "5H 5S JD 2C 3C KH" dealer=true score=100-95',
                "deepcrib analyse 5H 5S JD 2C 3C KH agents=[greedy,hand_max_avg,outputs/train/2026-11-20/09-30-00]",
                "deepcrib analyse 5H5SJD2C3CKH dealer=true starters=true",
                "deepcrib analyse play 5H5SJD2C3CKH thrown=2C3C starter=7H history=TD5S5D dealer=true",
                "deepcrib analyse games=game.jsonl line=9",
            ),
            tasks=("discard", "play"),
            bare="hand",
        ),
        Job(
            "report",
            "runs as a page of tables and figures; people's recorded games counted, and reviewed",
            (
                "deepcrib report runs=outputs/train/2026-11-20",
                "deepcrib report runs=[outputs/short,outputs/search] path=runs.md",
                "deepcrib report humans games=games.jsonl",
                "deepcrib report humans games=outputs/play by=person hints=include",
                "deepcrib report review games=outputs/play path=review.html",
                "deepcrib report review games=games.jsonl name=Ann opponent=greedy",
            ),
            tasks=("runs", "humans", "review"),
        ),
        Job(
            "publish",
            "a trained agent, with its card, on the Hugging Face Hub",
            (
                "deepcrib publish outputs/train/2026-11-20/09-30-00",
                "deepcrib publish outputs/train/2026-11-20/09-30-00 to=OWNER/NAME",
            ),
            bare="run",
        ),
        Job(
            "play",
            "play against an agent in this terminal, with hints and a review; every game is saved",
            (
                "deepcrib play",
                "deepcrib play opponent=expected_value name=Ann seed=7",
                "deepcrib play opponent=outputs/train/2026-11-20/09-30-00 hints=[td_perceptron] suits=letters",
                "deepcrib play resume=outputs/play/2026-11-20/09-30-00/game.jsonl",
                "deepcrib play web=true",
            ),
        ),
        Job(
            "practise",
            "the costliest choices of your own games, asked again; the score is kept",
            ("deepcrib practise", "deepcrib practise games=outputs/play questions=5"),
        ),
    )
}
