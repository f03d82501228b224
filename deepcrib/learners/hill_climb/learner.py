"""Hill-climbing by play alone (Pollack and Blair 1997, as told by Lang 2018, section 2.1).

The champion's weights plus noise make a mutant. The two meet in pairs with the same deals and seats swapped, so that
equals win one half each. A mutant that wins enough draws the champion a small step towards itself.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from deepcrib.agents import Agent, kept_spec, make_agent
from deepcrib.agents.q_network import QFunction, QNetworkAgent
from deepcrib.errors import OptionError
from deepcrib.game.engine import Games
from deepcrib.game.randomness import MINIBATCHES, NETWORKS, SELF_PLAY, derive
from deepcrib.kernels import seconds_running
from deepcrib.learners.hill_climb.options import HillClimbOptions
from deepcrib.learners.replay.options import StateOptions
from deepcrib.matches import play_hand, play_match
from deepcrib.networks import DiscardNetworkConfig, PlayNetworkConfig, make_discard_network, make_play_network
from deepcrib.networks.checkpoints import save_weights
from deepcrib.networks.encoders import make_discard_encoder, make_play_encoder
from deepcrib.training.learner import Learner, Metrics, Setting
from deepcrib.training.options import refuse_unread

Vector = NDArray[np.float64]


class NetworkClimber:
    """One or both of the Q-networks; the other decisions are a fixed agent's."""

    def __init__(
        self,
        options: HillClimbOptions,
        setting: Setting,
        state: StateOptions,
        discard_network: DiscardNetworkConfig,
        play_network: PlayNetworkConfig,
    ) -> None:
        """Raises OptionError for options that do not go together or are not read, AgentError for another agent."""
        for name, climb in (("discards_by", "play"), ("plays_by", "discard")):
            if options.climb != climb:
                refuse_unread(options, (name,), f"learner.climb={climb}")
        for group, config in (("discard", discard_network), ("play", play_network)):
            if config.noisy:
                raise OptionError(f"{group}_network.noisy=true: read with learner=replay alone, expected false here")
        self._device = setting.device
        self._parts: dict[str, tuple[Any, Any]] = {}  # encoder and network
        self._specs: dict[str, Any] = {}
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(setting.seed, NETWORKS))
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
        self._others: dict[str, Any] = {part: make_agent(spec, self._device) for part, spec in self._specs.items()}

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
        return QNetworkAgent(functions.get("discard"), functions.get("play"), name="climbing", **self._others)

    def save(self, vector: Vector, path: Path, metadata: dict[str, Any]) -> None:
        """Write the networks of weights, and the specs of the agents that take the other decisions."""
        networks = self._networks(vector)
        others = {part: kept_spec(spec, path.parent) for part, spec in self._specs.items()}
        save_weights(path, networks.get("discard"), networks.get("play"), {**metadata, **others})

    def _networks(self, vector: Vector) -> dict[str, Any]:
        networks = {part: copy.deepcopy(network) for part, (_, network) in self._parts.items()}
        parameters = [p for network in networks.values() for p in network.parameters()]
        torch.nn.utils.vector_to_parameters(torch.from_numpy(vector.astype(np.float32)), parameters)
        for network in networks.values():
            network.eval()
        return networks


