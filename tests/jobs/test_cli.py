"""The command line: what each command leaves behind, and one clear line for every wrong call."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import is_dataclass
from pathlib import Path
from typing import get_type_hints

import pytest
import yaml
from safetensors.numpy import load_file, save_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from deepcrib import __version__
from deepcrib.cli import main
from deepcrib.files import runs, write_atomic
from deepcrib.files.runs import RunError
from deepcrib.jobs import JOBS
from deepcrib.jobs.hydra.schema import register_schema, variants_of

TINY = (
    "experiment=smoke pretraining.enabled=false learner.iterations=2 learner.episodes=16 evaluation.every=0 "
    "evaluation.final_games=20 evaluation.opponents=[random]"
)
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Runs of these tests go below the test's own folder, where they are named by date and time."""
    folder = tmp_path / "outputs"
    monkeypatch.setattr(runs, "outputs_folder", lambda: folder)
    return folder


def call(command: str, *more: str) -> int:
    return main([*shlex.split(command), *more])


def run_dir(path: Path) -> str:
    return f"hydra.run.dir={path}"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished tiny run."""
    folder = tmp_path_factory.mktemp("trained") / "run"
    assert call(f"train {TINY}", run_dir(folder)) == 0
    return folder


# --- what a command prints ---


def test_help_lists_every_job_and_imports_no_torch() -> None:
    code = "import sys; from deepcrib.cli import main; main(['--help']); sys.exit('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    for job in JOBS.values():
        assert job.summary in done.stdout
    assert "deepcrib train experiment=quick" in done.stdout


@pytest.mark.parametrize("job", sorted(JOBS))
def test_a_jobs_help_names_its_groups_options_and_examples(job: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(f"{job} --help") == 0
    text = capsys.readouterr().out
    assert ("seed=" in text) == (job not in ("report", "publish"))  # which leave nothing to chance
    assert "hydra.run.dir=FOLDER" in text
    assert all(example in text for example in JOBS[job].examples)
    if job == "train":
        for line in ("algorithm ", "expected_sarsa, monte_carlo, q_learning, sarsa", "learner.iterations=500"):
            assert line in text
        assert "deepcrib help train learner=weighted" in text and "learner.scaling=2" not in text
        assert "games or hands of self-play per iteration (N of the 2019 paper)" in text  # the help in the schema
        assert "evaluation.opponents=[deterministic]" in text


def test_help_of_another_choice_and_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("help train learner=weighted") == 0
    text = capsys.readouterr().out.partition("Options  (")[2]
    assert "learner.scaling=2.0" in text and "learner.iterations" not in text
    assert "does not read algorithm, discard_network" in text and "play_network.hidden" not in text
    assert call("train experiment=smoke --help") == 0
    smoke = yaml.safe_load((ROOT / "conf/experiment/smoke.yaml").read_text())
    assert f"learner.iterations={smoke['learner']['iterations']}" in capsys.readouterr().out
    assert call("help train experiment=smok") == 2
    assert "did you mean smoke?" in capsys.readouterr().err


@pytest.mark.parametrize("job", sorted(JOBS))
def test_every_option_has_a_help(job: str) -> None:
    schema = register_schema(JOBS[job])
    kinds = [schema, *(kind for found in variants_of(schema).values() for kind in found.values())]
    while kinds:
        kind = kinds.pop()
        for name, of in get_type_hints(kind).items():
            field = kind.__dataclass_fields__[name]
            if is_dataclass(of):
                kinds.append(of)
            else:
                assert field.metadata.get("help"), f"{kind.__name__}.{name}"


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--version") == 0
    assert capsys.readouterr().out == f"deepcrib {__version__}\n"


def test_cfg_prints_the_options_and_runs_nothing(outputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("evaluate agent=random games=7 --cfg job") == 0
    shown = yaml.safe_load(capsys.readouterr().out)
    assert (shown["agent"], shown["games"], shown["rules"]) == ("random", 7, {"name": "acc"})
    assert not outputs.exists()


# --- what a command leaves behind ---


def test_evaluate_prints_its_table_and_saves_summary_config_and_environment(
    outputs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("evaluate agent=greedy opponent=random games=200 seed=3 duplicate=true rules=random_dealer") == 0
    (folder,) = outputs.glob("evaluate/*/*")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d/\d\d-\d\d-\d\d", folder.relative_to(outputs / "evaluate").as_posix())
    names = {path.name for path in folder.iterdir()}
    assert names == {"config.yaml", "environment.json", "evaluate.log", "summary.json"}
    summary = json.loads((folder / "summary.json").read_text())
    keys = {"games", "wins", "win_rate", "ci_low", "ci_high", "points_per_hand", "hands_per_game", "seconds"}
    assert keys <= set(summary)
    assert summary["games"] == 200 and summary["win_rate"] == summary["wins"] / 200
    assert summary["ci_low"] < summary["win_rate"] < summary["ci_high"]
    config = yaml.safe_load((folder / "config.yaml").read_text())
    assert (config["duplicate"], config["rules"]["name"]) == (True, "random_dealer")
    environment = json.loads((folder / "environment.json").read_text())
    assert {"commit", "versions", "machine", "command", "time"} <= set(environment)
    assert environment["versions"]["deepcrib"] == __version__
    text = capsys.readouterr().out
    assert "greedy against random: 200 games, seed 3" in text
    assert f"{100 * summary['win_rate']:.1f}% [" in text


@pytest.mark.parametrize(
    "agent", ["agent=random", "agent={name: random}", "agent={name:random}", "++agent={name: random}"]
)
def test_agents_by_name_and_by_mapping(agent: str, tmp_path: Path) -> None:
    assert main(["evaluate", agent, "opponent=random", "games=4", run_dir(tmp_path / "run")]) == 0


def test_runs_started_in_the_same_second_get_folders_of_their_own(outputs: Path) -> None:
    folders = [runs.new_folder("evaluate") for _ in range(3)]
    assert len(set(folders)) == 3
    assert all(folder.is_dir() and folder.parent.parent == outputs / "evaluate" for folder in folders)


def test_a_failed_call_leaves_no_folder(outputs: Path) -> None:
    assert call("evaluate agent=gredy") == 2
    assert not list(outputs.glob("evaluate/*/*"))


def test_a_finished_run_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = "evaluate agent=random opponent=random games=4"
    assert call(command, run_dir(tmp_path / "run")) == 0
    before = (tmp_path / "run" / "summary.json").read_bytes()
    capsys.readouterr()
    assert call(f"{command} seed=9", run_dir(tmp_path / "run")) == 2
    assert "already holds a finished run" in one_line(capsys)
    assert (tmp_path / "run" / "summary.json").read_bytes() == before


def test_files_are_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "summary.json"
    write_atomic(path, "old")

    def broken(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", broken)
    with pytest.raises(RunError, match="No space left"):
        write_atomic(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


# --- training ---


def test_train_leaves_a_run_that_evaluate_can_use(trained: Path, tmp_path: Path) -> None:
    names = {path.name for path in trained.iterdir()}
    assert {"config.yaml", "environment.json", "summary.json", "weights.safetensors"} <= names
    summary = json.loads((trained / "summary.json").read_text())
    assert set(summary) == {"random"}
    assert {"win_rate", "ci_low", "ci_high", "games"} <= set(summary["random"])
    assert summary["random"]["games"] == 20
    for agent in (trained, trained / "weights.safetensors"):
        folder = tmp_path / agent.name
        assert main(["evaluate", f"agent={agent}", "opponent=random", "games=4", run_dir(folder)]) == 0


def test_train_writes_events_and_hyperparameters(trained: Path) -> None:
    events = EventAccumulator(str(trained), size_guidance={"scalars": 0}).Reload()
    tags = events.Tags()["scalars"]
    assert {"loss/play", "loss/discard", "schedule/epsilon"} <= set(tags)
    assert [event.step for event in events.Scalars("loss/play")] == [1, 2]


def test_training_works_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no core dependency: the figure of pretraining is left out."""
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    short = "pretraining.enabled=true pretraining.epochs=1 pretraining.batch_size=8192"
    assert call(f"train {TINY} {short}", run_dir(tmp_path / "run")) == 0


