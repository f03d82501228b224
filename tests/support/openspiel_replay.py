"""Games of the engine replayed action by action through OpenSpiel's `cribbage`, every change of the score compared.

OpenSpiel knows a card as 13 * suit + rank (clubs, diamonds, hearts, spades), a discard as 52 + 52 * id + id with the
lower card first, and a player without a lawful card must `Pass`. Its player 0 deals first; then the deal alternates.
Its points are read from `returns()`, which the named winner's bonus is taken out of.

It is known to differ from the rules of the American Cribbage Congress in these ways (2.0.2), each of which is expected
exactly where it must show, and counted; nothing else is forgiven:

- FLUSH: a crib of four cards of a suit with a starter of another scores 4 (ACC: a crib counts five of a suit alone).
- COUNTED_ON: the last go, or thirty-one with the last card, both hands and the crib are one action, at whose end 121 is
  looked for; so points are counted after the game is over.
- LOWEST_SEAT: when both have 121 at the end of that action, player 0 is named the winner, whoever pegged out first.
- FLUSH_ENDED: points of FLUSH bring a player to 121; ours plays on, and the comparison of that game ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyspiel
from numpy.typing import NDArray

from deepcrib.agents import make_agent
from deepcrib.game.engine import Games
from tests.support.reference import PlayedHand, drive

FLUSH = "four-card flush in the crib"
COUNTED_ON = "points counted after the game was over"
LOWEST_SEAT = "both past 121, player 0 named"
FLUSH_ENDED = "game over by a four-card flush in the crib"

PASS = 2756
BONUS = 1000.0  # in returns(): for the winner, and against the loser
WON = 121
SPIEL_CARD = 13 * (np.arange(52) % 4) + np.arange(52) // 4
GAME = pyspiel.load_game("cribbage", {"winner_bonus_reward": BONUS})


# --- what the engine plays ----------------------------------------------------------------------------------


@dataclass
class Played:
    """N games played by the engine, in lockstep hands, no game stopped at 121.

    legal, starts: for each hand [N, 8], by play number: the cards that could be played as a bit set of OpenSpiel's
    numbers, and where in the history the series began. first_dealer: [N] seats.
    """

    first_dealer: NDArray[np.int8]
    hands: list[PlayedHand]
    legal: list[NDArray[np.int64]]
    starts: list[NDArray[np.int64]]


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


def played_by(names: Sequence[str], games: Games, max_hands: int = 1000) -> Played:
    """Games between two agents, seats in the order of their names."""
    agents = [make_agent(name) for name in names]
    first_dealer = games.dealer.copy()
    legal: list[NDArray[np.int64]] = []
    starts: list[NDArray[np.int64]] = []

    def choose(observation: Any) -> NDArray[np.int8]:
        ask = "play" if hasattr(observation, "legal") else "discard"
        both = [getattr(agent, ask)(observation) for agent in agents]
        return np.where(observation.seat == 0, *both)

    def watch(observation: Any, rows: NDArray[np.int64]) -> None:
        if not hasattr(observation, "legal"):
            if observation.seat[0] == 0:
                legal.append(np.zeros((len(games), 8), dtype=np.int64))
                starts.append(np.zeros((len(games), 8), dtype=np.int64))
            return
        number = (observation.history >= 0).sum(axis=1)
        bits = np.where(observation.legal, 1 << SPIEL_CARD[observation.hand], 0)
        legal[-1][rows, number] = bits.sum(axis=1)
        starts[-1][rows, number] = observation.series_start

    return Played(first_dealer, drive(games, choose, watch, max_hands), legal, starts)


# --- the same as OpenSpiel's actions --------------------------------------------------------------------------


class Hand(NamedTuple):
    """A hand of one game, by OpenSpiel's players (0 = first dealer) and cards; lists of 8 by play number."""

    row: int
    dealer: int
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


