"""The best response against brute force: every plan tried, hand by hand, on positions small enough for that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from deepcrib.agents import AgentError, make_agent
from deepcrib.exact.beliefs.plays import SETS_4, kept_beliefs
from deepcrib.game.cards import RANKS, parse_cards
from deepcrib.game.engine import Games
from deepcrib.game.observations import DiscardObservation, PlayObservation, opening
from deepcrib.game.policies import DETERMINISTIC, GREEDY, RANDOM
from deepcrib.matches import Recorder, play_hand, play_match
from deepcrib.search.best_response import BestResponseAgent
from deepcrib.search.replies.asking import weigh_earlier_plays
from deepcrib.search.replies.values import Ways, reply_values, start_values
from deepcrib.search.replies.workspace import BEST
from tests.support import reference
from tests.support.models import model_of

POLICIES = {"random": RANDOM, "deterministic": DETERMINISTIC, "greedy": GREEDY}
SET_NUMBER = {tuple(row): number for number, row in enumerate(SETS_4.tolist())}

Hand = tuple[int, ...]
State = tuple[Hand, Hand, tuple[int, ...], int, int]
"""Own ranks left, the opponent's, the series, whose turn (0: own), who played last."""


def pips(rank: int) -> int:
    return min(rank + 1, 10)


def fits(hand: Hand, series: tuple[int, ...]) -> list[int]:
    return [rank for rank in hand if sum(map(pips, series)) + pips(rank) <= 31]


def without(hand: Hand, rank: int) -> Hand:
    at = hand.index(rank)
    return hand[:at] + hand[at + 1 :]


def settle(state: State) -> tuple[int, State | None]:
    """Goes and last cards: points (own minus the opponent's), and the state in which somebody has a card to play."""
    own, theirs, series, turn, last = state
    if not own and not theirs:
        return ((1 if last == 0 else -1) if series and sum(map(pips, series)) < 31 else 0), None
    hands = (own, theirs)
    ended = sum(map(pips, series)) == 31
    if not ended and fits(hands[turn], series):
        return 0, state
    if not ended and fits(hands[1 - turn], series):
        return 0, (own, theirs, series, 1 - turn, last)
    point = 0 if ended else (1 if last == 0 else -1)
    lead = 1 - last if hands[1 - last] else last
    return point, (own, theirs, (), lead, last)


def lay(state: State, rank: int) -> tuple[int, State]:
    own, theirs, series, turn, _ = state
    points = reference.pegs([4 * held for held in (*series, rank)])
    if turn == 0:
        return points, (without(own, rank), theirs, (*series, rank), 1, 0)
    return -points, (own, without(theirs, rank), (*series, rank), 0, 1)


def likely(name: str, hand: Hand, series: tuple[int, ...]) -> dict[int, float]:
    """Chances of the ranks that a scripted player plays."""
    slots = reference.plain_plays(name, [4 * rank for rank in hand], [4 * rank for rank in series])
    chosen = [hand[slot] for slot in slots]
    return {rank: chosen.count(rank) / len(chosen) for rank in set(chosen)}


def reply_value(name: str, beliefs: dict[Hand, float], state: State, choose: str) -> float:
    """Mean points of the rest of the play by dictionaries of hands; `choose` is `best` or an own scripted policy.

    All states of the dictionary look the same to the player, who therefore must do the same in all of them.
    """
    groups: dict[tuple, dict[Hand, float]] = {}
    value = 0.0
    own, _, series, turn, last = state
    for theirs, weight in beliefs.items():
        points, settled = settle((own, theirs, series, turn, last))
        value += weight * points
        if settled is None:
            continue
        if settled[3] == 0:
            key = ("own", settled[0], settled[2], settled[4], None)
            groups.setdefault(key, {})[theirs] = weight
            continue
        for rank, chance in likely(name, settled[1], settled[2]).items():
            scored, after = lay(settled, rank)
            value += weight * chance * scored
            # an own go, and the new series that follows it, are seen as well: the series shows them
            key = ("their", after[0], after[2], after[4], rank)
            group = groups.setdefault(key, {})
            group[after[1]] = group.get(after[1], 0.0) + weight * chance
    for (kind, own_left, series_now, last_now, _), group in groups.items():
        if kind == "their":
            value += reply_value(name, group, (own_left, (), series_now, 0, last_now), choose)
            continue
        values = {}
        for rank in set(fits(own_left, series_now)):
            at = (own_left, (0,), series_now, 0, last_now)
            scored, after = lay(at, rank)
            total = sum(group.values()) * scored
            values[rank] = total + reply_value(name, group, (after[0], (), after[2], 1, 0), choose)
        if choose == "best":
            value += max(values.values())
        else:
            value += sum(chance * values[r] for r, chance in likely(choose, own_left, series_now).items())
    return value