def test_learning_that_diverges_ends_with_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wild = "learner.play_lr=1e30 learner.iterations=20"
    assert call(f"train {TINY} {wild}", run_dir(tmp_path / "run")) == 2
    assert "learning diverged" in one_line(capsys)


# --- wrong calls ---


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line on stderr; fails when there are more, or a traceback."""
    text = capsys.readouterr().err
    lines = text.splitlines()
    assert len(lines) == 1, text
    assert lines[0].startswith("deepcrib: ")
    assert "Traceback" not in text
    return lines[0]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("trian", "unknown job trian: did you mean train?"),
        ("train learner.lrr=1", "unknown option learner.lrr"),
        ("train lerner.epsilon=1", "unknown option lerner: did you mean learner?"),
        (
            "train expriment=smoke",
            "unknown option expriment: did you mean experiment? expected one of experiment, seed",
        ),
        ("train learner.epsilon.x=1", "learner.epsilon={}: expected a number"),
        ("train +x=1", "unknown option x"),
        ("train +learner.lrr=1", "unknown option learner.lrr"),
        ("train ~seed", "cannot be removed"),
        ("train learner.iterations=many", "learner.iterations=many: expected a whole number"),
        ("train pretraining.enabled=7up", "pretraining.enabled=7up: expected true or false"),
        ("train seed=1.5", "seed=1.5: expected a whole number"),
        ("train seed=-1", "seed=-1: expected"),
        ("train seed=null", "seed=null: expected a whole number"),
        ("train discard_network.hidden=64", "discard_network.hidden=64: expected a list"),
        ("train learner.epsilon=2", "learner.epsilon=2.0: expected 0 to 1"),
        ("train learner.play_lr=0", "learner.play_lr=0.0: expected a number above 0"),
        ("train learner.unit=days", "learner.unit=days: expected one of games, hands"),
        ("train learner.buffer_size=1000", "expected both, or neither"),
        ("train state.play=tiny", "state.play=tiny: expected one of basic, full, afterstate"),
        ("train device=abacus", "device=abacus: expected"),
        ("train threads=-1", "threads=-1: expected 0 or more"),
        ("train algorithm=dqn", "algorithm=dqn: expected one of expected_sarsa, monte_carlo, q_learning, sarsa"),
        ("train algorithm.name=dqn", "algorithm.name=dqn: expected one of"),
        ("train experiment=nothing", "experiment=nothing: expected a name of deepcrib help experiments"),
        ("train rules=null", "rules=null: expected one of acc, random_dealer"),
        ("train algorithm=sarsa,monte_carlo", "algorithm=sarsa,monte_carlo' 1. To use it as a list"),
        ("train -m algorithm=sarsa,dqn", "algorithm=dqn: expected one of"),
        ("train learner=dqn", "learner=dqn: expected one of evolution, hill_climb"),
        ("train ~learner", "expected one of replay, weighted"),
        ("train learner.name=weighted", "learner.name=weighted: expected replay"),
        ("train learner.games=9", "unknown option learner.games: "),
        ("train -m learner=replay,weighted learner.games=9", "unknown option learner.games: "),
        ("train learner=weighted learner.play_lr=0.1", "unknown option learner.play_lr: "),
        ("train learner=weighted learner.gamez=9", "unknown option learner.gamez: did you mean learner.games?"),
        ("train learner=weighted learner.cap=0", "learner.cap=0.0: expected more than 0, at most 1"),
        ("train learner=weighted 'learner.strategies=[crib_min_avg,crib_min_avg]'", "expected nothing twice"),
        ("train learner=weighted algorithm=sarsa", "algorithm=sarsa: learner=weighted does not read it"),
        ("train learner=weighted state.scores=true", "state.scores=true: learner=weighted does not read it"),
        ("train learner=weighted evaluation.epsilon=0.1", "evaluation.epsilon=0.1: learner=weighted does not read it"),
        ("train experiment=lang2018/round_1 learner=replay", "experiment/lang2018/base': unknown option learner.games"),
        ("train sarsa", "train: cannot read 'sarsa'"),
        ("train --fast", "unrecognized arguments: --fast: options are written as fast=VALUE"),
        ("train quik", "cannot read 'quik': did you mean experiment=quick? expected options"),
        ("train evaluation.opponents=[nobody]", "unknown agent 'nobody'"),
        ("evaluate", "option agent is missing"),
        ("evaluate agent=greedy hands=9", "hands=9: only for play, audit and exploit=learned"),
        ("evaluate pairs agent=greedy hands=9", "hands=9: only for games and play and audit, not for pairs"),
        ("evaluate agent=greedy deals=10", "deals=10: only for exploit=true"),
        ("evaluate agent=greedy exploit=discards", "exploit=discards: expected one of false, true, play, learned"),
        ("evaluate play agent=greedy games=9", "games=9: only for games, not for play"),
        ("evaluate pairs agent=greedy until=significant", "until=significant: only for games, not for pairs"),
        ("evaluate agent=greedy games=15 games_per_match=10", "expected a multiple of 10"),
        ("evaluate agent=greedy games=30 games_per_match=10 duplicate=true", "expected a multiple of 20"),
        ("evaluate agent=greedy games_per_match=0", "games_per_match=0: expected"),
        ("evaluate agent=greedy games=20 games_per_match=2 until=significant", "games_per_match=2: until stops after"),
        (
            "tournament agents=[greedy,random] games_per_match=2",
            "games_per_match=2: only for league, not for round_robin",
        ),
        ("evaluate audit agent=greedy opponent=minimax", "no best response to minimax"),
        ("evaluate audit agent=greedy opponent=greedy hands=1", "hands=1: expected 2 or more"),
        ("evaluate audit agent=greedy opponent=greedy worst=-1", "worst=-1: expected 0 or more"),
        ("evaluate agent=minimax games=2 exploit=true", "no best response to minimax"),
        ("evaluate agent=greedy games=2 exploit=true deals=3", "deals=3: expected an even number, 4 or more"),
        ("evaluate agent=greedy games=2 exploit=learned deals=3", "deals=3: expected an even number, 4 or more"),
        ("evaluate agent=greedy games=2 exploit=learned hands=9", "hands=9: expected 64 or more for a responder"),
        ("evaluate exploit=learned", "option agent is missing"),
        ("evaluate play agent=greedy exploit=learned", "exploit=learned: only for games, not for play"),
        ("tournament league agents=[greedy,random] 'hands_of={minimax: 640}'", "hands_of.minimax: no such agent plays"),
        (
            "tournament league agents=[greedy,random] 'hands_of={greedy: 9}'",
            "hands_of.greedy=9: expected an even number",
        ),
        ("tournament agents=[greedy,random] 'hands_of={greedy: 640}'", "only for league, not for round_robin"),
        ("tournament agents=[greedy,random] deals=10", "deals=10: only for league, not for round_robin"),
        ("tournament league agents=[greedy,random] games=2", "games=2: expected at least 4 in a pairing"),
        ("evaluate 'agent={name: random, speed: 3}'", "has no option 'speed'"),
        ("evaluate agent=random games=0", "games=0: expected 1 or more"),
        ("evaluate agent=random games=7 duplicate=true", "games=7: duplicate deals are played in pairs"),
        ("evaluate 'agent=a(b'", "cannot be read"),
        ("evaluate agent=random 'games=${nothing}'", "games: Interpolation key 'nothing' not found"),
        ("evaluate agent=random =3", "=3: expected name=value"),
        ("evaluate agent=greedy device=abacus", "device=abacus: expected"),
        ("evaluate agent=random hydra.nothing=1", "unknown option hydra.nothing"),
        ("evaluate agent=random hydra/launcher=rocket", "hydra/launcher=rocket: expected one of basic"),
        ("evaluate agent=random --config-dir /no/such/folder", "/no/such/folder"),
        ("train state=afterstate", "needs the state"),
        ("train experiment=quick play_network=belanger2019_cnn_lstm", "belanger2019_cnn_lstm needs the state"),
        ("report humns", "report: cannot read 'humns': expected one of the tasks runs, humans, review"),
        ("analyse", "option hand is missing: expected six cards"),
        ("analyse thesis runs=runs", "unknown option runs"),
    ],
)
def test_a_wrong_call_ends_with_one_line_and_code_2(
    command: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(command) == 2
    assert expected in one_line(capsys)


@pytest.mark.parametrize("damage", ["missing", "missing in folder", "truncated", "foreign file", "foreign tensors"])
def test_checkpoints_that_cannot_be_read(
    damage: str, trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "weights.safetensors"
    if damage == "truncated":
        path.write_bytes((trained / "weights.safetensors").read_bytes()[:-100])
    elif damage == "foreign file":
        path.write_text("no weights")
    elif damage == "foreign tensors":
        save_file({"layer": load_file(trained / "weights.safetensors").popitem()[1]}, path)
    agent = tmp_path if damage == "missing in folder" else path
    assert main(["evaluate", f"agent={agent}", "games=4"]) == 2
    assert str(tmp_path) in one_line(capsys)


def test_a_run_with_a_discard_agent_is_measured_by_its_folder_alone(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A name, a mapping or another run, whose path was relative; in every job that takes agents."""
    monkeypatch.chdir(trained.parent)
    for number, by in enumerate(("greedy", "{name: weighted, initial: hand_max_avg}", trained.name)):
        folder = tmp_path / f"run {number}"
        assert call(f"train {TINY}", f"learner.discard_agent={by}", run_dir(folder)) == 0
        monkeypatch.chdir("/")
        for command in ("evaluate games=4", "evaluate play hands=4", "analyse '5H 5S JD 2C 3C KH'"):
            agents = f"agents=['{folder}']" if command.startswith("analyse") else f"agent='{folder}'"
            assert call(command, agents) == 0, command
        assert call("tournament games=4", f"agents=['{folder}',greedy]") == 0
        monkeypatch.chdir(trained.parent)
    capsys.readouterr()
    shutil.copytree(tmp_path / "run 2", tmp_path / "stray")
    moved = trained.rename(trained.parent / "moved")
    try:
        assert main(["evaluate", f"agent={tmp_path / 'stray'}", "games=4"]) == 0  # it has all that it needs
        capsys.readouterr()
        shutil.rmtree(tmp_path / "stray" / "agents")
        assert main(["evaluate", f"agent={tmp_path / 'stray'}", "games=4"]) == 2
        assert f"names an agent that cannot be made: no checkpoint at {tmp_path / 'stray'}" in one_line(capsys)
        assert main(["evaluate", f"agent={{path: {tmp_path / 'stray'}, discards: {moved}}}", "games=4"]) == 0
    finally:
        moved.rename(trained)


