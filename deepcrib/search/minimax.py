"""Search with sampled hands (Partida 2022, algorithm 5): the card that is best on average over the opponent's hands.

What the opponent may hold is weighted by `beliefs`, whatever it plays with: its whole kept hand as a rank multiset, as
likely as the cards it was made from, before it played any of them.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.asking import OthersDiscards, Probabilities, knows_probabilities
from deepcrib.agents.base import Agent, AgentError
from deepcrib.exact.beliefs.discards import DiscardModel, discard_model
from deepcrib.exact.beliefs.plays import SETS_4, count_played, hands_by_rules, kept_beliefs
from deepcrib.game.cards import NO_CARD, NUM_RANKS, NUM_SUITS
from deepcrib.game.observations import PlayColumns, PlayObservation
from deepcrib.game.policies import GREEDY, lowest, play_choices
from deepcrib.game.randomness import uniform
from deepcrib.game.rules import HAND_SIZE, RANK_BITS, series_from
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows
from deepcrib.search.play_tree import NO_VALUE, NUM_ENDS, STACK, fill_play_values, join_hands, pack_hand

SAMPLES = 50
MOST_SAMPLES = 1_000_000
HANDS = ("unseen", "ranks", "kept")
_TIE = 1e-9
_BLOCK = 1024  # decisions whose weights, 15 kB each, are held at once


class MinimaxAgent(OthersDiscards):
    """Plays the card with the highest sum of values over sampled hands of the opponent; for two players.

    greedy: whether the opponent is taken for the greedy player (algorithm 6) or for one who knows both hands and plays
    its best (algorithm 3). samples: hands sampled for each decision, the same for all candidate cards; 0 for every
    hand that is possible, weighted exactly. discards: the agent that discards. hands: how likely each is, of HANDS:
    `unseen`, the opponent kept any four of the cards that are not one's own or the starter; `ranks`, any rank multiset
    is as likely as any other (the paper's 1,820 hands); `kept`, what the agent `discards` would have kept in the
    opponent's place. In all three only hands count that hold what was played and nothing that contradicts a go. Raises
    AgentError for other numbers or names, and for `kept` where the agent that discards does not give the probabilities
    of its choices.

    Of cards with equal sums the one that greedy would play: its points are certain, and count before anything that is
    only expected.
    """

    def __init__(
        self, name: str, discards: Agent, *, greedy: bool, samples: int = SAMPLES, hands: str = HANDS[0]
    ) -> None:
        if isinstance(samples, bool) or not isinstance(samples, int) or not 0 <= samples <= MOST_SAMPLES:
            raise AgentError(
                f"samples={samples!r}: expected a whole number, 1 to {MOST_SAMPLES:,}, or 0 for all possible hands"
            )
        if hands not in HANDS:
            raise AgentError(f"hands={hands!r}: expected one of {', '.join(HANDS)}")
        if hands == "kept" and not knows_probabilities(discards):
            raise AgentError(f"hands=kept: agent {discards.name} does not give the probabilities of its discards")
        self.name = name
        self.discards_by = discards
        self.greedy = greedy
        self.samples = samples
        self.hands = hands

    @cached_property
    def _model(self) -> DiscardModel:
        return discard_model(Probabilities(self.discards_by).discard_probabilities)

    def play(self, observation: PlayObservation) -> NDArray[np.int8]:
        """[N] slots."""
        sums, slots = self.play_values(observation), np.empty(len(observation), dtype=np.int8)
        run_rows(_choose, len(slots), observation.columns, sums, slots)
        return slots

    def play_values(self, observation: PlayObservation) -> NDArray[np.float64]:
        """[N, 4] mean points still pegged, own minus opponent's, by slot; -inf where it may not be played.

        0 for the legal slots of a row that has only one rank to play.
        """
        o = observation
        if o.num_players != 2:
            raise AgentError(f"agent {self.name} plays with 2 players, not {o.num_players}")
        values = np.where(o.legal, 0.0, -np.inf)
        chosen = np.flatnonzero(has_choice(o))
        for low in range(0, len(chosen), _BLOCK):
            rows = chosen[low : low + _BLOCK]
            part = o.take(rows)
            found = np.zeros((len(rows), HAND_SIZE))
            weights = self.hand_weights(part)
            run_rows(_fill_values, len(rows), part.columns, self.greedy, self.samples, weights, found, piece=4)
            values[rows] += found
        return values

    def hand_weights(self, observation: PlayObservation) -> NDArray[np.float64]:
        """[N, 1820] weights of the opponent's kept hands, rank multisets with what it has played; not normalised."""
        o = observation
        if self.hands == "kept":
            return kept_beliefs(self._model, o)
        weights = hands_by_rules(o)
        return np.sign(weights) if self.hands == "ranks" else weights


def has_choice(observation: PlayObservation) -> NDArray[np.bool_]:
    """[N] whether cards of two different ranks may be played."""
    ranks = observation.hand // NUM_SUITS
    highest = np.where(observation.legal, ranks, -1).max(axis=1)
    return highest > np.where(observation.legal, ranks, NUM_RANKS).min(axis=1)


# --- kernels ------------------------------------------------------------------------------------------------------


@jit
def sample_hands(key: int, samples: int, weights: np.ndarray) -> None:
    """Draw `samples` of the hands by their weights, which are replaced by how often each was drawn."""
    bounds = np.cumsum(np.maximum(weights, 0.0))
    total = bounds[-1]
    last = np.searchsorted(bounds, total)  # the last hand that weighs anything
    weights[:] = 0.0
    for i in range(samples):
        found = np.searchsorted(bounds, uniform(key, i) * total, side="right")
        weights[min(found, last)] += 1


@jit
def _pack_hidden(ranks: np.ndarray, played: np.ndarray) -> int:
    """The bits (`play_tree`) of a kept hand of ascending ranks [4] without the played cards of each rank, [13]."""
    cards = 0
    size = 0
    same = 0
    for slot in range(HAND_SIZE):
        same = same + 1 if slot > 0 and ranks[slot] == ranks[slot - 1] else 1
        if same > played[ranks[slot]]:
            cards |= (int(ranks[slot]) + 1) << (RANK_BITS * size)
            size += 1
    return cards


@jit
def _add_values(
    own: int, series: int, count: int, greedy: bool, played: np.ndarray, weights: np.ndarray, sums: np.ndarray
) -> None:
    """Add to sums [4] the values of the cards against each kept hand less what was played, as often as weights say."""
    stack = np.empty(STACK, dtype=np.int64)
    ends = np.empty(NUM_ENDS, dtype=np.int8)
    values = np.empty(HAND_SIZE, dtype=np.int64)
    for number in range(len(SETS_4)):
        if weights[number] > 0:
            cards = join_hands(own, _pack_hidden(SETS_4[number], played))
            fill_play_values(cards, series, count, greedy, stack, ends, values)
            for slot in range(HAND_SIZE):
                if values[slot] != NO_VALUE:
                    sums[slot] += weights[number] * values[slot]


@jit
def _fill_values(
    part: Part, o: PlayColumns, greedy: bool, samples: int, weights: np.ndarray, values: np.ndarray
) -> None:
    """values [N, 4] by slot, 0 where it may not be played; weights [N, 1820] are used up."""
    for r in range(*part):
        played = np.zeros(NUM_RANKS, dtype=np.int64)
        count_played(o.history[r], o.history_seats[r], o.seat[r], played)
        series = series_from(o.history[r], o.series_start[r])
        total = float(samples) if samples > 0 else np.sum(weights[r])
        if samples > 0:
            sample_hands(o.key[r], samples, weights[r])
        _add_values(pack_hand(o.hand[r]), series, o.counts[r], greedy, played, weights[r], values[r])
        for slot in range(HAND_SIZE):
            values[r, slot] /= total


@jit
def _choose(part: Part, o: PlayColumns, values: np.ndarray, slots: np.ndarray) -> None:
    """The slot with the highest value; of several what greedy plays, the lowest slot of equal ranks."""
    for r in range(*part):
        best = np.max(values[r])
        equal = np.full(HAND_SIZE, NO_CARD, dtype=np.int8)
        for slot in range(HAND_SIZE):
            if values[r, slot] > -np.inf and values[r, slot] >= best - _TIE:
                equal[slot] = o.hand[r, slot]
        mask = play_choices(GREEDY, equal, series_from(o.history[r], o.series_start[r]), o.counts[r])
        slots[r] = lowest(mask) if mask else -1  # who may play nothing gets an action that is refused
