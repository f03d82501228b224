"""Games stopped at every moment, and how a player sees the table then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from deepcrib.board import TableView, pegs_behind, view_of
from deepcrib.game.engine import Games
from tests.support.reference import by_key

NAMES = ("North", "East", "South", "West")


def moments(players: int, seed: int = 300, max_hands: int = 100) -> Iterator[tuple[Games, int | None]]:
    """A game of choices that look random, stopped before every choice (with who discards next) and after it all."""
    games = Games([seed], seed, num_players=players)
    while len(games.unfinished) and games.state.hand_number[0] + 1 < max_hands:
        rows = games.deal()
        for step in range(1, players + 1):
            seat = (int(games.dealer[0]) + step) % players
            yield games, seat
            games.discard(rows, [seat], by_key(games.discard_observation(rows, [seat])))
        games.start_play()
        while len(turns := games.to_play):
            yield games, None
            games.play(turns, by_key(games.play_observation(turns)))
        yield games, None
        if not games.finished[0]:
            games.show()
            yield games, None


def seen(games: Games, viewer: int | None, turn: int | None = None) -> TableView:
    players = games.num_players
    return view_of(games.state[0], viewer, [0] * players, NAMES[:players], turn)


def views(players: int, viewer: int | None, seed: int = 300) -> list[TableView]:
    """The views of a whole game with its pegs."""
    all_views: list[TableView] = []
    previous = before = (0,) * players
    for games, turn in moments(players, seed):
        now = tuple(games.scores[0].tolist())
        previous, before = pegs_behind(previous, before, now), now
        all_views.append(view_of(games.state[0], viewer, previous, NAMES[:players], turn))
    return all_views


def with_scores(view: TableView, scores: list[int], previous: list[int]) -> TableView:
    return replace(view, scores=tuple(scores), previous_scores=tuple(previous))


@cache
def start(players: int) -> TableView:
    games, turn = next(moments(players))
    return seen(games, 0, turn)
