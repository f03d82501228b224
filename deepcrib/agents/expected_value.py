"""The expected-value players: the best mean of hand and crib, against an opponent who throws as experts do.

Partida 2022 asks whether what a hand is worth in the play should count in the discard; the second of them counts it.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.scripted import BestDiscards
from deepcrib.exact.cribs import NUM_DISCARDS
from deepcrib.exact.discards import HAND_STARTERS, crib_means, discard_statistics
from deepcrib.exact.experts import expert_sums
from deepcrib.exact.pegging import MEAN_GAINED, MEAN_GIVEN, exact_records
from deepcrib.game.cards import RANKS
from deepcrib.game.observations import DiscardObservation
from deepcrib.game.rank_sets import rank_set_numbers
from deepcrib.game.rules import KEPT_SLOTS_6


class DiscardExpectations(NamedTuple):
    """What discards bring on average to the player who throws: points [N, 15] by discard action.

    Exact. hand_mean: of the kept cards, over the 46 starters. crib_mean: of the crib, negative to the pone, over its
    45,540 completions weighted as the experts of `exact.experts` throw. pegging: own minus the opponent's points
    of the play between two greedy players, over every four of the 48 cards not kept, all as likely. The opponent's
    hand and heels, which no discard changes, are in none of them, and neither is the score.
    """

    hand_mean: NDArray[np.float64]
    crib_mean: NDArray[np.float64]
    pegging: NDArray[np.float64]

    @property
    def total(self) -> NDArray[np.float64]:
        """[N, 15] points of hand, crib and pegging."""
        return self.hand_mean + self.crib_mean + self.pegging


def expectations_of(hands: NDArray[np.integer], is_dealer: NDArray[np.bool_]) -> DiscardExpectations:
    """The exact expectations of every discard of sorted hands [N, 6], of dealers or pones [N]; else StatisticsError."""
    shown = _hand_means(hands), _crib_means(hands, is_dealer)
    return DiscardExpectations(*shown, _pegging_means(hands, is_dealer, play_means()))


class ExpectedValueAgent(BestDiscards):
    """Discards for the highest hand mean plus (as pone: minus) crib mean, ties uniform; plays as greedy does.

    Means are exact, over the 46 cards not seen; the crib mean is that against the self-consistent discards of
    `exact.experts`. pegging: what the four kept cards peg on average is added. For two players.
    """

    discard_unit = "points"

    def __init__(self, *, pegging: bool = False) -> None:
        self.name = "expected_value_pegging" if pegging else "expected_value"
        self._play_means = play_means() if pegging else None

    def discard_values(self, observation: DiscardObservation) -> NDArray[np.float64]:
        """[N, 15] points of hand and crib on average, the crib's with the sign of the one who counts it.

        With `pegging` also those of the play, own minus opponent's.
        """
        hands, is_dealer = observation.hand, observation.is_dealer
        values = _hand_means(hands) + _crib_means(hands, is_dealer)
        return values if self._play_means is None else values + _pegging_means(hands, is_dealer, self._play_means)


@cache
def play_means() -> NDArray[np.float64]:
    """[1820, 2]: play points gained minus given on average by rank multiset kept and role (1: dealer).

    Of greedy against itself over every hand that the opponent may hold (`exact.pegging.exact_records`).
    """
    summary = exact_records().summary()
    return np.ascontiguousarray(summary[..., MEAN_GAINED] - summary[..., MEAN_GIVEN])


def _hand_means(hands: NDArray[np.integer]) -> NDArray[np.float64]:
    return discard_statistics(hands)["hand_sum"] / HAND_STARTERS


def _crib_means(hands: NDArray[np.integer], is_dealer: NDArray[np.bool_]) -> NDArray[np.float64]:
    """[N, 15] points of the crib against experts, with the sign of the one who counts it."""
    means = np.empty((len(hands), NUM_DISCARDS))
    for role in (False, True):
        rows = is_dealer == role
        cribs = crib_means(hands[rows], expert_sums(role))
        means[rows] = cribs if role else -cribs
    return means


def _pegging_means(
    hands: NDArray[np.integer], is_dealer: NDArray[np.bool_], means: NDArray[np.float64]
) -> NDArray[np.float64]:
    """[N, 15] of means by rank multiset kept and role."""
    kept = rank_set_numbers(RANKS[hands[:, KEPT_SLOTS_6]])
    return means[kept, is_dealer.astype(np.int64)[:, None]]
