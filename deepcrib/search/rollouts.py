"""What choices come to: hands that the opponent may hold are drawn, and each choice is played to the end of them.

What the opponent may hold is weighted exactly by how a model of it would have discarded and played (`beliefs`). Its
points, or the chance to win the game, are counted on the same hands for all choices, so that what these differ by is
known far better than what they are worth.
"""

from __future__ import annotations

from functools import cache, cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.base import Agent
from deepcrib.agents.expected_value import ExpectedValueAgent
from deepcrib.exact.beliefs.discards import DiscardModel
from deepcrib.exact.beliefs.plays import hands_by_rules, kept_beliefs
from deepcrib.exact.kept import kept_array
from deepcrib.game.engine import Games
from deepcrib.game.engine.batch import games_seen
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.rules import DISCARD_SLOTS_6
from deepcrib.kernels.workers import run_rows
from deepcrib.search.best_response import BestResponseAgent
from deepcrib.search.drawn_hands import draw_hands, draw_unseen
from deepcrib.search.minimax import has_choice
from deepcrib.search.opponents import discards_of, probabilities_of, win_chances_of
from deepcrib.search.replies.asking import weigh_earlier_plays
from deepcrib.search.win_chances import WIN, chances_after, play_out, win_chances

HANDS = 200
DOUBT = 0.1
_USUAL_HANDS = 5_000
Rows = NDArray[np.int64]


class Rollouts:
    """Plays drawn hands of two to their end.

    agent: whose games against itself tell the chance to win from a score. opponent: the model of the opponent; the
    agent itself where none is given. by: who plays on for oneself and, in place of the agent, for the opponent; the
    agent itself where none is given. hands, doubt, objective: as in `LookaheadAgent`.
    """

    def __init__(
        self,
        agent: Agent,
        *,
        opponent: Agent | None = None,
        by: Agent | None = None,
        hands: int = HANDS,
        doubt: float = DOUBT,
        objective: str = WIN,
    ) -> None:
        self.agent = agent
        self.opponent = opponent or agent
        self.by: Any = by or agent
        self.hands, self.doubt, self.objective = hands, doubt, objective
        self._of_opponent = probabilities_of(self.opponent)

    @cached_property
    def model(self) -> DiscardModel:
        """How the opponent discards."""
        return discards_of(getattr(self.opponent, "discards_by", None) or self.opponent)

    @cached_property
    def chances(self) -> NDArray[np.float64]:
        """`win_chances` of the agent."""
        return win_chances_of(self.agent, self.objective)

    # --- what the opponent may hold ---------------------------------------------------------------------------

    def hand_weights(self, observation: PlayObservation) -> NDArray[np.float64]:
        """[N, 1820] chances of the opponent's kept hands, rank multisets with what it has played.

        Raises ValueError for a position that no play by the rules leads to.
        """
        o = observation
        weights = kept_beliefs(self.model, o)
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
        return self._of_opponent.play_probabilities(observation) * (1 - self.doubt) + self.doubt * anything

    # --- trying out -------------------------------------------------------------------------------------------

    def all_chances(self, observation: DiscardObservation | PlayObservation) -> NDArray[np.float64]:
        """[N, 15 or 4, K] chances to win after each choice, on each hand drawn; 0 of cards that may not be played."""
        o, rows, numbers = observation, np.arange(len(observation)), np.arange(self.hands)
        if isinstance(o, PlayObservation):
            return self.play_values(o, self.hand_weights(o), True, rows, o.legal, numbers)
        return self.discard_chances(o, rows, np.ones((len(o), len(DISCARD_SLOTS_6)), dtype=np.bool_), numbers)

    def play_values(
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
        drawn["game"] = np.tile(numbers, len(o))  # by which an opponent that draws its cards does so in each hand
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
            found[of, slots, hands] = chances_after(table, o.seat[of], self.chances, self.objective)
        else:
            found[of, slots, hands] = _margins(table, o.seat[of], (o.history >= 0).sum(axis=1)[of])
        return found

    def discard_chances(
        self, o: DiscardObservation, rows: NDArray[np.intp], tried: NDArray[np.bool_], numbers: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """[R, 15, K] chances to win after each discard; 0 if not tried."""
        o = o.take(rows)
        cards = np.empty((len(o), len(numbers), 8), dtype=np.int64)
        run_rows(draw_unseen, len(o), o.hand, o.key, numbers, cards, piece=16)
        of, hands, actions = np.nonzero(np.repeat(tried[:, None], len(numbers), axis=1))
        table = self._dealt(o, of, cards[of, hands])
        table.records["game"] = numbers[hands]
        games, seats = np.arange(len(of)), o.seat[of]
        table.discard(games, seats, actions)
        table.discard(games, 1 - seats, self._discards_of(o, cards)[of, hands])
        table.start_play()
        play_out(table, partial(self._play_on, seats))
        table.show()
        found = np.zeros((*tried.shape, len(numbers)))
        found[of, actions, hands] = chances_after(table, seats, self.chances, self.objective)
        return found

    def _discards_of(self, o: DiscardObservation, cards: NDArray[np.int64]) -> NDArray[np.int64]:
        """[R, K] the opponents' discards from hidden cards [R, K, 8]."""
        of, hands = np.indices(cards.shape[:2]).reshape(2, -1)
        table = self._dealt(o, of, cards[of, hands])
        table.records["game"] = hands
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

    def _play_on(self, seats: NDArray[np.int8], rows: Rows, o: PlayObservation) -> NDArray[np.intp]:
        """[N] the slots that `by` most likely plays; of another opponent, what it plays. seats: one's own."""
        slots: NDArray[Any] = o.legal.argmax(axis=1)
        is_open = has_choice(o)
        theirs = is_open & (o.seat != seats[rows]) & (self.opponent is not self.agent)
        open_rows = np.flatnonzero(is_open & ~theirs)
        slots[open_rows] = self.by.play_probabilities(o.take(open_rows)).argmax(axis=1)
        if theirs.any():
            slots[theirs] = self.opponent.play(o.take(theirs))
        return slots


def _table(games: int, stops: bool) -> Games:
    zeros = np.zeros(games, dtype=np.int64)
    return Games(zeros, 0, first_dealer=zeros, stop_at_121=stops)


def _margins(table: Games, seats: NDArray[np.int8], first: NDArray[np.int64]) -> NDArray[np.float64]:
    """[N] points of the play from card number first [N] on, a seat's own minus the other's."""
    points = table.state.play_points
    signs = np.where(table.state.history_seats == seats[:, None], 1.0, -1.0)
    later = np.arange(points.shape[1]) >= first[:, None]
    return (points * signs * later).sum(axis=1)


def usual_rollouts(opponent: Agent | None = None) -> Rollouts:
    """Of `expected_value`, and of such a player or a given one as its opponent: quick, and as in hints and reviews.

    A table of what points are worth at a score would be quicker still, but near the end it matters who counts first.
    """
    agent, chances, _ = _usual()
    found = Rollouts(agent, opponent=opponent, hands=_USUAL_HANDS)
    found.chances = chances
    return found


def usual_responder(opponent: Agent | None = None) -> BestResponseAgent:
    """The best response to `expected_value`, or a given one, exact in every discard: as in hints and reviews."""
    return _usual()[2] if opponent is None else BestResponseAgent(opponent, None)


@cache
def _usual() -> tuple[Agent, NDArray[np.float64], BestResponseAgent]:
    agent = ExpectedValueAgent()
    chances = kept_array(__file__, "usual.npy", lambda: win_chances(agent))
    return agent, chances, BestResponseAgent(agent, None)
