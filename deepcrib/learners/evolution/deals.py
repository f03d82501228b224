"""Deals of the evolutionary discarders: what each discard scores with the starter, and the share of the best obtained.

A deal has two hands of six and a starter. With `crib`, a discard scores its hand and, as dealer, the crib (as pone:
less the crib) with the two cards that the other hand throws; without, the hand alone. The best discard is chosen with
all of these cards in sight, so that no player reaches it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import Agent, HasProbabilities
from deepcrib.agents.asking import ask
from deepcrib.exact.cribs import NUM_DISCARDS
from deepcrib.exact.pegging import DEALER, PONE
from deepcrib.game.cards import NUM_CARDS
from deepcrib.game.observations import DiscardObservation
from deepcrib.game.policies import most_points_discards, pick
from deepcrib.game.randomness import SHOW_DEAL, below, hash_key
from deepcrib.game.rules import DISCARD_SLOTS_6, HAND_SIZE, KEPT_SLOTS_6, show_points
from deepcrib.intervals import Interval, Z
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows

DEALT = 6


@jit
def deal_show(seed: int, number: int, hands: np.ndarray) -> int:
    """Fill hands [2, 6] of pone and dealer, sorted card ids, and return the starter: deal `number` of a seed."""
    key = hash_key(seed, number, 0, -1, SHOW_DEAL)
    deck = np.arange(NUM_CARDS)
    for i in range(2 * DEALT + 1):
        j = i + below(key, i, NUM_CARDS - i)
        deck[i], deck[j] = deck[j], deck[i]
    hands[PONE] = np.sort(deck[:DEALT])
    hands[DEALER] = np.sort(deck[DEALT : 2 * DEALT])
    return deck[2 * DEALT]


@jit
def fill_hand_points(hand: np.ndarray, starter: int, points: np.ndarray) -> None:
    """points [15]: of the four cards that each discard of a hand [6] keeps."""
    kept = np.empty(HAND_SIZE, dtype=np.int64)
    for action in range(NUM_DISCARDS):
        for i in range(HAND_SIZE):
            kept[i] = hand[KEPT_SLOTS_6[action, i]]
        points[action] = show_points(kept, starter, False)


@jit
def add_crib_points(
    hand: np.ndarray, other: np.ndarray, other_action: int, starter: int, sign: int, points: np.ndarray
) -> None:
    """Add to points [15], `sign` times, the crib of each discard of a hand with one discard of the other hand [6]."""
    crib = np.empty(HAND_SIZE, dtype=np.int64)
    for i in range(2):
        crib[2 + i] = other[DISCARD_SLOTS_6[other_action, i]]
    for action in range(NUM_DISCARDS):
        for i in range(2):
            crib[i] = hand[DISCARD_SLOTS_6[action, i]]
        points[action] += sign * show_points(crib, starter, True)


@dataclass(frozen=True)
class ShowDeals:
    """D deals. hands: int8 [D, 2, 6] of pone and dealer. starters: int8 [D]. keys: uint64 [D, 2] of their decisions.

    hand_points, net_points: int16 [D, 2, 15] by role and discard: of the hand, and with the crib added (dealer) or
    taken off (pone) against a player of the other role who keeps the most points by themselves, as `greedy` does.
    """

    hands: NDArray[np.int8]
    starters: NDArray[np.int8]
    keys: NDArray[np.uint64]
    hand_points: NDArray[np.int16]
    net_points: NDArray[np.int16]

    @staticmethod
    def deal(seed: int, deals: int, first: int = 0) -> ShowDeals:
        """Deals first, first + 1, .. of a seed."""
        hands = np.empty((deals, 2, DEALT), dtype=np.int8)
        starters = np.empty(deals, dtype=np.int8)
        keys = np.empty((deals, 2), dtype=np.uint64)
        points = np.empty((2, deals, 2, NUM_DISCARDS), dtype=np.int16)
        run_rows(_fill_deals, len(hands), seed, first, hands, starters, keys, points, piece=16)
        return ShowDeals(hands, starters, keys, points[0], points[1])

    @cached_property
    def observation(self) -> DiscardObservation:
        """Both decisions of every deal at 0-0, deal by deal, the pone's first: seat 1 deals."""
        count = 2 * len(self.hands)
        seats = np.tile(np.array([PONE, DEALER], dtype=np.int8), len(self.hands))
        return DiscardObservation(
            hand=self.hands.reshape(count, DEALT),
            seat=seats,
            dealer=np.full(count, DEALER, dtype=np.int8),
            scores=np.zeros((count, 2), dtype=np.int8),
            key=self.keys.reshape(count),
        )

    def probabilities(self, agent: Agent) -> NDArray[np.float64]:
        """[D, 2, 15] of an agent's discards; 1 for the chosen one where it cannot tell them."""
        if isinstance(agent, HasProbabilities):
            found = agent.discard_probabilities(self.observation)
        else:
            found = np.eye(NUM_DISCARDS)[ask(agent, self.observation)]
        return found.reshape(-1, 2, NUM_DISCARDS)

    def fraction(self, probabilities: NDArray[np.float64], *, crib: bool, role: int | None = None) -> Interval:
        """Of the best points, of players who discard with probabilities [D, 2, 15]; of one role, or of both.

        All points over all best points (a single deal's fraction has no sense where the best is 0 or less); the
        interval is that of a ratio of two means, with the deal as unit.
        """
        points = self.net_points if crib else self.hand_points
        roles = slice(None) if role is None else slice(role, role + 1)
        obtained = (probabilities * points).sum(axis=2)[:, roles].sum(axis=1)
        best = points.max(axis=2)[:, roles].sum(axis=1, dtype=np.float64)
        estimate = obtained.sum() / best.sum()
        half = Z * float(np.sqrt(((obtained - estimate * best) ** 2).sum())) / best.sum()
        return Interval(float(estimate), float(estimate - half), float(estimate + half))


@jit
def _fill_deals(
    part: Part, seed: int, first: int, hands: np.ndarray, starters: np.ndarray, keys: np.ndarray, points: np.ndarray
) -> None:
    for d in range(*part):
        starter = deal_show(seed, first + d, hands[d])
        starters[d] = starter
        actions = np.empty(2, dtype=np.int64)
        for role in range(2):
            keys[d, role] = hash_key(seed, first + d, 0, role, SHOW_DEAL)
            actions[role] = pick(most_points_discards(hands[d, role]), keys[d, role])
            fill_hand_points(hands[d, role], starter, points[0, d, role])
        for role in range(2):
            points[1, d, role] = points[0, d, role]
            sign = 1 if role == DEALER else -1
            add_crib_points(hands[d, role], hands[d, 1 - role], actions[1 - role], starter, sign, points[1, d, role])
