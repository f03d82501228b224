"""Figures 5 and 6 of Bélanger et al. 2019: python -m benchmarks.paper2019.deal [FIGURE --seed N --to FILE.json].

With a FIGURE, 5a, 5b, 5b_adam or 6: pretrains the published deal network as section 3.6.4 says, about 80 seconds of a
core, and writes how its values of all 270,725 four-card hands compare with the true ones, and their density. A training
begins so with `discard_network=belanger2019 pretraining.optimizer=sgd pretraining.lr=5e-4`; 5a adds
`discard_network.suit_convolution=false`, 6 `pretraining.starter=true`, and 5b_adam has the package's own optimiser in
place of the authors'. Without one: draws the densities that `long_runs.py` keeps of these runs.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.long_runs import DATA, finished
from benchmarks.pages import line
from deepcrib.analysis.figures import save_png
from deepcrib.exact.shows import NUM_STARTERS, all_hands, bare_hand_values, starter_values
from deepcrib.files import write_atomic
from deepcrib.game.cards import SUITS
from deepcrib.intervals import mean_interval
from deepcrib.learners.pretraining.options import PretrainingOptions
from deepcrib.learners.pretraining.show import ShowPretraining, predicted_values, shown_states
from deepcrib.networks import DiscardNetworkConfig, make_discard_network
from deepcrib.networks.encoders import make_discard_encoder
from deepcrib.training.learner import Setting

GROUP = "paper2019_deal"
SEEDS = (1, 2, 3)
IMAGE = DATA.parent / "paper2019" / "deal.png"
CELL = 0.25
"""Height of a cell of the densities, points."""
ROLES_SEED = 1
"""Of the dealer flags with which hands are shown."""


@dataclass(frozen=True)
class Shown:
    """A figure: whether its network reads suits, whether a random starter is in what it learns, and how it learns.

    sgd: as in the published code, or Adam. label: all of it in words.
    """

    label: str
    suits: bool = True
    starter: bool = False
    sgd: bool = True


SHOWN = {
    "5a": Shown("5a, without suits", suits=False),
    "5b": Shown("5b, with suits"),
    "5b_adam": Shown("5b, with suits, by Adam", sgd=False),
    "6": Shown("6, with a random starter", starter=True),
}
DRAWN = ("5a", "5b", "6")
STARTERS = {
    "mean": ", against the mean over starters",
    "starters": ", against each starter",
    "best_mean": ", at best: exact mean",
    "best_median": ", at best: exact median",
}
"""What is compared where there are starters; the last two, with each starter, are no network's."""
NUMBERS = {
    "mean_absolute_error": "mean absolute error",
    "rms_error": "RMS error",
    "exact_share": "exact, rounded",
    "correlation": "correlation",
}


# --- measuring --------------------------------------------------------------------------------------------------


def measure(figure: str, seed: int) -> dict[str, Any]:
    """What a pretrained network's values are worth, and their density by true value."""
    shown, hands = SHOWN[figure], all_hands()
    predicted = pretrained(shown, seed)
    if shown.starter:
        true = with_starters(hands)
        found = {"mean": compared(predicted, true.mean(axis=1)), "starters": compared(predicted, true), **best(true)}
    else:
        true = bare_hand_values(hands)
        suits = SUITS[hands]
        flush = (suits == suits[:, :1]).all(axis=1)
        parts = {"all": slice(None), "flushes": flush, "rest": ~flush}
        found = {name: compared(predicted[part], true[part]) for name, part in parts.items()}
    return found | {"density": density(predicted, true)}


def pretrained(shown: Shown, seed: int) -> NDArray[np.float32]:
    """[270725] values of all hands, by a network of the published sizes after three passes."""
    encoder = make_discard_encoder("basic")
    torch.manual_seed(seed)
    config = DiscardNetworkConfig("belanger2019", hidden=[529, 529], channels=15, suit_convolution=shown.suits)
    network = make_discard_network(config, encoder.spec)
    options = PretrainingOptions(starter=shown.starter)
    if shown.sgd:
        options = replace(options, optimizer="sgd", lr=5e-4)
    stage = ShowPretraining(network, encoder, options, Setting(seed))
    while stage.steps_done < stage.num_steps:
        stage.step()
    states = shown_states(all_hands(), torch.Generator().manual_seed(ROLES_SEED))
    return predicted_values(network, encoder, states)


def with_starters(hands: NDArray[np.int8]) -> NDArray[np.int16]:
    """[H, 48] points of hands [H, 4] with each starter."""
    columns = [starter_values(hands, np.full(len(hands), draw)) for draw in range(NUM_STARTERS)]
    return np.stack(columns, axis=1)


def best(true: NDArray[np.int16]) -> dict[str, dict[str, float]]:
    """How well values [H, 48] can be known: means have the least square error, medians the least absolute one."""
    return {"best_mean": compared(true.mean(axis=1), true), "best_median": compared(np.median(true, axis=1), true)}


