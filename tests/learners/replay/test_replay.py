"""A replay iteration: what is learned, schedules, what is played and learned from."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from deepcrib.agents import make_agent
from deepcrib.agents.q_network import QNetworkAgent
from deepcrib.errors import OptionError
from deepcrib.files.weights import CheckpointError
from deepcrib.learners.pretraining.options import PretrainingOptions
from deepcrib.learners.replay import batch, play
from deepcrib.learners.replay.batch import Batch, PlayTargets
from deepcrib.learners.replay.options import ReplayOptions, RewardOptions
from deepcrib.matches import play_match
from deepcrib.matches.trajectories import Trajectories, self_play
from deepcrib.networks.encoders import PLAY_COLUMNS
from tests.support.figures import match_of
from tests.support.replay_runs import PUBLISHED, learned, run, same, small, weights
from tests.support.replaying import play_samples, saved

PLAY_SAMPLES = batch.play_samples


@pytest.fixture(scope="module")
def hands() -> Trajectories:
    return self_play(make_agent("random"), 0, 600, 1_001, unit="hands")


# --- something too easy to fail -----------------------------------------------------------------------------


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
    games: list[int] = []

    def spy_self_play(agent: QNetworkAgent, first_game: int, episodes: int, *rest: Any, **options: Any) -> Trajectories:
        played.append(agent.epsilon)
        games.extend(range(first_game, first_game + episodes))
        return self_play(agent, first_game, episodes, *rest, **options)

    def spy_samples(hands: Trajectories, how: PlayTargets, frozen: Any, epsilon: float, **options: Any) -> Batch:
        targets.append(epsilon)
        return PLAY_SAMPLES(hands, how, frozen, epsilon, **options)

    def progress(done: int, figures: Any) -> None:
        state = saved(tmp_path)
        rates.append([state[part]["optimizer"]["param_groups"][0]["lr"] for part in ("discard", "play")])
        assert figures["schedule/epsilon"] == played[-1]
        assert [figures[f"schedule/{part}_lr"] for part in ("discard", "play")] == rates[-1]

    monkeypatch.setattr(play, "self_play", spy_self_play)
    monkeypatch.setattr(batch, "play_samples", spy_samples)
    settings = small(iterations=3, epsilon=0.4, epsilon_decay=0.5, lr_decay=0.1, play_lr=1e-2, checkpoint_every=1)
    run(tmp_path, settings, progress=progress)
    assert played == targets == pytest.approx([0.4, 0.2, 0.1])
    assert len(games) == 60 == len(set(games))  # of its own in each iteration
    assert np.array(rates) == pytest.approx(np.array([[5e-5, 1e-2], [5e-6, 1e-3], [5e-7, 1e-4]]))


def test_self_play_has_a_temperature_and_matches_have_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The choices of self-play, again by an agent of that temperature, and not by one without it."""
    players, matched = [], []

    def spy(agent: QNetworkAgent, *args: Any, **options: Any) -> Trajectories:
        players.append(agent)
        hands = self_play(agent, *args, **options)
        for temperature, same_choices in ((0.5, True), (0.0, False)):
            other = QNetworkAgent(agent.discard_q, agent.play_q, agent.epsilon, temperature=temperature)
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


def test_a_target_network_that_lags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With target_every = 2 targets come from the weights before iterations 1, 1, 3, 3, 5, whose choices are new."""
    used: list[tuple[dict, dict]] = []
    left: list[dict] = []

    def spy(hands: Trajectories, how: PlayTargets, frozen: Any, epsilon: float, chooser: Any, **options: Any) -> Batch:
        both = (frozen.network, chooser.network)
        used.append(tuple({name: value.clone() for name, value in one.state_dict().items()} for one in both))
        return PLAY_SAMPLES(hands, how, frozen, epsilon, chooser=chooser, **options)

    def progress(done: int, figures: Any) -> None:
        left.append(saved(tmp_path)["play"]["network"])

    monkeypatch.setattr(batch, "play_samples", spy)
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
        "unforced": {"forced": False},
    }
    for name, options in cases.items():
        run(tmp_path / name, small(algorithm="q_learning", iterations=2, play_lr=1e-2, **options))
    found = [repr(weights(tmp_path / name)) for name in cases]
    assert len(set(found)) == len(cases)


@pytest.mark.parametrize(
    ("algorithm", "options", "message"),
    [
        ("monte_carlo", {"targets": {"n_steps": 3}}, "algorithm.n_steps=3: read with algorithm=sarsa"),
        ("monte_carlo", {"targets": {"trace_decay": 0.5}}, "algorithm.trace_decay=0.5: read with algorithm=sarsa"),
        ("monte_carlo", {"target_every": 5}, "learner.target_every=5"),
        ("sarsa", {"targets": {"n_steps": 2, "trace_decay": 0.5}}, "n_steps=2 algorithm.trace_decay=0.5"),
        ("sarsa", {"targets": {"double": True}, "target_every": 2}, "algorithm.double=true algorithm=sarsa"),
        ("q_learning", {"targets": {"double": True}}, "algorithm.double=true .*learner.target_every=1: .*2 or more"),
        ("sarsa", {"priority_exponent": 0.5}, "learner.priority_exponent=0.5: .*learner.sampling=prioritised"),
        ("expected_sarsa", {"temperature": 0.1}, "learner.temperature=0.1 algorithm=expected_sarsa: .*temperature=0"),
        ("sarsa", {"sampling": "prioritised", "combined": True}, "learner.combined=true learner.sampling=prioritised"),
        ("sarsa", {"buffer_size": 1000}, "learner.replacement=None: expected both, or neither"),
        ("sarsa", {"priming": ["greedy"]}, "learner.priming_iterations=0: expected agents and a number"),
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

    monkeypatch.setattr(batch, "play_samples", spy("play", batch.play_samples))
    monkeypatch.setattr(batch, "discard_samples", spy("discard", batch.discard_samples))
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