def some_beliefs(generator: np.random.Generator, hands: int) -> np.ndarray:
    weights = np.zeros(len(SETS_4))
    weights[generator.choice(len(SETS_4), hands, replace=False)] = generator.random(hands) + 0.1
    return weights


def as_dictionary(weights: np.ndarray) -> dict[Hand, float]:
    return {tuple(SETS_4[number].tolist()): float(weights[number]) for number in np.flatnonzero(weights)}


def start_value(ranks: np.ndarray, weights: np.ndarray, leads: bool, opponent: Ways, own: Ways = BEST) -> float:
    """Of the whole play with four ranks, as pone where it leads."""
    cards = np.zeros((1, 4), dtype=np.int8)
    o = opening((4 * ranks[None]).astype(np.int8), cards[:, :2], cards[:, 0], np.array([not leads]))
    return float(start_values(o, weights[None], np.zeros(1, dtype=np.int64), opponent, own)[0])


@pytest.mark.parametrize("name", list(POLICIES))
@pytest.mark.parametrize("choose", ["best", "greedy", "deterministic", "random"])
def test_the_tree_is_that_of_the_plain_walk(name: str, choose: str) -> None:
    """Whole plays of four cards against a few hands, leading and following, by a second implementation."""
    generator = np.random.default_rng(3)
    own_policy = BEST if choose == "best" else POLICIES[choose]
    for trial in range(6):
        weights = some_beliefs(generator, 5 if trial % 3 else 1)
        own = np.sort(generator.integers(0, 13, 4)) if trial else np.array([4, 4, 9, 9])
        for leads in (True, False):
            found = start_value(own, weights, leads, POLICIES[name], own_policy)
            beliefs = as_dictionary(weights)
            start: State = (tuple(own.tolist()), (), (), 0 if leads else 1, 0 if leads else 1)
            expected = reply_value(name, beliefs, start, choose) / sum(beliefs.values())
            assert found == pytest.approx(expected, abs=1e-9), (own, leads)


def test_no_plan_beats_it() -> None:
    """Against single known hands of greedy every order of the own cards is tried: none gains more."""
    generator = np.random.default_rng(8)
    for _ in range(40):
        own, theirs = np.sort(generator.integers(0, 13, 4)), np.sort(generator.integers(0, 13, 4))
        weights = np.zeros(len(SETS_4))
        weights[SET_NUMBER[tuple(theirs.tolist())]] = 2.5
        found = start_value(own, weights, True, GREEDY)
        assert found == max(gains(tuple(own.tolist()), tuple(theirs.tolist())))


def gains(own: Hand, theirs: Hand) -> Iterator[int]:
    """Points of every way to play the own cards, in any order that the rules allow."""

    def walk(state: State, points: int) -> Iterator[int]:
        gained, settled = settle(state)
        points += gained
        if settled is None:
            yield points
            return
        options = fits(settled[0], settled[2]) if settled[3] == 0 else list(likely("greedy", settled[1], settled[2]))
        for rank in set(options):
            scored, after = lay(settled, rank)
            yield from walk(after, points + scored)

    return walk((own, theirs, (), 0, 0), 0)


@cache
def response(to: str) -> BestResponseAgent:
    agent = make_agent({"name": "best_response", "to": to, "within": None})
    assert isinstance(agent, BestResponseAgent)
    agent._model = model_of(to)
    return agent


