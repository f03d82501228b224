"""Bélanger et al. 2019 at full length: python benchmarks/paper2019.py FOLDER [--list] [--only NAME ...] [--nice 10].

All runs behind docs/results/paper2019.md in their order, some forty hours of one core: CNN+LSTM SARSA, the other seven
setups, the 318 trials of table 3, seeds 2 and 3 of all eight, the best of table 3 trained anew. Start it whenever the
machine has a core to spare: runs whose figures are kept are skipped, half-done ones resumed. Runs and logs lie in
FOLDER, with a clone of this repository at the commit CODE, so that work on the source does not touch them. As runs
finish, what is small of them (figures, curve, seconds, commit) is copied to docs/results/paper2019/, with a table of
all of them.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from clones import REPOSITORY, clone_at, run_deepcrib
from paper2019_values import ALGORITHMS, ARCHITECTURES, FIGURES, HOURS, PUBLISHED_WINS, TABLE_3, Searched

from deepcrib.agents import make_agent
from deepcrib.evaluation.hands import hands_won
from deepcrib.files import write_atomic
from deepcrib.files.runs import CONFIG, ENVIRONMENT, SUMMARY, read_json
from deepcrib.intervals import mean_interval

CODE = "d5e546a6979afa07b72c283aef513f610d09775f"
"""The commit that runs are made with. Finished ones name theirs: weights are the same on the same machine."""
CURVE_FILE = "curve.csv"
"""What its runs write of their matches, a row an opponent; later versions write `progress.csv` instead."""
RESULTS = REPOSITORY / "docs" / "results" / "paper2019"
OPPONENT = "deterministic"
BASELINE = "table3_baseline"
BASELINE_HANDS, FRESH_HANDS = 1_000_000, 100_000
SEEDS, FRESH_SEEDS = (1, 2, 3), (101, 102, 103)
"""Of the eight setups, and of the best of table 3, whose search had seed 1."""
TICKS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500)
"""Iterations on the axis of the figure."""


@dataclass(frozen=True)
class Step:
    """A run of `deepcrib train`, or with `trials` a search of so many; words: its command.

    search: the name of the search whose best trial's values the run takes as well.
    """

    name: str
    words: tuple[str, ...]
    trials: int = 0
    search: str = ""


def steps() -> Iterator[Step]:
    """All runs in their order."""
    setups = [(network, algorithm) for network in ("cnn_lstm", "mlp") for algorithm in ALGORITHMS]
    setups.sort(key=lambda setup: setup != ("cnn_lstm", "sarsa"))
    yield from (_setup(*setup, SEEDS[0]) for setup in setups)
    yield from map(_search, TABLE_3)
    yield from (_setup(*setup, seed) for seed in SEEDS[1:] for setup in setups)
    for row in TABLE_3:
        for seed in FRESH_SEEDS:
            more = (f"seed={seed}", f"evaluation.hands={FRESH_HANDS}", "evaluation.final_games=5000")
            yield Step(f"table3_{row.reward}_{row.state}_seed{seed}", _play_alone(row) + more, search=_search(row).name)


def _setup(network: str, algorithm: str, seed: int) -> Step:
    return Step(f"{network}_{algorithm}_seed{seed}", (f"experiment=paper2019_{network}_{algorithm}", f"seed={seed}"))


def _search(row: Searched) -> Step:
    """Random values within table 4: the paper prints averages over trials, which a search that learns would raise."""
    sweeper = {"algorithm": "random", "max_trials": row.trials, "max_broken": 1000}
    words = ("-m", *_play_alone(row), *(f"hydra.sweeper.{name}={value}" for name, value in sweeper.items()))
    return Step(f"table3_{row.reward}_{row.state}", words, row.trials)


def _play_alone(row: Searched) -> tuple[str, ...]:
    network = "play_network=belanger2019_mlp"
    return ("experiment=paper2019_search", f"reward={row.reward}", f"state={row.state}", network)


# --- running ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Runner:
    """Runs steps in a folder, from the clone in it, one at a time, with the niceness of this process."""

    folder: Path

    def clone(self) -> Path:
        """The repository at the commit CODE."""
        return clone_at(self.folder / "deepcrib", CODE)

    def place(self, step: Step) -> Path:
        """The step's run folder, or that of its search."""
        return self.folder / "runs" / step.name

    def is_done(self, step: Step) -> bool:
        """Whether nothing of the step is left to run."""
        if not step.trials:
            return (self.place(step) / SUMMARY).exists()
        return len(_ended(self.place(step))) >= step.trials

    def command(self, step: Step) -> list[str]:
        """What starts the step, or goes on with it; a search does so by itself."""
        place = self.place(step)
        if step.trials:
            return ["train", *step.words, f"hydra.sweep.dir={place}"]
        if (place / CONFIG).exists():
            return ["train", f"resume={place}"]
        best = _best_values(self.folder / "runs" / step.search) if step.search else ()
        return ["train", *step.words, *best, f"hydra.run.dir={place}"]

    def run(self, step: Step) -> None:
        """Run the step to its end. Raises SystemExit where it fails."""
        clone, log = self.clone(), self.folder / "logs" / f"{step.name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a", encoding="utf-8") as output:
            code = run_deepcrib(clone, self.command(step), output)
        if code or not self.is_done(step):
            raise SystemExit(f"{step.name}: exit code {code}, see {log}")


