"""The best response to an opponent whose ways are known: what a perfect reader of one player would do.

It knows how the opponent discards and plays, never what it holds. In the play it takes the card of the highest exact
mean of own minus opponent's points over all hands that the opponent may hold (`expectimax`); in the discard, the
highest mean of hand, crib and play together, the play's before the starter is known. It plays for points, not for the
game: its win rate is only a lower bound of what a responder who looks at the score could reach.
"""

from __future__ import annotations

import hashlib
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.asking import Probabilities, knows_probabilities
from deepcrib.agents.base import Agent, AgentError, play_policy_of, require_players
from deepcrib.agents.masks import DiscardsByMask, PlaysByMask
from deepcrib.exact.beliefs.cribs import expected_cribs
from deepcrib.exact.beliefs.discards import DiscardModel, discard_model
from deepcrib.exact.beliefs.plays import SETS_4, kept_beliefs
from deepcrib.exact.discards import HAND_STARTERS, discard_statistics
from deepcrib.exact.kept import kept_array
from deepcrib.game.cards import NO_CARD, NUM_SUITS, RANKS, card_set
from deepcrib.game.engine.state import draw_card
from deepcrib.game.observations import DiscardObservation, PlayObservation, opening
from deepcrib.game.policies import GREEDY
from deepcrib.game.rank_sets import rank_set_numbers
from deepcrib.game.rules import HAND_SIZE, KEPT_SLOTS_6
from deepcrib.kernels import jit
from deepcrib.search.replies.asking import weigh_earlier_plays
from deepcrib.search.replies.values import Ways, after_discards, reply_values, start_values

WITHIN = 0.3
"""Points; see `BestResponseAgent`."""


