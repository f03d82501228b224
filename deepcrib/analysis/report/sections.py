"""All sections of the report of runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from deepcrib.analysis.curves import read_events, read_image
from deepcrib.analysis.figures import lines_with_bands
from deepcrib.analysis.report.overview import options_section, overview_section
from deepcrib.analysis.report.page import Page, Section, Table, number, share
from deepcrib.analysis.report.result import result_section
from deepcrib.analysis.report.runs import (
    FINISHED,
    NETWORK,
    PRETRAIN,
    SETUP,
    final_match,
    read_metrics,
    repeated,
    with_setups,
)
from deepcrib.analysis.report.statistics import over_seeds
from deepcrib.intervals import Interval, mean_interval, wilson

ERROR, EXACT, SAMPLE = "mean_absolute_error", "exact_share", "sample_error"
IMAGE = "pretraining/predicted_against_true"


def report_sections(runs: pd.DataFrame, opponent: str, page: Page) -> list[Section]:
    """Those that the runs have something for. Raises RunError."""
    again = repeated(runs)
    counted = runs[~again]
    trained = with_setups(counted)
    made = [
        result_section(trained, opponent, page),
        *(curves_section(setups, opponent, str(network), page) for network, setups in _grouped(trained, NETWORK)),
        hands_section(trained, counted, opponent, page),
        pretraining_section(counted, page),
        overview_section(counted, runs[again], page),
        options_section(trained),
    ]
    return [*filter(None, made)]


# --- learning curves ----------------------------------------------------------------------------------------


def curves_section(trained: pd.DataFrame, opponent: str, network: str, page: Page) -> Section | None:
    """Win rate by step of one network's setups, a line each; None where no run was measured on the way."""
    curves = {str(name): _rates(runs, opponent) for name, runs in _grouped(trained, SETUP)}
    curves = {name: rates for name, rates in curves.items() if not rates.empty}
    if not curves:
        return None
    steps = sorted({step for rates in curves.values() for step in (rates.index[0], rates.index[-1])})
    rows, lines = [], {}
    for name, rates in curves.items():
        runs = trained.loc[rates.columns]
        games = int(runs["evaluation.games"].iloc[0]) if "evaluation.games" in runs else 0
        lines[name] = (rates.index.to_list(), 100 * rates.T.to_numpy())
        cells = {f"step {step}": _rate(rates.loc[step], games) for step in steps if step in rates.index}
        counted = {"seeds x games each": f"{len(runs)} x {games:,}", "command": page.command(runs.commands)}
        kept = {"steps": rates.index.to_list(), "win rates": rates.T.to_numpy().tolist()}
        rows.append({"setup": name} | dict.fromkeys(f"step {step}" for step in steps) | cells | counted | kept)
    title = f"Learning curves: {network}"
    labels = {"title": f"{network}: games won against {opponent}", "xlabel": "step", "ylabel": "games won (%)"}
    figure = lines_with_bands(lines, **labels)
    figure.axes[0].locator_params("x", integer=True)
    text = (
        "A line is the mean over seeds, its band reaches from the lowest to the highest seed; a step is an iteration "
        "of `replay`, or what another learner counts. In the table are the first and the last step of each setup, "
        "with Student's t interval over seeds, never narrower than so many games allow; of one seed it is Wilson's."
    )
    image = page.figure(f"curves_{len(page.figures) + 1}", figure, title)
    formats = dict.fromkeys((f"step {step}" for step in steps), share)
    return Section(title, [text, image, Table(rows, formats, unseen=("steps", "win rates"))])


def _grouped(runs: pd.DataFrame, column: str) -> Iterator[tuple[Any, pd.DataFrame]]:
    return iter(runs.groupby(column, sort=False))


def _rates(runs: pd.DataFrame, opponent: str) -> pd.DataFrame:
    """[steps at which all runs of a setup were measured, runs] win rates."""
    tag = f"{opponent}/win_rate"
    curves = {run: read_metrics(folder).get(tag) for run, folder in runs.folder.items()}
    return pd.DataFrame({run: pd.Series(curve[1], curve[0]) for run, curve in curves.items() if curve}).dropna()


def _rate(rates: pd.Series, games: int) -> Interval:
    return wilson(round(rates.iloc[0] * games), games) if games and len(rates) == 1 else over_seeds(rates, games)


# --- hands won ----------------------------------------------------------------------------------------------


