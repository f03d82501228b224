"""`deepcrib analyse`: every figure of the thesis from runs of its name, one run's graphs, agreement with people."""

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

pytest.importorskip("matplotlib")

from matplotlib.image import imread

from deepcrib.agents import make_agent
from deepcrib.agents.scripted import ScriptedAgent
from deepcrib.analysis import strategy_graphs
from deepcrib.analysis.thesis import FIGURES, Matches, WeightedRun, belongs
from deepcrib.cli import main
from deepcrib.errors import RunError
from deepcrib.exact.strategies.names import THESIS_STRATEGIES
from deepcrib.jobs import analyse
from tests.recorded import played, write

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
    *(f"scaling_{value}" for value in ("0.5", "2", "10")),
    *(f"decay_{value}" for value in ("0", "0.5")),
)
GRAPHS = {
    **dict.fromkeys((2, 11, 12), 6),  # (a) to (f): the start to the end
    **dict.fromkeys((3, 4, 5, 9, 10, 13, 15, 16, 17, 20, 23), 8),  # (a) to (h): the strategies
    18: 2 * 4,
    21: 4 * 4,
    24: 3 * 6,
    25: 2 * 6,
}
"""Strategy graphs in each figure of the thesis; in 24 and 25 as many rows as there are values above."""
SPREADS = {6: [100, 100], 7: [9, 9], 8: [9, 9], 14: [9, 100, 1000, 10_000], 19: [10_000] * 4, 22: [10_000] * 2}
"""Games of a match in each panel."""


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
    return Weighted(tensors["weights"], THESIS_STRATEGIES[: tensors["weights"].shape[-1]])


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
    monkeypatch.setattr(analyse, "load_weighted", load)
    monkeypatch.setattr(
        analyse, "make_agent", lambda spec, **_: make_agent(spec if isinstance(spec, str) else "random")
    )
    monkeypatch.setattr(strategy_graphs, "DPI", 60)


def call(command: str, folder: Path) -> int:
    return main([*shlex.split(command), f"hydra.run.dir={folder}"])


def summary_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "summary.json").read_text())


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    text = capsys.readouterr().err
    assert text.count("\n") == 1
    return text


# --- the figures of the thesis ---


def in_memory(name: str) -> WeightedRun:
    """A run of 1,000,000 games with a checkpoint every 100,000, none of which are files."""
    salt = NAMES.index(name)
    return WeightedRun(
        name,
        Path("1000000"),
        {games: Path(str(games)) for games in range(0, 1_000_001, 100_000)},
        lambda path: Weighted(weights_after(int(path.name), salt), THESIS_STRATEGIES),
    )


def test_the_figures_are_2_to_25_and_every_run_has_a_place_in_one() -> None:
    assert [figure.number for figure in FIGURES] == list(range(2, 26)) == sorted({**GRAPHS, **SPREADS})
    used = {name for figure in FIGURES for name in figure.found(NAMES)}
    assert used == set(NAMES) and all(belongs(name) for name in NAMES)
    assert not any(belongs(name) for name in ("round_3", "cap_55", "scaling_", "scaling_x", "decay_nan", "semi_pure"))


@pytest.mark.parametrize("figure", [figure for figure in FIGURES if figure.number in GRAPHS], ids=lambda f: f.number)
def test_a_figure_has_the_graphs_of_the_thesis(figure: Any) -> None:
    runs = {name: in_memory(name) for name in figure.found(NAMES)}
    drawn = figure.draw(runs, Matches(lambda: make_agent("random")))
    shown = [axes for axes in drawn.figure.axes if axes.images]
    assert len(shown) == GRAPHS[figure.number] and not drawn.panels
    assert drawn.figure.get_suptitle().startswith(f"Figure {figure.number}: ")


@pytest.mark.parametrize("figure", [figure for figure in FIGURES if figure.number in SPREADS], ids=lambda f: f.number)
def test_a_spread_figure_has_the_matches_of_the_thesis(figure: Any) -> None:
    runs = {name: in_memory(name) for name in figure.found(NAMES)}
    drawn = figure.draw(runs, Matches(lambda: make_agent("random"), matches=4, games_scale=0.1))
    assert [panel.games for panel in drawn.panels] == [round(games / 10) for games in SPREADS[figure.number]]
    expected = [1 if games == 10_000 else 4 for games in SPREADS[figure.number]]
    assert [panel.matches for panel in drawn.panels] == expected
    later = list(range(0, 1_000_000, 100_000))  # the last checkpoint is the final agent itself
    assert list(drawn.panels[0].series) == later
    if figure.number in (6, 8, 22):
        assert list(drawn.panels[1].series) == [games + 100_000 for games in later]
    if figure.number == 7:
        assert list(drawn.panels[1].series) == [*later, 1_000_000]
        mean = np.mean([series.match_spread for series in drawn.panels[1].series.values()])
        assert mean < 0  # a random player against greedy ones


