"""The training loop: what is learned, schedules, determinism, resumption (after kill -9 too), what is saved."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open

from deepcrib.agents import AgentError, make_agent
from deepcrib.agents.q_network import QNetworkAgent
from deepcrib.errors import OptionError
from deepcrib.files.weights import CheckpointError
from deepcrib.game.engine import Games
from deepcrib.kernels.workers import use_workers
from deepcrib.learners.replay import batch, play, update
from deepcrib.learners.replay import learner as replay
from deepcrib.learners.replay.batch import Batch, PlayTargets
from deepcrib.learners.replay.options import (
    AlgorithmOptions,
    PretrainingOptions,
    ReplayOptions,
    RewardOptions,
    StateOptions,
)
from deepcrib.learners.replay.pretraining import ShowPretraining
from deepcrib.learners.replay.update import LearnedNetwork
from deepcrib.matches import play_match
from deepcrib.matches.trajectories import Trajectories, self_play
from deepcrib.networks import DiscardNetworkConfig, PlayNetworkConfig, make_discard_network, make_play_network
from deepcrib.networks.checkpoints import load_weights
from deepcrib.networks.encoders import PLAY_COLUMNS, make_discard_encoder, make_play_encoder
from deepcrib.training.options import EvaluationOptions
from tests.support.figures import match_of
from tests.support.reference import plain_discards
from tests.support.replaying import Trained, discard_samples, play_samples, saved, train

ALGORITHMS = ("monte_carlo", "sarsa", "expected_sarsa", "q_learning")
PUBLISHED = "belanger2019_cnn_lstm"
"""The play network, and the state that it reads."""
PLAY_NETWORKS = ("mlp", PUBLISHED)


def small(
    seed: int = 1,
    algorithm: str = "sarsa",
    play: str = "mlp",
    discard: str = "mlp",
    opponents: tuple[str, ...] = (),
    every: int = 0,
    targets: dict[str, Any] | None = None,
    **learner: Any,
) -> Any:
    """Settings of a run that takes a moment: 20 hands an iteration, small networks, no pretraining."""
    defaults = {"iterations": 4, "unit": "hands", "episodes": 20, "epochs_kept": 2, "checkpoint_every": 2}
    return SimpleNamespace(
        seed=seed,
        device="cpu",
        learner=ReplayOptions(**(defaults | learner)),
        algorithm=AlgorithmOptions(algorithm, **(targets or {})),
        reward=RewardOptions(),
        state=StateOptions(PUBLISHED if play == PUBLISHED else "full", "full", dealer=True),
        discard_network=DiscardNetworkConfig(discard, [16], channels=2),
        play_network=PlayNetworkConfig(play, [16], channels=2, lstm_hidden=8),
        pretraining=PretrainingOptions(enabled=False),
        evaluation=EvaluationOptions(list(opponents), every=every, games=7, epsilon=0.0),
    )


def no_matches(*args: Any) -> Any:
    raise AssertionError("no match was asked for")


def run(folder: Path, settings: Any, **options: Any) -> Trained:
    folder.mkdir(exist_ok=True)
    return train(settings, folder, options.pop("evaluate", no_matches), **options)


def same(one: Any, two: Any) -> bool:
    """Bit for bit, through dicts and lists."""
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(same(one[key], two[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(two) and all(same(a, b) for a, b in zip(one, two, strict=True))
    if isinstance(one, torch.Tensor):
        return one.dtype == two.dtype and torch.equal(one, two)
    return bool(one == two)


def assert_same_runs(one: Path, two: Path) -> None:
    """The same weights, and the same state (optimisers, buffer, counters) but for the time it took."""
    assert weights(one) == weights(two)
    states = [saved(folder) for folder in (one, two)]
    for state in states:
        assert {"discard", "play", "buffer", "iteration", "hands"} <= state.keys()
    assert same(*states)


def weights(folder: Path) -> dict[str, Any]:
    """Everything in the final checkpoint, comparable bit for bit."""
    with safe_open(folder / "weights.safetensors", framework="np") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is no mapping
        return {"metadata": file.metadata()} | {
            name: (value.shape, str(value.dtype), value.tobytes()) for name, value in tensors.items()
        }


# --- something too easy to fail -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hands() -> Trajectories:
    return self_play(make_agent("random"), 0, 600, 1_001, unit="hands")


def learned(part: str, network: str, seed: int = 3) -> LearnedNetwork:
    torch.manual_seed(seed)
    if part == "play":
        encoder: Any = make_play_encoder(PUBLISHED if network == PUBLISHED else "full")
        config: Any = PlayNetworkConfig(network, [64], channels=2, lstm_hidden=32)
        return LearnedNetwork(encoder, make_play_network(config, encoder.spec), torch.device("cpu"))
    encoder = make_discard_encoder("full")
    config = DiscardNetworkConfig(network, [64], channels=2)
    return LearnedNetwork(encoder, make_discard_network(config, encoder.spec), torch.device("cpu"))


@pytest.mark.parametrize(
    ("part", "network"), [("discard", "mlp"), ("discard", "belanger2019"), ("play", "mlp"), ("play", PUBLISHED)]
)
def test_a_linear_target_is_learned(hands: Trajectories, part: str, network: str) -> None:
    """Targets that add up a number for each rank held: an error of a quarter of their deviation at most."""
    learner = learned(part, network)
    if part == "play":
        states, actions = hands.play_states.reshape(-1, PLAY_COLUMNS), hands.play_actions.reshape(-1)
        held = states[:, :4]
    else:
        states, actions = hands.discard_states.reshape(-1, 9), hands.discard_actions.reshape(-1)
        held = states[:, :6] // 4
    worth = np.random.default_rng(4).normal(size=14)
    worth[13] = 0  # of a card that is gone, rank -1
    targets = worth[held].sum(axis=1).astype(np.float32)
    samples = Batch(states, actions, targets)
    generator = np.random.default_rng(5)
    first = learner.train_pass(samples, 5e-3, 64, 1.0, generator)
    for _ in range(3):
        last = learner.train_pass(samples, 2e-3, 64, 2.0, generator)
    deviation = float(targets.std())
    assert last.loss < (deviation / 4) ** 2 < first.loss
    assert last.target_mean == pytest.approx(float(targets.mean()), rel=1e-5)
    assert last.target_std == pytest.approx(deviation, rel=1e-5)
    assert last.value_mean == pytest.approx(float(targets.mean()), abs=0.1 * deviation)
    assert last.value_std == pytest.approx(deviation, rel=0.1)
    assert first.samples == len(samples) and last.samples == 2 * len(samples)


def test_the_figures_of_a_pass_are_its_own(hands: Trajectories) -> None:
    """With a learning rate of nothing: loss, mean and deviation of the values by hand, and no weight moves."""
    learner = learned("play", "mlp")
    before = {name: value.clone() for name, value in learner.network.state_dict().items()}
    samples = play_samples(hands.take(slice(0, 50)), "monte_carlo", "margin", learner.q_function(), 0.0)
    found = learner.train_pass(samples, 0.0, 64, 1.0, np.random.default_rng(1))
    values = learner.q_function().values(samples.states, samples.actions)
    assert found.loss == pytest.approx(np.square(values - samples.targets).mean(), rel=1e-4)
    assert found.value_mean == pytest.approx(values.mean(), abs=1e-5)
    assert found.value_std == pytest.approx(values.std(), rel=1e-3)
    assert same(before, learner.network.state_dict())


@pytest.mark.parametrize(("passes", "counts"), [(1.0, {1}), (2.0, {2}), (2.5, {2, 3}), (0.25, {0, 1})])
def test_a_pass_visits_every_sample_so_often(hands: Trajectories, passes: float, counts: set[int]) -> None:
    """In minibatches without replacement: no sample comes again before all have come."""
    learner = learned("play", "mlp")
    samples = play_samples(hands.take(slice(0, 30)), "monte_carlo", "margin", learner.q_function(), 0.0)
    rows = np.arange(len(samples))
    seen: list[int] = []
    sizes: list[int] = []
    encoder = learner.encoder
    learner.encoder = SimpleNamespace(  # the columns of a sample are its number
        indices=lambda states, actions: rows,
        expand=lambda numbers, device: (
            sizes.append(len(numbers)),
            seen.extend(numbers.tolist()),
            encoder.encode(samples.states[numbers], samples.actions[numbers], device),
        )[2],
    )
    found = learner.train_pass(samples, 1e-3, 64, passes, np.random.default_rng(2))
    assert found.samples == len(seen) == round(passes * len(samples))
    assert set(np.bincount(seen, minlength=len(samples)).tolist()) == counts
    assert all(size == 64 for size in sizes[:-1]) and seen[: len(rows)] != sorted(seen[: len(rows)])
    assert set(seen[: len(rows)]) == set(rows.tolist()) or passes < 1


@pytest.mark.parametrize("play", PLAY_NETWORKS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_lowers_the_loss_on_its_own_targets(hands: Trajectories, algorithm: str, play: str) -> None:
    """Targets from the network as it was before; learning from them brings it nearer to them."""
    learner = learned("play", play)
    before = learner.q_function()
    samples = play_samples(hands.take(slice(0, 200)), algorithm, "offensive_defensive", before, 0.05)
    frozen = samples.targets.copy()

    def loss() -> float:
        values = learner.q_function().values(samples.states, samples.actions)
        return float(np.square(values - samples.targets).mean())

    at_first = loss()
    learner.train_pass(samples, 3e-3, 64, 8.0, np.random.default_rng(6))
    assert loss() < 0.8 * at_first
    assert (samples.targets == frozen).all()


@pytest.mark.parametrize("play", PLAY_NETWORKS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_an_iteration_of_every_algorithm(algorithm: str, play: str, tmp_path: Path) -> None:
    figures: list[dict[str, float]] = []
    settings = small(algorithm=algorithm, play=play, discard="belanger2019", iterations=1)
    result = run(tmp_path, settings, progress=lambda done, found: figures.append(dict(found)))
    assert result.iterations == 1 and result.hands == 20
    assert all(np.isfinite(value) for value in figures[0].values())
    assert figures[0]["loss/play"] > 0 and figures[0]["loss/discard"] > 0


def test_a_minute_of_self_play_is_more_than_enough_to_beat_random(tmp_path: Path) -> None:
    """15,000 hands of self-play, never against it: untrained networks win about half of their games."""
    settings = small(
        algorithm="monte_carlo",
        iterations=10,
        episodes=1_500,
        epochs_kept=1,
        batch_size=256,
        epsilon=0.2,
        discard_lr=3e-3,
        play_lr=3e-3,
        lr_schedule="linear",
        checkpoint_every=100,
    )
    settings.reward = RewardOptions(play="margin", discard="difference")
    random_agent = make_agent("random")
    untrained = run(tmp_path / "untrained", small(iterations=0)).agent
    trained = run(tmp_path / "trained", settings).agent
    at_first, at_last = (
        (play_match([agent, random_agent], 1_000, 1_002).winner == 0).mean() for agent in (untrained, trained)
    )
    assert at_first < 0.65
    assert at_last > 0.7


# --- schedules ----------------------------------------------------------------------------------------------


def test_schedules_of_the_paper() -> None:
    """Epsilon 0.05 x 0.995^t, learning rates 5e-5 (discard) and 7e-4 (play) x 0.99^t."""
    options = ReplayOptions()
    assert options.schedule(0) == pytest.approx((0.05, 5e-5, 7e-4))
    assert options.schedule(1) == pytest.approx((0.04975, 4.95e-5, 6.93e-4))
    assert options.schedule(100) == pytest.approx((0.0302885, 1.830162e-5, 2.562226e-4), rel=1e-5)
    assert options.schedule(499) == pytest.approx((0.0040993, 3.318557e-7, 4.645979e-6), rel=1e-4)


def test_linear_learning_rates() -> None:
    options = ReplayOptions(iterations=4, lr_schedule="linear", discard_lr=4e-4, play_lr=8e-4, epsilon_decay=1.0)
    rates = [options.schedule(iteration) for iteration in range(4)]
    assert [rate[0] for rate in rates] == [0.05] * 4
    assert [rate[1] for rate in rates] == pytest.approx([4e-4, 3e-4, 2e-4, 1e-4])
    assert [rate[2] for rate in rates] == pytest.approx([8e-4, 6e-4, 4e-4, 2e-4])


def test_the_loop_follows_its_schedules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Epsilon of both seats in self-play and of the targets, learning rates in the optimisers, by iteration."""
    played, targets, rates = [], [], []

    def spy_self_play(agent: QNetworkAgent, *args: Any, **options: Any) -> Trajectories:
        played.append(getattr(agent, "learner", agent).epsilon)
        return self_play(agent, *args, **options)

    def spy_samples(hands: Trajectories, how: PlayTargets, frozen: Any, epsilon: float, **options: Any) -> Batch:
        targets.append(epsilon)
        return batch.play_samples(hands, how, frozen, epsilon, **options)

    def progress(done: int, figures: Any) -> None:
        state = saved(tmp_path)
        rates.append([state[part]["optimizer"]["param_groups"][0]["lr"] for part in ("discard", "play")])
        assert figures["schedule/epsilon"] == played[-1]
        assert [figures[f"schedule/{part}_lr"] for part in ("discard", "play")] == rates[-1]

    monkeypatch.setattr(play, "self_play", spy_self_play)
    monkeypatch.setattr(replay, "play_samples", spy_samples)
    settings = small(iterations=3, epsilon=0.4, epsilon_decay=0.5, lr_decay=0.1, play_lr=1e-2, checkpoint_every=1)
    run(tmp_path, settings, progress=progress)
    assert played == targets == pytest.approx([0.4, 0.2, 0.1])
    assert np.array(rates) == pytest.approx(np.array([[5e-5, 1e-2], [5e-6, 1e-3], [5e-7, 1e-4]]))


