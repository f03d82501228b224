"""The choices of past hands, with what was seen when they were made: labelled examples of how a player chooses."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deepcrib.game.cards import NO_CARD
from deepcrib.game.observations import DiscardObservation, PlayColumns, PlayObservation
from deepcrib.game.rules import DISCARD_SLOTS_6, HAND_SIZE, play_step
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows

PLAYS = 2 * HAND_SIZE


class PastDiscards(NamedTuple):
    """Discards of some hands: hands [D], which; what was seen; actions [D]."""

    hands: NDArray[np.intp]
    seen: DiscardObservation
    actions: NDArray[np.int8]


class PastPlays(NamedTuple):
    """Cards played in some hands: hands [D], which; what was seen; slots [D]."""

    hands: NDArray[np.intp]
    seen: PlayObservation
    slots: NDArray[np.int8]


def past_discards(records: np.ndarray, seats: NDArray[np.int8]) -> PastDiscards:
    """What seats [H] threw of hands [H] (`past.past_dtype`) of two, where it was shown. Keys follow from the cards."""
    rows = np.arange(len(records))
    kept, thrown = records["kept"][rows, seats], records["discards"][rows, seats]
    hands = np.flatnonzero((kept >= 0).all(axis=1) & (thrown >= 0).all(axis=1))
    dealt = np.sort(np.concatenate([kept[hands], thrown[hands]], axis=1), axis=1)
    slots = np.sort((dealt[:, :, None] == thrown[hands, None, :]).argmax(axis=1), axis=1)
    actions = (slots[:, None] == DISCARD_SLOTS_6).all(axis=2).argmax(axis=1)
    part = records[hands]
    seen = DiscardObservation(dealt, seats[hands], part["dealer"], part["scores"], _keys(dealt))
    return PastDiscards(hands, seen, actions.astype(np.int8))


def past_plays(records: np.ndarray, seats: NDArray[np.int8]) -> PastPlays:
    """What seats [H] played in hands [H] of two that were played out. Own discards are -1 where they were not shown.

    The scores are those before the hand. Keys follow from the cards.
    """
    whole = np.flatnonzero((records["history"] >= 0).all(axis=1))
    hands = np.repeat(whole, HAND_SIZE)
    n = len(hands)
    seen = PlayObservation(
        hand=np.empty((n, HAND_SIZE), dtype=np.int8),
        seat=seats[hands],
        dealer=records["dealer"][hands],
        scores=records["scores"][hands],
        key=np.zeros(n, dtype=np.uint64),
        discards=records["discards"][hands, seats[hands]],
        starter=records["starter"][hands],
        history=np.empty((n, PLAYS), dtype=np.int8),
        history_seats=np.empty((n, PLAYS), dtype=np.int8),
        series_start=np.empty(n, dtype=np.int8),
        goes=np.empty((n, 2), dtype=np.int8),
        count=np.empty(n, dtype=np.int8),
    )
    slots = np.empty(n, dtype=np.int8)
    run_rows(_fill_plays, len(whole), records, whole, seats, seen.columns, slots)
    seen.key[:] = _keys(np.concatenate([seen.history, seen.hand], axis=1))
    return PastPlays(hands, seen, slots)


def _keys(cards: NDArray[np.int8]) -> NDArray[np.uint64]:
    """[N] keys that depend on cards [N, C] alone: an agent that is asked again draws the same."""
    keys = np.zeros(len(cards), dtype=np.uint64)
    for column in cards.T:
        keys = (keys + column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    return keys


@jit
def _fill_plays(
    part: Part, records: np.ndarray, whole: np.ndarray, seats: np.ndarray, o: PlayColumns, slots: np.ndarray
) -> None:
    """The four turns of a seat in each of the hands `whole`."""
    left, goes = np.empty((2, HAND_SIZE), dtype=np.int8), np.empty(2, dtype=np.int8)
    for r in range(*part):
        hand, me = records[whole[r]], seats[whole[r]]
        for seat in range(2):
            for slot in range(HAND_SIZE):
                left[seat, slot] = hand.kept[seat, slot]
            left[seat].sort()
        goes[:] = 0
        series, count, start, turn = 0, 0, 0, HAND_SIZE * r
        for k in range(PLAYS):
            seat, slot = hand.history_seats[k], 0
            while left[seat, slot] != hand.history[k]:
                slot += 1
            if seat == me:
                _show(hand, left[me], goes, k, o, turn)
                o.series_start[turn], o.counts[turn], slots[turn] = start, count, slot
                turn += 1
            _, _, _, series, count = play_step(left, goes, series, count, seat, slot)
            if series == 0:
                start = k + 1


@jit
def _show(hand: Any, left: np.ndarray, goes: np.ndarray, played: int, o: PlayColumns, turn: int) -> None:
    """What is seen before play number `played` by who has cards left [4]."""
    for slot in range(HAND_SIZE):
        o.hand[turn, slot] = left[slot]
    for seat in range(2):
        o.goes[turn, seat] = goes[seat]
    for k in range(PLAYS):
        o.history[turn, k] = hand.history[k] if k < played else NO_CARD
        o.history_seats[turn, k] = hand.history_seats[k] if k < played else -1
