"""What a job shows: tables on stdout, progress bars when stdout is a terminal, one line for an error."""

import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

LOG = logging.getLogger("deepcrib")
"""Of what a run says once it has begun; conf/hydra/default.yaml lets it go into the run folder."""
logging.raiseExceptions = False  # on a full disk a run goes on without its log
SECONDS = 10.0  # without a line, after which there is one of the progress
FILE_WIDTH = 120  # characters, when the output is no terminal and COLUMNS is not set


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Let `cli.main` end the command, as it does where nothing of rich's is written."""
        raise  # noqa: PLE0704 - rich calls this while it handles the error


def console() -> Console:
    """A console on the present stdout."""
    told = os.environ.get("COLUMNS", "")
    width = None if sys.stdout.isatty() else int(told) if told.isdigit() and int(told) else FILE_WIDTH
    return _Console(width=width, highlight=False, soft_wrap=False)


_last = [time.monotonic()]  # when a line was shown


def show_line(text: str) -> None:
    """One line on stdout, as it is."""
    _last[0] = time.monotonic()
    console().print(text, markup=False, soft_wrap=True)


def say(what: str | Table) -> None:
    """Print on stdout, and note in the run's log, JOB.log in its folder."""
    if isinstance(what, str):
        show_line(what)
        LOG.info(what)
    else:
        console().print(what)
        LOG.info("\n%s", "".join(segment.text for segment in Console(width=FILE_WIDTH).render(what)).rstrip())


def error_line(text: str) -> None:
    """One line on stderr, where there is one that takes it."""
    with suppress(OSError):
        print(f"deepcrib: {' '.join(text.split())}", file=sys.stderr)


class Heartbeat(threading.Event):
    """Says how far it is wherever nothing has been said for SECONDS, from a thread of its own, until it is `set`."""

    def __init__(self, line: Callable[[], str]) -> None:
        super().__init__()
        self._line = line
        threading.Thread(target=self._beat, daemon=True).start()

    def _beat(self) -> None:
        while not self.wait(max(0.2, _last[0] + SECONDS - time.monotonic())):
            if time.monotonic() - _last[0] >= SECONDS and (line := self._line()):
                with suppress(OSError):  # the reader has gone, as the other thread will find
                    say(line)


class Bars:
    """Progress by name: bars of a terminal, which vanish at the end; or a line now and then; or nothing."""

    def __init__(self, drawn: bool, told: bool = False) -> None:
        self._told, self._latest = told and not drawn, ""
        columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        self._progress = Progress(*columns, console=console(), transient=True) if drawn else None
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        """Start drawing."""
        if self._progress is not None:
            self._progress.start()
        self._heart = Heartbeat(lambda: self._latest) if self._told else None
        return self

    def __exit__(self, *exception: object) -> None:
        """Remove the bars."""
        if self._progress is not None:
            self._progress.stop()
        if self._heart is not None:
            self._heart.set()

    def show(self, name: str, done: int, total: int, text: str | None = None) -> None:
        """Draw the bar `name` at `done` of `total`, with another text behind its name."""
        self._latest = f"{name} {done:,} of {total:,}{f' {text}' if text else ''}"
        if self._progress is None:
            return
        if name not in self._tasks:
            self._tasks[name] = self._progress.add_task(name, total=total)
        label = {} if text is None else {"description": f"{name} {text}"}
        self._progress.update(self._tasks[name], completed=done, total=total, **label)  # type: ignore[arg-type]

    def counter(self, name: str, total: int) -> Callable[[int], None]:
        """A callback for each amount done since its last call; the bar is there at once, at zero."""
        done = 0
        self.show(name, done, total)

        def advance(amount: int) -> None:
            nonlocal done
            done += amount
            self.show(name, done, total)

        return advance


def short_path(path: Path) -> str:
    """A path as short as it can be typed from here."""
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)
