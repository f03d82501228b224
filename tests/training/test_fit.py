"""The loop that trains all learners: what it leaves, its matches, what it shows, and its file of metrics."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from deepcrib.errors import RunError
from deepcrib.game.randomness import MONITORING, derive
from deepcrib.networks import checkpoints
from deepcrib.training.fit import fit
from deepcrib.training.progress import PROGRESS_FILE, ProgressFile, read_progress
from tests.support.fitting import ByStep, Matches, Writer, matches_in, rows_in, tiny, weights_in
from tests.support.tiny_learner import TinyLearner, value_after, value_in

# --- what a training leaves ---


def test_checkpoints_and_their_names(tmp_path: Path) -> None:
    """Before the first step, at multiples of `checkpoint_every`, and at the end; the last weights are the agent's.

    `every=0` is no matches in any case.
    """
    agent: Any = fit(tiny(every=0, at=[0, 1]), tmp_path, Matches())
    expected = {f"checkpoints/games_{steps:08d}.safetensors": value_after(steps) for steps in (0, 2, 4, 6, 7)}
    assert weights_in(tmp_path) == expected | {"weights.safetensors": value_after(7)}
    assert agent.value == value_after(7)
    state = checkpoints.load_state(tmp_path / "state.pt")
    assert set(state) == {"learner", "state", "steps", "seconds", "metrics", "seed", "stages"}
    assert (state["seed"], state["stages"]) == (1, [])
    assert (state["learner"], state["state"], state["steps"]) == ("TinyLearner", {"value": value_after(7)}, 7)
    assert matches_in(tmp_path) == []


def test_short_steps_are_saved_where_a_checkpoint_is_due(tmp_path: Path) -> None:
    fit(tiny(ByStep, games=5, checkpoint_every=3, every=0), tmp_path, Matches())
    assert [int(name[-20:-12]) for name in weights_in(tmp_path) if "iterations" in name] == [0, 3, 5]


def test_a_training_of_no_steps_leaves_the_agent_as_it_began(tmp_path: Path) -> None:
    assert fit(tiny(games=0), tmp_path, Matches()).value == 1
    assert weights_in(tmp_path) == {"checkpoints/games_00000000.safetensors": 1, "weights.safetensors": 1}


def test_what_plays_no_games_meets_nobody(tmp_path: Path) -> None:
    class Dumb(TinyLearner):
        def agent(self) -> None:
            return None

    match = Matches()
    assert fit(tiny(Dumb, at=[0, 1]), tmp_path, match) is None
    assert not match.calls and value_in(tmp_path / "weights.safetensors") == value_after(7)


def test_events_are_on_the_disk_before_the_state_is(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    fit(tiny(games=5, every=2), tmp_path, Matches(), writer=writer)
    assert writer.steps("value") == [2, 4, 5] and writer.steps("random/win_rate") == [4]
    # (last event, saved steps) before each state, and once more after the matches
    assert writer.flushes == [(0, 0), (2, 0), (4, 2), (4, 4), (5, 4)]


# --- matches ---


def test_every_counts_checkpoints_and_their_number_is_in_the_seed(tmp_path: Path) -> None:
    """Checkpoints are at 2, 4, 6 and 7 games: the second and the fourth are due."""
    match = Matches()
    fit(tiny(every=2), tmp_path, match)
    assert match.calls == [
        (value_after(steps), name, 4, derive(1, MONITORING, number))
        for steps, number in ((4, 2), (7, 4))
        for name in ("random", "greedy")
    ]
    assert len({call[3] for call in match.calls}) == 2


def test_some_learners_count_steps(tmp_path: Path) -> None:
    match = Matches()
    fit(tiny(ByStep, opponents=("random",), every=3, checkpoint_every=2), tmp_path, match)
    assert match.calls == [(value_after(n), "random", 4, derive(1, MONITORING, n)) for n in (3, 6)]
    assert matches_in(tmp_path) == ["3", "6"]


def test_matches_have_a_seed_of_their_own_if_they_are_given_one(tmp_path: Path) -> None:
    for given, expected in ((None, 5), (9, 9)):
        match, learner = Matches(), tiny(games=2, opponents=("random",), seed=5)
        learner.setting.evaluation.seed = given
        fit(learner, tmp_path / str(given), match)
        assert [call[3] for call in match.calls] == [derive(expected, MONITORING, 1)]
        assert learner.value == value_after(2, seed=5)


def test_matches_before_the_first_step(tmp_path: Path) -> None:
    match, writer, shown = Matches(), Writer(tmp_path), list[tuple[int, list[str]]]()
    learner = tiny(ByStep, games=3, opponents=("random",), at=[0, 2, 50])
    fit(learner, tmp_path, match, writer=writer, progress=lambda done, found: shown.append((done, sorted(found))))
    assert match.calls == [(value_after(n), "random", 4, derive(1, MONITORING, n)) for n in (0, 2)]
    assert writer.steps("random/win_rate") == [0, 2] and writer.steps("value") == [1, 2, 3]
    assert shown[0][0] == 0 and "random/win_rate" in shown[0][1]
    assert matches_in(tmp_path) == ["0", "2"]
    assert value_in(tmp_path / "weights.safetensors") == value_after(3)


def test_a_row_holds_what_was_reported_of_a_step(tmp_path: Path) -> None:
    """Metrics of all steps, and what matches after them found; columns in the order in which they came."""
    fit(tiny(games=5, every=2), tmp_path, Matches(), probe=lambda agent, seed: {"probe/value": 0.1})
    rows = rows_in(tmp_path)
    assert list(rows[0])[:4] == ["step", "seconds", "value", "random/win_rate"]
    assert [(row["step"], row["value"]) for row in rows] == [(str(n), str(value_after(n))) for n in (2, 4, 5)]
    assert matches_in(tmp_path) == ["4"]
    for name in ("random", "greedy"):
        found = {tag.partition("/")[2]: value for tag, value in rows[1].items() if tag.startswith(f"{name}/")}
        assert float(found.pop("win_rate")) == pytest.approx(value_after(4) / 1_000_003, rel=1e-9)
        assert (found["games"], found["hand_margin"]) == ("4", "0") and "hand_margin_low" not in found
        assert {row[f"{name}/games"] for row in (rows[0], rows[2])} == {""}
    assert rows[1]["probe/value"] == "0.1" and float(rows[1]["speed/monitoring_seconds"]) >= 0
    seconds = [float(row["seconds"]) for row in rows]
    assert seconds == sorted(seconds)


def test_rows_stand_in_the_file_as_soon_as_they_are_shown(tmp_path: Path) -> None:
    def check(done: int, metrics: Mapping[str, float]) -> None:
        if metrics:
            row = rows_in(tmp_path)[-1]
            expected = {"step": str(done)} | {tag: f"{value:.10g}" for tag, value in metrics.items()}
            assert {tag: value for tag, value in row.items() if value and tag != "seconds"} == expected

    fit(tiny(ByStep, games=6, every=3), tmp_path, Matches(), progress=check)
    assert len(rows_in(tmp_path)) == 6


def test_the_file_is_replaced_for_new_columns_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 300 steps: as it begins, at the first step and at the first matches."""
    written: list[Path] = []

    def write(path: Path, content: str) -> None:
        written.append(path)
        path.write_text(content)

    monkeypatch.setattr("deepcrib.training.progress.write_atomic", write)
    fit(tiny(ByStep, games=300, checkpoint_every=100, every=7), tmp_path, Matches())
    assert written == [tmp_path / PROGRESS_FILE] * 3
    assert len(rows_in(tmp_path)) == 300 and len(matches_in(tmp_path)) == 42