class BestResponseAgent(DiscardsByMask, PlaysByMask):
    """Plays the best response to one fixed opponent. For two players.

    Args:
        to: the opponent, which must know the probabilities of its choices, or be `deterministic`. Its discards are
            taken to be those at 0-0.
            One that plays as a player of `policies` does is answered by compiled code; any other one is asked what it
            would do at every turn of every hand (`replies.asking`), some hundred times slower.
        within: points; discards that seem so much worse than the best one, by exact hand and crib and a rough value of
            the play, are not searched. None searches all, many times slower. That rough value is what the play is worth
            when only the kept cards are known (`play_table`): of 300 discards against greedy none was another one for
            it, and the widest gap was 0.13 points. Of a player that is asked it is the value if it played as greedy
            does.
    """

    num_players = frozenset({2})
    discard_unit = "points"

    def __init__(self, to: Agent, within: float | None = WITHIN) -> None:
        """Raises AgentError for an opponent that cannot be answered, or a `within` that is no number of points."""
        require_players(to, 2)
        if not knows_probabilities(to):
            expected = "expected an agent that knows its probabilities, or says deterministic = True"
            raise AgentError(f"no best response to {to.name}: {expected}")
        is_number = isinstance(within, int | float) and not isinstance(within, bool)
        if within is not None and not (is_number and within >= 0):
            raise AgentError(f"within={within!r}: expected points, 0 or more, or null")
        self.name = f"best_response({to.name})"
        self.to = to
        self.policy = play_policy_of(to)
        self.within = np.inf if within is None else float(within)
        self._model: DiscardModel | None = None
        self.discards_of = Probabilities(to).discard_probabilities
        self.plays_of: Ways = Probabilities(to).play_probabilities if self.policy is None else self.policy

    @property
    def model(self) -> DiscardModel:
        """How the opponent discards; worked out when first needed, in some seconds."""
        if self._model is None:
            self._model = discard_model(self.discards_of)
        return self._model

    @cached_property
    def play_table(self) -> NDArray[np.float64]:
        """[2, 1820] what each rank multiset is worth in the play, as pone and as dealer, when nothing else is known.

        Worked out when first needed, in a minute or several, and then kept beside the compiled code.
        """
        return kept_array(__file__, f"play_{self._digest()}.npy", self._new_play_table)

    def _digest(self) -> str:
        content = hashlib.blake2b(str(self.policy).encode(), digest_size=12)
        for arrays in self.model.arrays:
            for array in arrays:
                content.update(np.ascontiguousarray(array).tobytes())
        return content.hexdigest()

    def _new_play_table(self) -> NDArray[np.float64]:
        suits = (SETS_4[:, None, :] == SETS_4[:, :, None]) & np.tri(HAND_SIZE, k=-1, dtype=np.bool_)
        kept = (NUM_SUITS * SETS_4 + suits.sum(axis=2)).astype(np.int8)  # each in the first suits that make it
        nothing, values = np.full((len(kept), 2), NO_CARD, dtype=np.int8), []
        for is_dealer in (np.full(len(kept), False), np.full(len(kept), True)):
            weights = self.model.kept_weights(kept, ~is_dealer)
            o = opening(kept, nothing, nothing[:, 0], is_dealer)
            values.append(start_values(o, weights, np.arange(len(kept)), self.plays_of))
        return np.stack(values)

    def discard_values(
        self, observation: DiscardObservation, shown: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """[N, 15] mean own minus opponent's points from hand, crib and play; -inf for those given up by `within`.

        The opponent's hand and heels, which no discard changes, are left out. Where `within` leaves one discard alone,
        that has the value by which it was chosen. shown: `show_values`, where they are known already.
        """
        o = observation
        values = self.show_values(o) if shown is None else shown.copy()
        numbers = rank_set_numbers(RANKS[o.hand[:, KEPT_SLOTS_6]])  # [N, 15]
        searched = np.ones(values.shape, dtype=np.bool_)
        if np.isfinite(self.within):
            rough = self._rough_means(o, numbers)
            values += rough
            searched = values >= values.max(axis=1, keepdims=True) - self.within
            values[~searched] = -np.inf
            searched &= searched.sum(axis=1, keepdims=True) > 1
            values[searched] -= rough[searched]
        rows, actions = np.nonzero(searched)
        values[rows, actions] += self._play_means(o, numbers, rows, actions, self.plays_of)
        return values

    def _rough_means(self, o: DiscardObservation, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """[N, 15] about what the play is worth that follows each discard: see `within`."""
        if self.policy is not None:
            return self.play_table[o.is_dealer.astype(np.int64)[:, None], numbers]
        rows, actions = np.indices(numbers.shape).reshape(2, -1)
        return self._play_means(o, numbers, rows, actions, GREEDY).reshape(numbers.shape)

    def _play_means(
        self,
        o: DiscardObservation,
        numbers: NDArray[np.int64],
        rows: NDArray[np.intp],
        actions: NDArray[np.intp],
        plays_of: Ways,
    ) -> NDArray[np.float64]:
        """[D] values of the play after discards [D] of rows [D]; numbers: [N, 15], the rank multisets kept."""
        seen, starters = o.hand, np.full(len(o), NO_CARD, dtype=np.int8)
        first = again = np.arange(len(rows))
        if callable(plays_of):  # a player may need to see a starter
            _draw_starters(o.hand, o.key, starters)
            seen = np.concatenate([o.hand, starters[:, None]], axis=1)
        else:  # suits do not matter
            _, first, again = np.unique([rows, numbers[rows, actions]], axis=1, return_index=True, return_inverse=True)
        used, hands = np.unique(rows[first], return_inverse=True)
        opened = after_discards(o.hand, o.is_dealer, starters, rows[first], actions[first])
        weights = self.model.kept_weights(seen[used], ~o.is_dealer[used])
        return start_values(opened, weights, hands, plays_of)[again.ravel()]

    def show_values(self, observation: DiscardObservation) -> NDArray[np.float64]:
        """[N, 15] mean points of hand and crib, the crib's negative to the pone."""
        values = discard_statistics(observation.hand)["hand_sum"] / HAND_STARTERS
        return values + expected_cribs(self.model, observation.hand, observation.is_dealer)

    def play_values(self, observation: PlayObservation) -> NDArray[np.float64]:
        """[N, 4] mean own minus opponent's points from the play of each slot on; -inf for what may not be played."""
        weights = kept_beliefs(self.model, observation)
        weigh_earlier_plays(observation, weights, Probabilities(self.to).play_probabilities)
        return reply_values(observation, weights, self.plays_of)


@jit
def _draw_starters(hands: np.ndarray, keys: np.ndarray, starters: np.ndarray) -> None:
    """starters [N]: a card that is not in the hand, by the decision's key."""
    for r in range(len(hands)):
        starters[r], _ = draw_card(keys[r], card_set(hands[r]), 0)
