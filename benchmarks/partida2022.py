"""Partida 2022 with intervals: python benchmarks/partida2022.py FOLDER [--hands 20000] [--games 10000].

Sampled search against greedy in the play of random four-card hands, by the number of samples (figure 4), and full games
of the same players, and of discards that count the play. What is in FOLDER/rows.json and FOLDER/matches.json is not
played again, as long as hands, games, seed and the program's sources are those of FOLDER/settings.json. At the end
FOLDER/table.md and FOLDER/partida_figure_04.png, of all rows that have been played. FOLDER/margins holds the points of
every hand, from which rows are compared on the same cards.
"""

from __future__ import annotations

import argparse
import io
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import make_agent
from deepcrib.agents.specs.registry import MINIMAX_NAMES
from deepcrib.evaluation import evaluate as full_games
from deepcrib.evaluation import play_only as play_alone
from deepcrib.evaluation.evaluate import evaluate
from deepcrib.evaluation.play_only import play_points, summarise
from deepcrib.files import write_atomic
from deepcrib.intervals import mean_interval
from deepcrib.kernels.cache import PACKAGE
from deepcrib.kernels.sources import source_hash

SAMPLES = (10, 20, 30, 40, 50, 75, 100, 150, 200, 300, 400)
SEED = 2022
PUBLISHED = {"random": -1.14, "minimax": -0.11, "greedy_minimax": 0.12}
"""Points a hand: of 10,000 hands for random, and for the searches the means over all N, 40 times 1,000 hands."""


@dataclass(frozen=True)
class Row:
    """An agent of the table."""

    name: str
    hands: str = ""
    samples: int = -1

    @property
    def spec(self) -> Any:
        """What `make_agent` is given."""
        return {"name": self.name, "hands": self.hands, "samples": self.samples} if self.hands else self.name

    @property
    def label(self) -> str:
        """The row's name in the table."""
        return f"{self.name}, {self.hands}, N = {self.samples}" if self.hands else self.name

    @property
    def published(self) -> str:
        """What the paper has beside it: it samples as `ranks` does."""
        if not self.hands:
            return f"{PUBLISHED[self.name]:+.2f}"
        return f"{PUBLISHED[self.name]:+.2f} (mean over all N)" if self.hands == "ranks" else "-"


def rows() -> Iterator[Row]:
    """Random; both searches by the number of samples; at N = 50 the other ways to sample; all hands instead."""
    yield Row("random")
    for samples in SAMPLES:
        for name in MINIMAX_NAMES:
            yield Row(name, "ranks", samples)
    for name in MINIMAX_NAMES:
        for hands in ("unseen", "kept"):
            yield Row(name, hands, 50)
    for name in MINIMAX_NAMES:
        yield Row(name, "ranks", 0)
        yield Row(name, "unseen", 0)


def matches() -> Iterator[tuple[str, Any, tuple[str, ...], int]]:
    """Full games: (label, agent, opponents, games in thousands); searches first."""
    both = ("greedy", "deterministic")
    yield "minimax", "minimax", both, 10
    yield "greedy_minimax", "greedy_minimax", both, 10
    yield "expected_value_pegging", "expected_value_pegging", (*both, "expected_value"), 200
    yield "expected_value", "expected_value", both, 200
    for name in MINIMAX_NAMES:
        label = f"{name}, discards: expected_value_pegging"
        yield label, {"name": name, "discards": "expected_value_pegging"}, both, 10
    yield "minimax, hands: kept", {"name": "minimax", "hands": "kept"}, both, 2  # some times slower than the others


def comparisons() -> Iterator[tuple[Row, Row]]:
    """Rows whose difference on the same cards says something: the two searches, the samples' source, their number."""
    first, second = MINIMAX_NAMES
    for hands, samples in (("ranks", 50), ("ranks", 400), ("unseen", 50), ("unseen", 0)):
        yield Row(second, hands, samples), Row(first, hands, samples)
    for name in MINIMAX_NAMES:
        yield Row(name, "unseen", 50), Row(name, "ranks", 50)
        yield Row(name, "kept", 50), Row(name, "unseen", 50)
        yield Row(name, "ranks", 100), Row(name, "ranks", 50)
        yield Row(name, "ranks", 400), Row(name, "ranks", 100)
        yield Row(name, "unseen", 0), Row(name, "unseen", 50)


