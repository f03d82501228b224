"""Deals: every card alike, cuts for the first deal, and the same cards for a seed, game and hand."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from deepcrib.game.engine import Games
from deepcrib.game.randomness import CUT, below, hash_key
from tests.support.reference import assert_drawn, chi_square_limit, drive

ERROR_LEVEL = 1e-6
HANDS, PLAYERS = {2: 6, 3: 5, 4: 5}, (2, 3, 4)


def deals_of(games: Games, hands: int = 1) -> np.ndarray:
    """Cards of the next hands [hands, N, P * D + 2]; nobody needs to play them."""
    out = []
    for _ in range(hands):
        games.deal()
        state = games.state
        out.append(np.concatenate([state.dealt.reshape(len(games), -1), state.hidden], axis=1))
    return np.array(out)


@pytest.mark.parametrize("players", PLAYERS)
def test_no_card_is_dealt_twice_and_hands_are_sorted(players: int) -> None:
    games = Games(range(2_000), 104, num_players=players)
    deals = deals_of(games, 3).reshape(6_000, -1)
    assert (np.diff(games.state.dealt, axis=2) > 0).all()
    assert deals.min() >= 0 and deals.max() <= 51
    assert (np.diff(np.sort(deals, axis=1), axis=1) > 0).all()
    assert deals.shape[1] == players * HANDS[players] + 2


@pytest.mark.parametrize("players", PLAYERS)
def test_every_card_comes_to_every_place_alike(players: int) -> None:
    """Chi-square over the 52 cards at each place, at an error level of 1e-6.

    A hand of D of the 52 cards without replacement spreads (52 - D) / 51 as widely as D independent cards.
    """
    size = HANDS[players]
    deals = deals_of(Games(range(20_000), 105, num_players=players), 2).reshape(40_000, -1)
    places = [deals[:, seat * size : (seat + 1) * size] for seat in range(players)] + [deals[:, -2:-1], deals[:, -1:]]
    for held in places:
        counts = np.bincount(held.ravel(), minlength=52)
        expected = counts.sum() / 52
        statistic = ((counts - expected) ** 2 / expected).sum() * 51 / (52 - held.shape[1])
        assert chi_square_limit(51, 1 - ERROR_LEVEL) < statistic < chi_square_limit(51, ERROR_LEVEL)


def test_pairs_of_cards_in_a_hand_are_uniform() -> None:
    """The two lowest of six cards, at an error level of 1e-6: (a, b) leaves C(51 - b, 4) hands above."""
    hands = deals_of(Games(range(60_000), 106))[0, :, :2].astype(int)
    state_pairs = np.bincount(hands[:, 0] * 52 + hands[:, 1], minlength=52 * 52)
    assert state_pairs.reshape(52, 52)[np.tril_indices(52)].sum() == 0  # sorted
    expected = np.array([comb(51 - b, 4) if b > a else 0 for a in range(52) for b in range(52)], dtype=float)
    assert_drawn(state_pairs, expected)


def test_starter_and_hands_are_independent_between_hands_and_games() -> None:
    deals = deals_of(Games(range(30_000), 107), 2)[:, :, -2].astype(int) // 4  # ranks of the starters
    assert_drawn(np.bincount(deals[0] * 13 + deals[1], minlength=169))  # of one game's successive hands
    assert_drawn(np.bincount(deals[0, :-1] * 13 + deals[0, 1:], minlength=169))  # of neighbouring games


@pytest.mark.parametrize("players", PLAYERS)
def test_deals_are_a_pure_function_of_seed_game_and_hand(players: int) -> None:
    ids = np.array([0, 1, 2, 3, 50, 999, 10**12, 7])
    whole = deals_of(Games(ids, 108, num_players=players), 4)
    order = np.random.default_rng(1).permutation(len(ids))
    np.testing.assert_array_equal(deals_of(Games(ids[order], 108, num_players=players), 4), whole[:, order])
    for row, game in enumerate(ids):
        alone = deals_of(Games([game], 108, num_players=players), 4)
        np.testing.assert_array_equal(alone[:, 0], whole[:, row])
    assert (deals_of(Games(ids, 109, num_players=players), 4) != whole).any(axis=2).all()
    # Neither who deals nor what was played before it matters.
    others = Games(ids, 108, num_players=players, first_dealer=np.arange(len(ids)) % players, dealing="random_dealer")
    np.testing.assert_array_equal(deals_of(others, 4), whole)
    played = Games(ids, 108, num_players=players)
    hands = drive(played, max_hands=3)
    for number, hand in enumerate(hands):
        rows = hand.rows
        np.testing.assert_array_equal(hand.state.dealt[rows].reshape(len(rows), -1), whole[number][rows, :-2])


def test_the_same_deal_with_the_seats_of_the_dealer_swapped() -> None:
    """What a duplicate match needs: the same cards by seat, the other player dealing."""
    one, two = (Games(range(50), 110, first_dealer=[dealer] * 50) for dealer in (0, 1))
    np.testing.assert_array_equal(deals_of(one, 3), deals_of(two, 3))
    assert (one.dealer == 0).all() and (two.dealer == 1).all()


@pytest.mark.parametrize("players", PLAYERS)
def test_acc_deal_passes_to_the_left(players: int) -> None:
    games = Games(range(200), 111, num_players=players)
    first = games.dealer.copy()
    for hand in range(5):
        games.deal()
        np.testing.assert_array_equal(games.dealer, (first + hand) % players)
        assert (games.state.hand_number == hand).all()


@pytest.mark.parametrize("players", PLAYERS)
def test_the_low_cut_deals_first_and_ties_cut_again(players: int) -> None:
    """Every cut followed card by card: all players cut different cards, and the lowest rank alone deals."""
    games = Games(range(3_000), 112, num_players=players)
    again = 0
    for row in range(len(games)):
        key, counter, cut = np.uint64(hash_key(112, row, 0, -1, CUT)), 0, []
        while True:
            while len(cut) < players:
                card = int(below(key, counter, 52))
                counter += 1
                if card not in cut:
                    cut.append(card)
            ranks = [card // 4 for card in cut]
            if ranks.count(min(ranks)) == 1:
                break
            cut, again = [], again + 1
        assert games.dealer[row] == ranks.index(min(ranks))
    assert again > 100  # a tie for low comes once in 17 cuts of two players
    assert_drawn(np.bincount(games.dealer, minlength=players))


@pytest.mark.parametrize("players", PLAYERS)
def test_random_dealer_is_fair_and_has_no_memory(players: int) -> None:
    games = Games(range(12_000), 113, num_players=players, dealing="random_dealer")
    dealers = []
    for _ in range(4):
        games.deal()
        dealers.append(games.dealer.astype(int).copy())
    for dealer in dealers:
        assert_drawn(np.bincount(dealer, minlength=players))
    for one, two in zip(dealers, dealers[1:], strict=False):
        assert_drawn(np.bincount(one * players + two, minlength=players**2))
