"""The engine: hands worked by hand, whole games replayed through `reference`, deals, purity and refusals."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from math import comb

import numpy as np
import pytest

from deepcrib.game.engine import Games, IllegalActionError
from deepcrib.game.policies import DETERMINISTIC, GREEDY, RANDOM, pick
from deepcrib.game.randomness import CUT, below, hash_key
from deepcrib.kernels.workers import use_workers
from tests.support import reference
from tests.support.reference import (
    Deal,
    PlayedHand,
    cards,
    chi_square_limit,
    drive,
    plain_discards,
    plain_plays,
    thrown_by,
)

ERROR_LEVEL = 1e-6
HANDS, PLAYERS = {2: 6, 3: 5, 4: 5}, (2, 3, 4)


def action_of(dealt: list[int], thrown: list[int]) -> int:
    """Discard action that throws these cards."""
    slots = tuple(sorted(dealt).index(card) for card in sorted(thrown))
    return list(combinations(range(len(dealt)), len(thrown))).index(slots)


def assert_uniform(counts: np.ndarray, freedom: int | None = None) -> None:
    expected = counts.sum() / counts.size
    limit = chi_square_limit(freedom or counts.size - 1, ERROR_LEVEL)
    assert ((counts - expected) ** 2 / expected).sum() < limit


# --- hands worked by hand -----------------------------------------------------------------------------------


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


@pytest.mark.parametrize("name", WORKED)
def test_worked_hands(name: str) -> None:
    """Every point of the hand, in the engine and in the reference."""
    worked = WORKED[name]
    players, dealer = len(worked.kept), worked.dealer
    games = seat_hand(worked, [[0] * players])
    throw_hand(games, worked)
    games.start_play()
    assert games.scores[0, dealer] == worked.heels
    lay_hand(games, worked)
    games.show()
    state, log = games.state[0], games.log
    assert state.history.tolist() == [card for _, card, _ in worked.sequence]
    assert log.play_seats[0].tolist() == [seat for seat, _, _ in worked.sequence]
    assert log.play_points[0].tolist() == [points for _, _, points in worked.sequence]
    assert log.heels[0] == worked.heels
    assert log.hand[0].tolist() == worked.hands
    assert log.crib[0] == worked.crib
    totals = np.array(worked.hands)
    totals[dealer] += worked.heels + worked.crib
    for seat, _, points in worked.sequence:
        totals[seat] += points
    assert games.scores[0].tolist() == totals.tolist()
    assert not games.finished[0] and games.winner[0] == -1


@pytest.mark.parametrize("name", WORKED)
def test_worked_hands_in_the_reference(name: str) -> None:
    worked = WORKED[name]
    laid = iter(worked.sequence)

    def choose(player: int, legal: tuple[int, ...]) -> int:
        seat, card, _ = next(laid)
        assert seat == player
        return card

    deal = Deal(worked.dealt, cards(worked.starter)[0], cards(worked.added))
    scores = [0] * len(worked.kept)
    record = reference.play_hand(deal, worked.dealer, [cards(away) for away in worked.thrown], choose, scores)
    points = [0] * len(worked.sequence)
    for peg in record.pegged:
        if peg.number >= 0:
            points[peg.number] += peg.points
    assert points == [points for _, _, points in worked.sequence]
    hands = {peg.player: peg.points for peg in record.pegged if peg.kind == "hand"}
    assert [hands.get(player, 0) for player in range(len(worked.kept))] == worked.hands
    assert sum(peg.points for peg in record.pegged if peg.kind == "crib") == worked.crib
    assert sum(peg.points for peg in record.pegged if peg.kind == "heels") == worked.heels
    shown = [peg.player for peg in record.pegged if peg.kind == "hand"]
    assert shown == sorted(shown, key=lambda player: (player - worked.dealer - 1) % len(worked.kept))


# --- the end of a game --------------------------------------------------------------------------------------

ENDS = [
    # the GO hand (player 1 deals): scores before, after, winner, cards laid, hands and crib counted
    ([120, 120], [121, 120], 0, 4, [0, 0], 0),  # at the go, before the other has led
    ([110, 120], [111, 121], 1, 8, [0, 0], 0),  # at the last card: nobody counts
    ([110, 114], [121, 115], 0, 8, [10, 0], 0),  # pone counts first, though the dealer holds enough
    ([119, 119], [121, 120], 0, 8, [10, 0], 0),  # the peg stops in the last hole
    ([109, 114], [120, 121], 1, 8, [10, 6], 0),  # the dealer's hand before the crib
    ([109, 107], [120, 121], 1, 8, [10, 6], 7),  # the crib
    ([109, 106], [120, 120], -1, 8, [10, 6], 7),  # one short each: the game goes on
]


@pytest.mark.parametrize(("before", "after", "winner", "laid", "hands", "crib"), ENDS)
def test_the_game_ends_at_the_very_peg(
    before: list[int], after: list[int], winner: int, laid: int, hands: list[int], crib: int
) -> None:
    games = seat_hand(GO, [before])
    throw_hand(games, GO)
    games.start_play()
    for seat, card, _ in GO.sequence[:laid]:
        assert games.turn[0] == seat
        games.play(games.to_play, [sorted(cards(GO.kept[seat])).index(card)])
    assert len(games.to_play) == 0
    games.show()
    assert games.scores[0].tolist() == after
    assert games.winner[0] == winner and games.finished[0] == (winner >= 0)
    assert games.state.num_played[0] == laid
    assert games.log.hand[0].tolist() == hands and games.log.crib[0] == crib
    assert games.unfinished.tolist() == ([] if winner >= 0 else [0])
    # The next deal goes to the other player; a finished game stays as it is.
    frozen = games.state.copy()
    games.deal()
    if winner >= 0:
        assert games.state[0] == frozen[0]
    else:
        assert games.dealer[0] == 0 and games.state.hand_number[0] == 1


def test_games_that_end_at_different_pegs_stay_in_lockstep() -> None:
    games = seat_hand(GO, [before for before, *_ in ENDS])
    throw_hand(games, GO)
    games.start_play()
    lay_hand(games, GO)
    games.show()
    assert games.scores.tolist() == [after for _, after, *_ in ENDS]
    assert games.winner.tolist() == [winner for _, _, winner, *_ in ENDS]
    assert games.log.hand.tolist() == [hands for *_, hands, _ in ENDS]


def test_heels_can_end_the_game_before_a_card_is_laid() -> None:
    games = seat_hand(ALONE, [[119, 0], [120, 120], [118, 120]])
    throw_hand(games, ALONE)
    games.start_play()
    assert games.scores.tolist() == [[121, 0], [121, 120], [120, 120]]
    assert games.winner.tolist() == [0, 0, -1]
    assert games.to_play.tolist() == [2]
    assert games.log.heels.tolist() == [2, 2, 2]
    assert games.state.num_played.tolist() == [0, 0, 0]


def test_a_pair_can_end_the_game() -> None:
    """Player 1 pairs the first ten: not a card is laid after it."""
    games = seat_hand(GO_THEN_31, [[120, 119]])
    throw_hand(games, GO_THEN_31)
    games.start_play()
    for seat, card, _ in GO_THEN_31.sequence[:2]:
        games.play(games.to_play, [sorted(cards(GO_THEN_31.kept[seat])).index(card)])
    assert games.scores[0].tolist() == [120, 121]
    assert games.winner[0] == 1 and games.turn[0] == -1


def test_three_players_count_from_the_dealers_left() -> None:
    """Player 2 deals; with the play points each of them would reach 121 in the show."""
    # Play points of THREE: 7, 0, 11. Hands 7, 6, 4; crib 6.
    before = [[107, 115, 106], [106, 115, 106], [106, 114, 106], [106, 114, 100], [106, 114, 99]]
    games = seat_hand(THREE, before)
    throw_hand(games, THREE)
    games.start_play()
    lay_hand(games, THREE)
    games.show()
    assert games.winner.tolist() == [0, 1, 2, 2, -1]
    assert games.scores.tolist() == [
        [121, 115, 117],
        [120, 121, 117],
        [120, 120, 121],
        [120, 120, 121],
        [120, 120, 120],
    ]
    assert games.log.crib.tolist() == [0, 0, 0, 6, 6]


def test_without_the_stop_a_hand_is_played_out() -> None:
    games = seat_hand(GO, [[120, 120], [110, 120], [0, 0]], stop_at_121=False)
    throw_hand(games, GO)
    games.start_play()
    lay_hand(games, GO)
    games.show()
    # Player 0: go 1, hand 10. Player 1: last card 1, hand 6, crib 7.
    assert games.scores.tolist() == [[131, 134], [121, 134], [11, 14]]
    assert games.finished.tolist() == [True, True, False]
    assert games.log.hand.tolist() == [[10, 6]] * 3 and games.log.crib.tolist() == [7] * 3


# --- whole games against the reference ----------------------------------------------------------------------


def reference_game(games: Games, hands: list[PlayedHand], row: int) -> tuple[list[int], list[reference.HandRecord]]:
    """Game `row` once more, with the same cards and choices; whose turn it is, is the reference's word."""
    mine = [hand for hand in hands if row in hand.rows]
    laid = [iter(hand.laid[row]) for hand in mine]
    deals, thrown = [], []
    for hand in mine:
        dealt = hand.state.dealt[row].tolist()
        thrown.append([thrown_by(held, int(action)) for held, action in zip(dealt, hand.actions[row], strict=True)])
        deals.append(Deal(dealt, int(hand.state.starter[row]), [int(hand.state.hidden[row, 1])] * (len(dealt) == 3)))

    def choose(number: int, player: int, legal: tuple[int, ...]) -> int:
        seat, card = next(laid[number])
        assert seat == player, f"game {row}, hand {number}: the engine gives seat {seat} the turn"
        return card

    dealers = [int(hand.state.dealer[row]) for hand in mine] if games.random_dealer else None
    result = reference.play_game(deals, int(mine[0].state.dealer[row]), thrown.__getitem__, choose, dealers)
    assert all(next(rest, None) is None for rest in laid), "the engine laid cards after the end"
    return result


