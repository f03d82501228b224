"""Games between weighted agents that learn after each: the compiled part of `weighted` (Lang 2018, chapter 3).

Games follow one another, since the weights of a game depend on all games before it.
"""

from __future__ import annotations

import numpy as np

from deepcrib.exact.cribs import NUM_DISCARDS
from deepcrib.exact.pegging import add_record
from deepcrib.exact.strategies.discards import (
    NUM_VALUES,
    SCORES,
    choose,
    fill_matrix,
    fill_preference,
    fill_values,
    fill_weights,
)
from deepcrib.game.engine.batch import decision_key, scripted_plays
from deepcrib.game.engine.state import Game, deal, discard, show, start_play
from deepcrib.game.policies import GREEDY
from deepcrib.game.randomness import START, below, hash_key
from deepcrib.game.rank_sets import rank_set_of
from deepcrib.kernels import jit
from deepcrib.learners.weighted.state import MAX_HANDS, PLAYERS, DiscardLog, Method, Reading, StrategyTables, Training

NEAR_HIGHEST = 0.7  # 1 - ACTION_LOWER_BOUND_PCT of the author's program
PART_RESPONSIBLE = 0.33  # its ACTION_MAX_COUNT_PCT
_SAME = 1e-9  # values that differ by rounding alone
LARGEST_FACTOR = 1e300  # keeps a weight from becoming infinite
_PAIRS = 1  # in place of a hand's number: the draw of a pair is no draw of a game's start
_GREEDY = np.array([GREEDY] * PLAYERS)


# --- choices ------------------------------------------------------------------------------------------------------


@jit
def _exploration(method: Method, weights: np.ndarray, preference: np.ndarray) -> float:
    """Chance of exploring: constant, or less where the preferences [15] differ (section 3.3).

    By the text it is the weights [m] that differ. The variance is the sample's, over one less than there are.
    """
    if not method.by_variance:
        return method.epsilon
    values = preference if method.reading.of_preference else weights
    mean = values.sum() / len(values)
    squares = 0.0
    for i in range(len(values)):
        squares += (values[i] - mean) ** 2
    return method.epsilon - squares / max(len(values) - 1, 1)


@jit
def responsible(matrix: np.ndarray, choice: int, shared: bool) -> int:
    """Mask of the strategies that answer for a choice, by their desirability [m, n] of it.

    shared: in order of value those of at least 0.7 of the highest, equal ones in order of the list, and at most a third
    of all (2 of 8). Else all that have the highest value; none where no strategy likes the choice at all.
    """
    highest = 0.0
    for i in range(len(matrix)):
        highest = max(highest, matrix[i, choice])
    mask = 0
    if not shared:
        for i in range(len(matrix)):
            if matrix[i, choice] > 0 and matrix[i, choice] >= highest:
                mask |= 1 << i
        return mask
    for _ in range(max(1, int(PART_RESPONSIBLE * len(matrix)))):
        found = -1
        for i in range(len(matrix)):
            if mask >> i & 1 or matrix[i, choice] < NEAR_HIGHEST * highest - _SAME:
                continue
            if found < 0 or matrix[i, choice] > matrix[found, choice] + _SAME:
                found = i
        if found >= 0:
            mask |= 1 << found
    return mask


@jit
def _choose_discard(g: Game, seat: int, weights: np.ndarray, run: Training) -> tuple[int, int]:
    """A discard of one seat by weights [121, 121, 2, m], and the strategies that answer for it."""
    m, t, codes = run.method, run.tables, run.codes
    values, matrix = np.empty((NUM_DISCARDS, NUM_VALUES)), np.empty((len(codes), NUM_DISCARDS))
    preference, blended = np.empty(NUM_DISCARDS), np.empty(len(codes))
    role = 1 if seat == g.dealer else 0
    own, other = g.scores[seat], g.scores[1 - seat]
    fill_values(g.dealt[seat], role, t.cribs, t.plain, t.summary, values)
    fill_matrix(codes, values, m.reading.no_opinion, matrix)
    fill_weights(weights, own, other, role, m.neighbours, m.neighbour_share, blended)
    fill_preference(blended, matrix, preference)
    epsilon = _exploration(m, weights[own, other, role], preference)
    action = choose(preference, epsilon, m.by_preference, decision_key(g, seat, m.seed))
    return action, responsible(matrix, action, m.reading.shared)


# --- one game -----------------------------------------------------------------------------------------------------


