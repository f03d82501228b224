"""Rewards, states and the hyperparameters found for them: table 3 and the relations of section 4.3."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deepcrib.analysis.report import paper2019
from deepcrib.analysis.report.page import NONE, Page, Section, number, plain, seconds_text, table
from deepcrib.analysis.report.paper2019 import RELATIONS, TABLE_3, Relation, Searched
from deepcrib.analysis.report.run_folders import FINISHED, FoundRun, Group
from deepcrib.analysis.report.statistics import over_seeds, rank_correlation
from deepcrib.intervals import Interval, wilson

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BEST_SHARE = 1 / 3
"""Of the trials of a search: those whose hyperparameters did well."""
FEWEST = 5
"""Trials of which a correlation is shown."""
WINS_OF = 1000


@dataclass(frozen=True)
class Sample:
    """Runs that a row of table 3 is about: a search's trials, or the seeds of one setup."""

    name: str
    runs: Sequence[FoundRun]
    searched: bool

    @property
    def options(self) -> Mapping[str, Any]:
        """Those of its first run."""
        return self.runs[0].options


def studies(runs: Sequence[FoundRun]) -> dict[Path, list[FoundRun]]:
    """All trials by the folder of their search, whatever became of them."""
    found: dict[Path, list[FoundRun]] = {}
    for run in runs:
        if run.study is not None:
            found.setdefault(run.study, []).append(run)
    return found


def samples(groups: Sequence[Group], runs: Sequence[FoundRun], opponent: str) -> list[Sample]:
    """Setups and searches whose hands were counted, the latter split by reward, state and number of iterations."""
    found = [Sample("", [run for run in group.runs if hands_won(run, opponent)], False) for group in groups]
    for folder, trials in studies(runs).items():
        by_row: dict[tuple[Any, ...], list[FoundRun]] = {}
        for run in trials:
            if run.state == FINISHED and hands_won(run, opponent):
                by_row.setdefault((*_row_of(run.options), run.options.get("learner.iterations")), []).append(run)
        found += [Sample(folder.name, inner, True) for inner in by_row.values()]
    return [sample for sample in found if sample.runs]


def hands_won(run: FoundRun, opponent: str) -> Mapping[str, Any]:
    """The play-only figures of a run; empty where they were not measured."""
    found: Mapping[str, Any] = run.match(opponent).get("hands_won") or {}
    return found


def _row_of(options: Mapping[str, Any]) -> tuple[Any, Any]:
    return options.get("reward.play"), options.get("state.play")


# --- table 3 ------------------------------------------------------------------------------------------------


def rewards_section(found: Sequence[Sample], opponent: str, page: Page) -> Section | None:
    """Table 3: the paper's rows, and below each those of ours with its reward and state; then ours of other ones."""
    if not found:
        return None
    rows, data = [], []
    placed = [[sample for sample in found if _row_of(sample.options) == (row.reward, row.state)] for row in TABLE_3]
    for published, own in zip(TABLE_3, placed, strict=True):
        rows.append(_published_row(published))
        rows += [_row(sample, opponent, page) for sample in own]
    known = {id(sample) for own in placed for sample in own}
    others = [sample for sample in found if id(sample) not in known]
    rows += [_row(sample, opponent, page) for sample in others]
    data = [_plain(sample, opponent) for sample in found]
    columns = (
        "reward, state",
        "whose",
        f"wins / {WINS_OF:,}",
        "Wilson over hands",
        "best trial",
        "hands",
        "trials or seeds",
        "lr",
        "lr decay",
        "epsilon decay",
        "buffer",
        "replaced",
        "seconds a run",
        "command",
    )
    setup = ", ".join(f"{name}={value}" for name, value in paper2019.TABLE_3_SETUP.items())
    words = (
        f"Of {WINS_OF:,} hands against {opponent}, those in which the agent pegged more; ties are nobody's. The "
        f"paper's setup is {setup}, and its wins are averages over the trials of a search. Ours: the mean over trials "
        "(or seeds) with Student's t interval; Wilson's over all hands. The hyperparameters are those of the best "
        "trial, whose own wins are shown with Wilson's interval: it was chosen by them, so a new measurement would "
        "come out lower."
    )
    return Section("Rewards and states (table 3)", [words, table(columns, rows)], data)


