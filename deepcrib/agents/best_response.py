"""The best response to an opponent whose ways are known: what a perfect reader of one player would do.

It knows how the opponent discards and plays, never what it holds. In the play it takes the card of the highest exact
mean of own minus opponent's points over all hands that the opponent may hold (`expectimax`); in the discard, the
highest mean of hand, crib and play together. It plays for points, not for the game: its points a hand are the most
there are against that opponent, its win rate is only a lower bound of what a responder who looks at the score could
reach.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
from functools import cached_property
from pathlib import Path
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
from deepcrib.cards import NUM_SUITS, rank_of
from deepcrib.errors import RunError
from deepcrib.files import write_atomic
from deepcrib.kernels import cache_folder, jit
from deepcrib.observations import DiscardObservation, PlayObservation
from deepcrib.rules import HAND_SIZE, KEPT_SLOTS_6
from deepcrib.statistics.cribs import NUM_DISCARDS
from deepcrib.statistics.discards import HAND_STARTERS, discard_statistics
from deepcrib.statistics.ranks import NUM_RANK_SETS_4, rank_set_4
from deepcrib.statistics.strategies import best_choices

WITHIN = 0.3
"""Points; see `BestResponseAgent`."""
NO_TABLE = np.zeros(0)


class BestResponseAgent:
    """Plays the best response to one fixed opponent. For two players.

    Args:
        to: the opponent, which must know its discard probabilities and play as one of `policies.POLICIES` does. Its
            discards are taken to be those at 0-0.
        within: points; discards that seem so much worse than the best one, by exact hand and crib and the play's value
            when only the kept cards are known (`play_table`), are not searched. None searches all, many times slower.
            Of 300 discards against greedy none was another one for it, and the widest gap was 0.13 points.
    """

    num_players = frozenset({2})

    def __init__(self, to: Agent, within: float | None = WITHIN) -> None:
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

    @cached_property
    def play_table(self) -> NDArray[np.float64]:
        """[2, 1820] what each rank multiset is worth in the play, as pone and as dealer, when nothing else is known.

        Worked out when first needed, in a minute or several, and then kept beside the compiled code.
        """
        folder = cache_folder(Path(__file__))
        path = folder / f"play_{self._digest()}.npy" if folder is not None else None
        if path is not None:
            with contextlib.suppress(OSError, ValueError, EOFError):
                table: NDArray[np.float64] = np.load(path, allow_pickle=False)
                if table.shape == (2, NUM_RANK_SETS_4):
                    return table
        table = self._new_play_table()
        if path is not None:
            content = io.BytesIO()
            np.save(content, table)
            with contextlib.suppress(RunError):
                write_atomic(path, content.getvalue())
        return table

    def _digest(self) -> str:
        content = hashlib.blake2b(str(self.policy).encode(), digest_size=12)
        for arrays in self.model.arrays:
            for array in arrays:
                content.update(np.ascontiguousarray(array).tobytes())
        return content.hexdigest()

    def _new_play_table(self) -> NDArray[np.float64]:
        table = np.empty((2, NUM_RANK_SETS_4))
        for is_dealer in (False, True):
            _fill_play_table(self.policy, SETS_4, is_dealer, self.against(is_dealer), table[int(is_dealer)])
        return table

    def discard_values(self, observation: DiscardObservation) -> NDArray[np.float64]:
        """[N, 15] mean own minus opponent's points from hand, crib and play; -inf for those given up by `within`.

        The opponent's hand and heels, which no discard changes, are left out. Where `within` leaves one discard alone,
        that has the value by which it was chosen.
        """
        values = self.show_values(observation)
        exact = np.isinf(self.within)
        for is_dealer in (False, True):
            rows = np.flatnonzero(observation.is_dealer == is_dealer)
            table = NO_TABLE if exact else self.play_table[int(is_dealer)]
            model = self.against(is_dealer)
            _add_play_values(rows, self.policy, SETS_4, observation.hand, is_dealer, model, table, self.within, values)
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
    table: np.ndarray,
    within: float,
    values: np.ndarray,
) -> None:
    """Add to values [N, 15] what the four kept cards are worth in the play, before the starter is known."""
    for i in prange(len(rows)):
        hand, own_values = hands[rows[i]], values[rows[i]]
        searched = np.ones(NUM_DISCARDS, dtype=np.bool_)
        if len(table) > 0:
            _choose_searched(hand, table, within, own_values, searched)
            if searched.sum() == 1:
                continue
        room = new_room()
        weights = np.zeros(NUM_RANK_SETS_4)
        fill_kept(hand, model, weights)
        pegged = np.full(NUM_DISCARDS, -np.inf)
        for action in range(NUM_DISCARDS):
            if searched[action]:
                kept = kept_ranks(hand, action)
                for other in range(action):
                    if searched[other] and _same_ranks(kept, kept_ranks(hand, other)):
                        pegged[action] = pegged[other]
                if pegged[action] == -np.inf:
                    pegged[action] = start_value(room, Players(policy, BEST, sets, kept), weights, not is_dealer)
                if len(table) > 0:
                    own_values[action] -= table[kept_set(kept)]
        for action in range(NUM_DISCARDS):
            own_values[action] += pegged[action]


@jit
def kept_set(kept: np.ndarray) -> int:
    """Number of the rank multiset of ascending ranks [4]."""
    return rank_set_4(kept[0], kept[1], kept[2], kept[3])


@jit
def _choose_searched(
    hand: np.ndarray, table: np.ndarray, within: float, values: np.ndarray, searched: np.ndarray
) -> None:
    """Add the table's values to values [15], and leave in searched [15] those near the best; the others get -inf."""
    for action in range(NUM_DISCARDS):
        values[action] += table[kept_set(kept_ranks(hand, action))]
    best = values.max()
    for action in range(NUM_DISCARDS):
        searched[action] = values[action] >= best - within
        if not searched[action]:
            values[action] = -np.inf


@jit(parallel=True)
def _fill_play_table(policy: int, sets: np.ndarray, is_dealer: bool, model: DiscardArrays, table: np.ndarray) -> None:
    """table [1820]: value of the play of each rank multiset, in the first suits that make it."""
    for number in prange(len(sets)):
        cards = np.empty(HAND_SIZE, dtype=np.int8)
        ranks = np.empty(HAND_SIZE, dtype=np.int64)
        for slot in range(HAND_SIZE):
            ranks[slot] = sets[number, slot]
            cards[slot] = NUM_SUITS * ranks[slot]
            for earlier in range(slot):
                cards[slot] += ranks[earlier] == ranks[slot]
        weights = np.zeros(NUM_RANK_SETS_4)
        fill_kept(cards, model, weights)
        table[number] = start_value(new_room(), Players(policy, BEST, sets, ranks), weights, not is_dealer)


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
    within = options.get("within", WITHIN)
    if within is not None and (isinstance(within, bool) or not isinstance(within, int | float)):
        raise AgentError(f"within={within!r}: expected points, 0 or more, or null")
    return BestResponseAgent(to, within)
