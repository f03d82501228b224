"""Rewards and returns: hands worked by hand, the definitions in plain Python, and whose points each return holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from deepcrib.agents import make_agent
from deepcrib.game.engine import Games
from deepcrib.learners.replay.rewards import (
    discard_returns,
    game,
    game_ties,
    margin,
    next_own,
    offensive,
    offensive_defensive,
    play_rewards,
    returns_to_the_end,
    up_to_the_win,
    winning_discards,
    winning_pegs,
    winning_plays,
)
from deepcrib.matches import play_hand
from deepcrib.matches.trajectories import Trajectories, self_play
from deepcrib.networks.encoders.states import DISCARD_OWN_SCORE, OWN_RANKS
from tests.support import reference
from tests.support.reference import Board, cards
from tests.support.replaying import discard_samples


@dataclass
class Worked:
    """A hand's play, worked at the table: `plays` is seat:card:points in order, the rest a value for every card."""

    plays: str
    next_own: list[int]
    offensive_defensive: list[float]
    game: list[float]
    game_ties: list[float]
    returns: list[float]  # own minus the opponent's points from each card to the end of the hand, undiscounted

    @property
    def words(self) -> list[list[str]]:
        return [word.split(":") for word in self.plays.split()]

    @property
    def seats(self) -> np.ndarray:
        return np.array([[seat for seat, _, _ in self.words]], dtype=np.int8)

    @property
    def points(self) -> np.ndarray:
        return np.array([[points for _, _, points in self.words]], dtype=np.int8)


# A, 11, 21, 22: player 0 (J, T) says go; player 1 goes on with a pair (2) and a four, the last that can be laid: 1.
# Three cards of player 1 in a row; then two of player 0, alone, the last card 1.
THREE_IN_A_ROW = Worked(
    plays="0:KC:0 1:AC:0 0:QC:0 1:AD:0 1:AH:2 1:4S:1 0:JC:0 0:TC:1",
    next_own=[2, 3, 6, 4, 5, -1, 7, -1],
    # The queen is followed by three of player 1's points; the four by player 0's last card.
    offensive_defensive=[0, 0, -3, 0, 2, 0, 0, 1],
    game=[0, 0, 0, 0, 0, 1, 0, 0],  # 3 to 1
    game_ties=[0, 0, 0, 0, 0, 1, 0, 0],
    returns=[-2, 2, -2, 2, 2, 0, 1, 1],
)
# Goes and the last card alone: a tie, 1 all. The player who said go leads.
GOES = Worked(
    plays="0:JS:0 1:TS:0 0:6H:0 0:4C:1 1:7C:0 0:5D:0 1:8D:0 1:9H:1",
    next_own=[2, 4, 3, 5, 6, -1, 7, -1],
    offensive_defensive=[0, -1, 0, 1, 0, -1, 0, 1],
    game=[0] * 8,
    game_ties=[0, 0, 0, 0, 0, 0.5, 0, 0.5],
    returns=[0, 0, 0, 0, 1, -1, 1, 1],
)
# Thirty-one twice (2 and never also a go), the second with the last card of all; a pair, a fifteen.
THIRTY_ONES = Worked(
    plays="1:TC:0 0:TH:2 1:JD:0 0:AD:2 1:5C:0 0:KS:2 1:6S:0 0:JH:2",
    next_own=[2, 3, 4, 5, 6, 7, -1, -1],
    offensive_defensive=[-2, 2, -2, 2, -2, 2, -2, 2],
    game=[0, 0, 0, 0, 0, 0, 0, 1],
    game_ties=[0, 0, 0, 0, 0, 0, 0, 1],
    returns=[-8, 8, -6, 6, -4, 4, -2, 2],
)
WORKED = {"three in a row": THREE_IN_A_ROW, "goes": GOES, "thirty-ones": THIRTY_ONES}


def lay(plays: str, dealer: int) -> list[int]:
    """Points of every card of a worked hand, by the rules in plain Python."""
    words = [word.split(":") for word in plays.split()]
    order = iter([cards(card)[0] for _, card, _ in words])
    kept = [[cards(card)[0] for seat, card, _ in words if seat == str(player)] for player in (0, 1)]
    board, turns = Board([0, 0], None), []
    reference.play(kept, dealer, lambda player, legal: next(order), board, turns)
    assert [turn.player for turn in turns] == [int(seat) for seat, _, _ in words]
    return [sum(peg.points for peg in board.pegged if peg.number == number) for number in range(len(words))]


