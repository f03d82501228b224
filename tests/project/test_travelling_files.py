"""Files from strangers run no code and lead nowhere else, through whichever door they come (docs/security.md).

Every door is tried with code that leaves a mark when it runs: a function, a class that is no agent, a proper agent of a
module in the current folder; by themselves, as mappings and nested; and with paths that lead out of the file's folder.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
import torch
import yaml

from deepcrib.agents import AgentError, UntrustedError, kept_spec, make_agent
from deepcrib.agents.specs.travel import spec_of_file
from deepcrib.app import Session
from deepcrib.cli import main
from deepcrib.errors import UserError
from deepcrib.evaluation.league.league import identity
from deepcrib.files.trust import FromFile, require_no_way_out, trusting
from deepcrib.files.weights import CheckpointError
from deepcrib.jobs import JOBS, play
from deepcrib.jobs.hydra.schema import register_schema, variants_of
from deepcrib.learners.replay.learner import ReplayLearner
from deepcrib.networks import PlayNetworkConfig, make_play_network
from deepcrib.networks.checkpoints import save_weights
from deepcrib.networks.encoders import make_play_encoder
from deepcrib.records import GameWriter, Player, find_files
from tests.support.commands import refused
from tests.support.recorded import played

MARK = "code-has-run"
STRANGE = f"""
from pathlib import Path
Path("{MARK}").touch()

class Mine:
    name, num_players, deterministic = "mine", frozenset({{2}}), True

    def discard(self, observation):
        return [0] * len(observation)

    def play(self, observation):
        return observation.legal.argmax(axis=1)
"""
FUNCTION = {"name": "os:system", "command": f"touch {MARK}"}
CODE: dict[str, Any] = {
    "function": FUNCTION,
    "function alone": "os:getcwd",
    "class": {"name": "subprocess:Popen", "args": ["touch", MARK]},
    "agent": "strange:Mine",
    "agent as a mapping": {"name": "strange:Mine"},
    "nested": {"name": "minimax", "samples": 2, "discards": FUNCTION},
    "nested deeper": {"name": "lookahead", "agent": {"name": "best_response", "to": {"name": "strange:Mine"}}},
    "in an option of another kind": {"name": "weighted", "strategies": ["strange:Mine"]},
    "in a list": ["greedy", "strange:Mine"],
    "beside a path": {"path": "beside.safetensors", "discards": FUNCTION},
    "command": {"command": f"touch {MARK}"},
    "command by name": {"name": "command", "command": f"touch {MARK}", "timeout": 5},
    "command that is a name": {"command": "greedy"},
    "command in a list": {"command": ["touch", MARK]},
    "nested command": {"name": "minimax", "samples": 2, "discards": {"command": f"touch {MARK}"}},
}
"""Specs that name code."""
WAYS_OUT: dict[str, Any] = {
    "relative": "../outside.safetensors",
    "relative path": {"path": "../outside.safetensors"},
    "roundabout": "below/../../outside.safetensors",
    "absolute": "OUTSIDE",
    "absolute path": {"name": "q_network", "path": "OUTSIDE"},
    "another format": {"name": "q_network", "path": "/etc/passwd"},
    "initial weights": {"name": "weighted", "initial": "../outside.safetensors"},
    "link": "link.safetensors",
    "link to a folder": "linked/outside.safetensors",
    "no file can have it": "/\0",
}
"""Specs that name files elsewhere."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with a module that leaves a mark; `got/` in it is what a stranger sent."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "strange.py").write_text(STRANGE)
    got = tmp_path / "got"
    (got / "below").mkdir(parents=True)
    weights(tmp_path / "outside.safetensors", "greedy")
    weights(got / "beside.safetensors", "greedy")
    (got / "link.safetensors").symlink_to(tmp_path / "outside.safetensors")
    (got / "linked").symlink_to(tmp_path)
    (got / "round.safetensors").symlink_to(got / "round.safetensors")
    path = list(sys.path)
    yield tmp_path
    sys.path[:] = path
    sys.modules.pop("strange", None)
    assert not (tmp_path / MARK).exists()


