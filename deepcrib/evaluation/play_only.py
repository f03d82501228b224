"""The play alone, between random four-card hands (Partida 2022, section 3): nobody discards, nothing is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import require_players
from deepcrib.agents.asking import ask, named
from deepcrib.errors import OptionError
from deepcrib.evaluation.metrics import Metrics
from deepcrib.exact.pegging import DEALER, PONE, deal_kept
from deepcrib.game.cards import NO_CARD, NUM_CARDS
from deepcrib.game.engine import Games
from deepcrib.game.randomness import KEPT_DEAL, below, hash_key
from deepcrib.game.rules import HAND_SIZE
from deepcrib.intervals import mean_interval
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows

if TYPE_CHECKING:
    from deepcrib.agents import Agent

BATCH = 8192  # hands in lockstep


@dataclass
class PlayOnly(Metrics):
    """Points of the play, go and last card included, of one player and its opponent on average over hands.

    difference: own minus opponent's, points a hand, with its 95% interval: Student's t on pairs of hands, one as pone
    and the next as dealer (with the same cards where `duplicate`). as_pone, as_dealer: the difference by own role.
    """

    hands: int
    duplicate: bool
    difference: float
    ci_low: float
    ci_high: float
    points: float
    opponent_points: float
    as_pone: float
    as_dealer: float

    def by_role(self) -> dict[str, float]:
        """The difference by own role."""
        return {"difference as pone": self.as_pone, "difference as dealer": self.as_dealer}


def play_only(
    agent: Agent,
    opponent: Agent,
    hands: int,
    seed: int,
    *,
    duplicate: bool = False,
    progress: Callable[[int], None] | None = None,
) -> PlayOnly:
    """Let two agents play random hands of four cards, the agent as pone in one and as dealer in the next.

    Hand h of a seed has the same cards whoever plays; with `duplicate` hands 2i and 2i + 1 have them too. The starter
    is a random card of the rest, which counts for nothing here but is seen, as in a real play; there are no discards,
    and the score is 0-0. So agents meet nothing that they do not meet in games, except that they threw nothing away.
    Raises OptionError for hands that cannot be played, AgentError for an agent that does not play with two.
    """
    return summarise(play_points(agent, opponent, hands, seed, duplicate=duplicate, progress=progress), duplicate)


def play_points(
    agent: Agent,
    opponent: Agent,
    hands: int,
    seed: int,
    *,
    duplicate: bool = False,
    progress: Callable[[int], None] | None = None,
) -> NDArray[np.int64]:
    """[hands, 2] points of agent and opponent in the hands of `play_only`, which takes the same arguments.

    Hand by hand two agents can be compared on the same cards: that is far sharper than their two intervals.
    """
    check_hands(hands)
    for player in (agent, opponent):
        require_players(player, 2)
    parts = []
    for low in range(0, hands, BATCH):
        numbers = np.arange(low, min(low + BATCH, hands), dtype=np.int64)
        parts.append(_play(agent, opponent, numbers, seed, duplicate))
        if progress is not None:
            progress(len(numbers))
    return np.concatenate(parts)


def summarise(points: NDArray[np.int64], duplicate: bool) -> PlayOnly:
    """The figures of points [hands, 2]."""
    margins = points[:, 0] - points[:, 1]
    # Roles alternate by design: what they are worth must not be counted as chance.
    interval = mean_interval(margins.reshape(-1, 2).mean(axis=1))
    by_role = [float(margins[role::2].mean()) for role in (PONE, DEALER)]
    return PlayOnly(len(points), duplicate, *interval, *map(float, points.mean(axis=0)), *by_role)


def check_hands(hands: int) -> None:
    """Refuse numbers of hands that are not two pairs or more, of one hand as pone and one as dealer."""
    if hands < 4 or hands % 2:
        raise OptionError(f"hands={hands}: hands are played in pairs, expected an even number, 4 or more")


def deal_table(hands: NDArray[np.int64], seed: int) -> Games:
    """Hands `hands` of a seed before the first card is played: seat 0 leads, seat 1 deals; see `play_only`."""
    table = Games(hands, seed, first_dealer=np.full(len(hands), DEALER), stop_at_121=False)
    table.deal()
    state = table.state
    run_rows(_deal_rows, len(hands), seed, hands, state.kept, state.starter)
    state.left[:] = state.kept
    state.discards[:] = NO_CARD
    state.turn[:] = PONE
    return table


def _play(agent: Agent, opponent: Agent, hands: NDArray[np.int64], seed: int, duplicate: bool) -> NDArray[np.int64]:
    """[N, 2] points of agent and opponent."""
    deals, repeats = np.unique(hands // 2 if duplicate else hands, return_counts=True)
    table = deal_table(np.repeat(deals, repeats), seed)
    agent_seat = hands % 2
    while len(to_play := table.to_play):
        mine = table.turn[to_play] == agent_seat[to_play]
        for player, rows in ((agent, to_play[mine]), (opponent, to_play[~mine])):
            if len(rows):
                slots = ask(player, table.play_observation(rows))
                with named(player):
                    table.play(rows, slots)
    by_seat = np.stack(
        [(table.log.play_points * (table.log.play_seats == seat)).sum(axis=1) for seat in (0, 1)], axis=1
    )
    return np.take_along_axis(by_seat, np.stack([agent_seat, 1 - agent_seat], axis=1), axis=1).astype(np.int64)


@jit
def _deal_rows(part: Part, seed: int, hands: np.ndarray, kept: np.ndarray, starter: np.ndarray) -> None:
    for r in range(*part):
        pone, dealer = deal_kept(seed, hands[r])
        drawn = 0
        for slot in range(HAND_SIZE):
            kept[r, PONE, slot] = pone[slot]
            kept[r, DEALER, slot] = dealer[slot]
            drawn |= (1 << pone[slot]) | (1 << dealer[slot])
        skip = below(hash_key(seed, hands[r], 0, -1, KEPT_DEAL), 2 * HAND_SIZE, NUM_CARDS - 2 * HAND_SIZE)
        card = 0
        while skip > 0 or drawn >> card & 1:
            skip -= 1 - (drawn >> card & 1)
            card += 1
        starter[r] = card
