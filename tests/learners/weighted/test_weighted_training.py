"""Training of weighted strategies: against a plain replica of chapter 3, and the run that it leaves.

What the thesis leaves open is as in its author's program (github.com/srlang/ms-thesis-code, folder sim): its facts are
worked by hand here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepcrib.agents import make_agent
from deepcrib.exact.pegging import PeggingRecords, exact_records
from deepcrib.game.engine.state import new_games
from deepcrib.learners.weighted import games as weighted_games
from deepcrib.learners.weighted.agent import load_weighted
from deepcrib.learners.weighted.games import adjust, draw_pair, learn_games, responsible
from deepcrib.learners.weighted.learner import WeightedLearner, weighted_method
from deepcrib.learners.weighted.options import WeightedOptions
from deepcrib.learners.weighted.state import READINGS, DiscardLog, new_log
from deepcrib.matches import play_match
from deepcrib.training.learner import Setting
from tests.support.figures import NO_MATCHES
from tests.support.reference import assert_drawn
from tests.support.weighted import Replica, answering


def new_learner(seed: int = 1, dealing: str = "acc", **options: Any) -> WeightedLearner:
    chosen = WeightedOptions(**{"games": 20, "checkpoint_every": 10} | options)
    return WeightedLearner(chosen, Setting(seed, NO_MATCHES, dealing))


def played(learner: WeightedLearner, first: int, last: int, seed: int, log: DiscardLog | None = None) -> int:
    """Games first..last - 1 by the compiled loop, in the learner's own arrays; returns the hands."""
    run = learner.training()
    run = run._replace(method=run.method._replace(seed=seed), log=log or run.log)
    return learn_games(new_games(np.zeros(1, dtype=np.int64), 2), first, last, run)


# --- a replica of chapter 3 -----------------------------------------------------------------------------------


VARIANTS: dict[str, dict[str, Any]] = {
    "base": {"exploring_starts": False},
    "round_1": {
        "scaling": 10.0,
        "exploration": "variance",
        "explore_by": "preference",
        "records": "sampled",
        "record_hands": 2_000,
        "update_records": True,
        "start_spread": 3,
    },
    "variance": {"exploration": "variance", "initial": "semi_pure_hand_max_avg", "epsilon": 0.5},
    "punishment": {"punishment": 0.25, "decay": 0.4, "start_spread": 0},
    "cap": {"cap": 0.3, "scaling": 8.0, "exploring_starts": False},
    "text": {"reading": "text", "scaling": 3.0, "exploration": "variance"},
    "floor": {"reading": "text", "scaling": 60.0, "exploring_starts": False, "decay": 0.0},
    "smallest": {"scaling": 60.0, "exploring_starts": False, "decay": 0.0},
    "average": {"neighbours": "average", "neighbour_share": 0.7, "epsilon": 0.1},
    "sum": {"neighbours": "sum", "neighbour_share": 0.2, "epsilon": 0.0},
    "pool": {"opponents": ["random", "semi_pure_hand_max_avg", "random"], "switch_every": 2},
    "round robin": {"opponents": ["random", "random"], "switch_every": 1, "pairs": "random"},
    "static": {"opponents_learn": False, "initial": "semi_pure_hand_max_med", "exploring_starts": False},
    "crib": {"strategies": ["crib_max_avg", "hand_max_avg", "crib_min_avg"], "scaling": 20.0},
}


@pytest.mark.parametrize("name", VARIANTS)
def test_weights_are_those_of_a_plain_replica(name: str) -> None:
    """Game after game, both going on from their own: all weights to 1e-12, and all pegging records."""
    learner = new_learner(dealing="acc" if name != "base" else "random_dealer", **VARIANTS[name])
    options, seed, hands = learner.options, 1234, 0
    twin, start = Replica(learner, seed), learner.pool.copy()
    for number in range(9, 17):
        hands += played(learner, number, number + 1, seed)
        twin.game(number)
        np.testing.assert_allclose(learner.pool, twin.pool, rtol=0, atol=1e-12)
        assert hands == twin.hands
        assert np.array_equal(learner.gained, twin.gained) and np.array_equal(learner.given, twin.given)
        np.testing.assert_allclose(learner.pegging, twin.summary, rtol=0, atol=1e-12)
    changed = np.abs(learner.pool - start).max(axis=(1, 2, 3, 4)) > 0.001
    assert changed.tolist() == [True] + [options.opponents_learn] * len(options.opponents)


