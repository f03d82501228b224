"""All sections of the report of runs."""

from __future__ import annotations

import pandas as pd

from deepcrib.analysis.figures import lines_with_bands
from deepcrib.analysis.report.overview import options_section, overview_section
from deepcrib.analysis.report.page import Page, table
from deepcrib.analysis.report.result import Result, result_section, results_of
from deepcrib.analysis.report.runs import NETWORK, SETUP, read_metrics, repeated, with_setups
from deepcrib.analysis.report.statistics import over_seeds
from deepcrib.analysis.tables import percent
from deepcrib.intervals import Interval, wilson


def fill(page: Page, runs: pd.DataFrame, opponent: str) -> list[Result]:
    """Add the sections that the runs have something for; returns the results. Raises RunError."""
    again = repeated(runs)
    counted = runs[~again]
    trained = with_setups(counted)
    results = results_of(trained, opponent)
    sections = {"Result": result_section(results, opponent, page)}
    for network, setups in trained.groupby(NETWORK, sort=False):
        sections[f"Learning curves: {network}"] = curves_section(setups, opponent, page)
    sections["The runs"] = overview_section(counted, runs[again], page)
    sections["Options"] = options_section(trained)
    page.sections |= {title: parts for title, parts in sections.items() if parts}
    return results


def curves_section(trained: pd.DataFrame, opponent: str, page: Page) -> list[str]:
    """Win rate by step of one network's setups, a line each; empty where no run was measured on the way."""
    curves = {str(name): _rates(runs, opponent) for name, runs in trained.groupby(SETUP, sort=False)}
    curves = {name: rates for name, rates in curves.items() if not rates.empty}
    if not curves:
        return []
    steps = sorted({step for rates in curves.values() for step in (rates.index[0], rates.index[-1])})
    rows = []
    for name, rates in curves.items():
        runs = trained.loc[rates.columns]
        games = int(runs["evaluation.games"].iloc[0]) if "evaluation.games" in runs else 0
        row: dict[str, str | None] = {"setup": name}
        for step in steps:
            row[f"step {step}"] = percent(*_rate(rates.loc[step], games)) if step in rates.index else None
        row["seeds x games each"] = f"{len(runs)} x {games:,}"
        rows.append(row | {"command": page.command(runs.commands)})
    lines = {_plain(name): (rates.index.to_list(), 100 * rates.T.to_numpy()) for name, rates in curves.items()}
    network = trained[NETWORK].iloc[0]
    figure = lines_with_bands(
        lines, title=_plain(f"{network}: games won against {opponent}"), xlabel="step", ylabel="games won (%)"
    )
    figure.axes[0].locator_params("x", integer=True)
    text = (
        "A line is the mean over seeds, its band reaches from the lowest to the highest seed; a step is an iteration "
        "of `replay`, or what another learner counts. In the table are the first and the last step of each setup, "
        "with Student's t interval over seeds, never narrower than so many games allow; of one seed it is Wilson's."
    )
    return [text, page.figure(f"curves_{len(page.figures) + 1}", figure, f"Learning curves: {network}"), table(rows)]


def _plain(text: str) -> str:
    """Without matplotlib's signs of a formula, which a run may hold."""
    return text.replace("$", "\\$")


def _rates(runs: pd.DataFrame, opponent: str) -> pd.DataFrame:
    """[steps at which all runs of a setup were measured, runs] win rates."""
    tag = f"{opponent}/win_rate"
    curves = {run: read_metrics(folder).get(tag) for run, folder in runs.folder.items()}
    return pd.DataFrame({run: pd.Series(curve[1], curve[0]) for run, curve in curves.items() if curve}).dropna()


def _rate(rates: pd.Series, games: int) -> Interval:
    return wilson(round(rates.iloc[0] * games), games) if games and len(rates) == 1 else over_seeds(rates, games)
