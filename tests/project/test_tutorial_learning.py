"""Tutorials that change the package are followed as a user would, in a copy of the repository."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

ROOT = Path(__file__).resolve().parents[2]
PLACE = re.compile(r"`((?:deepcrib|conf)/[\w/]+\.(?:py|yaml))`")
SMALL = ["learner.iterations=2", "learner.episodes=16", "pretraining.epochs=1"]
MATCHES = ["evaluation.games=4", "evaluation.final_games=4"]


class Copy:
    """The package and its configs where they may be changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("deepcrib", "conf"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))

    def follow(self, page: str) -> tuple[list[str], list[list[str]]]:
        """Put every piece of a page where the line before it says; returns the others, and the commands' words."""
        text = (ROOT / "docs" / "tutorials" / f"{page}.md").read_text(encoding="utf-8")
        others: list[str] = []
        commands: list[list[str]] = []
        for prose, language, code in re.findall(r"(.*?)^```(\w+)\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
            places = PLACE.findall(prose.rstrip().rpartition("\n\n")[2])
            if language == "bash":
                commands += [line.split()[1:] for line in code.splitlines()]
            elif places:
                with open(self.folder / places[-1], "a", encoding="utf-8") as file:  # or a new one
                    file.write(f"\n\n{code}")
            else:
                others.append(code)
        return others, commands

    def run(self, *calls: Sequence[str]) -> list[str]:
        """What commands, or programs by file or module, print, which must work; in one process, which imports once."""
        environment = os.environ | {"PYTHONPATH": str(self.folder)}
        line = [sys.executable, "-c", CALLS, json.dumps(calls)]
        done = subprocess.run(line, cwd=self.folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        printed: list[str] = json.loads(done.stdout)
        return printed


CALLS = """
import io, json, runpy, sys
from contextlib import redirect_stdout
from deepcrib.cli import main

printed = []
for first, *words in json.loads(sys.argv[1]):
    with redirect_stdout(io.StringIO()) as out:
        if first.endswith(".py"):
            runpy.run_path(first, run_name="__main__")
        elif "." in first:
            sys.argv = [first, *words]
            runpy.run_module(first, run_name="__main__")
        else:
            code = main([first, *words])
            assert code == 0, [code, first, *words]
    printed.append(out.getvalue())
print(json.dumps(printed))
"""
PLAYS = ["evaluate", "agent=run", "opponent=greedy", "games=4", "hydra.run.dir=match"]
"""Whether a run's weights are an agent again."""


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


def test_a_reward_an_algorithm_and_a_network_of_ones_own(copy: Copy) -> None:
    others, [command] = copy.follow("your_own_reward_algorithm_network")
    assert not others
    copy.run([*command, *SMALL, *MATCHES, "pretraining.enabled=false", "hydra.run.dir=run"], PLAYS)
    assert json.loads((copy.folder / "run" / "summary.json").read_text())["random"]["games"] == 4


def test_an_input_channel_of_ones_own(copy: Copy) -> None:
    others, [command] = copy.follow("your_own_input_channel")
    assert not others
    (copy.folder / "channels.py").write_text(CHANNELS)
    train = [*command, *SMALL, *MATCHES, "hydra.run.dir=run"]
    page_maker = str(ROOT / "docs" / "_ext" / "observations_page.py")
    *_, channels, page = copy.run(train, PLAYS, ["channels.py"], [page_maker])
    assert channels.split() == ["186", "missing:", "4", "fives_thrown:", "2"]
    assert "| 169-184 | missing | 0 1 2 3" in page and "fives among the two thrown" in page


CHANNELS = """
import numpy as np
from deepcrib.networks.encoders import make_discard_encoder, make_play_encoder
from deepcrib.networks.encoders.states import COUNT, OWN_RANKS

def ones(encoder, states, action):
    row = encoder.encode(states, np.array([action], dtype=np.int8))[0]
    return [name for name, value in zip(encoder.spec.channel_names(), row.tolist()) if value]

play = make_play_encoder("with_missing")
print(play.width)
states = np.full((1, 24), -1, dtype=np.int8)
states[0, [COUNT, OWN_RANKS]] = 20, 6  # a seven makes 27
print(*(name for name in ones(play, states, 0) if "missing" in name))
states = np.array([[16, 17, 20, 30, 40, 50, 1, 0, 0]], dtype=np.int8)  # two fives first
print(*(name for name in ones(make_discard_encoder("with_fives"), states, 0) if "fives" in name))
"""


def test_a_learner_of_ones_own(copy: Copy) -> None:
    [use], (train, evaluate) = copy.follow("your_own_learner")
    (copy.folder / "use.py").write_text(use)
    short = ["learner.steps=4", "learner.hands=50", "learner.checkpoint_every=2", "evaluation.every=1", *MATCHES]
    used, *_ = copy.run(
        ["use.py"],
        [*train, *short],
        [*evaluate, "games=4", "hydra.run.dir=match"],
        [*train[:2], *short, "hydra.run.dir=again", "learner.steps=2"],
        ["train", "resume=again", "learner.steps=4"],
    )
    assert float(used.split()[-1]) > 0.53  # against greedy; it is 0.58
    through, resumed = (load_file(copy.folder / run / "weights.safetensors")["cribs"] for run in ("throws", "again"))
    assert np.array_equal(through, resumed) and through.any()
