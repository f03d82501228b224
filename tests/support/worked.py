"""Hands with every point worked out at the table, and games that play them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from deepcrib.game.engine import Games
from tests.support.reference import cards


def action_of(dealt: list[int], thrown: list[int]) -> int:
    """Discard action that throws these cards."""
    slots = tuple(sorted(dealt).index(card) for card in sorted(thrown))
    return list(combinations(range(len(dealt)), len(thrown))).index(slots)


@dataclass
class Worked:
    """A hand with every point worked out at the table; `kept`, `thrown` by seat, `plays` seat:card:points."""

    dealer: int
    kept: list[str]
    thrown: list[str]
    starter: str
    plays: str
    hands: list[int]
    crib: int
    added: str = ""
    heels: int = 0
    sequence: list[tuple[int, int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for word in self.plays.split():
            seat, card, points = word.split(":")
            self.sequence.append((int(seat), cards(card)[0], int(points)))

    @property
    def dealt(self) -> list[list[int]]:
        return [sorted(cards(f"{kept} {away}")) for kept, away in zip(self.kept, self.thrown, strict=True)]


# A go, then the lead goes to the player who said it; the last card.
GO = Worked(
    dealer=1,
    kept=["4C 5D 6H JS", "7C 8D 9H TS"],
    thrown=["KC QC", "2D 3D"],
    starter="AS",
    # J 10, T 20, 6 26, player 1 cannot (7, 8, 9): go; 4 30, player 0 cannot either: 1. Player 1 leads 7,
    # 5 12, 8 20, and goes on alone: 9 29 is the last card.
    plays="0:JS:0 1:TS:0 0:6H:0 0:4C:1 1:7C:0 0:5D:0 1:8D:0 1:9H:1",
    hands=[10, 6],  # 4+5+6, 5+J, A+4+J, run of three, nobs; 7+8, run of four
    crib=7,  # 2+3+K, 2+3+Q, run of three
)


# Thirty-one is 2 and never also a go, nor a last card.
THIRTY_ONE = Worked(
    dealer=0,
    kept=["TH KS AD JH", "TC JD 5C 6S"],
    thrown=["3C 8C", "7D 9D"],
    starter="2H",
    # T 10, T 20 pair, J 30, A 31; player 1 leads: 5, K 15, 6 21, J 31 with the last card of all.
    plays="1:TC:0 0:TH:2 1:JD:0 0:AD:2 1:5C:0 0:KS:2 1:6S:0 0:JH:2",
    hands=[1, 4],  # nobs; 5+T, 5+J
    crib=5,  # 7+8, run of three
)


# One player runs out of cards; the other leads and plays on alone. Heels.
ALONE = Worked(
    dealer=0,
    kept=["KC KD KH QS", "7S AH AD AC"],
    thrown=["4H 6D", "5C 8H"],
    starter="JC",
    heels=2,
    # 7, K 17, A 18, K 28, A 29, go, A 30: a pair (the first ace lies apart) and the go. Then K, Q alone.
    plays="1:7S:0 0:KC:0 1:AH:0 0:KD:0 1:AD:0 1:AC:3 0:KH:0 0:QS:1",
    hands=[15, 6],  # pair royal, triple run of three; pair royal
    crib=7,  # 4+5+6, 5+J, run of three
)


# The other has said go, one's own card makes thirty-one: 2, not 3; the other leads.
GO_THEN_31 = Worked(
    dealer=1,
    kept=["TS 9C 2D 4S", "TD 6H 7H 8C"],
    thrown=["JH QC", "JC 3S"],
    starter="5D",
    plays="0:TS:0 1:TD:2 0:9C:0 0:2D:2 1:8C:0 0:4S:0 1:7H:0 1:6H:1",
    hands=[4, 8],  # 5+T, 9+4+2; 5+T, 7+8, run of four
    crib=8,  # 5 with three court cards, pair of jacks
)


# Three players: all say go, the left of the last card leads each series; the deck adds a card to the crib.
THREE = Worked(
    dealer=2,
    kept=["KC 7D 6C 2S", "QH 9D 5S 4H", "JD 8C 8S 3D"],
    thrown=["9S", "AS", "TC"],
    added="KH",
    starter="5H",
    # K, Q 20, J 30: run of three 3, and nobody can: 1. Player 0 leads 7, 9 16, 8 24: run of three, 6 30: run
    # of four 4, and go 1. Player 1 leads 5, 8 13, 2 15: 2, 4 19, 3 22: run of three 3 with the last card 1.
    plays="0:KC:0 1:QH:0 2:JD:4 0:7D:0 1:9D:0 2:8C:3 0:6C:5 1:5S:0 2:8S:0 0:2S:2 1:4H:0 2:3D:4",
    hands=[7, 6, 4],  # 5+K, 2+6+7, run of three; 5+Q twice, pair; 5+J, pair
    crib=6,  # 5+T, 5+K, A+5+9
)


# Three players: one says go and the two others play on round it; then one alone.
THREE_GO_ROUND = Worked(
    dealer=2,
    kept=["KC QC JC TC", "KD QD 2C AC", "4D 3D AD 9S"],
    thrown=["5S", "8H", "7S"],
    added="9H",
    starter="6H",
    # K, K 20: pair, 4 24, player 0 go, 2 26, 3 29: run of three, A 30: run of four, A 31: pair 2 and 2.
    # Player 0 leads Q, Q 20: pair, 9 29, player 0 go, the others have no cards: 1 to player 2. Then player 0
    # alone: J, T last card.
    plays="0:KC:0 1:KD:2 2:4D:0 1:2C:0 2:3D:3 1:AC:4 2:AD:4 0:QC:0 1:QD:2 2:9S:1 0:JC:0 0:TC:1",
    hands=[8, 0, 2],  # run of four, flush; nothing; 6+9
    crib=9,  # 7+8, 6+9, run of five
)


# Four players: thirty-one, a go passed round the whole table, a go with two players out of cards.
FOUR = Worked(
    dealer=3,
    kept=["7C 7D AS 4D", "8C 7H 2S KD", "9C 9D 3S QD", "6C JH JS 5D"],
    thrown=["2H", "TH", "TS", "5C"],
    starter="5H",
    # 7, 8 15: 2, 9 24: run of three, 6 30: run of four, A 31: 2. Player 1 leads 7, 9 16, J 26, 4 30, go: 1.
    # Player 1 leads 2, 3 5, 5 10, 7 17, K 27, players 2 and 3 go: 1. Player 2 leads Q, J 20: last card.
    plays=(
        "0:7C:0 1:8C:2 2:9C:3 3:6C:4 0:AS:2 1:7H:0 2:9D:0 3:JH:0 0:4D:1 "
        "1:2S:0 2:3S:0 3:5D:0 0:7D:0 1:KD:1 2:QD:0 3:JS:1"
    ),
    hands=[4, 6, 4, 13],  # A+7+7, pair; 7+8, 5+K, 2+5+8; 5+Q, pair; 5+J four times, two pairs, nobs
    crib=12,  # 5+T four times, two pairs
)


WORKED = {
    "go": GO,
    "thirty-one": THIRTY_ONE,
    "alone": ALONE,
    "go then thirty-one": GO_THEN_31,
    "three": THREE,
    "three, go round": THREE_GO_ROUND,
    "four": FOUR,
}


def seat_hand(worked: Worked, scores: list[list[int]], **options: object) -> Games:
    """Games at the deal of a worked hand, one for each row of starting scores."""
    players = len(worked.kept)
    games = Games(range(len(scores)), 1, num_players=players, first_dealer=[worked.dealer] * len(scores), **options)
    games.deal()
    state = games.state
    state.dealt[:] = worked.dealt
    state.hidden[:, 0] = cards(worked.starter)[0]
    if worked.added:
        state.hidden[:, 1] = cards(worked.added)[0]
    state.scores[:] = scores
    return games


def throw_hand(games: Games, worked: Worked) -> None:
    rows = np.arange(len(games))
    for seat, (dealt, away) in enumerate(zip(worked.dealt, worked.thrown, strict=True)):
        games.discard(rows, np.full(len(rows), seat), np.full(len(rows), action_of(dealt, cards(away))))


def lay_hand(games: Games, worked: Worked) -> None:
    """Play the worked sequence in every game that still goes on, checking whose turn it is."""
    for seat, card, _ in worked.sequence:
        rows = games.to_play
        assert (games.turn[rows] == seat).all()
        games.play(rows, np.full(len(rows), sorted(cards(worked.kept[seat])).index(card)))
    assert len(games.to_play) == 0
