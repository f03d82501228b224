"""How far a training is: lines where stdout is no terminal, by a clock of the test; the text of the bar."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from deepcrib.cli import main
from deepcrib.jobs.train.progress import Lines

MATCH = {"greedy/win_rate": 0.582, "greedy/win_rate_low": 0.56, "greedy/win_rate_high": 0.603}


class Clock:
    def __init__(self) -> None:
        self.now = 5000.0

    def __call__(self) -> float:
        return self.now


class Shown:
    """Lines of a training of 400 steps that is told of steps at seconds after its start."""

    def __init__(self, capsys: pytest.CaptureFixture[str], first: int = 0, total: int = 400) -> None:
        self.clock, self.capsys = Clock(), capsys
        self.lines = Lines(first, total, "iterations", self.clock)

    def at(self, seconds: float, done: int, metrics: Mapping[str, float] | None = None) -> list[str]:
        self.clock.now = 5000 + seconds
        self.lines(done, metrics or {})
        return self.capsys.readouterr().out.splitlines()


def test_a_line_says_where_the_training_is(capsys: pytest.CaptureFixture[str]) -> None:
    """40 of 400 steps in 20 seconds: two a second, and 180 seconds for the rest."""
    shown = Shown(capsys)
    assert shown.at(0, 0) == shown.at(1, 10, {"loss/play": 9.0}) == []
    (line,) = shown.at(20, 40, {"loss/play": 4.8124, "q/play_mean": 1.0, "speed/hands_per_second": 8123.4} | MATCH)
    assert line == (
        "iterations 40 of 400, loss/play 4.81, greedy 58.2% [56.0, 60.3], 8,123 hands a second, 0:03:00 left"
    )


def test_lines_are_ten_seconds_apart_at_most(capsys: pytest.CaptureFixture[str]) -> None:
    """Where steps are shorter: with steps of four seconds the second one is followed by a line."""
    shown = Shown(capsys)
    assert [second for second in range(1, 41) if shown.at(second, second)] == [10, 20, 30, 40]
    assert [second for second in range(44, 72, 4) if shown.at(second, second)] == [48, 56, 64]


def test_matches_are_said_once_and_the_loss_always(capsys: pytest.CaptureFixture[str]) -> None:
    """Those of a step between two lines come with the next one."""
    shown = Shown(capsys)
    assert shown.at(3, 6, {"loss/value": 2.0} | MATCH) == []
    first, second = shown.at(15, 30)[0], shown.at(30, 60)[0]
    assert "loss/value 2, greedy 58.2% [56.0, 60.3], " in first
    assert "loss/value 2, 2 iterations a second, 0:02:50 left" in second


def test_what_comes_before_the_first_step_counts_in_no_speed(capsys: pytest.CaptureFixture[str]) -> None:
    """Nor do the steps of an earlier process, or ticks within a step say more than they know."""
    shown = Shown(capsys)
    assert shown.at(100, 0) == ["iterations 0 of 400"]
    assert shown.at(120, 40) == ["iterations 40 of 400, 2 iterations a second, 0:03:00 left"]
    resumed = Shown(capsys, first=300)
    assert resumed.at(20, 340) == ["iterations 340 of 400, 2 iterations a second, 0:00:30 left"]
    slow = Shown(capsys, total=12_000)
    assert slow.at(16, 4) == ["iterations 4 of 12,000, 0.25 iterations a second, 13:19:44 left"]
    assert Shown(capsys).at(15, 0) == ["iterations 0 of 400"]


def test_the_bar_shows_the_latest_loss_and_win_rate() -> None:
    calls: list[tuple[str, int, int, str | None]] = []

    class Drawn:
        def show(self, name: str, done: int, total: int, text: str | None = None) -> None:
            calls.append((name, done, total, text))

    advance = Lines(3, 9, "iterations", bars=Drawn())  # type: ignore[arg-type]
    advance(4, {})
    advance(5, {"loss/play": 4.8124, "loss/discard": 3.0} | MATCH | {"random/win_rate": 1.0})
    advance(6, {"loss/play": 4.5, "loss/discard": 2.0})
    assert calls == [
        ("training", 3, 9, None),
        ("training", 4, 9, None),
        ("training", 5, 9, "(loss/play 4.81, greedy 58.2%)"),
        ("training", 6, 9, "(loss/play 4.5, greedy 58.2%)"),
    ]


def test_a_log_begins_with_the_run_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deepcrib.jobs.train.progress.SECONDS", 0)
    monkeypatch.setattr("deepcrib.jobs.shared.console.SECONDS", 3600)  # a slow machine says more
    words = "experiment=smoke pretraining.enabled=false learner.iterations=2 learner.episodes=16 evaluation.at=[0,2] "
    words += f"evaluation.games=4 evaluation.final_games=4 hydra.run.dir={tmp_path}"
    assert main(["train", *words.split()]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == lines[-1] == f"run folder: {tmp_path}"
    assert "final matches: 4 games against deterministic, random" in lines
    assert lines.pop(1) == f"tensorboard --logdir {tmp_path} (tab Custom Scalars)"
    assert [line.split(",")[0] for line in lines[1:4]] == [f"iterations {number} of 2" for number in (0, 1, 2)]
    said = ["deterministic " in line and "random " in line for line in lines[1:4]]
    assert said == [True, False, True] and all("loss/play " in line for line in lines[2:4])
