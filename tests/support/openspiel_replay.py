"""Hands of the engine replayed action by action through OpenSpiel's `cribbage`, every change of the score compared.

OpenSpiel knows a card as 13 * suit + rank (clubs, diamonds, hearts, spades), a discard as 52 + 52 * id + id with the
lower card first, and a player without a lawful card must `Pass`. Its player 0 deals first.

Its one known difference from the rules of the American Cribbage Congress within a hand (2.0.2) is expected exactly
where it must show, and counted: a crib of four cards of a suit with a starter of another scores 4 (ACC: a crib counts
five of a suit alone). Ends of games are not compared: it looks for 121 only when all that an action brings is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyspiel
from numpy.typing import NDArray

from deepcrib.agents import make_agent
from deepcrib.game.engine import Games
from tests.support.reference import PlayedHand, drive

PASS = 2756
DEALER, PONE = 0, 1
SPIEL_CARD = 13 * (np.arange(52) % 4) + np.arange(52) // 4
GAME = pyspiel.load_game("cribbage")


# --- what the engine plays ----------------------------------------------------------------------------------


@dataclass
class Played:
    """A hand in each of N games, played in lockstep.

    legal, starts: [N, 8], by play number: the cards that could be played as a bit set of OpenSpiel's numbers, and where
    in the history the series began.
    """

    hand: PlayedHand
    legal: NDArray[np.int64]
    starts: NDArray[np.int64]


class VariedGames(Games):
    """Games whose hands come from small decks: two suits, one suit with the jacks, few ranks, courts and fives."""

    def deal(self) -> NDArray[np.int64]:
        """Deal, then put other cards in the place of those dealt."""
        rows = super().deal()
        rng = np.random.default_rng([self.seed, int(self.state.hand_number[rows[0]])])
        for row in rows.tolist():
            cards = rng.permutation(SMALL_DECKS[row % len(SMALL_DECKS)])[:13]
            self.state.dealt[row] = np.sort(cards[:12].reshape(2, 6), axis=1)
            self.state.hidden[row, 0] = cards[12]
        return rows


SMALL_DECKS = (
    np.array([card for card in range(52) if card % 4 < 2]),
    np.array([card for card in range(52) if card % 4 == 2 or card // 4 == 10]),
    np.arange(16),  # ace to four: long series, runs of seven
    np.arange(12, 32),  # four to eight
    np.array([card for card in range(52) if card // 4 in (4, 9, 10, 11, 12)]),
)


def played_by(names: Sequence[str], games: Games) -> Played:
    """A hand of each game between two agents, seats in the order of their names."""
    agents = [make_agent(name) for name in names]
    legal, starts = np.zeros((2, len(games), 8), dtype=np.int64)

    def choose(observation: Any) -> NDArray[np.int8]:
        ask = "play" if hasattr(observation, "legal") else "discard"
        both = [getattr(agent, ask)(observation) for agent in agents]
        return np.where(observation.seat == 0, *both)

    def watch(observation: Any, rows: NDArray[np.int64]) -> None:
        if hasattr(observation, "legal"):
            number = (observation.history >= 0).sum(axis=1)
            legal[rows, number] = np.where(observation.legal, 1 << SPIEL_CARD[observation.hand], 0).sum(axis=1)
            starts[rows, number] = observation.series_start

    (hand,) = drive(games, choose, watch, max_hands=1)
    return Played(hand, legal, starts)


# --- the same as OpenSpiel's actions --------------------------------------------------------------------------


class Hand(NamedTuple):
    """A hand of one game, by OpenSpiel's players (0 = the dealer) and cards; lists of 8 by play number."""

    row: int
    opening: list[int]  # six cards for each player, two discards, the starter
    heels: int
    players: list[int]
    cards: list[int]
    legal: list[int]
    counts: list[int]
    last_in_series: list[bool]
    points: list[int]
    hands: list[int]
    crib: int
    flush: int  # 4 where OpenSpiel pays for four crib cards of a suit


class Event(NamedTuple):
    """An action of OpenSpiel with what ours pegged for it: (player, points) in the order of counting."""

    kind: str
    passes: list[int]
    actions: list[int]
    legal: int | None
    pegs: list[tuple[int, int]]
    flush: int = 0