# --- by hand ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WORKED)
def test_worked_hands_are_played_by_the_rules(name: str) -> None:
    worked = WORKED[name]
    leader = int(worked.seats[0, 0])
    assert lay(worked.plays, 1 - leader) == worked.points[0].tolist()


@pytest.mark.parametrize("name", WORKED)
def test_rewards_worked_by_hand(name: str) -> None:
    worked = WORKED[name]
    points, seats = worked.points, worked.seats
    assert next_own(seats).tolist() == [worked.next_own]
    assert offensive(points, seats).tolist() == points.tolist()
    assert offensive_defensive(points, seats).tolist() == [worked.offensive_defensive]
    assert margin(points, seats).tolist() == [worked.offensive_defensive]
    assert game(points, seats).tolist() == [worked.game]
    assert game_ties(points, seats).tolist() == [worked.game_ties]
    assert returns_to_the_end(margin(points, seats), next_own(seats)).tolist() == [worked.returns]


# --- the definitions, over real hands -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def hands() -> Trajectories:
    """Hands of random players: all sorts of goes."""
    return self_play(make_agent("random"), 0, 3_000, 501, unit="hands")


@pytest.fixture(scope="module")
def rows(hands: Trajectories) -> list[tuple[list[int], list[int]]]:
    return list(zip(hands.play_points.tolist(), hands.play_seats.tolist(), strict=True))


def plain_margin(pegs: list[reference.Peg], seats: list[int], play: int) -> int:
    """All points pegged from the card on and before one's next: own ones for, the others against."""
    own = [later for later in range(play + 1, len(seats)) if seats[later] == seats[play]]
    until = own[0] if own else len(seats)
    return sum(peg.points if peg.player == seats[play] else -peg.points for peg in pegs if play <= peg.number < until)


def pegs_of(hands: Trajectories, hand: int) -> list[reference.Peg]:
    """Every movement of a peg in the play of a hand, from the ranks laid (suits do not matter in the play)."""
    seats = hands.play_seats[hand].tolist()
    first = [seats.index(seat) for seat in (0, 1)]
    ranks = [hands.play_states[hand, play, OWN_RANKS : OWN_RANKS + 4].tolist() for play in first]
    kept = [[4 * rank + seat for rank in held] for seat, held in enumerate(ranks)]
    actions = hands.play_actions[hand].tolist()
    order = iter([4 * ranks[seat][slot] + seat for seat, slot in zip(seats, actions, strict=True)])
    board: Board = Board([0, 0], None)
    reference.play(kept, int(hands.dealer[hand]), lambda player, legal: next(order), board, [])
    return board.pegged


def test_margin_is_its_definition(hands: Trajectories, rows: list) -> None:
    """From the pegs of a replay by the rules, where a go is an event of its own."""
    found = margin(hands.play_points, hands.play_seats)
    for hand in range(600):
        pegs, seats = pegs_of(hands, hand), rows[hand][1]
        assert found[hand].tolist() == [plain_margin(pegs, seats, play) for play in range(8)]


def test_margins_telescope(hands: Trajectories, rows: list) -> None:
    """Their sum from a card on is one's own minus the opponent's points of the play from there on."""
    following = next_own(hands.play_seats)
    returns = returns_to_the_end(margin(hands.play_points, hands.play_seats), following)
    expected = [[sum(p[k] if s[k] == s[play] else -p[k] for k in range(play, 8)) for play in range(8)] for p, s in rows]
    assert returns.tolist() == expected


def test_next_own_is_ones_next_card(hands: Trajectories, rows: list) -> None:
    expected = [[next((k for k in range(i + 1, 8) if s[k] == s[i]), -1) for i in range(8)] for _, s in rows]
    assert next_own(hands.play_seats).tolist() == expected


@pytest.mark.parametrize(("reward", "tie"), [(game, 0.0), (game_ties, 0.5)])
def test_game_is_won_by_most_play_points(hands: Trajectories, rows: list, reward: object, tie: float) -> None:
    found = reward(hands.play_points, hands.play_seats)
    seen = set()
    for (points, seats), values in zip(rows, found.tolist(), strict=True):
        totals = [sum(p for p, s in zip(points, seats, strict=True) if s == seat) for seat in (0, 1)]
        expected = [0.0] * 8
        for seat in (0, 1):
            last = 7 - seats[::-1].index(seat)
            difference = totals[seat] - totals[1 - seat]
            expected[last] = 1.0 if difference > 0 else tie if difference == 0 else 0.0
            seen.add(np.sign(difference))
        assert values == expected
    assert seen == {-1, 0, 1}


