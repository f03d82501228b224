"""What a run writes for TensorBoard: the charts of its Custom Scalars page, its options and its final metrics."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from deepcrib.evaluation.evaluate import Evaluation
from deepcrib.files.runs import flat
from deepcrib.jobs.shared.common import shown_tag, summary_writer
from deepcrib.learners.registry import learner_class
from deepcrib.learners.td.options import TdOptions
from deepcrib.training.fit import MATCH_METRICS
from deepcrib.training.options import LearnerOptions

Layout = dict[str, dict[str, list[Any]]]
"""Charts by category and title: `["Multiline", [pattern, ...]]`, or `["Margin", [value, low, high]]` of tags."""

FINAL = "final/"  # what tags of final metrics begin with, the columns of TensorBoard's table of runs
OPTIONS_SUFFIX = ".options"
"""Ends the name of the file of events with a run's options and final metrics, which is written anew."""
FINAL_METRICS = ("win_rate", "win_rate_low", "win_rate_high", "points_per_hand")  # of the final matches


def layout(options: LearnerOptions, opponents: Iterable[str], monitored: bool) -> Layout:
    """The charts of a run: what matters, how strong it is, comes first; monitored: whether matches are played."""
    names = list(opponents) if monitored else []
    discards = getattr(options, "discard_agent", None) is None
    found = {"Strength": _matches(names), "Points a hand": _points(names, isinstance(options, TdOptions))}
    for category, charts in charts_of(options.name).items():
        lines = {title: _lines(tags) for title, tags in charts.items() if discards or "/discard" not in tags}
        found[category] = found.get(category, {}) | lines
    return {category: charts for category, charts in found.items() if charts}


def charts_of(learner: str) -> Mapping[str, Mapping[str, str]]:
    """Tags by category and title: `CHARTS` of the module of a learner, its own or one of the package's."""
    return getattr(sys.modules[learner_class(learner).__module__], "CHARTS", {})


def _matches(opponents: Iterable[str]) -> dict[str, list[Any]]:
    """Two charts an opponent, the last first: TensorBoard 2.21 turns the order of charts of bounds round.

    It also draws them after others of their category, so none but such are in theirs.
    """
    charts = {}
    for name in opponents:
        for title, tag in ((f"win rate against {name}", "win_rate"), (f"points a hand ahead of {name}", "hand_margin")):
            charts[title] = ["Margin", [shown_tag(f"{name}/{tag}{bound}") for bound in ("", "_low", "_high")]]
    return dict(reversed(charts.items()))


def _points(opponents: Iterable[str], in_pairs: bool) -> dict[str, list[Any]]:
    charts = {}
    for name in opponents:
        charts[f"own and {name}'s"] = _lines(f"{re.escape(name)}/(opponent_)?points_per_hand")
        if in_pairs:
            charts[f"a pair of hands, own less those of {name}"] = _lines(f"{re.escape(name)}/pair_margin")
    return charts


def _lines(pattern: str) -> list[Any]:
    """TensorBoard takes a pattern for tags that begin so: here they end there too."""
    return ["Multiline", [f"{pattern}$"]]


def final_metrics(matches: Mapping[str, Evaluation], summary: Mapping[str, Any], seconds: float) -> dict[str, float]:
    """What the table of runs shows of a finished run, by tag, in order; summary: what else its learner measured."""
    metrics = {
        f"{FINAL}{name}/{tag}": getattr(found, MATCH_METRICS[tag])
        for name, found in matches.items()
        for tag in FINAL_METRICS
    }
    measured = {name: float(value) for name, value in flat(summary, separator="/") if isinstance(value, int | float)}
    return metrics | {f"{FINAL}{name}": value for name, value in (measured | {"hours": seconds / 3600}).items()}


def write_options(
    folder: Path,
    options: Mapping[str, Any],
    overrides: Sequence[str],
    columns: Iterable[str],
    metrics: Mapping[str, float] | None = None,
    step: int = 0,
) -> None:
    """Write the options of the run for TensorBoard's table of runs, and at its end its metrics, at `step`.

    overrides: of the run, whose options come first there. columns: tags of metrics, in the order of the table. What was
    written before goes, since of several options of one name TensorBoard would show the first.
    """
    from torch.utils.tensorboard.summary import hparams  # a second to import

    for old in folder.glob(f"events.out.tfevents.*{OPTIONS_SUFFIX}"):
        old.unlink()
    table, start, end = hparams(_plain(options), dict.fromkeys(columns, 0.0))
    _mark_differing(table, [override.partition("=")[0] for override in overrides])
    with closing(summary_writer(folder, suffix=OPTIONS_SUFFIX)) as writer:
        file: Any = writer.file_writer
        for summary in (table, start) if metrics is None else (table, start, end):
            file.add_summary(summary)
        for tag, value in (metrics or {}).items():
            writer.add_scalar(tag, value, step)


def _mark_differing(table: Any, names: Sequence[str]) -> None:
    """Mark options, or the names of groups, as those that differ between runs, which TensorBoard shows first."""
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    data = table.value[0].metadata.plugin_data
    content = HParamsPluginData.FromString(data.content)
    for info in content.experiment.hparam_infos:
        info.differs = info.name.removesuffix(".name") in names
    data.content = content.SerializeToString()


def _plain(options: Mapping[str, Any]) -> dict[str, int | float | str]:
    """Options by their full names: numbers as they are, others as a command line says them."""
    words = {"None": "null", "True": "true", "False": "false"}
    return {
        name: value if type(value) in (int, float) else words.get(str(value), str(value))
        for name, value in flat(options)
    }
