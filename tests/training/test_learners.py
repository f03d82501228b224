"""What the job `train` does with a learner that is not the default one, from the command line to the run folder."""

import json
import re
import time
from pathlib import Path

import pytest
import yaml
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from deepcrib.cli import main
from deepcrib.networks.checkpoints import load_state
from deepcrib.training.run_files import STATE_FILE
from tests.support.tiny_learner import TinyLearner, value_after, value_in


def train(*words: str) -> int:
    return main(["train", *words])


def new_run(folder: Path) -> list[str]:
    options = ["learner=weighted", "learner.games=5", "learner.checkpoint_every=2", "rules=random_dealer"]
    matches = ["opponents=[random]", "every=1", "games=4", "final_games=200"]
    return [*options, *(f"evaluation.{word}" for word in matches), f"hydra.run.dir={folder}"]


def steps(folder: Path, tag: str) -> list[int]:
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0}).Reload()
    return [event.step for event in events.Scalars(tag)]


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> type[TinyLearner]:
    """The class that `learner=weighted` now makes."""
    made = type("GameByGame", (TinyLearner,), {"stride": 1})
    monkeypatch.setattr("deepcrib.learners.weighted.learner.WeightedLearner", made)
    return made


def test_a_run_of_another_learner_leaves_what_every_run_leaves(
    tiny: type[TinyLearner], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(*new_run(tmp_path)) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["random"]["games"] == 200 and summary["random"]["win_rate"] > 0.5
    assert summary["learned"] == {"value": value_after(5)}
    assert re.search(r"trained agent \(5 games, \d+ s\)", capsys.readouterr().out)
    config = yaml.safe_load((tmp_path / "config.yaml").read_text())
    assert (config["learner"]["name"], config["learner"]["games"]) == ("weighted", 5)
    assert steps(tmp_path, "value") == [1, 2, 3, 4, 5] and steps(tmp_path, "Win_rate/random") == [2, 4, 5]
    assert steps(tmp_path, "final/random/win_rate") == [5]
    assert value_in(tmp_path / "weights.safetensors") == value_after(5)


def test_matches_at_chosen_checkpoints(tiny: type[TinyLearner], tmp_path: Path) -> None:
    """Of 5 games with a checkpoint every 2, those before the first and after the fourth and the last."""
    words = [word for word in new_run(tmp_path) if word != "evaluation.every=1"]
    assert train(*words, "evaluation.at=[0,2,3]") == 0
    assert steps(tmp_path, "Win_rate/random") == [0, 4, 5]


def test_the_table_of_hyperparameters_holds_what_the_learner_reads(tiny: type[TinyLearner], tmp_path: Path) -> None:
    assert train(*new_run(tmp_path)) == 0
    events = EventAccumulator(str(tmp_path)).Reload()
    data = events.SummaryMetadata("_hparams_/session_start_info").plugin_data.content
    assert b"learner.scaling" in data and b"rules.name" in data
    assert b"algorithm" not in data and b"play_network" not in data


def test_an_interrupted_run_of_another_learner_goes_on(tiny: type[TinyLearner], tmp_path: Path) -> None:
    """From its saved state, with its own class of options, and without the events written after that state."""
    tiny.stops_after = 3
    assert train(*new_run(tmp_path)) == 130
    assert load_state(tmp_path / STATE_FILE)["steps"] == 2 and steps(tmp_path, "value") == [1, 2, 3]
    tiny.stops_after = None
    time.sleep(1.1)  # event files are read in the order of the seconds in their names
    assert train(f"resume={tmp_path}", "learner.games=7", "learner.cap=0.5") == 0
    config = yaml.safe_load((tmp_path / "config.yaml").read_text())
    assert (config["learner"]["games"], config["learner"]["cap"], config["rules"]["name"]) == (7, 0.5, "random_dealer")
    assert steps(tmp_path, "value") == [1, 2, 3, 4, 5, 6, 7]
    assert value_in(tmp_path / "weights.safetensors") == value_after(7)
    assert value_in(tmp_path / "checkpoints" / "games_00000000.safetensors") == 1  # of the run that was interrupted


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("learner.epsilon_decay=9", "unknown option learner.epsilon_decay: "),
        ("learner.gamez=9", "unknown option learner.gamez: did you mean learner.games?"),
        ("learner.games=few", "learner.games=few: expected a whole number"),
        ("evaluation.epsilon=0.1", "evaluation.epsilon=0.1: learner=weighted does not read it"),
        ("learner.name=replay", "learner.name=replay: expected weighted"),
    ],
)
def test_a_resumed_run_knows_its_learner(
    word: str, expected: str, tiny: type[TinyLearner], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(*new_run(tmp_path)) == 0
    capsys.readouterr()
    assert train(f"resume={tmp_path}", word) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert expected in line
