"""What a run of `learner=replay` writes and keeps, and how it begins."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from deepcrib.agents import AgentError, make_agent
from deepcrib.errors import OptionError
from deepcrib.game.engine import Games
from deepcrib.jobs.train.config import unread
from deepcrib.jobs.train.monitoring import charts_of
from deepcrib.learners.pretraining.show import ShowPretraining
from deepcrib.learners.replay import play
from deepcrib.matches import play_match
from deepcrib.matches.trajectories import Trajectories, self_play
from tests.support.checkpoints import load_weights
from tests.support.reference import plain_discards
from tests.support.replay_runs import assert_same_runs, run, small, weights
from tests.support.replaying import saved


def test_what_a_run_leaves(tmp_path: Path) -> None:
    """Final weights, and those of every saved iteration; each an agent by its path."""
    result = run(tmp_path, small(iterations=5))
    assert result.weights == tmp_path / "weights.safetensors"
    names = sorted(path.name for path in (tmp_path / "checkpoints").iterdir())
    assert names == [f"iterations_0000000{number}.safetensors" for number in (0, 2, 4, 5)]
    final = load_weights(tmp_path)
    expected = {"rules": "acc", "learner": "replay", "algorithm": "sarsa", "seed": 1, "iteration": 5, "hands": 100}
    expected |= {"reward_play": "offensive_defensive", "reward_discard": "own"}
    assert final.metadata.items() >= expected.items()
    loaded = make_agent(tmp_path)
    games = [play_match([agent, make_agent("greedy")], 20, 3) for agent in (result.agent, loaded)]
    assert (games[0].scores == games[1].scores).all()
    assert load_weights(tmp_path / "checkpoints" / names[1]).metadata["iteration"] == 2


@pytest.mark.parametrize("by", ["greedy", {"name": "weighted", "initial": "hand_max_min"}])
def test_a_run_keeps_its_discard_agent(by: Any, tmp_path: Path) -> None:
    """Its folder and its checkpoints are agents that discard as the run did."""
    result = run(tmp_path, small(discard_agent=by))
    assert load_weights(tmp_path).metadata["discards_by"] == by
    table = Games(np.arange(200), 3)
    seen = table.discard_observation(table.deal(), np.zeros(200, dtype=np.int8))
    expected = make_agent(by).discard(seen)
    for path in (tmp_path, tmp_path / "checkpoints" / "iterations_00000002.safetensors"):
        np.testing.assert_array_equal(make_agent(path).discard(seen), expected)
    again, other = make_agent(tmp_path), make_agent({"path": str(tmp_path), "discards": "random"})
    assert (play_match((again, result.agent), 20, 3, duplicate=True).winner == 0).mean() == 0.5  # twins
    assert (other.discard(seen) != expected).any()
    assert load_weights(run(tmp_path / "both", small()).weights).metadata["discards_by"] is None


def test_another_runs_discards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights are kept with the run, which can be moved alone; where they are gone a line says so, and what helps."""
    run(tmp_path / "first", small(seed=2))
    monkeypatch.chdir(tmp_path)
    run(tmp_path / "second", small(discard_agent={"name": "q_network", "path": "first"}))
    run(tmp_path / "third", small(discard_agent="second/weights.safetensors"))
    kept = [load_weights(tmp_path / name).metadata["discards_by"] for name in ("second", "third")]
    files = [file for name in ("second", "third") for file in (tmp_path / name / "agents").glob("*.safetensors")]
    assert kept == [{"name": "q_network", "path": f"agents/{files[0].name}"}, f"agents/{files[1].name}"]
    for file, copied in zip(files, ("first", "second"), strict=True):
        assert file.read_bytes() == (tmp_path / copied / "weights.safetensors").read_bytes()
    monkeypatch.chdir("/")
    table = Games(np.arange(200), 3)
    seen = table.discard_observation(table.deal(), np.zeros(200, dtype=np.int8))
    expected = make_agent(tmp_path / "first").discard(seen)
    for name in ("second", "third"):
        np.testing.assert_array_equal(make_agent(tmp_path / name).discard(seen), expected)
    (tmp_path / "first").rename(tmp_path / "moved")
    (tmp_path / "third").rename(tmp_path / "alone")
    shutil.rmtree(tmp_path / "second" / "agents")
    np.testing.assert_array_equal(make_agent(tmp_path / "alone").discard(seen), expected)
    with pytest.raises(AgentError) as error:
        make_agent(tmp_path / "second")
    weights = tmp_path / "second" / "weights.safetensors"
    said = f"{weights} names an agent that cannot be made: no checkpoint at {files[0]}; "
    assert str(error.value) == said + f"name another as {{path: {weights}, discards: AGENT}}"
    other = make_agent({"path": str(tmp_path / "second"), "discards": str(tmp_path / "moved")})
    np.testing.assert_array_equal(other.discard(seen), expected)


