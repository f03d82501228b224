"""What both players have seen of a match so far: its finished hands, in the order in which they were played.

In cribbage a hand that is played out shows all cards but those that nobody was dealt: each player's four in the play,
and with the crib what it threw. Where somebody wins before the crib is counted, what had not been shown stays hidden.
So every discard and every play of a match is a labelled example of how the opponent chooses (`past_decisions`).
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.game.cards import NO_CARD
from deepcrib.game.rules import HAND_SIZE, num_dealt
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows

Rows = NDArray[np.int64]
_EVERY = slice(None)
_FIRST_ROOM = 16  # hands of a match


def past_dtype(num_players: int) -> np.dtype:
    """Fields of a finished hand of P players; cards that were not shown, and seats that did not play, are -1.

    game, hand_number: in the match and in the game, from 0. scores: [P] before the hand. kept: [P, 4] in the order
    played. discards: [P, 2], or [P, 1]. history, history_seats: [4P], the cards in the order played, and by whom.
    """
    plays, thrown = HAND_SIZE * num_players, num_dealt(num_players) - HAND_SIZE
    fields: list[tuple] = [
        *(("game", np.int32), ("hand_number", np.int32), ("dealer", np.int8), ("starter", np.int8)),
        *(("scores", np.int8, (num_players,)), ("kept", np.int8, (num_players, HAND_SIZE))),
        *(("discards", np.int8, (num_players, thrown)), ("history", np.int8, (plays,))),
        ("history_seats", np.int8, (plays,)),
    ]
    return np.dtype(fields, align=True)


class PastHands:
    """The finished hands of matches, noted as they end, for `Games` that play M of them side by side.

    records: [M + spare, H] of `past_dtype`, of which the first lengths[m] of a row are there. rows: [M], where the
    match is that each of the `Games` is of. Hands are only ever added, and a row is never used for another match, so
    what follows from one holds as long as this object. spare: rows for matches that begin later (`next_match`).
    """

    def __init__(self, matches: int, num_players: int = 2, spare: int = 0) -> None:
        self.records = np.zeros((matches + spare, _FIRST_ROOM), dtype=past_dtype(num_players))
        self.lengths = np.zeros(matches + spare, dtype=np.int64)
        self.rows = np.arange(matches)
        self._game = np.zeros(matches, dtype=np.int64)  # number in the match of those that are played
        self._noted = np.zeros(matches, dtype=np.int64)  # hands of these
        self._used = matches

    def next_game(self, games: Rows | slice = _EVERY) -> None:
        """The hands that are noted from now on of `games` are of the next game of their match."""
        self._game[games] += 1
        self._noted[games] = 0

    def next_match(self, games: Rows) -> PastHands:
        """Where the hands of the matches are noted that `games` now begin: here or, when all rows are used, in another.

        That one has the hands of the matches that go on, and no others.
        """
        past, matches = self, len(self.rows)
        if self._used + len(games) <= len(self.lengths):
            self.rows[games] = np.arange(self._used, self._used + len(games))
            self._used += len(games)
        else:
            past = deepcopy(self)
            past.records[:matches], past.lengths[:matches] = self.records[self.rows], self.lengths[self.rows]
            past.lengths[matches:] = past.lengths[games] = 0
            past.rows, past._used = np.arange(matches), matches
        past._game[games] = past._noted[games] = 0
        return past

    def note(self, games: np.ndarray, rows: Rows, stop: bool) -> None:
        """Add the hands of games `rows` that have ended and have not been noted. stop: as `Games.stop_at_121`."""
        if self.lengths[self.rows[rows]].max(initial=0) == self.records.shape[1]:
            self.records = np.concatenate([self.records, np.zeros_like(self.records)], axis=1)
        store = self.rows, self._game, self._noted, self.records, self.lengths
        run_rows(_note_rows, len(rows), games, rows, stop, *store)

    def seen(self, rows: Rows) -> Past:
        """What is known before the next decision of games `rows`."""
        places = self.rows[rows]
        return Past(self, places, self.lengths[places])


@dataclass(frozen=True, eq=False)
class Past:
    """`observation.past`: of each of N decisions the finished hands of its match, by row of `hands`.

    Decision i has the first lengths[i] of hands.records[rows[i]]; those of no match have none. Rows can be taken of it
    as of an array.
    """

    hands: PastHands
    rows: Rows
    lengths: Rows

    def __getitem__(self, rows: Any) -> Past:
        return Past(self.hands, self.rows[rows], self.lengths[rows])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Past) and len(self.rows) == len(other.rows) and self._content() == other._content()

    __hash__ = None  # type: ignore[assignment]

    def of(self, decision: int) -> NDArray[Any]:
        """[H] records of `past_dtype`: the hands before one decision."""
        return self.hands.records[self.rows[decision], : self.lengths[decision]]

    def _content(self) -> list[bytes]:
        return [self.of(decision).tobytes() for decision in range(len(self.rows))]

    @staticmethod
    def nothing(decisions: int) -> Past:
        """Of decisions of no match."""
        zeros = np.broadcast_to(np.int64(0), decisions)
        return Past(_NO_HANDS, zeros, zeros)

    @staticmethod
    def concatenate(parts: Sequence[Past]) -> Past:
        """The decisions of all parts; of several tables, their hands are copied to one."""
        rows, lengths = (np.concatenate([getattr(part, name) for part in parts]) for name in ("rows", "lengths"))
        if all(part.hands is parts[0].hands for part in parts):
            return Past(parts[0].hands, rows, lengths)
        joined = PastHands(len(rows))
        joined.records = np.zeros((len(rows), lengths.max()), dtype=parts[0].hands.records.dtype)
        joined.lengths = lengths
        for number, hands in enumerate(part.of(i) for part in parts for i in range(len(part.rows))):
            joined.records[number, : len(hands)] = hands
        return Past(joined, np.arange(len(rows)), lengths)


_NO_HANDS = PastHands(1)


@jit
def _note_rows(
    part: Part,
    games: np.ndarray,
    rows: np.ndarray,
    stop: bool,
    places: np.ndarray,
    numbers: np.ndarray,
    noted: np.ndarray,
    records: np.ndarray,
    lengths: np.ndarray,
) -> None:
    for r in range(*part):
        row = rows[r]
        g = games[row]
        if (g.shown or g.finished) and g.hand_number >= noted[row]:
            place = places[row]
            _note(g, stop, records[place, lengths[place]])
            records[place, lengths[place]].game = numbers[row]
            lengths[place] += 1
            noted[row] = g.hand_number + 1


@jit
def _note(g: Any, stop: bool, hand: Any) -> None:
    """Copy what was shown of a finished hand; a crib that came too late to be counted was not."""
    counted = g.shown and (not stop or not g.finished or g.crib_points > 0)
    hand.hand_number, hand.dealer, hand.starter = g.hand_number, g.dealer, g.starter
    for seat in range(hand.kept.shape[0]):
        before = g.points[seat].sum() - g.hand_points[seat]
        if seat == g.dealer:
            before -= g.heels + g.crib_points
        n = 0
        for k in range(len(g.history)):
            if g.history_seats[k] == seat:
                hand.kept[seat, n] = g.history[k]
                before -= g.play_points[k]
                n += 1
        hand.kept[seat, n:] = NO_CARD
        hand.scores[seat] = before
        for i in range(hand.discards.shape[1]):
            hand.discards[seat, i] = g.discards[seat, i] if counted else NO_CARD
    for k in range(len(g.history)):
        hand.history[k], hand.history_seats[k] = g.history[k], g.history_seats[k]
