"""The tables and the figure of the verdicts' page: python -m benchmarks.verdicts.page.

docs/results/verdicts.md is written from docs/results/verdicts.json, the first edition, and from what `long_runs.py`
keeps of the runs of `options.py`, the second. Needs SciPy, which comes with the extras `tests` and `orion`, and
Matplotlib (`plots`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import bartlett

from benchmarks.long_runs import DATA, finished
from benchmarks.pages import filled, line
from benchmarks.verdicts.comparisons import LOSES, WINS, Comparison, Judged, Spread, judged
from benchmarks.verdicts.options import FIRST_OPPONENTS, OPPONENTS, SEEDS, Option, options, second, together
from deepcrib.files import write_atomic
from deepcrib.files.runs import flat, read_json
from deepcrib.intervals import LEVEL, mean_interval

PAGE = DATA.parent / "verdicts.md"
FIGURES = PAGE.with_suffix(".json")
"""Of the first edition, by run: its words, commit, processor, seconds and hands, its matches by opponent or base, and
base_seconds: what its bases took on the same machine."""
NUMBERS = range(1, SEEDS + 1)


# --- what is measured -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Edition:
    """Options that are judged together, with what is measured of them: figures by option and number of the seed."""

    options: tuple[Option, ...]
    opponents: tuple[str, ...]
    runs: Mapping[tuple[str, int], Mapping[str, Any]]

    def tests(self) -> list[Comparison]:
        """Every option against every base of its own, measured or not."""
        known = {option.name: option for option in self.options}
        return [
            Comparison(option, known[name], tuple(self.values(option, f"matches.{name}.win_rate")))
            for option in self.options
            for name in option.bases
        ]

    def values(self, option: Option, figure: str) -> list[float]:
        """By seed, where it is measured."""
        return [self.runs[option.name, number][figure] for number in NUMBERS if (option.name, number) in self.runs]

    def changes(self, test: Comparison, *figures: str) -> list[float]:
        """By seed, where both are measured: the option's figures less its base's, on the same deals, their mean."""
        pairs = [[self.runs.get((one.name, number)) for one in (test.option, test.base)] for number in NUMBERS]
        both = [(option, base) for option, base in pairs if option and base]
        return [float(np.mean([option[name] - base[name] for name in figures])) for option, base in both]

    def panel(self, test: Comparison) -> list[float]:
        """By seed: by how much more it wins from the opponents than its base, on average."""
        return self.changes(test, *(f"matches.{name}.win_rate" for name in self.opponents))


def first_edition() -> Edition:
    """Every option of learning, at commit e14b3ff."""
    named = ((name.rpartition("_seed"), run) for name, run in read_json(FIGURES).items())
    runs = {(name, int(number)): dict(flat(run)) for (name, _, number), run in named}
    return Edition(tuple(options()), FIRST_OPPONENTS, runs)


def second_edition(group: str, chosen: Sequence[Option]) -> Edition:
    """What the queue has kept of the groups `verdicts2_GROUP_seed1` and so on."""
    kept = {number: finished(f"verdicts2_{group}_seed{number}") for number in NUMBERS}
    runs = {(name, number): run["figures"] for number, group in kept.items() for name, run in group.items()}
    return Edition(tuple(chosen), OPPONENTS, runs)


# --- the page ---------------------------------------------------------------------------------------------------------


def main() -> None:
    """Write the page's tables and its figure."""
    write_atomic(PAGE, page(PAGE.read_text(encoding="utf-8")))
    draw(judged(first_edition().tests()))


def page(text: str) -> str:
    """The page with the tables of what is kept."""
    first = first_edition()
    again, all_in_one = second_edition("options", [*second()]), second_edition("together", [*together()])
    tables = {
        "answer": _answer(first),
        "together": _edition(all_in_one),
        "second edition": _edition(again),
        "first edition": _table(first),
        "measured": [_measured(first)],
    }
    return filled(text, {name: "\n".join(lines) for name, lines in tables.items()})


def _answer(edition: Edition) -> Iterator[str]:
    """What beats its base, loses to it and makes no difference, by name; and what the first do against the panel."""
    found = judged(edition.tests())
    titles = {"Beats its base": WINS, "Loses to its base": LOSES, "No difference found, and none larger than": QUIET}
    for title, word in titles.items():
        names = [f"`{one.test.option.name}`{_than(one.test)}{_at_most(one)}" for one in found if word in one.verdict]
        yield f"- **{title}**: {', '.join(names) or 'none'}."
    if winners := [one.test for one in found if one.verdict == WINS]:
        won = 100 * (np.mean([test.rates for test in winners]) - 0.5)
        changed = 100 * np.mean([edition.panel(test) for test in winners])
        yield from ("", f"Those that beat their base win {won:.1f} points more than half of these games, and from the")
        yield f"{len(edition.opponents)} fixed opponents {changed:+.1f} points more than their base does, on average."


def _at_most(one: Judged) -> str:
    """The bound of a difference that was not found."""
    return one.verdict.removeprefix(QUIET) if one.verdict.startswith(QUIET) else ""


