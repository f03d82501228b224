"""Runs in two parts have the weights of whole ones, with every kind of target, sampling and head."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deepcrib.files.weights import CheckpointError
from tests.support.replay_runs import PUBLISHED, assert_same_runs, run, small

POOL = {"opponent_share": 0.6, "past_every": 2, "past_kept": 2, "priming": ["random"], "priming_iterations": 2}
HEADS = ["dueling", "categorical"]
WEIGHED = {"sampling": "prioritised", "final_importance_exponent": 0.4}
DOUBLE: dict[str, Any] = {"targets": {"double": True, "trace_decay": 0.5}, "target_every": 4}


@pytest.mark.parametrize(
    ("play", "algorithm", "options"),
    [
        ("mlp", "monte_carlo", {}),
        (PUBLISHED, "expected_sarsa", {}),
        ("mlp", "q_learning", {"buffer_size": 300, "replacement": 0.3}),
        ("mlp", "q_learning", {"combined": True} | DOUBLE),  # stopped while the target network lags
        ("mlp", "sarsa", {"met": ["greedy", "past"], "discard_agent": "greedy"} | POOL),
        ("mlp", "sarsa", {"met": ["greedy", "past"], "unit": "games", "episodes": 3} | POOL),
        *(("mlp", "q_learning", {"head": head} | WEIGHED | DOUBLE) for head in HEADS),
    ],
)
def test_n_and_n_iterations_are_2n(play: str, algorithm: str, options: dict, tmp_path: Path) -> None:
    """With every kind of target, sampling and head, with a pool of past players and others' discards."""
    options = dict(options)
    head = options.pop("head", "value")
    met = options.pop("met", [])
    half = small(algorithm=algorithm, play=play, iterations=3, **options)
    whole = small(algorithm=algorithm, play=play, iterations=6, **options)
    for settings in (half, whole):
        settings.learner.opponents = met
        for network in (settings.discard_network, settings.play_network):
            network.head = head
    run(tmp_path / "whole", whole)
    first = run(tmp_path / "halves", half)
    second = run(tmp_path / "halves", whole, resume=True)
    assert (first.iterations, second.iterations) == (3, 6)
    assert whole.learner.unit == "games" or second.hands == 2 * first.hands
    assert second.learner.seconds > first.learner.seconds
    assert_same_runs(tmp_path / "whole", tmp_path / "halves")


def test_resuming_nothing(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="state.pt") as error:
        run(tmp_path, small(), resume=True)
    assert "\n" not in str(error.value)
