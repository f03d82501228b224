"""Points a pair of hands, the measure of O'Connor 2000: in each pair both players deal once."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.errors import OptionError
from deepcrib.game.engine import Games
from deepcrib.intervals import mean_interval
from deepcrib.matches import LOCKSTEP_GAMES, Progress, play_hand

if TYPE_CHECKING:
    from deepcrib.agents import Agent


@dataclass
class HandPairs:
    """Points of the agent less the opponent's in pairs of hands: heels, play, hands and cribs.

    margin: mean a pair, with its 95% interval low..high over pairs. dealer_margin, pone_margin: means a hand by the
    agent's role; they add up to margin.
    """

    pairs: int
    margin: float
    low: float
    high: float
    dealer_margin: float
    pone_margin: float

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain values."""
        return asdict(self)


def hand_pairs(agent: Agent, opponent: Agent, pairs: int, seed: int, *, progress: Progress | None = None) -> HandPairs:
    """Play pairs of hands at 0-0, every hand to the end of the show; seats are balanced, no two hands share cards.

    `progress` is called with the number of pairs played since its last call. Raises OptionError for pairs < 2.
    """
    if pairs < 2:
        raise OptionError(f"pairs={pairs}: expected 2 or more pairs of hands")
    parts = []
    for low in range(0, pairs, LOCKSTEP_GAMES // 2):
        high = min(low + LOCKSTEP_GAMES // 2, pairs)
        parts.append(_margins(agent, opponent, np.arange(2 * low, 2 * high, dtype=np.int64), seed))
        if progress is not None:
            progress(high - low)
    margins = np.concatenate(parts)
    interval = mean_interval(margins.sum(axis=1))
    return HandPairs(
        pairs, *interval, dealer_margin=float(margins[:, 0].mean()), pone_margin=float(margins[:, 1].mean())
    )


def _margins(agent: Agent, opponent: Agent, ids: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """[P, 2] points of the agent less the opponent's, by pair: the hand that it deals, and the other."""
    seats = ids // 2 % 2
    dealers = np.where(ids % 2 == 0, seats, 1 - seats).astype(np.int8)
    table = Games(ids, seed, first_dealer=dealers, stop_at_121=False)
    seating = (np.arange(2) != seats[:, None]).astype(np.int64)  # 0: the agent, 1: the opponent
    play_hand(table, [agent, opponent], seating)
    scores, rows = table.state.scores.astype(np.int64), np.arange(len(ids))
    return (scores[rows, seats] - scores[rows, 1 - seats]).reshape(-1, 2)