def _published_row(row: Searched) -> tuple[str, ...]:
    found = (f"{row.lr:g}", f"{row.lr_decay:g}", f"{row.epsilon_decay:g}", f"{row.buffer:,}", f"{row.replacement:.0%}")
    return (
        f"{row.reward}, {row.state}",
        "paper",
        str(row.wins),
        NONE,
        NONE,
        NONE,
        str(row.trials),
        *found,
        NONE,
        NONE,
    )


def _row(sample: Sample, opponent: str, page: Page) -> tuple[str, ...]:
    counted = [hands_won(run, opponent) for run in sample.runs]
    hands = sum(figures["hands"] for figures in counted)
    all_hands = _per_thousand(wilson(sum(figures["wins"] for figures in counted), hands))
    best = _best(sample, opponent)
    figures = hands_won(best, opponent)
    own = wilson(figures["wins"], figures["hands"])
    options = sample.options
    setup = ", ".join(
        str(name)
        for name in (
            paper2019.ARCHITECTURES.get(paper2019.architecture_of(options), options.get("play_network.name")),
            paper2019.ALGORITHMS.get(str(options.get("algorithm.name")), options.get("algorithm.name")),
            f"epsilon {options.get('learner.epsilon')}",
            f"{options.get('learner.iterations')} iterations",
        )
    )
    return (
        ", ".join(map(str, _row_of(options))),
        f"ours, search {sample.name} ({setup})" if sample.searched else f"ours ({setup})",
        number(_mean(sample, opponent), 0),
        number(all_hands, 0),
        number(_per_thousand(own), 0) if sample.searched else NONE,
        f"{hands:,}",
        f"{len(sample.runs)} {'trials' if sample.searched else 'seeds'}",
        *_hyperparameters(best.options),
        seconds_text([run.seconds for run in sample.runs]),
        page.command(sample.runs),
    )


def _hyperparameters(options: Mapping[str, Any]) -> tuple[str, ...]:
    """As table 3 names them; a buffer by epochs is given in games or hands."""
    size, replaced = options.get("learner.buffer_size"), options.get("learner.replacement")
    epochs = options.get("learner.epochs_kept")
    if size is None or replaced is None:
        episodes = options.get("learner.episodes")
        buffer = f"{epochs} x {episodes} {options.get('learner.unit')}"
        share = f"{1 / epochs:.0%}" if epochs else NONE
    else:
        buffer, share = f"{size:,}", f"{replaced:.0%}"
    rates = (options.get(f"learner.{name}") for name in ("play_lr", "lr_decay", "epsilon_decay"))
    return (*(NONE if rate is None else f"{rate:.3g}" for rate in rates), buffer, share)


def _best(sample: Sample, opponent: str) -> FoundRun:
    return max(sample.runs, key=lambda run: _rate(run, opponent))


def _rate(run: FoundRun, opponent: str) -> float:
    return float(hands_won(run, opponent)["win_rate"])


def _mean(sample: Sample, opponent: str) -> Interval:
    hands = min(int(hands_won(run, opponent)["hands"]) for run in sample.runs)
    return _per_thousand(over_seeds([_rate(run, opponent) for run in sample.runs], hands))


def _per_thousand(found: Interval) -> Interval:
    return Interval(*(WINS_OF * value for value in found))


def _plain(sample: Sample, opponent: str) -> dict[str, Any]:
    reward, state = _row_of(sample.options)
    best = _best(sample, opponent)
    return {
        "reward": reward,
        "state": state,
        "search": sample.name or None,
        "runs": len(sample.runs),
        "wins_per_1000": plain(_mean(sample, opponent)),
        "best": {"folder": str(best.folder), "win_rate": _rate(best, opponent)},
    }


