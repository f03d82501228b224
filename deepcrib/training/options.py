"""What a training run can be told: plain dataclasses, the schema of `conf/train.yaml` and its groups.

They stand apart from the code they configure because the loop, pretraining and the jobs share them.
Defaults are those of Bélanger et al. 2019 (sections 3.2 and 4.1) unless a comment says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from deepcrib.errors import OptionError
from deepcrib.exact.strategies.names import THESIS_STRATEGIES
from deepcrib.networks import DiscardNetworkConfig, PlayNetworkConfig

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
class LearnerOptions:
    """Group `learner`: what learns, and how. Each learner's options are a class of their own below."""

    name: str = "replay"


def refuse_unread(options: LearnerOptions, names: tuple[str, ...], reader: str) -> None:
    """Raise OptionError for options that other choices leave unread and that are not the defaults, naming `reader`."""
    defaults = type(options)()
    for name in names:
        value, default = getattr(options, name), getattr(defaults, name)
        if value != default:
            raise OptionError(f"learner.{name}={value}: read with {reader} alone, expected its default {default} here")


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
class WeightedOptions(LearnerOptions):
    """`learner=weighted`: weighted strategies by score location (Lang 2018, chapter 3).

    Initial weights are named by `random`, a strategy (pure: all its weight on one), `semi_pure_` and a strategy (70%
    on one), or the path of a weighted checkpoint. Defaults are those of the experiments of section 4.2; what the thesis
    leaves open is as in its author's program, or a comment says so.
    """

    name: str = "weighted"
    games: int = 1_000_000
    strategies: list[str] = field(default_factory=lambda: list(THESIS_STRATEGIES))
    initial: str = "random"
    opponents: list[str] = field(default_factory=lambda: ["random"])  # initial weights of each of the pool
    opponents_learn: bool = True
    pairs: str = "first"  # the agent and each of the pool in turn, or `random`: any two, who are drawn (draft)
    switch_every: int = 1000  # games of one pair before the next (open in the thesis)
    reading: str = "code"  # of the update: the author's program, or `text`: what his thesis alone suggests
    scaling: float = 2.0  # s
    decay: float = 0.1  # d
    punishment: float = 1.0  # times the adjustment after a lost game
    baseline: bool = False  # adjust by the margin beyond the mean of earlier games from there (not in the thesis)
    cap: float | None = None  # r, the most a responsible weight may be before all are normalised again
    exploration: str = "constant"  # chance epsilon, or `variance`: less the variance of the preferences
    epsilon: float = 0.3  # k of round 1, e afterwards
    explore_by: str = "uniform"  # or `preference`: p as the distribution
    neighbours: str = "none"  # `average` of the up to 8 around a score, or `sum`
    neighbour_share: float = 0.4  # Y
    exploring_starts: bool = True
    start_spread: int = 60  # points apart, at most
    records: str = "exact"  # pegging records, or `sampled`: record_hands random hands
    record_hands: int = 100_000
    update_records: bool = False  # add every hand's play
    play: str = "greedy"  # or `weighted`: offensive and defensive strategies, learned likewise (section 5.1)
    checkpoint_every: int = 100_000  # games


@dataclass
class WeightedNetworkOptions(LearnerOptions):
    """`learner=weighted_network`: a small network over strategies and score (Lang 2018, section 5.2, "Linearity").

    The thesis names the idea alone; what is learned from, and how games start, are those of its chapter 3.
    """

    name: str = "weighted_network"
    games: int = 1_000_000
    strategies: list[str] = field(default_factory=lambda: list(THESIS_STRATEGIES))
    hidden: list[int] = field(default_factory=lambda: [32, 32])
    opponent: Any = None  # agent spec: only one player learns; null: both, by self-play
    target: str = "win"  # of a decision: 1 for a won game, or `margin`: own minus opponent's final score, points
    returns: str = "game"  # the game's outcome, or `hand`: its learned mean at the scores after the hand
    decay: float = 0.0  # d: a loss counts (1 - d) times less for every hand back from the end of the game
    epsilon: float = 0.3
    exploring_starts: bool = True
    start_spread: int = 60  # points apart, at most
    batch_games: int = 2048  # played with the same network, before it learns from them once
    batch_size: int = 512  # decisions
    lr: float = 1e-3
    lr_schedule: str = "linear"  # down to 0 at the last game, or `constant`
    checkpoint_every: int = 100_000  # games


@dataclass
class PartidaOptions(LearnerOptions):
    """`learner=partida`: a small network for the play, trained on random four-card hands (Partida 2022, section 2.2).

    Defaults are the paper's; a comment says where it leaves a choice open. How cards are laid before the network is
    open as well: hands in ascending order, what is played in its order, 0 behind both (`learners.partida.inputs`).
    """

    name: str = "partida"
    inputs: int = 12  # own hand and all cards played; 16: the opponent's hand too, which is no agent but a measurement
    encoding: str = "numbers"  # ranks 1..13 as they are, or `one_hot` (not in the paper)
    opponent: str = "greedy"  # or `self`: both players learn (not in the paper)
    sessions: int = 2000
    games_per_fit: int = 10  # hands of a session, played with one network, which then learns from them once
    target: str = "whole"  # own minus opponent's points of the play, or `rest`: from the card on (not in the paper)
    epsilon: float = 0.0  # chance of any card (the paper names none)
    optimizer: str = "adam"  # or `sgd` (open in the paper)
    batch_size: int = 1  # positions of a step; the paper fits one after the other
    lr: float = 1e-3  # open in the paper
    lr_schedule: str = "constant"  # or `linear`: down to 0 at the last session (open in the paper)
    measure_every: int = 10  # sessions between two measurements against greedy
    hands: int = 2000  # of a measurement
    final_hands: int = 20_000  # of the last one, on other hands
    checkpoint_every: int = 100  # sessions


