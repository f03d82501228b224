"""Leads beside the expert rules of Bélanger et al. 2019, section 3.5."""

import functools
import itertools

import numpy as np
import pytest

from benchmarks.people.expert_rules import BAITS, RULES, ExpertRules, deal_leads, expert_rules, rule_slots
from deepcrib.agents import make_agent
from deepcrib.errors import OptionError
from deepcrib.game.observations import PlayObservation
from tests.support.agents import LOWEST, Leader

HANDS = 2000
VALUES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10]
ALL_RANKS = [
    ranks for ranks in itertools.combinations_with_replacement(range(13), 4) if max(map(ranks.count, ranks)) <= 4
]
TENS_FIRST = Leader(np.array([float(value == 10) for value in VALUES]))


@pytest.fixture(scope="module")
def leads() -> PlayObservation:
    return deal_leads(make_agent("greedy"), HANDS, seed=3)


def shares(found: ExpertRules) -> dict[str, float]:
    return {name: figures.agent.share for name, figures in found.rules.items() if figures.agent is not None}


# --- which leads a rule names -----------------------------------------------------------------------------------


@functools.cache
def brute_baits(lead: int, third: int) -> bool:
    """An answer that makes fifteen exists, the three ranks are consecutive, and the third card makes 31 at most."""
    for answer in range(13):
        ranks = {lead, answer, third}
        if VALUES[lead] + VALUES[answer] == 15 and len(ranks) == 3 and max(ranks) - min(ranks) == 2:
            return VALUES[lead] + VALUES[answer] + VALUES[third] <= 31
    return False


def test_a_bait_is_a_7_or_8_with_a_6_or_9() -> None:
    expected = np.array([[brute_baits(lead, third) for third in range(13)] for lead in range(13)])
    assert np.array_equal(BAITS, expected)
    found = {(lead + 1, third + 1) for lead, third in zip(*np.nonzero(BAITS), strict=True)}
    assert found == {(7, 6), (7, 9), (8, 6), (8, 9)}  # (7, 9) is the paper's example


def test_the_slots_of_each_rule_over_all_hands_of_four_ranks() -> None:
    assert len(ALL_RANKS) == 1820
    hands = np.array([[4 * rank + slot for slot, rank in enumerate(ranks)] for ranks in ALL_RANKS], dtype=np.int8)
    named = {name: slots for name, (slots, _) in rule_slots(hands).items()}
    other = {name: slots for name, (_, slots) in rule_slots(hands).items()}
    for row, ranks in enumerate(ALL_RANKS):
        for slot, rank in enumerate(ranks):
            is_ten, paired = rank >= 9, ranks.count(rank) > 1
            assert named["five"][row, slot] == (rank == 4)
            assert named["ten_card"][row, slot] == is_ten
            assert named["five_or_ten"][row, slot] == (rank == 4 or is_ten)
            assert named["bait"][row, slot] == any(brute_baits(rank, third) for third in ranks)
            assert named["pair"][row, slot] == paired
            assert named["low_pair"][row, slot] == (paired and rank != 4 and not is_ten)
            for rule in ("five", "ten_card", "five_or_ten"):
                assert other[rule][row, slot] == (rank != 4 and not is_ten)
            for rule in ("bait", "pair", "low_pair"):
                assert other[rule][row, slot] != named[rule][row, slot]
    assert list(named) == [rule.name for rule in RULES]


# --- how often ----------------------------------------------------------------------------------------------------


def counted(leads: PlayObservation, name: str) -> list[tuple[list[int], list[int]]]:
    """By hand where the rule is a choice: its ranks, and the slots that the rule names."""
    named, other = rule_slots(leads.hand)[name]
    rows = [row for row in range(len(leads)) if named[row].any() and other[row].any()]
    return [([int(card) // 4 for card in leads.hand[row]], np.flatnonzero(named[row]).tolist()) for row in rows]


def test_who_always_leads_a_ten_card_leads_it_in_every_hand_that_has_one(leads: PlayObservation) -> None:
    found = expert_rules(TENS_FIRST, leads)
    assert shares(found)["ten_card"] == 1.0
    figures = found.rules["ten_card"].agent
    hands = [[int(card) // 4 for card in hand] for hand in leads.hand]
    with_choice = [any(r >= 9 for r in ranks) and any(r < 9 and r != 4 for r in ranks) for ranks in hands]
    assert figures is not None and figures.hands == figures.led == sum(with_choice) and figures.ci_high == 1.0
    assert found.lost is None and found.rules["ten_card"].best is None and found.hands == HANDS


def test_who_leads_its_lowest_card_leads_by_each_rule_as_often_as_the_lowest_slot_is_named(
    leads: PlayObservation,
) -> None:
    found = expert_rules(LOWEST, leads)
    for rule in RULES:
        hands = counted(leads, rule.name)
        figures = found.rules[rule.name].agent
        assert figures is not None and figures.hands == len(hands)
        assert figures.led == sum(0 in slots for _, slots in hands)  # slots are sorted by rank
    assert shares(found)["ten_card"] == 0.0  # a lower card is there, by what is counted


def test_any_card_is_led_as_often_as_is_expected(leads: PlayObservation) -> None:
    found = expert_rules(make_agent("random"), leads)
    for rule in RULES:
        figures = found.rules[rule.name]
        expected = np.mean([len(slots) / 4 for _, slots in counted(leads, rule.name)])
        assert figures.agent is not None and figures.random == pytest.approx(expected)
        # Six intervals of 95%, at a seed where all hold; that they are no wider than they should be is the second half.
        assert figures.agent.ci_low <= expected <= figures.agent.ci_high
        width = 2 * 1.96 * np.sqrt(expected * (1 - expected) / figures.agent.hands)
        assert figures.agent.ci_high - figures.agent.ci_low == pytest.approx(width, rel=0.1)


def test_what_a_rule_gains_and_a_lead_loses_by_values_that_are_known(leads: PlayObservation) -> None:
    number = 500
    values = LOWEST.play_values(leads.take(slice(number)))  # minus the rank: the lowest card is best
    found = expert_rules(TENS_FIRST, leads, values)
    ten = found.rules["ten_card"]
    hands = [ranks for ranks, _ in counted(leads.take(slice(number)), "ten_card")]
    gain = [min(r for r in ranks if r < 9 and r != 4) - min(r for r in ranks if r >= 9) for ranks in hands]
    assert ten.gain is not None and ten.best is not None
    assert ten.gain.points == pytest.approx(np.mean(gain)) and ten.gain.hands == ten.best.hands == len(hands)
    assert ten.best.led == 0  # always a lower card
    led = [next((r for r in ranks if r >= 9), ranks[0]) for ranks in (leads.hand[:number] // 4).tolist()]
    assert found.lost is not None
    assert found.lost.points == pytest.approx(np.mean(np.array(led) - leads.hand[:number, 0] // 4))


def test_leads_are_the_pones_from_the_cards_that_the_agent_kept() -> None:
    seen = deal_leads(LOWEST, 50, seed=9)
    assert not seen.is_dealer.any() and (seen.history == -1).all() and (seen.count == 0).all()
    assert seen.legal.all() and (seen.hand.max(axis=1) < seen.discards.min(axis=1)).all()
    assert np.array_equal(deal_leads(LOWEST, 50, seed=9).hand, seen.hand)
    with pytest.raises(OptionError, match="hands=0"):
        deal_leads(LOWEST, 0, seed=9)
