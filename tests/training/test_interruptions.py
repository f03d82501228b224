"""A training that is interrupted, stopped or killed ends as a whole one does, its stages included."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from deepcrib.files.weights import CheckpointError
from deepcrib.networks import checkpoints
from deepcrib.training.fit import fit, next_event, restore
from deepcrib.training.learner import Metrics, Setting
from deepcrib.training.progress import PROGRESS_FILE, read_progress
from tests.support.fitting import (
    ByStep,
    Matches,
    StoppedError,
    Writer,
    matches_in,
    rows_in,
    steps_in,
    stop_at,
    tiny,
    untimed,
    weights_in,
)
from tests.support.tiny_learner import TinyLearner, TinyOptions, next_value, value_after, value_in


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
        how = {} if interrupted else {"progress": stop_at(-left, True)}
        fit(tiny(Taught), tmp_path, Matches(), writer=first, **how)
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
        (1, False, 1),
        (2, True, 0),
        (2, False, 2),
        (3, False, 3),
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


def test_the_file_keeps_no_rows_beyond_the_saved_state(tmp_path: Path) -> None:
    """Though no later matches take their place: the games after it are played again."""
    with pytest.raises(StoppedError):
        fit(tiny(ByStep), tmp_path, Matches(), progress=stop_at(4, within=True))
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
