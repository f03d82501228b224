"""The page about bots: its file is the example, its commands run, its lines are those that are asked and answered."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from deepcrib.agents import make_agent
from deepcrib.cli import main
from deepcrib.matches import play_match

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "tutorials" / "your_own_bot.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "examples" / "bot.pl"
pytestmark = pytest.mark.skipif(shutil.which("perl") is None, reason="the bot is a program in Perl")


def lines(language: str) -> list[str]:
    blocks = re.findall(rf"^```{language}\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.splitlines()]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader's."""
    monkeypatch.chdir(tmp_path)
    Path("bot.pl").write_text("\n".join(lines("perl")) + "\n")


def test_its_file_is_the_example_of_ten_lines() -> None:
    assert Path("bot.pl").read_text() == EXAMPLE.read_text(encoding="utf-8")
    assert len([line for line in lines("perl") if not line.startswith("#")]) <= 10


@pytest.mark.parametrize("command", lines("bash"))
def test_its_commands(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    program, *words = shlex.split(command)
    short = ["learner.iterations=1", "pretraining.enabled=false", "evaluation.final_games=4"]
    assert program == "deepcrib"
    assert main([*words, *(short if words[0] == "train" else []), "hydra.run.dir=run"]) == 0
    if words[0] == "evaluate":  # the page says what it comes to
        (claimed,) = re.findall(r"It wins ([\d.]+% \[[\d., ]+\]) of these 2,000 games", PAGE)
        assert claimed in capsys.readouterr().out


def test_its_lines_are_those_of_a_game() -> None:
    agent: Any = make_agent({"command": "sh -c 'tee asked | perl bot.pl | tee answered'"})
    play_match([agent, make_agent("greedy")], 1, 1)
    agent.close()  # then all is written
    said = list(zip(*(Path(name).read_text().splitlines() for name in ("asked", "answered")), strict=True))
    shown = lines("json")
    assert len(shown) == 6 and all(pair in said for pair in zip(shown[::2], shown[1::2], strict=True))