# --- one update -----------------------------------------------------------------------------------------------


def adjusted(weights: list[float], mask: int, change: float, reading: str = "code", cap: float = np.inf) -> np.ndarray:
    cell = np.array(weights)
    adjust(cell, mask, change, READINGS[reading], cap)
    return cell


def test_updates_by_hand() -> None:
    """Won by 10 at s = 2 it is 20 / 121; lost by 121, a factor of -1, which leaves the program's thousandth."""
    assert adjusted([0.5, 0.3, 0.2], 0b001, 0.2) == pytest.approx([0.6 / 1.1, 0.3 / 1.1, 0.2 / 1.1])
    assert adjusted([0.5, 0.3, 0.2], 0b110, 0.2) == pytest.approx([0.5 / 1.1, 0.36 / 1.1, 0.24 / 1.1])
    assert adjusted([0.5, 0.3, 0.2], 0b001, -2.0) == pytest.approx([0.001 / 0.501, 0.3 / 0.501, 0.2 / 0.501])
    assert adjusted([0.5, 0.3, 0.2], 0b001, -0.9) == pytest.approx([0.05 / 0.55, 0.3 / 0.55, 0.2 / 0.55])
    assert adjusted([0.0, 1.0, 0.0], 0b011, 0.5) == pytest.approx([0.001 / 1.501, 1.5 / 1.501, 0])  # it rises from 0
    assert adjusted([0.4, 0.6], 0b11, 0.7, cap=0.5) == pytest.approx([0.5, 0.5])  # 0.68 and 1.02, both cut
    assert adjusted([0.4, 0.6], 0b01, 0.1, cap=0.5) == pytest.approx([0.44 / 1.04, 0.6 / 1.04])  # the other is left


def test_the_text_s_update_by_hand() -> None:
    """Its factor is at least a hundredth, and what is 0 stays so but for what a later factor needs."""
    assert adjusted([0.5, 0.3, 0.2], 0b001, -1.2, "text") == pytest.approx([0.005 / 0.505, 0.3 / 0.505, 0.2 / 0.505])
    assert adjusted([0.0, 1.0], 0b11, 0.5, "text") == pytest.approx([0, 1], abs=1e-20)


