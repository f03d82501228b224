"""The play as a tree of what one player knows: the best reply to a known way of playing with unknown cards.

At the player's own turn the card of the highest value is taken, one choice for all hands that the opponent may hold;
at the opponent's turn those hands part company, each playing what its policy says. So a value is the exact mean, over
the opponent's weighted hands, of own minus opponent's points from here to the end of the play. Hands are rank
multisets: no point of the play depends on suits.

The tree is walked with a stack of its own: Numba cannot load compiled functions that call themselves from its cache.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deepcrib.beliefs.plays import PLAYS
from deepcrib.cards import NO_CARD, NUM_RANKS, NUM_SUITS, value_of_rank
from deepcrib.kernels import jit
from deepcrib.policies import rank_value
from deepcrib.rules import COUNT_LIMIT, HAND_SIZE, card_points
from deepcrib.statistics.ranks import NUM_RANK_SETS_4

ME, OPPONENT = 0, 1
BEST = -1
"""In place of an own policy: the best card."""
GO = NUM_RANKS
"""Among the opponent's moves, which are 0..12 for its cards."""
ALL_SLOTS = (1 << HAND_SIZE) - 1
DEPTH = 3 * PLAYS  # frames: each is a card, a go, or the end

# Columns of a frame. TURN: whose it is, -1 at the end; LAST: who played the last card; PASSED: 1 when the one whose
# turn it is not has nothing to play; BEGIN, LENGTH: where the series stands in `ranks`; COUNT: of the series; OWN_LEFT:
# bits of the own slots that are left; NUM_LEFT: the opponent's cards; HANDS: the level of its hands, and NUM_HANDS of
# them; NEXT: the next own slot, or the bits of the opponent's moves that are still to be tried; LIKED, CHOICES: of the
# own policy, the highest liking, and the cards that were played with it.
# VALUE: of the position, as far as it is known; BEST_VALUE: of the own cards tried; POINTS: of the move that led there;
# TOTAL: weight of its hands.
TURN, LAST, PASSED, BEGIN, LENGTH, COUNT, OWN_LEFT, NUM_LEFT, HANDS, NUM_HANDS, NEXT, LIKED, CHOICES = range(13)
VALUE, BEST_VALUE, POINTS, TOTAL = range(4)


class Room(NamedTuple):
    """Room for one search.

    frames: int64 [D, 13], values: float64 [D, 4], by the columns above. ranks: int8 [24], all cards played, in order.
    sets, left, weights: [D, 1820], the opponent's hands by level: numbers of rank multisets, bits of the slots that are
    left, and weights. chosen: int64 [D, 1820], bits of the moves that each hand may make. likings: int64 [13].
    """

    frames: np.ndarray
    values: np.ndarray
    ranks: np.ndarray
    sets: np.ndarray
    left: np.ndarray
    weights: np.ndarray
    chosen: np.ndarray
    likings: np.ndarray


class Players(NamedTuple):
    """Who plays: policy of the opponent, own policy or BEST, all rank multisets [1820, 4] and the own ranks [4]."""

    policy: int
    own_policy: int
    sets: np.ndarray
    own: np.ndarray


@jit
def new_room() -> Room:
    """Room for searches, one after the other."""
    return Room(
        np.empty((DEPTH, CHOICES + 1), dtype=np.int64),
        np.empty((DEPTH, TOTAL + 1), dtype=np.float64),
        np.zeros(3 * PLAYS, dtype=np.int8),
        np.empty((DEPTH, NUM_RANK_SETS_4), dtype=np.int64),
        np.empty((DEPTH, NUM_RANK_SETS_4), dtype=np.int64),
        np.empty((DEPTH, NUM_RANK_SETS_4), dtype=np.float64),
        np.empty((DEPTH, NUM_RANK_SETS_4), dtype=np.int64),
        np.empty(NUM_RANKS, dtype=np.int64),
    )


# --- positions ----------------------------------------------------------------------------------------------------


@jit
def _new_series(frame: np.ndarray, last: int) -> None:
    """The series has ended with a card of `last`: the other one leads, if it has a card left."""
    frame[BEGIN] += frame[LENGTH]
    frame[LAST], frame[PASSED], frame[LENGTH], frame[COUNT] = last, 0, 0, 0
    frame[TURN] = -1
    if frame[NUM_LEFT] > 0 and (last == ME or frame[OWN_LEFT] == 0):
        frame[TURN] = OPPONENT
    elif frame[OWN_LEFT]:
        frame[TURN] = ME


@jit
def _can_play(own: np.ndarray, own_left: int, count: int) -> bool:
    for slot in range(HAND_SIZE):
        if own_left >> slot & 1 and count + value_of_rank(own[slot]) <= COUNT_LIMIT:
            return True
    return False


