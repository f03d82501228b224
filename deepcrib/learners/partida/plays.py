"""Random four-card hands that the small network of Partida 2022 plays against greedy, compiled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.base import require_finite
from deepcrib.exact.pegging import DEALER, PONE, deal_kept
from deepcrib.exact.strategies.discards import best_or_any
from deepcrib.game.cards import rank_of
from deepcrib.game.policies import GREEDY, pick, play_choices
from deepcrib.game.randomness import hash_key, uniform
from deepcrib.game.rules import HAND_SIZE, is_legal_play, play_step
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows
from deepcrib.learners.partida.agent import Form, Layers, fill_card_values
from deepcrib.learners.partida.inputs import PLAYS, STATE, Turn, fill_state

_EXPLORE = 1  # counter of a key's word; `pick` takes word 0


@dataclass(frozen=True)
class KeptPlays:
    """E positions after a card, in the order of hands and cards, and what came of them; N hands.

    states: int8 [E, STATE] as the learner sees them. whole: float32 [E], its points of the whole play less the
    opponent's. rest: float32 [E], those of them that neither came before the card nor are the fifteen, thirty-one,
    pairs or run that it made. differences: int64 [N], its points of each hand less those of the opponent.
    """

    states: NDArray[np.int8]
    whole: NDArray[np.float32]
    rest: NDArray[np.float32]
    differences: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.states)


class _Player(NamedTuple):
    layers: Layers
    form: Form
    seed: int
    epsilon: float


class _Record(NamedTuple):
    """Of N hands.

    states: [N, 4] positions after the learner's cards. gained: [N, 4, 3], its and its opponent's points before the
    card, and its own. totals: [N, 2], the learner's and its opponent's. sums: [N], of all values that cards were chosen
    by: no number if one of them is none.
    """

    states: np.ndarray
    gained: np.ndarray
    totals: np.ndarray
    sums: np.ndarray


def play_kept_hands(
    layers: Layers, form: Form, first: int, number: int, seed: int, *, epsilon: float = 0.0
) -> KeptPlays:
    """Play hands first, first + 1, .. of a seed (`deal_kept`); the learner is pone of even ones, dealer of odd ones.

    It takes the card of the highest value, ties uniform, or with chance epsilon any; its opponent is greedy. Raises
    DivergenceError where the network, whose weights may be finite, gives a value that is not.
    """
    record = _Record(
        states=np.zeros((number, HAND_SIZE, STATE), dtype=np.int8),
        gained=np.zeros((number, HAND_SIZE, 3), dtype=np.int64),
        totals=np.zeros((number, 2), dtype=np.int64),
        sums=np.zeros(number),
    )
    run_rows(_play_rows, number, first, _Player(layers, form, seed, epsilon), record, piece=16)
    require_finite(record.sums)
    differences = record.totals[:, 0] - record.totals[:, 1]
    whole = np.repeat(differences, HAND_SIZE)
    own, other, card = record.gained.reshape(-1, 3).T
    return KeptPlays(
        record.states.reshape(-1, STATE),
        whole.astype(np.float32),
        (whole - (own - other) - card).astype(np.float32),
        differences,
    )


@jit
def _choose(turn: Turn, player: _Player, key: int) -> tuple[int, float]:
    """(the slot that the learner plays, the sum of the values that it was chosen by)."""
    if player.epsilon > 0 and uniform(key, _EXPLORE) < player.epsilon:
        mask = 0
        for slot in range(HAND_SIZE):
            if is_legal_play(turn.series_count, turn.own[slot]):
                mask |= 1 << slot
        return pick(mask, key), 0.0
    values = np.empty(HAND_SIZE)
    fill_card_values(turn, player.layers, player.form, values)
    total = 0.0
    for slot in range(HAND_SIZE):
        if is_legal_play(turn.series_count, turn.own[slot]):
            total += values[slot]
    return pick(best_or_any(values), key), total


@jit
def _play_rows(part: Part, first: int, player: _Player, record: _Record) -> None:
    for r in range(*part):
        hand = first + r
        left = np.empty((2, HAND_SIZE), dtype=np.int8)
        left[PONE], left[DEALER] = deal_kept(player.seed, hand)
        goes, history = np.zeros(2, dtype=np.int8), np.zeros(PLAYS, dtype=np.int8)
        seat, series, start, count, own = PONE, 0, 0, 0, 0
        for played in range(PLAYS):
            key = hash_key(player.seed, hand, 0, seat, played)
            learns = seat == hand % 2
            if learns:
                turn = Turn(left[seat], left[1 - seat], history, played, start, count)
                slot, total = _choose(turn, player, key)
                record.sums[r] += total
                fill_state(turn, slot, record.states[r, own])
                record.gained[r, own, :2] = record.totals[r]
            else:
                slot = pick(play_choices(GREEDY, left[seat], series, count), key)
            history[played] = rank_of(left[seat, slot])
            points, last, following, series, count = play_step(left, goes, series, count, seat, slot)
            start = played + 1 if series == 0 else start
            record.totals[r, 0 if learns else 1] += points + last
            if learns:
                record.gained[r, own, 2] = points
                own += 1
            seat = following
