"""Training of a small network over strategies and score (Lang 2018, section 5.2): Monte Carlo over games.

The value of the score is learned beside, and discards are learned from what it leaves of a game's outcome.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from deepcrib.agents import Agent, DivergenceError, make_agent
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
from deepcrib.training.learner import Learner, Metrics, Setting

PLAYERS = 2
LEARNER = 0
"""The learner's place among the agents of a table; the opponent, if there is one, has the next."""
FROM_ZERO = -1
"""A spread of starting scores: games start at 0-0."""


@dataclass(frozen=True)
class Decisions:
    """E discards of the learner, in the order in which they were made, and the outcomes of their games.

    inputs: float32 [E, m + 3], of the discard that was chosen. following: [E], the number of the same player's next
    decision of the game, -1 for none. hands_left: [E], hands of the game after this one. won: float32 [E], 1 or 0.
    margin: float32 [E], own minus opponent's final score, points.
    """

    inputs: NDArray[np.float32]
    following: NDArray[np.int64]
    hands_left: NDArray[np.int64]
    won: NDArray[np.float32]
    margin: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.inputs)


def play_games(
    agent: WeightedNetworkAgent,
    opponent: Agent | None,
    first: int,
    last: int,
    seed: int,
    *,
    spread: int = FROM_ZERO,
    dealing: str = "acc",
) -> tuple[Decisions, int]:
    """Play games first..last - 1 to 121, and return the agent's discards with the number of hands played.

    opponent: None for self-play, whose discards are both players'; else the agent sits at seat 0 of even games.
    spread: most points between the random scores at the start, or FROM_ZERO. The first dealer is drawn by a coin.
    """
    numbers = np.arange(first, last, dtype=np.int64)
    scores, dealers = np.zeros((len(numbers), PLAYERS), dtype=np.int16), np.zeros(len(numbers), dtype=np.int8)
    run_rows(_draw_starts, len(numbers), numbers, seed, spread, dealers, scores)
    table = Games(numbers, seed, dealing=dealing, first_dealer=dealers)
    table.state.scores[:] = scores
    agents: Sequence[Agent] = [agent] if opponent is None else [agent, opponent]
    seating = np.full((len(numbers), PLAYERS), LEARNER)
    if opponent is not None:
        seating = (np.arange(PLAYERS) + numbers[:, None]) % PLAYERS
    recorder = _Discards(agent, table, seating)
    while len(table.unfinished):
        play_hand(table, agents, seating, recorder)
    return recorder.decisions(), int((table.state.hand_number + 1).sum())


class _Discards(Recorder):
    """Keeps the learner's discards of games from their start to their end."""

    def __init__(self, agent: WeightedNetworkAgent, table: Games, seating: NDArray[np.int64]) -> None:
        self._agent, self._table, self._seating = agent, table, seating
        self._inputs: list[NDArray[np.float32]] = []
        self._rows: list[Rows] = []
        self._seats: list[NDArray[np.int8]] = []
        self._hands: list[NDArray[np.int64]] = []

    def discards(self, rows: Rows, observation: DiscardObservation, actions: NDArray[np.int8]) -> None:
        mine = np.flatnonzero(self._seating[rows, observation.seat] == LEARNER)
        if len(mine):
            self._inputs.append(self._agent.inputs(observation.take(mine))[np.arange(len(mine)), actions[mine]])
            self._rows.append(rows[mine])
            self._seats.append(observation.seat[mine])
            self._hands.append(self._table.state.hand_number[rows[mine]].astype(np.int64))

    def decisions(self) -> Decisions:
        """All of them, once the games are over."""
        state = self._table.state
        rows, seats, hands = np.concatenate(self._rows), np.concatenate(self._seats), np.concatenate(self._hands)
        last, following = np.full((len(self._table), PLAYERS), -1), np.empty(len(rows), dtype=np.int64)
        end = len(rows)
        for part in reversed(self._rows):
            mine = slice(end - len(part), end)
            following[mine] = last[rows[mine], seats[mine]]
            last[rows[mine], seats[mine]] = np.arange(mine.start, mine.stop)
            end = mine.start
        margin = state.scores[rows, seats] - state.scores[rows, 1 - seats]
        return Decisions(
            inputs=np.concatenate(self._inputs),
            following=following,
            hands_left=state.hand_number[rows] - hands,
            won=(state.winner[rows] == seats).astype(np.float32),
            margin=margin.astype(np.float32),
        )


@jit
def _draw_starts(
    part: Part, numbers: np.ndarray, seed: int, spread: int, dealers: np.ndarray, scores: np.ndarray
) -> None:
    for r in range(*part):
        key = hash_key(seed, numbers[r], 0, -1, START)
        dealers[r] = below(key, 0, PLAYERS)
        counter = 1
        while spread >= 0:
            scores[r, 0] = below(key, counter, SCORES)
            scores[r, 1] = below(key, counter + 1, SCORES)
            counter += 2
            if abs(scores[r, 0] - scores[r, 1]) <= spread:
                break


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
        load_optimizer(self.optimizer, state["optimizer"])
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
