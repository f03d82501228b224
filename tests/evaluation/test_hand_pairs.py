"""Pairs of hands in which both deal once, and what they are measured by."""

from statistics import mean

import numpy as np
import pytest

from deepcrib.agents import make_agent
from deepcrib.evaluation.hands import hand_pairs
from deepcrib.game.engine import Games
from deepcrib.matches import play_hand


def test_in_each_pair_both_deal_once_and_seats_are_balanced() -> None:
    """Equal players are 0 apart, and the dealer some six points ahead (16.2 to 10.2 among people)."""
    greedy = make_agent("greedy")
    figures = hand_pairs(greedy, greedy, 4000, 3)
    assert figures.low < 0 < figures.high and figures.pairs == 4000
    assert figures.dealer_margin + figures.pone_margin == pytest.approx(figures.margin)
    assert 4 < figures.dealer_margin < 8 and -8 < figures.pone_margin < -4


def test_pairs_are_counted_for_the_first_agent() -> None:
    greedy, random = make_agent("greedy"), make_agent("random")
    for_greedy, against = hand_pairs(greedy, random, 1000, 5), hand_pairs(random, greedy, 1000, 5)
    assert for_greedy.low > 5 and against.high < -5


def test_the_interval_of_pairs_is_that_of_the_differences_of_scores() -> None:
    """Pair by pair from hands played one at a time, with the seats that the pairs have."""
    greedy, random, margins = make_agent("greedy"), make_agent("random"), []
    for pair in range(40):
        total, seat = 0, pair % 2
        for hand in (0, 1):
            dealer = seat if hand == 0 else 1 - seat
            table = Games([2 * pair + hand], 6, first_dealer=[dealer], stop_at_121=False)
            play_hand(table, [greedy, random], np.array([[int(s != seat) for s in (0, 1)]]))
            total += int(table.state.scores[0, seat]) - int(table.state.scores[0, 1 - seat])
        margins.append(total)
    figures = hand_pairs(greedy, random, 40, 6)
    assert figures.margin == pytest.approx(mean(margins))
    assert figures.high - figures.margin == pytest.approx(2.0227 * np.std(margins, ddof=1) / np.sqrt(40), rel=1e-3)
