"""MaskablePPO of sb3-contrib on deepcrib's vector environment: some minutes of training, then full games.

    python examples/maskable_ppo.py                       # against greedy, three million decisions, 10,000 games
    python examples/maskable_ppo.py --steps 20000 --games 100   # to see that it runs

Training plays single hands, whose reward is the points of the hand less the opponent's; games are played to 121. All
hands of the training begin at 0-0, so the policy is not shown the score, about which it could learn nothing.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecEnv

from deepcrib.agents import make_agent
from deepcrib.envs import PolicyAgent, observation_spec  # importing deepcrib.envs registers the environments
from deepcrib.errors import UserError
from deepcrib.evaluation.evaluate import evaluate

ENVIRONMENT = "deepcrib/Cribbage-v1"
POINTS_PER_REWARD = 10.0  # keeps returns near 1
SHOWN = slice(0, observation_spec(2)["score_tens"].start)
"""The part of an observation that the policy sees: all but the scores, which come last."""


class SB3VecEnv(VecEnv):
    """Gymnasium's batched environment as the vector environment that Stable-Baselines3 expects.

    One call of the engine steps all N environments, where Stable-Baselines3's own would call Python N times. Needs
    `autoreset_mode` SAME_STEP, since Stable-Baselines3 is shown the next episode's first observation at an end.
    """

    def __init__(self, env: gymnasium.vector.VectorEnv, seed: int) -> None:
        self._env = env
        self._seed = seed
        self._mask: NDArray[np.bool_] = np.zeros((env.num_envs, 0), dtype=np.bool_)
        self._actions: NDArray[np.int64] = np.zeros(env.num_envs, dtype=np.int64)
        shown = gymnasium.spaces.Box(0, 1, (SHOWN.stop,), np.int8)
        super().__init__(env.num_envs, shown, env.single_action_space)

    def reset(self) -> NDArray[np.int8]:
        """First observations [N, W]."""
        observations, _ = self._env.reset(seed=self._seed)
        return self._seen(observations)

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Keep actions [N] for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[NDArray[np.int8], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Observations, rewards, ends and infos of the actions."""
        observations, rewards, terminated, truncated, _ = self._env.step(self._actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        scaled = (rewards / POINTS_PER_REWARD).astype(np.float32)
        return self._seen(observations), scaled, terminated | truncated, infos

    def _seen(self, observations: dict[str, NDArray[np.int8]]) -> NDArray[np.int8]:
        self._mask = observations["action_mask"].astype(np.bool_)
        return observations["observation"][:, SHOWN]

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """`action_masks`, the one method that MaskablePPO calls."""
        if method_name != "action_masks":
            raise AttributeError(method_name)
        return list(self._mask)

    def has_attr(self, attr_name: str) -> bool:
        """MaskablePPO asks for `action_masks`."""
        return attr_name == "action_masks"

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the batched environment, for each."""
        return [getattr(self._env, attr_name)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Not for a batched environment."""
        raise NotImplementedError

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """No single environment is wrapped."""
        return [False] * self.num_envs

    def close(self) -> None:
        """Close the batched environment."""
        self._env.close()


def batched(num_envs: int, **options: Any) -> gymnasium.vector.VectorEnv:
    """The batched environment, whose episodes begin anew within the step in which they end."""
    mode = gymnasium.vector.AutoresetMode.SAME_STEP
    return gymnasium.make_vec(ENVIRONMENT, num_envs=num_envs, autoreset_mode=mode, **options)


def train(opponent: str, steps: int, num_envs: int, seed: int) -> MaskablePPO:
    """A policy trained for so many decisions."""
    env = SB3VecEnv(batched(num_envs, opponent=opponent, episode="hand", reward="margin"), seed)
    model = MaskablePPO(
        "MlpPolicy",
        env,
        learning_rate=lambda left: 1e-3 * left,
        n_steps=32,
        batch_size=2048,
        n_epochs=4,
        gamma=1.0,  # a hand is a handful of decisions, and every point counts alike
        gae_lambda=0.95,
        ent_coef=0.003,
        policy_kwargs={"net_arch": [256, 256], "activation_fn": torch.nn.ReLU},
        seed=seed,
    )
    model.learn(total_timesteps=steps)
    env.close()
    return model


def as_agent(model: MaskablePPO) -> PolicyAgent:
    """The trained policy as an agent of deepcrib, which every match, tournament and league takes."""

    def choose(observations: NDArray[np.int8], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        return model.predict(observations[:, SHOWN], action_masks=masks.astype(bool), deterministic=True)[0]

    return PolicyAgent(choose, name="MaskablePPO")


def main(argv: Sequence[str] | None = None) -> float:
    """Train, play, print; returns the win rate."""
    parser = argparse.ArgumentParser(description="MaskablePPO of sb3-contrib against an agent of deepcrib")
    parser.add_argument("--opponent", default="greedy", help="a name, or the path of a checkpoint")
    parser.add_argument("--steps", type=int, default=3_000_000, help="decisions to train on")
    parser.add_argument("--games", type=int, default=10_000, help="full games of the match")
    parser.add_argument("--envs", type=int, default=512, help="environments side by side")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", help="file for the trained model")
    options = parser.parse_args(argv)
    try:
        opponent = make_agent(options.opponent)
    except UserError as error:
        parser.error(str(error))
    print(f"training on {options.steps:,} decisions; some millions are needed to win, and minutes", flush=True)
    start = time.perf_counter()
    model = train(options.opponent, options.steps, options.envs, options.seed)
    seconds = time.perf_counter() - start
    if options.save:
        model.save(options.save)
    print(f"MaskablePPO: {model.num_timesteps:,} decisions in {seconds:,.0f} s, seed {options.seed}")
    figures = evaluate(as_agent(model), opponent, options.games, options.seed)
    low, high = 100 * figures.ci_low, 100 * figures.ci_high
    rate = f"{100 * figures.win_rate:.1f}% [{low:.1f}, {high:.1f}]"
    print(f"against {options.opponent}: {rate} of {options.games:,} full games")
    return figures.win_rate


if __name__ == "__main__":
    main()
