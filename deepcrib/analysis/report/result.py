"""What a report begins with: who is stronger, by how much, against whom, after how much training, how surely."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from deepcrib.analysis.report.page import Page, table
from deepcrib.analysis.report.runs import FINISHED, NETWORK, SETUP, final_match, read_metrics, trained_seconds
from deepcrib.analysis.tables import bounds, percent
from deepcrib.intervals import Interval, newcombe, over_seeds, welch, wilson

USUAL = "deterministic"
WELCH, NEWCOMBE = "Welch's t over seeds", "Newcombe over games"


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

    def medians(self, tag: str) -> list[float]:
        """Of each run that has the metric."""
        return [float(np.median(found[tag][1])) for found in map(read_metrics, self.runs.folder) if tag in found]

    def to_dict(self) -> dict[str, Any]:
        """Its numbers as plain values; `won` with the bounds of its interval."""
        won = [None if value != value else value for value in self.won]
        games = int(self.matches.games.sum())
        return {"setup": self.name, "won": won, "interval": self.kind, "seeds": len(self.matches), "games": games}

    def ahead(self, other: Self) -> tuple[Interval, str]:
        """Its lead over another in shares of games, and the kind of its interval."""
        own, others = self.matches, other.matches
        if min(len(own), len(others)) > 1:
            return welch(own.win_rate, others.win_rate, (own.games.min(), others.games.min())), WELCH
        return newcombe(own.wins.sum(), own.games.sum(), others.wins.sum(), others.games.sum()), NEWCOMBE


def results_of(trained: pd.DataFrame, opponent: str) -> list[Result]:
    """Of each setup that met an opponent in final matches, the strongest first."""
    met = trained.loc[[index for index, run in trained.iterrows() if final_match(run, opponent)]]
    results = []
    for name, runs in met.groupby(SETUP, sort=False):
        matches = [final_match(run, opponent) for _, run in runs.iterrows()]
        frame = pd.DataFrame(matches, columns=["games", "wins", "win_rate", "hands_won"])
        results.append(Result(str(name), runs, frame))
    return sorted(results, key=lambda one: -one.won.estimate)


def result_section(results: Sequence[Result], opponent: str, page: Page) -> list[str]:
    """Two or three sentences, and a row for each setup."""
    if not results:
        return [f"No finished training run met {opponent} in final matches: none is ranked."]
    answer = " ".join(filter(None, (_strength(results[0], opponent), _lead(results), _caution(results))))
    return [answer, table([_row(one, results, page) for one in results])]


def _strength(one: Result, opponent: str) -> str:
    games = int(one.matches.games.sum())
    verdict = f"is stronger than {opponent}" if one.won.low > 0.5 else f"is weaker than {opponent}"
    if one.won.low <= 0.5 <= one.won.high:
        verdict = f"is not separated from {opponent}"
    return (
        f"**{one.name}** {verdict}: it won {percent(*one.won)} of {games:,} games (95%, {one.kind}) "
        f"after {hours_text(one.hours)} of training{' a run' if len(one.matches) > 1 else ''}."
    )


def _lead(results: Sequence[Result]) -> str:
    if len(results) < 2:
        return ""
    lead, kind = results[0].ahead(results[1])
    verdict = "" if lead.low > 0 else ": not separated"
    return f"It leads {results[1].name} by {_points(lead)} points (95%, {kind}){verdict}."


def _points(lead: Interval) -> str:
    return bounds(100 * lead.estimate, 100 * lead.low, 100 * lead.high, ".1f")


def _caution(results: Sequence[Result]) -> str:
    single = [one.name for one in results if len(one.matches) == 1]
    if not single:
        return ""
    which = "" if len(single) == len(results) else f" of {', '.join(single[:3])}{' and others' * (len(single) > 3)}"
    return f"One seed{which}: an interval over games speaks of these very agents, not of the method."


def _step_seconds(one: Result, results: Sequence[Result]) -> str | None:
    """Mean over runs of the median of a replay iteration, all threads, without matches; None where none was timed.

    Self-play of the same networks takes the same time whatever learns from it. Where it took half as long again in some
    runs, the machine was busy, and times say nothing of the setups.
    """
    seconds = one.medians("speed/processor_seconds")
    if not seconds:
        return None
    sizes = [other.runs.reindex(columns=[NETWORK, "learner.episodes"]).iloc[0] for other in (one, *results)]
    alike = [other for other, size in zip(results, sizes[1:], strict=True) if size.equals(sizes[0])]
    played = [median for other in alike for median in other.medians("speed/playing_seconds")]
    busy = max(played, default=0.0) > 1.5 * min(played, default=0.0)
    return f"{np.mean(seconds):.3g}{', not comparable' if busy else ''}"


def _row(one: Result, results: Sequence[Result], page: Page) -> dict[str, Any]:
    first = results[0]
    lead, kind = (None, "") if one is first else first.ahead(one)
    apart = {WELCH: "yes", NEWCOMBE: "these agents"}
    return {
        "setup": one.name,
        "won": percent(*one.won),
        "its interval": one.kind,
        "won, Wilson over games": percent(*one.over_games) if len(one.matches) > 1 else None,
        "behind the first, points": lead and _points(lead),
        "that interval": kind,
        "separated": lead and (apart[kind] if lead.low > 0 else "no"),
        "hands won, Wilson": one.hands_won and percent(*one.hands_won),
        "seeds": len(one.matches),
        "games": int(one.matches.games.sum()),
        "training": hours_text(one.hours),
        "processor seconds an iteration": _step_seconds(one, results),
        "command": page.command(one.runs.commands),
    }


def hours_text(hours: float) -> str:
    """`2.5 hours`, `14 minutes`, `8 seconds`."""
    for unit, size in (("hours", 1.0), ("minutes", 60.0)):
        if hours * size >= 1:
            return f"{hours * size:.3g} {unit}"
    return f"{hours * 3600:.2g} seconds"
