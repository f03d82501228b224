"""Parts of one's own by `module:name`, from a file beside: trained with, loaded again, resumed; and what is refused."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from deepcrib.agents import UntrustedError, make_agent, trusting
from deepcrib.cli import main
from deepcrib.errors import OptionError, UserError
from deepcrib.files.trust import is_trusting
from deepcrib.files.weights import read_weights, write_weights
from deepcrib.learners.registry import LEARNERS, find_learner
from deepcrib.learners.replay.rewards import DISCARD_REWARDS, PLAY_REWARDS
from deepcrib.learners.replay.targets import ALGORITHMS
from deepcrib.networks import DISCARD_NETWORKS, HEADS, PLAY_NETWORKS, PlayNetworkConfig, make_play_network
from deepcrib.networks.checkpoints import save_weights
from deepcrib.networks.encoders import DISCARD_ENCODERS, PLAY_ENCODERS, make_play_encoder
from tests.support.checkpoints import load_weights
from tests.support.commands import refused
from tests.support.own_parts import LEARNER, PARTS

SMALL = ["pretraining.enabled=false", "learner.iterations=1", "learner.episodes=8", "threads=1"]
MATCHES = ["evaluation.every=0", "evaluation.final_games=4", "evaluation.opponents=[random]"]
OWN = {
    "reward.play": "own_parts:pairs_alone",
    "reward.discard": "own_parts:hand_alone",
    "algorithm.name": "own_parts:HALF_GREEDY",
    "play_network.name": "own_parts:Residual",
    "play_network.head": "own_parts:HalfHead",
    "discard_network.name": "own_parts:Residual",
    "state.play": "own_parts:PLAYS",
    "state.discard": "own_parts:DISCARDS",
}
NAMED = ["own_parts:Residual", "own_parts:HalfHead", "own_parts:PLAYS", "own_parts:DISCARDS"]
"""Those that weights name."""
COUNTED = ["learner=own_learner:Counting", "reward.play=game", *MATCHES]


def forget() -> None:
    for name in ("own_parts", "own_learner", "stranger"):
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A person's folder, with runs of one step: `run` of own parts of every kind, `counted` of an own learner."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "own_parts.py").write_text(PARTS)
    (folder / "own_learner.py").write_text(LEARNER)
    (folder / "stranger.py").write_text("raise SystemExit('imported')\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "path", sys.path[:])
        words = [f"{option}={name}" for option, name in OWN.items()]
        assert main(["train", "experiment=smoke", *words, *SMALL, *MATCHES, "hydra.run.dir=run"]) == 0
        called = set(sys.modules["own_parts"].CALLED)
        assert called == {"reward", "discard reward", "algorithm"}
        assert main(["train", *COUNTED, "learner.steps=1", "hydra.run.dir=counted"]) == 0
    yield folder
    forget()


@pytest.fixture
def there(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """In that folder, as a process that has imported nothing from it."""
    monkeypatch.chdir(home)
    monkeypatch.setattr(sys, "path", sys.path[:])
    forget()
    yield home
    assert "stranger" not in sys.modules


def imported() -> bool:
    return bool({"own_parts", "own_learner"} & set(sys.modules))


# --- weights ----------------------------------------------------------------------------------------------------


def test_weights_that_name_code_are_refused(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = refused(["evaluate", "agent=run", "opponent=random", "games=4", "hydra.run.dir=match"], capsys)
    assert line.startswith("deepcrib: run/weights.safetensors: networks names ")
    assert set(re.findall(r"own_parts:\w+", line)) == set(NAMED)
    assert "trust=true allows it, as does {path: run, plugins: [NAME]}" in line
    for allowed in ([], NAMED[:-1], ["own_parts"], "own_parts:Residual", [3]):
        with pytest.raises(UntrustedError, match="names own_parts:"):
            make_agent({"path": "run", "plugins": allowed})
    assert not imported()


@pytest.mark.parametrize("word", [f"agent={{path: run, plugins: [{', '.join(NAMED)}]}}", "agent=run trust=true"])
def test_a_person_allows_them(there: Path, word: str) -> None:
    words = [word] if "{" in word else word.split()
    assert main(["evaluate", *words, "opponent=random", "games=4", f"hydra.run.dir=by_{len(words)}"]) == 0


def test_python_allows_them(there: Path) -> None:
    with trusting(NAMED):
        network: Any = load_weights("run").play_network
    assert type(network).__name__ == "Residual" and type(network.head).__name__ == "HalfHead"
    nested = make_agent({"name": "minimax", "discards": {"path": "run", "plugins": NAMED}})
    assert nested.discards_by.name == "run"  # type: ignore[attr-defined]
    assert make_agent("run", trust=True)
    with pytest.raises(UntrustedError):
        make_agent("run")


def test_one_name_is_no_set_of_letters() -> None:
    """Which each part of it, and the empty name, would be in."""
    with trusting("own_parts:Residual"):
        assert is_trusting("own_parts:Residual") and not is_trusting("own_parts:Res") and not is_trusting()


HOSTILE = ["os:system", "stranger:Net", "deepcrib.cli:main", "stranger.inner:NET"]


@pytest.mark.parametrize("code", HOSTILE)
@pytest.mark.parametrize("place", ["network name", "network head", "encoder name", "agent"])
@pytest.mark.parametrize("kind", ["q_network", "policy"])
def test_hostile_weights_import_nothing(there: Path, tmp_path: Path, code: str, place: str, kind: str) -> None:
    torch.manual_seed(1)
    network = make_play_network(PlayNetworkConfig("mlp", [8]), make_play_encoder("basic").spec)
    file = tmp_path / "weights.safetensors"
    if kind == "policy":
        save_weights(file, {"discards_by": "greedy"}, policy=network)
    else:
        save_weights(file, {"discards_by": "greedy"}, discard=None, play=network)
    saved = read_weights(file)
    agent = code if place == "agent" else saved.agent
    if place != "agent":
        part, name = place.split()
        saved.metadata["networks"]["policy" if kind == "policy" else "play"][part][name] = code
    write_weights(file, agent, saved.arrays, saved.metadata)
    for spec in (file, {"path": str(file)}, {"path": str(file), "plugins": "own_parts:Residual"}):
        with pytest.raises(UntrustedError, match=f"^{file}: (networks|agent) names {code}, which is code from outside"):
            make_agent(spec)
    if code == "os:system":  # what a person allows has to be of the right kind, or is not called
        with pytest.raises(UserError, match="system in module os .*: expected a"):
            make_agent({"path": str(file), "plugins": [code]})


def test_a_file_allows_no_code(there: Path, tmp_path: Path) -> None:
    torch.manual_seed(1)
    network = make_play_network(PlayNetworkConfig("mlp", [8]), make_play_encoder("basic").spec)
    shutil.copytree("run", tmp_path / "run")
    file = tmp_path / "weights.safetensors"
    save_weights(file, {"discards_by": {"path": "run", "plugins": NAMED}}, discard=None, play=network)
    with pytest.raises(UntrustedError, match=f"^{file}: discards_by names own_parts:Residual"):
        make_agent(file)
    assert not imported()
    assert make_agent({"path": str(file), "plugins": NAMED}).discards_by  # type: ignore[attr-defined]


# --- runs -------------------------------------------------------------------------------------------------------


def test_a_run_is_resumed_where_its_code_is_named_again(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree("run", "again")
    words = [f"{option}={name}" for option, name in OWN.items()]
    for left, (option, name) in enumerate(OWN.items()):
        others = [*words[:left], *words[left + 1 :]]
        line = refused(["train", "resume=again", "learner.iterations=2", *others], capsys)
        assert f"again/config.yaml: {option} names {name}, which is code from outside" in line
        assert f"(trust=true allows it, as does {option}={name})" in line
    assert not imported()
    assert main(["train", "resume=again", "learner.iterations=2", *words]) == 0
    assert main(["train", "resume=again", "learner.iterations=3", "trust=true"]) == 0


@pytest.mark.parametrize("option", ["learner.name", "device", "algorithm.name", "state.play", "rules.name"])
def test_a_hostile_run_imports_nothing(
    there: Path, tmp_path: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(shutil.copytree("run", tmp_path / "run"))
    config = yaml.safe_load((folder / "config.yaml").read_text())
    for name in OWN:
        group, key = name.split(".")
        config[group][key] = {"play_network.head": "value", "reward.play": "margin", "reward.discard": "own"}.get(
            name, {"algorithm.name": "sarsa"}.get(name, "mlp" if "network" in name else "basic")
        )
    holder, _, key = option.rpartition(".")
    (config[holder] if holder else config)[key] = "stranger:Code"
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    line = refused(["train", f"resume={folder}", "learner.iterations=2"], capsys)
    assert f"{folder}/config.yaml: {option} names stranger:Code, which is code from outside of deepcrib" in line


# --- learners ---------------------------------------------------------------------------------------------------


def test_an_own_learner_is_resumed_and_loaded(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert read_weights("counted").metadata == {"reward": "game"}  # of the group that its class asks for
    line = refused(["train", "resume=counted", "learner.steps=2"], capsys)
    assert "counted/config.yaml: learner.name names own_learner:Counting, which is code" in line
    words = ["evaluate", "agent=counted", "opponent=random", "games=4", "hydra.run.dir=no"]
    assert "counted/weights.safetensors: agent names own_learner:CountingAgent" in refused(words, capsys)
    assert not imported()
    again = ["learner.steps=2", "learner.name=own_learner:Counting"]
    assert main(["train", "resume=counted", *again]) == 0
    assert main(["train", "resume=counted", "learner.steps=3", "trust=true"]) == 0
    agent = make_agent({"path": "counted", "plugins": "own_learner:CountingAgent"})
    assert agent.name == "counting" and read_weights("counted").arrays["count"] == 3


def test_an_own_yaml_names_a_learner(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in {
        "learner/counting": "defaults: ['own_learner:Counting', _self_]\nsteps: 4\n",
        "experiment/mine": "# @package _global_\ndefaults: [{override /learner: counting}]\nlearner: {steps: 5}\n",
        "experiment/other": "# @package _global_\ndefaults: [{override /learner: 'own_learner:Counting'}]\n",
    }.items():
        (there / "mine" / name).with_suffix(".yaml").parent.mkdir(parents=True, exist_ok=True)
        (there / "mine" / name).with_suffix(".yaml").write_text(text)
    for words, steps in (("learner=counting", 4), ("experiment=mine", 5), ("experiment=other", 2)):
        capsys.readouterr()
        assert main(["train", "--config-dir", "mine", "--cfg", "job", words]) == 0
        learner = yaml.safe_load(capsys.readouterr().out)["learner"]
        assert learner == {"name": "own_learner:Counting", "steps": steps}
    assert main(["train", "--help", "learner=own_learner:Counting"]) == 0
    assert "to count" in capsys.readouterr().out
    sweep = ["train", "-m", "learner=own_learner:Counting", "learner.steps=1,2", *MATCHES]
    for _ in range(2):  # the second time they are held against what they were, and skipped
        assert main([*sweep, "hydra.sweep.dir=sweep"]) == 0
    assert capsys.readouterr().out.count("is done, skipped") == 2


@pytest.mark.parametrize(
    ("word", "line"),
    [
        (
            "reward.play=own_part:x",
            "reward.play=own_part:x: there is no module own_part .expected one in /.*PYTHONPATH",
        ),
        ("reward.play=own_parts:pair_alone", "module own_parts .* has no pair_alone: did you mean pairs_alone.$"),
        ("reward.play=own_parts:Residual", "Residual in module own_parts .*: expected a function of points, seats$"),
        ("reward.discard=own_parts:NUMBER", "expected a function of hands$"),
        ("algorithm.name=own_parts:pairs_alone", "expected a deepcrib.learners.replay.targets.Bootstrap$"),
        ("play_network.name=own_parts:HalfHead", "expected a subclass of deepcrib.networks.base.QNetwork$"),
        (
            "play_network.head=own_parts:Residual",
            "expected a subclass of .*ValueHead or .*DuelingHead or .*Categorical",
        ),
        ("discard_network.name=sys:exit", "exit in module sys .built in.: expected a subclass of"),
        ("state.play=own_parts:NUMBER", "expected a tuple of deepcrib.networks.encoders.Block, each with its fill$"),
        ("state.discard=stranger:PLAYS", "stranger cannot be imported: SystemExit: imported$"),
        ("learner=own_learner:CountingAgent", "expected a subclass of deepcrib.training.learner.Learner$"),
        (
            "learner=own_learner:Unexplained",
            r"expected __init__\(self, options: OPTIONS, setting\), OPTIONS a dataclass",
        ),
        ("learner=own_learner:Count", "module own_learner .* has no Count: did you mean Counting.$"),
    ],
)
def test_what_is_not_of_the_kind_is_refused(
    there: Path, word: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert re.search(line, refused(["train", "experiment=smoke", word, "hydra.run.dir=none"], capsys))
    assert not Path("none").exists()
    sys.modules.pop("stranger", None)


def test_names_of_the_package_come_first() -> None:
    tables: list[Any] = [PLAY_REWARDS, DISCARD_REWARDS, ALGORITHMS, PLAY_NETWORKS, DISCARD_NETWORKS, HEADS, LEARNERS]
    for table in (*tables, PLAY_ENCODERS, DISCARD_ENCODERS):
        assert all(table.find(name) is entry for name, entry in table.items())
        with pytest.raises(OptionError, match=f"^unknown {table.kind} 'no': .*expected one of .*, or module:name"):
            table.find("no")
    assert find_learner("replay") is LEARNERS["replay"]


# --- what parts of one's own give ---------------------------------------------------------------------------------

_STRANGE = {
    "total": ("np.float32(points.sum())", "gave float32 \\[\\], expected finite numbers \\[\\d+, 8\\]"),
    "column": ("points[:, :1]", "gave int8 \\[\\d+, 1\\], expected finite numbers \\[\\d+, 8\\]"),
    "nan": ("points * np.nan", "gave \\w+ \\[\\d+, 8\\] with nan or inf, expected"),
    "broken": ("points[99:][0]", "raised IndexError: .* \\(.*my_rewards.py, line 3; DEEPCRIB_TRACEBACK=1"),
}


@pytest.mark.parametrize("name", _STRANGE)
def test_a_strange_reward_is_named_in_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.delitem(sys.modules, "my_rewards", raising=False)
    given, expected = _STRANGE[name]
    Path("my_rewards.py").write_text(f"import numpy as np\ndef {name}(points, seats):\n    return {given}\n")
    words = ["train", "experiment=smoke", f"reward.play=my_rewards:{name}", *SMALL, "evaluation.opponents=[]"]
    assert main([*words, "hydra.run.dir=run"]) == (1 if name == "broken" else 2)
    *_, line = capsys.readouterr().err.strip().splitlines()
    assert re.fullmatch(f"deepcrib: play reward my_rewards:{name} {expected}.*", line), line
