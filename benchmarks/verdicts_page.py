"""The statistics of `verdicts.py`, and its page docs/results/verdicts.md, written from docs/results/verdicts.json."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import ttest_1samp
from verdicts_options import GAMES, OPPONENTS, QUICK, SEEDS, Figures, Option, options

from deepcrib.files import write_atomic
from deepcrib.intervals import Interval, Z, mean_interval

PAGE = Path(__file__).resolve().parents[1] / "docs" / "results" / "verdicts.md"
FIGURES = PAGE.with_suffix(".json")
LEVEL = 0.05
"""Of all tests together: the chance that any true tie is called a difference."""
WINS, LOSES = "**beats its base**", "**loses to its base**"


# --- statistics -------------------------------------------------------------------------------------------------------


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """[m] p-values [m] adjusted for their number (Holm 1979): those up to 5% are rejected at 5% of all together."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1, np.maximum.accumulate((len(p) - np.arange(len(p))) * p[order]))
    return adjusted


@dataclass(frozen=True)
class Comparison:
    """An option against one of its bases. rates: [5] share of games that its seeds win from the base's, or fewer."""

    option: Option
    base: Option
    rates: tuple[float, ...]

    @property
    def p(self) -> float:
        """Two-sided p-value of Student's t test that the rates have mean 0.5; 1 until all seeds are measured."""
        return float(ttest_1samp(self.rates, 0.5).pvalue) if len(self.rates) == SEEDS else 1.0

    def verdict(self, adjusted: float, tests: int) -> str:
        """In words, from the p-value adjusted for the number of tests, and Bonferroni's interval for as many."""
        if len(self.rates) < SEEDS:
            return f"{len(self.rates)} of {SEEDS} seeds run" if self.rates else "not run yet"
        if adjusted <= LEVEL:
            return WINS if np.mean(self.rates) > 0.5 else LOSES
        bounds = ttest_1samp(self.rates, 0.5).confidence_interval(1 - LEVEL / tests)
        farther = max(0.5 - bounds.low, bounds.high - 0.5)
        return f"no difference larger than {100 * farther:.1f}%"


def all_tests(figures: Figures) -> list[Comparison]:
    """Every option against every base of its own, measured or not: the number of tests is fixed beforehand."""
    known = {option.name: option for option in options()}
    return [
        Comparison(option, known[name], tuple(_rates(option.measured(figures), name)))
        for option in known.values()
        for name in option.bases
    ]


class Judged(NamedTuple):
    """A comparison, its p-value adjusted for the number of all, and its verdict."""

    test: Comparison
    adjusted: float
    verdict: str


def judged(figures: Figures) -> list[Judged]:
    """All comparisons, in their order."""
    tests = all_tests(figures)
    adjusted = holm([test.p for test in tests])
    return [Judged(test, p, test.verdict(p, len(tests))) for test, p in zip(tests, adjusted, strict=True)]


def _changes(figures: Figures, test: Comparison, opponent: str) -> Interval:
    """By how much more games the option wins from an opponent than its base, seed by seed on the same deals."""
    option, base = (_rates(one.measured(figures), opponent) for one in (test.option, test.base))
    return mean_interval(np.subtract(option, base))


def _rates(runs: Mapping[int, Mapping[str, Any]], rival: str) -> list[float]:
    return [run["matches"][rival]["win_rate"] for run in runs.values()]


# --- the page ---------------------------------------------------------------------------------------------------------


def write_report(figures: Figures) -> None:
    """Copy the figures of what is still judged, a line a run in the order of the queue, and write the page of them."""
    known = {option.run(seed): run for option in options() for seed, run in option.measured(figures).items()}
    lines = [f"{json.dumps(name)}: {json.dumps(run)}" for name, run in known.items()]
    write_atomic(FIGURES, "{\n" + ",\n".join(lines) + "\n}\n")
    write_atomic(PAGE, page(known))
    draw(judged(known), PAGE.with_suffix(".png"))


def page(figures: Figures) -> str:
    """The page of what has been measured."""
    found = judged(figures)
    rows = [_row(figures, *one) for one in found]
    parts = [
        "# Verdicts on the options of learning",
        *(INTRODUCTION, _answer(found), _elsewhere(figures, found), SHOWN),
        *(HOW.format(tests=len(found)), _measured(figures)),
        *("## The default", "\n".join(_default(figures))),
        *("## All options", "\n".join([*HEAD, *rows]), "\n".join(_notes())),
    ]
    return "\n\n".join(parts) + "\n"


