"""Setups side by side: learning curves, the time of an iteration, final strength."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from deepcrib.analysis.figures import lines_with_bands
from deepcrib.analysis.report.page import Page, Section, Table, number, share
from deepcrib.analysis.report.runs import (
    ALGORITHM,
    NETWORK,
    OTHERWISE,
    SETUP,
    final_match,
    iteration_seconds,
    read_metrics,
)
from deepcrib.analysis.report.statistics import difference, geometric_mean, over_seeds, ratio
from deepcrib.intervals import Interval, wilson

BASE = "monte_carlo"
"""The algorithm that the others are held against, as in Bélanger et al. 2019."""
HOUR = 3600
SECONDS_EACH = "seconds an iteration, over seeds"


def identity(setup: pd.DataFrame) -> dict[str, Any]:
    """The first columns of a table about setups."""
    first = setup.iloc[0]
    return {"play network": first[NETWORK], "algorithm": first[ALGORITHM], "other options": first[OTHERWISE]}


def option(setup: pd.DataFrame, name: str) -> Any:
    """An option that all runs of a setup share; None where they have none of that name."""
    value = setup[name].iloc[0] if name in setup else None
    return None if value != value else value


def partners(setup: pd.DataFrame, others: Sequence[pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The setups that one is held against, by name: with the algorithm BASE, and with a feed-forward network."""
    network, algorithm, otherwise = setup[SETUP].iloc[0]
    wanted = {BASE: (network, BASE, otherwise), "mlp": (network.replace("cnn_lstm", "mlp"), algorithm, otherwise)}
    found = {}
    for name, key in wanted.items():
        alike = [other for other in others if tuple(other[SETUP].iloc[0]) == key and key != tuple(setup[SETUP].iloc[0])]
        if len(alike) == 1:
            found[name] = alike[0]
    return found


# --- learning curves ----------------------------------------------------------------------------------------


def curves_section(setups: Sequence[pd.DataFrame], opponent: str, network: str, page: Page) -> Section | None:
    """Win rate by replay iteration of one network, a line a setup; None where no run of it was measured on the way."""
    curves = [(setup, _curves(setup, opponent)) for setup in setups if setup[NETWORK].iloc[0] == network]
    curves = [(setup, rates) for setup, rates in curves if not rates.empty]
    if not curves:
        return None
    shown = sorted({step for _, rates in curves for step in (rates.index[0], rates.index[-1])})
    replays = option(curves[0][0], "learner.name") in (None, "replay")
    rows, lines, unit = [], {}, "iteration" if replays else "step"
    for setup, rates in curves:
        games, runs = int(option(setup, "evaluation.games") or 0), setup.loc[rates.columns]
        name = ", ".join(text for text in list(identity(setup).values())[1:] if text) or network
        lines[name] = (rates.index.to_list(), 100 * rates.T.to_numpy())
        cells = {step: _rates_text(rates.loc[step], games) if step in rates.index else None for step in shown}
        kept = {"seeds": list(runs.seed), "steps": rates.index.to_list(), "win rates": rates.T.to_numpy().tolist()}
        identified = {column: text for column, text in identity(setup).items() if column != "play network"}
        counted = {"seeds x games each": f"{len(runs)} x {games:,}"}
        rows.append(
            identified
            | {f"{unit} {step}, over seeds; over games": text for step, text in cells.items()}
            | counted
            | page.origin(runs)
            | kept
        )
    title = f"Learning curves: {network}"
    figure = lines_with_bands(
        lines, title=f"{network}: games won against {opponent}", xlabel=unit, ylabel="games won (%)"
    )
    figure.axes[0].locator_params("x", integer=True)
    words = (
        "A line is the mean over seeds, its band reaches from the lowest to the highest seed. In the table, at the"
        " first and the last iteration of each setup, the first interval is Student's t over seeds (of the "
        "method), but never narrower than so many games allow; the second is Wilson's over all games (of these "
        "very agents)."
    )
    image = page.figure(f"curves_{network}", figure, title)
    return Section(title, [words, image, Table(rows, unseen=("seeds", "steps", "win rates"))])


def _curves(setup: pd.DataFrame, opponent: str) -> pd.DataFrame:
    """[iterations at which all runs of a setup were measured, runs] win rates."""
    tag = f"{opponent}/win_rate"
    read = {run: read_metrics(folder) for run, folder in setup.folder.items()}
    found = {run: pd.Series(metrics[tag][1], metrics[tag][0]) for run, metrics in read.items() if tag in metrics}
    return pd.DataFrame(found).dropna()


def _rates_text(rates: pd.Series, games: int) -> str:
    """Both intervals of the win rates [seeds] at one iteration."""
    wins, total = float((rates * games).round().sum()), games * len(rates)
    all_games = wilson(wins, total) if games else Interval(float(rates.mean()), math.nan, math.nan)
    return f"{share(over_seeds(rates, games))}; {share(all_games)}"


