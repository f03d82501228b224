"""Which of several players the opponent of a match is like, by Bayes' rule from the hands that were shown.

Discards and plays are judged apart, for a player may throw like one and play like another; but half of the prior is
that both are the same one's. A hypothesis is a model and how often it does anything else instead. After every hand
there is a small chance that the opponent is another one from now on (fixed share, Herbster and Warmuth 1998), so that
no evidence is ever final.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.asking import Probabilities, knows_probabilities
from deepcrib.agents.base import Agent
from deepcrib.exact.beliefs.discards import DiscardModel, discard_model
from deepcrib.game.cards import RANKS
from deepcrib.game.past import Past, PastHands
from deepcrib.game.past_decisions import past_discards, past_plays
from deepcrib.game.rank_sets import rank_set_numbers
from deepcrib.game.rules import DISCARD_SLOTS_6
from deepcrib.search.win_chances import win_chances

NOISES = np.array([0.02, 0.1, 0.3])
"""How often a hypothesis lets its model do anything that the rules allow."""
_CHANGE = 1 / 200
"""Chance after each hand that the opponent is another one."""
_SAME_ONE = 0.5
"""Chance that an opponent discards and plays like one and the same model."""
_TIMES = 3  # an agent that cannot tell its probabilities is asked of what it may have done, and once in a search
_REMEMBERED = 64  # agents
DISCARDS, PLAYS = range(2)


def probabilities_of(agent: Agent, times: int = 1) -> Probabilities:
    """What tells how likely the choices of any agent are; one that cannot tell is asked so many times."""
    return Probabilities(agent, 1 if knows_probabilities(agent) else times)


class _Same:
    """An agent as the key of what is known of it, whatever it takes for equal."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent

    def __hash__(self) -> int:
        return id(self.agent)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.agent is other.agent


@lru_cache(_REMEMBERED)
def _once(compute: Callable[..., Any], same: _Same, *how: str) -> Any:
    return compute(same.agent, *how)


def _model_of(agent: Agent) -> DiscardModel:
    return discard_model(probabilities_of(agent).discard_probabilities, suits=False)


def discards_of(agent: Agent) -> DiscardModel:
    """How an agent discards, suits left out; worked out once, in a second or less."""
    return _once(_model_of, _Same(agent))


def win_chances_of(agent: Agent, objective: str) -> NDArray[np.float64]:
    """`win_chances` of an agent against itself, worked out once."""
    return _once(win_chances, _Same(agent), objective)


# --- beliefs ------------------------------------------------------------------------------------------------------


class Beliefs(NamedTuple):
    """Posteriors of N decisions over K models and E noises: discards, plays [N, K, E], rows summing to 1."""

    discards: NDArray[np.float64]
    plays: NDArray[np.float64]


class _Evidence:
    """What follows from the hands of one table, as far as it has been asked: posteriors, by match and seat."""

    def __init__(self, past: PastHands, prior: NDArray[np.float64]) -> None:
        matches = len(past.lengths)
        self.counted = np.zeros((matches, 2), dtype=np.int64)
        self.posteriors = np.broadcast_to(prior, (matches, 2, 2, *prior.shape)).copy()


class Opponents:
    """The models of a library, and the beliefs about an opponent that follow from a past.

    models: the first of them is oneself, which is believed until another predicts better: half of the prior is its own.
    """

    def __init__(self, models: Sequence[Agent]) -> None:
        self.models = list(models)
        self._chances = [probabilities_of(model, _TIMES) for model in models]
        others = len(models) - 1
        shares = np.array([1.0, *(1 / others for _ in range(others))])
        self._prior = np.repeat(shares[:, None] / shares.sum() / len(NOISES), len(NOISES), axis=1)
        self._kept: WeakKeyDictionary[PastHands, _Evidence] = WeakKeyDictionary()
        self._lock = Lock()

    def beliefs(self, past: Past, seats: NDArray[np.int8]) -> Beliefs:
        """What is believed of the opponents of seats [N] before these decisions."""
        with self._lock:
            evidence = self._kept.get(past.hands)
            if evidence is None:
                evidence = self._kept[past.hands] = _Evidence(past.hands, self._prior)
        others = 1 - seats.astype(np.int64)
        if (evidence.counted[past.rows, others] > past.lengths).any():  # an observation of before: judged anew
            evidence = _Evidence(past.hands, self._prior)
        while True:
            rows = np.flatnonzero(evidence.counted[past.rows, others] < past.lengths)
            places = np.unique(np.stack([past.rows[rows], others[rows]]), axis=1)
            if not places.size:
                break
            self._count_hand(past.hands, evidence, *places)
        found = evidence.posteriors[past.rows, others]
        models = found.sum(axis=3) / self._prior.sum(axis=1)  # [N, 2, K], over their prior
        found = found * (1 - _SAME_ONE + _SAME_ONE * models[:, ::-1, :, None])
        found /= found.sum(axis=(2, 3), keepdims=True)
        return Beliefs(found[:, DISCARDS], found[:, PLAYS])

    def _count_hand(
        self, past: PastHands, evidence: _Evidence, rows: NDArray[np.int64], seats: NDArray[np.int64]
    ) -> None:
        """Take the next hand of matches `rows` into account, for the players at seats [R]."""
        records = past.records[rows, evidence.counted[rows, seats]]
        before = evidence.posteriors[rows, seats]
        after = before * self._likelihoods(records, seats.astype(np.int8))
        after /= after.sum(axis=(2, 3), keepdims=True)
        evidence.posteriors[rows, seats] = (1 - _CHANGE) * after + _CHANGE * self._prior
        evidence.counted[rows, seats] += 1

    def _likelihoods(self, records: np.ndarray, seats: NDArray[np.int8]) -> NDArray[np.float64]:
        """[R, 2, K, E] of what seats [R] threw and played in hands [R], as far as it was shown."""
        found = np.ones((len(records), 2, len(self.models), len(NOISES)))
        thrown, played = past_discards(records, seats), past_plays(records, seats)
        pairs = rank_set_numbers(RANKS[thrown.seen.hand[:, DISCARD_SLOTS_6]])  # suits seldom decide, and are not judged
        cards = np.where(played.seen.legal, RANKS[played.seen.hand], -1)
        for model, chances in enumerate(self._chances):
            if len(thrown.hands):
                likely = chances.discard_probabilities(thrown.seen)
                found[thrown.hands, DISCARDS, model] = _noisy(likely, pairs, thrown.actions, pairs >= 0)
            if len(played.hands):
                likely = chances.play_probabilities(played.seen)
                each = _noisy(likely, cards, played.slots, cards >= 0)
                np.multiply.at(found[:, PLAYS, model], played.hands, each)
        return found


def _noisy(
    chances: NDArray[np.float64], kinds: NDArray[np.integer], chosen: NDArray[np.int8], legal: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """[N, E] the chance of a choice [N] by chances [N, A], with each noise; of alternatives of one kind [N, A] any."""
    same = legal & (kinds == np.take_along_axis(kinds, chosen[:, None].astype(np.int64), axis=1))
    known, anything = (chances * same).sum(axis=1), same.sum(axis=1) / legal.sum(axis=1)
    return known[:, None] * (1 - NOISES) + anything[:, None] * NOISES
