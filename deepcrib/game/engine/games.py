"""`Games`: N games side by side, driven phase by phase by whoever makes the choices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deepcrib.game.cards import NUM_CARDS, format_card
from deepcrib.game.engine import batch
from deepcrib.game.engine.state import new_games
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.past import PastHands
from deepcrib.game.rules import MAX_PLAYERS, discard_slots, is_legal_play
from deepcrib.kernels.workers import run_rows

DEALING = ("acc", "random_dealer")

Rows = NDArray[np.int64]
_O = TypeVar("_O", DiscardObservation, PlayObservation)


class IllegalActionError(ValueError):
    """An action that the rules do not allow; the engine refuses it and never repairs it."""


class Games:
    """N games in lockstep.

    For every hand: `deal`, `discard` for each seat, `start_play`, `play` while `to_play` has rows, `show`. Methods
    act on `rows`, distinct indices of games. Finished games are left out of `unfinished` and `to_play`. An illegal
    action changes nothing in its own game; the legal ones of the same call have been carried out.

    Args:
        game_ids: [N] ids; with the seed they decide every card (a pure function of seed, game and hand).
        num_players: 2, 3 or 4.
        dealing: `acc` (the deal alternates, the low cut deals first) or `random_dealer` (each hand anew).
        first_dealer: [N] seats that deal the first hand, instead of a cut.
        stop_at_121: end a game at the peg that reaches 121; else play every hand out and end after the show.
        past: where finished hands are noted (`note_hands`), and what observations have of them; None: nowhere.
    """

    def __init__(
        self,
        game_ids: ArrayLike,
        seed: int,
        *,
        num_players: int = 2,
        dealing: str = "acc",
        first_dealer: ArrayLike | None = None,
        stop_at_121: bool = True,
        past: PastHands | None = None,
    ) -> None:
        if not 2 <= num_players <= MAX_PLAYERS:
            raise ValueError(f"num_players is {num_players}, expected 2, 3 or 4")
        if dealing not in DEALING:
            raise ValueError(f"dealing is {dealing!r}, expected one of {', '.join(DEALING)}")
        self.seed = int(seed)
        self.num_players = num_players
        self.random_dealer = dealing == "random_dealer"
        self.stop_at_121 = stop_at_121
        self.past = past
        self._games = new_games(np.asarray(game_ids, dtype=np.int64), num_players)
        if first_dealer is None:
            run_rows(batch.cut_rows, len(self._games), self._games, self.seed)
        else:
            self._games["dealer"] = _checked_seats(first_dealer, num_players)

    def __len__(self) -> int:
        return len(self._games)

    @property
    def state(self) -> np.recarray:
        """[N] records of `state.game_dtype`, whose fields read as attributes: everything, hidden cards too."""
        return self._games.view(np.recarray)

    @property
    def records(self) -> np.ndarray:
        """The same memory as `state`, as compiled functions take it; ask anew after a copy of the games was made."""
        return self._games

    @property
    def unfinished(self) -> Rows:
        """Rows of the games that go on."""
        return np.flatnonzero(~self._games["finished"])

    @property
    def to_play(self) -> Rows:
        """Rows of the games in which a player must play a card."""
        return np.flatnonzero(self._games["turn"] >= 0)

    @property
    def turn(self) -> NDArray[np.int8]:
        """[N] seat to play, -1 where nobody is."""
        return self._games["turn"]

    @property
    def dealer(self) -> NDArray[np.int8]:
        """[N] seat that deals the current hand."""
        return self._games["dealer"]

    @property
    def finished(self) -> NDArray[np.bool_]:
        """[N] whether the game is over."""
        return self._games["finished"]

    @property
    def winner(self) -> NDArray[np.int8]:
        """[N] seat that reached 121 first, -1 before that (and always where games do not stop at 121)."""
        return self._games["winner"]

    @property
    def scores(self) -> NDArray[np.int16]:
        """[N, P] points."""
        return self._games["scores"]

    def deal(self) -> Rows:
        """Deal the next hand of every unfinished game, whose rows are returned."""
        rows = self.unfinished
        run_rows(batch.deal_rows, len(rows), self._games, rows, self.seed, self.random_dealer)
        return rows

    def deal_cards(self, rows: Rows, dealt: ArrayLike, hidden: ArrayLike, dealers: ArrayLike) -> None:
        """Begin the next hand of games `rows` with given cards, as a recorded game needs it.

        dealt: [R, P, D] card ids in any order. hidden: [R, 2], the starter, and the deck's card for the crib of three
        players (any card not dealt with other numbers). dealers: [R] seats. Raises ValueError on cards that no deck
        deals, or a seat that there is not.
        """
        hands, rest = np.asarray(dealt, dtype=np.int64), np.asarray(hidden, dtype=np.int64)
        shape = self._games.dtype["dealt"].shape
        if hands.shape != (len(rows), *shape) or rest.shape != (len(rows), 2):
            raise ValueError(f"got cards of shapes {hands.shape} and {rest.shape}, expected [R, {shape}] and [R, 2]")
        every = np.sort(np.concatenate([hands.reshape(len(rows), -1), rest], axis=1), axis=1)
        if (every < 0).any() or (every >= NUM_CARDS).any() or (np.diff(every, axis=1) == 0).any():
            raise ValueError("dealt cards must be distinct ids of 0..51")
        seats = _checked_seats(dealers, self.num_players)
        run_rows(batch.deal_rows, len(rows), self._games, rows, self.seed, self.random_dealer)
        self._games["dealt"][rows] = np.sort(hands, axis=2)
        self._games["hidden"][rows] = rest
        self._games["dealer"][rows] = seats

    def discard_observation(self, rows: Rows, seats: ArrayLike) -> DiscardObservation:
        """What seat seats[r] of game rows[r] sees before it discards."""
        return self._with_past(
            batch.observe_discard(self._games, rows, np.array(seats, dtype=np.int8), self.seed), rows
        )

    def discard(self, rows: Rows, seats: ArrayLike, actions: ArrayLike) -> None:
        """Throw cards to the crib: actions [R] index `rules.discard_slots`. Raises IllegalActionError."""
        seats, actions = np.asarray(seats, dtype=np.int8), whole_numbers(actions)
        done = _not_done(rows, seats, actions)
        run_rows(batch.throw_rows, len(rows), self._games, rows, seats, actions, done)
        if not done.all():
            wrong = int(done.argmin())
            action, last = actions[wrong], len(discard_slots(self._games.dtype["dealt"].shape[1])) - 1
            reason = f"discard action {action} is not one of 0..{last}"
            if 0 <= action <= last:
                reason = f"it cannot discard now (action {action})"
            raise IllegalActionError(f"{self._place(rows[wrong], seats[wrong])}: {reason}")

    def start_play(self) -> None:
        """After all discards: turn up the starter of every unfinished game and peg heels."""
        rows = self.unfinished
        self._phase(rows, batch.start_play_rows, "the starter is turned up after every player has discarded")

    def play_observation(self, rows: Rows) -> PlayObservation:
        """What the seats whose turn it is see in games `rows`."""
        return self._with_past(batch.observe_play(self._games, rows, self.seed), rows)

    def play(self, rows: Rows, slots: ArrayLike) -> None:
        """Play the cards in slots [R] (0..3 of the sorted kept hand). Raises IllegalActionError."""
        slots = whole_numbers(slots)
        done = _not_done(rows, slots)
        run_rows(batch.play_rows, len(rows), self._games, rows, slots, self.stop_at_121, done)
        if not done.all():
            wrong = int(done.argmin())
            raise IllegalActionError(self._refused_play(int(rows[wrong]), int(slots[wrong])))

    def show(self) -> None:
        """Count the hands and the crib of every game whose hand has been played out."""
        rows = self.unfinished
        self._phase(rows, batch.show_rows, "hands are counted after the last card is played")

    def note_hands(self, rows: Rows) -> None:
        """Note those hands of games `rows` that are over, once; nothing where no past is kept."""
        if self.past is not None:
            self.past.note(self._games, rows, self.stop_at_121)

    def play_scripted(self, policies: NDArray[np.int8]) -> None:
        """Play all games to the end, each in one go; policies [N, P] are codes of `policies.POLICIES`.

        Raises ValueError for policies of another shape, and where games do not stop at 121.
        """
        if not self.stop_at_121:
            raise ValueError("scripted games stop at 121")
        expected = (len(self._games), self.num_players)
        if np.shape(policies) != expected:
            raise ValueError(f"policies {np.shape(policies)}: expected {expected}, a code for each seat of each game")
        arguments = self._games, self.seed, self.random_dealer, np.ascontiguousarray(policies)
        run_rows(batch.scripted_games, len(self._games), *arguments, piece=64)

    def _with_past(self, observation: _O, rows: Rows) -> _O:
        return observation if self.past is None else replace(observation, past=self.past.seen(rows))

    def _phase(self, rows: Rows, kernel: Callable[..., None], rule: str) -> None:
        done = _not_done(rows)
        run_rows(kernel, len(rows), self._games, rows, self.stop_at_121, done)
        if not done.all():
            raise IllegalActionError(f"{self._place(rows[done.argmin()], -1)}: {rule}")

    def _place(self, row: int, seat: int) -> str:
        s = self.state
        who = f", seat {seat}" if seat >= 0 else ""
        return f"game {s.game[row]}, hand {s.hand_number[row]}{who}"

    def _refused_play(self, row: int, slot: int) -> str:
        state = self.state[row]
        if state.turn < 0:
            return f"{self._place(row, -1)}: slot {slot}: there is nothing to play now"
        cards = enumerate(state.left[state.turn].tolist())
        allowed = [f"{number} ({format_card(card)})" for number, card in cards if is_legal_play(state["count"], card)]
        expected = f"expected {' or '.join(allowed)} on a count of {state['count']}"
        return f"{self._place(row, state.turn)}: slot {slot}: {expected}"


def whole_numbers(choices: ArrayLike) -> NDArray[np.int64]:
    """Choices as the kernels take them. Raises IllegalActionError on fractions, which would be cut off silently."""
    found = np.asarray(choices)
    if found.size and found.dtype.kind not in "iub":
        raise IllegalActionError(f"choices are {found.dtype}, expected whole numbers")
    return found.astype(np.int64, copy=False)


def _not_done(rows: Rows, *columns: NDArray) -> NDArray[np.bool_]:
    """[R] False for the kernels, which check no bounds: columns that are not as long as rows are refused here."""
    for column in columns:
        if column.shape != rows.shape:
            raise ValueError(f"got {column.shape} choices for {rows.shape} rows")
    return np.zeros(len(rows), dtype=np.bool_)


def _checked_seats(seats: ArrayLike, num_players: int) -> NDArray[np.int64]:
    checked = np.asarray(seats, dtype=np.int64)
    wrong = checked[(checked < 0) | (checked >= num_players)]
    if wrong.size:
        raise ValueError(f"first_dealer is {wrong.flat[0]}, expected a seat 0..{num_players - 1}")
    return checked
