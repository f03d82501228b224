"""Training of weighted strategies: against a plain replica of chapter 3, and the run that it leaves."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import reference
from figures import match_of
from hypothesis import given
from hypothesis import strategies as st
from reference import chi_square_limit
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from test_weighted_agent import SETS, plain_matrix, plain_weights
from torch.utils.tensorboard import SummaryWriter

from deepcrib.agents import ScriptedAgent, WeightedAgent, load_weighted, make_agent
from deepcrib.checkpoints import CheckpointError
from deepcrib.engine import Games
from deepcrib.engine.state import new_games
from deepcrib.errors import OptionError
from deepcrib.randomness import START, below, hash_key, uniform
from deepcrib.statistics.pegging import exact_records
from deepcrib.statistics.strategies import THESIS_STRATEGIES, strategy_codes
from deepcrib.statistics.table import cached_table
from deepcrib.training import weighted, weighted_games
from deepcrib.training.monitoring import MATCH_FIGURES
from deepcrib.training.options import EvaluationOptions, WeightedOptions
from deepcrib.training.weighted import LearnerState, prepare, train
from deepcrib.training.weighted_games import adjust, play_games
from deepcrib.training.weighted_state import Memory, Tables, new_memory, new_scratch

ERROR_LEVEL = 1e-6


def settings(seed: int = 1, every: int = 0, rivals: tuple[Any, ...] = (), **options: Any) -> SimpleNamespace:
    defaults: dict[str, Any] = {"games": 20, "checkpoint_every": 10}
    evaluation = EvaluationOptions(opponents=list(rivals), every=every, games=10)
    return SimpleNamespace(seed=seed, learner=WeightedOptions(**{**defaults, **options}), evaluation=evaluation)


def played(
    run: LearnerState,
    learner: WeightedOptions,
    first: int,
    last: int,
    seed: int,
    dealing: str = "acc",
    memory: Memory | None = None,
) -> int:
    """Games first..last - 1 by the compiled loop, in the run's own arrays; returns the hands."""
    table, codes, records = cached_table(), strategy_codes(learner.strategies), run.records
    tables = Tables(np.asarray(table.rows), *table.classes, records.gained, records.given, run.summary)
    learns = np.array([True] + [learner.opponents_learn] * (len(run.pool) - 1))
    return play_games(
        new_games(np.zeros(1, dtype=np.int64), 2),
        first,
        last,
        seed,
        run.pool,
        run.play_pool,
        learns,
        learner.switch_every,
        codes,
        tables,
        weighted.method(learner, dealing),
        memory or new_memory(),
        new_scratch(len(codes)),
    )


# --- a replica of chapter 3 -----------------------------------------------------------------------------------