def network() -> Any:
    torch.manual_seed(1)
    return make_play_network(PlayNetworkConfig("mlp", [8]), make_play_encoder("basic").spec)


def weights(path: Path, spec: Any) -> Path:
    """A play network whose file names who discards."""
    save_weights(path, {"rules": "acc", "discards_by": spec}, discard=None, play=network())
    return path


def record(path: Path, spec: Any, hands: int = 1) -> Path:
    """A game of Ann against an agent that a file names, unfinished."""
    game = played(7, agents=("greedy", "greedy"), person=0, hands=hands)
    GameWriter(path).begin(replace(game, players=(game.players[0], Player("Bob", "agent", spec))))
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one iteration."""
    folder = tmp_path_factory.mktemp("trained") / "run"
    words = ["experiment=smoke", "pretraining.enabled=false", "learner.iterations=1", "learner.episodes=4", "threads=1"]
    words += ["evaluation.every=0", "evaluation.final_games=4", "evaluation.opponents=[random]"]
    assert main(["train", *words, f"hydra.run.dir={folder}"]) == 0
    return folder


def resumable(here: Path, trained: Path, **options: Any) -> Path:
    """A stranger's run, whose `config.yaml` says this."""
    folder = Path(shutil.copytree(trained, here / "got" / "run"))
    config = yaml.safe_load((folder / "config.yaml").read_text())
    for name, value in options.items():
        group, _, option = name.partition("__")
        if option:
            config[group][option] = value
        else:
            config[name] = value
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    return folder


