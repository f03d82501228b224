"""The figures of the thesis are drawn from the runs that a folder has, by their names."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

pytest.importorskip("matplotlib")

from matplotlib.image import imread

from benchmarks.lang2018 import figures as thesis2018_figures
from benchmarks.lang2018 import graphs as strategy_graphs
from benchmarks.lang2018.figures import FIGURES, belongs
from deepcrib.agents import make_agent
from deepcrib.agents.scripted import ScriptedAgent
from deepcrib.exact.strategies.names import THESIS_STRATEGIES

NAMES = (
    "round_1",
    "round_2_winners",
    "round_2_losers",
    "round_2_static",
    "neighbours",
    *(f"cap_{percent}" for percent in (50, 60, 70, 80)),
    "punishment",
    *(f"semi_pure_{strategy}" for strategy in ("min", "avg", "med", "poss")),
    "semi_pure_avg_random",
    *(f"scaling_{value}" for value in ("50", "200", "1000")),
    *(f"decay_{value}" for value in ("0", "50")),
)


class Weighted(ScriptedAgent):
    """A stand-in: weights for the figures, greedy in its matches."""

    def __init__(self, weights: np.ndarray, strategies: Sequence[str]) -> None:
        super().__init__("greedy")
        self.weights = weights
        self.strategies = tuple(strategies)


def weights_after(games: int, salt: int = 0) -> np.ndarray:
    """Random weights float32 [121, 121, 2, 8], other ones for other games and salts."""
    weights = np.random.default_rng((games, salt)).random((121, 121, 2, len(THESIS_STRATEGIES)), dtype=np.float32)
    return weights / weights.sum(axis=-1, keepdims=True)


def load(path: Path) -> Weighted:
    tensors = load_file(path)
    return Weighted(tensors["weights"], THESIS_STRATEGIES)


def write_run(folder: Path, games: Sequence[int], salt: int = 0) -> Path:
    """A run folder as training leaves it: the last checkpoint is the final agent."""
    (folder / "checkpoints").mkdir(parents=True)
    for number in games:
        save_file({"weights": weights_after(number, salt)}, folder / "checkpoints" / f"games_{number:08d}.safetensors")
    save_file({"weights": weights_after(games[-1], salt)}, folder / "weights.safetensors")
    return folder


@pytest.fixture(autouse=True)
def stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weighted agents by the stand-in, and coarser pictures, which are drawn faster."""
    monkeypatch.setattr(strategy_graphs, "load_weighted", load)
    monkeypatch.setattr(
        thesis2018_figures, "make_agent", lambda spec, **_: make_agent(spec if isinstance(spec, str) else "random")
    )
    for script in (strategy_graphs, thesis2018_figures):
        monkeypatch.setattr(script, "save_png", lambda figure, path: figure.savefig(path, dpi=60))


def test_the_figures_are_2_to_25_and_every_run_has_a_place_in_one() -> None:
    assert [figure.number for figure in FIGURES] == list(range(2, 26))
    used = {name for figure in FIGURES for name in figure.found(NAMES)}
    assert used == set(NAMES) and all(belongs(name) for name in NAMES)
    assert not any(belongs(name) for name in ("round_3", "cap_55", "scaling_", "scaling_0.5", "decay_nan", "semi_pure"))


def test_thesis_draws_what_the_runs_cover_and_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for salt, name in enumerate(("round_1", "round_2_winners", "cap_50", "cap_70", "scaling_200")):
        write_run(tmp_path / "runs" / name, (0, 50, 100), salt)
    (tmp_path / "runs" / "punishment").mkdir()  # not finished
    options = "--games-scale 0.05 --matches 4 --figures 4 6 7 10 18 20 21 24 25"
    thesis2018_figures.main([str(tmp_path / "runs"), "--to", str(tmp_path / "out"), *options.split()])
    drawn = ("figure_04.png", "figure_06.png", "figure_07.png", "figure_18.png", "figure_24.png")
    assert sorted(path.name for path in (tmp_path / "out").glob("*.png")) == sorted(drawn)
    assert all(imread(tmp_path / "out" / name).shape[1] > 300 for name in drawn)
    text = capsys.readouterr().out
    for row in ("bracket: no run round_2_losers\n", "no run cap_60, cap_80\n", "5 of 9 figures of the thesis"):
        assert row in text
    figures = json.loads((tmp_path / "out" / "summary.json").read_text())["figures"]
    final, start = figures["6"]["panels"]
    assert (final["games"], final["matches"]) == (5, 4)
    assert list(final["checkpoints"]) == ["0", "50"] and list(start["checkpoints"]) == ["50", "100"]
    assert len(final["checkpoints"]["0"]["spreads"]) == 4
    assert figures["10"]["file"] is None and "panels" not in figures["4"]


def test_of_the_queues_folder_the_lowest_seeds_are_drawn(tmp_path: Path) -> None:
    for name in ("lang2018_rows/cap_50_1", "lang2018_rows/cap_50_2", "lang2018_round_1/round_1_1/run", "x/cap_60_1"):
        write_run(tmp_path / name, (0, 50))
    (tmp_path / "lang2018_rows" / "cap_70_1.match").mkdir()
    found = thesis2018_figures.named_runs(tmp_path)
    assert {name: (run.name, run.final_path.parent) for name, run in found.items()} == {
        "cap_50": ("cap_50", tmp_path / "lang2018_rows" / "cap_50_1"),
        "round_1": ("round_1", tmp_path / "lang2018_round_1" / "round_1_1" / "run"),
    }
