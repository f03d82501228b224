"""The network over strategies, whose input is made of statistics."""

from __future__ import annotations

from torch import Tensor, nn

from deepcrib.networks.layers import MLP

SCORE_INPUTS = 3
"""Of the strategies' network: own score, opponent's score, whether one deals."""


class StrategyNetwork(nn.Module):
    """A small network over the strategies' opinions of a discard and the score (proposed by Lang 2018, section 5.2).

    The value of a discard is that of the score, from one MLP, plus what the discard adds to it, from another that sees
    both; the same weights judge every discard. Without hidden layers it is linear.
    """

    def __init__(self, strategies: int, hidden: list[int]) -> None:
        """Both MLPs have hidden layers of the given sizes."""
        super().__init__()
        self.strategies, self.hidden = strategies, list(hidden)
        self.score = MLP(SCORE_INPUTS, hidden)
        self.gain = MLP(strategies + SCORE_INPUTS, hidden)

    def forward(self, inputs: Tensor) -> Tensor:
        """Values [N, A] of A discards of a hand; inputs [N, A, strategies + 3], whose last three are the hand's."""
        scores = inputs[:, 0, self.strategies :]
        return self.score(scores).unsqueeze(1) + self.gain(inputs)
