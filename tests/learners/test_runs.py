"""Runs of every learner: their seed, interruptions and kills, states of other options, mistaken options."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from deepcrib.agents import DivergenceError, make_agent
from deepcrib.cli import main
from deepcrib.files.weights import CheckpointError
from deepcrib.kernels.workers import use_workers
from deepcrib.learners.pretraining.options import PretrainingOptions
from deepcrib.learners.registry import LEARNERS, make_learner
from deepcrib.learners.replay.options import AlgorithmOptions, RewardOptions, StateOptions
from deepcrib.matches import play_match
from deepcrib.networks import DiscardNetworkConfig, PlayNetworkConfig
from deepcrib.training.fit import fit, restore
from deepcrib.training.learner import Learner, Setting
from deepcrib.training.options import EvaluationOptions
from deepcrib.training.run_files import STATE_FILE
from tests.support.events import read_events
from tests.support.figures import no_match

EVOLUTION = {"name": "evolution", "generations": 6, "deals": 20, "held_out": 200, "checkpoint_every": 3}
HILL = {"name": "hill_climb", "games": 160, "pairs": 20, "checkpoint_every": 80}
PARTIDA = {"name": "partida", "sessions": 20, "hands": 50, "final_hands": 100, "checkpoint_every": 10}
POLICY = {"iterations": 4, "hands": 30, "batch_size": 32, "discard_agent": "greedy", "checkpoint_every": 2}
REPLAY = {"name": "replay", "iterations": 4, "unit": "hands", "episodes": 20, "epochs_kept": 2, "checkpoint_every": 2}
WEIGHTED = {"name": "weighted", "games": 60, "checkpoint_every": 20, "switch_every": 7, "opponents": ["random"] * 2}
RUNS: dict[str, dict[str, Any]] = {
    "replay": REPLAY,
    "replay_play": REPLAY | {"discard_agent": "greedy", "lr_schedule": "linear", "sampling": "prioritised"},
    "td": {"name": "td", "hands": 600, "hidden": [4], "checkpoint_every": 200, "lr_schedule": "linear"},
    "partida": PARTIDA,
    "partida_batches": PARTIDA | {"batch_size": 16, "encoding": "one_hot", "epsilon": 0.2, "lr_schedule": "linear"},
    "threshold": EVOLUTION | {"adjust": "mutate", "cards": "different"},
    "population": EVOLUTION | {"update": "population", "genome": "pairs", "score": "crib"},
    "climb_games": HILL | {"unit": "games"},
    "climb_hands": HILL | {"unit": "hands"},
    "weighted": WEIGHTED | {"update_records": True, "exploring_starts": False},
    "weighted_sampled": WEIGHTED | {"update_records": True, "records": "sampled", "record_hands": 100},
    "mirror": POLICY | {"name": "mirror"},
    "nfsp": POLICY | {"name": "nfsp", "recent": 100, "reservoir": 25},
}
"""Small, by name. Memories are full before the end."""
EVERY_RUN = pytest.mark.parametrize("run", RUNS)


def new_learner(run: str, seed: int = 1, *, matches: bool = False, **changes: Any) -> Learner:
    """With `matches`, there are some at the first checkpoint."""
    options = RUNS[run] | changes
    made = LEARNERS[options["name"]].options(**options)
    every = POLICY["checkpoint_every"] if made.name in ("mirror", "nfsp", "replay") else 1
    evaluation = EvaluationOptions(opponents=["random"] if matches else [], every=every if matches else 0)
    groups = {
        "algorithm": AlgorithmOptions("sarsa"),
        "reward": RewardOptions(),
        "pretraining": PretrainingOptions(enabled=False),
        "state": StateOptions("afterstate", "afterstate", True, False),
        "discard_network": DiscardNetworkConfig("mlp", [4]),
        "play_network": PlayNetworkConfig("mlp", [4]),
    }
    return make_learner(made, Setting(seed, evaluation), groups)


def trained(folder: Path, learner: Learner, **more: Any) -> dict[str, bytes]:
    """The files of weights that a run leaves."""
    fit(learner, folder, no_match, **more)
    return {path.name: path.read_bytes() for path in folder.glob("*.safetensors")}


def steps_in(folder: Path, run: str) -> int:
    learner = new_learner(run)
    restore(learner, folder / STATE_FILE)
    return learner.steps_done


@EVERY_RUN
def test_the_same_seed_gives_the_same_weights_on_any_number_of_threads(run: str, tmp_path: Path) -> None:
    """And whatever the state of the libraries' own generators, of which torch's is left alone."""
    found = []
    for name, seed, threads in (("one", 1, 1), ("two", 1, 2), ("other", 2, 1)):
        use_workers(threads)
        torch.manual_seed(900 + threads)
        np.random.seed(900 + threads)  # noqa: NPY002 - the old generator is the one that code might lean on by mistake
        before = torch.random.get_rng_state()
        found.append(trained(tmp_path / name, new_learner(run, seed)))
        assert torch.equal(before, torch.random.get_rng_state())
    use_workers(1)
    assert found[0] == found[1] and found[0] != found[2]


@EVERY_RUN
def test_an_interrupted_run_ends_where_an_uninterrupted_one_does(run: str, tmp_path: Path) -> None:
    """Between its first checkpoint and its end."""
    learner = new_learner(run)

    def stop(done: int, metrics: Any) -> None:
        if done > learner.checkpoint_every:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trained(tmp_path / "parts", learner, progress=stop)
    assert 0 < steps_in(tmp_path / "parts", run) < learner.num_steps
    assert not (tmp_path / "parts" / "weights.safetensors").exists()
    parts = trained(tmp_path / "parts", new_learner(run), resume=True)
    assert parts == trained(tmp_path / "whole", new_learner(run))


@EVERY_RUN
def test_a_run_that_is_killed_in_its_matches_loses_no_step(run: str, tmp_path: Path) -> None:
    learner = new_learner(run, matches=True)
    with pytest.raises(AssertionError, match="no match"):
        trained(tmp_path, learner)
    assert steps_in(tmp_path, run) == learner.checkpoint_every


@pytest.mark.parametrize(
    ("run", "change"),
    [
        ("td", {"hidden": [5]}),
        ("td", {"inputs": "features"}),
        ("td", {"move_points": "added"}),
        ("partida", {"encoding": "one_hot"}),
        ("partida", {"target": "rest"}),
        ("threshold", {"genome": "pairs"}),
        ("climb_hands", {"climb": "play"}),
        ("weighted", {"opponents": ["random"]}),
        ("weighted", {"strategies": ["hand_max_avg", "crib_min_avg"]}),
        ("nfsp", {"reservoir": 24}),
    ],
)
def test_a_state_of_other_options_is_refused(run: str, change: dict[str, Any], tmp_path: Path) -> None:
    trained(tmp_path, new_learner(run))
    with pytest.raises(CheckpointError, match="does not fit the options of this run") as error:
        trained(tmp_path, new_learner(run, **change), resume=True)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("run", "lr"), [("td", 1e6), ("partida", 1e30)])
def test_a_learning_rate_too_high_stops_the_run(run: str, lr: float, tmp_path: Path) -> None:
    with pytest.raises(DivergenceError, match="lower it"):
        trained(tmp_path, new_learner(run, lr=lr))


JOBS = {
    "td_perceptron": "hands=300 learner.hidden=[4] learner.checkpoint_every=100 learner.pairs=10",
    "partida2022/published": "sessions=20 learner.final_hands=200 learner.checkpoint_every=10",
    "kendall_shaw2002/different": "generations=5 learner.held_out=200",
    "pollack_blair/games": "games=80 learner.pairs=20 learner.checkpoint_every=40",
    "lang2018/base": "games=20 learner.checkpoint_every=10",
}


@pytest.mark.parametrize("experiment", JOBS)
def test_an_experiment_trains_measures_and_leaves_an_agent(experiment: str, tmp_path: Path) -> None:
    words = ["evaluation.opponents=[random]", "evaluation.every=1", "evaluation.games=4", "evaluation.final_games=20"]
    words += f"experiment={experiment} learner.{JOBS[experiment]} hydra.run.dir={tmp_path}".split()
    assert main(["train", *words]) == 0
    assert json.loads((tmp_path / "summary.json").read_text())["random"]["games"] == 20
    assert "Win_rate/random" in read_events(tmp_path)
    assert play_match([make_agent(tmp_path), make_agent("random")], 4, 1).scores.max() == 121


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("learner=td learner.hidden=[]", "learner.hidden=[]: expected 1 or more values"),
        ("learner=partida learner.inputs=14", "learner.inputs=14: expected one of 12, 16"),
        ("learner=partida learner.inputs=16", "a network that sees the opponent's cards plays no matches"),
        ("learner=weighted learner.strategies=[hand_max]", "did you mean hand_max_min?"),
        ("learner=evolution learner.adjust=other", "learner.adjust=other: expected one of mutate, select"),
        ("learner=evolution learner.rate=1.5", "learner.rate=1.5: with learner.adjust=merge values diverge above 1"),
        ("learner=evolution learner.parents=8", "learner.parents=8: read with learner.update=population"),
        ("learner=evolution learner.update=population learner.population=8 learner.parents=9", "expected at most"),
        ("learner=evolution learner.update=population learner.adjust=punish", "read with learner.update=threshold"),
        ("learner=hill_climb learner.discards_by=random", "random: read with learner.climb=play alone"),
        ("learner=hill_climb learner.climb=play learner.discards_by=nobody", "unknown agent 'nobody'"),
        *(
            (f"learner={name} play_network=mlp {word}", word)
            for name in ("mirror", "nfsp")
            for word in ("play_network.head=dueling", "state.scores=true")
        ),
    ],
)
def test_mistaken_options_are_one_line(words: str, expected: str, tmp_path: Path, capsys: Any) -> None:
    assert main(["train", *words.split(), f"hydra.run.dir={tmp_path / 'run'}"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert expected in line
    assert not (tmp_path / "run").exists()