@jit
def _lay(ranks: np.ndarray, frame: np.ndarray, player: int, rank: int) -> int:
    """Lay a card on the series and pass the turn; returns its points."""
    length = frame[LENGTH] + 1
    count = frame[COUNT] + value_of_rank(rank)
    ranks[frame[BEGIN] + length - 1] = rank
    points = card_points(ranks[frame[BEGIN] :], length, count)
    frame[LENGTH] = length
    if count == COUNT_LIMIT:
        _new_series(frame, player)
    else:
        frame[TURN], frame[LAST], frame[PASSED], frame[COUNT] = 1 - player, player, 0, count
    return points


@jit
def _total(weights: np.ndarray, n: int) -> float:
    total = 0.0
    for i in range(n):
        total += weights[i]
    return total


# --- the end, where nobody has a choice ---------------------------------------------------------------------------


@jit
def _ending(ranks: np.ndarray, frame: np.ndarray, own: int, theirs: int) -> int:
    """Points of the rest of the play when both have at most one card left, a rank or -1."""
    begin, length, count = frame[BEGIN], frame[LENGTH], frame[COUNT]
    turn, last = frame[TURN], frame[LAST]
    points = 0
    while own >= 0 or theirs >= 0:
        own_fits = own >= 0 and count + value_of_rank(own) <= COUNT_LIMIT
        their_fits = theirs >= 0 and count + value_of_rank(theirs) <= COUNT_LIMIT
        if not own_fits and not their_fits:
            points += 1 if last == ME else -1
            begin, length, count = begin + length, 0, 0
            turn = 1 - last
            continue
        if own_fits and (turn == ME or not their_fits):
            rank, last, own = own, ME, -1
        else:
            rank, last, theirs = theirs, OPPONENT, -1
        ranks[begin + length] = rank
        length += 1
        count += value_of_rank(rank)
        scored = card_points(ranks[begin:], length, count)
        points += scored if last == ME else -scored
        turn = 1 - last
        if count == COUNT_LIMIT:
            begin, length, count = begin + length, 0, 0
    if length > 0:
        points += 1 if last == ME else -1
    return points


@jit
def _end_value(room: Room, players: Players, frame: np.ndarray) -> float:
    """`_ending` of every hand of a frame, times its weight."""
    own = -1
    for slot in range(HAND_SIZE):
        if frame[OWN_LEFT] >> slot & 1:
            own = players.own[slot]
    level, ranks, all_sets, num_left = frame[HANDS], room.ranks, players.sets, frame[NUM_LEFT]
    sets, left, weights = room.sets[level], room.left[level], room.weights[level]
    value = 0.0
    for i in range(frame[NUM_HANDS]):
        theirs = -1
        if num_left > 0:
            slot = 0
            while not left[i] >> slot & 1:
                slot += 1
            theirs = all_sets[sets[i], slot]
        value += weights[i] * _ending(ranks, frame, own, theirs)
    return value


# --- the tree -----------------------------------------------------------------------------------------------------


@jit
def _open(room: Room, players: Players, d: int) -> bool:
    """Prepare the position in frame d to be searched; False at the end of the play."""
    frame = room.frames[d]
    value = 0.0
    if frame[NUM_LEFT] <= 1 and not frame[OWN_LEFT] & (frame[OWN_LEFT] - 1):
        room.values[d, VALUE] = _end_value(room, players, frame)
        frame[TURN] = -1
        return False
    if frame[TURN] == ME and not _can_play(players.own, frame[OWN_LEFT], frame[COUNT]):
        if frame[PASSED]:  # nobody can play: a go, or the last card
            value = room.values[d, TOTAL] * (1 if frame[LAST] == ME else -1)
            _new_series(frame, frame[LAST])
        else:
            frame[TURN], frame[PASSED] = OPPONENT, 1
    room.values[d, VALUE] = value
    if frame[TURN] < 0:
        return False
    frame[NEXT], frame[LIKED], frame[CHOICES] = 0, 0, 0
    if frame[TURN] == OPPONENT:
        frame[NEXT] = _find_moves(room, players, frame)
    else:
        for slot in range(HAND_SIZE):
            frame[LIKED] = max(frame[LIKED], _liking(room.ranks, players, frame, slot))
    return True