def hands_of(played: Played) -> Iterator[Hand]:
    """The hands, a game each."""
    s, starts = played.hand.state, played.starts
    first = s["dealer"].astype(np.int64)
    by_player = np.stack([first, 1 - first], axis=1)  # the seat of each player
    dealt, thrown = (np.take_along_axis(s[name], by_player[:, :, None], axis=1) for name in ("dealt", "discards"))
    discards = 52 + 52 * SPIEL_CARD[thrown[:, :, 0]] + SPIEL_CARD[thrown[:, :, 1]]
    values = np.minimum(s["history"] // 4 + 1, 10).astype(np.int64)
    sums = np.concatenate([np.zeros((len(s), 1), dtype=np.int64), values.cumsum(axis=1)], axis=1)
    following = np.concatenate([starts[:, 1:], np.full((len(s), 1), 8)], axis=1)
    crib_suits, starter_suit = s["crib"] % 4, s["starter"] % 4
    one_suit = (crib_suits == crib_suits[:, :1]).all(axis=1)
    columns = (
        np.arange(len(s)),
        np.concatenate([SPIEL_CARD[dealt].reshape(-1, 12), discards, SPIEL_CARD[s["starter"]][:, None]], axis=1),
        s["heels"],
        s["history_seats"] ^ first[:, None],
        SPIEL_CARD[s["history"]],
        played.legal,
        sums[:, 1:] - np.take_along_axis(sums, starts, axis=1),
        following == np.arange(1, 9),
        s["play_points"],
        np.take_along_axis(s["hand_points"], by_player, axis=1),
        s["crib_points"],
        np.where(one_suit & (crib_suits[:, 0] != starter_suit), 4, 0),
    )
    return map(Hand._make, zip(*(column.tolist() for column in columns), strict=True))


def events(hand: Hand) -> Iterator[Event]:
    """What happens in a hand, each part as far as OpenSpiel's score can be read."""
    yield Event("heels", [], hand.opening, None, [(DEALER, hand.heels)])
    show = [(PONE, hand.hands[PONE]), (DEALER, hand.hands[DEALER]), (DEALER, hand.crib)]
    expected = PONE
    for n, (player, card) in enumerate(zip(hand.players, hand.cards, strict=True)):
        passes = [] if player == expected else [PASS]
        go = hand.last_in_series[n] and hand.counts[n] != 31
        last = n == 7
        pegs = [(player, hand.points[n] - go)]
        if last and not go:
            yield Event("31 and show", passes, [card], hand.legal[n], pegs + show, hand.flush)
        else:
            yield Event("card", passes, [card], hand.legal[n], pegs)
        if go and last:
            yield Event("go and show", [PASS, PASS], [], None, [(player, 1), *show], hand.flush)
        elif go:
            yield Event("go", [PASS, PASS], [], None, [(player, 1)])
        expected = 1 - player


# --- the comparison -------------------------------------------------------------------------------------------


@dataclass
class Comparison:
    """What was compared: events by kind, four-card flushes that theirs pays for, other differences in words."""

    compared: Counter[str] = field(default_factory=Counter)
    flushes: int = 0
    differences: list[str] = field(default_factory=list)


def compare(played: Played) -> Comparison:
    """Replay hands, and compare what each event of them scores."""
    found = Comparison()
    for hand in hands_of(played):
        state, theirs = GAME.new_initial_state(), [0, 0]
        for event in events(hand):
            wrong = _apply(state, event)
            now = [int(points) for points in state.returns()]
            expected = [event.flush, 0]
            for player, points in event.pegs:
                expected[player] += points
            gained = [after - before for after, before in zip(now, theirs, strict=True)]
            found.compared[event.kind] += 1
            found.flushes += event.flush > 0
            if wrong or gained != expected:
                found.differences.append(
                    f"game {hand.row}, {event.kind}: {wrong or f'theirs {gained}, ours {expected}'}"
                )
                break
            theirs = now
    return found


def _apply(state: Any, event: Event) -> str:
    """Carry out an event's actions; what was refused in words, or an empty string."""
    try:
        for action in event.passes:
            if state.legal_actions() != [PASS]:
                return f"theirs may play {state.legal_actions()}, ours passes"
            state.apply_action(action)
        if event.legal is not None:
            legal = sum(1 << action for action in state.legal_actions())
            if legal != event.legal:
                return f"lawful cards, theirs {legal:#x}, ours {event.legal:#x}"
        for action in event.actions:
            state.apply_action(action)
    except pyspiel.SpielError as error:
        return f"refused: {error}"
    return ""
