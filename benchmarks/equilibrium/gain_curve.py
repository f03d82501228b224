"""What a best responder gains in the play along a training: python -m benchmarks.equilibrium.gain_curve NAME=RUN ...

Measures checkpoints of run folders on the same deals, those of iterations 50, 100, 200, 400, .. and the last, and keeps
what it found in docs/results/equilibrium.csv; a checkpoint that stands there is not measured again. Then draws every
run of that file: gain against hands of self-play. With --temperature the agents of Q-networks draw their cards by it,
under a NAME that says so. With --draw it measures nothing.
"""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deepcrib.agents import make_agent
from deepcrib.evaluation.exploit import exploit
from deepcrib.files import write_atomic
from deepcrib.kernels.workers import use_workers
from deepcrib.training.progress import SECONDS, Curve, read_progress
from deepcrib.training.run_files import checkpoint_files

RESULTS = Path(__file__).parents[2] / "docs" / "results"
TABLE, FIGURE = RESULTS / "equilibrium.csv", RESULTS / "equilibrium.png"
COLUMNS = ("run", "iteration", "hands", "hours", "deals", "gain", "low", "high")
DEALS, SEED = 400, 7
FIRST = 50
"""The first iteration that is measured, and then each that is twice as far."""


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", metavar="NAME=RUN", help="a name for the figure, and its run folder")
    parser.add_argument("--deals", type=int, default=DEALS)
    parser.add_argument("--temperature", type=float, default=0.0, help="of the agents, points")
    parser.add_argument("--draw", action="store_true", help="draw what has been measured")
    options = parser.parse_args(words)
    use_workers(1)
    rows = read_rows()
    for named in [] if options.draw else options.runs:
        name, equals, folder = named.partition("=")
        if not equals:
            parser.error(f"{named}: expected NAME=RUN")
        for iteration, path in due(checkpoint_files(Path(folder))).items():
            if not any(row["run"] == name and int(row["iteration"]) == iteration for row in rows):
                agent = {"path": str(path), "temperature": options.temperature}
                figures = measured(Path(folder), iteration, agent, options.deals)
                rows.append({"run": name, "iteration": iteration} | figures)
                write_rows(rows)
                print(rows[-1], flush=True)
    draw(rows)


def due(checkpoints: dict[int, Path]) -> dict[int, Path]:
    """The last, and those before it of iterations FIRST, 2 FIRST, 4 FIRST, .."""
    last, wanted = max(checkpoints), set[int]()
    step = FIRST
    while step < last:
        wanted.add(step)
        step *= 2
    return {number: path for number, path in checkpoints.items() if number in wanted | {last}}


def measured(run: Path, iteration: int, agent: dict[str, Any], deals: int) -> dict[str, Any]:
    """A row but for its name. hours: of the clock, on whatever else the machine had to do."""
    progress = read_progress(run)
    hands, seconds = (at(progress[name], iteration) for name in ("progress/hands", SECONDS))
    found = exploit(make_agent(agent), deals, SEED, discards=False).total
    figures = {"gain": found.gain, "low": found.ci_low, "high": found.ci_high}
    rounded = {name: round(value, 4) for name, value in figures.items()}
    return {"hands": int(hands), "hours": round(seconds / 3600, 3), "deals": deals} | rounded


def at(curve: Curve, iteration: int) -> float:
    """A metric's value after an iteration."""
    steps, values = curve
    return float(values[steps == iteration].item())


def read_rows() -> list[dict[str, Any]]:
    """What has been measured."""
    if not TABLE.exists():
        return []
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_rows(rows: Sequence[dict[str, Any]]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_atomic(TABLE, text.getvalue())


def draw(rows: Sequence[dict[str, Any]]) -> None:
    """Gain against hands, a line a run, 95% intervals as bars."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter

    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    for name in dict.fromkeys(row["run"] for row in rows):
        own = [row for row in rows if row["run"] == name]
        x, y = ([float(row[column]) for row in own] for column in ("hands", "gain"))
        bars = [
            [g - float(row["low"]) for g, row in zip(y, own, strict=True)],
            [float(row["high"]) - g for g, row in zip(y, own, strict=True)],
        ]
        axes.errorbar(x, y, bars, label=name, marker="o", markersize=4, linewidth=1.4, elinewidth=1)
    axes.set(xscale="log", xlabel="hands of self-play", ylabel="best responder's gain in the play, points a hand")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(FIGURE, dpi=110)
    print(FIGURE)


if __name__ == "__main__":
    main()
