"""Beliefs about the opponent's hand, against enumeration of every hand that it may have been dealt."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepcrib.agents import make_agent
from deepcrib.exact.beliefs.cribs import fill_crib_means
from deepcrib.exact.beliefs.discards import discard_model
from deepcrib.exact.beliefs.plays import SETS_4, kept_beliefs
from deepcrib.game.cards import RANKS, parse_cards
from deepcrib.game.engine import Games
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.rules import DISCARD_SLOTS_6, KEPT_SLOTS_6
from deepcrib.matches import Recorder, play_hand
from deepcrib.search.replies.asking import weigh_earlier_plays
from tests.support import reference
from tests.support.models import model_of
from tests.support.positions import chance_of_plays

SET_NUMBER = {tuple(row): number for number, row in enumerate(SETS_4.tolist())}


def probabilities(name: str, hands: np.ndarray, is_dealer: bool) -> np.ndarray:
    n = len(hands)
    return make_agent(name).discard_probabilities(
        DiscardObservation(
            hand=hands.astype(np.int8),
            seat=np.zeros(n, dtype=np.int8),
            dealer=np.full(n, 0 if is_dealer else 1, dtype=np.int8),
            scores=np.zeros((n, 2), dtype=np.int8),
            key=np.arange(n, dtype=np.uint64),
        )
    )


def kept_by_enumeration(name: str, seen: list[int], is_dealer: bool) -> np.ndarray:
    """[1820]: every six of the unseen cards, one after the other."""
    unseen = [card for card in range(52) if card not in seen]
    hands = np.array(list(combinations(unseen, 6)))
    chances = probabilities(name, hands, is_dealer)
    weights = np.zeros(len(SETS_4))
    ranks = RANKS[hands[:, KEPT_SLOTS_6]]  # [H, 15, 4]
    for hand_ranks, hand_chances in zip(ranks.tolist(), chances.tolist(), strict=True):
        for kept, chance in zip(hand_ranks, hand_chances, strict=True):
            weights[SET_NUMBER[tuple(kept)]] += chance
    return weights


@pytest.mark.parametrize("name", ["random", "greedy", "expected_value"])
@pytest.mark.parametrize("is_dealer", [False, True])
@pytest.mark.parametrize("unseen", ["AC 2C 3C 4C 5C 6C 5D 5H JC JD QC KC", "JC JD 4D 5D 6D 7D 8D 8C TD KC KD 9H"])
def test_kept_hands_are_those_of_every_deal(name: str, is_dealer: bool, unseen: str) -> None:
    """With twelve unseen cards, rich in flushes and jacks, all 924 hands can be gone through one by one."""
    seen = [card for card in range(52) if card not in parse_cards(unseen)]
    found = model_of(name).kept_weights(np.array([seen], dtype=np.int8), np.array([is_dealer]))[0]
    np.testing.assert_allclose(found, kept_by_enumeration(name, seen, is_dealer), atol=1e-9)


def test_a_model_without_suits() -> None:
    """Who throws the two lowest cards minds no suits; one hand of each multiset of ranks is asked about, no flush."""
    asked: list[np.ndarray] = []

    def lowest(observation: DiscardObservation) -> np.ndarray:
        asked.append(observation.hand)
        return np.tile(np.eye(15)[0], (len(observation), 1))

    unseen = parse_cards("JC JD 4D 5D 6D 7D 8D 8C TD KC KD 9H")
    seen = np.array([[card for card in range(52) if card not in unseen]], dtype=np.int8)
    found = discard_model(lowest, suits=False).kept_weights(seen, np.array([True]))[0]
    expected = np.zeros(len(SETS_4))
    for hand in combinations(sorted(unseen), 6):
        expected[SET_NUMBER[tuple(RANKS[list(hand[2:])].tolist())]] += 1
    np.testing.assert_allclose(found, expected)
    pone, dealer = asked
    assert len(np.unique(RANKS[pone], axis=0)) == len(pone) == len(dealer) == 18_395  # all but five or six of a rank
    assert all((np.count_nonzero(pone % 4 == suit, axis=1) <= 2).all() for suit in range(4))


@given(st.permutations(range(52)), st.integers(0, 12))
def test_the_weights_count_all_hands(deck: list[int], num_seen: int) -> None:
    """They add up to the number of six-card hands of the unseen cards, whatever the policy."""
    seen = np.array([deck[:num_seen] + [-1] * (12 - num_seen)], dtype=np.int8)
    found = model_of("greedy").kept_weights(seen, np.array([True]))
    assert found.min() > -1e-6
    assert found.sum() == pytest.approx(comb(52 - num_seen, 6), rel=1e-9)


def test_a_random_discarder_keeps_any_four_cards() -> None:
    """What it keeps is distributed as four cards drawn from the unseen ones."""
    found = model_of("random").kept_weights(np.array([parse_cards("5C 5D 5H")], dtype=np.int8), np.array([True]))[0]
    for kept, ways in (([4, 9, 9, 12], 1 * 6 * 4), ([4, 4, 9, 10], 0), ([0, 1, 2, 3], 4**4), ([7, 7, 7, 7], 1)):
        four_of_49 = 49 * 48 * 47 * 46 / 24
        assert found[SET_NUMBER[tuple(kept)]] / found.sum() == pytest.approx(ways / four_of_49)


# --- after plays and goes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["greedy", "deterministic", "random"])
def test_plays_and_goes_narrow_the_hands(name: str) -> None:
    """At every decision of some games: prior times likelihood, hand by hand, and the true hand is never ruled out."""
    table = Games(np.arange(6), seed=11)
    agents = [make_agent(name), make_agent(name)]
    seen_rows: list[tuple[PlayObservation, np.ndarray]] = []

    class Watch(Recorder):
        def plays(self, rows: np.ndarray, observation: PlayObservation, slots: np.ndarray) -> None:
            seen_rows.append((observation, table.state.kept[rows].copy()))

    play_hand(table, agents, np.tile([0, 1], (6, 1)), Watch())
    model = model_of("greedy")
    checked = 0
    for observation, kept in seen_rows:
        possible = kept_beliefs(model, observation)
        found = possible.copy()
        weigh_earlier_plays(observation, found, agents[0].play_probabilities)
        for row in range(len(observation)):
            me = int(observation.seat[row])
            history, seats = observation.history[row], observation.history_seats[row]
            events = [(int(c) // 4 * 4, int(s)) for c, s in zip(history, seats, strict=True) if c >= 0]
            own, leader = (kept[row, me] // 4 * 4).tolist(), 1 - int(observation.dealer[row])
            cards = [*observation.hand[row], *observation.discards[row], observation.starter[row]]
            cards += [c for c, s in zip(history, seats, strict=True) if s == me]
            seen = np.array([[c for c in cards if c >= 0]], dtype=np.int8)
            prior = model.kept_weights(seen, np.array([observation.dealer[row] != me]))[0]
            chances = np.zeros(len(SETS_4))
            for number in np.flatnonzero(prior > 0):
                theirs = [4 * rank for rank in SETS_4[number].tolist()]
                chances[number] = chance_of_plays(own, theirs, me, leader, events, name)
            np.testing.assert_allclose(found[row], prior * chances, atol=1e-6)
            if name == "random":  # which may play any card
                np.testing.assert_allclose(possible[row], prior * (chances > 0), atol=1e-6)
            assert found[row, SET_NUMBER[tuple(sorted(RANKS[kept[row, 1 - me]].tolist()))]] > 0 or name != "greedy"
            checked += 1
    assert checked > 30


# --- cribs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["greedy", "expected_value"])
@pytest.mark.parametrize(
    ("cards", "is_dealer"), [("5C 5D JH TC 2C 3C", True), ("AS 4S 7S JS QD KH", False), ("6C 7D 8H 9S TC JC", True)]
)
def test_crib_means_are_those_of_random_deals(name: str, cards: str, is_dealer: bool) -> None:
    """6,000 deals of the other 46 cards, discarded by the agent itself: within 4.5 standard errors."""
    hand = np.sort(parse_cards(cards)).astype(np.int8)
    rest = np.array([card for card in range(52) if card not in hand])
    generator = np.random.default_rng(5)
    deals = generator.permuted(np.tile(rest, (6_000, 1)), axis=1)[:, :7]
    theirs, starters = np.sort(deals[:, :6], axis=1), deals[:, 6]
    chances = probabilities(name, theirs, not is_dealer)
    actions = (chances.cumsum(axis=1) > generator.random(len(theirs))[:, None]).argmax(axis=1)
    thrown = np.take_along_axis(theirs, DISCARD_SLOTS_6[actions].astype(np.int64), axis=1)
    means = np.empty(15)
    fill_crib_means(hand, model_of(name).arrays[int(not is_dealer)], means)
    for action in (0, 4, 7, 11, 14):
        own = hand[DISCARD_SLOTS_6[action]]
        points = np.array(
            [
                reference.show([*own, *pair], starter, is_crib=True)
                for pair, starter in zip(thrown.tolist(), starters.tolist(), strict=True)
            ]
        )
        error = points.std() / np.sqrt(len(points))
        assert abs(points.mean() - means[action]) < 4.5 * error + 0.005, (action, points.mean(), means[action])
