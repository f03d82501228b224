"""Heads of the Q-networks: dueling and categorical, on problems small enough to solve by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from deepcrib.agents import make_agent
from deepcrib.agents.q_network import QFunction
from deepcrib.errors import OptionError
from deepcrib.exact.shows import bare_hand_values
from deepcrib.game.rules import KEPT_SLOTS_6
from deepcrib.kernels.workers import use_workers
from deepcrib.learners.pretraining import show as pretraining
from deepcrib.learners.pretraining.options import PretrainingOptions
from deepcrib.learners.replay.batch import Batch
from deepcrib.learners.replay.extras import Sampling
from deepcrib.learners.replay.update import LearnedNetwork
from deepcrib.matches.trajectories import Trajectories, self_play
from deepcrib.networks import (
    HEADS,
    DiscardNetworkConfig,
    PlayNetworkConfig,
    make_discard_network,
    make_play_network,
    project,
    two_hot,
)
from deepcrib.networks.checkpoints import save_weights
from deepcrib.networks.encoders import make_discard_encoder, make_play_encoder
from tests.support.checkpoints import load_weights
from tests.support.replaying import Backup, play_samples, pretrain
from tests.support.small_problems import POINTS, STATES, entries, exact, learned_table

CPU = torch.device("cpu")
ATOMS = torch.arange(-3.0, 5.0)


@pytest.fixture(scope="module")
def hands() -> Trajectories:
    return self_play(make_agent("random"), 0, 300, 2_001, unit="hands")


def learner(part: str, network: str = "mlp", state: str = "full", **options: Any) -> LearnedNetwork:
    torch.manual_seed(5)
    options = {"hidden": [16], "channels": 2} | options
    if part == "play":
        encoder: Any = make_play_encoder(state, dealer=True)
        config: Any = PlayNetworkConfig(network, lstm_hidden=8, **options)
        return LearnedNetwork(encoder, make_play_network(config, encoder.spec), CPU)
    encoder = make_discard_encoder(state)
    return LearnedNetwork(encoder, make_discard_network(DiscardNetworkConfig(network, **options), encoder.spec), CPU)


def decisions(hands: Trajectories, part: str) -> tuple[np.ndarray, np.ndarray]:
    """Compact states [E, C] and the actions [E] taken there."""
    states, actions = getattr(hands, f"{part}_states"), getattr(hands, f"{part}_actions")
    return states.reshape(-1, states.shape[2]), actions.reshape(-1)


# --- projection ---------------------------------------------------------------------------------------------


def projected_by_hand(r: float, discount: float, atoms: list[float], probabilities: list[float]) -> list[float]:
    """Algorithm 1 of Bellemare et al. 2017 as it is printed, for one transition and atoms a point apart."""
    found = [0.0] * len(atoms)
    for atom, probability in zip(atoms, probabilities, strict=True):
        place = min(max(r + discount * atom, atoms[0]), atoms[-1]) - atoms[0]
        low, high = math.floor(place), math.ceil(place)
        if low == high:  # the printed algorithm loses this mass
            found[low] += probability
        else:
            found[low] += probability * (high - place)
            found[high] += probability * (place - low)
    return found


rewards = st.floats(-9, 9, width=32)
masses = st.lists(st.floats(0, 1, width=32), min_size=8, max_size=8).filter(lambda found: sum(found) > 0.01)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(rewards, st.sampled_from([0.0, 0.5, 1.0]), masses), min_size=1, max_size=4))
def test_the_projection_is_that_of_the_paper(rows: list) -> None:
    probabilities = torch.tensor([row[2] for row in rows])
    probabilities /= probabilities.sum(dim=1, keepdim=True)
    r_t, discount = (torch.tensor([row[k] for row in rows]) for k in (0, 1))
    found = project(r_t, discount, ATOMS, probabilities)
    for number, row in enumerate(rows):
        expected = projected_by_hand(row[0], row[1], ATOMS.tolist(), probabilities[number].tolist())
        assert found[number].tolist() == pytest.approx(expected, abs=1e-5)
    assert found.sum(dim=1).tolist() == pytest.approx([1.0] * len(rows), abs=1e-5)


@settings(max_examples=60, deadline=None)
@given(st.floats(-3, 4, width=32))
def test_a_return_within_the_atoms_keeps_its_mean_and_lies_on_its_neighbours(value: float) -> None:
    found = two_hot(torch.tensor([value]), ATOMS)[0]
    assert float(found.sum()) == pytest.approx(1) and float(found @ ATOMS) == pytest.approx(value, abs=1e-5)
    assert all(abs(float(atom) - value) < 1 for atom in ATOMS[found > 0])


def test_a_whole_reward_moves_the_distribution_and_its_ends_collect_the_rest() -> None:
    even = torch.full((1, 8), 1 / 8)
    one = torch.ones(1)
    assert project(2 * one, one, ATOMS, even)[0].tolist() == pytest.approx([0, 0] + [1 / 8] * 5 + [3 / 8])
    assert project(-100 * one, one, ATOMS, even)[0].tolist() == pytest.approx([1] + [0] * 7)
    assert project(2 * one, 0 * one, ATOMS, even)[0].tolist() == pytest.approx([0] * 5 + [1, 0, 0])  # the end
    assert two_hot(torch.tensor([-7.5, 99.0]), ATOMS).argmax(dim=1).tolist() == [0, 7]


# --- categorical --------------------------------------------------------------------------------------------


def test_a_distribution_of_two_points_is_learned(hands: Trajectories) -> None:
    """As the dealer 3 points in three of four hands and -1 in the fourth, mean 2; else always 2: the same value."""
    network = learner("discard", hidden=[], head="categorical", atoms_low=-5, atoms_high=5)
    states, actions = decisions(hands, "discard")
    states, actions = np.repeat(states, 4, axis=0), np.repeat(actions, 4)
    is_dealer = states[:, 6] == 1
    returns = np.where(is_dealer, np.where(np.arange(len(states)) % 4 == 0, -1, 3), 2).astype(np.float32)
    generator = np.random.default_rng(1)
    for lr in (0.1, 0.02, 0.002):
        found = network.train_pass(Batch(states, actions, returns), lr, 64, 5.0, generator)
    entropy = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    assert found.loss == pytest.approx(entropy * is_dealer.mean(), abs=0.03)  # nats
    assert found.target_mean == pytest.approx(2) and found.value_mean == pytest.approx(2, abs=0.05)
    learned = network.q_function()
    probabilities = learned.distributions(states, actions)
    assert probabilities.sum(axis=1) == pytest.approx(1, abs=1e-5)
    dealer, pone = probabilities[is_dealer].mean(axis=0), probabilities[~is_dealer].mean(axis=0)
    assert dealer[[4, 8]] == pytest.approx([0.25, 0.75], abs=0.03) and pone[7] == pytest.approx(1, abs=0.03)
    assert learned.values(states, actions) == pytest.approx(probabilities @ np.arange(-5, 6), abs=1e-4)


class Means(torch.nn.Module):
    """The same values, and nothing of how they come about."""

    def __init__(self, network: torch.nn.Module) -> None:
        super().__init__()
        self.inner = network

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.inner(inputs)


@pytest.mark.parametrize(
    ("algorithm", "backup"),
    [(name, {}) for name in ("monte_carlo", "sarsa", "expected_sarsa", "q_learning")]
    + [("sarsa", {"n_steps": 2}), ("expected_sarsa", {"trace_decay": 0.6}), ("q_learning", {"chooser": True})],
    ids=str,
)
def test_distributional_targets_have_the_mean_of_the_plain_ones(
    hands: Trajectories, algorithm: str, backup: dict[str, Any]
) -> None:
    if "chooser" in backup:
        backup = {"chooser": learner("play", hidden=[9]).q_function()}
    network = learner("play", head="categorical", atoms_low=-60, atoms_high=60)
    last = network.network.layers.layers[-1]
    last.bias.data -= 0.4 * torch.arange(-60, 61).abs()  # nothing near the ends
    last.weight.data *= 5
    rest = (0.3, False, Backup(**backup))  # epsilon, forced plays left out
    plain = play_samples(hands, algorithm, "margin", QFunction(network.encoder, Means(network.network)), *rest)
    found = play_samples(hands, algorithm, "margin", network.q_function(), *rest)
    assert plain.targets.ndim == 1 and plain.targets.std() > 0.5
    means = network.network.expected(torch.as_tensor(found.targets)).numpy()
    assert means == pytest.approx(plain.targets, abs=1e-3)
    if algorithm != "monte_carlo":
        assert found.targets.shape == (len(plain), 121)
        assert found.targets.sum(axis=1) == pytest.approx(1, abs=1e-4)
        assert (found.targets > 0.01).sum(axis=1).max() > 3  # more than a mean
    passed = network.train_pass(found, 1e-3, 64, 0.1, np.random.default_rng(1))
    assert passed.target_mean == pytest.approx(float(plain.targets.mean()), abs=1e-3)
    assert math.isfinite(passed.loss)


def test_atoms_must_be_a_range() -> None:
    with pytest.raises(OptionError, match="atoms_low=3 atoms_high=3: expected the first below the second"):
        learner("play", head="categorical", atoms_low=3, atoms_high=3)
    with pytest.raises(ValueError, match="unknown head 'duel'.*value, dueling, categorical"):
        learner("play", head="duel")


# --- dueling ------------------------------------------------------------------------------------------------

DUELS = [
    ("play", "mlp", "basic"),
    ("play", "mlp", "afterstate"),
    ("play", "mlp", "full"),
    ("discard", "mlp", "basic"),
    ("discard", "mlp", "full"),
]


@pytest.mark.parametrize(("part", "name", "state"), DUELS)
def test_a_duel_is_one_value_and_advantages_without_a_mean(
    hands: Trajectories, part: str, name: str, state: str
) -> None:
    """Equation 9 of Wang et al. 2016, from the two streams apart."""
    network = learner(part, name, state, head="dueling")
    states, _ = decisions(hands.take(slice(0, 40)), part)
    legal = network.encoder.legal(states)
    values = network.q_function().all_values(states, legal)
    head = network.network.head
    for row in range(0, len(states), 7):
        actions = np.flatnonzero(legal[row])
        with torch.no_grad():
            inputs = network.encoder.encode(np.repeat(states[row : row + 1], len(actions), 0), actions.astype(np.int8))
            features = network.network.features(inputs)
            advantages = head.advantage(features)
            value = float(head.value(features.mean(dim=0)))
            expected = value + advantages - advantages.mean()
        assert values[row, actions] == pytest.approx(expected.numpy(), abs=1e-4)
        assert values[row, actions].mean() == pytest.approx(value, abs=1e-4)
    assert np.isneginf(values[~legal]).all()


@pytest.mark.parametrize("part", ["play", "discard"])
def test_values_of_a_duel_do_not_depend_on_what_is_asked_for(hands: Trajectories, part: str) -> None:
    network = learner(part, head="dueling")
    states, actions = decisions(hands, part)
    asked = network.q_function()
    legal = network.encoder.legal(states)
    assert legal[np.arange(len(states)), actions].all()
    values = asked.all_values(states, legal)
    taken = values[np.arange(len(states)), actions]
    assert asked.values(states, actions) == pytest.approx(taken, abs=1e-5)
    only = np.zeros_like(legal)
    only[np.arange(len(states)), actions] = True
    assert asked.all_values(states, only)[only] == pytest.approx(taken, abs=1e-5)
    assert asked.all_values(states[:3], legal[:3]) == pytest.approx(values[:3], abs=1e-5)
    use_workers(2)
    try:
        assert (asked.all_values(states, legal) == values).all()
    finally:
        use_workers(1)


def test_a_duel_learns_a_linear_problem_exactly_for_choices_never_taken(hands: Trajectories) -> None:
    """Worth of a discard: that of the four ranks kept, and 2 for the dealer; only the discards taken are seen."""
    network = learner("discard", hidden=[], head="dueling")
    states, actions = decisions(hands, "discard")
    worth = np.random.default_rng(3).normal(size=13)
    truth = worth[states[:, KEPT_SLOTS_6] // 4].sum(axis=2) + 2 * states[:, 6:7]
    samples = Batch(states, actions, truth[np.arange(len(states)), actions].astype(np.float32))
    generator = np.random.default_rng(4)
    for lr in (0.05, 0.01, 0.002):
        last = network.train_pass(samples, lr, 64, 12.0, generator)
    assert last.loss < 1e-3
    values = network.q_function().all_values(states, np.ones(truth.shape, dtype=bool))
    assert np.abs(values - truth).max() < 0.1


# --- a problem that can be counted ---------------------------------------------------------------------------


@pytest.mark.parametrize("head", ["dueling", "categorical"])
@pytest.mark.parametrize(
    ("algorithm", "backup", "steps"),
    [
        ("sarsa", {}, 3),
        ("expected_sarsa", {"n_steps": 2}, 3),
        ("q_learning", {}, 0),
        ("q_learning", {"trace_decay": 0.9}, 0),
    ],
)
def test_heads_find_the_values_that_can_be_counted(
    head: str, algorithm: str, backup: dict[str, Any], steps: int
) -> None:
    """Those of random play (three more random decisions), or of the best play."""
    found = learned_table(algorithm, head=head, iterations=80, **backup).values(*entries())
    assert found == pytest.approx(exact(steps), abs=0.15)


def courses_from(k: int, branch: int, action: int) -> list[int]:
    """Points of every course that begins with an action; random play takes all of them equally often."""
    points = POINTS[k][branch][action]
    if k == 3:
        return [points]
    return [points + rest for a in (0, 1) for rest in courses_from(k + 1, branch if k else action, a)]


@pytest.mark.parametrize(
    ("algorithm", "backup"),
    [("monte_carlo", {}), ("sarsa", {}), ("expected_sarsa", {}), ("sarsa", {"trace_decay": 0.5})],
    ids=str,
)
def test_distributions_that_can_be_counted_are_learned(algorithm: str, backup: dict[str, Any]) -> None:
    """Bootstrapped or not: whole returns move along the atoms without rounding."""
    found = learned_table(algorithm, head="categorical", iterations=80, **backup).distributions(*entries())
    counted = [courses_from(k, branch, action) for k, branch in STATES for action in (0, 1)]
    expected = [np.bincount(np.array(points) + 2, minlength=20) / len(points) for points in counted]
    assert max(map(len, counted)) == 8
    assert np.abs(found - np.stack(expected)).max() < 0.05


# --- all heads: runs, checkpoints, pretraining --------------------------------------------------------------


@pytest.mark.parametrize("head", HEADS)
def test_a_checkpoint_brings_its_heads_back(tmp_path: Path, hands: Trajectories, head: str) -> None:
    play = learner("play", "mlp", head=head, atoms_low=-9, atoms_high=8)
    discard = learner("discard", "mlp", head=head)
    save_weights(tmp_path / "w.safetensors", {}, discard=discard.network, play=play.network)
    found = load_weights(tmp_path / "w.safetensors")
    assert found.play_network.config == play.network.config and found.discard_network.config == discard.network.config
    for part, kept, network in (("play", play, found.play_network), ("discard", discard, found.discard_network)):
        states, actions = decisions(hands.take(slice(0, 20)), part)
        encoder = found.play_encoder if part == "play" else found.discard_encoder
        values = QFunction(encoder, network).values(states, actions)
        assert (values == kept.q_function().values(states, actions)).all()


@pytest.mark.parametrize("head", ["dueling", "categorical"])
def test_pretraining_teaches_every_head_the_order_of_hands(head: str, monkeypatch: pytest.MonkeyPatch) -> None:
    some = pretraining.all_hands()[::5]
    monkeypatch.setattr(pretraining, "all_hands", lambda: some)
    network = learner("discard", state="afterstate", hidden=[32], head=head, atoms_low=0, atoms_high=30)
    options = PretrainingOptions(epochs=1, batch_size=256, lr=5e-3)
    result = pretrain(network.network, network.encoder, options, seed=1)
    assert result["mean_absolute_error"] < 0.9  # 3.1 points are the deviation of the 270,725 hands
    six = np.sort(np.random.default_rng(1).random((200, 52)).argsort(axis=1)[:, :6], axis=1).astype(np.int8)
    states = np.concatenate([six, np.zeros((200, 3), dtype=np.int8)], axis=1)
    values = network.q_function().all_values(states, np.ones((200, 15), dtype=bool))
    kept = six[:, KEPT_SLOTS_6]
    points = bare_hand_values(kept.reshape(-1, 4)).reshape(200, 15)
    lost = points.max(axis=1) - points[np.arange(200), values.argmax(axis=1)]
    assert lost.mean() < 1.5


# --- arithmetic ---------------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("head", HEADS)
def test_a_gpu_gives_the_same_values_and_learns(hands: Trajectories, head: str) -> None:
    there = learner("play", "mlp", head=head)
    states, actions = decisions(hands, "play")
    expected = there.q_function().values(states, actions)
    there = LearnedNetwork(there.encoder, there.network, torch.device("cuda"))
    assert there.q_function().values(states, actions) == pytest.approx(expected, abs=1e-3)
    samples = play_samples(hands, "q_learning", "margin", there.q_function(), 0.1)
    passed = there.train_pass(samples, 1e-3, 64, 1.0, np.random.default_rng(1), Sampling(True, 0.6, 0.4))
    assert math.isfinite(passed.loss)
