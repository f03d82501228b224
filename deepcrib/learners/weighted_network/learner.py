"""Training of a small network over strategies and score (Lang 2018, section 5.2): Monte Carlo over games.

The value of the score is learned beside, and discards are learned from what it leaves of a game's outcome.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from deepcrib.agents import DivergenceError, make_agent
from deepcrib.exact.strategies.discards import strategy_codes
from deepcrib.game.randomness import MINIBATCHES, NETWORKS, SELF_PLAY, derive
from deepcrib.kernels import seconds_running
from deepcrib.learners.weighted_network.agent import WeightedNetworkAgent
from deepcrib.learners.weighted_network.games import FROM_ZERO, Decisions, play_games
from deepcrib.learners.weighted_network.network import StrategyNetwork
from deepcrib.learners.weighted_network.options import WeightedNetworkOptions
from deepcrib.training.learner import Learner, Metrics, Setting


class WeightedNetworkLearner(Learner):
    """Steps are games. hands: played so far."""

    unit = "games"

    def __init__(self, options: WeightedNetworkOptions, setting: Setting) -> None:
        """Raises OptionError for strategies that there are not, AgentError for such an opponent."""
        super().__init__(setting)
        self.options = options
        self.num_steps, self.checkpoint_every = options.games, options.checkpoint_every
        strategy_codes(options.strategies)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(setting.seed, NETWORKS))
            self.network = StrategyNetwork(len(options.strategies), options.hidden).to(setting.device)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=options.lr, fused=True)
        self._opponent = None if options.opponent is None else make_agent(options.opponent, setting.device)
        self.hands = 0

    def step(self) -> Metrics:
        """Play and learn up to the next checkpoint, batch by batch; metrics of the learning are averaged."""
        last, first, hands, sums, total = self.next_checkpoint(), self.steps_done, self.hands, Metrics(), 0
        begin, playing = seconds_running(), 0.0
        while self.learns_until(last):
            start = seconds_running()
            decisions, end = self._play(last)
            playing += seconds_running() - start
            for name, value in self.learn(decisions).items():
                sums[name] = sums.get(name, 0.0) + value * len(decisions)
            total += len(decisions)
            self.steps_done = end
            self.tick(end)
        seconds = seconds_running() - begin
        return {name: value / total for name, value in sums.items()} | {
            "self_play/hands_per_game": (self.hands - hands) / (self.steps_done - first),
            "speed/games_per_second": (self.steps_done - first) / seconds,
            "speed/playing_share": playing / seconds,
        }

    def _play(self, last: int) -> tuple[Decisions, int]:
        """A batch of games, up to game `last` at most; returns what was decided in them, and where they ended."""
        options, seed = self.options, derive(self.setting.seed, SELF_PLAY)
        end = min(self.steps_done + options.batch_games, last)
        decisions, hands = play_games(
            self._player(options.epsilon),
            self._opponent,
            self.steps_done,
            end,
            seed,
            spread=options.start_spread if options.exploring_starts else FROM_ZERO,
            dealing=self.setting.dealing,
        )
        self.hands += hands
        return decisions, end

    def learn(self, decisions: Decisions) -> Metrics:
        """One pass over decisions in random minibatches.

        The value of the score is fitted to the outcomes, what a discard adds to it to `gain_targets`. Raises
        DivergenceError where a loss is no number.
        """
        options, network, device = self.options, self.network, self.setting.device
        rate = options.lr * (1 - self.steps_done / options.games if options.lr_schedule == "linear" else 1.0)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        inputs = torch.from_numpy(decisions.inputs).to(device)
        outcomes = torch.from_numpy(_outcomes(decisions, options.target)).to(device)
        gains = torch.from_numpy(gain_targets(network, decisions, options.target, options.returns)).to(device)
        weights = torch.from_numpy(((1 - options.decay) ** decisions.hands_left).astype(np.float32)).to(device)
        generator = np.random.default_rng(derive(self.setting.seed, MINIBATCHES, self.steps_done))
        order = torch.from_numpy(generator.permutation(len(decisions))).to(device)
        sums = torch.zeros(2, dtype=torch.float64, device=device)
        for rows in order.split(options.batch_size):
            score_loss = _loss(network.score(inputs[rows, network.strategies :]), outcomes[rows], weights[rows])
            gain_loss = _loss(network.gain(inputs[rows]), gains[rows], weights[rows])
            self.optimizer.zero_grad(set_to_none=True)
            (score_loss + gain_loss).backward()
            self.optimizer.step()
            sums += torch.stack([score_loss.detach(), gain_loss.detach()]) * len(rows)
        score_mean, gain_mean = (sums / len(decisions)).tolist()
        if not math.isfinite(score_mean + gain_mean):
            raise DivergenceError(f"learning diverged: a loss is not finite at learning rate {rate:g}; lower it")
        return {
            "loss/score": score_mean,
            "loss/gain": gain_mean,
            "target/mean": float(outcomes.mean()),
            "target/gain_std": float(gains.std(correction=0)),
            "schedule/lr": rate,
        }

    def agent(self) -> WeightedNetworkAgent:
        """The player that does not explore, with the network itself."""
        return self._player(epsilon=0.0)

    def _player(self, epsilon: float) -> WeightedNetworkAgent:
        options, setting = self.options, self.setting
        metadata = {
            "learner": options.name,
            "games": self.steps_done,
            "seed": setting.seed,
            "rules": setting.dealing,
            "target": options.target,
            "returns": options.returns,
        }
        return WeightedNetworkAgent(
            "trained", self.network, tuple(options.strategies), epsilon, setting.device, metadata
        )

    def save(self, path: Path) -> None:
        """Write the network."""
        self.agent().save(path)

    def state_dict(self) -> dict[str, Any]:
        """The network, its optimiser, and the hands played."""
        network, optimizer = self.network.state_dict(), self.optimizer.state_dict()
        return {"network": network, "optimizer": optimizer, "hands": self.hands}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over such a network, which PyTorch refuses where it is of another shape."""
        self.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.hands = state["hands"]

    def description(self) -> str:
        """Games and hands."""
        return f"{super().description()}, {self.hands:,} hands"


def gain_targets(network: StrategyNetwork, decisions: Decisions, target: str, returns: str) -> NDArray[np.float32]:
    """[E] what discards are learned from: the return, less the network's value of the score that they were made at.

    The return is the game's outcome, or with `returns` "hand" the value of the score at which the player discards next.
    All that a hand leaves behind is the score, so that this is the mean outcome of every game that stood there; only
    the last hand of a game has the outcome itself.
    """
    device = next(network.parameters()).device
    with torch.no_grad():
        scores = torch.from_numpy(decisions.inputs[:, network.strategies :]).to(device)
        values = network.score(scores).cpu().numpy()
    outcomes = _outcomes(decisions, target)
    if returns == "hand":
        outcomes = np.where(decisions.following < 0, outcomes, values[decisions.following])
    return outcomes - values


def _outcomes(decisions: Decisions, target: str) -> NDArray[np.float32]:
    return decisions.won if target == "win" else decisions.margin


def _loss(values: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    return (weights * (values - targets).square()).mean()
