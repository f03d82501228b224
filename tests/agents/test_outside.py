"""Agents from outside the package: `module:Class` as a spec, agents as objects, and what is refused of them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deepcrib.agents import AgentError, kept_spec, make_agent
from deepcrib.agents.asking import FaultError, Probabilities, knows_probabilities
from deepcrib.cli import main
from deepcrib.evaluation.evaluate import evaluate
from deepcrib.evaluation.exploit import exploit
from deepcrib.evaluation.league.league import identity, plan_pairings, reopen
from deepcrib.files.runs import write_json
from deepcrib.game.engine import Games, IllegalActionError
from deepcrib.game.engine.turns import Turns
from deepcrib.matches import play_match
from deepcrib.search.best_response import BestResponseAgent
from tests.support.turns import settle

CODE = """
import numpy as np
from outside_help import STEP

class First:
    \"\"\"Throws the first two cards, plays the first that may be played.\"\"\"

    num_players = frozenset({2, 3, 4})
    deterministic = True

    def __init__(self, label="first", *, low: bool = True):
        if label == "bad":
            raise ValueError("no such\\nlabel")
        self.name, self.low = label, low

    def discard(self, observation):
        return np.zeros(len(observation), dtype=int)

    def play(self, observation):
        return observation.legal.argmax(axis=1)

