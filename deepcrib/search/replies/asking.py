"""Asking a player for its choices within a search of `tree`, many at a time.

The tree is walked again and again. A walk notes what must be asked at the first decisions whose answers are not known,
and passes by what follows them; once they are answered, the next walk takes the answers in the order in which they were
asked, and comes a decision further. The opponent's hands are rank multisets, as everywhere; one hand of cards stands
for each, with two cards that it may have thrown. For a player whose cards do not depend on suits or on its own discards
the values are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deepcrib.exact.beliefs.plays import SETS_4, seen_cards_of, slot_of
from deepcrib.game.cards import NO_CARD, NUM_SUITS, card_set, rank_of
from deepcrib.game.engine.state import draw_card
from deepcrib.game.observations import PlayColumns, PlayObservation
from deepcrib.game.rank_sets import NUM_RANK_SETS_4
from deepcrib.game.rules import HAND_SIZE, play_step
from deepcrib.kernels import jit
from deepcrib.search.replies import workspace as at

PlayProbabilities = Callable[[PlayObservation], NDArray[np.float64]]
NEVER = 1e-12  # chances below it are rounding
_ASKED = 65_536  # positions that a player is asked about at once
_DECISIONS = 2 * HAND_SIZE


class Asking(NamedTuple):
    """What has been asked in the searches of N rows, and what is still to be.

    answers: float64 [A, 4], the chances by slot. state: int64 [11], by QUESTIONS (noted), ROW (in work), KNOWN (so many
    decisions on each way are answered) and NEXT_ANSWER (of the first decision, the second, ..). kept: int8
    [N, 1820, 4], the cards of each hand. hands: int16 [Q, 2], row and rank multiset of each question; seen: int8
    [Q, 24], by the columns MINE (whether it is the searching player's decision), START, COUNT, PASSED, HAND (4 cards),
    HISTORY (8 cards) and SEATS (8).
    """

    answers: np.ndarray
    state: np.ndarray
    kept: np.ndarray
    hands: np.ndarray
    seen: np.ndarray


QUESTIONS, ROW, KNOWN, NEXT_ANSWER = range(4)
_MINE, _START, _COUNT, _PASSED, _HAND, _HISTORY, _SEATS, _SEEN = 0, 1, 2, 3, 4, 8, 16, 24


def new_asking(kept: NDArray[np.int8], blocks: list[NDArray[np.float64]], questions: int) -> Asking:
    """blocks: the answers by decision. questions: room for so many."""
    state = np.zeros(NEXT_ANSWER + _DECISIONS, dtype=np.int64)
    state[KNOWN] = len(blocks)
    state[NEXT_ANSWER : NEXT_ANSWER + len(blocks) + 1] = np.cumsum([0, *map(len, blocks)])
    answers = np.concatenate([np.empty((0, HAND_SIZE)), *blocks])
    hands, seen = np.empty((questions, 2), dtype=np.int16), np.empty((questions, _SEEN), dtype=np.int8)
    return Asking(answers, state, kept, hands, seen)


NOBODY = new_asking(np.empty((0, NUM_RANK_SETS_4, HAND_SIZE), dtype=np.int8), [], 0)
"""For searches in which nobody is asked."""


@jit(borrowed=True)
def take_answer(asking: Asking, decision: int) -> int:
    """Number of the next answer of a decision."""
    answer = asking.state[NEXT_ANSWER + decision]
    asking.state[NEXT_ANSWER + decision] += 1
    return int(answer)


@jit(borrowed=True)
def note(asking: Asking, frame: np.ndarray, way: np.ndarray, own: np.ndarray, number: int, left: int) -> None:
    """Note the question what the player whose turn it is does in a position, the opponent holding the slots `left`.

    way: `Workspace.history`. own: the searching player's cards [4]. number: the opponent's rank multiset.
    """
    q, row = asking.state[QUESTIONS], asking.state[ROW]
    asking.state[QUESTIONS] += 1
    if q >= len(asking.hands):
        return
    mine, kept, seen = frame[at.TURN] == at.ME, asking.kept[row, number], asking.seen[q]
    asking.hands[q, 0], asking.hands[q, 1] = row, number
    seen[_MINE], seen[_START], seen[_COUNT], seen[_PASSED] = mine, frame[at.START], frame[at.COUNT], frame[at.PASSED]
    for slot in range(HAND_SIZE):
        card = own[slot] if mine else kept[slot]
        seen[_HAND + slot] = card if (frame[at.OWN_LEFT] if mine else left) >> slot & 1 else NO_CARD
    shown = left  # bits of the opponent's cards that are left or stand in the history already
    for n in range(at.PLAYS):
        seen[_HISTORY + n], seen[_SEATS + n] = NO_CARD, -1
        if n >= frame[at.PLAYED]:
            continue
        seen[_HISTORY + n], seen[_SEATS + n] = way[n], at.ME
        if way[n] <= at.THEIRS:
            slot = 0  # of several the first
            while shown >> slot & 1 or rank_of(kept[slot]) != at.THEIRS - way[n]:
                slot += 1
            shown |= 1 << slot
            seen[_HISTORY + n], seen[_SEATS + n] = kept[slot], at.OPPONENT


@jit
def left_after(ranks: np.ndarray, way: np.ndarray, plays: int) -> int:
    """Bits of the slots that the opponent has left of ranks [4] after so many plays of a history."""
    left = at.ALL_SLOTS
    for k in range(plays):
        if way[k] <= at.THEIRS:
            for slot in range(HAND_SIZE - 1, -1, -1):  # as in the tree: the last of equal ones
                if left >> slot & 1 and ranks[slot] == at.THEIRS - way[k]:
                    left &= ~(1 << slot)
                    break
    return left


@jit
def fill_way(o: PlayColumns, r: int, way: np.ndarray) -> int:
    """way [8]: the history of a row as a search has it; returns the number of cards played."""
    played = 0
    while played < at.PLAYS and o.history[r, played] >= 0:
        mine = o.history_seats[r, played] == o.seat[r]
        way[played] = o.history[r, played] if mine else at.THEIRS - rank_of(o.history[r, played])
        played += 1
    return played


# --- questions and answers ----------------------------------------------------------------------------------------


def ask_through(
    walk: Callable[[Asking], None],
    observation: PlayObservation,
    possible: NDArray[np.bool_],
    opponent: PlayProbabilities,
    own: PlayProbabilities,
) -> None:
    """Walk until nothing is left to be asked. possible: [N, 1820], the hands that may be asked about."""
    kept, thrown = np.zeros((2, *possible.shape, HAND_SIZE), dtype=np.int8)
    _fill_hands(possible, seen_cards_of(observation), kept, thrown)
    blocks: list[NDArray[np.float64]] = []
    size = _ASKED
    while True:
        asking = new_asking(kept, blocks, size)
        walk(asking)
        questions = int(asking.state[QUESTIONS])
        if questions == 0:
            return
        if questions > size:
            size = questions
            continue
        blocks.append(np.empty((questions, HAND_SIZE)))
        for player, mine in ((opponent, False), (own, True)):
            rows = np.flatnonzero(asking.seen[:questions, _MINE] == mine)
            for part in np.split(rows, range(_ASKED, len(rows), _ASKED)) if len(rows) else ():
                blocks[-1][part] = player(_observation(asking, observation, thrown, part, mine))


def _observation(
    asking: Asking, o: PlayObservation, thrown: NDArray[np.int8], part: NDArray[np.intp], mine: bool
) -> PlayObservation:
    """What is seen by the player who is asked."""
    row, seen = asking.hands[part, 0], asking.seen[part]
    seat = o.seat[row] if mine else 1 - o.seat[row]
    goes = np.zeros((len(part), 2), dtype=np.int8)
    goes[np.arange(len(part)), 1 - seat] = seen[:, _PASSED]
    seats = seen[:, _SEATS:]
    return PlayObservation(
        hand=np.ascontiguousarray(seen[:, _HAND:_HISTORY]),
        seat=seat,
        dealer=o.dealer[row],
        scores=o.scores[row],
        key=np.zeros(len(part), dtype=np.uint64),
        discards=o.discards[row] if mine else thrown[row, asking.hands[part, 1], :2],
        starter=o.starter[row],
        history=np.ascontiguousarray(seen[:, _HISTORY:_SEATS]),
        history_seats=np.where(seats < 0, seats, seats ^ o.seat[row, None]),  # ME is 0, the opponent 1
        series_start=seen[:, _START].copy(),
        goes=goes,
        count=seen[:, _COUNT].copy(),
    )


@jit
def _fill_hands(possible: np.ndarray, seen: np.ndarray, kept: np.ndarray, thrown: np.ndarray) -> None:
    """A hand of unseen cards for each possible rank multiset, and two other cards that it may have thrown."""
    for r in range(len(possible)):
        for number in range(NUM_RANK_SETS_4):
            if not possible[r, number]:
                continue
            taken, counter = card_set(seen[r]), 0
            for slot in range(HAND_SIZE):
                card = NUM_SUITS * int(SETS_4[number, slot])
                while taken >> card & 1:
                    card += 1
                kept[r, number, slot] = card
                taken |= 1 << card
            for i in range(2):
                thrown[r, number, i], counter = draw_card(number, taken, counter)
                taken |= 1 << thrown[r, number, i]


# --- earlier plays ------------------------------------------------------------------------------------------------


def weigh_earlier_plays(
    observation: PlayObservation, weights: NDArray[np.float64], opponent: PlayProbabilities
) -> None:
    """Multiply weights [N, 1820] by the chance of each card that the opponent has played.

    Where no hand is left of a row but by rounding, its weights stay as they were: the opponent is not who it is taken
    for.
    """
    o, chances = observation, np.ones(weights.shape)
    ask_through(lambda asking: _weigh(o.columns, o.kept, weights, asking, chances), o, weights > 0, opponent, opponent)
    weighed = weights * chances
    sums, before = (values.sum(axis=1, keepdims=True) for values in (weighed, weights))
    np.copyto(weights, weighed, where=sums > NEVER * before)


@jit
def _weigh(o: PlayColumns, own: np.ndarray, weights: np.ndarray, asking: Asking, chances: np.ndarray) -> None:
    """Note what the opponent of each row would have played in its earlier turns, or fill chances [N, 1820] by it."""
    frame, way = np.zeros(at.COLUMNS, dtype=np.int64), np.empty(at.PLAYS, dtype=np.int64)
    chances[:] = 1.0
    for r in range(len(weights)):
        asking.state[ROW] = r
        played = fill_way(o, r, way)
        for k in range(played):
            if way[k] > at.THEIRS:
                continue
            _set_earlier(o, r, k, own[r], asking.kept[r, np.argmax(weights[r] > 0)], frame)
            for number in range(NUM_RANK_SETS_4):
                left = left_after(SETS_4[number], way, k) if weights[r, number] > 0 else 0
                chance = 0.0
                of_rank = 0
                for slot in range(HAND_SIZE):
                    of_rank |= int(left >> slot & 1 and SETS_4[number, slot] == at.THEIRS - way[k]) << slot
                if of_rank and asking.state[KNOWN] == 0:
                    note(asking, frame, way, own[r], number, left)
                elif of_rank:
                    answer = asking.answers[take_answer(asking, 0)]
                    for slot in range(HAND_SIZE):
                        chance += answer[slot] if of_rank >> slot & 1 else 0.0
                chances[r, number] *= chance


@jit
def _set_earlier(o: PlayColumns, r: int, k: int, own: np.ndarray, kept: np.ndarray, frame: np.ndarray) -> None:
    """The opponent's decision before play k: count, series and goes are the same whatever it has kept [4]."""
    seat = int(o.seat[r])
    left = np.empty((2, HAND_SIZE), dtype=np.int8)
    left[seat], left[1 - seat] = own, kept
    goes = np.zeros(2, dtype=np.int8)
    turn, series, count, start = int(o.history_seats[r, 0]), 0, 0, 0
    for n in range(k):
        slot = slot_of(left[turn], rank_of(o.history[r, n]))
        _, _, turn, series, count = play_step(left, goes, series, count, turn, slot)
        start = n + 1 if series == 0 else start
    frame[at.TURN], frame[at.COUNT], frame[at.START], frame[at.PLAYED] = at.OPPONENT, count, start, k
    frame[at.PASSED] = goes[seat]