@dataclass
class TdOptions(LearnerOptions):
    """`learner=td`: a perceptron by temporal differences (O'Connor 2000); a comment says what the paper leaves open."""

    name: str = "td"
    hands: int = 1_000_000  # of self-play (open in the paper: two days of a computer of 2000)
    hidden: list[int] = field(default_factory=lambda: [40])  # sigmoid units of each hidden layer
    inputs: str = "raw"  # the paper's 209, or `features` (not in the paper)
    move_points: str = "learned"  # as part of a state's value, or `added` to the value of the rest (not in the paper)
    initial_deviation: float = 1.0  # of the normal distribution that weights are drawn from
    lr: float = 0.003  # open in the paper for the full game
    lr_schedule: str = "constant"  # or `linear`: down to 0 at the last hand (not in the paper)
    trace_decay: float = 0.0  # lambda of TD(lambda)
    epsilon: float = 0.0  # chance of any move
    pairs: int = 1000  # pairs of hands against each opponent whenever the agent is monitored; 0 or 1: none
    checkpoint_every: int = 100_000  # hands


@dataclass
class EvolutionOptions(LearnerOptions):
    """`learner=evolution`: values of cards that choose the discard, evolved (Kendall and Shaw 2002).

    Known here from Lang 2018, section 2.2, alone, which leaves the size and the form of an adjustment, the threshold
    and the numbers open. The last group is of `update: population` alone, the one before it of `update: threshold`.
    """

    name: str = "evolution"
    generations: int = 1000
    deals: int = 100  # of a generation
    genome: str = "ranks"  # or `pairs`: two ranks kept, or thrown, together have a value too
    cards: str = "same"  # both players (all members of a population) get the same cards, or `different`
    score: str = "hand"  # the starter being known; `crib`: plus the crib as dealer, less it as pone
    update: str = "threshold"  # hand by hand, or `population`
    measure_every: int = 10  # generations between two measurements on held-out hands
    held_out: int = 20_000  # hands
    checkpoint_every: int = 100  # generations

    against: str = "opponent"  # whose points a hand's are held against, or `optimal`: those of the best discard
    threshold: float = 1.0  # share of these points below which weights are adjusted
    adjust: str = "merge"  # one of evolution_steps.ADJUSTMENTS
    rate: float = 0.5  # of toward, merge and punish
    sigma: float = 0.1  # of a mutation; the first one where it adapts itself

    population: int = 64
    parents: int = 16  # whose mean the next generation comes from
    adaptive: bool = True  # sigma is inherited and mutated too


@dataclass
class HillClimbOptions(LearnerOptions):
    """`learner=hill_climb`: a champion moves towards mutants that beat it (Pollack and Blair 1997, for backgammon).

    Known here from Lang 2018, section 2.1; all numbers are ours (the step of 5% too, which our
    sources do not give). Mutant and champion
    meet in pairs of games, or single hands, with the same deals and seats swapped.
    """

    name: str = "hill_climb"
    games: int = 200_000  # or hands, in all
    unit: str = "games"  # to 121, or `hands`: single ones at 0-0, won by the points of all kinds
    climb: str = "both"  # networks: `both`, `discard`, `play`; or `genome`: values of cards (learner=evolution)
    genome: str = "pairs"  # of `climb: genome`
    discards_by: Any = "greedy"  # agent spec: who discards where only the play is climbed
    plays_by: Any = "greedy"  # agent spec: who plays where only the discards are climbed
    start: str = "zero"  # the first weights, or `random`
    pairs: int = 100  # of games or hands between champion and mutant
    sigma: float = 0.05  # of the noise that makes a mutant
    share: float = 0.5  # of the pairs' points: the mutant must win more than this, in the first contest ...
    final_share: float | None = None  # ... and in the last one, in a straight line between
    step: float = 0.05  # of the way to the mutant; 1 replaces the champion
    checkpoint_every: int = 20_000  # games or hands


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


@dataclass
class EvaluationOptions:
    """Matches during and after training. Seeds of the two never meet (see `seed`)."""

    opponents: list[Any] = field(default_factory=lambda: ["deterministic"])  # agent specs
    every: int = 10  # iterations (of other learners than replay: checkpoints) between monitoring matches; 0: none
    at: list[int] | None = None  # in place of `every`, if that is not 0: iterations with matches; 0: before the first
    games: int = 1000  # games of a monitoring match
    final_games: int = 5000  # games of each final match
    epsilon: float = 0.0  # of the evaluated agent
    exploring: bool = False  # final matches also of the agent with the epsilon that its training ended with
    hands: int = 0  # hands of the play-only metric of table 3 (hands won on play points); 0: none
    seed: int | None = None  # monitoring uses it, the final matches another one derived from it

    @property
    def monitored(self) -> bool:
        """Whether there are matches between iterations at all."""
        return self.every > 0

    def due(self, iteration: int) -> bool:
        """Whether there are matches after that iteration; 0 is before the first, and is met by `at` alone."""
        if self.every and self.at:
            return iteration in self.at
        return self.every > 0 < iteration and iteration % self.every == 0


class Settings(Protocol):
    """What the training loop reads: the config of the job `train`."""

    seed: int
    device: str
    learner: ReplayOptions
    algorithm: AlgorithmOptions
    reward: RewardOptions
    state: StateOptions
    discard_network: DiscardNetworkConfig
    play_network: PlayNetworkConfig
    pretraining: PretrainingOptions
    evaluation: EvaluationOptions
