"""What the hill-climber climbs: anything that is a vector of weights and makes an agent of it."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from deepcrib.agents import absolute_spec, make_agent
from deepcrib.agents.q_network import QFunction, QNetworkAgent
from deepcrib.errors import OptionError
from deepcrib.game.randomness import NETWORKS, derive
from deepcrib.learners.evolution.agent import GENOMES, EvolutionaryAgent
from deepcrib.learners.hill_climb.options import HillClimbOptions
from deepcrib.learners.replay.options import StateOptions
from deepcrib.networks import DiscardNetworkConfig, PlayNetworkConfig, make_discard_network, make_play_network
from deepcrib.networks.checkpoints import save_weights
from deepcrib.networks.encoders import make_discard_encoder, make_play_encoder
from deepcrib.training.options import refuse_unread

CLIMBED = ("both", "discard", "play", "genome")
Vector = NDArray[np.float64]


def make_climber(
    options: HillClimbOptions,
    state: StateOptions,
    discard_network: DiscardNetworkConfig,
    play_network: PlayNetworkConfig,
    seed: int,
    device: str,
) -> GenomeClimber | NetworkClimber:
    """What `learner.climb` names. Raises OptionError where networks and states do not go together, AgentError.

    OptionError too for options that this climb does not read, if they are not the defaults.
    """
    for name, climb in (("genome", "genome"), ("discards_by", "play"), ("plays_by", "discard")):
        if options.climb != climb:
            refuse_unread(options, (name,), f"learner.climb={climb}")
    if options.climb == "genome":
        return GenomeClimber(options.genome, seed)
    return NetworkClimber(options, state, discard_network, play_network, seed, device)


class GenomeClimber:
    """Values of cards that choose the discard, with greedy play (`learners.evolution.agent`)."""

    def __init__(self, genome: str, seed: int) -> None:
        self._shape = (2, GENOMES[genome])
        self._seed = derive(seed, NETWORKS)

    def start(self) -> Vector:
        """[P] uniform numbers in [0, 1)."""
        return np.random.default_rng(self._seed).random(self._shape).ravel()

    def agent(self, vector: Vector) -> EvolutionaryAgent:
        """The agent of weights."""
        return EvolutionaryAgent("climbing", vector.reshape(self._shape).copy())

    def save(self, vector: Vector, path: Path, metadata: dict[str, Any]) -> None:
        """Write the agent of weights."""
        EvolutionaryAgent("climbing", vector.reshape(self._shape), metadata).save(path)


class NetworkClimber:
    """One or both of the Q-networks; the other decisions are a fixed agent's."""

    def __init__(
        self,
        options: HillClimbOptions,
        state: StateOptions,
        discard_network: DiscardNetworkConfig,
        play_network: PlayNetworkConfig,
        seed: int,
        device: str,
    ) -> None:
        self._device = device
        for group, config in (("discard", discard_network), ("play", play_network)):
            if config.noisy:
                raise OptionError(f"{group}_network.noisy=true: read with learner=replay alone, expected false here")
        self._parts: dict[str, tuple[Any, Any]] = {}  # encoder and network
        self._specs: dict[str, Any] = {}
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(seed, NETWORKS))
            if options.climb != "play":
                discard = make_discard_encoder(state.discard, scores=state.scores)
                self._parts["discard"] = discard, make_discard_network(discard_network, discard.spec)
            else:
                self._specs["discards_by"] = options.discards_by
            if options.climb != "discard":
                play = make_play_encoder(state.play, dealer=state.dealer, scores=state.scores)
                self._parts["play"] = play, make_play_network(play_network, play.spec)
            else:
                self._specs["plays_by"] = options.plays_by
        self._others = {part: make_agent(spec, self._device) for part, spec in self._specs.items()}

    def start(self) -> Vector:
        """[P] weights as PyTorch initialises them."""
        parameters = [p for _, network in self._parts.values() for p in network.parameters()]
        return torch.nn.utils.parameters_to_vector(parameters).detach().cpu().numpy().astype(np.float64)

    def agent(self, vector: Vector) -> QNetworkAgent:
        """The agent of weights, rounded to single precision."""
        functions = {
            part: QFunction(self._parts[part][0], network, self._device)
            for part, network in self._networks(vector).items()
        }
        discards_by, plays_by = (self._others.get(part) for part in ("discards_by", "plays_by"))
        return QNetworkAgent(
            functions.get("discard"),
            functions.get("play"),
            name="climbing",
            discards_by=discards_by,
            plays_by=plays_by,
        )

    def save(self, vector: Vector, path: Path, metadata: dict[str, Any]) -> None:
        """Write the networks of weights, and the specs of the agents that take the other decisions."""
        networks = self._networks(vector)
        others = {part: absolute_spec(spec) for part, spec in self._specs.items()}
        save_weights(path, networks.get("discard"), networks.get("play"), {**metadata, **others})

    def _networks(self, vector: Vector) -> dict[str, Any]:
        networks = {part: copy.deepcopy(network) for part, (_, network) in self._parts.items()}
        parameters = [p for network in networks.values() for p in network.parameters()]
        torch.nn.utils.vector_to_parameters(torch.from_numpy(vector.astype(np.float32)), parameters)
        for network in networks.values():
            network.eval()
        return networks
