"""N environments in one step are N single ones, whatever the threads, and pay what the engine counts."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from deepcrib.agents import make_agent
from deepcrib.envs import ENVIRONMENTS, random_actions
from deepcrib.errors import OptionError
from deepcrib.game.engine import IllegalActionError
from deepcrib.kernels.workers import use_workers

GAME, PLAY_ONLY, BANDIT = ENVIRONMENTS
Step = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def make(name: str = GAME, num_envs: int = 5, **options: Any) -> gymnasium.vector.VectorEnv:
    return gymnasium.make_vec(name, num_envs=num_envs, **options)


def trajectory(env: gymnasium.vector.VectorEnv, steps: int, seed: int = 3) -> list[Step]:
    """(observations, masks, rewards, terminations) of random legal actions, by a seed of their own."""
    rng = np.random.default_rng(1)
    shown, _ = env.reset(seed=seed)
    taken = []
    for _ in range(steps):
        shown, rewards, over, _, _ = env.step(random_actions(shown["action_mask"], rng))
        taken.append((shown["observation"], shown["action_mask"], rewards, over))
    return taken


def assert_same(one: list[Step], two: list[Step]) -> None:
    for first, second in zip(one, two, strict=True):
        for a, b in zip(first, second, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        (GAME, {}),
        (GAME, {"num_players": 3, "opponent": ["random", "deterministic"], "reward": "margin"}),
        (PLAY_ONLY, {"episode": "hand"}),
        (BANDIT, {"reward": "exact"}),
    ],
)
def test_each_environment_is_a_single_one(name: str, options: dict[str, Any]) -> None:
    """Environment i plays the episodes i, i + N, ... of the seed; a step after the last begins the next."""
    env = make(name, num_envs=3, **options)
    singles = [gymnasium.make(name, **options).unwrapped for _ in range(3)]
    shown, info = env.reset(seed=7)
    numbers = [0, 1, 2]
    for row, single in enumerate(singles):
        alone, told = single.reset(seed=7, options={"episode": row})
        assert (alone["observation"] == shown["observation"][row]).all()
        assert told["seat"] == info["seat"][row] and told["episode_number"] == info["episode_number"][row]
    rng, over = np.random.default_rng(2), np.zeros(3, dtype=bool)
    for _ in range(150):
        actions = random_actions(shown["action_mask"], rng)
        shown, rewards, terminated, truncated, info = env.step(actions)
        assert not truncated.any() and env.observation_space.contains(shown)
        for row, single in enumerate(singles):
            if over[row]:
                numbers[row] += 3
                alone, told = single.reset(seed=7, options={"episode": numbers[row]})
                reward, ended = 0.0, False
            else:
                alone, reward, ended, _, told = single.step(actions[row])
            assert (reward, ended) == (rewards[row], terminated[row])
            for key in alone:
                assert (alone[key] == shown[key][row]).all()
            for key in told:
                assert info[f"_{key}"].all() and (info[key][row] == told[key]).all()
        over = terminated
    assert min(numbers) >= 3  # several episodes each


def test_same_step_and_disabled_show_the_same_episodes() -> None:
    """Their episodes are those of NEXT_STEP, where the step that begins one is left out."""
    options = {"num_envs": 4, "episode": "hand"}
    same, off = make(autoreset_mode="SameStep", **options), make(autoreset_mode=AutoresetMode.DISABLED, **options)
    assert same.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    shown, _ = same.reset(seed=5)
    other, _ = off.reset(seed=5)
    rng = np.random.default_rng(3)
    ends = 0
    for _ in range(60):
        assert (shown["observation"] == other["observation"]).all()
        actions = random_actions(shown["action_mask"], rng)
        shown, rewards, over, _, info = same.step(actions)
        other, other_rewards, other_over, _, other_info = off.step(actions)
        assert (rewards == other_rewards).all() and (over == other_over).all()
        if over.any():
            assert (info["_final_obs"] == over).all() and (info["_final_info"] == over).all()
            for row in np.flatnonzero(over):
                ends += 1
                assert (info["final_obs"][row]["observation"] == other["observation"][row]).all()
                assert (info["final_info"]["scores"][row] == other_info["scores"][row]).all()
            with pytest.raises(gymnasium.error.ResetNeeded):
                off.step(actions)
            other, told = off.reset(options={"reset_mask": over})
            assert (told["_seat"] == over).all()
        else:
            assert "final_obs" not in info
    assert ends >= 40


@pytest.mark.usefixtures("many_parts")
def test_the_number_of_threads_changes_nothing() -> None:
    runs = []
    for threads in (1, 2):
        use_workers(threads)
        runs.append(trajectory(make(num_envs=200), 60))
    assert_same(*runs)


def test_the_same_seed_gives_the_same_trajectories_and_another_does_not() -> None:
    first = trajectory(make(), 40)
    assert_same(first, trajectory(make(), 40))
    assert (first[0][0] != trajectory(make(), 40, seed=4)[0][0]).any()
    env = make(num_envs=30)
    shown, _ = env.reset(seed=3)
    assert len(np.unique(shown["observation"], axis=0)) == 30  # no two share cards
    again, info = env.reset()
    assert info["episode_number"].tolist() == list(range(30, 60))
    assert (again["observation"] != shown["observation"]).any(axis=1).all()


def test_arrays_that_were_shown_stay_as_they_are() -> None:
    env = make(num_envs=3, autoreset_mode="Disabled")
    first = env.reset(seed=1)[0]
    before = first["observation"].copy()
    second = env.step(random_actions(first["action_mask"], np.random.default_rng(1)))[0]
    then = second["observation"].copy()
    third = env.reset(options={"reset_mask": np.array([True, False, False])})[0]
    assert (first["observation"] == before).all() and (second["observation"] == then).all()
    assert (third["observation"] != then).any(axis=1).tolist() == [True, False, False]


@pytest.mark.parametrize("players", [2, 3])
def test_agents_that_must_be_asked_play_as_compiled_ones(players: int) -> None:
    class Asked:
        """Random, but not known as a scripted agent."""

        name = "asked"
        num_players = frozenset({2, 3, 4})

        def __init__(self) -> None:
            self.discard, self.play = make_agent("random").discard, make_agent("random").play

    compiled, asked = (make(num_envs=70, num_players=players, opponent=o) for o in ("random", Asked()))
    assert_same(trajectory(compiled, 60), trajectory(asked, 60))


def test_masks_allow_what_the_engine_allows_and_nothing_else() -> None:
    env = make(PLAY_ONLY, num_envs=40, on_illegal="raise")
    shown, _ = env.reset(seed=1)
    rng = np.random.default_rng(1)
    for _ in range(10):
        episodes = env.unwrapped
        before = shown["observation"].copy()
        for wrong in range(19):
            actions = random_actions(shown["action_mask"], rng)
            row = wrong % 40
            if not shown["action_mask"][row, wrong]:
                actions[row] = wrong
                with pytest.raises(IllegalActionError, match=f"game {episodes.state['number'][row]},"):
                    env.step(actions)
        assert (before == episodes.observations).all()
        shown, *_ = env.step(random_actions(shown["action_mask"], rng))
    penalised = make(num_envs=3)
    penalised.reset(seed=1)
    _, rewards, over, _, info = penalised.step([18, 0, 18])
    assert rewards.tolist() == [-121, 0, -121] and over.tolist() == [True, False, True] == info["illegal"].tolist()


def test_random_actions_are_uniform_over_the_mask() -> None:
    rng = np.random.default_rng(5)
    mask = np.tile(np.array([0, 1, 1, 0, 1], dtype=np.int8), (30_000, 1))
    counts = np.bincount(random_actions(mask, rng), minlength=5)
    assert counts[[0, 3]].tolist() == [0, 0]
    assert np.abs(counts[[1, 2, 4]] - 10_000).max() < 4.5 * np.sqrt(30_000 * 2 / 9)
    assert random_actions(np.zeros((2, 5), dtype=bool), rng).tolist() == [0, 0]


def test_wrong_calls_are_refused() -> None:
    for number in (0, 2.5):
        with pytest.raises(OptionError, match=f"num_envs={number}: expected 1 or more"):
            make(num_envs=number)
    with pytest.raises(OptionError, match="autoreset_mode='later': expected one of NextStep"):
        make(autoreset_mode="later")
    with pytest.raises(OptionError, match="unknown option 'opponents'"):
        make(opponents="greedy")
    env = make()
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step([0] * 5)
    env.reset(seed=1)
    with pytest.raises(ValueError, match="actions of shape"):
        env.step([0] * 4)
    with pytest.raises(OptionError, match="reset_mask"):
        env.reset(options={"reset_mask": np.zeros(5, dtype=bool)})
    with pytest.raises(OptionError, match="reset_mask: expected no seed"):
        env.reset(seed=1, options={"reset_mask": np.array([True] + [False] * 4)})