def test_grids_stand_in_the_order_of_their_values_and_starts() -> None:
    figures = {figure.number: figure for figure in FIGURES}
    names = ["scaling_10", "scaling_0.5", "scaling_2"]
    drawn = figures[24].draw({name: in_memory(name) for name in names}, Matches(lambda: make_agent("random")))
    rows = [axes.get_ylabel() for axes in drawn.figure.axes if axes.images][::6]
    assert rows == ["s = 0.5", "s = 2", "s = 10"]
    names = ["semi_pure_med", "semi_pure_min"]
    drawn = figures[21].draw({name: in_memory(name) for name in names}, Matches(lambda: make_agent("random")))
    grid = [axes for axes in drawn.figure.axes if axes.images]
    assert [axes.get_ylabel() for axes in grid[::4]] == ["from hand_max_min", "from hand_max_med"]
    weights = weights_after(1_000_000, NAMES.index("semi_pure_med"))
    for axes, strategy in zip(grid[4:], ("hand_max_min", "hand_max_avg", "hand_max_poss", "hand_max_med"), strict=True):
        place = THESIS_STRATEGIES.index(strategy)
        np.testing.assert_array_equal(axes.images[0].get_array(), weights[:, :, 0, place])


def test_runs_without_shared_checkpoints_cannot_be_compared() -> None:
    figure = next(figure for figure in FIGURES if figure.number == 25)
    runs = {
        f"decay_{value}": WeightedRun(f"decay_{value}", Path("1"), {games: Path("1")}, load)
        for value, games in ((0, 100), (0.5, 200))
    }
    with pytest.raises(RunError, match="decay_0, decay_0.5 share no number of games"):
        figure.draw(runs, Matches(lambda: make_agent("random")))


def test_thesis_draws_what_the_runs_cover_and_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for salt, name in enumerate(("round_1", "round_2_winners", "cap_50", "cap_70", "scaling_2")):
        write_run(tmp_path / "runs" / name, (0, 50, 100), salt)
    (tmp_path / "runs" / "punishment").mkdir()  # not finished
    command = f"analyse thesis runs={tmp_path}/runs games_scale=0.05 matches=4 figures=[4,6,7,10,18,20,21,24,25]"
    assert call(command, tmp_path / "out") == 0
    drawn = ("figure_04.png", "figure_06.png", "figure_07.png", "figure_18.png", "figure_24.png")
    assert sorted(path.name for path in (tmp_path / "out").glob("*.png")) == sorted(drawn)
    assert all(imread(tmp_path / "out" / name).shape[1] > 300 for name in drawn)
    text = capsys.readouterr().out
    for row in (
        r"│ 4 .*│ figure_04.png +│",
        r"│ 10 .*│ no run round_2_losers +│",
        r"│ 18 .*│ figure_18.png \(no run cap_60, cap_80\) +│",
        r"│ 20 .*│ no run punishment +│",
        r"│ 21 .*│ no run semi_pure_min, .*│",
        r"│ 25 .*│ no run decay_<value> +│",
        r"5 of 9 figures of the thesis, from the 5 runs",
    ):
        assert re.search(row, text), row
    figures = summary_of(tmp_path / "out")["figures"]
    final, start = figures["6"]["panels"]
    assert (final["games"], final["matches"]) == (5, 4)
    assert list(final["checkpoints"]) == ["0", "50"] and list(start["checkpoints"]) == ["50", "100"]
    assert len(final["checkpoints"]["0"]["spreads"]) == 4
    assert figures["10"]["file"] is None and "panels" not in figures["4"]


# --- one run ---


def test_strategies_draws_a_runs_sheets_and_evolutions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write_run(tmp_path / "weighted", (0, 50, 100))
    assert call(f"analyse strategies run={run} strategy=crib_min_avg", tmp_path / "out") == 0
    expected = {"pone", "dealer", "difference", "evolution_crib_min_avg_pone", "evolution_crib_min_avg_dealer"}
    assert {path.stem for path in (tmp_path / "out").glob("*.png")} == expected
    assert "evolution_crib_min_avg_pone.png" in capsys.readouterr().out
    assert set(summary_of(tmp_path / "out")["files"]) == {f"{name}.png" for name in expected}


def test_a_checkpoint_alone_has_no_evolution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analyse, "save_png", lambda figure, path: path.touch())
    path = write_run(tmp_path / "weighted", (0,)) / "checkpoints" / "games_00000000.safetensors"
    assert call(f"analyse strategies run={path}", tmp_path / "out") == 0
    assert {path.stem for path in (tmp_path / "out").glob("*.png")} == {"pone", "dealer", "difference"}


