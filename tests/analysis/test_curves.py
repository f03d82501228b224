"""Learning curves are read back from run folders as they were written."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.learning_curve import learning_curves
from deepcrib.errors import RunError
from deepcrib.training.progress import ProgressFile, read_progress


def write_run(folder: Path, rates: list[float], first: int = 10) -> Path:
    file = ProgressFile(folder, 0)
    for step in range(first + 10 * len(rates)):
        index, rest = divmod(step - first, 10)
        matches = {} if index < 0 or rest else {"greedy/win_rate": rates[index]}
        file.add(step, 0.0, {"progress/hands": 100.0 * step} | matches)
    return folder


def test_scalars_come_back_with_their_steps(tmp_path: Path) -> None:
    steps, values = read_progress(write_run(tmp_path, [0.25, 0.5, 0.75]))["greedy/win_rate"]
    assert steps.tolist() == [10, 20, 30]
    assert values.tolist() == [0.25, 0.5, 0.75]


def test_the_curve_is_the_mean_and_the_band_the_range(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / "a", [0.25, 0.5]), write_run(tmp_path / "b", [0.5, 1.0])]
    figure = learning_curves(runs, ["greedy/win_rate"], "two runs")
    (axes,) = figure.axes
    (line,) = axes.lines
    assert line.get_xdata().tolist() == [1000, 2000]
    assert line.get_ydata().tolist() == [0.375, 0.75]
    band = axes.collections[0].get_paths()[0].vertices
    assert {tuple(point) for point in np.round(band, 3)} >= {(1000, 0.25), (1000, 0.5), (2000, 0.5), (2000, 1.0)}


def test_what_cannot_be_drawn_is_refused_with_its_name(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a", [0.25])
    later = write_run(tmp_path / "b", [0.5], first=20)
    with pytest.raises(RunError, match="same iterations"):
        learning_curves([run, later], ["greedy/win_rate"], "apart")
