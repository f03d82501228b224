"""Orion's figures of a study, as pages."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from deepcrib.files import write_atomic
from hydra_plugins.deepcrib_orion._study import Study
from hydra_plugins.deepcrib_orion._trials import best_first

FEWEST_TRIALS = 3  # completed ones, for a figure
LIBRARY = "plotly.min.js"  # beside the figures, which need no network
FIGURES = {"regret": "regret", "parallel_coordinates": "parallel_coordinates", "importance": "lpi"}
"""Files and the plots of Orion's client that they hold."""


def write_figures(folder: Path, study: Study) -> list[str]:
    """The figures as HTML; returns a note about those that cannot be drawn."""
    from orion.client.experiment import ExperimentClient

    if len(best_first(study.rows(folder), maximize=True)) < FEWEST_TRIALS:
        return [f"no figures yet: they need {FEWEST_TRIALS} completed trials"]
    if not (folder / LIBRARY).exists():
        from plotly.offline import get_plotlyjs

        write_atomic(folder / LIBRARY, get_plotlyjs())
    plot, notes = ExperimentClient(study.experiment).plot, []
    for name, kind in FIGURES.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                figure = _with_names(getattr(plot, kind)(), study)
            write_atomic(folder / f"{name}.html", figure.to_html(include_plotlyjs="directory"))
        except (ValueError, KeyError, IndexError, TypeError, ZeroDivisionError) as error:  # of too few or equal trials
            notes.append(f"no {name}.html: {str(error).splitlines()[0] if str(error) else type(error).__name__}")
    return notes


def _with_names(figure: Any, study: Study) -> Any:
    """A figure with the options' own names, which says what Orion's objective, always minimised, is."""
    names = {name: parameter.key for name, parameter in study.parameters.items()}
    measure = f"{'-' if study.options.direction == 'maximize' else ''}{study.options.objective}"
    for trace in figure.data:
        if trace.type == "parcoords":
            trace.line.colorbar.title = measure
            for dimension in trace.dimensions:
                dimension.label = names.get(dimension.label, measure)
        if trace.type == "bar":
            trace.x = [names.get(name, name) for name in trace.x]
        if trace.type == "scatter":
            figure.update_layout(yaxis_title=measure)
    figure.update_layout(title=f"study {study.options.name}")
    return figure
