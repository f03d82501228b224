"""Sweeps: runs are found again, skipped, resumed, reported; the same weights by whatever launcher; killed workers."""

import csv
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from rich.console import Console
from safetensors.numpy import load_file

from deepcrib.analysis import sweeps as analysis
from deepcrib.analysis.sweeps import (
    SweptRun,
    error_lines,
    means_over_seeds,
    read_run,
    runs_below,
    sweep_table,
    win_rates,
    write_sweep,
)
from deepcrib.cli import main
from deepcrib.errors import RunError
from deepcrib.files import runs
from deepcrib.files.runs import RunFolder
from deepcrib.jobs import JOBS
from deepcrib.jobs.hydra import sweep_runs, sweeps
from deepcrib.jobs.hydra.schema import parse, register_schema
from deepcrib.jobs.hydra.sweep_runs import held, in_own_process, is_held, run_name
from deepcrib.jobs.hydra.sweeps import Sweep
from deepcrib.networks import checkpoints

ROOT = Path(__file__).resolve().parents[2]
TINY = (
    "train -m experiment=smoke pretraining.enabled=false learner.iterations=3 learner.episodes=16 evaluation.every=0 "
    "evaluation.final_games=20 evaluation.opponents=[random]"
)
LONG = TINY.replace("iterations=3", "iterations=40").replace("episodes=16", "episodes=64")


def sweep(folder: Path, words: str, *, command: str = TINY) -> int:
    return main([*shlex.split(f"{command} {words}"), f"hydra.sweep.dir={folder}"])


def rows(folder: Path) -> dict[str, dict[str, str]]:
    """Lines of sweep.csv by seed."""
    with open(folder / "sweep.csv", encoding="utf-8") as file:
        return {line["seed"]: line for line in csv.DictReader(file)}


def place(folder: Path, seed: int) -> Path:
    return folder / rows(folder)[str(seed)]["folder"]


def same_weights(first: Path, second: Path) -> bool:
    ours, theirs = (load_file(path / "weights.safetensors") for path in (first, second))
    return set(ours) == set(theirs) and all((ours[name] == theirs[name]).all() for name in ours)


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished sweep over two seeds."""
    folder = tmp_path_factory.mktemp("swept") / "sweep"
    assert sweep(folder, "seed=1,2") == 0
    return folder


# --- names ---


def test_a_runs_name_follows_from_its_overrides_alone_and_can_be_typed() -> None:
    name = run_name(["seed=1", "algorithm=sarsa"])
    assert name == run_name(["algorithm=sarsa", "seed=1"]) == "algorithm-sarsa+seed-1"
    lists = [run_name([f"evaluation.opponents={value}"]) for value in ("[a,b]", "[a b]", "'a/b'", "[a,b,c]")]
    assert len(set(lists)) == 4  # different, though the same characters are left of some
    long = [run_name([*(f"some.group.option_{i}=1234567" for i in range(20)), f"seed={n}"]) for n in (1, 2)]
    assert long[0] != long[1] and all(len(word) <= 120 for word in long)
    for word in (name, *lists, *long):
        assert parse([f"agent=outputs/{word}"])[0].value() == f"outputs/{word}"


def test_a_runs_folder_is_named_by_what_varies_in_its_sweep(tmp_path: Path) -> None:
    """And stays when the sweep is extended; two runs with the same varied values have two names."""
    one, other = ["experiment=smoke", "seed=1"], ["experiment=quick", "seed=1"]
    assert run_name(one, ["seed"], tmp_path) == run_name(one, ["seed"], tmp_path / "none") == "seed-1"
    RunFolder(tmp_path / "seed-1", overrides=one).start("seed: 1")
    assert run_name(one, ["seed"], tmp_path) == run_name(one, ["experiment", "seed"], tmp_path) == "seed-1"
    assert run_name(other, ["seed"], tmp_path) == run_name(other, [], tmp_path) == "experiment-quick+seed-1"


# --- a sweep started again ---


def test_a_sweep_leaves_its_results_in_one_place(swept: Path) -> None:
    content = json.loads((swept / "sweep.json").read_text())
    assert [run["state"] for run in content["runs"]] == ["done", "done"]
    for run in content["runs"]:
        summary = json.loads((swept / run["folder"] / "summary.json").read_text())
        line = rows(swept)[run["overrides"]["seed"]]
        assert run["summary"] == summary
        assert float(line["summary.random.win_rate"]) == summary["random"]["win_rate"]
        assert (line["experiment"], line["learner.iterations"], line["error"]) == ("smoke", "3", "")
        assert float(line["seconds"]) == run["seconds"] > 0
    assert [run.state for run in runs_below(swept)] == ["done", "done"]


def test_runs_stand_in_the_order_of_their_values(tmp_path: Path) -> None:
    """Long names end in a hash, so the folders' order says nothing."""
    for name, seed in (("a", 10), ("b", 2), ("c", 1)):
        RunFolder(tmp_path / name, overrides=[f"seed={seed}"]).start(f"seed: {seed}")
    assert [run.overrides for run in runs_below(tmp_path)] == [("seed=1",), ("seed=2",), ("seed=10",)]


