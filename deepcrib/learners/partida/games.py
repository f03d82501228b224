"""Plays between random hands of four cards, the network of Partida 2022 against greedy or itself, in one kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.base import DivergenceError
from deepcrib.exact.pegging import DEALER, PONE, deal_kept
from deepcrib.exact.strategies.discards import best_or_any
from deepcrib.game.policies import GREEDY, pick, play_choices
from deepcrib.game.randomness import hash_key, uniform
from deepcrib.game.rules import HAND_SIZE, is_legal_play, play_step
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows
from deepcrib.learners.partida.agent import Form, Layers, card_values
from deepcrib.learners.partida.inputs import PLAYS, STATE, fill_state

_EXPLORE = 1  # counter of a key's word; `pick` takes word 0
_UNSEEN = -1  # role of a card that is not learned from


@dataclass(frozen=True)
class Plays:
    """E positions after a card, in the order of hands and cards, and what came of them; N hands.

    states: int8 [E, STATE] as the player sees them. whole: float32 [E], the player's points of the whole play less the
    opponent's. rest: float32 [E], those of them that neither came before the card nor are the fifteen, thirty-one,
    pairs or run that it made. differences: int64 [N], the learner's points of each hand less those of its opponent.
    """

    states: NDArray[np.int8]
    whole: NDArray[np.float32]
    rest: NDArray[np.float32]
    differences: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.states)


def play_hands(
    layers: Layers, form: Form, first: int, number: int, seed: int, *, epsilon: float = 0.0, self_play: bool = False
) -> Plays:
    """Play hands first, first + 1, .. of a seed (`deal_kept`); the learner is pone of even ones, dealer of odd ones.

    It takes the card of the highest value, ties uniform, or with chance epsilon any. Against greedy, its own positions
    are learned from; in `self_play` those of both players. Raises DivergenceError where the network, whose weights may
    be finite, gives a value that is not.
    """
    states = np.zeros((number, PLAYS, STATE), dtype=np.int8)
    roles = np.full((number, PLAYS), _UNSEEN, dtype=np.int8)
    gained = np.zeros((number, PLAYS, 3), dtype=np.int64)
    totals = np.zeros((number, 2), dtype=np.int64)
    finite = np.ones(number, dtype=np.bool_)
    run_rows(
        _play_hands,
        len(states),
        layers,
        form,
        first,
        seed,
        epsilon,
        self_play,
        states,
        roles,
        gained,
        totals,
        finite,
        piece=16,
    )
    if not finite.all():
        raise DivergenceError("learning diverged: the values of cards are not finite; lower the learning rate")
    hand, card = np.nonzero(roles != _UNSEEN)
    role = roles[hand, card]
    whole = totals[hand, role] - totals[hand, 1 - role]
    before = gained[hand, card, role] - gained[hand, card, 1 - role]
    learner = (first + np.arange(number)) % 2
    each = np.arange(number)
    return Plays(
        states[hand, card],
        whole.astype(np.float32),
        (whole - before - gained[hand, card, 2]).astype(np.float32),
        totals[each, learner] - totals[each, 1 - learner],
    )


@jit
def _choose(
    hands: np.ndarray,
    seat: int,
    history: np.ndarray,
    played: int,
    start: int,
    count: int,
    layers: Layers,
    form: Form,
    epsilon: float,
    key: int,
) -> tuple[int, bool]:
    """(the slot that the learner plays, whether what it was chosen by is finite)."""
    if epsilon > 0 and uniform(key, _EXPLORE) < epsilon:
        mask = 0
        for slot in range(HAND_SIZE):
            if is_legal_play(count, hands[seat, slot]):
                mask |= 1 << slot
        return pick(mask, key), True
    values = np.empty(HAND_SIZE)
    card_values(hands[seat], hands[1 - seat], history, played, start, count, layers, form, values)
    finite = True
    for slot in range(HAND_SIZE):
        if is_legal_play(count, hands[seat, slot]) and not np.isfinite(values[slot]):
            finite = False
    return pick(best_or_any(values), key), finite


@jit
def _play_hands(
    part: Part,
    layers: Layers,
    form: Form,
    first: int,
    seed: int,
    epsilon: float,
    self_play: bool,
    states: np.ndarray,
    roles: np.ndarray,
    gained: np.ndarray,
    totals: np.ndarray,
    finite: np.ndarray,
) -> None:
    """states [N, 8, STATE], roles [N, 8] by card; gained [N, 8, 3], both players' points before it and its own.

    finite [N]: whether all values that cards were chosen by are.
    """
    for r in range(*part):
        hand = first + r
        left = np.empty((2, HAND_SIZE), dtype=np.int8)
        left[PONE], left[DEALER] = deal_kept(seed, hand)
        goes, history = np.zeros(2, dtype=np.int8), np.zeros(PLAYS, dtype=np.int8)
        seat, series, start, count = PONE, 0, 0, 0
        for played in range(PLAYS):
            learns = self_play or seat == hand % 2
            key = hash_key(seed, hand, 0, seat, played)
            if learns:
                slot, known = _choose(left, seat, history, played, start, count, layers, form, epsilon, key)
                finite[r] = finite[r] and known
                fill_state(left[seat], slot, left[1 - seat], history, played, start, states[r, played])
                roles[r, played] = seat
            else:
                slot = pick(play_choices(GREEDY, left[seat], series, count), key)
            gained[r, played, :2] = totals[r]
            history[played] = left[seat, slot] >> 2
            points, last, following, series, count = play_step(left, goes, series, count, seat, slot)
            start = played + 1 if series == 0 else start
            gained[r, played, 2] = points
            totals[r, seat] += points + last
            seat = following
