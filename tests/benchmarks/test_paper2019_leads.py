"""Leads of the hands of section 4.6 of 2019: what is kept of an agent, and the page's table."""

import json
from pathlib import Path

import pytest

from benchmarks.paper2019 import leads as paper2019_leads
from benchmarks.paper2019.leads import main, table
from deepcrib.files.runs import flat


def test_greedy_leads_its_highest_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of A 4 5 10 and A 7 9 10 the ten, of 8 8 Q A the queen: never the paper's 7 and 8."""
    monkeypatch.setattr(paper2019_leads, "DEALS", 200)
    monkeypatch.setattr(paper2019_leads, "HANDS", 2000)
    main(["greedy", "--to", str(tmp_path / "found.json")])
    found = json.loads((tmp_path / "found.json").read_text())
    leads = {
        hand: {rank: share for rank, share in one["leads"].items() if share} for hand, one in found["probes"].items()
    }
    assert leads == {"A45T": {"10": 1.0}, "A79T": {"10": 1.0}, "88QA": {"Q": 1.0}}
    assert found["probes"]["A45T"]["order"] is None
    assert found["rules"]["five_or_ten"]["share"] > 0.8 > 2 * found["rules"]["five_or_ten"]["any_card"] - 0.1


def test_the_table_has_the_agents_that_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.long_runs.DATA", tmp_path)
    monkeypatch.setattr(paper2019_leads, "PUBLISHED", tmp_path / "none.json")
    assert len(list(table((1, 2)))) == 3
    order = {"order": ["10", "4"]}
    hands = {"A45T": dict(zip("A45", (0.1, 0, 0), strict=True)) | {"10": 0.9}}
    hands |= {"A79T": {"A": 0.6, "7": 0.0, "9": 0.4, "10": 0.0}, "88QA": {"A": 0.0, "8": 1.0, "Q": 0.0}}
    rule = {"hands": 100, "led": 20, "share": 0.2, "ci_low": 0.1, "ci_high": 0.3, "any_card": 0.5}
    found = {"probes": {hand: {"leads": led, **order} for hand, led in hands.items()}}
    found |= {"rules": dict.fromkeys(paper2019_leads.RULES, rule)}
    runs = {"paper2019_seed2_mlp_sarsa": {"figures": dict(flat(found))}}
    (tmp_path / "paper2019_leads.json").write_text(json.dumps({"runs": runs}))
    paper, row, any_card = list(table((1, 2)))[2:]
    assert paper.startswith("| the paper's agent | yes | yes | yes | 10 4 A 5 |")
    assert row.startswith(
        "| feed-forward, SARSA, seed 2 | 90.0% [89.1, 90.8] | 0.0% [0.0, 0.1]; A 60.0% | 100.0% [99.9, 100.0] | 10 4 |"
    )
    assert row.count("|") == paper.count("|") == any_card.count("|") == 9
    assert row.endswith("| 20.0% [10.0, 30.0] |") and any_card.endswith("| 50% |")
