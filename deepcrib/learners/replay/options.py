"""Options of `learner=replay` and of the groups that it alone reads.

Defaults are those of Bélanger et al. 2019 (sections 3.2 and 4.1) unless their help says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from deepcrib.options import at_least, between, fraction, named_in, one_of, option, optional, positive
from deepcrib.training.options import LearnerOptions, unread_options


@dataclass
class AlgorithmOptions:
    """Group `algorithm`: how a play's target is formed (section 3.7.2; docs/learning_options.md for all but `name`)."""

    name: str = option(
        "monte_carlo", "target of a play, or module:name", named_in("deepcrib.learners.replay.targets:ALGORITHMS")
    )
    n_steps: int = option(1, "steps before bootstrapping from the network; 4 and more: the return", at_least(1))
    trace_decay: float = option(
        0.0, "lambda of the lambda-return, instead of n_steps: 0 one step, 1 the return", between(0, 1)
    )
    double: bool = option(False, "double Q-learning: the play network chooses, that of learner.target_every values")


@dataclass
class RewardOptions:
    """Group `reward`: points as seen by the learner (`rewards.play_rewards`, `rewards.discard_returns`).

    discard_baseline: takes the points of the opponent's hand, which no discard of one's own can change, out of
        `difference` again: the same order of choices from returns with half the variance (with `state.scores` not quite
        so where a game may end before that hand is counted).
    """

    play: str = option(
        "offensive_defensive",
        "what a play is rewarded with, or module:function",
        named_in("deepcrib.learners.replay.rewards:PLAY_REWARDS"),
    )
    discard: str = option(
        "own",
        "return of a discard: own points of the hand, `difference` to the opponent's, or module:function",
        named_in("deepcrib.learners.replay.rewards:DISCARD_REWARDS"),
    )
    discard_baseline: bool = option(False, "only for `difference`")
    game_bonus: float = option(0.0, "bonus for the winner at the end of a game, points", at_least(0))
    hand_bonus: float = option(0.0, "bonus for the most play points, at the end of a hand's play, points", at_least(0))


@dataclass
class StateOptions:
    """Group `state`: which encoder each network reads, and its optional channels."""

    play: str = option(
        "basic",
        "encoder of the play network's input, or module:name",
        named_in("deepcrib.networks.encoders:PLAY_ENCODERS"),
    )
    discard: str = option(
        "basic",
        "encoder of the discard network's input, or module:name",
        named_in("deepcrib.networks.encoders:DISCARD_ENCODERS"),
    )
    dealer: bool = option(False, "dealer flag in the play state (our states and all of discards have it anyway)")
    scores: bool = option(False, "both players' scores, in both states; experience then ends where a game is won")


class Schedule(NamedTuple):
    """Of an iteration: epsilon, and the learning rates of the two networks."""

    epsilon: float
    discard_lr: float
    play_lr: float