def contents(folder: Path) -> dict[str, Any]:
    """All files below a folder, with what they hold and when they were last written."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


# --- what a file may say ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", CODE.values(), ids=CODE)
@pytest.mark.parametrize("saved", ["q_network", "policy"])
def test_weights_name_no_code(here: Path, spec: Any, saved: str) -> None:
    file = here / "got" / "weights.safetensors"
    if saved == "policy":
        save_weights(file, {"discards_by": spec}, policy=network())
    else:
        weights(file, spec)
    for place in (file, file.parent, {"path": str(file)}, {"name": "minimax", "discards": str(file)}):
        with pytest.raises(UntrustedError, match=f"^{file}: discards_by names .*, which is code from outside"):
            make_agent(place)
    with pytest.raises(UntrustedError, match="which is code from outside"):
        identity(str(file))


@pytest.mark.parametrize("spec", WAYS_OUT.values(), ids=WAYS_OUT)
def test_weights_lead_nowhere_else(here: Path, spec: Any) -> None:
    text = json.dumps(spec).replace("OUTSIDE", str(here / "outside.safetensors"))
    file = weights(here / "got" / "weights.safetensors", json.loads(text))
    with pytest.raises(UntrustedError, match=f"^{file}: discards_by names .*, which does not lie beside it: expected"):
        make_agent(file)


def test_agents_within_agents_end(here: Path) -> None:
    spec: Any = "greedy"
    for _ in range(sys.getrecursionlimit()):
        spec = {"name": "minimax", "discards": spec}
    with pytest.raises(UntrustedError, match="an agent within an agent, too deeply"):
        make_agent(FromFile(spec, here / "x.safetensors", "discards_by"))


def test_files_beside_it_and_the_packages_agents_count(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    got = here / "got"
    (got / "inner.safetensors").symlink_to(got / "beside.safetensors")
    shutil.copy(got / "beside.safetensors", got / "below" / "other.safetensors")
    monkeypatch.chdir("/")
    for spec in ("greedy", "quick", "beside.safetensors", "below/other.safetensors", "inner.safetensors"):
        for said in (spec, {"name": spec}, {"name": "minimax", "discards": spec}):
            assert make_agent(weights(got / "weights.safetensors", said)).discards_by  # type: ignore[attr-defined]
    said = FromFile(["past", {"name": "weighted", "seed": 3, "initial": "hand_max_avg"}, 5, None], got / "x", "part")
    assert spec_of_file(said) == said.spec  # words that are neither, and values of options
    absolute = str(got / "beside.safetensors")
    assert [spec_of_file(replace(said, spec=spec)) for spec in ("beside.safetensors", absolute)] == [absolute] * 2
    for spec in ("below/gone.safetensors", "round.safetensors"):  # the second is a circle of links
        with pytest.raises(CheckpointError, match=f"{got}/{spec}"):
            make_agent(replace(said, spec=spec))


def test_files_that_name_each_other_twice_end(here: Path) -> None:
    weights(here / "got" / "twice30.safetensors", "greedy")
    for number in range(30):  # a billion agents
        spec = f"twice{number + 1}.safetensors"
        weights(here / "got" / f"twice{number}.safetensors", {"name": "lookahead", "agent": spec, "rollouts": spec})
    with pytest.raises(AgentError, match="one of more than 64 agents that files name"):
        make_agent(here / "got" / "twice0.safetensors")


@pytest.mark.parametrize(
    "spec",
    [{"name": "q_network", "path": 5}, {"path": {"x": 1}}, {"name": "q_network", "path": True}]
    + [{"name": "weighted", "initial": 5}],
    ids=str,
)
def test_numbers_are_no_paths(here: Path, spec: Any) -> None:
    """As text, they would name a file of the current folder."""
    for name in ("5", "{'x': 1}", "True"):
        weights(here / name, "greedy")
    with pytest.raises(UserError, match=r"(path|initial)=.*: expected"):
        make_agent(weights(here / "got" / "weights.safetensors", spec))


@pytest.mark.parametrize("spec", [".", "below", {"path": "below"}], ids=str)
def test_a_folder_of_weights_leads_nowhere_else(here: Path, spec: Any) -> None:
    for folder in (here / "got", here / "got" / "below"):
        (folder / "weights.safetensors").symlink_to(here / "outside.safetensors")
    file = weights(here / "got" / "named.safetensors", spec)
    for asked in (file, here / "got", here / "got" / "below"):
        with pytest.raises(UserError, match="weights.safetensors is a link to .*, outside of the run folder"):
            make_agent(asked)
        assert make_agent(asked, trust=True)


def test_whoever_trusts_a_file_lets_it(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for spec, name in (("strange:Mine", "mine"), (str(here / "outside.safetensors"), None)):
        file = weights(here / "got" / "weights.safetensors", spec)
        agent: Any = make_agent(file, trust=True)
        assert name in (None, agent.discards_by.name)
        assert main(["evaluate", f"agent={file}", "opponent=random", "games=4", "trust=true"]) == 0
        with pytest.raises(UntrustedError):
            make_agent(file)  # trust is of one call
    assert make_agent({"path": str(file), "discards": "strange:Mine"}).discards_by.name == "mine"  # type: ignore[attr-defined]
    with (
        trusting(),
        pytest.raises(AgentError, match="system in .*expected a class"),
    ):  # but what is no agent is never called
        make_agent(weights(file, FUNCTION))
    (here / MARK).unlink()


def test_copies_beside_weights_are_no_way_out(here: Path) -> None:
    """Weights of a stranger that are named in a training are copied with what they name, and with nothing else."""
    file = weights(here / "got" / "weights.safetensors", {"path": "below/../../got/beside.safetensors"})
    kept = here / "own" / kept_spec(str(file), here / "own")
    found = {path.relative_to(kept.parent).as_posix() for path in kept.parent.rglob("*") if path.is_file()}
    assert found == {kept.name, "beside.safetensors"}
    for spec in ("../outside.safetensors", "link.safetensors", str(here / "outside.safetensors")):
        weights(file, spec)
        other = here / "own" / kept_spec(str(file), here / "own")
        found |= {other.name}
        assert {path.name for path in kept.parent.rglob("*") if path.is_file()} == found


# --- doors ------------------------------------------------------------------------------------------------------

WEIGHTS_DOORS = {
    "evaluate": "evaluate agent=FILE games=4",
    "evaluate opponent": "evaluate agent=random opponent=FILE games=4",
    "evaluate play": "evaluate play agent=FILE hands=4",
    "evaluate pairs": "evaluate pairs agent=FILE pairs=4",
    "evaluate audit": "evaluate audit agent=FILE opponent=greedy hands=2",
    "evaluate exploit": "evaluate agent=FILE exploit=true deals=2 games=4",
    "nested": "evaluate agent={name:lookahead,agent:FILE} games=4",
    "nested deeper": "evaluate agent={name:minimax,discards:{name:best_response,to:FILE}} games=4",
    "tournament": "tournament agents=[random,FILE] games=4",
    "checkpoints": "tournament checkpoints run=RUN games=4",
    "league": "tournament league agents=[random,FILE] games=4",
    "analyse": "analyse 5H 5S JD 2C 3C KH agents=[FILE]",
    "review": "report review games=RECORD opponent=FILE",
    "train initial": "train experiment=smoke learner.initial=FILE",
    "train opponents": "train experiment=smoke learner.opponents=[FILE]",
    "train priming": "train experiment=smoke learner.priming=[FILE] learner.priming_iterations=1",
    "train discards": "train experiment=smoke learner.discard_agent=FILE",
    "train teacher": "train experiment=smoke pretraining.teacher=FILE",
    "train evaluation": "train experiment=smoke evaluation.opponents=[FILE]",
    "train mirror": "train learner=mirror learner.discard_agent=FILE",
    "train hill_climb": "train learner=hill_climb learner.climb=play learner.discards_by=FILE",
    "sweep": "evaluate -m agent=FILE games=4,8",
}
"""Commands that read weights."""


@pytest.mark.parametrize("command", WEIGHTS_DOORS.values(), ids=WEIGHTS_DOORS)
@pytest.mark.parametrize("spec", [FUNCTION, "strange:Mine"], ids=["function", "agent"])
def test_no_command_runs_what_weights_name(
    here: Path, command: str, spec: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    file = weights(here / "got" / "weights.safetensors", spec)
    if "RECORD" in command:
        record(here / "game.jsonl", "greedy")
    if "RUN" in command:
        for path in (here / "got").iterdir():
            if path.is_symlink():  # else refused for these
                path.unlink()
        (here / "got" / "checkpoints").mkdir()
        weights(here / "got" / "checkpoints" / "iterations_00000001.safetensors", "greedy")
    words = command.replace("FILE", str(file)).replace("RUN", str(here / "got")).replace("RECORD", "game.jsonl").split()
    kind = "sweep" if "-m" in words else "run"
    if kind == "sweep":
        capsys.readouterr()
        assert main([*words, "hydra.sweep.dir=sweep"]) == 2
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == 2 and all("which is code from outside of deepcrib" in line for line in lines)
        return
    line = refused([*words, "hydra.run.dir=run"], capsys)
    assert f"{file}: discards_by names " in line and "which is code from outside of deepcrib" in line
    assert "trust=true" in line and not (here / "run").exists()


@pytest.mark.parametrize("option", ["evaluation__opponents", "learner__opponents", "learner__priming"])
@pytest.mark.parametrize("spec", CODE.values(), ids=CODE)
def test_a_resumed_run_names_no_code(
    here: Path, trained: Path, option: str, spec: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    more = {"learner__priming_iterations": 1} if option.endswith("priming") else {}
    folder = resumable(here, trained, **{option: [spec]}, **more)
    before = contents(folder)
    line = refused(["train", f"resume={folder}"], capsys)
    assert f"{folder}/config.yaml: {option.replace('__', '.')} names " in line and "which is code from" in line
    assert contents(folder) == before


@pytest.mark.parametrize("spec", WAYS_OUT.values(), ids=WAYS_OUT)
def test_a_resumed_run_leads_nowhere_else(
    here: Path, trained: Path, spec: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = json.loads(json.dumps(spec).replace("OUTSIDE", str(here / "outside.safetensors")))
    folder = resumable(here, trained, evaluation__opponents=[spec], trust=True)  # which no file can say
    if "link" in str(spec):
        for name in ("link.safetensors", "linked"):
            (folder / name).symlink_to(os.readlink(here / "got" / name))
        assert "outside of the run folder: expected a file of its own" in refused(["train", f"resume={folder}"], capsys)
        return
    line = refused(["train", f"resume={folder}"], capsys)
    assert f"{folder}/config.yaml: evaluation.opponents names " in line and "does not lie beside it" in line


def test_what_a_person_names_again_counts(here: Path, trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = resumable(here, trained, evaluation__opponents=["strange:Mine"])
    assert "trust=true" in refused(["train", f"resume={folder}"], capsys)
    for word in ("evaluation.opponents=[strange:Mine]", "trust=true"):
        again = Path(shutil.copytree(folder, here / word))
        assert main(["train", f"resume={again}", word, "learner.iterations=2"]) == 0, word
        assert "mine" in json.loads((again / "summary.json").read_text())
        assert yaml.safe_load((again / "config.yaml").read_text())["trust"] is False
        assert "which is code" in refused(["train", f"resume={again}", "learner.iterations=3"], capsys)
    (here / MARK).unlink()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("device", "${run_folder:/../../made}"),
        ("evaluation__opponents", ["${run_folder:/../../made}"]),
        ("learner__name", "${oc.env:HOME}"),
        ("seed", "${hydra:job.num}"),
        ("threads", "${oc.decode:${oc.env:HOME}}"),
        ("rules", "${oc.create:{name: acc}}"),
    ],
)
def test_nothing_in_a_resumed_run_is_worked_out(
    here: Path, trained: Path, option: str, value: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = resumable(here, trained, **{option: value})
    before = {path for path in here.rglob("*") if "__pycache__" not in path.parts}
    line = refused(["train", f"resume={folder}"], capsys)
    assert f"{folder}/config.yaml does not hold the options of this job" in line and "expected a plain value" in line
    assert {path for path in here.rglob("*") if "__pycache__" not in path.parts} == before


def test_a_resumed_run_says_nothing_of_how_it_is_started(here: Path, trained: Path) -> None:
    """Hydra's keys are not read: neither where a run goes, nor classes that are made (`_target_`)."""
    made = {part: {"_target_": "os.system", "command": f"touch {MARK}"} for part in ("launcher", "sweeper", "job")}
    folder = resumable(here, trained, hydra=made | {"run": {"dir": str(here / "elsewhere")}})
    assert main(["train", f"resume={folder}", "learner.iterations=2"]) == 0
    assert not (here / "elsewhere").exists() and "hydra" not in (folder / "config.yaml").read_text()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a: &a [*a]\n", "found an alias"),
        ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "found an alias"),
        ("a: &a {seed: 1}\nb: {<<: *a}\n", "found an alias"),
        ("seed: !!python/object/apply:os.system ['touch " + MARK + "']\n", "could not determine a constructor"),
        ("seed: " + 100_000 * "[" + "\n", "nested too deeply"),
    ],
    ids=["holds itself", "billions", "merge", "python", "deep"],
)
def test_options_that_stand_for_more(
    here: Path, trained: Path, text: str, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = resumable(here, trained)
    (folder / "config.yaml").write_text(text)
    assert what in refused(["train", f"resume={folder}"], capsys)


@pytest.mark.parametrize("name", ["progress.csv", "train.log", "checkpoints", "state.pt", "deeper/file"])
def test_nothing_is_written_through_a_link(
    here: Path, trained: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = resumable(here, trained)
    own, target = folder / name, here / "mine"
    own.parent.mkdir(exist_ok=True)
    if own.exists():
        own.rename(target)
    else:
        target.write_text("mine")
    own.symlink_to(target)
    before = contents(here)
    line = refused(["train", f"resume={folder}", "learner.iterations=2"], capsys)
    assert line.startswith(f"deepcrib: {own} is a link to {target}") or f"{own} is a link to {target}" in line
    assert contents(here) == before
    own.unlink()
    (folder / "inner").touch()
    own.symlink_to(folder / "inner")
    require_no_way_out(folder)  # a link within the folder leads nowhere else


def test_a_new_run_does_not_log_through_a_link(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "mine").write_text("mine")
    (here / "run").mkdir()
    (here / "run" / "evaluate.log").symlink_to(here / "mine")
    assert "holds evaluate.log" in refused(["evaluate", "agent=random", "games=4", "hydra.run.dir=run"], capsys)
    assert (here / "mine").read_text() == "mine"


@pytest.mark.parametrize("spec", CODE.values(), ids=CODE)
def test_a_resumed_league_names_no_code(here: Path, spec: Any, capsys: pytest.CaptureFixture[str]) -> None:
    folder = here / "got" / "league"
    assert main(["tournament", "league", "agents=[random,greedy]", "games=4", f"hydra.run.dir={folder}"]) == 0
    config = yaml.safe_load((folder / "config.yaml").read_text())
    (folder / "config.yaml").write_text(yaml.safe_dump(config | {"agents": ["random", spec]}))
    (pairing,) = (folder / "pairings").iterdir()
    held = json.loads(pairing.read_text())
    held["terms"]["agents"] = [spec, spec]
    pairing.write_text(json.dumps(held))
    before = contents(folder)
    line = refused(["tournament", f"resume={folder}"], capsys)
    assert f"{folder}/config.yaml: agents names " in line and "which is code" in line
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    line = refused(
        ["tournament", f"resume={folder}"], capsys
    )  # the pairing's file is compared, and never made an agent of
    assert "was played with other agents=" in line
    changed = {name for name, held in contents(folder).items() if before.get(name) != held}
    assert changed == {str(folder / "config.yaml")}


@pytest.mark.parametrize("spec", [*CODE.values(), *WAYS_OUT.values()], ids=[*CODE, *WAYS_OUT])
def test_a_record_names_no_code_and_no_file_elsewhere(
    here: Path, spec: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = json.loads(json.dumps(spec).replace("OUTSIDE", str(here / "outside.safetensors")))
    file = record(here / "got" / "game.jsonl", spec)
    said = f"{file}: player Bob names "
    monkeypatch.setattr(play, "has_terminal", lambda: True)
    started: list[Session] = []
    monkeypatch.setattr(play, "run_app", lambda setup: started.append(setup.start(0)))
    assert said in refused(["play", f"resume={file}", "hydra.run.dir=run"], capsys)
    assert not started and not (here / "run").exists()
    assert main(["report", "humans", f"games={file}"]) == 2  # counted by name alone: an unfinished game


def test_a_review_makes_no_agent_of_a_record(here: Path) -> None:
    file = record(here / "got" / "game.jsonl", "strange:Mine")
    assert main(["report", "review", f"games={file}"]) == 0
    assert not (here / MARK).exists()


def test_a_record_of_one_own_goes_on(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = record(here / "game.jsonl", "strange:Mine")
    monkeypatch.setattr(play, "has_terminal", lambda: True)
    started: list[Session] = []
    monkeypatch.setattr(play, "run_app", lambda setup: started.append(setup.start(0)))
    assert main(["play", f"resume={file}", "trust=true", "hydra.run.dir=run"]) in (0, 1)
    assert started[0].agents[1].name == "mine"  # type: ignore[union-attr]
    (here / MARK).unlink()


def test_what_goes_on_with_trust_says_so(here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    """The command that an interrupted training, or game, prints: it works as it stands."""
    words = ["experiment=smoke", "pretraining.enabled=false", "learner.iterations=2", "learner.episodes=4", "threads=1"]
    words += ["evaluation.every=0", "evaluation.final_games=4", "evaluation.opponents=[strange:Mine]"]

    def interrupted(self: ReplayLearner) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ReplayLearner, "step", interrupted)
        assert main(["train", *words, "hydra.run.dir=run"]) == 130
    line = capsys.readouterr().err.splitlines()[-1]
    said = re.search(r"deepcrib (train resume=run trust=true) goes on", line)
    assert said and main(said[1].split()) == 0
    monkeypatch.setattr(play, "has_terminal", lambda: True)

    def run_app(setup: Any) -> None:
        setup.games.append(setup.start(0))

    monkeypatch.setattr(play, "run_app", run_app)
    for number, (opponent, trust) in enumerate((("strange:Mine", " trust=true"), ("greedy", ""))):
        capsys.readouterr()
        assert main(["play", f"opponent={opponent}", "seed=1", f"hydra.run.dir=game{number}"]) == 0
        said = re.search(r"to go on: deepcrib (.*)", capsys.readouterr().out)
        assert said and said[1].strip() == f"play resume=game{number}/game.jsonl{trust}"
        assert main([*said[1].split(), f"hydra.run.dir=again{number}"]) == 0
    (here / MARK).unlink()


@pytest.mark.parametrize("command", ["report runs=RUN", "tournament checkpoints run=RUN", "train resume=RUN"])
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_run_folder_is_read_within(
    here: Path, trained: Path, command: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = resumable(here, trained)
    (folder / "summary.json").rename(here / "summary.json")
    if kind == "link":
        (folder / "summary.json").symlink_to(here / "summary.json")
    else:
        os.mkfifo(folder / "summary.json")
    said = {"link": f"is a link to {here}/summary.json", "pipe": "is neither a file nor a folder"}[kind]
    words = command.replace("RUN", str(folder)).split()
    assert said in refused([*words, *([] if "resume" in command else ["hydra.run.dir=run"])], capsys)


def test_nobody_waits_at_a_pipe(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(here / "got" / "games" / "game.jsonl", "greedy")
    for name in ("pipe.safetensors", "games/other.jsonl"):
        os.mkfifo(here / "got" / name)
    file = weights(here / "got" / "weights.safetensors", "pipe.safetensors")
    for asked in (file, here / "got" / "pipe.safetensors"):
        with pytest.raises(UserError, match="pipe.safetensors is no file"):
            make_agent(asked)
    assert [path.name for path in find_files([here / "got"])] == ["game.jsonl"]


# --- nothing is forgotten ---------------------------------------------------------------------------------------


def test_options_that_leave_their_value_open_are_specs() -> None:
    """A new one is held against `files.trust`, or is listed here as one that names neither an agent nor a file."""
    harmless = {"exploit", "games_of", "deals_of", "hands_of"}
    own = {"runs", "games"}  # of jobs that cannot be resumed
    forgotten = []
    for job in JOBS.values():
        schema = register_schema(job)
        kinds = [schema, *(kind for found in variants_of(schema).values() for kind in found.values())]
        while kinds:
            kind = kinds.pop()
            hints = get_type_hints(kind)
            for item in fields(kind):
                if is_dataclass(hints[item.name]):
                    kinds.append(hints[item.name])
                elif Any in (hints[item.name], *get_args(hints[item.name])) and not item.metadata.get("spec"):
                    forgotten.append(item.name)
    assert set(forgotten) - harmless - own <= {"opponent"}  # of report, where it is a name, or a person's