# --- relations ----------------------------------------------------------------------------------------------


def relations_section(found: Sequence[Sample], opponent: str, page: Page) -> Section | None:
    """Rank correlations of hyperparameters over the trials of each search, and over its best; None without any."""
    rows, data = [], []
    shown: list[str] = []
    for sample in found:
        related = [relation for relation in RELATIONS if _varies(sample, relation)]
        if not sample.searched or len(sample.runs) < FEWEST or not related:
            continue
        ranked = sorted(sample.runs, key=lambda run: -_rate(run, opponent))
        best = ranked[: max(FEWEST, math.ceil(len(ranked) * BEST_SHARE))]
        for relation in related:
            over = [_correlation(runs, relation) for runs in (best, ranked)]
            rows.append(
                (
                    f"{relation.first}, {relation.second}",
                    f"{'positive' if relation.sign > 0 else 'negative'}: {relation.words}",
                    f"{', '.join(map(str, _row_of(sample.options)))} ({sample.name})",
                    f"{number(over[0], 2, sign=True)}, {len(best)} trials",
                    f"{number(over[1], 2, sign=True)}, {len(ranked)} trials",
                    page.command(sample.runs),
                )
            )
            pair = {"first": relation.first, "second": relation.second, "search": sample.name}
            data.append(pair | {"best": plain(over[0]), "all": plain(over[1])})
        name = f"search_{len(shown) + 1}"
        title = f"Trials of {sample.name}: {', '.join(map(str, _row_of(sample.options)))}"
        shown.append(page.figure(name, relations_figure(ranked, len(best), related, opponent, title), title))
    if not rows:
        return None
    columns = ("hyperparameters", "the paper saw", "search", "best third", "all trials", "command")
    words = (
        "Spearman's rank correlation with Fisher's 95% interval (standard error of Bonett and Wright). Over all trials "
        "it says what the search tried; what goes well together shows over the best third (at least "
        f"{FEWEST}), by hands won, as far as that differs from all. Trials of a search that learns from its results "
        "are not independent, so the intervals are narrower than they should be. The paper gives no numbers."
    )
    return Section("Relations between hyperparameters (section 4.3)", [words, table(columns, rows), *shown], data)


def _varies(sample: Sample, relation: Relation) -> bool:
    told = [[run.options.get(name) for run in sample.runs] for name in (relation.first, relation.second)]
    return all(None not in values and len(set(values)) > 1 for values in told)


def _correlation(runs: Sequence[FoundRun], relation: Relation) -> Interval:
    first, second = ([float(run.options[name]) for run in runs] for name in (relation.first, relation.second))
    return rank_correlation(first, second)


def relations_figure(
    ranked: Sequence[FoundRun], num_best: int, relations: Sequence[Relation], opponent: str, title: str
) -> Figure:
    """A panel a relation: a point a trial, shaded by hands won, ringed where it is one of the best."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4 * len(relations) + 1, 3.8), layout="constrained")
    rates = [100 * _rate(run, opponent) for run in ranked]
    panels = figure.subplots(1, len(relations), squeeze=False)[0]
    for axes, relation in zip(panels, relations, strict=True):
        x, y = (np.array([float(run.options[n]) for run in ranked]) for n in (relation.first, relation.second))
        points = axes.scatter(x, y, c=rates, cmap="viridis", s=28)
        axes.scatter(
            x[:num_best], y[:num_best], s=90, facecolors="none", edgecolors="tab:red", label=f"the best {num_best}"
        )
        if relation.first.endswith("lr"):
            axes.set_xscale("log")
        axes.set_yticks(sorted(set(y)) if len(set(y)) <= 6 else axes.get_yticks())
        axes.set(xlabel=relation.first.partition(".")[2], ylabel=relation.second.partition(".")[2])
        axes.grid(alpha=0.3)
        axes.set_axisbelow(True)
    panels[0].legend(loc="best", fontsize=8)
    figure.colorbar(points, ax=list(panels), label="hands won (%)")
    figure.suptitle(title)
    return figure
