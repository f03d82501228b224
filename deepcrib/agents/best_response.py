"""The best response to an opponent whose ways are known: what a perfect reader of one player would do.

It knows how the opponent discards and plays, never what it holds. In the play it takes the card of the highest exact
mean of own minus opponent's points over all hands that the opponent may hold (`expectimax`); in the discard, the
highest mean of hand, crib and play together. It plays for points, not for the game: its points a hand are the most
there are against that opponent, its win rate is only a lower bound of what a responder who looks at the score could
reach.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from deepcrib.agents.base import Agent, AgentError, HasProbabilities, play_policy_of, require_players
from deepcrib.agents.expectimax import card_values, start_value
from deepcrib.agents.masks import pick_rows, uniform_over
from deepcrib.agents.reply_room import BEST, Players, new_room
from deepcrib.beliefs.cribs import fill_crib_means
from deepcrib.beliefs.discards import DiscardArrays, DiscardModel, discard_model, fill_kept
from deepcrib.beliefs.plays import SETS_4, fill_beliefs, own_kept, seen_cards_of
from deepcrib.cards import rank_of
from deepcrib.kernels import jit
from deepcrib.observations import DiscardObservation, PlayObservation
from deepcrib.rules import HAND_SIZE, KEPT_SLOTS_6
from deepcrib.statistics.cribs import NUM_DISCARDS
from deepcrib.statistics.discards import HAND_STARTERS, discard_statistics
from deepcrib.statistics.ranks import NUM_RANK_SETS_4
from deepcrib.statistics.strategies import best_choices


class BestResponseAgent:
    """Plays the best response to one fixed opponent. For two players.

    Args:
        to: the opponent, which must know its discard probabilities and play as one of `policies.POLICIES` does. Its
            discards are taken to be those at 0-0.
        within: points; discards whose hand and crib are worth so much less than the best ones are not looked at any
            further: of 200 decisions none was another one for it at 2 points. None looks at all, four times slower.
    """

    num_players = frozenset({2})

    def __init__(self, to: Agent, within: float | None = 2.0) -> None:
        """Raises AgentError for an opponent that cannot be answered, or a `within` that is no number of points."""
        require_players(to, 2)
        policy = play_policy_of(to)
        if policy is None or not isinstance(to, HasProbabilities):
            raise AgentError(
                f"no best response to {to.name}: expected an agent with discard probabilities that plays as random, "
                "deterministic or greedy does"
            )
        if within is not None and not within >= 0:
            raise AgentError(f"within={within}: expected points, 0 or more")
        self.name = f"best_response({to.name})"
        self.to = to
        self.policy = policy
        self.within = np.inf if within is None else float(within)
        self._model: DiscardModel | None = None
        self.discards_of = to.discard_probabilities

    @property
    def model(self) -> DiscardModel:
        """How the opponent discards; worked out when first needed, in some seconds."""
        if self._model is None:
            self._model = discard_model(self.discards_of)
        return self._model

    def discard_values(self, observation: DiscardObservation) -> NDArray[np.float64]:
        """[N, 15] mean own minus opponent's points from hand, crib and play; -inf for those given up by `within`.

        The opponent's hand and heels, which no discard changes, are left out.
        """
        values = self.show_values(observation)
        for is_dealer in (False, True):
            rows = np.flatnonzero(observation.is_dealer == is_dealer)
            _add_play_values(
                rows, self.policy, SETS_4, observation.hand, is_dealer, self.against(is_dealer), self.within, values
            )
        return values

    def show_values(self, observation: DiscardObservation) -> NDArray[np.float64]:
        """[N, 15] mean points of hand and crib, the crib's negative to the pone."""
        values = discard_statistics(observation.hand)["hand_sum"] / HAND_STARTERS
        for is_dealer in (False, True):
            rows = np.flatnonzero(observation.is_dealer == is_dealer)
            _add_crib_means(rows, observation.hand, is_dealer, self.against(is_dealer), values)
        return values

    def play_values(self, observation: PlayObservation) -> NDArray[np.float64]:
        """[N, 4] mean own minus opponent's points from the play of each slot on; -inf for what may not be played."""
        o, values = observation, np.empty((len(observation), HAND_SIZE))
        seen, own = seen_cards_of(o), own_kept(o)
        for is_dealer in (False, True):
            rows = np.flatnonzero(o.is_dealer == is_dealer)
            places = (o.history, o.history_seats, o.seat, o.series_start, o.count)
            _fill_play_values(rows, self.policy, SETS_4, self.against(is_dealer), seen, own, o.hand, *places, values)
        return values

    def discard(self, observation: DiscardObservation) -> NDArray[np.int8]:
        """[N] discard actions."""
        return pick_rows(_best_masks(self.discard_values(observation)), observation.key)

    def discard_probabilities(self, observation: DiscardObservation) -> NDArray[np.float64]:
        """[N, 15]: uniform over the best discards."""
        return uniform_over(_best_masks(self.discard_values(observation)), NUM_DISCARDS)

    def play(self, observation: PlayObservation) -> NDArray[np.int8]:
        """[N] slots."""
        return pick_rows(_best_masks(self.play_values(observation)), observation.key)

    def play_probabilities(self, observation: PlayObservation) -> NDArray[np.float64]:
        """[N, 4]: uniform over the best cards."""
        return uniform_over(_best_masks(self.play_values(observation)), HAND_SIZE)

    def against(self, is_dealer: bool) -> DiscardArrays:
        """How the opponent of a dealer (or pone) discards."""
        return self.model.arrays[0 if is_dealer else 1]