def test_self_play_has_a_temperature_and_matches_have_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The choices of self-play, again by an agent of that temperature, and not by one without it."""
    players, matched = [], []

    def spy(agent: QNetworkAgent, *args: Any, **options: Any) -> Trajectories:
        player = getattr(agent, "learner", agent)
        players.append(player)
        hands = self_play(agent, *args, **options)
        for temperature, same_choices in ((0.5, True), (0.0, False)):
            other = QNetworkAgent(player.discard_q, player.play_q, player.epsilon, temperature=temperature)
            again = self_play(other, *args, **options)
            assert (again.play_actions == hands.play_actions).all() == same_choices
            assert (again.discard_actions == hands.discard_actions).all()
        return hands

    def match(agent: QNetworkAgent, *args: Any) -> Any:
        matched.append(agent.temperature)
        return match_of(win_rate=0.5, ci_low=0.4, ci_high=0.6)

    monkeypatch.setattr(play, "self_play", spy)
    run(tmp_path, small(iterations=2, temperature=0.5, opponents=("random",), every=1), evaluate=match)
    assert [agent.temperature for agent in players] == [0.5, 0.5] and set(matched) == {0.0}


def test_iterations_play_games_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers: list[range] = []

    def spy(agent: Any, first_game: int, episodes: int, seed: int, **options: Any) -> Trajectories:
        numbers.append(range(first_game, first_game + episodes))
        seeds.add(seed)
        assert options == {"unit": "hands", "dealing": "acc"}
        return self_play(agent, first_game, episodes, seed, **options)

    seeds: set[int] = set()
    monkeypatch.setattr(play, "self_play", spy)
    run(tmp_path, small(iterations=3))
    every = [number for one in numbers for number in one]
    assert len(every) == 60 == len(set(every)) and len(seeds) == 1


def test_targets_of_an_iteration_come_from_the_networks_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bootstrap network is frozen within an iteration: it is the one that the last iteration left."""
    used: list[dict] = []
    left: list[dict] = []

    def spy(hands: Trajectories, how: PlayTargets, frozen: Any, *rest: Any, **options: Any) -> Batch:
        used.append({name: value.clone() for name, value in frozen.network.state_dict().items()})
        return batch.play_samples(hands, how, frozen, *rest, **options)

    monkeypatch.setattr(replay, "play_samples", spy)
    settings = small(iterations=3, checkpoint_every=1)
    run(tmp_path, settings, progress=lambda done, figures: left.append(saved(tmp_path)["play"]["network"]))
    assert same(used[1], left[0]) and same(used[2], left[1])
    assert not same(used[2], left[2])


