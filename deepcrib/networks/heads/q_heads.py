"""Heads: what reads values from a network's features, and how far those are from their targets.

A head's outputs are what it learns: values, or distributions. `values` makes values of them in either case.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from deepcrib.errors import OptionError
from deepcrib.networks.layers import MLP, dense_layers
from deepcrib.plugins import Registry, subclass_of


class Regression:
    """Outputs are the values [B] themselves."""

    def values(self, outputs: Tensor) -> Tensor:
        """Values [B] of outputs [B]."""
        return outputs

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Squared errors [B] of outputs [B] against targets [B]."""
        return functional.mse_loss(outputs, targets, reduction="none")


class ValueHead(Regression, MLP):
    """One value [B] of the features alone."""

    grouped = False

    def forward(self, features: Tensor, groups: Tensor | None = None) -> Tensor:
        """Values [B] of features [B, F]."""
        return super().forward(features)


class DuelingHead(Regression, nn.Module):
    """Q(s, a) = V(s) + A(s, a) - mean of A(s, a') over the legal a' (Wang et al. 2016, equation 9).

    The inputs are of (state, action) pairs, so V reads the mean of the features over the state's legal actions, which
    is the same for all of them whatever the encoder. All legal actions of a state must therefore come together:
    `groups` [B] numbers the state of each row from 0, equal numbers side by side. Without groups the outputs are the
    advantages alone, not centred: they order the actions of a state as its values do.
    """

    grouped = True

    def __init__(self, width: int, hidden: list[int]) -> None:
        """Both streams have hidden layers of the given sizes."""
        super().__init__()
        self.value = MLP(width, hidden)
        self.advantage = MLP(width, hidden)

    def forward(self, features: Tensor, groups: Tensor | None = None) -> Tensor:
        """Values [B] of features [B, F] and groups [B]."""
        advantages = self.advantage(features)
        if groups is None or len(groups) == 0:
            return advantages
        sizes = torch.bincount(groups)
        baselines = self.value(_means(features, groups, sizes)) - _means(advantages[:, None], groups, sizes)[:, 0]
        return advantages + baselines[groups]


class CategoricalHead(nn.Module):
    """Outputs are logits [B, K] of the return on the atoms low, low + 1, ..., high; the value is its mean (C51).

    Bellemare et al. 2017. Targets are returns [B], or distributions of them [B, K]; a return between two atoms is
    shared by both, and one beyond the ends is counted there.
    """

    grouped = False
    atoms: Tensor

    def __init__(self, width: int, hidden: list[int], low: int, high: int) -> None:
        """Raises OptionError for atoms that are no range."""
        super().__init__()
        if low >= high:
            raise OptionError(f"atoms_low={low} atoms_high={high}: expected the first below the second")
        self.layers = dense_layers(width, hidden, high - low + 1)
        self.register_buffer("atoms", torch.arange(low, high + 1, dtype=torch.float32), persistent=False)

    def forward(self, features: Tensor, groups: Tensor | None = None) -> Tensor:
        """Logits [B, K] of features [B, F]."""
        return self.layers(features)

    def values(self, outputs: Tensor) -> Tensor:
        """Expected returns [B] of logits [B, K]."""
        return self.expected(self.probabilities(outputs))

    def expected(self, distributions: Tensor) -> Tensor:
        """Expected returns [B] of distributions [B, K]."""
        return distributions @ self.atoms

    def probabilities(self, outputs: Tensor) -> Tensor:
        """Probabilities [B, K] of logits [B, K]."""
        return functional.softmax(outputs, dim=1)

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Cross-entropies [B] (nats) of logits [B, K] against returns [B] or distributions [B, K]."""
        wanted = two_hot(targets, self.atoms) if targets.dim() == 1 else targets
        return -(wanted * functional.log_softmax(outputs, dim=1)).sum(dim=1)


Head = ValueHead | DuelingHead | CategoricalHead
HEADS: Registry[type[Head]] = Registry(
    "head",
    {"value": ValueHead, "dueling": DuelingHead, "categorical": CategoricalHead},
    subclass_of(ValueHead, DuelingHead, CategoricalHead),
)
"""By name. One from outside is made as the head of the package that it derives from."""


def _means(rows: Tensor, groups: Tensor, sizes: Tensor) -> Tensor:
    """[G, F] means of rows [B, F] over the members of each group."""
    sums = rows.new_zeros(len(sizes), rows.shape[1], dtype=torch.float32).index_add_(0, groups, rows.float())
    return (sums / sizes.clamp(min=1)[:, None]).to(rows.dtype)


# --- distributions of returns -----------------------------------------------------------------------------------
# On fixed atoms, the whole numbers of a range (Bellemare, Dabney, Munos 2017). Returns here are sums of points, so that
# with a discount of 1 the atoms hold them without rounding; whatever lies beyond the range is counted at its end.


def project(r_t: Tensor, discount: Tensor, atoms: Tensor, probabilities: Tensor) -> Tensor:
    """Distribution [E, K] of r_t + discount * z on the atoms [K], z having the probabilities [E, K] (algorithm 1).

    r_t and discount are [E]. Mass between two atoms is shared so that its mean is kept.
    """
    return _spread(r_t[:, None] + discount[:, None] * atoms, probabilities, atoms)


def two_hot(targets: Tensor, atoms: Tensor) -> Tensor:
    """Distribution [E, K] of certain returns [E]: their mass is on the atoms [K] beside them, and they are its mean."""
    return _spread(targets[:, None], torch.ones_like(targets)[:, None], atoms)


def _spread(points: Tensor, masses: Tensor, atoms: Tensor) -> Tensor:
    """[E, K]: masses [E, J] at points [E, J], each moved to the atoms below and above in the right shares."""
    places = (points - atoms[0]).clamp(0, len(atoms) - 1)
    below = places.floor()
    share_above = places - below
    spread = masses.new_zeros(len(points), len(atoms))
    index = below.long()
    spread.scatter_add_(1, index, masses * (1 - share_above))
    return spread.scatter_add_(1, (index + 1).clamp(max=len(atoms) - 1), masses * share_above)
