"""What a report begins with: who is stronger, by how much, against whom, after how much training, how surely."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from deepcrib.analysis.report.page import Section, Table, number, share
from deepcrib.analysis.report.runs import FINISHED, SETUP, training_hours
from deepcrib.analysis.report.setups import matches_of
from deepcrib.analysis.report.statistics import difference, newcombe, over_seeds
from deepcrib.intervals import Interval, wilson

USUAL = "deterministic"
WELCH, NEWCOMBE = "Welch's t over seeds", "Newcombe over games"
_NAMED = 3
"""Setups that a sentence names at most."""


def usual_opponent(runs: pd.DataFrame) -> str:
    """The opponent whose final matches most runs have, the usual one where others have no more."""
    summaries = [summary for summary in runs[runs.state == FINISHED].summary if summary]
    met = Counter(
        name for one in summaries for name, found in one.items() if isinstance(found, dict) and "win_rate" in found
    )
    return max((USUAL, *met), key=lambda name: met[name])


def labels(setups: Sequence[pd.DataFrame]) -> list[str]:
    """A name for each setup: its network, its algorithm and what else differs, without what all have in common."""
    told = [setup[SETUP].iloc[0] for setup in setups]
    kept = [name for name in SETUP if len({str(one[name]) for one in told}) > 1] or SETUP[:2]
    return [", ".join(str(one[name]) for name in kept if one[name]) for one in told]


@dataclass(frozen=True)
class Result:
    """A setup's final matches [runs] (`games`, `wins`, `win_rate`), and the mean hours of training of its runs."""

    name: str
    matches: pd.DataFrame
    hours: float

    @property
    def won(self) -> Interval:
        """Over seeds, where there are several; else over the games of the only run."""
        found = self.matches
        if len(found) > 1:
            return over_seeds(found.win_rate, found.games.min())
        return wilson(found.wins.sum(), found.games.sum())

    @property
    def kind(self) -> str:
        """What the interval is of."""
        return "Wilson over games" if len(self.matches) == 1 else f"Student's t over {len(self.matches)} seeds"

    def ahead(self, other: Result) -> tuple[Interval, str]:
        """Its lead over another in shares of games, and the kind of its interval."""
        own, others = self.matches, other.matches
        if min(len(own), len(others)) > 1:
            return difference(own.win_rate, others.win_rate, (own.games.min(), others.games.min())), WELCH
        return newcombe(own.wins.sum(), own.games.sum(), others.wins.sum(), others.games.sum()), NEWCOMBE


def result_section(setups: Sequence[pd.DataFrame], opponent: str) -> Section:
    """Two or three sentences, and a row for each setup, the strongest first."""
    met = [(name, matches_of(setup, opponent), setup) for name, setup in zip(labels(setups), setups, strict=True)]
    found = [Result(name, matches, training_hours(setup)) for name, matches, setup in met if len(matches)]
    if not found:
        return Section("Result", [f"No finished training run met {opponent} in final matches: none is ranked."])
    first, *others = sorted(found, key=lambda one: -one.won.estimate)
    words = " ".join(filter(None, (_strength(first, opponent), _lead(first, others), _caution(found))))
    return Section("Result", [words, _table(first, others)] if others else [words])


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
    return f"It leads {others[0].name} by {number(1, scale=100)(lead)} points (95%, {kind}){verdict}."


def _caution(found: Sequence[Result]) -> str:
    single = [one.name for one in found if len(one.matches) == 1]
    if not single:
        return ""
    who = "" if len(single) == len(found) else f" of {', '.join(single)}" if len(single) <= _NAMED else " of some"
    return f"One seed{who}: an interval over games speaks of these very agents, not of the method."


def _table(first: Result, others: Sequence[Result]) -> Table:
    rows, apart = [], {WELCH: "yes", NEWCOMBE: "these agents"}
    for one in (first, *others):
        lead, kind = (None, "") if one is first else first.ahead(one)
        rows.append(
            {"setup": one.name, "won": one.won, "its interval": one.kind}
            | {"behind the first, points": lead, "that interval": kind}
            | {"separated": None if lead is None else apart[kind] if lead.low > 0 else "no"}
            | {"seeds": len(one.matches), "games": int(one.matches.games.sum()), "training": hours_text(one.hours)}
        )
    return Table(rows, {"won": share, "behind the first, points": number(1, scale=100)})


def hours_text(hours: float) -> str:
    """`2.5 hours`, `14 minutes`, `8 seconds`."""
    for unit, size in (("hours", 1.0), ("minutes", 60.0)):
        if hours * size >= 1:
            return f"{hours * size:.3g} {unit}"
    return f"{hours * 3600:.2g} seconds"