def test_fixed_discards_train_the_play_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hands are thrown as the fixed agent throws them, and no discard network is made, trained or saved."""
    seen: list[Trajectories] = []

    def spy(*args: Any, **options: Any) -> Trajectories:
        seen.append(self_play(*args, **options))
        return seen[-1]

    monkeypatch.setattr(play, "self_play", spy)
    figures: list[Any] = []
    settings = small(discard_agent="greedy")
    settings.pretraining.enabled = True  # there is nothing to pretrain
    result = run(tmp_path, settings, progress=lambda done, found: figures.append(found))
    assert result.agent.discard_q is None and result.agent.discards_by.name == "greedy"
    checkpoint = load_weights(tmp_path)
    assert checkpoint.discard_network is None and checkpoint.discard_encoder is None
    assert checkpoint.play_network is not None
    assert saved(tmp_path)["discard"] is None
    assert "loss/play" in figures[0] and "loss/discard" not in figures[0]
    for states, actions in zip(seen[0].discard_states, seen[0].discard_actions, strict=True):
        for seat in (0, 1):
            assert actions[seat] in plain_discards("greedy", states[seat, :6].tolist())


@pytest.fixture
def pretraining(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Pretraining that only sets the biases to 0.5; the list grows by its seed at each call."""
    seeds: list[int] = []

    def step(stage: Any) -> dict[str, float]:
        seeds.append(stage.setting.seed)
        with torch.no_grad():
            for parameter in stage.network.parameters():
                if parameter.dim() == 1:
                    parameter.fill_(0.5)
        stage.steps_done = stage.num_steps
        return {}

    monkeypatch.setattr(ShowPretraining, "step", step)
    return seeds


def test_pretraining_comes_first_and_once(pretraining: list[int], tmp_path: Path) -> None:
    half, whole = small(iterations=2), small(iterations=4)
    for settings in (half, whole):
        settings.pretraining.enabled = True
    run(tmp_path / "whole", whole)
    assert len(pretraining) == 1
    run(tmp_path / "halves", half)
    run(tmp_path / "halves", whole, resume=True)
    assert len(pretraining) == 2
    assert_same_runs(tmp_path / "whole", tmp_path / "halves")
    whole.learner.iterations = 0
    run(tmp_path / "none", whole)
    network = load_weights(tmp_path / "none").discard_network
    assert all((value == 0.5).all() for value in network.state_dict().values() if value.dim() == 1)


def tensors(folder: Path) -> dict[str, Any]:
    """The weights alone."""
    return {name: value for name, value in weights(folder).items() if name != "metadata"}


def test_training_that_begins_with_other_weights(pretraining: list[int], tmp_path: Path) -> None:
    """Of either network, with new optimisers, in place of pretraining; a resumed run goes on with its own."""
    first, other = tmp_path / "first", small(iterations=0, seed=2)
    run(first, small(iterations=2))
    run(tmp_path / "other", other)
    assert tensors(tmp_path / "other") != tensors(first)
    other.learner.initial, other.pretraining.enabled = str(first), True
    run(tmp_path / "taken", other)
    assert tensors(tmp_path / "taken") == tensors(first) and not pretraining
    whole, half = (small(iterations=n, seed=2, initial=str(first)) for n in (4, 2))
    run(tmp_path / "whole", whole)
    run(tmp_path / "halves", half)
    run(tmp_path / "halves", whole, resume=True)
    assert_same_runs(tmp_path / "whole", tmp_path / "halves")
    run(tmp_path / "play alone", small(iterations=0, initial=str(first), discard_agent="greedy"))
    assert tensors(tmp_path / "play alone") == {
        name: value for name, value in tensors(first).items() if name.startswith("play.")
    }


def test_weights_that_training_cannot_begin_with(tmp_path: Path) -> None:
    run(tmp_path / "play alone", small(iterations=0, discard_agent="greedy"))
    run(tmp_path / "both", small(iterations=0))
    wider, seeing = (small(initial=str(tmp_path / "both")) for _ in range(2))
    wider.discard_network.hidden, seeing.state.scores = [17], True
    for settings, message in (
        (
            small(initial=str(tmp_path / "play alone")),
            "it has no discard network; expected one, or learner.discard_agent",
        ),
        (small(initial="greedy"), "learner.initial=greedy: expected networks that learner=replay has trained"),
        (wider, r"its discard network has hidden=\[16\] \(expected hidden=\[17\]\)"),
        (seeing, r"its play network has scores=False \(expected scores=True\)"),
    ):
        with pytest.raises(OptionError, match=message):
            run(tmp_path / "refused", settings)
    with pytest.raises(AgentError, match="unknown agent 'nobody'"):
        run(tmp_path / "refused", small(initial="nobody"))


def test_rules_with_a_random_dealer(tmp_path: Path) -> None:
    run(tmp_path, small(unit="games", episodes=8, iterations=1), dealing="random_dealer")
    assert load_weights(tmp_path).metadata["rules"] == "random_dealer"
    dealers = saved(tmp_path)["buffer"][0]["dealer"].numpy()
    assert len(dealers) > 8 * 5


def test_a_learner_of_ones_own_reads_what_the_one_that_it_derives_from_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pretraining too, which comes before it; its charts are those that it imports."""
    lines = (
        "from deepcrib.learners.replay.learner import CHARTS, ReplayLearner\n\n\nclass Mine(ReplayLearner):\n    pass\n"
    )
    (tmp_path / "mine_of_replay.py").write_text(lines)
    monkeypatch.syspath_prepend(tmp_path)
    assert not unread("mine_of_replay:Mine") and not unread("replay")
    assert charts_of("mine_of_replay:Mine") == charts_of("replay") != {}
