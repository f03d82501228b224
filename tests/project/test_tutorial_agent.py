"""The tutorials work as a reader follows them: their files in a folder of its own, and their commands run there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

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


def started(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """A command of the shell, with the installed scripts first on the path and no PYTHONPATH."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    clean["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), clean["PATH"]])
    return subprocess.run(command, shell=True, cwd=folder, env=clean, capture_output=True, text=True)


def run(folder: Path, command: str) -> str:
    """What a command prints that must work."""
    done = started(folder, command)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_page_measures_and_trains() -> None:
    assert len(AGENT.splitlines()) <= 30
    assert [command.split()[1] for command in COMMANDS] == ["evaluate", "evaluate", "tournament", "evaluate", "train"]


@pytest.mark.parametrize("number", range(len(COMMANDS)))
def test_its_commands(folder: Path, number: int) -> None:
    printed = run(folder, f"{COMMANDS[number]} hydra.run.dir=run{number}")
    assert "careful" in printed
    if number == 0:  # the page says what this one comes to
        (claimed,) = re.findall(r"It wins ([\d.]+% \[[\d., ]+\]) of these 20,000 games", PAGE)
        assert claimed in printed


def test_its_program(folder: Path) -> None:
    assert float(run(folder, "python use.py")) == pytest.approx(0.54, abs=0.04)


def test_a_wrong_call_ends_with_one_line(folder: Path) -> None:
    done = started(folder, "deepcrib evaluate agent=my_agent:Careles opponent=greedy games=2")
    assert done.returncode == 2
    assert re.fullmatch(r"deepcrib: agent 'my_agent:Careles': module my_agent \(.*\) has no Careles\n", done.stderr)
