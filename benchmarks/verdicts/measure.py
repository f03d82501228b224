"""One seed of an option of learning, for the verdicts: python -m benchmarks.verdicts.measure NAME NUMBER --to FILE.

Trains the option NAME of options.py (`second` and `together` there) with its seed number NUMBER, then measures
it: matches against its bases with the seed of the same number, which are trained where they are not there, matches
against the panel, and the gain of a best responder in the play. FILE gets the figures as JSON. Weights lie beside
FILE's folder, each option's in a folder of its name. The queue, long_runs.py, runs it; `verdicts/page.py` judges.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import Any

from filelock import FileLock

from benchmarks.clones import DEEPCRIB, REPOSITORY, run_python
from benchmarks.verdicts.options import OPPONENTS, SEEDS, Option, second, together
from deepcrib.agents import make_agent
from deepcrib.evaluation.evaluate import evaluate
from deepcrib.evaluation.exploit import exploit
from deepcrib.files import write_atomic
from deepcrib.files.runs import read_json
from deepcrib.jobs.shared.common import use_threads
from deepcrib.training.progress import PROGRESS_FILE

KNOWN = {option.name: option for option in (*second(), *together())}
BASE_GAMES, PANEL_GAMES, DEALS = 100_000, 20_000, 60
"""Duplicate games against a base and against each of the panel, and deals of a best responder."""
MATCH_SEED = 30_260
"""Seed number i is measured on deals of seed MATCH_SEED + i, whatever the option and the opponent."""


def main(words: Sequence[str] | None = None) -> None:
    """Train and measure it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=KNOWN, metavar="NAME")
    parser.add_argument("number", type=int, choices=range(1, SEEDS + 1), metavar="NUMBER")
    parser.add_argument("--to", type=Path, required=True, metavar="FILE")
    options = parser.parse_args(words)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that a training is ended, too
    file = options.to.resolve()
    write_atomic(file, json.dumps(measured(KNOWN[options.name], options.number, file.parent.parent)))


def measured(option: Option, number: int, folder: Path) -> dict[str, Any]:
    """What a seed took, its matches by base and opponent, and the gain on it.

    Its own training comes before those of its bases, which another process may be at.
    """
    found = trained(option, number, folder)
    found["base_seconds"] = {name: trained(KNOWN[name], number, folder)["seconds"] for name in option.bases}
    use_threads(1)
    agent, seed = str(place(option.name, folder)), MATCH_SEED + number
    rivals = {name: (str(place(name, folder)), BASE_GAMES) for name in option.bases}
    rivals |= {name: (name, PANEL_GAMES) for name in OPPONENTS}
    found["matches"] = {name: match(agent, rival, games, seed) for name, (rival, games) in rivals.items()}
    return found | {"gain": gain(agent, seed)}


def place(name: str, folder: Path) -> Path:
    """The run folder of an option."""
    return folder / name / "training"


def trained(option: Option, number: int, folder: Path) -> dict[str, Any]:
    """Processor seconds and hands of its training, which is done here where it is not there, and by one process alone.

    One that was interrupted starts anew: seconds count whole runs.
    """
    run, took = place(option.name, folder), folder / option.name / "took.json"
    took.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(took.with_suffix(".lock")):
        if not took.exists():
            shutil.rmtree(run, ignore_errors=True)
            seconds = processor_seconds([*DEEPCRIB, *option.command(number), f"hydra.run.dir={run}"])
            write_atomic(took, json.dumps({"seconds": round(seconds, 1), "hands": hands(run)}))
    return read_json(took)


def processor_seconds(words: Sequence[str]) -> float:
    """Those of `python WORDS`, which other processes disturb less than those of the clock."""
    before = getrusage(RUSAGE_CHILDREN)
    if code := run_python(REPOSITORY, words, sys.stderr):
        raise subprocess.CalledProcessError(code, " ".join(words))
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def hands(run: Path) -> int:
    """Hands of self-play in a run."""
    with (run / PROGRESS_FILE).open(encoding="utf-8") as lines:
        return int(list(csv.DictReader(lines))[-1]["progress/hands"])


def match(agent: str, rival: str, games: int, seed: int) -> dict[str, float]:
    """Win rate with its 95% interval, over pairs of games with the same cards."""
    found = evaluate(agent, rival, games, seed, duplicate=True)
    return {"win_rate": found.win_rate, "ci_low": round(found.ci_low, 5), "ci_high": round(found.ci_high, 5)}


def gain(agent: str, seed: int) -> dict[str, float]:
    """Points a hand that a best responder gains in the play, with its 95% interval over deals."""
    found = exploit(make_agent(agent), DEALS, seed, discards=False).total
    return {name: round(value, 4) for name, value in vars(found).items() if name in ("gain", "ci_low", "ci_high")}


if __name__ == "__main__":
    main()