def test_a_target_network_that_lags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With target_every = 2 targets come from the weights before iterations 1, 1, 3, 3, 5, whose choices are new."""
    used: list[tuple[dict, dict]] = []
    left: list[dict] = []

    def spy(hands: Trajectories, how: PlayTargets, frozen: Any, epsilon: float, chooser: Any, **options: Any) -> Batch:
        both = (frozen.network, chooser.network)
        used.append(tuple({name: value.clone() for name, value in one.state_dict().items()} for one in both))
        return batch.play_samples(hands, how, frozen, epsilon, chooser=chooser, **options)

    def progress(done: int, figures: Any) -> None:
        left.append(saved(tmp_path)["play"]["network"])

    monkeypatch.setattr(replay, "play_samples", spy)
    settings = small(algorithm="q_learning", targets={"double": True}, target_every=2, iterations=5, checkpoint_every=1)
    run(tmp_path, settings, progress=progress)
    valued, chosen = [one for one, _ in used], [two for _, two in used]
    assert all(same(one, two) for one, two in zip(chosen[1:], left, strict=False))
    assert same(valued[0], chosen[0]) and same(valued[1], valued[0]) and not same(valued[1], chosen[1])
    assert same(valued[2], left[1]) and same(valued[3], left[1]) and same(valued[4], left[3])
    with pytest.raises(CheckpointError, match=r"learner\.target_every is 1 for one"):
        run(tmp_path, small(algorithm="q_learning"), resume=True)


def test_each_option_of_targets_and_sampling_changes_what_is_learned(tmp_path: Path) -> None:
    """From the same seed; and the options that leave everything as it was do."""
    cases: dict[str, dict[str, Any]] = {
        "plain": {},
        "steps": {"targets": {"n_steps": 2}},
        "trace": {"targets": {"trace_decay": 0.5}},
        "lagging": {"target_every": 2},
        "double": {"targets": {"double": True}, "target_every": 2},
        "prioritised": {"sampling": "prioritised"},
        "combined": {"combined": True},
    }
    for name, options in cases.items():
        run(tmp_path / name, small(algorithm="q_learning", iterations=2, play_lr=1e-2, **options))
    found = [repr(weights(tmp_path / name)) for name in cases]
    assert len(set(found)) == len(cases)


def test_combined_minibatches_of_the_loop_hold_the_newest_epoch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three epochs of 160 plays kept: 480 and 160 turns more, 20 minibatches of 32, each with 8 turns of the newest."""
    seen: list[list[np.ndarray]] = []
    newest: list[int] = []
    original = update.minibatches

    def spy(samples: int, newest_samples: int, *rest: Any) -> Any:
        batches = original(samples, newest_samples, *rest)
        if samples == 480:
            seen.append([rows for rows, _ in batches])
            newest.append(newest_samples)
        return batches

    monkeypatch.setattr(update, "minibatches", spy)
    run(tmp_path, small(iterations=3, epochs_kept=3, batch_size=32, combined=True))
    (batches,) = seen
    assert newest == [160] and [len(rows) for rows in batches] == [32] * 20
    counts = np.bincount(np.concatenate(batches), minlength=480)
    assert set(counts[:320].tolist()) == {1} and set(counts[320:].tolist()) == {2}  # none lost
    assert min((rows >= 320).sum() for rows in batches) >= 8


