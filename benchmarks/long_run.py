"""What the queue of long runs (`long_runs.py`) runs: a training with a match behind it, or a script of this folder."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LongRun:
    """A training, or a script. group: the file that keeps its figures. common: words that its group shares.

    commit: the code that it runs and whose words these are. Experiments that lie in folders today had names with `_` in
    place of `/` (`paper2019_search`) before they were sorted.

    options: its own words. hours: of a core, about. keeps: beginnings of the names in its summary that are kept.
    match: words of `deepcrib evaluate` that measure the trained agent, or none; RUN is its folder in them. curve:
    columns of `progress.csv` that are kept, with the seconds of training alone. script: a file of benchmarks/ that is
    run in place of a training. It gets the words and `--to FILE`, where it writes its figures as JSON; what of it is to
    survive an interruption it keeps itself, beside that file. A word RUNS/GROUP/NAME is the folder of another run, for
    whose end it waits.
    """

    group: str
    name: str
    common: tuple[str, ...]
    options: tuple[str, ...]
    hours: float
    keeps: tuple[str, ...]
    commit: str
    match: tuple[str, ...] = ()
    curve: tuple[str, ...] = ()
    script: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """All of its command, behind `program`."""
        return self.common + self.options

    @property
    def program(self) -> str:
        """How its command begins."""
        return f"python benchmarks/{self.script}" if self.script else "deepcrib train"
