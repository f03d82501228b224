"""Agents over many games in lockstep -> results; self-play, or recorded games -> trajectories.

Every game's cards and every agent's coin tosses follow from the seed and the game's number, so a match does not
depend on how its games are batched (network values may differ in their last bits between batch sizes).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import Agent, ScriptedAgent, require_players
from deepcrib.encoders import DISCARD_COLUMNS, PLAY_COLUMNS, compact_discard, compact_play
from deepcrib.engine import Games
from deepcrib.engine.phases import DISCARD
from deepcrib.observations import DiscardObservation, PlayObservation
from deepcrib.records import GameRecord, RecordError, choices
from deepcrib.records.replay import ROW
from deepcrib.rules import HAND_SIZE

LOCKSTEP_GAMES = 8192
SCRIPTED_GAMES = 100_000
PLAYS = 2 * HAND_SIZE
Progress = Callable[[int], None]
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class MatchResult:
    """G games of A agents (one a seat), agents numbered as they were given.

    winner: [G]. scores: [G, A] points, the winner's 121. hands: [G]. pair: [G], equal for games with the same deals.
    points, counts: [G, A, 2, 4], points by agent, role (1 = dealer) and kind (`rules.KINDS`), and the hands in which
    that kind was counted. first_dealer: [G]. seconds: of play.
    """

    winner: NDArray[np.int8]
    scores: NDArray[np.int16]
    hands: NDArray[np.int32]
    pair: NDArray[np.int64]
    points: NDArray[np.int32]
    counts: NDArray[np.int32]
    first_dealer: NDArray[np.int8]
    seconds: float

    def take(self, games: slice) -> MatchResult:
        """Some of the games; their seconds are not known, and given as 0."""
        return MatchResult(**{name: getattr(self, name)[games] for name in _COLUMNS}, seconds=0.0)

    @staticmethod
    def concatenate(parts: Sequence[MatchResult]) -> MatchResult:
        """The games of all parts of a match, in order."""
        columns: dict[str, Any] = {name: np.concatenate([getattr(p, name) for p in parts]) for name in _COLUMNS}
        return MatchResult(**columns, seconds=sum(part.seconds for part in parts))


_COLUMNS = [f.name for f in fields(MatchResult) if f.name != "seconds"]


def play_match(
    agents: Sequence[Agent],
    games: int,
    seed: int,
    *,
    duplicate: bool = False,
    dealing: str = "acc",
    first_game: int = 0,
    progress: Progress | None = None,
) -> MatchResult:
    """Play full games between as many agents as there are seats (2 to 4), seats and first deals balanced.

    Game g seats agent (s + g) mod P at seat s, and the first deal moves on every P games. With `duplicate` the P
    games of such a round have the same cards, so that every agent plays every seat of each deal.
    """
    num_players = len(agents)
    for agent in agents:
        require_players(agent, num_players)
    if games < 1:
        raise ValueError(f"games={games}: expected at least 1 game")
    start = time.perf_counter()
    scripted = all(isinstance(agent, ScriptedAgent) for agent in agents)
    size = SCRIPTED_GAMES if scripted else LOCKSTEP_GAMES
    parts = []
    for low in range(0, games, size):
        numbers = np.arange(low, min(low + size, games), dtype=np.int64)
        rounds = numbers // num_players
        table = Games(
            first_game + (rounds if duplicate else numbers),
            seed,
            num_players=num_players,
            dealing=dealing,
            first_dealer=(rounds % num_players).astype(np.int8),
        )
        seating = (np.arange(num_players) + numbers[:, None]) % num_players
        first_seats = table.dealer.astype(np.int64)
        _play_out(table, agents, seating, scripted)
        parts.append(_result(table, seating, first_seats, rounds if duplicate else numbers))
        if progress is not None:
            progress(len(numbers))
    seconds = time.perf_counter() - start
    columns: dict[str, Any] = {n: np.concatenate(c) for n, c in zip(_COLUMNS, zip(*parts, strict=True), strict=True)}
    return MatchResult(**columns, seconds=seconds)


def match_part(
    agents: Sequence[Agent],
    first: int,
    games: int,
    seed: int,
    *,
    duplicate: bool = False,
    dealing: str = "acc",
    progress: Progress | None = None,
) -> MatchResult:
    """Games first..first + games - 1 of the match that `play_match` plays with this seed, pair ids included.

    `first` is a multiple of P * P for P players, after which seats and first deals repeat; else ValueError.
    """
    cycle = len(agents) ** 2
    if first < 0 or first % cycle:
        raise ValueError(f"first={first}: expected a multiple of {cycle}")
    start = first // len(agents) if duplicate else first
    options: dict[str, Any] = {"duplicate": duplicate, "dealing": dealing, "progress": progress}
    part = play_match(agents, games, seed, first_game=start, **options)
    return replace(part, pair=part.pair + start)


def _play_out(table: Games, agents: Sequence[Agent], seating: NDArray[np.int64], scripted: bool) -> None:
    if scripted:
        codes = np.array([agent.policy for agent in agents if isinstance(agent, ScriptedAgent)], dtype=np.int8)
        table.play_scripted(codes[seating])
        return
    while len(table.unfinished):
        play_hand(table, agents, seating)


def _result(
    table: Games, seating: NDArray[np.int64], first_seats: NDArray[np.int64], pair: Rows
) -> tuple[np.ndarray, ...]:
    state = table.state
    rows = np.arange(len(table))
    seat_of = np.argsort(seating, axis=1)  # the inverse permutation: agent -> seat
    by_agent = rows[:, None], seat_of
    return (
        seating[rows, state.winner].astype(np.int8),
        state.scores[by_agent],
        state.hand_number + 1,
        pair,
        state.points[by_agent],
        state.counts[by_agent],
        seating[rows, first_seats].astype(np.int8),
    )


# --- one hand in lockstep ---------------------------------------------------------------------------------------


class Recorder:
    """Sees the decisions of a hand as they are made; this one forgets them."""

    def discards(self, rows: Rows, observation: DiscardObservation, actions: NDArray[np.int8]) -> None:
        """Observed discards of games `rows`."""

    def plays(self, rows: Rows, observation: PlayObservation, slots: NDArray[np.int8]) -> None:
        """Observed plays of games `rows`."""


def play_hand(
    table: Games, agents: Sequence[Agent], seating: NDArray[np.int64], recorder: Recorder | None = None
) -> Rows:
    """Play one hand of every unfinished game, whose rows are returned; seating [N, P] names each seat's agent."""
    recorder = recorder or Recorder()
    distinct = list({id(agent): agent for agent in agents}.values())
    index = np.array([next(i for i, other in enumerate(distinct) if other is agent) for agent in agents])
    players = index[seating]
    rows = table.deal()
    seats = np.arange(table.num_players, dtype=np.int8)
    all_rows, all_seats = np.repeat(rows, len(seats)), np.tile(seats, len(rows))
    for number, agent in enumerate(distinct):
        mine = players[all_rows, all_seats] == number
        if mine.any():
            observation = table.discard_observation(all_rows[mine], all_seats[mine])
            actions = agent.discard(observation)
            table.discard(all_rows[mine], all_seats[mine], actions)
            recorder.discards(all_rows[mine], observation, actions)
    table.start_play()
    while len(to_play := table.to_play):
        turn = players[to_play, table.turn[to_play]]
        for number, agent in enumerate(distinct):
            mine = to_play[turn == number]
            if len(mine):
                observation_of_play = table.play_observation(mine)
                slots = agent.play(observation_of_play)
                table.play(mine, slots)
                recorder.plays(mine, observation_of_play, slots)
    table.show()
    return rows


