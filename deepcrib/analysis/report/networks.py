"""Discard networks over all four-card hands: predicted against true values after pretraining, and after training."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from deepcrib.analysis.curves import read_events, read_image
from deepcrib.analysis.figures import predicted_against_true
from deepcrib.analysis.report.page import Page, Section, Table, number, share
from deepcrib.analysis.report.runs import FINISHED, PRETRAIN, pretraining_events
from deepcrib.analysis.report.setups import identity, option
from deepcrib.analysis.report.statistics import over_seeds
from deepcrib.exact.shows import all_hands, hand_values, starter_means
from deepcrib.files.runs import CONFIG
from deepcrib.files.weights import WEIGHTS_FILE, CheckpointError
from deepcrib.intervals import Interval, mean_interval
from deepcrib.learners.pretraining.show import MEAN_OF_STARTERS, predicted_values, shown_states
from deepcrib.networks.checkpoints import load_weights

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROLES_SEED = 1
"""Roles and scores of the hands are the same for every network."""
ERROR, EXACT, SAMPLE = "mean_absolute_error", "exact_share", "sample_error"
IMAGE = "pretraining/predicted_against_true"
_KIND = ["network", "true value", "pretraining"]


def pretraining_section(runs: pd.DataFrame, page: Page) -> Section | None:
    """Errors of pretrained networks, with the figures; None where no run pretrained."""
    finished = runs[runs.state == FINISHED]
    metrics = finished.apply(_pretrained, axis=1, result_type="expand") if len(finished) else finished
    if ERROR not in metrics or not metrics[ERROR].notna().any():
        return None
    found = finished.drop(columns=SAMPLE, errors="ignore").join(metrics)[metrics[ERROR].notna()]
    found = found.join(pd.DataFrame([_kind(run) for _, run in found.iterrows()], found.index))
    rows, shown = [], []
    for kind, group in found.groupby(_KIND, sort=False):
        exact, random_starter = group[EXACT].dropna() if EXACT in group else [], kind[1] != "no starter"
        rows.append(
            dict(zip(_KIND, kind, strict=True))
            | {"mean absolute error over runs, points": mean_interval(group[ERROR].astype(float))}
            | {"exact after rounding, over runs": over_seeds(exact) if len(exact) else None}
            | {
                "error with one random starter, over runs": mean_interval(group[SAMPLE].astype(float))
                if random_starter
                else None
            }
            | {"runs x hands": f"{len(group)} x {len(_hands()):,}"}
            | page.origin(group)
        )
        name = "; ".join(kind)
        if (drawn := _pretraining_figure(group, random_starter, name)) is not None:
            shown.append(page.figure(f"predicted_{len(rows)}", drawn, f"Predicted against true: {name}"))
    words = (
        "Values that a network gives all four-card hands after pretraining (no cards thrown, random roles). True "
        "is the hand's own points; of a network that learned with a random starter it is the mean over the 48 "
        "starters, all that can be known before the cut. Intervals are Student's t over runs."
    )
    formats = {
        "mean absolute error over runs, points": number(4),
        "error with one random starter, over runs": number(3),
    }
    return Section(
        "Predicted against true", [words, Table(rows, formats | {"exact after rounding, over runs": share}), *shown]
    )


def _kind(run: pd.Series) -> dict[str, str]:
    """What a pretrained network is and learned; runs in which they differ are not one sample."""
    network = str(run["discard_network.name"])
    if network == "belanger2019":
        suits = run.get("discard_network.suit_convolution")
        network += f", {'with' if suits or suits != suits else 'without'} convolutions over suits"
    starter = "one random starter" if run.get("pretraining.starter") is True else "no starter"
    epochs, size, lr = (run.get(f"pretraining.{name}") for name in ("epochs", "batch_size", "lr"))
    return dict(zip(_KIND, (network, starter, f"epochs {epochs}, batches of {size}, lr {lr}"), strict=True))


def _pretrained(run: pd.Series) -> Mapping[str, Any]:
    """How well the network knew the show: the job's summary, or the events of a training run's pretraining."""
    if run.job == PRETRAIN:
        return {name: run.summary.get(name) for name in (ERROR, EXACT, SAMPLE)}
    metrics = read_events(pretraining_events(run.folder)) if run.get("pretraining.enabled") is True else {}
    found = {name: metrics.get(f"pretraining/{name}") for name in (ERROR, EXACT, SAMPLE)}
    return {name: None if curve is None else float(curve[1][-1]) for name, curve in found.items()}


def _pretraining_figure(runs: pd.DataFrame, starter: bool, title: str) -> Any:
    """Drawn anew from a run of `deepcrib pretrain`, whose weights are those; else as a training run drew it."""
    pretrained = runs[runs.job == PRETRAIN]
    if len(pretrained):
        truth = MEAN_OF_STARTERS if starter else "true value"
        return predicted_against_true(_predicted(pretrained.iloc[0]), _true(starter), title=title, truth=truth)
    images = (read_image(pretraining_events(folder), IMAGE) for folder in runs.folder)
    return next((image for image in images if image is not None), None)


@cache
def _hands() -> NDArray[np.int8]:
    return all_hands()


@cache
def _true(starter: bool) -> NDArray[Any]:
    """[H] points of all hands by themselves, or their mean over the 48 starters."""
    return (starter_means if starter else hand_values)(_hands())


def _predicted(run: pd.Series) -> NDArray[np.float32]:
    """[H] values of all hands by the discard network of a finished run. Raises CheckpointError."""
    path = run.folder / WEIGHTS_FILE
    try:
        checkpoint = load_weights(path)
    except CheckpointError as error:
        raise CheckpointError(f"{error}; networks=false leaves the values of networks out") from error
    if checkpoint.discard_network is None or checkpoint.discard_encoder is None:
        raise CheckpointError(f"{path} holds no discard network, which {CONFIG} beside it says was trained")
    states = shown_states(_hands(), torch.Generator().manual_seed(ROLES_SEED))
    return predicted_values(checkpoint.discard_network, checkpoint.discard_encoder, states)


# --- after training -----------------------------------------------------------------------------------------


def trained_section(setups: Sequence[pd.DataFrame], page: Page, progress: Callable[[int], None]) -> Section | None:
    """The same of networks after training, whose values are of another quantity; None where there are none.

    progress is called with the number of networks done since its last call.
    """
    rows, shown = [], {}
    for setup in filter(has_discard_network, setups):
        name = str(option(setup, "discard_network.name"))
        found = []
        for _, run in setup.iterrows():
            predicted = _predicted(run)
            found.append((*np.polyfit(_true(False), predicted, 1), np.corrcoef(_true(False), predicted)[0, 1]))
            if name not in shown:
                title = f"{name} after training: {', '.join(filter(None, identity(setup).values()))}"
                shown[name] = page.figure(f"trained_{name}", _trained_figure(predicted, title), title)
            progress(1)
        rise, level, correlation = (mean_interval(values) for values in zip(*found, strict=True))
        correlation = Interval(*np.clip(correlation, -1, 1).tolist())
        fitted = {
            "value of a hand of 0, over networks": level,
            "rise a point, over networks": rise,
            "correlation, over networks": correlation,
        }
        counted = {"networks x hands": f"{len(found)} x {len(_hands()):,}"}
        rows.append(identity(setup) | {"discard network": name} | fitted | counted | page.origin(setup))
    words = (
        "After training a value is no longer that of the show: it is the discard's return, all points of the play,"
        " the hand with its starter and the dealer's crib. So it is held against the hand's own points without "
        "calling the difference an error: a straight line through all hands (its value at 0 points, its rise for "
        "each point) and Pearson's correlation, with Student's t intervals over networks. No cards are thrown in "
        "these positions, so they are none that the networks met in games."
    )
    formats = {
        "value of a hand of 0, over networks": number(2),
        "rise a point, over networks": number(2),
        "correlation, over networks": number(3),
    }
    return Section("Values of hands after training", [words, Table(rows, formats), *shown.values()]) if rows else None


def _trained_figure(predicted: NDArray[np.float32], title: str) -> Figure:
    """Values against the hand's own points, which they do not predict: so said, the line of equality is no target."""
    figure = predicted_against_true(predicted, _true(False), title=title)
    assert figure is not None, "matplotlib is there: the job has looked"
    axes = figure.axes[0]
    axes.set(xlabel="the hand's own points", ylabel="value of the discard that keeps it (points)")
    for line, words in zip(axes.lines, ("equal", "mean value"), strict=True):
        line.set_label(words)
    axes.legend(loc="upper left")
    return figure


def has_discard_network(setup: pd.DataFrame) -> bool:
    """Whether the runs of a setup trained one and saved it, and it values hands by themselves.

    A dueling network does not: without a hand's other discards only its advantages are left.
    """
    has_values = option(setup, "discard_network.head") != "dueling"
    trained = option(setup, "discard_network.name") is not None and option(setup, "learner.discard_agent") is None
    return has_values and trained and all((folder / WEIGHTS_FILE).is_file() for folder in setup.folder)
