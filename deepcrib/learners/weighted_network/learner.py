"""Training of a small network over strategies and score (Lang 2018, section 5.2): Monte Carlo over games.

The value of the score is learned beside, and discards are learned from what it leaves of a game's outcome.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from deepcrib.agents import Agent, DivergenceError, make_agent, name_agents
from deepcrib.exact.strategies.discards import strategy_codes
from deepcrib.files.weights import WEIGHTS_FILE
from deepcrib.game.randomness import MINIBATCHES, NETWORKS, SELF_PLAY, derive
from deepcrib.kernels import seconds_running
from deepcrib.learners.weighted_network.agent import WeightedNetworkAgent
from deepcrib.learners.weighted_network.games import FROM_ZERO, Decisions, play_games
from deepcrib.learners.weighted_network.network import StrategyNetwork
from deepcrib.learners.weighted_network.options import WeightedNetworkOptions
from deepcrib.training.checkpointing import (
    STATE_FILE,
    Match,
    Progress,
    fitting_state,
    monitor,
    next_checkpoint,
    save_and_measure,
    weights_file,
)
from deepcrib.training.options import EvaluationOptions


class Settings(Protocol):
    """What the training reads: the config of the job `train`."""

    seed: int
    device: str
    learner: WeightedNetworkOptions
    evaluation: EvaluationOptions


@dataclass
class LearnerState:
    """The network, its optimiser, the fixed opponent if there is one, and how far they are."""

    network: StrategyNetwork
    optimizer: torch.optim.Optimizer
    opponent: Agent | None
    games: int = 0
    hands: int = 0
    seconds: float = 0.0

    def state(self) -> dict[str, Any]:
        """For `checkpoints.save_state`."""
        figures = {"games": self.games, "hands": self.hands, "seconds": self.seconds}
        return {"network": self.network.state_dict(), "optimizer": self.optimizer.state_dict()} | figures

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a saved state."""
        self.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.games, self.hands, self.seconds = state["games"], state["hands"], state["seconds"]


@dataclass
class WeightedNetworkResult:
    """The trained agent, what it took, and the file of its weights."""

    agent: WeightedNetworkAgent
    games: int
    hands: int
    seconds: float
    weights: Path


def prepare(settings: Settings, state: Path | None = None) -> LearnerState:
    """The network of a new run, or of the training state in a file.

    Raises OptionError for strategies that there are not, AgentError for such an opponent, CheckpointError for a state
    that cannot be read or does not fit the options.
    """
    options = settings.learner
    strategy_codes(options.strategies)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive(settings.seed, NETWORKS))
        network = StrategyNetwork(len(options.strategies), options.hidden).to(settings.device)
    optimizer = torch.optim.Adam(network.parameters(), lr=options.lr, fused=True)
    opponent = None if options.opponent is None else make_agent(options.opponent, settings.device)
    run = LearnerState(network, optimizer, opponent)
    if state is not None:
        with fitting_state(state) as saved:
            run.load(saved)
    return run


