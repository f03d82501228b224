"""The game tree of the two-player play on ranks, both hands known (Partida 2022, section 2.2).

Every card that may be played is worth the points that its player still pegs, minus the opponent's, from that card to
the end of the play: go, last card and thirty-one as in `rules`. The opponent chooses either what is best for itself,
knowing both hands (algorithm 3), or what greedy plays (algorithm 6). Values are exact.

A position is a few whole numbers, so that a step copies no array. Four bits hold a rank, plus 1 (0: no card): `cards`
are the eight slots of both hands, lowest bits first, the player's four and then the opponent's, each in ascending
order; `held` has a bit for every slot whose card has not been played; `series` holds the ranks of a series, the last
one in its lowest bits. Of equal ranks one is tried; within a series the search is alpha-beta; and once a series has
ended only `held` and the leader matter, so that what follows is worked out once (`ends`) however it came about. The
tree is walked by a loop with a stack: Numba cannot load from its cache what calls a function that calls itself.
"""

from __future__ import annotations

import numpy as np

from deepcrib.game.cards import NO_CARD, rank_of
from deepcrib.game.rules import COUNT_LIMIT, HAND_SIZE, RANK_BITS, RANK_MASK, play_points
from deepcrib.kernels import jit

PLAYER, OPPONENT = 0, 1
NO_VALUE = -128
"""Of a slot that may not be played; values lie between -32 and 32 points, since nobody pegs more in a play."""
NUM_ENDS = 1 << (2 * HAND_SIZE + 1)
"""Sets of slots that may be held when a series has ended, by leader."""
_BEYOND = 100
_HAND = (1 << HAND_SIZE) - 1
_HAND_BITS = HAND_SIZE * RANK_BITS
_SEAT, _POINTS = 3, 10  # columns of the stack
STACK = (2 * HAND_SIZE + 1, 11)
"""Shape of the stack: a row for every card that may be played, the numbers of a position in it."""
_LOWEST = np.array([0, *((m & -m).bit_length() - 1 for m in range(1, _HAND + 1))], dtype=np.int64)  # bit of a mask


@jit
def pack_hand(hand: np.ndarray) -> int:
    """The bits of a hand [4] of ascending card ids, NO_CARD in the slots of those played."""
    cards = 0
    for slot in range(HAND_SIZE):
        if hand[slot] != NO_CARD:
            cards |= (rank_of(hand[slot]) + 1) << (RANK_BITS * slot)
    return cards


@jit
def join_hands(player: int, opponent: int) -> int:
    """`cards` of the bits of both hands."""
    return player | opponent << _HAND_BITS


@jit
def fill_play_values(
    cards: int, series: int, count: int, greedy: bool, stack: np.ndarray, ends: np.ndarray, values: np.ndarray
) -> None:
    """values [4]: what each card of the player, whose turn it is, is worth; NO_VALUE where it may not be played.

    cards, series: as above, the cards of both that have not been played; the series counts `count`. greedy: whether the
    opponent is taken for the greedy player. To work in: stack int64 [STACK], ends int8 [NUM_ENDS].
    """
    ends[:] = NO_VALUE
    ends[0] = ends[1] = 0  # nothing is left
    held = 0
    for place in range(2 * HAND_SIZE):
        if cards >> (RANK_BITS * place) & RANK_MASK:
            held |= 1 << place
    before = 0
    for slot in range(HAND_SIZE):
        code = cards >> (RANK_BITS * slot) & RANK_MASK
        if code == 0 or count + min(code, 10) > COUNT_LIMIT:
            values[slot] = NO_VALUE
        elif before < slot and code == cards >> (RANK_BITS * before) & RANK_MASK:
            values[slot] = values[before]
        else:
            values[slot] = _search(cards, held, 1 << slot, series, count, greedy, stack, ends)
            before = slot


@jit
def _search(
    cards: int, held: int, mask: int, series: int, count: int, greedy: bool, stack: np.ndarray, ends: np.ndarray
) -> int:
    """What the best of the player's slots `mask` is worth to it, who is to move.

    One choice after another is in the local variables; those above it in the tree wait on the stack.
    """
    depth, seat, low, high, best, before, end = 0, PLAYER, -_BEYOND, _BEYOND, -_BEYOND, 0, -1
    while True:
        code = _code(cards, seat, mask)
        total = count + min(code, 10)
        if mask == 0 or best >= high or total > COUNT_LIMIT:  # every card that matters has been tried
            if end >= 0:
                ends[end] = best
            if depth == 0:
                return best
            depth -= 1
            row = stack[depth]
            value = row[_POINTS] + (best if row[_SEAT] == seat else -best)
            held, series, count, seat, mask, before = row[0], row[1], row[2], row[_SEAT], row[4], row[5]
            low, high, best, end = row[6], row[7], max(row[8], value), row[9]
            continue
        rest = held & ~((mask & -mask) << (HAND_SIZE * seat))
        mask &= mask - 1
        if code == before:
            continue
        before = code
        longer = series << RANK_BITS | code
        points = play_points(longer, total)
        following = _next_seat(cards, rest, seat, total)
        new_end = -1
        if following < 0:  # the series has ended
            points += 0 if total == COUNT_LIMIT else 1
            following = 1 - seat if rest >> (HAND_SIZE * (1 - seat)) & _HAND else seat
            new_end = 2 * rest + following
            if ends[new_end] != NO_VALUE:
                best = max(best, points + (ends[new_end] if following == seat else -ends[new_end]))
                continue
            longer, total = 0, 0
        row = stack[depth]
        row[0], row[1], row[2], row[_SEAT], row[4], row[5] = held, series, count, seat, mask, before
        row[6], row[7], row[8], row[9], row[_POINTS] = low, high, best, end, points
        depth += 1
        low, high = max(low, best) - points, high - points
        if new_end >= 0:
            low, high = -_BEYOND, _BEYOND
        elif following != seat:
            low, high = -high, -low
        held, series, count, seat, before, best, end = rest, longer, total, following, 0, -_BEYOND, new_end
        mask = held >> (HAND_SIZE * seat) & _HAND
        if greedy and seat == OPPONENT:
            mask = _greedy_choice(cards, mask, series, count, seat)


@jit
def _code(cards: int, seat: int, mask: int) -> int:
    """Rank plus 1 of the lowest card of a hand's mask, which is not empty."""
    return cards >> (_HAND_BITS * seat + RANK_BITS * _LOWEST[mask]) & RANK_MASK


@jit
def _next_seat(cards: int, held: int, seat: int, count: int) -> int:
    """Who plays next in the series after `seat` has, or -1 when its last card was played."""
    if count == COUNT_LIMIT:
        return -1
    for step in range(2):
        player = seat if step else 1 - seat
        mask = held >> (HAND_SIZE * player) & _HAND
        if mask and count + min(_code(cards, player, mask), 10) <= COUNT_LIMIT:
            return player
    return -1


@jit
def _greedy_choice(cards: int, mask: int, series: int, count: int, seat: int) -> int:
    """The bit of what greedy plays of a hand's mask (`policies`): most points, then the highest rank."""
    best = -1
    choice = 0
    while mask:
        code = _code(cards, seat, mask)
        total = count + min(code, 10)
        if total > COUNT_LIMIT:
            break
        points = play_points(series << RANK_BITS | code, total)
        if points >= best:  # ranks ascend
            best = points
            choice = mask & -mask
        mask &= mask - 1
    return choice
