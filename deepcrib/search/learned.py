"""How a player that is like nobody known plays its cards, learned from those that it played in a match.

The chance of a card is a softmax of its weighted features: what one's own networks make of it, what it scores, what it
lets the other score, and the count that it leaves. The weights are those of a logistic regression with a normal prior,
whose posterior is kept from hand to hand (Laplace's approximation), so that no play is looked at twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.game.cards import NUM_RANKS, RANKS, rank_of, value_of_rank
from deepcrib.game.mixed import softmax
from deepcrib.game.observations import PlayColumns, PlayObservation
from deepcrib.game.policies import DETERMINISTIC, GREEDY, count_choices, play_choices
from deepcrib.game.randomness import draw
from deepcrib.game.rules import COUNT_LIMIT, HAND_SIZE, add_rank, is_legal_play, play_points, series_from
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows

OF_CARDS = 21
"""Features that follow from the cards alone: see `_fill_features`."""
NUM_FEATURES = 2 + OF_CARDS
_LOWEST = -6.0  # points below the best card: what is worse is hardly played, by how much is no matter
_SLIP = 0.02
_KEEP = 0.99
"""What is left, after a hand, of what earlier ones taught."""
_NEWTON, _STRIDE = 3, 5.0
"""Steps of the regression after a hand, and what no weight moves by more in one."""
_TINY = 1e-9
_LIKE_ONESELF = 2.0, 0.5
"""Weights of one's own values and of the best of them, before anything was seen."""


@dataclass(frozen=True)
class LearnedPlays:
    """Plays as the weights [F] of a regression say. agent: whose `play_values` are features."""

    name: str
    agent: Any
    weights: NDArray[np.float64]

    def play_probabilities(self, observation: PlayObservation) -> NDArray[np.float64]:
        """[N, 4]; of cards of one rank the first has all."""
        choices = distinct_slots(observation)
        return choice_chances(play_features(observation, self.agent), choices, self.weights)

    def play(self, observation: PlayObservation) -> NDArray[np.int8]:
        """[N] slots, drawn."""
        return draw(self.play_probabilities(observation), observation.key)


def distinct_slots(observation: PlayObservation) -> NDArray[np.bool_]:
    """[N, 4] the slots that may be played, one of each rank."""
    ranks, found = RANKS[observation.hand], observation.legal
    for slot in range(1, HAND_SIZE):
        found[:, slot] &= ~(found[:, :slot] & (ranks[:, :slot] == ranks[:, slot, None])).any(axis=1)
    return found


def play_features(observation: PlayObservation, agent: Any) -> NDArray[np.float64]:
    """[N, 4, F] of the cards that may be played; 0 of others. agent: whose values are the first two."""
    o, features = observation, np.zeros((len(observation), HAND_SIZE, NUM_FEATURES))
    values = np.where(o.legal, agent.play_values(o), -np.inf)
    values -= values.max(axis=1, keepdims=True)
    features[..., 0] = np.where(o.legal, np.maximum(values, _LOWEST), 0)
    features[..., 1] = values == 0
    run_rows(_fill_features, len(o), o.columns, features[..., 2:], piece=256)
    return features


@jit
def _fill_features(part: Part, o: PlayColumns, features: np.ndarray) -> None:
    """What is known of each card without asking anybody: [N, 4, OF_CARDS] in the order of the assignments below."""
    unseen = np.empty(NUM_RANKS)
    for n in range(*part):
        unseen[:] = 4
        for card in o.history[n]:
            if card >= 0:
                unseen[rank_of(card)] -= 1
        for card in o.hand[n]:
            if card >= 0:
                unseen[rank_of(card)] -= 1
        series, lead = series_from(o.history[n], o.series_start[n]), o.counts[n] == 0
        greedy = play_choices(GREEDY, o.hand[n], series, o.counts[n])
        most = play_choices(DETERMINISTIC, o.hand[n], series, o.counts[n])
        for slot in range(HAND_SIZE):
            if not is_legal_play(o.counts[n], o.hand[n, slot]):
                continue
            rank, found = rank_of(o.hand[n, slot]), features[n, slot]
            value = value_of_rank(rank)
            count, after = o.counts[n] + value, add_rank(series, rank)
            same = -1
            for card in o.hand[n]:
                same += card >= 0 and rank_of(card) == rank
            found[0] = (greedy >> slot & 1) / count_choices(greedy)
            found[1] = (most >> slot & 1) / count_choices(most)
            found[2] = play_points(after, count)
            for reply in range(NUM_RANKS):  # points of a reply, the chances of one, and of one with points
                total = count + value_of_rank(reply)
                if total <= COUNT_LIMIT:
                    points = play_points(add_rank(after, reply), total)
                    found[3] += unseen[reply] * points / unseen.sum()
                    found[4] += unseen[reply] / unseen.sum()
                    found[5] += unseen[reply] * (points > 0) / unseen.sum()
            found[6], found[7], found[8] = value / 10, rank / NUM_RANKS, lead * rank / NUM_RANKS
            found[9], found[10], found[11] = value == 5, lead and value == 5, lead and value == 10
            found[12], found[13], found[14], found[15] = count == 5, count == 10, count == 15, count == 21
            found[16], found[17], found[18] = count == COUNT_LIMIT, count < 5, 15 < count <= 21
            found[19], found[20] = same, lead * same


def choice_chances(
    features: NDArray[np.float64], choices: NDArray[np.bool_], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """[N, 4] how likely each of the choices [N, 4] is by weights [F] or [N, F], with a small share of anything."""
    return (1 - _SLIP) * _likely(features, choices, weights) + _SLIP * choices / choices.sum(axis=1, keepdims=True)


def _likely(
    features: NDArray[np.float64], choices: NDArray[np.bool_], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    return softmax(np.where(choices, (features @ weights[..., None])[..., 0], -np.inf))


def untaught(*shape: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights [..., F] of players of whom nothing is known, somewhat like oneself, and their precisions [..., F, F]."""
    weights = np.zeros((*shape, NUM_FEATURES))
    weights[..., :2] = _LIKE_ONESELF
    return weights, np.tile(np.eye(NUM_FEATURES), (*shape, 1, 1))


def taught(
    weights: NDArray[np.float64],
    precisions: NDArray[np.float64],
    players: NDArray[np.intp],
    features: NDArray[np.float64],
    choices: NDArray[np.bool_],
    chosen: NDArray[np.intp],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What weights [R, F] and precisions [R, F, F] become by the choices [N] of a hand. players: [N] whose they are."""
    before, prior = weights, _KEEP * precisions + (1 - _KEEP) * np.eye(NUM_FEATURES)
    for _ in range(_NEWTON):
        likely = _likely(features, choices, weights[players])
        means = np.einsum("na,naf->nf", likely, features)
        apart = features - means[:, None]
        precisions, slopes = prior.copy(), np.einsum("rfg,rg->rf", prior, before - weights)
        np.add.at(precisions, players, np.einsum("naf,na,nag->nfg", apart, likely, apart))
        np.add.at(slopes, players, features[np.arange(len(players)), chosen] - means)
        steps = np.linalg.solve(precisions, slopes[..., None])[..., 0]
        weights = weights + steps * np.minimum(1, _STRIDE / (np.abs(steps).max(axis=1, keepdims=True) + _TINY))
    return weights, precisions