@jit
def _liking(ranks: np.ndarray, players: Players, frame: np.ndarray, slot: int) -> int:
    """How much the own policy likes a slot (the best reply looks at every rank); -1 for one not to be played."""
    own_left, rank = frame[OWN_LEFT], players.own[slot]
    if not own_left >> slot & 1 or frame[COUNT] + value_of_rank(rank) > COUNT_LIMIT:
        return -1
    if players.own_policy != BEST:
        return rank_value(players.own_policy, ranks[frame[BEGIN] :], frame[LENGTH], frame[COUNT], rank)
    for earlier in range(slot):
        if own_left >> earlier & 1 and players.own[earlier] == rank:
            return -1
    return 0


@jit
def _step(room: Room, players: Players, d: int) -> bool:
    """Put the next position that can follow frame d into frame d + 1; False when there is none left."""
    frame, child = room.frames[d], room.frames[d + 1]
    if frame[TURN] == ME:
        while frame[NEXT] < HAND_SIZE:
            slot = frame[NEXT]
            frame[NEXT] += 1
            if _liking(room.ranks, players, frame, slot) == frame[LIKED]:
                child[:] = frame
                room.values[d + 1, TOTAL] = room.values[d, TOTAL]
                _play_slot(room, players, d + 1, slot)
                return True
        return False
    if frame[NEXT] == 0:
        return False
    move = 0
    while not frame[NEXT] >> move & 1:
        move += 1
    frame[NEXT] &= ~(1 << move)
    child[:] = frame
    child[HANDS] = d + 1
    child[NUM_HANDS] = _part_hands(room, players.sets, frame, d + 1, move)
    total = _total(room.weights[d + 1], child[NUM_HANDS])
    room.values[d + 1, TOTAL] = total
    room.values[d + 1, POINTS] = 0.0
    if move != GO:
        child[NUM_LEFT] -= 1
        room.values[d + 1, POINTS] = -total * _lay(room.ranks, child, OPPONENT, move)
    elif frame[PASSED]:
        room.values[d + 1, POINTS] = total if frame[LAST] == ME else -total
        _new_series(child, frame[LAST])
    else:
        child[TURN], child[PASSED] = ME, 1
    return True


@jit
def _play_slot(room: Room, players: Players, d: int, slot: int) -> None:
    """Play an own card in frame d."""
    frame = room.frames[d]
    frame[OWN_LEFT] &= ~(1 << slot)
    room.values[d, POINTS] = room.values[d, TOTAL] * _lay(room.ranks, frame, ME, players.own[slot])


@jit
def _close(room: Room, players: Players, d: int) -> None:
    """Frame d + 1 has its value: take it into account in frame d."""
    frame, values = room.frames[d], room.values[d]
    value = room.values[d + 1, POINTS] + room.values[d + 1, VALUE]
    if frame[TURN] == OPPONENT:
        values[VALUE] += value
        return
    frame[CHOICES] += 1
    if frame[CHOICES] == 1:
        values[BEST_VALUE] = value
    elif players.own_policy == BEST:
        values[BEST_VALUE] = max(values[BEST_VALUE], value)
    else:
        values[BEST_VALUE] += value


@jit
def _search(room: Room, players: Players) -> float:
    """Points from the position in frame 0 on, times the weights of its hands."""
    d = 0
    entering = True
    while True:
        if entering:
            entering = _open(room, players, d)
        else:
            _close(room, players, d)
            entering = True
        if entering and _step(room, players, d):
            d += 1
            continue
        if entering and room.frames[d, TURN] == ME:
            choices = 1 if players.own_policy == BEST else room.frames[d, CHOICES]
            room.values[d, VALUE] += room.values[d, BEST_VALUE] / choices
        if d == 0:
            return room.values[0, VALUE]
        d -= 1
        entering = False


@jit
def _find_moves(room: Room, players: Players, frame: np.ndarray) -> int:
    """Fill `chosen` of the hands of a frame with the bits of the ranks that each may play, or of GO; returns all bits."""
    level, series, length, count = frame[HANDS], room.ranks[frame[BEGIN] :], frame[LENGTH], frame[COUNT]
    sets, left, chosen, likings, all_sets = (
        room.sets[level],
        room.left[level],
        room.chosen[level],
        room.likings,
        players.sets,
    )
    policy = players.policy
    known = 0
    moves = 0
    for i in range(frame[NUM_HANDS]):
        number, slots, most, ranks = sets[i], left[i], -1, 0
        for slot in range(HAND_SIZE):
            rank = all_sets[number, slot]
            if slots >> slot & 1 and count + value_of_rank(rank) <= COUNT_LIMIT:
                if not known >> rank & 1:
                    likings[rank] = rank_value(policy, series, length, count, rank)
                    known |= 1 << rank
                if likings[rank] > most:
                    most = likings[rank]
                    ranks = 0
                if likings[rank] == most:
                    ranks |= 1 << rank
        if ranks == 0:
            ranks = 1 << GO
        chosen[i] = ranks
        moves |= ranks
    return moves


