"""Figures of the speed of this machine: all there, and above zero."""

import json
from pathlib import Path

import pytest

from benchmarks.speed import machine


def test_games_of_this_machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    machine.main(["games", "--games", "200", "--to", str(tmp_path / "speed.json")])
    games = json.loads((tmp_path / "speed.json").read_text())["games"]
    assert games["greedy"]["games_per_second"] > 0
    assert games["greedy against itself, in lockstep"]["games"] == 20
    assert f"{games['deterministic']['games_per_second']:,.0f}" in capsys.readouterr().out


@pytest.mark.slow
def test_an_iteration_on_this_machine(tmp_path: Path) -> None:
    options = ["--setups", "mlp_monte_carlo", "--iterations", "5", "--to", str(tmp_path / "speed.json")]
    machine.main(["iteration", *options])
    timed = json.loads((tmp_path / "speed.json").read_text())["iteration"]["mlp_monte_carlo"]
    assert timed["seconds"] == timed["playing_seconds"] + timed["learning_seconds"] > 0