def compared(predicted: NDArray[Any], true: NDArray[Any]) -> dict[str, float]:
    """NUMBERS of predictions [H] of true values [H], or of [H, K], each as likely."""
    true = true.reshape(len(true), -1).astype(np.float64)
    column = predicted.astype(np.float64)[:, None]
    error = column - true
    apart, beyond = column - column.mean(), true - true.mean()
    covariance, scale = (apart * beyond).mean(), np.sqrt((apart**2).mean() * (beyond**2).mean())
    return {
        "mean_absolute_error": round(float(np.abs(error).mean()), 4),
        "rms_error": round(float(np.sqrt((error**2).mean())), 4),
        "exact_share": round(float((np.rint(column) == true).mean()), 5),
        "correlation": round(float(covariance / scale), 5),
    }


def density(predicted: NDArray[Any], true: NDArray[Any]) -> dict[str, list[int]]:
    """By true value: the number of the lowest cell of CELL points with predictions, and counts from there on."""
    true = true.reshape(len(true), -1)
    cells = np.broadcast_to(np.floor(predicted / CELL).astype(np.int64)[:, None], true.shape)
    found = {}
    for value in np.unique(true):
        own = cells[true == value]
        found[str(value)] = [int(own.min()), *np.bincount(own - own.min()).tolist()]
    return found


# --- the page ---------------------------------------------------------------------------------------------------


def table() -> Iterator[str]:
    """A line for each figure: means over the seeds that have run, with their intervals; then the best that can be."""
    yield line("figure", "seeds", "mean absolute error", "of flushes", "of the rest", *list(NUMBERS.values())[1:])
    yield "|---|---|---|---|---|---|---|---|"
    kept = finished(GROUP)
    for figure, shown in SHOWN.items():
        runs = [run["figures"] for seed in SEEDS if (run := kept.get(f"{figure}_seed{seed}"))]
        for name, words in _compared(shown).items() if runs else ():
            alone = [_cell(runs, f"{part}.mean_absolute_error") for part in ("flushes", "rest")]
            error, *others = [_cell(runs, f"{name}.{number}") for number in NUMBERS]
            yield line(
                f"{figure}{words}" if words else shown.label,
                len(runs),
                error,
                *(["", ""] if shown.starter else alone),
                *others,
            )


def _compared(shown: Shown) -> dict[str, str]:
    """What a network's values are compared with, and words for it."""
    return STARTERS if shown.starter else {"all": ""}


def _cell(runs: Sequence[Mapping[str, float]], name: str) -> str:
    values = [run.get(name, math.nan) for run in runs]
    factor, digits, unit = (100, 1, "%") if name.endswith("exact_share") else (1, 3, "")
    found = mean_interval(values)
    if math.isnan(found.estimate) or name == "mean.exact_share":  # means are no whole numbers
        return ""
    cell = f"{factor * found.estimate:.{digits}f}{unit}"
    if len(values) < 2 or name.startswith("best"):
        return cell
    return f"{cell} [{factor * found.low:.{digits}f}, {factor * found.high:.{digits}f}]"


def draw(path: Path) -> None:
    """One sheet of the three densities, of seed 1; a column is shaded by shares of its true value."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import PowerNorm
    from matplotlib.figure import Figure

    sheet = Figure(figsize=(12, 4.4), layout="constrained")
    shades = ScalarMappable(PowerNorm(0.4, vmin=0, vmax=1), "Blues")
    for panel, figure in zip(sheet.subplots(1, len(DRAWN)), DRAWN, strict=True):
        shown = SHOWN[figure]
        found = _densities(figure)
        for value, (first, *counts) in found.items():
            edges = CELL * np.arange(first, first + len(counts) + 1)
            shares = np.ma.masked_equal(np.array(counts)[:, None] / sum(counts), 0)
            panel.pcolormesh([value - 0.5, value + 0.5], edges, shares, cmap=shades.cmap, norm=shades.norm)
        last = max(found, default=1)
        panel.plot([0, last], [0, last], color="tab:red", linewidth=0.8, label="equal")
        truth = "true value with a starter" if shown.starter else "true value of the four cards"
        panel.set(xlabel=f"{truth} (points)", ylabel="predicted value (points)", title=f"Figure {shown.label}")
        panel.set_ylim(-2, 30)
        panel.legend(loc="upper left")
    sheet.colorbar(shades, ax=sheet.axes, label="share of the hands of a true value")
    save_png(sheet, path, dpi=110)


def _densities(figure: str) -> Mapping[int, Sequence[int]]:
    """[lowest cell, counts] by true value."""
    kept = finished(GROUP).get(f"{figure}_seed{SEEDS[0]}", {}).get("figures", {})
    return {int(name.removeprefix("density.")): row for name, row in kept.items() if name.startswith("density.")}


def main(words: Sequence[str] | None = None) -> None:
    """Measure one, or draw all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figure", nargs="?", choices=SHOWN)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--to", type=Path, help="a JSON file for what is measured, else the figure")
    options = parser.parse_args(words)
    if options.figure is None:
        draw(options.to or IMAGE)
        return
    found = json.dumps(measure(options.figure, options.seed))
    if options.to is None:
        print(found)
    else:
        write_atomic(options.to, found + "\n")


if __name__ == "__main__":
    main()
