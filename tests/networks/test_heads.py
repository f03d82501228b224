"""Heads of the Q-networks: dueling, categorical and noisy, on problems small enough to solve by hand."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import save_file

from deepcrib.agents import make_agent
from deepcrib.agents.q_network import QFunction
from deepcrib.errors import OptionError
from deepcrib.exact.shows import hand_values
from deepcrib.jobs.hydra.checks import check_values
from deepcrib.kernels.workers import use_workers
from deepcrib.learners.hill_climb.learner import NetworkClimber
from deepcrib.learners.hill_climb.options import HillClimbOptions
from deepcrib.learners.pretraining import show as pretraining
from deepcrib.learners.pretraining.options import PretrainingOptions
from deepcrib.learners.replay.batch import Batch
from deepcrib.learners.replay.extras import Sampling
from deepcrib.learners.replay.options import StateOptions
from deepcrib.learners.replay.update import LearnedNetwork
from deepcrib.matches import play_match
from deepcrib.matches.trajectories import Trajectories, self_play
from deepcrib.networks import (
    HEADS,
    DiscardNetworkConfig,
    FeedForward,
    NoisyLinear,
    PlayNetworkConfig,
    clear_noise,
    draw_noise,
    make_discard_network,
    make_play_network,
    project,
    two_hot,
)
from deepcrib.networks.checkpoints import load_weights, save_weights
from deepcrib.networks.encoders import PLAY_COLUMNS, legal_plays, make_discard_encoder, make_play_encoder
from deepcrib.networks.encoders.states import OWN_RANKS, STARTER_RANK
from deepcrib.training.learner import Setting
from tests.support import replay_runs
from tests.support.replay_runs import same
from tests.support.replaying import Backup, discard_samples, play_samples, pretrain, saved, train
from tests.support.small_problems import POINTS, STATES, Lookup, exact
from tests.support.small_problems import all_hands as all_courses

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


def test_a_common_shift_of_the_advantages_changes_nothing_and_one_of_the_value_no_order(hands: Trajectories) -> None:
    network = learner("play", head="dueling")
    states, _ = decisions(hands, "play")
    legal = network.encoder.legal(states)
    head = network.network.head
    before = network.q_function().all_values(states, legal)
    head.advantage.layers[-1].bias.data += 3
    assert network.q_function().all_values(states, legal)[legal] == pytest.approx(before[legal], abs=1e-5)
    head.value.layers[-1].bias.data += 2
    after = network.q_function().all_values(states, legal)
    assert after[legal] == pytest.approx(before[legal] + 2, abs=1e-5)


def test_a_duel_learns_a_linear_problem_exactly_for_choices_never_taken(hands: Trajectories) -> None:
    """Worth of a discard: that of the four ranks kept, and 2 for the dealer; only the discards taken are seen."""
    network = learner("discard", hidden=[], head="dueling")
    states, actions = decisions(hands, "discard")
    worth = np.random.default_rng(3).normal(size=13)
    kept = [[slot for slot in range(6) if slot not in pair] for pair in discard_pairs()]
    truth = worth[states[:, kept] // 4].sum(axis=2) + 2 * states[:, 6:7]
    samples = Batch(states, actions, truth[np.arange(len(states)), actions].astype(np.float32))
    generator = np.random.default_rng(4)
    for lr in (0.05, 0.01, 0.002):
        last = network.train_pass(samples, lr, 64, 12.0, generator)
    assert last.loss < 1e-3
    values = network.q_function().all_values(states, np.ones(truth.shape, dtype=bool))
    assert np.abs(values - truth).max() < 0.1


def discard_pairs() -> list[tuple[int, int]]:
    """The 15 discards in their order."""
    return [(first, second) for first in range(6) for second in range(first + 1, 6)]


# --- a problem that can be counted ---------------------------------------------------------------------------


class Candidates(Lookup):
    """The table of `test_small_problems`, with the two actions that are legal."""

    def legal(self, states: np.ndarray) -> np.ndarray:
        return legal_plays(states)


def solved(head: str, algorithm: str, **backup: Any) -> tuple[np.ndarray, LearnedNetwork]:
    """[14] values learned in 80 iterations from all hands; epsilon is 1."""
    torch.manual_seed(1)
    encoder: Any = Candidates()
    config = PlayNetworkConfig("mlp", [], head=head, atoms_low=-2, atoms_high=17)
    learned = LearnedNetwork(encoder, FeedForward(config, encoder.spec), CPU)
    problem, generator = all_courses(), np.random.default_rng(2)
    for iteration in range(80):
        found = play_samples(problem, algorithm, "offensive", learned.q_function(), 1.0, True, Backup(**backup))
        learned.train_pass(found, 0.3 * (1 - iteration / 80), 128, 5.0, generator)
    return learned.q_function().values(*entries()), learned


def entries() -> tuple[np.ndarray, np.ndarray]:
    """A compact state for every entry of the table, [14, 22], and its action."""
    states = np.zeros((2 * len(STATES), PLAY_COLUMNS), dtype=np.int8)
    states[:, OWN_RANKS + 2 : OWN_RANKS + 4] = -1
    states[:, STARTER_RANK] = np.repeat(np.arange(len(STATES)), 2)
    return states, np.tile(np.array([0, 1], dtype=np.int8), len(STATES))


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
    assert solved(head, algorithm, **backup)[0] == pytest.approx(exact(steps), abs=0.15)


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
    found = solved("categorical", algorithm, **backup)[1].q_function().distributions(*entries())
    counted = [courses_from(k, branch, action) for k, branch in STATES for action in (0, 1)]
    expected = [np.bincount(np.array(points) + 2, minlength=20) / len(points) for points in counted]
    assert max(map(len, counted)) == 8
    assert np.abs(found - np.stack(expected)).max() < 0.05


# --- noise --------------------------------------------------------------------------------------------------


def test_a_noisy_layer_begins_as_in_the_paper() -> None:
    """Section 3.2: means uniform within 1 / sqrt(p), every sigma 0.5 / sqrt(p), for p inputs."""
    torch.manual_seed(1)
    layer = NoisyLinear(100, 200)
    for means in (layer.weight.detach(), layer.bias.detach()):
        assert 0.09 < float(means.abs().max()) <= 0.1 and abs(float(means.mean())) < 0.02
    assert float(layer.weight.detach().std()) == pytest.approx(0.1 / math.sqrt(3), rel=0.02)
    assert (layer.weight_sigma == 0.05).all() and (layer.bias_sigma == 0.05).all()
    inputs = torch.randn(3, 100)
    torch.testing.assert_close(layer(inputs), inputs @ layer.weight.T + layer.bias)


def test_moments_of_factorised_noise() -> None:
    """f(e) = sign(e) sqrt|e| has mean 0 and square E|e| = sqrt(2 / pi), so a weight's noise has variance 2 / pi."""
    layer = NoisyLinear(400, 300)
    layer.weight.data.zero_(), layer.bias.data.zero_()
    layer.weight_sigma.data.fill_(1.0), layer.bias_sigma.data.fill_(1.0)
    generator = np.random.default_rng(1)
    weights, biases = [], []
    for _ in range(20):
        layer.draw(generator)
        with torch.no_grad():
            bias = layer(torch.zeros(1, 400))[0]
            weight = (layer(torch.eye(400)) - bias).T  # [300, 400]
        weights.append(weight)
        biases.append(bias)
        assert torch.linalg.matrix_rank(weight) == 1  # factorised: f(out) f(in)'
        torch.testing.assert_close(weight / bias[:, None], weight[:1].expand_as(weight) / bias[0], rtol=1e-2, atol=1e-3)
    assert float(torch.stack(biases).mean()) == pytest.approx(0, abs=0.05)
    assert float(torch.stack(biases).square().mean()) == pytest.approx(math.sqrt(2 / math.pi), abs=0.05)
    assert float(torch.stack(weights).mean()) == pytest.approx(0, abs=0.05)
    assert float(torch.stack(weights).square().mean()) == pytest.approx(2 / math.pi, abs=0.05)


