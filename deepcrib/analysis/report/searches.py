"""Hands won by reward and state, with their hyperparameters, and how these go together over a search's trials."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from deepcrib.analysis.report.page import Page, Section, Table, number
from deepcrib.analysis.report.runs import ALGORITHM, FINISHED, NETWORK, final_match
from deepcrib.analysis.report.setups import option
from deepcrib.analysis.report.statistics import over_seeds, rank_correlation
from deepcrib.intervals import wilson

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BEST_SHARE = 1 / 3
"""Of the trials of a search: those whose hyperparameters did well."""
FEWEST = 5
"""Trials of which a correlation is shown."""
WINS_OF = 1000
PAIRS = (
    ("learner.play_lr", "learner.replacement"),
    ("learner.lr_decay", "learner.buffer_size"),
    ("learner.epsilon_decay", "learner.buffer_size"),
)
"""Hyperparameters whose relations Bélanger et al. 2019 report in words (section 4.3)."""
ROW = ["reward.play", "state.play", "learner.iterations"]


def samples(setups: Sequence[pd.DataFrame], runs: pd.DataFrame, opponent: str) -> list[pd.DataFrame]:
    """Setups and searches whose hands were counted, the latter split by reward, state and number of iterations.

    With the columns hands, wins, rate; sorted by reward and state.
    """
    finished = runs[(runs.state == FINISHED) & runs.study.notna()]
    searched = (
        [group for _, group in finished.groupby(["study", *ROW], sort=False, dropna=False)] if len(finished) else []
    )
    counted = [_counted(group, opponent) for group in (*setups, *searched)]
    return sorted((group for group in counted if len(group)), key=lambda group: _reward_and_state(group))


def _counted(group: pd.DataFrame, opponent: str) -> pd.DataFrame:
    """The runs of a group that counted hands won on play points alone."""
    found: list[Mapping[str, Any]] = [final_match(run, opponent).get("hands_won") or {} for _, run in group.iterrows()]
    columns = {"hands": "hands", "wins": "wins", "rate": "win_rate"}
    told = {column: [figures.get(name) for figures in found] for column, name in columns.items()}
    return group.assign(**told)[[bool(figures) for figures in found]]


def _reward_and_state(group: pd.DataFrame) -> tuple[str, str]:
    return str(option(group, "reward.play")), str(option(group, "state.play"))


def _searched(group: pd.DataFrame) -> str | None:
    """The name of a group's search."""
    study = group.study.iloc[0]
    return None if study is None else str(study.name)


# --- hands won ----------------------------------------------------------------------------------------------


def hands_section(found: Sequence[pd.DataFrame], opponent: str, page: Page) -> Section | None:
    """A row a setup or search, with the hyperparameters of its best run."""
    if not found:
        return None
    words = (
        f"Of {WINS_OF:,} hands against {opponent}, those in which the agent pegged more; ties are nobody's. Means "
        "over the trials of a search, or the seeds of a setup, with Student's t interval over them, and Wilson's "
        "over all hands. The hyperparameters are those of the best run; a best trial's own wins are shown with "
        "Wilson's interval over its hands: it was chosen by them, so a new measurement would come out lower."
    )
    columns = (f"wins / {WINS_OF:,}, t over runs", "Wilson over hands", "best trial, Wilson over hands")
    rows = [_hands_row(group, page, columns) for group in found]
    table = Table(rows, dict.fromkeys(columns, number(0, scale=WINS_OF)), unseen=("best run",))
    return Section("Hands won by reward and state", [words, table])


def _hands_row(group: pd.DataFrame, page: Page, columns: Sequence[str]) -> dict[str, Any]:
    reward, state = _reward_and_state(group)
    search = _searched(group)
    best = group.loc[group.rate.astype(float).idxmax()]
    intervals = (
        over_seeds(group.rate, int(group.hands.min())),
        wilson(group.wins.sum(), group.hands.sum()),
        wilson(best.wins, best.hands) if search else None,
    )
    setup = [option(group, name) for name in (NETWORK, ALGORITHM)]
    setup += [f"epsilon {option(group, 'learner.epsilon')}", f"{option(group, 'learner.iterations')} iterations"]
    return (
        {"reward": reward, "state": state, "search": search, "setup": ", ".join(map(str, setup))}
        | dict(zip(columns, intervals, strict=True))
        | {"hands": int(group.hands.sum()), "runs": f"{len(group)} {'trials' if search else 'seeds'}"}
        | _hyperparameters(best)
        | page.origin(group)
        | {"best run": str(best.folder)}
    )


