"""Gain curves: which checkpoints of a training are measured, and that none in the table is measured again."""

from pathlib import Path

import pytest

from benchmarks.equilibrium import gain_curve


def test_checkpoints_twice_as_far_each_and_the_last() -> None:
    saved = {iteration: Path(str(iteration)) for iteration in range(0, 1001, 50)}
    assert list(gain_curve.due(saved)) == [50, 100, 200, 400, 800, 1000]
    assert list(gain_curve.due({0: Path("0"), 20: Path("20")})) == [20]


def test_a_row_is_measured_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    measured = []
    monkeypatch.setattr(gain_curve, "TABLE", tmp_path / "gains.csv")
    monkeypatch.setattr(gain_curve, "FIGURE", tmp_path / "gains.png")
    monkeypatch.setattr(gain_curve, "use_workers", lambda count: None)
    monkeypatch.setattr(gain_curve, "checkpoint_files", lambda run: {50: run / "50", 70: run / "70"})

    def measure(run: Path, iteration: int, checkpoint: Path, deals: int) -> dict[str, float]:
        measured.append((str(run), iteration, deals))
        return {"hands": 1000 * iteration, "hours": 0.1, "deals": deals, "gain": 0.3, "low": 0.2, "high": 0.5}

    monkeypatch.setattr(gain_curve, "measured", measure)
    for _ in range(2):
        gain_curve.main(["a=one", "b=two", "--deals", "8"])
    assert measured == [("one", 50, 8), ("one", 70, 8), ("two", 50, 8), ("two", 70, 8)]
    assert [(row["run"], row["hands"]) for row in gain_curve.read_rows()][:2] == [("a", "50000"), ("a", "70000")]
    assert gain_curve.FIGURE.stat().st_size > 1000
