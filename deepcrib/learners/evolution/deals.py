"""Deals of the evolutionary discarders: what each discard scores with the starter, and the share of the best obtained.

A deal has two hands of six and a starter. With `crib`, a discard scores its hand and, as dealer, the crib (as pone:
less the crib) with the two cards that the other hand throws; without, the hand alone. The best discard is chosen with
all of these cards in sight, so that no player reaches it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import Agent
from deepcrib.agents.asking import require_probabilities
from deepcrib.agents.scripted import ScriptedAgent
from deepcrib.exact.cribs import NUM_DISCARDS
from deepcrib.exact.pegging import DEALER, PONE
from deepcrib.game.cards import NUM_CARDS
from deepcrib.game.observations import DiscardObservation, dealt
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
def fill_show_points(
    hands: np.ndarray, role: int, other_action: int, starter: int, crib: bool, points: np.ndarray
) -> None:
    """points [15]: of a role's discards of hands [2, 6]; `crib`: with those of the crib, to which the other throws."""
    hand, other, four = hands[role], hands[1 - role], np.empty(HAND_SIZE, dtype=np.int64)
    sign = 1 if role == DEALER else -1
    for action in range(NUM_DISCARDS):
        for i in range(HAND_SIZE):
            four[i] = hand[KEPT_SLOTS_6[action, i]]
        points[action] = show_points(four, starter, False)
        if crib:
            for i in range(2):
                four[i] = hand[DISCARD_SLOTS_6[action, i]]
                four[2 + i] = other[DISCARD_SLOTS_6[other_action, i]]
            points[action] += sign * show_points(four, starter, True)


@dataclass(frozen=True)
class ShowDeals:
    """D deals. hands: int8 [D, 2, 6] of pone and dealer. starters: int8 [D]. keys: uint64 [D, 2] of their decisions."""

    hands: NDArray[np.int8]
    starters: NDArray[np.int8]
    keys: NDArray[np.uint64]

    @staticmethod
    def deal(seed: int, deals: int, first: int = 0, stream: int = SHOW_DEAL) -> ShowDeals:
        """Deals first, first + 1, .. of a seed; stream: of the randomness of the decisions."""
        hands = np.empty((deals, 2, DEALT), dtype=np.int8)
        starters = np.empty(deals, dtype=np.int8)
        keys = np.empty((deals, 2), dtype=np.uint64)
        run_rows(_deal_shows, len(hands), seed, first, stream, hands, starters, keys, piece=16)
        return ShowDeals(hands, starters, keys)

    @cached_property
    def hand_points(self) -> NDArray[np.int16]:
        """[D, 2, 15] by role and discard."""
        return self._points(np.zeros_like(self.keys, dtype=np.int8), crib=False)

    @cached_property
    def net_points(self) -> NDArray[np.int16]:
        """[D, 2, 15] with the crib against a player of the other role who discards as greedy does."""
        return self.points_against(ScriptedAgent("greedy"))

    def points_against(self, agent: Agent) -> NDArray[np.int16]:
        """[D, 2, 15] of the hand, and of the crib (as pone: less the crib), with an agent in the other role."""
        return self._points(agent.discard(self.observation).reshape(-1, 2), crib=True)

    def _points(self, actions: NDArray[np.int8], *, crib: bool) -> NDArray[np.int16]:
        points = np.empty((len(self.hands), 2, NUM_DISCARDS), dtype=np.int16)
        run_rows(_fill_points, len(points), self.hands, self.starters, actions, crib, points, piece=16)
        return points

    @cached_property
    def observation(self) -> DiscardObservation:
        """Both decisions of every deal at 0-0, deal by deal, the pone's first; each is seat 0's."""
        is_dealer = np.tile([role == DEALER for role in (PONE, DEALER)], len(self.hands))
        return replace(dealt(self.hands.reshape(-1, DEALT), is_dealer), key=self.keys.reshape(-1))

    def probabilities(self, agent: Agent) -> NDArray[np.float64]:
        """[D, 2, 15] of an agent's discards. Raises AgentError where it gives none."""
        return require_probabilities(agent).discard_probabilities(self.observation).reshape(-1, 2, NUM_DISCARDS)

    def fraction(self, probabilities: NDArray[np.float64], *, crib: bool) -> Interval:
        """Of the best points, of players who discard with probabilities [D, 2, 15] in both roles.

        All points over all best points (a single deal's fraction has no sense where the best is 0 or less); the
        interval is that of a ratio of two means, with the deal as unit.
        """
        points = self.net_points if crib else self.hand_points
        obtained = (probabilities * points).sum(axis=2).sum(axis=1)
        best = points.max(axis=2).sum(axis=1, dtype=np.float64)
        estimate = obtained.sum() / best.sum()
        half = Z * float(np.sqrt(((obtained - estimate * best) ** 2).sum())) / best.sum()
        return Interval(float(estimate), float(estimate - half), float(estimate + half))


@jit
def _deal_shows(
    part: Part, seed: int, first: int, stream: int, hands: np.ndarray, starters: np.ndarray, keys: np.ndarray
) -> None:
    for d in range(*part):
        starters[d] = deal_show(seed, first + d, hands[d])
        for role in range(2):
            keys[d, role] = hash_key(seed, first + d, 0, role, stream)


@jit
def _fill_points(
    part: Part, hands: np.ndarray, starters: np.ndarray, actions: np.ndarray, crib: bool, points: np.ndarray
) -> None:
    for d in range(*part):
        for role in range(2):
            fill_show_points(hands[d], role, actions[d, 1 - role], starters[d], crib, points[d, role])