INTRODUCTION = """Which [options of learning](../learning_options.md) beat the same setup without them? Each alone, at
a quarter of the length of `experiment=quick` and with `quick`'s settings, five seeds a side:"""

ELSEWHERE = """To beat its base is not yet to be a stronger player: the base is a near relation, and the time is not
always the same (*seconds*, below)."""

SHOWN = "![Games won against the base, by option](verdicts.png)"

HOW = f"""An option that makes no difference here may make one in longer runs, with other networks, or together with
others.

## How it was measured

`python benchmarks/verdicts.py FOLDER` measures what is missing below, one run after another (`--list` shows the queue,
`--only NAME` takes a part of it); `python benchmarks/verdicts.py FOLDER --report` writes this page anew. Stop it with
Ctrl-C or SIGTERM; the same command goes on. Started once more beside itself, it shares the work on a second core.

- **Setup**: `deepcrib train {" ".join(QUICK)}`, 737,280 hands, with the option's words added. Options that
  need a bootstrapping algorithm are held against that algorithm without them.
- **Matches**: seed i of the option against seed i of its base, and each of the two against
  {", ".join(f"`{name}`" for name in OPPONENTS)}: {GAMES:,} games in pairs with the same cards and seats swapped, on
  the same deals wherever i is the same.
- **Interval**: the seed is the unit. Student's t over the five win rates, whose spread contains the games' own error.
- **Verdict**: {{tests}} comparisons, two-sided t tests of the win rate between option and base against 50%, corrected
  by Holm's method: the chance of even one false "beats" or "loses" is at most 5%. Comparisons that are not finished
  count with p = 1, so further runs take no verdict back. *No difference larger than x*: x is the farther end from 50%
  of Bonferroni's interval for all comparisons, in points of the percentage of games won.
- **Changes** against the fixed opponents, in points of the percentage of games won: the option's less its base's, with
  plain 95% intervals over the five seeds. They are not corrected and decide nothing.
- **Seconds** are processor seconds of the whole command on one thread, start and pretraining included, as a multiple of
  the base's on the same machine: the median of the seeds. Other processes shared it, so a fifth more or less means
  nothing. An option that takes more than 1.0 has had more time than its base, which could have trained longer in it."""

HEAD = (
    "| option | words | against | wins [95%] | p, Holm | verdict | "
    + " | ".join(f"change v. {name}" for name in OPPONENTS)
    + " | seconds |",
    "|" + "---|" * (7 + len(OPPONENTS)),
)