# --- people ---


def test_humans_prints_table_4_with_intervals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # greedy keeps 5 5 5 J, for 14 points more than any other four cards
    hands = ("5H 5S 5C JD 2C 9H,0,0,0,2C 9H", "5H 5S 5C JD 2C 9H,1,90,3,2C JD;9H JD;2C 9H")
    path = tmp_path / "records.csv"
    path.write_text("\n".join(("hand,dealer,own_score,opponent_score,choices", *hands)))
    assert call(f"analyse humans choices={path} agents=[greedy,random]", tmp_path / "out") == 0
    text = capsys.readouterr().out
    assert re.search(r"greedy +│ +1 │ +1 │ +2 │ 100.0% \[34.2, 100.0\]", text)  # Wilson: 2 of 2
    assert text.index("random") < text.index("greedy")
    summary = summary_of(tmp_path / "out")
    assert (summary["records"], summary["agents"]["greedy"]["counts"]) == (2, [1, 1, 2])


def test_humans_reads_recorded_games_as_it_reads_a_table(tmp_path: Path) -> None:
    """Greedy in a person's place: of ties it takes any, but the best of them is among its discards."""
    path = write(tmp_path / "games" / "a.jsonl", played(1, person=0))
    for number, place in enumerate((path, path.parent)):
        out = tmp_path / str(number)
        assert call(f"analyse humans choices={place} agents=[greedy,random] by=ranks", out) == 0
        summary = summary_of(out)
        hands = sum(event.kind == "discard" and event.seat == 0 for event in played(1).events)
        assert summary["records"] == hands
        assert summary["agents"]["greedy"]["counts"][0] > hands / 2 > summary["agents"]["random"]["counts"][0]


# --- wrong calls ---


@pytest.fixture(scope="module")
def some(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run, and one with a run of fewer strategies."""
    folder = tmp_path_factory.mktemp("some")
    write_run(folder / "runs" / "round_1", (0,))
    (folder / "few" / "round_1").mkdir(parents=True)
    save_file({"weights": weights_after(0)[..., :3].copy()}, folder / "few" / "round_1" / "weights.safetensors")
    return folder


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("analyse strategies", "option run is missing: expected run=PATH"),
        ("analyse thesis", "option runs is missing: expected runs=FOLDER"),
        ("analyse runs={tmp}/runs", "/runs: only for thesis, not for hand"),
        (
            "analyse thesis runs={tmp}/runs agents=[greedy]",
            "agents=['greedy']: only for hand and humans and experts, not for thesis",
        ),
        ("analyse humans choices={tmp}/none.csv dealer=true", "dealer=True: only for hand, not for humans"),
        ("analyse humans", "option choices is missing: expected choices=FILE"),
        ("analyse task=draw", "task=draw: expected one of hand, strategies, thesis, humans"),
        ("analyse strategies run={tmp}", "expected a checkpoint, or the folder of a finished run"),
        ("analyse strategies run={tmp}/runs/round_1 strategy=hand", "strategy=hand: expected one of hand_max_min"),
        ("analyse thesis runs={tmp}/none", "none: expected a folder of run folders"),
        ("analyse thesis runs={tmp}/runs/round_1", "expected finished runs in folders by some of the names round_1"),
        ("analyse thesis runs={tmp}/runs figures=[1]", "figures=1: expected some of 2 to 25"),
        ("analyse thesis runs={tmp}/runs games_scale=0", "games_scale=0.0: expected more than 0, at most 1"),
        ("analyse thesis runs={tmp}/runs matches=0", "matches=0: expected 1 or more"),
        ("analyse thesis runs={tmp}/few", "run round_1 has no weights of hand_max_poss, crib_min_avg"),
        ("analyse humans choices={tmp}/none.csv agents=[greedy]", "none.csv: cannot be read"),
        ("analyse humans choices={tmp}/none.jsonl agents=[greedy]", "none.jsonl: cannot be read"),
        ("analyse humans choices={tmp}/few agents=[greedy]", "few: no games: expected files *.jsonl"),
        ("analyse humans choices={tmp}/none.csv agents=[greedy] by=suits", "by=suits: expected cards or ranks"),
        ("analyse humans choices={tmp}/none.csv agents=[]", "agents=[]: expected one or more agents"),
    ],
)
def test_a_wrong_call_ends_with_one_line(
    command: str, problem: str, some: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(command.format(tmp=some), tmp_path / "out") == 2
    assert problem in one_line(capsys)
    assert not (tmp_path / "out").exists()


def test_without_matplotlib_the_job_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("deepcrib.jobs.shared.common.find_spec", lambda name: None)
    assert call(f"analyse thesis runs={tmp_path}", tmp_path / "out") == 2
    assert "pip install 'deepcrib[plots]'" in one_line(capsys)
