"""The engine against OpenSpiel's cribbage, a second implementation of the rules: every change of every score."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

pytest.importorskip("pyspiel")

from deepcrib.game.engine import Games  # noqa: E402
from tests.support.openspiel_replay import (  # noqa: E402
    COUNTED_ON,
    FLUSH,
    FLUSH_ENDED,
    LOWEST_SEAT,
    Comparison,
    Hand,
    Played,
    VariedGames,
    compare,
    ends_of,
    hands_of,
    played_by,
    points_as_hand,
)

PAIRINGS = (("random", "random"), ("greedy", "greedy"), ("random", "greedy"))


def single_hands(names: tuple[str, str], number: int, seed: int, kind: type[Games] = Games) -> Played:
    """Hands at 0-0, far from 121, a game each."""
    ids = np.arange(number)
    return played_by(names, kind(ids, seed, first_dealer=ids % 2, stop_at_121=False), max_hands=1)


def full_games(names: tuple[str, str], number: int, seed: int) -> Comparison:
    """Games until somebody has 121 in OpenSpiel, their ends compared with games that the engine stops."""
    ids = np.arange(number)
    played = played_by(names, Games(ids, seed, first_dealer=ids % 2, stop_at_121=False))
    stopped = Games(ids, seed, first_dealer=ids % 2)
    played_by(names, stopped)  # the same choices: they depend on seed, game, hand and cards, never on the score
    return compare(played, ends_of(stopped, played.first_dealer))


# --- agreement ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Games, VariedGames])
@pytest.mark.parametrize("names", PAIRINGS, ids="-".join)
def test_every_event_of_a_hand_scores_the_same(names: tuple[str, str], kind: type[Games]) -> None:
    found = compare(single_hands(names, 1500, 11, kind))
    assert found.differences == []
    assert found.games == found.hands == found.compared["heels"] == 1500
    assert found.compared["card"] + found.compared["31 and show"] == 8 * 1500
    assert found.compared["go and show"] + found.compared["31 and show"] == 1500
    assert set(found.masked) <= {FLUSH}


@pytest.mark.parametrize("names", PAIRINGS, ids="-".join)
def test_full_games_score_and_end_the_same(names: tuple[str, str]) -> None:
    found = full_games(names, 200, 12)
    assert found.differences == []
    assert found.games == found.compared["end"] + found.masked[FLUSH_ENDED] == 200
    assert found.masked[FLUSH_ENDED] <= found.masked[FLUSH]
    assert found.masked[LOWEST_SEAT] <= found.masked[COUNTED_ON] < 200
    assert found.masked[LOWEST_SEAT] or names[0] != names[1]  # between equals both are often close to 121


@pytest.mark.parametrize("kind", [Games, VariedGames])
def test_hands_and_crib_one_by_one(kind: type[Games]) -> None:
    """In a hand they are one sum; here each is what OpenSpiel's pone shows, who counts nothing else with it."""
    rng = np.random.default_rng(13)
    played = single_hands(("random", "greedy"), 300, 14, kind)
    state, flushes = played.hands[0].state, [hand.flush for hand in hands_of(played, 0)]
    for row in range(300):
        starter = int(state.starter[row])
        for seat in range(2):
            assert points_as_hand(state.kept[row, seat], starter, rng) == state.hand_points[row, seat]
        assert points_as_hand(state.crib[row], starter, rng) == state.crib_points[row] + flushes[row]


# --- the comparison can fail ----------------------------------------------------------------------------------


def crib_suits(hand: Hand) -> tuple[set[int], int]:
    """Suits of the four crib cards, and the starter's."""
    thrown = [card for action in hand.opening[12:14] for card in divmod(action - 52, 52)]
    return {card // 13 for card in thrown}, hand.opening[14] // 13


def five_flush_unpaid(hand: Hand) -> Hand:
    suits, starter = crib_suits(hand)
    return hand._replace(crib=hand.crib - 5) if suits == {starter} else hand


def four_flush_paid(hand: Hand) -> Hand:
    suits, starter = crib_suits(hand)
    return hand._replace(crib=hand.crib + 4) if len(suits) == 1 and suits != {starter} else hand


def thirty_one_and_a_go(hand: Hand) -> Hand:
    pairs = zip(hand.points, hand.counts, strict=True)
    return hand._replace(points=[points + (count == 31) for points, count in pairs])


def last_card_unpaid(hand: Hand) -> Hand:
    return hand._replace(points=[*hand.points[:7], hand.points[7] - (hand.counts[7] != 31)])


def heels_unpaid(hand: Hand) -> Hand:
    return hand._replace(heels=0)


@pytest.fixture(scope="module")
def varied() -> tuple[Played, Comparison]:
    """A thousand hands of small decks, and how they compare as they are."""
    played = single_hands(("random", "random"), 1000, 16, VariedGames)
    return played, compare(played)


def pegged(hand: Hand) -> list[int]:
    return [hand.heels, hand.crib, *hand.points]


@pytest.mark.parametrize(
    "rule", [five_flush_unpaid, four_flush_paid, thirty_one_and_a_go, last_card_unpaid, heels_unpaid]
)
def test_another_rule_is_seen_wherever_it_matters(
    varied: tuple[Played, Comparison], rule: Callable[[Hand], Hand]
) -> None:
    """As many differences as points that the rule changes, and no more of them forgiven than before."""
    played, right = varied
    wrong = compare(played, change=rule)
    hands = list(hands_of(played, 0))
    changed = sum(np.count_nonzero(np.subtract(pegged(hand), pegged(rule(hand)))) for hand in hands)
    assert right.differences == []
    assert len(wrong.differences) == changed > 0
    assert wrong.masked == right.masked


def test_another_winner_is_seen() -> None:
    ids = np.arange(40)
    played = played_by(("greedy", "greedy"), Games(ids, 19, first_dealer=ids % 2, stop_at_121=False))
    stopped = Games(ids, 19, first_dealer=ids % 2)
    played_by(("greedy", "greedy"), stopped)
    ends = ends_of(stopped, played.first_dealer)
    assert compare(played, ends).differences == []
    ends[7].winner = 1 - ends[7].winner
    ends[8].scores[1 - ends[8].winner] += 1
    found = compare(played, ends)
    assert [text.split(",")[0] for text in found.differences] == ["game 7", "game 8"]


# --- many -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.timeout(900)  # seconds; about 70 on an idle core
def test_half_a_million_hands_score_the_same() -> None:
    found = Comparison()
    for part, names in enumerate(PAIRINGS):
        for kind in (Games, VariedGames):
            for seed in range(3):
                found.add(compare(single_hands(names, 20_000, 100 + 10 * part + seed, kind)))
        for seed in range(4):
            found.add(full_games(names, 1_000, 200 + 10 * part + seed))
    print(f"{found.games:,} games, {found.hands:,} hands", dict(found.compared), dict(found.masked))
    assert found.differences == []
    assert found.hands > 450_000
    assert set(found.masked) == {FLUSH, COUNTED_ON, LOWEST_SEAT, FLUSH_ENDED}
