"""What a game waits for, and the steps that take no choice: one decision at a time instead of whole phases.

Compiled functions of one game (a record of `state.game_dtype`), for whoever asks one seat after another: environments,
and people at a table. Seats discard one after another from the dealer's left; what they throw stays hidden, so the
order tells nobody anything.
"""

from __future__ import annotations

import numpy as np

from deepcrib.game.engine.state import Game, cut, deal, discard, play, show, start_play
from deepcrib.game.rules import next_seat
from deepcrib.kernels import Part, jit

DEAL, DISCARD, STARTER, PLAY, SHOW, OVER = range(6)
PHASES = ("deal", "discard", "starter", "play", "show", "over")
"""What comes next: cards are dealt, a seat discards, the starter is turned up, a seat plays, hands count, nothing."""


@jit
def phase_of(g: Game, hands: int) -> int:
    """What a game waits for; an episode of `hands` hands (0: any number) is over after the last one's show."""
    if g.finished:
        return OVER
    if g.dealt[0, 0] < 0:
        return DEAL
    if g.shown:
        return OVER if g.hand_number + 1 == hands else DEAL
    for seat in range(g.dealt.shape[0]):
        if g.kept[seat, 0] < 0:
            return DISCARD
    if g.starter < 0:
        return STARTER
    return PLAY if g.turn >= 0 else SHOW


@jit
def seat_to_choose(g: Game, hands: int) -> int:
    """Seat that must discard or play, -1 where the game waits for something else."""
    phase = phase_of(g, hands)
    if phase == PLAY:
        return int(g.turn)
    if phase == DISCARD:
        num_players = g.dealt.shape[0]
        seat = g.dealer
        for _ in range(num_players):
            seat = next_seat(seat, num_players)
            if g.kept[seat, 0] < 0:
                return seat
    return -1


@jit
def step_on(g: Game, seed: int, random_dealer: bool, stop: bool, hands: int) -> bool:
    """Deal, turn up the starter or count hands, where that is next; False where a seat must choose, or at the end."""
    phase = phase_of(g, hands)
    if phase == DEAL:
        deal(g, seed, random_dealer)
    elif phase == STARTER:
        start_play(g, stop)
    elif phase == SHOW:
        show(g, stop)
    return phase in (DEAL, STARTER, SHOW)


@jit
def take_choice(g: Game, action: int, stop: bool, hands: int) -> bool:
    """Discard or play for the seat that must choose; False, and nothing has changed, where that is not allowed."""
    phase = phase_of(g, hands)
    if phase == DISCARD:
        return discard(g, seat_to_choose(g, hands), action)
    return play(g, action, stop) if phase == PLAY else False


@jit
def begin_game(g: Game, game: int, seed: int, dealer: int) -> None:
    """Make a record a new game before its first deal; dealer -1: who deals is cut for."""
    g.game = game
    g.hand_number = -1
    g.finished = False
    g.winner = -1
    g.turn = -1
    g.starter = -1
    g.shown = False
    g.dealt[:] = -1
    g.kept[:] = -1
    g.scores[:] = 0
    g.points[:] = 0
    g.counts[:] = 0
    if dealer >= 0:
        g.dealer = dealer
    else:
        cut(g, seed)


@jit
def phase_rows(part: Part, games: np.ndarray, phases: np.ndarray, seats: np.ndarray) -> None:
    """phases [N] and seats [N] of games."""
    for i in range(*part):
        phases[i], seats[i] = phase_of(games[i], 0), seat_to_choose(games[i], 0)


@jit
def step_rows(part: Part, games: np.ndarray, rows: np.ndarray, seed: int, random_dealer: bool, stop: bool) -> None:
    """`step_on` in games `rows`."""
    for r in range(*part):
        step_on(games[rows[r]], seed, random_dealer, stop, 0)
