"""Partida 2022 with intervals: python -m benchmarks.partida2022.page [rows | games --to FILE].

Without words it writes the tables and the figure of docs/results/search.md from what `long_runs.py` keeps of its runs
in docs/results/data/; a table whose run is not there stays. `rows`: sampled search against greedy in the play of random
four-card hands, by the number of samples (figure 4). `games`: full games of the same players, and of discards that
count the play. FILE gets the figures, and differences on the same cards; the points of every hand and game lie beside
it, and what is there is not played again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.long_runs import DATA, finished
from benchmarks.pages import filled, line
from benchmarks.partida2022.causes import SAMPLERS, TREES
from benchmarks.partida2022.values import (
    BOTH,
    PEGGING,
    PUBLISHED,
    SAMPLES,
    SEED,
    Row,
    comparisons,
    match_comparisons,
    matches,
    rows,
    with_pegging,
)
from deepcrib.agents import make_agent
from deepcrib.agents.specs.registry import MINIMAX_NAMES
from deepcrib.analysis.figures import save_png
from deepcrib.evaluation.evaluate import summarise
from deepcrib.evaluation.hands import pegged_points, play_metrics
from deepcrib.files import write_atomic
from deepcrib.intervals import mean_interval
from deepcrib.matches import MatchResult
from deepcrib.matches import play_match as play_games

PAGE = DATA.parent / "search.md"
FIGURE = DATA.parent / "partida_figure_04.png"
HANDS, GAMES = 20_000, 10_000
MATCH_FIGURES = ("games", "win_rate", "ci_low", "ci_high", "margin", "points", "opponent_points")


def main(words: Sequence[str] | None = None) -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("rows", "games"))
    parser.add_argument("--hands", type=int, default=HANDS, help="of each row; the same cards for all")
    parser.add_argument(
        "--games", type=int, default=GAMES, help="of a match with a search; others have 20 times as many"
    )
    parser.add_argument("--to", type=Path, metavar="FILE", help="where the figures go")
    options = parser.parse_args(words)
    if (options.what is None) != (options.to is None):
        parser.error("rows and games need --to FILE, and the page none")
    if options.what is None:
        write_page()
        return
    folder = options.to.parent
    found = play_rows(folder, options.hands) if options.what == "rows" else play_matches(folder, options.games / GAMES)
    write_atomic(options.to, json.dumps(found))


# --- measuring --------------------------------------------------------------------------------------------------


def kept(path: Path, make: Callable[[], dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Arrays of a file by name, made and kept where it is not there."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part.npz")
        np.savez_compressed(part, **make())
        part.replace(path)
        print(path.stem, "done", flush=True)
    with np.load(path) as found:
        return dict(found)


def play_rows(folder: Path, hands: int) -> dict[str, Any]:
    """Figures of every row, and differences of rows on the same cards, over pairs of hands."""
    found, margins = {}, {}
    for row in rows():
        path = folder / f"{hands} hands" / f"{row.label}.npz"
        points = kept(path, partial(play_row, row, hands))["points"].astype(np.int64)
        found[row.label] = play_metrics(points, duplicate=False).to_dict()
        margins[row.label] = (points[:, 0] - points[:, 1]).reshape(-1, 2).mean(axis=1)
    compared = {
        f"{one.label}|{other.label}": mean_interval(margins[one.label] - margins[other.label])
        for one, other in comparisons()
    }
    return {"rows": found, "compared": compared}


def play_row(row: Row, hands: int) -> dict[str, NDArray[Any]]:
    """points [hands, 2] of a row's agent and of greedy."""
    return {"points": pegged_points(make_agent(row.spec), make_agent("greedy"), hands, SEED).astype(np.int8)}


