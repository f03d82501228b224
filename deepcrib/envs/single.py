"""Gymnasium environments of one game: the vector environments' episodes, one at a time."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from deepcrib.agents import Agent
from deepcrib.envs.episodes import MAX_SEED, Episodes, check_number
from deepcrib.envs.observation import action_space, observation_space
from deepcrib.envs.options import game_options
from deepcrib.envs.rendering import RENDER_MODES, Picture, Screen

Observation = dict[str, NDArray[np.int8]]


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
        self.episodes = Episodes(1, game_options(decisions, options))
        self.observation_space = observation_space(self.episodes.num_players)
        self.action_space = action_space(self.episodes.num_players)
        self.render_mode = render_mode
        self._screen = Screen(render_mode)
        self._started = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode: with a seed its first, without one the next of the seed before.

        options: `episode` is the number of the episode to play.
        """
        super().reset(seed=seed)
        number = (options or {}).get("episode")
        if number is not None:
            check_number("episode", number)
        if seed is None:
            seed = self.episodes.seed if self._started else int(self.np_random.integers(MAX_SEED))
            if number is None and self._started:
                number = int(self.episodes.state["number"][0]) + 1
        self._started = True
        self.episodes.begin(int(seed), numbers=[0 if number is None else int(number)])
        self._screen.follow(self.episodes.games.scores[0], self.render, begins=True)
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Carry out an action and the opponents' answers.

        Raises ResetNeeded when no episode goes on, and IllegalActionError with `on_illegal="raise"`.
        """
        if self.episodes.over[0]:
            raise ResetNeeded("no episode goes on: reset the environment before a step")
        reward = float(self.episodes.step([action])[0])
        self._screen.follow(self.episodes.games.scores[0], self.render)
        return self._observation(), reward, bool(self.episodes.over[0]), False, self._info()

    def action_masks(self) -> NDArray[np.bool_]:
        """bool [A]: the actions that may be chosen (sb3-contrib asks for it by this name)."""
        return self.episodes.masks[0].astype(bool)

    def ask(self, agent: Agent) -> int:
        """The action of an agent in the learner's place, 0 when the episode is over."""
        return int(self.episodes.choose(agent)[0])

    def render(self) -> Picture:
        """The board as the learner sees it: text, a picture, or None in mode `human`, which prints it."""
        seat = int(self.episodes.state["seat"][0])
        names = np.roll(["learner", *self.episodes.names], seat).tolist()
        turn = None if self.episodes.over[0] else seat
        return self._screen.draw(self.episodes.games.state[0], seat, names, turn)

    def _observation(self) -> Observation:
        # The order is that of the space, which sorts its keys.
        return {"action_mask": self.episodes.masks[0], "observation": self.episodes.observations[0]}

    def _info(self) -> dict[str, Any]:
        return {name: v[0] if v[0].ndim else v[0].item() for name, v in self.episodes.info().items()}
