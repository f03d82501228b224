"""Looking ahead: what is drawn, what choices are worth on it, and the chance to win a game."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from deepcrib.agents import make_agent
from deepcrib.agents.base import AgentError
from deepcrib.exact.beliefs.cribs import expected_cribs
from deepcrib.game.cards import parse_cards
from deepcrib.game.engine import Games
from deepcrib.game.engine.batch import games_seen
from deepcrib.game.observations import DiscardObservation, PlayObservation, opening
from deepcrib.matches.games import play_match
from deepcrib.search import lookahead
from deepcrib.search.adaptive import Pair
from deepcrib.search.best_response import BestResponseAgent
from deepcrib.search.drawn_hands import draw_hands
from deepcrib.search.lookahead import LookaheadAgent
from deepcrib.search.rollouts import usual_rollouts
from deepcrib.search.win_chances import chances_of, pegs_of, win_chances
from tests.support import reference
from tests.support.models import model_of
from tests.support.plays import Hands, after, fits
from tests.support.positions import SETS, chance_of_plays, hidden_of, positions, possible, seen
from tests.support.reference import rank

ME = 0


class Valued:
    """Plays as greedy does, and values all choices alike, so that all of them are tried."""

    name, num_players, discard_unit = "valued", frozenset({2}), "points"

    def __init__(self) -> None:
        by: Any = make_agent("greedy")
        self.discard, self.play = by.discard, by.play
        self.discard_probabilities, self.play_probabilities = by.discard_probabilities, by.play_probabilities

    def discard_values(self, o: DiscardObservation) -> np.ndarray:
        return np.zeros((len(o), 15), dtype=np.float32)

    def play_values(self, o: PlayObservation) -> np.ndarray:
        return np.where(o.legal, np.float32(0), np.float32(-np.inf))


@cache
def chances() -> np.ndarray:
    return win_chances(Valued(), hands=1000)


def looker(**options: Any) -> LookaheadAgent:
    agent = LookaheadAgent(Valued(), **options)
    agent.rollouts.model, agent.rollouts.chances = model_of("greedy"), chances()
    return agent


def worths(agent: LookaheadAgent, o: PlayObservation, is_late: bool) -> np.ndarray:
    """[N, 4] what the legal slots come to on all hands drawn."""
    rollouts = agent.rollouts
    weights, numbers = rollouts.hand_weights(o), np.arange(rollouts.hands)
    return rollouts.play_values(o, weights, is_late, np.arange(len(o)), o.legal, numbers).mean(axis=2)


def both_greedy(hands: Hands, series: tuple[int, ...], seat: int) -> int:
    """Points of seat ME minus the other's to the end of the play, both taking the most points, then the highest."""
    if seat < 0:
        return 0
    card = max(fits(hands[seat], series), key=lambda card: (reference.pegs((*series, card)), rank(card)))
    return worth(hands, series, seat, card)


def worth(hands: Hands, series: tuple[int, ...], seat: int, card: int) -> int:
    points, following, left, longer = after(hands, series, seat, card)
    return (points if seat == ME else -points) + both_greedy(left, longer, following)


def test_cards_are_worth_their_mean_over_every_hand() -> None:
    """With doubt of all that the opponent did, hands are as likely as their cards, and as plays of any card make it."""
    o = positions(30, seed=7, most_hidden=2)
    o = o.take(o.legal.sum(axis=1) > 1).take(slice(0, 12))
    found = worths(looker(doubt=1.0, hands=4_000), o, False)
    for row in range(len(o)):
        kept, theirs, history, unseen = seen(o, row)
        own = tuple(int(card) for card in o.hand[row] if card >= 0)
        seat, leader = int(o.seat[row]), 1 - int(o.dealer[row])
        hidden = {ranks: hidden_of(ranks, theirs, unseen) or [] for ranks in possible(o, row)}
        ways: dict[tuple[int, ...], float] = dict(possible(o, row))
        for ranks, cards in hidden.items():
            ways[ranks] *= chance_of_plays(kept, theirs + cards, seat, leader, history)
        series = tuple(card for card, _ in history[int(o.series_start[row]) :])
        for slot in np.flatnonzero(o.legal[row]):
            total = 0.0
            for ranks, number in ways.items():
                total += number * worth((own, tuple(hidden[ranks])), series, ME, int(o.hand[row, slot]))
            assert found[row, slot] == pytest.approx(total / sum(ways.values()), abs=0.03)