NUMBER = 3
"""
BROKEN = """
class Broken:
    name, num_players = "broken", {2}
    discard = lambda self, observation: [0] * len(observation)
    def play(self, observation):
        return divmod(1, len(observation) - len(observation))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with an agent in `outside_one` and in `outside_parts.inner`."""
    (tmp_path / "outside_help.py").write_text("STEP = 1\n")
    (tmp_path / "outside_one.py").write_text(CODE)
    (tmp_path / "outside_wrong.py").write_text("import outside_missing\n")
    inner = tmp_path / "outside_parts" / "inner.py"
    inner.parent.mkdir()
    inner.write_text("from outside_parts.base import LABEL\n" + CODE.replace('label="first"', "label=LABEL"))
    (inner.parent / "base.py").write_text('LABEL = "inner"\n')
    (tmp_path / "outside_broken.py").write_text(BROKEN)
    monkeypatch.chdir(tmp_path)
    path = list(sys.path)
    yield tmp_path
    sys.path[:] = path
    for name in [name for name in sys.modules if name.startswith("outside_")]:
        del sys.modules[name]


# --- specs ------------------------------------------------------------------------------------------------------


def test_a_module_and_class_are_an_agent(folder: Path) -> None:
    agent: Any = make_agent("outside_one:First")
    assert (agent.name, agent.low) == ("first", True)
    agent = make_agent({"name": "outside_parts.inner:First", "low": False})
    assert (agent.name, agent.low) == ("inner", False)
    search: Any = make_agent({"name": "minimax", "discards": {"name": "outside_one:First", "label": "mine"}})
    assert search.discards_by.name == "mine"
    response: Any = make_agent({"name": "best_response", "to": "outside_one:First"})
    assert response.name == "best_response(first)"
    (folder / "outside_one:First").write_text("")  # a file of this very name changes nothing
    assert kept_spec("outside_one:First", folder) == "outside_one:First"


def test_an_agent_is_its_own_spec() -> None:
    agent = Chosen()
    assert make_agent(agent) is agent
    assert evaluate(agent, "random", 20, 1).games == 20


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        ("outside_no:First", "agent 'outside_no:First': there is no module outside_no .expected one in /.*PYTHONPATH"),
        ("outside_one.no:First", "there is no module outside_one.no "),
        ("outside_one:Second", "agent 'outside_one:Second': module outside_one .*outside_one.py. has no Second"),
        ("outside_one:NUMBER", "NUMBER in module outside_one .*: expected a class with discard.self, observation"),
        ({"name": "os:system", "command": "touch called"}, "agent 'os:system': system in .*: expected a class"),
        ({"name": "subprocess:Popen", "args": ["touch", "called"]}, "Popen in .*: expected a class with discard"),
        ("outside_wrong:First", "outside_wrong cannot be imported: ModuleNotFoundError: .*outside_missing"),
        ({"name": "outside_one:First", "high": 1}, "unexpected keyword argument 'high' .expected label='first', low"),
        ({"name": "outside_one:First", "label": "bad"}, "cannot be made: ValueError: no such label"),
        ("outside_one", "unknown agent 'outside_one': .*package.module:Class"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_cannot_be_made_is_refused_in_one_line(spec: Any, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(AgentError, match=line):
        make_agent(spec)
    words = spec if isinstance(spec, str) else "{" + ", ".join(f"{key}: {value}" for key, value in spec.items()) + "}"
    assert main(["evaluate", f"agent={words}", "opponent=greedy", "games=4"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert not Path("called").exists()


@pytest.mark.usefixtures("folder")
def test_commands_take_it_unquoted(tmp_path: Path) -> None:
    words = ["evaluate", "agent=outside_one:First", "opponent=outside_parts.inner:First", "games=4"]
    assert main([*words, f"hydra.run.dir={tmp_path}/run"]) == 0
    words = ["evaluate", "-m", "agent=outside_one:First,{name: outside_one:First, label: b}", "opponent=random"]
    assert main([*words, "games=4", f"hydra.sweep.dir={tmp_path}/sweep"]) == 0
    assert len(list((tmp_path / "sweep").glob("*/summary.json"))) == 2


@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["joblib", "submitit_local", "ray"])
def test_the_console_script_and_its_workers_find_it_beside_them(folder: Path, launcher: str) -> None:
    pytest.importorskip({"submitit_local": "submitit"}.get(launcher, launcher))
    script = Path(sys.executable).with_name("deepcrib")
    words = ["agent=outside_one:First", "opponent=outside_parts.inner:First", "games=4,8", f"hydra/launcher={launcher}"]
    words += ["hydra.launcher.ray.init.num_cpus=2"] if launcher == "ray" else []
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [script, "evaluate", "-m", *words, "hydra.sweep.dir=sweep"], cwd=folder, env=clean, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
    assert len(list(folder.glob("sweep/*/summary.json"))) == 2


# --- the league -------------------------------------------------------------------------------------------------


def test_a_leagues_key_holds_the_modules_hash(folder: Path) -> None:
    spec = {"name": "outside_parts.inner:First", "low": False}
    make_agent(spec)
    before = identity(spec)
    assert before["low"] is False and before["name"]["module"] == "outside_parts.inner:First"
    (pairing,) = plan_pairings({"inner": spec, "random": "random"}, 8, 1)
    path = folder / "run" / "pairings" / "inner--random.json"
    path.parent.mkdir(parents=True)
    write_json(path, pairing.to_dict())
    assert reopen(pairing, folder / "run").terms == pairing.terms
    code = f"from deepcrib.evaluation.league.league import identity; import json; print(json.dumps(identity({spec!r})))"

    def found() -> dict[str, Any]:
        """In a new process: what a file holds is looked at once in each."""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, cwd=folder)
        result: dict[str, Any] = json.loads(done.stdout)
        return result

    assert found() == before
    (folder / "outside_parts" / "base.py").write_text('LABEL = "other"\n')  # which the module imports
    assert found()["name"]["sha256"] != before["name"]["sha256"]
    assert identity("outside_one:First")["sha256"] != before["name"]["sha256"]


# --- the protocol -----------------------------------------------------------------------------------------------


class Chosen:
    """Throws the first pair, plays the first legal card; as whatever `give` makes of it."""

    name = "chosen"
    num_players: Any = frozenset({2})
    deterministic = True

    def __init__(self, give: Any = lambda actions: actions) -> None:
        self.give = give

    def discard(self, observation: Any) -> Any:
        return self.give(np.zeros(len(observation), dtype=np.int64))

    def play(self, observation: Any) -> Any:
        return self.give(observation.legal.argmax(axis=1))


def without(name: str, value: Any) -> Chosen:
    agent = Chosen()
    setattr(agent, name, value)
    return agent


@pytest.mark.parametrize(
    ("agent", "line"),
    [
        (without("name", None), "Chosen: name is None, expected a text"),
        (without("num_players", 2), "agent chosen: num_players is 2, expected a set"),
        (without("num_players", {"2"}), "agent chosen: num_players is {'2'}, expected a set"),
        (without("play", None), "agent chosen has no method play: expected play"),
        (Chosen, "not an agent: <class .*Chosen"),
    ],
)
def test_an_object_that_is_no_agent_is_refused(agent: Any, line: str) -> None:
    with pytest.raises(AgentError, match=line):
        make_agent(agent)


WRONG = [
    (lambda actions: actions.astype(float), r"float64 \[\d+\], expected whole numbers \[\d+\]"),
    (lambda actions: actions[:, None], r"int64 \[\d+, 1\], expected whole numbers \[\d+\]"),
    (lambda actions: actions[:-1], r"expected whole numbers \[\d+\]"),
    (lambda actions: None, r"object \[\], expected whole numbers"),
    (lambda actions: [[1], [1, 2]], r"gave no array .*, expected whole numbers"),
    (lambda actions: actions + 256, "an illegal action, game 0, hand 0, seat 0: discard action 256 is not one of"),
    (lambda actions: actions - 1, "an illegal action, .* discard action -1 is not one of"),
]


@pytest.mark.parametrize(("give", "line"), WRONG)
def test_choices_that_are_none_name_the_agent(give: Any, line: str) -> None:
    with pytest.raises(FaultError, match=f"^agent chosen: .*{line}"):
        play_match([Chosen(give), make_agent("random")], 8, 1)
    with pytest.raises(FaultError, match="^agent chosen: "):
        BestResponseAgent(Chosen(give)).discards_of(first_discards(8))


@pytest.mark.usefixtures("folder")
def test_an_error_in_its_code_is_one_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["evaluate", "agent=outside_broken:Broken", "opponent=random", "games=4"]
    assert main(words) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert re.search(r"agent broken: play raised ZeroDivisionError: .* \(.*outside_broken.py, line 6; DEEPCRIB_T", line)
    monkeypatch.setenv("DEEPCRIB_TRACEBACK", "1")
    assert main(words) == 1
    assert "    return divmod(1, len" in capsys.readouterr().err


def first_discards(count: int) -> Any:
    games = Games(range(count), 1)
    return games.discard_observation(games.deal(), np.zeros(count))


def test_fractions_are_not_cut_off() -> None:
    games = Games(range(4), 1)
    turns = Turns(games)
    settle(turns)
    with pytest.raises(IllegalActionError, match="choices are float64, expected whole numbers"):
        turns.choose(np.arange(4), [0.5] * 4)
    with pytest.raises(IllegalActionError, match="choices are float64, expected whole numbers"):
        games.discard(np.arange(4), np.zeros(4), [0.0] * 4)
    turns.choose(np.arange(0), [])  # an empty list has no type of its own


# --- probabilities ----------------------------------------------------------------------------------------------


def test_a_deterministic_agent_has_its_probabilities_for_free() -> None:
    assert knows_probabilities(Chosen())
    seen = first_discards(5)
    assert (Probabilities(Chosen()).discard_probabilities(seen) == np.eye(15)[[0] * 5]).all()
    games = Games(range(30), 2)
    rows = games.deal()
    for seat in range(2):
        games.discard(rows, np.full(30, seat), np.zeros(30, dtype=int))
    games.start_play()
    games.play(games.to_play, np.full(30, 3))
    told = Probabilities(Chosen()).play_probabilities(games.play_observation(games.to_play))
    assert (told == np.eye(4)[0]).all()  # whatever the first card was, any other one may follow


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (np.ones((3, 1)), r"discard_probabilities gave float64 \[3, 1\], expected floats \[3, 15\]"),
        (np.full((3, 15), 0.1), "agent chosen: discard_probabilities gave a row whose sum is 1.5, expected 1"),
    ],
)
def test_probabilities_that_are_none_name_the_agent(given: np.ndarray, line: str) -> None:
    class Unsure(Chosen):
        def discard_probabilities(self, observation: Any) -> Any:
            return given

        def play_probabilities(self, observation: Any) -> Any:
            raise NotImplementedError

    with pytest.raises(FaultError, match=line):
        BestResponseAgent(Unsure()).discards_of(first_discards(3))


@pytest.mark.slow
def test_its_best_response_gains_on_it() -> None:
    """Throwing and playing whatever comes first costs points, and the best responder to it finds them."""
    found = exploit(make_agent(Chosen()), 8, 1)
    assert found.total.gain > 1
    assert found.total.discards >= 0 and found.total.play >= 0