def _edition(edition: Edition) -> Iterator[str]:
    """How much has run, and the table of it."""
    runs, tests = len(edition.options) * SEEDS, len(edition.tests())
    yield from (f"{len(edition.runs)} of {runs} runs are there; {tests} comparisons, fixed beforehand.", "")
    yield from _table(edition)


def _table(edition: Edition) -> Iterator[str]:
    """A line a comparison of which a seed has run; of the first edition those with a difference."""
    first, tests = edition.opponents == FIRST_OPPONENTS, edition.tests()
    heads = ["option", "against", "wins [95%]", "p, Holm", "verdict", "panel [95%]"]
    heads += [*["gain on it [95%]"] * (not first), "seconds"]
    yield from (line(*heads), "|" + "---|" * len(heads))
    for one in judged(tests):
        test, option = one.test, one.test.option
        if test.rates and not (first and one.verdict.startswith(QUIET)):
            took, base = (edition.values(option, key) for key in ("seconds", f"base_seconds.{test.base.name}"))
            yield line(
                f"`{option.name}`",
                f"`{test.base.name}`",
                *(_won(one), _p(one.adjusted) if one.spread else "", one.verdict),
                _change(edition.panel(test), 100, 1),
                *([] if first else [_change(edition.changes(test, "gain.gain"), 1, 3)]),
                f"{np.median(np.divide(took, base)):.2f}",
            )


def _measured(edition: Edition) -> str:
    """Hours, commit, processors, and the spread over seeds."""
    runs = edition.runs.values()
    commits, processors = ({str(run[key]) for run in runs} for key in ("commit", "processor"))
    hours = sum(run["seconds"] for run in runs) / 3600
    at = f"at commit {', '.join(f'`{name[:7]}`' for name in commits)}, {', '.join(sorted(processors))}"
    tests = [test for test in edition.tests() if test.complete]
    spread, alike = Spread.pooled(tests), bartlett(*(test.rates for test in tests)).pvalue
    told = f"Standard deviation over seeds, pooled: {100 * spread.deviation:.2f} points, {spread.freedom} degrees"
    equal = f"of freedom (Bartlett's test that all are equal: p = {alike:.2f})"
    return f"{len(runs)} trainings, {hours:.1f} processor hours, {at}. {told} {equal}."


QUIET = "no difference larger than"
"""Begins the verdict where neither side wins."""


def _than(test: Comparison) -> str:
    return "" if test.base.name == "default" else f" (on `{test.base.name}`)"


def _won(one: Judged) -> str:
    """The mean rate, with its interval once all seeds are there."""
    won = float(np.mean(one.test.rates))
    half = one.spread.half_width(LEVEL) if one.spread else None
    return _percent(won) if half is None else f"{_percent(won)} {_bounds(won - half, won + half)}"


def _change(changes: Sequence[float], unit: float, digits: int) -> str:
    """A mean over seeds with its interval, in so many parts of a whole."""
    if len(changes) < SEEDS:
        return ""
    mean, low, high = (f"{unit * value:+.{digits}f}" for value in mean_interval(changes))
    return f"{mean} [{low}, {high}]"


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _bounds(low: float, high: float) -> str:
    return f"[{100 * low:.1f}, {100 * high:.1f}]"


LEFT = 0.468
"""Where the figure ends: what wins fewer games is written there."""


def draw(found: Sequence[Judged]) -> None:
    """Win rate of every option against its base, with its interval over seeds, the best on top."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter

    done = sorted((one for one in found if one.spread), key=lambda one: np.mean(one.test.rates))
    figure = Figure(figsize=(7, 1 + 0.22 * len(done)), layout="constrained")
    axes = figure.subplots()
    for word, color in {WINS: "tab:green", LOSES: "tab:red", "no difference": "0.45"}.items():
        rows = [row for row, one in enumerate(done) if one.verdict.startswith(word)]
        won = [float(np.mean(done[row].test.rates)) for row in rows]
        bars = [spread.half_width(LEVEL) for row in rows if (spread := done[row].spread)]
        axes.errorbar(won, rows, xerr=bars, fmt="o", color=color, markersize=4, label=word.strip("*"))
        for rate, row in zip(won, rows, strict=True):
            if rate < LEFT:
                axes.text(LEFT, row, f" ← {_percent(rate)}", color=color, va="center")
    axes.set_xlim(left=LEFT)
    axes.set_yticks(range(len(done)), [f"{one.test.option.name}{_than(one.test)}".replace("`", "") for one in done])
    axes.axvline(0.5, color="0.7", linewidth=1, zorder=0)
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=1))
    axes.set_xlabel("games won against the base, 95% intervals over seeds (pooled)")
    axes.grid(axis="x", alpha=0.3)
    figure.legend(loc="outside upper right", ncols=3, frameon=False)
    figure.savefig(PAGE.with_suffix(".png"), dpi=110)


if __name__ == "__main__":
    main()
