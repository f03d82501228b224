"""The tables of the encoders of a discard: the four cards kept, in most the two thrown, and the role.

A card -1 in a state is an absent one: pretraining shows four kept cards and no thrown ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np

from deepcrib.game.cards import JACK, NUM_RANKS, rank_of, suit_of
from deepcrib.game.rules import DISCARD_SLOTS_6, HAND_SIZE, KEPT_SLOTS_6
from deepcrib.kernels import jit
from deepcrib.networks.encoders.fills import Fill, flag_of, score_blocks
from deepcrib.networks.encoders.spec import COUNT, FLAG, ONE_HOT, RANK_CHANNELS, SUIT_CHANNELS, Block, is_table, ranks
from deepcrib.networks.encoders.states import DISCARD_IS_DEALER, DISCARD_OPPONENT_SCORE, DISCARD_OWN_SCORE, HAND
from deepcrib.plugins import Registry

NUM_THROWN = 2
# Every unordered pair of ranks, equal ones included, has a channel: 91 of them.
_PAIRS = tuple(combinations_with_replacement(range(NUM_RANKS), 2))
_PAIR_CHANNELS = tuple(RANK_CHANNELS[low] + RANK_CHANNELS[high] for low, high in _PAIRS)
_PAIR_INDEX = np.zeros((NUM_RANKS, NUM_RANKS), dtype=np.int64)
for _index, (_low, _high) in enumerate(_PAIRS):
    _PAIR_INDEX[_low, _high] = _PAIR_INDEX[_high, _low] = _index


def _cards(slots: np.ndarray, part_of: Callable[[int], int]) -> Fill:
    """The rank, or the suit, of every card in the slots [15, n] of a discard."""

    @jit
    def fill(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
        for k in range(slots.shape[1]):
            card = state[HAND + slots[action, k]]
            if card >= 0:
                row[k] = start + part_of(card)

    return fill


_kept_suits, _thrown_suits = _cards(KEPT_SLOTS_6, suit_of), _cards(DISCARD_SLOTS_6, suit_of)
_thrown_ranks = _cards(DISCARD_SLOTS_6, rank_of)


@jit
def _kept_pairs(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
    column = 0
    for k in range(HAND_SIZE):
        rank = rank_of(state[HAND + KEPT_SLOTS_6[action, k]])
        for other in range(k):
            row[column] = start + _PAIR_INDEX[rank, rank_of(state[HAND + KEPT_SLOTS_6[action, other]])]
            column += 1


@jit
def _cards_of_suit(state: np.ndarray, suit: int) -> int:
    number = 0
    for slot in range(HAND_SIZE + NUM_THROWN):
        card = state[HAND + slot]
        number += card >= 0 and suit_of(card) == suit
    return number


@jit
def _flush(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
    suit = suit_of(state[HAND + KEPT_SLOTS_6[action, 0]])
    for k in range(1, HAND_SIZE):
        if suit_of(state[HAND + KEPT_SLOTS_6[action, k]]) != suit:
            return
    row[0] = start + _cards_of_suit(state, suit) - HAND_SIZE


@jit
def _nobs(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
    for k in range(HAND_SIZE):
        card = state[HAND + KEPT_SLOTS_6[action, k]]
        if rank_of(card) == JACK:
            row[k] = start + _cards_of_suit(state, suit_of(card)) - 1


@jit
def _thrown_pair(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
    first, second = state[HAND + DISCARD_SLOTS_6[action, 0]], state[HAND + DISCARD_SLOTS_6[action, 1]]
    row[0] = start + _PAIR_INDEX[rank_of(first), rank_of(second)]


def _into_crib(own: bool, thrown: Fill) -> Fill:
    """What `thrown` fills of two cards thrown into one's own crib, or else into the opponent's."""

    @jit
    def fill(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
        first, second = state[HAND + DISCARD_SLOTS_6[action, 0]], state[HAND + DISCARD_SLOTS_6[action, 1]]
        if first >= 0 and second >= 0 and (state[DISCARD_IS_DEALER] != 0) == own:
            thrown(state, action, start, row)

    return fill


_own_crib, _other_crib = (_into_crib(own, _thrown_ranks) for own in (True, False))
_own_pair, _other_pair = (_into_crib(own, _thrown_pair) for own in (True, False))


@jit
def _crib_suited(state: np.ndarray, action: int, start: int, row: np.ndarray) -> None:
    first, second = state[HAND + DISCARD_SLOTS_6[action, 0]], state[HAND + DISCARD_SLOTS_6[action, 1]]
    if first >= 0 and second >= 0 and suit_of(first) == suit_of(second):
        row[0] = start if state[DISCARD_IS_DEALER] else start + 1


_KEPT = (
    ranks("kept_ranks", "ranks of the four cards kept", _cards(KEPT_SLOTS_6, rank_of), ones=HAND_SIZE),
    Block("kept_suits", COUNT, SUIT_CHANNELS, "suits of the four cards kept", _kept_suits, ones=HAND_SIZE),
)
_THROWN = (
    ranks("thrown_ranks", "ranks of the two cards thrown", _thrown_ranks, ones=NUM_THROWN),
    Block("thrown_suits", COUNT, SUIT_CHANNELS, "suits of the two cards thrown", _thrown_suits, ones=NUM_THROWN),
)
_SUITED = tuple(str(number) for number in range(NUM_THROWN + 1))
_HELD = tuple(str(number) for number in range(1, 7))
_AFTERSTATE = (
    _KEPT[0],
    # Pairs of ranks make the value of a hand and of a throw nearly linear in the input. With returns as noisy
    # as a hand's points it matters: the loss by wrong discards falls to a third of what ranks alone leave.
    Block("kept_pairs", COUNT, _PAIR_CHANNELS, "the six pairs of ranks among the four kept", _kept_pairs, ones=6),
    Block("flush", ONE_HOT, _SUITED, "the kept four share a suit, by how many of the thrown have it too", _flush),
    Block("nobs", COUNT, _HELD, "jacks kept, by how many of one's six cards have their suit", _nobs, ones=HAND_SIZE),
    ranks("own_crib", "ranks of the two cards thrown into one's own crib", _own_crib, ones=2),
    ranks("other_crib", "ranks of the two cards thrown into the opponent's crib", _other_crib, ones=2),
    Block("own_crib_pair", ONE_HOT, _PAIR_CHANNELS, "both ranks thrown into one's own crib", _own_pair),
    Block("other_crib_pair", ONE_HOT, _PAIR_CHANNELS, "both ranks thrown into the opponent's crib", _other_pair),
    Block("crib_suited", ONE_HOT, ("own", "other"), "the two thrown share a suit, by whose crib it is", _crib_suited),
)
_SCORES = score_blocks(DISCARD_OWN_SCORE, DISCARD_OPPONENT_SCORE)
_DEALER = Block("dealer", FLAG, ("dealer",), "one is the dealer, whose crib it is", flag_of(DISCARD_IS_DEALER))
_OPTIONAL = (replace(_DEALER, option="dealer"), *_SCORES)

_TABLES: dict[str, tuple[Block, ...]] = {
    # Bélanger et al. 2019, section 3.6.3.
    "basic": (*_KEPT, *_OPTIONAL),
    "full": (*_KEPT, *_THROWN, *_OPTIONAL),
    "afterstate": (*_AFTERSTATE, _DEALER, *_SCORES),
}
DISCARD_ENCODERS = Registry("discard encoder", _TABLES, is_table)
"""By name, as in `state.discard`; see PLAY_ENCODERS."""