@pytest.mark.parametrize(
    ("algorithm", "options", "message"),
    [
        ("monte_carlo", {"targets": {"n_steps": 3}}, "algorithm.n_steps=3: monte_carlo"),
        ("monte_carlo", {"targets": {"trace_decay": 0.5}}, "algorithm.trace_decay=0.5: monte_carlo"),
        ("monte_carlo", {"target_every": 5}, "learner.target_every=5"),
        ("sarsa", {"targets": {"n_steps": 2, "trace_decay": 0.5}}, "n_steps=2 algorithm.trace_decay=0.5"),
        ("sarsa", {"targets": {"double": True}, "target_every": 2}, "algorithm.double=true: .*, not sarsa"),
        ("q_learning", {"targets": {"double": True}}, "algorithm.double=true learner.target_every=1"),
        ("sarsa", {"priority_exponent": 0.5}, "learner.priority_exponent=0.5: .*learner.sampling=prioritised"),
        ("expected_sarsa", {"temperature": 0.1}, "learner.temperature=0.1 algorithm=expected_sarsa: .*temperature=0"),
        ("sarsa", {"sampling": "prioritised", "combined": True}, "learner.combined=true learner.sampling=prioritised"),
    ],
)
def test_options_that_do_not_go_together(algorithm: str, options: dict, message: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=message) as error:
        run(tmp_path, small(algorithm=algorithm, **options))
    assert "\n" not in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_the_buffer_given_as_epochs_and_as_size(tmp_path: Path) -> None:
    totals: list[float] = []
    result = run(tmp_path / "epochs", small(iterations=4, epochs_kept=3, episodes=10))
    assert len(saved(tmp_path / "epochs")["buffer"]) == 3
    assert result.hands == 40
    settings = small(iterations=4, buffer_size=240, replacement=0.5, episodes=999, unit="games")  # 30 hands, 15 new
    run(tmp_path / "size", settings, progress=lambda done, found: totals.append(found["progress/hands"]))
    assert totals == [15, 30, 45, 60]
    parts = saved(tmp_path / "size")["buffer"]
    assert sum(len(part["dealer"]) for part in parts) == 30
    assert all((part["discard_states"][:, :, 7:] == 0).all() for part in parts)  # single hands, at 0-0


