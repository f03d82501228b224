"""A sweep as a whole: what was there when it began, and the table of all its runs at the end.

The results of a run are read from its folder, so that no launcher has to bring it back.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from shlex import quote
from typing import Any, ClassVar

from hydra.errors import HydraException
from hydra.experimental.callback import Callback
from hydra.utils import get_class
from omegaconf import DictConfig, read_write

from deepcrib.analysis import sweeps as analysis
from deepcrib.analysis.sweeps import ABSENT, DONE, FAILED, UNFINISHED, SweptRun
from deepcrib.files import runs
from deepcrib.files.runs import REFUSED
from deepcrib.jobs.hydra.schema import parse
from deepcrib.jobs.hydra.sweep_runs import DIED, LOCK_PATIENCE, is_held, kind, prepare_ray, run_name
from deepcrib.jobs.shared.console import Heartbeat, console, short_path, show_line

SKIPPED, RESUMED, RUNNING = "skipped", "resumed", "running"


@dataclass(frozen=True)
class Sweep:
    """A sweep that has begun.

    planned: overrides by the folder's name, in order; none when only the sweeper knows. before: what was there,
    and done_before how many runs, unfinished ones in part. began: seconds of the monotonic clock.
    """

    folder: Path
    planned: Mapping[str, Sequence[str]]
    before: Mapping[Path, SweptRun]
    done_before: float = 0.0
    began: float = field(default_factory=time.monotonic)

    def progress(self) -> str:
        """`3 of 6 runs done, 0:02:00 left`: as fast as those of this call so far."""
        shares = [_share_done(self.folder / name) for name in self.planned]
        done, seconds = sum(shares) - self.done_before, time.monotonic() - self.began
        left = f", {timedelta(seconds=round(seconds / done * (len(shares) - sum(shares))))} left" if done else ""
        return f"{shares.count(1.0)} of {len(shares)} runs done{left}"

    def has_news(self) -> bool:
        """Whether any run is no longer as it was."""
        return _runs_in(self.folder) != self.before


class SweepStart(Callback):
    """Named in conf/hydra/default.yaml: Hydra makes it and tells it where a sweep begins, as composed."""

    begun: ClassVar[Sweep | None] = None
    heart: ClassVar[Heartbeat | None] = None  # says how far a sweep is whose runs are in other processes

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Look at what is there before the first run."""
        prepare_ray()
        folder = Path(str(config.hydra.sweep.dir)).absolute()
        found = _plan(config)
        varied = runs.differing([analysis.values_of(run) for run in found])
        planned = {run_name(run, varied, folder): run for run in found}
        if found:  # what composes the runs takes it up
            name = f"${{run_name:${{hydra.overrides.task}},[{','.join(varied)}],${{hydra.sweep.dir}}}}"
            with read_write(config.hydra):
                config.hydra.overrides.hydra.append(f"hydra.sweep.subdir='{name}'")
        for name in planned:
            with suppress(OSError):  # who writes there reports it
                (folder / name / REFUSED).unlink(missing_ok=True)
        done = sum(_share_done(folder / name) for name in planned)
        SweepStart.begun = sweep = Sweep(folder, planned, _runs_in(folder), done)
        if planned and kind(config.hydra.launcher) != "BasicLauncher":
            SweepStart.heart = Heartbeat(sweep.progress)


def _share_done(run: Path) -> float:
    """0 to 1, of a run that is not finished as the last line of its log has it: `iterations 40 of 360, ...`."""
    if (run / runs.SUMMARY).exists():
        return 1.0
    with suppress(OSError, IndexError, ZeroDivisionError, StopIteration):
        text = next(run.glob("*.log")).read_text(encoding="utf-8", errors="replace")
        done, total = (int(number.replace(",", "")) for number in re.findall(r"] \w+ ([\d,]+) of ([\d,]+)", text)[-1])
        return min(done / total, 0.99)
    return 0.0


def _runs_in(folder: Path) -> dict[Path, SweptRun]:
    return {run.folder: run for run in analysis.runs_below(folder)} if folder.is_dir() else {}