@pytest.mark.parametrize("head", HEADS)
def test_noise_is_drawn_once_for_self_play_and_nothing_else_has_any(hands: Trajectories, head: str) -> None:
    network = learner("play", head=head, noisy=True)
    states, actions = decisions(hands, "play")
    means = network.q_function().values(states, actions)
    noisy, again, other = (network.q_function(seed) for seed in (7, 7, 8))
    values = noisy.values(states, actions)
    assert (values == noisy.values(states, actions)).all() and (values == again.values(states, actions)).all()
    assert np.abs(values - means).mean() > 1e-3 and np.abs(values - other.values(states, actions)).mean() > 1e-3
    assert (network.q_function().values(states, actions) == means).all()
    network.train_pass(
        play_samples(hands, "monte_carlo", "margin", noisy, 0.0), 1e-3, 64, 0.2, np.random.default_rng(1)
    )
    assert (values == noisy.values(states, actions)).all()  # a copy, which does not learn
    learned = network.q_function().values(states, actions)
    assert (learned == network.q_function().values(states, actions)).all() and (learned != means).any()
    sigmas = [layer.weight_sigma for layer in network.network.modules() if isinstance(layer, NoisyLinear)]
    assert sigmas and all(sigma.std() > 0 for sigma in sigmas)  # they learn too


