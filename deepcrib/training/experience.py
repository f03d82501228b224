"""Hands in the buffer -> samples for the two networks: which decisions, with which targets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import QFunction
from deepcrib.cards import VALUES
from deepcrib.encoders.states import COUNT, OWN_RANKS
from deepcrib.matches import Trajectories
from deepcrib.rules import COUNT_LIMIT, HAND_SIZE
from deepcrib.training import targets
from deepcrib.training.learning import Samples
from deepcrib.training.rewards import discard_returns, discounted_returns, next_own, play_rewards

Float = NDArray[np.float32]


def legal_plays(states: NDArray[np.int8]) -> NDArray[np.bool_]:
    """bool [..., 4] of compact play states [..., 22]: the slots that could be played."""
    ranks = states[..., OWN_RANKS : OWN_RANKS + HAND_SIZE]
    counts = states[..., COUNT, None].astype(np.int64) + VALUES[np.maximum(ranks, 0)]
    return (ranks >= 0) & (counts <= COUNT_LIMIT)


def discard_samples(hands: Trajectories, reward: str, baseline: bool = False, game_bonus: float = 0.0) -> Samples:
    """The learner's discards of all hands, both seats' in self-play, with the returns of those same hands."""
    returns = discard_returns(hands, reward, baseline, game_bonus)
    own = hands.learned == 1
    return Samples(hands.discard_states[own], hands.discard_actions[own], returns[own])


def learned_plays(hands: Trajectories) -> NDArray[np.bool_]:
    """bool [H, 8]: the plays that are the learner's own, all of them in self-play."""
    return np.take_along_axis(hands.learned, hands.play_seats.astype(np.int64), axis=1) == 1


def play_samples(
    hands: Trajectories,
    algorithm: str,
    reward: str,
    frozen: QFunction,
    epsilon: float,
    forced: bool = True,
    game_bonus: float = 0.0,
    hand_bonus: float = 0.0,
) -> Samples:
    """The learner's plays, with the targets of an algorithm; `frozen` gives the bootstrap values of next decisions.

    epsilon is the current one, which Expected SARSA's policy has. Without `forced`, plays of an only legal card are
    no decisions: they are left out, and their rewards belong to the decision before them. The plays of a seat that
    another agent took count in the rewards of the learner's and are no samples.
    """
    rewards = play_rewards(hands, reward, game_bonus, hand_bonus)
    following = next_own(hands.play_seats)
    chosen = np.ones(rewards.shape, dtype=bool)
    if not forced:
        chosen = legal_plays(hands.play_states).sum(axis=2) > 1
        rewards, following = _skip(rewards, following, chosen)
    if algorithm == "monte_carlo":
        aims = targets.monte_carlo(discounted_returns(rewards, following))
    else:
        aims = _bootstrapped(hands, algorithm, rewards, following, frozen, epsilon)
    chosen &= learned_plays(hands)
    return Samples(hands.play_states[chosen], hands.play_actions[chosen], aims[chosen])


def _skip(
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


def _bootstrapped(
    hands: Trajectories,
    algorithm: str,
    rewards: Float,
    following: NDArray[np.int64],
    frozen: QFunction,
    epsilon: float,
) -> Float:
    """[H, 8] targets; the values of all next decisions come in large batches, since the network is frozen."""
    rows, plays = np.nonzero(following >= 0)
    later = following[rows, plays]
    states, actions = hands.play_states[rows, later], hands.play_actions[rows, later]
    legal = legal_plays(states)
    if algorithm == "sarsa":  # only the action taken matters
        legal = np.zeros_like(legal)
        legal[np.arange(len(actions)), actions] = True
    q_tp1 = frozen.all_values(states, legal)
    r_t, discount = rewards[rows, plays], np.ones(len(rows), dtype=np.float32)
    if algorithm == "sarsa":
        aims = targets.sarsa(r_t, discount, q_tp1, actions)
    elif algorithm == "expected_sarsa":
        aims = targets.expected_sarsa(r_t, discount, q_tp1, epsilon)
    elif algorithm == "q_learning":
        aims = targets.q_learning(r_t, discount, q_tp1)
    else:
        raise ValueError(f"unknown algorithm {algorithm!r}")
    result = rewards.copy()  # after one's last card nothing follows
    result[rows, plays] = aims
    return result
