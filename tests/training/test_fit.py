"""The loop that trains all learners, with a learner that learns a number."""

from __future__ import annotations

import csv
import math
import signal
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from deepcrib.errors import RunError
from deepcrib.files.weights import CheckpointError
from deepcrib.game.randomness import MONITORING, derive
from deepcrib.networks import checkpoints
from deepcrib.training.fit import fit, next_event, restore
from deepcrib.training.learner import Metrics, Setting
from deepcrib.training.options import EvaluationOptions
from deepcrib.training.progress import PROGRESS_FILE, ProgressFile, read_progress
from tests.figures import match_of
from tests.tiny_learner import TinyLearner, TinyOptions, next_value, value_after, value_in


class StoppedError(Exception):
    """What stops a training in a test."""


class ByStep(TinyLearner):
    """Evaluated by steps, of one game each."""

    unit = "iterations"
    stride = 1


class Matches:
    """Stands in for matches: notes (value of the agent, opponent, games, seed), and may be stopped in one."""

    def __init__(self, stop_in: int | None = None) -> None:
        self.calls: list[tuple[int, str, int, int]] = []
        self.stop_in = stop_in

    def __call__(self, agent: Any, opponent: Any, games: int, seed: int) -> SimpleNamespace:
        if len(self.calls) == self.stop_in:
            raise StoppedError
        self.calls.append((agent.value, opponent.name, games, seed))
        return match_of(win_rate=agent.value / 1_000_003, hand_margin_low=None)


class Writer:
    """Stands in for a SummaryWriter: notes scalars, and what there was at each flush."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.scalars: list[tuple[str, float, int]] = []
        self.flushes: list[tuple[int, int]] = []

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        self.scalars.append((tag, value, step))

    def flush(self) -> None:
        self.flushes.append((self.scalars[-1][2] if self.scalars else 0, steps_in(self.folder)))

    def steps(self, tag: str) -> list[int]:
        return [step for name, _, step in self.scalars if name == tag]


def tiny(
    kind: type[TinyLearner] = TinyLearner,
    games: int = 7,
    checkpoint_every: int = 2,
    seed: int = 1,
    opponents: tuple[str, ...] = ("random", "greedy"),
    **evaluation: Any,
) -> TinyLearner:
    matches = EvaluationOptions(opponents=list(opponents), games=4, **{"every": 1, **evaluation})
    return kind(TinyOptions("tiny", games, checkpoint_every), Setting(seed, matches))


def steps_in(folder: Path) -> int:
    """Steps of the state in a run folder; 0 where there is none."""
    path = folder / "state.pt"
    return int(checkpoints.load_state(path)["steps"]) if path.exists() else 0


def weights_in(folder: Path) -> dict[str, int]:
    """Values by the names of all files of weights."""
    return {str(path.relative_to(folder)): value_in(path) for path in sorted(folder.rglob("*.safetensors"))}


def rows_in(folder: Path) -> list[dict[str, str]]:
    with open(folder / PROGRESS_FILE, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def matches_in(folder: Path) -> list[str]:
    """Steps of the rows with matches."""
    return [row["step"] for row in rows_in(folder) if row.get("random/win_rate")]


def untimed(folder: Path) -> list[dict[str, str]]:
    return [{name: value for name, value in row.items() if "seconds" not in name} for row in rows_in(folder)]


def stop_at(steps: int, within: bool = False) -> Callable[[int, Mapping[str, float]], None]:
    """Stop after so many steps: within the last of them, or when its metrics are shown."""

    def progress(done: int, metrics: Mapping[str, float]) -> None:
        if done == steps and bool(metrics) != within:
            raise StoppedError

    return progress


# --- what a training leaves ---


def test_checkpoints_and_their_names(tmp_path: Path) -> None:
    """Before the first step, at multiples of `checkpoint_every`, and at the end; the last weights are the agent's."""
    agent: Any = fit(tiny(every=0), tmp_path, Matches())
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