def _hyperparameters(best: pd.Series) -> dict[str, str | None]:
    """A buffer by epochs is given in games or hands."""
    told = {name: best.get(f"learner.{name}") for name in ("play_lr", "lr_decay", "epsilon_decay")}
    rates = {name: f"{value:.3g}" if pd.notna(value) else None for name, value in told.items()}
    size, replaced = best.get("learner.buffer_size"), best.get("learner.replacement")
    if pd.notna(size) and pd.notna(replaced):
        return rates | {"buffer": f"{size:,}", "replaced": f"{replaced:.0%}"}
    epochs = best.get("learner.epochs_kept")
    buffer = f"{epochs} x {best.get('learner.episodes')} {best.get('learner.unit')}"
    return rates | {"buffer": buffer, "replaced": f"{1 / epochs:.0%}" if epochs else None}


# --- relations ----------------------------------------------------------------------------------------------


def relations_section(found: Sequence[pd.DataFrame], opponent: str, page: Page) -> Section | None:
    """Rank correlations of hyperparameters over the trials of each search, and over its best; None without any."""
    rows: list[dict[str, Any]] = []
    shown: list[str] = []
    for group in found:
        pairs = [pair for pair in PAIRS if all(_varies(group, name) for name in pair)]
        search = _searched(group)
        if search is None or len(group) < FEWEST or not pairs:
            continue
        ranked = group.sort_values("rate", ascending=False, kind="stable")
        best = ranked[: max(FEWEST, math.ceil(len(ranked) * BEST_SHARE))]
        title = f"Trials of {search}: {', '.join(_reward_and_state(group))}"
        for first, second in pairs:
            over = {
                f"{name}, over {kind}": value
                for kind, trials in (("the best trials", best), ("all trials", ranked))
                for name, value in (
                    ("correlation", rank_correlation(trials[first], trials[second])),
                    ("trials", len(trials)),
                )
            }
            rows.append({"hyperparameters": f"{first}, {second}", "search": title} | over | page.origin(group))
        image = relations_figure(ranked, len(best), pairs, title)
        shown.append(page.figure(f"search_{len(shown) + 1}", image, title))
    words = (
        "Spearman's rank correlation with Fisher's 95% interval over trials (standard error of Bonett and Wright)."
        " Over all trials it says what the search tried; what goes well together shows over the best third (at "
        f"least {FEWEST}), by hands won against {opponent}, as far as that differs from all. Trials of a search "
        "that learns from its results are not independent, so the intervals are narrower than they should be."
    )
    formats = {f"correlation, over {kind}": number(2, "+") for kind in ("the best trials", "all trials")}
    return Section("Relations between hyperparameters", [words, Table(rows, formats), *shown]) if rows else None


def _varies(group: pd.DataFrame, name: str) -> bool:
    return name in group and bool(group[name].notna().all()) and group[name].nunique() > 1


def relations_figure(ranked: pd.DataFrame, num_best: int, pairs: Sequence[tuple[str, str]], title: str) -> Figure:
    """A panel a pair: a point a trial, shaded by hands won, ringed where it is one of the best."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4 * len(pairs) + 1, 3.8), layout="constrained")
    panels = figure.subplots(1, len(pairs), squeeze=False)[0]
    for axes, (first, second) in zip(panels, pairs, strict=True):
        x, y = ranked[first].astype(float), ranked[second].astype(float)
        points = axes.scatter(x, y, c=100 * ranked.rate.astype(float), cmap="viridis", s=28)
        ringed = {"s": 90, "facecolors": "none", "edgecolors": "tab:red", "label": f"the best {num_best}"}
        axes.scatter(x[:num_best], y[:num_best], **ringed)
        if first.endswith("lr"):
            axes.set_xscale("log")
        axes.set_yticks(sorted(set(y)) if y.nunique() <= 6 else axes.get_yticks())
        axes.set(xlabel=first.partition(".")[2], ylabel=second.partition(".")[2])
        axes.grid(alpha=0.3)
        axes.set_axisbelow(True)
    panels[0].legend(loc="best", fontsize=8)
    figure.colorbar(points, ax=list(panels), label="hands won (%)")
    figure.suptitle(title)
    return figure
