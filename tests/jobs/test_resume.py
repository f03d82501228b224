"""Run folders that go on: what they keep of every start, and what is refused before anything is written."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from safetensors.numpy import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.summary.writer import event_file_writer
from tensorboard.summary.writer.record_writer import RecordWriter

import deepcrib
from deepcrib.analysis.report.page import Page
from deepcrib.analysis.report.runs import load_runs
from deepcrib.analysis.sweeps import read_run
from deepcrib.cli import main
from deepcrib.files.runs import RunFolder
from deepcrib.files.weights import CheckpointError, read_weights
from deepcrib.jobs.hydra.schema import parse, quoted
from deepcrib.jobs.hydra.sweep_runs import held
from deepcrib.learners.pretraining import show as pretraining
from deepcrib.learners.replay.learner import ReplayLearner
from deepcrib.networks.checkpoints import load_state
from deepcrib.training.fit import _Training
from deepcrib.training.learner import Learner
from deepcrib.training.progress import read_progress
from tests.support.events import read_events

TINY = (
    *("experiment=smoke", "pretraining.enabled=false", "learner.iterations=2", "learner.episodes=16", "threads=1"),
    *("evaluation.every=0", "evaluation.final_games=20", "evaluation.opponents=[random]"),
)


ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Ctrl-C interrupts, although a suite that a shell started in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of two iterations."""
    folder = tmp_path_factory.mktemp("trained") / "run"
    assert main(["train", *TINY, f"hydra.run.dir={folder}"]) == 0
    return folder


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(trained, tmp_path / "run"))


