"""Training of a small network over strategies and score (Lang 2018, section 5.2): Monte Carlo over games.

The value of the score is learned beside, and discards are learned from what it leaves of a game's outcome.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from deepcrib.exact.strategies.discards import SCORES, strategy_codes
from deepcrib.game.engine import Games
from deepcrib.game.observations import DiscardObservation
from deepcrib.game.randomness import MINIBATCHES, NETWORKS, SELF_PLAY, START, below, derive, hash_key
from deepcrib.kernels import Part, jit, seconds_running
from deepcrib.kernels.workers import run_rows
from deepcrib.learners.weighted_network.agent import StrategyNetwork, WeightedNetworkAgent
from deepcrib.learners.weighted_network.options import WeightedNetworkOptions
from deepcrib.matches import Recorder, Rows, play_hand
from deepcrib.networks.checkpoints import load_optimizer
from deepcrib.training.descent import descend, shuffled
from deepcrib.training.learner import Learner, Metrics, Setting

_PLAYERS = 2


Played = tuple[NDArray[np.float32], NDArray[np.float32]]
"""Inputs [E, m + 3] of the discards that were chosen, of both players and in order; [E] 1 where the game was won."""


def play_exploring_games(
    agent: WeightedNetworkAgent, first: int, last: int, seed: int, spread: int, dealing: str = "acc"
) -> tuple[Played, int]:
    """Games first..last - 1 of an agent against itself, to 121; returns its discards and the number of hands played.

    spread: most points between the random scores at the start. The first dealer is drawn by a coin.
    """
    numbers = np.arange(first, last, dtype=np.int64)
    scores, dealers = np.zeros((len(numbers), _PLAYERS), dtype=np.int16), np.zeros(len(numbers), dtype=np.int8)
    run_rows(_draw_starts, len(numbers), numbers, seed, spread, dealers, scores)
    table = Games(numbers, seed, dealing=dealing, first_dealer=dealers)
    table.state.scores[:] = scores
    recorder = _Discards(agent)
    while len(table.unfinished):
        play_hand(table, [agent], np.zeros((len(numbers), _PLAYERS), dtype=np.int64), recorder)
    rows, seats = np.concatenate(recorder.rows), np.concatenate(recorder.seats)
    won = (table.state.winner[rows] == seats).astype(np.float32)
    return (np.concatenate(recorder.inputs), won), int((table.state.hand_number + 1).sum())


class _Discards(Recorder):
    """Keeps the agent's discards of games from their start to their end."""

    def __init__(self, agent: WeightedNetworkAgent) -> None:
        self._agent = agent
        self.inputs: list[NDArray[np.float32]] = []
        self.rows: list[Rows] = []
        self.seats: list[NDArray[np.int8]] = []

    def discards(self, rows: Rows, observation: DiscardObservation, actions: NDArray[np.int8]) -> None:
        self.inputs.append(self._agent.inputs(observation)[np.arange(len(rows)), actions])
        self.rows.append(rows)
        self.seats.append(observation.seat)


@jit
def _draw_starts(
    part: Part, numbers: np.ndarray, seed: int, spread: int, dealers: np.ndarray, scores: np.ndarray
) -> None:
    for r in range(*part):
        key = hash_key(seed, numbers[r], 0, -1, START)
        dealers[r] = below(key, 0, _PLAYERS)
        apart, counter = SCORES, 1
        while apart > spread:
            scores[r, 0] = below(key, counter, SCORES)
            scores[r, 1] = below(key, counter + 1, SCORES)
            apart = abs(scores[r, 0] - scores[r, 1])
            counter += 2


CHARTS = {
    "Learning": {
        "loss": "loss/.*",
        "targets": "target/.*",
        "hands a game": "self_play/hands_per_game",
        "learning rate": "schedule/lr",
    },
    "Throughput": {"games a second": "speed/games_per_second", "share of playing": "speed/playing_share"},
}
"""On the Custom Scalars page of TensorBoard, by category and title: patterns of whole tags."""