def test_a_probe_measures_the_same_agent_beside_the_matches(tmp_path: Path) -> None:
    asked, shown = [], dict[int, Mapping[str, float]]()

    def probe(agent: Any, seed: int) -> dict[str, float]:
        asked.append((agent.value, seed))
        return {"probe/value": 1.0}

    fit(tiny(games=5, every=2), tmp_path, Matches(), probe=probe, progress=shown.__setitem__)
    assert asked == [(value_after(4), derive(1, MONITORING, 2))]
    assert [steps for steps, metrics in shown.items() if "probe/value" in metrics] == [4]


# --- what is shown ---


def test_progress_comes_before_the_first_step_within_steps_and_after_them(tmp_path: Path) -> None:
    shown: list[tuple[int, Mapping[str, float]]] = []
    fit(tiny(games=3, every=0), tmp_path, Matches(), progress=lambda *call: shown.append(call))
    assert shown == [(0, {}), (1, {}), (2, {}), (2, {"value": value_after(2)}), (3, {}), (3, {"value": value_after(3)})]


@pytest.mark.parametrize(("every", "expected"), [(0, []), (2, [4, 7]), (3, [6, 7])])
def test_pictures_are_drawn_where_matches_are_due_and_at_the_end(
    every: int, expected: list[int], tmp_path: Path
) -> None:
    drawn: list[int] = []

    class Painter(TinyLearner):
        def show(self, writer: Any, step: int) -> None:
            drawn.append(step)

    fit(tiny(Painter, every=every), tmp_path, Matches(), writer=Writer(tmp_path))
    assert drawn == expected


