"""The tables of docs/results/weighted.md, Lang 2018: python -m benchmarks.lang2018.page.

They are written from what `long_runs.py` keeps of its runs in docs/results/data/; `lang2018/rows.py` says which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr, ttest_1samp

from benchmarks.lang2018.rows import COMPARED, HALF, LEADS, LOSERS, OPPONENTS, ORDER_SEEDS, ROUND_1, ROWS, START, orders
from benchmarks.long_runs import DATA, finished
from benchmarks.pages import filled, line
from benchmarks.verdicts.comparisons import ERROR, holm
from deepcrib.analysis.tables import percent
from deepcrib.exact.strategies.names import THESIS_STRATEGIES
from deepcrib.files import write_atomic
from deepcrib.files.runs import read_json
from deepcrib.intervals import Interval, mean_interval

PAGE = DATA.parent / "weighted.md"
SHEET = DATA.parent / "lang2018_figures.png"
PRINTED = "lang2018_printed.json"
SHOWN = OPPONENTS[:2]
"""Opponents with a column in the main table; the data have all."""
MEASURES = ("fixed opponents", "own start")
"""What a comparison goes by: the mean win rate against OPPONENTS, and that against the weights of the start."""
VARIANCES = {"preferences": "the program", "weights": "the text"}

Run = Mapping[str, Any]


def main() -> None:
    """Write them."""
    write_atomic(PAGE, page(PAGE.read_text(encoding="utf-8")))


def page(text: str) -> str:
    """The page with the tables of what is kept."""
    tables = {
        "rows": [*rows()],
        "comparisons": [*comparisons()],
        "weights": [*printed_and_ours()],
        "exploration": [*exploration()],
        "orders": [*order_rows()],
        "places": [*places()],
        "checkpoints": [*checkpoints()],
        "figures": [*figures()],
    }
    return filled(text, {name: "\n".join(lines) for name, lines in tables.items()})


def runs_of(name: str) -> dict[int, Run]:
    """The runs of a row that are finished, by their number."""
    row = ROWS[name]
    kept = finished(row.group)
    numbers = range(1, row.seeds + 1)
    return {number: kept[f"{name}_{number}"] for number in numbers if f"{name}_{number}" in kept}


def rate(run: Run, opponent: str) -> float:
    """Share of games that a run won; its own start is met in the match behind it, or by its script."""
    if opponent == START and "match_figures" in run:
        return float(run["match_figures"]["win_rate"])
    return float(run["figures"][f"{opponent}.win_rate"])


# --- the main table ---------------------------------------------------------------------------------------------------


def rows() -> Iterator[str]:
    """A line a row: win rates over its seeds."""
    yield line("run", "seeds x games", START.replace("_", " "), *SHOWN, "commit")
    yield "|---" * (4 + len(SHOWN)) + "|"
    for name, row in ROWS.items():
        if runs := [*runs_of(name).values()]:
            cells = [
                percent(*mean_interval([rate(run, opponent) for run in runs]), suffix="")
                for opponent in (START, *SHOWN)
            ]
            commits = sorted({f"`{run['commit'][:7]}`" for run in runs})
            yield line(row.title, f"{len(runs)} x {row.games:,}", *cells, ", ".join(commits))


# --- comparisons ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Comparison:
    """A row against the one that it differs from in one thing. differences: of win rates, seed by seed."""

    name: str
    measure: str
    differences: tuple[float, ...]

    @property
    def p(self) -> float:
        """Two-sided p-value of the paired t test; 1 until all seeds are run, so that more runs take nothing back."""
        return float(ttest_1samp(self.differences, 0).pvalue) if len(self.differences) == ROWS[self.name].seeds else 1.0


def compared() -> list[Comparison]:
    """All comparisons, run or not: their number is fixed beforehand."""
    return [Comparison(name, measure, _differences(name, measure)) for name in COMPARED for measure in MEASURES]


def _differences(name: str, measure: str) -> tuple[float, ...]:
    """Seed by seed, which share cards; a semi-pure start is another one than the base's: from half of the games."""
    runs, others = runs_of(name), runs_of(COMPARED[name])
    opponents = OPPONENTS if measure == MEASURES[0] else (START,)
    if measure == MEASURES[1] and name.startswith("semi_pure"):
        return tuple(rate(run, START) - 0.5 for run in runs.values())
    both = [(runs[number], others[number]) for number in runs if number in others]
    return tuple(float(np.mean([rate(a, one) - rate(b, one) for one in opponents])) for a, b in both)


