"""Search with sampled hands (Partida 2022, algorithm 5): the card that is best on average over the opponent's hands."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from deepcrib.agents.base import Agent, AgentError, HasProbabilities
from deepcrib.agents.hidden_hands import draw_hidden, fill_hidden, hidden_ranks, set_ways
from deepcrib.agents.packed_series import add_rank
from deepcrib.agents.play_tree import (
    NO_VALUE,
    NUM_ENDS,
    STACK,
    fill_play_values,
    join_hands,
    pack_hand,
)
from deepcrib.beliefs.discards import discard_model
from deepcrib.cards import NO_CARD, rank_of
from deepcrib.kernels import jit
from deepcrib.observations import DiscardObservation, PlayObservation
from deepcrib.policies import GREEDY, MAX_SERIES, play_choices
from deepcrib.rules import HAND_SIZE, is_legal_play
from deepcrib.statistics.ranks import NUM_RANK_SETS_4

MINIMAX_NAMES = ("minimax", "greedy_minimax")
SAMPLES = 50
HANDS = ("unseen", "ranks", "kept")
_TIE = 1e-9


class MinimaxAgent:
    """Plays the card with the highest sum of values over sampled hands of the opponent; for two players.

    greedy: whether the opponent is taken for the greedy player (algorithm 6) or for one who knows both hands and plays
    its best (algorithm 3). samples: hands sampled for each decision, the same for all candidate cards; 0 for every
    hand that is possible, weighted exactly. weights [2, 1820], by_ways: how likely an opponent is to keep a rank
    multiset, by its role (1: dealer) (`hidden_hands`). discards: the agent that discards.

    Of cards with equal sums the one that greedy would play: its points are certain, and count before anything that is
    only expected.
    """

    num_players = frozenset({2})

    def __init__(
        self,
        name: str,
        discards: Agent,
        *,
        greedy: bool,
        samples: int = SAMPLES,
        weights: NDArray[np.float64] | None = None,
        by_ways: bool = True,
    ) -> None:
        if samples < 0:
            raise AgentError(f"samples={samples}: expected 1 or more, or 0 for all hands")
        self.name = name
        self.discards_by = discards
        self.greedy = greedy
        self.samples = samples
        self.by_ways = by_ways
        self.weights = np.ones((2, NUM_RANK_SETS_4)) if weights is None else weights

    def discard(self, observation: DiscardObservation) -> NDArray[np.int8]:
        """[N] discard actions."""
        return self.discards_by.discard(observation)

    def play(self, observation: PlayObservation) -> NDArray[np.int8]:
        """[N] slots."""
        o = observation
        sums = self.play_values(o)
        slots = np.empty(len(o), dtype=np.int8)
        _choose(o.hand, o.history, o.series_start, o.count, sums, slots)
        return slots

    def play_values(self, observation: PlayObservation) -> NDArray[np.float64]:
        """[N, 4] mean points still pegged, own minus opponent's, by slot; -inf where it may not be played.

        0 for the legal slots of a row that has only one rank to play.
        """
        o = observation
        if o.num_players != 2:
            raise AgentError(f"agent {self.name} plays with 2 players, not {o.num_players}")
        values = np.empty((len(o), HAND_SIZE))
        _fill_values(
            *(
                o.hand,
                o.seat,
                o.is_dealer,
                o.discards,
                o.starter,
                o.history,
                o.history_seats,
                o.series_start,
                o.count,
                o.key,
            ),
            *(self.greedy, self.samples, self.weights, self.by_ways),
            values,
        )
        return values


def minimax_options(name: str, options: dict[str, Any], discards: Agent) -> MinimaxAgent:
    """`minimax` or `greedy_minimax` from a mapping's `samples` and `hands`. Raises AgentError.

    hands: `unseen`, the opponent holds any of the unseen cards; `ranks`, any rank multiset is as likely as any other
    (the paper's 1,820 hands); `kept`, what the agent `discards` would have kept in the opponent's place.
    """
    samples = options.get("samples", SAMPLES)
    if isinstance(samples, bool) or not isinstance(samples, int) or samples < 0:
        raise AgentError(f"samples={samples!r}: expected a whole number, 1 or more, or 0 for all hands")
    hands = options.get("hands", HANDS[0])
    if hands not in HANDS:
        raise AgentError(f"hands={hands!r}: expected one of {', '.join(HANDS)}")
    return MinimaxAgent(
        name,
        discards,
        greedy=name == MINIMAX_NAMES[1],
        samples=samples,
        weights=kept_shares(discards) if hands == "kept" else None,
        by_ways=hands != "ranks",
    )


def kept_shares(agent: Agent) -> NDArray[np.float64]:
    """[2, 1820]: how often an agent keeps four cards of a rank multiset when it holds them, by role, up to a factor.

    Over all hands of six and their suits; that one's own cards are not among them counts in the ways alone
    (`hidden_hands`). Raises AgentError for an agent that does not give the probabilities of its choices.
    """
    if not isinstance(agent, HasProbabilities):
        raise AgentError(f"hands=kept: agent {agent.name} does not give the probabilities of its discards")
    nothing = np.full((2, 1), NO_CARD, dtype=np.int8)
    kept = discard_model(agent.discard_probabilities).kept_weights(nothing, np.array([False, True]))
    return kept / set_ways()


# --- kernels ------------------------------------------------------------------------------------------------------


@jit
def _choices_of_ranks(hand: np.ndarray, count: int) -> int:
    """Different ranks of a hand [4] that may be played."""
    n = 0
    before = -1
    for slot in range(HAND_SIZE):
        if is_legal_play(count, hand[slot]) and rank_of(hand[slot]) != before:
            before = rank_of(hand[slot])
            n += 1
    return n


@jit
def _add_values(
    own: int,
    series: int,
    count: int,
    greedy: bool,
    hidden: np.ndarray,
    weights: np.ndarray,
    n: int,
    sums: np.ndarray,
) -> None:
    """Add to sums [4] the values of the cards against each of the n hidden hands, as often as its weight says."""
    stack = np.empty(STACK, dtype=np.int64)
    ends = np.empty(NUM_ENDS, dtype=np.int8)
    ranks = np.empty(2 * HAND_SIZE, dtype=np.int8)
    values = np.empty(HAND_SIZE, dtype=np.int64)
    for i in range(n):
        if weights[i] > 0:
            fill_play_values(join_hands(own, hidden[i]), series, count, greedy, stack, ends, ranks, values)
            for slot in range(HAND_SIZE):
                if values[slot] != NO_VALUE:
                    sums[slot] += weights[i] * values[slot]


@jit(parallel=True)
def _fill_values(
    hands: np.ndarray,
    seats: np.ndarray,
    is_dealer: np.ndarray,
    discards: np.ndarray,
    starters: np.ndarray,
    histories: np.ndarray,
    history_seats: np.ndarray,
    starts: np.ndarray,
    counts: np.ndarray,
    keys: np.ndarray,
    greedy: bool,
    samples: int,
    prior: np.ndarray,
    by_ways: bool,
    values: np.ndarray,
) -> None:
    for r in prange(len(hands)):
        for slot in range(HAND_SIZE):
            values[r, slot] = 0.0 if is_legal_play(counts[r], hands[r, slot]) else -np.inf
        if _choices_of_ranks(hands[r], counts[r]) > 1:
            unseen, played, size = hidden_ranks(
                hands[r], seats[r], discards[r], starters[r], histories[r], history_seats[r], starts[r]
            )
            hidden = np.empty(NUM_RANK_SETS_4, dtype=np.int64)
            weights = np.empty(NUM_RANK_SETS_4)
            n = fill_hidden(unseen, played, size, prior[0 if is_dealer[r] else 1], by_ways, hidden, weights)
            total = float(samples) if samples > 0 else np.sum(weights[:n])
            if samples > 0:
                draw_hidden(keys[r], samples, weights, n)
            series = 0
            for k in range(starts[r], histories.shape[1]):
                if histories[r, k] != NO_CARD:
                    series = add_rank(series, rank_of(histories[r, k]))
            _add_values(pack_hand(hands[r]), series, counts[r], greedy, hidden, weights, n, values[r])
            for slot in range(HAND_SIZE):
                values[r, slot] /= total


@jit(parallel=True)
def _choose(
    hands: np.ndarray,
    histories: np.ndarray,
    starts: np.ndarray,
    counts: np.ndarray,
    values: np.ndarray,
    slots: np.ndarray,
) -> None:
    """The slot with the highest value; of several what greedy plays, the lowest slot of equal ranks."""
    for r in prange(len(hands)):
        series = np.empty(MAX_SERIES, dtype=np.int8)
        n = 0
        for k in range(starts[r], histories.shape[1]):
            if histories[r, k] != NO_CARD:
                series[n] = rank_of(histories[r, k])
                n += 1
        best = np.max(values[r])
        equal = np.full(HAND_SIZE, NO_CARD, dtype=np.int8)
        for slot in range(HAND_SIZE):
            if values[r, slot] > -np.inf and values[r, slot] >= best - _TIE:
                equal[slot] = hands[r, slot]
        mask = play_choices(GREEDY, equal, series, n, counts[r])
        slot = 0
        while slot < HAND_SIZE and not mask >> slot & 1:
            slot += 1
        slots[r] = slot if slot < HAND_SIZE else -1  # who may play nothing gets an action that is refused
