"""What the environments show a player: one vector of 0 and 1 for every environment, and which actions it may take.

An action is a discard (0..14 with two players, 0..4 with more, in the order of `rules.discard_slots`) or, after those,
the slot 0..3 of a kept card to play. `observation_spec` is the table of the vector; `docs/environments.md` shows it.
"""

from __future__ import annotations

from collections import namedtuple
from functools import cache
from typing import Any

import numpy as np
from gymnasium import spaces

from deepcrib.errors import OptionError
from deepcrib.game.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS, format_card, rank_of, suit_of
from deepcrib.game.engine import IllegalActionError
from deepcrib.game.engine.phases import DISCARD, PLAY, phase_of, seat_to_choose
from deepcrib.game.engine.state import Game
from deepcrib.game.rules import (
    COUNT_LIMIT,
    HAND_SIZE,
    MAX_PLAYERS,
    MAX_SCORE,
    discard_slots,
    is_legal_play,
    next_seat,
    num_dealt,
)
from deepcrib.kernels import Part, jit
from deepcrib.networks.encoders.spec import FLAG, ONE_HOT, RANK_CHANNELS, SUIT_CHANNELS, Block, Spec, lay_out

MULTI_HOT, THERMOMETER = "multi-hot", "thermometer"
_SERIES_ROWS = 7  # the longest run of a series; pairs are shorter, so no points depend on an earlier card
TENS, UNITS = MAX_SCORE // 10, 9
_LEFT_CHANNELS = HAND_SIZE + 1


def num_discards(num_players: int) -> int:
    """Number of discard actions: 15 with two players, 5 with more."""
    return len(discard_slots(num_dealt(num_players)))


def num_actions(num_players: int) -> int:
    """Number of actions: the discards, then the four slots of the play."""
    return num_discards(num_players) + HAND_SIZE


@cache
def observation_spec(num_players: int) -> Spec:
    """The table of the vector for 2 to 4 players: blocks with name, start, shape, kind and meaning.

    Rows by seat begin with the observer and go on to its left. Raises OptionError for other numbers of players.
    """
    if not isinstance(num_players, int | np.integer) or num_players not in range(2, MAX_PLAYERS + 1):
        raise OptionError(f"num_players={num_players!r}: expected 2, 3 or 4")
    seats = ("observer", *(f"{k} to its left" for k in range(1, num_players)))
    left = tuple(str(number) for number in range(_LEFT_CHANNELS))
    tens = tuple(f"{10 * k} or more" for k in range(1, TENS + 1))
    units = tuple(f"{k} or more" for k in range(1, UNITS + 1))
    blocks = (
        *_card_blocks(num_dealt(num_players), num_players),
        Block("cards_left", ONE_HOT, left, "cards that each seat has yet to play in this hand", rows=num_players),
        Block("goes", FLAG, seats, "the seat has said go in this series"),
        Block("dealer", ONE_HOT, seats, "the seat that deals this hand, and counts the crib"),
        Block("phase", ONE_HOT, ("discard", "play", "over"), "what the game waits for"),
        Block("score_tens", THERMOMETER, tens, "score of each seat: its tens, as many ones", rows=num_players),
        Block("score_units", THERMOMETER, units, "score of each seat: its units, as many ones", rows=num_players),
    )
    return lay_out(f"observation_{num_players}", blocks)


def _card_blocks(dealt: int, num_players: int) -> tuple[Block, ...]:
    cards = tuple(format_card(card) for card in range(NUM_CARDS))
    counts = tuple(str(count) for count in range(COUNT_LIMIT + 1))
    hand = "of each slot of one's sorted hand: all cards dealt before the discard, then the kept ones in slots 1 to 4"
    series = f"ranks of the last {_SERIES_ROWS} cards of the current series, the latest first"
    return (
        Block("hand_ranks", ONE_HOT, RANK_CHANNELS, f"rank {hand}; zero where a card is gone", rows=dealt),
        Block("hand_suits", ONE_HOT, SUIT_CHANNELS, f"suit {hand}; zero where a card is gone", rows=dealt),
        Block("discards", MULTI_HOT, cards, "one's own cards in the crib"),
        Block("starter", ONE_HOT, cards, "the starter, once it is turned up"),
        Block("series", ONE_HOT, RANK_CHANNELS, series, rows=_SERIES_ROWS),
        Block("count", ONE_HOT, counts, "the count of the current series"),
        Block("played", MULTI_HOT, cards, "cards that each seat has played in this hand", rows=num_players),
    )


BlockStarts = namedtuple("BlockStarts", [b.name for b in observation_spec(2).blocks])  # type: ignore[misc]
Starts = Any
"""`BlockStarts`: where the blocks of the vector begin, for the kernels; by the names of the blocks."""