def test_unforced_plays_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {}
    for forced in (True, False):
        counts: list[int] = []

        def spy(*args: Any, counts: list[int] = counts, **options: Any) -> Batch:
            samples = batch.play_samples(*args, **options)
            counts.append(len(samples))
            return samples

        monkeypatch.setattr(replay, "play_samples", spy)
        run(tmp_path / str(forced), small(iterations=1, forced=forced))
        sizes[forced] = counts[0]
    assert sizes[True] == 160 > 1.2 * sizes[False]


@pytest.mark.parametrize("scores", [False, True])
def test_what_follows_a_won_game_is_learned_by_those_alone_who_do_not_see_the_score(
    scores: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the teacher's games as in self-play; the buffer keeps whole hands either way."""
    seen: dict[str, list[Trajectories]] = {"play": [], "discard": []}

    def spy(part: str, sample: Any) -> Any:
        def samples(hands: Trajectories, *args: Any, **options: Any) -> Batch:
            seen[part].append(hands)
            return sample(hands, *args, **options)

        return samples

    monkeypatch.setattr(replay, "play_samples", spy("play", batch.play_samples))
    monkeypatch.setattr(replay, "discard_samples", spy("discard", batch.discard_samples))
    settings = small(iterations=1, unit="games", episodes=6)
    settings.state.scores = scores
    settings.pretraining = PretrainingOptions(enabled=False, teacher="greedy", teacher_episodes=6, epochs=1)
    run(tmp_path, settings)
    assert [len(found) for found in seen.values()] == [2, 2]
    for hands in (*seen["play"], *seen["discard"]):
        assert (hands.play_seats < 0).any() == scores
        assert (hands.hand_points == 0).any(axis=1).sum() >= (6 if scores else 0)
    [kept] = saved(tmp_path)["buffer"]
    assert (kept["play_seats"] >= 0).all()


# --- the same seed, the same weights ------------------------------------------------------------------------


@pytest.mark.parametrize(("play", "discard"), [("mlp", "mlp"), (PUBLISHED, "belanger2019")])
def test_the_same_seed_gives_the_same_weights(play: str, discard: str, tmp_path: Path) -> None:
    """Whatever the number of Numba threads and the state of torch's own generator, which is left alone."""
    settings = small(play=play, discard=discard)
    run(tmp_path / "one", settings)
    torch.manual_seed(999)
    np.random.seed(999)  # noqa: NPY002 - the old generator is the one that code might lean on by mistake
    before = torch.random.get_rng_state()
    run(tmp_path / "two", settings)
    assert torch.equal(before, torch.random.get_rng_state())
    assert_same_runs(tmp_path / "one", tmp_path / "two")
    use_workers(1)
    run(tmp_path / "one thread", settings)
    assert_same_runs(tmp_path / "one", tmp_path / "one thread")
    run(tmp_path / "other seed", small(seed=2, play=play, discard=discard))
    assert weights(tmp_path / "one") != weights(tmp_path / "other seed")


def test_seeds_start_from_other_weights_and_play_other_hands(tmp_path: Path) -> None:
    for seed in (1, 2):
        run(tmp_path / str(seed), small(seed=seed, iterations=0))
    networks = [load_weights(tmp_path / str(seed)).play_network for seed in (1, 2)]
    assert not same(*(network.state_dict() for network in networks))


def test_monitoring_changes_nothing(tmp_path: Path) -> None:
    """Matches on the way leave the weights as they would have been without."""
    run(tmp_path / "without", small())
    run(tmp_path / "with", small(opponents=("random", "greedy"), every=2), evaluate=Matches())
    assert_same_runs(tmp_path / "without", tmp_path / "with")


# --- resumption ---------------------------------------------------------------------------------------------


DOUBLE: dict[str, Any] = {"targets": {"double": True, "trace_decay": 0.5}, "target_every": 4}


@pytest.mark.parametrize(
    ("play", "algorithm", "options"),
    [
        ("mlp", "monte_carlo", {}),
        (PUBLISHED, "expected_sarsa", {}),
        ("mlp", "q_learning", {"buffer_size": 300, "replacement": 0.3}),
        ("mlp", "q_learning", {"combined": True} | DOUBLE),  # stopped while the target network lags
    ],
)
def test_n_and_n_iterations_are_2n(play: str, algorithm: str, options: dict, tmp_path: Path) -> None:
    half = small(algorithm=algorithm, play=play, iterations=3, **options)
    whole = small(algorithm=algorithm, play=play, iterations=6, **options)
    run(tmp_path / "whole", whole)
    first = run(tmp_path / "halves", half)
    second = run(tmp_path / "halves", whole, resume=True)
    assert (first.iterations, second.iterations) == (3, 6)
    assert second.hands == 2 * first.hands and second.learner.seconds > first.learner.seconds
    assert_same_runs(tmp_path / "whole", tmp_path / "halves")


def test_a_finished_run_resumes_to_itself(tmp_path: Path) -> None:
    run(tmp_path, small())
    before = weights(tmp_path)
    result = run(tmp_path, small(), resume=True)
    assert result.iterations == 4 and weights(tmp_path) == before


class Stopped(Exception):  # noqa: N818
    """Thrown in the middle of a run."""


@pytest.mark.parametrize("stop", [2, 3, 5])  # at a saved state, and after one
def test_a_run_stopped_between_two_saved_states(stop: int, tmp_path: Path) -> None:
    """Learning rates and weights that depend on the number of iterations, and a fixed discard agent."""
    settings = small(iterations=6, lr_schedule="linear", discard_agent="greedy", sampling="prioritised")
    run(tmp_path / "whole", settings)

    def interrupt(done: int, figures: Any) -> None:
        if done == stop:
            raise Stopped

    with pytest.raises(Stopped):
        run(tmp_path / "stopped", settings, progress=interrupt)
    assert saved(tmp_path / "stopped")["iteration"] == stop // 2 * 2
    run(tmp_path / "stopped", settings, resume=True)
    assert_same_runs(tmp_path / "whole", tmp_path / "stopped")


def test_resuming_nothing(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="state.pt") as error:
        run(tmp_path, small(), resume=True)
    assert "\n" not in str(error.value)


def for_ever(iterations: int = 1_000_000) -> Any:
    """The run that is killed; its schedule does not depend on the number of iterations."""
    return small(iterations=iterations, episodes=12, checkpoint_every=3)


def train_for_ever(folder: str, resume: str) -> None:
    """What the killed processes do."""
    torch.set_num_threads(1)
    run(Path(folder), for_ever(), resume=resume == "resume")


def kill_at_random(folder: Path, resume: bool, delay: float) -> None:
    """Start a run, wait until it has saved a state, and a moment more; then kill -9."""
    arguments = f"{str(folder)!r}, {'resume' if resume else 'new'!r}"
    call = f"from tests.learners.replay.test_replay import train_for_ever; train_for_ever({arguments})"
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    state = folder / "state.pt"
    before = state.stat().st_mtime_ns if resume else None
    process = subprocess.Popen([sys.executable, "-c", call], env=environment, stderr=subprocess.PIPE, text=True)
    try:
        while not state.exists() or state.stat().st_mtime_ns == before:
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.002)
        time.sleep(delay)
        assert process.poll() is None, process.stderr.read()
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    assert process.returncode == -signal.SIGKILL


