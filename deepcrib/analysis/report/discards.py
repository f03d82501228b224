"""Discard networks over all four-card hands: predicted against true values (figures 5 and 6), and after training."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deepcrib.analysis.curves import read_image
from deepcrib.analysis.figures import predicted_against_true
from deepcrib.analysis.report import paper2019
from deepcrib.analysis.report.page import NONE, Page, Section, label, number, plain, seconds_text, share, table
from deepcrib.analysis.report.pairs import in_order
from deepcrib.analysis.report.run_folders import FINISHED, PRETRAIN, PRETRAINING, FoundRun, Group
from deepcrib.analysis.report.statistics import over_seeds
from deepcrib.files.runs import CONFIG
from deepcrib.files.weights import WEIGHTS_FILE, CheckpointError
from deepcrib.intervals import mean_interval
from deepcrib.learners.replay.pretraining import NUM_STARTERS, all_hands, hand_values, predicted_values, starter_values
from deepcrib.networks.checkpoints import load_weights

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROLES_SEED = 1
"""Roles and scores of the hands, and their random starters, are the same for every network."""
ERROR, EXACT, SAMPLE = "mean_absolute_error", "exact_share", "sample_error"
IMAGE = "pretraining/predicted_against_true"


class Kind(NamedTuple):
    """What a pretrained network is and learned."""

    network: str
    suits: bool
    starter: bool
    learned: str  # epochs, size of minibatches and learning rate: runs in which they differ are not one sample

    def words(self) -> str:
        """For people."""
        convolutions = (
            f", {'with' if self.suits else 'without'} convolutions over suits" if self.network == "cnn" else ""
        )
        return f"{self.network}{convolutions}; {'one random starter' if self.starter else 'no starter'}; {self.learned}"


def pretraining_section(runs: Sequence[FoundRun], page: Page) -> Section | None:
    """Errors of pretrained networks, with the figures; None where no run pretrained."""
    kinds: dict[Kind, list[FoundRun]] = {}
    for run in runs:
        if run.state == FINISHED and _pretrained(run):
            kinds.setdefault(_kind(run.options), []).append(run)
    if not kinds:
        return None
    rows, data, shown = [], [], []
    for place, (kind, found) in enumerate(kinds.items(), start=1):
        figures = [_pretrained(run) for run in found]
        error, sample = (mean_interval([entry[name] for entry in figures]) for name in (ERROR, SAMPLE))
        shares = [entry[EXACT] for entry in figures if entry.get(EXACT) is not None]
        rows.append(
            (
                kind.words(),
                paper2019.PREDICTED.get((kind.suits, kind.starter), NONE) if kind.network == "cnn" else NONE,
                number(error, 4),
                share(over_seeds(shares)) if shares else NONE,
                number(sample, 3) if kind.starter else NONE,
                f"{len(found)} x {len(_hands()):,}",
                seconds_text([run.seconds for run in found]),
                page.command(found),
            )
        )
        data.append({**kind._asdict(), "runs": len(found), ERROR: plain(error), EXACT: shares})
        drawn = _pretraining_figure(found, kind)
        if drawn is not None:
            shown.append(page.figure(f"predicted_{place}", drawn, f"Predicted against true: {kind.words()}"))
    columns = (
        "network; true value; pretraining",
        "paper",
        "mean absolute error, points",
        "exact after rounding",
        "error with one random starter",
        "runs x hands",
        "seconds a run",
        "command",
    )
    words = (
        "Values that a network gives all four-card hands after pretraining (no cards thrown, random roles). True is "
        "the hand's own points, or those with a starter drawn for each hand; the mean absolute error is then against "
        "the mean over the 48 starters. Intervals are Student's t over runs."
    )
    return Section("Predicted against true (figures 5 and 6)", [words, table(columns, rows), *shown], data)


def _kind(options: Mapping[str, Any]) -> Kind:
    network = str(options.get("discard_network.name"))
    suits = bool(options.get("discard_network.suit_convolution", True)) if network == "cnn" else True
    epochs, batch_size, lr = (options.get(f"pretraining.{name}") for name in ("epochs", "batch_size", "lr"))
    learned = f"epochs {epochs}, batches of {batch_size}, lr {lr}"
    return Kind(network, suits, bool(options.get("pretraining.starter")), learned)


def _pretrained(run: FoundRun) -> Mapping[str, Any]:
    """How well the network knew the show: the job's summary, or the events of a training run's pretraining."""
    if run.job == PRETRAIN:
        return run.summary or {}
    found = {name: run.scalars.get(f"pretraining/{name}") for name in (ERROR, EXACT, SAMPLE)}
    return {name: float(curve[1][-1]) for name, curve in found.items() if curve is not None}


def _pretraining_figure(runs: Sequence[FoundRun], kind: Kind) -> Any:
    """Drawn anew from a run of `deepcrib pretrain`, whose weights are those; else as a training run drew it."""
    for run in runs:
        if run.job == PRETRAIN:
            return predicted_against_true(_predicted(run), _true(kind.starter), title=kind.words())
    images = (read_image(run.folder / PRETRAINING, IMAGE) for run in runs)
    return next((image for image in images if image is not None), None)


@cache
def _hands() -> NDArray[np.int8]:
    return all_hands()


@cache
def _true(starter: bool) -> NDArray[np.int16]:
    """[H] points of all hands by themselves, or each with a random starter."""
    hands = _hands()
    if not starter:
        return hand_values(hands)
    draws = np.random.default_rng(ROLES_SEED).integers(NUM_STARTERS, size=len(hands))
    return starter_values(hands, draws)


def _predicted(run: FoundRun) -> NDArray[np.float32]:
    """[H] values of all hands by the discard network of a finished run. Raises CheckpointError."""
    path = run.folder / WEIGHTS_FILE
    checkpoint = load_weights(path)
    if checkpoint.discard_network is None or checkpoint.discard_encoder is None:
        raise CheckpointError(f"{path} holds no discard network, which {CONFIG} beside it says was trained")
    return predicted_values(checkpoint.discard_network, checkpoint.discard_encoder, ROLES_SEED)


# --- after training -----------------------------------------------------------------------------------------


def trained_section(groups: Sequence[Group], page: Page, progress: Callable[[int], None]) -> Section | None:
    """The same of networks after training, whose values are of another quantity; None where there are none.

    progress is called with the number of networks done since its last call.
    """
    rows, data, shown = [], [], {}
    for group in in_order(groups):
        if not has_discard_network(group):
            continue
        found = []
        for run in group.runs:
            predicted = _predicted(run)
            found.append((*np.polyfit(_true(False), predicted, 1), np.corrcoef(_true(False), predicted)[0, 1]))
            name = str(group.options.get("discard_network.name"))
            if name not in shown:
                title = f"{name} after training: {paper2019.ARCHITECTURES[group.architecture]}, {label(group)}"
                shown[name] = page.figure(f"trained_{name}", _trained_figure(predicted, title), title)
            progress(1)
        slope, level, correlation = (mean_interval(values) for values in zip(*found, strict=True))
        rows.append(
            (
                f"{paper2019.ARCHITECTURES[group.architecture]}, {label(group)}",
                str(group.options.get("discard_network.name")),
                NONE,
                number(level, 2),
                number(slope, 2),
                number(correlation, 3),
                f"{len(found)} x {len(_hands()):,}",
                seconds_text([run.seconds for run in group.runs]),
                page.command(group.runs),
            )
        )
        data.append({"group": label(group), "architecture": group.architecture, "slope": plain(slope)})
    if not rows:
        return None
    columns = (
        "pair",
        "discard network",
        "paper",
        "value of a hand of 0",
        "rise a point",
        "correlation",
        "networks x hands",
    )
    words = (
        "After training a value is no longer that of the show: it is the discard's return, all points of the play, the "
        "hand with its starter and the dealer's crib. So it is held against the hand's own points without calling the "
        "difference an error: a straight line through all hands (its value at 0 points, its rise for each point) and "
        "Pearson's correlation, with Student's t intervals over networks. The paper shows no such figure. No cards are "
        "thrown in these positions, so they are none that the networks met in games."
    )
    parts = [words, table((*columns, "seconds a run", "command"), rows), *shown.values()]
    return Section("Values of hands after training", parts, data)


def _trained_figure(predicted: NDArray[np.float32], title: str) -> Figure:
    """Values against the hand's own points, which they do not predict: so said, the line of equality is no aim."""
    figure = predicted_against_true(predicted, _true(False), title=title)
    assert figure is not None, "matplotlib is there: the job has looked"
    axes, colours = figure.axes
    axes.set(xlabel="the hand's own points", ylabel="value of the discard that keeps it (points)")
    colours.set_ylabel("share of the hands of these points")
    for line, words in zip(axes.lines, ("equal", "mean value"), strict=True):
        line.set_label(words)
    axes.legend(loc="upper left")
    return figure


def has_discard_network(group: Group) -> bool:
    """Whether the group's runs trained one and saved it, and it values hands by themselves.

    A dueling network does not: without a hand's other discards only its advantages are left.
    """
    has_values = group.options.get("discard_network.head") != "dueling"
    trained = group.options.get("learner.discard_agent") is None
    return has_values and trained and all((run.folder / WEIGHTS_FILE).is_file() for run in group.runs)
