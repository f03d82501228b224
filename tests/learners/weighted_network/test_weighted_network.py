"""The network over strategies: its input, its agent and checkpoint, what it learns from, and its runs."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pytest
import torch

from deepcrib.agents import AgentError, DivergenceError, make_agent
from deepcrib.game.engine import Games
from deepcrib.game.observations import DiscardObservation
from deepcrib.learners.weighted_network.agent import StrategyNetwork, WeightedNetworkAgent
from deepcrib.learners.weighted_network.learner import (
    Played,
    WeightedNetworkLearner,
    gain_targets,
    play_exploring_games,
)
from deepcrib.learners.weighted_network.options import WeightedNetworkOptions
from deepcrib.training.learner import Setting
from tests.support.figures import NO_MATCHES
from tests.support.reference import cards, kept_by, show

TWO = ("hand_max_avg", "crib_max_avg")


def observed(games: int = 500, seed: int = 3) -> DiscardObservation:
    """Discards at random scores, half of them the dealer's."""
    table = Games(np.arange(games), seed, first_dealer=np.arange(games) % 2)
    table.state.scores[:] = np.random.default_rng(seed).integers(0, 121, (games, 2))
    return table.discard_observation(table.deal(), np.zeros(games, dtype=np.int8))


def new_agent(strategies: tuple[str, ...] = TWO, hidden: tuple[int, ...] = (8, 8), **options: Any) -> Any:
    torch.manual_seed(1)
    return WeightedNetworkAgent("new", StrategyNetwork(len(strategies), list(hidden)), strategies, **options)


def new_learner(seed: int = 1, **options: Any) -> WeightedNetworkLearner:
    chosen = WeightedNetworkOptions(**{"strategies": list(TWO), "hidden": [8, 8], **options})
    return WeightedNetworkLearner(chosen, Setting(seed, NO_MATCHES))


# --- input, network, agent ---


def test_inputs_are_opinions_of_every_discard_and_the_score() -> None:
    """The hand's mean over 46 starters counted one by one; strategies' scale from 0, the worst, to 1, the best."""
    hand = cards("5H 5D JC QS 2H 3D")
    one = observed(1)
    hands = np.array([sorted(hand)], dtype=np.int8)
    seen = replace(one, hand=hands, scores=np.array([[30, 115]], dtype=np.int8), dealer=np.array([1], dtype=np.int8))
    found = new_agent().inputs(seen)
    assert found.shape == (1, 15, 5) and found.dtype == np.float32
    starters = [card for card in range(52) if card not in hand]
    means = [mean(show(kept_by(hand, action), starter) for starter in starters) for action in range(15)]
    expected = (np.array(means) - min(means)) / (max(means) - min(means))
    np.testing.assert_allclose(found[0, :, 0], expected, atol=1e-6)
    np.testing.assert_allclose(found[0, :, 2:], [[30 / 121, 115 / 121, 0]] * 15, atol=1e-6)


def test_one_network_judges_all_discards() -> None:
    """Against the layers multiplied out in NumPy: value of the score and gain, ReLU between layers."""
    agent = new_agent(hidden=(4,))
    inputs = agent.inputs(observed(40))
    numbers = {name: tensor.numpy() for name, tensor in agent.network.state_dict().items()}

    def layers(part: str, x: np.ndarray) -> np.ndarray:
        first = x @ numbers[f"{part}.layers.0.weight"].T + numbers[f"{part}.layers.0.bias"]
        return (np.maximum(first, 0) @ numbers[f"{part}.layers.2.weight"].T + numbers[f"{part}.layers.2.bias"])[..., 0]

    expected = layers("score", inputs[..., 2:]) + layers("gain", inputs)
    np.testing.assert_allclose(agent.discard_values(observed(40)), expected, atol=1e-5)


def test_the_agent_takes_the_highest_value_and_explores_with_chance_epsilon() -> None:
    seen = observed(4000)
    greedy, curious = new_agent(), new_agent(epsilon=0.6)
    values = greedy.discard_values(seen)
    best = values == values.max(axis=1, keepdims=True)  # several, where discards differ in suits alone
    rows = np.arange(4000)
    assert best[rows, greedy.discard(seen)].all()
    others = 0.6 * (1 - best.sum(axis=1).mean() / 15)
    assert abs((~best[rows, curious.discard(seen)]).mean() - others) < 4 * np.sqrt(0.25 / 4000)
    expected = 0.6 / 15 + 0.4 * best / best.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(curious.discard_probabilities(seen), expected)


