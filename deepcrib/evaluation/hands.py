"""Single hands at 0-0, roles balanced: those won on play points, points a pair of hands, and the play alone.

The play alone is that of random four-card hands (Partida 2022, section 3): nobody discards, nothing is shown.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import Agent, require_players
from deepcrib.errors import OptionError
from deepcrib.evaluation.metrics import Metrics
from deepcrib.exact.pegging import DEALER, PONE, deal_kept
from deepcrib.game.cards import NO_CARD, NUM_CARDS
from deepcrib.game.engine import Games
from deepcrib.game.randomness import KEPT_DEAL, below, hash_key
from deepcrib.game.rules import HAND_SIZE
from deepcrib.intervals import mean_interval, wilson
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows
from deepcrib.matches import LOCKSTEP_GAMES, Progress, batches, play_cards, play_hand

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
    played = (_played(agent, opponent, ids, ids % 2, seed) for ids in batches(hands, BATCH))
    points = np.concatenate([_pegged(table, seats) for table, seats in played])
    margin = points[:, 0] - points[:, 1]
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
    for numbers in batches(pairs, LOCKSTEP_GAMES // 2, progress):
        ids = np.arange(2 * numbers[0], 2 * numbers[-1] + 2, dtype=np.int64)
        agent_seats = ids // 2 % 2
        table, seats = _played(agent, opponent, ids, np.where(ids % 2 == 0, agent_seats, 1 - agent_seats), seed)
        scores, rows = table.state.scores.astype(np.int64), np.arange(len(ids))
        parts.append((scores[rows, seats] - scores[rows, 1 - seats]).reshape(-1, 2))
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
    play_hand(table, [agent, opponent], _seating(seats))
    return table, seats


def _seating(seats: NDArray[np.int64]) -> NDArray[np.int64]:
    """[N, 2] who sits at each seat, 0 for the agent, whose seats [N] are given, and 1 for the opponent."""
    return (np.arange(2) != seats[:, None]).astype(np.int64)


def _pegged(table: Games, seats: NDArray[np.int64]) -> NDArray[np.int64]:
    """[N, 2] points of the play of the agent, at seats [N], and of the opponent."""
    own = table.state.history_seats == seats[:, None]
    points = table.state.play_points.astype(np.int64)
    return np.stack([(points * own).sum(axis=1), (points * ~own).sum(axis=1)], axis=1)


# --- the play alone ----------------------------------------------------------------------------------------------


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


def play_only(
    agent: Agent, opponent: Agent, hands: int, seed: int, *, duplicate: bool = False, progress: Progress | None = None
) -> PlayOnly:
    """Let two agents play random hands of four cards, the agent as pone in one and as dealer in the next.

    Hand h of a seed has the same cards whoever plays; with `duplicate` hands 2i and 2i + 1 have them too. The starter
    is a random card of the rest, which counts for nothing here but is seen, as in a real play; there are no discards,
    and the score is 0-0. So agents meet nothing that they do not meet in games, except that they threw nothing away.
    Raises OptionError for hands that cannot be played, AgentError for an agent that does not play with two.
    """
    return play_metrics(pegged_points(agent, opponent, hands, seed, duplicate=duplicate, progress=progress), duplicate)


def pegged_points(
    agent: Agent, opponent: Agent, hands: int, seed: int, *, duplicate: bool = False, progress: Progress | None = None
) -> NDArray[np.int64]:
    """[hands, 2] points of agent and opponent in the hands of `play_only`, which takes the same arguments.

    Hand by hand two agents can be compared on the same cards: that is far sharper than their two intervals.
    """
    check_hands(hands)
    for player in (agent, opponent):
        require_players(player, 2)
    parts = []
    for numbers in batches(hands, BATCH, progress):
        deals, repeats = np.unique(numbers // 2 if duplicate else numbers, return_counts=True)
        table, seats = deal_table(np.repeat(deals, repeats), seed), numbers % 2
        play_cards(table, [agent, opponent], _seating(seats))
        parts.append(_pegged(table, seats))
    return np.concatenate(parts)


def play_metrics(points: NDArray[np.int64], duplicate: bool) -> PlayOnly:
    """The metrics of points [hands, 2]."""
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
