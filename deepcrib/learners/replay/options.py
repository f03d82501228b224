"""Options of `learner=replay` and of the groups that it alone reads.

Defaults are those of Bélanger et al. 2019 (sections 3.2 and 4.1) unless a comment says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from deepcrib.training.options import LearnerOptions

ALGORITHMS = ("monte_carlo", "sarsa", "expected_sarsa", "q_learning")


DISCARD_REWARDS = ("own", "difference")


PRETRAINING_OPTIMIZERS = ("adam", "sgd")


@dataclass
class AlgorithmOptions:
    """Group `algorithm`: how a play's target is formed (section 3.7.2; docs/learning_options.md for all but `name`)."""

    name: str = "monte_carlo"
    n_steps: int = 1  # own plays ahead at which the network's word is taken; 4 and more: the return
    trace_decay: float = 0.0  # lambda of the lambda-return, instead of n_steps: 0 one step, 1 the return
    double: bool = False  # of q_learning: the play network chooses, the one of learner.target_every values


@dataclass
class RewardOptions:
    """Group `reward`: points as seen by the learner.

    play: one of `rewards.PLAY_REWARDS`, given to every play.
    discard: `own` = own play, hand and (dealer) crib points (section 3.6.1); `difference` = own minus the
        opponent's, with the crib for its owner.
    discard_baseline: takes the points of the opponent's hand, which no discard of one's own can change, out of
        `difference` again: the same order of choices from returns with half the variance (with `state.scores` not quite
        so where a game may end before that hand is counted).
    game_bonus: for winning the game, with the winner's last card and with its discard of that hand (section 5).
    hand_bonus: for the most points in the play of a hand, half of it for as many, with one's last card.
    """

    play: str = "offensive_defensive"
    discard: str = "own"
    discard_baseline: bool = False  # of `difference` only
    game_bonus: float = 0.0  # points added for the winner at the end of a game
    hand_bonus: float = 0.0  # points added for the most play points, at the end of a hand's play


@dataclass
class StateOptions:
    """Group `state`: which encoder each network reads, and its optional channels."""

    play: str = "basic"
    discard: str = "basic"
    dealer: bool = False  # dealer flag in play states basic and full (all other states have it)
    scores: bool = False  # both players' scores, in both states; experience then ends where a game is won


@dataclass
class ReplayOptions(LearnerOptions):
    """`learner=replay`: the replay iteration (section 3.2)."""

    name: str = "replay"
    iterations: int = 500
    unit: str = "games"  # what `episodes` counts: games (to 121) or single hands (scores 0-0)
    episodes: int = 200  # N, played by self-play in every iteration
    epochs_kept: int = 5  # P, iterations of experience in the buffer
    buffer_size: int | None = None  # instead of N and P: play experiences held (of single hands) ...
    replacement: float | None = None  # ... and the share of them replaced in every iteration
    batch_size: int = 64
    passes: float = 1.0  # over the buffer, in every iteration
    sampling: str = "uniform"  # of minibatches, without replacement; or `prioritised`: in proportion to errors
    priority_exponent: float = 0.6  # alpha of `prioritised`: 0 all alike, 1 in full proportion
    importance_exponent: float = 0.4  # beta of its weights in the first iteration ...
    final_importance_exponent: float = 1.0  # ... and in the last one, in a straight line between
    combined: bool = False  # each minibatch has its share of the newest epoch besides its uniform samples
    target_every: int = 1  # iterations that the network in the targets stays the same; 1: it is the present one
    forced: bool = True  # learn from plays of the only legal card too
    epsilon: float = 0.05
    epsilon_decay: float = 0.995  # a factor, per iteration
    discard_lr: float = 5e-5
    play_lr: float = 7e-4
    lr_decay: float = 0.99  # a factor, per iteration, of both learning rates
    lr_schedule: str = "exponential"  # or `linear`: down to 0 at the last iteration (lr_decay unused)
    inference: str = "float32"  # or `bfloat16`: of networks in self-play and targets, never in learning or matches
    discard_agent: Any = None  # agent spec: discards are its, only the play is learned
    checkpoint_every: int = 10  # iterations between two saved training states
    # Whom the learner meets beside itself (Lang 2018, section 5.1); the numbers are ours.
    opponents: list[Any] = field(default_factory=list)  # agent specs, and `past`: past checkpoints of this run
    opponent_share: float = 0.5  # of the episodes, against one of them by chance; the others are self-play
    past_every: int = 10  # iterations between two checkpoints that join the past ones
    past_kept: int = 10  # past checkpoints, the newest
    priming: list[Any] = field(default_factory=list)  # agent specs: who is met in every episode of the first ...
    priming_iterations: int = 0  # ... so many iterations

    def schedule(self, iteration: int) -> tuple[float, float, float]:
        """(epsilon, discard learning rate, play learning rate) of an iteration, counted from 0."""
        linear = self.lr_schedule == "linear"
        factor = 1 - iteration / self.iterations if linear else self.lr_decay**iteration
        return self.exploration(iteration), self.discard_lr * factor, self.play_lr * factor

    def exploration(self, iteration: int) -> float:
        """Epsilon of an iteration, counted from 0."""
        return self.epsilon * self.epsilon_decay**iteration


@dataclass
class PretrainingOptions:
    """What is learned before the first iteration.

    The discard network learns the show value of every four-card hand (section 3.6.4); with a teacher, both networks
    learn what its decisions are worth (O'Connor 2000 names experts as the alternative to self-play).
    """

    enabled: bool = True
    epochs: int = 3
    batch_size: int = 64
    optimizer: str = "adam"  # with a warm-up and a cosine; or the authors' `sgd`: momentum 0.9, a constant rate
    lr: float = 1e-3
    starter: bool = False  # true: value with a random starter (figure 6)
    teacher: Any = None  # agent spec: its games against itself are learned from after that, `enabled` or not
    teacher_episodes: int = 2000  # of these games, or single hands, as learner.unit says
    teacher_epsilon: float = 0.1  # chance of any legal choice in them, so that others than its own have values too
