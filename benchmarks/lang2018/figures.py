"""The figures of Lang 2018 from runs of learner=weighted: python -m benchmarks.lang2018.figures RUNS [--to FOLDER].

RUNS is a folder of run folders by names: round_1, round_2_winners, round_2_losers, round_2_static, neighbours, cap_50
to cap_80, punishment, semi_pure_min, semi_pure_avg, semi_pure_poss, semi_pure_med, semi_pure_avg_random,
scaling_<value>, decay_<value>, in hundredths; or the folder `runs` of `long_runs.py`, of which the lowest seed of each
that is there is drawn. Figure 1 is a sketch and is not redrawn; of figure 20 the thesis does not say the role:
here the pone.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.lang2018.graphs import (
    WeightedRun,
    comparison_grid,
    difference_sheet,
    evolution,
    games_text,
    pick_evenly,
    role_sheet,
    weighted_run,
    weights_of,
)
from benchmarks.lang2018.spreads import SpreadPanel, spread_figure
from deepcrib.agents import Agent, make_agent
from deepcrib.analysis.figures import save_png
from deepcrib.errors import RunError, UserError
from deepcrib.evaluation.league.tournament import against_checkpoints
from deepcrib.exact.strategies.names import THESIS_STRATEGIES
from deepcrib.files.runs import write_json
from deepcrib.files.weights import WEIGHTS_FILE
from deepcrib.learners.weighted.agent import WeightedAgent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MIN, AVG, POSS, MED = "hand_max_min", "hand_max_avg", "hand_max_poss", "hand_max_med"
CAPS = {f"cap_{percent}": f"r = {percent / 100:.2f}" for percent in (50, 60, 70, 80)}
STARTS = {"semi_pure_min": MIN, "semi_pure_avg": AVG, "semi_pure_poss": POSS, "semi_pure_med": MED}
VALUE = "<value>"
LONG_MATCH, LONG_SHARE = 10_000, 4
"""Of matches of 10,000 games the thesis plays "fewer", without saying how many: here a quarter."""


Runs = Mapping[str, WeightedRun]


@dataclass(frozen=True)
class Matches:
    """How matches against checkpoints are played.

    matches: of each length but the longest, whose number is a quarter. games_scale: times the thesis's games a match.
    """

    matches: int = 20
    games_scale: float = 1.0
    seed: int = 1

    def random_agent(self) -> Agent:
        """One with random weights."""
        return make_agent({"name": "weighted", "initial": "random", "seed": self.seed})


@dataclass(frozen=True)
class Drawn:
    """A figure and, where matches were played for it, their spreads."""

    figure: Figure
    panels: Sequence[SpreadPanel] = field(default=())


@dataclass(frozen=True)
class ThesisFigure:
    """A figure of the thesis. needs: names of runs, some ending in `<value>`; drawn for those that are there."""

    number: int
    shows: str
    needs: tuple[str, ...]
    paint: Callable[[Runs, str, Matches], Drawn]

    def found(self, names: Sequence[str]) -> list[str]:
        """Which of the runs by these names belong to the figure, in the figure's order."""
        return [name for need in self.needs for name in sorted(names, key=_order) if _is_called(name, need)]

    def missing(self, names: Sequence[str]) -> list[str]:
        """Which of its runs are not there."""
        return [need for need in self.needs if not any(_is_called(name, need) for name in names)]

    def draw(self, runs: Runs, matches: Matches) -> Drawn:
        """Draw it for those of the runs that belong to it, one or more."""
        own = {name: runs[name] for name in self.found(list(runs))}
        return self.paint(own, f"Figure {self.number}: {self.shows}", matches)


def value_of(name: str) -> float | None:
    """0.5 for `scaling_50` or `decay_50`; None for a name that does not end with a number."""
    hundredths = name.rpartition("_")[2]
    return int(hundredths) / 100 if hundredths.isdecimal() else None


def _is_called(name: str, need: str) -> bool:
    if need.endswith(VALUE):
        return name.rpartition("_")[0] == need.rpartition("_")[0] and value_of(name) is not None
    return name == need