@pytest.mark.slow  # test_cli kills a run once in every suite
def test_a_run_killed_at_random_moments_ends_with_the_weights_of_one_never_killed(tmp_path: Path) -> None:
    """kill -9 twice, the second time in a resumed run; other moments every time the test runs."""
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    for resume in (False, True):
        kill_at_random(killed, resume, random.uniform(0, 0.4))
    done = saved(killed)["iteration"]
    assert done >= 6 and done % 3 == 0
    run(killed, for_ever(done + 4), resume=True)
    run(whole, for_ever(done + 4))
    assert_same_runs(whole, killed)


# --- what else a run does -----------------------------------------------------------------------------------


class Matches:
    """In place of `evaluate`: remembers what it was asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def __call__(self, agent: QNetworkAgent, opponent: Any, games: int, seed: int) -> Any:
        self.calls.append((opponent, games, seed, agent.epsilon))
        return match_of(win_rate=0.5, ci_low=0.4, ci_high=0.6)


class Writer:
    """In place of a SummaryWriter."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.scalars: dict[str, dict[int, float]] = {}
        self.histograms: dict[str, dict[int, int]] = {}
        self.saved_at_flush: list[int] = []

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        assert step not in self.scalars.setdefault(tag, {})
        self.scalars[tag][step] = float(value)

    def add_histogram(self, tag: str, values: np.ndarray, step: int, bins: np.ndarray) -> None:
        assert step not in self.histograms.setdefault(tag, {})
        self.histograms[tag][step] = len(values)

    def flush(self) -> None:
        """Events must be on the disk before the state that a resumed run goes on from."""
        state = self.folder / "state.pt"
        self.saved_at_flush.append(saved(state.parent)["iteration"] if state.exists() else 0)


def test_matches_on_the_way(tmp_path: Path) -> None:
    """Every second iteration, against each opponent, greedily, other games every time."""
    matches, figures = Matches(), {}
    settings = small(iterations=5, opponents=("random", "greedy"), every=2)
    run(tmp_path, settings, evaluate=matches, progress=lambda done, found: figures.update({done: dict(found)}))
    assert [(call[0].name, call[1], call[3]) for call in matches.calls] == [("random", 7, 0.0), ("greedy", 7, 0.0)] * 2
    seeds = [call[2] for call in matches.calls]
    assert seeds[0] == seeds[1] != seeds[2] == seeds[3]
    for done, found in figures.items():
        assert ("greedy/win_rate" in found) == (done % 2 == 0)
    assert figures[4]["random/win_rate_low"] == 0.4 and figures[4]["random/win_rate_high"] == 0.6
    other = Matches()
    settings.evaluation.seed = 77
    run(tmp_path / "other", settings, evaluate=other)
    assert {call[2] for call in other.calls}.isdisjoint(seeds)


