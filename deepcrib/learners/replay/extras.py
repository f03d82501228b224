"""What few trainings use: other orders of samples than shuffled ones, and distributions in place of values.

**Minibatches**: which samples each of a training pass holds, and how much each of them counts.

A pass iterates over `minibatches`: sample numbers [B], with weights [B] of their losses or None (all count alike). It
tells them what the network said of each minibatch, since priorities follow from that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from deepcrib.agents.q_network import QFunction
from deepcrib.kernels import jit
from deepcrib.learners.replay.options import ReplayOptions
from deepcrib.networks import project, two_hot

Rows = NDArray[np.int64]
Float = NDArray[np.float32]
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


def minibatches(
    total: int,
    newest: int,
    batch_size: int,
    passes: float,
    generator: np.random.Generator,
    sampling: Sampling,
    errors: Callable[[], Float],
) -> Ordered | Prioritised:
    """The minibatches of a pass over samples, of which the last `newest` are of the newest epoch.

    errors: [E] distances of the values from the targets, if anything depends on them.
    """
    if sampling.prioritised:
        return Prioritised(errors(), batch_size, passes, generator, sampling)
    if sampling.combined:
        return Ordered(combined(total, newest, passes, generator), batch_size)
    return Ordered(sweeps(total, passes, generator), batch_size)


@dataclass(frozen=True)
class Ordered:
    """Samples in a fixed order [T], cut into minibatches of `batch_size`, the last one perhaps smaller."""

    order: Rows
    batch_size: int

    @property
    def total(self) -> int:
        """Samples of all minibatches together."""
        return len(self.order)

    def __iter__(self) -> Iterator[tuple[Rows, Float | None]]:
        """Each minibatch in turn, without weights."""
        for start in range(0, len(self.order), self.batch_size):
            yield self.order[start : start + self.batch_size], None

    def learned(self, rows: Rows, values: Tensor, targets: Tensor) -> None:
        """Nothing depends on it."""


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
        self, errors: Float, batch_size: int, passes: float, generator: np.random.Generator, sampling: Sampling
    ) -> None:
        """errors: distances [N] of all samples' values from their targets, points."""
        self.batch_size = batch_size
        self.total = max(1, round(len(errors) * passes))
        self.generator = generator
        self.sampling = sampling
        self.tree = SumTree(self._priorities(errors))

    def __iter__(self) -> Iterator[tuple[Rows, Float | None]]:
        """Each minibatch in turn, drawn when the one before it has been learned."""
        for start in range(0, self.total, self.batch_size):
            size = min(self.batch_size, self.total - start)
            share = (np.arange(size) + self.generator.random(size)) / size
            rows = self.tree.find(share * self.tree.total)
            yield rows, self.weights(rows)

    def learned(self, rows: Rows, values: Tensor, targets: Tensor) -> None:
        """Their errors are their priorities from now on."""
        self.tree.update(rows, self._priorities((values - targets).abs().cpu().numpy()))

    def weights(self, rows: Rows) -> Float:
        """[B] importance weights, 1 for the least likely of all samples."""
        leaves = self.tree.leaves
        return ((leaves[rows] / leaves.min()) ** -self.sampling.importance_exponent).astype(np.float32)

    def _priorities(self, errors: Float) -> NDArray[np.float64]:
        return (errors.astype(np.float64) + PRIORITY_FLOOR) ** self.sampling.priority_exponent


# --- in proportion to priorities --------------------------------------------------------------------------------------


class SumTree:
    """N positive numbers and the sums of their halves, quarters and so on: a number is found, or changed, in log N.

    A node k is the sum of its children 2k and 2k + 1; the numbers are the last nodes. (Schaul et al., appendix B.2.1)
    """

    def __init__(self, numbers: NDArray[np.float64]) -> None:
        """numbers: [N]."""
        self._size = 1 << max(0, len(numbers) - 1).bit_length()
        self._nodes = np.zeros(2 * self._size)
        self.leaves = self._nodes[self._size : self._size + len(numbers)]
        self.leaves[:] = numbers
        start = self._size // 2
        while start:
            self._nodes[start : 2 * start] = self._nodes[2 * start : 4 * start].reshape(-1, 2).sum(axis=1)
            start //= 2

    @property
    def total(self) -> float:
        """The sum of all numbers."""
        return float(self._nodes[1])

    def update(self, rows: Rows, numbers: NDArray[np.float64]) -> None:
        """Put numbers [B] in the place of those at rows [B]; of a row that comes twice the last one counts."""
        _update(self._nodes, self._size, rows, numbers)

    def find(self, points: NDArray[np.float64]) -> Rows:
        """The rows [B] where points [B] from 0 to the total lie when the numbers are laid end to end."""
        rows = np.empty(len(points), dtype=np.int64)
        _find(self._nodes, self._size, points, rows)
        return rows


@jit
def _update(nodes: np.ndarray, size: int, rows: np.ndarray, numbers: np.ndarray) -> None:
    for i in range(len(rows)):
        node = size + rows[i]
        nodes[node] = numbers[i]
        while node > 1:
            node //= 2
            nodes[node] = nodes[2 * node] + nodes[2 * node + 1]


@jit
def _find(nodes: np.ndarray, size: int, points: np.ndarray, rows: np.ndarray) -> None:
    for i in range(len(points)):
        node, point = 1, points[i]
        while node < size:
            node *= 2
            # Sums are rounded: a point may lie beyond its node's end, and must not slip to where there is nothing.
            if point >= nodes[node] and nodes[node + 1] > 0:
                point -= nodes[node]
                node += 1
        rows[i] = node - size


# --- distributions in place of values: the head `categorical` (Bellemare et al. 2017) ---------------------------------


def mixture(target_q: QFunction, states: NDArray[np.int8], probabilities: Float) -> Float:
    """Distributions [E, K] of the returns from compact states [E, C], whose actions have probabilities [E, A]."""
    rows, actions = np.nonzero(probabilities)
    parts = target_q.distributions(states[rows], actions.astype(np.int8)) * probabilities[rows, actions, None]
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
            following = returns[:, t] = _bootstrapped_distribution(atoms, r_t[:, t], discount[:, t], mixed)
        return returns
    for step in range(min(n, r_t.shape[1] + 1)):  # further ahead there is nothing
        shifted = p_tp1 if step == 0 else np.concatenate([returns[:, 1:], np.zeros_like(returns[:, :1])], axis=1)
        flat = _bootstrapped_distribution(atoms, r_t.ravel(), discount.ravel(), shifted.reshape(-1, len(atoms)))
        returns = flat.reshape(p_tp1.shape)
    return returns


def _bootstrapped_distribution(atoms: torch.Tensor, r_t: Float, discount: Float, p_tp1: Float) -> Float:
    """Distributions [E, K] of r_t [E] + discount [E] * what follows; p_tp1 [E, K] may be anything at a terminal one."""
    reward, factor, following = (torch.as_tensor(array) for array in (r_t, discount, p_tp1))
    atoms = atoms.cpu()
    projected = project(reward, factor, atoms, following)
    return torch.where(factor[:, None] > 0, projected, two_hot(reward, atoms)).numpy()
