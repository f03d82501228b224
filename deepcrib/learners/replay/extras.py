"""What few trainings use: other orders of samples than shuffled ones, and distributions in place of values.

A training pass iterates over minibatches: sample numbers [B], with weights [B] of their losses or None (all count
alike).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from deepcrib.agents.q_network import QFunction
from deepcrib.learners.replay.options import ReplayOptions
from deepcrib.networks import project, two_hot

Rows = NDArray[np.int64]
_Float = NDArray[np.float32]
PRIORITY_FLOOR = 0.01
"""Points added to every error, so that no sample's chance is zero (Schaul et al. 2016, section 3.3: a small number)."""


@dataclass(frozen=True)
class Sampling:
    """How a pass draws its samples: as `ReplayOptions` say, with the importance exponent of the present iteration."""

    prioritised: bool = False
    priority_exponent: float = 0.6
    importance_exponent: float = 1.0
    combined: bool = False


UNIFORM = Sampling()


def sampling_of(options: ReplayOptions, iteration: int) -> Sampling:
    """Sampling of an iteration, counted from 0; the importance exponent moves in a straight line to its last value."""
    done = iteration / max(1, options.iterations - 1)
    first, last = options.importance_exponent, options.final_importance_exponent
    exponent = first + (last - first) * done
    return Sampling(options.sampling == "prioritised", options.priority_exponent, exponent, options.combined)


def in_order(order: Rows, batch_size: int) -> Iterator[tuple[Rows, None]]:
    """Samples in a fixed order [T], cut into minibatches, the last one perhaps smaller."""
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size], None


def sweeps(num_samples: int, passes: float, generator: np.random.Generator) -> Rows:
    """Sample numbers of `passes` shuffled sweeps, the last one in part if it is not whole."""
    total = max(1, round(num_samples * passes))
    parts = [generator.permutation(num_samples) for _ in range(-(-total // num_samples))]
    return np.concatenate(parts)[:total]


def combined(num_samples: int, newest: int, passes: float, generator: np.random.Generator) -> Rows:
    """The order [T] of `sweeps`, and spread evenly through it each of the `newest` last samples once more.

    Combined experience replay (Zhang and Sutton 2017) puts the transition that has just been made into
    every minibatch, beside those drawn from the buffer. Here a whole epoch of them is new in every iteration: they
    take turns, so that of any n consecutive samples their share of n, rounded down or up, are newest ones' turns.
    """
    everything = sweeps(num_samples, passes, generator)
    new = num_samples - newest + generator.permutation(newest)
    turns = np.arange(len(everything) + newest + 1) * newest // (len(everything) + newest)
    is_turn = np.diff(turns) > 0
    order = np.empty(len(is_turn), dtype=np.int64)
    order[is_turn], order[~is_turn] = new, everything
    return order


class Prioritised:
    """Minibatches of samples drawn, with replacement, in proportion to how wrong the network is about them.

    Proportional prioritisation (Schaul et al. 2016, section 3.3, algorithm 1 and appendix B.2.1): sample i has the
    chance P(i) = p_i^a / sum p^a, p_i = |error| + PRIORITY_FLOOR; the sum of all p^a is cut into B equal ranges and
    one number drawn from each. Its loss counts (N P(i))^-b times, divided by the largest such weight of all samples.
    Here the first errors are those of the network before the pass, when all targets are known; those of a minibatch
    take their place when it is learned.
    """

    def __init__(
        self, errors: _Float, batch_size: int, passes: float, generator: np.random.Generator, sampling: Sampling
    ) -> None:
        """errors: distances [N] of all samples' values from their targets, points."""
        self.batch_size, self.generator, self.sampling = batch_size, generator, sampling
        self.total = max(1, round(len(errors) * passes))
        self.priorities = self._priorities(errors)

    def __iter__(self) -> Iterator[tuple[Rows, _Float | None]]:
        """Each minibatch in turn, drawn when the one before it has been learned."""
        for start in range(0, self.total, self.batch_size):
            size = min(self.batch_size, self.total - start)
            shares = (np.arange(size) + self.generator.random(size)) / size
            rows = proportional(self.priorities, shares)
            yield rows, self.weights(rows)

    def learned(self, rows: Rows, values: Tensor, targets: Tensor) -> None:
        """Their errors, distances of values [B] from targets [B], are their priorities from now on."""
        self.priorities[rows] = self._priorities((values - targets).abs().cpu().numpy())

    def weights(self, rows: Rows) -> _Float:
        """[B] importance weights, 1 for the least likely of all samples."""
        relative = self.priorities[rows] / self.priorities.min()
        return (relative**-self.sampling.importance_exponent).astype(np.float32)

    def _priorities(self, errors: _Float) -> NDArray[np.float64]:
        return (errors.astype(np.float64) + PRIORITY_FLOOR) ** self.sampling.priority_exponent


def proportional(priorities: NDArray[np.float64], shares: NDArray[np.float64]) -> Rows:
    """The rows [B] where shares [B], 0 to 1, of their sum lie when the priorities [N] are laid end to end."""
    ends = np.cumsum(priorities)
    rows = np.searchsorted(ends, shares * ends[-1], side="right")
    return np.minimum(rows, len(priorities) - 1)  # a share may be rounded to 1


# --- distributions in place of values: the head `categorical` (Bellemare et al. 2017) ---------------------------------


def mixture(target_q: QFunction, states: NDArray[np.int8], probabilities: _Float) -> _Float:
    """Distributions [E, K] of the returns from compact states [E, C], whose actions have probabilities [E, A]."""
    rows, actions = np.nonzero(probabilities)
    parts = target_q.distributions(states[rows], actions.astype(np.int8)) * probabilities[rows, actions, None]
    mixed = np.zeros((len(states), parts.shape[1]), dtype=np.float32)
    firsts = np.flatnonzero(np.diff(rows, prepend=-1))
    mixed[rows[firsts]] = np.add.reduceat(parts, firsts, axis=0) if len(firsts) else parts
    return mixed


def distributed_step(atoms: Tensor, r_t: _Float, discount: _Float, p_tp1: _Float) -> _Float:
    """`targets.one_step` for distributions p_tp1 [..., K] of what follows, on atoms [K]."""
    reward, factor = (torch.as_tensor(array).flatten() for array in (r_t, discount))
    atoms, following = atoms.cpu(), torch.as_tensor(p_tp1).flatten(0, -2)
    projected = project(reward, factor, atoms, following)
    returns: _Float = torch.where(factor[:, None] > 0, projected, two_hot(reward, atoms)).numpy()
    return returns.reshape(p_tp1.shape)
