"""Positions of random plays, and what the opponent may hold there, counted hand by hand."""

from __future__ import annotations

from collections import Counter
from math import comb, prod

import numpy as np

from deepcrib.game.engine import Games
from deepcrib.game.observations import PlayObservation
from deepcrib.game.rank_sets import rank_sets
from tests.support import reference
from tests.support.plays import Hands, after, fits
from tests.support.reference import plain_plays, rank

SETS = {tuple(map(int, row)): number for number, row in enumerate(rank_sets(4))}


def positions(hands: int, seed: int, most_hidden: int = 4) -> PlayObservation:
    """Positions of random plays in which the opponent holds at most so many cards."""
    found: list[PlayObservation] = []

    def watch(observation: object, rows: np.ndarray) -> None:
        if isinstance(observation, PlayObservation):
            theirs = (observation.history >= 0) & (observation.history_seats != observation.seat[:, None])
            found.append(observation.take(4 - theirs.sum(axis=1) <= most_hidden))

    reference.drive(Games(np.arange(hands), seed, stop_at_121=False), watch=watch, max_hands=1)
    return PlayObservation.concatenate(found)


def seen(o: PlayObservation, row: int) -> tuple[list[int], list[int], list[tuple[int, int]], list[int]]:
    """Own kept cards, the opponent's played cards, the history, and the cards that have not been seen."""
    history = [(int(c), int(s)) for c, s in zip(o.history[row], o.history_seats[row], strict=True) if c >= 0]
    own = [int(c) for c in o.hand[row] if c >= 0] + [c for c, s in history if s == o.seat[row]]
    theirs = [c for c, s in history if s != o.seat[row]]
    away = [*own, *theirs, int(o.starter[row]), *(int(c) for c in o.discards[row] if c >= 0)]
    return own, theirs, history, [card for card in range(52) if card not in away]


def chance_of_plays(
    own: list[int], other: list[int], seat: int, leader: int, history: list[tuple[int, int]], name: str = "random"
) -> float:
    """How likely the other one, a scripted player, plays these hands as it did, until the turn of `seat`."""
    hands: Hands = (tuple(own), tuple(other)) if seat == 0 else (tuple(other), tuple(own))
    series: tuple[int, ...] = ()
    turn, chance = leader, 1.0
    for card, player in history:
        if player != turn or card not in fits(hands[turn], series):
            return 0.0
        if player != seat:
            chosen = [rank(hands[turn][slot]) for slot in plain_plays(name, list(hands[turn]), list(series))]
            chance *= chosen.count(rank(card)) / len(chosen)
        _, turn, hands, series = after(hands, series, turn, card)
    return chance if turn == seat else 0.0


def possible(o: PlayObservation, row: int) -> dict[tuple[int, ...], int]:
    """Rank multisets that the opponent may have kept, with the ways to make them of its cards and those not seen."""
    own, theirs, history, unseen = seen(o, row)
    seat, leader = int(o.seat[row]), 1 - int(o.dealer[row])
    free = Counter(card // 4 for card in unseen + theirs)
    ways = {}
    for ranks in SETS:
        number = prod(comb(free[rank], n) for rank, n in Counter(ranks).items())
        held = hidden_of(ranks, theirs, unseen) if number else None
        if held is not None and chance_of_plays(own, theirs + held, seat, leader, history):
            ways[ranks] = number
    return ways


def hidden_of(ranks: tuple[int, ...], theirs: list[int], unseen: list[int]) -> list[int] | None:
    """Some unseen cards that make up a kept hand of these ranks with the cards played, or None."""
    left = list(ranks)
    for card in theirs:
        if card // 4 not in left:
            return None
        left.remove(card // 4)
    return [[card for card in unseen if card // 4 == rank][left[:i].count(rank)] for i, rank in enumerate(left)]