def test_without_noisy_layers_no_number_is_drawn() -> None:
    network, generator = learner("play"), np.random.default_rng(3)
    draw_noise(network.network, generator)
    clear_noise(network.network)
    assert generator.random() == np.random.default_rng(3).random()
    assert network.q_function(9).network is network.network


# --- all heads: runs, checkpoints, pretraining --------------------------------------------------------------

KINDS = [("dueling", False), ("categorical", False), ("value", True), ("categorical", True)]


def small(head: str, noisy: bool, **options: Any) -> Any:
    """Settings of a run that takes a moment."""
    every = {"epsilon": 0.1, "sampling": "prioritised", "final_importance_exponent": 0.4, "target_every": 2}
    made = replay_runs.small(1, "q_learning", targets={"n_steps": 2, "double": True}, **(every | options))
    for network in (made.discard_network, made.play_network):
        network.hidden, network.head, network.noisy = [8], head, noisy
    return made


def end_of(folder: Path, options: Any, resume: bool = False) -> dict[str, Any]:
    """Everything of a finished run's state but the time that it took."""
    folder.mkdir(exist_ok=True)
    train(options, folder, lambda *args: None, resume=resume)  # type: ignore[arg-type]
    return saved(folder)


@pytest.mark.parametrize(("head", "noisy"), KINDS)
def test_a_run_repeats_and_goes_on_where_it_stopped(tmp_path: Path, head: str, noisy: bool) -> None:
    whole = end_of(tmp_path / "whole", small(head, noisy))
    assert same(whole, end_of(tmp_path / "again", small(head, noisy)))
    end_of(tmp_path / "half", small(head, noisy, iterations=2))
    assert same(whole, end_of(tmp_path / "half", small(head, noisy), resume=True))
    agents = [make_agent(str(tmp_path / name)) for name in ("whole", "again")]
    one, two = (play_match([agent, make_agent("random")], 6, 3) for agent in agents)
    assert (one.scores == two.scores).all()


@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize("head", HEADS)
def test_a_checkpoint_brings_its_heads_back(tmp_path: Path, hands: Trajectories, head: str, noisy: bool) -> None:
    play = learner("play", "mlp", head=head, noisy=noisy, atoms_low=-9, atoms_high=8)
    discard = learner("discard", "mlp", head=head, noisy=noisy)
    save_weights(tmp_path / "w.safetensors", discard.network, play.network, {})
    found = load_weights(tmp_path / "w.safetensors")
    assert found.play_network.config == play.network.config and found.discard_network.config == discard.network.config
    for part, kept, network in (("play", play, found.play_network), ("discard", discard, found.discard_network)):
        states, actions = decisions(hands.take(slice(0, 20)), part)
        encoder = found.play_encoder if part == "play" else found.discard_encoder
        values = QFunction(encoder, network).values(states, actions)
        assert (values == kept.q_function().values(states, actions)).all()


def test_options_that_a_checkpoint_does_not_name_are_the_defaults(tmp_path: Path) -> None:
    network = learner("play").network
    save_weights(tmp_path / "new.safetensors", None, network, {})
    with safe_open(tmp_path / "new.safetensors", framework="pt") as file:
        header = file.metadata()
    found = json.loads(header["metadata"])
    assert found["networks"]["play"]["network"]["head"] == "value"
    found["networks"]["play"]["network"] = {"name": "mlp", "hidden": [16], "channels": 2, "lstm_hidden": 8}
    header["metadata"] = json.dumps(found)
    del header["digest"]
    save_file(
        {f"play.{name}": value for name, value in network.state_dict().items()}, tmp_path / "old.safetensors", header
    )
    assert load_weights(tmp_path / "old.safetensors").play_network.config == network.config
    assert sorted(network.state_dict()) == [f"layers.layers.{n}.{part}" for n in (0, 2) for part in ("bias", "weight")]


