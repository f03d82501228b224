"""Distributions of returns on fixed atoms, which are the whole numbers of a range (Bellemare, Dabney, Munos 2017).

Returns here are sums of points, so that with a discount of 1 the atoms hold them without rounding; whatever lies
beyond the range is counted at its end.
"""

from __future__ import annotations

import torch
from torch import Tensor


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