class Decisions(Recorder):
    def __init__(self) -> None:
        self.seen: list[tuple[DiscardObservation | PlayObservation, np.ndarray]] = []

    def discards(self, rows: np.ndarray, observation: DiscardObservation, actions: np.ndarray) -> None:
        self.seen.append((observation, actions))

    def plays(self, rows: np.ndarray, observation: PlayObservation, slots: np.ndarray) -> None:
        self.seen.append((observation, slots))


def test_values_in_the_middle_of_a_play() -> None:
    """At the decisions of some hands against greedy: the values of every card, by the plain walk from there."""
    agent = response("greedy")
    table, decisions = Games(np.arange(4), seed=2), Decisions()
    play_hand(table, [agent, make_agent("greedy")], np.tile([[0, 1], [1, 0]], (2, 1)), decisions)
    checked = 0
    for observation, _ in decisions.seen:
        if not isinstance(observation, PlayObservation) or (observation.history >= 0).sum() < 3 * len(observation):
            continue
        beliefs = kept_beliefs(agent.model, observation)
        weigh_earlier_plays(observation, beliefs, make_agent("greedy").play_probabilities)
        values = agent.play_values(observation)
        for row in range(len(observation)):
            me = observation.seat[row]
            history, seats = observation.history[row], observation.history_seats[row]
            played = [int(RANKS[c]) for c, s in zip(history, seats, strict=True) if c >= 0 and s != me]
            series = tuple(int(RANKS[c]) for c in history[observation.series_start[row] :] if c >= 0)
            own = tuple(int(RANKS[c]) for c in observation.hand[row] if c >= 0)
            left: dict[Hand, float] = {}
            for kept, weight in as_dictionary(beliefs[row]).items():
                for rank in played:
                    kept = without(kept, rank)
                left[kept] = weight
            for slot in np.flatnonzero(observation.legal[row]):
                scored, after = lay((own, (0,), series, 0, 1), int(RANKS[observation.hand[row, slot]]))
                rest = reply_value("greedy", left, (after[0], (), after[2], 1, 0), "best") / sum(left.values())
                assert values[row, slot] == pytest.approx(scored + rest, abs=1e-9)
                checked += 1
            assert (values[row, ~observation.legal[row]] == -np.inf).all()
    assert checked > 20


def test_it_takes_the_best_discard_and_the_best_card() -> None:
    agent = response("greedy")
    table, decisions = Games(np.arange(2), seed=4), Decisions()
    play_hand(table, [agent, agent], np.zeros((2, 2), dtype=np.int64), decisions)
    for observation, actions in decisions.seen:
        is_discard = isinstance(observation, DiscardObservation)
        values = agent.discard_values(observation) if is_discard else agent.play_values(observation)
        chances = agent.discard_probabilities(observation) if is_discard else agent.play_probabilities(observation)
        taken = values[np.arange(len(values)), actions]
        np.testing.assert_allclose(taken, values.max(axis=1), atol=1e-9)
        assert (chances[np.arange(len(values)), actions] > 0).all()
        np.testing.assert_allclose(chances.sum(axis=1), 1)


def test_values_of_discards_are_points_of_hands_played_out() -> None:
    """The value of a discard is what it brings: 500 deals of one hand, played out, within 4.5 standard errors."""
    agent, opponent = response("greedy"), make_agent("greedy")
    hand = np.sort(parse_cards("4C 5D 6H 6S JC KD")).astype(np.int8)
    rest = np.array([card for card in range(52) if card not in hand])
    generator = np.random.default_rng(9)
    deals = 500
    table = Games(np.arange(deals), seed=1, first_dealer=np.zeros(deals, dtype=np.int8), stop_at_121=False)
    rows = table.deal()
    others = generator.permuted(np.tile(rest, (deals, 1)), axis=1)[:, :7]
    table.state.dealt[:, 0] = hand
    table.state.dealt[:, 1] = np.sort(others[:, :6], axis=1)
    table.state.hidden[:, 0] = others[:, 6]
    mine = table.discard_observation(rows, np.zeros(deals, dtype=np.int8))
    values = agent.discard_values(mine.take(slice(0, 1)))[0]
    table.discard(rows, np.zeros(deals, dtype=np.int8), np.full(deals, values.argmax()))  # what it takes, see above
    theirs = table.discard_observation(rows, np.ones(deals, dtype=np.int8))
    table.discard(rows, np.ones(deals, dtype=np.int8), opponent.discard(theirs))
    table.start_play()
    while len(to_play := table.to_play):
        for seat, player in enumerate((agent, opponent)):
            turn = to_play[table.turn[to_play] == seat]
            if len(turn):
                table.play(turn, player.play(table.play_observation(turn)))
    table.show()
    hands = table.state
    play = np.where(hands.history_seats == 0, hands.play_points, -hands.play_points.astype(int)).sum(axis=1)
    points = play + hands.hand_points[:, 0].astype(int) + hands.crib_points
    error = points.std() / np.sqrt(deals)
    assert abs(points.mean() - values.max()) < 4.5 * error, (points.mean(), values.max(), error)


