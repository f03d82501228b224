"""Weighted agents: p = wS against NumPy, weights by name, ties, checkpoints, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from deepcrib.agents import AgentError, HasProbabilities, make_agent, require_players
from deepcrib.agents.q_network import QNetworkAgent
from deepcrib.agents.specs.registry import WEIGHTED_NAMES
from deepcrib.errors import OptionError, UserError
from deepcrib.exact.discards import discard_statistics
from deepcrib.exact.pegging import exact_records
from deepcrib.exact.strategies.names import STRATEGIES, THESIS_STRATEGIES
from deepcrib.files.weights import FORMAT, FORMAT_VERSION, CheckpointError
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.rules import KEPT_SLOTS_6
from deepcrib.learners.weighted.agent import NEIGHBOURS, WeightedAgent, initial_weights, load_weighted, pegging_figures
from deepcrib.matches import play_match
from deepcrib.matches.trajectories import learning_games
from deepcrib.networks.checkpoints import save_weights
from deepcrib.networks.encoders.states import OPPONENT_SCORE, OWN_SCORE
from tests.support.agents import check_frequencies, network_agent, observations
from tests.support.reference import chi_square_limit
from tests.support.weighted import SETS, plain_matrix, plain_weights

ERROR_LEVEL = 1e-6
Seen = TypeVar("Seen", DiscardObservation, PlayObservation)


def random_weights(seed: int, strategies: int = 8) -> np.ndarray:
    weights = np.random.default_rng(seed).random((121, 121, 2, strategies)) ** 4  # some much larger than others
    return weights / weights.sum(axis=3, keepdims=True)


def agent_of(
    weights: np.ndarray, strategies: tuple[str, ...] = THESIS_STRATEGIES, pegging: Any = None, **options: Any
) -> WeightedAgent:
    pegging = pegging_figures(strategies) if pegging is None else pegging
    return WeightedAgent("tested", weights, strategies, pegging, **options)


def at_scores(observation: Seen, scores: list[tuple[int, int]]) -> Seen:
    """The same cards at (own, opponent's) scores, again and again."""
    rows = np.arange(len(observation))
    pairs = np.array(scores, dtype=np.int8)[rows % len(scores)]
    moved = observation.scores.copy()
    moved[rows, observation.seat], moved[rows, 1 - observation.seat] = pairs[:, 0], pairs[:, 1]
    return replace(observation, scores=moved)


SCORES = [(0, 0), (120, 120), (0, 120), (120, 0), (60, 61), (3, 117), (119, 44)]


# --- p = wS -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize("strategies", [THESIS_STRATEGIES, ("crib_max_avg", "hand_max_poss", "pegging_min_avg_given")])
def test_preferences_are_weights_times_desirability(neighbours: str, strategies: tuple[str, ...]) -> None:
    weights, share = random_weights(1, len(strategies)), 0.35
    agent = agent_of(weights, strategies, neighbours=neighbours, share=share)
    seen = at_scores(observations(60, 901)[0], SCORES)
    assert len({*zip(seen.seat.tolist(), seen.is_dealer.tolist(), strict=True)}) == 4
    preferences, probabilities = agent.preferences(seen), agent.discard_probabilities(seen)
    for row in range(len(seen)):
        seat, dealer = int(seen.seat[row]), bool(seen.is_dealer[row])
        place = int(seen.scores[row, seat]), int(seen.scores[row, 1 - seat]), int(dealer)
        p = plain_weights(weights, place, neighbours, share) @ plain_matrix(
            seen.hand[row], dealer, strategies, exact_records().pooled().summary()
        )
        np.testing.assert_allclose(preferences[row], p, atol=1e-12)
        best = p >= p.max() - 1e-9
        assert probabilities[row].tolist() == (best / best.sum()).tolist()
    assert (probabilities[np.arange(len(seen)), agent.discard(seen)] > 0).all()


def middle(counts: np.ndarray) -> float:
    """The median of so many zeros, ones, twos, ..: the middle one, or the mean of the two in the middle."""
    ends = counts.cumsum()
    return float(np.searchsorted(ends, [(ends[-1] - 1) // 2, ends[-1] // 2], side="right").mean())


@cache
def both_roles() -> np.ndarray:
    """Mean gained, median gained and mean given [1820, 2, 3] by the exact records of either role, counted out."""
    records, figures, points = exact_records(), np.empty((1820, 2, 3)), np.arange(32)
    for number in range(1820):
        gains, gives = (counts[number].sum(axis=0) for counts in (records.gained, records.given))
        figures[number] = points @ gains / gains.sum(), middle(gains), points @ gives / gives.sum()
    return figures


def test_the_middle_of_counted_points() -> None:
    for counts in ([1, 0, 2], [0, 3, 1], [1, 1], [2, 0, 0, 2, 1], [0, 1]):
        assert middle(np.array(counts)) == np.median(np.repeat(np.arange(len(counts)), counts))


def test_records_do_not_tell_the_roles_apart() -> None:
    """Lang's records know the four cards alone: one opinion of the play, whoever deals."""
    np.testing.assert_allclose(exact_records().pooled().summary(), both_roles(), rtol=1e-12)
    agent, seen = make_agent("pegging_max_avg_gained"), observations(200, 905)[0]
    turned = replace(seen, dealer=1 - seen.dealer)
    assert np.array_equal(agent.preferences(seen), agent.preferences(turned))


def test_the_records_it_carries_decide() -> None:
    """Pegging records of its own, not the exact ones."""
    name = ("pegging_max_avg_gained",)
    records = np.random.default_rng(2).random((1820, 2, 3))
    seen = observations(100, 902)[0]
    agent = agent_of(np.ones((121, 121, 2, 1)), name, records)
    for row, p in enumerate(agent.preferences(seen)):
        dealer = bool(seen.is_dealer[row])
        np.testing.assert_allclose(p, plain_matrix(seen.hand[row], dealer, name, records)[0], atol=1e-12)


# --- by name ------------------------------------------------------------------------------------------------

PURE: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "hand_max_min": lambda row: row["hand_min"],
    "hand_max_avg": lambda row: row["hand_sum"],
    "hand_max_med": lambda row: row["hand_median_2"],
    "hand_max_poss": lambda row: row["hand_max"],
    "crib_min_avg": lambda row: -row["crib_sum"].astype(int),
    "crib_max_avg": lambda row: row["crib_sum"].astype(int),
}


@pytest.mark.parametrize("name", PURE)
def test_a_pure_strategy_takes_its_best_discard_at_any_score(name: str) -> None:
    agent = make_agent(name)
    assert agent.name == name and agent.num_players == {2} and isinstance(agent, HasProbabilities)
    seen = at_scores(observations(3_000, 903)[0], SCORES)
    worth = PURE[name](discard_statistics(seen.hand))
    best = worth == worth.max(axis=1, keepdims=True)
    np.testing.assert_allclose(agent.discard_probabilities(seen), best / best.sum(axis=1, keepdims=True), rtol=1e-12)
    assert best[np.arange(len(seen)), agent.discard(seen)].all()


@pytest.mark.parametrize("name", THESIS_STRATEGIES[5:])
def test_a_pure_strategy_of_the_play_takes_its_best_discard(name: str) -> None:
    column, sign = {"gained": (0, 1), "med_gained": (1, 1), "given": (2, -1)}[
        "med_gained" if "med" in name else name.rpartition("_")[2]
    ]
    seen, agent, summary = observations(500, 904)[0], make_agent(name), both_roles()
    chosen = agent.discard(seen)
    for row, hand in enumerate(seen.hand):
        numbers = [SETS[tuple(hand[slots] // 4)] for slots in KEPT_SLOTS_6]
        worth = sign * summary[numbers, int(seen.is_dealer[row]), column]
        assert worth[chosen[row]] >= worth.max() - 1e-9


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_semi_pure_strategy_has_seventy_per_cent(name: str) -> None:
    agent = make_agent(f"semi_pure_{name}")
    others = 7 if name in THESIS_STRATEGIES else 8
    assert len(agent.strategies) == others + 1
    for strategy, weights in zip(agent.strategies, np.moveaxis(agent.weights, 3, 0), strict=True):
        np.testing.assert_allclose(weights, 0.7 if strategy == name else 0.3 / others, rtol=1e-12)


def test_every_name_makes_an_agent_of_that_name() -> None:
    for name in WEIGHTED_NAMES:
        agent = make_agent(name)
        assert agent.name == name and isinstance(agent, WeightedAgent)
        np.testing.assert_allclose(agent.weights.sum(axis=3), 1, rtol=1e-12)


def test_random_weights() -> None:
    """Uniform numbers, normalised: each strategy 1/8 on average; another seed, another agent; the same, the same."""
    one, again, two = (make_agent({"name": "random_weights", "seed": seed}).weights for seed in (1, 1, 2))
    assert np.array_equal(one, again) and np.array_equal(one, make_agent("random_weights").weights)
    assert one.shape == (121, 121, 2, 8) and (one > 0).all() and len(np.unique(one)) > 0.999 * one.size
    assert abs(np.corrcoef(one.ravel(), two.ravel())[0, 1]) < 0.02
    error = one.std() / np.sqrt(121 * 121 * 2)
    assert np.abs(one.mean(axis=(0, 1, 2)) - 1 / 8).max() < 6 * error
    seeds = [initial_weights("random", THESIS_STRATEGIES, 1, index) for index in range(3)]
    assert not np.isclose(seeds[0], seeds[1]).all() and not np.isclose(seeds[1], seeds[2]).all()


def test_mappings() -> None:
    pure = make_agent({"name": "weighted", "initial": "hand_max_avg"})
    assert pure.strategies == THESIS_STRATEGIES and (pure.weights[..., 1] == 1).all()
    own = make_agent({"name": "weighted", "initial": "semi_pure_crib_max_avg", "strategies": list(STRATEGIES[-2:])})
    assert own.strategies == STRATEGIES[-2:]
    np.testing.assert_allclose(own.weights[3, 4, 1], [0.3, 0.7])
    seeds = [make_agent({"name": "weighted", "seed": seed}).weights for seed in (3, 4)]
    assert not np.isclose(*seeds).all()


# --- choices ------------------------------------------------------------------------------------------------


def test_ties_are_broken_uniformly() -> None:
    """Chi-square at a level of 1e-6 over 30,000 keys; in most hands the strategies here like several alike."""
    agent = make_agent("hand_max_min")
    seen = observations(30_000, 905)[0]
    probabilities = agent.discard_probabilities(seen)
    row = int(np.flatnonzero((probabilities > 0).sum(axis=1) == 4)[0])
    again = replace(seen.take(np.full(len(seen), row)), key=seen.key)
    counts = np.bincount(agent.discard(again), minlength=15)
    expected = probabilities[row] * len(seen)
    tied = expected > 0
    assert counts[~tied].sum() == 0
    assert ((counts - expected)[tied] ** 2 / expected[tied]).sum() < chi_square_limit(3, ERROR_LEVEL)


@pytest.mark.parametrize("name", ["hand_max_min", "random_weights", "expected_value"])
def test_choices_fall_as_likely_as_they_say(name: str) -> None:
    agent = make_agent(name)
    discards, to_play = observations(20_000, 906, plays=3)
    check_frequencies(agent.discard_probabilities(discards), agent.discard(discards))
    check_frequencies(agent.play_probabilities(to_play), agent.play(to_play))


@pytest.mark.parametrize("name", ["random_weights", "semi_pure_hand_max_poss", "expected_value"])
def test_an_agent_goes_by_its_own_observation_alone(name: str) -> None:
    """Neither by the other rows, nor by which seat it has; and it leaves what it sees as it was."""
    agent = make_agent(name)
    discards, to_play = observations(400, 907, plays=3)
    discards = at_scores(discards, SCORES)
    before = [array.copy() for seen in (discards, to_play) for array in vars(seen).values()]
    chosen, played = agent.discard(discards), agent.play(to_play)
    some = np.array([350, 3, 3, 77])
    assert np.array_equal(agent.discard(discards.take(some)), chosen[some])
    assert np.array_equal(agent.play(to_play.take(some)), played[some])
    turned = replace(discards, seat=1 - discards.seat, dealer=1 - discards.dealer, scores=discards.scores[:, ::-1])
    assert np.array_equal(agent.discard(turned), chosen)
    after = [array for seen in (discards, to_play) for array in vars(seen).values()]
    assert all(np.array_equal(one, two) for one, two in zip(before, after, strict=True))


def test_past_the_end_of_a_game_the_last_weights_decide() -> None:
    """Learning games are played out, so that a player may be asked at 121, for which there are no weights."""
    agent, seen = agent_of(random_weights(1), neighbours="average"), observations(300, 916)[0]
    for past, last in (((121, 64), (120, 64)), ((37, 121), (37, 120)), ((121, 121), (120, 120))):
        assert np.array_equal(agent.preferences(at_scores(seen, [past])), agent.preferences(at_scores(seen, [last])))
    hands = learning_games([agent, make_agent("greedy")], np.tile([0, 1], (40, 1)), 0, 917)
    own = hands.play_states[hands.play_seats == 0]
    assert (own[:, [OWN_SCORE, OPPONENT_SCORE]] == 121).any()


@pytest.mark.parametrize("name", ["hand_max_avg", "semi_pure_hand_max_min", "random_weights", "expected_value"])
@pytest.mark.parametrize("players", [3, 4])
def test_more_than_two_players_are_refused(name: str, players: int) -> None:
    agent = make_agent(name)
    with pytest.raises(AgentError, match=f"agent {name} plays with 2 players, not {players}"):
        require_players(agent, players)
    with pytest.raises(AgentError, match=name):
        play_match([agent, *[make_agent("random")] * (players - 1)], players, 1)


# --- checkpoints --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[WeightedAgent, Path]:
    """An agent with everything that there is, and its run folder."""
    folder = tmp_path_factory.mktemp("run")
    agent = agent_of(
        random_weights(3, 9),
        STRATEGIES,
        np.random.default_rng(3).random((1820, 2, 3)),
        neighbours="average",
        share=0.25,
        metadata={"games": 7, "rules": "acc"},
    )
    agent.save(folder / "weights.safetensors")
    return agent, folder


def test_a_checkpoint_is_read_as_it_was_written(saved: tuple[WeightedAgent, Path]) -> None:
    agent, folder = saved
    discards, to_play = observations(300, 920, plays=4)
    file = folder / "weights.safetensors"
    for read in (load_weighted(folder), *map(make_agent, (file, str(folder), {"path": str(file)}))):
        for name in ("weights", "pegging"):
            assert np.array_equal(getattr(read, name), getattr(agent, name)) and getattr(read, name).dtype == float
        assert (read.strategies, read.neighbours, read.share) == (STRATEGIES, "average", 0.25)
        assert read.metadata["games"] == 7 and read.metadata["rules"] == "acc"
        assert np.array_equal(read.preferences(discards), agent.preferences(discards))
        assert np.array_equal(read.play(to_play), agent.play(to_play))
    assert np.array_equal(initial_weights(str(folder), STRATEGIES, 1), agent.weights)


def test_weights_of_other_strategies_are_no_start(saved: tuple[WeightedAgent, Path]) -> None:
    with pytest.raises(CheckpointError, match="weighs hand_max_min, .*; expected crib_min_avg, hand_max_avg"):
        initial_weights(str(saved[1]), ("crib_min_avg", "hand_max_avg"), 1)


def test_a_loaded_agent_plays_the_same_match(saved: tuple[WeightedAgent, Path]) -> None:
    agent, folder = saved
    before = play_match([agent, make_agent("greedy")], 40, 5)
    after = play_match([make_agent(folder), make_agent("greedy")], 40, 5)
    assert np.array_equal(before.scores, after.scores) and np.array_equal(before.points, after.points)


def write(path: Path, metadata: Any = None, header: dict[str, str] | None = None, **changed: Any) -> None:
    """A file of two strategies, in which something is changed, or left out if None."""
    arrays = {"weights": random_weights(5, 2), "pegging": np.zeros((1820, 2, 3)), **changed}
    tensors = {
        name: value if isinstance(value, torch.Tensor) else torch.from_numpy(value.copy())
        for name, value in arrays.items()
        if value is not None
    }
    own: dict[str, Any] = {"strategies": ["hand_max_avg", "crib_min_avg"], "neighbours": "none", "share": 0.5}
    data = metadata if isinstance(metadata, list) else {**own, **(metadata or {})}
    plain = {"format": FORMAT, "format_version": FORMAT_VERSION, "agent": "weighted", "metadata": json.dumps(data)}
    save_file(tensors, path, {**plain, **(header or {})})


def bent(*changes: tuple[tuple[int, ...], Any]) -> np.ndarray:
    weights = random_weights(5, 2)
    for place, value in changes:
        weights[place] = value
    return weights


FILES: dict[str, tuple[dict[str, Any], str]] = {
    "no weights": ({"weights": None}, "lacks 'weights'"),
    "no pegging": ({"pegging": None}, "lacks 'pegging'"),
    "fewer scores": ({"weights": random_weights(5, 2)[:120]}, r"\(120, 121, 2, 2\), expected \(121, 121, 2, 2\)"),
    "more strategies": ({"weights": random_weights(5, 3)}, r"\(121, 121, 2, 3\), expected \(121, 121, 2, 2\)"),
    "flat weights": ({"weights": np.ones(5)}, r"shape \(5,\), expected"),
    "too much": ({"weights": bent(((3, 4, 1), [0.7, 0.5]))}, r"weights at \(3, 4, 1\) are \[0.7, 0.5\], expected"),
    "negative": ({"weights": bent(((9, 4, 0), [1.25, -0.25]))}, r"weights at \(9, 4, 0\) are \[1.25, -0.25\], exp"),
    "not a number": ({"weights": bent(((120, 0, 0), np.nan))}, r"weights at \(120, 0, 0\) are \[nan, nan\], expected"),
    "infinite": ({"weights": bent(((0, 0, 0), np.inf))}, r"weights at \(0, 0, 0\) are \[inf, inf\], expected"),
    "play weights": ({"play_weights": random_weights(5, 2)}, "they weigh its plays too"),
    "fewer records": ({"pegging": np.zeros((1819, 2, 3))}, r"pegging records have the shape \(1819, 2, 3\), expected"),
    "endless records": ({"pegging": np.full((1820, 2, 3), np.inf)}, "pegging records are not all finite"),
    "strategy": ({"metadata": {"strategies": ["hand_max_avg", "crib_min"]}}, "strategy 'crib_min': expected one of"),
    "twice": ({"metadata": {"strategies": ["crib_min_avg"] * 2}}, "each once"),
    "no strategies": ({"metadata": {"strategies": None}}, "not iterable"),
    "neighbours": ({"metadata": {"neighbours": "some"}}, "neighbours 'some': expected one of none, average, sum"),
    "share": ({"metadata": {"share": 1.5}}, "share 1.5: expected 0 to 1"),
    "no share": ({"metadata": {"share": None}}, "float"),
    "metadata": ({"metadata": []}, "cannot read: expected a mapping"),
    "no JSON": ({"header": {"metadata": "{"}}, "has metadata that this deepcrib cannot read"),
    "version": ({"header": {"format_version": "9"}}, "written by another deepcrib, in 'deepcrib weights' version '9'"),
    "format": ({"header": {"format": "weights of something"}}, "not of a deepcrib agent"),
}


@pytest.mark.parametrize("name", FILES)
def test_files_of_other_content_are_refused(name: str, tmp_path: Path) -> None:
    changes, words = FILES[name]
    path = tmp_path / "file.safetensors"
    write(path, **changes)
    with pytest.raises(CheckpointError, match=words) as error:
        load_weighted(path)
    assert "\n" not in str(error.value) and str(path) in str(error.value)
    with pytest.raises(UserError):
        make_agent(str(path))


def test_the_unchanged_file_is_read(tmp_path: Path) -> None:
    """So that each of the refusals above is due to what was changed."""
    write(tmp_path / "file.safetensors")
    assert load_weighted(tmp_path / "file.safetensors").strategies == ("hand_max_avg", "crib_min_avg")


def test_damaged_and_foreign_files(saved: tuple[WeightedAgent, Path], tmp_path: Path) -> None:
    sound = (saved[1] / "weights.safetensors").read_bytes()
    path = tmp_path / "file.safetensors"
    for content in (b"", sound[:7], sound[:500], sound[:-100], b"weights" * 50, b"\xff" * 64):
        path.write_bytes(content)
        for read in (load_weighted, make_agent):
            with pytest.raises(CheckpointError, match="damaged or not a deepcrib checkpoint") as error:
                read(path)
            assert "\n" not in str(error.value)
    with pytest.raises(CheckpointError, match="missing"):
        make_agent(str(tmp_path / "missing.safetensors"))
    with pytest.raises(CheckpointError, match="holds no weights.safetensors"):
        load_weighted(tmp_path)
    q = network_agent()
    save_weights(path, q.discard_q.network, q.play_q.network, {})
    with pytest.raises(CheckpointError, match="holds weights of the agent 'q_network', expected 'weighted'"):
        load_weighted(path)
    assert isinstance(make_agent(str(path)), QNetworkAgent)


def test_a_file_that_cannot_be_written(saved: tuple[WeightedAgent, Path], tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nowhere"):
        saved[0].save(tmp_path / "nowhere" / "weights.safetensors")


# --- mistakes -----------------------------------------------------------------------------------------------

MISTAKES: list[tuple[Any, str]] = [
    ("hand_max_mean", "unknown agent 'hand_max_mean': .*semi_pure_STRATEGY, .*path of a checkpoint"),
    ("semi_pure_random", "unknown agent 'semi_pure_random'"),
    ({"name": "hand_max_avg", "seed": 2}, "agent 'hand_max_avg' has no option 'seed'"),
    ({"name": "random_weights", "seed": -1}, "seed=-1: expected a whole number from 0"),
    ({"name": "random_weights", "initial": "hand_max_avg"}, "no option 'initial' .expected one of seed"),
    ({"name": "weighted", "seed": "two"}, "seed='two': expected a whole number from 0"),
    ({"name": "weighted", "seed": 2**63}, "seed=9223372036854775808: expected a whole number from 0"),
    ({"name": "weighted", "weights": "x"}, "agent 'weighted' has no option 'weights' .*initial, seed, strategies"),
    ({"name": "weighted", "initial": "hand_max"}, "initial=hand_max: expected random, STRATEGY, semi_pure_STRATEGY or"),
    ({"name": "weighted", "initial": ""}, "initial=: expected random, STRATEGY"),
    ({"name": "weighted", "initial": "x" * 5000}, "expected random, STRATEGY"),
    ({"name": "weighted", "initial": "semi_pure_random"}, "initial=semi_pure_random: expected random"),
    ({"name": "weighted", "initial": "crib_max_avg"}, "initial=crib_max_avg: crib_max_avg is none of the strategies"),
    ({"name": "weighted", "strategies": ["hand_max_avg", "x"]}, "strategy 'x': expected one of hand_max_min"),
    ({"name": "weighted", "strategies": "hand_max_avg"}, "strategies='hand_max_avg': expected a list of hand_max_min"),
    ({"name": "weighted", "strategies": 3}, "strategies=3: expected a list of hand_max_min"),
]


@pytest.mark.parametrize(("spec", "words"), MISTAKES, ids=[str(spec)[:60] for spec, _ in MISTAKES])
def test_mistaken_specs(spec: Any, words: str) -> None:
    with pytest.raises((AgentError, OptionError), match=words) as error:
        make_agent(spec)
    assert "\n" not in str(error.value)
