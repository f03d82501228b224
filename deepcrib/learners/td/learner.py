"""Training of a perceptron of the full game by temporal differences, in self-play hand by hand (O'Connor 2000)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.base import require_finite
from deepcrib.exact.cribs import NUM_DISCARDS
from deepcrib.exact.strategies.discards import best_or_any
from deepcrib.game.engine import Games
from deepcrib.game.engine.batch import decision_key
from deepcrib.game.engine.state import Game, discard, play, show, start_play
from deepcrib.game.policies import pick
from deepcrib.game.randomness import NETWORKS, SELF_PLAY, derive
from deepcrib.game.rules import HAND_SIZE
from deepcrib.kernels import jit, seconds_running
from deepcrib.learners.td.agent import StateValue, TdPerceptronAgent, fill_discard_values, fill_slot_values, state_value
from deepcrib.learners.td.features import Deal, State
from deepcrib.learners.td.inputs import MOST_INPUTS, WIDTHS, discard_means, fill_entries, new_deal, set_discard
from deepcrib.learners.td.options import TdOptions
from deepcrib.learners.td.perceptron import add_gradient, backward, forward, layer_sizes, new_weights
from deepcrib.training.learner import Learner, Metrics, Setting
from deepcrib.training.options import as_numbers

_PLAYERS, _DEALT = 2, 6
STATES = 1 + HAND_SIZE
ERROR, STEPS, VALUE, ABSOLUTE = range(4)


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
        np.zeros((_PLAYERS, STATES, MOST_INPUTS), dtype=np.int64),
        np.zeros((_PLAYERS, STATES, MOST_INPUTS)),
        np.zeros((_PLAYERS, STATES), dtype=np.int64),
        np.zeros((_PLAYERS, STATES, units)),
        np.zeros((_PLAYERS, STATES, units)),
        np.zeros((_PLAYERS, STATES)),
        np.zeros(_PLAYERS, dtype=np.int64),
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


class TdRun(NamedTuple):
    """What learning from hands reads and changes: `TdOptions` as numbers, the network, and the states of a hand.

    hands: those of the whole run. trace_decay: lambda.
    """

    seed: int
    net: StateValue
    trace: Trace
    lr: float
    linear: bool
    hands: int
    trace_decay: float


def td_run(weights: NDArray[np.float64], options: TdOptions, seed: int) -> TdRun:
    """A run on an array of weights, which it changes."""
    net = state_value(weights, options.hidden, options.inputs, options.move_points)
    linear = options.lr_schedule == "linear"
    return as_numbers(TdRun, options, seed=seed, net=net, trace=new_trace(net.units), linear=linear)


@jit
def _learn_hand(g: Game, means: np.ndarray, own: tuple[Deal, Deal], lr: float, run: TdRun) -> None:
    """Play a hand that is dealt to the end of the show, learning after each move.

    means: [2 seats, 15, 3]. own: scratch of both players' discards; the dealer's has is_dealer 1. After the show the
    pone's last state is learned from first.
    """
    seed, net, trace, decay = run.seed, run.net, run.trace, run.trace_decay
    trace.counts[:] = 0
    values, play_points = np.empty(HAND_SIZE), np.empty(HAND_SIZE, dtype=np.int64)
    discards = np.empty(NUM_DISCARDS)
    history, seats = np.zeros(2 * HAND_SIZE, dtype=np.int64), np.zeros(2 * HAND_SIZE, dtype=np.int64)
    for step in range(1, _PLAYERS + 1):
        seat = (g.dealer + step) % _PLAYERS
        hand = g.dealt[seat].astype(np.int64)
        fill_discard_values(net, hand, means[seat], own[seat], discards)
        action = pick(best_or_any(discards), decision_key(g, seat, seed))
        set_discard(hand, action, means[seat], own[seat])
        discard(g, seat, action)
        _enter_state(net, trace, State(own[seat], g.starter, history, seats, g.num_played, seat), 0.0)
    start_play(g, False)
    while g.turn >= 0:
        seat, n = int(g.turn), int(g.num_played)
        now = State(own[seat], g.starter, history, seats, n, seat)
        fill_slot_values(net, now, g.left[seat], g.count, values, play_points)
        slot = pick(best_or_any(values), decision_key(g, seat, seed))
        at_once = play_points[slot] if net.added else 0
        account = _account(g, seat) + at_once
        learn_step(net, trace, seat, account, values[slot] - at_once, lr, decay)
        history[n], seats[n] = g.left[seat, slot], seat
        play(g, slot, False)
        _enter_state(net, trace, State(own[seat], g.starter, history, seats, g.num_played, seat), account)
    show(g, False)
    for step in range(1, _PLAYERS + 1):
        seat = (g.dealer + step) % _PLAYERS
        learn_step(net, trace, seat, _account(g, seat), 0.0, lr, decay)


@jit
def _learn_games(games: np.ndarray, means: np.ndarray, run: TdRun) -> None:
    by_dealer = ((new_deal(1), new_deal(0)), (new_deal(0), new_deal(1)))
    for r in range(len(games)):
        g = games[r]
        lr = run.lr * (1 - g.game / run.hands) if run.linear else run.lr
        _learn_hand(g, means[r], by_dealer[g.dealer], lr, run)


def learn_hands(first: int, last: int, inputs: str, run: TdRun) -> np.recarray:
    """Play hands first..last - 1, in which dealers alternate, and learn from them; returns them as they ended."""
    numbers = np.arange(first, last, dtype=np.int64)
    table = Games(numbers, run.seed, first_dealer=numbers % _PLAYERS, stop_at_121=False)
    table.deal()
    hands = table.state.dealt.reshape(-1, _DEALT).astype(np.int64)
    is_dealer = (table.state.dealer[:, None] == np.arange(_PLAYERS)).ravel()
    means = discard_means(inputs, hands, is_dealer).reshape(-1, _PLAYERS, NUM_DISCARDS, 3)
    _learn_games(table.records, means, run)
    return table.state


CHARTS = {
    "Learning": {"squared error": "loss/squared_error", "values after the discard": "value/.*"},
    "Throughput": {"hands a second": "speed/hands_per_second"},
}
"""On the Custom Scalars page of TensorBoard, by category and title: patterns of whole tags."""


class TdLearner(Learner):
    """Steps are hands. weights: float64 [W], of all layers."""

    unit = "hands"
    saved = ("sort", "weights")

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
        run = td_run(self.weights, options, derive(self.setting.seed, SELF_PLAY))
        for first, last in self.pieces():
            learn_hands(first, last, options.inputs, run)
            require_finite(run.trace.totals, options.lr)
        learned, totals = self.steps_done - start, run.trace.totals
        return {
            "loss/squared_error": float(totals[ERROR] / totals[STEPS]),
            "value/after_discard": float(totals[VALUE] / (_PLAYERS * learned)),  # the first state of either player
            "value/after_discard_absolute": float(totals[ABSOLUTE] / (_PLAYERS * learned)),
            "speed/hands_per_second": learned / (seconds_running() - begin),
        }

    def agent(self) -> TdPerceptronAgent:
        """The player that the weights now make."""
        options, metadata = self.options, self.setting.metadata(self.options.name, hands=self.steps_done)
        form = tuple(options.hidden), options.inputs, options.move_points
        return TdPerceptronAgent("trained", self.weights.copy(), *form, metadata)