def assert_same_hand(state: np.record, record: reference.HandRecord) -> None:
    """Every logged point of a hand; after the end of the game there are none."""
    players = len(state.scores)
    expected = {"heels": 0, "crib": 0, "hand": [0] * players, "play": [0] * (4 * players)}
    for peg in record.pegged:
        if peg.number >= 0:
            expected["play"][peg.number] += peg.points
        elif peg.kind == "hand":
            expected["hand"][peg.player] += peg.points
        else:
            assert peg.player == state.dealer
            expected[peg.kind] += peg.points
    rest = [-1] * (4 * players - len(record.turns))
    assert state.dealer == record.dealer
    assert state.history.tolist() == [turn.card for turn in record.turns] + rest
    assert state.history_seats.tolist() == [turn.player for turn in record.turns] + rest
    assert state.play_points.tolist() == expected["play"]
    assert state.hand_points.tolist() == expected["hand"]
    assert (state.heels, state.crib_points) == (expected["heels"], expected["crib"])
    assert sorted(state.crib.tolist()) == sorted(record.crib)
    assert state.kept.tolist() == record.kept


@pytest.mark.parametrize("dealing", ["acc", "random_dealer"])
@pytest.mark.parametrize(("players", "count"), [(2, 400), (3, 200), (4, 120)])
def test_whole_games_against_the_reference(players: int, count: int, dealing: str) -> None:
    games = Games(range(count), 101, num_players=players, dealing=dealing)
    hands = drive(games)
    assert games.finished.all()
    winners = set()
    for row in range(count):
        scores, records = reference_game(games, hands, row)
        assert len(records) == games.state.hand_number[row] + 1
        for number, record in enumerate(records):
            assert_same_hand(hands[number].state[row], record)
        assert games.scores[row].tolist() == scores
        assert games.winner[row] == records[-1].winner == int(np.argmax(scores))
        assert max(scores) == 121 and sum(score == 121 for score in scores) == 1
        winners.add(records[-1].winner)
    assert winners == set(range(players))


