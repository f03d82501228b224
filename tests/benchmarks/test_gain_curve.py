"""Gain curves: which checkpoints of a training are measured, and that none in the table is measured again."""

from pathlib import Path

from benchmarks.equilibrium import gain_curve


def test_checkpoints_twice_as_far_each_and_the_last() -> None:
    saved = {iteration: Path(str(iteration)) for iteration in range(0, 1001, 50)}
    assert list(gain_curve.due(saved)) == [50, 100, 200, 400, 800, 1000]
    assert list(gain_curve.due({0: Path("0"), 20: Path("20")})) == [20]
