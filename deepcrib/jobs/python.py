"""Jobs called from Python."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from deepcrib.agents import Agent, make_agent
from deepcrib.errors import OptionError
from deepcrib.evaluation.evaluate import Evaluation
from deepcrib.jobs import CALLBACK, JOBS
from deepcrib.jobs.evaluate import Config, prepare_match
from deepcrib.jobs.shared.common import need_modules, use_threads
from deepcrib.jobs.shared.console import Bars
from deepcrib.jobs.shared.options import RulesOptions
from deepcrib.matches import Progress
from deepcrib.options import problems
from deepcrib.training.progress import STEP, read_progress

if TYPE_CHECKING:
    from pandas import DataFrame

    from deepcrib.training.fit import Callback
    from deepcrib.training.learner import Learner


@dataclass(frozen=True)
class TrainedRun(os.PathLike[str]):
    """What `train` returns: its run folder, wherever a path or an agent is asked for, and what came out."""

    folder: Path

    def __fspath__(self) -> str:
        return str(self.folder)

    __str__ = __fspath__

    def __truediv__(self, name: str) -> Path:
        return self.folder / name

    @property
    def agent(self) -> Agent:
        """The trained agent, from the folder's weights."""
        return make_agent(self)

    @property
    def metrics(self) -> DataFrame:
        """`progress.csv`: rows by step, columns by TensorBoard tag, NaN where there is no value."""
        need_modules("metrics of a run", "report", "pandas")
        import pandas

        curves = read_progress(self.folder).items()
        columns = {tag: pandas.Series(values, steps) for tag, (steps, values) in curves}
        return pandas.DataFrame(columns).rename_axis(STEP)


def train(
    *overrides: str,
    folder: os.PathLike[str] | str | None = None,
    quiet: bool = False,
    callback: Callback | None = None,
    **options: Any,
) -> TrainedRun:
    """Run `deepcrib train` in this process, and return its run folder, which is an agent wherever one is asked for.

    Args:
        overrides: as on the command line: `"learner.iterations=10"`, `"resume=FOLDER"`.
        folder: the run folder; None: a new one under `outputs/train/`, or that of the run that is resumed.
        quiet: print nothing on stdout; what there is to say stands in `train.log` of the folder.
        callback: called as `callback(learner, metrics)` for every row of `progress.csv` (`deepcrib.Callback`).
        options: options by name, those of a group in a mapping: `experiment="quick"`, `learner={"iterations": 10}`.

    Raises UserError (an option that is unknown or out of range, a folder that cannot be written), and what the callback
    raises: the run can then be resumed.
    """
    from deepcrib.jobs.hydra.launch import run_job  # Hydra, which a match does not wait for

    words = [*overrides]
    for name, value in options.items():
        if isinstance(value, Mapping):
            words += [f"{name}.{key}={_word(one)}" for key, one in value.items()]
        else:  # the folder of `resume` is read as it stands
            words.append(f"{name}={value if name == 'resume' and value else _word(value)}")
    if folder is not None:
        words.append(f"hydra.run.dir={_word(folder)}")
    stdout = sys.stdout

    def aloud(learner: Learner, metrics: Mapping[str, float]) -> None:
        if callback is not None:
            with redirect_stdout(stdout):
                callback(learner, metrics)

    token = CALLBACK.set(aloud)
    try:
        with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere if quiet else stdout):
            return TrainedRun(run_job(JOBS["train"], words))
    finally:
        CALLBACK.reset(token)


def evaluate(
    agent: Any,
    opponent: Any,
    games: int = 10_000,
    seed: int = 1,
    *,
    duplicate: bool = False,
    dealing: str = "acc",
    games_per_match: int = 1,
    luck: bool = False,
    until: str | None = None,
    difference: float = 0.02,
    alpha: float = 0.05,
    exploit: bool | str = False,
    deals: int | None = None,
    hands: int | None = None,
    device: str = "cpu",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Play full games to 121 between two agents, or agent specs, and summarise them for the first.

    Options are those of `deepcrib evaluate`, which `deepcrib help evaluate` explains. With `until="significant"` the
    result is a `SequentialEvaluation`, which has a verdict; with `exploit=True`, `"play"` or `"learned"` its `exploit`
    is what the agent loses (the networks that learned it are not kept).

    dealing: `acc` or `random_dealer`. threads: from now on; 0: all that there are; None: as many as are in use.
    `progress` is called with the number of games finished since its last call. Raises OptionError and AgentError.
    """
    given = {name: value for name, value in locals().items() if name not in ("dealing", "threads", "progress")}
    config = Config(**given, rules=RulesOptions(dealing), threads=threads or 0)
    for line in problems(config):
        raise OptionError(line)
    play = prepare_match(config, make_agent(agent, device), make_agent(opponent, device))
    if threads is not None:
        use_threads(threads)
    with TemporaryDirectory() as folder:
        return play(Bars(False), Path(folder), progress)


def _word(value: Any) -> str:
    """A value as Hydra reads it back."""
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{name}:{_word(one)}' for name, one in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_word, value))}]"
    if isinstance(value, str | os.PathLike):
        from deepcrib.jobs.hydra.schema import quoted

        return quoted(os.fspath(value))
    return "null" if value is None else str(value)
