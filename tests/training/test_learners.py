"""What the job `train` does with a learner that is not the default one, from the command line to the run folder."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from safetensors.numpy import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from deepcrib.agents import make_agent
from deepcrib.cli import main
from deepcrib.jobs.train.learners import weighted
from deepcrib.training.checkpointing import STATE_FILE


class Loop:
    """A loop in the place of the real one: learns nothing, saves its state every two games, may be interrupted."""

    def __init__(self, stops_after: int | None = None) -> None:
        self.stops_after = stops_after
        self.resumed = False

    def prepare(self, settings: Any, state: Path | None) -> Any:
        return SimpleNamespace(games=0 if state is None else int(state.read_text()))

    def train(
        self,
        settings: Any,
        folder: Path,
        match: Callable[..., Any],
        *,
        dealing: str,
        writer: Any,
        progress: Callable[..., None],
        resume: bool,
    ) -> Any:
        state = folder / STATE_FILE
        agent, self.resumed = make_agent("greedy"), resume
        done = self.prepare(settings, state if resume else None).games
        for games in range(done + 1, settings.learner.games + 1):
            writer.add_scalar("rate", match(agent, "random", 4, games).win_rate, games)
            progress(games, {"random/win_rate": 0.5})
            if games == self.stops_after:
                writer.flush()
                raise KeyboardInterrupt
            if games % 2 == 0:
                state.write_text(str(games))
        return SimpleNamespace(agent=agent, games=settings.learner.games, hands=10, seconds=1.0)


def train(*words: str) -> int:
    return main(["train", *words])


def new_run(folder: Path) -> list[str]:
    options = ["learner=weighted", "learner.games=5", "evaluation.opponents=[random]", "evaluation.final_games=200"]
    return [*options, "rules=random_dealer", f"hydra.run.dir={folder}"]


def steps(folder: Path, tag: str) -> list[int]:
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0}).Reload()
    return [event.step for event in events.Scalars(tag)]


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Loop:
    loop = Loop()
    monkeypatch.setattr(weighted, "weighted", loop)
    return loop


def test_a_run_of_another_learner_leaves_what_every_run_leaves(
    loop: Loop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(*new_run(tmp_path)) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["random"]["games"] == 200 and summary["random"]["win_rate"] > 0.5
    assert "trained agent (5 games, 10 hands, 1 s)" in capsys.readouterr().out
    config = yaml.safe_load((tmp_path / "config.yaml").read_text())
    assert (config["learner"]["name"], config["learner"]["games"]) == ("weighted", 5)
    assert steps(tmp_path, "rate") == [1, 2, 3, 4, 5]
    assert steps(tmp_path / "final", "random/win_rate") == [5]


def test_the_table_of_hyperparameters_holds_what_the_learner_reads(loop: Loop, tmp_path: Path) -> None:
    assert train(*new_run(tmp_path)) == 0
    events = EventAccumulator(str(tmp_path / "final")).Reload()
    data = events.SummaryMetadata("_hparams_/session_start_info").plugin_data.content
    assert b"learner.scaling" in data and b"rules.name" in data
    assert b"algorithm" not in data and b"play_network" not in data


def test_an_interrupted_run_of_another_learner_goes_on(loop: Loop, tmp_path: Path) -> None:
    """From its saved state, with its own class of options, and without the events written after that state."""
    loop.stops_after = 3
    assert train(*new_run(tmp_path)) == 130
    assert (tmp_path / STATE_FILE).read_text() == "2"
    loop.stops_after = None
    time.sleep(1.1)  # event files are read in the order of the seconds in their names
    assert train(f"resume={tmp_path}", "learner.games=7", "learner.cap=0.5") == 0
    assert loop.resumed
    config = yaml.safe_load((tmp_path / "config.yaml").read_text())
    assert (config["learner"]["games"], config["learner"]["cap"], config["rules"]["name"]) == (7, 0.5, "random_dealer")
    assert steps(tmp_path, "rate") == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("learner.iterations=9", "learner.iterations is an option of learner=replay, not of learner=weighted"),
        ("learner.gamez=9", "unknown option learner.gamez: did you mean learner.games?"),
        ("learner.games=few", "learner.games=few: expected a whole number"),
        ("evaluation.epsilon=0.1", "evaluation.epsilon=0.1: learner=weighted does not read it"),
        ("learner.name=replay", "learner.name=replay: expected weighted"),
    ],
)
def test_a_resumed_run_knows_its_learner(
    word: str, expected: str, loop: Loop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(*new_run(tmp_path)) == 0
    capsys.readouterr()
    assert train(f"resume={tmp_path}", word) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert expected in line


def test_a_weighted_run_that_is_resumed_ends_where_one_run_does(tmp_path: Path) -> None:
    """With the real loop: 20 games and 20 more have the weights of 40, and `evaluate` plays with the folder."""
    short = ["learner.checkpoint_every=10", "evaluation.opponents=[random_weights]", "evaluation.final_games=20"]
    words = ["experiment=lang2018_round_2_static", *short]
    parts, whole = tmp_path / "parts", tmp_path / "whole"
    assert train(*words, "learner.games=20", f"hydra.run.dir={parts}") == 0
    assert train(f"resume={parts}", "learner.games=40") == 0
    assert train(*words, "learner.games=40", f"hydra.run.dir={whole}") == 0
    ours, theirs = (load_file(folder / "weights.safetensors") for folder in (parts, whole))
    assert set(ours) == set(theirs) and all((ours[name] == theirs[name]).all() for name in ours)
    start = load_file(whole / "checkpoints" / "games_00000000.safetensors")
    assert any((start[name] != theirs[name]).any() for name in start)
    assert main(["evaluate", f"agent={parts}", "opponent=random", "games=4", f"hydra.run.dir={tmp_path}/match"]) == 0