@pytest.mark.parametrize(
    ("scores", "options", "change"),
    [
        ((121, 61), {}, 2 * 60 / 121),
        ((100, 121), {}, -2 * 21 / 121),
        ((100, 121), {"punishment": 0.25}, -0.5 * 21 / 121),
        ((121, 61), {"reading": "text"}, 1.2),
    ],
)
def test_a_game_adjusts_the_two_hands_of_a_player_by_hand(scores: Any, options: dict, change: float) -> None:
    """s = 2, d = 0.1: the last hand by m, the one before it by 0.9 m; the third strategy answered for both."""
    state, log = new_games(np.zeros(1, dtype=np.int64), 2), new_log()
    state["scores"][0] = scores
    places = [(3, 5, 0), (20, 17, 1)]
    log.places[0, :2], log.masks[0, :2], log.counts[0] = places, 0b100, 2
    weights = np.full((121, 121, 2, 4), 0.25)
    weighted_games._learn(state[0], 0, weights, weighted_method(WeightedOptions(**options), 1), log)
    for place, part in zip(places, (0.9, 1.0), strict=True):
        raised = 0.25 * (1 + part * change)
        assert weights[place] == pytest.approx(np.array([0.25, 0.25, raised, 0.25]) / (0.75 + raised))
    assert np.count_nonzero(weights != 0.25) == 8


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([1, 0.7, 0.69, 0, 0, 0, 0, 0], [0, 1]),  # 0.69 is below 0.7 of the highest
        ([0.69, 1, 0, 0, 0, 0, 0, 0], [1]),
        ([0.8, 0.9, 0, 1, 0, 0, 0, 0.85], [1, 3]),  # the two highest of four near it
        ([0.5] * 8, [0, 1]),  # equal ones in the order of the list
        ([0.2, 0.5, 0.5, 0.5, 0, 0, 0, 0], [1, 2]),
        ([0.2, 0.14, 0.13, 0.1, 0, 0, 0, 0], [0, 1]),  # of the highest, not of 1
        ([0] * 8, [0, 1]),  # a discard that nobody likes, explored
        ([0.1, 0.3, 0.3], [1]),  # int(0.33 x 3) = 0 is raised to one
        ([0.8, 1, 0.9, 1, 1, 1, 1, 1, 1], [1, 3]),  # int(0.33 x 9) = 2
    ],
)
def test_who_answers_for_a_discard_by_hand(values: list[float], found: list[int]) -> None:
    """`action_indices` of the program: 0.7 of the highest value or more, and int(0.33 m) at most."""
    matrix = np.zeros((len(values), 15))
    matrix[:, 4] = values
    assert responsible(matrix, 4, True) == sum(1 << i for i in found)


@given(st.lists(st.sampled_from([0, 0.25, 0.35, 0.5, 0.69, 0.7, 1]), min_size=1, max_size=9))
def test_who_answers_is_as_in_plain_words(values: list[float]) -> None:
    column = np.array(values)
    for reading in ("code", "text"):
        mask = responsible(column[:, None].copy(), 0, READINGS[reading].shared)
        assert mask == sum(1 << i for i in answering(column, reading))


def test_a_pure_strategy_cannot_be_punished() -> None:
    """Section 4.2: no other weight could increase; the reason for semi-pure ones."""
    assert adjusted([1.0, 0.0, 0.0], 0b001, -0.8).tolist() == [1, 0, 0]
    semi_pure = adjusted([0.7, 0.15, 0.15], 0b001, -0.8)
    assert semi_pure[0] < 0.7 and semi_pure[1] > 0.15


def test_a_capped_weight_converges_to_the_cap() -> None:
    """Section 4.2: what exceeds r after normalising comes back to it within a handful of rewards."""
    for start in (0.2, 0.9):
        cell = [start, *[(1 - start) / 7] * 7]
        for _ in range(12):
            cell = adjusted(cell, 1, 0.6, cap=0.5).tolist()
        assert cell[0] == pytest.approx(0.5, abs=0.01)


@given(
    st.lists(st.floats(1e-6, 1), min_size=1, max_size=9),
    st.integers(0, 511),
    st.floats(-4, 4),
    st.sampled_from(list(READINGS)),
    st.one_of(st.just(np.inf), st.floats(0.05, 1)),
)
def test_what_every_update_keeps(numbers: list[float], mask: int, c: float, reading: str, cap: float) -> None:
    before = np.array(numbers) / sum(numbers)
    after = adjusted(before.tolist(), mask, c, reading, cap)
    assert after.sum() == pytest.approx(1) and (after > 0).all()
    answers = np.array([bool(mask >> i & 1) for i in range(len(before))])
    others = before[~answers]
    if not len(others):
        return
    total = others.sum() / after[~answers].sum()  # by which all were divided
    np.testing.assert_allclose(after[~answers] * total, others, rtol=1e-9)
    wanted = before[answers] * (1 + c if reading == "code" else max(0.01, 1 + c))
    if reading == "code":
        wanted = np.maximum(wanted, 0.001)
    np.testing.assert_allclose(after[answers] * total, np.minimum(wanted, cap), rtol=1e-6)
    if not np.isfinite(cap) and answers.any() and before.min() > 0.001:
        gain = after[answers].sum() - before[answers].sum()
        assert gain * c >= -1e-12  # a win strengthens those that answer for it, a loss weakens them


