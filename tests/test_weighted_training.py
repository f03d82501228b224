"""Training of weighted strategies: against a plain replica of chapter 3, and the run that it leaves."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from reference import chi_square_limit

from deepcrib.agents import ScriptedAgent, WeightedAgent, load_weighted, make_agent
from deepcrib.checkpoints import CheckpointError
from deepcrib.engine import Games
from deepcrib.engine.state import new_games
from deepcrib.errors import OptionError
from deepcrib.randomness import SELF_PLAY, START, below, derive, hash_key, uniform
from deepcrib.rules import KEPT_SLOTS_6
from deepcrib.statistics.discards import discard_statistics
from deepcrib.statistics.ranks import rank_sets
from deepcrib.statistics.strategies import THESIS_STRATEGIES, strategy_codes
from deepcrib.statistics.table import cached_table
from deepcrib.training import weighted, weighted_games
from deepcrib.training.options import EvaluationOptions, WeightedOptions
from deepcrib.training.weighted import LearnerState, prepare, train
from deepcrib.training.weighted_games import adjust, play_games
from deepcrib.training.weighted_state import Tables, new_memory, new_scratch

ERROR_LEVEL = 1e-6
SETS = {tuple(row): number for number, row in enumerate(rank_sets(4).tolist())}


def settings(seed: int = 1, every: int = 0, opponents: tuple[Any, ...] = (), **options: Any) -> SimpleNamespace:
    defaults: dict[str, Any] = {"games": 20, "checkpoint_every": 10}
    evaluation = EvaluationOptions(opponents=list(opponents), every=every, games=10)
    return SimpleNamespace(seed=seed, learner=WeightedOptions(**{**defaults, **options}), evaluation=evaluation)


def played(run: LearnerState, learner: WeightedOptions, first: int, last: int, seed: int, dealing: str = "acc") -> int:
    """Games first..last - 1 by the compiled loop, in the run's own arrays."""
    table, codes = cached_table(), strategy_codes(learner.strategies)
    tables = Tables(
        np.asarray(table.rows),
        table.classes.keys,
        table.classes.starts,
        run.records.gained,
        run.records.given,
        run.summary,
    )
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
        new_memory(),
        new_scratch(len(codes)),
    )


# --- a replica of chapter 3 -----------------------------------------------------------------------------------


class Replica:
    """The training in plain Python, on the engine's games and with the decisions' keys.

    Nothing of it is compiled and nothing shared with the code under test but the statistics of a hand and the hashes.
    """

    def __init__(self, run: LearnerState, learner: WeightedOptions, seed: int, dealing: str) -> None:
        self.pool, self.play_pool = run.pool.copy(), run.play_pool.copy()
        self.gained, self.given = run.records.gained.copy(), run.records.given.copy()
        self.summary = run.summary.copy()
        self.o, self.seed, self.dealing = learner, seed, dealing
        self.greedy = ScriptedAgent("greedy")
        self.hands = 0
        self.visited: set[tuple[int, int]] = set()  # (own, other score) of any discard
        self.explored: list[bool] = []

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
                self.visited.add(place[:2])
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

    def matrix(self, hand: np.ndarray, dealer: bool) -> np.ndarray:
        row = discard_statistics(hand)[0]
        ranks = [tuple(hand[slots] // 4) for slots in KEPT_SLOTS_6]
        pegging = self.summary[[SETS[kept] for kept in ranks], int(dealer)]
        crib = row["crib_sum"] / 45540
        values = {
            "hand_max_min": row["hand_min"].astype(float),
            "hand_max_avg": row["hand_sum"] / 46,
            "hand_max_med": row["hand_median_2"] / 2,
            "hand_max_poss": row["hand_max"].astype(float),
            "crib_min_avg": -crib,
            "pegging_max_avg_gained": pegging[:, 0],
            "pegging_max_med_gained": pegging[:, 1],
            "pegging_min_avg_given": -pegging[:, 2],
            "crib_max_avg": crib,
        }
        return np.array([scaled(values[name]) for name in self.o.strategies])

    def weights(self, weights: np.ndarray, own: int, other: int, role: int) -> np.ndarray:
        o, cell = self.o, weights[own, other, role]
        if o.neighbours == "none":
            return cell
        square = [(i, j) for i in range(own - 1, own + 2) for j in range(other - 1, other + 2)]
        square = [(i, j) for i, j in square if 0 <= i <= 120 and 0 <= j <= 120]
        if o.neighbours == "sum":
            around = np.sum([weights[i, j, role] for i, j in square], axis=0)
        else:
            around = np.mean([weights[i, j, role] for i, j in square if (i, j) != (own, other)], axis=0)
        blended = (1 - o.neighbour_share) * cell + o.neighbour_share * around
        return blended / np.abs(blended).sum()

    def discard(self, seen: Any, weights: np.ndarray) -> tuple[int, list[int]]:
        o, key, seat = self.o, seen.key[0], int(seen.seat[0])
        own, other, role = int(seen.scores[0, seat]), int(seen.scores[0, 1 - seat]), int(seen.is_dealer[0])
        matrix = self.matrix(seen.hand[0], bool(role))
        p = self.weights(weights, own, other, role) @ matrix
        chance = o.epsilon
        if o.exploration == "variance":
            chance -= weights[own, other, role].var(ddof=1)
        explores = uniform(key, 1) < chance
        self.explored.append(explores)
        if not explores:
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
    "punishment": {"update": "exponential", "punishment": 0.25, "decay": 0.4, "start_spread": 0},
    "cap": {"cap": 0.3, "scaling": 8.0, "exploring_starts": False, "responsible_margin": 0.2},
    "floor": {"scaling": 60.0, "floor": 0.3, "exploring_starts": False, "decay": 0.0},
    "average": {"neighbours": "average", "neighbour_share": 0.7, "epsilon": 0.1},
    "sum": {"neighbours": "sum", "neighbour_share": 0.2, "epsilon": 0.0},
    "pool": {"opponents": ["random", "semi_pure_hand_max_avg", "hand_max_min"], "switch_every": 2},
    "static": {"opponents_learn": False, "initial": "semi_pure_hand_max_med", "exploring_starts": False},
    "play": {"play": "weighted", "scaling": 5.0, "exploring_starts": False},
    "crib": {"strategies": ["crib_max_avg", "hand_max_avg", "crib_min_avg"], "scaling": 20.0},
}


@pytest.mark.parametrize("name", VARIANTS)
def test_weights_are_those_of_a_plain_replica(name: str) -> None:
    """Game after game, all weights to 1e-12 and all records; every game's replica goes on from the replica's own."""
    learner, seed, dealing = settings(**VARIANTS[name]).learner, 1234, "acc" if name != "base" else "random_dealer"
    run = prepare(settings(**VARIANTS[name]))
    twin = Replica(run, learner, seed, dealing)
    hands = 0
    for number in range(9, 17):
        hands += played(run, learner, number, number + 1, seed, dealing)
        twin.game(number)
        np.testing.assert_allclose(run.pool, twin.pool, rtol=0, atol=1e-12)
        np.testing.assert_allclose(run.play_pool, twin.play_pool, rtol=0, atol=1e-12)
        assert hands == twin.hands
        assert np.array_equal(run.records.gained, twin.gained) and np.array_equal(run.records.given, twin.given)
        np.testing.assert_allclose(run.summary, twin.summary, rtol=0, atol=1e-12)
