"""A mixed policy: a network gives every legal card a logit, and their softmax is the chance of each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.asking import OthersDiscards
from deepcrib.agents.base import Agent
from deepcrib.agents.q_network import QFunction, discarder
from deepcrib.files.weights import SavedWeights
from deepcrib.game.mixed import softmax
from deepcrib.game.observations import PlayObservation
from deepcrib.game.randomness import draw
from deepcrib.networks.checkpoints import make_networks
from deepcrib.networks.encoders import compact_play


class PolicyNetworkAgent(OthersDiscards):
    """Plays each legal card with its chance in the policy; another agent discards. For two players."""

    def __init__(self, logits: QFunction, discards_by: Agent, name: str = "policy_network") -> None:
        self.logits, self.discards_by, self.name = logits, discards_by, name

    def play(self, observation: PlayObservation) -> NDArray[np.int8]:
        """[N] slots."""
        return draw(self._chances(observation), observation.key)

    def play_probabilities(self, observation: PlayObservation) -> NDArray[np.float64]:
        """[N, 4], 0 on what may not be played."""
        return self._chances(observation, distinct=True)

    def _chances(self, observation: PlayObservation, distinct: bool = False) -> NDArray[np.float64]:
        """[N, 4]; a forced card costs no evaluation."""
        legal = observation.legal
        chances = legal.astype(np.float64)
        free = np.flatnonzero(legal.sum(axis=1) > 1)
        chances[free] = softmax(self.logits.all_values(compact_play(observation.take(free)), legal[free], distinct))
        return chances


def from_weights(saved: SavedWeights, device: str = "cpu", discards: Agent | None = None) -> PolicyNetworkAgent:
    """The agent of its weights; `discards` in place of the agent that they name. Raises CheckpointError, AgentError."""
    with saved.unpacking():
        (made,) = make_networks(saved, "policy")
        if made is None or (discards is None and saved.discards_by is None):
            raise ValueError("there is no network, or no agent that discards")
    discards = discarder(saved, device) if discards is None else discards
    assert discards is not None
    network, encoder = made
    return PolicyNetworkAgent(QFunction(encoder, network, device), discards, saved.path)
