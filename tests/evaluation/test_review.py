"""A reviewed game: every choice of a seat has its price, and what should cost nothing, or much, does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from deepcrib.agents import make_agent
from deepcrib.analysis.hand_values import hand_values
from deepcrib.errors import OptionError
from deepcrib.evaluation.review import Review, losses_by_kind, review
from deepcrib.game.cards import RANKS, parse_cards
from deepcrib.game.observations import DiscardObservation
from deepcrib.records import Event, GameRecord, Player, recorded_choices
from deepcrib.records.replay import ROW
from deepcrib.search.best_response import BestResponseAgent
from tests.support import brute_force
from tests.support.recorded import played

GREEDY = GameRecord((Player("Ann", "human"), Player("g", "agent", "greedy")))


class Planted:
    """The best responder, but for one discard: in the hand of that number the worst."""

    num_players = frozenset({2})
    name = "planted"

    def __init__(self, responder: BestResponseAgent, hand: int) -> None:
        self.responder = responder
        self.play = responder.play
        self.left = hand

    def discard(self, observation: DiscardObservation) -> NDArray[np.int8]:
        self.left -= 1
        worst = self.responder.discard_values(observation).argmin(axis=1).astype(np.int8)
        return worst if self.left == -1 else self.responder.discard(observation)


pytestmark = pytest.mark.usefixtures("known_models")


@pytest.fixture(scope="module")
def responder() -> BestResponseAgent:
    return BestResponseAgent(make_agent("greedy"), None)


def test_the_best_responder_loses_nothing_but_by_the_discard_planted_in_its_game(responder: BestResponseAgent) -> None:
    record = played(5, agents=(Planted(responder, 1), "greedy"), hands=3)
    seen = []
    found = review(record, 0, worst=3, responder=responder, progress=seen.append)
    assert sum(seen) == len(found.hands) == 3
    assert [hand.lost > 0 for hand in found.hands] == [False, True, False]
    planted = found.worst[0]
    assert (planted.kind, planted.hand, planted.role) == ("discard", 1, found.hands[1].role)
    assert found.lost == pytest.approx(planted.regret) and planted.regret > 4
    assert found.per_hand == pytest.approx(planted.regret / 3)
    others = [one for hand in found.hands for one in hand.decisions if one != planted]
    assert found.right == f"{len(others)} of {len(others) + 1}"
    assert found.worst == [planted] and len(others) > 5 and not any(one.regret for one in others)
    assert planted.chance_lost is not None and 0.05 < planted.chance_lost < 0.3
    assert found.chance_lost == pytest.approx(planted.chance_lost, abs=0.05)
    assert sum(hand.chance_lost for hand in found.hands) == pytest.approx(found.chance_lost)


def test_two_fives_given_to_the_dealer_cost_what_every_hand_and_crib_counted_says() -> None:
    """Against random discards the crib can be counted card by card; the play can move the price by little more."""
    hand = sorted(parse_cards("5H 5S JD QC KC AC"))
    thrown = tuple(parse_cards("5H 5S"))
    players = (Player("Ann", "human"), Player("random", "agent", "random"))
    deal = Event("deal", 1, hands=(tuple(hand), tuple(parse_cards("2C 3D 6H 7S 8C 9D"))), hand=0)
    record = GameRecord(players, events=(deal, Event("discard", 0, tuple(sorted(thrown)))))
    found = review(record, 0, responder=BestResponseAgent(make_agent("random"), None))
    (decision,) = found.worst
    cribs, completions = brute_force.crib_sums(hand)
    shown = brute_force.hand_points(hand).mean(axis=1) - cribs / completions
    taken = [hand[slot] for slot in range(6) if hand[slot] in thrown]
    action = brute_force.DISCARDS.tolist().index([hand.index(card) for card in taken])
    assert found.opponent == "random" and decision.cards == "AC 5H 5S JD QC KC"
    assert decision.taken.startswith("5H 5S (") and decision.seen == ""
    assert decision.regret == pytest.approx(shown.max() - shown[action], abs=1)
    assert shown.max() - shown[action] > 8


@pytest.fixture(scope="module")
def greedys() -> Review:
    return review(played(6, person=0), 0)


def test_every_choice_is_priced_once_and_the_scores_are_those_of_the_game(greedys: Review) -> None:
    record = played(6, person=0)
    discards = plays = 0
    scores = []
    for turns, seat, _ in recorded_choices(record):
        if seat == 0 and turns.games.state.kept[0, 0, 0] < 0:
            discards += 1
            scores.append(tuple(turns.games.scores[0].tolist()))
        elif seat == 0:
            observation = turns.play_observation(ROW)
            plays += len(set(RANKS[observation.hand[observation.legal]].tolist())) > 1
    decisions = [decision for hand in greedys.hands for decision in hand.decisions]
    assert [decision.kind for decision in decisions].count("discard") == discards == len(greedys.hands)
    assert len(decisions) == discards + plays
    assert [hand.scores for hand in greedys.hands] == scores
    assert [hand.role == "dealer" for hand in greedys.hands] == [e.seat == 0 for e in record.events if e.kind == "deal"]
    assert all(decision.hand == hand.number for hand in greedys.hands for decision in hand.decisions)


def test_sums_are_those_of_the_decisions(greedys: Review) -> None:
    decisions = [decision for hand in greedys.hands for decision in hand.decisions]
    assert greedys.lost == pytest.approx(sum(decision.regret for decision in decisions))
    assert [d.regret for d in greedys.worst] == sorted((d.regret for d in decisions if d.regret > 0), reverse=True)[:10]
    losses = losses_by_kind(greedys.hands)
    assert losses["all"].per_hand.estimate == pytest.approx(greedys.per_hand)
    assert sum(loss.decisions for kind, loss in losses.items() if kind != "all") == losses["all"].decisions
    single = losses_by_kind(greedys.hands[:1])["all"].per_hand
    assert np.isnan(single.low) and single.estimate == pytest.approx(greedys.hands[0].lost)


def test_the_same_game_has_the_same_prices_and_a_part_of_it_those_of_that_part(greedys: Review) -> None:
    record = played(6, person=0)
    second_deal = [place for place, event in enumerate(record.events) if event.kind == "deal"][1]
    part = review(replace(record, events=record.events[:second_deal]), 0)
    assert part.hands == greedys.hands[:1]
    assert review(replace(record, events=()), 0).lost == 0


@pytest.mark.parametrize("opponent", ["greedy", "minimax", "nowhere/weights.safetensors"])
def test_whoever_sat_there_answers_as_expected_value_unless_another_is_given(
    opponent: str, greedys: Review, responder: BestResponseAgent
) -> None:
    record = replace(played(6, person=0), players=(Player("Ann", "human"), Player("Bob", "agent", opponent)))
    assert review(record, 0) == greedys and greedys.opponent == "expected_value"
    given = review(record, 0, responder=responder)
    assert given.opponent == "greedy" and given.lost != greedys.lost


def test_hint_and_review_of_a_discard_are_one_number(greedys: Review) -> None:
    record, rows = played(6, person=0), greedys.hands
    for turns, seat, action in recorded_choices(record):
        if seat == 0 and turns.games.state.kept[0, 0, 0] < 0:
            seen = turns.discard_observation(ROW)
            values = hand_values(seen.hand[0].tolist(), bool(seen.is_dealer[0]), (0, 0), {})
            decision = rows[int(turns.games.state.hand_number[0])].decisions[0]
            totals = [row.total for row in values.discards]
            assert decision.taken == f"{values.discards[action].discard} ({totals[action]:+.2f})"
            assert decision.regret == pytest.approx(max(totals) - totals[action], abs=1e-9)


def test_what_cannot_be_reviewed_is_refused() -> None:
    with pytest.raises(OptionError, match="seat=2: expected 0 or 1"):
        review(GREEDY, 2)
    with pytest.raises(OptionError, match="a game of 3 players: expected one of two"):
        review(GameRecord((Player("a", "human"),) * 3), 0)