@pytest.mark.parametrize("head", ["dueling", "categorical"])
def test_pretraining_teaches_every_head_the_order_of_hands(head: str, monkeypatch: pytest.MonkeyPatch) -> None:
    some = pretraining.all_hands()[::5]
    monkeypatch.setattr(pretraining, "all_hands", lambda: some)
    network = learner("discard", state="afterstate", hidden=[32], head=head, atoms_low=0, atoms_high=30)
    options = PretrainingOptions(epochs=1, batch_size=256, lr=5e-3)
    result = pretrain(network.network, network.encoder, options, seed=1)
    assert result.mean_absolute_error < 0.9  # 3.1 points are the deviation of the 270,725 hands
    six = np.sort(np.random.default_rng(1).random((200, 52)).argsort(axis=1)[:, :6], axis=1).astype(np.int8)
    states = np.concatenate([six, np.zeros((200, 3), dtype=np.int8)], axis=1)
    values = network.q_function().all_values(states, np.ones((200, 15), dtype=bool))
    kept = six[:, [[slot for slot in range(6) if slot not in pair] for pair in discard_pairs()]]
    points = hand_values(kept.reshape(-1, 4)).reshape(200, 15)
    lost = points.max(axis=1) - points[np.arange(200), values.argmax(axis=1)]
    assert lost.mean() < 1.5


@pytest.mark.parametrize(("head", "noisy"), KINDS)
def test_both_networks_learn_from_real_samples(hands: Trajectories, head: str, noisy: bool) -> None:
    for part in ("play", "discard"):
        network = learner(part, head=head, noisy=noisy)
        samples = (
            discard_samples(hands, "own")
            if part == "discard"
            else play_samples(hands, "monte_carlo", "margin", network.q_function(), 0.1)
        )
        generator = np.random.default_rng(1)
        before = errors(network, samples)
        network.train_pass(samples, 5e-3, 64, 3.0, generator)
        assert errors(network, samples) < 0.95 * before


def errors(network: LearnedNetwork, samples: Batch) -> float:
    return float(np.square(network.q_function().values(samples.states, samples.actions) - samples.targets).mean())


@dataclass
class Job:
    """A config with one group."""

    network: Any


def test_options_out_of_range_are_refused() -> None:
    for config, message in (
        (
            PlayNetworkConfig(head="duelling"),
            r"head=duelling: did you mean dueling\? expected one of value, dueling, categorical",
        ),
        (DiscardNetworkConfig(atoms_low=-5000), "atoms_low=-5000: expected -1000 to 1000"),
    ):
        with pytest.raises(OptionError, match=message):
            check_values(Job(config))


def test_a_climber_takes_no_noise() -> None:
    noisy, plain = DiscardNetworkConfig("mlp", [8], noisy=True), PlayNetworkConfig("mlp", [8])
    with pytest.raises(OptionError, match="discard_network.noisy=true: read with learner=replay alone"):
        NetworkClimber(HillClimbOptions(), Setting(), StateOptions("full", "full"), noisy, plain)


# --- arithmetic ---------------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize(("head", "noisy"), KINDS)
def test_a_gpu_gives_the_same_values_and_learns(hands: Trajectories, head: str, noisy: bool) -> None:
    there = learner("play", "mlp", head=head, noisy=noisy)
    states, actions = decisions(hands, "play")
    expected = there.q_function(3).values(states, actions)
    there = LearnedNetwork(there.encoder, there.network, torch.device("cuda"))
    assert there.q_function(3).values(states, actions) == pytest.approx(expected, abs=1e-3)
    samples = play_samples(hands, "q_learning", "margin", there.q_function(), 0.1)
    passed = there.train_pass(samples, 1e-3, 64, 1.0, np.random.default_rng(1), Sampling(True, 0.6, 0.4))
    assert math.isfinite(passed.loss)