@contextmanager
def handlers(handler: Any) -> Iterator[None]:
    """Both signals handled so, as in a main program, and afterwards as before."""
    before = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    assert {signal.getsignal(number) for number in before} == {handler}
    for number, old in before.items():
        signal.signal(number, old)


class Interrupted(TinyLearner):
    """Meets signals in the third game, whose step it ends there as `learns_until` says."""

    signals: ClassVar[tuple[int, ...]] = (signal.SIGINT,)

    def step(self) -> Metrics:
        last = self.next_checkpoint()
        while self.learns_until(last):
            self.steps_done += 1
            self.value = next_value(self.value, self.steps_done, self.setting.seed)
            for number in self.signals if self.steps_done == 3 else ():
                signal.raise_signal(number)
            self.tick(self.steps_done)
        return {"value": float(self.value)}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_loses_no_step(number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The state is saved between two checkpoints; resumed, the training ends as one that was not interrupted."""
    kind = type("Met", (Interrupted,), {"signals": (number,)})
    with handlers(signal.default_int_handler), pytest.raises(KeyboardInterrupt):
        fit(tiny(kind, checkpoint_every=5), tmp_path / "parts", Matches())
    assert steps_in(tmp_path / "parts") == 3 and "saved after this step" in capsys.readouterr().err
    kind.signals, match = (), Matches()
    fit(tiny(kind, checkpoint_every=5), tmp_path / "parts", match, resume=True)
    fit(tiny(kind, checkpoint_every=5), tmp_path / "whole", whole := Matches())
    assert weights_in(tmp_path / "parts") == weights_in(tmp_path / "whole") and match.calls == whole.calls
    rows = [row["step"] for row in rows_in(tmp_path / "parts")]
    assert rows == ["3", "5", "7"] and matches_in(tmp_path / "parts") == ["5", "7"]


def test_ctrl_c_before_anything_was_learned_in_a_step_lets_it_begin(tmp_path: Path) -> None:
    """Metrics are means over what a step learned: there is no step of nothing."""

    class Early(TinyLearner):
        def step(self) -> Metrics:
            signal.raise_signal(signal.SIGINT)
            last = self.next_checkpoint()
            while self.learns_until(last):
                self.steps_done += 1
                self.tick(self.steps_done)
            return {"value": 1.0}

    with handlers(signal.default_int_handler), pytest.raises(KeyboardInterrupt):
        fit(tiny(Early, checkpoint_every=5), tmp_path, Matches())
    assert steps_in(tmp_path) == 1


def test_an_interrupted_learner_can_be_fitted_again(tmp_path: Path) -> None:
    """As in a notebook, where the object is still there."""
    kind = type("Met", (Interrupted,), {})
    learner = tiny(kind, checkpoint_every=5)
    with handlers(signal.default_int_handler), pytest.raises(KeyboardInterrupt):
        fit(learner, tmp_path, Matches())
    kind.signals = ()
    fit(learner, tmp_path, Matches())
    assert learner.value == value_after(7) and weights_in(tmp_path)["weights.safetensors"] == value_after(7)


def test_a_second_ctrl_c_stops_within_the_step(tmp_path: Path) -> None:
    kind = type("MetTwice", (Interrupted,), {"signals": (signal.SIGINT, signal.SIGINT)})
    with handlers(signal.default_int_handler), pytest.raises(KeyboardInterrupt):
        fit(tiny(kind, checkpoint_every=5), tmp_path, Matches())
    assert steps_in(tmp_path) == 0


def test_ctrl_c_in_a_match_between_checkpoints_loses_no_step(tmp_path: Path) -> None:
    class Impatient(Matches):
        def __call__(self, *match: Any) -> SimpleNamespace:
            if match[0].value == value_after(3):
                raise KeyboardInterrupt
            return super().__call__(*match)

    with pytest.raises(KeyboardInterrupt):
        fit(tiny(ByStep, checkpoint_every=5), tmp_path, Impatient())
    assert steps_in(tmp_path) == 3
    fit(tiny(ByStep, checkpoint_every=5), tmp_path, Matches(), resume=True)
    assert matches_in(tmp_path) == [str(step) for step in range(1, 8)]


class Lesson(TinyLearner):
    """A stage that adds to another learner's value: steps of one, two between checkpoints."""

    unit, checkpoint_every = "lessons", 2
    signalled: ClassVar[int | None] = None
    """How many are left, of all stages together, after the one in which Ctrl-C comes."""

    def __init__(self, learner: TinyLearner, num_steps: int) -> None:
        super().__init__(TinyOptions("lesson", num_steps), learner.setting)
        self.pupil, self.shown = learner, list[int]()

    def step(self) -> Metrics:
        self.steps_done += 1
        self.value = next_value(self.value, self.steps_done, len(self.pupil.stages))
        self.pupil.value = (self.pupil.value + self.value) % 1_000_003
        if self.signalled == -next_event(self.pupil):
            signal.raise_signal(signal.SIGINT)
        self.tick(self.steps_done)
        return {f"lesson/{self.num_steps}": float(self.pupil.value)}

    def show(self, writer: Any, step: int) -> None:
        self.shown.append(step)


class Taught(ByStep):
    """Learns three lessons, then two more, before its first game."""

    def __init__(self, options: Any, setting: Setting) -> None:
        super().__init__(options, setting)
        self.stages = Lesson(self, 3), Lesson(self, 2)

    def first_metrics(self) -> Metrics:
        return {"before": float(self.value)}


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[tuple[str, float, int]]]:
    """The folder of a training with stages that nothing stopped, and its scalars."""
    folder = tmp_path_factory.mktemp("taught")
    learner, writer = tiny(Taught), Writer(folder)
    fit(learner, folder, Matches(), writer=writer)
    assert [stage.shown for stage in learner.stages if isinstance(stage, Lesson)] == [[-3], [-1]]
    return folder, writer.scalars


