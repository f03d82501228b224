"""The tables and the figures of docs/results/paper2019.md: python -m benchmarks.paper2019.page [--players].

They are written from what `long_runs.py` keeps of its runs in docs/results/data/. `--players` first measures how many
hands the package's players win in the way of table 3, a few minutes of one core, and keeps that there, too.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import starmap
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.long_runs import DATA, finished
from benchmarks.pages import filled, line
from benchmarks.paper2019 import deal as paper2019_deal
from benchmarks.paper2019 import leads as paper2019_leads
from benchmarks.paper2019.runs import hands_won, table_3_group
from benchmarks.paper2019.values import (
    ALGORITHMS,
    ARCHITECTURES,
    FIGURES,
    HOURS,
    ITERATIONS,
    RELATIONS,
    TABLE_1,
    TABLE_1_RATE,
    TABLE_3,
    Searched,
)
from deepcrib.agents import Agent, make_agent
from deepcrib.analysis.tables import percent
from deepcrib.evaluation.hands import hands_won as play_hands
from deepcrib.files import write_atomic
from deepcrib.files.runs import read_json
from deepcrib.intervals import Interval, Z, mean_interval, normal, wilson

PAGE = DATA.parent / "paper2019.md"
FIGURE = DATA.parent / "paper2019" / "curves.png"
OPPONENT = "deterministic"
SEEDS = (1, 2, 3)
TICKS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500)
"""Iterations on the axis of the figure."""
PLAYERS = {
    "deterministic": 200_000,
    "greedy": 200_000,
    "belanger2019_cnn_lstm": 40_000,
    "quick": 40_000,
    "champion_networks": 40_000,
    "best_response": 10_000,
}
"""Hands of each against `deterministic`, all with the discards of `deterministic`."""
PLAYERS_SEED = 2019
BEST_SHARE = 1 / 3
"""Of a row's trials, by decided hands won: over all of them relations are those of what was drawn."""


def main(words: Sequence[str] | None = None) -> None:
    """Write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--players", action="store_true", help="measure the players of the package anew")
    if parser.parse_args(words).players:
        measure_players()
    write_atomic(PAGE, page(PAGE.read_text(encoding="utf-8")))
    draw_curves(FIGURE)
    paper2019_deal.draw(paper2019_deal.IMAGE)


def page(text: str) -> str:
    """The page with the tables of what is kept."""
    tables = {"setups": setups(), "players": players(), "table 3": searches(), "relations": relations()}
    tables |= {"table 1": half_widths(), "deal": paper2019_deal.table(), "leads": paper2019_leads.table(SEEDS)}
    return filled(text, {name: "\n".join(lines) for name, lines in tables.items()})


# --- table 1, figures 9 and 10, table 2 -------------------------------------------------------------------------------


def half_widths() -> Iterator[str]:
    """What the normal approximation gives, beside table 1."""
    shares = {games: normal(TABLE_1_RATE * games, games) for games in TABLE_1}
    halves = (f"{games:,} games ±{share.high - share.estimate:.4f}" for games, share in shares.items())
    yield f"{', '.join(halves)}; paper: {', '.join(f'±{half:.4f}' for half in TABLE_1.values())}."


def setups() -> Iterator[str]:
    """A line for each setup and seed that has run: matches, hours, and hours as multiples of Monte Carlo's."""
    yield from (
        "| setup | seed | 25,000 duplicate games | 5,000, exploring | processor hours | hours | times Monte Carlo | "
        "paper: hours | times Monte Carlo |",
        "|---|---|---|---|---|---|---|---|---|",
    )
    runs = {seed: finished(f"paper2019_seed{seed}") for seed in SEEDS}
    for network in FIGURES:
        for algorithm, name in ALGORITHMS.items():
            published, base = HOURS[network, algorithm], HOURS[network, "monte_carlo"]
            for seed in SEEDS:
                run = runs[seed].get(f"{network}_{algorithm}")
                if run is None:
                    continue
                slowest = runs[seed].get(f"{network}_monte_carlo")
                spent = run["training_processor_seconds"]
                times = f"{spent / slowest['training_processor_seconds']:.2f}" if slowest else ""
                paper = f"{published:g}", f"{published / base:.2f}"
                yield line(f"{ARCHITECTURES[network]}, {name}", seed, *_measured(run), times, *paper)
    if run := finished("paper2019_ideal").get("seed1"):
        yield line("ideal (section 4.7)", 1, *_measured(run), "", "", "")