def test_run_folders_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/nothing/run")):
        assert main(["evaluate", "agent=random", "games=4", run_dir(place)]) == 2
        assert "cannot write" in one_line(capsys)


def test_a_folder_of_own_configs_is_held_to_the_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "experiment").mkdir()
    (tmp_path / "experiment" / "mine.yaml").write_text("# @package _global_\nlearner: {iterations: 7}\n")
    (tmp_path / "experiment" / "typo.yaml").write_text("# @package _global_\nlearner: {iteration: 7}\n")
    assert call(f"train --config-dir {tmp_path} experiment=mine --help") == 0
    assert "learner.iterations=7" in capsys.readouterr().out
    assert call(f"train --config-dir {tmp_path} experiment=mine --cfg job") == 0
    assert yaml.safe_load(capsys.readouterr().out)["learner"]["iterations"] == 7
    assert call(f"train --config-dir {tmp_path} experiment=typo") == 2
    assert "experiment/typo': unknown option learner.iteration: did you mean learner.iterations?" in one_line(capsys)


def test_a_file_says_which_learner_its_options_are_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One's own files as well; of those in the package, tests/test_configs.py speaks."""
    (tmp_path / "learner").mkdir()
    (tmp_path / "experiment").mkdir()
    (tmp_path / "learner" / "few.yaml").write_text("defaults: [weighted_schema, _self_]\ngames: 7\n")
    (tmp_path / "learner" / "bare.yaml").write_text("games: 7\n")
    (tmp_path / "experiment" / "text.yaml").write_text(
        "# @package _global_\ndefaults: [{override /learner: weighted}]\nlearner: {games: many}\n"
    )
    assert call(f"train --config-dir {tmp_path} learner=few --cfg job") == 0
    assert yaml.safe_load(capsys.readouterr().out)["learner"]["games"] == 7
    assert call(f"train --config-dir {tmp_path} learner=bare") == 2
    assert "learner/bare': unknown option learner.games: " in one_line(capsys)
    assert call(f"train --config-dir {tmp_path} experiment=text") == 2
    assert "experiment/text': learner.games=many: expected a whole number" in one_line(capsys)