def train(
    settings: Settings,
    folder: Path,
    match: Match,
    *,
    dealing: str = "acc",
    writer: Any = None,
    progress: Progress | None = None,
    resume: bool = False,
) -> WeightedNetworkResult:
    """Train the network, with checkpoints; with `resume`, from the state in the folder.

    match(agent, opponent, games, seed) measures the agent at every `evaluation.every`-th checkpoint; writer is a
    TensorBoard SummaryWriter or None. The same seed gives the same weights. Raises as `prepare` does, and
    DivergenceError where the learning rate is too high.
    """
    run = prepare(settings, folder / STATE_FILE if resume else None)
    opponents = name_agents([make_agent(spec, settings.device) for spec in settings.evaluation.opponents])
    options = settings.learner
    if run.games == 0:
        _save(run, settings, folder, dealing)
    begin = time.perf_counter() - run.seconds
    while run.games < options.games:
        last = next_checkpoint(run.games, options.checkpoint_every, options.games)
        figures = _train_to(run, last, settings, dealing, progress)
        run.seconds = time.perf_counter() - begin
        _save(run, settings, folder, dealing)
        number = -(-run.games // options.checkpoint_every)
        matches = partial(monitor, settings, number, partial(_agent, run, settings, dealing), opponents, match)
        state = run.state()
        figures = save_and_measure(folder, run.games, state, figures, matches, writer)
        if progress is not None:
            progress(run.games, figures)
    agent, weights = _agent(run, settings, dealing), folder / WEIGHTS_FILE
    agent.save(weights)
    return WeightedNetworkResult(agent, run.games, run.hands, run.seconds, weights)


def _train_to(
    run: LearnerState, last: int, settings: Settings, dealing: str, progress: Progress | None
) -> dict[str, float]:
    """Play and learn up to game `last`, batch by batch; returns figures of the learning, averaged, and of the speed."""
    options, sums = settings.learner, dict[str, float]()
    spread = options.start_spread if options.exploring_starts else FROM_ZERO
    first, hands, playing, begin, total = run.games, run.hands, 0.0, seconds_running(), 0
    while run.games < last:
        end = min(run.games + options.batch_games, last)
        start = seconds_running()
        agent = _agent(run, settings, dealing, options.epsilon)
        seed = derive(settings.seed, SELF_PLAY)
        decisions, played = play_games(agent, run.opponent, run.games, end, seed, spread=spread, dealing=dealing)
        playing += seconds_running() - start
        for name, value in learn(run, decisions, settings).items():
            sums[name] = sums.get(name, 0.0) + value * len(decisions)
        total += len(decisions)
        run.games, run.hands = end, run.hands + played
        if progress is not None:
            progress(run.games, {})
    seconds = seconds_running() - begin
    return {name: value / total for name, value in sums.items()} | {
        "self_play/hands_per_game": (run.hands - hands) / (last - first),
        "speed/games_per_second": (last - first) / seconds,
        "speed/playing_share": playing / seconds,
    }


def learn(run: LearnerState, decisions: Decisions, settings: Settings) -> dict[str, float]:
    """One pass over decisions in random minibatches; returns figures by TensorBoard tag.

    The value of the score is fitted to the outcomes, what a discard adds to it to `gain_targets`. Raises
    DivergenceError where a loss is no number.
    """
    options, network, device = settings.learner, run.network, settings.device
    rate = options.lr * (1 - run.games / options.games if options.lr_schedule == "linear" else 1.0)
    for group in run.optimizer.param_groups:
        group["lr"] = rate
    inputs = torch.from_numpy(decisions.inputs).to(device)
    outcomes = torch.from_numpy(_outcomes(decisions, options)).to(device)
    gains = torch.from_numpy(gain_targets(network, decisions, options)).to(device)
    weights = torch.from_numpy(((1 - options.decay) ** decisions.hands_left).astype(np.float32)).to(device)
    generator = np.random.default_rng(derive(settings.seed, MINIBATCHES, run.games))
    order = torch.from_numpy(generator.permutation(len(decisions))).to(device)
    sums = torch.zeros(2, dtype=torch.float64, device=device)
    for rows in order.split(options.batch_size):
        score_loss = _loss(network.score(inputs[rows, network.strategies :]), outcomes[rows], weights[rows])
        gain_loss = _loss(network.gain(inputs[rows]), gains[rows], weights[rows])
        run.optimizer.zero_grad(set_to_none=True)
        (score_loss + gain_loss).backward()
        run.optimizer.step()
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


def gain_targets(
    network: StrategyNetwork, decisions: Decisions, options: WeightedNetworkOptions
) -> NDArray[np.float32]:
    """[E] what discards are learned from: the return, less the network's value of the score that they were made at.

    The return is the game's outcome, or with `returns: hand` the value of the score at which the player discards next.
    All that a hand leaves behind is the score, so that this is the mean outcome of every game that stood there; only
    the last hand of a game has the outcome itself.
    """
    device = next(network.parameters()).device
    with torch.no_grad():
        scores = torch.from_numpy(decisions.inputs[:, network.strategies :]).to(device)
        values = network.score(scores).cpu().numpy()
    outcomes = _outcomes(decisions, options)
    if options.returns == "hand":
        outcomes = np.where(decisions.following < 0, outcomes, values[decisions.following])
    return outcomes - values


def _outcomes(decisions: Decisions, options: WeightedNetworkOptions) -> NDArray[np.float32]:
    return decisions.won if options.target == "win" else decisions.margin


def _loss(values: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    return (weights * (values - targets).square()).mean()


def _agent(run: LearnerState, settings: Settings, dealing: str, epsilon: float = 0.0) -> WeightedNetworkAgent:
    options = settings.learner
    metadata = {
        "learner": options.name,
        "games": run.games,
        "seed": settings.seed,
        "rules": dealing,
        "target": options.target,
        "returns": options.returns,
    }
    return WeightedNetworkAgent("trained", run.network, tuple(options.strategies), epsilon, settings.device, metadata)


def _save(run: LearnerState, settings: Settings, folder: Path, dealing: str) -> None:
    """The weights after so many games, in the folder of checkpoints."""
    _agent(run, settings, dealing).save(weights_file(folder, f"games_{run.games:08d}"))