# --- whose points a discard's return holds ------------------------------------------------------------------


def own_points(hands: Trajectories, hand: int, seat: int) -> int:
    """Own play and hand of that very hand, the crib for its dealer alone, no heels."""
    crib = int(hands.crib_points[hand]) if seat == hands.dealer[hand] else 0
    return int(hands.play_points[hand, hands.play_seats[hand] == seat].sum() + hands.hand_points[hand, seat]) + crib


@pytest.mark.parametrize("agent", ["random", "greedy"])
def test_every_discards_return_and_sample_is_of_its_own_hand_seat_and_role(agent: str) -> None:
    games = self_play(make_agent(agent), 70, 60, 502)
    own = [[own_points(games, hand, seat) for seat in (0, 1)] for hand in range(len(games))]
    differences = [[one - other, other - one] for one, other in own]
    assert discard_returns(games, "own").tolist() == own
    assert discard_returns(games, "difference").tolist() == differences
    assert games.heels.any()  # so that heels would have shown
    # The baseline takes the opponent's hand out of the difference, nothing else; `own` does not have it.
    based = np.array(differences) + games.hand_points[:, ::-1]
    assert discard_returns(games, "difference", baseline=True).tolist() == based.tolist()
    assert discard_returns(games, "own", baseline=True).tolist() == own
    for reward, returns in (("own", own), ("difference", differences)):
        samples = discard_samples(games, reward)
        kept = zip(samples.states.tolist(), samples.actions.tolist(), samples.targets.tolist(), strict=True)
        assert sorted(kept) == sorted(
            (
                games.discard_states[hand, seat].tolist(),
                int(games.discard_actions[hand, seat]),
                float(returns[hand][seat]),
            )
            for hand in range(len(games))
            for seat in (0, 1)
        )


class Throws:
    """Throws always the same two slots; plays the first card that may be played."""

    num_players = frozenset({2})

    def __init__(self, action: int) -> None:
        self.name, self.action = f"throws {action}", action

    def discard(self, observation: object) -> np.ndarray:
        return np.full(len(observation), self.action)

    def play(self, observation: object) -> np.ndarray:
        return observation.legal.argmax(axis=1)


def test_the_opponents_hand_is_a_baseline_that_no_discard_moves() -> None:
    """The same deals with any discard of one's own: the opponent's hand is worth the same, all else changes."""
    found = []
    for action in (0, 7, 14):
        table = Games(np.arange(400), 504, first_dealer=np.arange(400) % 2, stop_at_121=False)
        play_hand(table, [Throws(action), make_agent("greedy")], np.tile([0, 1], (400, 1)))
        found.append(tuple(table.records[name].copy() for name in ("hand_points", "crib_points", "play_points")))
    for hand, crib, play in found[1:]:
        assert (hand[:, 1] == found[0][0][:, 1]).all()
        assert (hand[:, 0] != found[0][0][:, 0]).mean() > 0.5
        assert (crib != found[0][1]).mean() > 0.5 and (play != found[0][2]).any(axis=1).mean() > 0.5


def test_mean_returns_are_what_people_expect_of_a_hand() -> None:
    """The dealer makes 16.2 points a hand and the pone 10.2 (American Cribbage Congress tips, heels included)."""
    hands = self_play(make_agent("greedy"), 0, 20_000, 503, unit="hands")
    returns = discard_returns(hands, "own")
    assert (hands.dealer == np.arange(len(hands)) % 2).all()
    dealer = returns[np.arange(len(hands)), hands.dealer]
    pone = returns[np.arange(len(hands)), 1 - hands.dealer]
    assert dealer.mean() == pytest.approx(16.2, abs=0.5)
    assert pone.mean() == pytest.approx(10.2, abs=0.4)
    difference = discard_returns(hands, "difference")
    assert (difference.sum(axis=1) == 0).all()
    assert (difference[np.arange(len(hands)), hands.dealer] == dealer - pone).all()


# --- who won the game ---------------------------------------------------------------------------------------


def hand_at(before: tuple[int, int], heels: int = 0, shown: tuple[int, int] = (0, 0), crib: int = 0) -> Trajectories:
    """THREE_IN_A_ROW (seats 0 1 0 1 1 1 0 0, points 0 0 0 0 2 1 0 1, dealt by seat 1) at scores before it."""
    hand, seen = THREE_IN_A_ROW, np.zeros((1, 2, 9))
    seen[:, :, DISCARD_OWN_SCORE] = before
    chosen = seen, np.zeros((1, 2)), np.zeros((1, 8, 24)), np.zeros((1, 8))
    points = (
        hand.seats,
        hand.points,
        np.array([shown]),
        np.array([crib]),
        np.array([heels]),
        np.ones(1),
        np.ones((1, 2)),
    )
    return Trajectories(*(array.astype(np.int8) for array in (*chosen, *points)))


