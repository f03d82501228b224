"""The training of weighted strategies (Lang 2018, chapter 3) once more, in plain Python and NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from deepcrib.agents.scripted import ScriptedAgent
from deepcrib.exact.discards import discard_statistics
from deepcrib.game.engine import Games
from deepcrib.game.randomness import START, below, hash_key, uniform
from deepcrib.game.rules import KEPT_SLOTS_6
from deepcrib.learners.weighted.learner import WeightedLearner
from tests.support.positions import SETS


def plain_matrix(
    hand: np.ndarray, dealer: bool, strategies: tuple[str, ...], pegging: np.ndarray, neutral: float = 0.5
) -> np.ndarray:
    row = discard_statistics(hand)[0]
    pegs = pegging[[SETS[tuple(hand[slots] // 4)] for slots in KEPT_SLOTS_6], int(dealer)]
    crib = row["crib_sum"] / 45540
    values = {
        "hand_max_min": row["hand_min"].astype(float),
        "hand_max_avg": row["hand_sum"] / 46,
        "hand_max_med": row["hand_median_2"] / 2,
        "hand_max_poss": row["hand_max"].astype(float),
        "crib_min_avg": -crib,
        "pegging_max_avg_gained": pegs[:, 0],
        "pegging_max_med_gained": pegs[:, 1],
        "pegging_min_avg_given": -pegs[:, 2],
        "crib_max_avg": crib,
    }
    chosen = np.array([values[name] for name in strategies])
    scaled = np.full_like(chosen, neutral)
    for row, out in zip(chosen, scaled, strict=True):
        known = ~np.isnan(row)
        if known.any() and np.ptp(row[known]) > 0:
            out[known] = (row[known] - row[known].min()) / np.ptp(row[known])
    return scaled


def plain_weights(weights: np.ndarray, place: tuple[int, int, int], neighbours: str, share: float) -> np.ndarray:
    own, other, role = place
    if neighbours == "none":
        return weights[place]
    square = weights[max(own - 1, 0) : own + 2, max(other - 1, 0) : other + 2, role].reshape(-1, weights.shape[3])
    others = square.sum(axis=0) - weights[place]
    around = others if neighbours == "sum" else others / (len(square) - 1)
    blended = (1 - share) * weights[place] + share * around
    return blended / blended.sum()


class Replica:
    """The training in plain Python, on the engine's games and with the decisions' keys.

    It shares nothing with the code under test but the engine, the statistics of a hand and the hashes.
    """

    def __init__(self, learner: WeightedLearner, seed: int) -> None:
        self.pool = learner.pool.copy()
        self.gained, self.given = learner.gained.copy(), learner.given.copy()
        self.summary = learner.pegging.copy()
        self.o, self.seed, self.dealing = learner.options, seed, learner.setting.dealing
        self.greedy = ScriptedAgent("greedy")
        self.hands = 0

    def start(self, number: int) -> tuple[int, list[int]]:
        """The first score anywhere, the second around it; the first is agent 1's if it is even."""
        key = np.uint64(hash_key(self.seed, number, 0, -1, START))
        dealer = below(key, 0, 2)
        if not self.o.exploring_starts:
            return dealer, [0, 0]
        one = below(key, 1, 121)
        possible = [other for other in range(121) if abs(one - other) <= self.o.start_spread]
        scores = [one, possible[below(key, 2, len(possible))]]
        agents = scores if one % 2 == 0 else scores[::-1]
        return dealer, agents if number % 2 == 0 else agents[::-1]

    def game(self, number: int) -> None:
        o = self.o
        dealer, scores = self.start(number)
        games = Games([number], self.seed, dealing=self.dealing, first_dealer=[dealer])
        games.state.scores[0] = scores
        block, members = number // o.switch_every, len(o.opponents) + 1
        one, two = 0, 1 + block % len(o.opponents)
        if o.pairs == "random":
            key = np.uint64(hash_key(self.seed, block, 1, -1, START))
            one = below(key, 0, members)
            two = (one + 1 + below(key, 1, members - 1)) % members
        players = [one, two] if number % 2 == 0 else [two, one]
        discards: list[list[tuple]] = [[], []]
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
                games.play(row, self.greedy.play(seen))
            games.show()
            self.hands += 1
            if o.update_records:
                self.record(games)
        for seat in (0, 1):
            if players[seat] == 0 or o.opponents_learn:
                margin = int(games.scores[0, seat]) - int(games.scores[0, 1 - seat])
                self.learn(self.pool[players[seat]], margin, discards[seat])

    def discard(self, seen: Any, weights: np.ndarray) -> tuple[int, list[int]]:
        o, key, seat = self.o, seen.key[0], int(seen.seat[0])
        own, other, role = int(seen.scores[0, seat]), int(seen.scores[0, 1 - seat]), int(seen.is_dealer[0])
        neutral = {"code": 0.5, "text": 0.0}[o.reading]
        matrix = plain_matrix(seen.hand[0], bool(role), tuple(o.strategies), self.summary, neutral)
        p = plain_weights(weights, (own, other, role), o.neighbours, o.neighbour_share) @ matrix
        chance = o.epsilon
        if o.exploration == "variance":
            chance -= (p if o.reading == "code" else weights[own, other, role]).var(ddof=1)
        if uniform(key, 1) >= chance:
            best = np.flatnonzero(p >= p.max() - 1e-9)
            action = int(best[below(key, 0, len(best))])
        elif o.explore_by == "preference":
            action = int(np.searchsorted(np.cumsum(p), uniform(key, 2) * p.sum(), side="right"))
        else:
            action = below(key, 2, 15)
        return action, answering(matrix[:, action], o.reading)

    def record(self, games: Games) -> None:
        state = games.state[0]
        if state.num_played == 0:
            return
        pegged = [int(state.play_points[state.history_seats == seat].sum()) for seat in (0, 1)]
        for seat in (0, 1):
            number = SETS[tuple(state.kept[seat] // 4)]
            self.gained[number, :, pegged[seat]] += 1
            self.given[number, :, pegged[1 - seat]] += 1
            gains = np.repeat(np.arange(32), self.gained[number, 0])
            gives = np.repeat(np.arange(32), self.given[number, 0])
            self.summary[number] = gains.mean(), np.median(gains), gives.mean()

    def learn(self, weights: np.ndarray, margin: int, discards: list) -> None:
        o, last = self.o, len(discards)
        constant = o.scaling * margin * (o.punishment if margin < 0 else 1) / {"code": 121, "text": 100}[o.reading]
        for j, (place, answer) in enumerate(discards, start=1):
            self.adjust(weights[place], answer, constant * (1 - o.decay) ** (last - j))

    def adjust(self, cell: np.ndarray, answer: list[int], c: float) -> None:
        o = self.o
        for i in answer:
            cell[i] *= 1 + c if o.reading == "code" else max(0.01, 1 + c)
            if o.reading == "code":
                cell[i] = max(cell[i], 0.001)
            if o.cap is not None:
                cell[i] = min(o.cap, cell[i])
        cell /= np.abs(cell).sum()


def answering(column: np.ndarray, reading: str) -> list[int]:
    """By the text those with the highest value; by the program the first third of those with 0.7 of it or more."""
    if reading == "text":
        return [i for i, value in enumerate(column) if value > 1e-12 and value >= column.max() - 1e-12]
    near = [i for i, value in enumerate(column) if value >= 0.7 * column.max() - 1e-9]
    near.sort(key=lambda i: -round(column[i], 9))  # a stable sort: equal ones stay in the order of the list
    return near[: max(1, int(0.33 * len(column)))]