def draw(found: Sequence[Judged], path: Path) -> None:
    """Win rate of every option against its base, with its interval over seeds, the best on top."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter

    done = sorted((one for one in found if len(one.test.rates) == SEEDS), key=lambda one: np.mean(one.test.rates))
    figure = Figure(figsize=(7, 1 + 0.22 * len(done)), layout="constrained")
    axes = figure.subplots()
    for word, color in {WINS: "tab:green", LOSES: "tab:red", "no difference": "0.45"}.items():
        if not (rows := [row for row, one in enumerate(done) if one.verdict.startswith(word)]):
            continue
        won = [mean_interval(done[row].test.rates) for row in rows]
        bars = [[one.estimate - one.low for one in won], [one.high - one.estimate for one in won]]
        x = [one.estimate for one in won]
        axes.errorbar(x, rows, xerr=bars, fmt="o", color=color, markersize=4, label=word.strip("*"))
    axes.set_yticks(range(len(done)), [f"{one.test.option.name}{_than(one.test, '')}" for one in done])
    axes.axvline(0.5, color="0.7", linewidth=1, zorder=0)
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=1))
    axes.set_xlabel("games won against the base, 95% intervals over five seeds")
    axes.grid(axis="x", alpha=0.3)
    figure.legend(loc="outside upper right", ncols=3, frameon=False)
    figure.savefig(path, dpi=110)


def _answer(found: Sequence[Judged]) -> str:
    """What beats its base, loses to it and makes no difference, by name."""
    titles = ("Beats its base", "Loses to its base", "No difference found", "Not measured yet")
    kinds = dict(zip(titles, (WINS, LOSES, "no difference", "run"), strict=True))
    named = [(f"`{one.test.option.name}`{_than(one.test)}", one.verdict) for one in found]
    listed = {title: [name for name, verdict in named if word in verdict] for title, word in kinds.items()}
    return "\n".join(f"- **{title}**: {', '.join(names) or 'none'}." for title, names in listed.items())


def _elsewhere(figures: Figures, found: Sequence[Judged]) -> str:
    """Whether what beats its base does better against the fixed opponents, too: the mean over all of these options."""
    winners = [one.test for one in found if one.verdict == WINS]
    if not winners:
        return ELSEWHERE
    changes = [_changes(figures, test, opponent).estimate for test in winners for opponent in OPPONENTS]
    won, changed = 100 * (np.mean([test.rates for test in winners]) - 0.5), 100 * np.mean(changes)
    told = f"Those that beat it win {won:.1f} points more than half of these games, and change what they win"
    return f"{ELSEWHERE} {told} from the {len(OPPONENTS)} fixed opponents by {changed:+.1f} points on average."


def _than(test: Comparison, quote: str = "`") -> str:
    return "" if test.base.name == "default" else f" (on {quote}{test.base.name}{quote})"


def _measured(figures: Figures) -> str:
    """Hours, commits, processors, and how far the games' own error is below the spread between seeds."""
    commits, processors = ({found[key] for found in figures.values()} for key in ("commit", "processor"))
    hours = sum(found["seconds"] for found in figures.values()) / 3600
    at = f"at commit {_list(f'`{name[:7]}`' for name in commits)}, {_list(processors)}"
    made = f"Trainings: {len(figures)}, {hours:.1f} processor hours, {at}."
    done = [test for test in all_tests(figures) if len(test.rates) == SEEDS]
    spreads = [np.std(test.rates, ddof=1) for test in done]
    if not spreads:
        return made
    matches = [run["matches"][test.base.name] for test in done for run in test.option.measured(figures).values()]
    error = 100 * np.mean([match["ci_high"] - match["ci_low"] for match in matches]) / (2 * Z)
    told = f"Against its base: standard error of a match {error:.2f}%, standard deviation over seeds"
    return f"{made} {told} {100 * np.median(spreads):.2f}% (median), which holds the match's error."


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _default(figures: Figures) -> Iterator[str]:
    """The base of most: each seed's win rates."""
    yield "| seed | " + " | ".join(f"against {name} [95%]" for name in OPPONENTS) + " | processor seconds |"
    yield "|" + "---|" * (2 + len(OPPONENTS))
    for seed, found in next(options()).measured(figures).items():
        rates = [found["matches"][name] for name in OPPONENTS]
        shown = [f"{_percent(rate['win_rate'])} [{_bounds(rate['ci_low'], rate['ci_high'])}]" for rate in rates]
        yield _line(seed, *shown, f"{found['seconds']:.0f}")


def _row(figures: Figures, test: Comparison, adjusted: float, verdict: str) -> str:
    """A line of the table; figures are left out until all seeds are measured."""
    option, base = test.option, test.base
    words = " ".join(f"`{word}`" for word in (*(() if option.setup == QUICK else option.setup), *option.words))
    name = (f"`{option.name}`", words or f"`seed={option.first_seed}` to {option.first_seed + SEEDS - 1}")
    mine, others = ([*one.measured(figures).values()] for one in (option, base))
    if len(mine) < SEEDS or len(others) < SEEDS:
        return _line(*name, f"`{base.name}`", "", "", verdict, *("" for _ in OPPONENTS), "")
    won = mean_interval(test.rates)
    changes = [_changes(figures, test, opponent) for opponent in OPPONENTS]
    shown = [f"{100 * change.estimate:+.1f} [{_bounds(*change[1:], sign='+')}]" for change in changes]
    cost = median(found["seconds"] / found["base_seconds"][base.name] for found in mine)
    rate = f"{_percent(won.estimate)} [{_bounds(*won[1:])}]"
    return _line(*name, f"`{base.name}`", rate, _p(adjusted), verdict, *shown, f"{cost:.2f}")


def _notes() -> Iterator[str]:
    """What to know of single options."""
    return (f"- `{option.name}`: {option.about}." for option in options() if option.about)


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _bounds(low: float, high: float, sign: str = "") -> str:
    return f"{100 * low:{sign}.1f}, {100 * high:{sign}.1f}"


def _line(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"