@pytest.mark.parametrize("reading", READINGS)
def test_endless_rewards_and_punishments_leave_weights_that_can_return(reading: str) -> None:
    for c in (1e305, -1e305, 3.0, -3.0):
        cell = [0.25] * 4
        for _ in range(2_000):
            cell = adjusted(cell, 0b0101, c, reading).tolist()
        assert sum(cell) == pytest.approx(1) and min(cell) >= 0
        for _ in range(200):
            cell = adjusted(cell, 0b1010 if c > 0 else 0b0101, 4.0, reading).tolist()
        assert sum(cell[1::2] if c > 0 else cell[::2]) > 0.99


def test_the_chance_of_exploring_by_hand() -> None:
    """Five preferences of 1, ten of 0: squares about 1/3 add up to 10/3, Var(p) is 5/21, and 0.3 - 5/21 = 13/210."""
    preference, weights = np.array([1.0] * 5 + [0.0] * 10), np.eye(8)[2]
    for options, wanted in (
        ({"exploration": "variance"}, 13 / 210),
        # of a pure strategy's weights 1/8: "18%" in section 4.1
        ({"exploration": "variance", "reading": "text"}, 0.175),
        ({"exploration": "constant"}, 0.3),
    ):
        how = weighted_method(WeightedOptions(epsilon=0.3, **options), 1)
        assert weighted_games._exploration(how, weights, preference) == pytest.approx(wanted, abs=1e-12)


# --- where games start, and who plays -------------------------------------------------------------------------


def starts(games: int, **options: Any) -> np.ndarray:
    """[games, 2, 3]: own score, opponent's, role of both seats at the first discard of games."""
    learner, log, found = new_learner(**options), new_log(), []
    for number in range(games):
        played(learner, number, number + 1, 5, log)
        found.append(log.places[:, 0].copy())
    return np.array(found)


def start_chances(spread: int) -> np.ndarray:
    """[121, 121]: chance of agent 1's and agent 2's score; one is uniform, the other uniform around it on the board."""
    chances = np.zeros((121, 121))
    for one in range(121):
        others = [other for other in range(121) if abs(one - other) <= spread]
        for other in others:
            chances[(one, other) if one % 2 == 0 else (other, one)] += 1 / 121 / len(others)
    return chances


def test_exploring_starts_are_drawn_one_score_after_the_other() -> None:
    """As in `play_training_game`: scores near 0 and 120 more often than in a draw of pairs."""
    found = starts(9_000, start_spread=1)
    assert (found[:, 0, 0] == found[:, 1, 1]).all() and (found[:, 0, 1] == found[:, 1, 0]).all()
    assert (found[:, 0, 2] + found[:, 1, 2] == 1).all()
    agents = np.where(np.arange(9_000)[:, None] % 2 == 0, found[:, 0, :2], found[:, 0, 1::-1])  # agent 1's score first
    chances = start_chances(1)
    pairs = np.argwhere(chances > 0)
    counts = np.array([(agents == pair).all(axis=1).sum() for pair in pairs])
    assert counts.sum() == 9_000
    assert_drawn(counts, chances[tuple(pairs.T)])
    assert_drawn(np.bincount(found[:, 0, 2], minlength=2))


def test_without_exploring_starts_games_begin_at_the_beginning() -> None:
    found = starts(400, exploring_starts=False)
    assert not found[:, :, :2].any()
    assert 140 < found[:, 0, 2].sum() < 260  # a coin decides who deals: 200 +- 6 sigma


