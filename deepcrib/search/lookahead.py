"""Looking ahead at the table: choices are tried on hands that the opponent may hold, and played on by networks.

The model of the opponent is another agent, or one's own networks. What it may hold is weighted exactly by how that
model would have discarded and played (`beliefs`), some hands are drawn from it, and each choice is played to the end of
the hand on them, round by round while it is not behind. In most of a game the choice with the most points is taken,
near its end the one with the best chance to win. Against a model that plays as one of `policies` does, points are exact
(`replies`), and nothing is drawn for them. The own discards answer the model's by what these leave in the crib.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.base import Agent, AgentError, play_policy_of
from deepcrib.exact.beliefs.cribs import expected_cribs
from deepcrib.exact.beliefs.discards import DiscardModel
from deepcrib.exact.beliefs.plays import kept_beliefs
from deepcrib.game.cards import RANKS
from deepcrib.game.engine import Games
from deepcrib.game.engine.batch import games_seen
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.rules import HAND_SIZE, MAX_SCORE
from deepcrib.kernels.workers import run_rows
from deepcrib.search.drawn_hands import draw_hands, draw_unseen
from deepcrib.search.minimax import hands_by_rules, has_choice
from deepcrib.search.opponents import chances_of, discards_of, win_chances_of
from deepcrib.search.replies.asking import weigh_earlier_plays
from deepcrib.search.replies.values import reply_values
from deepcrib.search.win_chances import chances_after, play_out

HANDS = 200
WITHIN = 1.0
DOUBT = 0.1
LATE = 85
_LATE_CARDS, _LATE_DISCARDS = 3.0, 1.5
"""In place of `within` near the end of a game, where a choice may be the right one that gives away so many points."""
_TIE = 1e-6
"""Weight of the networks' values beside what was found, so that they decide where nothing else does."""
_BLOCK = 64  # decisions whose hands are played out together
_FIRST, _BEHIND = 32, 2.0
"""The first round of a decision has so many hands at least; each round leaves out what is so many standard errors
behind."""
Observation = TypeVar("Observation", DiscardObservation, PlayObservation)
Choices = NDArray[np.int8]
Rows = NDArray[np.int64]
Find = Callable[[NDArray[np.intp], NDArray[np.bool_], NDArray[np.int64]], NDArray[np.float64]]
"""(rows [R], tried [R, A], numbers [K]) -> what those choices come to on the hands of these numbers [R, A, K]."""


