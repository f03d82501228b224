"""The examples run, in a short form, and their clients are told the truth by the environments."""

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import gymnasium
import numpy as np
import pytest

import deepcrib.envs  # noqa: F401  registers the environments

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
PAGE = (ROOT / "docs" / "environments.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def example() -> ModuleType:
    pytest.importorskip("sb3_contrib")
    return load("maskable_ppo")


def test_maskable_ppo_in_its_short_form(
    example: ModuleType, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = ["--steps", "600", "--games", "20", "--envs", "16", "--save", str(tmp_path / "model")]
    rate = example.main(words)
    lines = capsys.readouterr().out.splitlines()
    assert 0 <= rate <= 1 and (tmp_path / "model.zip").is_file()
    assert lines[-1].startswith(f"against greedy: {100 * rate:.1f}% [") and lines[-1].endswith("of 20 full games")


@pytest.mark.slow
def test_maskable_ppo_learns_what_a_card_is_worth(example: ModuleType) -> None:
    """Against a random player even a few seconds of training win most games: random against itself wins half."""
    from deepcrib.agents import make_agent
    from deepcrib.evaluation.evaluate import evaluate

    model = example.train("random", 60_000, 256, 1)
    figures = evaluate(example.as_agent(model), make_agent("random"), 400, 2)
    assert figures.ci_low > 0.6


def test_maskable_ppo_takes_one_environment_as_it_is() -> None:
    """Its own wrappers find `action_masks`, and it never chooses what the mask forbids (the engine would raise)."""
    sb3 = pytest.importorskip("sb3_contrib")
    env = gymnasium.make("deepcrib/Cribbage-v1", episode="hand", on_illegal="raise")
    model = sb3.MaskablePPO("MultiInputPolicy", env, n_steps=64, batch_size=64, n_epochs=1, seed=1)
    model.learn(256)
    observation, _ = env.reset(seed=3)
    over = False
    while not over:
        masks = env.get_wrapper_attr("action_masks")()
        action, _ = model.predict(observation, action_masks=masks)
        assert masks[action] and (masks == observation["action_mask"].astype(bool)).all()
        observation, _, over, _, _ = env.step(int(action))
    env.close()


def test_the_adapter_shows_the_mask_of_the_observation_that_it_gave(example: ModuleType) -> None:
    env = example.SB3VecEnv(example.batched(8, opponent="random", episode="hand", reward="margin"), 1)
    env.reset()
    rng = np.random.default_rng(1)
    ends = 0
    for _ in range(40):
        masks = np.stack(env.env_method("action_masks"))
        assert masks.any(axis=1).all()
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
        observations, rewards, dones, infos = env.step(actions)
        ends += int(dones.sum())
        assert observations.shape == (8, *env.observation_space.shape) and len(infos) == 8
        assert np.isfinite(rewards).all() and (np.abs(rewards) < 10).all()  # no illegal action was charged
    assert ends >= 8 * 6  # a hand is at most five decisions, and the step that ends one begins the next
    env.close()


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_the_programs_of_the_page_run(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Each as it stands there; what it prints last is what its comment says, if it has one."""
    if "sb3_contrib" in PROGRAMS[number]:
        pytest.importorskip("sb3_contrib")
    exec(compile(PROGRAMS[number], f"environments.md block {number}", "exec"), {})
    if claimed := re.findall(r"^print\(.*\)  # (\S+)$", PROGRAMS[number], flags=re.MULTILINE):
        printed = capsys.readouterr().out.split()[-1]
        assert printed == claimed[-1] or float(printed) == pytest.approx(float(claimed[-1]), abs=0.05)
