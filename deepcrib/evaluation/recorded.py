"""Recorded games of people against agents, counted as matches are: the human baseline of Bélanger et al. 2019.

In its section 3.4 five good players won 16 of 27 games against the deterministic agent.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from deepcrib.evaluation.evaluate import ROLES, Evaluation, summarise
from deepcrib.evaluation.luck import BEYOND, MARGIN, recorded_luck
from deepcrib.game.rules import KINDS
from deepcrib.intervals import Interval, mean_interval, wilson
from deepcrib.matches import MatchResult
from deepcrib.records import GameRecord, Player, replay

HINTS = ("exclude", "include", "only")
"""Whether games count in which the person asked for hints; only: no others do."""
BY = ("opponent", "person")
PAPER_OPPONENT, PAPER_WINS, PAPER_GAMES = "deterministic", 16, 27
PAPER_HALF_WIDTH = 0.1853
"""The interval that the paper prints, 59.3% +- 18.53, as if the share were normal (section 3.4)."""

_Points = dict[str, dict[str, Interval]]
"""`{role: {kind: mean}}`, points over the hands in which that kind was counted, with 95% intervals (Student's t)."""


@dataclass(frozen=True)
class PlayedGame:
    """A finished game of a person, at `seat`, against an agent. result: of this game, the person being agent 0."""

    record: GameRecord
    seat: int
    person: Player
    opponent: Player
    result: MatchResult


@dataclass(frozen=True)
class Baseline:
    """What some people did against one agent. evaluation: as of a match, the people being the agent of it.

    first_deals: games in which the person dealt first. points, opponent_points: with intervals over hands, as beyond:
    points a hand of the final margin beyond the luck of the cards (`luck`).
    """

    people: tuple[str, ...]
    opponent: str
    evaluation: Evaluation
    first_deals: int
    points: _Points
    opponent_points: _Points
    beyond: Interval

    def to_dict(self) -> dict[str, Any]:
        """All metrics as plain values, for `summary.json`; None for a bound that a single hand does not give."""
        own, other = (_plain(points) for points in (self.points, self.opponent_points))
        return asdict(self) | {"points": own, "opponent_points": other, "beyond": self.beyond._asdict()}


def played_games(
    records: Iterable[GameRecord], hints: str = "exclude", progress: Callable[[int], None] | None = None
) -> tuple[list[PlayedGame], dict[str, int]]:
    """The games that count, and how many others there were, by what kept them out.

    Every game is replayed (RecordError). Games of which the players and the first deal are the same count once: the one
    that was started first, by its time and then by its place among the records. An interrupted game that goes on in
    another record is no unfinished one.
    """
    records = list(records)
    whole = {id(record) for record in whole_games(records)}
    games: list[PlayedGame] = []
    left_out: Counter[str] = Counter()
    for number, record in enumerate(records):
        state = replay(record).games.state[0]
        if progress is not None:
            progress(1)
        if len(record.players) != 2 or len(record.humans) != 1:
            left_out["not of one person against one agent"] += 1
        elif not record.finished:
            left_out["unfinished" if id(record) in whole else "gone on with in another record"] += 1
        else:
            (seat,) = record.humans
            players = record.players[seat], record.players[1 - seat]
            games.append(PlayedGame(record, seat, *players, _result(record, state, seat, number)))
    first: dict[Any, PlayedGame] = {}
    for game in sorted(games, key=lambda game: game.record.started):
        first.setdefault(_identity(game.record), game)
    kept = [game for game in games if first[_identity(game.record)] is game]
    counted = [game for game in kept if hints == "include" or (hints == "only") == bool(game.record.hints(game.seat))]
    left_out["there twice"] = len(games) - len(kept)
    left_out["without hints" if hints == "only" else "with hints"] = len(kept) - len(counted)
    return counted, {reason: number for reason, number in left_out.items() if number}


def whole_games(records: Sequence[GameRecord]) -> list[GameRecord]:
    """The records but those that are the beginning of another one, or a copy of an earlier one.

    `deepcrib play resume=` leaves the interrupted game where it is and writes all of it again, so that each choice up
    to there stands in both.
    """
    whole: dict[Any, list[GameRecord]] = defaultdict(list)
    for record in sorted(records, key=lambda record: -len(record.events)):
        longer = whole[_identity(record)]
        if not any(other.events[: len(record.events)] == record.events for other in longer):
            longer.append(record)
    kept = {id(record) for group in whole.values() for record in group}
    return [record for record in records if id(record) in kept]


def _identity(record: GameRecord) -> Any:
    """What two copies of a game have in common, also those of which one was played otherwise."""
    players = tuple((p.name, p.kind, json.dumps(p.spec, sort_keys=True)) for p in record.players)
    deal = next((event for event in record.events if event.kind == "deal"), None)
    return (players, deal.seat, deal.hands) if deal is not None else players


def _result(record: GameRecord, state: Any, seat: int, number: int) -> MatchResult:
    """A replayed game as a match of one."""
    seats = [seat, 1 - seat]
    first_dealer = next(event.seat for event in record.events if event.kind == "deal")
    return MatchResult(
        winner=np.array([seats.index(record.winner)], dtype=np.int8),
        scores=state["scores"][None, seats],
        hands=np.array([state["hand_number"] + 1], dtype=np.int32),
        pair=np.array([number]),
        points=state["points"][None, seats],
        counts=state["counts"][None, seats],
        first_dealer=np.array([seats.index(first_dealer)], dtype=np.int8),
        seconds=0.0,
        measured=recorded_luck(record)[BEYOND].sum(axis=0)[None, seats],
    )


def baselines(games: Sequence[PlayedGame], by: str = "opponent") -> list[Baseline]:
    """One for each opponent, or for each person and opponent, in the order of their first games."""
    labels = _labels([game.opponent for game in games])
    groups: dict[tuple[str, str], list[PlayedGame]] = defaultdict(list)
    for game, label in zip(games, labels, strict=True):
        groups[label, game.person.name if by == "person" else ""].append(game)
    return [_baseline(opponent, group) for (opponent, _), group in groups.items()]


def _labels(players: Sequence[Player]) -> list[str]:
    """The name of each agent; where agents of several specs share it, with the spec."""
    agents = [(player.name, json.dumps(player.spec, sort_keys=True)) for player in players]
    specs = Counter(name for name, _ in set(agents))
    return [f"{name} {spec}" if specs[name] > 1 else name for name, spec in agents]


def _baseline(opponent: str, games: Sequence[PlayedGame]) -> Baseline:
    result = MatchResult.concatenate([game.result for game in games])
    return Baseline(
        people=tuple(dict.fromkeys(game.person.name for game in games)),
        opponent=opponent,
        evaluation=summarise(result, duplicate=False),
        first_deals=int((result.first_dealer == 0).sum()),
        points=_points([(game.record, game.seat) for game in games]),
        opponent_points=_points([(game.record, 1 - game.seat) for game in games]),
        beyond=mean_interval(np.concatenate([recorded_luck(g.record)[BEYOND, :, g.seat, MARGIN] for g in games])),
    )


def paper_baseline() -> dict[str, Any]:
    """The published evaluation, with the interval that the paper prints and Wilson's in its place."""
    counted = {"opponent": PAPER_OPPONENT, "games": PAPER_GAMES, "wins": PAPER_WINS}
    interval = wilson(PAPER_WINS, PAPER_GAMES).named("win_rate", "ci")
    return {**counted, **interval, "printed_half_width": PAPER_HALF_WIDTH}


# --- points of hands ----------------------------------------------------------------------------------------


def _points(seats: Sequence[tuple[GameRecord, int]]) -> _Points:
    """Of what seats were counted, also 0; nothing of what came after somebody had won."""
    counted: dict[str, dict[str, list[int]]] = {role: {kind: [] for kind in KINDS} for role in ROLES}
    for record, seat in seats:
        for hand in record.hands:
            own = counted[ROLES[int(hand[0].seat == seat)]]
            if plays := [event for event in hand if event.kind == "play"]:
                own["play"].append(sum(event.points for event in plays if event.seat == seat))
            for event in hand:
                if event.seat == seat and event.kind in ("starter", "hand", "crib"):
                    own["heels" if event.kind == "starter" else event.kind].append(event.points)
    return {role: {kind: mean_interval(p) for kind, p in kinds.items() if p} for role, kinds in counted.items()}


def known(interval: Interval) -> dict[str, float | None]:
    """By name; None for a bound that a single hand does not give."""
    return {name: None if np.isnan(value) else value for name, value in interval._asdict().items()}


def _plain(points: _Points) -> dict[str, dict[str, dict[str, float | None]]]:
    return {role: {kind: known(found) for kind, found in kinds.items()} for role, kinds in points.items()}