class LookaheadAgent:
    """Plays the card, and near the end of a game discards the cards, that do best on drawn hands; for two players.

    agent: whose networks choose what is tried. opponent: the model of the opponent; the agent itself where none is
    given. rollouts: who plays each hand on to its end, for oneself and, in place of the agent, for the opponent; the
    same agent, or a faster one. hands: drawn at most for each decision, the same for all choices; what is behind after
    a part of them is tried no further. within: points; before the end of a game choices whose value is so much below
    the best one are not tried, with 0 none is. doubt: the chance that the opponent's discard was any one, and that each
    of its plays was any card that it may play, instead of what the model would have chosen. late: from this score on,
    of either player, the chance to win counts (`win_chances`) in place of points, in discards too; 121 for never.
    Raises AgentError for numbers out of range, and for an agent that has no values of its cards.
    """

    num_players = frozenset({2})

    def __init__(
        self,
        agent: Agent,
        *,
        name: str = "lookahead",
        opponent: Agent | None = None,
        rollouts: Agent | None = None,
        hands: int = HANDS,
        within: float = WITHIN,
        doubt: float = DOUBT,
        late: int = LATE,
    ) -> None:
        check_numbers(hands=(hands, int, 1, 1_000_000), within=(within, float, 0, 100), doubt=(doubt, float, 0, 1))
        check_numbers(late=(late, int, 0, MAX_SCORE))
        if not (hasattr(agent, "play_values") and hasattr(agent, "play_probabilities")):
            raise AgentError(
                f"agent {agent.name} has no values of its cards, expected one with networks to look ahead by"
            )
        if rollouts is not None and not hasattr(rollouts, "play_probabilities"):
            raise AgentError(f"rollouts: agent {rollouts.name} does not give the probabilities of its cards")
        self.name = name
        self.agent: Any = agent
        self.rollouts: Any = rollouts or agent
        self.opponent = opponent or agent
        self._of_opponent = chances_of(self.opponent)
        self._policy = None if opponent is None else play_policy_of(opponent)
        self.hands, self.within, self.doubt, self.late = hands, within, doubt, late

    @cached_property
    def _model(self) -> DiscardModel:
        return discards_of(getattr(self.opponent, "discards_by", None) or self.opponent)

    @cached_property
    def _own_model(self) -> DiscardModel:
        """How the agent itself would discard in the opponent's place: what its networks learned to expect in a crib."""
        return discards_of(self.agent)

    @cached_property
    def _chances(self) -> NDArray[np.float64]:
        return win_chances_of(self.agent)

    def discard(self, observation: DiscardObservation) -> Choices:
        """[N] discard actions: the agent's own, but for another opponent's cribs, and near the end of a game."""
        has_values = bool(getattr(self.agent, "discard_unit", ""))
        if has_values and self.opponent is not self.agent:
            actions = self.discard_values(observation).argmax(axis=1).astype(np.int8)
        else:
            actions = self.agent.discard(observation)
        for rows, part in _blocks(observation, np.flatnonzero(self._is_late(observation) & has_values)):
            values = self.discard_values(part)
            tried = values >= values.max(axis=1, keepdims=True) - _LATE_DISCARDS
            actions[rows] = self._settle(values, tried, partial(self._discard_chances, part))
        return actions

    def discard_values(self, observation: DiscardObservation) -> NDArray[np.float64]:
        """[N, 15] points: the agent's values, and how much more a crib is worth with what the opponent throws."""
        o, values = observation, self.agent.discard_values(observation)
        if self.opponent is self.agent:
            return values
        theirs, own = (expected_cribs(m.arrays, o.hand, o.is_dealer) for m in (self._model, self._own_model))
        return values + theirs - own

    def play(self, observation: PlayObservation) -> Choices:
        """[N] slots."""
        slots, late = self.agent.play(observation), self._is_late(observation)
        if self._policy is not None:
            rows = np.flatnonzero(has_choice(observation) & ~late)
            part = observation.take(rows)
            found = reply_values(part, self.hand_weights(part), self._policy)
            values = self.agent.play_values(part)
            slots[rows] = _best(found, values, np.isfinite(found))
        for is_late, within in ((False, self.within), (True, _LATE_CARDS)):
            asked = has_choice(observation) & (late == is_late) & (within > 0) & (is_late or self._policy is None)
            for rows, part in _blocks(observation, np.flatnonzero(asked)):
                values = self.agent.play_values(part)
                tried = _distinct(part, values >= values.max(axis=1, keepdims=True) - within)
                open_rows = np.flatnonzero(tried.sum(axis=1) > 1)
                if len(open_rows):
                    part, tried, values = part.take(open_rows), tried[open_rows], values[open_rows]
                    find = partial(self._play_values, part, self.hand_weights(part), is_late)
                    slots[rows[open_rows]] = self._settle(values, tried, find)
        return slots

    def _settle(self, values: NDArray[np.floating], tried: NDArray[np.bool_], find: Find) -> Choices:
        """[N] the best of the choices tried, by what is found on hands drawn; the networks' values decide ties."""
        best = np.where(tried, values, -np.inf).argmax(axis=1).astype(np.int8)
        rows, tried, found = np.arange(len(values)), tried.copy(), np.empty((*values.shape, 0))
        for numbers in rounds(self.hands):
            found = np.concatenate([found, find(rows, tried, numbers)], axis=2)
            leaders = _best(found.mean(axis=2), values[rows], tried)
            best[rows] = leaders
            tried &= ~_behind(found, leaders)
            tried[np.arange(len(rows)), leaders] = True
            open_rows = np.flatnonzero(tried.sum(axis=1) > 1)
            rows, tried, found = rows[open_rows], tried[open_rows], found[open_rows]
            if not len(rows):
                break
        return best

    def _is_late(self, observation: DiscardObservation | PlayObservation) -> NDArray[np.bool_]:
        late: NDArray[np.bool_] = observation.scores.max(axis=1) >= self.late
        return late & (self.late < MAX_SCORE)

    # --- what the opponent may hold ---------------------------------------------------------------------------

    def hand_weights(self, observation: PlayObservation) -> NDArray[np.float64]:
        """[N, 1820] chances of the opponent's kept hands, rank multisets with what it has played.

        Raises ValueError for a position that no play by the rules leads to.
        """
        o = observation
        weights = kept_beliefs(self._model.arrays, o)
        anything = hands_by_rules(o)
        if not anything.any(axis=1).all():
            raise ValueError("no hand of the opponent's makes a play that goes as observed")
        weights *= (1 - self.doubt) / weights.sum(axis=1, keepdims=True)
        weights += anything * (self.doubt / anything.sum(axis=1, keepdims=True))
        weigh_earlier_plays(o, weights, self._doubted)
        weights /= weights.sum(axis=1, keepdims=True)
        return weights

    def _doubted(self, observation: PlayObservation) -> NDArray[np.float64]:
        legal = observation.legal
        anything = legal / legal.sum(axis=1, keepdims=True)
        found: NDArray[np.float64] = self._of_opponent.play_probabilities(observation) * (1 - self.doubt)
        return found + self.doubt * anything

    # --- trying out -------------------------------------------------------------------------------------------

    def _play_values(
        self,
        o: PlayObservation,
        weights: NDArray[np.float64],
        is_late: bool,
        rows: NDArray[np.intp],
        tried: NDArray[np.bool_],
        numbers: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """[R, 4, K] points of the rest of the play, own minus the opponent's, or chances to win; 0 if not tried.

        For rows [R] of those observed, on the hands of these numbers [K] of all that are drawn by weights [N, 1820].
        """
        o = o.take(rows)
        drawn = np.repeat(games_seen(o), len(numbers))
        run_rows(draw_hands, len(o), o.key, weights[rows], self.hands, numbers, drawn, piece=4)
        games, slots = np.nonzero(np.repeat(tried, len(numbers), axis=0))
        table = _table(len(games), is_late)
        table.records[:] = drawn[games]
        table.play(np.arange(len(games)), slots)
        play_out(table, partial(self._play_on, o.seat[games // len(numbers)]))
        of, hands = games // len(numbers), games % len(numbers)
        found = np.zeros((*tried.shape, len(numbers)))
        if is_late:
            table.show()
            found[of, slots, hands] = chances_after(table, o.seat[of], self._chances)
        else:
            found[of, slots, hands] = _margins(table, o.seat[of], (o.history >= 0).sum(axis=1)[of])
        return found

    def _discard_chances(
        self, o: DiscardObservation, rows: NDArray[np.intp], tried: NDArray[np.bool_], numbers: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """[R, 15, K] chances to win after each discard; 0 if not tried."""
        o = o.take(rows)
        cards = np.empty((len(o), len(numbers), 8), dtype=np.int64)
        run_rows(draw_unseen, len(o), o.hand, o.key, numbers, cards, piece=16)
        of, hands, actions = np.nonzero(np.repeat(tried[:, None], len(numbers), axis=1))
        table = self._dealt(o, of, cards[of, hands])
        games, seats = np.arange(len(of)), o.seat[of]
        table.discard(games, seats, actions)
        table.discard(games, 1 - seats, self._discards_of(o, cards)[of, hands])
        table.start_play()
        play_out(table, partial(self._play_on, seats))
        table.show()
        found = np.zeros((*tried.shape, len(numbers)))
        found[of, actions, hands] = chances_after(table, seats, self._chances)
        return found

    def _discards_of(self, o: DiscardObservation, cards: NDArray[np.int64]) -> NDArray[np.int64]:
        """[R, K] the opponents' discards from hidden cards [R, K, 8]."""
        of = np.repeat(np.arange(len(o)), cards.shape[1])
        table = self._dealt(o, of, cards.reshape(len(of), -1))
        seen = table.discard_observation(np.arange(len(of)), 1 - o.seat[of])
        discards = self.opponent.discard(seen)
        return np.asarray(discards, dtype=np.int64).reshape(cards.shape[:2])

    @staticmethod
    def _dealt(o: DiscardObservation, of: NDArray[np.intp], hidden: NDArray[np.int64]) -> Games:
        """A table of games of rows [G] observed, with hidden cards [G, 8]: the other hand, then the starter."""
        games, seats = np.arange(len(of)), o.seat[of]
        dealt = np.empty((len(of), 2, 6), dtype=np.int64)
        dealt[games, seats], dealt[games, 1 - seats] = o.hand[of], hidden[:, :6]
        table = _table(len(of), True)
        table.deal_cards(games, dealt, hidden[:, 6:], o.dealer[of])
        table.records["scores"] = o.scores[of]
        return table

    def _play_on(self, seats: Choices, rows: Rows, o: PlayObservation) -> NDArray[np.intp]:
        """[N] the slots that `rollouts` most likely plays; of another opponent, what it plays. seats: one's own."""
        slots: NDArray[Any] = o.legal.argmax(axis=1)
        is_open = has_choice(o)
        theirs = is_open & (o.seat != seats[rows]) & (self.opponent is not self.agent)
        open_rows = np.flatnonzero(is_open & ~theirs)
        slots[open_rows] = self.rollouts.play_probabilities(o.take(open_rows)).argmax(axis=1)
        if theirs.any():
            part = o.take(theirs)
            slots[theirs] = self.opponent.play(part)
        return slots


def rounds(hands: int) -> list[NDArray[np.int64]]:
    """The numbers of hands in the order of trying: few that are spread over all, then three times as many, ..."""
    step = 1
    while hands >= 4 * step * _FIRST:
        step *= 4
    found: list[NDArray[np.int64]] = []
    numbers = np.arange(hands)
    while step:
        new = numbers % step == 0
        if found:
            new &= numbers % (4 * step) != 0
        found.append(numbers[new])
        step //= 4
    return found


def _behind(found: NDArray[np.float64], leaders: Choices) -> NDArray[np.bool_]:
    """[R, A] choices that the leader is ahead of, of found [R, A, K], by more than chance makes it; or always."""
    ahead = np.take_along_axis(found, leaders[:, None, None].astype(np.int64), axis=1) - found
    error = ahead.std(axis=2) / max(found.shape[2] - 1, 1) ** 0.5
    behind: NDArray[np.bool_] = ahead.mean(axis=2) >= _BEHIND * error
    return behind


def _table(games: int, stops: bool) -> Games:
    zeros = np.zeros(games, dtype=np.int64)
    return Games(zeros, 0, first_dealer=zeros, stop_at_121=stops)


def _blocks(observation: Observation, rows: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.intp], Observation]]:
    """Some rows of an observation, a block at a time."""
    for low in range(0, len(rows), _BLOCK):
        block = rows[low : low + _BLOCK]
        yield block, observation.take(block)


def _distinct(o: PlayObservation, slots: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """[N, 4] of slots to be played those of which no earlier one has the same rank."""
    ranks, found = RANKS[o.hand], slots & o.legal
    for slot in range(1, HAND_SIZE):
        found[:, slot] &= ~(found[:, :slot] & (ranks[:, :slot] == ranks[:, slot, None])).any(axis=1)
    return found


def _margins(table: Games, seats: Choices, first: NDArray[np.int64]) -> NDArray[np.float64]:
    """[N] points of the play from card number first [N] on, a seat's own minus the other's."""
    log = table.log
    signs = np.where(log.play_seats == seats[:, None], 1.0, -1.0)
    later = np.arange(log.play_points.shape[1]) >= first[:, None]
    margins: NDArray[np.float64] = (log.play_points * signs * later).sum(axis=1)
    return margins


def _best(means: NDArray[np.float64], values: NDArray[np.floating], tried: NDArray[np.bool_]) -> Choices:
    """[N] the best of the choices tried."""
    worth = means + _TIE * np.where(tried, values, 0)
    best: Choices = np.where(tried, worth, -np.inf).argmax(axis=1).astype(np.int8)
    return best


def check_numbers(**options: tuple[Any, type, float, float]) -> None:
    """Raises AgentError for what is no number of its type from low to high."""
    for name, (value, kind, low, high) in options.items():
        fits = isinstance(value, int if kind is int else (int, float)) and not isinstance(value, bool)
        if not (fits and low <= value <= high):
            expected = "a whole number" if kind is int else "a number"
            raise AgentError(f"{name}={value!r}: expected {expected} from {low} to {high}")