def play_matches(folder: Path, share: float) -> dict[str, Any]:
    """Figures of every match, and differences of matches on the same deals, game by game."""
    found: dict[str, Any] = {}
    results: dict[str, NDArray[np.float64]] = {}
    for label, spec, opponents, thousands in matches():
        for opponent in opponents:
            key = f"{label}|{opponent}"

            games = max(4, round(1000 * thousands * share))
            path = folder / f"{games} games" / f"{key.replace('|', ' against ')}.npz"
            arrays = kept(path, partial(play_match, spec, opponent, games))
            result = MatchResult(**{name: array if array.ndim else array.item() for name, array in arrays.items()})
            figures = summarise(result, duplicate=False).to_dict()
            found[key] = {name: figures[name] for name in MATCH_FIGURES}
            won, points = result.winner == 0, result.scores[:, 0].astype(np.int64) - result.scores[:, 1]
            results[key] = np.stack([won, points], axis=1).astype(np.float64)
    return {"matches": found, "compared": dict(compare_matches(results))}


def play_match(spec: Any, opponent: str, games: int) -> dict[str, NDArray[Any]]:
    """The arrays of a `MatchResult`, by name."""
    result = play_games([make_agent(spec), make_agent(opponent)], games, seed=SEED)
    return {name: np.asarray(value) for name, value in vars(result).items()}


