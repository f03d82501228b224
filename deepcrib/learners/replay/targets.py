"""Targets of a play's value, as pure functions on arrays (Bélanger et al. 2019, section 3.7.2; Sutton and Barto 2018).

First what the next own decision is worth, v_tp1 [E], from the values q_tp1 [E, A] of its actions, -inf where one is
not legal; it is that which tells the algorithms apart. Then the target of each of a hand's decisions: rewards r_t,
v_tp1 and `following`, the index of the player's next decision, are [H, T]. `following` is -1 where the hand ends
without another one: then the discount is 0, so that a terminal next state adds nothing; elsewhere it is 1 (section 3:
gamma = 1). Equations are those of Sutton and Barto (2018).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deepcrib.game.mixed import epsilon_greedy_probabilities
from deepcrib.plugins import Registry

Float = NDArray[np.float32]
Values = NDArray[np.floating]
"""float32, or float64 for means of float32: what is rounded once is rounded when a target is made."""
Actions = NDArray[np.int8]
Index = NDArray[np.int64]


def sarsa_value(q_tp1: Float, a_tp1: Actions) -> Float:
    """The value [E] of the next action taken, a_tp1 [E] (equation 6.7)."""
    return _valued(q_tp1, a_tp1)


def expected_sarsa_value(q_tp1: Float, epsilon: float) -> Values:
    """The mean value [E] of the next action under the epsilon-greedy policy (equation 6.9)."""
    legal = np.isfinite(q_tp1)
    values = np.where(legal, q_tp1, 0)
    mean = values.sum(axis=1) / np.maximum(legal.sum(axis=1), 1)
    best = np.where(legal.any(axis=1), q_tp1.max(axis=1), 0)  # no legal action: nothing follows
    return (1 - epsilon) * best + epsilon * mean


def q_learning_value(q_tp1: Float, q_selector_tp1: Float | None = None) -> Float:
    """The value [E] of the best next action (equation 6.8), or by q_tp1 of that which q_selector_tp1 [E, A] prefers.

    That is double Q-learning: a network that chooses by its own errors also overrates what it has chosen; another one's
    errors are not the same (van Hasselt 2010; as here, with a target network that lags, van Hasselt, Guez and Silver
    2016, equation 4).
    """
    return _valued(q_tp1, (q_tp1 if q_selector_tp1 is None else q_selector_tp1).argmax(axis=1))


def watkins_decay(trace_decay: float, q_tp1: Float, a_tp1: Actions) -> Float:
    """lambda_tp1 [E] of Watkins's Q(lambda): the trace goes on while the action taken is a best one (section 12.10)."""
    return np.where(_valued(q_tp1, a_tp1) >= q_tp1.max(axis=1), trace_decay, 0).astype(np.float32)


def one_step(r_t: Float, discount: Float, v_tp1: Values) -> Float:
    """r_t + discount * v_tp1, where v_tp1 is ignored (masked) at terminal next states, even -inf."""
    return (r_t + discount * np.where(discount > 0, v_tp1, 0)).astype(np.float32)


Backup = Callable[[Float, Float, Values], Float]
"""(r_t, discount, v_tp1) -> returns; `one_step`, or for distributions v_tp1 [..., K] its like."""


def n_step_returns(r_t: Float, following: Index, v_tp1: Values, n: int = 1, backup: Backup = one_step) -> Float:
    """[H, T] n rewards and then the value of the decision after them (equation 7.4; 6.7 to 6.9 for n = 1).

    With n = T and v_tp1 = 0: the returns of Monte Carlo. Nothing corrects for actions that the policy in question would
    not have taken (as in Hessel et al. 2018).
    """
    discount, hands = (following >= 0).astype(np.float32), np.arange(len(r_t))[:, None]
    returns = backup(r_t, discount, v_tp1)
    for _ in range(min(n - 1, r_t.shape[1])):  # further ahead there is nothing
        returns = backup(r_t, discount, returns[hands, following])
    return returns


def lambda_returns(r_t: Float, following: Index, v_tp1: Values, lambda_tp1: Float, backup: Backup = one_step) -> Float:
    """[H, T] rewards, each with a share lambda_tp1 [H, T] of the return that goes on after it, the rest of v_tp1.

    The lambda-return, forward view (equations 12.18 to 12.20, with a lambda for each decision).
    """
    returns, hands = np.zeros(v_tp1.shape, dtype=np.float32), np.arange(len(r_t))
    for t in reversed(range(r_t.shape[1])):
        trace = lambda_tp1[:, t].reshape(-1, *[1] * (v_tp1.ndim - 2))
        mixed = (1 - trace) * v_tp1[:, t] + trace * returns[hands, following[:, t]]
        returns[:, t] = backup(r_t[:, t], (following[:, t] >= 0).astype(np.float32), mixed)
    return returns


def _valued(q_tp1: Float, actions: NDArray[np.integer]) -> Float:
    """[E] values of one action of each."""
    return np.take_along_axis(q_tp1, actions[:, None].astype(np.int64), axis=1)[:, 0]


# --- the algorithms ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bootstrap:
    """How the next decision is valued; q_tp1 [E, A] are the target network's values, -inf where not legal.

    value: (q_tp1, q_selector_tp1, a_tp1, epsilon) -> [E], where q_selector_tp1 [E, A] are those of the network that
    chooses (of double Q-learning another one, else q_tp1) and a_tp1 [E] the actions taken.
    policy: (q_selector_tp1, a_tp1, epsilon) -> [E, A], how likely each next action is: with the head `categorical` the
    next distribution is a mixture by it.
    taken_alone: whether only the value of the action taken matters, so that the others are not computed.
    greedy: whether lambda-returns end where the action taken is not a best one (Watkins's Q(lambda)).
    """

    value: Callable[[Float, Float, Actions, float], Values]
    policy: Callable[[Float, Actions, float], Float]
    taken_alone: bool = False
    greedy: bool = False


def _greedy(q: Float, epsilon: float) -> Float:
    return epsilon_greedy_probabilities(q, epsilon).astype(np.float32)


_SARSA = Bootstrap(
    lambda q, selector, a, epsilon: sarsa_value(q, a),
    lambda q, a, epsilon: np.eye(q.shape[1], dtype=np.float32)[a],
    taken_alone=True,
)
_EXPECTED_SARSA = Bootstrap(
    lambda q, selector, a, epsilon: expected_sarsa_value(q, epsilon), lambda q, a, e: _greedy(q, e)
)
_Q_LEARNING = Bootstrap(
    lambda q, selector, a, epsilon: q_learning_value(q, selector), lambda q, a, epsilon: _greedy(q, 0.0), greedy=True
)
ALGORITHMS: Registry[Bootstrap | None] = Registry(
    "algorithm",
    {"monte_carlo": None, "sarsa": _SARSA, "expected_sarsa": _EXPECTED_SARSA, "q_learning": _Q_LEARNING},
    lambda found: None if isinstance(found, Bootstrap) else f"expected a {__name__}.Bootstrap",
)
"""By the name in the group `algorithm`; None: targets are returns, and no next decision is valued."""