class Replica:
    """The training in plain Python, on the engine's games and with the decisions' keys.

    It shares nothing with the code under test but the engine, the statistics of a hand and the hashes.
    """

    def __init__(self, run: LearnerState, learner: WeightedOptions, seed: int, dealing: str) -> None:
        self.pool, self.play_pool = run.pool.copy(), run.play_pool.copy()
        self.gained, self.given = run.records.gained.copy(), run.records.given.copy()
        self.summary = run.summary.copy()
        self.o, self.seed, self.dealing = learner, seed, dealing
        self.greedy = ScriptedAgent("greedy")
        self.hands = 0

    def start(self, number: int) -> tuple[int, list[int]]:
        key = np.uint64(hash_key(self.seed, number, 0, -1, START))
        dealer = below(key, 0, 2)
        for counter in count(1, 2):
            scores = [below(key, counter, 121), below(key, counter + 1, 121)]
            if not self.o.exploring_starts:
                return dealer, [0, 0]
            if abs(scores[0] - scores[1]) <= self.o.start_spread:
                return dealer, scores
        raise AssertionError

    def game(self, number: int) -> None:
        o = self.o
        dealer, scores = self.start(number)
        games = Games([number], self.seed, dealing=self.dealing, first_dealer=[dealer])
        games.state.scores[0] = scores
        opponent = 1 + (number // o.switch_every) % len(o.opponents)
        players = [0, opponent] if number % 2 == 0 else [opponent, 0]
        discards: list[list[tuple]] = [[], []]
        plays: list[list[tuple]] = [[], []]
        row = np.array([0])
        while not games.finished[0]:
            games.deal()
            for seat in (0, 1):
                seen = games.discard_observation(row, [seat])
                action, responsible = self.discard(seen, self.pool[players[seat]])
                place = (int(seen.scores[0, seat]), int(seen.scores[0, 1 - seat]), int(seen.is_dealer[0]))
                discards[seat].append((place, responsible))
                games.discard(row, [seat], [action])
            games.start_play()
            while len(games.to_play):
                seen = games.play_observation(row)
                seat = int(seen.seat[0])
                slot, responsible = self.play(seen, self.play_pool[players[seat]])
                place = (int(seen.scores[0, seat]), int(seen.scores[0, 1 - seat]), int(seen.is_dealer[0]))
                plays[seat].append((place, responsible, len(discards[seat])))
                games.play(row, [slot])
            games.show()
            self.hands += 1
            if o.update_records:
                self.record(games)
        for seat in (0, 1):
            if players[seat] == 0 or o.opponents_learn:
                margin = int(games.scores[0, seat]) - int(games.scores[0, 1 - seat])
                self.learn(self.pool[players[seat]], self.play_pool[players[seat]], margin, discards[seat], plays[seat])

    def discard(self, seen: Any, weights: np.ndarray) -> tuple[int, list[int]]:
        o, key, seat = self.o, seen.key[0], int(seen.seat[0])
        own, other, role = int(seen.scores[0, seat]), int(seen.scores[0, 1 - seat]), int(seen.is_dealer[0])
        matrix = plain_matrix(seen.hand[0], bool(role), tuple(o.strategies), self.summary)
        p = plain_weights(weights, (own, other, role), o.neighbours, o.neighbour_share) @ matrix
        chance = o.epsilon
        if o.exploration == "variance":
            chance -= weights[own, other, role].var(ddof=1)
        if uniform(key, 1) >= chance:
            best = np.flatnonzero(p >= p.max() - 1e-9)
            action = int(best[below(key, 0, len(best))])
        elif o.explore_by == "preference":
            action = int(np.searchsorted(np.cumsum(p), uniform(key, 2) * p.sum(), side="right"))
        else:
            action = below(key, 2, 15)
        return action, responsible(matrix[:, action], o.responsible_margin)

    def play(self, seen: Any, weights: np.ndarray) -> tuple[int, list[int]]:
        o, seat, key = self.o, int(seen.seat[0]), seen.key[0]
        if o.play == "greedy":
            return int(self.greedy.play(seen)[0]), []
        own, other, role = int(seen.scores[0, seat]), int(seen.scores[0, 1 - seat]), int(seen.is_dealer[0])
        legal = np.flatnonzero(seen.legal[0])
        matrix = plain_play_matrix(seen)
        p = weights[own, other, role] @ matrix
        if uniform(key, 1) < o.epsilon:
            choice = below(key, 2, len(legal))
        else:
            choice = max(range(len(legal)), key=lambda i: (round(p[i], 9), legal[i]))
        return int(legal[choice]), responsible(matrix[:, choice], o.responsible_margin)

    def record(self, games: Games) -> None:
        state = games.state[0]
        if state.num_played < 8:
            return
        pegged = [int(state.play_points[state.history_seats == seat].sum()) for seat in (0, 1)]
        for seat in (0, 1):
            cell = SETS[tuple(state.kept[seat] // 4)], int(seat == state.dealer)
            self.gained[(*cell, pegged[seat])] += 1
            self.given[(*cell, pegged[1 - seat])] += 1
            gains = np.repeat(np.arange(32), self.gained[cell])
            gives = np.repeat(np.arange(32), self.given[cell])
            self.summary[cell] = gains.mean(), np.median(gains), gives.mean()

    def learn(self, weights: np.ndarray, play_weights: np.ndarray, margin: int, discards: list, plays: list) -> None:
        o, last = self.o, len(discards)
        constant = o.scaling * margin * (o.punishment if margin < 0 else 1)
        for j, (place, answer) in enumerate(discards, start=1):
            self.adjust(weights[place], answer, constant * (1 - o.decay) ** (last - j))
        for place, answer, j in plays:
            self.adjust(play_weights[place], answer, constant * (1 - o.decay) ** (last - j))

    def adjust(self, cell: np.ndarray, answer: list[int], c: float) -> None:
        o = self.o
        factor = np.exp(c / 100) if o.update == "exponential" else max(o.floor, 1 + c / 100)
        for i in answer:
            cell[i] = cell[i] * factor if o.cap is None else min(o.cap, cell[i] * factor)
        cell /= np.abs(cell).sum()


def scaled(values: np.ndarray) -> np.ndarray:
    """0 for the worst to 1 for the best; no opinion where all are the same."""
    low, high = values.min(), values.max()
    return np.zeros(len(values)) if low == high else (values - low) / (high - low)


def responsible(column: np.ndarray, margin: float) -> list[int]:
    """Strategies whose value of the choice is the highest, up to rounding, or within the margin of it."""
    return [i for i, value in enumerate(column) if value > 1e-12 and value >= column.max() - margin - 1e-12]


def plain_play_matrix(seen: Any) -> np.ndarray:
    """[2, legal cards]: own points scaled, and the mean points of the answer over the unseen cards, reversed."""
    hand, history = seen.hand[0].tolist(), [card for card in seen.history[0].tolist() if card >= 0]
    series = history[int(seen.series_start[0]) :]
    known = {*hand, *history, *seen.discards[0].tolist(), int(seen.starter[0])}
    unseen = [card for card in range(52) if card not in known]
    points, answers = [], []
    for slot in np.flatnonzero(seen.legal[0]):
        after = [*series, hand[slot]]
        points.append(reference.pegs(after))
        total = sum(map(reference.pips, after))
        lawful = [card for card in unseen if total < 31 and total + reference.pips(card) <= 31]
        answers.append(-sum(reference.pegs([*after, card]) for card in lawful) / len(unseen))
    return np.array([scaled(np.array(points)), scaled(np.array(answers))])


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
    "punishment": {"update": "exponential", "punishment": 0.25, "decay": 0.4, "start_spread": 0},
    "cap": {"cap": 0.3, "scaling": 8.0, "exploring_starts": False, "responsible_margin": 0.2},
    "floor": {"scaling": 60.0, "floor": 0.3, "exploring_starts": False, "decay": 0.0},
    "average": {"neighbours": "average", "neighbour_share": 0.7, "epsilon": 0.1},
    "sum": {"neighbours": "sum", "neighbour_share": 0.2, "epsilon": 0.0},
    "pool": {"opponents": ["random", "semi_pure_hand_max_avg", "random"], "switch_every": 2},
    "static": {"opponents_learn": False, "initial": "semi_pure_hand_max_med", "exploring_starts": False},
    "play": {"play": "weighted", "scaling": 5.0, "exploring_starts": False},
    "crib": {"strategies": ["crib_max_avg", "hand_max_avg", "crib_min_avg"], "scaling": 20.0},
}


@pytest.mark.parametrize("name", VARIANTS)
def test_weights_are_those_of_a_plain_replica(name: str) -> None:
    """Game after game, both going on from their own: all weights to 1e-12, and all pegging records."""
    learner, seed, dealing = settings(**VARIANTS[name]).learner, 1234, "acc" if name != "base" else "random_dealer"
    run = prepare(settings(**VARIANTS[name]))
    twin, start = Replica(run, learner, seed, dealing), run.pool.copy()
    hands = 0
    for number in range(9, 17):
        hands += played(run, learner, number, number + 1, seed, dealing)
        twin.game(number)
        np.testing.assert_allclose(run.pool, twin.pool, rtol=0, atol=1e-12)
        np.testing.assert_allclose(run.play_pool, twin.play_pool, rtol=0, atol=1e-12)
        assert hands == twin.hands
        assert np.array_equal(run.records.gained, twin.gained) and np.array_equal(run.records.given, twin.given)
        np.testing.assert_allclose(run.summary, twin.summary, rtol=0, atol=1e-12)
    changed = np.abs(run.pool - start).max(axis=(1, 2, 3, 4)) > 0.001
    assert changed.tolist() == [True] + [learner.opponents_learn] * len(learner.opponents)


# --- one update -----------------------------------------------------------------------------------------------


def adjusted(
    weights: list[float], mask: int, c: float, exponential: bool = False, floor: float = 0.01, cap: float = np.inf
) -> np.ndarray:
    cell = np.array(weights)
    adjust(cell, mask, c, exponential, floor, cap)
    return cell


def test_updates_by_hand() -> None:
    """A game won by 10 points at s = 2 is worth 20%, lost by 60 it would be -120%: the floor's hundredth is left."""
    assert adjusted([0.5, 0.3, 0.2], 0b001, 20) == pytest.approx([0.6 / 1.1, 0.3 / 1.1, 0.2 / 1.1])
    assert adjusted([0.5, 0.3, 0.2], 0b110, 20) == pytest.approx([0.5 / 1.1, 0.36 / 1.1, 0.24 / 1.1])
    assert adjusted([0.5, 0.3, 0.2], 0b001, -120) == pytest.approx([0.005 / 0.505, 0.3 / 0.505, 0.2 / 0.505])
    assert adjusted([0.5, 0.5], 0b10, 100 * np.log(3), exponential=True) == pytest.approx([0.25, 0.75])
    assert adjusted([0.5, 0.5], 0b10, -100 * np.log(3), exponential=True) == pytest.approx([0.75, 0.25])
    assert adjusted([0.4, 0.6], 0b11, 70, cap=0.5) == pytest.approx([0.5, 0.5])  # 0.68 and 1.02, both cut
    assert adjusted([0.4, 0.6], 0b01, 10, cap=0.5) == pytest.approx([0.44 / 1.04, 0.6 / 1.04])  # the other is left


def test_a_pure_strategy_cannot_be_punished() -> None:
    """Section 4.2: no other weight could increase; the reason for semi-pure ones."""
    assert adjusted([1.0, 0.0, 0.0], 0b001, -80).tolist() == [1, 0, 0]
    semi_pure = adjusted([0.7, 0.15, 0.15], 0b001, -80)
    assert semi_pure[0] < 0.7 and semi_pure[1] > 0.15


def test_a_capped_weight_converges_to_the_cap() -> None:
    """Section 4.2: what exceeds r after normalising comes back to it within a handful of rewards."""
    for start in (0.2, 0.9):
        cell = [start, *[(1 - start) / 7] * 7]
        for _ in range(12):
            cell = adjusted(cell, 1, 60, cap=0.5).tolist()
        assert cell[0] == pytest.approx(0.5, abs=0.01)


@given(
    st.lists(st.floats(1e-6, 1), min_size=1, max_size=9),
    st.integers(0, 511),
    st.floats(-400, 400),
    st.booleans(),
    st.floats(0.001, 1),
    st.one_of(st.just(np.inf), st.floats(0.05, 1)),
)
def test_what_every_update_keeps(
    numbers: list[float], mask: int, c: float, exponential: bool, floor: float, cap: float
) -> None:
    before = np.array(numbers) / sum(numbers)
    after = adjusted(before.tolist(), mask, c, exponential, floor, cap)
    assert after.sum() == pytest.approx(1) and (after > 0).all()
    answers = np.array([bool(mask >> i & 1) for i in range(len(before))])
    others = before[~answers]
    if not len(others):
        return
    total = others.sum() / after[~answers].sum()  # by which all were divided
    np.testing.assert_allclose(after[~answers] * total, others, rtol=1e-9)
    wanted = np.exp(c / 100) if exponential else max(floor, 1 + c / 100)
    np.testing.assert_allclose(after[answers] * total, np.minimum(before[answers] * wanted, cap), rtol=1e-6)
    if not np.isfinite(cap) and answers.any():
        gain = after[answers].sum() - before[answers].sum()
        assert gain * c >= -1e-12  # a win strengthens those that answer for it, a loss weakens them


@pytest.mark.parametrize("exponential", [True, False])
def test_endless_rewards_and_punishments_leave_weights_that_can_return(exponential: bool) -> None:
    for c in (1e7, -1e7, 300.0, -300.0):
        cell = [0.25] * 4
        for _ in range(2_000):
            cell = adjusted(cell, 0b0101, c, exponential).tolist()
        assert sum(cell) == pytest.approx(1) and min(cell) >= 0
        for _ in range(200):
            cell = adjusted(cell, 0b1010 if c > 0 else 0b0101, 400.0).tolist()
        assert sum(cell[1::2] if c > 0 else cell[::2]) > 0.99


@given(st.lists(st.floats(0.001, 1), min_size=2, max_size=9), st.floats(0, 1))
def test_the_chance_of_exploring(numbers: list[float], epsilon: float) -> None:
    """e = k - Var(w), or the constant."""
    weights = np.array(numbers) / sum(numbers)
    for exploration, wanted in (("variance", epsilon - weights.var(ddof=1)), ("constant", epsilon)):
        how = weighted.method(WeightedOptions(exploration=exploration, epsilon=epsilon))
        assert weighted_games._exploration(how, weights) == pytest.approx(wanted, abs=1e-12)


def test_the_thesis_s_fall_from_30_to_18_per_cent() -> None:
    how = weighted.method(WeightedOptions(exploration="variance", epsilon=0.3))
    assert round(weighted_games._exploration(how, np.eye(8)[2]), 2) in (0.17, 0.18)  # 0.175


# --- where games start, and who plays -------------------------------------------------------------------------


def starts(games: int, **options: Any) -> np.ndarray:
    """[games, 2, 3]: own score, opponent's, role of both seats at the first discard of games."""
    learner = settings(**options).learner
    run, memory, found = prepare(settings(**options)), new_memory(), []
    for number in range(games):
        played(run, learner, number, number + 1, 5, memory=memory)
        found.append(memory.places[:, 0].copy())
    return np.array(found)


def assert_uniform(counts: np.ndarray, weights: np.ndarray | None = None) -> None:
    """Chi-square at a level of 1e-6."""
    weights = np.ones(len(counts)) if weights is None else weights
    expected = weights / weights.sum() * counts.sum()
    assert expected.min() > 10
    assert ((counts - expected) ** 2 / expected).sum() < chi_square_limit(len(counts) - 1, ERROR_LEVEL)


def test_exploring_starts_are_uniform_over_pairs_of_scores() -> None:
    found = starts(9_000, start_spread=1)
    assert (found[:, 0, 0] == found[:, 1, 1]).all() and (found[:, 0, 1] == found[:, 1, 0]).all()
    assert (found[:, 0, 2] + found[:, 1, 2] == 1).all()
    pairs = [(i, j) for i in range(121) for j in range(121) if abs(i - j) <= 1]
    assert_uniform(np.array([((found[:, 0, 0] == i) & (found[:, 0, 1] == j)).sum() for i, j in pairs]))
    assert_uniform(np.bincount(found[:, 0, 2], minlength=2))


def test_exploring_starts_are_at_most_sixty_points_apart() -> None:
    found = starts(6_000)[:, 0].astype(int)
    difference = found[:, 0] - found[:, 1]
    assert difference.min() == -60 and difference.max() == 60
    assert_uniform(np.bincount(difference + 60), 121.0 - np.abs(np.arange(-60, 61)))
    lowest = np.array([sum(abs(i - j) <= 60 for j in range(121)) for i in range(121)], dtype=float)
    assert_uniform(np.bincount(found[:, 0], minlength=121), lowest)


def test_without_exploring_starts_games_begin_at_the_beginning() -> None:
    found = starts(400, exploring_starts=False)
    assert not found[:, :, :2].any()
    assert 140 < found[:, 0, 2].sum() < 260  # a coin decides who deals: 200 +- 6 sigma


def test_a_pool_plays_in_turn() -> None:
    """Each opponent `switch_every` games, then the next; a game changes its two players' weights and no others'."""
    options = {"opponents": ["random", "hand_max_avg", "semi_pure_crib_min_avg"], "switch_every": 3, "update": "linear"}
    run, learner = prepare(settings(**options)), settings(**options).learner
    turns = []
    for number in range(20):
        before = run.pool.copy()
        played(run, learner, number, number + 1, 3)
        changed = [bool((run.pool[member] != before[member]).any()) for member in range(4)]
        assert changed[0] and sum(changed) <= 2
        turns.append(changed[1:])
    for number, changed in enumerate(turns):
        if number // 3 % 3 != 1:  # what is pure stays pure
            assert changed == [member == number // 3 % 3 for member in range(3)]


def test_opponents_that_do_not_learn_stay_as_they_are() -> None:
    options = {"opponents": ["random", "hand_max_avg"], "opponents_learn": False, "switch_every": 5}
    run, learner = prepare(settings(**options)), settings(**options).learner
    before = run.pool.copy()
    played(run, learner, 0, 200, 3)
    assert np.array_equal(run.pool[1:], before[1:])
    assert (run.pool[0] != before[0]).any()


def test_scores_far_apart_keep_their_first_weights() -> None:
    """Section 4.1: the corners that no game comes to stay untouched."""
    run, learner = prepare(settings(start_spread=60)), settings().learner
    before = run.pool[0].copy()
    played(run, learner, 0, 6_000, 3)
    apart = np.abs(np.subtract.outer(np.arange(121), np.arange(121)))
    changed = (run.pool[0] != before).any(axis=(2, 3))
    assert not changed[apart > 105].any()
    assert changed[apart > 85].mean() < 0.05 and changed[apart <= 60].mean() > 0.7
    np.testing.assert_allclose(run.pool.sum(axis=4), 1, atol=1e-12)


def test_records_grow_by_the_hands_played() -> None:
    """By every hand that was played out, in both roles; the shared exact records stay as they are."""
    shared = exact_records().gained.sum()
    for update in (False, True):
        run = prepare(settings(update_records=update))
        hands = played(run, settings(update_records=update).learner, 0, 300, 3)
        new = run.records.hands - exact_records().hands
        assert new[:, 0].sum() == new[:, 1].sum()
        assert hands - 300 <= new[:, 0].sum() <= hands if update else not new.any()
        assert np.allclose(run.summary, run.records.summary(), atol=1e-12)
    assert exact_records().gained.sum() == shared


# --- runs -----------------------------------------------------------------------------------------------------


class Match:
    """Stands in for a match: notes what it is asked for."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, str, int, int]] = []

    def __call__(self, agent: WeightedAgent, opponent: Any, games: int, seed: int) -> SimpleNamespace:
        self.calls.append((agent.metadata["games"], opponent.name, games, seed))
        return match_of(win_rate=0.25, margin=-3.5)


def arrays_of(folder: Path) -> dict[str, np.ndarray]:
    agent = load_weighted(folder)
    arrays = {"weights": agent.weights, "pegging": agent.pegging}
    return arrays if agent.play_weights is None else arrays | {"play": agent.play_weights}


def assert_same(one: Path, two: Path, same: bool = True) -> None:
    first, second = arrays_of(one), arrays_of(two)
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[name], second[name]) for name in first) == same


LEARNS_ALL = {"update_records": True, "play": "weighted", "exploring_starts": False, "opponents": ["random"] * 2}


def test_the_same_seed_gives_the_same_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However the games are divided into checkpoints, or into pieces between two signs of life."""
    options = {"games": 60, "switch_every": 7, **LEARNS_ALL}
    train(settings(2, checkpoint_every=60, **options), tmp_path / "whole", Match())
    train(settings(2, checkpoint_every=7, **options), tmp_path / "divided", Match())
    train(settings(3, checkpoint_every=60, **options), tmp_path / "other", Match())
    monkeypatch.setattr(weighted, "PIECE", 4)
    signs: list[int] = []
    train(
        settings(2, checkpoint_every=30, **options),
        tmp_path / "pieces",
        Match(),
        progress=lambda games, figures: signs.append(games),
    )
    assert_same(tmp_path / "whole", tmp_path / "divided")
    assert_same(tmp_path / "whole", tmp_path / "pieces")
    assert_same(tmp_path / "whole", tmp_path / "other", same=False)
    assert signs == [*range(4, 29, 4), 30, 30, *range(34, 59, 4), 60, 60]


class StopRunError(Exception):
    """What stops a run in a test."""


def test_an_interrupted_run_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    """Interrupted after a checkpoint and again within the next, then made longer: the weights of one whole run."""
    options = {**LEARNS_ALL, "switch_every": 7}
    train(settings(checkpoint_every=20, games=70, **options), tmp_path / "whole", Match())

    def stop_at(last: int) -> Any:
        def progress(games: int, figures: Any) -> None:
            if games >= last:
                raise StopRunError

        return progress

    parts = tmp_path / "parts"
    for last, resume in ((20, False), (50, True)):
        with pytest.raises(StopRunError):
            train(
                settings(checkpoint_every=20, games=60, **options),
                parts,
                Match(),
                progress=stop_at(last),
                resume=resume and (parts / weighted.STATE_FILE).exists(),
            )
    assert not (parts / "weights.safetensors").exists()
    result = train(settings(checkpoint_every=20, games=60, **options), parts, Match(), resume=True)
    assert result.games == 60 and result.weights == parts / "weights.safetensors"
    longer = train(settings(checkpoint_every=20, games=70, **options), parts, Match(), resume=True)
    assert longer.games == 70 and longer.hands > result.hands and longer.seconds >= result.seconds > 0
    assert_same(tmp_path / "whole", parts)
    for number in (1, 2):
        assert_same(tmp_path / "whole" / f"opponent_{number}.safetensors", parts / f"opponent_{number}.safetensors")


def test_what_a_run_leaves(tmp_path: Path) -> None:
    """Checkpoints by name, events by tag, and a monitoring match with each opponent at every second checkpoint."""
    match = Match()
    names = ["hand_max_avg", "crib_min_avg"]
    options = settings(4, every=2, rivals=("greedy", "random"), games=45, opponents_learn=False, strategies=names)
    with SummaryWriter(str(tmp_path)) as writer:
        result = train(options, tmp_path, match, dealing="random_dealer", writer=writer)
    files = sorted(path.name for path in (tmp_path / "checkpoints").iterdir())
    assert files == [f"games_{games:08d}.safetensors" for games in (0, 10, 20, 30, 40, 45)]
    assert not list(tmp_path.glob("opponent_*"))
    assert [call[:3] for call in match.calls] == [(g, name, 10) for g in (20, 40) for name in ("greedy", "random")]
    assert len({call[3] for call in match.calls}) == 1
    events = EventAccumulator(str(tmp_path)).Reload()
    roles = [
        f"weights_{role}/{tag}"
        for role in ("pone", "dealer")
        for tag in (*options.learner.strategies, "largest", "change")
    ]
    rates = [f"{name}/{tag}" for name in ("greedy", "random") for tag in MATCH_FIGURES]
    assert set(events.Tags()["scalars"]) == {*roles, *rates, "speed/games_per_second"}
    assert all([event.step for event in events.Scalars(tag)] == [10, 20, 30, 40, 45] for tag in roles)
    assert [(event.step, event.value) for event in events.Scalars("random/margin")] == [(20, -3.5), (40, -3.5)]
    final, last = load_weighted(tmp_path), load_weighted(tmp_path / "checkpoints" / files[-1])
    assert np.array_equal(final.weights, last.weights) and np.array_equal(final.weights, result.agent.weights)
    assert final.metadata["games"] == 45 and final.metadata["rules"] == "random_dealer"
    first = load_weighted(tmp_path / "checkpoints" / files[0])
    assert np.array_equal(first.weights, prepare(options).pool[0].astype(np.float32))
    for role, name in enumerate(("pone", "dealer")):
        mean = final.weights[:, :, role].mean(axis=(0, 1))
        for strategy, value in zip(names, mean, strict=True):
            assert events.Scalars(f"weights_{name}/{strategy}")[-1].value == pytest.approx(value, abs=1e-6)


def test_a_trained_agent_continues_from_a_run(tmp_path: Path) -> None:
    """`initial` and `opponents` name folders too, as for the winners' bracket of round 2."""
    train(settings(games=30), tmp_path / "one", Match())
    start = prepare(
        settings(initial=str(tmp_path / "one"), opponents=[str(tmp_path / "one" / "opponent_1.safetensors")])
    )
    assert np.array_equal(start.pool[0], load_weighted(tmp_path / "one").weights)
    assert not np.array_equal(start.pool[0], start.pool[1])
    assert make_agent(tmp_path / "one").metadata["learner"] == "weighted"


def test_members_of_a_pool_start_with_weights_of_their_own() -> None:
    pool = prepare(settings(opponents=["random"] * 3)).pool
    again, other = prepare(settings(opponents=["random"] * 3)).pool, prepare(settings(seed=2)).pool
    assert np.array_equal(pool, again)
    cells = np.concatenate([pool, other])[:, 0, 0, 0, 0]
    assert len(set(cells.tolist())) == 6


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"initial": "hand_max"}, "initial=hand_max: expected random, STRATEGY"),
        ({"opponents": ["random", "crib_max_avg"]}, "initial=crib_max_avg: crib_max_avg is none of the strategies"),
        ({"strategies": ["hand_max_avg", "hand_max_mean"]}, "strategy 'hand_max_mean': expected one of"),
        ({"records": "sampled", "record_hands": 0}, "hands=0: expected at least 1"),
    ],
)
def test_mistaken_options(options: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words) as error:
        prepare(settings(**options))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"opponents": ["random", "random"]}, r"pool has the shape \(2, 121, 121, 2, 8\), expected \(3, 121"),
        ({"strategies": [*THESIS_STRATEGIES[:7], "crib_max_avg"]}, "it weighs hand_max_min, .*pegging_min_avg_given"),
    ],
)
def test_a_state_of_other_options_is_refused(tmp_path: Path, options: dict[str, Any], words: str) -> None:
    train(settings(games=5), tmp_path, Match())
    with pytest.raises(CheckpointError, match=words) as error:
        train(settings(**options), tmp_path, Match(), resume=True)
    assert "\n" not in str(error.value)
    (tmp_path / weighted.STATE_FILE).write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(CheckpointError, match="damaged"):
        prepare(settings(), tmp_path / weighted.STATE_FILE)
