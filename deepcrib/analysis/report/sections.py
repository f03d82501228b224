"""All sections of the report of runs: the result, learning curves, the runs with their machines, the options."""

from __future__ import annotations

import pandas as pd

from deepcrib.analysis.figures import lines_with_bands
from deepcrib.analysis.report.page import Page, table
from deepcrib.analysis.report.result import Result, result_section, results_of
from deepcrib.analysis.report.runs import (
    ALGORITHM,
    FAILED,
    FINISHED,
    NETWORK,
    OWN,
    SEEDS,
    SETUP,
    UNFINISHED,
    read_metrics,
    repeated,
    with_setups,
)
from deepcrib.analysis.tables import NONE, percent
from deepcrib.files.runs import starts
from deepcrib.intervals import Interval, over_seeds, wilson

MOST_COLUMNS = 8  # setups with a column each in the table of options


def fill(page: Page, runs: pd.DataFrame, opponent: str) -> list[Result]:
    """Add the sections that the runs have something for; returns the results. Raises RunError."""
    again = repeated(runs)
    counted = runs[~again]
    trained = with_setups(counted)
    results = results_of(trained, opponent)
    sections = {"Result": result_section(results, opponent, page)}
    for network, setups in trained.groupby(NETWORK, sort=False):
        sections[f"Learning curves: {network}"] = _curves(setups, opponent, page)
    sections["The runs"] = _overview(counted, runs[again], page)
    sections["Options"] = _options(trained)
    page.sections |= {title: parts for title, parts in sections.items() if parts}
    return results


def _curves(trained: pd.DataFrame, opponent: str, page: Page) -> list[str]:
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
        shown = {step: percent(*_rate(rates.loc[step], games)) for step in steps if step in rates.index}
        columns = {f"step {step}": shown.get(step) for step in steps}
        seeds = {"seeds x games each": f"{len(runs)} x {games:,}", "command": page.command(runs.commands)}
        rows.append({"setup": name, **columns, **seeds})
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


# --- the runs, their options and machines -----------------------------------------------------------------------


def _overview(runs: pd.DataFrame, repeats: pd.DataFrame, page: Page) -> list[str]:
    """How many runs in which state, on what, for how long; failed and unfinished runs."""
    states = runs.state.value_counts()
    counted = ", ".join(f"{states[state]} {state}" for state in (FINISHED, FAILED, UNFINISHED) if state in states)
    known = runs[runs.environment.map(bool)]
    times = sorted(str(environment["time"])[:16] for environment in known.environment if environment.get("time"))
    span = f"Started {times[0]} to {times[-1]}; " if times else ""
    spent = f"{span}{known.spent.sum():,.0f} seconds of runs in all."
    parts = [f"Runs: {counted}. {spent}", "\n".join(f"- {line}" for line in _origins(known))]
    if len(repeats):
        parts.append(f"Left out, since a later run has the same options and seed: {', '.join(repeats.name)}.")
    if len(lost := runs[runs.state != FINISHED]):
        shown = lost.reindex(columns=["name", "state", "seed", ALGORITHM, NETWORK, "error"])
        shown = shown.rename(columns={"name": "run", ALGORITHM: "algorithm", NETWORK: "play network"})
        shown["command"] = [page.command([commands]) for commands in lost.commands]
        parts += ["Runs that came to nothing, and count nowhere above:", table(shown)]
    return parts


def _options(trained: pd.DataFrame) -> list[str]:
    """Every option of each setup by its full name: those that differ, a column a setup, and what all have in common."""
    if trained.empty:
        return []
    firsts = trained.drop_duplicates(SETUP).set_index(SETUP).drop(columns=[*OWN, *SEEDS], errors="ignore").T
    texts = firsts.map(lambda value: NONE if value is None or value != value else str(value))
    differing = texts.nunique(axis=1) > 1
    parts = []
    if differing.any() and texts.shape[1] <= MOST_COLUMNS:
        parts = ["That differ between the setups:", table(texts[differing].rename_axis("option").reset_index())]
    same = texts[~differing].iloc[:, 0].rename("value").rename_axis("option").reset_index()
    return [*parts, "The same in all setups:", table(same)]


def _origins(runs: pd.DataFrame) -> list[str]:
    """Commit, versions and machine, each once."""
    columns: tuple[list[str], ...] = ([], [], [])
    for start in (start for environment in runs.environment for start in starts(environment)):
        edited = f" with {start['changed_files']} changed files" if start.get("changed_files") else ""
        columns[0].append(f"commit {str(start.get('commit') or 'not known')[:12]}{edited}")
        versions, machine = start.get("versions", {}), start.get("machine", {})
        names = (name for name in ("deepcrib", "python", "torch", "numba") if name in versions)
        columns[1].append(", ".join(f"{name} {versions[name]}" for name in names))
        if "processor" in machine:
            gpus = machine["gpus"] if isinstance(machine.get("gpus"), list) else []
            parts = (machine["processor"], f"{machine.get('cores')} cores", f"{machine.get('memory_gb')} GB", *gpus)
            columns[2].append(", ".join(map(str, parts)))
    return list(dict.fromkeys(line for lines in columns for line in lines if line))