def _ended(study: Path) -> list[Mapping[str, Any]]:
    """The trials of a search that are completed or broken."""
    path = study / "trials.json"
    trials = json.loads(path.read_text()) if path.exists() else []
    return [trial for trial in trials if trial["state"] in ("completed", "broken")]


def _best_values(study: Path) -> list[str]:
    """The values of the trial that won the most hands, as words of a command."""
    trials = _ended(study) or (_result(study.name) or {"trials": []})["trials"]
    completed = [trial for trial in trials if trial["state"] == "completed"]
    if not completed:
        raise SystemExit(f"{study}: expected trials that ended")
    best = max(completed, key=lambda trial: trial["objective"])
    return [f"{name}={value}" for name, value in best["values"].items()]


# --- results ----------------------------------------------------------------------------------------------------


def keep(runner: Runner, step: Step) -> None:
    """Copy what is small of a finished step to RESULTS."""
    place = runner.place(step)
    found: dict[str, Any] = {"command": "deepcrib train " + " ".join(step.words), "commit": CODE}
    if step.trials:
        trials = _ended(place)
        found |= {
            "trials": [{key: trial[key] for key in ("values", "state", "objective", "error")} for trial in trials]
        }
        found["seconds"] = sum(trial["seconds"] or 0 for trial in trials)
    else:
        environment = read_json(place / ENVIRONMENT)
        found |= {"machine": {k: v for k, v in environment["machine"].items() if k != "host"}}
        found |= {"versions": environment["versions"], "summary": read_json(place / SUMMARY)}
        with suppress(FileNotFoundError):
            write_atomic(RESULTS / f"{step.name}.csv", (place / CURVE_FILE).read_text())
    write_atomic(RESULTS / f"{step.name}.json", json.dumps(found, indent=1) + "\n")


def keep_baseline() -> None:
    """Hands of deterministic against itself, as table 3 counts them."""
    if not (RESULTS / f"{BASELINE}.json").exists():
        found = hands_won(make_agent(OPPONENT), make_agent(OPPONENT), BASELINE_HANDS, seed=2019)
        write_atomic(RESULTS / f"{BASELINE}.json", json.dumps(found.to_dict(), indent=1) + "\n")


def write_table() -> None:
    """docs/results/paper2019/README.md: every finished step, beside the published values."""
    about = "Written by `python benchmarks/paper2019.py FOLDER`; [paper2019.md](../paper2019.md) says what it means."
    lines = ["# The runs so far", "", about, "", *_setups_table(), "", *_searches_table()]
    write_atomic(RESULTS / "README.md", "\n".join(lines) + "\n")


def _setups_table() -> list[str]:
    """A line for each finished setup and seed: final matches, hours, published hours and win rate."""
    lines = [
        "| setup | seed | against deterministic | the same, exploring | hours | published hours | published win rate |",
        "|---|---|---|---|---|---|---|",
    ]
    for network in ("cnn_lstm", "mlp"):
        for algorithm in ALGORITHMS:
            published = PUBLISHED_WINS.get((network, algorithm))
            shown = "" if published is None else f"{100 * published[0]:.1f}% +- {100 * published[1]:.1f}"
            for seed in SEEDS:
                if found := _result(_setup(network, algorithm, seed).name):
                    figures = found["summary"][OPPONENT]
                    name = f"{ARCHITECTURES[network]}, {ALGORITHMS[algorithm]}"
                    rates, hours = (_rate(figures), _rate(figures["exploring"])), _hours(network, algorithm, seed)
                    lines.append(_line(name, seed, *rates, f"{hours:.2f}", HOURS[network, algorithm], shown))
    return lines


def _searches_table() -> list[str]:
    """A line for each finished search, and its best trained anew; the baseline first."""
    lines = [
        "| reward, state | trials | mean over trials | best trial | trained anew, fresh hands | published |",
        "|---|---|---|---|---|---|",
    ]
    if baseline := _result(BASELINE):
        lines.append(_line("deterministic against itself", "", _rate(baseline), "", "", ""))
    for row in TABLE_3:
        if found := _result(_search(row).name):
            shares = [trial["objective"] for trial in found["trials"] if trial["state"] == "completed"]
            mean = mean_interval(shares)
            again = [_result(f"table3_{row.reward}_{row.state}_seed{seed}") for seed in FRESH_SEEDS]
            anew = ", ".join(_rate(one["summary"][OPPONENT]["hands_won"]) for one in again if one)
            means = f"{100 * mean.estimate:.1f}% [{100 * mean.low:.1f}, {100 * mean.high:.1f}]"
            cells = f"{len(shares)} of {row.trials}", means, f"{100 * max(shares):.1f}%"
            lines.append(_line(f"{row.reward}, {row.state}", *cells, anew, f"{row.wins / 10:.1f}%"))
    return lines