def test_a_defect_shows_where_it_happened(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(*arguments: object) -> None:
        raise ZeroDivisionError("by hand")

    monkeypatch.setattr(JOBS["evaluate"].module(), "run", broken)
    assert call("evaluate agent=random") == 1
    text = capsys.readouterr().err
    assert "Traceback" in text and "by hand" in text.splitlines()[-1]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"seed: 1\nseed: 2\n", "line 3: found duplicate key seed"),
        (b"learner:\n\titerations: 2\n", "line 3: found character '\\t' that cannot start any token"),
        (b"seed: !!python/object:os.system 2\n", "line 2: could not determine a constructor for the tag"),
        (b"seed: *nobody\n", "line 2: found undefined alias 'nobody'"),
    ],
)
def test_yaml_that_cannot_be_read_is_named_with_its_line(
    content: bytes, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "experiment" / "mine.yaml"
    file.parent.mkdir()
    file.write_bytes(b"# @package _global_\n" + content)
    assert main(["train", f"--config-dir={tmp_path}", "experiment=mine"]) == 2
    assert f"{file}, {problem}" in one_line(capsys)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"evaluation: &a\n  opponents: *a\n", "is nested too deeply"),
        (b"seed: " + b"[" * 5000, "is nested too deeply"),
        (b"\n# caf\xe9\n", "expected UTF-8"),
        (b"device: a\x00b\n", "special characters are not allowed"),
    ],
)
def test_yaml_that_cannot_be_read_is_refused_in_one_line(
    content: bytes, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "experiment" / "mine.yaml"
    file.parent.mkdir()
    file.write_bytes(b"# @package _global_\n" + content)
    assert main(["train", f"--config-dir={tmp_path}", "experiment=mine"]) == 2
    line = one_line(capsys)
    assert problem in line and str(tmp_path) in line


def test_words_that_are_not_utf8(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "agent=\udcff"]) == 2
    assert "b'agent=\\xff': expected UTF-8" in one_line(capsys)


