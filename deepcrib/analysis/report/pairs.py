"""Algorithms and architectures side by side: learning curves, hours and final strength (figures 9, 10, table 2)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.analysis.figures import lines_with_bands
from deepcrib.analysis.report import paper2019
from deepcrib.analysis.report.page import (
    NONE,
    Page,
    Section,
    label,
    number,
    plain,
    points,
    seconds_text,
    share,
    table,
)
from deepcrib.analysis.report.run_folders import FoundRun, Group
from deepcrib.analysis.report.statistics import difference, geometric_mean, over_seeds, pooled, ratio, says
from deepcrib.evaluation.recorded import paper_baseline
from deepcrib.intervals import Interval, wilson

HOUR = 3600
BASE = "monte_carlo"
"""The algorithm that the others are held against, as in the paper."""


def in_order(groups: Sequence[Group]) -> list[Group]:
    """Groups of the paper's algorithms and architectures, in the order of its table 2."""
    known = [g for g in groups if g.algorithm in paper2019.ALGORITHMS and g.architecture in paper2019.ARCHITECTURES]
    pairs = [
        (architecture, algorithm) for architecture in paper2019.ARCHITECTURES for algorithm in paper2019.ALGORITHMS
    ]
    return sorted(known, key=lambda group: pairs.index((group.architecture, group.algorithm)))


def _partner(group: Group, groups: Sequence[Group], algorithm: str | None, architecture: str | None) -> Group | None:
    """The group with another algorithm or architecture and else the same options that stand in labels."""
    wanted = (algorithm or group.algorithm, architecture or group.architecture)
    found = [
        g for g in groups if (g.algorithm, g.architecture) == wanted and label(g).partition(",")[2] == _rest(group)
    ]
    return found[0] if len(found) == 1 and found[0] is not group else None


def _rest(group: Group) -> str:
    return label(group).partition(",")[2]


# --- learning curves ----------------------------------------------------------------------------------------


def curves_section(groups: Sequence[Group], opponent: str, architecture: str, page: Page) -> Section | None:
    """Win rate by replay iteration, a line an algorithm; None where no run of the architecture was measured."""
    tag = f"{opponent}/win_rate"
    lines: dict[str, tuple[Sequence[float], NDArray[np.float64]]] = {}
    rows, data = [], []
    for group in in_order(groups):
        measured = [run for run in group.runs if tag in run.scalars]
        if group.architecture != architecture or not measured:
            continue
        steps, rates = _common_steps([run.scalars[tag] for run in measured])
        if not len(steps):
            continue
        lines[label(group)] = (list(map(float, steps)), 100 * rates)
        games = int(group.options.get("evaluation.games") or 0)
        ends = [(over_seeds(rates[:, at], games), _games_interval(rates[:, at], games)) for at in (0, -1)]
        counted = f"{len(measured)} x {games:,}"
        seconds = seconds_text([run.seconds for run in measured])
        first, last = (f"{share(seeds)}; {share(all_games)}" for seeds, all_games in ends)
        rows.append((label(group), "curve only", first, last, counted, seconds, page.command(measured)))
        names = [str(run.seed) for run in measured]
        data.append({"group": label(group), "seeds": names, "steps": steps.tolist(), "win_rates": rates.tolist()})
    if not lines:
        return None
    figure_number, name = paper2019.FIGURES[architecture], paper2019.ARCHITECTURES[architecture]
    title = f"{name}: games won against {opponent}"
    people = 100 * paper_baseline()["win_rate"]
    levels = {"people, 16 of 27 games (section 3.4)": people} if opponent == "deterministic" else {}
    figure = lines_with_bands(lines, levels, title=title, xlabel="replay iteration", ylabel="games won (%)")
    figure.axes[0].locator_params("x", integer=True)
    first_step, last_step = (f"iteration {min(x[at] for x, _ in lines.values()):.0f}" for at in (0, -1))
    words = (
        f"As figure {figure_number} of the paper, which shows one run an algorithm over {paper2019.ITERATIONS} "
        "iterations and prints no numbers. A line is the mean over seeds, its band reaches from the lowest to the "
        "highest seed. In the table the first interval is Student's t over seeds (of the method), but never narrower "
        "than so many games allow; the second is Wilson's over all games (of these very agents)."
    )
    columns = ("algorithm", "paper", first_step, last_step, "seeds x games each", "seconds a run", "command")
    shown = page.figure(f"curves_{architecture}", figure, title)
    return Section(f"Learning curves: {name} (figure {figure_number})", [words, shown, table(columns, rows)], data)