def _order(name: str) -> tuple[float, str]:
    value = value_of(name)
    return (math.inf if value is None else value, name)


# --- strategy graphs ----------------------------------------------------------------------------------------


def _sheet(role: str, runs: Runs, title: str, matches: Matches) -> Drawn:
    (run,) = runs.values()
    agent = run.final()
    trained = f", after {run.games():,} games" if run.checkpoints else ""
    return Drawn(role_sheet(agent.weights, agent.strategies, role, title + trained))


def _difference(runs: Runs, title: str, matches: Matches) -> Drawn:
    (run,) = runs.values()
    agent = run.final()
    return Drawn(difference_sheet(agent.weights, agent.strategies, title))


def _evolution(runs: Runs, title: str, matches: Matches) -> Drawn:
    (run,) = runs.values()
    run.games()
    agents = {games: run.at(games) for games in pick_evenly(sorted(run.checkpoints))}
    names = next(iter(agents.values())).strategies
    return Drawn(evolution({games: agent.weights for games, agent in agents.items()}, names, AVG, "pone", title))


def _graph(agent: WeightedAgent, strategy: str) -> NDArray[Any]:
    return weights_of(agent.weights, agent.strategies, strategy, "pone")


def _by_cap(runs: Runs, title: str, matches: Matches) -> Drawn:
    agents = {name: run.final() for name, run in runs.items()}
    graphs = [[_graph(agent, strategy) for agent in agents.values()] for strategy in (MIN, AVG)]
    return Drawn(comparison_grid(graphs, (MIN, AVG), [CAPS[name] for name in runs], title))


def _by_start(runs: Runs, title: str, matches: Matches) -> Drawn:
    agents = {name: run.final() for name, run in runs.items()}
    strategies = list(STARTS.values())
    graphs = [[_graph(agent, strategy) for strategy in strategies] for agent in agents.values()]
    return Drawn(comparison_grid(graphs, [f"from {STARTS[name]}" for name in runs], strategies, title))


def _by_parameter(symbol: str, runs: Runs, title: str, matches: Matches) -> Drawn:
    shared = set.intersection(*(set(run.checkpoints) for run in runs.values()))
    columns = pick_evenly(sorted(shared))
    if not columns:
        raise RunError(f"runs {', '.join(runs)} share no number of games at which each has a checkpoint")
    graphs = [[_graph(run.at(games), AVG) for games in columns] for run in runs.values()]
    labels = [f"{symbol} = {value_of(name):g}" for name in runs]
    return Drawn(comparison_grid(graphs, labels, [games_text(games) for games in columns], title))


# --- point spreads ------------------------------------------------------------------------------------------

FINAL, START, RANDOM = "final", "start", "random"


@dataclass(frozen=True)
class _Contest:
    """A panel: an agent of a run against that run's checkpoints, in matches of so many games."""

    run: str
    agent: str
    games: int
    title: str


def _spreads(contests: Sequence[_Contest], runs: Runs, title: str, matches: Matches) -> Drawn:
    panels = [_panel(runs[contest.run], contest, matches) for contest in contests if contest.run in runs]
    return Drawn(spread_figure(panels, title), panels)


