"""Leads of the hands of section 4.6 of 2019: what is kept of an agent, and the page's table."""

import json
from pathlib import Path

import pytest

from benchmarks.paper2019 import leads as paper2019_leads
from benchmarks.paper2019.leads import main


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
