"""Gymnasium environments of one game: a vector environment of one."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from deepcrib.agents import Agent
from deepcrib.envs.rendering import RENDER_MODES, Picture, Screen
from deepcrib.envs.vector import CribbageVectorEnv, Observations


class CribbageEnv(gymnasium.Env[Any, Any]):
    """A game of cribbage against agents: `gymnasium.make("deepcrib/Cribbage-v1")`.

    Episode k of a seed has the cards, the cut and the learner's seat of the vector environment's episode k.

    Args:
        decisions: what the learner decides: `all`, the `play` (an agent discards), or one `discard` an episode.
        render_mode: `ansi` (text), `human` (text on the terminal after every step) or `rgb_array` (a picture).
        options: see `GameOptions`, `PlayOptions` and `DiscardOptions`.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 2}

    def __init__(self, decisions: str = "all", *, render_mode: str | None = None, **options: Any) -> None:
        self.vector = CribbageVectorEnv(1, decisions, autoreset_mode=AutoresetMode.DISABLED, **options)
        self.observation_space = self.vector.single_observation_space
        self.action_space = self.vector.single_action_space
        self.render_mode = render_mode
        self._screen = Screen(render_mode)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Begin an episode: with a seed its first, without one the next of the seed before.

        options: `episode` is the number of the episode to play.
        """
        super().reset(seed=seed)
        observations, infos = self.vector.reset(seed=seed, options=options)
        self._screen.follow(self.vector.games.scores[0], self.render, begins=True)
        return _first(observations), _first(infos)

    def step(self, action: Any) -> tuple[Observations, float, bool, bool, dict[str, Any]]:
        """Carry out an action and the opponents' answers.

        Raises ResetNeeded when no episode goes on, and IllegalActionError with `on_illegal="raise"`.
        """
        observations, rewards, over, _, infos = self.vector.step([action])
        self._screen.follow(self.vector.games.scores[0], self.render)
        return _first(observations), float(rewards[0]), bool(over[0]), False, _first(infos)

    def action_masks(self) -> NDArray[np.bool_]:
        """bool [A]: the actions that may be chosen (sb3-contrib asks for it by this name)."""
        return self.vector.action_masks()[0]

    def ask(self, agent: Agent) -> int:
        """The action of an agent in the learner's place, 0 when the episode is over."""
        return int(self.vector.ask(agent)[0])

    def render(self) -> Picture:
        """The board as the learner sees it: text, a picture, or None in mode `human`, which prints it."""
        seat = int(self.vector.state["seat"][0])
        names = np.roll(["learner", *self.vector.names], seat).tolist()
        return self._screen.draw(self.vector.games.state[0], seat, names, None if self.vector.over[0] else seat)


def _first(columns: dict[str, Any]) -> dict[str, Any]:
    """What a vector environment says of its only game, without the masks of its infos."""
    rows = {name: values[0] for name, values in columns.items() if not name.startswith("_")}
    return {name: row if row.ndim else row.item() for name, row in rows.items()}
