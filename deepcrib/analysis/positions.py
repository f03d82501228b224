"""Positions of a game to be looked at: a choice of a recorded game, or a turn in the play by the cards seen so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from deepcrib.errors import OptionError
from deepcrib.exact.beliefs.discards import hand_ways, unseen_ranks
from deepcrib.exact.beliefs.plays import SETS_4, keep_possible
from deepcrib.game.cards import NO_CARD, NUM_CARDS, RANKS, CardError, format_cards
from deepcrib.game.engine import Games
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.rules import DISCARD_SLOTS_6, HAND_SIZE
from deepcrib.records import read_games, recorded_choices
from deepcrib.records.events import CHOICES
from deepcrib.records.replay import ROW

ME, OTHER = 0, 1
Cards = Sequence[int]


def recorded_position(path: Path, line: int) -> DiscardObservation | PlayObservation:
    """What was seen before the discard or the play that a line of a file of games records. Raises OptionError."""
    for record in read_games(path):
        choices = [event for event in record.events if event.kind in CHOICES]
        for event, (turns, _, _) in zip(choices, recorded_choices(record), strict=False):
            if event.line == line and len(record.players) == 2:
                return turns.discard_observation(ROW) if event.kind == "discard" else turns.play_observation(ROW)
    raise OptionError(f"line={line}: expected a line of {path} that is a discard or a play in a game of two")


def play_position(
    hand: Cards, thrown: Cards, starter: int, history: Cards, is_dealer: bool, score: tuple[int, int], seed: int
) -> PlayObservation:
    """What a player sees whose turn it is; all cards as ids.

    hand: the six dealt, sorted; thrown: two of them. history: the cards played in the hand, in order, own ones among
    them. score: own and opponent's points now. Raises CardError where no play by the rules leads there.
    """
    kept = [card for card in hand if card not in thrown]
    theirs = [card for card in history if card not in kept]
    if len(kept) != HAND_SIZE or not set(thrown) <= set(hand):
        raise CardError(f"thrown={format_cards(thrown)}: expected two cards of {format_cards(hand)}")
    known = [*hand, starter, *theirs]
    if twice := [card for card in known if known.count(card) > 1]:
        raise CardError(f"the card {format_cards(twice[:1])} was thrown, or stands twice in hand, starter and history")
    pool = [*theirs, *(card for card in range(NUM_CARDS) if card not in known)]
    four = _possible_hand(kept, history, pool, is_dealer, (*hand, starter))
    rest = [card for card in pool if card not in four]
    games = Games([0], seed, first_dealer=[ME if is_dealer else OTHER], stop_at_121=False)
    games.deal_cards(ROW, [[hand, [*four, *rest[:2]]]], [[starter, rest[2]]], [ME if is_dealer else OTHER])
    for seat, cards in ((ME, thrown), (OTHER, rest[:2])):
        slots = sorted(games.state.dealt[0, seat].tolist().index(card) for card in cards)
        games.discard(ROW, [seat], [DISCARD_SLOTS_6.tolist().index(slots)])
    games.start_play()
    for card in history:
        games.play(ROW, [games.state.left[0, int(card not in kept)].tolist().index(card)])
    return replace(games.play_observation(ROW), scores=np.array([score], dtype=np.int8))


def _possible_hand(kept: Cards, history: Cards, pool: Cards, is_dealer: bool, seen: Cards) -> list[int]:
    """Four cards of a pool with which the opponent may have played as it did: which ones cannot be seen."""
    cards = np.full(2 * HAND_SIZE, NO_CARD, dtype=np.int8)
    cards[: len(history)] = history[: 2 * HAND_SIZE]
    seats = np.where(cards == NO_CARD, NO_CARD, np.where(np.isin(cards, kept), ME, OTHER)).astype(np.int8)
    first = ME if not is_dealer else OTHER
    unseen = unseen_ranks(np.array(seen, dtype=np.int8))
    weights = np.array([hand_ways(ranks, unseen) for ranks in SETS_4], dtype=np.float64)
    own = np.array(kept, dtype=np.int8)
    leads = seats[0] == first if history else first == ME
    if not leads or set(kept) <= set(history) or not keep_possible(own, cards, seats, ME, weights):
        raise CardError(
            f"history={format_cards(history)}: no hand of the opponent's makes a play that goes so by the rules and "
            "leaves it your turn; the pone leads"
        )
    found: list[int] = []
    for rank in SETS_4[weights.argmax()]:
        found.append(next(card for card in pool if RANKS[card] == rank and card not in found))
    return found
