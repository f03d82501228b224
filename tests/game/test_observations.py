"""What a player is shown: all that it may see, and nothing that depends on a card it may not see."""

from __future__ import annotations

import copy
from dataclasses import Field, FrozenInstanceError, fields
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from deepcrib.game.engine import Games
from deepcrib.game.observations import DiscardObservation, PlayObservation
from tests.support.hidden import shuffled_behind
from tests.support.reference import Deal, PlayedHand, by_key, drive, play_hand, thrown_by

PLAYERS = (2, 3, 4)
Seen = list[tuple[object, np.ndarray]]


def watched(games: Games, max_hands: int = 1000) -> tuple[list[PlayedHand], Seen]:
    """Played hands, and every observation with its rows."""
    seen: Seen = []
    hands = drive(games, by_key, lambda observation, rows: seen.append((observation, rows)), max_hands)
    return hands, seen


def array_fields(observation: object) -> list[Field[Any]]:
    """All but the past, which is no array."""
    return [column for column in fields(observation) if column.name != "past"]


def assert_equal(one: object, two: object) -> None:
    assert type(one) is type(two)
    for column in fields(one):
        first, second = getattr(one, column.name), getattr(two, column.name)
        np.testing.assert_array_equal(first, second, err_msg=column.name)


# --- nothing hidden -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", PLAYERS)
def test_no_hidden_card_matters(players: int) -> None:
    """Before the discard only one's own cards do, in the play those that lie on the table as well."""
    rng = np.random.default_rng(41)
    games = Games(range(40), 202, num_players=players)
    compared = 0
    for _ in range(2):
        rows = games.deal()
        for seat in range(players):
            seats = np.full(len(games), seat)
            shown = games.discard_observation(rows, seats[rows])
            other = shuffled_behind(games, seats, rng)
            assert (other.state.dealt[rows] != games.state.dealt[rows]).any(axis=(1, 2)).all()
            assert_equal(other.discard_observation(rows, seats[rows]), shown)
            games.discard(rows, shown.seat, by_key(shown))  # the next seats must not see what was thrown before
        games.start_play()
        while len(turns := games.to_play):
            shown = games.play_observation(turns)
            seats = np.zeros(len(games), dtype=int)
            seats[turns] = shown.seat
            other = shuffled_behind(games, seats, rng)
            assert (other.state.crib[turns] != games.state.crib[turns]).any(axis=1).all()
            assert_equal(other.play_observation(turns), shown)
            compared += len(turns)
            games.play(turns, by_key(shown))
        games.show()
    assert compared == 40 * 2 * 4 * players


# --- everything visible -------------------------------------------------------------------------------------


def expected_turns(hand: PlayedHand, row: int, before: list[int]) -> tuple[Deal, list, list[list[int]]]:
    """The reference's word on each turn of a hand, from the engine's cards and choices."""
    state, laid = hand.state[row], iter(hand.laid[row])
    dealt = state.dealt.tolist()
    deal = Deal(dealt, int(state.starter), [int(state.hidden[1])] * (len(dealt) == 3))
    thrown = [thrown_by(held, int(action)) for held, action in zip(dealt, hand.actions[row], strict=True)]
    record = play_hand(deal, int(state.dealer), thrown, lambda player, legal: next(laid)[1], before)
    return deal, record.turns, thrown


def of_row(seen: Seen, row: int, kind: type) -> list[tuple[object, int]]:
    """(observation, index in it) of every decision of a game, in order."""
    return [
        (observation, int(np.flatnonzero(rows == row)[0]))
        for observation, rows in seen
        if type(observation) is kind and row in rows
    ]


@pytest.mark.parametrize(("players", "count"), [(2, 80), (3, 50), (4, 40)])
def test_observations_of_whole_games_against_the_reference(players: int, count: int) -> None:
    games = Games(range(count), 204, num_players=players)
    hands, seen = watched(games)
    for row in range(count):
        for observation, rows in seen:
            assert (observation.game[rows == row] == row).all()
        discards, plays = (iter(of_row(seen, row, DiscardObservation)), iter(of_row(seen, row, PlayObservation)))
        scores = [0] * players
        for number, hand in enumerate(hands):
            if row not in hand.rows:
                break
            before = list(scores)
            deal, turns, thrown = expected_turns(hand, row, scores)
            dealer = hand.state.dealer[row]
            for seat in range(players):
                observation, i = next(discards)
                assert observation.hand_number[i] == number
                assert observation.hand[i].tolist() == sorted(deal.hands[seat])
                assert (observation.seat[i], observation.dealer[i]) == (seat, dealer)
                assert bool(observation.is_dealer[i]) == (seat == dealer)
                assert observation.scores[i].tolist() == before
            for turn in turns:
                observation, i = next(plays)
                assert observation.hand_number[i] == number
                assert_turn(observation, i, turn, turns, deal, thrown, dealer)
        assert next(discards, None) is None and next(plays, None) is None