def _measured(run: Mapping[str, Any]) -> tuple[str, ...]:
    """Rates of its matches, and hours."""
    rates = _rate(run["match_figures"]), _rate(run["figures"], f"{OPPONENT}.exploring.")
    return (*rates, f"{run['training_processor_seconds'] / 3600:.2f}", f"{run['training_seconds'] / 3600:.2f}")


def _rate(figures: Mapping[str, Any], before: str = "") -> str:
    return percent(*(figures[f"{before}{name}"] for name in ("win_rate", "ci_low", "ci_high")))


def draw_curves(path: Path) -> None:
    """Figures 9 and 10: the win rate by iteration of every setup that has run; the mean over seeds.

    Bars: 95% intervals of the games, of one seed; else a band from the lowest to the highest seed.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter

    figure = Figure(figsize=(7, 7.2), layout="constrained")
    panels = figure.subplots(len(FIGURES), squeeze=False, sharex=True)[:, 0]
    for panel, network in zip(panels, FIGURES, strict=True):
        for number, (algorithm, name) in enumerate(ALGORITHMS.items()):
            if curves := _curves(network, algorithm):
                _draw(panel, curves, f"C{number}", name)
        title = f"{ARCHITECTURES[network]} (figure {FIGURES[network]}): wins against {OPPONENT}, 5,000 games a point"
        panel.set_title(title, fontsize="medium")
        panel.set_xscale("symlog", linthresh=1, linscale=0.4)
        panel.set_xticks(TICKS, [str(tick) for tick in TICKS])
        panel.set_xlim(-0.1, 1.2 * ITERATIONS)
        panel.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        panel.grid(alpha=0.3)
        panel.legend(loc="lower right")
    panels[-1].set_xlabel("replay iteration")
    figure.savefig(path, dpi=110)


def _draw(panel: Any, curves: Sequence[Mapping[str, Sequence[float]]], color: str, name: str) -> None:
    """The line of a setup, from the curves of its seeds that have run."""
    steps, rates = curves[0]["step"], np.array([curve["win_rate"] for curve in curves])
    label = f"{name}, {len(curves)} seed{'s' if len(curves) > 1 else ''}"
    (drawn,) = panel.plot(steps, rates.mean(axis=0), color=color, marker="o", markersize=2, linewidth=1, label=label)
    if len(curves) > 1:
        panel.fill_between(steps, rates.min(axis=0), rates.max(axis=0), color=color, alpha=0.2, linewidth=0)
    else:
        low, high = (curves[0][f"win_rate_{end}"] for end in ("low", "high"))
        panel.vlines(steps, low, high, color=drawn.get_color(), alpha=0.4, linewidth=0.8)


def _curves(network: str, algorithm: str) -> list[Mapping[str, Sequence[float]]]:
    """By seed that has run: iterations, win rates and their bounds."""
    runs = [finished(f"paper2019_seed{seed}").get(f"{network}_{algorithm}") for seed in SEEDS]
    return [{tag.removeprefix(f"{OPPONENT}/"): values for tag, values in run["curve"].items()} for run in runs if run]


# --- table 3 ----------------------------------------------------------------------------------------------------


def measure_players() -> None:
    """Keep how many hands each of PLAYERS wins against `deterministic` on play points, discarding as it does."""
    found = {}
    for name, hands in PLAYERS.items():
        spec = {"name": name, "to": OPPONENT} if name == "best_response" else name
        found[name] = play_hands(PlayOf(make_agent(spec)), make_agent(OPPONENT), hands, PLAYERS_SEED).to_dict()
        print(name, found[name], flush=True)
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(figures)}" for name, figures in found.items())
    about = json.dumps({"command": "python -m benchmarks.paper2019.page --players", "seed": PLAYERS_SEED})[:-1]
    write_atomic(DATA / "table3_players.json", f'{about},\n"players": {{\n{rows}\n}}}}\n')


class PlayOf:
    """The play of an agent behind the discards of OPPONENT."""

    def __init__(self, agent: Agent) -> None:
        self.name, self.num_players = agent.name, agent.num_players
        self.play, self.discard = agent.play, make_agent(OPPONENT).discard


def players() -> Iterator[str]:
    """How many hands the package's players win, by either reading."""
    yield "| play of | hands | decided hands won [95%] | all hands won [95%] | play points a hand ahead |"
    yield "|---|---|---|---|---|"
    for name, won in read_json(DATA / "table3_players.json").get("players", {}).items():
        shares = wilson(won["wins"], won["wins"] + won["losses"]), wilson(won["wins"], won["hands"])
        yield line(f"`{name}`", f"{won['hands']:,}", *starmap(percent, shares), f"{won['margin']:+.2f}")