def test_a_scripted_opponent_is_answered_exactly() -> None:
    """Without doubt, and while points count, by the best response's cards."""
    o = positions(40, seed=3)
    agent = looker(opponent=make_agent("greedy"), doubt=0.0, late=121)
    response = BestResponseAgent(make_agent("greedy"))
    response._model = model_of("greedy")
    values, slots = response.play_values(o), agent.play(o)
    assert np.allclose(values[np.arange(len(o)), slots], values.max(axis=1))


def test_another_opponent_plays_on_for_itself() -> None:
    """In the opponent's seat that one is asked, and nobody else; in the own seat the rollouts."""
    o = positions(40, seed=4)
    o = o.take(np.flatnonzero((o.legal.sum(axis=1) > 1) & (o.seat == 0))[:6])
    random, own = make_agent("random"), Valued()
    opponent, asked = Pair(random, random), {"opponent": [], "own": []}
    opponent.play_policy = None

    def watch(whose: str, choose: Any) -> Any:
        def watched(seen: PlayObservation) -> np.ndarray:
            asked[whose].append(seen.seat)
            return choose(seen)

        return watched

    opponent.play, own.play_probabilities = watch("opponent", random.play), watch("own", own.play_probabilities)
    LookaheadAgent(own, opponent=opponent, hands=20).play(o)
    assert set(np.concatenate(asked["opponent"])) == {1} and set(np.concatenate(asked["own"])) == {0}


def test_cribs_are_those_of_the_opponent() -> None:
    """Nothing is added to the values where the opponent throws as oneself; against another one, its own."""
    table = Games(range(40), 3)
    seen = table.discard_observation(table.deal(), np.zeros(40, dtype=np.int8))
    assert (looker().discard_values(seen) == 0).all()
    same = LookaheadAgent(Valued(), opponent=Valued())
    np.testing.assert_allclose(same.discard_values(seen), 0, atol=1e-9)
    other = LookaheadAgent(Valued(), opponent=make_agent("random")).discard_values(seen)
    cribs = [expected_cribs(model_of(name), seen.hand, seen.is_dealer) for name in ("random", "greedy")]
    np.testing.assert_allclose(other, cribs[0] - cribs[1], atol=0.05)  # suits are left out of the models here
    assert np.abs(other).max() > 0.2


