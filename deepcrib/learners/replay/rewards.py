"""Rewards and returns, computed from the points of hands: arrays in, arrays out.

Plays are [H, 8]: the k-th card of each hand, its seat and the points that it pegged, a go or last-card point
included. A player's decision is followed by its own next one in the same hand (`next_own`) or by the end of the hand.
The seat is -1 where a game was over before that card (`up_to_the_win`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deepcrib.game.rules import MAX_SCORE
from deepcrib.plugins import Registry, array_of, function_of

if TYPE_CHECKING:
    from deepcrib.matches.trajectories import Trajectories

_Float = NDArray[np.float32]


def next_own(seats: NDArray[np.int8]) -> NDArray[np.int64]:
    """[H, K] index of the next play by the same seat, -1 after its last card."""
    following = np.full(seats.shape, -1, dtype=np.int64)
    latest = np.full((len(seats), int(seats.max(initial=0)) + 2), -1, dtype=np.int64)  # the last is nobody's, seat -1
    hands = np.arange(len(seats))
    for play in range(seats.shape[1] - 1, -1, -1):
        following[:, play] = latest[hands, seats[:, play]]
        latest[hands, seats[:, play]] = np.where(seats[:, play] >= 0, play, -1)
    return following


def returns_to_the_end(rewards: _Float, following: NDArray[np.int64]) -> _Float:
    """[H, K] sums of one's own rewards from each play to the end of the hand (section 3: gamma = 1)."""
    returns, hands = rewards.astype(np.float32), np.arange(len(rewards))
    for play in range(rewards.shape[1] - 1, -1, -1):
        later = following[:, play]
        returns[:, play] += np.where(later >= 0, returns[hands, later], 0)
    return returns


def offensive(points: NDArray[np.int8], seats: NDArray[np.int8]) -> _Float:
    """Points of the action itself (Bélanger et al. 2019, section 3.7.1)."""
    return points.astype(np.float32)


def offensive_defensive(points: NDArray[np.int8], seats: NDArray[np.int8]) -> _Float:
    """Points of the action minus the opponent's until one's own next action or the end of the hand (3.7.1)."""
    pegged = points.astype(np.float32)
    following = next_own(seats)
    num_plays = seats.shape[1]
    ends = np.where(following >= 0, following, num_plays)
    total = np.concatenate([np.zeros((len(pegged), 1), np.float32), np.cumsum(pegged, axis=1)], axis=1)
    # Whatever is pegged strictly between two of one's own plays is the opponent's.
    between = np.take_along_axis(total, ends, axis=1) - total[:, 1:]
    return pegged - between


margin = offensive_defensive
"""All own minus all opponent's points of the play until one's own next action or the end of the hand.

A go or last-card point belongs to the card last played, so with two players one's own points until the next action are
those of the action, and the two are one (a test proves it from the definitions).
"""


def game(points: NDArray[np.int8], seats: NDArray[np.int8], tie: float = 0.0) -> _Float:
    """1 with one's last card for the most points in the play of the hand, `tie` for as many, else 0 (3.7.1)."""
    won = play_totals(points, seats)
    own = np.take_along_axis(won, seats.astype(np.int64), axis=1)
    other = won.sum(axis=1, keepdims=True) - own
    result = np.where(own > other, 1.0, np.where(own == other, tie, 0.0))
    return np.where((next_own(seats) < 0) & (seats >= 0), result, 0.0).astype(np.float32)


def game_ties(points: NDArray[np.int8], seats: NDArray[np.int8]) -> _Float:
    """`game` with 0.5 for a tie."""
    return game(points, seats, tie=0.5)


_PLAY_REWARDS = {reward.__name__: reward for reward in (offensive, offensive_defensive, game, game_ties)}
PLAY_REWARDS = Registry("play reward", {**_PLAY_REWARDS, "margin": margin}, function_of("points", "seats"))


def play_rewards(hands: Trajectories, kind: str, game_bonus: float = 0.0, hand_bonus: float = 0.0) -> _Float:
    """[H, 8] rewards of one of PLAY_REWARDS, and the bonuses for what was won, in its units (points, but for `game`).

    game_bonus: for the winner's last card of a game (Bélanger et al. 2019, section 5: the dense reward with "an
    additional large reward at the end of the game for the winner"), the last before the peg that won it. The loser
    gets nothing. hand_bonus: with one's last card, for the most points in the play of the hand; half of it for as many.
    """
    pegged = hands.play_points, hands.play_seats
    rewards: _Float = array_of("play reward", kind, PLAY_REWARDS.find(kind), pegged[0].shape, *pegged)
    if hand_bonus:
        rewards = rewards + np.float32(hand_bonus) * game_ties(hands.play_points, hands.play_seats)
    if game_bonus:
        rewards = rewards + np.float32(game_bonus) * winning_plays(hands)
    return rewards


