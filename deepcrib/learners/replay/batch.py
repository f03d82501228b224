"""Hands in the buffer -> a batch for each of the two networks: which decisions, with which targets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from deepcrib.agents.q_network import QFunction
from deepcrib.game.rules import HAND_SIZE
from deepcrib.learners.replay import targets
from deepcrib.learners.replay.extras import distributed_returns, mixture
from deepcrib.learners.replay.options import AlgorithmOptions, RewardOptions
from deepcrib.learners.replay.rewards import (
    Points,
    discard_returns,
    next_own,
    play_rewards,
    returns_to_the_end,
    up_to_the_win,
)
from deepcrib.learners.replay.targets import ALGORITHMS
from deepcrib.matches.trajectories import Trajectories
from deepcrib.networks.encoders import legal_plays
from deepcrib.networks.encoders.states import DISCARD_OWN_SCORE

Float = NDArray[np.float32]


@dataclass(frozen=True)
class Batch:
    """E compact states [E, C], actions [E] and targets [E] (points), or distributions of returns [E, K] on atoms.

    The last `newest` are of the newest epoch.
    """

    states: NDArray[np.int8]
    actions: NDArray[np.int8]
    targets: NDArray[np.float32]
    newest: int = 0

    def __len__(self) -> int:
        return len(self.targets)


@dataclass(frozen=True)
class PlayTargets:
    """How the targets of plays are formed. Without `forced`, plays of an only legal card are no decisions."""

    algorithm: AlgorithmOptions
    reward: RewardOptions
    forced: bool = True


def experience_of(hands: Trajectories, sees_scores: bool) -> Trajectories:
    """Hands as experience: whole, or truncated at the winning peg if the score is observed.

    Hands are played out after a win, so that the returns of players that do not see the score are not cut. One that
    sees it would learn that points can be had after 121, where nothing follows.
    """
    if not sees_scores:
        return hands
    counted = up_to_the_win(points_of(hands))
    changed = ("play_seats", "play_points", "hand_points", "crib_points")
    return replace(hands, **{name: getattr(counted, name) for name in changed})


def points_of(hands: Trajectories) -> Points:
    """What was pegged in them."""
    scores = hands.discard_states[:, :, DISCARD_OWN_SCORE]
    points = (hands.hand_points, hands.crib_points, hands.heels, hands.dealer)
    return Points(hands.play_seats, hands.play_points, *points, scores)


def discard_samples(hands: Trajectories, reward: RewardOptions, newest: int = 0) -> Batch:
    """The learner's discards of all hands, both seats' in self-play, with the returns of those same hands.

    The last `newest` hands are new.
    """
    returns = discard_returns(points_of(hands), reward.discard, reward.discard_baseline, reward.game_bonus)
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
    reward = how.reward
    rewards = play_rewards(points_of(hands), reward.play, reward.game_bonus, reward.hand_bonus)
    following = next_own(hands.play_seats)
    chosen = hands.play_seats >= 0
    if not how.forced:
        chosen &= legal_plays(hands.play_states).sum(axis=2) > 1
        rewards, following = skip_forced(rewards, following, chosen)
    if how.algorithm.name == "monte_carlo":
        play_targets = returns_to_the_end(rewards, following)
    else:
        values, traces = _next_values(hands, how.algorithm, following, target_q, chooser, epsilon)
        play_targets = _returns(rewards, following, chosen, values, traces, how.algorithm, target_q.atoms)
    chosen &= learned_plays(hands)
    new = int(chosen[len(hands) - newest :].sum())
    return Batch(hands.play_states[chosen], hands.play_actions[chosen], play_targets[chosen], newest=new)


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
    if target_q.atoms is not None:
        v_tp1: Any = mixture(target_q, states, bootstrap.policy(q_selector_tp1, actions, epsilon))
    else:
        v_tp1 = bootstrap.value(q_tp1, q_selector_tp1, actions, epsilon)
    values = np.zeros((*following.shape, *v_tp1.shape[1:]), dtype=np.float64 if v_tp1.ndim == 1 else np.float32)
    traces = np.zeros(following.shape, dtype=np.float32)
    values[rows, plays], traces[rows, plays] = v_tp1, trace
    return values, traces


def _returns(
    rewards: Float,
    following: NDArray[np.int64],
    decisions: NDArray[np.bool_],
    values: targets.Values,
    traces: Float,
    algorithm: AlgorithmOptions,
    atoms: Tensor | None,
) -> Float:
    """[H, 8] targets of the decisions, [H, 8, K] on atoms, from what follows each play within its player's hand."""
    chains = _chains(following, decisions)
    there = chains >= 0

    def in_order(array: NDArray[Any]) -> NDArray[Any]:
        found = array.reshape(rewards.size, *array.shape[2:])[chains]
        found[~there] = 0
        return found

    r_t, discount, v_tp1 = in_order(rewards), in_order((following >= 0).astype(np.float32)), in_order(values)
    if atoms is not None:
        traced = in_order(traces) if algorithm.trace_decay else None
        found = distributed_returns(atoms, r_t, discount, v_tp1, traced, algorithm.n_steps)
    elif algorithm.trace_decay:
        found = targets.lambda_returns(r_t, discount, v_tp1, in_order(traces))
    else:
        found = targets.n_step_returns(r_t, discount, v_tp1, algorithm.n_steps)
    result = np.zeros((*rewards.shape, *found.shape[2:]), dtype=np.float32)
    result.reshape(rewards.size, *found.shape[2:])[chains[there]] = found[there]
    return result


def _chains(following: NDArray[np.int64], decisions: NDArray[np.bool_]) -> NDArray[np.int64]:
    """[C, 4] decisions of each player of each hand in order, as numbers among all H * 8 plays; -1 after the last."""
    num_plays = following.shape[1]
    after = np.where(following >= 0, following + num_plays * np.arange(len(following))[:, None], -1).reshape(-1)
    first = decisions.reshape(-1).copy()
    reached = after[first]
    first[reached[reached >= 0]] = False
    chains = [np.flatnonzero(first)]
    for _ in range(HAND_SIZE - 1):
        chains.append(np.where(chains[-1] >= 0, after[chains[-1]], -1))
    return np.stack(chains, axis=1)