@pytest.mark.parametrize(
    ("hand", "winner", "card"),
    [
        (hand_at((100, 119)), 1, 4),  # with the pair; the point for 21 comes too late
        (hand_at((100, 118)), 1, 5),
        (hand_at((120, 117)), 0, 7),  # with the last card, since the other stands at 120
        (hand_at((120, 118)), 1, 5),  # before the other's last card, which is played all the same
        (hand_at((113, 117), shown=(8, 8), crib=4), 0, 7),  # the pone counts first
        (hand_at((100, 117), shown=(8, 8)), 1, 5),
        (hand_at((100, 110), shown=(20, 4), crib=8), 0, 7),  # 121 before the dealer's 125
        (hand_at((99, 110), shown=(20, 4), crib=4), 1, 5),  # 121 by the crib, the pone stands at 120
        (hand_at((100, 119), heels=2), 1, -1),  # before a card is played
        (hand_at((99, 110), shown=(20, 4), crib=3), -1, -1),  # 120 each
        (hand_at((0, 0), heels=2, shown=(29, 29), crib=29), -1, -1),
    ],
)
def test_the_bonus_is_for_the_winners_last_card(hand: Trajectories, winner: int, card: int) -> None:
    plays = [float(k == card) for k in range(8)]
    assert winning_plays(hand)[0].tolist() == plays
    assert winning_discards(hand)[0].tolist() == [float(seat == winner) for seat in (0, 1)]
    plain = THREE_IN_A_ROW.offensive_defensive
    rewards = play_rewards(hand, "offensive_defensive", 20.0)
    assert rewards[0].tolist() == [r + 20 * p for r, p in zip(plain, plays, strict=True)]
    assert play_rewards(hand, "offensive_defensive")[0].tolist() == plain
    # What came before the card shares in it, what came after does not, and the loser gets nothing.
    seats = THREE_IN_A_ROW.seats[0].tolist()
    returns = returns_to_the_end(rewards, next_own(hand.play_seats))[0].tolist()
    expected = [r + 20 * (seats[k] == winner and k <= card) for k, r in enumerate(THREE_IN_A_ROW.returns)]
    assert returns == expected
    for kind, baseline in (("own", False), ("difference", False), ("difference", True)):
        with_bonus = discard_returns(hand, kind, baseline, 20.0) - discard_returns(hand, kind, baseline)
        assert with_bonus[0].tolist() == [20.0 * (seat == winner) for seat in (0, 1)]


