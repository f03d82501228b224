"""The tutorials work as a reader follows them: their files in a folder of its own, and their commands run there."""

import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from deepcrib.cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "tutorials" / "your_own_agent.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


AGENT, USE = blocks("python")
COMMANDS = [line for block in blocks("bash") for line in block.splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reader's folder."""
    place = tmp_path_factory.mktemp("reader")
    (place / "my_agent.py").write_text(AGENT)
    (place / "use.py").write_text(USE)
    return place


@pytest.fixture
def there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """In that folder, as a process that has imported nothing from it."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", sys.path[:])
    yield
    sys.modules.pop("my_agent", None)


def test_the_page_measures_and_trains() -> None:
    assert len(AGENT.splitlines()) <= 30
    assert [command.split()[1] for command in COMMANDS] == ["evaluate", "evaluate", "tournament", "evaluate", "train"]


@pytest.mark.parametrize("number", range(len(COMMANDS)))
def test_its_commands(there: None, number: int, capsys: pytest.CaptureFixture[str]) -> None:
    program, *words = shlex.split(COMMANDS[number])
    assert program == "deepcrib" and main([*words, f"hydra.run.dir=run{number}"]) == 0
    printed = capsys.readouterr().out
    assert "careful" in printed
    if number == 0:  # the page says what this one comes to
        (claimed,) = re.findall(r"It wins ([\d.]+% \[[\d., ]+\]) of these 20,000 games", PAGE)
        assert claimed in printed


def test_its_program(there: None, capsys: pytest.CaptureFixture[str]) -> None:
    sys.path.insert(0, "")
    runpy.run_path("use.py")
    assert float(capsys.readouterr().out) == pytest.approx(0.54, abs=0.04)


def test_a_wrong_call_ends_with_one_line(folder: Path) -> None:
    """By the installed script in a process of its own, with no PYTHONPATH."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    words = [Path(sys.executable).with_name("deepcrib"), "evaluate", "agent=my_agent:Careles", "opponent=greedy"]
    done = subprocess.run([*words, "games=2"], cwd=folder, env=clean, capture_output=True, text=True)
    assert done.returncode == 2
    line = r"deepcrib: agent 'my_agent:Careles': module my_agent \(.*\) has no Careles: did you mean Careful\?\n"
    assert re.fullmatch(line, done.stderr)
