"""The same seed gives the same weights, stopped and resumed too, also after kill -9."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from deepcrib.files.weights import CheckpointError
from deepcrib.kernels.workers import use_workers
from tests.support.replay_runs import PUBLISHED, Stopped, assert_same_runs, for_ever, run, small, weights
from tests.support.replaying import saved

# --- the same seed, the same weights ------------------------------------------------------------------------


@pytest.mark.parametrize(("play", "discard"), [("mlp", "mlp"), (PUBLISHED, "belanger2019")])
def test_the_same_seed_gives_the_same_weights(play: str, discard: str, tmp_path: Path) -> None:
    """Whatever the number of Numba threads and the state of torch's own generator, which is left alone."""
    settings = small(play=play, discard=discard)
    run(tmp_path / "one", settings)
    torch.manual_seed(999)
    np.random.seed(999)  # noqa: NPY002 - the old generator is the one that code might lean on by mistake
    before = torch.random.get_rng_state()
    run(tmp_path / "two", settings)
    assert torch.equal(before, torch.random.get_rng_state())
    assert_same_runs(tmp_path / "one", tmp_path / "two")
    use_workers(1)
    run(tmp_path / "one thread", settings)
    assert_same_runs(tmp_path / "one", tmp_path / "one thread")
    run(tmp_path / "other seed", small(seed=2, play=play, discard=discard))
    assert weights(tmp_path / "one") != weights(tmp_path / "other seed")


# --- resumption ---------------------------------------------------------------------------------------------


POOL = {"opponent_share": 0.6, "past_every": 2, "past_kept": 2, "priming": ["random"], "priming_iterations": 2}
HEADS = [("dueling", False), ("categorical", False), ("value", True), ("categorical", True)]
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
    head, noisy = options.pop("head", ("value", False))
    met = options.pop("met", [])
    half = small(algorithm=algorithm, play=play, iterations=3, **options)
    whole = small(algorithm=algorithm, play=play, iterations=6, **options)
    for settings in (half, whole):
        settings.learner.opponents = met
        for network in (settings.discard_network, settings.play_network):
            network.head, network.noisy = head, noisy
    run(tmp_path / "whole", whole)
    first = run(tmp_path / "halves", half)
    second = run(tmp_path / "halves", whole, resume=True)
    assert (first.iterations, second.iterations) == (3, 6)
    assert whole.learner.unit == "games" or second.hands == 2 * first.hands
    assert second.learner.seconds > first.learner.seconds
    assert_same_runs(tmp_path / "whole", tmp_path / "halves")


def test_a_finished_run_resumes_to_itself(tmp_path: Path) -> None:
    run(tmp_path, small())
    before = weights(tmp_path)
    result = run(tmp_path, small(), resume=True)
    assert result.iterations == 4 and weights(tmp_path) == before


@pytest.mark.parametrize("stop", [2, 3, 5])  # at a saved state, and after one
def test_a_run_stopped_between_two_saved_states(stop: int, tmp_path: Path) -> None:
    """Learning rates and weights that depend on the number of iterations, and a fixed discard agent."""
    settings = small(iterations=6, lr_schedule="linear", discard_agent="greedy", sampling="prioritised")
    run(tmp_path / "whole", settings)

    def interrupt(done: int, figures: Any) -> None:
        if done == stop:
            raise Stopped

    with pytest.raises(Stopped):
        run(tmp_path / "stopped", settings, progress=interrupt)
    assert saved(tmp_path / "stopped")["iteration"] == stop // 2 * 2
    run(tmp_path / "stopped", settings, resume=True)
    assert_same_runs(tmp_path / "whole", tmp_path / "stopped")


def test_resuming_nothing(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="state.pt") as error:
        run(tmp_path, small(), resume=True)
    assert "\n" not in str(error.value)


def kill_at_random(folder: Path, resume: bool, delay: float) -> None:
    """Start a run, wait until it has saved a state, and a moment more; then kill -9."""
    arguments = f"{str(folder)!r}, {'resume' if resume else 'new'!r}"
    call = f"from tests.support.replay_runs import train_for_ever; train_for_ever({arguments})"
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    state = folder / "state.pt"
    before = state.stat().st_mtime_ns if resume else None
    process = subprocess.Popen([sys.executable, "-c", call], env=environment, stderr=subprocess.PIPE, text=True)
    try:
        while not state.exists() or state.stat().st_mtime_ns == before:
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.002)
        time.sleep(delay)
        assert process.poll() is None, process.stderr.read()
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    assert process.returncode == -signal.SIGKILL


@pytest.mark.slow  # test_cli kills a run once in every suite
def test_a_run_killed_at_random_moments_ends_with_the_weights_of_one_never_killed(tmp_path: Path) -> None:
    """kill -9 twice, the second time in a resumed run; other moments every time the test runs."""
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    for resume in (False, True):
        kill_at_random(killed, resume, random.uniform(0, 0.4))
    done = saved(killed)["iteration"]
    assert done % 3 == 0  # 0: killed in pretraining, whose states are saved, too
    run(killed, for_ever(done + 4), resume=True)
    run(whole, for_ever(done + 4))
    assert_same_runs(whole, killed)