def hands_section(trained: pd.DataFrame, runs: pd.DataFrame, opponent: str, page: Page) -> Section | None:
    """A row a setup, and a row a search with its best trial; None where no hands were counted."""
    searched = runs[(runs.state == FINISHED) & runs.study.notna()]
    groups = [*_grouped(trained, SETUP), *((study.name, trials) for study, trials in _grouped(searched, "study"))]
    rows = [row for name, group in groups if (row := _hands_row(str(name), group, opponent, page))]
    if not rows:
        return None
    text = (
        f"Hands against {opponent} in which the agent pegged more; ties are nobody's. Means over the seeds of a setup, "
        "or the trials of a search, with Student's t interval over them, and Wilson's over all hands. A best trial was "
        "chosen by its hands, so a new measurement would come out lower."
    )
    formats = dict.fromkeys(("won, t over runs", "won, Wilson over hands", "best trial, Wilson"), share)
    return Section("Hands won", [text, Table(rows, formats, unseen=("best run",))])


def _hands_row(name: str, group: pd.DataFrame, opponent: str, page: Page) -> dict[str, Any] | None:
    won = [final_match(run, opponent).get("hands_won") for _, run in group.iterrows()]
    hands = pd.DataFrame([match or {} for match in won], group.index, ["hands", "wins", "win_rate"]).dropna()
    if hands.empty:
        return None
    best, search = group.loc[hands.win_rate.idxmax()], bool(group.study.notna().all())
    return {
        "setup or search": name,
        "won, t over runs": over_seeds(hands.win_rate, int(hands.hands.min())),
        "won, Wilson over hands": wilson(hands.wins.sum(), hands.hands.sum()),
        "hands": int(hands.hands.sum()),
        "runs": f"{len(hands)} {'trials' if search else 'seeds'}",
        "best trial, Wilson": wilson(*hands.loc[best.name, ["wins", "hands"]]) if search else None,
        "its options": " ".join(best.overrides) if search else None,
        "command": page.command(group.commands),
        "best run": str(best.folder),
    }


# --- pretraining --------------------------------------------------------------------------------------------


def pretraining_section(runs: pd.DataFrame, page: Page) -> Section | None:
    """Errors of pretrained networks over all hands, with the figure of each kind; None where no run pretrained."""
    finished = runs[runs.state == FINISHED]
    errors = pd.DataFrame(
        [_pretrained(run) for _, run in finished.iterrows()], finished.index, [ERROR, EXACT, SAMPLE], float
    )
    errors = errors.dropna(subset=ERROR)
    if errors.empty:
        return None
    rows, shown = [], []
    for kind, found in errors.groupby([_pretraining(runs.loc[run]) for run in errors.index], sort=False):
        group = finished.loc[found.index]
        exact, sample = found[EXACT].dropna(), found[SAMPLE].dropna()
        rows.append(
            {"network": str(kind), "mean absolute error, points": mean_interval(found[ERROR])}
            | {"exact after rounding": over_seeds(exact) if len(exact) else None}
            | {"error with one random starter": mean_interval(sample) if len(sample) else None}
            | {"runs": len(found), "command": page.command(group.commands)}
        )
        images = (read_image(folder, IMAGE) for folder in group.folder)
        if (image := next(filter(None, images), None)) is not None:
            shown.append(page.figure(f"predicted_{len(rows)}", image, f"Predicted against true: {kind}"))
    text = (
        "Values that a network gives all four-card hands after pretraining (no cards thrown, random roles). True "
        "is the hand's own points; of a network that learned with a random starter it is the mean over the 48 "
        "starters, all that can be known before the cut. Intervals are Student's t over runs."
    )
    formats = {"mean absolute error, points": number(4), "error with one random starter": number(3)}
    return Section("Predicted against true", [text, Table(rows, formats | {"exact after rounding": share}), *shown])


def _pretraining(run: pd.Series) -> str:
    """A pretrained network and what it learned; runs in which these differ are not one sample."""
    starter = "one random starter" if run.get("pretraining.starter") is True else "no starter"
    network = str(run.get("discard_network.name"))
    if run.get("discard_network.suit_convolution") is False:
        network += ", without convolutions over suits"
    epochs, size, lr = (run.get(f"pretraining.{name}") for name in ("epochs", "batch_size", "lr"))
    return f"{network}; {starter}; epochs {epochs}, batches of {size}, lr {lr}"


def _pretrained(run: pd.Series) -> Mapping[str, Any]:
    """The errors over all hands: of the job's summary, or the events of a training's pretraining."""
    if run.job == PRETRAIN:
        return dict(run.summary)
    metrics = read_events(run.folder) if run.get("pretraining.enabled") is True else {}
    return {tag.rpartition("/")[2]: curve[1][-1] for tag, curve in metrics.items() if tag.startswith("pretraining/")}