def _panel(run: WeightedRun, contest: _Contest, matches: Matches) -> SpreadPanel:
    agent, checkpoints = _opponents(run, contest.agent, matches)
    games = max(1, round(contest.games * matches.games_scale))
    number = max(1, matches.matches // LONG_SHARE) if contest.games >= LONG_MATCH else matches.matches
    return SpreadPanel(contest.title, against_checkpoints(agent, checkpoints, games, number, matches.seed))


def _opponents(run: WeightedRun, which: str, matches: Matches) -> tuple[Agent, dict[int, Agent]]:
    """The agent of a contest, and the checkpoints that it meets: all but those that are the agent itself."""
    last = run.games()
    loaded = {games: run.at(games) for games in sorted(run.checkpoints)}
    if which == RANDOM:
        return matches.random_agent(), dict(loaded)
    agent = run.final() if which == FINAL else loaded[min(loaded)]
    others: dict[int, Agent] = {g: a for g, a in loaded.items() if not np.array_equal(a.weights, agent.weights)}
    return agent, others or {last: loaded[last]}


# --- the figures --------------------------------------------------------------------------------------------


def _two_ways(run: str, games: int, other: str = START) -> tuple[_Contest, _Contest]:
    second = "(b) the agent before training:" if other == START else "(b) random weights:"
    return (_Contest(run, FINAL, games, "(a) the final agent:"), _Contest(run, other, games, second))


_LENGTHS = tuple(
    _Contest("round_2_losers", FINAL, games, f"({letter})")
    for letter, games in zip("abcd", (9, 100, 1000, LONG_MATCH), strict=True)
)
_CAPPED = tuple(_Contest(name, FINAL, LONG_MATCH, f"{label}:") for name, label in CAPS.items())
_pone, _dealer = partial(_sheet, "pone"), partial(_sheet, "dealer")
_trained = "final weights as the {}, {}".format

FIGURES = (
    ThesisFigure(2, f"{AVG} as the pone during round 1", ("round_1",), _evolution),
    ThesisFigure(3, _trained("dealer", "round 1"), ("round_1",), _dealer),
    ThesisFigure(4, _trained("pone", "round 1"), ("round_1",), _pone),
    ThesisFigure(5, "pone's minus dealer's final weights, round 1", ("round_1",), _difference),
    ThesisFigure(6, "point spreads, round 1", ("round_1",), partial(_spreads, _two_ways("round_1", 100))),
    ThesisFigure(
        7,
        "point spreads, round 2, winners' bracket",
        ("round_2_winners",),
        partial(_spreads, _two_ways("round_2_winners", 9, RANDOM)),
    ),
    ThesisFigure(
        8,
        "point spreads, round 2, losers' bracket",
        ("round_2_losers",),
        partial(_spreads, _two_ways("round_2_losers", 9)),
    ),
    ThesisFigure(9, _trained("pone", "winners' bracket"), ("round_2_winners",), _pone),
    ThesisFigure(10, _trained("pone", "losers' bracket"), ("round_2_losers",), _pone),
    ThesisFigure(11, f"{AVG} as the pone, losers' bracket", ("round_2_losers",), _evolution),
    ThesisFigure(12, f"{AVG} as the pone, winners' bracket", ("round_2_winners",), _evolution),
    ThesisFigure(13, _trained("pone", "against a static random agent"), ("round_2_static",), _pone),
    ThesisFigure(
        14, "point spreads by length of match, losers' bracket", ("round_2_losers",), partial(_spreads, _LENGTHS)
    ),
    ThesisFigure(15, _trained("pone", "neighbouring weights"), ("neighbours",), _pone),
    ThesisFigure(16, _trained("pone", "cap r = 0.50"), ("cap_50",), _pone),
    ThesisFigure(17, _trained("pone", "cap r = 0.80"), ("cap_80",), _pone),
    ThesisFigure(18, "final weights as the pone by cap r", tuple(CAPS), _by_cap),
    ThesisFigure(19, "point spreads of the final agent by cap r", tuple(CAPS), partial(_spreads, _CAPPED)),
    ThesisFigure(20, _trained("pone", "a quarter of the punishment"), ("punishment",), _pone),
    ThesisFigure(21, "final weights as the pone by semi-pure start", tuple(STARTS), _by_start),
    ThesisFigure(
        22,
        f"point spreads, semi-pure {AVG}",
        ("semi_pure_avg",),
        partial(_spreads, _two_ways("semi_pure_avg", LONG_MATCH)),
    ),
    ThesisFigure(23, _trained("pone", f"semi-pure {AVG} against random"), ("semi_pure_avg_random",), _pone),
    ThesisFigure(24, f"{AVG} as the pone by scaling factor s", (f"scaling_{VALUE}",), partial(_by_parameter, "s")),
    ThesisFigure(25, f"{AVG} as the pone by decay d", (f"decay_{VALUE}",), partial(_by_parameter, "d")),
)
NUMBERS = tuple(figure.number for figure in FIGURES)


def belongs(name: str) -> bool:
    """Whether a run by this name has a place in a figure."""
    return any(_is_called(name, need) for figure in FIGURES for need in figure.needs)


# --- command ----------------------------------------------------------------------------------------------------


def named_runs(folder: Path) -> dict[str, WeightedRun]:
    """The finished runs in a folder whose names have a place in the figures; each one's weights are tried."""
    if not folder.is_dir():
        raise RunError(f"{folder}: expected a folder of run folders")
    paths = {path.name: path for path in folder.iterdir()}
    for path in sorted(
        folder.glob("lang2018_*/*_[1-9]"), reverse=True
    ):  # of the queue; the lowest seed comes last, and stays
        # A script trains in a folder inside its own.
        paths[path.name[:-2]] = path / "run" if (path / "run").is_dir() else path
    names = [name for name in sorted(paths) if belongs(name) and (paths[name] / WEIGHTS_FILE).is_file()]
    if not names:
        needs = dict.fromkeys(need for figure in FIGURES for need in figure.needs)
        raise RunError(f"{folder}: expected finished runs in folders by some of the names {', '.join(needs)}")
    found = {name: replace(weighted_run(paths[name]), name=name) for name in names}
    for name, run in found.items():
        lacking = [strategy for strategy in THESIS_STRATEGIES if strategy not in run.final().strategies]
        if lacking:
            raise RunError(f"run {name} has no weights of {', '.join(lacking)}: expected the thesis's eight strategies")
    return found


def draw(figure: ThesisFigure, runs: Runs, matches: Matches, folder: Path) -> dict[str, Any]:
    """Draw a figure into a folder where there are runs for it; what became of it."""
    missing = figure.missing(list(runs))
    found: dict[str, Any] = {"shows": figure.shows, "file": None, "runs": figure.found(list(runs)), "missing": missing}
    if found["runs"]:
        drawn = figure.draw(runs, matches)
        found["file"] = f"figure_{figure.number:02d}.png"
        save_png(drawn.figure, folder / found["file"])
        if drawn.panels:
            found["panels"] = [panel.to_dict() for panel in drawn.panels]
    return found


def main(words: Sequence[str] | None = None) -> None:
    """Draw the figures for which there are runs; what was drawn, and every spread, goes to summary.json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, help="a folder of run folders with names such as round_1 and cap_50")
    parser.add_argument("--to", type=Path, help="the folder of the images; by default RUNS/figures")
    parser.add_argument("--figures", nargs="+", type=int, choices=NUMBERS, default=NUMBERS, metavar="NUMBER")
    parser.add_argument("--matches", type=int, default=20, help="against each checkpoint; of 10,000 games a quarter")
    parser.add_argument("--games-scale", type=float, default=1.0, help="times the 9 to 10,000 games of a match")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(words)
    if options.matches < 1 or not 0 < options.games_scale <= 1:
        parser.error("expected --matches of 1 or more, --games-scale more than 0 and at most 1")
    folder = options.to or options.runs / "figures"
    try:
        runs = named_runs(options.runs)
        folder.mkdir(parents=True, exist_ok=True)
        matches = Matches(options.matches, options.games_scale, options.seed)
        found = {f.number: draw(f, runs, matches, folder) for f in FIGURES if f.number in options.figures}
    except UserError as error:
        parser.error(str(error))
    for number, drawn in found.items():
        lacks = f"no run {', '.join(drawn['missing'])}" if drawn["missing"] else ""
        print(f"{number}: {drawn['shows']}: {'; '.join(text for text in (drawn['file'], lacks) if text)}")
    write_json(folder / "summary.json", {"figures": {str(number): drawn for number, drawn in found.items()}})
    count = sum(drawn["file"] is not None for drawn in found.values())
    print(f"{count} of {len(found)} figures of the thesis, from the {len(runs)} runs of {options.runs}: {folder}")


if __name__ == "__main__":
    main()
