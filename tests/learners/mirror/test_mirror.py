"""Magnetic mirror descent: its step by hand, a game of known equilibrium; what it shares with nfsp: runs and agents."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from deepcrib.agents import make_agent
from deepcrib.agents.policy_network import PolicyNetworkAgent
from deepcrib.agents.q_network import QFunction
from deepcrib.game.engine import Games
from deepcrib.game.mixed import softmax
from deepcrib.game.observations import PlayObservation
from deepcrib.learners.mirror.descent import MirrorDescent, proximal_logits
from deepcrib.learners.policies.learning import LearnedPolicy, PassRates, all_action_values
from deepcrib.learners.replay.batch import Batch
from deepcrib.learners.replay.update import LearnedNetwork
from deepcrib.networks import PlayNetworkConfig, make_play_network
from deepcrib.networks.encoders import Block, Encoder
from deepcrib.networks.encoders.spec import ONE_HOT, is_table
from deepcrib.plugins import Registry
from tests.support.policies import new_learner

POLICIES = ("mirror", "nfsp")


def test_the_proximal_step_is_that_of_a_calculation_by_hand() -> None:
    """From even chances (0, 2 log 3) with eta = tau = 1: logits (0, log 3). Without a temperature: all of eta q."""
    found = proximal_logits(np.zeros((1, 3)) - [0, 0, np.inf], np.array([[0, 2 * np.log(3), -np.inf]]), 1.0, 1.0)
    assert softmax(found) == pytest.approx(np.array([[0.25, 0.75, 0]]))
    assert proximal_logits(np.array([[1.0, 2.0]]), np.array([[3.0, -1.0]]), 0.5, 0.0).tolist() == [[2.5, 1.5]]
    magnet = np.array([[0.0, 4.0]])
    assert proximal_logits(np.array([[1.0, 2.0]]), np.array([[3.0, -1.0]]), 1.0, 1.0, magnet).tolist() == [[2.0, 2.5]]


def test_the_step_maximises_value_less_both_divergences() -> None:
    """<q, p> - tau KL(p, uniform) - KL(p, present) / eta, against ten thousand other policies."""
    generator = np.random.default_rng(1)
    present, values, eta, tau = np.array([0.5, 0.3, 0.2]), np.array([0.1, 1.0, -0.4]), 0.7, 0.3

    def objective(chances: np.ndarray) -> np.ndarray:
        divergences = [(chances * np.log(chances / other)).sum(axis=-1) for other in (np.full(3, 1 / 3), present)]
        return chances @ values - tau * divergences[0] - divergences[1] / eta

    step = softmax(proximal_logits(np.log(present)[None], values[None], eta, tau))
    assert objective(step[0]) > objective(generator.dirichlet(np.ones(3), size=10_000)).max() - 1e-9


def table_encoder(actions: int) -> Encoder:
    """One state, in which every action is legal."""

    def fill(states: np.ndarray, chosen: np.ndarray, start: int, columns: np.ndarray) -> None:
        columns[:, 0] = start + chosen

    table = {"table": (Block("action", ONE_HOT, tuple("abcdefgh"[:actions]), "the action", fill),)}
    tables = Registry("encoder", table, is_table)
    return Encoder(tables, lambda states: np.ones((len(states), actions), dtype=bool), "table", False, False)


@pytest.mark.parametrize(("averaged", "tau"), [(False, 0.1), (True, 0.3)])
def test_a_matrix_game_comes_to_its_equilibrium(averaged: bool, tau: float) -> None:
    """Rock, paper, scissors in which scissors win 2: the only equilibrium is 1/2, 1/4, 1/4; that with tau is near.

    With the policy's own mean as the magnet the equilibrium itself is the fixed point, whatever tau.
    """
    won = np.array([[0, -1, 1], [1, 0, -2], [-1, 2, 0]])
    generator, encoder, parts = np.random.default_rng(1), table_encoder(3), []
    torch.manual_seed(1)
    for kind in (LearnedPolicy, LearnedNetwork):
        network = make_play_network(PlayNetworkConfig("mlp", hidden=[]), encoder.spec)
        parts.append(kind(encoder, network, torch.device("cpu")))
    core, states = MirrorDescent(*parts, 1.0, 0.02, averaged), np.zeros((512, 1), dtype=np.int8)
    for step in range(300):
        policy, left = softmax(all_action_values(core.policy, states[:1]))[0], 1 - step / 300
        mine, theirs = generator.choice(3, size=(2, len(states)), p=policy)
        samples = Batch(states, mine.astype(np.int8), won[mine, theirs].astype(np.float32))
        core.learn(samples, PassRates(0.003 * left, 0.1 * left, 256), tau, step)
    slow = QFunction(encoder, core.slow, torch.device("cpu"))
    chances = softmax(slow.all_values(states[:1], encoder.legal(states[:1])))[0]
    assert chances == pytest.approx([0.5, 0.25, 0.25], abs=0.05)


# --- runs of either learner of mixed policies -------------------------------------------------------------------------


def leads(hands: int) -> PlayObservation:
    table = Games(np.arange(hands), 5)
    rows = table.deal()
    for seat in (0, 1):
        table.discard(rows, np.full(hands, seat), np.zeros(hands, dtype=np.int8))
    table.start_play()
    return table.play_observation(rows)


@pytest.mark.parametrize("name", POLICIES)
def test_the_agent_of_the_weights_is_the_learner_s_and_plays_as_its_chances_say(name: str, tmp_path: Path) -> None:
    learner = new_learner(name)
    learner.step()
    learner.save(tmp_path / "weights.safetensors")
    loaded, observation = make_agent(tmp_path), leads(2000)
    assert isinstance(loaded, PolicyNetworkAgent) and loaded.discards_by.name == "greedy"
    chances = loaded.play_probabilities(observation)
    assert np.abs(chances - learner.agent().play_probabilities(observation)).max() < 1e-6
    assert np.abs(chances.sum(axis=1) - 1).max() < 1e-12 and (chances > 0).all()  # any card may be led
    counts = np.bincount(loaded.play(observation), minlength=4)
    deviation = np.sqrt((chances * (1 - chances)).sum(axis=0))
    assert (np.abs(counts - chances.sum(axis=0)) < 5 * deviation).all()  # fails by chance once in a million