@cache
def block_starts(num_players: int) -> Starts:
    """Where the blocks begin."""
    return BlockStarts(*(block.start for block in observation_spec(num_players).blocks))


def observation_space(num_players: int) -> spaces.Dict:
    """`observation` int8 [W] of 0 and 1 (`observation_spec`), `action_mask` int8 [A], 1 for what may be chosen."""
    width, actions = observation_spec(num_players).width, num_actions(num_players)
    return spaces.Dict(
        {"observation": spaces.Box(0, 1, (width,), np.int8), "action_mask": spaces.Box(0, 1, (actions,), np.int8)}
    )


def action_space(num_players: int) -> spaces.Discrete:
    """Discards, then slots of the play."""
    return spaces.Discrete(num_actions(num_players))


def illegal_action(g: Game, seat: int, action: int, mask: np.ndarray) -> IllegalActionError:
    """The error of a seat that may do what mask [A] allows, and chose something else."""
    where = f"game {g['game']}, hand {g['hand_number']}, seat {seat}"
    return IllegalActionError(f"{where}: action {action}: expected one of {np.flatnonzero(mask).tolist()}")


# --- kernels ------------------------------------------------------------------------------------------------------


@jit
def _fill_own_cards(g: Game, seat: int, starts: Starts, row: np.ndarray) -> None:
    """Hand, own discards and the starter."""
    held = g.dealt[seat] if g.kept[seat, 0] < 0 else g.left[seat]
    for slot in range(len(held)):
        card = held[slot]
        if card >= 0:
            row[starts.hand_ranks + slot * NUM_RANKS + rank_of(card)] = 1
            row[starts.hand_suits + slot * NUM_SUITS + suit_of(card)] = 1
    for card in g.discards[seat]:
        if card >= 0:
            row[starts.discards + card] = 1
    if g.starter >= 0:
        row[starts.starter + g.starter] = 1


@jit
def _fill_play(g: Game, seat: int, starts: Starts, row: np.ndarray) -> None:
    """Series, count, played cards, cards left and goes."""
    num_players = g.dealt.shape[0]
    for k in range(min(_SERIES_ROWS, g.num_played - g.series_start)):
        row[starts.series + k * NUM_RANKS + rank_of(g.history[g.num_played - 1 - k])] = 1
    row[starts.count + g.count] = 1
    for k in range(g.num_played):
        relative = g.history_seats[k] - seat
        relative += num_players if relative < 0 else 0
        row[starts.played + relative * NUM_CARDS + g.history[k]] = 1
    other = seat
    for relative in range(num_players):
        row[starts.goes + relative] = g.goes[other]
        left = HAND_SIZE
        for k in range(g.num_played):
            left -= g.history_seats[k] == other
        row[starts.cards_left + relative * _LEFT_CHANNELS + left] = 1
        other = next_seat(other, num_players)


@jit
def fill_observation(g: Game, seat: int, hands: int, starts: Starts, row: np.ndarray) -> None:
    """Write what a seat sees of a dealt game into row [W]; hands: those of an episode, 0 for a game."""
    num_players = g.dealt.shape[0]
    row[:] = 0
    _fill_own_cards(g, seat, starts, row)
    _fill_play(g, seat, starts, row)
    row[starts.dealer + (g.dealer - seat) % num_players] = 1
    phase = phase_of(g, hands)
    row[starts.phase + (0 if phase == DISCARD else 1 if phase == PLAY else 2)] = 1
    other = seat
    for relative in range(num_players):
        score = min(g.scores[other], MAX_SCORE)
        other = next_seat(other, num_players)
        for k in range(score // 10):
            row[starts.score_tens + relative * TENS + k] = 1
        for k in range(score % 10):
            row[starts.score_units + relative * UNITS + k] = 1


@jit
def fill_mask(g: Game, seat: int, hands: int, mask: np.ndarray) -> None:
    """Write 1 for the actions that a seat may take into mask [A]: none unless it must choose."""
    mask[:] = 0
    if seat_to_choose(g, hands) != seat:
        return
    discards = len(mask) - HAND_SIZE
    if g.starter < 0:
        mask[:discards] = 1
        return
    for slot in range(HAND_SIZE):
        mask[discards + slot] = is_legal_play(g.count, g.left[seat, slot])


@jit
def fill_rows(
    part: Part,
    games: np.ndarray,
    seats: np.ndarray,
    hands: int,
    starts: Starts,
    observations: np.ndarray,
    masks: np.ndarray,
) -> None:
    """observations [N, W] and masks [N, A] of games [N] for seats [N]."""
    for i in range(*part):
        fill_observation(games[i], seats[i], hands, starts, observations[i])
        fill_mask(games[i], seats[i], hands, masks[i])
