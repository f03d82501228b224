"""The network over strategies: its input, its agent and checkpoint, what it learns from, and its runs."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from deepcrib.agents import AgentError, DivergenceError, make_agent
from deepcrib.cli import main
from deepcrib.files import weights as formats
from deepcrib.game.engine import Games
from deepcrib.game.observations import DiscardObservation
from deepcrib.kernels.workers import use_workers
from deepcrib.learners.weighted.agent import load_weighted
from deepcrib.learners.weighted_network.agent import StrategyNetwork, WeightedNetworkAgent
from deepcrib.learners.weighted_network.learner import (
    FROM_ZERO,
    Decisions,
    WeightedNetworkLearner,
    gain_targets,
    play_games,
)
from deepcrib.learners.weighted_network.options import WeightedNetworkOptions
from deepcrib.training.fit import fit, restore
from deepcrib.training.learner import Setting
from deepcrib.training.options import EvaluationOptions
from deepcrib.training.run_files import STATE_FILE
from tests.support.reference import cards, show, thrown_by

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
    return WeightedNetworkLearner(chosen, Setting(seed, EvaluationOptions(opponents=[], every=0)))


def no_match(*_: Any) -> Any:
    raise AssertionError("no match was asked for")


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
    means = []
    for action in range(15):
        thrown = thrown_by(sorted(hand), action)
        kept = [card for card in sorted(hand) if card not in thrown]
        means.append(mean(show(kept, starter) for starter in starters))
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


def test_equal_values_are_chosen_between_by_the_key() -> None:
    agent = new_agent()
    for parameter in agent.network.parameters():
        torch.nn.init.zeros_(parameter)
    counts = np.bincount(agent.discard(observed(6000)), minlength=15)
    assert counts.min() > 300 and counts.max() < 500  # 400 each on average
    np.testing.assert_allclose(agent.discard_probabilities(observed(3)), 1 / 15)


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
    for spec in (str(tmp_path), {"path": str(tmp_path / "weights.safetensors")}):
        again = make_agent(spec)
        assert isinstance(again, WeightedNetworkAgent)
        assert (again.strategies, again.metadata["games"], again.epsilon) == (TWO, 7, 0.0)
        np.testing.assert_array_equal(again.discard_values(seen), agent.discard_values(seen))
    assert make_agent({"path": str(tmp_path), "epsilon": 0.25}).epsilon == 0.25


@pytest.mark.parametrize(
    ("spec", "expected"),
    [({"epsilon": 1.5}, "epsilon=1.5: expected 0 to 1"), ({"discards": "greedy"}, "expected no option discards")],
)
def test_options_that_do_not_fit_a_saved_agent(spec: dict[str, Any], expected: str, tmp_path: Path) -> None:
    new_agent().save(tmp_path / "weights.safetensors")
    with pytest.raises(AgentError, match=expected):
        make_agent({"path": str(tmp_path), **spec})


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"strategies": ["hand_max_avg", "crib_avg"]}, "crib_avg"),
        ({"strategies": ["hand_max_avg"]}, "size mismatch"),
        ({"hidden": [9, 8]}, "size mismatch"),
        ({"hidden": None}, "weighted_network weights that cannot be used"),
    ],
)
def test_a_checkpoint_that_contradicts_itself_is_refused(change: dict[str, Any], expected: str, tmp_path: Path) -> None:
    path = tmp_path / "weights.safetensors"
    new_agent().save(path)
    tensors = load_file(path)
    formats.write_weights(path, "weighted_network", tensors, {"strategies": list(TWO), "hidden": [8, 8], **change})
    with pytest.raises(formats.CheckpointError, match=expected) as caught:
        make_agent(str(path))
    assert "\n" not in str(caught.value)
    with pytest.raises(formats.CheckpointError, match="of the agent 'weighted_network', expected 'weighted'"):
        load_weighted(path)


# --- games ---


def chains(found: Decisions) -> list[list[int]]:
    """Decisions of one player in one game each, followed from the first to the last."""
    later = set(found.following.tolist())
    paths = [[first] for first in range(len(found)) if first not in later]
    for path in paths:
        while found.following[path[-1]] >= 0:
            path.append(int(found.following[path[-1]]))
    return paths


def test_decisions_of_self_play_hang_together() -> None:
    """Both players of every game, deal by deal, to its one end; what one wins the other loses."""
    found, hands = play_games(new_agent(epsilon=0.3), None, 10, 60, 5, spread=30)
    paths = chains(found)
    assert len(paths) == 2 * 50 and sum(map(len, paths)) == len(found) == 2 * hands
    for path in paths:
        scores = found.inputs[path, 2:4] * 121
        assert (np.diff(scores, axis=0) >= 0).all() and (np.diff(scores, axis=0)[:, 0] < 60).all()
        assert abs(scores[0, 0] - scores[0, 1]) <= 30.001
        assert set(np.diff(found.inputs[path, 4])) <= {1, -1}  # the deal alternates
        assert found.hands_left[path].tolist() == list(range(len(path) - 1, -1, -1))
        assert len(set(found.won[path])) == len(set(found.margin[path])) == 1
        assert (found.margin[path[0]] > 0) == found.won[path[0]]
    ends = [path[0] for path in paths]
    assert found.won[ends].sum() == 50 and found.margin[ends].sum() == 0
    assert sum(found.inputs[ends, 4]) == 50  # one of them deals first
    starts = found.inputs[ends, 2] * 121
    assert starts.min() < 20 and starts.max() > 100


def test_games_from_zero_against_an_opponent() -> None:
    """Only the learner's discards; a seat each in turn, which shows in nothing but that the random player loses."""
    found, hands = play_games(new_agent(), make_agent("random"), 0, 80, 5, spread=FROM_ZERO)
    paths = chains(found)
    assert len(paths) == 80 and len(found) == hands
    assert not found.inputs[[path[0] for path in paths], 2:4].any()
    assert found.won[[path[0] for path in paths]].mean() > 0.6