def test_values_that_are_no_numbers_are_refused() -> None:
    agent = new_agent()
    torch.nn.init.constant_(agent.network.gain.layers[0].bias, float("nan"))
    with pytest.raises(DivergenceError, match="learning rate"):
        agent.discard(observed(5))


# --- checkpoints ---


def test_a_saved_agent_is_made_again_from_its_path(tmp_path: Path) -> None:
    agent, seen = new_agent(), observed()
    agent.metadata = {"games": 7}
    agent.save(tmp_path / "weights.safetensors")
    again = make_agent(str(tmp_path))
    assert isinstance(again, WeightedNetworkAgent)
    assert (again.strategies, again.metadata["games"], again.epsilon) == (TWO, 7, 0.0)
    np.testing.assert_array_equal(again.discard_values(seen), agent.discard_values(seen))
    assert make_agent({"path": str(tmp_path), "epsilon": 0.25}).epsilon == 0.25
    with pytest.raises(AgentError, match="epsilon=1.5: expected 0 to 1"):
        make_agent({"path": str(tmp_path), "epsilon": 1.5})


# --- games ---


def test_discards_of_self_play_are_those_of_whole_games() -> None:
    """Both players of every game, deal by deal: one of them deals, and one of them has won in the end."""
    (inputs, won), hands = play_exploring_games(new_agent(epsilon=0.3), 10, 60, 5, 30)
    assert len(inputs) == 2 * hands and won.mean() == 0.5 and inputs[:, 4].mean() == 0.5
    first = inputs[:100]  # all games begin side by side
    starts = first[:, 2:4] * 121
    assert first[:, 4].sum() == 50 and won[:100].sum() == 50
    assert abs(starts[:, 0] - starts[:, 1]).max() <= 30.001 and starts.min() < 20 and starts.max() > 100


# --- learning ---


def samples(rule: Callable[[np.ndarray], np.ndarray], seed: int, size: int = 6000) -> Played:
    """Discards on random inputs, each of another game, won with the chance that the rule says."""
    generator = np.random.default_rng(seed)
    inputs = generator.random((size, 5)).astype(np.float32)
    inputs[:, 4] = generator.integers(0, 2, size)
    return inputs, (generator.random(size) < rule(inputs)).astype(np.float32)


def wish(inputs: np.ndarray) -> np.ndarray:
    """Only the second strategy counts: the dealer wants much of it, pone little."""
    return np.where(inputs[..., 4] == 1, inputs[..., 1], 1 - inputs[..., 1])


def test_it_learns_which_strategy_decides_and_for_whom() -> None:
    """No weights of a linear combination could: the sign of the wish turns with the deal."""
    learner = new_learner(batch_size=64, lr=3e-3, lr_schedule="constant", games=10)
    for learner.steps_done in range(4):
        metrics = learner.learn(samples(wish, learner.steps_done))
    assert metrics["loss/gain"] < metrics["loss/score"]
    agent, seen = learner.agent(), observed()
    wishes = wish(agent.inputs(seen))
    found = wishes[np.arange(len(seen)), agent.discard(seen)]
    assert found.mean() > 0.95


def test_discards_are_learned_from_the_outcome_less_the_value_of_the_score() -> None:
    """Three discards by hand, with a network whose value of a score is 10 times one's own share."""
    network = StrategyNetwork(2, [])
    with torch.no_grad():
        network.score.layers[0].weight[:] = torch.tensor([[10.0, 0.0, 0.0]])
        network.score.layers[0].bias[:] = 0
    inputs = torch.tensor([[1, 0, 0.2, 0.5, 0], [0, 1, 0.5, 0.6, 1], [1, 1, 0.3, 0.3, 1]])
    found = gain_targets(network, inputs, torch.tensor([1.0, 1.0, 0.0]))
    assert found.tolist() == pytest.approx([1 - 2, 1 - 5, 0 - 3])