@pytest.mark.parametrize("players", PLAYERS)
def test_sums_over_the_game_by_seat_role_and_kind(players: int) -> None:
    count = 40
    games = Games(range(count), 102, num_players=players)
    hands = drive(games)
    kinds = {"heels": 0, "play": 1, "go": 1, "hand": 2, "crib": 3}
    for row in range(count):
        points = np.zeros((players, 2, 4), dtype=int)
        _, records = reference_game(games, hands, row)
        for record in records:
            for peg in record.pegged:
                points[peg.player, int(peg.player == record.dealer), kinds[peg.kind]] += peg.points
        assert games.state.points[row].tolist() == points.tolist()
        counts = games.state.counts[row]
        deals = [sum(record.dealer == seat for record in records) for seat in range(players)]
        assert counts[:, 1, 0].tolist() == deals  # heels are looked for in every hand one deals
        assert counts[:, 0, 0].sum() == counts[:, 0, 3].sum() == 0  # a pone has neither heels nor crib
        # Only in the last hand may a kind not be reached.
        for kind in (1, 2):
            assert (np.array(deals) - counts[:, 1, kind] <= 1).all() and (counts[:, 1, kind] <= deals).all()
        assert 0 <= sum(deals) - counts[:, 1, 3].sum() <= 1


@pytest.mark.parametrize("players", PLAYERS)
def test_hands_played_out_against_the_reference(players: int) -> None:
    """Without the stop at 121, as in training: every hand to the end of its show."""
    count = 60
    games = Games(range(count), 103, num_players=players, stop_at_121=False)
    hands = drive(games, max_hands=3)
    for hand in hands:
        for row in hand.rows.tolist():
            state, laid = hand.state[row], iter(hand.laid[row])
            dealt = state.dealt.tolist()
            thrown = [thrown_by(held, int(action)) for held, action in zip(dealt, hand.actions[row], strict=True)]
            deal = Deal(dealt, int(state.starter), [int(state.hidden[1])] * (players == 3))
            record = reference.play_hand(
                deal, int(state.dealer), thrown, lambda player, legal, laid=laid: next(laid)[1], [0] * players, None
            )
            assert_same_hand(state, record)
            assert sum(hand.state.play_points[row]) > 0


