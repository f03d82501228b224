"""Weighted agents: p = wS against NumPy, weights by name, ties, checkpoints, and what is refused."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

from deepcrib.agents import AgentError, make_agent
from deepcrib.agents.specs.registry import WEIGHTED_NAMES
from deepcrib.errors import OptionError
from deepcrib.exact.discards import discard_statistics
from deepcrib.exact.pegging import exact_records
from deepcrib.exact.strategies.names import STRATEGIES, THESIS_STRATEGIES
from deepcrib.files.weights import CheckpointError
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.rules import KEPT_SLOTS_6
from deepcrib.learners.weighted.agent import NEIGHBOURS, WeightedAgent, initial_weights, load_weighted
from deepcrib.matches.trajectories import learning_games
from deepcrib.networks.encoders.states import OPPONENT_SCORE, OWN_SCORE
from tests.support.agents import observations
from tests.support.positions import SETS
from tests.support.weighted import plain_matrix, plain_weights

Seen = TypeVar("Seen", DiscardObservation, PlayObservation)


def random_weights(seed: int, strategies: int = 8) -> np.ndarray:
    weights = np.random.default_rng(seed).random((121, 121, 2, strategies)) ** 4  # some much larger than others
    return weights / weights.sum(axis=3, keepdims=True)


def at_scores(observation: Seen, scores: list[tuple[int, int]]) -> Seen:
    """The same cards at (own, opponent's) scores, again and again."""
    rows = np.arange(len(observation))
    pairs = np.array(scores, dtype=np.int8)[rows % len(scores)]
    moved = observation.scores.copy()
    moved[rows, observation.seat], moved[rows, 1 - observation.seat] = pairs[:, 0], pairs[:, 1]
    return replace(observation, scores=moved)


NO_RECORDS = np.zeros((1820, 2, 3))
SCORES = [(0, 0), (120, 120), (0, 120), (120, 0), (60, 61), (3, 117), (119, 44)]


# --- p = wS -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize("strategies", [THESIS_STRATEGIES, ("crib_max_avg", "hand_max_poss", "pegging_min_avg_given")])
def test_preferences_are_weights_times_desirability(neighbours: str, strategies: tuple[str, ...]) -> None:
    """By the exact records, and by other records that an agent carries."""
    weights, share = random_weights(1, len(strategies)), 0.35
    records = exact_records().pooled().summary()
    if len(strategies) == 3:
        records = np.random.default_rng(2).random(records.shape)
    agent = WeightedAgent("tested", weights, strategies, records, neighbours, share)
    seen = at_scores(observations(60, 901)[0], SCORES)
    assert len({*zip(seen.seat.tolist(), seen.is_dealer.tolist(), strict=True)}) == 4
    preferences, probabilities = agent.preferences(seen), agent.discard_probabilities(seen)
    for row in range(len(seen)):
        seat, dealer = int(seen.seat[row]), bool(seen.is_dealer[row])
        place = int(seen.scores[row, seat]), int(seen.scores[row, 1 - seat]), int(dealer)
        matrix = plain_matrix(seen.hand[row], dealer, strategies, records)
        p = plain_weights(weights, place, neighbours, share) @ matrix
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


def test_records_do_not_tell_the_roles_apart() -> None:
    """Lang's records know the four cards alone: one opinion of the play, whoever deals."""
    np.testing.assert_allclose(exact_records().pooled().summary(), both_roles(), rtol=1e-12)
    agent, seen = make_agent("pegging_max_avg_gained"), observations(200, 905)[0]
    turned = replace(seen, dealer=1 - seen.dealer)
    assert np.array_equal(agent.preferences(seen), agent.preferences(turned))


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


@pytest.mark.parametrize("name", WEIGHTED_NAMES)
def test_every_name_makes_an_agent_and_a_semi_pure_strategy_has_seventy_per_cent(name: str) -> None:
    agent = make_agent(name)
    assert agent.name == name and isinstance(agent, WeightedAgent)
    np.testing.assert_allclose(agent.weights.sum(axis=3), 1, rtol=1e-12)
    pure = name.removeprefix("semi_pure_")
    if pure in STRATEGIES:
        expected = 1.0 if name == pure else 0.7
        np.testing.assert_allclose(agent.weights[..., agent.strategies.index(pure)], expected, rtol=1e-12)
        assert len(agent.strategies) == (1 if name == pure else 8 if pure in THESIS_STRATEGIES else 9)


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


@pytest.mark.parametrize("name", ["random_weights", "semi_pure_hand_max_poss", "expected_value"])
def test_an_agent_goes_by_its_own_observation_alone(name: str) -> None:
    """Neither by the other rows, nor by which seat it has; and it leaves what it sees as it was."""
    agent = make_agent(name)
    discards, to_play = observations(400, 907, plays=3)
    discards = at_scores(discards, SCORES)
    before = copy.deepcopy([*vars(discards).values(), *vars(to_play).values()])
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
    agent, seen = WeightedAgent("tested", random_weights(1), THESIS_STRATEGIES, NO_RECORDS), observations(300, 916)[0]
    for past, last in (((121, 64), (120, 64)), ((37, 121), (37, 120)), ((121, 121), (120, 120))):
        assert np.array_equal(agent.preferences(at_scores(seen, [past])), agent.preferences(at_scores(seen, [last])))
    hands = learning_games([agent, make_agent("greedy")], np.tile([0, 1], (40, 1)), 0, 917)
    own = hands.play_states[hands.play_seats == 0]
    assert (own[:, [OWN_SCORE, OPPONENT_SCORE]] == 121).any()


# --- checkpoints --------------------------------------------------------------------------------------------


def test_a_checkpoint_is_read_as_it_was_written(tmp_path: Path) -> None:
    records = np.random.default_rng(3).random((1820, 2, 3))
    agent = WeightedAgent("one", random_weights(3, 9), STRATEGIES, records, "average", 0.25, {"games": 7})
    agent.save(tmp_path / "weights.safetensors")
    discards, _ = observations(300, 920)
    for read in (load_weighted(tmp_path), make_agent(tmp_path)):
        for name in ("weights", "pegging"):
            assert np.array_equal(getattr(read, name), getattr(agent, name)) and getattr(read, name).dtype == float
        assert (read.strategies, read.neighbours, read.share) == (STRATEGIES, "average", 0.25)
        assert read.metadata["games"] == 7
        assert np.array_equal(read.preferences(discards), agent.preferences(discards))
    assert np.array_equal(initial_weights(str(tmp_path), STRATEGIES, 1), agent.weights)
    with pytest.raises(CheckpointError, match="weighs hand_max_min, .*; expected crib_min_avg, hand_max_avg"):
        initial_weights(str(tmp_path), ("crib_min_avg", "hand_max_avg"), 1)


# --- mistakes -----------------------------------------------------------------------------------------------

MISTAKES: list[tuple[Any, str]] = [
    ("hand_max_mean", "unknown agent 'hand_max_mean': .*semi_pure_STRATEGY, .*path of a checkpoint"),
    ({"name": "hand_max_avg", "seed": 2}, "agent 'hand_max_avg' has no option 'seed'"),
    ({"name": "weighted", "seed": 2**63}, "seed=9223372036854775808: expected a whole number from 0"),
    ({"name": "weighted", "initial": "hand_max"}, "initial=hand_max: expected random, STRATEGY, semi_pure_STRATEGY or"),
    ({"name": "weighted", "initial": "x" * 5000}, "expected random, STRATEGY"),
    ({"name": "weighted", "initial": "crib_max_avg"}, "initial=crib_max_avg: crib_max_avg is none of the strategies"),
    ({"name": "weighted", "strategies": ["hand_max_avg", "x"]}, "strategy 'x': expected one of hand_max_min"),
    ({"name": "weighted", "strategies": "hand_max_avg"}, "strategies='hand_max_avg': expected a list of hand_max_min"),
]


@pytest.mark.parametrize(("spec", "words"), MISTAKES, ids=[str(spec)[:60] for spec, _ in MISTAKES])
def test_mistaken_specs(spec: Any, words: str) -> None:
    with pytest.raises((AgentError, OptionError), match=words) as error:
        make_agent(spec)
    assert "\n" not in str(error.value)