def _plan(config: DictConfig) -> list[list[str]]:
    """Overrides of all runs, where Hydra's own sweeper makes them and they go by `run_name`."""
    subdir = config.hydra.sweep._get_node("subdir")._value()  # as it is written
    if kind(config.hydra.sweeper) != "BasicSweeper" or "run_name" not in str(subdir):
        return []
    params = [f"{name}={value}" for name, value in (config.hydra.sweeper.params or {}).items()]
    sweeper: Any = get_class(config.hydra.sweeper._target_)
    try:
        batches = sweeper.split_arguments(parse([*params, *config.hydra.overrides.task]), None)
    except (HydraException, AssertionError):  # an interval, say, which the sweeper is about to refuse
        return []
    return [run for batch in batches for run in batch]


def finish(sweep: Sweep, job: str, death: str | None = None, interrupted: bool = False) -> int:
    """Gather, save and print what all runs came to; returns the exit code.

    death: what ended the launcher before its time.
    """
    _end_workers(sweep, death, interrupted)
    planned = [sweep.folder / name for name in sweep.planned]
    others = [run for place, run in _runs_in(sweep.folder).items() if place not in set(planned)]
    found = [*map(analysis.read_run, planned), *others]  # those of this call first
    rows = [_row(run, sweep, death, interrupted) for run in found]
    if not rows:
        return 0
    out = console()
    out.print(analysis.sweep_table(f"{job}: {len(rows)} run{'s' if len(rows) > 1 else ''}", rows, out.width))
    if means := analysis.means_over_seeds(rows):
        out.print(analysis.sweep_table("means over seeds, Student's t", means, out.width))
    for line in analysis.error_lines(rows):
        show_line(line)
    analysis.write_sweep(sweep.folder, job, rows)  # after the table, which needs no room on the disk
    place = short_path(sweep.folder)
    show_line(f"sweep folder: {place} ({analysis.SWEEP_CSV}, {analysis.SWEEP_JSON})")
    if job == "train" and any(run.summary for run in rows):
        show_line(f"curves and comparisons: deepcrib report runs={quote(place)}")
    code = max(_exit_code(row, sweep) for row in rows)
    if code:
        show_line(f"the same command with hydra.sweep.dir={place} runs what is not done")
    return code


def _end_workers(sweep: Sweep, death: str | None, interrupted: bool) -> None:
    """Leave no run behind that nobody waits for: Ray's are ended, submitit's end by themselves, joblib's at once."""
    if "ray" in sys.modules:
        sys.modules["ray"].shutdown()
    end = time.monotonic() + (LOCK_PATIENCE if interrupted else 0)
    while (death or time.monotonic() < end) and any(is_held(sweep.folder / name) for name in sweep.planned):
        time.sleep(0.1)


def _row(run: SweptRun, sweep: Sweep, death: str | None, interrupted: bool) -> SweptRun:
    """A run whose state is what this call did with it."""
    before = sweep.before.get(run.folder)
    in_plan = run.folder.name in sweep.planned
    run = replace(run, overrides=tuple(sweep.planned.get(run.folder.name, run.overrides)))
    if refused := runs.read_json(run.folder / REFUSED):
        line, code = analysis.failure(refused)
        return replace(run, state=FAILED, error=line, exit_code=code)
    if run.state == DONE:
        if before is None or not before.begun:
            return run
        return replace(run, state=RESUMED if before.state != DONE else SKIPPED if in_plan else DONE)
    if run.state in (UNFINISHED, FAILED) and is_held(run.folder):
        return replace(run, state=RUNNING, error="", exit_code=0)
    if run.state == UNFINISHED and in_plan and not interrupted:
        line = f"its worker died{f' ({death})' if death else ''}"
        runs.RunFolder(run.folder, overrides=run.overrides).fail(line, DIED)
        return replace(run, state=FAILED, error=line, exit_code=DIED)
    return run


def _exit_code(run: SweptRun, sweep: Sweep) -> int:
    """0 for what is done, and for what this call has nothing to do with."""
    planned = run.folder.name in sweep.planned
    if run.state in (UNFINISHED, RUNNING, ABSENT):
        return DIED if planned else 0
    return run.exit_code if planned or sweep.before.get(run.folder) != run else 0