def _common_steps(curves: Sequence[tuple[NDArray[np.int64], NDArray[np.float64]]]) -> tuple[Any, NDArray[np.float64]]:
    """Steps [T] at which all runs were measured, and their values [S, T]."""
    steps = curves[0][0]
    for other, _ in curves[1:]:
        steps = np.intersect1d(steps, other)
    return steps, np.array([values[np.searchsorted(own, steps)] for own, values in curves])


def _games_interval(rates: NDArray[np.float64], games: int) -> Interval:
    if not games:
        return Interval(float(rates.mean()), math.nan, math.nan)
    return wilson(*pooled(rates.tolist(), [games] * len(rates)))


# --- hours --------------------------------------------------------------------------------------------------


def hours_section(groups: Sequence[Group], page: Page) -> Section | None:
    """Table 2: seconds an iteration by pair, hours for 500, and ratios; None where no run has its times."""
    timed = {id(group): _seconds_an_iteration(group) for group in in_order(groups)}
    shown = [group for group in in_order(groups) if timed[id(group)]]
    if not shown:
        return None
    rows, data = [], []
    for group in shown:
        own = timed[id(group)]
        found = geometric_mean(own)
        published = paper2019.HOURS[group.architecture, group.algorithm]
        base = _partner(group, shown, BASE, None)
        found_ratio = None if base is None else ratio(own, timed[id(base)])
        scale = paper2019.ITERATIONS / HOUR
        hours = Interval(*(value * scale for value in found))
        rows.append(
            (
                f"{paper2019.ARCHITECTURES[group.architecture]}, {label(group)}",
                f"{published:g}",
                number(hours, 3 if hours.estimate < 1 else 2) + _extrapolated(group),
                number(found, 2),
                f"{published / paper2019.HOURS[group.architecture, BASE]:.2f}",
                NONE if found_ratio is None else number(found_ratio, 2),
                f"{len(own)} x {_iterations_timed(group)}",
                seconds_text([run.seconds for run in group.runs]),
                page.command(group.runs),
            )
        )
        data.append(
            {
                "architecture": group.architecture,
                "group": label(group),
                "paper_hours": published,
                "seconds_an_iteration": plain(found),
                "hours": plain(hours),
                "ratio_to_monte_carlo": None if found_ratio is None else plain(found_ratio),
            }
        )
    columns = (
        "pair",
        "paper, hours",
        f"ours, hours for {paper2019.ITERATIONS}",
        "ours, seconds an iteration",
        "paper, times Monte Carlo",
        "ours, times Monte Carlo",
        "seeds x iterations timed",
        "seconds a run",
        "command",
    )
    words = [
        "An iteration is self-play and learning, without the matches between them; timed are those that learn from a "
        "full buffer. Geometric means over seeds; intervals are Student's t, of ratios Welch's, of the logarithms. "
        f"`*`: extrapolated from fewer than {paper2019.ITERATIONS} iterations. {_workload(shown)}"
    ]
    return Section("Hours (table 2)", [*words, table(columns, rows), *_architectures(shown, timed)], data)


def _seconds_an_iteration(group: Group) -> list[float]:
    """Of each run, the mean over the iterations with a full buffer; the last iteration where it was never full."""
    timed = [run.iteration_seconds for run in group.runs if len(run.iteration_seconds)]
    return [float(seconds[-max(1, len(seconds) - _filling(group)) :].mean()) for seconds in timed]


def _filling(group: Group) -> int:
    """Iterations after which the buffer is full."""
    replacement = group.options.get("learner.replacement")
    return math.ceil(1 / replacement) if replacement else int(group.options.get("learner.epochs_kept") or 0)


def _iterations_timed(group: Group) -> int:
    return min(max(1, len(run.iteration_seconds) - _filling(group)) for run in group.runs if len(run.iteration_seconds))


def _extrapolated(group: Group) -> str:
    return " *" if int(group.options.get("learner.iterations") or 0) < paper2019.ITERATIONS else ""


def _workload(groups: Sequence[Group]) -> str:
    """What an iteration was here, where that is not what it was in the paper."""
    found = [
        f"{name}={'/'.join(dict.fromkeys(str(g.options.get(f'learner.{name}')) for g in groups))} (paper: {value})"
        for name, value in paper2019.WORKLOAD.items()
        if any(g.options.get(f"learner.{name}", value) != value for g in groups)
    ]
    if not found:
        return "An iteration is of the paper's size, on another machine."
    return f"**An iteration is not the paper's**: {', '.join(found)}. Hours cannot be compared, ratios roughly."