def _best_masks(values: NDArray[np.float64]) -> NDArray[np.int64]:
    masks = np.empty(len(values), dtype=np.int64)
    _fill_best(values, masks)
    return masks


@jit
def _fill_best(values: np.ndarray, masks: np.ndarray) -> None:
    for r in range(len(values)):
        masks[r] = best_choices(values[r])


@jit(parallel=True)
def _add_crib_means(
    rows: np.ndarray, hands: np.ndarray, is_dealer: bool, model: DiscardArrays, values: np.ndarray
) -> None:
    for i in prange(len(rows)):
        means = np.empty(NUM_DISCARDS)
        fill_crib_means(hands[rows[i]], model, means)
        for action in range(NUM_DISCARDS):
            values[rows[i], action] += means[action] if is_dealer else -means[action]


@jit
def kept_ranks(hand: np.ndarray, action: int) -> np.ndarray:
    """Ranks [4], ascending, that a discard of a sorted hand [6] keeps."""
    ranks = np.empty(HAND_SIZE, dtype=np.int64)
    for slot in range(HAND_SIZE):
        ranks[slot] = rank_of(hand[KEPT_SLOTS_6[action, slot]])
    return ranks


@jit
def _same_ranks(one: np.ndarray, other: np.ndarray) -> bool:
    for i in range(len(one)):
        if one[i] != other[i]:
            return False
    return True


@jit(parallel=True)
def _add_play_values(
    rows: np.ndarray,
    policy: int,
    sets: np.ndarray,
    hands: np.ndarray,
    is_dealer: bool,
    model: DiscardArrays,
    within: float,
    values: np.ndarray,
) -> None:
    """Add to values [N, 15] what the four kept cards are worth in the play, before the starter is known."""
    for i in prange(len(rows)):
        hand, own_values = hands[rows[i]], values[rows[i]]
        room = new_room()
        weights = np.zeros(NUM_RANK_SETS_4)
        fill_kept(hand, model, weights)
        best = own_values.max()
        pegged = np.empty(NUM_DISCARDS)
        for action in range(NUM_DISCARDS):
            kept = kept_ranks(hand, action)
            pegged[action] = -np.inf
            if own_values[action] < best - within:
                continue
            for other in range(action):
                if pegged[other] > -np.inf and _same_ranks(kept, kept_ranks(hand, other)):
                    pegged[action] = pegged[other]
            if pegged[action] == -np.inf:
                pegged[action] = start_value(room, Players(policy, BEST, sets, kept), weights, not is_dealer)
        for action in range(NUM_DISCARDS):
            own_values[action] += pegged[action]


@jit(parallel=True)
def _fill_play_values(
    rows: np.ndarray,
    policy: int,
    sets: np.ndarray,
    model: DiscardArrays,
    seen: np.ndarray,
    own: np.ndarray,
    hands: np.ndarray,
    history: np.ndarray,
    seats: np.ndarray,
    seat: np.ndarray,
    starts: np.ndarray,
    counts: np.ndarray,
    values: np.ndarray,
) -> None:
    for i in prange(len(rows)):
        r = rows[i]
        room = new_room()
        weights = np.empty(NUM_RANK_SETS_4)
        fill_beliefs(model, policy, sets, seen[r], own[r], history[r], seats[r], seat[r], weights)
        ranks = np.zeros(HAND_SIZE, dtype=np.int64)
        for slot in range(HAND_SIZE):
            if hands[r, slot] >= 0:
                ranks[slot] = rank_of(hands[r, slot])
        players = Players(policy, BEST, sets, ranks)
        card_values(room, players, weights, hands[r], history[r], seats[r], seat[r], starts[r], counts[r], values[r])


def best_response_options(options: dict[str, Any], to: Agent) -> BestResponseAgent:
    """The agent of a spec `{name: best_response, to: AGENT, within: POINTS}`. Raises AgentError."""
    within = options.get("within", 2.0)
    if within is not None and (isinstance(within, bool) or not isinstance(within, int | float)):
        raise AgentError(f"within={within!r}: expected points, 0 or more, or null")
    return BestResponseAgent(to, within)
