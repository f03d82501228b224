"""The chance to win a game from any score, if both players go on as one agent does.

Between two hands of a game, all that matters is the score and who deals next. The points of a hand hardly depend on the
score as long as players count points alone, so hands that an agent played against itself at 0-0 stand for all of them:
from the highest scores down, each is the mean over those hands of winning in that hand, or of what follows it.

With another objective, what is won takes the place of the chance to win: from 0, the most that can be lost, to 1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import Agent
from deepcrib.agents.asking import ask
from deepcrib.game.engine import Games
from deepcrib.game.observations import PlayObservation
from deepcrib.game.rules import MAX_SCORE, SKUNK_GAME_POINTS, SKUNK_MARGIN, WIN_GAME_POINTS
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows

HANDS = 10_000
"""Hands that stand for all: the chance at one score is known to half a per cent."""
_SEED = 0
WIN, GAME_POINTS = "win", "game_points"
PLAIN_WINS = {WIN: 1.0, GAME_POINTS: (SKUNK_GAME_POINTS + WIN_GAME_POINTS) / (2 * SKUNK_GAME_POINTS)}
"""By objective, what a win without a skunk is: with game points, of -3 .. 3 as 0 .. 1. With a skunk it is 1."""


def win_chances(agent: Agent, objective: str = WIN, *, hands: int = HANDS) -> NDArray[np.float64]:
    """[121, 121] chance that the dealer of the coming hand wins, by its own score and the other's."""
    return chances_of(pegs_of(agent, hands, _SEED), objective)


def pegs_of(agent: Agent, hands: int, seed: int) -> NDArray[np.int64]:
    """[hands, 12] points in the order in which they are pegged: the dealer's, and the pone's with a minus."""
    rows = np.arange(hands)
    table = Games(rows, seed, first_dealer=rows % 2, stop_at_121=False)
    table.deal()
    for seat in range(2):
        seats = np.full(hands, seat, dtype=np.int8)
        table.discard(rows, seats, ask(agent, table.discard_observation(rows, seats)))
    table.start_play()
    play_out(table, lambda rows, observation: ask(agent, observation))
    table.show()
    g, dealer = table.state, table.dealer
    played = g.play_points.astype(np.int64) * np.where(g.history_seats == dealer[:, None], 1, -1)
    shown = -g.hand_points[rows, 1 - dealer], g.hand_points[rows, dealer], g.crib_points
    return np.column_stack([g.heels, played, *shown]).astype(np.int64)


def play_out(table: Games, choose: Callable[[NDArray[np.int64], PlayObservation], NDArray[np.integer]]) -> None:
    """Play the cards of every hand to the end: what is chosen for games of these rows, by what their players see."""
    while len(rows := table.to_play):
        table.play(rows, choose(rows, table.play_observation(rows)))


def chances_of(pegs: NDArray[np.int64], objective: str = WIN, *, margins: bool = False) -> NDArray[np.float64]:
    """`win_chances` where every hand is one of pegs [N, 12], all of them as likely.

    margins: in place of the chance, the points by which the dealer of the coming hand wins in the end on average, those
    beyond 121 included.
    """
    values = np.zeros((MAX_SCORE, MAX_SCORE))
    for total in range(2 * (MAX_SCORE - 1), -1, -1):  # scores of equal totals do not lead to each other
        low, high = max(0, total - MAX_SCORE + 1), min(MAX_SCORE - 1, total)
        run_rows(_fill_total, high - low + 1, low, total, pegs, values, margins, PLAIN_WINS[objective], piece=4)
    return values


@jit
def _fill_total(
    part: Part, low: int, total: int, pegs: np.ndarray, values: np.ndarray, margins: bool, plain: float
) -> None:
    """Fill the values of scores low.. of the dealer, that and the pone's adding up to a total."""
    for i in range(*part):
        dealer, pone = low + i, total - low - i
        won, hands = 0.0, 0
        for h in range(len(pegs)):
            value = _after_hand(dealer, pone, pegs[h], values, margins, plain)
            if not np.isnan(value):  # a hand without any point changes nothing but the deal: it is left out
                won += value
                hands += 1
        values[dealer, pone] = won / hands


@jit
def _after_hand(dealer: int, pone: int, pegs: np.ndarray, values: np.ndarray, margins: bool, plain: float) -> float:
    """What the dealer has after a hand of pegs [12]; nan where nobody pegs anything."""
    before = dealer + pone
    for peg in range(len(pegs)):
        if pegs[peg] > 0:
            dealer += pegs[peg]
        else:
            pone -= pegs[peg]
        if dealer >= MAX_SCORE or pone >= MAX_SCORE:
            break
    return value_after(dealer, pone, values, margins, plain) if dealer + pone > before else np.nan


@jit
def value_after(dealer: int, pone: int, values: np.ndarray, margins: bool, plain: float = 1.0) -> float:
    """What the dealer of a hand that came to these scores has: of `values`, which are the next dealer's, or the end."""
    if dealer >= MAX_SCORE or pone >= MAX_SCORE:
        if margins:
            return float(dealer - pone)
        won = 1.0 if min(dealer, pone) <= MAX_SCORE - SKUNK_MARGIN else plain
        return won if dealer > pone else 1.0 - won
    return (0.0 if margins else 1.0) - values[pone, dealer]


def chances_after(
    table: Games, seats: NDArray[np.int8], chances: NDArray[np.float64], objective: str = WIN
) -> NDArray[np.float64]:
    """[N] each seat's chance to win its game after a hand that has been counted; chances: of `win_chances`."""
    rows = np.arange(len(table))
    dealer = 1 - table.dealer.astype(np.int64)  # of the next hand
    scores = np.minimum(table.scores, MAX_SCORE - 1).astype(np.int64)
    dealers = chances[scores[rows, dealer], scores[rows, 1 - dealer]]
    won = np.where(scores.min(axis=1) <= MAX_SCORE - SKUNK_MARGIN, 1.0, PLAIN_WINS[objective])
    dealers = np.where(table.finished, np.where(table.winner == dealer, won, 1 - won), dealers)
    return np.where(seats == dealer, dealers, 1 - dealers)