def compare_matches(results: Mapping[str, NDArray[np.float64]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Of matches on the same deals: shares of games won and points a game more; results [games, 2] by match."""
    for label, base, opponent in match_comparisons():
        one, other = results[f"{label}|{opponent}"], results[f"{base}|{opponent}"]
        games = min(len(one), len(other))
        yield f"{label}|{base}|{opponent}", _difference(one[:games] - other[:games])
    for opponent in BOTH:
        more = [results[f"{with_pegging(name)}|{opponent}"] - results[f"{name}|{opponent}"] for name in MINIMAX_NAMES]
        yield f"both searches, {PEGGING}|both searches|{opponent}", _difference(np.mean(more, axis=0))


def _difference(more: NDArray[np.float64]) -> dict[str, Any]:
    return {"games": len(more), "won": mean_interval(more[:, 0]), "points": mean_interval(more[:, 1])}


# --- the page ---------------------------------------------------------------------------------------------------


def write_page() -> None:
    """The tables and the figure of what is kept."""
    write_atomic(PAGE, page(PAGE.read_text(encoding="utf-8")))
    figures = kept_figures("partida_rows")
    if figures:
        curves = {
            name: [(samples, _of(figures, f"rows.{Row(name, 'ranks', samples).label}.")) for samples in SAMPLES]
            for name in MINIMAX_NAMES
        }
        save_png(differences_by_samples(curves, PUBLISHED), FIGURE, dpi=100)


def page(text: str) -> str:
    """The page with the tables of what is kept."""
    tables = {
        **{"rows": (row_table, "partida_rows"), "rows compared": (comparison_table, "partida_rows")},
        **{"games": (match_table, "partida_games"), "games compared": (match_comparison_table, "partida_games")},
        "causes": (causes_table, "partida_causes"),
    }
    found = {name: (make, kept_figures(group)) for name, (make, group) in tables.items()}
    ends = {name: f"\n\nCommit `{figures['commit'][:7]}`." for name, (_, figures) in found.items() if figures}
    return filled(text, {name: "\n".join(found[name][0](found[name][1])) + end for name, end in ends.items()})


def kept_figures(group: str) -> dict[str, Any]:
    """Figures of the one run of a group and its commit, nothing where it has not run."""
    run = finished(group).get("all")
    return {"commit": run["commit"], **run["figures"]} if run else {}


def _of(figures: Mapping[str, Any], beginning: str) -> dict[str, Any]:
    return {name.removeprefix(beginning): value for name, value in figures.items() if name.startswith(beginning)}


def _interval(found: Sequence[float], digits: int = 3, unit: float = 1) -> str:
    return "{:+.{d}f} [{:+.{d}f}, {:+.{d}f}]".format(*(unit * value for value in found), d=digits)


SHOWN = (-1, 0, 10, 50, 100, 400)
"""Samples of the rows in the table; the figure has them all."""


def row_table(figures: Mapping[str, Any]) -> Iterator[str]:
    """Both searches by samples, and random."""
    yield line("hands, N", *(f"{name} [95%]" for name in MINIMAX_NAMES))
    yield "|---|---|---|"
    for row in (row for row in rows() if row.name in ("random", MINIMAX_NAMES[0]) and row.samples in SHOWN):
        cells: list[str] = []
        for name in MINIMAX_NAMES if row.hands else ("random",):
            own = _of(figures, f"rows.{Row(name, row.hands, row.samples).label}.")
            cells.append(_interval([own[key] for key in ("difference", "ci_low", "ci_high")]))
        label = f"{row.hands}, {row.samples or 'all hands'}" if row.hands else "random play"
        yield line(label, *cells, *[""] * (2 - len(cells)))


def comparison_table(figures: Mapping[str, Any]) -> Iterator[str]:
    """Differences of rows on the same cards."""
    yield from ("| row | less row | points a hand more [95%] |", "|---|---|---|")
    for one, other in comparisons():
        yield line(one.label, other.label, _interval(figures[f"compared.{one.label}|{other.label}"]))


def match_table(figures: Mapping[str, Any]) -> Iterator[str]:
    """Win rates."""
    yield "| agent | opponent | games | win rate [95%] | margin, points a game |"
    yield "|---|---|---|---|---|"
    for label, _, opponents, _ in matches():
        for opponent in opponents:
            own = _of(figures, f"matches.{label}|{opponent}.")
            rate = "{:.1f}% [{:.1f}, {:.1f}]".format(*(100 * own[key] for key in ("win_rate", "ci_low", "ci_high")))
            yield line(label, opponent, f"{own['games']:,}", rate, f"{own['margin']:+.2f}")


def match_comparison_table(figures: Mapping[str, Any]) -> Iterator[str]:
    """Differences of matches on the same deals."""
    changes = []
    for opponent in BOTH:
        won = figures[f"compared.both searches, {PEGGING}|both searches|{opponent}.won"]
        word = "a gain" if won[1] > 0 else "a loss" if won[2] < 0 else "no difference"
        changes.append(f"against {opponent} {word} ({_interval(won, 2, 100)} per cent of games)")
    yield f"**With a search in the play** they show {', '.join(changes)}. Matches on the same deals, game by game:"
    yield ""
    yield "| agent | less agent | opponent | games | per cent of games won more [95%] | points a game more [95%] |"
    yield "|---|---|---|---|---|---|"
    both = [(f"both searches, {PEGGING}", "both searches", opponent) for opponent in BOTH]
    for words in (*match_comparisons(), *both):
        own = _of(figures, f"compared.{'|'.join(words)}.")
        yield line(*words, f"{own['games']:,}", _interval(own["won"], 2, 100), _interval(own["points"], 2))


def causes_table(figures: Mapping[str, Any]) -> Iterator[str]:
    """Differences to greedy by sampler and tree, and of the searches on the same cards."""
    yield line("sampler, tree", *(f"{name} [95%]" for name in MINIMAX_NAMES), "second search less first")
    yield "|---" * 4 + "|"
    for name in map(".".join, product(SAMPLERS, TREES)):
        first, second = (_of(figures, f"difference.{search}.{name}.") for search in MINIMAX_NAMES)
        cells = (first["all"], second["all"], second["less_minimax"])
        yield line(name.replace(".", ", "), *(_interval(cell, 2) for cell in cells))
    yield line("paper", f"{PUBLISHED['minimax']:+.2f}", f"{PUBLISHED['greedy_minimax']:+.2f}", "+0.23")


def differences_by_samples(
    curves: Mapping[str, Sequence[tuple[int, Mapping[str, Any]]]], published: Mapping[str, float]
) -> Any:
    """Mean difference of play points against greedy by the number of samples, a line an agent, with 95% intervals.

    curves: by agent, (samples, figures of `evaluation.hands`). published: points, dashed in the agent's colour.
    """
    from matplotlib.figure import Figure

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