def comparisons() -> Iterator[str]:
    """A line for each row that is compared and has run: changes in points of the percentage of games won."""
    tests = compared()
    adjusted = dict(zip([(one.name, one.measure) for one in tests], holm([one.p for one in tests]), strict=True))
    known = {(one.name, one.measure): one for one in tests}
    titles = [text for measure in MEASURES for text in (f"{measure}: change [95%]", "p, Holm")]
    lines = [line("run", "against", *titles), "|---" * (2 + len(titles)) + "|"]
    for name, base in COMPARED.items():
        pair = [known[name, measure] for measure in MEASURES]
        if all(len(one.differences) > 1 for one in pair):
            cells = [cell for one in pair for cell in _tested(one, adjusted[name, one.measure])]
            lines.append(line(ROWS[name].title, "500,000 games" if base == HALF else "1,000,000", *cells))
    if len(lines) > 2:
        yield from lines
        few = sum(p <= ERROR for p in adjusted.values())
        yield from ("", f"In bold: of {len(tests)} tests, {few} have an adjusted p of at most {ERROR}.")


def _tested(one: Comparison, adjusted: float) -> tuple[str, str]:
    shown, p = (
        percent(*mean_interval(one.differences), suffix="", sign="+"),
        "< 0.001" if adjusted < 0.001 else f"{adjusted:.3f}",
    )
    return (f"**{shown}**", p) if adjusted <= ERROR else (shown, p)


# --- round 1 ----------------------------------------------------------------------------------------------------------


def printed_and_ours() -> Iterator[str]:
    """The printed agent's weights as the pone beside the mean of ours of round 1, by the lead."""
    runs, printed = runs_of(ROUND_1).values(), read_json(DATA / PRINTED).get("weights", {})
    if not runs or not printed:
        return
    yield line("as the pone", *(f"lead {low} to {high}" for low, high in LEADS))
    yield "|---" * (1 + len(LEADS)) + "|"
    for name in THESIS_STRATEGIES:
        ours = np.mean([run["figures"][f"weights.pone.{name}"] for run in runs], axis=0)
        yield line(name, *(f"{a:.2f} / {b:.2f}" for a, b in zip(printed["pone"][name], ours, strict=True)))


def exploration() -> Iterator[str]:
    """Chance of exploring at the start and end of round 1, by the program's variance and by the text's."""
    runs = [run["figures"] for run in runs_of(ROUND_1).values()]
    if not runs:
        return
    yield line(f"exploration, mean of {len(runs)} pairs", "start", "end", "least at a location, end")
    yield "|---|---|---|---|"
    for name, title in VARIANCES.items():
        ends = [
            percent(*mean_interval([run[f"exploration.{end}.{name}"] for run in runs]), suffix="")
            for end in ("start", "end")
        ]
        least = min(run["exploration.end.least_by_weights"] for run in runs)
        yield line(f"0.3 - Var({name}), {title}", *ends, f"{100 * least:.1f}" if name == "weights" else "")


# --- the order of the list --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ordered:
    """A list of strategies, means over its seeds: weights as the pone [8], in its order, and wins against its start.

    winning: with a lead of 0 to 60. losing: with the first of LEADS.
    """

    name: str
    strategies: tuple[str, ...]
    winning: NDArray[np.float64]
    losing: NDArray[np.float64]
    wins: Interval

    @property
    def leader(self) -> int:
        """Place of the strategy with the most weight in the winning half, counted from 1."""
        return int(self.winning.argmax()) + 1


def by_place(weights: NDArray[np.float64]) -> float:
    """Spearman's correlation of places in the list and weights: -1 where they fall from the first to the last."""
    return float(spearmanr(np.arange(len(weights)), weights).statistic)


def ordered() -> list[Ordered]:
    """The orders of which all seeds have run."""
    kept, found = finished("lang2018_orders"), []
    for name, order in orders().items():
        runs = [kept[f"{name}_{seed}"] for seed in range(1, ORDER_SEEDS + 1) if f"{name}_{seed}" in kept]
        if len(runs) == ORDER_SEEDS:
            winning = np.mean([[run["figures"][f"winning_half.{one}"] for one in order] for run in runs], axis=0)
            losing = np.mean([[run["figures"][f"weights.pone.{one}"][0] for one in order] for run in runs], axis=0)
            found.append(Ordered(name, order, winning, losing, mean_interval([rate(run, START) for run in runs])))
    return found