class HillClimbLearner(Learner):
    """Steps are games, or single hands. champion: weights [P]; contests: those that it has had, moves: that moved it.

    Whole contests are played, so that a checkpoint may be up to a contest late.
    """

    unit = "games"
    saved = ("champion", "contests", "moves")

    def __init__(
        self,
        options: HillClimbOptions,
        setting: Setting,
        *,
        state: StateOptions,
        discard_network: DiscardNetworkConfig,
        play_network: PlayNetworkConfig,
    ) -> None:
        """As `NetworkClimber`."""
        super().__init__(setting)
        self.options, self.contests, self.moves = options, 0, 0
        self.num_steps, self.checkpoint_every = options.games, options.checkpoint_every
        self.climber = NetworkClimber(options, setting, state, discard_network, play_network)
        start = self.climber.start()
        self.champion = start if options.start == "random" else np.zeros_like(start)

    @property
    def checkpoint_number(self) -> int:
        """Rounded down: a checkpoint that comes late is still that one."""
        return self.steps_done // self.checkpoint_every

    def is_due(self, every: int) -> bool:
        """Also after the contest that a multiple of `every` came in."""
        return self.steps_done % every < 2 * self.options.pairs or self.steps_done >= self.num_steps

    def step(self) -> Metrics:
        """Contests up to the next checkpoint."""
        last, first, contests, moves = self.next_checkpoint(), self.steps_done, self.contests, self.moves
        begin, shares = seconds_running(), []
        while self.learns_until(last):
            shares.append(self.contest())
            self.tick(self.steps_done)
        return {
            "contest/share": float(np.mean(shares)),
            "contest/share_std": float(np.std(shares)),
            "contest/moved": (self.moves - moves) / (self.contests - contests),
            "contest/required": self.options.share,
            "weights/norm": float(np.linalg.norm(self.champion)),
            "speed/games_per_second": (self.steps_done - first) / (seconds_running() - begin),
        }

    def contest(self) -> float:
        """One mutant against the champion, and the champion's move if there is one; returns the mutant's share."""
        options, games = self.options, 2 * self.options.pairs
        generator = np.random.default_rng(derive(self.setting.seed, MINIBATCHES, self.contests))
        mutant = self.champion + options.sigma * generator.standard_normal(self.champion.shape)
        agents = self.climber.agent(mutant), self.climber.agent(self.champion)
        seed, first, dealing = derive(self.setting.seed, SELF_PLAY), self.steps_done // 2, self.setting.dealing
        if options.unit == "hands":
            share = hands_share(agents, options.pairs, seed, first)
        else:
            result = play_match(agents, games, seed, duplicate=True, dealing=dealing, first_game=first)
            share = float((result.winner == 0).mean())
        if share > options.share:
            self.champion = (1 - options.step) * self.champion + options.step * mutant
            self.moves += 1
        self.contests += 1
        self.steps_done += games
        return share

    def description(self) -> str:
        """Games or hands, and moves."""
        return f"{self.steps_done:,} {self.options.unit}, {self.moves:,} moves"

    def agent(self) -> Agent:
        """The champion."""
        return self.climber.agent(self.champion)

    def save(self, path: Path) -> None:
        """Write the champion."""
        metadata = {
            "learner": self.options.name,
            "climb": self.options.climb,
            "unit": self.options.unit,
            "games": self.steps_done,
            "contests": self.contests,
            "moves": self.moves,
            "seed": self.setting.seed,
            "rules": self.setting.dealing,
        }
        self.climber.save(self.champion, path, metadata)


def hands_share(agents: tuple[Agent, Agent], pairs: int, seed: int, first: int = 0) -> float:
    """Share of pairs of single hands at 0-0 that the first agent wins, an equal pair being half won.

    The two hands of a pair have the same cards, each agent once in either seat; it wins that has more points in both
    together, of all kinds. Seat 1 deals every other pair.
    """
    margins = pair_margins(agents, pairs, seed, first)
    return float(((margins > 0) + 0.5 * (margins == 0)).mean())


def pair_margins(agents: tuple[Agent, Agent], pairs: int, seed: int, first: int = 0) -> NDArray[np.int64]:
    """[pairs] the first agent's points minus the second's, in both hands of each pair first, first + 1, .."""
    numbers = first + np.repeat(np.arange(pairs, dtype=np.int64), 2)
    table = Games(numbers, seed, first_dealer=(numbers % 2).astype(np.int8), stop_at_121=False)
    seating = np.tile(np.array([[0, 1], [1, 0]]), (pairs, 1))
    play_hand(table, agents, seating)
    scores = table.state.scores.astype(np.int64)
    margins = np.where(seating[:, 0] == 0, 1, -1) * (scores[:, 0] - scores[:, 1])
    return margins.reshape(pairs, 2).sum(axis=1)
