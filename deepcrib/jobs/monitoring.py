"""What TensorBoard is told of a run: which charts its Custom Scalars page shows, its options and its final figures.

Both stand in an event file of their own, which is written anew whenever the run is resumed: TensorBoard keeps the first
options that it reads of a run, so that a second file would leave it with those from before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepcrib.evaluation.evaluate import Evaluation
from deepcrib.training.monitoring import MATCH_FIGURES, match_figures

if TYPE_CHECKING:
    from deepcrib.jobs.train import Config

Layout = dict[str, dict[str, list[Any]]]
"""Charts by category and title: `["Multiline", [pattern, ...]]`, or `["Margin", [value, low, high]]` of tags."""

DESCRIPTION = ".description"
"""How the name of that event file ends."""

_WEIGHTS = "(?!largest$|change$)"  # of the tags weights_*/..., those that are strategies
_CHARTS: dict[str, dict[str, dict[str, str | tuple[str, ...]]]] = {
    "replay": {
        "Learning": {
            "loss of the discard network (points²)": "loss/discard",
            "loss of the play network (points²)": "loss/play",
            "discard values and targets, mean (points)": ("q/discard_mean", "target/discard_mean"),
            "play values and targets, mean (points)": ("q/play_mean", "target/play_mean"),
            "discard values and targets, deviation (points)": ("q/discard_std", "target/discard_std"),
            "play values and targets, deviation (points)": ("q/play_std", "target/play_std"),
        },
        "Self-play": {"points a player and hand: play, hand, crib": "self_play/.*"},
        "Throughput": {
            "hands a second": "speed/hands_per_second",
            "samples a second": "speed/samples_per_second",
            "seconds of an iteration: playing, learning, monitoring": "speed/.*_seconds",
        },
        "Schedule": {
            "epsilon": "schedule/epsilon",
            "learning rates": ("schedule/discard_lr", "schedule/play_lr"),
        },
    },
    "weighted": {
        "Weights": {
            "mean weights as pone": f"weights_pone/{_WEIGHTS}.*",
            "mean weights as dealer": f"weights_dealer/{_WEIGHTS}.*",
            "largest weight, mean over scores": "weights_.*/largest",
            "change since the last checkpoint": "weights_.*/change",
        },
        "Throughput": {"games a second": "speed/games_per_second"},
    },
    "weighted_network": {
        "Learning": {
            "loss": "loss/.*",
            "targets": "target/.*",
            "hands a game": "self_play/hands_per_game",
            "learning rate": "schedule/lr",
        },
        "Throughput": {"games a second": "speed/games_per_second", "share of playing": "speed/playing_share"},
    },
    "partida": {
        "Play": {"play points a hand, own less greedy's": "play_only/difference"},
        "Learning": {"loss (points²)": "loss/value", "targets (points)": "target/.*", "learning rate": "schedule/lr"},
    },
    "td": {
        "Learning": {
            "squared error": "loss/squared_error",
            "values after the discard": "value/.*",
        },
        "Throughput": {"hands a second": "speed/hands_per_second"},
    },
    "evolution": {
        "Discards": {
            "share of the best points, held-out hands": "held_out.*/hand",
            "the same with the crib": "held_out.*/with_crib",
        },
        "Evolution": {"updates": "update/(?!deals)", "spread of the values of ranks": "weights/spread"},
    },
    "hill_climb": {
        "Contests": {
            "share of the pairs' points, and what is required": ("contest/share", "contest/required"),
            "share of contests that moved the champion": "contest/moved",
            "norm of the weights": "weights/norm",
        },
        "Throughput": {"games a second": "speed/games_per_second"},
    },
}
"""By learner: what its Custom Scalars page shows after the matches; patterns of tags, each for a whole tag."""


def layout(config: Config, opponents: Iterable[str]) -> Layout:
    """The charts of a run: what matters, how strong it is, comes first."""
    learner = config.learner.name
    strength = _matches(opponents, learner) if config.evaluation.every else {}
    found = {"Strength": strength, **_chosen(_CHARTS[learner], config)}
    return {category: charts for category, charts in found.items() if charts}


def _matches(opponents: Iterable[str], learner: str) -> dict[str, list[Any]]:
    rates, points = {}, {}
    for name in opponents:
        found = re.escape(name)
        tags = [f"{name}/win_rate{bound}" for bound in ("", "_low", "_high")]
        rates[f"win rate against {name}, 95% interval"] = ["Margin", tags]
        points[f"points a hand against {name}: own, opponent's"] = _lines(f"{found}/(opponent_)?points_per_hand")
        if learner == "td":
            points[f"points a pair of hands against {name}, own less opponent's"] = _lines(f"{found}/pair_margin")
    return {**rates, **points}


def _chosen(charts: Mapping[str, Mapping[str, str | tuple[str, ...]]], config: Config) -> Layout:
    """Without the charts of a discard network where there is none."""
    fixed = getattr(config.learner, "discard_agent", None) is not None
    return {
        category: {
            title: _lines(*((tags,) if isinstance(tags, str) else tags))
            for title, tags in lines.items()
            if not (fixed and all("/discard" in tag for tag in ((tags,) if isinstance(tags, str) else tags)))
        }
        for category, lines in charts.items()
    }


def _lines(*patterns: str) -> list[Any]:
    """TensorBoard takes patterns for tags that begin so: here they end there too."""
    return ["Multiline", [f"{pattern}$" for pattern in patterns]]


def final_tags(opponents: Iterable[str]) -> list[str]:
    """The tags of `final_figures` that are known before a run."""
    return [*(f"final/{name}/{tag}" for name in opponents for tag in MATCH_FIGURES), "final/hours"]


def final_figures(matches: Mapping[str, Evaluation], summary: Mapping[str, Any], seconds: float) -> dict[str, float]:
    """What the table of runs shows of a finished run, by tag; summary: what else its learner measured."""
    figures = {tag: value for name, found in matches.items() for tag, value in match_figures(name, found).items()}
    figures |= {name: float(value) for name, value in _flat(summary, "/") if isinstance(value, int | float)}
    return {f"final/{tag}": value for tag, value in (figures | {"hours": seconds / 3600}).items()}


def describe_run(
    folder: Path,
    charts: Layout,
    options: Mapping[str, Any],
    metrics: Iterable[str],
    figures: Mapping[str, float] | None = None,
    step: int = 0,
) -> None:
    """Write the event file of a run's charts and options, and with `figures`, at `step`, of its end.

    metrics: the tags of the columns of the table of runs. A description from before is removed.
    """
    from torch.utils.tensorboard import SummaryWriter  # a second to import
    from torch.utils.tensorboard.summary import hparams

    for old in folder.glob(f"events.out.tfevents.*{DESCRIPTION}"):
        old.unlink()
    experiment, start, end = hparams(_plain(options), dict.fromkeys(metrics))
    with SummaryWriter(str(folder), filename_suffix=DESCRIPTION) as writer:
        writer.add_custom_scalars(charts)
        for summary in (experiment, start) if figures is None else (experiment, start, end):
            writer.file_writer.add_summary(summary)
        for tag, value in (figures or {}).items():
            writer.add_scalar(tag, value, step)


def _plain(options: Mapping[str, Any]) -> dict[str, int | float | str]:
    """Options by their full names: numbers as they are, others as a command line says them."""
    return {name: value if type(value) in (int, float) else _word(value) for name, value in _flat(options, ".")}


def _word(value: Any) -> str:
    words = {"None": "null", "True": "true", "False": "false"}
    return words.get(str(value), str(value))


def _flat(options: Mapping[str, Any], separator: str, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in options.items():
        if isinstance(value, Mapping):
            yield from _flat(value, separator, f"{prefix}{name}{separator}")
        else:
            yield prefix + name, value
