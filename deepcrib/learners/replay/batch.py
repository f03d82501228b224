"""Hands in the buffer -> a batch for each of the two networks: which decisions, with which targets."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.q_network import QFunction
from deepcrib.learners.replay import extras, targets
from deepcrib.learners.replay.options import AlgorithmOptions, RewardOptions
from deepcrib.learners.replay.rewards import discard_returns, next_own, play_rewards, returns_to_the_end, up_to_the_win
from deepcrib.learners.replay.targets import ALGORITHMS, Float
from deepcrib.matches.trajectories import Trajectories
from deepcrib.networks.encoders import legal_plays
from deepcrib.plugins import array_of


@dataclass(frozen=True)
class Batch:
    """E compact states [E, C], actions [E] and targets [E] (points), or distributions of returns [E, K] on atoms.

    The last `newest` are of the newest epoch.
    """

    states: NDArray[np.int8]
    actions: NDArray[np.int8]
    targets: Float
    newest: int = 0

    def __len__(self) -> int:
        return len(self.targets)


@dataclass(frozen=True)
class PlayTargets:
    """How targets are formed. Without `forced`, plays of an only legal card are no decisions.

    Hands are played out after a win, so that the returns of players that do not see the score are not cut. With
    `sees_scores` they are truncated at the winning peg: a player that sees the score would learn that points can be had
    after 121, where nothing follows.
    """

    algorithm: AlgorithmOptions
    reward: RewardOptions
    forced: bool = True
    sees_scores: bool = False


def make_batches(
    parts: Collection[str],
    hands: Trajectories,
    how: PlayTargets,
    target_q: QFunction,
    epsilon: float,
    *,
    chooser: QFunction | None = None,
    newest: int = 0,
) -> dict[str, Batch]:
    """What each of the networks `parts`, `play` and maybe `discard`, learns; the rest is as `play_samples` has it."""
    if how.sees_scores:
        hands = up_to_the_win(hands)
    batches = {"play": play_samples(hands, how, target_q, epsilon, chooser=chooser, newest=newest)}
    if "discard" in parts:
        batches["discard"] = discard_samples(hands, how.reward, newest)
    return batches


def discard_samples(hands: Trajectories, reward: RewardOptions, newest: int = 0) -> Batch:
    """The learner's discards of all hands, both seats' in self-play, with the returns of those same hands.

    The last `newest` hands are new.
    """
    returns = discard_returns(hands, reward.discard, reward.discard_baseline, reward.game_bonus)
    own = hands.learned == 1
    new = int(own[len(hands) - newest :].sum())
    return Batch(hands.discard_states[own], hands.discard_actions[own], returns[own], newest=new)


def learned_plays(hands: Trajectories) -> NDArray[np.bool_]:
    """bool [H, 8]: the plays that are the learner's own, all of a game's in self-play."""
    own = np.take_along_axis(hands.learned, hands.play_seats.astype(np.int64), axis=1) == 1
    return own & (hands.play_seats >= 0)


def play_samples(
    hands: Trajectories,
    how: PlayTargets,
    target_q: QFunction,
    epsilon: float,
    *,
    chooser: QFunction | None = None,
    newest: int = 0,
) -> Batch:
    """The learner's plays, with their targets.

    Forced plays that are no decisions are left out, and their rewards belong to the decision before them. The plays of
    a seat that another agent took count in the rewards of the learner's and are no samples; those after a won game do
    neither, in hands `up_to_the_win`.

    Args:
        hands: [H] whole hands.
        how: algorithm, reward and whether forced plays count.
        target_q: gives the bootstrap values of next decisions.
        epsilon: the current one, which Expected SARSA's policy has.
        chooser: whose best action `target_q` values in Q-learning (double Q); None: its own.
        newest: so many of the last hands are those of the newest epoch.
    """
    reward, algorithm = how.reward, how.algorithm
    rewards = play_rewards(hands, reward.play, reward.game_bonus, reward.hand_bonus)
    following, decisions = next_own(hands.play_seats), hands.play_seats >= 0
    if not how.forced:
        decisions &= legal_plays(hands.play_states).sum(axis=2) > 1
        rewards, following = skip_forced(rewards, following, decisions)
    if algorithm.name == "monte_carlo":
        play_targets = returns_to_the_end(rewards, following)
    else:
        v_tp1, lambda_tp1 = _next_values(hands, algorithm, following, target_q, chooser, epsilon)
        backup = targets.one_step if target_q.atoms is None else partial(extras.distributed_step, target_q.atoms)
        if algorithm.trace_decay:
            play_targets = targets.lambda_returns(rewards, following, v_tp1, lambda_tp1, backup)
        else:
            play_targets = targets.n_step_returns(rewards, following, v_tp1, algorithm.n_steps, backup)
    own = decisions & learned_plays(hands)
    new = int(own[len(hands) - newest :].sum())
    return Batch(hands.play_states[own], hands.play_actions[own], play_targets[own], newest=new)


def skip_forced(
    rewards: Float, following: NDArray[np.int64], decisions: NDArray[np.bool_]
) -> tuple[Float, NDArray[np.int64]]:
    """Rewards [H, 8] up to one's own next decision, and the number [H, 8] of that (-1: none), plays between skipped."""
    rewards, following = rewards.copy(), following.copy()
    hands = np.arange(len(rewards))
    for play in range(rewards.shape[1] - 2, -1, -1):
        later = following[:, play]
        skipped = (later >= 0) & ~decisions[hands, later]
        rewards[skipped, play] += rewards[hands[skipped], later[skipped]]
        following[skipped, play] = following[hands[skipped], later[skipped]]
    return rewards, following


def _next_values(
    hands: Trajectories,
    algorithm: AlgorithmOptions,
    following: NDArray[np.int64],
    target_q: QFunction,
    chooser: QFunction | None,
    epsilon: float,
) -> tuple[targets.Values, Float]:
    """[H, 8] values of each play's next decision, and lambda [H, 8] there; 0 where there is none.

    Of the head `categorical` distributions [H, 8, K] take the place of values. All of them come in large batches,
    since the network is frozen.
    """
    bootstrap = ALGORITHMS.find(algorithm.name)
    assert bootstrap is not None
    rows, plays = np.nonzero(following >= 0)
    later = following[rows, plays]
    states, actions = hands.play_states[rows, later], hands.play_actions[rows, later]
    legal = legal_plays(states)
    if bootstrap.taken_alone:
        legal = np.zeros_like(legal)
        legal[np.arange(len(actions)), actions] = True
    q_tp1 = target_q.all_values(states, legal)
    q_selector_tp1 = q_tp1 if chooser is None else chooser.all_values(states, legal)
    trace: Any = algorithm.trace_decay
    if bootstrap.greedy:
        trace = targets.watkins_decay(algorithm.trace_decay, q_selector_tp1, actions)
    if target_q.atoms is None:
        valued = q_tp1, q_selector_tp1, actions, epsilon
        v_tp1: Any = array_of("value of algorithm", algorithm.name, bootstrap.value, actions.shape, *valued)
    else:
        v_tp1 = extras.mixture(target_q, states, bootstrap.policy(q_selector_tp1, actions, epsilon))
    values = np.zeros((*following.shape, *v_tp1.shape[1:]), dtype=np.float64 if v_tp1.ndim == 1 else np.float32)
    traces = np.zeros(following.shape, dtype=np.float32)
    values[rows, plays], traces[rows, plays] = v_tp1, trace
    return values, traces
