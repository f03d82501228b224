"""Tutorials are followed as a user would, in a copy of the repository."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = ROOT / "docs" / "tutorials"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The package and its configs where they may be changed."""
    for folder in ("deepcrib", "conf"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_a_reward_an_algorithm_and_a_network_of_ones_own(copy: Path) -> None:
    text = (TUTORIALS / "your_own_reward_algorithm_network.md").read_text(encoding="utf-8")
    parts = re.findall(r"`((?:deepcrib|conf)/[\w/.]+)`(?:(?!```).)*?```(python|yaml)\n(.*?)```", text, re.DOTALL)
    assert [language for _, language, _ in parts].count("yaml") == 3 and len(parts) == 6
    for name, _, code in parts:
        with open(copy / name, "a", encoding="utf-8") as file:  # a YAML is new
            file.write(f"\n\n{code}")
    [command] = re.findall(r"```bash\n(.*)\n```", text)
    words = [*command.split()[1:], "learner.iterations=2", "learner.episodes=16", "pretraining.enabled=false"]
    words += ["evaluation.games=4", "evaluation.final_games=4", "hydra.run.dir=run"]
    environment = os.environ | {"PYTHONPATH": str(copy)}
    done = subprocess.run(
        [sys.executable, "-m", "deepcrib", *words], cwd=copy, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((copy / "run" / "summary.json").read_text())["random"]["games"] == 4
    again = ["evaluate", "agent=run", "opponent=greedy", "games=4", "hydra.run.dir=match"]
    done = subprocess.run(
        [sys.executable, "-m", "deepcrib", *again], cwd=copy, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
