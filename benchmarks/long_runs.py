"""The queue of long runs: python -m benchmarks.long_runs FOLDER [--list] [--only GROUP ...].

One process a core: started twice with one FOLDER, two share the work. Each run is a command of `deepcrib train`, and
where it says so one of `deepcrib evaluate` behind it, or a script of this folder, from a clone of this repository at
one commit in FOLDER, on one thread and with the lowest priority but a few, so that it takes what nothing else wants.
What is done is skipped, what was interrupted goes on from its last state, and what failed is noted and passed. What
is small of a finished run (options, figures, curve, seconds, commit) is kept at once, in
docs/results/data/GROUP.json, and is not run again by whoever has that file: commit it. `--list` says what is left, in
hours of a core.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import Any

from filelock import BaseFileLock, FileLock, Timeout

from benchmarks.clones import DEEPCRIB, REPOSITORY, clone_at, run_python
from benchmarks.long_run import LongRun
from benchmarks.long_runs_list import long_runs
from deepcrib.files import write_atomic
from deepcrib.files.runs import CONFIG, ENVIRONMENT, SUMMARY, flat, processor_name, read_json
from deepcrib.training.progress import PROGRESS_FILE

DATA = REPOSITORY / "docs" / "results" / "data"
NICENESS = 15
RUNS = "RUNS/"
"""Begins words of a script that name the folder of another run of the queue, RUNS/GROUP/NAME."""
MATCH_FIGURES = ("games", "wins", "win_rate", "ci_", "hand_margin", "points.", "opponent_points.", "exploit.")
"""Of a match behind a run, beginnings of the names that are kept."""


@dataclass(frozen=True)
class Queue:
    """Runs in a folder: a clone a commit, run folders, logs, locks, and notes of what failed."""

    folder: Path

    def place(self, run: LongRun) -> Path:
        """Its run folder."""
        return self.folder / "runs" / run.group / run.name

    def match(self, run: LongRun) -> Path:
        """The run folder of the match behind it."""
        return self.place(run).with_suffix(".match")

    def failed(self, run: LongRun) -> Path:
        """Where it is noted that it failed; without this file it is tried again."""
        return self.folder / "failed" / f"{run.group}-{run.name}.txt"

    def lock(self, name: str) -> BaseFileLock:
        """Held while a process clones, runs, or writes what `name` says."""
        (self.folder / "locks").mkdir(parents=True, exist_ok=True)
        return FileLock(self.folder / "locks" / name)

    def state(self, run: LongRun) -> str:
        """`done`, `failed`, `waiting` for the end of a run whose folder it reads, `running` or `open`."""
        if run.name in finished(run.group):
            return "done"
        if self.failed(run).exists():
            return "failed"
        if not all((self._named(word) / SUMMARY).exists() for word in run.words if word.startswith(RUNS)):
            return "waiting"
        lock = self.lock(f"{run.group}-{run.name}")
        try:
            with lock.acquire(timeout=0):
                return "open"
        except Timeout:
            return "running"

    def work(self, run: LongRun) -> str:
        """Run it where nobody else does, and keep what came out; returns what became of it."""
        try:
            with self.lock(f"{run.group}-{run.name}").acquire(timeout=0):
                if (state := "done" if run.name in finished(run.group) else self._to_its_end(run)) == "done":
                    self._keep(run)
                return state
        except Timeout:
            return "running"

    def _to_its_end(self, run: LongRun) -> str:
        place, match = self.place(run), self.match(run)
        with self.lock("clone"):
            clone = clone_at(self.folder / f"deepcrib-{run.commit[:7]}", run.commit)
        if not (place / SUMMARY).exists():
            self._run(run, clone, self._command(run))
        if run.match and (place / SUMMARY).exists() and not (match / SUMMARY).exists():
            shutil.rmtree(match, ignore_errors=True)  # of a match that was interrupted
            words = [word.replace("RUN", str(place)) for word in run.match]
            self._run(run, clone, [*DEEPCRIB, "evaluate", f"agent={place}", *words, f"hydra.run.dir={match}"])
        return "failed" if self.failed(run).exists() else "done"

    def _command(self, run: LongRun) -> list[str]:
        """Its own words behind `python`; a training that has begun is resumed."""
        place = self.place(run)
        if run.script:
            place.mkdir(parents=True, exist_ok=True)
            return [f"benchmarks/{run.script}", *self._words(run), "--to", str(place / SUMMARY)]
        words = [f"resume={place}"] if (place / CONFIG).exists() else [*run.words, f"hydra.run.dir={place}"]
        return [*DEEPCRIB, "train", *words]

    def _words(self, run: LongRun) -> list[str]:
        """Its words, of which RUNS/GROUP/NAME is the folder of another run."""
        return [str(self._named(word)) if word.startswith(RUNS) else word for word in run.words]

    def _named(self, word: str) -> Path:
        return self.folder / "runs" / word.removeprefix(RUNS)

    def _run(self, run: LongRun, clone: Path, words: Sequence[str]) -> None:
        """A command of a run, with its processor time, which is that of all its starts, and a note if it fails."""
        log, spent = self.folder / "logs" / f"{run.group}-{run.name}.log", self.place(run).with_suffix(".seconds")
        log.parent.mkdir(parents=True, exist_ok=True)
        before = getrusage(RUSAGE_CHILDREN)
        with log.open("a", encoding="utf-8") as output:
            code = run_python(clone, words, output)
        after = getrusage(RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        write_atomic(spent, str(seconds + (float(spent.read_text()) if spent.exists() else 0.0)))
        if code:
            self.failed(run).parent.mkdir(exist_ok=True)
            self.failed(run).write_text(f"exit code {code}, see {log}\n")

    def _keep(self, run: LongRun) -> None:
        """Copy what is small of a finished run to DATA, beside the others of its group."""
        place = self.place(run)
        if not (place / SUMMARY).exists():
            return
        found = {
            "options": list(run.options),
            **{"commit": run.commit, "processor": processor_name()},
            "processor_seconds": round(float(place.with_suffix(".seconds").read_text()), 1),
            "figures": _wanted(place, run.keeps),
        }
        if not run.script:
            found["seconds"] = read_json(place / ENVIRONMENT)["seconds"]
        if run.match:
            found |= {"match": list(run.match), "match_figures": _wanted(self.match(run), MATCH_FIGURES)}
        if run.curve:
            found |= _curve(place, run.curve)
        with self.lock(f"data-{run.group}"):
            runs = finished(run.group) | {run.name: found}
            rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(runs[name])}" for name in sorted(runs))
            about = json.dumps({"command": " ".join((run.program, *run.common))})[:-1]
            DATA.mkdir(parents=True, exist_ok=True)
            write_atomic(DATA / f"{run.group}.json", f'{about},\n"runs": {{\n{rows}\n}}}}\n')


def _wanted(place: Path, beginnings: tuple[str, ...]) -> dict[str, Any]:
    """The figures of a run folder whose names begin so."""
    return {name: value for name, value in flat(read_json(place / SUMMARY)) if name.startswith(beginnings)}


def _curve(place: Path, tags: Sequence[str]) -> dict[str, Any]:
    """Of a training: its seconds without matches, by the clock and of the processor, and tags by step, where known."""
    with (place / PROGRESS_FILE).open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    matches = sum(float(row.get("speed/monitoring_seconds") or 0) for row in rows)
    training = sum(float(row.get("speed/processor_seconds") or 0) for row in rows)
    known = [row for row in rows if all(row.get(tag) for tag in tags)]
    points = {tag: [float(row[tag]) for row in known] for tag in tags}
    return {
        "training_processor_seconds": round(training, 1),
        "training_seconds": round(float(rows[-1]["seconds"]) - matches, 1),
        "curve": {"step": [int(row["step"]) for row in known], **points},
    }


def finished(group: str) -> dict[str, Any]:
    """What is kept of the finished runs of a group, by name. Raises SystemExit for a file that is damaged."""
    path = DATA / f"{group}.json"
    if not path.exists():
        return {}
    try:
        return dict(json.loads(path.read_text(encoding="utf-8"))["runs"])
    except (ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"{path}: expected the runs of a group as JSON ({error}); restore it first") from error


def show(queue: Queue, runs: Sequence[LongRun]) -> None:
    """A line a group: how many of its runs are in which state, and how long those that are left take."""
    left = 0.0
    for group in dict.fromkeys(run.group for run in runs):
        own = [run for run in runs if run.group == group]
        states = [queue.state(run) for run in own]
        hours = sum(run.hours for run, state in zip(own, states, strict=True) if state in ("open", "running"))
        shown = ("done", "running", "failed", "open", *(["waiting"] if "waiting" in states else []))
        counts = ", ".join(f"{states.count(state)} {state}" for state in shown)
        print(f"{group:40} {counts}; {hours:.1f} core hours left")
        left += hours
    print(f"in all {left:.1f} core hours left")


def main(words: Sequence[str] | None = None) -> None:
    """Run what is not done yet, in order."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--list", action="store_true", help="say what is done and what is not, and run nothing")
    parser.add_argument("--only", nargs="+", default=[], metavar="GROUP", help="these groups alone")
    options = parser.parse_args(words)
    if unknown := set(options.only) - {run.group for run in long_runs(finished)}:
        parser.error(f"--only {' '.join(sorted(unknown))}: expected groups that --list shows")
    runs = (run for run in long_runs(finished) if not options.only or run.group in options.only)
    queue = Queue(options.folder.resolve())
    if options.list:
        show(queue, [*runs])
        return
    os.nice(NICENESS)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    for run in runs:
        if queue.state(run) == "open":
            print(f"{run.group} {run.name}: {queue.work(run)}", flush=True)


if __name__ == "__main__":
    main()