def test_within_searches_fewer_discards() -> None:
    """Those near the best by the table of the play's values; where several are, with their exact values."""
    everything, narrow = (BestResponseAgent(make_agent("greedy"), within) for within in (None, 1.2))
    everything._model = narrow._model = response("greedy").model
    narrow.play_table = np.zeros((2, len(SETS_4)))  # a table that says nothing: hand and crib alone decide
    table = Games(np.arange(6), seed=8)
    observation = table.discard_observation(table.deal(), np.zeros(6, dtype=np.int8))
    shown = everything.show_values(observation)
    full, part = everything.discard_values(observation), narrow.discard_values(observation)
    near = shown >= shown.max(axis=1, keepdims=True) - 1.2
    several = near.sum(axis=1) > 1
    assert several.any() and not several.all()
    assert (part[~near] == -np.inf).all() and np.isfinite(full).all()
    np.testing.assert_allclose(part[several][near[several]], full[several][near[several]])
    np.testing.assert_allclose(part[~several].max(axis=1), shown[~several].max(axis=1))


# --- players that must be asked -----------------------------------------------------------------------------------


class Asked:
    """A scripted player that does not say so: it must be asked for its probabilities."""

    num_players = frozenset({2})

    def __init__(self, name: str, discards: str = "greedy") -> None:
        self.name = f"asked_{name}"
        self.play_probabilities = make_agent(name).play_probabilities
        self.discard_probabilities = make_agent(discards).discard_probabilities
        self.play, self.discard = make_agent(name).play, make_agent(discards).discard


def test_of_a_player_that_is_asked_those_discards_are_searched_that_are_near_against_greedy() -> None:
    compiled, asked = BestResponseAgent(make_agent("greedy"), None), BestResponseAgent(Asked("deterministic"), 0.5)
    compiled._model = asked._model = response("greedy").model
    table = Games(np.arange(4), seed=8)
    observation = table.discard_observation(table.deal(), np.zeros(4, dtype=np.int8))
    against_greedy, values = compiled.discard_values(observation), asked.discard_values(observation)
    near = against_greedy >= against_greedy.max(axis=1, keepdims=True) - 0.5
    alone = near.sum(axis=1) == 1
    assert alone.any() and not alone.all()
    np.testing.assert_array_equal(np.isfinite(values), near)
    np.testing.assert_allclose(values[alone].max(axis=1), against_greedy[alone].max(axis=1))


@pytest.mark.parametrize("name", ["greedy", "deterministic"])
@pytest.mark.parametrize("own", [None, "greedy", "random"])
def test_asking_comes_to_the_same_as_the_compiled_tree(name: str, own: str | None) -> None:
    """Whole plays against all 1,820 hands, by both implementations: best replies, and two own policies."""
    generator = np.random.default_rng(2)
    cards = np.array([generator.permutation(52)[:7] for _ in range(2)], dtype=np.int8)
    kept, thrown, starters = np.sort(cards[:, :4], axis=1), cards[:, 4:6], cards[:, 6]
    dealers = np.array([False, True])
    weights = response("greedy").model.kept_weights(cards, ~dealers)
    weights[:, ::3] = 0.0
    plays, rows = opening(kept, thrown, starters, dealers), np.arange(2)
    own_asked = make_agent(own).play_probabilities if own else BEST
    asked = start_values(plays, weights, rows, make_agent(name).play_probabilities, own_asked)
    compiled = start_values(plays, weights, rows, POLICIES[name], POLICIES[own] if own else BEST)
    np.testing.assert_allclose(asked, compiled, atol=1e-9, rtol=0)