def test_games_do_not_depend_on_their_batch() -> None:
    agent = new_agent(epsilon=0.3)
    whole, _ = play_games(agent, None, 0, 40, 5, spread=60)
    later, _ = play_games(agent, None, 30, 40, 5, spread=60)
    order = np.lexsort(whole.inputs.T)
    rows = {tuple(row) for row in whole.inputs[order].round(5).tolist()}
    assert {tuple(row) for row in later.inputs.round(5).tolist()} <= rows


# --- learning ---


def samples(rule: Callable[[np.ndarray], np.ndarray], seed: int, size: int = 6000) -> Decisions:
    """Decisions on random inputs, each alone in its game, won with the chance that the rule says."""
    generator = np.random.default_rng(seed)
    inputs = generator.random((size, 5)).astype(np.float32)
    inputs[:, 4] = generator.integers(0, 2, size)
    won = (generator.random(size) < rule(inputs)).astype(np.float32)
    alone = np.full(size, -1)
    return Decisions(inputs, alone, np.zeros(size, dtype=np.int64), won, 40 * won - 20)


def wish(inputs: np.ndarray) -> np.ndarray:
    """Only the second strategy counts: the dealer wants much of it, pone little."""
    return np.where(inputs[..., 4] == 1, inputs[..., 1], 1 - inputs[..., 1])


@pytest.mark.parametrize("target", ["win", "margin"])
def test_it_learns_which_strategy_decides_and_for_whom(target: str) -> None:
    """No weights of a linear combination could: the sign of the wish turns with the deal."""
    learner = new_learner(target=target, batch_size=64, lr=3e-3, lr_schedule="constant", games=10)
    for learner.steps_done in range(4):
        metrics = learner.learn(samples(wish, learner.steps_done))
    assert metrics["loss/gain"] < metrics["loss/score"]
    agent, seen = learner.agent(), observed()
    wishes = wish(agent.inputs(seen))
    found = wishes[np.arange(len(seen)), agent.discard(seen)]
    assert found.mean() > 0.95


def test_discards_are_learned_from_the_return_less_the_value_of_the_score() -> None:
    """A game of two hands, worked out by hand, with a network whose value of a score is 10 times one's own share."""
    network = StrategyNetwork(2, [])
    with torch.no_grad():
        network.score.layers[0].weight[:] = torch.tensor([[10.0, 0.0, 0.0]])
        network.score.layers[0].bias[:] = 0
    inputs = np.array([[1, 0, 0.2, 0.5, 0], [0, 1, 0.5, 0.6, 1], [1, 1, 0.3, 0.3, 1]], dtype=np.float32)
    margin = np.array([12, 12, -7], dtype=np.float32)
    found = Decisions(inputs, np.array([1, -1, -1]), np.array([1, 0, 0]), (margin > 0).astype(np.float32), margin)

    def targets(target: str, returns: str) -> list[float]:
        return gain_targets(network, found, target, returns).tolist()

    assert targets(target="margin", returns="game") == pytest.approx([12 - 2, 12 - 5, -7 - 3])
    assert targets(target="margin", returns="hand") == pytest.approx([5 - 2, 12 - 5, -7 - 3])
    assert targets(target="win", returns="game") == pytest.approx([1 - 2, 1 - 5, 0 - 3])


def test_decay_leaves_the_last_hand_alone() -> None:
    """At d = 1 only last hands count: earlier ones, which say the opposite, are not learned from."""
    last, early = samples(wish, 1), samples(lambda inputs: 1 - wish(inputs), 2)
    both = Decisions(*(np.concatenate([getattr(part, name) for part in (last, early)]) for name in vars(last)))
    both = replace(both, hands_left=np.repeat([0, 1], len(last)))
    learner = new_learner(decay=1.0, batch_size=64, lr=3e-3, lr_schedule="constant", games=10)
    for learner.steps_done in range(4):
        learner.learn(both)
    agent, seen = learner.agent(), observed()
    assert wish(agent.inputs(seen))[np.arange(len(seen)), agent.discard(seen)].mean() > 0.95