# --- the file by itself ---


def test_what_was_written_is_read(tmp_path: Path) -> None:
    """Counts of games to the last digit, odd names, values that there are not and such as are no numbers."""
    name = 'odd "name", of two/win_rate'
    file = ProgressFile(tmp_path / "new", 0)
    file.add(0, 0.04, {"games": 123_456_789})
    file.add(1, 2.06, {name: 0.1 + 0.2, "loss": float("nan")})
    file.add(3, 4.0, {"games": 2.0})
    file.sync()
    found = read_progress(tmp_path / "new")
    assert list(found) == ["seconds", "games", name, "loss"]
    expected = {"seconds": ([0, 1, 3], [0, 2.1, 4]), "games": ([0, 3], [123_456_789, 2]), name: ([1], [0.3])}
    for tag, (steps, values) in expected.items():
        assert (found[tag][0].tolist(), found[tag][1].tolist()) == (steps, values)
    assert found["loss"][0].tolist() == [1] and math.isnan(found["loss"][1][0])
    assert [path.name for path in (tmp_path / "new").iterdir()] == [PROGRESS_FILE]
    assert ProgressFile(tmp_path / "new", 2).seconds is None
    assert ProgressFile(tmp_path / "new", 1).seconds == 2.1 and len(rows_in(tmp_path / "new")) == 2


def test_a_file_of_no_rows_has_no_curves(tmp_path: Path) -> None:
    ProgressFile(tmp_path, 0)
    assert read_progress(tmp_path) == {}


def test_one_long_cell_takes_no_more_room_than_its_own(tmp_path: Path) -> None:
    (tmp_path / PROGRESS_FILE).write_text(f"step,seconds,loss\n1,1,{'0' * 100_000}1\n" + "2,2,1\n" * 2000)
    tracemalloc.start()
    _, values = read_progress(tmp_path)["loss"]
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (values == 1).all() and most < 20e6  # a table of texts of NumPy's: 2.4 GB


@pytest.mark.parametrize(
    "text", ["", "a,b\n1,2\n", "step,seconds\nx,1\n", "step,seconds\n1,\n", "step,seconds\n1,2,3\n", b"\xff\xfe\n"]
)
def test_a_file_that_is_another_is_refused_in_one_line(text: str | bytes, tmp_path: Path) -> None:
    (tmp_path / PROGRESS_FILE).write_bytes(text if isinstance(text, bytes) else text.encode())
    for use in (lambda: ProgressFile(tmp_path, 3), lambda: read_progress(tmp_path)):
        with pytest.raises(RunError, match=r"progress\.csv: cannot be read: expected columns step, seconds") as error:
            use()
        assert "\n" not in str(error.value)


def test_a_cell_that_is_no_number_and_a_file_that_is_not_there_are_refused(tmp_path: Path) -> None:
    (tmp_path / PROGRESS_FILE).write_text("step,seconds,loss\n1,2,low\n")
    with pytest.raises(RunError, match=r"progress\.csv: cannot be read: expected columns step, seconds, and numbers"):
        read_progress(tmp_path)
    (tmp_path / PROGRESS_FILE).write_text("step,seconds,loss\n99999999999999999999,2,1\n")
    with pytest.raises(RunError, match=r"progress\.csv: cannot be read: expected columns step, seconds, and numbers"):
        read_progress(tmp_path)
    with pytest.raises(RunError, match=r"nowhere/progress\.csv: not there: expected a run of deepcrib train"):
        read_progress(tmp_path / "nowhere")