def test_pairs_of_a_round_robin_are_drawn() -> None:
    """Any two of the pool, equally often and either way round, for `switch_every` games (the draft, 4.3.1)."""
    how = weighted_method(WeightedOptions(pairs="random", switch_every=5), 9)
    pairs = [draw_pair(number, 4, how) for number in range(60_000)]
    assert all(pair == pairs[number - number % 5] for number, pair in enumerate(pairs))
    drawn = [one * 4 + two for one, two in pairs[::5]]
    assert all(number % 5 for number in drawn)  # nobody meets itself
    assert_drawn(np.bincount(drawn, minlength=16)[[i for i in range(16) if i % 5]])


def test_a_set_of_cards_without_a_record_is_known_to_have_none(tmp_path: Path) -> None:
    """Two plays leave at most four sets with records; the weights carry which, and play by them."""
    learner = new_learner(records="sampled", record_hands=2)
    known = ~np.isnan(learner.pegging).any(axis=2)
    assert 2 <= known[:, 0].sum() <= 4 and np.array_equal(known[:, 0], known[:, 1])
    learner.save(tmp_path / "weights.safetensors")
    agent = load_weighted(tmp_path)
    assert np.array_equal(agent.pegging, learner.pegging, equal_nan=True)
    assert play_match([agent, make_agent("greedy")], 10, 1).scores.max() == 121


def test_scores_far_apart_keep_their_first_weights() -> None:
    """Section 4.1: the corners that no game comes to stay untouched."""
    learner = new_learner(start_spread=60)
    before = learner.pool[0].copy()
    played(learner, 0, 6_000, 3)
    apart = np.abs(np.subtract.outer(np.arange(121), np.arange(121)))
    changed = (learner.pool[0] != before).any(axis=(2, 3))
    assert not changed[apart > 105].any()
    assert changed[apart > 85].mean() < 0.05 and changed[apart <= 60].mean() > 0.7
    np.testing.assert_allclose(learner.pool.sum(axis=4), 1, atol=1e-12)


def test_records_grow_by_the_hands_played() -> None:
    """By both players' cards of every hand but those won by the starter; the shared exact records stay as they are."""
    shared, learner = exact_records().gained.sum(), new_learner(update_records=True)
    hands = played(learner, 0, 300, 3)
    records = PeggingRecords(learner.gained, learner.given)
    new = records.gained.sum(axis=2) - exact_records().pooled().gained.sum(axis=2)
    assert np.array_equal(new[:, 0], new[:, 1]) and 2 * (hands - 15) <= new[:, 0].sum() <= 2 * hands
    assert np.allclose(learner.pegging, records.summary(), atol=1e-12)
    assert exact_records().gained.sum() == shared


# --- runs -----------------------------------------------------------------------------------------------------


def test_metrics_are_mean_weights_by_role() -> None:
    learner = new_learner(strategies=["hand_max_avg", "crib_min_avg"])
    before, metrics = learner.pool[0].copy(), learner.step()
    for role, name in enumerate(("pone", "dealer")):
        mean = learner.pool[0, :, :, role].mean(axis=(0, 1))
        assert [metrics[f"weights_{name}/{one}"] for one in learner.options.strategies] == pytest.approx(mean)
        change = np.abs(learner.pool[0] - before)[:, :, role].sum() / 121**2
        assert metrics[f"weights_{name}/change"] == pytest.approx(change)


def test_a_training_starts_from_the_weights_of_runs(tmp_path: Path) -> None:
    """`initial` and `opponents` name folders and files, as for the winners' bracket of round 2."""
    one = new_learner(games=10)
    one.step()
    one.save(tmp_path / "weights.safetensors")
    one.finish(tmp_path)
    start = new_learner(initial=str(tmp_path), opponents=[str(tmp_path / "opponent_1.safetensors")])
    np.testing.assert_allclose(start.pool, one.pool, atol=1e-6)  # weights are written in single precision


def test_members_of_a_pool_start_with_weights_of_their_own() -> None:
    pool, other = (new_learner(seed, opponents=["random"] * 3).pool for seed in (1, 2))
    assert len(set(np.concatenate([pool, other])[:, 0, 0, 0, 0].tolist())) == 8