# --- dealing ------------------------------------------------------------------------------------------------


def deals_of(games: Games, hands: int = 1) -> np.ndarray:
    """Cards of the next hands [hands, N, P * D + 2]; nobody needs to play them."""
    out = []
    for _ in range(hands):
        games.deal()
        state = games.state
        out.append(np.concatenate([state.dealt.reshape(len(games), -1), state.hidden], axis=1))
    return np.array(out)


@pytest.mark.parametrize("players", PLAYERS)
def test_no_card_is_dealt_twice(players: int) -> None:
    deals = deals_of(Games(range(2_000), 104, num_players=players), 3).reshape(6_000, -1)
    assert deals.min() >= 0 and deals.max() <= 51
    assert (np.diff(np.sort(deals, axis=1), axis=1) > 0).all()
    assert deals.shape[1] == players * HANDS[players] + 2


@pytest.mark.parametrize("players", PLAYERS)
def test_hands_are_sorted(players: int) -> None:
    games = Games(range(500), 104, num_players=players)
    games.deal()
    assert (np.diff(games.state.dealt, axis=2) > 0).all()


@pytest.mark.parametrize("players", PLAYERS)
def test_every_card_comes_to_every_place_alike(players: int) -> None:
    """Chi-square over the 52 cards at each place, at an error level of 1e-6.

    A hand of D of the 52 cards without replacement spreads (52 - D) / 51 as widely as D independent cards.
    """
    size = HANDS[players]
    deals = deals_of(Games(range(20_000), 105, num_players=players), 2).reshape(40_000, -1)
    places = [deals[:, seat * size : (seat + 1) * size] for seat in range(players)] + [deals[:, -2:-1], deals[:, -1:]]
    for held in places:
        counts = np.bincount(held.ravel(), minlength=52)
        expected = counts.sum() / 52
        statistic = ((counts - expected) ** 2 / expected).sum() * 51 / (52 - held.shape[1])
        assert chi_square_limit(51, 1 - ERROR_LEVEL) < statistic < chi_square_limit(51, ERROR_LEVEL)


def test_pairs_of_cards_in_a_hand_are_uniform() -> None:
    """The two lowest of six cards, at an error level of 1e-6: (a, b) leaves C(51 - b, 4) hands above."""
    hands = deals_of(Games(range(60_000), 106))[0, :, :2].astype(int)
    state_pairs = np.bincount(hands[:, 0] * 52 + hands[:, 1], minlength=52 * 52)
    assert state_pairs.reshape(52, 52)[np.tril_indices(52)].sum() == 0  # sorted
    expected = np.array([comb(51 - b, 4) if b > a else 0 for a in range(52) for b in range(52)], dtype=float)
    expected *= len(hands) / expected.sum()
    common = expected >= 5
    statistic = ((state_pairs - expected)[common] ** 2 / expected[common]).sum()
    assert statistic < chi_square_limit(int(common.sum()), ERROR_LEVEL)


