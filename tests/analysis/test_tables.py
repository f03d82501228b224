"""Tables of every command on narrow screens and in pipes."""

import re
import shlex
from collections import Counter
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from deepcrib.cli import main
from deepcrib.jobs.shared import console

COMMANDS = (
    "evaluate agent=greedy opponent=deterministic games=2000 duplicate=true",
    "evaluate play agent=greedy opponent=random hands=200",
    "evaluate pairs agent=greedy opponent=random pairs=200",
    "evaluate audit agent=greedy opponent=deterministic hands=5",
    "evaluate agent=deterministic opponent=greedy games=100 exploit=true deals=8",
    "tournament agents=[greedy,deterministic,random] games=50",
    "tournament league agents=[greedy,deterministic,random] games=50",
    "analyse 5H 5S JD 2C 3C KH agents=[greedy,hand_max_avg,deterministic] score=100-95",
    "train experiment=smoke pretraining.enabled=false learner.iterations=1 learner.episodes=16 evaluation.every=0 "
    "evaluation.final_games=200 evaluation.hands=50",
)


def rendered(table: Any, width: int) -> str:
    file = StringIO()
    Console(file=file, width=width, highlight=False).print(table)
    return file.getvalue()


def numbers(text: str) -> Counter[str]:
    return Counter(re.findall(r"[-+]?\d[\d.,%]*", text))


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_is_cut_at_80_columns(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every number of a table stands whole, as on a screen without end."""
    shown: list[Any] = []

    class Recorder(Console):
        def print(self, *objects: Any, **options: Any) -> None:
            shown.extend(item for item in objects if not isinstance(item, str))

    monkeypatch.setattr(console, "console", Recorder)
    assert main([*shlex.split(command), f"hydra.run.dir={tmp_path / 'run'}"]) == 0
    assert shown
    for table in shown:
        text = rendered(table, 80)
        assert "…" not in text and max(map(len, text.splitlines())) <= 80
        assert numbers(rendered(table, 1000)) <= numbers(text)  # a table split in two repeats its first columns
