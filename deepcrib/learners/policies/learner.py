"""The part of a learner that is the same for all mixed policies of the play: what is played, saved and shown."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import torch

from deepcrib.agents import kept_spec, make_agent
from deepcrib.agents.policy_network import PolicyNetworkAgent
from deepcrib.agents.q_network import QFunction
from deepcrib.errors import OptionError
from deepcrib.game.randomness import MINIBATCHES, NETWORKS, SELF_PLAY, derive
from deepcrib.kernels import seconds_running
from deepcrib.learners.policies.learning import PolicyAndValues
from deepcrib.learners.policies.options import PolicyOptions
from deepcrib.learners.replay.monitoring import playing_metrics, speed_metrics
from deepcrib.learners.replay.options import StateOptions
from deepcrib.learners.replay.update import LearnedNetwork, untrained
from deepcrib.matches.trajectories import Trajectories
from deepcrib.networks import PlayNetworkConfig
from deepcrib.networks.checkpoints import save_weights
from deepcrib.training.learner import Learner, Metrics, Setting

Learned = TypeVar("Learned", bound=LearnedNetwork)


class PolicyLearner(Learner):
    """Steps are iterations: single hands at 0-0 that both seats play by the learner, then a pass of its networks.

    A play's reward is one's own points less the opponent's, to the end of the play: the game is zero-sum. Plays of an
    only legal card are no decisions. hands: played so far.
    """

    unit = "iterations"
    saved = ("hands",)
    core: PolicyAndValues
    """What learns, which knows nothing of cribbage."""
    options: Any
    """Of the class that the learner has."""

    def __init__(
        self, options: PolicyOptions, setting: Setting, *, state: StateOptions, play_network: PlayNetworkConfig
    ) -> None:
        """Raises OptionError for options that do not go together, and what `make_agent` does."""
        super().__init__(setting)
        self.num_steps, self.checkpoint_every = options.iterations, options.checkpoint_every
        if play_network.head != "value":
            given = f"play_network.head={play_network.head}"
            raise OptionError(f"{given}: read with learner=replay alone, expected head=value here")
        if state.scores:
            raise OptionError(f"state.scores=true: learner={options.name} learns single hands at 0-0, expected false")
        self.options, self._state, self._network, self.hands = options, state, play_network, 0
        self.discards_by = make_agent(options.discard_agent, setting.device)
        self.core = self.make_core()

    @abstractmethod
    def make_core(self) -> PolicyAndValues:
        """What learns, before the first step."""

    def network(self, made: type[Learned], number: int) -> Learned:
        """A new network of the play; each number has weights of its own."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(self.setting.seed, NETWORKS, number))
            return made(*untrained("play", self._state, self._network), torch.device(self.setting.device))

    def step(self) -> Metrics:
        """Play and learn. Raises DivergenceError where a learning rate is too high."""
        setting, iteration, start = self.setting, self.steps_done, seconds_running()
        hands = self.play_hands(iteration * self.options.hands, derive(setting.seed, SELF_PLAY))
        played = seconds_running()
        metrics, samples = self.learn(hands, derive(setting.seed, MINIBATCHES, iteration))
        self.steps_done += 1
        self.hands += len(hands)
        metrics |= playing_metrics(hands)
        metrics |= speed_metrics(len(hands), samples, played - start, seconds_running() - played)
        return metrics | {"progress/hands": float(self.hands)}

    @abstractmethod
    def play_hands(self, first: int, seed: int) -> Trajectories:
        """The hands of an iteration, from number `first` of the run on."""

    @abstractmethod
    def learn(self, hands: Trajectories, seed: int) -> tuple[Metrics, int]:
        """A pass of each network; returns metrics and the number of decisions learned from."""

    @abstractmethod
    def policy(self) -> QFunction:
        """Logits of the agent's policy."""

    def agent(self) -> PolicyNetworkAgent:
        """The policy as it now is."""
        return PolicyNetworkAgent(self.policy(), self.discards_by, "training")

    def left(self) -> float:
        """The share of the iterations that is still to come: what rates fall with."""
        return 1 - self.steps_done / self.num_steps

    def save(self, path: Path) -> None:
        """Write the policy."""
        discards_by = kept_spec(self.options.discard_agent, path.parent)
        own = {"iteration": self.steps_done, "hands": self.hands, "discards_by": discards_by}
        save_weights(path, self.setting.metadata(self.options.name, **own), policy=self.policy().network)

    def state_dict(self) -> dict[str, Any]:
        """Networks and what is remembered."""
        return super().state_dict() | {"core": self.core.state()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over a saved state. Raises ValueError for one of other options."""
        super().load_state_dict(state)
        self.core.load(state["core"])