def _architectures(groups: Sequence[Group], timed: Mapping[int, list[float]]) -> list[str]:
    rows = []
    for group in groups:
        partner = _partner(group, groups, None, "mlp") if group.architecture == "cnn_lstm" else None
        if partner is None:
            continue
        published = [paper2019.HOURS[name, group.algorithm] for name in ("cnn_lstm", "mlp")]
        found = ratio(timed[id(group)], timed[id(partner)])
        rows.append((label(group), f"{published[0] / published[1]:.2f}", number(found, 2)))
    columns = ("algorithm", "paper, CNN+LSTM over feed-forward", "ours")
    return [table(columns, rows)] if rows else []


# --- final strength -----------------------------------------------------------------------------------------


def strength_section(groups: Sequence[Group], opponent: str, page: Page) -> Section | None:
    """Final matches of each pair and the paper's statements held against them; None where nobody met the opponent."""
    shown = [group for group in in_order(groups) if _matches(group.runs, opponent)]
    if not shown:
        return None
    rows, data = [], []
    for group in shown:
        matches = _matches(group.runs, opponent)
        seeds = over_seeds([match["win_rate"] for match in matches], _games_each(matches))
        games = sum(match["games"] for match in matches)
        all_games = wilson(sum(match["wins"] for match in matches), games)
        rows.append(
            (
                f"{paper2019.ARCHITECTURES[group.architecture]}, {label(group)}",
                _published(group) if opponent == "deterministic" else NONE,
                share(seeds),
                share(all_games),
                str(len(matches)),
                f"{games:,}",
                seconds_text([run.seconds for run in group.runs]),
                page.command(group.runs),
            )
        )
        data.append(
            {
                "architecture": group.architecture,
                "group": label(group),
                "win_rates": [match["win_rate"] for match in matches],
                "over_seeds": plain(seeds),
                "over_games": plain(all_games),
                "games": games,
            }
        )
    columns = ("pair", "paper", "ours, t over seeds", "ours, Wilson over games", "seeds", "games", "seconds a run")
    words = (
        f"Games of the final agents against {opponent}. The first interval, over seeds but never narrower than so "
        "many games allow, speaks of the method; the second, over games, speaks of these agents alone."
        f"{_same_deals(shown)} The paper prints no final win rates."
    )
    published = [_published_words()] if opponent == "deterministic" else []
    parts = [words, *published, table((*columns, "command"), rows), *_statements(shown, opponent)]
    return Section(f"Final strength against {opponent}", parts, data)


def _published_words() -> str:
    people = paper_baseline()
    rate = share(Interval(*(people[name] for name in ("win_rate", "ci_low", "ci_high"))))
    return (
        "63.6% is its published agent (480 iterations), measured with its published code. People in the paper: "
        f"{rate}, {people['games']} games."
    )


def _matches(runs: Sequence[FoundRun], opponent: str) -> list[Mapping[str, Any]]:
    """Figures of the final matches against the opponent."""
    return [run.match(opponent) for run in runs if "win_rate" in run.match(opponent)]


def _games_each(matches: Sequence[Mapping[str, Any]]) -> int:
    return min(int(match["games"]) for match in matches)


def _published(group: Group) -> str:
    found = paper2019.PUBLISHED_WINS.get((group.architecture, group.algorithm))
    return "curve only" if found is None else f"{100 * found[0]:.1f}% ± {100 * found[1]:.1f}, {found[2]:,} games"


def _same_deals(groups: Sequence[Group]) -> str:
    if all(group.options.get("evaluation.seed") is None for group in groups):
        return ""
    return " All runs met the same deals (`evaluation.seed`), whose luck the interval over seeds does not hold."


def _statements(groups: Sequence[Group], opponent: str) -> list[str]:
    """Differences between groups that the paper speaks of, in points of per cent."""
    matches = {id(group): _matches(group.runs, opponent) for group in groups}

    def less(group: Group, other: Group) -> tuple[str, str]:
        both = (matches[id(group)], matches[id(other)])
        first, second = ([match["win_rate"] for match in own] for own in both)
        found = difference(first, second, (_games_each(both[0]), _games_each(both[1])))
        return points(found), says(found, ("lower", "either way", "higher")) or NONE

    rows = []
    for group in groups:
        name = f"{paper2019.ARCHITECTURES[group.architecture]}, {label(group)}"
        base = _partner(group, groups, BASE, None)
        if base is not None:
            rows.append((f"{name} less Monte Carlo", "no clear difference (4.2)", *less(group, base)))
        other = _partner(group, groups, None, "mlp") if group.architecture == "cnn_lstm" else None
        if other is not None:
            rows.append((f"{name} less feed-forward", "a small boost (4.1)", *less(group, other)))
    if not rows:
        return []
    columns = ("difference", "the paper says", "ours, points of per cent [95%]", "the interval allows")
    words_before = (
        "Differences of means over seeds, Welch's t interval, as wide as so many games demand; each stands for itself, "
        "so of twenty one misses by chance."
    )
    return [words_before, table(columns, rows)]
