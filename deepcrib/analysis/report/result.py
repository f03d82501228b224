"""What a report begins with: who is stronger, by how much, against whom, after how much training, how surely."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from deepcrib.analysis.report.page import Page, Section, Table, number, share
from deepcrib.analysis.report.runs import FINISHED, SETUP, final_match, read_metrics, trained_seconds
from deepcrib.analysis.report.statistics import difference, newcombe, over_seeds
from deepcrib.intervals import Interval, wilson

USUAL = "deterministic"
WELCH, NEWCOMBE = "Welch's t over seeds", "Newcombe over games"
_NAMED = 3
"""Setups that a sentence names at most."""


def usual_opponent(runs: pd.DataFrame) -> str:
    """The opponent whose final matches most runs have, the usual one where others have no more."""
    finished = runs[runs.state == FINISHED]
    met = Counter(name for _, run in finished.iterrows() for name in run.summary if final_match(run, name))
    return max((USUAL, *met), key=lambda name: met[name])


@dataclass(frozen=True)
class Result:
    """Runs of a setup, and their final matches [runs]: `games`, `wins`, `win_rate`, `hands_won`."""

    name: str
    runs: pd.DataFrame
    matches: pd.DataFrame

    @property
    def over_games(self) -> Interval:
        """Of all games of these agents."""
        return wilson(self.matches.wins.sum(), self.matches.games.sum())

    @property
    def won(self) -> Interval:
        """Over seeds, where there are several; else over the games of the only run."""
        return over_seeds(self.matches.win_rate, self.matches.games.min()) if len(self.matches) > 1 else self.over_games

    @property
    def kind(self) -> str:
        """The kind of that interval."""
        return "Wilson over games" if len(self.matches) == 1 else f"Student's t over {len(self.matches)} seeds"

    @property
    def hands_won(self) -> Interval | None:
        """Of all hands that were counted; None where none were."""
        counted = [match for match in self.matches.hands_won if isinstance(match, dict)]
        sums = [sum(match[name] for match in counted) for name in ("wins", "hands")]
        return wilson(*sums) if counted else None

    @property
    def hours(self) -> float:
        """Mean hours of training, matches on the way included."""
        return float(np.mean([trained_seconds(folder) for folder in self.runs.folder])) / 3600

    @property
    def step_seconds(self) -> float:
        """Mean over runs of the median seconds of a replay iteration without matches; nan where runs have no such."""
        parts = ("speed/playing_seconds", "speed/learning_seconds")
        timed = [metrics for metrics in map(read_metrics, self.runs.folder) if all(tag in metrics for tag in parts)]
        medians = [np.median(metrics[parts[0]][1] + metrics[parts[1]][1]) for metrics in timed]
        return float(np.mean(medians)) if medians else np.nan

    def ahead(self, other: Result) -> tuple[Interval, str]:
        """Its lead over another in shares of games, and the kind of its interval."""
        own, others = self.matches, other.matches
        if min(len(own), len(others)) > 1:
            return difference(own.win_rate, others.win_rate, (own.games.min(), others.games.min())), WELCH
        return newcombe(own.wins.sum(), own.games.sum(), others.wins.sum(), others.games.sum()), NEWCOMBE


def result_section(trained: pd.DataFrame, opponent: str, page: Page) -> Section:
    """Two or three sentences, and a row for each setup, the strongest first."""
    met = trained.loc[[index for index, run in trained.iterrows() if final_match(run, opponent)]]
    results = [_result(str(name), runs, opponent) for name, runs in met.groupby(SETUP, sort=False)]
    if not results:
        return Section("Result", [f"No finished training run met {opponent} in final matches: none is ranked."])
    first, *others = sorted(results, key=lambda one: -one.won.estimate)
    answer = " ".join(filter(None, (_strength(first, opponent), _lead(first, others), _caution(results), _deals(met))))
    return Section("Result", [answer, _table([first, *others], page)])


def _result(name: str, runs: pd.DataFrame, opponent: str) -> Result:
    matches = [final_match(run, opponent) for _, run in runs.iterrows()]
    return Result(name, runs, pd.DataFrame(matches, columns=["games", "wins", "win_rate", "hands_won"]))


def _strength(one: Result, opponent: str) -> str:
    games = int(one.matches.games.sum())
    verdict = f"is stronger than {opponent}" if one.won.low > 0.5 else f"is weaker than {opponent}"
    if one.won.low <= 0.5 <= one.won.high:
        verdict = f"is not separated from {opponent}"
    return (
        f"**{one.name}** {verdict}: it won {share(one.won)} of {games:,} games (95%, {one.kind}) "
        f"after {hours_text(one.hours)} of training{' a run' if len(one.matches) > 1 else ''}."
    )


def _lead(first: Result, others: Sequence[Result]) -> str:
    if not others:
        return ""
    lead, kind = first.ahead(others[0])
    verdict = "" if lead.low > 0 else ": not separated"
    return f"It leads {others[0].name} by {_points(lead)} points (95%, {kind}){verdict}."


def _points(lead: Interval) -> str:
    return number(1)(Interval(*(100 * value for value in lead)))


def _caution(results: Sequence[Result]) -> str:
    single = [one.name for one in results if len(one.matches) == 1]
    if not single:
        return ""
    named = f" of {', '.join(single)}" if len(single) <= _NAMED else " of some"
    which = "" if len(single) == len(results) else named
    return f"One seed{which}: an interval over games speaks of these very agents, not of the method."


def _deals(runs: pd.DataFrame) -> str:
    if "evaluation.seed" not in runs or runs["evaluation.seed"].isna().any():
        return ""
    return "All runs met the same deals (`evaluation.seed`), whose luck an interval over seeds does not hold."


def _table(results: Sequence[Result], page: Page) -> Table:
    rows, apart = [], {WELCH: "yes", NEWCOMBE: "these agents"}
    for one in results:
        lead, kind = (None, "") if one is results[0] else results[0].ahead(one)
        rows.append(
            {"setup": one.name, "won": one.won, "its interval": one.kind}
            | {"won, Wilson over games": one.over_games if len(one.matches) > 1 else None}
            | {"behind the first, points": lead, "that interval": kind}
            | {"separated": None if lead is None else apart[kind] if lead.low > 0 else "no"}
            | {"seeds": len(one.matches), "games": int(one.matches.games.sum()), "training": hours_text(one.hours)}
            | {"seconds an iteration": _digits(one.step_seconds), "hands won, Wilson": one.hands_won}
            | {"command": page.command(one.runs.commands)}
        )
    formats = dict.fromkeys(("won", "won, Wilson over games", "hands won, Wilson"), share)
    return Table(rows, formats | {"behind the first, points": _points})


def _digits(value: float) -> str | None:
    return None if value != value else f"{value:.3g}"


def hours_text(hours: float) -> str:
    """`2.5 hours`, `14 minutes`, `8 seconds`."""
    for unit, size in (("hours", 1.0), ("minutes", 60.0)):
        if hours * size >= 1:
            return f"{hours * size:.3g} {unit}"
    return f"{hours * 3600:.2g} seconds"