def test_a_learning_rate_too_high_stops_the_run() -> None:
    with pytest.raises(DivergenceError, match="lower it"):
        new_learner(target="margin", lr=1e30).learn(samples(wish, 1))


# --- runs ---


def weights_of(folder: Path) -> dict[str, np.ndarray]:
    return load_file(folder / "weights.safetensors")


def same(ours: dict[str, np.ndarray], theirs: dict[str, np.ndarray]) -> bool:
    return set(ours) == set(theirs) and all((ours[name] == theirs[name]).all() for name in ours)


def test_self_play_finds_that_points_in_hand_are_good(tmp_path: Path) -> None:
    """After some seconds of games the network's discards keep more points than any two cards alike do."""
    short = new_learner(games=12_000, batch_games=1000, batch_size=64, target="margin", checkpoint_every=6000, lr=3e-3)
    trained: Any = fit(short, tmp_path, no_match)
    start = make_agent(str(tmp_path / "checkpoints" / "games_00000000.safetensors"))
    seen = observed(2000)
    opinions = trained.inputs(seen)[:, :, 0]
    kept = [opinions[np.arange(2000), agent.discard(seen)].mean() for agent in (trained, start)]
    assert kept[0] > 0.85 and kept[0] > kept[1] and opinions.mean() < 0.6
    names = sorted(path.name for path in (tmp_path / "checkpoints").iterdir())
    assert names == [f"games_{games:08d}.safetensors" for games in (0, 6000, 12_000)]


def test_the_same_seed_gives_the_same_weights_on_any_number_of_workers(tmp_path: Path) -> None:
    found = []
    for name, seed, workers in (("a", 1, 1), ("b", 1, 2), ("c", 2, 1)):
        use_workers(workers)
        fit(new_learner(seed, games=600, batch_games=400), tmp_path / name, no_match)
        found.append(weights_of(tmp_path / name))
    use_workers(1)
    assert same(found[0], found[1]) and not same(found[0], found[2])


def test_an_interrupted_run_ends_where_an_uninterrupted_one_does(tmp_path: Path) -> None:
    options: dict[str, Any] = {"games": 900, "batch_games": 200, "checkpoint_every": 300}

    def stop(games: int, metrics: Any) -> None:
        if games == 500:
            raise KeyboardInterrupt

    fit(new_learner(**options), tmp_path / "whole", no_match)
    with pytest.raises(KeyboardInterrupt):
        fit(new_learner(**options), tmp_path / "parts", no_match, progress=stop)
    learner = new_learner(**options)
    restore(learner, tmp_path / "parts" / STATE_FILE)
    assert learner.steps_done == 300
    agent: Any = fit(learner, tmp_path / "parts", no_match)
    assert same(weights_of(tmp_path / "whole"), weights_of(tmp_path / "parts"))
    assert learner.steps_done == 900 and agent.metadata["games"] == 900


def test_the_job_trains_measures_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["train", "experiment=weighted_network", "learner.hidden=[8]", "learner.batch_games=64"]
    words += ["learner.games=128", "learner.checkpoint_every=64", "learner.opponent=greedy"]
    words += ["evaluation.opponents=[random_weights]", "evaluation.final_games=40", "evaluation.every=1"]
    assert main([*words, "evaluation.games=10", f"hydra.run.dir={tmp_path}"]) == 0
    assert json.loads((tmp_path / "summary.json").read_text())["random_weights"]["games"] == 40
    assert main(["train", f"resume={tmp_path}", "learner.games=192"]) == 0
    assert "trained agent (192 games" in capsys.readouterr().out
    assert main(["train", f"resume={tmp_path}", "learner.games=256", "learner.hidden=[9]"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "does not fit the options of this run" in line
    assert main(["evaluate", f"agent={tmp_path}", "opponent=random", "games=4", f"hydra.run.dir={tmp_path}/m"]) == 0


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("learner.target=points", "learner.target=points: expected one of win, margin"),
        (
            "learner.strategies=[hand_max]",
            "learner.strategies=['hand_max']: did you mean hand_max_min? expected one of hand_max_min",
        ),
        ("learner.opponent=gredy", "unknown agent 'gredy'"),
        ("learner.hidden=[0]", "learner.hidden=[0]: expected 1 or more"),
        ("learner.scaling=2", "unknown option learner.scaling: "),
        ("algorithm=sarsa", "algorithm=sarsa: learner=weighted_network does not read it"),
    ],
)
def test_wrong_options_are_one_line(word: str, expected: str, tmp_path: Path, capsys: Any) -> None:
    assert main(["train", "learner=weighted_network", word, f"hydra.run.dir={tmp_path / 'run'}"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert expected in line
    assert not (tmp_path / "run").exists()
