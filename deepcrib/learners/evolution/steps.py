"""The compiled steps of the evolutionary discarders: hand by hand, or a population over a batch of deals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deepcrib.exact.cribs import NUM_DISCARDS
from deepcrib.exact.strategies.discards import best_or_any
from deepcrib.game.policies import count_choices, pick
from deepcrib.game.randomness import EVOLUTION_STEP, gaussian, hash_key
from deepcrib.kernels import Part, jit
from deepcrib.learners.evolution.agent import add_features, fill_keep_values
from deepcrib.learners.evolution.deals import DEALT, deal_show, fill_show_points

ADJUSTMENTS = ("mutate", "select", "toward", "merge", "punish")
MUTATE, SELECT, TOWARD, MERGE, PUNISH = range(len(ADJUSTMENTS))
PLAYERS = 2


class ThresholdUpdate(NamedTuple):
    """How weights answer for a hand.

    adjust: one of ADJUSTMENTS, by number. same: both players get both hands of a deal, each against the other. rival:
    points are held against the other player's, else against the best discard of the deal. crib: it counts.
    threshold: the share of those points that must be reached. sigma, rate: size of a step.
    """

    adjust: int
    same: bool
    rival: bool
    crib: bool
    threshold: float
    sigma: float
    rate: float


@jit
def is_short(points: int, reference: int, threshold: float) -> bool:
    """Whether points fall short of a share of the reference (points, which as pone may be negative with the crib)."""
    return points < reference - (1 - threshold) * abs(reference)


@jit
def _merge(weights: np.ndarray, wanted: np.ndarray, rate: float) -> None:
    """Move the mean value of what was missed and that of what was wrongly done towards (and past) each other."""
    missed = done = 0.0
    missed_count = done_count = 0
    for i in range(len(weights)):
        if wanted[i] > 0:
            missed += wanted[i] * weights[i]
            missed_count += wanted[i]
        elif wanted[i] < 0:
            done -= wanted[i] * weights[i]
            done_count -= wanted[i]
    if missed_count == 0 or done_count == 0:
        return
    gap = rate * (done / done_count - missed / missed_count)
    for i in range(len(weights)):
        if wanted[i] > 0:
            weights[i] += gap
        elif wanted[i] < 0:
            weights[i] -= gap


@jit
def choose_keep(hand: np.ndarray, weights: np.ndarray, key: int) -> int:
    """The discard of a hand [6] that weights [G] like best, ties uniform; any where values are no numbers."""
    values = np.empty(NUM_DISCARDS)
    fill_keep_values(hand, weights, values)
    return pick(best_or_any(values), key)


class Keep(NamedTuple):
    """The discard `action` of a hand [6]."""

    hand: np.ndarray
    action: int


@jit
def adjust_weights(
    weights: np.ndarray, own: Keep, points: np.ndarray, reference: Keep, method: ThresholdUpdate, key: int
) -> None:
    """Change weights [G] of one role after a hand, points [15] by discard, that fell short of another discard."""
    if method.adjust in (MUTATE, SELECT):
        before = weights.copy()
        for i in range(len(weights)):
            weights[i] += method.sigma * gaussian(key, 1 + i)
        if method.adjust == SELECT:
            mutant = choose_keep(own.hand, weights, key)
            if points[mutant] <= points[own.action]:
                weights[:] = before
        return
    wanted = np.zeros(len(weights), dtype=np.int64)
    add_features(own.hand, own.action, -1, wanted)
    if method.adjust != PUNISH:
        add_features(reference.hand, reference.action, 1, wanted)
    if method.adjust == MERGE:
        _merge(weights, wanted, method.rate)
    else:
        for i in range(len(weights)):
            weights[i] += method.rate * wanted[i]


@jit
def _play_show(
    seed: int, number: int, weights: np.ndarray, crib: bool, hands: np.ndarray, actions: np.ndarray, points: np.ndarray
) -> None:
    """Deal hands [2, 6], and fill both players' actions [2, 2] with either hand and their points [2, 2, 15]."""
    starter = deal_show(seed, number, hands)
    for player in range(PLAYERS):
        for role in range(2):
            key = hash_key(seed, number, player, role, EVOLUTION_STEP)
            actions[player, role] = choose_keep(hands[role], weights[player, role], key)
    for player in range(PLAYERS):
        for role in range(2):
            fill_show_points(hands, role, actions[1 - player, 1 - role], starter, crib, points[player, role])


@jit
def learn_from_deals(seed: int, first: int, last: int, weights: np.ndarray, method: ThresholdUpdate) -> tuple[int, int]:
    """Play the show of deals first..last - 1 and adjust weights [2 players, 2 roles, G]; returns (hands, adjusted).

    With the same cards each player has each hand of a deal once, against the other; else player p has the hand of role
    (p + deal) mod 2. All hands of a deal are judged by the weights before it.
    """
    hands = np.empty((2, DEALT), dtype=np.int8)
    actions = np.empty((PLAYERS, 2), dtype=np.int64)
    points = np.empty((PLAYERS, 2, NUM_DISCARDS), dtype=np.int64)
    seen = adjusted = 0
    for number in range(first, last):
        _play_show(seed, number, weights, method.crib, hands, actions, points)
        for player in range(PLAYERS):
            for role in range(2):
                if not method.same and role != (player + number) % 2:
                    continue
                seen += 1
                own = points[player, role]
                rival_role, reference = role, int(np.argmax(own))
                target = own[reference]
                if method.rival:
                    rival_role = role if method.same else 1 - role
                    reference = actions[1 - player, rival_role]
                    target = points[1 - player, rival_role, reference]
                action = actions[player, role]
                if is_short(own[action], target, method.threshold):
                    adjusted += 1
                    key = hash_key(seed, number, PLAYERS + player, role, EVOLUTION_STEP)
                    kept, right = Keep(hands[role], action), Keep(hands[rival_role], reference)
                    adjust_weights(weights[player, role], kept, own, right, method, key)
    return seen, adjusted


@jit
def fill_fitness(
    part: Part, hands: np.ndarray, points: np.ndarray, population: np.ndarray, fitness: np.ndarray
) -> None:
    """fitness [L, 2]: points a deal of weights population [L, 2, G] less the best ones, 0 at most, by role.

    Not their fraction: as pone, points less the crib's may be negative in sum, where a fraction ranks the wrong way.

    All on the same deals (hands [D, 2, 6], points [D, 2, 15]).
    """
    values = np.empty(NUM_DISCARDS)
    for member in range(*part):
        for role in range(2):
            obtained, best = 0.0, 0.0
            for d in range(len(hands)):
                fill_keep_values(hands[d, role], population[member, role], values)
                mask = best_or_any(values)
                total = 0.0
                highest = points[d, role, 0]
                for action in range(NUM_DISCARDS):
                    highest = max(highest, points[d, role, action])
                    if mask >> action & 1:
                        total += points[d, role, action]
                obtained += total / count_choices(mask)
                best += highest
            fitness[member, role] = (obtained - best) / len(hands)
