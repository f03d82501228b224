"""The luck of the cards taken off a result: what the players made of the deals and starters that came.

Every chance event of a game is priced by a value that was fixed before: the chance to win, or the final margin in
points, between two `expected_value` players. Its luck is its value less the exact mean over all that could have come,
so it is 0 on average whatever the players do, and a result less its luck has the mean of the result with less variance
(AIVAT of Burch, Schmid, Moravcik, Morrill, Bowling 2018). The chance events are

- who deals first, or any hand that a coin gives to its dealer: the dealer's value before the hand;
- each player's six cards: what they are worth by their best discard (`DEALT_MEANS`), less the mean over all
  20,358,520 hands, times the value of a point at the score before the hand;
- the starter: the value of the scores that the hand comes to, with the points that it, both hands and the crib bring,
  less the mean over the 40 cards that could have been turned up. The points of the play are still to come then, and are
  taken to be one of those of some hands.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.expected_value import ExpectedValueAgent, expectations_of
from deepcrib.exact.kept import kept_array
from deepcrib.game.cards import NUM_CARDS, card_set
from deepcrib.game.engine import Games
from deepcrib.game.engine.state import Game, new_games
from deepcrib.game.rules import HAND_SIZE, MAX_SCORE, heels_points, show_points
from deepcrib.intervals import Interval, mean_interval, ratio_interval
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows
from deepcrib.matches import Measure, Rows
from deepcrib.records import GameRecord
from deepcrib.search.win_chances import chances_of, pegs_of, value_after

CHANCE, MARGIN = 0, 1
"""The values by which luck is measured: chance to win, points of the final margin."""
VALUE, LUCK, BEYOND = 0, 1, 2
"""Of a hand: the value before it, the luck of its cards, and what else it brought; their sum is the value after it."""
DEALT_MEANS = (2.1078089221346854, 14.595602600409908)
"""Mean over all hands of what the best discard brings to pone and dealer (`expectations_of`), exact; by role."""
STARTERS = NUM_CARDS - 12
_HANDS, _SEED = 5_000, 1 << 62  # what the values are made of: no match has these cards
_PLAYS = 32  # of these hands stand for the play to come
FEW = 100
"""Games, or pairs, that do not tell how much their variance has become less."""
_STEP = 4  # points over which the value of one is taken


@dataclass
class LuckFree:
    """What one agent did in a match with the luck of the cards taken off.

    win_rate, hand_margin: as of `Evaluation`, with the 95% interval (Student's t over games, or pairs; None of a single
    one). After a few games a win rate may lie beyond 0 or 1. times_win_rate, times_hand_margin: so many times the games
    would be needed for as narrow an interval of the plain figure; None where that is not known (`_times`).
    """

    win_rate: float
    ci_low: float | None
    ci_high: float | None
    times_win_rate: float | None
    hand_margin: float
    hand_margin_low: float | None
    hand_margin_high: float | None
    times_hand_margin: float | None


def luck_free(
    beyond: NDArray[np.float64], won: NDArray[np.bool_], units: Rows, unit_hands: NDArray[Any], hand_margin: Interval
) -> LuckFree:
    """Of games with `beyond_cards` [G, 2]; units [G] are the games, or pairs, of the intervals."""
    chance, margin = (np.bincount(units, column) for column in beyond.T)
    sizes = np.bincount(units)
    rate, plain_rate = mean_interval(0.5 + chance / sizes), mean_interval(np.bincount(units, won) / sizes)
    a_hand = ratio_interval(margin, unit_hands)
    return LuckFree(
        **rate.named("win_rate", "ci"),
        times_win_rate=_times(plain_rate, rate, len(sizes)),
        **a_hand.named("hand_margin"),
        times_hand_margin=_times(hand_margin, a_hand, len(sizes)),
    )


def _times(plain: Interval, free: Interval, units: int) -> float | None:
    """How many times the games the plain interval needs to be as narrow; None of few, or of equals with equal cards."""
    if units < FEW or plain.high <= plain.low:
        return None
    return ((plain.high - plain.low) / (free.high - free.low)) ** 2


def card_luck() -> Measure:
    """What a match must measure for `luck_free`: `beyond_cards`, with what it needs computed before threads ask."""
    _values()
    _plays()
    return beyond_cards


@cache
def _values() -> NDArray[np.float64]:
    """[2, 121, 121] by score of the dealer and the pone before a hand: what the dealer has. Seconds, then kept."""
    return np.array(kept_array(__file__, "values.npy", _new_values))


def _new_values() -> NDArray[np.float64]:
    pegs = pegs_of(ExpectedValueAgent(), _HANDS, _SEED)
    return np.stack([chances_of(pegs), chances_of(pegs, margins=True)])


@cache
def _plays() -> NDArray[np.int64]:
    """[32, 2] points that dealer and pone peg in the play of a hand."""
    pegs = pegs_of(ExpectedValueAgent(), _PLAYS, _SEED)[:, 1 : 1 + 2 * HAND_SIZE]
    return np.stack([pegs.clip(min=0).sum(axis=1), -pegs.clip(max=0).sum(axis=1)], axis=1)


def beyond_cards(table: Games, rows: Rows, before: NDArray[np.integer]) -> NDArray[np.float64]:
    """[R, 2, 2] by seat: chance to win, and points of the final margin, that a hand brought beyond its luck.

    table: games `rows` of two after a hand. before: [N, 2] scores before it, of all games. Over a game these add up to
    its result (1 for a win, less 1/2; the margin in points, those beyond 121 included) less its luck.
    """
    hands = table.records[rows]
    after = hands["points"].sum(axis=(2, 3), dtype=np.int64)  # as `scores`, but not cut at 121
    return _parts(hands, before[rows].astype(np.int64), after, table.random_dealer)[BEYOND]


def recorded_luck(record: GameRecord) -> NDArray[np.float64]:
    """[3, H, 2, 2] VALUE, LUCK and BEYOND (`beyond_cards`) by seat, each as CHANCE (0..1) and MARGIN (points).

    Of the hands of a recorded game of two, but for one that was not played to its end.
    """
    hands = [hand for hand in record.hands if any(event.kind in ("crib", "end") for event in hand)]
    games, pegged = new_games(np.zeros(len(hands), dtype=np.int64), 2), np.zeros((len(hands), 2), dtype=np.int64)
    for game, pegs, hand in zip(games, pegged, hands, strict=True):
        thrown = sorted(card for event in hand if event.kind == "discard" for card in event.cards)
        game["dealer"], game["dealt"], game["crib"] = hand[0].seat, np.sort(hand[0].hands), thrown
        game["kept"] = game["dealt"][~np.isin(game["dealt"], thrown)].reshape(2, HAND_SIZE)
        game["starter"] = next(event.cards[0] for event in hand if event.kind == "starter")
        for event in hand:
            pegs[event.seat] += event.points
    after = pegged.cumsum(axis=0)
    return _parts(games, after - pegged, after, record.rules == "random_dealer")


def _parts(
    hands: NDArray[np.void], before: NDArray[np.int64], after: NDArray[np.int64], random_dealer: bool
) -> NDArray[np.float64]:
    """[3, R, 2, 2] of games [R] in their hands, with the scores [R, 2] before and after, those beyond 121 too."""
    parts = np.empty((3, len(hands), 2))  # the dealer's
    dealt, is_dealer = hands["dealt"].reshape(-1, 6), hands["dealer"][:, None] == np.arange(2)
    worth = expectations_of(dealt, is_dealer.ravel()).total.max(axis=1).reshape(-1, 2)
    worth -= np.where(is_dealer, DEALT_MEANS[1], DEALT_MEANS[0])
    scores = before, after, random_dealer
    run_rows(_fill_parts, len(hands), hands, worth, *scores, _values(), _plays(), parts, piece=64)
    by_seat = np.where(is_dealer, 1.0, -1.0)[:, :, None] * parts[:, :, None]
    by_seat[VALUE, :, :, CHANCE] += ~is_dealer
    return by_seat


@jit
def _fill_parts(
    part: Part,
    hands: np.ndarray,
    worth: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    random_dealer: bool,
    values: np.ndarray,
    plays: np.ndarray,
    parts: np.ndarray,
) -> None:
    luck = np.empty(2)
    for h in range(*part):
        dealer = hands[h].dealer
        x, y = before[h, dealer], before[h, 1 - dealer]
        _starter_luck(hands[h], x, y, values, plays, luck)
        for k in range(2):
            luck[k] += _slope(values[k].T, y, x) * worth[h, 1 - dealer] + _slope(values[k], x, y) * worth[h, dealer]
            own, other = after[h, dealer], after[h, 1 - dealer]
            value = value_after(own, other, values[k], k == MARGIN)
            if random_dealer and own < MAX_SCORE and other < MAX_SCORE:
                value = (value + values[k, own, other]) / 2
            parts[VALUE, h, k], parts[LUCK, h, k] = values[k, x, y], luck[k]
            parts[BEYOND, h, k] = value - values[k, x, y] - luck[k]


@jit
def _slope(values: np.ndarray, own: int, other: int) -> float:
    """What one more point of the score in the first place is worth to the dealer."""
    low, high = max(own - _STEP, 0), min(own + _STEP, MAX_SCORE - 1)
    return float((values[high, other] - values[low, other]) / (high - low))


@jit
def _starter_luck(g: Game, x: int, y: int, values: np.ndarray, plays: np.ndarray, luck: np.ndarray) -> None:
    """luck [2], the dealer's, of the starter of a hand before which dealer and pone had x and y points."""
    dealer, pone = g.kept[g.dealer], g.kept[1 - g.dealer]
    seen = card_set(g.dealt[0]) | card_set(g.dealt[1])
    luck[:] = 0
    for card in range(NUM_CARDS):
        if seen >> card & 1:
            continue
        first, second = show_points(pone, card, False), show_points(dealer, card, False)
        third = show_points(g.crib[:], card, True)
        weight = ((1.0 if card == g.starter else 0.0) - 1.0 / STARTERS) / len(plays)
        for n in range(len(plays)):
            own, other = _shown(x + heels_points(card), y, plays[n, 0], plays[n, 1], first, second, third)
            for k in range(2):
                luck[k] += weight * value_after(own, other, values[k], k == MARGIN)


@jit
def _shown(own: int, other: int, pegged: int, given: int, first: int, second: int, third: int) -> tuple[int, int]:
    """Scores of dealer and pone after play, the pone's hand, the dealer's and the crib, as far as they are counted."""
    if own < MAX_SCORE:  # else heels have won
        own += pegged
    if own < MAX_SCORE:
        other += given
    if own < MAX_SCORE and other < MAX_SCORE:
        other += first
    if own < MAX_SCORE and other < MAX_SCORE:
        own += second
    if own < MAX_SCORE and other < MAX_SCORE:
        own += third
    return own, other
