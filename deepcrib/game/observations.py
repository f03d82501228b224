"""What one player may lawfully see when it must choose, and nothing else.

Plain NumPy arrays, one row a decision, int8 padded with -1. `key` is a hash of (seed, game, hand, seat, decision):
the only randomness that an agent has, so that a match does not depend on how decisions are batched. A play
observation has all cards of the hand in the order of play, on which it depends what the opponent may hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from deepcrib.game.cards import RANKS, VALUES
from deepcrib.game.past import Past
from deepcrib.game.rules import COUNT_LIMIT, HAND_SIZE

Int8 = NDArray[np.int8]
_O = TypeVar("_O", bound="_Observation")


_UNNUMBERED = np.empty(0, dtype=np.int64)
_NO_PAST = Past.nothing(0)


@dataclass(frozen=True)
class _Observation:
    """game, hand_number: int64 [N], the game's number in its match and the hand's in the game, both from 0.

    -1 for a decision of no game, as searches and analyses ask about. past: the finished hands of the match, as far as
    both players have seen them; noted where an agent at the table says `uses_past = True`, else none.
    """

    hand: Int8
    seat: Int8
    dealer: Int8
    scores: Int8
    key: NDArray[np.uint64]
    game: NDArray[np.int64] = field(default_factory=lambda: _UNNUMBERED, kw_only=True)
    hand_number: NDArray[np.int64] = field(default_factory=lambda: _UNNUMBERED, kw_only=True)
    past: Past = field(default_factory=lambda: _NO_PAST, kw_only=True)

    def __post_init__(self) -> None:
        for name in ("game", "hand_number"):
            if getattr(self, name) is _UNNUMBERED:
                object.__setattr__(self, name, np.broadcast_to(np.int64(-1), len(self.hand)))
        if self.past is _NO_PAST:
            object.__setattr__(self, "past", Past.nothing(len(self.hand)))

    def __len__(self) -> int:
        return len(self.hand)

    @property
    def num_players(self) -> int:
        return self.scores.shape[1]

    @property
    def is_dealer(self) -> NDArray[np.bool_]:
        """bool [N]: whether the observing player deals this hand (and owns the crib)."""
        return self.seat == self.dealer

    def take(self: _O, rows: NDArray[np.int64] | NDArray[np.bool_] | slice) -> _O:
        """The observation of some rows."""
        return type(self)(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})

    @classmethod
    def concatenate(cls: type[_O], parts: Sequence[_O]) -> _O:
        """The rows of all parts, of which there are one or more, in order."""
        columns = {f.name: [getattr(part, f.name) for part in parts] for f in fields(cls)}
        past = Past.concatenate(columns.pop("past"))
        return cls(**{name: np.concatenate(column) for name, column in columns.items()}, past=past)


@dataclass(frozen=True)
class DiscardObservation(_Observation):
    """Before the discard: hand [N, 6] (two players) or [N, 5], sorted; seat, dealer [N]; scores [N, P], 0..121."""


class PlayColumns(NamedTuple):
    """What compiled code reads of play observations, a row a decision: see `PlayObservation`."""

    hand: np.ndarray
    seat: np.ndarray
    dealer: np.ndarray
    scores: np.ndarray
    key: np.ndarray
    discards: np.ndarray
    starter: np.ndarray
    history: np.ndarray
    history_seats: np.ndarray
    series_start: np.ndarray
    goes: np.ndarray
    counts: np.ndarray


@dataclass(frozen=True)
class PlayObservation(_Observation):
    """One's turn in the play.

    hand: [N, 4], the kept cards in the slots of the sorted hand, -1 once played.
    discards: [N, 2] or [N, 1], own cards thrown to the crib. starter: [N].
    history, history_seats: [N, 4P], the cards of the whole hand in the order played, and who played them.
    series_start: [N], the index in history where the current series begins.
    count: [N], the current count 0..31. goes: [N, P], 1 for who has said go in this series.
    """

    discards: Int8
    starter: Int8
    history: Int8
    history_seats: Int8
    series_start: Int8
    goes: Int8
    count: Int8

    @property
    def columns(self) -> PlayColumns:
        """The arrays that compiled code reads."""
        known = (self.hand, self.seat, self.dealer, self.scores, self.key, self.discards, self.starter)
        return PlayColumns(*known, self.history, self.history_seats, self.series_start, self.goes, self.count)

    @property
    def kept(self) -> Int8:
        """[N, 4] the four cards that the player kept, sorted: those left and those it has played."""
        mine = np.where(self.history_seats == self.seat[:, None], self.history, np.int8(-1))
        cards = np.sort(np.concatenate([self.hand, mine], axis=1), axis=1)
        return np.ascontiguousarray(cards[:, -HAND_SIZE:])

    @property
    def legal(self) -> NDArray[np.bool_]:
        """bool [N, 4]: the slots that may be played."""
        values = np.where(self.hand >= 0, VALUES[RANKS[self.hand]], COUNT_LIMIT + 1)
        return values + self.count[:, None] <= COUNT_LIMIT


def dealt(hands: Int8, is_dealer: NDArray[np.bool_]) -> DiscardObservation:
    """The discard at 0-0, as players at seat 0 see it: hands [N, 6]. Keys are 0."""
    return DiscardObservation(hands, *_at_the_start(is_dealer))


def _at_the_start(is_dealer: NDArray[np.bool_]) -> tuple[Int8, Int8, Int8, NDArray[np.uint64]]:
    """seat, dealer, scores and key."""
    n = len(is_dealer)
    first = np.zeros(n, dtype=np.int8), (~is_dealer).astype(np.int8), np.zeros((n, 2), dtype=np.int8)
    return *first, np.zeros(n, dtype=np.uint64)


def opening(kept: Int8, thrown: Int8, starters: Int8, is_dealer: NDArray[np.bool_]) -> PlayObservation:
    """The play before its first card, as players at seat 0 see it, at 0-0: kept [N, 4], thrown [N, 2]."""
    n = len(kept)
    none, zeros = np.full((n, 2 * HAND_SIZE), -1, dtype=np.int8), np.zeros(n, dtype=np.int8)
    return PlayObservation(
        np.ascontiguousarray(kept),
        *_at_the_start(is_dealer),
        discards=np.ascontiguousarray(thrown),
        starter=np.ascontiguousarray(starters),
        history=none,
        history_seats=none,
        series_start=zeros,
        goes=np.zeros((n, 2), dtype=np.int8),
        count=zeros,
    )