def run_dir(path: Path) -> str:
    return f"hydra.run.dir={path}"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The one line with which `deepcrib train` refuses these words."""
    assert main(["train", *words]) == 2
    error = capsys.readouterr().err
    assert error.startswith("deepcrib: ") and error.count("\n") == 1
    return error


# --- what is kept -------------------------------------------------------------------------------------------


def test_a_run_that_is_extended_keeps_its_commands_seconds_weights_and_matches(
    run: Path, trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Extended twice: once by a command, once from Python."""
    before = {name: json.loads((trained / f"{name}.json").read_text()) for name in ("environment", "summary")}
    weights = (trained / "weights.safetensors").read_bytes()
    shutil.rmtree(run / "checkpoints")
    assert main(["train", f"resume={run}", "learner.iterations=3"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "finished run" in line]
    assert "of 2 iterations, 32 hands goes on" in line and "checkpoints/iterations_00000002.safetensors" in line
    assert deepcrib.train(f"resume={run}", "learner.iterations=4").folder == run
    assert (run / "checkpoints" / "iterations_00000002.safetensors").read_bytes() == weights
    environment = json.loads((run / "environment.json").read_text())
    told = environment["commands"]
    assert [" ".join(one["command"]) for one in told] == [
        " ".join(before["environment"]["command"]),
        f"deepcrib train resume={run} learner.iterations=3",
        f"deepcrib train resume={run} learner.iterations=4",
    ]
    assert environment["time"] == told[0]["time"] == before["environment"]["time"] <= told[1]["time"]
    assert told[0]["seconds"] == before["environment"]["seconds"]
    assert environment["seconds"] == pytest.approx(sum(one["seconds"] for one in told)) == read_run(run).seconds
    assert told[0]["summary"] == before["summary"] and "summary" not in told[2]
    page = Page("links")
    assert page.command(load_runs([str(run)]).commands) == "c1, c2, c3"
    assert list(page.commands)[1:] == [" ".join(one["command"]) for one in told[1:]]


def test_another_machine_or_commit_is_recorded_with_its_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And a killed process worked until it last wrote something."""
    folder = RunFolder(tmp_path)
    monkeypatch.setattr("deepcrib.files.runs._git", lambda *words: "one")
    folder.start("seed: 1")
    started = json.loads((tmp_path / "environment.json").read_text())
    (tmp_path / "progress.csv").write_text("step,seconds\n")
    begun = os.stat(tmp_path / "environment.json").st_mtime
    os.utime(tmp_path / "progress.csv", (begun + 100, begun + 100))
    monkeypatch.setattr("deepcrib.files.runs._git", lambda *words: "two")
    folder.resume("seed: 1")
    folder.finish({"a": 1})
    found = json.loads((tmp_path / "environment.json").read_text())
    assert {name: found[name] for name in started} == started and found["commit"] == "one"
    first, second = found["commands"]
    assert 99 <= first["seconds"] <= 102 and set(first) == {"time", "command", "seconds"}
    assert second["commit"] == "two" and "versions" not in second


def test_a_finished_run_is_left_as_it_is(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(run)
    for call in (lambda: main(["train", f"resume={run}"]), lambda: deepcrib.train(f"resume={run}").folder):
        assert call() in (0, run)
        out = capsys.readouterr().out
        assert "is finished" in out and out.count("\n") == 1
    assert contents(run) == before


def test_what_a_killed_run_left_is_removed(run: Path) -> None:
    for left in (".state.pt.123.tmp", "checkpoints/.iterations_00000002.safetensors.123.tmp", "run.lock"):
        (run / left).write_text("half")
    assert main(["train", f"resume={run}", "learner.iterations=3"]) == 0
    assert not [path for path in run.rglob("*") if path.name.endswith((".tmp", ".lock"))]


# --- what goes on ---------------------------------------------------------------------------------------------


def test_resume_continues_in_the_same_folder_and_purges_events(tmp_path: Path) -> None:
    folder = tmp_path / "a run, with=odd 'name"
    quoted = str(folder).replace("'", "\\'")
    assert main(["train", *TINY, "seed=5", f"hydra.run.dir='{quoted}'"]) == 0
    assert main(["train", f"resume={folder}", "learner.iterations=4"]) == 0
    config = yaml.safe_load((folder / "config.yaml").read_text())
    assert (config["learner"]["iterations"], config["learner"]["episodes"], config["seed"]) == (4, 16, 5)
    assert config["resume"] is None
    first, second = json.loads((folder / "environment.json").read_text())["commands"]
    assert first["command"] == ["deepcrib train", *TINY, "seed=5", f"hydra.run.dir='{quoted}'"]
    assert second["command"] == ["deepcrib train", f"resume={folder}", "learner.iterations=4"]
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0}).Reload()
    steps = sorted(event.step for event in events.Scalars("loss/play"))  # files of one second come by their names
    assert steps == [1, 2, 3, 4]


def test_a_run_killed_with_signal_9_resumes_to_the_same_weights(tmp_path: Path) -> None:
    """One process is killed once it has saved a state; what it did after that is done again."""
    options = [*TINY, "learner.iterations=30", "learner.checkpoint_every=3", "learner.episodes=64"]
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    command = [sys.executable, "-m", "deepcrib", "train", *options, run_dir(killed)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 300
    while not (killed / "state.pt").exists():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (killed / "summary.json").exists(), "the run was over before it could be killed"
    time.sleep(1.1)  # event files are read in the order of the seconds in their names
    assert main(["train", f"resume={killed}"]) == 0
    assert main(["train", *options, run_dir(whole)]) == 0
    weights = [load_file(folder / "weights.safetensors") for folder in (killed, whole)]
    assert set(weights[0]) == set(weights[1])
    assert all((weights[0][name] == weights[1][name]).all() for name in weights[0])
    first, second = (json.loads((folder / "summary.json").read_text())["random"] for folder in (killed, whole))
    assert first | {"seconds": 0} == second | {"seconds": 0}
    events = EventAccumulator(str(killed), size_guidance={"scalars": 0}).Reload()
    assert [event.step for event in events.Scalars("loss/play")] == list(range(1, 31))
    rows, expected = read_progress(killed), read_progress(whole)
    assert list(rows) == list(expected) and rows["loss/play"][0].tolist() == list(range(1, 31))
    for tag in [tag for tag in rows if tag != "seconds" and not tag.startswith("speed/")]:
        assert [found.tolist() for found in rows[tag]] == [found.tolist() for found in expected[tag]]


def test_a_run_killed_before_its_first_state_starts_again(tmp_path: Path, trained: Path) -> None:
    folder = tmp_path / "run"
    RunFolder(folder).start((trained / "config.yaml").read_text())
    assert main(["train", f"resume={folder}"]) == 0
    ours, theirs = (load_file(path / "weights.safetensors") for path in (folder, trained))
    assert all((ours[name] == theirs[name]).all() for name in theirs)


def test_an_unfinished_run_is_not_started_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    RunFolder(tmp_path / "run").start("seed: 1\n")
    assert main(["train", *TINY, run_dir(tmp_path / "run")]) == 2
    assert "resume=" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("algorithm=sarsa", "algorithm=sarsa: with resume only plain values"),
        ("experiment=quick", "experiment=quick: with resume only plain values"),
        ("learner={iterations:3}", "with resume only plain values"),
        ("hydra.run.dir=elsewhere", "goes on in its own folder"),
        ("+learner.lrr=1", "unknown option learner.lrr"),
        ("learner.iterations=abc", "learner.iterations=abc: expected a whole number"),
        ("learner.iterations=0", "learner.iterations=0: expected 1 or more"),
        ("play_network.hidden=[9]", "does not fit the options of this run"),
        ("learner.discard_agent=greedy", "one has a discard network, the other a discard agent"),
        ("learner.games=9", "unknown option learner.games"),
        ("learner=weighted", "learner=weighted: with resume only plain values"),
        ("learner.name=weighted", "learner.name=weighted: expected replay"),
        ("--cfg job", "without --cfg"),
        ("seed=1,2 -m", "one run at a time"),
        ("seed=1,2", "one value each"),
    ],
)
def test_resume_takes_plain_values_only(
    more: str, expected: str, trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path.name: path.read_bytes() for path in trained.iterdir() if path.is_file()}
    assert expected in refused(capsys, f"resume={trained}", *more.split())
    assert before == {path.name: path.read_bytes() for path in trained.iterdir() if path.is_file()}


def test_resume_needs_a_run_of_this_job(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "expected the folder of an earlier run" in refused(capsys, f"resume={tmp_path}/nothing")
    RunFolder(tmp_path / "other").start("games: 100\n")
    assert "does not hold the options of this job" in refused(capsys, f"resume={tmp_path}/other")


# --- what is refused ----------------------------------------------------------------------------------------


def without_state(run: Path) -> None:
    (run / "state.pt").unlink()


def dangling_state(run: Path) -> None:
    (run / "state.pt").unlink()
    (run / "state.pt").symlink_to("nowhere")


def linked_lock(run: Path) -> None:
    (run / "run.lock").symlink_to(run / "elsewhere")


@pytest.mark.parametrize(
    ("spoil", "words", "expected"),
    [
        (without_state, "learner.iterations=3", "state.pt: not there: .* newest weights are .*iterations_00000002"),
        (dangling_state, "learner.iterations=3", "state.pt: not there"),
        (None, "learner.iterations=3 seed=2", "it is of seed=1, not 2"),
        (None, "learner.iterations=1", "2 iterations are done, and 1 asked for"),
        (None, "learner.play_lr=fast", "learner.play_lr=fast: expected a number"),
        (None, "evaluation.opponents=5", "evaluation.opponents=5: expected a list"),
        (linked_lock, "learner.iterations=3", "cannot write .*run.lock"),
    ],
)
def test_what_cannot_go_on_is_refused(
    spoil: Callable[[Path], None] | None, words: str, expected: str, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if spoil is not None:
        spoil(run)
    before = contents(run)
    line = refused(capsys, f"resume={run}", *words.split())
    assert re.search(expected, line)
    assert contents(run) == before


@pytest.mark.parametrize("word", ["resume=", "resume=''", "++resume="])
def test_an_empty_name_is_no_run(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As a shell makes of a variable that is not set: no training of an hour begins."""
    assert "resume=: expected the folder of an earlier run" in refused(capsys, word)


def test_a_run_under_way_is_not_resumed_twice(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deepcrib.jobs.hydra.sweep_runs.LOCK_PATIENCE", 0.0)
    with held(run):
        before = contents(run)
        assert f"process {os.getpid()} of" in refused(capsys, f"resume={run}", "learner.iterations=3")
        assert contents(run) == before


@pytest.mark.parametrize("name", [r"a\b", "a\\", r"a\'b", r"\\a\\", "a'b", "'", "a b, c=d"])
def test_names_are_read_as_they_are(name: str) -> None:
    (override,) = parse([f"hydra.run.dir={quoted(name)}"])
    assert override.value() == name


@pytest.mark.parametrize("name", ["weights.safetensors", "state.pt", "checkpoints", "report.md", "crib_table.csv"])
def test_files_of_no_run_are_not_written_over(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / name).write_text("mine")
    for job in ("train experiment=smoke", "evaluate agent=random opponent=random games=2"):
        assert main([*job.split(), f"hydra.run.dir={tmp_path}"]) == 2
        assert f"run folder {tmp_path} holds {name}" in capsys.readouterr().err
    assert contents(tmp_path) == {name: b"mine"}


def test_a_table_of_no_sweep_is_not_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sweep.csv").write_text("mine")
    words = "evaluate -m agent=random opponent=random games=2,4"
    assert main([*words.split(), f"hydra.sweep.dir={tmp_path}"]) == 2
    assert "sweep.csv is of no sweep" in capsys.readouterr().err and (tmp_path / "sweep.csv").read_text() == "mine"
    (tmp_path / "sweep.csv").unlink()
    for _ in range(2):
        assert main([*words.split(), f"hydra.sweep.dir={tmp_path}"]) == 0


# --- damage -------------------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """Nested values with tensors and arrays as bytes, which can be compared."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return (str(value.dtype), np.asarray(value).tobytes()) if hasattr(value, "dtype") else value


@pytest.mark.parametrize(
    ("name", "load"),
    [("state.pt", load_state), ("weights.safetensors", lambda path: vars(read_weights(path)) | {"path": ""})],
)
def test_a_flipped_bit_is_noticed_or_does_no_harm(
    name: str, load: Callable[[Path], Any], trained: Path, tmp_path: Path
) -> None:
    whole, expected = (trained / name).read_bytes(), plain(load(trained / name))
    refusals, bits = 0, random.Random(1).sample(range(8 * len(whole)), 200)
    for bit in bits:
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        (tmp_path / name).write_bytes(damaged)
        try:
            assert plain(load(tmp_path / name)) == expected
        except CheckpointError as error:
            refusals += 1
            assert f"{tmp_path / name}" in str(error) and "\n" not in str(error)
    assert refusals > 150


def test_a_damaged_state_is_refused_with_what_there_is_instead(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = bytearray((run / "state.pt").read_bytes())
    state[len(state) // 2] ^= 1
    (run / "state.pt").write_bytes(state)
    before = contents(run)
    line = refused(capsys, f"resume={run}", "learner.iterations=3")
    assert f"{run}/state.pt is damaged" in line
    assert f"its newest weights are {run}/checkpoints/iterations_00000002.safetensors" in line
    assert contents(run) == before


# --- pretraining --------------------------------------------------------------------------------------------


def interrupt_after(stops: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C within so many minibatches and passes of pretraining, counted over all processes."""
    tick, count = _Training._tick, iter(range(1, 100))

    def interrupting(training: _Training, learner: Learner, steps: int) -> None:
        if learner is not training.learner and next(count) in stops:
            signal.raise_signal(signal.SIGINT)
        tick(training, learner, steps)

    monkeypatch.setattr(_Training, "_tick", interrupting)


@pytest.mark.parametrize(
    ("optimizer", "every", "stops"), [("adam", 1, (2, 4, 7, 9)), ("adam", 3, (2, 4, 7, 9)), ("sgd", 1, (2,))]
)
def test_pretraining_that_is_interrupted_again_and_again_ends_as_if_it_were_not(
    optimizer: str,
    every: int,
    stops: tuple[int, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Ctrl-C within an epoch, at the end of one, and between the teacher's passes; four minibatches an epoch."""
    some = pretraining.all_hands()[::10]
    monkeypatch.setattr(pretraining, "all_hands", lambda: some)
    monkeypatch.setattr(pretraining, "REPORT_EVERY", every)
    # files of one second are read by their names, which end in a number of as many digits for all of them
    monkeypatch.setattr(event_file_writer, "_global_uid", event_file_writer.AtomicCounter(1000))
    words = [
        *("train", *TINY, "pretraining.enabled=true", "pretraining.epochs=2", "pretraining.batch_size=8192"),
        *("pretraining.teacher=greedy", "pretraining.teacher_episodes=20", f"pretraining.optimizer={optimizer}"),
    ]
    assert main([*words, f"hydra.run.dir={tmp_path}/whole"]) == 0
    interrupt_after(stops, monkeypatch)  # of eight minibatches, then passes
    codes = [main([*words, f"hydra.run.dir={tmp_path}/parts"])]
    while codes[-1] == 130:
        assert f"deepcrib train resume={tmp_path}/parts goes on" in capsys.readouterr().err
        codes.append(main(["train", f"resume={tmp_path}/parts"]))
    assert codes == [130] * len(stops) + [0]
    whole, parts = (plain(vars(read_weights(tmp_path / name)) | {"path": ""}) for name in ("whole", "parts"))
    assert whole == parts
    curves = [
        {tag: sorted(zip(*curve, strict=True)) for tag, curve in read_events(tmp_path / name).items()}
        for name in ("whole", "parts")  # files of one second come by their names
    ]
    early = [{t: c for t, c in found.items() if t.startswith(("pretraining/", "teacher/"))} for found in curves]
    steps = {tag: [step for step, _ in curve] for tag, curve in early[0].items()}
    assert early[0] == early[1] and steps["pretraining/loss"] == ([-8, -5, -3] if every == 3 else list(range(-10, -2)))
    assert steps["teacher/play_loss"] == [-2, -1] and steps["pretraining/mean_absolute_error"] == [-3]
    assert len(json.loads((tmp_path / "parts" / "environment.json").read_text())["commands"]) == len(codes)


def test_an_interrupted_pretraining_keeps_its_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    some = pretraining.all_hands()[::10]
    monkeypatch.setattr(pretraining, "all_hands", lambda: some)
    interrupt_after((1,), monkeypatch)
    words = ["pretraining.enabled=true", "pretraining.batch_size=8192", f"hydra.run.dir={tmp_path}"]
    assert main(["train", *TINY, *words]) == 130
    capsys.readouterr()
    before = contents(tmp_path)
    for word, expected in (
        ("optimizer=sgd", "expected {'pretraining.optimizer': 'sgd'}"),
        ("enabled=false", "what comes before its first step is not done: expected the same options"),
        ("teacher=greedy", "it is of a ShowPretraining"),
    ):
        line = refused(capsys, f"resume={tmp_path}", f"pretraining.{word}")
        assert expected in line and contents(tmp_path) == before


def test_a_second_interrupt_says_what_was_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    step = ReplayLearner.step

    def twice(learner: ReplayLearner) -> Any:
        found = step(learner)
        for _ in range(2):
            signal.raise_signal(signal.SIGINT)
        return found

    monkeypatch.setattr(ReplayLearner, "step", twice)
    assert main(["train", *TINY, "learner.checkpoint_every=2", f"hydra.run.dir={tmp_path}"]) == 130
    assert "goes on after 0 iterations, 0 hands" in capsys.readouterr().err


# --- what a run says ----------------------------------------------------------------------------------------


def test_the_log_holds_what_was_said_from_the_first_start_on(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["train", f"resume={run}", "learner.iterations=3"]) == 0
    said = [line for line in capsys.readouterr().out.splitlines() if line]
    log = (run / "train.log").read_text()
    assert len(said) > 8 and all(line.rstrip() in log for line in said)
    assert "trained agent (2 iterations" in log and "trained agent (3 iterations" in log


def test_a_disk_that_fills_under_tensorboard_ends_a_run_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write, records = RecordWriter.write, iter(range(1000))

    def full(writer: RecordWriter, data: bytes) -> None:
        if next(records) > 20:
            raise OSError(28, "No space left on device")
        write(writer, data)

    monkeypatch.setattr(RecordWriter, "write", full)
    assert "No space left on device" in refused(capsys, *TINY, f"hydra.run.dir={tmp_path}/run")
    monkeypatch.undo()
    assert main(["train", f"resume={tmp_path}/run"]) == 0