class WeightedNetworkLearner(Learner):
    """Steps are games. hands: played so far."""

    unit = "games"
    saved = ("hands",)

    def __init__(self, options: WeightedNetworkOptions, setting: Setting) -> None:
        """Raises OptionError for strategies that there are not."""
        super().__init__(setting)
        self.options, self.hands = options, 0
        self.num_steps, self.checkpoint_every = options.games, options.checkpoint_every
        strategy_codes(options.strategies)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(setting.seed, NETWORKS))
            self.network = StrategyNetwork(len(options.strategies), options.hidden).to(setting.device)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=options.lr, fused=True)

    def step(self) -> Metrics:
        """Play and learn up to the next checkpoint, batch by batch; metrics of the learning are averaged."""
        start, hands, sums, total = self.steps_done, self.hands, Metrics(), 0
        begin, playing = seconds_running(), 0.0
        for first, last in self.pieces(self.options.batch_games):
            before = seconds_running()
            played = self._play(first, last)
            playing += seconds_running() - before
            for name, value in self.learn(played).items():
                sums[name] = sums.get(name, 0.0) + value * len(played[1])
            total += len(played[1])
        seconds, games = seconds_running() - begin, self.steps_done - start
        return {name: value / total for name, value in sums.items()} | {
            "self_play/hands_per_game": (self.hands - hands) / games,
            "speed/games_per_second": games / seconds,
            "speed/playing_share": playing / seconds,
        }

    def _play(self, first: int, last: int) -> Played:
        options, seed = self.options, derive(self.setting.seed, SELF_PLAY)
        agent, dealing = self._player(options.epsilon), self.setting.dealing
        played, hands = play_exploring_games(agent, first, last, seed, options.start_spread, dealing)
        self.hands += hands
        return played

    def learn(self, played: Played) -> Metrics:
        """One pass over discards in random minibatches.

        The value of the score is fitted to the outcomes, what a discard adds to it to what `gain_targets` leaves of
        them. Raises DivergenceError where a loss is no number.
        """
        options, network, device = self.options, self.network, self.setting.device
        rate = options.lr * (1 - self.steps_done / options.games if options.lr_schedule == "linear" else 1.0)
        inputs, won = (torch.from_numpy(array).to(device) for array in played)
        gains = gain_targets(network, inputs, won)

        def losses(rows: NDArray[np.int64]) -> Tensor:
            number = torch.from_numpy(rows).to(device)
            score_error = network.score(inputs[number, network.strategies :]) - won[number]
            gain_error = network.gain(inputs[number]) - gains[number]
            return torch.stack([score_error.square().mean(), gain_error.square().mean()])

        generator = np.random.default_rng(derive(self.setting.seed, MINIBATCHES, self.steps_done))
        minibatches = shuffled(len(won), options.batch_size, generator)
        score_loss, gain_loss = descend(self.optimizer, rate, minibatches, losses)
        return {
            "loss/score": score_loss,
            "loss/gain": gain_loss,
            "target/mean": float(won.mean()),
            "target/gain_std": float(gains.std(correction=0)),
            "schedule/lr": rate,
        }

    def agent(self) -> WeightedNetworkAgent:
        """The player that does not explore, with the network itself."""
        return self._player(epsilon=0.0)

    def _player(self, epsilon: float) -> WeightedNetworkAgent:
        options, setting = self.options, self.setting
        metadata = {"learner": options.name, "games": self.steps_done, "seed": setting.seed, "rules": setting.dealing}
        metadata |= {"target": "win", "returns": "game"}
        strategies = tuple(options.strategies)
        return WeightedNetworkAgent("trained", self.network, strategies, epsilon, setting.device, metadata)

    def state_dict(self) -> dict[str, Any]:
        """The network, its optimiser, and the hands played."""
        learned = {"network": self.network.state_dict(), "optimizer": self.optimizer.state_dict()}
        return super().state_dict() | learned

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over such a network, which PyTorch refuses where it is of another shape."""
        super().load_state_dict(state)
        self.network.load_state_dict(state["network"])
        load_optimizer(self.optimizer, state["optimizer"])


def gain_targets(network: StrategyNetwork, inputs: Tensor, won: Tensor) -> Tensor:
    """[E] what discards are learned from: the outcome, less the network's value of the score that they were made at."""
    with torch.no_grad():
        values: Tensor = network.score(inputs[:, network.strategies :])
    return won - values
