"""Training of a perceptron of the full game by temporal differences, in self-play hand by hand (O'Connor 2000)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.base import require_finite
from deepcrib.exact.cribs import NUM_DISCARDS
from deepcrib.exact.strategies.discards import best_or_any
from deepcrib.game.engine.batch import decision_key
from deepcrib.game.engine.state import Game, deal, discard, new_games, play, show, start_play
from deepcrib.game.policies import pick
from deepcrib.game.randomness import NETWORKS, SELF_PLAY, derive, uniform
from deepcrib.game.rules import HAND_SIZE
from deepcrib.kernels import jit, seconds_running
from deepcrib.learners.td.agent import (
    DecisionScratch,
    PlayTurn,
    StateValue,
    TdPerceptronAgent,
    fill_discard_values,
    fill_play_values,
    new_scratch,
    state_value,
)
from deepcrib.learners.td.features import Deal, State
from deepcrib.learners.td.inputs import (
    MOST_INPUTS,
    WIDTHS,
    DealTables,
    deal_tables,
    discard_means,
    fill_entries,
    new_deal,
    set_discard,
)
from deepcrib.learners.td.options import TdOptions
from deepcrib.learners.td.perceptron import add_gradient, backward, forward, layer_sizes, new_weights
from deepcrib.training.learner import Learner, Metrics, Setting
from deepcrib.training.options import as_numbers

PLAYERS = 2
STATES = 1 + HAND_SIZE
_EXPLORE = 2  # a counter of the decision's key that `pick` does not use
ERROR, STEPS, VALUE, ABSOLUTE = range(4)


class TdUpdate(NamedTuple):
    """How the perceptron learns: `TdOptions` as numbers for compiled code; hands is the length of the whole run."""

    lr: float
    linear: bool
    hands: int
    trace_decay: float  # lambda
    epsilon: float


class Trace(NamedTuple):
    """The states of both players in a hand, by player and state: inputs, and the gradient when it was taken.

    places, x: [2, 5, MOST_INPUTS]. filled: [2, 5]. units, slopes: [2, 5, hidden units]. accounts: [2, 5], points.
    counts: [2], states so far. totals: [4], sums of squared errors, steps, values of first states and errors.
    """

    places: np.ndarray
    x: np.ndarray
    filled: np.ndarray
    units: np.ndarray
    slopes: np.ndarray
    accounts: np.ndarray
    counts: np.ndarray
    totals: np.ndarray


def new_trace(units: int) -> Trace:
    """Scratch for a hand of a perceptron with so many hidden units."""
    return Trace(
        np.zeros((PLAYERS, STATES, MOST_INPUTS), dtype=np.int64),
        np.zeros((PLAYERS, STATES, MOST_INPUTS)),
        np.zeros((PLAYERS, STATES), dtype=np.int64),
        np.zeros((PLAYERS, STATES, units)),
        np.zeros((PLAYERS, STATES, units)),
        np.zeros((PLAYERS, STATES)),
        np.zeros(PLAYERS, dtype=np.int64),
        np.zeros(4),
    )


@jit
def learn_step(net: StateValue, trace: Trace, seat: int, account: float, value: float, lr: float, decay: float) -> None:
    """w += lr (r + U(j) - U(i)) e, from a player's last state i to one of this account and value j (0 at the end).

    e is the gradient of U(i) plus lambda times what it was at the state before: TD(lambda), of which the paper's
    formula is lambda = 0. A gradient stays as it was when its state was left.
    """
    last = trace.counts[seat] - 1
    units, slopes = trace.units[seat], trace.slopes[seat]
    places, x, filled = trace.places[seat], trace.x[seat], trace.filled[seat]
    before = forward(net.weights, net.sizes, places[last], x[last], filled[last], units[last])
    backward(net.weights, net.sizes, units[last], slopes[last])
    error = account - trace.accounts[seat, last] + value - before
    rate = lr * error
    for k in range(last, -1, -1):
        add_gradient(net.weights, net.sizes, places[k], x[k], filled[k], units[k], slopes[k], rate)
        rate *= decay
        if rate == 0:
            break
    trace.totals[ERROR] += error * error
    trace.totals[STEPS] += 1
    if last == 0:
        trace.totals[VALUE] += before
        trace.totals[ABSOLUTE] += abs(before)


@jit
def _enter_state(net: StateValue, trace: Trace, state: State, account: float) -> None:
    seat = state.seat
    k = trace.counts[seat]
    trace.filled[seat, k] = fill_entries(net.kind, state, trace.places[seat, k], trace.x[seat, k])
    trace.accounts[seat, k] = account
    trace.counts[seat] = k + 1


@jit
def _account(g: Game, seat: int) -> float:
    return float(g.scores[seat] - g.scores[1 - seat])


@jit
def _choose(values: np.ndarray, key: int, epsilon: float) -> int:
    """The highest value, ties uniform; with chance epsilon, or when values are no numbers, any that is possible."""
    mask = best_or_any(values)
    if epsilon > 0 and uniform(key, _EXPLORE) < epsilon:
        mask = 0
        for j in range(len(values)):
            if values[j] != -np.inf:
                mask |= 1 << j
    return pick(mask, key)


class TdRun(NamedTuple):
    """What learning from hands reads and changes: the seed of a run, its network and update, tables and scratch."""

    seed: int
    net: StateValue
    update: TdUpdate
    tables: DealTables
    trace: Trace
    scratch: DecisionScratch


def td_run(weights: NDArray[np.float64], options: TdOptions, seed: int) -> TdRun:
    """A run on an array of weights, which it changes."""
    net = state_value(weights, options.hidden, options.inputs, options.move_points)
    update = as_numbers(TdUpdate, options, linear=options.lr_schedule == "linear")
    scratch = new_scratch(net.sizes)
    return TdRun(seed, net, update, deal_tables(options.inputs), new_trace(sum(options.hidden)), scratch)


@jit
def learn_hand(g: Game, own: tuple[Deal, Deal], lr: float, run: TdRun) -> None:
    """Deal a hand to the dealer that stands in the state, play it to the end of the show, learning after each move.

    own: scratch of both players' discards; the dealer's has is_dealer 1. After the show the pone's last state is
    learned from first.
    """
    net, trace, s, tables = run.net, run.trace, run.scratch, run.tables
    seed, decay, epsilon = run.seed, run.update.trace_decay, run.update.epsilon
    g.hand_number = -1
    g.scores[:] = 0
    deal(g, seed, False)
    trace.counts[:] = 0
    values, play_points = np.empty(HAND_SIZE), np.empty(HAND_SIZE, dtype=np.int64)
    discards = np.empty(NUM_DISCARDS)
    history, seats = np.zeros(2 * HAND_SIZE, dtype=np.int64), np.zeros(2 * HAND_SIZE, dtype=np.int64)
    for step in range(1, PLAYERS + 1):
        seat = (g.dealer + step) % PLAYERS
        hand = g.dealt[seat].astype(np.int64)
        discard_means(net.kind, hand, own[seat].is_dealer, tables, s.means)
        fill_discard_values(net, hand, s.means, own[seat], s, discards)
        action = _choose(discards, decision_key(g, seat, seed), epsilon)
        set_discard(hand, action, s.means, own[seat])
        discard(g, seat, action)
        _enter_state(net, trace, State(own[seat], g.starter, history, seats, g.num_played, seat), 0.0)
    start_play(g, False)
    while g.turn >= 0:
        seat, n = int(g.turn), int(g.num_played)
        turn = PlayTurn(own[seat], g.left[seat], g.starter, history, seats, n, seat, g.count)
        fill_play_values(net, turn, s, values, play_points)
        slot = _choose(values, decision_key(g, seat, seed), epsilon)
        at_once = play_points[slot] if net.added else 0
        account = _account(g, seat) + at_once
        learn_step(net, trace, seat, account, values[slot] - at_once, lr, decay)
        history[n], seats[n] = g.left[seat, slot], seat
        play(g, slot, False)
        _enter_state(net, trace, State(own[seat], g.starter, history, seats, g.num_played, seat), account)
    show(g, False)
    for step in range(1, PLAYERS + 1):
        seat = (g.dealer + step) % PLAYERS
        learn_step(net, trace, seat, _account(g, seat), 0.0, lr, decay)


@jit
def learn_hands(games: np.ndarray, first: int, last: int, run: TdRun) -> None:
    """Play hands first..last - 1 and learn from them; games is one game to play them in, dealers alternate."""
    g, update = games[0], run.update
    by_dealer = ((new_deal(1), new_deal(0)), (new_deal(0), new_deal(1)))
    for number in range(first, last):
        g.game = number
        g.finished = False
        g.dealer = number % PLAYERS
        lr = update.lr * (1 - number / update.hands) if update.linear else update.lr
        learn_hand(g, by_dealer[g.dealer], lr, run)


PIECE = 10_000  # hands between two updates of the progress bar
FIRST_STATES = 2  # of a hand: one a player


class TdLearner(Learner):
    """Steps are hands. weights: float64 [W], of all layers."""

    unit = "hands"
    saved = ("weights",)

    def __init__(self, options: TdOptions, setting: Setting) -> None:
        super().__init__(setting)
        self.options = options
        self.num_steps, self.checkpoint_every = options.hands, options.checkpoint_every
        self.sort = {"hidden": options.hidden, "inputs": options.inputs, "move_points": options.move_points}
        sizes = layer_sizes(WIDTHS[options.inputs], options.hidden)
        self.weights = new_weights(sizes, derive(setting.seed, NETWORKS), options.initial_deviation)

    def step(self) -> Metrics:
        """Play and learn up to the next checkpoint. Raises DivergenceError where the learning rate is too high."""
        options, start, begin = self.options, self.steps_done, seconds_running()
        game = new_games(np.zeros(1, dtype=np.int64), 2)
        run = td_run(self.weights, options, derive(self.setting.seed, SELF_PLAY))
        for first, last in self.pieces(PIECE):
            learn_hands(game, first, last, run)
            require_finite(run.trace.totals, options.lr)
        learned = self.steps_done - start
        return metrics_of(run.trace, learned) | {"speed/hands_per_second": learned / (seconds_running() - begin)}

    def agent(self) -> TdPerceptronAgent:
        """The player that the weights now make."""
        options = self.options
        metadata = {
            "learner": options.name,
            "hands": self.steps_done,
            "seed": self.setting.seed,
            "rules": self.setting.dealing,
        }
        return TdPerceptronAgent(
            "trained", self.weights.copy(), tuple(options.hidden), options.inputs, options.move_points, metadata
        )


def metrics_of(trace: Trace, hands: int) -> Metrics:
    """Means of so many hands."""
    return {
        "loss/squared_error": float(trace.totals[ERROR] / trace.totals[STEPS]),
        "value/after_discard": float(trace.totals[VALUE] / (FIRST_STATES * hands)),
        "value/after_discard_absolute": float(trace.totals[ABSOLUTE] / (FIRST_STATES * hands)),
    }
