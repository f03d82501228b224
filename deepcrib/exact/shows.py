"""Points of all four-card hands at the show: by themselves, with a starter, and their mean over the starters."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from deepcrib.game.cards import NUM_CARDS
from deepcrib.game.rules import HAND_SIZE, hand_points, show_points
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows

NUM_STARTERS = NUM_CARDS - HAND_SIZE


def all_hands() -> np.ndarray:
    """int8 [270725, 4]: every combination of four cards, sorted."""
    return np.array(list(combinations(range(NUM_CARDS), HAND_SIZE)), dtype=np.int8)


def bare_hand_values(hands: np.ndarray) -> np.ndarray:
    """int16 [H] points of four-card hands [H, 4] by themselves."""
    return starter_values(hands, np.full(len(hands), -1))


@jit
def unseen_card(hand: np.ndarray, draw: int) -> int:
    """Return the `draw`-th (0..47) of the cards that are not in a sorted hand of four."""
    card = draw
    for held in hand:
        if held <= card:
            card += 1
    return card


def starter_values(hands: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """int16 [H] show points of hands [H, 4], each with the starter of its draw [H] in 0..47, or -1 for none."""
    values = np.empty(len(hands), dtype=np.int16)
    run_rows(_fill_values, len(hands), hands, draws, values)
    return values


@jit
def _fill_values(part: Part, hands: np.ndarray, draws: np.ndarray, values: np.ndarray) -> None:
    for i in range(*part):
        hand, draw = hands[i], draws[i]
        values[i] = hand_points(hand) if draw < 0 else show_points(hand, unseen_card(hand, draw), False)


def starter_means(hands: np.ndarray) -> np.ndarray:
    """float64 [H] mean show points of hands [H, 4] over the 48 starters."""
    totals = np.zeros(len(hands))
    for draw in range(NUM_STARTERS):
        totals += starter_values(hands, np.full(len(hands), draw))
    return totals / NUM_STARTERS