@jit
def _part_hands(room: Room, all_sets: np.ndarray, frame: np.ndarray, to: int, move: int) -> int:
    """Fill level `to` with the hands of a frame that may make a move, less the card; returns their number."""
    level = frame[HANDS]
    sets, left, weights, chosen = room.sets[level], room.left[level], room.weights[level], room.chosen[level]
    new_sets, new_left, new_weights = room.sets[to], room.left[to], room.weights[to]
    hands = 0
    for i in range(frame[NUM_HANDS]):
        if not chosen[i] >> move & 1:
            continue
        number, slots = sets[i], left[i]
        new_sets[hands] = number
        new_weights[hands] = weights[i]
        if move != GO:
            of_rank, choices, last = 0, 0, 0
            for slot in range(HAND_SIZE):
                rank = all_sets[number, slot]
                if slots >> slot & 1 and chosen[i] >> rank & 1:
                    choices += 1
                    if rank == move:
                        of_rank += 1
                        last = slot
            slots &= ~(1 << last)
            if of_rank != choices:
                new_weights[hands] *= of_rank / choices
        new_left[hands] = slots
        hands += 1
    return hands


# --- from a position ------------------------------------------------------------------------------------------------


@jit
def start_value(room: Room, players: Players, weights: np.ndarray, leads: bool) -> float:
    """Mean points of the whole play of own [4], against opponent's hands of weights [1820]; leads: as pone."""
    n = 0
    for number in range(len(weights)):
        if weights[number] > 0:
            room.sets[0, n] = number
            room.left[0, n] = ALL_SLOTS
            room.weights[0, n] = weights[number]
            n += 1
    frame = room.frames[0]
    frame[:] = 0
    frame[TURN] = ME if leads else OPPONENT
    frame[OWN_LEFT], frame[NUM_LEFT], frame[NUM_HANDS] = ALL_SLOTS, HAND_SIZE, n
    room.values[0, TOTAL] = total = _total(room.weights[0], n)
    return _search(room, players) / total


@jit
def card_values(
    room: Room,
    players: Players,
    weights: np.ndarray,
    hand: np.ndarray,
    history: np.ndarray,
    seats: np.ndarray,
    seat: int,
    start: int,
    count: int,
    values: np.ndarray,
) -> None:
    """values [4]: mean own minus opponent's points from the play of each slot of hand [4] (ids, -1 once played) on.

    -inf where a slot may not be played. weights [1820] of the opponent's kept hands, all of which hold the cards that
    it has played. history, seats [8], start and count are those of a play observation; players.own are the ranks of the
    hand, played ones being of no account.
    """
    played = np.full(HAND_SIZE, NO_CARD, dtype=np.int8)
    num_played, length = 0, 0
    for k in range(len(history)):
        if history[k] >= 0:
            if seats[k] != seat:
                played[num_played] = history[k] // NUM_SUITS
                num_played += 1
            if k >= start:
                room.ranks[length] = history[k] // NUM_SUITS
                length += 1
    n = 0
    for number in range(len(weights)):
        if weights[number] > 0:
            room.sets[0, n] = number
            room.left[0, n] = _without(players.sets[number], played, num_played)
            room.weights[0, n] = weights[number]
            n += 1
    room.values[0, TOTAL] = total = _total(room.weights[0], n)
    own_left = 0
    for slot in range(HAND_SIZE):
        own_left |= int(hand[slot] >= 0) << slot
    frame = room.frames[0]
    for slot in range(HAND_SIZE):
        values[slot] = -np.inf
        if own_left >> slot & 1 and count + value_of_rank(players.own[slot]) <= COUNT_LIMIT:
            frame[:] = 0
            frame[TURN], frame[LAST], frame[LENGTH], frame[COUNT] = ME, OPPONENT, length, count
            frame[OWN_LEFT], frame[NUM_LEFT], frame[NUM_HANDS] = own_left, HAND_SIZE - num_played, n
            _play_slot(room, players, 0, slot)
            points = room.values[0, POINTS]
            values[slot] = (points + _search(room, players)) / total


@jit
def _without(ranks: np.ndarray, played: np.ndarray, num_played: int) -> int:
    """Bits of the slots of ranks [4] that are left after the played ranks, all of which it holds."""
    left = ALL_SLOTS
    for k in range(num_played):
        for slot in range(HAND_SIZE - 1, -1, -1):  # as in the tree: the last of equal ones
            if left >> slot & 1 and ranks[slot] == played[k]:
                left &= ~(1 << slot)
                break
    return left