def test_scalars(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    settings = small(iterations=5, opponents=("random",), every=5)
    run(tmp_path, settings, evaluate=Matches(), writer=writer)
    every = {f"{what}/{part}" for what in ("loss",) for part in ("discard", "play")}
    every |= {
        f"{what}/{part}_{kind}" for what in ("q", "target") for part in ("discard", "play") for kind in ("mean", "std")
    }
    every |= {"schedule/epsilon", "schedule/discard_lr", "schedule/play_lr", "speed/hands_per_second"}
    for tag in every:
        assert sorted(writer.scalars[tag]) == [1, 2, 3, 4, 5], tag
    assert list(writer.scalars["random/win_rate"]) == [5]
    for tag in (f"{what}/{part}" for what in ("q", "target") for part in ("discard", "play")):
        assert list(writer.histograms[tag]) == [5], tag
    assert writer.saved_at_flush == sorted(writer.saved_at_flush)
    # before the first iteration, after iterations 2 and 4, and after the last: each before its state
    assert writer.saved_at_flush[:4] == [0, 0, 2, 4]


def test_what_a_run_leaves(tmp_path: Path) -> None:
    """Final weights, and those of every saved iteration; each an agent by its path."""
    result = run(tmp_path, small(iterations=5))
    assert result.weights == tmp_path / "weights.safetensors"
    names = sorted(path.name for path in (tmp_path / "checkpoints").iterdir())
    assert names == [f"iterations_0000000{number}.safetensors" for number in (0, 2, 4, 5)]
    final = load_weights(tmp_path)
    expected = {"rules": "acc", "learner": "replay", "algorithm": "sarsa", "seed": 1, "iteration": 5, "hands": 100}
    expected |= {"reward_play": "offensive_defensive", "reward_discard": "own"}
    assert final.metadata.items() >= expected.items()
    loaded = make_agent(tmp_path)
    games = [play_match([agent, make_agent("greedy")], 20, 3) for agent in (result.agent, loaded)]
    assert (games[0].scores == games[1].scores).all()
    assert load_weights(tmp_path / "checkpoints" / names[1]).metadata["iteration"] == 2


@pytest.mark.parametrize("by", ["greedy", {"name": "weighted", "initial": "hand_max_min"}])
def test_a_run_keeps_its_discard_agent(by: Any, tmp_path: Path) -> None:
    """Its folder and its checkpoints are agents that discard as the run did."""
    result = run(tmp_path, small(discard_agent=by))
    assert load_weights(tmp_path).metadata["discards_by"] == by
    table = Games(np.arange(200), 3)
    seen = table.discard_observation(table.deal(), np.zeros(200, dtype=np.int8))
    expected = make_agent(by).discard(seen)
    for path in (tmp_path, tmp_path / "checkpoints" / "iterations_00000002.safetensors"):
        np.testing.assert_array_equal(make_agent(path).discard(seen), expected)
    again, other = make_agent(tmp_path), make_agent({"path": str(tmp_path), "discards": "random"})
    assert (play_match((again, result.agent), 20, 3, duplicate=True).winner == 0).mean() == 0.5  # twins
    assert (other.discard(seen) != expected).any()
    assert load_weights(run(tmp_path / "both", small()).weights).metadata["discards_by"] is None


def test_another_runs_discards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights are kept with the run, which can be moved alone; where they are gone a line says so, and what helps."""
    run(tmp_path / "first", small(seed=2))
    monkeypatch.chdir(tmp_path)
    run(tmp_path / "second", small(discard_agent={"name": "q_network", "path": "first"}))
    run(tmp_path / "third", small(discard_agent="second/weights.safetensors"))
    kept = [load_weights(tmp_path / name).metadata["discards_by"] for name in ("second", "third")]
    files = [file for name in ("second", "third") for file in (tmp_path / name / "agents").glob("*.safetensors")]
    assert kept == [{"name": "q_network", "path": f"agents/{files[0].name}"}, f"agents/{files[1].name}"]
    for file, copied in zip(files, ("first", "second"), strict=True):
        assert file.read_bytes() == (tmp_path / copied / "weights.safetensors").read_bytes()
    monkeypatch.chdir("/")
    table = Games(np.arange(200), 3)
    seen = table.discard_observation(table.deal(), np.zeros(200, dtype=np.int8))
    expected = make_agent(tmp_path / "first").discard(seen)
    for name in ("second", "third"):
        np.testing.assert_array_equal(make_agent(tmp_path / name).discard(seen), expected)
    (tmp_path / "first").rename(tmp_path / "moved")
    (tmp_path / "third").rename(tmp_path / "alone")
    shutil.rmtree(tmp_path / "second" / "agents")
    np.testing.assert_array_equal(make_agent(tmp_path / "alone").discard(seen), expected)
    with pytest.raises(AgentError) as error:
        make_agent(tmp_path / "second")
    weights = tmp_path / "second" / "weights.safetensors"
    said = f"{weights} names an agent that cannot be made: no checkpoint at {files[0]}; "
    assert str(error.value) == said + f"name another as {{path: {weights}, discards: AGENT}}"
    other = make_agent({"path": str(tmp_path / "second"), "discards": str(tmp_path / "moved")})
    np.testing.assert_array_equal(other.discard(seen), expected)


def test_fixed_discards_train_the_play_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hands are thrown as the fixed agent throws them, and no discard network is made, trained or saved."""
    seen: list[Trajectories] = []

    def spy(*args: Any, **options: Any) -> Trajectories:
        seen.append(self_play(*args, **options))
        return seen[-1]

    monkeypatch.setattr(play, "self_play", spy)
    figures: list[Any] = []
    settings = small(discard_agent="greedy")
    settings.pretraining.enabled = True  # there is nothing to pretrain
    result = run(tmp_path, settings, progress=lambda done, found: figures.append(found))
    assert result.agent.discard_q is None and result.agent.discards_by.name == "greedy"
    assert result.pretraining is None
    checkpoint = load_weights(tmp_path)
    assert checkpoint.discard_network is None and checkpoint.discard_encoder is None
    assert checkpoint.play_network is not None
    assert saved(tmp_path)["discard"] is None
    assert "loss/play" in figures[0] and "loss/discard" not in figures[0]
    for states, actions in zip(seen[0].discard_states, seen[0].discard_actions, strict=True):
        for seat in (0, 1):
            assert actions[seat] in plain_discards("greedy", states[seat, :6].tolist())


@pytest.fixture
def pretraining(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Pretraining that only sets the biases to 0.5; the list grows by its seed at each call."""
    seeds: list[int] = []

    def step(stage: Any) -> dict[str, float]:
        seeds.append(stage.setting.seed)
        with torch.no_grad():
            for parameter in stage.network.parameters():
                if parameter.dim() == 1:
                    parameter.fill_(0.5)
        stage.steps_done, stage.result = stage.num_steps, "pretrained"
        return {}

    monkeypatch.setattr(ShowPretraining, "step", step)
    return seeds


def test_pretraining_comes_first_and_once(pretraining: list[int], tmp_path: Path) -> None:
    half, whole = small(iterations=2), small(iterations=4)
    for settings in (half, whole):
        settings.pretraining.enabled = True
    result = run(tmp_path / "whole", whole)
    assert result.pretraining == "pretrained" and len(pretraining) == 1
    run(tmp_path / "halves", half)
    assert run(tmp_path / "halves", whole, resume=True).pretraining is None
    assert len(pretraining) == 2
    assert_same_runs(tmp_path / "whole", tmp_path / "halves")
    run(tmp_path / "without", small())
    assert weights(tmp_path / "without") != weights(tmp_path / "whole")
    assert len(pretraining) == 2


def test_pretrained_weights_are_what_self_play_starts_from(pretraining: list[int], tmp_path: Path) -> None:
    settings = small(iterations=0)
    settings.pretraining.enabled = True
    run(tmp_path, settings)
    network = load_weights(tmp_path).discard_network
    assert all((value == 0.5).all() for value in network.state_dict().values() if value.dim() == 1)


def tensors(folder: Path) -> dict[str, Any]:
    """The weights alone."""
    return {name: value for name, value in weights(folder).items() if name != "metadata"}


def test_training_that_begins_with_other_weights(pretraining: list[int], tmp_path: Path) -> None:
    """Of either network, with new optimisers, in place of pretraining; a resumed run goes on with its own."""
    first, other = tmp_path / "first", small(iterations=0, seed=2)
    run(first, small(iterations=2))
    run(tmp_path / "other", other)
    assert tensors(tmp_path / "other") != tensors(first)
    other.learner.initial, other.pretraining.enabled = str(first), True
    run(tmp_path / "taken", other)
    assert tensors(tmp_path / "taken") == tensors(first) and not pretraining
    whole, half = (small(iterations=n, seed=2, initial=str(first)) for n in (4, 2))
    run(tmp_path / "whole", whole)
    run(tmp_path / "halves", half)
    run(tmp_path / "halves", whole, resume=True)
    assert_same_runs(tmp_path / "whole", tmp_path / "halves")
    run(tmp_path / "play alone", small(iterations=0, initial=str(first), discard_agent="greedy"))
    assert tensors(tmp_path / "play alone") == {
        name: value for name, value in tensors(first).items() if name.startswith("play.")
    }


def test_weights_that_training_cannot_begin_with(tmp_path: Path) -> None:
    run(tmp_path / "play alone", small(iterations=0, discard_agent="greedy"))
    run(tmp_path / "both", small(iterations=0))
    wider, seeing = (small(initial=str(tmp_path / "both")) for _ in range(2))
    wider.discard_network.hidden, seeing.state.scores = [17], True
    for settings, message in (
        (
            small(initial=str(tmp_path / "play alone")),
            "it has no discard network; expected one, or learner.discard_agent",
        ),
        (small(initial="greedy"), "learner.initial=greedy: expected networks that learner=replay has trained"),
        (wider, r"its discard network has hidden=\[16\] \(expected hidden=\[17\]\)"),
        (seeing, r"its play network has scores=False \(expected scores=True\)"),
    ):
        with pytest.raises(OptionError, match=message):
            run(tmp_path / "refused", settings)
    with pytest.raises(AgentError, match="unknown agent 'nobody'"):
        run(tmp_path / "refused", small(initial="nobody"))


def test_rules_with_a_random_dealer(tmp_path: Path) -> None:
    run(tmp_path, small(unit="games", episodes=8, iterations=1), dealing="random_dealer")
    assert load_weights(tmp_path).metadata["rules"] == "random_dealer"
    dealers = saved(tmp_path)["buffer"][0]["dealer"].numpy()
    assert len(dealers) > 8 * 5


def test_both_seats_learn(hands: Trajectories) -> None:
    """Samples come from both seats alike: every discard and every play of every hand."""
    assert len(discard_samples(hands, "own")) == 2 * len(hands)
    plays = play_samples(hands, "monte_carlo", "margin", learned("play", "mlp").q_function(), 0.0)
    assert len(plays) == 8 * len(hands)
