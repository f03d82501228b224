"""What is learned of a player's cards within a match: its features, its weights, and when it is believed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deepcrib.agents import make_agent
from deepcrib.game.cards import RANKS, VALUES
from deepcrib.game.engine import Games
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.past_decisions import past_plays
from deepcrib.matches.games import play_match
from deepcrib.search.adaptive import LEARNED, AdaptiveAgent
from deepcrib.search.learned import NUM_FEATURES, LearnedPlays, distinct_slots, play_features, taught, untaught
from deepcrib.search.opponents import PLAYS, Opponents
from tests.search.test_adaptive import pasts
from tests.support.positions import positions
from tests.support.reference import pegs

MEAN, ANY, SCORING = 5, 6, 7
"""Of the features: points of a reply, the chances of one, and of one with points."""


def test_features_are_counted_card_by_card() -> None:
    """What the other may answer with: every card that has not been seen, one after the other."""
    o = positions(12, seed=3)
    features = play_features(o, make_agent("quick"))
    legal = o.legal
    assert not features[~legal].any()
    for row in range(0, len(o), 3):
        start = int(o.series_start[row])
        series = [int(card) for card in o.history[row, start:] if card >= 0]
        known = [int(card) for card in (*o.history[row], *o.hand[row]) if card >= 0]
        for slot in np.flatnonzero(legal[row]):
            after = [*series, int(o.hand[row, slot])]
            others = [card for card in range(52) if card not in known]
            replies = [pegs([*after, card]) for card in others if sum_of([*after, card]) <= 31]
            wanted = sum(replies), len(replies), sum(points > 0 for points in replies)
            found = features[row, slot, [MEAN, ANY, SCORING]] * len(others)
            np.testing.assert_allclose(found, wanted, atol=1e-9)
            assert features[row, slot, 4] == pegs(after)


def sum_of(cards: list[int]) -> int:
    return int(VALUES[RANKS[cards]].sum())


def test_weights_are_those_of_a_regression() -> None:
    """After one hand the most likely weights, as another optimiser finds them."""
    optimize = pytest.importorskip("scipy.optimize")
    own = make_agent("quick")
    past = pasts((own, make_agent("random")), 1, matches=3)
    found = Opponents([own]).beliefs(past.seen(np.arange(3)), np.zeros(3, dtype=np.int8))
    for row in range(3):
        played = past_plays(past.records[row, :1], np.ones(1, dtype=np.int8))
        ranks, choices = RANKS[played.seen.hand], distinct_slots(played.seen)
        picked = choices & (ranks == ranks[np.arange(4), played.slots][:, None])

        def loss(weights: Any, choices: Any = choices, picked: Any = picked, o: Any = played.seen) -> float:
            likings = np.exp(play_features(o, own) @ weights) * choices
            apart = weights - untaught(1)[0][0]
            return float(apart @ apart / 2 - np.log((likings * picked).sum(axis=1) / likings.sum(axis=1)).sum())

        best = optimize.minimize(loss, np.zeros(NUM_FEATURES))
        np.testing.assert_allclose(found.weights[row], best.x, atol=0.01)


def test_a_player_by_weights_is_learned() -> None:
    """From a thousand choices of a player by known weights: its chances on other positions within a few per cent."""
    own, rng = make_agent("quick"), np.random.default_rng(1)
    player = LearnedPlays("player", own, rng.normal(0, 1, NUM_FEATURES))
    weights, precisions = untaught(1)
    for seed in range(12):
        o = positions(24, seed)
        choices, rows = distinct_slots(o), np.zeros(len(o), dtype=np.int64)
        weights, precisions = taught(weights, precisions, rows, play_features(o, own), choices, player.play(o))
    other = positions(60, seed=99)
    wanted = player.play_probabilities(other)
    found = LearnedPlays("learned", own, weights[0]).play_probabilities(other)
    assert np.abs(found - wanted).mean() < 0.04
    assert np.abs(make_agent("random").play_probabilities(other) - wanted).mean() > 0.1


class Lowest:
    """Plays the lowest card, and throws the two lowest, as nobody in a library does."""

    name, num_players = "lowest", frozenset({2})

    def discard(self, observation: DiscardObservation) -> np.ndarray:
        return np.zeros(len(observation), dtype=np.int8)

    def play(self, observation: PlayObservation) -> np.ndarray:
        return observation.legal.argmax(axis=1).astype(np.int8)


@pytest.mark.parametrize("name", ["greedy", "quick"])
def test_who_is_known_is_not_learned(name: str) -> None:
    """Of players in the library nothing that was learned is believed; of one that nobody is like, it is."""
    own = make_agent("quick")
    library = [make_agent(other) for other in ("deterministic", "greedy", "random")]
    agent = AdaptiveAgent(own, library=library)
    for other, is_stranger in ((make_agent(name), False), (Lowest(), True)):
        past = pasts((own, other), 40, matches=30)
        table = Games(range(30), 1, past=past)
        table.deal()
        believed = agent.believed(table.discard_observation(np.arange(30), np.zeros(30, dtype=np.int8)))
        share = (believed[:, PLAYS] == LEARNED).mean()
        assert share > 0.8 if is_stranger else share < 0.1
    without = AdaptiveAgent(own, library=library, learned=False)
    assert (without.believed(table.discard_observation(np.arange(30), np.zeros(30, dtype=np.int8))) != LEARNED).all()


def test_a_match_with_what_is_learned_does_not_depend_on_the_batch() -> None:
    players = [AdaptiveAgent(make_agent("quick"), odds=1.5, hands=2), Lowest()]
    whole = play_match(players, 24, 6, games_per_match=3)
    parts = [play_match(players, 12, 6, games_per_match=3, first_game=first) for first in (0, 12)]
    assert whole.scores.tolist() == [row for part in parts for row in part.scores.tolist()]