def assert_turn(
    observation: PlayObservation, i: int, turn: object, turns: list, deal: Deal, thrown: list[list[int]], dealer: int
) -> None:
    """One row of an observation, field by field."""
    seat, players = turn.player, len(deal.hands)
    laid = turns[: turn.number]
    rest = [-1] * (4 * players - len(laid))
    kept = [card for card in sorted(deal.hands[seat]) if card not in thrown[seat]]
    gone = {earlier.card for earlier in laid}
    hand = [-1 if card in gone else card for card in kept]
    assert (observation.seat[i], observation.dealer[i], observation.num_players) == (seat, dealer, players)
    assert bool(observation.is_dealer[i]) == (seat == dealer)
    assert observation.hand[i].tolist() == hand
    assert observation.kept[i].tolist() == kept
    assert sorted(observation.discards[i].tolist()) == sorted(thrown[seat])
    assert observation.starter[i] == deal.starter
    assert observation.scores[i].tolist() == list(turn.scores)
    assert observation.history[i].tolist() == [earlier.card for earlier in laid] + rest
    assert observation.history_seats[i].tolist() == [earlier.player for earlier in laid] + rest
    assert observation.series_start[i] == turn.series_start
    assert observation.count[i] == sum(min(card // 4 + 1, 10) for card in turn.before)
    assert np.flatnonzero(observation.goes[i]).tolist() == sorted(turn.goes)
    assert set(observation.goes[i].tolist()) <= {0, 1}
    assert observation.legal[i].tolist() == [card in turn.legal for card in hand]


@pytest.mark.parametrize("players", PLAYERS)
def test_shapes_and_types(players: int) -> None:
    games = Games(range(7), 205, num_players=players)
    _, seen = watched(games, 1)
    dealt = {2: 6, 3: 5, 4: 5}[players]
    shapes = {
        "hand": (4,),
        "discards": (dealt - 4,),
        "scores": (players,),
        "history": (4 * players,),
        "history_seats": (4 * players,),
        "goes": (players,),
    }
    for observation, rows in seen:
        assert len(observation) == len(rows) and observation.num_players == players
        for column in array_fields(observation):
            values = getattr(observation, column.name)
            others = {"key": np.uint64, "game": np.int64, "hand_number": np.int64}
            assert values.dtype == others.get(column.name, np.int8), column.name
            shape = shapes.get(column.name, ())
            if column.name == "hand" and isinstance(observation, DiscardObservation):
                shape = (dealt,)
            assert values.shape == (len(rows), *shape), column.name
        if isinstance(observation, PlayObservation):
            assert observation.legal.dtype == bool and observation.legal.shape == (len(rows), 4)
            assert observation.legal.any(axis=1).all()  # who cannot play is never asked


def test_scores_beyond_the_end_are_shown_as_the_end() -> None:
    """Games played out beyond 121 would not fit into eight bits."""
    games = Games([1], 206, first_dealer=[0], stop_at_121=False)
    games.state.scores[:] = [[140, 300]]
    rows = games.deal()
    assert games.discard_observation(rows, [1]).scores.tolist() == [[121, 121]]


# --- keys ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", PLAYERS)
def test_every_decision_has_a_key_of_its_own(players: int) -> None:
    games = Games(range(150), 207, num_players=players)
    _, seen = watched(games)
    keys = np.concatenate([observation.key for observation, _ in seen])
    assert len(np.unique(keys)) == len(keys) > 15_000
    ones = np.array([bin(int(key)).count("1") for key in keys])
    assert abs(ones.mean() - 32) < 5 * 4 / len(keys) ** 0.5


@pytest.mark.parametrize("players", PLAYERS)
def test_keys_and_observations_do_not_depend_on_the_batch(players: int) -> None:
    ids = np.array([4, 900, 2, 31])
    whole = watched(Games(ids, 208, num_players=players))[1]
    for row, game in enumerate(ids):
        alone = watched(Games([game], 208, num_players=players))[1]
        for kind in (DiscardObservation, PlayObservation):
            there, here = of_row(whole, row, kind), of_row(alone, 0, kind)
            assert len(there) == len(here)
            for (batch, i), (single, _) in zip(there, here, strict=True):
                assert_equal(batch.take(np.array([i])), single)


# --- handling -----------------------------------------------------------------------------------------------


def test_take_chooses_rows_of_every_field() -> None:
    _, seen = watched(Games(range(12), 209), 1)
    for observation, _ in seen:
        rows = np.arange(len(observation))
        for chosen in (np.array([3, 0, 3]), rows % 2 == 1, slice(2, 5)):
            taken = observation.take(chosen)
            assert type(taken) is type(observation)
            for column in fields(observation):
                np.testing.assert_array_equal(getattr(taken, column.name), getattr(observation, column.name)[chosen])
            assert len(taken) == len(rows[chosen]) and taken.num_players == 2


def test_an_observation_cannot_be_changed_and_does_not_change() -> None:
    games = Games(range(10), 210)
    kept: list[tuple[object, object]] = []
    drive(games, by_key, lambda observation, rows: kept.append((observation, copy.deepcopy(observation))), 2)
    for observation, as_it_was in kept:
        assert_equal(observation, as_it_was)  # not a view of the engine's state
    with pytest.raises(FrozenInstanceError):
        kept[0][0].hand = kept[0][0].hand
    for (one, _), (two, _) in pairwise(kept):
        assert not np.shares_memory(one.hand, two.hand)
    before = games.state.copy()
    for observation, _ in kept:
        for column in array_fields(observation):
            getattr(observation, column.name)[...] = 1
    assert (games.state == before).all()
