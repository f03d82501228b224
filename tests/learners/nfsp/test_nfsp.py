"""Fictitious self-play: what is remembered, whose decisions, with which rewards."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from deepcrib.agents import make_agent
from deepcrib.learners.mirror.learner import RETURNS
from deepcrib.learners.nfsp.learner import transitions_of
from deepcrib.learners.nfsp.memory import Memory
from deepcrib.learners.replay.batch import play_samples
from deepcrib.matches.trajectories import learning_games
from tests.support.policies import new_learner


def filled(memory: Memory, items: int, seed: int, batch: int = 7) -> np.ndarray:
    """What is left of numbers 0, 1, .., sorted."""
    generator = np.random.default_rng(seed)
    for first in range(0, items, batch):
        memory.add({"number": np.arange(first, min(first + batch, items))}, generator)
    return np.sort(memory.state()["rows"]["number"])


def test_a_circular_memory_holds_the_newest() -> None:
    assert filled(Memory(10), 5, 1).tolist() == [0, 1, 2, 3, 4]
    assert filled(Memory(10), 1000, 1).tolist() == list(range(990, 1000))
    assert filled(Memory(10), 100, 1, batch=30).tolist() == list(range(90, 100))


@pytest.mark.parametrize("batch", [7, 40])
def test_a_reservoir_keeps_every_item_with_the_same_chance(batch: int) -> None:
    """Of 60 items 10 are kept, in 1,500 trials: chi squared of 59 degrees, beyond 110 with a chance of 6e-5."""
    trials, counts = 1500, np.zeros(60)
    for seed in range(trials):
        kept = filled(Memory(10, fair=True), 60, seed, batch)
        assert len(set(kept)) == 10
        counts[kept] += 1
    expected = trials / 6
    assert ((counts - expected) ** 2).sum() / (expected * 5 / 6) * 59 / 60 < 110


def test_a_memory_goes_on_from_its_state() -> None:
    one, two = Memory(10, fair=True), Memory(10, fair=True)
    filled(one, 35, 1)
    two.load(one.state())
    assert filled(one, 35, 2).tolist() == filled(two, 35, 2).tolist()
    with pytest.raises(ValueError, match="it remembers 10 decisions, expected 9"):
        Memory(9).load(one.state())


def test_decisions_follow_one_another_and_their_rewards_are_the_returns() -> None:
    """Summed over the decisions of a player in a hand, rewards are what Monte Carlo counts from the first one on."""
    agents, seating = [make_agent("greedy"), make_agent("random")], np.tile([[0, 1], [1, 1], [1, 0]], (40, 1))
    hands = learning_games(agents, seating, 0, 1, unit="hands")
    found, best = transitions_of(hands)
    of_both = replace(hands, learned=np.ones_like(hands.learned))
    samples: Any = play_samples(of_both, RETURNS, None, 0.0)  # without a value: nothing is bootstrapped
    states, last = found["states"], found["last"]
    assert (states == samples.states).all() and (found["actions"] == samples.actions).all()
    assert found["rewards"][last] == pytest.approx(samples.targets[last])
    for number in np.flatnonzero(~last):
        following = found["next_states"][number]
        later = number + 1 + (states[number + 1 : number + 8] == following).all(axis=1).argmax()
        assert (states[later] == following).all()
        assert samples.targets[number] == pytest.approx(found["rewards"][number] + samples.targets[later])
    assert 0 < best.mean() < 0.6 and last.any()


def test_a_share_of_the_hands_follows_the_best_response() -> None:
    """Of 2 x 1,000 players with the share 0.3; five deviations."""
    learner = new_learner("nfsp", hands=1000, anticipatory=0.3)
    learned = learner.play_hands(0, 1).learned
    assert learned.mean() == pytest.approx(0.3, abs=5 * np.sqrt(0.21 / 2000))
    again = new_learner("nfsp", hands=1000, anticipatory=0.3).play_hands(0, 1)
    assert (learned == again.learned).all()
