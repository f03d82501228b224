"""A verdict on every option of learning: python benchmarks/verdicts.py FOLDER [--list] [--report] [--only NAME ...].

Each option of docs/learning_options.md alone against the same setup without it: `experiment=quick` at a quarter of its
length, five seeds a side, one training after another on one core; then seed i of the option meets seed i of its base,
and three fixed opponents, on duplicate deals. Start it whenever the machine has a core to spare: what is finished is
skipped, and a training that was interrupted starts anew. Started twice with one FOLDER, the two share the work, each on
its own core. Runs lie in FOLDER, with a clone of this repository at the commit CODE, so that work on the source does
not touch them. `--report` copies the figures of FOLDER to docs/results/verdicts.json and writes
docs/results/verdicts.md of all that are there, with its figure. Needs SciPy, which comes with the extras `tests` and
`orion`, and Matplotlib (`plots`).
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import Any

from clones import DEEPCRIB, clone_at, run_python
from filelock import BaseFileLock, FileLock, Timeout
from verdicts_options import GAMES, MATCH_SEED, OPPONENTS, SEEDS, Figures, Option, options
from verdicts_page import FIGURES, write_report

from deepcrib.evaluation.evaluate import evaluate
from deepcrib.files import write_atomic
from deepcrib.files.runs import ENVIRONMENT, read_json
from deepcrib.jobs.shared.common import use_threads

CODE = "e14b3ff7c59e2a7d4a7951d8b324909782b3c206"
"""The commit that runs are made with."""
# --- running ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Runner:
    """Runs options in a folder, from the clone in it, one at a time, with the niceness of this process."""

    folder: Path

    def clone(self) -> Path:
        """The repository at the commit CODE."""
        return clone_at(self.folder / "deepcrib", CODE)

    def place(self, option: Option, seed: int) -> Path:
        """The run folder of one of its seeds."""
        return self.folder / "runs" / option.run(seed)

    def lock(self, name: str) -> BaseFileLock:
        """Held while this process clones, trains or measures what `name` says; others wait, or take something else."""
        (self.folder / "locks").mkdir(parents=True, exist_ok=True)
        return FileLock(self.folder / "locks" / name)

    def figures(self) -> Figures:
        """What has been measured, in this folder and in those of which `--report` was written."""
        files = sorted((self.folder / "figures").glob("*.json"))
        return read_json(FIGURES) | {path.stem: read_json(path) for path in files}

    def measure(self, option: Option, seed: int) -> dict[str, Any]:
        """Train one seed and play its matches; its bases are trained first where this folder lacks them."""
        found = self.train(option, seed)
        bases = {base.name: base for base in options() if base.name in option.bases}
        found["base_seconds"] = {name: self.train(base, seed)["seconds"] for name, base in bases.items()}
        rivals = {name: str(self.place(base, seed)) for name, base in bases.items()} | {n: n for n in OPPONENTS}
        agent = str(self.place(option, seed))
        found["matches"] = {name: _match(agent, rival, seed) for name, rival in rivals.items()}
        path = self.folder / "figures" / f"{option.run(seed)}.json"
        path.parent.mkdir(exist_ok=True)
        write_atomic(path, json.dumps(found))
        return found

    def train(self, option: Option, seed: int) -> dict[str, Any]:
        """Train one seed where that is not done yet; what it took."""
        place, command = self.place(option, seed), option.command(seed)
        took = place / "took.json"
        with self.lock(f"train_{place.name}"):
            if not took.exists():
                shutil.rmtree(place, ignore_errors=True)  # seconds count whole runs alone
                seconds = self._run([*command, f"hydra.run.dir={place}"], self.folder / "logs" / f"{place.name}.log")
                processor = read_json(place / ENVIRONMENT)["machine"]["processor"]
                found = {"command": command, "commit": CODE, "processor": processor}
                write_atomic(took, json.dumps(found | {"seconds": round(seconds, 1), "hands": _hands(place)}))
        return read_json(took)

    def _run(self, words: Sequence[str], log: Path) -> float:
        """Processor seconds of a command, which other processes disturb less than those of the clock."""
        with self.lock("clone"):
            clone = self.clone()
        before = _processor_seconds()
        log.parent.mkdir(exist_ok=True)
        with log.open("w", encoding="utf-8") as output:
            code = run_python(clone, [*DEEPCRIB, *words], output)
        if code:
            raise subprocess.CalledProcessError(code, f"{' '.join(words)} (see {log})")
        return _processor_seconds() - before


def queue(figures: Figures, only: Sequence[str] = ()) -> Iterator[tuple[Option, int]]:
    """What is left to measure, in order: options and seed numbers."""
    for option in options():
        if not only or option.name in only:
            done = option.measured(figures)
            yield from ((option, seed) for seed in range(1, SEEDS + 1) if seed not in done)


def _processor_seconds() -> float:
    """Of all commands that this process has run."""
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _hands(place: Path) -> int:
    """Hands of self-play in a run."""
    rows = list(csv.DictReader((place / "progress.csv").open(encoding="utf-8")))
    return int(rows[-1]["progress/hands"])


def _match(agent: str, rival: str, seed: int) -> dict[str, float]:
    """Win rate with its 95% interval, over pairs of games with the same cards."""
    found = evaluate(agent, rival, GAMES, MATCH_SEED + seed, duplicate=True)
    return {"win_rate": found.win_rate, "ci_low": found.ci_low, "ci_high": found.ci_high}


# --- command ----------------------------------------------------------------------------------------------------------


def main(words: Sequence[str] | None = None) -> int:
    """Run what is not done yet; exit code 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--list", action="store_true", help="say what is done and what is not, and run nothing")
    parser.add_argument("--report", action="store_true", help="write the page of what is done, and run nothing")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these options alone")
    parser.add_argument("--nice", type=int, default=5, help="added to the niceness, of all runs")
    chosen = parser.parse_args(words)
    if unknown := set(chosen.only) - {option.name for option in options()}:
        parser.error(f"--only {' '.join(sorted(unknown))}: expected names that --list shows")
    runner = Runner(chosen.folder.resolve())
    left = list(queue(runner.figures(), chosen.only))
    if chosen.report:
        write_report(runner.figures())
    elif chosen.list:
        _print_list(left, chosen.only)
    else:
        os.nice(chosen.nice)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        return _work(runner, left)
    return 0


def _print_list(left: Sequence[tuple[Option, int]], only: Sequence[str]) -> None:
    for option in options():
        if not only or option.name in only:
            done = SEEDS - sum(one == option for one, _ in left)
            print(f"{done} of {SEEDS}  {option.name}: {' '.join((*option.setup, *option.words))}")


def _work(runner: Runner, left: Sequence[tuple[Option, int]]) -> int:
    """Measure what is left, a line each; what fails does not keep the rest from being measured."""
    use_threads(1)
    failed = 0
    for option, seed in left:
        begin = time.monotonic()
        try:
            with runner.lock(f"measure_{option.run(seed)}").acquire(timeout=0):
                if seed in option.measured(runner.figures()):  # by another process, meanwhile
                    continue
                found = runner.measure(option, seed)
        except Timeout:  # another process measures it
            continue
        except subprocess.CalledProcessError as error:
            failed += 1
            print(error, flush=True)
            continue
        rates = ", ".join(f"{100 * match['win_rate']:.1f}% against {name}" for name, match in found["matches"].items())
        took = f"{found['seconds']:.0f} processor seconds, {time.monotonic() - begin:.0f} s in all"
        print(f"{time.strftime('%d %H:%M')} {option.run(seed)}: {rates}; {took}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