@pytest.mark.parametrize("damage", ["", "{", "[]"])
def test_a_summary_that_cannot_be_read_is_none(damage: str, tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.start("seed: 1")
    folder.finish({"random": {"win_rate": 1.0}})
    assert [run.state for run in runs_below(tmp_path)] == ["done"]
    (tmp_path / "summary.json").write_text(damage)
    assert [run.state for run in runs_below(tmp_path)] == ["unfinished"]


@pytest.mark.parametrize(
    "odd", ["[1]", "5", "null", "{", "[" * 100_000, '{"commands": 5, "overrides": 5, "seconds": "x"}']
)
def test_a_sweep_goes_on_over_files_of_another_shape(odd: str, tmp_path: Path) -> None:
    """What they would have said is not known; the run is still accounted for, and can go on."""
    folder = RunFolder(tmp_path / "run")
    folder.start("seed: 1")
    (tmp_path / "run" / "environment.json").write_text(odd)
    folder.resume("seed: 1")
    folder.finish({"random": {"win_rate": 10**400, "ci_low": 0, "ci_high": 1}})
    (tmp_path / "run" / "environment.json").write_text(odd)
    (run,) = runs_below(tmp_path)
    assert (run.state, run.overrides, run.seconds) == ("done", (), None) and not win_rates(run.summary)
    write_sweep(tmp_path, "train", [run])
    (tmp_path / "run" / "summary.json").unlink()
    (tmp_path / "run" / "error.json").write_text('{"error": ["no"], "exit_code": "two"}')
    (run,) = runs_below(tmp_path)
    assert (run.state, run.error, run.exit_code) == ("failed", "['no']", 1)


@pytest.mark.parametrize("text", ["a: [1", "\t- x", "- 1", "", "text", "seed: one"])
def test_damaged_options_are_refused_in_one_line(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    assert main(["train", f"resume={tmp_path}"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"deepcrib: {path} does not hold the options of this job: ") and error.count("\n") == 1
    assert [file.name for file in tmp_path.iterdir()] == ["config.yaml"] and path.read_text() == text


def test_a_file_in_the_sweeps_place_is_left_alone(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("mine")
    assert sweep(tmp_path / "file", "seed=1,2") == 2
    assert capfd.readouterr().err == f"deepcrib: cannot write {tmp_path}/file: File exists\n"
    assert (tmp_path / "file").read_text() == "mine"


def test_done_runs_are_skipped_and_new_ones_added(swept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {seed: contents(place(swept, seed)) for seed in (1, 2)}
    assert sweep(swept, "seed=3,2,1") == 0
    assert before == {seed: contents(place(swept, seed)) for seed in (1, 2)}
    assert {seed: line["state"] for seed, line in rows(swept).items()} == {"1": "skipped", "2": "skipped", "3": "done"}
    printed = capsys.readouterr().out
    assert "run 1 (seed=2): is done, skipped" in printed and "run 0 (seed=3): begins" in printed
    assert sweep(swept, "seed=2") == 0  # the others stay in the account
    assert {seed: line["state"] for seed, line in rows(swept).items()} == {"1": "done", "2": "skipped", "3": "done"}


def test_an_interrupted_sweep_goes_on_to_the_same_weights(
    swept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C after the second of three iterations of the first run."""
    folder, save = tmp_path / "sweep", checkpoints.save_state

    def save_and_stop(path: Path, state: dict[str, Any]) -> None:
        save(path, state)
        if state["steps"] == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(checkpoints, "save_state", save_and_stop)
        assert sweep(folder, "seed=1,2") == 130
    assert {seed: line["state"] for seed, line in rows(folder).items()} == {"1": "unfinished", "2": "not started"}
    steps = []
    monkeypatch.setattr(
        checkpoints, "save_state", lambda path, state: (steps.append(state["steps"]), save(path, state))
    )
    assert sweep(folder, "seed=1,2") == 0
    assert steps == [3, 0, 1, 2, 3]
    assert {seed: line["state"] for seed, line in rows(folder).items()} == {"1": "resumed", "2": "done"}
    assert "run 0 (seed=1): goes on" in capsys.readouterr().out
    assert all(same_weights(place(folder, seed), place(swept, seed)) for seed in (1, 2))


def test_an_interrupted_tournament_of_a_sweep_is_played_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*match: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    command = "tournament -m agents=[greedy,random] games=4"
    with monkeypatch.context() as patch:
        patch.setattr("deepcrib.evaluation.league.tournament.play_match", interrupted)
        assert sweep(tmp_path, "seed=1", command=command) == 130
    assert sweep(tmp_path, "seed=1", command=command) == 0 and (place(tmp_path, 1) / runs.SUMMARY).exists()


def test_a_run_that_died_before_its_first_state_starts_anew(swept: Path, tmp_path: Path) -> None:
    folder = tmp_path / "sweep"
    begun = folder / place(swept, 1).name
    RunFolder(begun, overrides=read_run(place(swept, 1)).overrides).start((place(swept, 1) / "config.yaml").read_text())
    assert sweep(folder, "seed=1") == 0
    assert same_weights(begun, place(swept, 1))


def test_a_run_with_other_options_is_refused_and_left_alone(
    swept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "sweep"
    for seed, games in ((1, 20), (2, 30)):
        name = place(swept, seed).name
        text = (place(swept, seed) / "config.yaml").read_text()
        RunFolder(folder / name).start(text.replace("final_games: 20", f"final_games: {games}"))
    before = contents(folder / place(swept, 2).name)
    assert sweep(folder, "seed=1,2") == 2
    assert "evaluation.final_games=30, not 20" in capsys.readouterr().err
    assert "evaluation.final_games=30, not 20" in rows(folder)["2"]["error"]
    after = contents(place(folder, 2))
    assert {name: after[name] for name in before} == before and set(after) - set(before) == {"refused.json"}
    assert rows(folder)["1"]["state"] == "resumed"


def test_a_subfolder_of_ones_own_resumes_too(tmp_path: Path) -> None:
    """As a sweeper names it that numbers its trials."""
    words = "games=4,6 hydra.sweep.subdir='trial_${games}'"
    for state in ("done", "done"):
        assert sweep(tmp_path, words, command="evaluate -m agent=random opponent=random") == 0
        assert [run["state"] for run in json.loads((tmp_path / "sweep.json").read_text())["runs"]] == [state] * 2
    assert {path.parent.name for path in tmp_path.glob("*/summary.json")} == {"trial_4", "trial_6"}
    assert all("commands" not in runs.read_json(path) for path in tmp_path.glob("*/environment.json"))


def test_sigterm_ends_a_sweep_as_ctrl_c_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def terminated(config: Any, run: Any) -> Any:
        run.start()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(10)

    monkeypatch.setattr("deepcrib.jobs.evaluate.run", terminated)
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        assert sweep(tmp_path, "seed=1,2", command="evaluate -m agent=random opponent=random games=4") == 143
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)
    assert capsys.readouterr().err == "deepcrib: terminated\n"
    assert {seed: line["state"] for seed, line in rows(tmp_path).items()} == {"1": "unfinished", "2": "not started"}


@pytest.mark.skipif(sys.platform == "win32", reason="no locks here")
def test_the_account_waits_for_runs_that_are_being_ended(tmp_path: Path) -> None:
    """Ctrl-C kills joblib's workers, and the runs that are their copies a moment later."""
    run, begun = RunFolder(tmp_path / "run", overrides=["seed=1"]), threading.Event()
    run.start("seed: 1")

    def dying() -> None:
        with held(run.path):
            begun.set()
            time.sleep(0.3)

    thread = threading.Thread(target=dying)
    thread.start()
    assert begun.wait(10)
    sweeps.finish(sweeps.Sweep(tmp_path, {"run": ["seed=1"]}, {}), "train", interrupted=True)
    thread.join()
    assert rows(tmp_path)["1"]["state"] == "unfinished"


# --- failures ---


def test_the_table_is_shown_where_it_cannot_be_saved(
    swept: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*arguments: Any) -> None:
        raise RunError("cannot write sweep.csv: No space left on device")

    monkeypatch.setattr(analysis, "write_sweep", full)
    assert sweep(swept, "seed=1,2") == 2
    printed = capsys.readouterr()
    assert "train: " in printed.out and "skipped" in printed.out
    assert printed.err == "deepcrib: cannot write sweep.csv: No space left on device\n"


def test_a_failing_combination_is_told_and_leaves_the_others_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = "evaluate -m agent=random opponent=random"
    assert sweep(tmp_path, "games=4,0,6", command=command) == 2
    lines = list(csv.DictReader((tmp_path / "sweep.csv").read_text().splitlines()))
    assert [(line["games"], line["state"]) for line in lines] == [("4", "done"), ("0", "failed"), ("6", "done")]
    assert [line["error"] for line in lines] == ["", "games=0: expected 1 or more", ""]
    printed = capsys.readouterr()
    assert "run 1 (games=0): games=0: expected 1 or more" in printed.err
    assert "games=0: expected 1 or more" in printed.out.partition("evaluate: 3 runs")[2]
    (failed,) = tmp_path.glob("*/error.json")
    assert runs.read_json(failed)["exit_code"] == 2
    assert sweep(tmp_path, "games=4,6", command=command) == 0  # what failed earlier is not this call's failure


def test_a_defect_is_told_and_its_error_goes_when_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from deepcrib.jobs import evaluate

    real = evaluate.run

    def broken(config: Any, run: Any) -> Any:
        if config.seed == 2:
            run.start()
            raise ZeroDivisionError("half a game")
        return real(config, run)

    command = "evaluate -m agent=random opponent=random games=4 seed=1,2"
    with monkeypatch.context() as patched:
        patched.setattr(evaluate, "run", broken)
        assert sweep(tmp_path, "", command=command) == 1
    assert rows(tmp_path)["2"]["error"] == "ZeroDivisionError: half a game"
    assert "Traceback" in capsys.readouterr().err
    assert sweep(tmp_path, "", command=command) == 0
    assert not list(tmp_path.glob("*/error.json"))
    assert {seed: line["state"] for seed, line in rows(tmp_path).items()} == {"1": "skipped", "2": "resumed"}


def test_what_cannot_be_composed_ends_a_sweep_before_it_begins(tmp_path: Path) -> None:
    assert sweep(tmp_path, "games=4,some", command="evaluate -m agent=random opponent=random") == 2
    assert not list(tmp_path.rglob("config.yaml"))


@pytest.mark.skipif(not sweep_runs.CAN_FORK, reason="runs share their worker's process here")
def test_a_killed_process_costs_its_own_run_only(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Workers wait for a copy of themselves; the copy's end, however it came, is a run's exit code."""
    folder = RunFolder(tmp_path / "run", overrides=["seed=1"])
    assert in_own_process(lambda: 0, folder, "") == 0
    assert in_own_process(lambda: 2, folder, "") == 2
    assert not folder.path.exists()
    assert in_own_process(lambda: os.kill(os.getpid(), signal.SIGKILL) or 0, folder, "run 7: ") == 1
    assert "run 7: its process was killed by SIGKILL" in capfd.readouterr().err
    (run,) = runs_below(tmp_path)
    assert (run.state, run.error, run.overrides) == ("failed", "its process was killed by SIGKILL", ("seed=1",))


@pytest.mark.skipif(not sweep_runs.CAN_FORK, reason="runs share their worker's process here")
def test_a_killed_parent_takes_its_copies_with_it() -> None:
    reader, writer = os.pipe()
    if (parent := os.fork()) == 0:
        if os.fork() == 0:
            sweep_runs.end_with_parent()
            os.write(writer, b"1")
        time.sleep(60)
        os._exit(0)
    os.close(writer)
    with open(reader, "rb", buffering=0) as pipe:
        assert pipe.read(1) == b"1"
        os.kill(parent, signal.SIGKILL)
        os.waitpid(parent, 0)
        assert pipe.read(1) == b""  # nobody is left to write


def test_two_processes_never_work_on_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        f"from deepcrib.jobs.hydra.sweep_runs import held\nwith held(r'{tmp_path}'):\n  print(1, flush=True); input()"
    )
    monkeypatch.setattr(sweep_runs, "LOCK_PATIENCE", 0.1)
    code = f"from pathlib import Path; {code.replace('held(r', 'held(Path(r').replace('):', ')):')}"
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None and other.stdout.readline() == b"1\n"
        assert is_held(tmp_path)
        with pytest.raises(RunError, match=f"process {other.pid} of .* is at work on it"), held(tmp_path):
            pass
        other.kill()
        other.wait()
    assert not is_held(tmp_path)
    with held(tmp_path):
        assert is_held(tmp_path) is True or sys.platform == "win32"
    assert not list(tmp_path.iterdir())


# --- launchers ---


def launched(folder: Path, words: str, command: str = TINY) -> subprocess.Popen[bytes]:
    """A sweep in a process of its own, where a launcher meets nothing that other tests left."""
    call = [sys.executable, "-m", "deepcrib", *shlex.split(f"{command} {words}"), f"hydra.sweep.dir={folder}"]
    with open(folder.with_suffix(".log"), "wb") as log:
        return subprocess.Popen(call, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("launcher", ["joblib", "submitit_local", "ray"])
def test_every_launcher_comes_to_the_same_weights(launcher: str, swept: Path, tmp_path: Path) -> None:
    pytest.importorskip({"submitit_local": "submitit"}.get(launcher, launcher))
    folder = tmp_path / "sweep"
    more = "hydra.launcher.ray.init.num_cpus=2" if launcher == "ray" else ""
    assert launched(folder, f"seed=1,2 learner.batch_size=128,0 hydra/launcher={launcher} {more}").wait() == 2
    lines = list(csv.DictReader((folder / "sweep.csv").read_text().splitlines()))
    assert [line["state"] for line in lines] == ["done", "failed", "done", "failed"]
    assert {line["error"] for line in lines[1::2]} == {"learner.batch_size=0: expected 1 or more"}
    for line in lines[::2]:
        assert same_weights(folder / line["folder"], place(swept, int(line["seed"])))


def wait_for_states(folder: Path, count: int, process: subprocess.Popen[bytes]) -> list[Path]:
    """Folders of so many runs that have saved a state and are not done."""
    while True:
        found = [path.parent for path in folder.glob("*/state.pt") if not (path.parent / "summary.json").exists()]
        if len(found) >= count:
            return found
        assert process.poll() is None, folder.with_suffix(".log").read_text()
        time.sleep(0.02)


def owner(run: Path) -> int:
    """The process that is at work on a run, as its lock says."""
    return int((run / "run.lock").read_text().split()[1])


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.skipif(not sweep_runs.CAN_FORK, reason="runs share their worker's process here")
@pytest.mark.parametrize("victim", ["run", "worker"])
def test_a_sweep_outlives_what_is_killed(victim: str, tmp_path: Path) -> None:
    """kill -9 of a run's process costs that run; of a joblib worker, what was at work; a restart completes both."""
    pytest.importorskip("joblib")
    folder = tmp_path / "sweep"
    words = "seed=1,2,3 hydra/launcher=joblib hydra.launcher.n_jobs=2"
    process = launched(folder, words, command=LONG)
    first = wait_for_states(folder, 1, process)[0]
    killed = owner(first)
    if victim == "worker":
        killed = int(Path(f"/proc/{killed}/stat").read_text().rpartition(")")[2].split()[1])  # its parent
    os.kill(killed, signal.SIGKILL)
    assert process.wait() == 1
    states = {line["folder"]: line["state"] for line in rows(folder).values()}
    assert len(states) == 3 and states[first.name] == "failed"
    if victim == "run":
        assert sorted(states.values()) == ["done", "done", "failed"]
        assert "SIGKILL" in next(line["error"] for line in rows(folder).values() if line["error"])
    else:
        assert "TerminatedWorkerError" in next(line["error"] for line in rows(folder).values() if line["error"])
    assert not any(is_held(path) for path in folder.iterdir() if path.is_dir())
    assert sweep(folder, "seed=1,2,3", command=LONG) == 0
    assert rows(folder)[first.name.rpartition("seed-")[2][0]]["state"] == "resumed"
    assert sweep(tmp_path / "whole", "seed=1,2,3", command=LONG) == 0
    assert all(same_weights(place(folder, seed), place(tmp_path / "whole", seed)) for seed in (1, 2, 3))


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(not sweep_runs.CAN_FORK, reason="runs share their worker's process here")
def test_a_killed_sweep_leaves_no_process_behind(tmp_path: Path) -> None:
    pytest.importorskip("joblib")
    process = launched(tmp_path / "sweep", "seed=1,2 hydra/launcher=joblib hydra.launcher.n_jobs=2", command=LONG)
    runs_at_work = wait_for_states(tmp_path / "sweep", 2, process)
    workers = [int(Path(f"/proc/{owner(run)}/stat").read_text().rpartition(")")[2].split()[1]) for run in runs_at_work]
    process.kill()
    process.wait()
    end = time.monotonic() + 20
    while any(map(is_alive, workers)) or any(map(is_held, runs_at_work)):
        assert time.monotonic() < end
        time.sleep(0.1)


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(shutil.which("srun") is not None, reason="would submit jobs")
def test_slurm_is_not_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("submitit")
    command = "evaluate -m agent=random opponent=random games=4 hydra/launcher=submitit_slurm"
    assert sweep(tmp_path, "", command=command) == 2
    assert "hydra/launcher=submitit_slurm: expected a machine with Slurm" in capsys.readouterr().err


# --- the table ---


def swept_rows(**options: tuple[str, ...]) -> list[SweptRun]:
    """Runs of all combinations, the last one failed."""
    found = []
    for values in product(*options.values()):
        words = tuple(f"{name.replace('__', '.')}={value}" for name, value in zip(options, values, strict=True))
        rates = {"greedy": {"win_rate": 0.45, "ci_low": 0.431, "ci_high": 0.469}}
        found.append(SweptRun(Path("run"), "done", words, True, seconds=1234.0, summary=rates))
    failed = SweptRun(Path("run"), "failed", found[-1].overrides, True, "it is broken, for a long reason" * 3, 2)
    return [*found[:-1], failed]


FOUR = {
    "algorithm": ("monte_carlo", "sarsa"),
    "learner__play_lr": ("0.001", "1e-05"),
    "play_network__hidden": ("[64,64]", "[256,256]"),
    "seed": ("1", "2"),
}
EIGHT = FOUR | {f"learner__another_long_option_{n}": ("false", "true") for n in range(2)}
EIGHT |= {"play_network__kind": ("a_word", "another_word"), "discard_network__kind": ("a_word", "another_word")}


@pytest.mark.parametrize("options, lines_a_run", [(FOUR, 1), (EIGHT, 9)], ids=["4", "8"])
def test_a_table_of_many_options_can_be_read_at_80_columns(
    options: dict[str, tuple[str, ...]], lines_a_run: int
) -> None:
    """Nothing is cut or goes on in the next line; eight options stand in one column, with a line between runs."""
    console, found = Console(width=80), swept_rows(**options)
    with console.capture() as captured:
        console.print(sweep_table("train", found, console.width))
    text = captured.get()
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80 and "\N{HORIZONTAL ELLIPSIS}" not in text
    assert len(lines) == 6 + lines_a_run * len(found) - (lines_a_run > 1)
    for value in ("monte_carlo", "1e-05", "[256,256]", "failed", "1,234", "45.0% [43.1, 46.9]", "hidden"):
        assert value in text
    assert "learner.play_lr" not in text and ("play_network.kind=a_word" in text or options is FOUR)


def test_means_over_seeds_stand_in_a_table_of_their_own() -> None:
    """Of 0.5 and 0.7 the mean is 0.6, Student's 95% quantile with one degree of freedom 12.706, the error 0.1."""
    found = [
        SweptRun(Path("run"), state, (f"algorithm={name}", f"seed={seed}"), seconds=10.0 * seed, summary=summary)
        for name, seed, rate, state in (("a", 1, 0.5, "done"), ("a", 2, 0.7, "skipped"), ("b", 1, 0.4, "done"))
        for summary in ({"greedy": {"win_rate": rate, "ci_low": 0.1, "ci_high": 0.9, "games": 1000}, "own": 3},)
    ]
    (mean,) = means_over_seeds([*found, SweptRun(Path("run"), "failed", ("algorithm=a", "seed=3"))])
    assert (mean.overrides, mean.state, mean.seconds) == (("algorithm=a",), "2 seeds", 15.0)
    assert mean.summary == {"greedy": {"win_rate": pytest.approx(0.6), "ci_low": 0.0, "ci_high": 1.0}}
    assert means_over_seeds([replace(run, summary=run.summary["greedy"]) for run in found])[0].summary["ci_high"] == 1.0


def test_means_over_seeds_name_opponents_in_the_order_of_the_matches() -> None:
    names = ["greedy", "random", "deterministic", "minimax", "expected_value", "quick", "beginner", "champion"]
    match = {"win_rate": 0.5, "ci_low": 0.1, "ci_high": 0.9, "games": 1000}
    found = [SweptRun(Path("run"), "done", (f"seed={seed}",), summary=dict.fromkeys(names, match)) for seed in (1, 2)]
    assert list(means_over_seeds(found)[0].summary) == names


def test_a_sweep_says_how_far_it_is_whatever_launches_it(tmp_path: Path) -> None:
    """Of four runs one was done before, one is done, one half, after 60 seconds: 1.5 in a minute, 1.5 to do."""
    for name in ("before", "done"):
        (tmp_path / name).mkdir()
        RunFolder(tmp_path / name).finish({"win_rate": 1.0})
    (tmp_path / "half").mkdir()
    log = "[2026-11-20 09:30:00,000][deepcrib][INFO] "
    (tmp_path / "half" / "train.log").write_text(
        f"{log}iterations 0 of 4,000\n{log}iterations 2,000 of 4,000, loss 1\n"
    )
    planned = {name: () for name in ("before", "done", "half", "to come")}
    found = Sweep(tmp_path, planned, {}, done_before=1, began=time.monotonic() - 60)
    assert found.progress() == "2 of 4 runs done, 0:01:00 left"
    assert Sweep(tmp_path, {"to come": ()}, {}).progress() == "0 of 1 runs done"


def test_errors_stand_whole_below_the_table() -> None:
    (line,) = error_lines(swept_rows(seed=("1", "2")))
    assert line == "seed=2: " + "it is broken, for a long reason" * 3


# --- the page ---

PAGE = (ROOT / "docs" / "sweeps.md").read_text(encoding="utf-8")
COMMANDS = [
    line.split("#")[0].strip()
    for block in re.findall(r"^```bash\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)
    for line in block.splitlines()
]


@pytest.mark.parametrize("command", [command for command in COMMANDS if " -m " in command])
@pytest.mark.filterwarnings(r"ignore:\s*'hydra/launcher/")
def test_the_pages_commands_compose(command: str) -> None:
    """With the first of several values: everything that they name exists, launchers' options included."""
    _, job, _, *words = shlex.split(command)
    pytest.importorskip("hydra_plugins.hydra_ray_launcher")
    register_schema(JOBS[job])
    parsed = [(word, parse([word])[0]) for word in words]
    assert any(override.is_sweep_override() for _, override in parsed)
    first = [
        f"{override.get_key_element()}={next(override.sweep_string_iterator())}"
        if override.is_sweep_override()
        else word
        for word, override in parsed
    ]
    with initialize_config_dir(version_base="1.3", config_dir=str(runs.conf_folder())):
        config = compose(job, overrides=first, return_hydra_config=True)
    launcher = next((word.partition("=")[2] for word in words if word.startswith("hydra/launcher=")), "basic")
    assert launcher.split("_")[-1] in config.hydra.launcher._target_.lower()
