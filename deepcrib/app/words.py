"""What happened, in words: what a play and a show score and why, and the events of a game."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from deepcrib.board.text import SIGNS
from deepcrib.board.words import rank_text
from deepcrib.game.cards import JACK, NUM_SUITS, RANKS, SUIT_NAMES, VALUES
from deepcrib.game.rules import (
    COUNT_LIMIT,
    SKUNK_MARGIN,
    flush_points,
    nobs_points,
    pack_series,
    pair_points,
    play_pair_points,
    play_run_points,
    run_points,
)

SUIT_SIGNS = {"symbols": SIGNS["suits"].suits, "letters": SUIT_NAMES}
"""By the option `suits`."""
PAIRS = {2: "pair", 6: "pair royal", 12: "double pair royal"}
FIFTEEN = 15
Cards = tuple[int, ...]


class Part(NamedTuple):
    """Points with their reason, and the cards that score them."""

    reason: str
    points: int
    cards: Cards = ()

    def __str__(self) -> str:
        return f"{self.reason} for {self.points}"


def play_parts(series: Sequence[int], points: int, is_last: bool) -> list[Part]:
    """Why the last card of a series scored.

    series: card ids from where the series begins. points: all that the card pegged, a go or last card included.
    is_last: whether all cards of the hand have been played with it.
    """
    ranks, count = RANKS[list(series)], int(VALUES[RANKS[list(series)]].sum())
    parts = []
    if count in (FIFTEEN, COUNT_LIMIT):
        parts.append(Part("fifteen" if count == FIFTEEN else "thirty-one", 2))
    packed = pack_series(ranks, len(ranks))
    if pairs := play_pair_points(packed):
        parts.append(Part(PAIRS[pairs], pairs))
    if run := play_run_points(packed):
        parts.append(Part(f"run of {run}", run))
    rest = points - sum(part.points for part in parts)
    if rest > 0:
        parts.append(Part("last card" if is_last else "go", rest))
    return parts


def show_parts(hand: Sequence[int], starter: int, is_crib: bool) -> list[Part]:
    """Every fifteen, pair and run of a hand or crib with the starter, the flush and nobs: in the order of counting."""
    every = tuple(sorted((*hand, starter)))
    subsets = [cards for size in range(2, len(every) + 1) for cards in combinations(every, size)]
    parts = [Part("fifteen", 2, cards) for cards in subsets if VALUES[RANKS[list(cards)]].sum() == FIFTEEN]
    parts += [Part("pair", 2, cards) for cards in subsets if len(cards) == 2 and pair_points(RANKS[list(cards)])]
    runs = [cards for cards in subsets if len(cards) > 2 and _is_run(cards)]
    longest = max(map(len, runs), default=0)
    parts += [Part(f"run of {longest}", longest, cards) for cards in runs if len(cards) == longest]
    own = np.array(hand, dtype=np.int64)
    if flush := flush_points(own, starter, is_crib):
        parts.append(Part("flush", flush, tuple(sorted(hand)) if flush == len(hand) else every))
    if nobs := nobs_points(own, starter):
        jack = next(card for card in hand if RANKS[card] == JACK and _same_suit(card, starter))
        parts.append(Part("nobs", nobs, (jack,)))
    return parts


def _is_run(cards: Cards) -> bool:
    """Whether cards, one of each rank, follow one another: their points are one for each."""
    ranks = RANKS[list(cards)]
    return len(set(ranks.tolist())) == len(cards) and run_points(ranks) == len(cards)


def _same_suit(one: int, other: int) -> bool:
    return one % NUM_SUITS == other % NUM_SUITS


def grouped(parts: Sequence[Part]) -> list[tuple[str, int, list[Cards]]]:
    """(reason, points in all, cards of each) of every kind of points, in order: `("fifteens", 4, [...])`."""
    groups: dict[str, list[Part]] = {}
    for part in parts:
        groups.setdefault(part.reason, []).append(part)
    return [
        (_plural(reason, len(same)), sum(part.points for part in same), [part.cards for part in same])
        for reason, same in groups.items()
    ]


def _plural(reason: str, number: int) -> str:
    if number == 1:
        return reason
    return reason.replace("run", "runs") if reason.startswith("run") else f"{reason}s"


def card_name(card: int, suits: str = "symbols") -> str:
    """`10♥`, or `10H` with suits=letters."""
    return rank_text(card) + SUIT_SIGNS[suits][card % NUM_SUITS]


def card_names(cards: Sequence[int], suits: str = "symbols") -> str:
    """`5♥ 10♣`."""
    return " ".join(card_name(card, suits) for card in cards)


def margin_word(scores: Sequence[int], winner: int) -> str:
    """`skunk` where a loser is 31 or more points behind, and lost two games for one; else empty."""
    others = [score for seat, score in enumerate(scores) if seat != winner]
    return "skunk" if scores[winner] - min(others) >= SKUNK_MARGIN else ""


def points_word(points: int) -> str:
    """`1 point`, `4 points`, `no points`."""
    return "no points" if points == 0 else f"{points} point{'' if points == 1 else 's'}"
