"""Leads beside the probes of Bélanger et al. 2019, section 4.6."""

import numpy as np
import pytest

from benchmarks.people.probes import PROBES, probe, probe_observation, rank_label
from deepcrib.agents.scripted import ScriptedAgent
from tests.support.agents import LOWEST


def test_the_probes_are_the_papers_hands_in_deals_of_one_deck() -> None:
    assert [[rank_label(rank) for rank in hand.ranks] for hand in PROBES] == [
        ["A", "4", "5", "10"],
        ["A", "7", "9", "10"],
        ["A", "8", "8", "Q"],
    ]
    deals = 300
    seen = probe_observation(deals, seed=5)
    cards = np.concatenate([seen.hand, seen.discards, seen.starter[:, None]], axis=1)
    assert (np.diff(np.sort(cards, axis=1)) > 0).all() and cards.min() >= 0 and cards.max() < 52
    assert np.array_equal(seen.hand // 4, np.repeat([hand.ranks for hand in PROBES], deals, axis=0))
    assert (np.diff(seen.hand) > 0).all() and (np.diff(seen.discards) > 0).all()
    assert len(np.unique(cards, axis=0)) == 3 * deals and len(np.unique(seen.key)) == 3 * deals
    for slot in range(4):  # every suit, and every other rank as starter, about as often
        assert np.bincount(seen.hand[:, slot] % 4, minlength=4).min() > 3 * deals / 8
    assert len(np.unique(seen.starter // 4)) == 13


def test_greedy_leads_the_highest_card_of_each_probe() -> None:
    found = probe(ScriptedAgent("greedy"))
    assert {name: max(result.leads, key=result.leads.__getitem__) for name, result in found.items()} == {
        "A45T": "10",
        "A79T": "10",
        "88QA": "Q",
    }
    for result in found.values():
        assert sorted(result.leads.values())[-1] == 1.0 and result.values is None and result.order is None


def test_any_card_is_led_of_a_probe_as_often_as_it_is_held() -> None:
    found = probe(ScriptedAgent("random"), deals=4000)
    assert found["88QA"].leads == pytest.approx({"A": 0.25, "8": 0.5, "Q": 0.25}, abs=0.03)
    assert found["A45T"].leads == pytest.approx(dict.fromkeys(("A", "4", "5", "10"), 0.25), abs=0.03)


def test_values_of_leads_are_those_of_the_agent() -> None:
    found = probe(LOWEST, deals=3)
    assert found["88QA"].leads == {"A": 1.0, "8": 0.0, "Q": 0.0} and found["A79T"].order == ["A", "7", "9", "10"]
    assert found["88QA"].values is not None and found["88QA"].values["8"] == -7.0
    assert found["A45T"].values is not None and found["A45T"].values["10"] == -9.0
