"""The state of a game as a record, and what happens to it.

N games are a NumPy structured array of these records. Each function here changes one game (a record of the array) and
is compiled; `batch` runs them over many games in parallel, in lockstep or a whole game at a time. One record, and not
an array for every field, because compiled code then passes one pointer where it would pass thirty arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.game.cards import NO_CARD, NUM_CARDS, NUM_RANKS, rank_of
from deepcrib.game.policies import lowest
from deepcrib.game.randomness import CUT, DEAL, DEALER, Word, below, hash_key
from deepcrib.game.rules import (
    CRIB,
    DISCARD_SLOTS_5,
    DISCARD_SLOTS_6,
    HAND,
    HAND_SIZE,
    HEELS,
    KEPT_SLOTS_5,
    KEPT_SLOTS_6,
    KINDS,
    MAX_SCORE,
    PLAY,
    heels_points,
    is_legal_play,
    next_seat,
    num_dealt,
    play_step,
    show_points,
)
from deepcrib.kernels import jit

Game = Any
"""One game: a record of `game_dtype`, whose fields read and write as attributes."""


def game_dtype(num_players: int) -> np.dtype:
    """Fields of a game of P players in its current hand, D cards dealt to each; absent cards and seats are -1."""
    p, dealt, plays = num_players, num_dealt(num_players), HAND_SIZE * num_players
    card = seat = number = points = np.int8
    fields: list[tuple] = [
        ("game", np.int64),  # id, which with the match's seed decides every card
        ("hand_number", np.int32),  # from 0
        ("dealer", seat),
        ("finished", np.bool_),
        ("winner", seat),
        ("scores", np.int16, (p,)),  # at most 121 where games stop there
        ("dealt", card, (p, dealt)),  # sorted
        ("kept", card, (p, HAND_SIZE)),  # sorted
        ("left", card, (p, HAND_SIZE)),  # kept cards not yet played, in their slots
        ("discards", card, (p, dealt - HAND_SIZE)),
        ("crib", card, (HAND_SIZE,)),
        ("hidden", card, (2,)),  # the starter before it is turned up; the deck's card for a three-player crib
        ("starter", card),  # -1 before the play
        ("turn", seat),  # who must play a card, -1 when nobody must
        ("count", number),
        ("history", card, (plays,)),  # in the order played
        ("history_seats", seat, (plays,)),
        ("num_played", number),
        ("series_start", number),  # index in history
        ("series", np.int64),  # the current one
        ("goes", np.int8, (p,)),  # 1 for who has said go in the series
        # The points of this hand so far; what a finished game no longer counts is 0.
        ("heels", points),  # the dealer's
        ("play_points", points, (plays,)),  # by play number, go and last card with the card last played
        ("hand_points", points, (p,)),
        ("crib_points", points),  # the dealer's
        ("shown", np.bool_),  # whether hands and crib have been counted
        # Sums over the game by seat, role (1 = dealer) and kind: points, and hands in which that kind was counted.
        ("points", np.int32, (p, 2, len(KINDS))),
        ("counts", np.int32, (p, 2, len(KINDS))),
    ]
    return np.dtype(fields, align=True)


def new_games(game_ids: NDArray[np.int64], num_players: int) -> np.ndarray:
    """Games before their first deal: [N] records."""
    one = np.zeros(1, dtype=game_dtype(num_players))
    cards = ("dealt", "kept", "left", "discards", "starter", "history")
    for name in ("hand_number", "dealer", "winner", "turn", "history_seats", *cards):
        one[name] = -1
    games = np.tile(one.view(np.uint8), len(game_ids)).view(one.dtype)  # by bytes, not field by field
    games["game"] = game_ids
    return games


@jit
def draw_card(key: Word, drawn: int, counter: int) -> tuple[int, int]:
    """A card that is not in the bit set `drawn`, and the counter after the draws that this took."""
    while True:
        card = below(key, counter, NUM_CARDS)
        counter += 1
        if not drawn >> card & 1:
            return card, counter


@jit
def cut(g: Game, seed: int) -> None:
    """Set the first dealer: every player cuts a card, the lowest rank deals, equal lowest ranks cut again."""
    key = hash_key(seed, g.game, 0, -1, CUT)
    counter = 0
    tied = True
    while tied:
        drawn = 0
        low = NUM_RANKS
        for seat in range(g.dealt.shape[0]):
            card, counter = draw_card(key, drawn, counter)
            drawn |= 1 << card
            rank = rank_of(card)
            if rank < low:
                low = rank
                tied = False
                g.dealer = seat
            elif rank == low:
                tied = True


@jit(inlined=True)
def _deal_cards(g: Game, seed: int) -> None:
    key = hash_key(seed, g.game, g.hand_number, -1, DEAL)
    num_players, size = g.dealt.shape
    drawn = 0
    counter = 0
    for seat in range(num_players):
        before = drawn
        for _ in range(size):
            card, counter = draw_card(key, drawn, counter)
            drawn |= 1 << card
        hand = drawn ^ before
        for slot in range(size):  # from the lowest bit on: sorted
            g.dealt[seat, slot] = lowest(hand)
            hand &= hand - 1
    for slot in range(2):
        card, counter = draw_card(key, drawn, counter)
        drawn |= 1 << card
        g.hidden[slot] = card


@jit
def deal(g: Game, seed: int, random_dealer: bool) -> None:
    """Begin the next hand of a game; before the first the dealer is the one that stands in the state."""
    g.hand_number += 1
    num_players = g.dealt.shape[0]
    if g.hand_number > 0:
        if random_dealer:
            key = hash_key(seed, g.game, g.hand_number, -1, DEALER)
            g.dealer = below(key, 0, num_players)
        else:
            g.dealer = next_seat(g.dealer, num_players)
    _deal_cards(g, seed)
    g.kept[:] = NO_CARD
    g.left[:] = NO_CARD
    g.discards[:] = NO_CARD
    g.crib[:] = NO_CARD
    g.history[:] = NO_CARD
    g.history_seats[:] = -1
    g.starter = NO_CARD
    g.turn = -1
    g.num_played = 0
    g.series = 0
    g.series_start = 0
    g.count = 0
    g.goes[:] = 0
    g.heels = 0
    g.play_points[:] = 0
    g.hand_points[:] = 0
    g.crib_points = 0
    g.shown = False


@jit
def peg(g: Game, seat: int, kind: int, points: int, stop: bool) -> int:
    """Give a seat its points and return them; once a game that stops at 121 is over, nothing more is pegged."""
    if points == 0 or (stop and g.finished):
        return 0
    g.points[seat, 1 if seat == g.dealer else 0, kind] += points
    g.scores[seat] += points
    if stop and g.scores[seat] >= MAX_SCORE:
        g.scores[seat] = MAX_SCORE
        g.finished = True
        g.winner = seat
    return points


@jit
def _mark_counted(g: Game, seat: int, kind: int, stop: bool) -> None:
    if not (stop and g.finished):
        g.counts[seat, 1 if seat == g.dealer else 0, kind] += 1


@jit
def discard(g: Game, seat: int, action: int) -> bool:
    """Throw the cards of a discard action; False, and nothing has changed, where the rules do not allow it."""
    size = g.dealt.shape[1]
    kept = KEPT_SLOTS_6 if size == 6 else KEPT_SLOTS_5
    thrown = DISCARD_SLOTS_6 if size == 6 else DISCARD_SLOTS_5
    if not 0 <= action < len(kept) or not 0 <= seat < g.dealt.shape[0]:
        return False
    if g.kept[seat, 0] >= 0 or g.finished or g.dealt[seat, 0] < 0:
        return False
    for i in range(HAND_SIZE):
        g.kept[seat, i] = g.left[seat, i] = g.dealt[seat, kept[action, i]]
    for i in range(size - HAND_SIZE):
        g.discards[seat, i] = g.dealt[seat, thrown[action, i]]
    return True


@jit
def start_play(g: Game, stop: bool) -> bool:
    """Lay the crib away, turn the starter up and peg heels; the player left of the dealer leads.

    False, and nothing has changed, where somebody has yet to discard or the starter lies there.
    """
    num_players = g.dealt.shape[0]
    if g.starter >= 0:
        return False
    for seat in range(num_players):
        if g.kept[seat, 0] < 0:
            return False
    n = 0
    for seat in range(num_players):
        for card in g.discards[seat]:
            g.crib[n] = card
            n += 1
    if n < HAND_SIZE:
        g.crib[n] = g.hidden[1]
    g.starter = g.hidden[0]
    dealer = g.dealer
    _mark_counted(g, dealer, HEELS, stop)
    g.heels = peg(g, dealer, HEELS, heels_points(g.starter), stop)
    if not (stop and g.finished):
        for seat in range(num_players):
            _mark_counted(g, seat, PLAY, stop)
        g.turn = next_seat(dealer, num_players)
    return True


@jit(inlined=True)
def play(g: Game, slot: int, stop: bool) -> bool:
    """Play the card of a slot for the seat whose turn it is; False where the rules do not allow it."""
    seat = g.turn
    if seat < 0 or not 0 <= slot < HAND_SIZE:
        return False
    card = g.left[seat, slot]
    if not is_legal_play(g.count, card):
        return False
    n = g.num_played
    points, last, following, series, count = play_step(g.left, g.goes, g.series, g.count, seat, slot)
    g.history[n] = card
    g.history_seats[n] = seat
    g.num_played = n + 1
    g.count = count
    g.series = series
    if series == 0:
        g.series_start = n + 1
    if stop and g.scores[seat] + points >= MAX_SCORE:
        last = 0  # the game is over before a go is counted
    g.play_points[n] = peg(g, seat, PLAY, points + last, stop)
    g.turn = -1 if stop and g.finished else following
    return True


@jit
def show(g: Game, stop: bool) -> bool:
    """Count the hands from the dealer's left, then the crib; False before the play has ended, and a second time."""
    num_players = g.dealt.shape[0]
    if stop and g.finished:
        return True
    if g.num_played < HAND_SIZE * num_players or g.shown:
        return False
    g.shown = True
    dealer = seat = g.dealer
    for _ in range(num_players):
        seat = next_seat(seat, num_players)
        _mark_counted(g, seat, HAND, stop)
        g.hand_points[seat] = peg(g, seat, HAND, show_points(g.kept[seat], g.starter, False), stop)
    _mark_counted(g, dealer, CRIB, stop)
    g.crib_points = peg(g, dealer, CRIB, show_points(g.crib[:], g.starter, True), stop)
    if not stop:
        for seat in range(num_players):
            g.finished |= g.scores[seat] >= MAX_SCORE
    return True
