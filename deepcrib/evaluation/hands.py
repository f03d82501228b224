"""Single hands at 0-0, seats and roles balanced: those won on play points alone, and points a pair of hands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deepcrib.errors import OptionError
from deepcrib.evaluation.metrics import Metrics
from deepcrib.game.engine import Games
from deepcrib.intervals import mean_interval, wilson
from deepcrib.matches import LOCKSTEP_GAMES, Progress, play_hand

if TYPE_CHECKING:
    from deepcrib.agents import Agent

BATCH = 8192  # hands in lockstep


@dataclass
class HandsWon(Metrics):
    """Hands in which one player pegged more play points than the other; ties are won by nobody.

    The metric of Bélanger et al. 2019, table 3 (section 4.4). win_rate with its 95% interval (Wilson), shares of all
    hands; margin in play points a hand.
    """

    hands: int
    wins: int
    ties: int
    losses: int
    win_rate: float
    ci_low: float
    ci_high: float
    margin: float


def hands_won(agent: Agent, opponent: Agent, hands: int, seed: int) -> HandsWon:
    """Play single hands, roles and seats balanced; go and last-card points count as play points."""
    if hands < 1:
        raise OptionError(f"hands={hands}: expected at least 1 hand")
    margins = []
    for low in range(0, hands, BATCH):
        ids = np.arange(low, min(low + BATCH, hands), dtype=np.int64)
        table, seats = _played(agent, opponent, ids, ids % 2, seed)
        signs = np.where(table.log.play_seats == seats[:, None], 1, -1)
        margins.append((table.log.play_points * signs).sum(axis=1))
    margin = np.concatenate(margins)
    wins, losses = int((margin > 0).sum()), int((margin < 0).sum())
    interval = wilson(wins, hands)
    return HandsWon(hands, wins, hands - wins - losses, losses, *interval, margin=float(margin.mean()))


@dataclass
class HandPairs(Metrics):
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


def hand_pairs(agent: Agent, opponent: Agent, pairs: int, seed: int, *, progress: Progress | None = None) -> HandPairs:
    """Play pairs of hands in each of which both deal once (O'Connor 2000), every hand to the end of the show.

    No two hands share cards. `progress` is called with the number of pairs played since its last call. Raises
    OptionError for pairs < 2.
    """
    if pairs < 2:
        raise OptionError(f"pairs={pairs}: expected 2 or more pairs of hands")
    parts = []
    for low in range(0, pairs, LOCKSTEP_GAMES // 2):
        high = min(low + LOCKSTEP_GAMES // 2, pairs)
        ids = np.arange(2 * low, 2 * high, dtype=np.int64)
        agent_seats = ids // 2 % 2
        table, seats = _played(agent, opponent, ids, np.where(ids % 2 == 0, agent_seats, 1 - agent_seats), seed)
        scores, rows = table.state.scores.astype(np.int64), np.arange(len(ids))
        parts.append((scores[rows, seats] - scores[rows, 1 - seats]).reshape(-1, 2))
        if progress is not None:
            progress(high - low)
    margins = np.concatenate(parts)
    interval = mean_interval(margins.sum(axis=1))
    return HandPairs(
        pairs, *interval, dealer_margin=float(margins[:, 0].mean()), pone_margin=float(margins[:, 1].mean())
    )


def _played(
    agent: Agent, opponent: Agent, ids: NDArray[np.int64], dealers: NDArray[np.int64], seed: int
) -> tuple[Games, NDArray[np.int64]]:
    """The hands `ids` [N] after their show, dealt by seats `dealers` [N], and the agent's seats [N]."""
    table = Games(ids, seed, first_dealer=dealers.astype(np.int8), stop_at_121=False)
    seats = ids // 2 % 2
    seating = (np.arange(2) != seats[:, None]).astype(np.int64)  # 0: the agent, 1: the opponent
    play_hand(table, [agent, opponent], seating)
    return table, seats