def load(path: Path) -> dict[str, dict[str, Any]]:
    """Figures by label, none where the file is not there yet."""
    found: dict[str, dict[str, Any]] = json.loads(path.read_text()) if path.is_file() else {}
    return found


def check_settings(folder: Path, hands: int, games: int) -> None:
    """Note what the rows of a folder are played with; refuse a folder whose rows were played with something else."""
    files = (play_alone.__file__, full_games.__file__)
    sources = "-".join(source_hash(Path(file).resolve(), PACKAGE)[:16] for file in files)
    settings = {"hands": hands, "games": games, "seed": SEED, "sources": sources}
    path = folder / "settings.json"
    found = load(path)
    if not found and ((folder / "rows.json").exists() or (folder / "matches.json").exists()):
        raise SystemExit(f"{folder}: rows without a settings.json; expected a new folder")
    if found and found != settings:
        different = ", ".join(
            f"{key}={found.get(key)!r}, now {settings[key]!r}" for key in settings if found.get(key) != settings[key]
        )
        raise SystemExit(f"{path}: rows were played with {different}; expected the same, or a new folder")
    write_atomic(path, json.dumps(settings, indent=1))


def play_matches(folder: Path, share: float) -> dict[str, dict[str, Any]]:
    """The figures of every match by its label, played where they are not known yet."""
    path = folder / "matches.json"
    found = load(path)
    for label, spec, opponents, thousands in matches():
        for opponent in opponents:
            key = f"{label} | {opponent}"
            if key not in found:
                figures = evaluate(spec, opponent, max(1, round(1000 * thousands * share)), SEED).to_dict()
                found[key] = figures
                write_atomic(path, json.dumps(found, indent=1))
                print(key, f"{100 * figures['win_rate']:.1f}%", f"{figures['seconds']:.0f} s", flush=True)
    return found


def match_table(found: dict[str, dict[str, Any]]) -> str:
    """Win rates as a Markdown table."""
    lines = ["| agent | opponent | games | win rate [95%] | margin, points a game |", "|---|---|---|---|---|"]
    for key, figures in found.items():
        rate, low, high = (100 * figures[name] for name in ("win_rate", "ci_low", "ci_high"))
        interval = f"{rate:.1f}% [{low:.1f}, {high:.1f}]"
        lines.append(f"| {key} | {figures['games']:,} | {interval} | {figures['margin']:+.2f} |")
    return "\n".join(lines) + "\n"


def measure(folder: Path, hands: int, wanted: list[str] | None) -> dict[str, dict[str, Any]]:
    """The figures of rows by their labels, played where they are wanted (None: all) and not known yet."""
    path = folder / "rows.json"
    found = load(path)
    for row in rows():
        if row.label not in found and (wanted is None or row.label in wanted):
            start, cpu = time.perf_counter(), time.process_time()
            points = play_points(make_agent(row.spec), make_agent("greedy"), hands, SEED)
            figures = summarise(points, duplicate=False).to_dict()
            save_margins(folder, row, points)
            spent = {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - cpu}
            found[row.label] = figures | spent
            write_atomic(path, json.dumps(found, indent=1))
            print(row.label, f"{figures['difference']:+.3f}", f"{spent['seconds']:.0f} s", flush=True)
    return found


def margins_file(folder: Path, row: Row) -> Path:
    """Where a row's points are kept, hand by hand."""
    return folder / "margins" / f"{row.label.replace(', ', '_').replace(' = ', '_')}.npy"


def save_margins(folder: Path, row: Row, points: NDArray[np.int64]) -> None:
    """Keep own minus opponent's points [hands]."""
    path, content = margins_file(folder, row), io.BytesIO()
    path.parent.mkdir(exist_ok=True)
    np.save(content, (points[:, 0] - points[:, 1]).astype(np.int8))
    write_atomic(path, content.getvalue())