def test_starter_and_hands_are_independent_between_hands_and_games() -> None:
    deals = deals_of(Games(range(30_000), 107), 2)[:, :, -2].astype(int) // 4  # ranks of the starters
    assert_uniform(np.bincount(deals[0] * 13 + deals[1], minlength=169))  # of one game's successive hands
    assert_uniform(np.bincount(deals[0, :-1] * 13 + deals[0, 1:], minlength=169))  # of neighbouring games


@pytest.mark.parametrize("players", PLAYERS)
def test_deals_are_a_pure_function_of_seed_game_and_hand(players: int) -> None:
    ids = np.array([0, 1, 2, 3, 50, 999, 10**12, 7])
    whole = deals_of(Games(ids, 108, num_players=players), 4)
    order = np.random.default_rng(1).permutation(len(ids))
    np.testing.assert_array_equal(deals_of(Games(ids[order], 108, num_players=players), 4), whole[:, order])
    for row, game in enumerate(ids):
        alone = deals_of(Games([game], 108, num_players=players), 4)
        np.testing.assert_array_equal(alone[:, 0], whole[:, row])
    assert (deals_of(Games(ids, 109, num_players=players), 4) != whole).any(axis=2).all()
    # Neither who deals nor what was played before it matters.
    others = Games(ids, 108, num_players=players, first_dealer=np.arange(len(ids)) % players, dealing="random_dealer")
    np.testing.assert_array_equal(deals_of(others, 4), whole)
    played = Games(ids, 108, num_players=players)
    hands = drive(played, max_hands=3)
    for number, hand in enumerate(hands):
        rows = hand.rows
        np.testing.assert_array_equal(hand.state.dealt[rows].reshape(len(rows), -1), whole[number][rows, :-2])


def test_the_same_deal_with_the_seats_of_the_dealer_swapped() -> None:
    """What a duplicate match needs: the same cards by seat, the other player dealing."""
    one, two = (Games(range(50), 110, first_dealer=[dealer] * 50) for dealer in (0, 1))
    np.testing.assert_array_equal(deals_of(one, 3), deals_of(two, 3))
    assert (one.dealer != two.dealer).all()


@pytest.mark.parametrize("players", PLAYERS)
def test_acc_deal_passes_to_the_left(players: int) -> None:
    games = Games(range(200), 111, num_players=players)
    first = games.dealer.copy()
    for hand in range(5):
        games.deal()
        np.testing.assert_array_equal(games.dealer, (first + hand) % players)
        assert (games.state.hand_number == hand).all()


