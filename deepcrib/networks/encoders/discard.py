"""Encoders of a discard: the four cards kept, in most the two thrown, and the role."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np

from deepcrib.game.cards import JACK, NUM_RANKS, NUM_SUITS, rank_of, suit_of
from deepcrib.game.rules import DISCARD_SLOTS_6, HAND_SIZE, KEPT_SLOTS_6, MAX_SCORE
from deepcrib.kernels import Part, jit
from deepcrib.networks.encoders.encoder import Encoder
from deepcrib.networks.encoders.legal import legal_discards
from deepcrib.networks.encoders.spec import (
    COUNT,
    FLAG,
    ONE_HOT,
    RANK_CHANNELS,
    SCALAR,
    SUIT_CHANNELS,
    Spec,
    SpecBuilder,
)
from deepcrib.networks.encoders.states import DISCARD_IS_DEALER, DISCARD_OPPONENT_SCORE, DISCARD_OWN_SCORE, HAND

DISCARD_ENCODERS = ("basic", "full", "afterstate")
NUM_THROWN = 2
_BASIC, _FULL, _AFTERSTATE = range(3)
# Blocks in the order of the `starts` that kernels receive; -1 marks a block that the encoder lacks.
_BLOCKS = (
    "kept_ranks",
    "kept_suits",
    "thrown_ranks",
    "thrown_suits",
    "kept_pairs",
    "flush",
    "nobs",
    "own_crib",
    "other_crib",
    "own_crib_pair",
    "other_crib_pair",
    "crib_suited",
    "dealer",
    "own_score",
)
(
    _KEPT_RANKS,
    _KEPT_SUITS,
    _THROWN_RANKS,
    _THROWN_SUITS,
    _KEPT_PAIRS,
    _FLUSH,
    _NOBS,
    _OWN_CRIB,
    _OTHER_CRIB,
    _OWN_CRIB_PAIR,
    _OTHER_CRIB_PAIR,
    _CRIB_SUITED,
    _DEALER,
    _OWN_SCORE,
) = range(len(_BLOCKS))
# Every unordered pair of ranks, equal ones included, has a channel: 91 of them.
_PAIRS = tuple(combinations_with_replacement(range(NUM_RANKS), 2))
_PAIR_CHANNELS = tuple(RANK_CHANNELS[low] + RANK_CHANNELS[high] for low, high in _PAIRS)
_PAIR_INDEX = np.zeros((NUM_RANKS, NUM_RANKS), dtype=np.int64)
for _index, (_low, _high) in enumerate(_PAIRS):
    _PAIR_INDEX[_low, _high] = _PAIR_INDEX[_high, _low] = _index
# Index columns without the options: 4 ranks + 4 suits; + 2 ranks + 2 suits; see _afterstate_row.
_COLUMNS = (8, 12, 19)


class DiscardEncoder(Encoder):
    """Turns compact discard states and actions into network input; see `spec` for the channels.

    A card -1 in a state is an absent one: pretraining shows four kept cards and no thrown ones.
    """

    def __init__(self, name: str, dealer: bool = True, scores: bool = False) -> None:
        """`name` is one of DISCARD_ENCODERS; `dealer` and `scores` add their channels."""
        if name not in DISCARD_ENCODERS:
            expected = ", ".join(DISCARD_ENCODERS)
            raise ValueError(f"unknown discard encoder {name!r} (expected one of {expected})")
        spec = _discard_spec(name, dealer, scores)
        kind = DISCARD_ENCODERS.index(name)
        has_dealer_column = "dealer" in spec
        super().__init__(spec, _BLOCKS, kind, _COLUMNS[kind] + has_dealer_column, _encode_rows)

    def legal(self, states: np.ndarray) -> np.ndarray:
        """bool [M, 15] of compact states int8 [M, 9]: the discards that may be chosen."""
        return legal_discards(states)


def make_discard_encoder(name: str, dealer: bool = True, scores: bool = False) -> DiscardEncoder:
    """`basic` or `full` of Bélanger et al. 2019 (section 3.6.3), or our `afterstate` (with dealer flag)."""
    return DiscardEncoder(name, dealer, scores)


def _discard_spec(name: str, dealer: bool, scores: bool) -> Spec:
    builder = SpecBuilder()
    if name == "afterstate":
        _add_afterstate_blocks(builder)
    else:
        builder.add("kept_ranks", COUNT, RANK_CHANNELS, "ranks of the four cards kept")
        builder.add("kept_suits", COUNT, SUIT_CHANNELS, "suits of the four cards kept")
    if name == "full":
        builder.add("thrown_ranks", COUNT, RANK_CHANNELS, "ranks of the two cards thrown")
        builder.add("thrown_suits", COUNT, SUIT_CHANNELS, "suits of the two cards thrown")
    if dealer or name == "afterstate":
        builder.add("dealer", FLAG, ("dealer",), "one is the dealer, whose crib it is")
    if scores:
        factor = 1.0 / MAX_SCORE
        builder.add("own_score", SCALAR, ("own",), "own score, points of 121", scale=factor)
        builder.add("opponent_score", SCALAR, ("opponent",), "opponent's score, points of 121", scale=factor)
    return builder.build(name, dealer, scores)


def _add_afterstate_blocks(builder: SpecBuilder) -> None:
    builder.add("kept_ranks", COUNT, RANK_CHANNELS, "ranks of the four cards kept")
    # Pairs of ranks make the value of a hand and of a throw nearly linear in the input. With samples as noisy
    # as a hand's points that tells: the loss by wrong discards falls to a third of what ranks alone leave.
    builder.add("kept_pairs", COUNT, _PAIR_CHANNELS, "the six pairs of ranks among the four kept")
    same = tuple(str(number) for number in range(NUM_THROWN + 1))
    builder.add("flush", ONE_HOT, same, "the kept four share a suit, by how many of the thrown have it too")
    held = tuple(str(number) for number in range(1, 7))
    builder.add("nobs", COUNT, held, "jacks kept, by how many of one's six cards have their suit")
    builder.add("own_crib", COUNT, RANK_CHANNELS, "ranks of the two cards thrown into one's own crib")
    builder.add("other_crib", COUNT, RANK_CHANNELS, "ranks of the two cards thrown into the opponent's crib")
    builder.add("own_crib_pair", ONE_HOT, _PAIR_CHANNELS, "both ranks thrown into one's own crib")
    builder.add("other_crib_pair", ONE_HOT, _PAIR_CHANNELS, "both ranks thrown into the opponent's crib")
    roles = ("own", "other")
    builder.add("crib_suited", ONE_HOT, roles, "the two thrown share a suit, by whose crib it is")


# --- kernels ------------------------------------------------------------------------------------------------


@jit
def _put_ranks_and_suits(
    row: np.ndarray, column: int, ranks: int, suits: int, state: np.ndarray, slots: np.ndarray
) -> int:
    """Write the channels of the cards in some slots (none for an absent card); returns the next column."""
    for k in range(len(slots)):
        card = state[HAND + slots[k]]
        row[column] = ranks + rank_of(card) if card >= 0 else -1
        row[column + len(slots)] = suits + suit_of(card) if card >= 0 else -1
        column += 1
    return column + len(slots)


@jit
def _paper_row(starts: np.ndarray, full: bool, state: np.ndarray, action: int, row: np.ndarray) -> int:
    kept = KEPT_SLOTS_6[action]
    column = _put_ranks_and_suits(row, 0, starts[_KEPT_RANKS], starts[_KEPT_SUITS], state, kept)
    if full:
        slots = DISCARD_SLOTS_6[action]
        column = _put_ranks_and_suits(row, column, starts[_THROWN_RANKS], starts[_THROWN_SUITS], state, slots)
    if starts[_DEALER] >= 0:
        row[column] = starts[_DEALER] if state[DISCARD_IS_DEALER] else -1
        column += 1
    return column


@jit
def _put_kept_ranks(starts: np.ndarray, state: np.ndarray, action: int, row: np.ndarray) -> int:
    """Columns of the kept four by rank: 4 ranks, 6 pairs."""
    column = HAND_SIZE
    for k in range(HAND_SIZE):
        rank = rank_of(state[HAND + KEPT_SLOTS_6[action, k]])
        row[k] = starts[_KEPT_RANKS] + rank
        for other in range(k):
            other_rank = rank_of(state[HAND + KEPT_SLOTS_6[action, other]])
            row[column] = starts[_KEPT_PAIRS] + _PAIR_INDEX[rank, other_rank]
            column += 1
    return column


@jit
def _put_kept_suits(starts: np.ndarray, state: np.ndarray, action: int, column: int, row: np.ndarray) -> int:
    """Columns of the kept four by suit: 1 flush, 4 nobs."""
    of_suit = np.zeros(NUM_SUITS, dtype=np.int64)
    kept_of_suit = np.zeros(NUM_SUITS, dtype=np.int64)
    for slot in range(HAND_SIZE + NUM_THROWN):
        if state[HAND + slot] >= 0:
            of_suit[suit_of(state[HAND + slot])] += 1
    row[column] = -1
    for k in range(HAND_SIZE):
        card = state[HAND + KEPT_SLOTS_6[action, k]]
        suit = suit_of(card)
        kept_of_suit[suit] += 1
        if kept_of_suit[suit] == HAND_SIZE:
            row[column] = starts[_FLUSH] + of_suit[suit] - HAND_SIZE
        row[column + 1 + k] = starts[_NOBS] + of_suit[suit] - 1 if rank_of(card) == JACK else -1
    return column + 1 + HAND_SIZE


@jit
def _put_thrown(starts: np.ndarray, state: np.ndarray, action: int, column: int, row: np.ndarray) -> int:
    """Columns of the two thrown: 2 ranks, 1 pair of ranks, 1 suited; all of them -1 when there are none."""
    end = column + NUM_THROWN + 2
    first = state[HAND + DISCARD_SLOTS_6[action, 0]]
    second = state[HAND + DISCARD_SLOTS_6[action, 1]]
    if first < 0 or second < 0:
        row[column:end] = -1
        return end
    is_dealer = state[DISCARD_IS_DEALER]
    ranks = starts[_OWN_CRIB] if is_dealer else starts[_OTHER_CRIB]
    pairs = starts[_OWN_CRIB_PAIR] if is_dealer else starts[_OTHER_CRIB_PAIR]
    suited = starts[_CRIB_SUITED] if is_dealer else starts[_CRIB_SUITED] + 1
    row[column] = ranks + rank_of(first)
    row[column + 1] = ranks + rank_of(second)
    row[column + 2] = pairs + _PAIR_INDEX[rank_of(first), rank_of(second)]
    row[column + 3] = suited if suit_of(first) == suit_of(second) else -1
    return end


@jit
def _afterstate_row(starts: np.ndarray, state: np.ndarray, action: int, row: np.ndarray) -> int:
    column = _put_kept_ranks(starts, state, action, row)
    column = _put_kept_suits(starts, state, action, column, row)
    column = _put_thrown(starts, state, action, column, row)
    row[column] = starts[_DEALER] if state[DISCARD_IS_DEALER] else -1
    return column + 1


@jit
def _encode_rows(
    part: Part, kind: int, starts: np.ndarray, states: np.ndarray, actions: np.ndarray, columns: np.ndarray
) -> None:
    for i in range(*part):
        if kind == _AFTERSTATE:
            column = _afterstate_row(starts, states[i], actions[i], columns[i])
        else:
            column = _paper_row(starts, kind == _FULL, states[i], actions[i], columns[i])
        if starts[_OWN_SCORE] >= 0:
            columns[i, column] = states[i, DISCARD_OWN_SCORE]
            columns[i, column + 1] = states[i, DISCARD_OPPONENT_SCORE]
