"""Commands as tests give them."""

import shlex
from pathlib import Path

import pytest

from deepcrib.cli import main


def refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one line with which a command ends."""
    capsys.readouterr()
    assert main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


def report(command: str, folder: Path) -> int:
    """The exit code of `deepcrib report`, whose run folder this is."""
    return main(["report", *shlex.split(command), f"hydra.run.dir={folder}"])
