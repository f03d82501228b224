"""Targets of a play's value, as pure functions on arrays (Bélanger et al. 2019, section 3.7.2; Sutton and Barto 2018).

Shapes: rewards r_t, and what follows, are [E]; values of the next own decision q_tp1 are [E, A] with -inf where an
action is not legal. `discount` is 0 where the hand ends without another own decision, 1 elsewhere (section 3:
gamma = 1), so that a terminal next state adds nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float32]


def monte_carlo(g_t: Float) -> Float:
    """The return itself."""
    return g_t


def sarsa(r_t: Float, discount: Float, q_tp1: Float, a_tp1: NDArray[np.int8]) -> Float:
    """Reward plus the value of the next action taken (Sutton and Barto, equation 6.7)."""
    taken = np.take_along_axis(q_tp1, a_tp1[:, None].astype(np.int64), axis=1)[:, 0]
    return _bootstrap(r_t, discount, taken)


def expected_sarsa(r_t: Float, discount: Float, q_tp1: Float, epsilon: float) -> Float:
    """Reward plus the mean value of the next action under the epsilon-greedy policy (equation 6.9)."""
    legal = np.isfinite(q_tp1)
    values = np.where(legal, q_tp1, 0)
    mean = values.sum(axis=1) / np.maximum(legal.sum(axis=1), 1)
    best = np.where(legal.any(axis=1), q_tp1.max(axis=1), 0)  # no legal action: nothing follows
    return _bootstrap(r_t, discount, (1 - epsilon) * best + epsilon * mean)


def q_learning(r_t: Float, discount: Float, q_tp1: Float) -> Float:
    """Reward plus the value of the best next action (equation 6.8)."""
    return _bootstrap(r_t, discount, q_tp1.max(axis=1))


def _bootstrap(r_t: Float, discount: Float, v_tp1: Float) -> Float:
    """r_t + discount * v_tp1, where v_tp1 may be anything (even -inf) at a terminal next state."""
    return (r_t + np.where(discount > 0, discount * np.where(discount > 0, v_tp1, 0), 0)).astype(np.float32)
