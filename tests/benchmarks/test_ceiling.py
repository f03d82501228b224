"""Upper bounds above the best response: sight against plain recursion, flushes by hand, and what bad discards leave."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks.equilibrium import ceiling as ceilings
from benchmarks.equilibrium.ceiling import Ceiling, ceiling, rests, surprise_of_flushes
from deepcrib.agents import make_agent
from deepcrib.game.cards import parse_card, parse_cards
from deepcrib.game.engine import Games
from deepcrib.game.observations import DiscardObservation
from deepcrib.game.rules import DISCARD_SLOTS_6
from deepcrib.kernels.workers import run_rows
from deepcrib.search.best_response import BestResponseAgent
from tests.support.plays import OPPONENT, PLAYER, worth
from tests.support.reference import rank


@pytest.mark.parametrize("is_dealer", [False, True])
def test_sight_is_the_best_play_against_a_greedy_player_whose_hand_is_seen(is_dealer: bool) -> None:
    rng = np.random.default_rng(3)
    deals = [rng.permutation(range(8, 40))[:8].tolist() for _ in range(12)]
    hands = [tuple(sorted(deal[part])) for deal in deals for part in (slice(4), slice(4, 8))]
    sets = np.array([[rank(card) for card in hand] for hand in hands], dtype=np.int8)
    table = np.empty((len(sets), len(sets)), dtype=np.int8)
    run_rows(ceilings._fill_sight, len(sets), sets, is_dealer, table)
    for number in range(0, len(hands), 2):
        for own, other in ((number, number + 1), (number + 1, number)):
            both = (hands[own], hands[other])
            assert table[own, other] == worth(both, (), OPPONENT if is_dealer else PLAYER, True)


def six(hands: list[str], seat: int) -> DiscardObservation:
    """Sorted hands of the dealer at seat 1."""
    cards = np.array([sorted(parse_cards(hand)) for hand in hands], dtype=np.int8)
    n = len(hands)
    seats = np.full(n, seat, dtype=np.int8)
    ones, keys = np.ones(n, dtype=np.int8), np.zeros(n, dtype=np.uint64)
    return DiscardObservation(hand=cards, seat=seats, dealer=ones, scores=np.zeros((n, 2), dtype=np.int8), key=keys)


def always(action: int) -> Any:
    return lambda seen: np.eye(15)[np.full(len(seen), action)]


def throwing(seen: DiscardObservation, cards: str) -> int:
    """The action that throws two cards of the first hand."""
    return [set(seen.hand[0][slots].tolist()) for slots in DISCARD_SLOTS_6].index(set(parse_cards(cards)))


def test_a_flush_in_the_crib_by_hand() -> None:
    """Two hearts to two hearts, and a heart is turned up: five points, of which a few per cent were expected."""
    own = six(["2H 9H 5C 6D 7S QD"] * 3, 1)
    other = six(["AS 3H 4H TC JD KS", "AS 3H 4H TC JD KS", "AS 3C 4H TC JD KS"], 0)  # throws 3 and 4
    starters = np.array([parse_card(card) for card in ("8H", "8C", "8H")], dtype=np.int8)
    greedy = BestResponseAgent(make_agent("greedy"))
    responder: Any = SimpleNamespace(discards_of=always(throwing(other, "3H 4H")), model=greedy.model)
    found = surprise_of_flushes(responder, own, other, starters)
    hearts, diamonds = throwing(own, "2H 9H"), throwing(own, "6D QD")
    expected = 5 - found[0, hearts]
    assert 0 < expected < 5 * 0.05
    assert found[1:, hearts] == pytest.approx(-expected)
    assert (found[:, diamonds] < 0).all()
    others = np.delete(found, [hearts, diamonds], axis=1)
    assert others.shape == (3, 13) and (others == 0).all()


@pytest.mark.slow
def test_flushes_come_about_as_often_as_the_best_response_expects() -> None:
    """To half of the chance at least, over 2,000 deals; all 15 discards of a hand together."""
    ids = np.arange(2_000)
    table = Games(ids, 5, first_dealer=(ids % 2).astype(np.int8), stop_at_121=False)
    rows = table.deal()
    own, other = (table.discard_observation(rows, np.full(len(rows), seat, dtype=np.int8)) for seat in (0, 1))
    responder = BestResponseAgent(make_agent("greedy"))
    found = surprise_of_flushes(responder, own, other, table.state.hidden[:, 0].astype(np.int8)).sum(axis=1)
    assert abs(found.mean()) < 4 * found.std() / np.sqrt(len(found)) < 0.1


@pytest.mark.slow
def test_a_responder_that_throws_badly_leaves_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left above the best response is next to nothing by ranks; above its worst discards, points."""
    responder = BestResponseAgent(make_agent("greedy"), None)
    best = rests(responder, np.arange(24), 3)
    values = responder.discard_values
    monkeypatch.setattr(responder, "discard_values", lambda *seen: -values(*seen))
    worst = rests(responder, np.arange(24), 3)
    assert (best[:, 0] >= 0).all() and best[:, 0].mean() < 0.05 < 0.5 < best[:, 1].mean()
    assert (worst >= best - 1e-9).all() and worst[:, 0].mean() > 3
    # Both measures have the same best, whatever it is held against.
    np.testing.assert_allclose(worst[:, 0] - best[:, 0], worst[:, 1] - best[:, 1], atol=1e-9)
    assert isinstance(ceiling(4, 3), Ceiling)
