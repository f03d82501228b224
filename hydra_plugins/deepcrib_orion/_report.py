"""A study's folder: its trials as tables, and Orion's figures."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from deepcrib.errors import RunError
from deepcrib.files import write_atomic
from deepcrib.files.runs import environment, write_json
from hydra_plugins.deepcrib_orion._study import Plan, Study
from hydra_plugins.deepcrib_orion._trials import best_first, trials_csv

FEWEST_TRIALS = 3  # completed ones, for a figure
LIBRARY = "plotly.min.js"  # beside the figures, which need no network


def begin(folder: Path, plan: Plan) -> None:
    """Create the study's folder, with `study.json`: what is searched, and where it was first started."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"cannot write {folder}: {error.strerror}") from error
    if not (folder / "study.json").exists():
        write_json(folder / "study.json", {"name": plan.name, **asdict(plan.record), "environment": environment()})


def write_tables(folder: Path, study: Study) -> None:
    """`trials.csv` and `trials.json`, all trials by the time at which they were suggested."""
    rows = study.rows(folder)
    write_atomic(folder / "trials.csv", trials_csv(rows))
    write_atomic(folder / "trials.json", json.dumps([row.to_dict() for row in rows], indent=2) + "\n")


def write_figures(folder: Path, study: Study) -> list[str]:
    """The figures as HTML; returns a note about those that cannot be drawn."""
    rows = best_first(study.rows(folder), maximize=True)
    if len(rows) < FEWEST_TRIALS:
        return [f"no figures yet: they need {FEWEST_TRIALS} completed trials"]
    if not (folder / LIBRARY).exists():
        from plotly.offline import get_plotlyjs

        write_atomic(folder / LIBRARY, get_plotlyjs())
    plot, notes = study.client.plot, []
    figures: dict[str, Callable[[], Any]] = {
        "regret": plot.regret,
        "parallel_coordinates": plot.parallel_coordinates,
        "importance": plot.lpi,
    }
    for name, draw in figures.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                figure = _in_our_words(draw(), study.plan)
            write_atomic(folder / f"{name}.html", figure.to_html(include_plotlyjs="directory"))
        except (ValueError, KeyError, IndexError, TypeError, ZeroDivisionError) as error:  # of too few or equal trials
            notes.append(f"no {name}.html: {str(error).splitlines()[0] if str(error) else type(error).__name__}")
    return notes


def _in_our_words(figure: Any, plan: Plan) -> Any:
    """A figure with the options' own names, which says what Orion's objective is."""
    names = {parameter.name: parameter.key for parameter in plan.parameters}
    sign = "-" if plan.record.direction == "maximize" else ""
    measure = f"{sign}{plan.record.objective}"  # of Orion, which minimises
    for trace in figure.data:
        if trace.type == "parcoords":
            trace.line.colorbar.title = measure
            for dimension in trace.dimensions:
                dimension.label = names.get(dimension.label, measure)
        if trace.type == "bar":
            trace.x = [names.get(name, name) for name in trace.x]
    if any(trace.type == "scatter" for trace in figure.data):
        figure.update_layout(yaxis_title=measure)
    figure.update_layout(title=f"study {plan.name}")
    return figure