def comparison_table(folder: Path) -> str:
    """Differences of rows on the same cards as a Markdown table; intervals over pairs of hands."""
    lines = ["| row | less row | points a hand more [95%] |", "|---|---|---|"]
    for one, other in comparisons():
        paths = [margins_file(folder, row) for row in (one, other)]
        if all(path.is_file() for path in paths):
            mine, theirs = (np.load(path).astype(np.float64) for path in paths)
            found = mean_interval((mine - theirs).reshape(-1, 2).mean(axis=1))
            interval = f"{found.estimate:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"
            lines.append(f"| {one.label} | {other.label} | {interval} |")
    return "\n".join(lines) + "\n"


def table(found: dict[str, dict[str, Any]]) -> str:
    """The figures as a Markdown table."""
    lines = [
        "| agent | hands | difference [95%] | points, opponent's | as pone | as dealer | published |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in (row for row in rows() if row.label in found):
        figures = found[row.label]
        interval = f"{figures['difference']:+.3f} [{figures['ci_low']:+.3f}, {figures['ci_high']:+.3f}]"
        points = f"{figures['points']:.2f}, {figures['opponent_points']:.2f}"
        role = " | ".join(f"{figures[key]:+.2f}" for key in ("as_pone", "as_dealer"))
        lines.append(f"| {row.label} | {figures['hands']:,} | {interval} | {points} | {role} | {row.published} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Play what is missing, then write the table and the figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--hands", type=int, default=20_000, help="of each row; the same cards for all")
    parser.add_argument(
        "--games", type=int, default=10_000, help="of a match with a search; others have 20 times as many"
    )
    parser.add_argument("--rows", nargs="+", metavar="LABEL", help="play these rows alone, and no full games")
    options = parser.parse_args()
    unknown = set(options.rows or ()) - {row.label for row in rows()}
    if unknown:
        parser.error(f"--rows: {sorted(unknown)}: expected labels of the table, like 'minimax, ranks, N = 50'")
    options.folder.mkdir(parents=True, exist_ok=True)
    check_settings(options.folder, options.hands, options.games)
    found = measure(options.folder, options.hands, options.rows)
    games = play_matches(options.folder, options.games / 10_000) if options.rows is None else {}
    text = "\n".join([table(found), comparison_table(options.folder), *([match_table(games)] if games else [])])
    write_atomic(options.folder / "table.md", text)
    curves = {
        name: [(samples, found[label]) for samples in SAMPLES if (label := Row(name, "ranks", samples).label) in found]
        for name in MINIMAX_NAMES
    }
    figure = differences_by_samples(curves, PUBLISHED)
    if figure is not None:
        figure.savefig(options.folder / "partida_figure_04.png", dpi=100)
    print(text)


def differences_by_samples(
    curves: Mapping[str, Sequence[tuple[int, Mapping[str, Any]]]], published: Mapping[str, float]
) -> Any:
    """Mean difference of play points against greedy by the number of samples, a line an agent, with 95% intervals.

    curves: by agent, (samples, figures of `evaluation.play_only`). published: points, dashed in the agent's colour.
    None when matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        return None
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    for name, points in curves.items():
        samples = np.array([number for number, _ in points])
        mean, low, high = (np.array([f[key] for _, f in points]) for key in ("difference", "ci_low", "ci_high"))
        drawn = axes.errorbar(samples, mean, yerr=(mean - low, high - mean), marker="o", markersize=3, label=name)
        if name in published:
            color = drawn.lines[0].get_color()
            axes.axhline(published[name], color=color, linestyle="--", linewidth=0.9, label=f"{name}, published")
    axes.axhline(0, color="0.6", linewidth=0.6)
    axes.set_xlabel("sampled hands")
    axes.set_ylabel("points a hand more than greedy")
    axes.set_title("Sampled search against greedy, play of random hands")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    return figure


if __name__ == "__main__":
    main()