@pytest.mark.parametrize("players", PLAYERS)
def test_the_low_cut_deals_first_and_ties_cut_again(players: int) -> None:
    """Every cut followed card by card: all players cut different cards, and the lowest rank alone deals."""
    games = Games(range(3_000), 112, num_players=players)
    again = 0
    for row in range(len(games)):
        key, counter, cut = np.uint64(hash_key(112, row, 0, -1, CUT)), 0, []
        while True:
            while len(cut) < players:
                card = int(below(key, counter, 52))
                counter += 1
                if card not in cut:
                    cut.append(card)
            ranks = [card // 4 for card in cut]
            if ranks.count(min(ranks)) == 1:
                break
            cut, again = [], again + 1
        assert games.dealer[row] == ranks.index(min(ranks))
    assert again > 100  # a tie for low comes once in 17 cuts of two players
    assert_uniform(np.bincount(games.dealer, minlength=players))


@pytest.mark.parametrize("players", PLAYERS)
def test_random_dealer_is_fair_and_has_no_memory(players: int) -> None:
    games = Games(range(12_000), 113, num_players=players, dealing="random_dealer")
    dealers = []
    for _ in range(4):
        games.deal()
        dealers.append(games.dealer.astype(int).copy())
    for dealer in dealers:
        assert_uniform(np.bincount(dealer, minlength=players))
    for one, two in zip(dealers, dealers[1:], strict=False):
        assert_uniform(np.bincount(one * players + two, minlength=players**2))


@pytest.mark.parametrize("dealing", ["acc", "random_dealer"])
def test_a_named_first_dealer_deals_first(dealing: str) -> None:
    first = np.array([0, 1, 1, 0, 1])
    games = Games(range(5), 114, first_dealer=first, dealing=dealing)
    games.deal()
    np.testing.assert_array_equal(games.dealer, first)


# --- threads, batches, scripted players ---------------------------------------------------------------------


def final_state(games: Games) -> np.ndarray:
    assert games.finished.all()
    return games.state.copy()


@pytest.mark.usefixtures("many_parts")
@pytest.mark.parametrize("players", PLAYERS)
def test_split_batches_and_threads_play_the_same_games(players: int) -> None:
    ids = np.arange(300, 400)

    def play(some: np.ndarray) -> np.ndarray:
        games = Games(some, 115, num_players=players)
        drive(games)
        return final_state(games)

    whole = play(ids)
    use_workers(1)
    one_thread = play(ids)
    use_workers(2)
    assert (one_thread == whole).all()
    assert (np.concatenate([play(ids[:1]), play(ids[1:37]), play(ids[37:])]) == whole).all()
    assert (play(ids[::-1])[::-1] == whole).all()


def scripted(ids: np.ndarray, policies: list[int], players: int, **options: object) -> Games:
    games = Games(ids, 116, num_players=players, **options)
    games.play_scripted(np.tile(np.array(policies, dtype=np.int8), (len(ids), 1)))
    return games


def plain_choice(policies: list[int], observation: object) -> np.ndarray:
    """The scripted players' choices, worked out in plain Python; ties fall by the key as theirs do."""
    names = {RANDOM: "random", DETERMINISTIC: "deterministic", GREEDY: "greedy"}
    out = []
    for row in range(len(observation)):
        name = names[policies[int(observation.seat[row])]]
        hand = observation.hand[row].tolist()
        if hasattr(observation, "legal"):
            history = observation.history[row]
            series = history[int(observation.series_start[row]) :]
            tied = plain_plays(name, hand, series[series >= 0].tolist())
        else:
            tied = plain_discards(name, hand)
        out.append(pick(sum(1 << choice for choice in tied), observation.key[row]))
    return np.array(out)


@pytest.mark.parametrize(
    ("players", "policies"),
    [
        (2, [GREEDY, DETERMINISTIC]),
        (2, [RANDOM, GREEDY]),
        (3, [GREEDY, RANDOM, DETERMINISTIC]),
        (4, [DETERMINISTIC, GREEDY, DETERMINISTIC, RANDOM]),
    ],
)
def test_scripted_games_are_the_lockstep_games(players: int, policies: list[int]) -> None:
    """Whole games in one kernel against phase by phase with plain-Python players: the same in every field."""
    ids = np.arange(12)
    games = Games(ids, 116, num_players=players)
    drive(games, lambda observation: plain_choice(policies, observation))
    kernel = scripted(ids, policies, players)
    for name in kernel.state.dtype.names:
        np.testing.assert_array_equal(kernel.state[name], games.state[name], err_msg=name)


@pytest.mark.usefixtures("many_parts")
@pytest.mark.parametrize("players", PLAYERS)
def test_scripted_games_do_not_depend_on_threads_or_batches(players: int) -> None:
    ids = np.arange(2_000)
    policies = [GREEDY, DETERMINISTIC, RANDOM, GREEDY][:players]
    whole = final_state(scripted(ids, policies, players))
    use_workers(1)
    one_thread = final_state(scripted(ids, policies, players))
    use_workers(2)
    assert (one_thread == whole).all()
    parts = [final_state(scripted(part, policies, players)) for part in np.array_split(ids, 7)]
    assert (np.concatenate(parts) == whole).all()


def win_rate(one: int, two: int, count: int) -> float:
    """Share of games that policy `one` wins, both seats and first deals balanced."""
    ids = np.arange(count)
    seats = np.array([[one, two], [two, one]], dtype=np.int8)[ids % 2]
    games = Games(ids, 117, first_dealer=ids // 2 % 2)
    games.play_scripted(seats)
    return float((games.winner == ids % 2).mean())


@pytest.mark.parametrize(
    ("one", "two", "published", "half_width"),
    [
        (GREEDY, DETERMINISTIC, 0.535, 0.003),
        (DETERMINISTIC, RANDOM, 0.978, 0.006),
        (RANDOM, GREEDY, 0.016, 0.002),
        (GREEDY, GREEDY, 0.5, 0.0),
    ],
)
def test_scripted_players_are_as_strong_as_measured_elsewhere(
    one: int, two: int, published: float, half_width: float
) -> None:
    """Within the published 95% interval widened to an error level near 1e-6 and 5 deviations of our own."""
    count = 40_000
    own = 5 * (published * (1 - published) / count) ** 0.5
    assert win_rate(one, two, count) == pytest.approx(published, abs=2.5 * half_width + own)


def test_greedy_players_points_a_hand_and_the_first_deal() -> None:
    ids = np.arange(40_000)
    games = Games(ids, 118, first_dealer=ids % 2)
    games.play_scripted(np.full((len(ids), 2), GREEDY, dtype=np.int8))
    won_by_first_dealer = float((games.winner == ids % 2).mean())
    assert 0.52 < won_by_first_dealer < 0.58  # 55.5% among people
    hands = games.state.hand_number + 1
    assert 8.5 < hands.mean() < 10.5
    means = games.state.points.sum(axis=(0, 1)) / games.state.counts.sum(axis=(0, 1)).clip(1)
    heels, play, hand, crib = means[1]
    assert heels == pytest.approx(2 * 4 / 52, abs=0.005)
    assert 3 < play < 4.5 and 7.5 < hand < 8.5 and 4 < crib < 5
    assert 1.8 < means[0, 1] < 2.8 and 7.5 < means[0, 2] < 8.5


# --- refusals -----------------------------------------------------------------------------------------------


def assert_refused(call: object, *words: str) -> None:
    """One line that names game, seat and what was wrong."""
    with pytest.raises(IllegalActionError) as error:
        call()
    text = str(error.value)
    assert "\n" not in text
    for word in words:
        assert word in text, text


@pytest.fixture
def two_games() -> Games:
    """Games 70 and 71 at the deal of the GO hand, player 1 dealing."""
    games = seat_hand(GO, [[0, 0], [0, 0]])
    games.state.game[:] = [70, 71]
    return games


def one(value: int) -> np.ndarray:
    return np.array([value])


@pytest.mark.parametrize("action", [-1, 15, 127, 300, -300])
def test_no_such_discard(two_games: Games, action: int) -> None:
    before = two_games.state.copy()
    assert_refused(lambda: two_games.discard(one(1), one(0), one(action)), "game 71", "seat 0", str(action), "0..14")
    assert (two_games.state == before).all()


@pytest.mark.parametrize("players", [3, 4])
def test_no_such_discard_of_five_cards(players: int) -> None:
    games = Games([5], 1, num_players=players)
    games.deal()
    assert_refused(lambda: games.discard(one(0), one(2), one(5)), "game 5", "seat 2", "5", "0..4")


def test_a_second_discard(two_games: Games) -> None:
    two_games.discard(one(0), one(1), one(3))
    before = two_games.state.copy()
    assert_refused(lambda: two_games.discard(one(0), one(1), one(4)), "game 70", "seat 1")
    assert (two_games.state == before).all()


def test_a_discard_before_the_deal() -> None:
    games = Games([9], 1)
    assert_refused(lambda: games.discard(one(0), one(0), one(0)), "game 9", "seat 0")


@pytest.mark.parametrize("seat", [-1, 2, 100])
def test_a_discard_of_nobody(two_games: Games, seat: int) -> None:
    """Compiled code does not check bounds: an unchecked seat is some other place in memory."""
    before = two_games.state.copy()
    with pytest.raises((IllegalActionError, IndexError, ValueError)):
        two_games.discard(one(0), one(seat), one(0))
    assert (two_games.state == before).all()


def test_the_starter_waits_for_all_discards(two_games: Games) -> None:
    two_games.discard(np.arange(2), one(0).repeat(2), one(0).repeat(2))
    two_games.discard(one(0), one(1), one(0))
    with pytest.raises(IllegalActionError, match="71"):
        two_games.start_play()


@pytest.fixture
def at_play(two_games: Games) -> Games:
    throw_hand(two_games, GO)
    two_games.start_play()
    return two_games


def test_playing_before_the_starter(two_games: Games) -> None:
    assert_refused(lambda: two_games.play(one(1), one(0)), "game 71")


@pytest.mark.parametrize("slot", [-1, 4, 100])
def test_no_such_slot(at_play: Games, slot: int) -> None:
    before = at_play.state.copy()
    assert_refused(lambda: at_play.play(one(0), one(slot)), "game 70", "seat 0", str(slot), "0..3")
    assert (at_play.state == before).all()


def test_a_card_already_played(at_play: Games) -> None:
    at_play.play(one(1), one(3))  # JS
    at_play.play(one(1), one(3))  # TS
    before = at_play.state.copy()
    assert_refused(lambda: at_play.play(one(1), one(3)), "game 71", "seat 0", "JS")
    assert (at_play.state == before).all()


def test_a_card_over_thirty_one() -> None:
    """Ten, ten, jack is 30: the king of player 0 would make 40, its ace 31."""
    games = seat_hand(THIRTY_ONE, [[0, 0]])
    throw_hand(games, THIRTY_ONE)
    games.start_play()
    for seat, card in ((1, "TC"), (0, "TH"), (1, "JD")):
        games.play(one(0), one(sorted(cards(THIRTY_ONE.kept[seat])).index(cards(card)[0])))
    before = games.state.copy()
    king = sorted(cards(THIRTY_ONE.kept[0])).index(cards("KS")[0])
    assert_refused(lambda: games.play(one(0), one(king)), "game 0", "seat 0", "KS", "40")
    assert (games.state == before).all()


def test_the_first_wrong_row_is_named(at_play: Games) -> None:
    assert_refused(lambda: at_play.play(np.arange(2), np.array([0, 7])), "game 71", "7")


def test_counting_before_the_last_card(at_play: Games) -> None:
    at_play.play(np.arange(2), np.array([3, 3]))
    with pytest.raises(IllegalActionError, match="70"):
        at_play.show()


def test_playing_after_the_last_card() -> None:
    games = seat_hand(GO, [[0, 0]])
    throw_hand(games, GO)
    games.start_play()
    lay_hand(games, GO)
    assert_refused(lambda: games.play(one(0), one(0)), "game 0")


def test_playing_a_finished_game() -> None:
    games = seat_hand(ALONE, [[120, 0]])
    throw_hand(games, ALONE)
    games.start_play()
    assert games.finished[0]
    assert_refused(lambda: games.play(one(0), one(0)), "game 0")
    assert_refused(lambda: games.discard(one(0), one(0), one(0)), "game 0")


def test_turning_up_the_starter_twice(at_play: Games) -> None:
    at_play.play(np.arange(2), np.array([3, 3]))
    before = at_play.state.copy()
    with pytest.raises(IllegalActionError):
        at_play.start_play()
    assert (at_play.state == before).all()


def test_counting_twice() -> None:
    games = seat_hand(GO, [[0, 0]])
    throw_hand(games, GO)
    games.start_play()
    lay_hand(games, GO)
    games.show()
    before = games.state.copy()
    with pytest.raises(IllegalActionError):
        games.show()
    assert (games.state == before).all()


@pytest.mark.parametrize("players", [0, 1, 5, -2])
def test_number_of_players(players: int) -> None:
    with pytest.raises(ValueError, match=f"{players}.*2, 3 or 4"):
        Games([0], 0, num_players=players)


def test_name_of_the_dealing() -> None:
    with pytest.raises(ValueError, match="lottery"):
        Games([0], 0, dealing="lottery")


@pytest.mark.parametrize("dealer", [-1, 2])
def test_a_first_dealer_who_does_not_sit_at_the_table(dealer: int) -> None:
    with pytest.raises(ValueError, match=str(dealer)):
        Games([0, 1], 0, first_dealer=[0, dealer])


@pytest.mark.parametrize("shape", [(1, 2), (10, 3), (10,), (11, 2)])
def test_scripted_games_need_a_policy_for_each_seat_of_each_game(shape: tuple[int, ...]) -> None:
    games = Games(np.arange(10), seed=1)
    with pytest.raises(ValueError, match=r"expected \(10, 2\)"):
        games.play_scripted(np.full(shape, GREEDY, dtype=np.int8))
    assert len(games.unfinished) == 10
