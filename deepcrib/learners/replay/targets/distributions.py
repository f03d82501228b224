"""Targets of the head `categorical`: distributions of returns in place of their means (Bellemare et al. 2017).

A target is the distribution of the reward plus what the frozen network expects after it, on the network's atoms. The
algorithms differ in how likely each next action is (`algorithms.Bootstrap.policy`), and the next distribution is a
mixture.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from deepcrib.agents.q_network import QFunction
from deepcrib.networks import project, two_hot

Float = NDArray[np.float32]


def mixture(frozen: QFunction, states: NDArray[np.int8], probabilities: Float) -> Float:
    """Distributions [E, K] of the returns from compact states [E, C], whose actions have probabilities [E, A]."""
    rows, actions = np.nonzero(probabilities)
    parts = frozen.distributions(states[rows], actions.astype(np.int8)) * probabilities[rows, actions, None]
    mixed = np.zeros((len(states), parts.shape[1]), dtype=np.float32)
    firsts = np.flatnonzero(np.diff(rows, prepend=-1))
    mixed[rows[firsts]] = np.add.reduceat(parts, firsts, axis=0) if len(firsts) else parts
    return mixed


def distributed_returns(
    atoms: torch.Tensor, r_t: Float, discount: Float, p_tp1: Float, lambda_tp1: Float | None = None, n: int = 1
) -> Float:
    """Distributions [B, T, K] of `targets.lambda_returns`, or without lambda_tp1 [B, T] of `targets.n_step_returns`.

    They begin with those of the next decision, p_tp1 [B, T, K], in place of its value; what follows a decision whose
    discount is 0 may be anything.
    """
    returns = np.zeros_like(p_tp1)
    if lambda_tp1 is not None:
        following = returns[:, 0]
        for t in reversed(range(r_t.shape[1])):
            trace = lambda_tp1[:, t, None]
            mixed = (1 - trace) * p_tp1[:, t] + trace * following
            following = returns[:, t] = _bootstrapped(atoms, r_t[:, t], discount[:, t], mixed)
        return returns
    for step in range(min(n, r_t.shape[1] + 1)):  # further ahead there is nothing
        shifted = p_tp1 if step == 0 else np.concatenate([returns[:, 1:], np.zeros_like(returns[:, :1])], axis=1)
        flat = _bootstrapped(atoms, r_t.ravel(), discount.ravel(), shifted.reshape(-1, len(atoms)))
        returns = flat.reshape(p_tp1.shape)
    return returns


def _bootstrapped(atoms: torch.Tensor, r_t: Float, discount: Float, p_tp1: Float) -> Float:
    """Distributions [E, K] of r_t [E] + discount [E] * what follows; p_tp1 [E, K] may be anything at a terminal one."""
    reward, factor, following = (torch.as_tensor(array) for array in (r_t, discount, p_tp1))
    atoms = atoms.cpu()
    projected = project(reward, factor, atoms, following)
    return torch.where(factor[:, None] > 0, projected, two_hot(reward, atoms)).numpy()