@dataclass
class ReplayOptions(LearnerOptions):
    """`learner=replay`: the replay iteration (section 3.2)."""

    name: str = option("replay", "what learns")
    iterations: int = option(500, "iterations of self-play and learning", at_least(1))
    unit: str = option(
        "games", "what `episodes` counts: games (to 121) or single hands (scores 0-0)", one_of("games", "hands")
    )
    episodes: int = option(200, "games or hands of self-play per iteration (N of the 2019 paper)", at_least(1))
    epochs_kept: int = option(5, "iterations whose experience the buffer holds (P of the 2019 paper)", at_least(1))
    buffer_size: int | None = option(
        None, "capacity of the buffer in plays, in place of epochs_kept (unit=hands alone)", optional(at_least(1))
    )
    replacement: float | None = option(
        None, "with buffer_size, in place of episodes: share of it replaced per iteration", optional(fraction)
    )
    batch_size: int = option(64, "experiences in a minibatch", at_least(1))
    passes: float = option(1.0, "passes over the buffer per iteration", positive)
    sampling: str = option(
        "uniform", "without replacement; or `prioritised`: in proportion to errors", one_of("uniform", "prioritised")
    )
    priority_exponent: float = option(0.6, "`prioritised`: alpha, 0 uniform, 1 fully proportional", between(0, 1))
    importance_exponent: float = option(
        0.4, "`prioritised`: beta of the importance weights in the first iteration", between(0, 1)
    )
    final_importance_exponent: float = option(
        1.0, "`prioritised`: beta in the last iteration, linear in between", between(0, 1)
    )
    combined: bool = option(False, "add a share of the newest epoch to each minibatch")
    target_every: int = option(
        1, "iterations between updates of the target network; 1: targets use the present network", at_least(1)
    )
    forced: bool = option(True, "also learn from plays of the only legal card")
    epsilon: float = option(0.05, "exploration; multiplied by epsilon_decay after every iteration", between(0, 1))
    epsilon_decay: float = option(0.995, "factor of epsilon per iteration", fraction)
    temperature: float = option(
        0.0, "softmax temperature of self-play, points; 0: the best card is played", at_least(0)
    )
    discard_lr: float = option(
        5e-5, "learning rate of the discard network; multiplied by lr_decay after every iteration", positive
    )
    play_lr: float = option(7e-4, "learning rate of the play network; likewise", positive)
    lr_decay: float = option(0.99, "factor of both learning rates per iteration", fraction)
    lr_schedule: str = option(
        "exponential",
        "of both learning rates; or `linear`: down to 0 at the last iteration, without lr_decay",
        one_of("exponential", "linear"),
    )
    discard_agent: Any = option(None, "agent that discards; only the play is learned", spec=True)
    initial: Any = option(
        None,
        "agent whose weights the networks begin with, in place of pretraining: its name, or its run folder",
        spec=True,
    )
    checkpoint_every: int = option(10, "iterations between saved training states", at_least(1))
    # Whom the learner meets beside itself (Lang 2018, section 5.1); the numbers are ours.
    opponents: list[Any] = option([], "agents, and `past`: past checkpoints of this run", spec=True)
    opponent_share: float = option(
        0.5, "share of episodes against a random one of them; the rest is self-play", fraction
    )
    past_every: int = option(10, "iterations between checkpoints that join the past ones", at_least(1))
    past_kept: int = option(10, "number of past checkpoints kept, the newest", at_least(1))
    priming: list[Any] = option([], "agents that are met in every episode of the first priming_iterations", spec=True)
    priming_iterations: int = option(0, "iterations against `priming`", at_least(0))

    def schedule(self, iteration: int) -> Schedule:
        """What iteration number `iteration`, counted from 0, explores and learns with."""
        linear = self.lr_schedule == "linear"
        factor = 1 - iteration / self.iterations if linear else self.lr_decay**iteration
        return Schedule(self.epsilon * self.epsilon_decay**iteration, self.discard_lr * factor, self.play_lr * factor)


# --- what does not go together ----------------------------------------------------------------------------------------


def contradictions(algorithm: AlgorithmOptions, reward: RewardOptions, learner: ReplayOptions) -> Iterator[str]:
    """A line for each of the options that contradict each other, or that others leave without effect."""
    if algorithm.name == "monte_carlo":
        bootstrapping = "algorithm=sarsa, expected_sarsa and q_learning"
        yield from unread_options(algorithm, ("n_steps", "trace_decay"), bootstrapping, "algorithm")
        yield from unread_options(learner, ("target_every",), bootstrapping)
    if learner.sampling != "prioritised":
        exponents = ("priority_exponent", "importance_exponent", "final_importance_exponent")
        yield from unread_options(learner, exponents, "learner.sampling=prioritised")
    if algorithm.n_steps != 1 and algorithm.trace_decay:
        values = f"algorithm.n_steps={algorithm.n_steps} algorithm.trace_decay={algorithm.trace_decay}"
        yield f"{values}: expected n_steps=1 or trace_decay=0"
    if algorithm.double and (algorithm.name != "q_learning" or learner.target_every == 1):
        values = f"algorithm.double=true algorithm={algorithm.name} learner.target_every={learner.target_every}"
        yield f"{values}: expected q_learning and 2 or more, for a second network to value what the first one chooses"
    if learner.temperature and algorithm.name == "expected_sarsa":
        values = f"learner.temperature={learner.temperature} algorithm=expected_sarsa"
        yield f"{values}: expected temperature=0, its mean is that of the epsilon-greedy policy"
    if learner.combined and learner.sampling == "prioritised":
        yield "learner.combined=true learner.sampling=prioritised: expected one of the two"
    if (learner.buffer_size is None) != (learner.replacement is None):
        values = f"learner.buffer_size={learner.buffer_size} learner.replacement={learner.replacement}"
        yield f"{values}: expected both, or neither"
    if bool(learner.priming) != bool(learner.priming_iterations):
        values = f"learner.priming={learner.priming} learner.priming_iterations={learner.priming_iterations}"
        yield f"{values}: expected agents and a number of iterations, or neither"
    if reward.game_bonus and (learner.unit == "hands" or learner.buffer_size is not None):
        expected = "expected learner.unit=games and no learner.buffer_size"
        yield f"reward.game_bonus={reward.game_bonus:g}: nobody wins a game in single hands, {expected}"