@pytest.mark.parametrize(
    ("hand", "cards_played", "returns", "game_returns", "shown", "crib"),
    [
        # Seat 1 wins with its pair: -2 and 2 for all that was played till then, and the more points are its.
        (hand_at((100, 119), shown=(8, 8), crib=4), 5, [-2, 2, -2, 2, 2], [0, 1, 0, 1, 1], [0, 0], 0),
        # One card later; its 21 is the third point.
        (hand_at((100, 118), shown=(8, 8), crib=4), 6, [-3, 3, -3, 3, 3, 1], [0, 1, 0, 1, 1, 1], [0, 0], 0),
        # With the last card of the hand; nothing is shown.
        (hand_at((120, 117), shown=(8, 8), crib=4), 8, THREE_IN_A_ROW.returns, [0, 1, 0, 1, 1, 1, 0, 0], [0, 0], 0),
        # By heels: no card was played.
        (hand_at((100, 119), heels=2, shown=(8, 8), crib=4), 0, [], [], [0, 0], 0),
        # By the pone's hand, by the dealer's, by the crib, and by nobody.
        (hand_at((113, 110), shown=(8, 8), crib=4), 8, THREE_IN_A_ROW.returns, [0, 1, 0, 1, 1, 1, 0, 0], [8, 0], 0),
        (hand_at((99, 110), shown=(8, 8), crib=4), 8, THREE_IN_A_ROW.returns, [0, 1, 0, 1, 1, 1, 0, 0], [8, 8], 0),
        (hand_at((99, 110), shown=(8, 4), crib=4), 8, THREE_IN_A_ROW.returns, [0, 1, 0, 1, 1, 1, 0, 0], [8, 4], 4),
        (hand_at((0, 0), shown=(8, 8), crib=4), 8, THREE_IN_A_ROW.returns, [0, 1, 0, 1, 1, 1, 0, 0], [8, 8], 4),
    ],
)
def test_up_to_the_win(
    hand: Trajectories, cards_played: int, returns: list, game_returns: list, shown: list, crib: int
) -> None:
    """Seats 0 1 0 1 1 1 0 0 with points 0 0 0 0 2 1 0 1, dealt by seat 1: only what came before the end counts."""
    ended = up_to_the_win(hand)
    seats, points = THREE_IN_A_ROW.seats[0].tolist(), THREE_IN_A_ROW.points[0].tolist()
    after = 8 - cards_played
    assert ended.play_seats[0].tolist() == seats[:cards_played] + [-1] * after
    assert ended.play_points[0].tolist() == points[:cards_played] + [0] * after
    assert ended.hand_points[0].tolist() == shown and ended.crib_points.tolist() == [crib]
    assert all(array.dtype == np.int8 for array in vars(ended).values())
    following = next_own(ended.play_seats)
    for kind, expected in (("offensive_defensive", returns), ("game", game_returns)):
        found = returns_to_the_end(play_rewards(ended, kind), following)[0].tolist()
        assert found == list(expected) + [0] * after
    assert [k if 0 <= k < cards_played else -1 for k in THREE_IN_A_ROW.next_own[:cards_played]] == following[
        0, :cards_played
    ].tolist()
    own = [sum(p for p, s in zip(points[:cards_played], seats, strict=False) if s == seat) for seat in (0, 1)]
    totals = [own[0] + shown[0], own[1] + shown[1] + crib]
    assert discard_returns(ended, "own")[0].tolist() == totals
    assert discard_returns(ended, "difference")[0].tolist() == [totals[0] - totals[1], totals[1] - totals[0]]
    assert winning_pegs(ended) == winning_pegs(hand)


def test_the_bonuses_stay_where_they_are_up_to_the_win() -> None:
    """The game's comes with its last card, the hand's with each player's last card of it."""
    ended = up_to_the_win(hand_at((100, 119)))
    assert play_rewards(ended, "offensive", 20.0, 4.0)[0].tolist() == [0, 0, 0, 0, 2 + 20 + 4, 0, 0, 0]
    tie = up_to_the_win(hand_at((100, 119), heels=2))
    assert play_rewards(tie, "offensive", 20.0, 4.0)[0].tolist() == [0] * 8


def test_the_bonus_for_a_hands_play() -> None:
    """Bélanger et al. 2019, section 3.7.1: with one's last card, for the most points of the play; a tie is half."""
    rewards = play_rewards(hand_at((0, 0)), "offensive", hand_bonus=4.0)
    assert rewards[0].tolist() == [0, 0, 0, 0, 2, 1 + 4, 0, 1]
    both = play_rewards(hand_at((120, 117)), "offensive", 20.0, 4.0)
    assert both[0].tolist() == [0, 0, 0, 0, 2, 1 + 4, 0, 1 + 20]


def test_the_winner_is_the_engines() -> None:
    """Games played out and the same games stopped at 121, one at a time, by players who ignore the score."""
    kinds = set()
    for number in range(60):
        hands = self_play(make_agent("greedy"), number, 1, 505)
        table = Games([number], 505)
        while not table.finished[0]:
            play_hand(table, [make_agent("greedy")], np.zeros((1, 2), dtype=np.int64))
        winner, peg = winning_pegs(hands)
        assert winner[-1] == table.state.winner[0] and (winner[:-1] == -1).all() and (peg[:-1] == -1).all()
        kinds.add(int(peg[-1]))
        counted = up_to_the_win(hands)
        assert (counted.play_seats >= 0).sum() == 8 * (len(hands) - 1) + table.state.num_played[0]
        points = discard_returns(counted, "own").sum(axis=0)
        np.add.at(points, counted.dealer, counted.heels)
        over = points - table.state.points[0].sum(axis=(1, 2))
        assert over[1 - winner[-1]] == 0
        assert over[winner[-1]] in (
            {0, 1} if 0 < peg[-1] <= 8 else {0}
        )  # with the winning card its go or last-card point
        cards_down = int(table.state.num_played[0])  # the winning card is the last that was played, if a card won it
        assert peg[-1] == cards_down if 0 < peg[-1] <= 8 else cards_down in (0, 8)
    assert {9, 10} <= kinds and len(kinds) > 5