def timeless(scalars: Sequence[tuple[str, float, int]]) -> list[tuple[str, float, int]]:
    return [one for one in scalars if "seconds" not in one[0]]


def test_stages_come_first_and_their_events_below_zero(taught: Any) -> None:
    folder, scalars = taught
    steps = {tag: [step for name, _, step in scalars if name == tag] for tag in ("lesson/3", "lesson/2", "before")}
    assert steps == {"lesson/3": [-5, -4, -3], "lesson/2": [-2, -1], "before": [0]}
    first = next(value for name, value, _ in scalars if name == "before")
    assert first != 1 and value_in(folder / "checkpoints" / "iterations_00000000.safetensors") == first
    assert [row["step"] for row in rows_in(folder)] == [str(step) for step in range(8)]


@pytest.mark.parametrize("interrupted", [True, False])
@pytest.mark.parametrize("left", [4, 3, 2, 1, 0])
def test_a_training_that_is_stopped_in_a_stage_ends_as_a_whole_one_does(
    left: int, interrupted: bool, taught: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With so many lessons left: by Ctrl-C, which loses none, or killed, when those since the last checkpoint are lost.

    Events that a killed process has written are purged from `next_event` on.
    """
    whole, scalars = taught
    first, second = Writer(tmp_path), Writer(tmp_path)
    monkeypatch.setattr(Lesson, "signalled", left if interrupted else None)
    with handlers(signal.default_int_handler), pytest.raises(KeyboardInterrupt if interrupted else StoppedError):
        fit(tiny(Taught), tmp_path, Matches(), writer=first, progress=None if interrupted else stop_at(-left, True))
    monkeypatch.setattr(Lesson, "signalled", None)
    learner, state = tiny(Taught), tmp_path / "state.pt"
    if state.exists():
        restore(learner, state)
    done = [stage.steps_done for stage in learner.stages]
    lost = 0 if interrupted else {4: 1, 3: 2, 2: 1, 1: 1, 0: 2}[left]
    assert sum(done) == 5 - left - lost and next_event(learner) == -left - lost
    first.scalars = [one for one in first.scalars if one[2] < next_event(learner)]
    fit(learner, tmp_path, Matches(), writer=second)
    assert timeless(first.scalars + second.scalars) == timeless(scalars)
    assert weights_in(tmp_path) == weights_in(whole) and untimed(tmp_path) == untimed(whole)


def test_what_comes_before_the_first_step_is_not_lost(tmp_path: Path) -> None:
    """Nor done twice, though the process is killed in the first step."""
    with pytest.raises(StoppedError):
        fit(tiny(Taught), tmp_path / "parts", Matches(), progress=stop_at(1, within=True))
    writer = Writer(tmp_path)
    fit(tiny(Taught), tmp_path / "parts", Matches(), writer=writer, resume=True)
    fit(tiny(Taught), tmp_path / "whole", Matches())
    assert weights_in(tmp_path / "parts") == weights_in(tmp_path / "whole")
    assert writer.steps("before") == [0] and min(step for _, _, step in writer.scalars) == 0


def test_stages_of_another_training_are_refused_in_one_line(tmp_path: Path) -> None:
    """Those that are not done must be there; what is done does not count any more."""

    class More(Taught):
        def __init__(self, options: Any, setting: Setting) -> None:
            super().__init__(options, setting)
            self.stages = (*self.stages, TinyLearner(options, setting))

    class Fewer(Taught):
        def __init__(self, options: Any, setting: Setting) -> None:
            super().__init__(options, setting)
            self.stages = self.stages[:1]

    More.__name__ = Fewer.__name__ = "Taught"
    with pytest.raises(StoppedError):
        fit(tiny(Taught, every=0), tmp_path, Matches(), progress=stop_at(-2, within=True))
    for kind, expected in ((More, "it is of a Lesson"), (Fewer, "expected the same options")):
        with pytest.raises(CheckpointError, match=rf"state\.pt does not fit .*: .*{expected}") as error:
            restore(tiny(kind), tmp_path / "state.pt")
        assert "\n" not in str(error.value)
    fit(tiny(Taught, every=0), tmp_path, Matches(), resume=True)
    for kind in (More, Fewer):
        learner = tiny(kind)
        restore(learner, tmp_path / "state.pt")
        assert next_event(learner) == 8


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


def test_what_comes_before_the_first_step_is_done_once_and_shown_at_zero(tmp_path: Path) -> None:
    first, again = Writer(tmp_path), Writer(tmp_path)
    shown: dict[int, Mapping[str, float]] = {}
    fit(tiny(Taught, games=2, every=0), tmp_path, Matches(), writer=first, progress=shown.__setitem__)
    begun = value_in(tmp_path / "checkpoints" / "iterations_00000000.safetensors")
    assert ("before", begun, 0) in first.scalars and shown[0] == {"before": begun}
    assert list(shown) == [-4, -3, -2, -1, 0, 1, 2] and not any(shown[step] for step in range(-4, 0))
    learned = value_in(tmp_path / "weights.safetensors")
    fit(tiny(Taught, games=2, every=0), tmp_path, Matches(), writer=again, resume=True)
    assert not again.scalars and value_in(tmp_path / "weights.safetensors") == learned


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


# --- interruption and resumption ---


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training by steps that nothing stopped, with matches at all of them and before the first."""
    folder = tmp_path_factory.mktemp("whole")
    fit(tiny(ByStep, at=list(range(8))), folder, Matches())
    return folder


@pytest.mark.parametrize(
    ("stop", "within", "saved"),
    [
        (0, False, 0),
        (1, False, 0),
        (2, True, 0),
        (2, False, 2),
        (3, False, 2),
        (4, True, 2),
        (7, True, 6),
        (7, False, 7),
    ],
)
def test_a_stopped_training_ends_as_a_whole_one_does(
    stop: int, within: bool, saved: int, whole: Path, tmp_path: Path
) -> None:
    """Wherever it was stopped, before there is a state or after; only what was not saved is done again."""
    learner = tiny(ByStep, at=list(range(8)))
    with pytest.raises(StoppedError):
        fit(learner, tmp_path, Matches(), progress=stop_at(stop, within))
    assert steps_in(tmp_path) == saved and not (tmp_path / "weights.safetensors").exists()
    again = tiny(ByStep, at=list(range(8)))
    agent: Any = fit(again, tmp_path, Matches(), resume=saved > 0)
    assert (again.taken, again.steps_done, agent.value) == (7 - saved, 7, value_after(7))
    assert weights_in(tmp_path) == weights_in(whole) and untimed(tmp_path) == untimed(whole)
    seconds = [float(row["seconds"]) for row in rows_in(tmp_path)]
    assert seconds == sorted(seconds)


def test_a_learner_that_was_restored_goes_on_without_being_told(tmp_path: Path) -> None:
    with pytest.raises(StoppedError):
        fit(tiny(every=0), tmp_path, Matches(), progress=stop_at(5, within=True))
    learner = tiny(every=0)
    restore(learner, tmp_path / "state.pt")
    assert (learner.steps_done, learner.value) == (4, value_after(4)) and learner.seconds > 0
    saved = learner.seconds
    fit(learner, tmp_path, Matches())
    assert learner.taken == 3 and learner.value == value_after(7) and learner.seconds > saved


def test_without_resume_a_training_begins_anew(tmp_path: Path) -> None:
    fit(tiny(games=4), tmp_path, Matches())
    learner = tiny(games=3)
    fit(learner, tmp_path, Matches())
    assert learner.taken == 3 and [row["step"] for row in rows_in(tmp_path)] == matches_in(tmp_path) == ["2", "3"]
    fit(tiny(ByStep, at=[0]), tmp_path, Matches())
    assert matches_in(tmp_path) == ["0"]
    fit(tiny(every=0), tmp_path, Matches())
    assert matches_in(tmp_path) == [] and list(rows_in(tmp_path)[0]) == ["step", "seconds", "value"]


@pytest.mark.parametrize("kind", [TinyLearner, ByStep])
@pytest.mark.parametrize("stop_in", [2, 3, 6, 7])
def test_an_interruption_in_a_match_loses_no_learning(kind: type[TinyLearner], stop_in: int, tmp_path: Path) -> None:
    """In the first or the second match after 4 steps, or after the last one; the matches are played on resumption."""
    at = {"at": [2, 4, 6, 7]} if kind is ByStep else {}
    expected, match, later = Matches(), Matches(stop_in), Matches()
    fit(tiny(kind, **at), tmp_path / "whole", expected)
    parts = tmp_path / "parts"
    with pytest.raises(StoppedError):
        fit(tiny(kind, **at), parts, match)
    saved = {2: 4, 3: 4, 6: 7, 7: 7}[stop_in]
    assert steps_in(parts) == saved and match.calls == expected.calls[:stop_in]
    learner = tiny(kind, **at)
    fit(learner, parts, later, resume=True)
    assert learner.taken == 7 - saved
    assert later.calls == expected.calls[stop_in // 2 * 2 :]  # both of them, since neither is in the file
    assert untimed(parts) == untimed(tmp_path / "whole") and weights_in(parts) == weights_in(tmp_path / "whole")


def test_matches_that_were_played_are_not_played_again(tmp_path: Path) -> None:
    fit(tiny(games=4), tmp_path, Matches())
    match = Matches()
    fit(tiny(games=6), tmp_path, match, resume=True)
    assert [call[0] for call in match.calls] == [value_after(6)] * 2
    assert matches_in(tmp_path) == ["2", "4", "6"]


def test_the_file_keeps_no_rows_beyond_the_saved_state(tmp_path: Path) -> None:
    """Though no later matches take their place: the games after it are played again."""
    with pytest.raises(StoppedError):
        fit(tiny(ByStep), tmp_path, Matches(), progress=stop_at(3))
    assert matches_in(tmp_path) == ["1", "2", "3"]
    fit(tiny(ByStep, every=0), tmp_path, Matches(), resume=True)
    assert matches_in(tmp_path) == ["1", "2"]
    assert [row["step"] for row in rows_in(tmp_path)] == [str(step) for step in range(1, 8)]


@pytest.mark.parametrize("half", ["4", "4,1.5,12", '4,1.5,"'])
def test_half_a_row_of_a_killed_process_is_passed_over(half: str, tmp_path: Path) -> None:
    """By readers, and by a run that goes on, which removes it."""
    with pytest.raises(StoppedError):
        fit(tiny(ByStep), tmp_path, Matches(), progress=stop_at(3))
    fit(tiny(ByStep), tmp_path / "whole", Matches())
    with open(tmp_path / PROGRESS_FILE, "a", encoding="utf-8") as file:
        file.write(half)
    steps, values = read_progress(tmp_path)["value"]
    assert (steps.tolist(), values.tolist()) == ([1, 2, 3], [value_after(step) for step in (1, 2, 3)])
    fit(tiny(ByStep), tmp_path, Matches(), resume=True)
    assert untimed(tmp_path) == untimed(tmp_path / "whole")


@pytest.mark.parametrize(("stop_in", "played"), [(1, 1), (None, 0)])
def test_seconds_are_those_of_learning_and_of_matches_that_were_finished(
    stop_in: int | None, played: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten seconds a match, stopped in the second or after it: its state was saved before it."""
    now = [1000.0]
    monkeypatch.setattr("deepcrib.training.fit.time", SimpleNamespace(perf_counter=lambda: now[0]))

    class Slow(Matches):
        def __call__(self, *match: Any) -> SimpleNamespace:
            now[0] += 10
            return super().__call__(*match)

    with pytest.raises(StoppedError):
        fit(tiny(opponents=("random",)), tmp_path, Slow(stop_in), progress=stop_at(4))
    now[0] += 5000
    later, learner = Slow(), tiny(opponents=("random",))
    fit(learner, tmp_path, later, resume=True)
    assert len(later.calls) == 2 + played and learner.seconds == 40
    assert [row["seconds"] for row in rows_in(tmp_path)] == ["10.0", "20.0", "30.0", "40.0"]
    again = tiny(opponents=("random",))
    fit(again, tmp_path, Matches(0), resume=True)
    assert again.seconds == 40


def test_a_longer_training_has_the_matches_of_one_that_was_as_long_from_the_start(tmp_path: Path) -> None:
    """Those of the last checkpoint of the short one, at 5 games, come in addition."""
    whole, parts = Matches(), Matches()
    fit(tiny(), tmp_path / "whole", whole)
    fit(tiny(games=5), tmp_path / "parts", parts)
    fit(tiny(), tmp_path / "parts", parts, resume=True)
    assert [call for call in parts.calls if call[0] != value_after(5)] == whole.calls


def test_a_state_of_another_learner_is_refused_in_one_line(tmp_path: Path) -> None:
    fit(tiny(every=0), tmp_path, Matches())
    with pytest.raises(CheckpointError, match=r"state\.pt does not fit .*: it is of a TinyLearner") as error:
        fit(tiny(ByStep, every=0), tmp_path, Matches(), resume=True)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "state", [{"learner": "TinyLearner", "state": {}, "steps": 2, "seconds": 0.0}, {"learner": "TinyLearner"}, {}]
)
def test_a_state_that_lacks_something_is_refused_in_one_line(state: dict[str, Any], tmp_path: Path) -> None:
    checkpoints.save_state(tmp_path / "state.pt", state)
    with pytest.raises(CheckpointError, match=r"state\.pt does not fit the options of this run") as error:
        fit(tiny(), tmp_path, Matches(), resume=True)
    assert "\n" not in str(error.value)


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