def draw_curves() -> None:
    """curves.png: figures 9 and 10, the win rate by iteration of every setup that has finished; the mean over seeds.

    Bars: 95% intervals of the games, of one seed; else a band from the lowest to the highest seed.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter

    found = {(network, algorithm): _curves(network, algorithm) for network in FIGURES for algorithm in ALGORITHMS}
    networks = [network for network in FIGURES if any(found[network, algorithm] for algorithm in ALGORITHMS)]
    if not networks:
        return
    figure = Figure(figsize=(7, 3.6 * len(networks)), layout="constrained")
    panels = figure.subplots(len(networks), squeeze=False, sharex=True)[:, 0]
    for panel, network in zip(panels, networks, strict=True):
        for number, (algorithm, name) in enumerate(ALGORITHMS.items()):
            if curves := found[network, algorithm]:
                _draw(panel, curves, f"C{number}", name)
        title = f"{ARCHITECTURES[network]} (figure {FIGURES[network]}): wins against {OPPONENT}, 5,000 games a point"
        panel.set_title(title, fontsize="medium")
        panel.set_xscale("symlog", linthresh=1, linscale=0.4)
        panel.set_xticks(TICKS, [str(tick) for tick in TICKS])
        panel.set_xlim(-0.1, 600)
        panel.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        panel.grid(alpha=0.3)
        panel.legend(loc="lower right")
    panels[-1].set_xlabel("replay iteration")
    figure.savefig(RESULTS / "curves.png", dpi=110)


def _draw(panel: Any, curves: list[list[dict[str, str]]], color: str, name: str) -> None:
    """The line of a setup, from the curves of its seeds that have finished."""
    x = [int(row["iteration"]) for row in curves[0]]
    rates = np.array([[float(row["win_rate"]) for row in curve] for curve in curves])
    label = f"{name}, {len(curves)} seed{'s' if len(curves) > 1 else ''}"
    (line,) = panel.plot(x, rates.mean(axis=0), color=color, marker="o", markersize=3, label=label)
    if len(curves) > 1:
        panel.fill_between(x, rates.min(axis=0), rates.max(axis=0), color=color, alpha=0.2, linewidth=0)
        return
    bounds = np.array([[float(row["ci_low"]), float(row["ci_high"])] for row in curves[0]]).T
    panel.vlines(x, *bounds, color=line.get_color(), alpha=0.5, linewidth=1)


def _curves(network: str, algorithm: str) -> list[list[dict[str, str]]]:
    """Rows of curve.csv of each finished seed of a setup."""
    files = [RESULTS / f"{_setup(network, algorithm, seed).name}.csv" for seed in SEEDS]
    return [list(csv.DictReader(path.open(encoding="utf-8"))) for path in files if path.exists()]


def _result(name: str) -> dict[str, Any] | None:
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def _hours(network: str, algorithm: str, seed: int) -> float:
    """Hours of training, matches on the way included, by the clock; of a resumed run those of all its parts."""
    rows = list(csv.DictReader((RESULTS / f"{_setup(network, algorithm, seed).name}.csv").open(encoding="utf-8")))
    return float(rows[-1]["seconds"]) / 3600


def _rate(figures: Mapping[str, Any]) -> str:
    return f"{100 * figures['win_rate']:.1f}% [{100 * figures['ci_low']:.1f}, {100 * figures['ci_high']:.1f}]"


def _line(*cells: Any) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


# --- command ----------------------------------------------------------------------------------------------------


def main(words: Sequence[str] | None = None) -> None:
    """Run what is not done yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--list", action="store_true", help="say what is done and what is not, and run nothing")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these steps alone")
    parser.add_argument("--nice", type=int, default=10, help="added to the niceness, of all runs")
    options = parser.parse_args(words)
    runner = Runner(options.folder.resolve())
    chosen = [step for step in steps() if not options.only or step.name in options.only]
    if unknown := set(options.only) - {step.name for step in chosen}:
        parser.error(f"--only {' '.join(sorted(unknown))}: expected names that --list shows")
    if options.list:
        for step in chosen:
            print(f"{'done' if _result(step.name) or runner.is_done(step) else 'open'}  {step.name}")
        return
    os.nice(options.nice)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    RESULTS.mkdir(parents=True, exist_ok=True)
    keep_baseline()
    for step in chosen:
        begin = time.monotonic()
        if _result(step.name):  # of this folder or of one that is gone
            continue
        if not runner.is_done(step):
            runner.run(step)
        keep(runner, step)
        write_table()
        draw_curves()
        print(f"{step.name}: done, {time.monotonic() - begin:,.0f} s in this call", flush=True)


if __name__ == "__main__":
    main()