# --- self-play --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trajectories:
    """H hands of two players with all decisions and points, int8 throughout; play k is the k-th card of the hand.

    discard_states: [H, 2, 9] by seat, compact (`encoders`). discard_actions: [H, 2]. play_states: [H, 8, 22].
    play_actions: [H, 8] slots. play_seats: [H, 8]. play_points: [H, 8], pegged by that card, go and last card
    included. hand_points: [H, 2]. crib_points, heels, dealer: [H].
    """

    discard_states: NDArray[np.int8]
    discard_actions: NDArray[np.int8]
    play_states: NDArray[np.int8]
    play_actions: NDArray[np.int8]
    play_seats: NDArray[np.int8]
    play_points: NDArray[np.int8]
    hand_points: NDArray[np.int8]
    crib_points: NDArray[np.int8]
    heels: NDArray[np.int8]
    dealer: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.dealer)

    def take(self, hands: slice | Rows) -> Trajectories:
        """Some of the hands."""
        return Trajectories(*(getattr(self, f.name)[hands] for f in fields(self)))

    @staticmethod
    def concatenate(parts: Sequence[Trajectories]) -> Trajectories:
        """The hands of all parts, in order."""
        if len(parts) == 1:
            return parts[0]
        return Trajectories(*(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(Trajectories)))