def test_asking_in_the_middle_of_a_play() -> None:
    """Beliefs by past cards and goes, and the values of every card, as by the compiled search."""
    agent, asking = response("greedy"), BestResponseAgent(Asked("greedy"))
    asking._model = agent.model
    assert asking.policy is None
    table, decisions = Games(np.arange(6), seed=6), Decisions()
    play_hand(table, [make_agent("greedy")], np.zeros((6, 2), dtype=np.int64), decisions)
    checked = 0
    for observation, _ in decisions.seen:
        if isinstance(observation, PlayObservation) and (observation.history >= 0).any():
            np.testing.assert_allclose(
                asking.play_values(observation), agent.play_values(observation), atol=1e-9, rtol=0
            )
            checked += len(observation)
    assert checked > 30


def test_a_network_is_answered() -> None:
    """A packaged network: a value for each card, of which the best is taken; its own reply gains nothing on average."""
    agent = BestResponseAgent(make_agent("hill_climber"))
    agent._model = response("greedy").model
    assert agent.policy is None
    table, decisions = Games(np.arange(2), seed=3), Decisions()
    play_hand(table, [make_agent("hill_climber")], np.zeros((2, 2), dtype=np.int64), decisions)
    observation, _ = decisions.seen[1]
    assert isinstance(observation, PlayObservation)
    values = agent.play_values(observation)
    assert (np.isfinite(values) == observation.legal).all() and np.abs(values[observation.legal]).max() < 20
    np.testing.assert_allclose(values[np.arange(len(values)), agent.play(observation)], values.max(axis=1))


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_it_beats_whom_it_answers() -> None:
    """75.6% of 3,700 games against greedy (docs/results/best_response.md): of 300, 64% are 4.7 standard errors less."""
    result = play_match([BestResponseAgent(make_agent("greedy")), make_agent("greedy")], 300, 3)
    assert (result.winner == 0).mean() > 0.64


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"name": "best_response"}, "needs the option to"),
        ({"name": "best_response", "to": "gredy"}, "gredy"),
        ({"name": "best_response", "to": "greedy", "within": -1}, "within=-1"),
        ({"name": "best_response", "to": "greedy", "within": "far"}, "within='far'"),
        ({"name": "best_response", "to": "greedy", "depth": 3}, "no option 'depth'"),
    ],
)
def test_mistaken_specs(spec: dict, words: str) -> None:
    with pytest.raises(AgentError, match=words):
        make_agent(spec)


def test_an_opponent_of_unknown_ways_is_refused() -> None:
    class Silent:
        name = "silent"
        num_players = frozenset({2})

        def discard(self, observation: DiscardObservation) -> np.ndarray:
            return np.zeros(len(observation), dtype=np.int8)

        def play(self, observation: PlayObservation) -> np.ndarray:
            return observation.legal.argmax(axis=1).astype(np.int8)

    with pytest.raises(AgentError, match="no best response to silent"):
        BestResponseAgent(Silent())


def test_values_of_a_last_card() -> None:
    """The dealer's last card after three of each: nothing but its own points and the last card's point are left."""
    weights = np.zeros(len(SETS_4))
    weights[SET_NUMBER[1, 2, 3, 12]] = 1.0
    hand = np.array([parse_cards("7H")[0], -1, -1, -1], dtype=np.int8)
    played = parse_cards("KD KH 2D JH 3S JD 4C")
    history = np.array([*played, -1], dtype=np.int8)
    seats = np.array([1, 0, 1, 0, 1, 0, 1, -1], dtype=np.int8)
    start = opening(hand[None], hand[None, 2:], hand[1:2], np.array([True]))
    o = replace(  # the third series is 3 J 4 = 17; with the seven 24
        start, history=history[None], history_seats=seats[None], series_start=np.int8([4]), count=np.int8([17])
    )
    (values,) = reply_values(o, weights[None], GREEDY)
    assert values[0] == 1.0 and (values[1:] == -np.inf).all()