# --- who won the game -------------------------------------------------------------------------------------------

_CRIB_PEG = 11
"""Number of a hand's last peg."""


def winning_pegs(hands: Trajectories) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(winner [H], peg [H]): the seat that reached 121 in a hand and with what; -1 where nobody did.

    Pegs come in the order of the rules: 0 heels, 1..8 the cards of the play (go and last card with theirs), 9 the
    pone's hand, 10 the dealer's, 11 the crib.
    """
    dealer = hands.dealer[:, None].astype(np.int64)
    rows = np.arange(len(dealer))[:, None]
    shown = hands.hand_points[rows, np.concatenate([1 - dealer, dealer], axis=1)]
    points = np.concatenate([hands.heels[:, None], hands.play_points, shown, hands.crib_points[:, None]], axis=1)
    seats = np.concatenate([dealer, hands.play_seats, 1 - dealer, dealer, dealer], axis=1)
    before = hands.scores.astype(np.int64)
    own = points[:, None] * (seats[:, None] == np.arange(2)[:, None])  # [H, 2, 12]
    over = before[:, :, None] + np.cumsum(own, axis=2, dtype=np.int64) >= MAX_SCORE
    never = points.shape[1]
    pegs = np.where(over.any(axis=2), over.argmax(axis=2), never)
    winner, peg = pegs.argmin(axis=1), pegs.min(axis=1)
    return np.where(peg < never, winner, -1), np.where(peg < never, peg, -1)


def up_to_the_win(hands: Trajectories) -> Trajectories:
    """The hands without what came after the peg that won a game (`winning_pegs`).

    That peg counts in full, beyond 121 too, and a card's with its go or last-card point. Plays after it have the seat
    -1 and no points; hands and cribs that were not counted any more have none.
    """
    peg = winning_pegs(hands)[1][:, None]
    last = np.where(peg < 0, _CRIB_PEG, peg)
    in_game = np.arange(1, hands.play_seats.shape[1] + 1) <= last
    is_dealer = np.arange(2) == hands.dealer[:, None]
    return replace(
        hands,
        play_seats=np.where(in_game, hands.play_seats, np.int8(-1)),
        play_points=hands.play_points * in_game,
        hand_points=hands.hand_points * (np.where(is_dealer, _CRIB_PEG - 1, _CRIB_PEG - 2) <= last),
        crib_points=hands.crib_points * (last[:, 0] == _CRIB_PEG),
    )


def winning_plays(hands: Trajectories) -> _Float:
    """[H, 8] 1 for the winner's last card up to the peg that won the game, else 0; none where heels won it."""
    winner, peg = winning_pegs(hands)
    plays = np.arange(hands.play_seats.shape[1])
    own = (hands.play_seats == winner[:, None]) & (plays < peg[:, None])
    last = np.where(own, plays, -1).max(axis=1)
    return (plays == last[:, None]).astype(np.float32)


def winning_discards(hands: Trajectories) -> _Float:
    """[H, 2] 1 for the discard of the seat that won its game in that hand, else 0."""
    return (np.arange(2) == winning_pegs(hands)[0][:, None]).astype(np.float32)


def play_totals(points: NDArray[np.int8], seats: NDArray[np.int8]) -> _Float:
    """[H, 2] points of the play by seat."""
    return np.stack([(points * (seats == seat)).sum(axis=1) for seat in (0, 1)], axis=1).astype(np.float32)


def own(hands: Trajectories) -> _Float:
    """[H, 2] points of one's play and hand, and of the crib for the dealer; no heels (section 3.6.1)."""
    totals = play_totals(hands.play_points, hands.play_seats) + hands.hand_points
    totals[np.arange(len(totals)), hands.dealer] += hands.crib_points
    return totals


def difference(hands: Trajectories) -> _Float:
    """[H, 2] the same minus the opponent's, with the crib for its owner."""
    totals = own(hands)
    return totals - totals[:, ::-1]


DISCARD_REWARDS = Registry("discard reward", {"own": own, "difference": difference}, function_of("hands"))


def discard_returns(hands: Trajectories, kind: str, baseline: bool = False, game_bonus: float = 0.0) -> _Float:
    """[H, 2] return of each seat's discard, from the points of that same hand, by one of DISCARD_REWARDS.

    With `baseline`, `difference` leaves the opponent's hand out: given one's own six cards it does not depend on which
    two of them are thrown, so that it only adds noise. game_bonus: for the discard of the hand in which one wins the
    game, as `play_rewards` has it for the play.
    """
    returns: _Float = array_of("discard reward", kind, DISCARD_REWARDS.find(kind), hands.scores.shape, hands)
    if baseline and kind == "difference":
        returns = (returns + hands.hand_points[:, ::-1]).astype(np.float32)
    return returns + np.float32(game_bonus) * winning_discards(hands) if game_bonus else returns