@jit
def _start_game(g: Game, number: int, home: int, m: Method) -> None:
    """A game at 0-0, or at random scores at most `spread` apart; the first dealer by a coin.

    As in the author's program (`play_training_game`) one score is drawn from 0 to 120 and the other from those around
    it that are on the board; the first is that of seat `home` where it is even, else its opponent's.
    """
    key = hash_key(m.seed, number, 0, -1, START)
    g.game = number
    g.hand_number = -1
    g.finished = False
    g.winner = -1
    g.turn = -1
    g.dealer = below(key, 0, PLAYERS)
    g.scores[:] = 0
    if not m.exploring_starts:
        return
    first = int(np.int64(below(key, 1, SCORES)))
    low, high = max(0, first - m.start_spread), min(SCORES - 1, first + m.start_spread)
    seat = home if first % 2 == 0 else 1 - home
    g.scores[seat] = first
    g.scores[1 - seat] = low + int(np.int64(below(key, 2, high - low + 1)))


@jit
def _discards(g: Game, players: np.ndarray, run: Training) -> None:
    log = run.log
    for seat in range(PLAYERS):
        own, other = g.scores[seat], g.scores[1 - seat]
        action, mask = _choose_discard(g, seat, run.weights[players[seat]], run)
        discard(g, seat, action)
        step = log.counts[seat]
        if step < MAX_HANDS:
            log.places[seat, step, 0] = own
            log.places[seat, step, 1] = other
            log.places[seat, step, 2] = 1 if seat == g.dealer else 0
            log.masks[seat, step] = mask
            log.counts[seat] = step + 1


@jit
def _record(g: Game, t: StrategyTables) -> None:
    """Add the play of a hand, whether or not a win ended it, to the records of both players' cards as either role."""
    if g.num_played == 0:  # won by the starter
        return
    pegged = np.zeros(PLAYERS, dtype=np.int64)
    for k in range(g.num_played):
        pegged[g.history_seats[k]] += g.play_points[k]
    for seat in range(PLAYERS):
        number = rank_set_of(g.kept[seat])
        for role in range(PLAYERS):
            add_record(t.gained, t.given, t.summary, number, role, pegged[seat], pegged[1 - seat])


# --- learning -----------------------------------------------------------------------------------------------------


@jit
def adjust(weights: np.ndarray, mask: int, change: float, reading: Reading, cap: float) -> None:
    """Multiply the weights [m] of the strategies in a mask by 1 + change, and normalise all again.

    Neither the factor nor what it makes falls below the reading's least; what it makes is cut at `cap`.
    """
    factor = min(max(1 + change, reading.smallest_factor), LARGEST_FACTOR)
    total = 0.0
    for i in range(len(weights)):
        if mask >> i & 1:
            weights[i] = max(min(weights[i] * factor, cap), reading.smallest_weight)
        total += weights[i]
    for i in range(len(weights)):
        weights[i] /= total


@jit
def _learn(g: Game, seat: int, weights: np.ndarray, m: Method, log: DiscardLog) -> None:
    """Reward or punish one player's discards after a game: c_j = C (1 - d)^(T - j).

    C = s (own - other score) / 121, a loss's times the punishment factor; games stop at 121.
    """
    margin, last = float(g.scores[seat] - g.scores[1 - seat]), log.counts[seat]
    constant = m.scaling * margin / m.reading.points * (m.punishment if margin < 0 else 1.0)
    for j in range(last - 1, -1, -1):
        place = log.places[seat, j]
        cell = weights[place[0], place[1], place[2]]
        c = constant * (1 - m.decay) ** (last - 1 - j)
        adjust(cell, log.masks[seat, j], c, m.reading, m.cap)


@jit
def draw_pair(number: int, members: int, m: Method) -> tuple[int, int]:
    """Who play a game: member 0 and each other one in turn, or any two by chance; anew every `switch_every` games."""
    block = number // m.switch_every
    if not m.random_pairs:
        return 0, 1 + block % (members - 1)
    key = hash_key(m.seed, block, _PAIRS, -1, START)
    first = int(np.int64(below(key, 0, members)))
    return first, (first + 1 + int(np.int64(below(key, 1, members - 1)))) % members


@jit
def learn_games(games: np.ndarray, first: int, last: int, run: Training) -> int:
    """Play games first..last - 1 among members (`draw_pair`), learning after each; returns the hands played.

    games: one game to play them in.
    """
    hands = 0
    players = np.zeros(PLAYERS, dtype=np.int64)
    g, m, weights = games[0], run.method, run.weights
    for number in range(first, last):
        home = number % PLAYERS
        players[home], players[1 - home] = draw_pair(number, len(weights), m)
        _start_game(g, number, home, m)
        run.log.counts[:] = 0
        while not g.finished:
            deal(g, m.seed, m.random_dealer)
            _discards(g, players, run)
            start_play(g, True)
            scripted_plays(g, m.seed, _GREEDY)
            show(g, True)
            hands += 1
            if m.update_records:
                _record(g, run.tables)
        for seat in range(PLAYERS):
            if run.learns[players[seat]]:
                _learn(g, seat, weights[players[seat]], m, run.log)
    return hands