def order_rows() -> Iterator[str]:
    """A line an order, and what the random ones say together."""
    found = ordered()
    if not found:
        return
    titles = "leader of the winning half (its place)", "its weight", "rank correlation, winning", "losing", "own start"
    yield line("order", "first to last", *titles)
    yield "|---" * (2 + len(titles)) + "|"
    for one in found:
        names = [_short(name) for name in one.strategies]
        numbers = f"{one.winning.max():.2f}", f"{by_place(one.winning):+.2f}", f"{by_place(one.losing):+.2f}"
        leader = f"{names[one.leader - 1]} ({one.leader})"
        yield line(one.name.replace("_", " "), ", ".join(names), leader, *numbers, percent(*one.wins, suffix=""))
    if len(random := _random(found)) > 1:
        first = sum(one.leader <= 2 for one in random)
        winning, losing = (mean_interval([by_place(one) for one in part]) for part in _halves(random))
        yield ""
        yield f"Over {len(random)} random orders the rank correlation of place and weight is {_signed(winning)} in the"
        yield f"winning half and {_signed(losing)} in the losing one, where 0 would say that the order does not count."
        won = percent(*mean_interval([one.wins.estimate for one in random]), suffix="")
        yield f"In {first} of them one of the first two leads. They win {won} per cent against their own start."


def _halves(found: Sequence[Ordered]) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
    return [one.winning for one in found], [one.losing for one in found]


def _signed(mean: Interval) -> str:
    return f"{mean.estimate:+.2f} [{mean.low:+.2f}, {mean.high:+.2f}]"


def places() -> Iterator[str]:
    """Mean weight in the winning half by the place in the list, and by the strategy, over the random orders."""
    random = _random(ordered())
    if len(random) < 2:
        return
    placed = np.array([one.winning for one in random])
    by_name = [[one.winning[one.strategies.index(name)] for one in random] for name in THESIS_STRATEGIES]
    yield line("place", "weight [95% over orders]", "strategy", "weight [95% over orders]")
    yield "|---|---|---|---|"
    for number, (name, weights) in enumerate(zip(THESIS_STRATEGIES, by_name, strict=True)):
        cells = [_weight(mean_interval(placed[:, number])), name, _weight(mean_interval(weights))]
        yield line(number + 1, *cells)


def _random(found: Sequence[Ordered]) -> list[Ordered]:
    return [one for one in found if one.name.startswith("random")]


def _short(strategy: str) -> str:
    return strategy.removeprefix("hand_").replace("pegging", "peg").replace("_gained", "").replace("_given", "")


def _weight(mean: Interval) -> str:
    return f"{mean.estimate:.2f} [{mean.low:.2f}, {mean.high:.2f}]"


# --- figure 14d -------------------------------------------------------------------------------------------------------


def checkpoints() -> Iterator[str]:
    """Points a game of the final agent of the losers' bracket beyond its checkpoints, over seeds."""
    runs = [run["figures"] for run in runs_of(LOSERS).values()]
    if len(runs) < 2:
        return
    yield line("checkpoint after", "final agent's points a game", "most of a seed")
    yield "|---|---|---|"
    lowest = 0.0
    for name in (name for name in runs[0] if name.startswith("checkpoints.")):
        margin = mean_interval([run[name] for run in runs])
        most = max(run[name] for run in runs)
        yield line(f"{int(name.rpartition('.')[2]):,}", _signed(margin), f"{most:+.2f}")
        lowest = min(lowest, margin.low)
    yield from ("", f"The largest loss that these intervals allow is {-lowest:.2f} points a game.")


def figures() -> Iterator[str]:
    """All of them, once the sheet is drawn (`lang2018/sheet.py`)."""
    if SHEET.exists():
        yield f"![Figures 2 to 25]({SHEET.name})"
        yield from ("", "Figures 2 to 25 of the thesis, redrawn from one seed of each row; intervals are over games.")


if __name__ == "__main__":
    main()
