"""Hands won on play points alone, the metric of Bélanger et al. 2019, table 3."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deepcrib.errors import OptionError
from deepcrib.game.engine import Games
from deepcrib.intervals import wilson
from deepcrib.matches import play_hand

if TYPE_CHECKING:
    from deepcrib.agents import Agent

BATCH = 8192  # hands in lockstep


@dataclass
class HandsWon:
    """Hands in which one player pegged more play points than the other (section 4.4); ties are won by nobody.

    win_rate with its 95% interval (Wilson), shares of all hands; margin in play points a hand.
    """

    hands: int
    wins: int
    ties: int
    losses: int
    win_rate: float
    ci_low: float
    ci_high: float
    margin: float

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain values."""
        return asdict(self)


def hands_won(agent: Agent, opponent: Agent, hands: int, seed: int, *, first_hand: int = 0) -> HandsWon:
    """Play single hands at 0-0, roles and seats balanced; go and last-card points count as play points."""
    if hands < 1:
        raise OptionError(f"hands={hands}: expected at least 1 hand")
    ids = np.arange(first_hand, first_hand + hands, dtype=np.int64)
    margins = [_margins(agent, opponent, ids[low : low + BATCH], seed) for low in range(0, hands, BATCH)]
    margin = np.concatenate(margins)
    wins, losses = int((margin > 0).sum()), int((margin < 0).sum())
    interval = wilson(wins, hands)
    return HandsWon(hands, wins, hands - wins - losses, losses, *interval, margin=float(margin.mean()))


def _margins(agent: Agent, opponent: Agent, ids: np.ndarray, seed: int) -> np.ndarray:
    """[N] the agent's play points minus the opponent's, in the hands `ids` [N]."""
    table = Games(ids, seed, first_dealer=(ids % 2).astype(np.int8), stop_at_121=False)
    agent_seat = ids // 2 % 2
    seating = (np.arange(2) != agent_seat[:, None]).astype(np.int64)  # 0: the agent, 1: the opponent
    play_hand(table, [agent, opponent], seating)
    signs = np.where(table.log.play_seats == agent_seat[:, None], 1, -1)
    return (table.log.play_points * signs).sum(axis=1)