def hands_of(played: Played, number: int) -> Iterator[Hand]:
    """The hands of one lockstep hand, a game each."""
    one, rows = played.hands[number], played.hands[number].rows
    s, first = one.state[rows], played.first_dealer[rows].astype(np.int64)
    by_player = np.stack([first, 1 - first], axis=1)  # the seat of each player
    dealt, thrown = (np.take_along_axis(s[name], by_player[:, :, None], axis=1) for name in ("dealt", "discards"))
    discards = 52 + 52 * SPIEL_CARD[thrown[:, :, 0]] + SPIEL_CARD[thrown[:, :, 1]]
    starts = played.starts[number][rows]
    values = np.minimum(s["history"] // 4 + 1, 10).astype(np.int64)
    sums = np.concatenate([np.zeros((len(rows), 1), dtype=np.int64), values.cumsum(axis=1)], axis=1)
    following = np.concatenate([starts[:, 1:], np.full((len(rows), 1), 8)], axis=1)
    crib_suits, starter_suit = s["crib"] % 4, s["starter"] % 4
    one_suit = (crib_suits == crib_suits[:, :1]).all(axis=1)
    columns = (
        rows,
        s["dealer"] ^ first,
        np.concatenate([SPIEL_CARD[dealt].reshape(-1, 12), discards, SPIEL_CARD[s["starter"]][:, None]], axis=1),
        s["heels"],
        s["history_seats"] ^ first[:, None],
        SPIEL_CARD[s["history"]],
        played.legal[number][rows],
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
    yield Event("heels", [], hand.opening, None, [(hand.dealer, hand.heels)])
    pone = 1 - hand.dealer
    show = [(pone, hand.hands[pone]), (hand.dealer, hand.hands[hand.dealer]), (hand.dealer, hand.crib)]
    expected = pone
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
    """What was compared: events by kind, named deviations by name, and every other difference in words."""

    games: int = 0
    hands: int = 0
    compared: Counter[str] = field(default_factory=Counter)
    masked: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)

    def add(self, other: Comparison) -> None:
        """Take in another comparison."""
        self.games += other.games
        self.hands += other.hands
        self.compared.update(other.compared)
        self.masked.update(other.masked)
        self.differences += other.differences


@dataclass
class End:
    """Where the engine's game stopped at 121, by OpenSpiel's players."""

    hand: int
    winner: int
    scores: list[int]


def ends_of(stopped: Games, first_dealer: NDArray[np.int8]) -> list[End]:
    """The ends of games that the engine has stopped at 121."""
    first = first_dealer.astype(np.int64)
    scores = np.take_along_axis(stopped.scores, np.stack([first, 1 - first], axis=1), axis=1)
    columns = (stopped.state.hand_number, stopped.winner ^ first, scores)
    return [End(*values) for values in zip(*(column.tolist() for column in columns), strict=True)]


def compare(
    played: Played, ends: Sequence[End] | None = None, change: Callable[[Hand], Hand] = lambda hand: hand
) -> Comparison:
    """Replay games; with `ends` they are full ones, and their winners and last scores are compared, too.

    `change` makes other hands of ours, to see whether that is noticed.
    """
    by_game: list[list[Hand]] = [[] for _ in played.first_dealer]
    for number in range(len(played.hands)):
        for hand in hands_of(played, number):
            by_game[hand.row].append(change(hand))
    found = Comparison()
    for row, hands in enumerate(by_game):
        _Replay(found, row, ends[row] if ends else None).run(hands)
    return found


class _Replay:
    """One game: OpenSpiel's state, its scores after the last event, and ours without its deviations."""

    def __init__(self, found: Comparison, row: int, end: End | None) -> None:
        self.found = found
        self.row = row
        self.end = end
        self.state = GAME.new_initial_state()
        self.theirs = [0, 0]
        self.ours = [0, 0]
        self.flushes = [0, 0]  # points of FLUSH in their scores
        self.hand = 0

    def run(self, hands: Sequence[Hand]) -> None:
        self.found.games += 1
        for self.hand, hand in enumerate(hands):
            self.found.hands += 1
            for event in events(hand):
                if not self.event(event, hand.dealer):
                    return
        if self.end is not None:
            self.differ("end", f"over in hand {self.end.hand}, theirs goes on")

    def differ(self, kind: str, text: str) -> None:
        self.found.differences.append(f"game {self.row}, hand {self.hand}, {kind}: {text}")

    def event(self, event: Event, dealer: int) -> bool:
        """Carry out and compare one event; False when the game is over, or cannot be replayed further."""
        refused = _apply(self.state, event)
        if refused:
            self.differ(event.kind, refused)
            return False
        over = self.state.is_terminal()
        now, named = _scores(self.state.returns(), over)
        gained = [now[0] - self.theirs[0], now[1] - self.theirs[1]]
        expected = [0, 0]
        for player, points in event.pegs:
            expected[player] += points
        expected[dealer] += event.flush
        self.flushes[dealer] += event.flush
        self.found.compared[event.kind] += 1
        self.found.masked[FLUSH] += event.flush > 0
        if gained != expected:
            self.differ(event.kind, f"theirs {gained}, ours {expected}")
        if over:
            self.compare_end(event, now, named)
        self.theirs = now
        for player, points in event.pegs:
            self.ours[player] += points
        return not over

    def compare_end(self, event: Event, now: list[int], named: int) -> None:
        """Their game is over; where and how ours ends follows from the pegs in the order of counting."""
        stop = _stopped(self.ours, event.pegs)
        if stop is None:
            if self.flushes[now.index(max(now))]:
                self.found.masked[FLUSH_ENDED] += 1
            else:
                self.differ("end", f"theirs is over at {now}, ours goes on")
            return
        player, scores, uncounted = stop
        self.found.compared["end"] += 1
        if self.end != End(self.hand, player, scores):
            self.differ("end", f"hand {self.hand}, player {player} wins {scores}, ours {self.end}")
        if uncounted:
            self.found.masked[COUNTED_ON] += 1
        if named != player:
            if named == 0 and min(now) >= WON:
                self.found.masked[LOWEST_SEAT] += 1
            else:
                self.differ("end", f"theirs names player {named} with {now}, ours {player}")


def _stopped(ours: list[int], pegs: list[tuple[int, int]]) -> tuple[int, list[int], int] | None:
    """The winner, both scores and the points that no longer count; None when nobody gets to 121."""
    scores = list(ours)
    for number, (player, points) in enumerate(pegs, start=1):
        scores[player] += points
        if scores[player] >= WON:
            scores[player] = WON
            return player, scores, sum(uncounted for _, uncounted in pegs[number:])
    return None


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


def _scores(returns: list[float], over: bool) -> tuple[list[int], int]:
    """Points of both players, and the named winner (-1 before the end)."""
    if not over:
        return [int(returns[0]), int(returns[1])], -1
    named = returns.index(max(returns))
    bonus = [BONUS if player == named else -BONUS for player in (0, 1)]
    return [int(value - extra) for value, extra in zip(returns, bonus, strict=True)], named


# --- one show alone -------------------------------------------------------------------------------------------


def points_as_hand(four: NDArray[np.int8], starter: int, rng: np.random.Generator) -> int:
    """OpenSpiel's points of four cards in hand: the pone's, after a play whose last card is the dealer's."""
    others = np.setdiff1d(np.arange(52), [*four, starter])
    while True:
        state = GAME.new_initial_state()
        for action in _opening(rng.permutation(others)[:8], four, starter):
            state.apply_action(int(action))
        while not state.is_chance_node():
            before = state.returns()[1]
            player, legal = state.current_player(), state.legal_actions()
            action = legal[rng.integers(len(legal))]
            if action != PASS:
                last = player
            state.apply_action(action)
        if last == 0:
            return int(state.returns()[1] - before)


def _opening(others: NDArray[np.int64], four: NDArray[np.int8], starter: int) -> list[int]:
    """Actions up to the starter, where the pone keeps four cards; eight others are the dealer's and two thrown."""
    thrown = [np.sort(others[:2]), np.sort(others[6:])]
    discards = [52 + 52 * SPIEL_CARD[low] + SPIEL_CARD[high] for low, high in thrown]
    return [*SPIEL_CARD[[*others[:6], *four, *others[6:]]], *discards, SPIEL_CARD[starter]]
