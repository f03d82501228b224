"""Figures of the speed script: all there, and above zero."""

import json
from pathlib import Path

import pytest

from benchmarks.speed import kernels as speed


def test_rates_of_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every figure of every device that is there, all above zero."""
    monkeypatch.setattr(speed, "BATCHES", {8: 2, 64: 1})
    monkeypatch.setattr(speed, "devices", lambda: ["cpu"])
    found, table = speed.time_devices(1, hands=20, turns=1)
    assert set(found["rates"]) == {"cpu"} and set(found["rates"]["cpu"]) == {"mlp", "belanger2019_cnn_lstm"}
    for rates in found["rates"]["cpu"].values():
        assert len(rates) == 3
        assert all(rate["per_second"] > 0 and rate["per_cpu_second"] > 0 for rate in rates.values())
    assert table.row_count == 6


@pytest.mark.slow
def test_statistics_weighted_training_and_search(tmp_path: Path) -> None:
    speed.main(["--games", "300", "--to", str(tmp_path / "speed.json")])
    found = json.loads((tmp_path / "speed.json").read_text())
    measured = found["statistics"]
    assert measured["combinations"] == 20_358_520 * 15 * 45_540
    assert measured["all_hands_seconds"] > 0 and measured["one_by_one_us"] > measured["lookup_us"] > 0
    assert found["weighted"]["one_run"] > 2  # the thesis
    for name in ("minimax", "greedy_minimax", "minimax, hands: kept", "best response to greedy"):
        rates = found["search"][name]
        assert rates["first plays"] > 0 and rates["all plays with a choice"] > 0
