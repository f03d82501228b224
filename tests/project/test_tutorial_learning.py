"""Tutorials of parts of one's own are followed as a reader would, in a folder with nothing else."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from tests.support.events import read_events

ROOT = Path(__file__).resolve().parents[2]
PLACE = re.compile(r"`(my_[\w/]+\.(?:py|yaml))`")
SMALL = ["learner.iterations=2", "learner.episodes=16", "pretraining.enabled=false"]
MATCHES = ["evaluation.games=4", "evaluation.final_games=4"]


class Reader:
    """A reader's folder, and the pages that are followed there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def follow(self, page: str) -> tuple[list[str], list[list[str]]]:
        """Put every piece of a page where the line before it says; returns the others, and the commands' words."""
        text = (ROOT / "docs" / "tutorials" / f"{page}.md").read_text(encoding="utf-8")
        others: list[str] = []
        commands: list[list[str]] = []
        for prose, language, code in re.findall(r"(.*?)^```(\w+)\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
            places = PLACE.findall(prose.rstrip().rpartition("\n\n")[2])
            if language == "bash":
                commands += [shlex.split(line)[1:] for line in code.splitlines()]
            elif language == "text":
                continue
            elif places:
                place = self.folder / places[-1]
                place.parent.mkdir(parents=True, exist_ok=True)
                with open(place, "a", encoding="utf-8") as file:  # or a new one
                    file.write(f"\n\n{code}")
            else:
                others.append(code)
        return others, commands

    def run(self, *calls: Sequence[str]) -> list[str]:
        """What commands, or programs by file, print, which must work; in one process, which imports once."""
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
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
        else:
            code = main([first, *words])
            assert code == 0, [code, first, *words]
    printed.append(out.getvalue())
print(json.dumps(printed))
"""


def shorter(commands: Sequence[Sequence[str]], *train: str) -> list[list[str]]:
    """Commands with less to do: trainings with these words too, matches of four games in folders of their own."""
    found = []
    for number, words in enumerate(commands):
        more = [*train, *MATCHES] if words[0] == "train" else ["games=4", f"hydra.run.dir=match{number}"]
        found.append([*words, *([] if any(word.startswith("resume=") for word in words) else more)])
    return found


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    return Reader(tmp_path)


def test_a_reward_an_algorithm_and_a_network_of_ones_own(reader: Reader) -> None:
    others, commands = reader.follow("your_own_reward_algorithm_network")
    assert not others
    *_, resumed = reader.run(*shorter(commands, *SMALL))
    assert "is finished; with more steps" in resumed
    for run in ("run", "run_by_yaml"):
        assert json.loads((reader.folder / run / "summary.json").read_text())["random"]["games"] == 4


def test_an_input_channel_of_ones_own(reader: Reader) -> None:
    others, commands = reader.follow("your_own_input_channel")
    assert not others
    (reader.folder / "channels.py").write_text(CHANNELS)
    *_, channels = reader.run(*shorter(commands, *SMALL), ["channels.py"])
    assert channels.split() == ["186", "missing:", "4", "fives_thrown:", "2"]


def test_a_metric_of_ones_own(reader: Reader) -> None:
    others, commands = reader.follow("your_own_metric")
    assert not others
    reader.run(*shorter(commands, *SMALL[:2]))
    head, *rows = (reader.folder / "run" / "progress.csv").read_text().splitlines()
    column = head.split(",").index("fives/kept")
    assert "pretraining/loss" in read_events(reader.folder / "run")  # as the learner that it derives from
    shares = [float(row.split(",")[column]) for row in rows if row.split(",")[column]]
    assert len(shares) == 2 and all(0 < share <= 1 for share in shares)


CHANNELS = """
import numpy as np
from deepcrib.networks.encoders import make_discard_encoder, make_play_encoder
from deepcrib.networks.encoders.states import COUNT, OWN_RANKS

def ones(encoder, states, action):
    row = encoder.encode(states, np.array([action], dtype=np.int8))[0]
    return [name for name, value in zip(encoder.spec.channel_names(), row.tolist()) if value]

play = make_play_encoder("my_channels:WITH_MISSING")
print(play.width)
states = np.full((1, 24), -1, dtype=np.int8)
states[0, [COUNT, OWN_RANKS]] = 20, 6  # a seven makes 27
print(*(name for name in ones(play, states, 0) if "missing" in name))
states = np.array([[16, 17, 20, 30, 40, 50, 1, 0, 0]], dtype=np.int8)  # two fives first
print(*(name for name in ones(make_discard_encoder("my_channels:WITH_FIVES"), states, 0) if "fives" in name))
"""


def test_a_learner_of_ones_own(reader: Reader) -> None:
    [use], commands = reader.follow("your_own_learner")
    (reader.folder / "use.py").write_text(use)
    short = ["learner.steps=4", "learner.hands=50", "learner.checkpoint_every=2", "evaluation.every=1"]
    train, evaluate, resume, by_yaml = shorter(commands, *short)
    again = [*train, "hydra.run.dir=again", "learner.steps=2"]
    used, *_ = reader.run(
        ["use.py"], train, evaluate, resume, by_yaml, again, [resume[0], "resume=again", *resume[2:], "learner.steps=4"]
    )
    assert float(used.split()[-1]) > 0.53  # against greedy; it is 0.58
    through, resumed = (load_file(reader.folder / run / "weights.safetensors")["cribs"] for run in ("throws", "again"))
    assert np.array_equal(through, resumed) and through.any()