class _Trajectory(Recorder):
    """Fills dense arrays with the decisions of one hand of games `rows`."""

    def __init__(self, num_games: int) -> None:
        self.discard_states = np.full((num_games, 2, DISCARD_COLUMNS), -1, dtype=np.int8)
        self.discard_actions = np.full((num_games, 2), -1, dtype=np.int8)
        self.play_states = np.full((num_games, PLAYS, PLAY_COLUMNS), -1, dtype=np.int8)
        self.play_actions = np.full((num_games, PLAYS), -1, dtype=np.int8)

    def discards(self, rows: Rows, observation: DiscardObservation, actions: NDArray[np.int8]) -> None:
        self.discard_states[rows, observation.seat] = compact_discard(observation)
        self.discard_actions[rows, observation.seat] = actions

    def plays(self, rows: Rows, observation: PlayObservation, slots: NDArray[np.int8]) -> None:
        number = (observation.history >= 0).sum(axis=1)
        self.play_states[rows, number] = compact_play(observation)
        self.play_actions[rows, number] = slots

    def finish(self, table: Games, rows: Rows) -> Trajectories:
        log = table.log
        return Trajectories(
            self.discard_states[rows],
            self.discard_actions[rows],
            self.play_states[rows],
            self.play_actions[rows],
            log.play_seats[rows],
            log.play_points[rows],
            log.hand[rows],
            log.crib[rows],
            log.heels[rows],
            table.dealer[rows],
        )


def self_play(
    agent: Agent, first_game: int, episodes: int, seed: int, *, unit: str = "games", dealing: str = "acc"
) -> Trajectories:
    """Games (`unit="games"`, to 121) or single hands (`"hands"`, at 0-0) of an agent against itself.

    Every hand is played out to the end of the show, also that in which a game ends, so that returns are not cut.
    """
    ids = np.arange(first_game, first_game + episodes, dtype=np.int64)
    first_dealer = ids % 2 if unit == "hands" else None
    table = Games(ids, seed, dealing=dealing, first_dealer=first_dealer, stop_at_121=False)
    seating = np.zeros((episodes, 2), dtype=np.int64)
    parts: list[Trajectories] = []
    while len(table.unfinished) and not (parts and unit == "hands"):
        recorder = _Trajectory(episodes)
        rows = play_hand(table, [agent], seating, recorder)
        parts.append(recorder.finish(table, rows))
    return Trajectories.concatenate(parts)


def trajectories_of(records: Iterable[GameRecord]) -> Trajectories:
    """The hands of recorded games of two as `self_play` gives them: both seats' choices, points to the end of a show.

    In the hand that ended a game, what was no longer counted is counted here if all its cards were played; a hand that
    was cut before its last card, of which choices are missing, is left out. Raises RecordError where a game breaks the
    rules or has more players, ValueError where no hand is left.
    """
    hands = [hand for record in records for hand in _whole_hands(record)]
    if not hands:
        raise ValueError("no hands: expected recorded games with a hand of which every card was played")
    rows = np.arange(len(hands))
    table = Games(rows, 0, stop_at_121=False)
    table.state[:] = np.concatenate([hand.before_last for hand in hands])
    table.play(rows, [hand.plays[-1][1] for hand in hands])
    table.show()
    recorder = _Trajectory(len(hands))
    discards, actions = zip(*(choice for hand in hands for choice in hand.discards), strict=True)
    seen = DiscardObservation.concatenate(discards)
    recorder.discards(np.repeat(rows, 2), seen, np.array(actions, dtype=np.int8))
    plays, slots = zip(*(choice for hand in hands for choice in hand.plays), strict=True)
    seen_in_play = PlayObservation.concatenate(plays)
    recorder.plays(np.repeat(rows, PLAYS), seen_in_play, np.array(slots, dtype=np.int8))
    return recorder.finish(table, rows)


@dataclass
class _WholeHand:
    """What was seen and chosen in a hand; before_last: [1] the state of the game before its last card."""

    discards: list[tuple[DiscardObservation, int]]
    plays: list[tuple[PlayObservation, int]]
    before_last: np.ndarray


def _whole_hands(record: GameRecord) -> Iterator[_WholeHand]:
    """The hands of a record of which every card was played."""
    if len(record.players) != 2:
        raise RecordError(f"{record.source}: {len(record.players)} players, expected a game of two")
    hand = _WholeHand([], [], np.empty(0))
    for turns, _, action in choices(record):
        if turns.phase[0] == DISCARD:
            if len(hand.discards) == 2:
                hand = _WholeHand([], [], np.empty(0))
            hand.discards.append((turns.discard_observation(ROW), action))
            continue
        hand.plays.append((turns.play_observation(ROW), action))
        if len(hand.plays) == PLAYS:
            hand.before_last = turns.snapshot()
            yield hand