def test_drawn_hands_are_as_likely_as_they_should_be() -> None:
    """Draws at equal distances: no hand comes more than once more or less often than its weight says."""
    o = positions(20, seed=4)
    agent = looker(hands=500)
    weights, drawn = agent.rollouts.hand_weights(o), np.repeat(games_seen(o), 500)
    draw_hands((0, len(o)), o.key, weights, 500, np.arange(500), drawn)
    for row in range(len(o)):
        games = drawn[row * 500 : (row + 1) * 500]
        theirs = games["kept"][:, 1 - o.seat[row]]
        numbers = [SETS[tuple(sorted(hand))] for hand in (theirs // 4).tolist()]
        counts = np.bincount(numbers, minlength=1820)
        assert np.abs(counts - 500 * weights[row]).max() < 1 + 1e-9
        for game in games[::50]:
            cards = [*game["kept"].ravel(), *game["discards"].ravel(), game["starter"]]
            assert len(set(cards)) == 13 and min(cards) >= 0
            unplayed = Counter(game["left"].ravel().tolist()) - Counter([-1] * 8)
            assert set(unplayed) | set(game["history"][game["history"] >= 0]) == set(game["kept"].ravel())


def test_the_hands_of_a_model_that_is_not_doubted() -> None:
    """Without doubt, hands that greedy would not have kept, or played otherwise, are out; with doubt they are in."""
    o = positions(30, seed=5)
    sure, doubting = (looker(doubt=doubt).rollouts.hand_weights(o) for doubt in (0.0, 0.3))
    assert (doubting > 0).sum() > (sure > 0).sum()
    assert np.allclose(sure.sum(axis=1), 1) and np.allclose(doubting.sum(axis=1), 1)
    assert ((sure > 0) <= (doubting > 0)).all()


def test_a_part_of_the_hands_is_as_in_all_of_them() -> None:
    """The rounds of a decision have each hand once, the first ones at equal distances."""
    o = positions(5, seed=4)
    weights = looker().rollouts.hand_weights(o)

    def drawn(numbers: np.ndarray) -> np.ndarray:
        games = np.repeat(games_seen(o), len(numbers))
        draw_hands((0, len(o)), o.key, weights, 200, numbers, games)
        return games.reshape(len(o), -1)

    parts = lookahead.rounds(200)
    assert [len(part) for part in parts] == [50, 150] and (np.diff(parts[0]) == 4).all()
    assert sorted(np.concatenate(parts).tolist()) == list(range(200))
    together = drawn(np.arange(200))
    assert all((drawn(part) == together[:, part]).all() for part in parts)
    assert [len(part) for part in lookahead.rounds(7)] == [7]


def test_what_is_surely_behind_falls_out_and_what_is_not_is_tried_on() -> None:
    """One choice is behind by a point on every hand, two are level but for chance: only those see all hands."""
    agent, asked = looker(hands=200), []

    def find(rows: np.ndarray, tried: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        asked.append((len(numbers), tried[0].tolist()))
        found = np.random.default_rng(len(numbers)).normal(size=(1, 4, len(numbers)))
        found[0, 0] = found[0, 1] - 1
        return np.where(tried[:, :, None], found, 0)

    tried = np.array([[True, True, True, False]])
    chosen = agent._settle(np.zeros((1, 4), dtype=np.float32), tried, find)
    assert chosen[0] in (1, 2) and asked == [(50, [True, True, True, False]), (150, [False, True, True, False])]
    assert tried.sum() == 3


def test_the_same_decision_wherever_it_stands() -> None:
    o = positions(50, seed=9)
    agent = looker(hands=20)
    slots = agent.play(o)
    assert o.legal[np.arange(len(o)), slots].all()
    some = np.arange(len(o))[::-3]
    assert (agent.play(o.take(some)) == slots[some]).all()


# --- the end of a game ------------------------------------------------------------------------------------------


def lead(own: str, thrown: str, scores: tuple[int, int]) -> PlayObservation:
    """The pone's lead, at seat 0, with the starter KD."""
    kept, discards = (np.array([sorted(parse_cards(text))], dtype=np.int8) for text in (own, thrown))
    first = opening(kept, discards, np.array(parse_cards("KD"), dtype=np.int8), np.array([False]))
    return PlayObservation(**{**vars(first), "scores": np.array([scores], dtype=np.int8)})


def test_a_lead_that_does_not_let_the_dealer_out() -> None:
    """At 104 the pone's 17 points win unless the dealer pegs two first, and any ten-card makes fifteen with a five."""
    o = lead("5H 5C JH QS", "2C 7D", (104, 119))
    found = worths(looker(), o, True)[0]
    assert ((found >= 0) & (found <= 1)).all()
    assert found[3] > found[0] + 0.1


def thirty_one(other: int) -> PlayObservation:
    """At 119, after the dealer's go: thirty-one wins at once, an ace makes one point of the two."""
    o = lead("AH 3C 9H 9S", "2D 7D", (119, other))
    history, seats = np.full((2, 1, 8), -1, dtype=np.int8)
    history[0, :3], seats[0, :3] = parse_cards("9H KC 9S"), [0, 1, 0]
    shown = {"history": history, "history_seats": seats, "count": np.array([28], dtype=np.int8)}
    shown |= {"hand": np.array([[*parse_cards("AH 3C"), -1, -1]], dtype=np.int8), "goes": np.array([[0, 1]], np.int8)}
    return PlayObservation(**{**vars(o), **shown})


def test_the_peg_that_wins_is_taken() -> None:
    agent, o = looker(hands=50), thirty_one(120)
    found = worths(agent, o, True)[0]
    assert found[1] == 1 > found[0]
    assert agent.play(o)[0] == 1


@pytest.mark.parametrize(("other", "won"), [(90, 3), (91, 2), (120, 2)])
def test_a_win_by_a_skunk_is_three_game_points(other: int, won: int) -> None:
    """The loser has 90 points or fewer, as the rules have it; from -3 to 3 is from 0 to 1."""
    agent = looker(hands=50, objective="game_points")
    agent.rollouts.chances = win_chances(Valued(), hands=200, objective="game_points")
    assert 6 * worths(agent, thirty_one(other), True)[0, 1] - 3 == pytest.approx(won)


def test_the_discard_that_wins_is_taken() -> None:
    """At 109 the pone keeps the twelve points that win whatever is turned up."""
    hand = np.array([sorted(parse_cards("4C 5H 5S 6D 9C KH"))], dtype=np.int8)
    one = {"seat": 0, "dealer": 1}
    o = DiscardObservation(
        hand=hand,
        **{name: np.array([value], dtype=np.int8) for name, value in one.items()},
        scores=np.array([[109, 105]], dtype=np.int8),
        key=np.array([3], dtype=np.uint64),
    )
    assert looker(hands=50).discard(o)[0] == 14  # the last two of the sorted hand
    early = replace(o, scores=np.zeros((1, 2), dtype=np.int8))
    assert looker().discard(early) == make_agent("greedy").discard(early)


def test_a_position_that_no_play_leads_to_is_refused() -> None:
    """Two cards of the dealer's in a row, where the pone could have played."""
    o = lead("AH 2C 9H 9S", "2D 7D", (0, 0))
    history, seats = np.full((2, 1, 8), -1, dtype=np.int8)
    history[0, :3], seats[0, :3] = parse_cards("9H KC KS"), [0, 1, 1]
    hand = np.array([[*parse_cards("AH 2C"), -1, *parse_cards("9S")]], dtype=np.int8)
    shown = {"history": history, "history_seats": seats, "count": np.array([29], dtype=np.int8), "hand": hand}
    with pytest.raises(ValueError, match="no hand of the opponent's"):
        looker().play(PlayObservation(**{**vars(o), **shown}))


# --- chances to win ---------------------------------------------------------------------------------------------


def test_chances_to_win_by_hand() -> None:
    """Whoever deals pegs 61 and nobody else anything: the first dealer is there first, but from 60 behind it is not."""
    sixty_one = np.array([[61]], dtype=np.int64)
    found = chances_of(sixty_one)
    assert found[0, 0] == 1 and found[0, 60] == 0 and found[60, 60] == 1 and found[59, 60] == 0
    even = chances_of(np.array([[121], [-121]], dtype=np.int64))
    assert (even == 0.5).all()


def test_the_pone_counts_first() -> None:
    both = np.array([[-2, 2]], dtype=np.int64)
    found = chances_of(both)
    assert found[119, 119] == 0 and found[119, 118] == 1 and found[119, 117] == 1


def test_the_chance_of_the_first_deal() -> None:
    """Against games that are really played: 20,000 of greedy's, within five standard errors of both."""
    won = play_match([make_agent("greedy")] * 2, 20_000, 3)
    first = won.winner == won.first_dealer
    points = np.where(won.scores.min(axis=1) <= 90, 3, 2) * np.where(first, 1, -1)
    pegs = pegs_of(make_agent("greedy"), 10_000, 0)
    error = 5 * (1 / 20_000 + 1 / 10_000) ** 0.5
    assert chances_of(pegs)[0, 0] == pytest.approx(first.mean(), abs=0.5 * error)
    assert 6 * chances_of(pegs, "game_points")[0, 0] - 3 == pytest.approx(points.mean(), abs=points.std() * error)


SMALL = ((40, -25), (-31,), (12, -12, 30))


@cache
def small_game(dealer: int, pone: int) -> Fraction:
    """Game points of the dealer where each hand is one of three: played out by hand."""
    total = Fraction(0)
    for hand in SMALL:
        scores = [dealer, pone]
        for peg in hand:
            scores[peg < 0] += abs(peg)
            if max(scores) > 120:
                total += (3 if min(scores) < 91 else 2) * (1 if scores[0] > 120 else -1)
                break
        else:
            total -= small_game(scores[1], scores[0])
    return total / len(SMALL)


def test_game_points_by_hand() -> None:
    """From every score; and where one is about to win and the other has nothing, it is by a skunk."""
    pegs = np.array([[*hand, *(3 - len(hand)) * (0,)] for hand in SMALL], dtype=np.int64)
    found = 6 * chances_of(pegs, "game_points") - 3
    expected = [[float(small_game(dealer, pone)) for pone in range(121)] for dealer in range(121)]
    assert np.allclose(found, expected, atol=1e-12)
    greedys = win_chances(Valued(), hands=1000, objective="game_points")
    assert greedys[120, 0] > 0.999 > 0.001 > greedys[0, 120]
    assert (greedys[120, 91], greedys[91, 120]) == pytest.approx((5 / 6, 1 / 6), abs=0.01)


def test_chances_of_discards_are_on_average_those_of_the_score() -> None:
    """What `expected_value` throws at 0-0 from 400 hands wins as often as its table says, within four errors."""
    table = Games(np.arange(400), 5)
    table.deal()
    seen = table.discard_observation(np.arange(400), table.dealer)
    rollouts = usual_rollouts()
    rollouts.hands = 100
    found = rollouts.all_chances(seen)[np.arange(400), make_agent("expected_value").discard(seen)].mean(axis=1)
    assert found.mean() == pytest.approx(rollouts.chances[0, 0], abs=4 * found.std() / 20)


# --- bad input --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "option", [{"objective": "skunk"}, {"hands": 0}, {"hands": 2.5}, {"within": -1}, {"doubt": 1.5}, {"late": 122}]
)
def test_options_out_of_range_are_refused(option: dict[str, Any]) -> None:
    (name,) = option
    with pytest.raises(AgentError, match=f"{name}=.*expected (a|win or game_points)"):
        LookaheadAgent(Valued(), **option)


def test_who_plays_on_needs_no_values_but_its_chances() -> None:
    o = positions(20, seed=9)
    slots = looker(hands=20, rollouts=make_agent("greedy")).play(o)
    assert (slots == looker(hands=20).play(o)).all()  # which plays as greedy does, too
    with pytest.raises(AgentError, match="rollouts: agent minimax does not give the probabilities"):
        LookaheadAgent(Valued(), rollouts=make_agent("minimax"))


def test_an_agent_without_values_is_refused() -> None:
    with pytest.raises(AgentError, match="agent greedy has no values of its cards"):
        make_agent({"name": "lookahead", "agent": "greedy"})


def test_an_opponent_that_draws_its_cards_does_so_in_every_hand() -> None:
    """On fifty hands by fifty keys at least, the same for all choices: a seat has eight decisions at most."""
    keys: list[np.ndarray] = []
    drawing, greedy = Valued(), make_agent("greedy")

    def play(o: PlayObservation) -> np.ndarray:
        keys.append(o.key)
        return greedy.play(o)

    drawing.play = play
    LookaheadAgent(Valued(), opponent=drawing, hands=50, late=121).play_values(positions(2, seed=5))
    assert 50 <= len(np.unique(np.concatenate(keys))) <= 50 * 16