def searches() -> Iterator[str]:
    """A line for each row of table 3: the mean over its trials by either reading, with the interval over trials."""
    yield from (
        "| reward, state | trials | decided hands won [95%] | all hands won [95%] | best trial, decided | "
        "the best again, 3 seeds: decided [95%] | paper |",
        "|---|---|---|---|---|---|---|",
    )
    for row in TABLE_3:
        trials, group = _trials(row), table_3_group(row)
        again = [hands_won(run)[0] for name, run in finished("table3_best").items() if name.startswith(group)]
        decided, everything = np.array([hands_won(trial) for trial in trials]).reshape(-1, 2).T
        means = [percent(*mean_interval(shares)) if len(shares) > 1 else "" for shares in (decided, everything, again)]
        most = f"{100 * decided.max():.1f}%" if trials else ""
        cells = f"{len(trials)} of {row.trials}", *means[:2], most, means[2], f"{row.wins / 10:.1f}%"
        yield line(f"{row.reward}, {row.state}", *cells)


def _trials(row: Searched) -> list[Mapping[str, Any]]:
    return [*finished(table_3_group(row)).values()]


def _trials(row: Searched) -> list[Mapping[str, Any]]:
    return [*finished(table_3_group(row)).values()]


def _group(row: Searched) -> str:
    return f"table3_{row.reward}_{row.state}"


def relations() -> Iterator[str]:
    """What section 4.3 says of hyperparameters, over the best third of the trials of every row and over all."""
    yield "| relation in the paper | of the best third: rank correlation [95%] | trials | of all | trials |"
    yield "|---|---|---|---|---|"
    for one in RELATIONS:
        cells = []
        for share in (BEST_SHARE, 1):
            trials = [trial for row in TABLE_3 for trial in _best(row, share)]
            first, second = ([_option(trial, name) for trial in trials] for name in (one.first, one.second))
            found = rank_correlation(first, second)
            cells += [f"{found.estimate:+.2f} [{found.low:+.2f}, {found.high:+.2f}]" if trials else "", len(trials)]
        yield line(f"{'positive' if one.sign > 0 else 'negative'}: {one.words}", *cells)


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> Interval:
    """Spearman's rank correlation [N] with its 95% interval.

    Fisher's z with the standard error of Bonett and Wright 2000, sqrt((1 + r^2/2) / (N - 3)). nan where one of the
    two never varies; nan bounds for fewer than five pairs, or where the ranks agree entirely.
    """
    x, y = (pd.Series(np.asarray(values, dtype=np.float64)).rank() for values in (first, second))
    r = float(x.corr(y)) if x.nunique() > 1 and y.nunique() > 1 else math.nan
    if len(x) < 5 or math.isnan(r) or abs(r) > 1 - 1e-12:
        return Interval(r, math.nan, math.nan)
    half = Z * math.sqrt((1 + r * r / 2) / (len(x) - 3))
    return Interval(r, math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half))


def _best(row: Searched, share: float) -> list[Mapping[str, Any]]:
    trials = sorted(_trials(row), key=lambda trial: hands_won(trial)[0], reverse=True)
    return trials[: math.ceil(share * len(trials))]


def _option(trial: Mapping[str, Any], name: str) -> float:
    return float(dict(word.split("=") for word in trial["options"])[name])


if __name__ == "__main__":
    main()
