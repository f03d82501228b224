"""Two-player cribbage as an environment in plain Python: what `benchmarks/speed/environments.py` measures ours against.

It is written as such environments usually are: tuples and lists, `itertools`, observations as dictionaries, one game at
a time, nothing clever. It shares no code with the package, so its scores are a check of the engine's, too
(`tests/test_naive_environment.py`). Rules of the American Cribbage Congress; the low cut for the deal is a fair coin.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations
from typing import Any

Card = tuple[int, int]  # rank 1 (ace) to 13 (king), suit 0 to 3

DECK = [(rank, suit) for rank in range(1, 14) for suit in range(4)]
DISCARDS = list(combinations(range(6), 2))
JACK = 11
FIRST_PLAY = len(DISCARDS)  # actions: 15 discards, then the card in place 0 to 3 of the kept hand
GAME = 121


def value(card: Card) -> int:
    """What a card counts for."""
    return min(card[0], 10)


def is_run(cards: list[Card]) -> bool:
    """Whether ranks follow each other."""
    ranks = sorted(rank for rank, _ in cards)
    return len(cards) >= 3 and all(low + 1 == high for low, high in zip(ranks, ranks[1:], strict=False))


def show_points(hand: list[Card], starter: Card, is_crib: bool = False) -> int:
    """Points of four cards with the starter."""
    cards = [*hand, starter]
    points = 0
    for size in range(2, 6):
        for chosen in combinations(cards, size):
            if sum(value(card) for card in chosen) == 15:
                points += 2
    for one, other in combinations(cards, 2):
        if one[0] == other[0]:
            points += 2
    for size in (5, 4, 3):
        runs = [chosen for chosen in combinations(cards, size) if is_run(list(chosen))]
        if runs:
            points += size * len(runs)
            break
    if len({suit for _, suit in hand}) == 1:
        if starter[1] == hand[0][1]:
            points += 5
        elif not is_crib:
            points += 4
    if (JACK, starter[1]) in hand:
        points += 1
    return points


def play_points(series: list[Card]) -> int:
    """Points of the last card of a series, without go and last card."""
    points = 0
    if sum(value(card) for card in series) in (15, 31):
        points += 2
    same = 1
    while same < len(series) and series[-same - 1][0] == series[-1][0]:
        same += 1
    points += same * (same - 1)
    for size in range(len(series), 2, -1):
        if is_run(series[-size:]):
            points += size
            break
    return points


class NaiveCribbage:
    """A game to 121 for two players who act in turn, as `observation["player"]` says.

    An action is one of 15 discards, or 15 + the place of a card in the sorted kept hand. Both players discard, player 0
    first; a go is said for a player who cannot play. The reward is the points pegged by whoever acts, less the other's.
    Illegal actions raise ValueError. `shuffle` gives the order of the deck: six cards for player 0, six for player 1,
    and then the starter. The first player to deal is `dealer`, or drawn.
    """

    def __init__(self, seed: int = 0, shuffle: Callable[[], list[Card]] | None = None, dealer: int = -1) -> None:
        self.random = random.Random(seed)
        self.shuffle = shuffle or (lambda: self.random.sample(DECK, len(DECK)))
        self.first_dealer = dealer

    def reset(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin a game."""
        self.scores = [0, 0]
        self.winner: int | None = None
        self.dealer = self.first_dealer if self.first_dealer >= 0 else self.random.randrange(2)
        self.deal()
        return self.observation(), {}

    def step(self, action: int) -> tuple[dict[str, Any], int, bool, bool, dict[str, Any]]:
        """Discard or play a card."""
        if action not in self.legal_actions():
            raise ValueError(f"action {action} of player {self.player}: expected one of {self.legal_actions()}")
        actor, before = self.player, list(self.scores)
        if self.starter is None:
            self.discard(DISCARDS[action])
        else:
            self.play(action - FIRST_PLAY)
        gained = [after - points for after, points in zip(self.scores, before, strict=True)]
        return self.observation(), gained[actor] - gained[1 - actor], self.winner is not None, False, {}

    def legal_actions(self) -> list[int]:
        """What the player whose turn it is may do."""
        if self.winner is not None:
            return []
        if self.starter is None:
            return list(range(len(DISCARDS)))
        return [FIRST_PLAY + place for place in self.playable(self.player)]

    def observation(self) -> dict[str, Any]:
        """What the player whose turn it is may see."""
        return {
            "player": self.player,
            "dealer": self.dealer,
            "scores": list(self.scores),
            "hand": list(self.hands[self.player]),  # None in the place of a card that has been played
            "discards": list(self.thrown[self.player]),
            "starter": self.starter,
            "series": list(self.series),
            "played": list(self.played),
            "count": sum(value(card) for card in self.series),
            "legal_actions": self.legal_actions(),
        }

    # Rules from here on.

    def peg(self, player: int, points: int) -> None:
        """Move a peg; the game is over at 121."""
        if self.winner is None:
            self.scores[player] = min(GAME, self.scores[player] + points)
            if self.scores[player] == GAME:
                self.winner = player

    def deal(self) -> None:
        """Six cards each."""
        deck = self.shuffle()
        self.hands: list[list[Card | None]] = [list(sorted(deck[:6])), list(sorted(deck[6:12]))]
        self.turned_up = deck[12]
        self.starter: Card | None = None
        self.kept: list[list[Card]] = [[], []]
        self.thrown: list[list[Card]] = [[], []]
        self.series: list[Card] = []
        self.played: list[tuple[int, Card]] = []
        self.player = 0

    def discard(self, places: tuple[int, int]) -> None:
        """Throw two cards; after the second player the starter is turned up."""
        cards = [card for card in self.hands[self.player] if card is not None]
        self.thrown[self.player] = [cards[place] for place in places]
        self.kept[self.player] = [card for card in cards if card not in self.thrown[self.player]]
        self.hands[self.player] = list(self.kept[self.player])
        if self.player == 0:
            self.player = 1
            return
        self.starter = self.turned_up
        if self.starter[0] == JACK:
            self.peg(self.dealer, 2)
        self.player = 1 - self.dealer

    def playable(self, player: int) -> list[int]:
        """Places of the cards that a player may play."""
        room = 31 - sum(value(card) for card in self.series)
        return [place for place, card in enumerate(self.hands[player]) if card is not None and value(card) <= room]

    def play(self, place: int) -> None:
        """Play a card, and find out whose turn it is."""
        player = self.player
        card = self.hands[player][place]
        assert card is not None
        self.hands[player][place] = None
        self.series.append(card)
        self.played.append((player, card))
        self.peg(player, play_points(self.series))
        for following in (1 - player, player):
            if self.playable(following):
                self.player = following
                return
        if sum(value(card) for card in self.series) != 31:
            self.peg(player, 1)
        self.series = []
        for following in (1 - player, player):
            if self.playable(following):
                self.player = following
                return
        self.show()

    def show(self) -> None:
        """Count the pone's hand, the dealer's and the crib; then the deal passes."""
        assert self.starter is not None
        pone = 1 - self.dealer
        self.peg(pone, show_points(self.kept[pone], self.starter))
        self.peg(self.dealer, show_points(self.kept[self.dealer], self.starter))
        self.peg(self.dealer, show_points(self.thrown[0] + self.thrown[1], self.starter, is_crib=True))
        if self.winner is None:
            self.dealer = pone
            self.deal()