@pytest.mark.parametrize("sink", [">&-", "| true"])
def test_an_output_that_nobody_reads(sink: str) -> None:
    done = subprocess.run(f"{sys.executable} -m deepcrib --help {sink}", cwd=ROOT, shell=True, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("sink", ["2>&-", ">&- 2>&-", "2>/dev/full"])
def test_errors_that_nobody_reads(sink: str, tmp_path: Path) -> None:
    command = f"{sys.executable} -m deepcrib evaluate agent=greedy opponent=random games=4 hydra.run.dir={tmp_path}/run"
    done = subprocess.run(f"{command} {sink}", cwd=ROOT, shell=True, capture_output=True)
    assert done.returncode == 0 and (tmp_path / "run" / "summary.json").exists()
    done = subprocess.run(f"{command} {sink}", cwd=ROOT, shell=True, capture_output=True)
    assert done.returncode == 2  # the folder is taken


@pytest.mark.parametrize(
    "words",
    [
        "learner=nfsp learner.hands=8 learner.reservoir=1000000000000",
        "learner=nfsp learner.hands=8 learner.draws=1e308",
        "learner=mirror learner.hands=9223372036854775807",
        "experiment=smoke learner.passes=1e308 learner.episodes=2 pretraining.enabled=false",
        "play_network.lstm_hidden=9223372036854775807",
        "play_network.hidden=[9223372036854775807]",
        "discard_network.hidden=[100000000000000]",
    ],
)
def test_sizes_that_no_machine_has(words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(f"train {words}", run_dir(tmp_path / "run")) == 2
    assert one_line(capsys).startswith("deepcrib: too large for this machine: ")


def test_a_spec_that_is_nested_too_deeply(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", f"agent={150 * '{name:minimax,discards:'}greedy{150 * '}'}"]) == 2
    assert one_line(capsys).endswith(" nested too deeply")


def test_a_process_ends_with_the_code_of_its_call() -> None:
    command = [sys.executable, "-m", "deepcrib", "evaluate", "agent=nobody"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