# --- time ---------------------------------------------------------------------------------------------------


def seconds_section(setups: Sequence[pd.DataFrame], page: Page) -> Section | None:
    """Seconds an iteration by setup, hours of all, and ratios; None where no run has its times."""
    timed = {id(setup): _seconds_an_iteration(setup) for setup in setups}
    shown = [setup for setup in setups if len(timed[id(setup)])]
    rows = []
    for setup in shown:
        own = timed[id(setup)]
        found = geometric_mean(own.seconds)
        scale = int(option(setup, "learner.iterations") or 0) / HOUR
        against = {name: ratio(own.seconds, timed[id(other)].seconds) for name, other in partners(setup, shown).items()}
        rows.append(
            identity(setup)
            | {
                SECONDS_EACH: found,
                "hours of all iterations, over seeds": Interval(*(scale * value for value in found)),
            }
            | {f"times {name}, over seeds": against.get(name) for name in (BASE, "mlp")}
            | {"seeds x iterations timed": f"{len(own)} x {own.iterations.min()}"}
            | page.origin(setup)
        )
    words = (
        "An iteration is self-play and learning, without the matches between them; timed are those that learn from"
        " a full buffer. Geometric means over seeds; intervals over seeds are Student's t, of ratios Welch's, of "
        "the logarithms. Ratios are to the same setup with that algorithm or network."
    )
    two = number(2)
    formats = {f"times {name}, over seeds": two for name in (BASE, "mlp")} | {SECONDS_EACH: two}
    table = Table(rows, formats | {"hours of all iterations, over seeds": number(3)})
    return Section("Seconds of an iteration", [words, table]) if rows else None


def _seconds_an_iteration(setup: pd.DataFrame) -> pd.DataFrame:
    """Of each run the mean seconds of iterations with a full buffer, or of the last one, and how many they are."""
    replacement = option(setup, "learner.replacement")
    filling = math.ceil(1 / replacement) if replacement else int(option(setup, "learner.epochs_kept") or 0)
    seconds = [found for folder in setup.folder if len(found := iteration_seconds(read_metrics(folder)))]
    full = [found[-max(1, len(found) - filling) :] for found in seconds]
    return pd.DataFrame({"seconds": [found.mean() for found in full], "iterations": [len(found) for found in full]})


# --- final strength -----------------------------------------------------------------------------------------


def strength_section(setups: Sequence[pd.DataFrame], opponent: str, page: Page) -> Section | None:
    """Final matches of each setup, and its lead over others; None where nobody met the opponent."""
    met = {id(setup): matches_of(setup, opponent) for setup in setups}
    shown = [setup for setup in setups if len(met[id(setup)])]
    rows = []
    for setup in shown:
        own = met[id(setup)]
        against = {name: _lead(own, met[id(other)]) for name, other in partners(setup, shown).items()}
        rows.append(
            identity(setup)
            | {"won, t over seeds": over_seeds(own.win_rate, own.games.min())}
            | {"won, Wilson over games": wilson(own.wins.sum(), own.games.sum())}
            | {f"less {name}, t over seeds": against.get(name) for name in (BASE, "mlp")}
            | {"seeds": len(own), "games": int(own.games.sum())}
            | page.origin(setup)
            | {"win rates": own.win_rate.to_list()}
        )
    words = (
        f"Games of the final agents against {opponent}. The interval over seeds, never narrower than so many games "
        f"allow, speaks of the method; the one over games speaks of these agents alone.{_same_deals(shown)} "
        "Differences to the same setup with that algorithm or network are of means over seeds, in percentage "
        "points, with Welch's t interval, as wide as so many games demand; each stands for itself, so of twenty "
        "one misses by chance."
    )
    points = number(1, "+", scale=100)
    formats = {f"less {name}, t over seeds": points for name in (BASE, "mlp")}
    table = Table(
        rows, formats | {f"won, {kind}": share for kind in ("t over seeds", "Wilson over games")}, ("win rates",)
    )
    return Section(f"Final strength against {opponent}", [words, table]) if rows else None


def matches_of(setup: pd.DataFrame, opponent: str) -> pd.DataFrame:
    """[runs] games, wins and win_rate of the final matches."""
    found: list[Mapping[str, Any]] = [match for _, run in setup.iterrows() if (match := final_match(run, opponent))]
    return pd.DataFrame(found, columns=["games", "wins", "win_rate"])


def _lead(own: pd.DataFrame, other: pd.DataFrame) -> Interval:
    return difference(own.win_rate, other.win_rate, (own.games.min(), other.games.min()))


def _same_deals(setups: Sequence[pd.DataFrame]) -> str:
    if all(option(setup, "evaluation.seed") is None for setup in setups):
        return ""
    return " All runs met the same deals (`evaluation.seed`), whose luck the interval over seeds does not hold."
