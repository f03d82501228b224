"""Agents over many games in lockstep -> results.

Every game's cards and every agent's coin tosses follow from the seed and the game's number, so a match does not
depend on how its games are batched (network values may differ in their last bits between batch sizes).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import Agent, require_players
from deepcrib.agents.asking import ask, named
from deepcrib.agents.base import uses_past
from deepcrib.agents.scripted import ScriptedAgent
from deepcrib.game.engine import Games
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.past import PastHands
from deepcrib.kernels import Part, seconds_running
from deepcrib.kernels.workers import num_workers, run_pieces

LOCKSTEP_GAMES = 8192
"""Games whose decisions are asked for at once: a network's values may differ between batches of other sizes."""
SCRIPTED_GAMES = 2048
"""Of scripted players: as many as a core's cache holds."""
_ROUNDS = 16  # parts a thread before progress is told
Progress = Callable[[int], None]
Rows = NDArray[np.int64]
Measure = Callable[[Games, Rows, NDArray[np.int16]], NDArray[np.float64]]
"""What else is wanted of hands: (games, rows of those that played one, all scores before it) -> [R, P, K] by seat."""


@dataclass(frozen=True)
class MatchResult:
    """G games of A agents (one a seat), agents numbered as they were given.

    winner: [G]. scores: [G, A] points, the winner's 121. hands: [G]. pair: [G], equal for games of the same match or
    with the same deals: the unit of intervals. points, counts: [G, A, 2, 4], points by agent, role (1 = dealer) and
    kind (`rules.KINDS`), and the hands in which that kind was counted. first_dealer: [G]. seconds: of play. measured:
    [G, A, K], a `Measure` summed over hands.
    """

    winner: NDArray[np.int8]
    scores: NDArray[np.int16]
    hands: NDArray[np.int32]
    pair: NDArray[np.int64]
    points: NDArray[np.int16]
    counts: NDArray[np.int16]
    first_dealer: NDArray[np.int8]
    seconds: float
    measured: NDArray[np.float64] = field(default_factory=partial(np.zeros, (0, 0, 0)))

    def take(self, games: slice | Rows) -> MatchResult:
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
    games_per_match: int = 1,
    first_game: int = 0,
    measure: Measure | None = None,
    progress: Progress | None = None,
) -> MatchResult:
    """Play full games between as many agents as there are seats (2 to 4), seats and first deals balanced.

    Each `games_per_match` games are a match, in which the seats stay and the first deal alternates; agents that say
    `uses_past` see its finished hands. Match m seats agent (s + m) mod P at seat s, and the first deal moves on every P
    matches. With `duplicate` the P matches of such a round have the same cards, so that every agent plays every seat of
    each deal. The unit of intervals, `MatchResult.pair`, is the match, or the round.

    first_game: number of the first deal, so that a match can be played in parts of whole rounds of seats and first
    deals (4 matches of two). Raises ValueError for fewer than one game, or games that are no whole matches.
    """
    num_players = len(agents)
    for agent in agents:
        require_players(agent, num_players)
    if games < 1:
        raise ValueError(f"games={games}: expected at least 1 game")
    if games_per_match < 1 or games % games_per_match:
        raise ValueError(f"games={games}: expected whole matches of games_per_match={games_per_match} games")
    scripted = measure is None and all(isinstance(agent, ScriptedAgent) for agent in agents)
    keeps_past = any(map(uses_past, agents))

    def play_games(numbers: Rows, past: PastHands | None) -> MatchResult:
        matches, places = np.divmod(numbers, games_per_match)
        rounds = matches // num_players * games_per_match
        deals = first_game + (rounds + places if duplicate else numbers)
        dealers = ((rounds + places) % num_players).astype(np.int8)
        table = Games(deals, seed, num_players=num_players, dealing=dealing, first_dealer=dealers, past=past)
        seating = (np.arange(num_players) + matches[:, None]) % num_players
        return _result(table, seating, dealers, deals - places, _play_out(table, agents, seating, scripted, measure))

    def play_part(low: int, high: int) -> MatchResult:
        numbers = np.arange(low, high, dtype=np.int64)
        if not keeps_past:
            return play_games(numbers, None)
        past, played = PastHands((high - low) // games_per_match, num_players), []
        for place in range(games_per_match):
            played.append(play_games(numbers[place::games_per_match], past))
            past.next_game()
        order = np.arange(high - low).reshape(games_per_match, -1).T.ravel()
        return MatchResult.concatenate(played).take(order)

    parts: list[MatchResult] = []
    start = seconds_running()
    for together in _parts(games, scripted, games_per_match if keeps_past else 1):
        parts += run_pieces([partial(play_part, low, high) for low, high in together])
        if progress is not None:
            for low, high in together:
                progress(high - low)
    return replace(MatchResult.concatenate(parts), seconds=seconds_running() - start)


def batches(count: int, size: int, progress: Progress | None = None) -> Iterator[Rows]:
    """Numbers of games or hands, 0 to count - 1, `size` at a time; progress counts them when the next are asked for."""
    for low in range(0, count, size):
        numbers = np.arange(low, min(low + size, count), dtype=np.int64)
        yield numbers
        if progress is not None:
            progress(len(numbers))


def _parts(games: int, scripted: bool, unit: int) -> Iterator[list[Part]]:
    """Games in lists of parts that are played side by side, each of whole units of games.

    Agents that are asked are so only where each thread has a whole part: what is left over is their threads' own.
    """
    size = SCRIPTED_GAMES if scripted else max(unit, LOCKSTEP_GAMES // unit * unit)
    parts = [(low, min(low + size, games)) for low in range(0, games, size)]
    number = num_workers() * (_ROUNDS if scripted else 1)
    whole = len(parts) if scripted else games // size // number * number
    yield from (parts[first : first + number] for first in range(0, whole, number))
    yield from ([part] for part in parts[whole:])


def _play_out(
    table: Games, agents: Sequence[Agent], seating: NDArray[np.int64], scripted: bool, measure: Measure | None
) -> NDArray[np.float64]:
    """Play to the end; [N, P, K] sums of what is measured, by seat."""
    measured = np.zeros((*seating.shape, 0))
    if scripted:
        codes = np.array([agent.policy for agent in agents if isinstance(agent, ScriptedAgent)], dtype=np.int8)
        table.play_scripted(codes[seating])
        return measured
    while len(table.unfinished):
        before = table.scores.copy()
        rows = play_hand(table, agents, seating)
        if measure is not None:
            found = measure(table, rows, before)
            measured = measured if measured.size else np.zeros((len(table), *found.shape[1:]))
            measured[rows] += found
    return measured


def _result(
    table: Games, seating: NDArray[np.int64], dealers: NDArray[np.int8], pair: Rows, measured: NDArray[np.float64]
) -> MatchResult:
    state = table.state
    rows = np.arange(len(table))
    by_agent = rows[:, None], np.argsort(seating, axis=1)  # the inverse permutation: agent -> seat
    return MatchResult(
        winner=seating[rows, state.winner].astype(np.int8),
        scores=state.scores[by_agent],
        hands=state.hand_number + 1,
        pair=pair,
        points=state.points[by_agent].astype(np.int16),
        counts=state.counts[by_agent].astype(np.int16),
        first_dealer=seating[rows, dealers].astype(np.int8),
        seconds=0.0,
        measured=measured[by_agent],
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
        games, places = all_rows[mine], all_seats[mine]
        if len(games):
            observation = table.discard_observation(games, places)
            actions = ask(agent, observation)
            with named(agent):
                table.discard(games, places, actions)
            recorder.discards(games, observation, actions)
    table.start_play()
    play_cards(table, distinct, players, recorder)
    table.show()
    table.note_hands(rows)
    return rows


def play_cards(
    table: Games, agents: Sequence[Agent], seating: NDArray[np.int64], recorder: Recorder | None = None
) -> None:
    """Play the cards of every game that waits for one, to the end of the play; seating as in `play_hand`."""
    recorder = recorder or Recorder()
    while len(to_play := table.to_play):
        turn = seating[to_play, table.turn[to_play]]
        for number, agent in enumerate(agents):
            mine = to_play[turn == number]
            if len(mine):
                observation = table.play_observation(mine)
                slots = ask(agent, observation)
                with named(agent):
                    table.play(mine, slots)
                recorder.plays(mine, observation, slots)
