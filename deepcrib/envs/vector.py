"""Vector environments: N games in one array, a compiled step, and the rules of Gymnasium's `VectorEnv`."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from deepcrib.agents import Agent
from deepcrib.envs.episodes import MAX_SEED, Episodes, Rows
from deepcrib.envs.observation import action_space, observation_space
from deepcrib.envs.options import game_options
from deepcrib.errors import OptionError

Observations = dict[str, NDArray[np.int8]]


class CribbageVectorEnv(VectorEnv[Observations, NDArray[np.int64], NDArray[Any]]):
    """N games of cribbage against agents: `gymnasium.make_vec("deepcrib/Cribbage-v1", num_envs=N)`.

    Environment i plays the episodes i, i + N, i + 2N ... of its seed (`Episodes`): no two share cards, and the same
    seed and actions give the same trajectories, on any number of threads. When an episode is over every action is let
    through by its mask, and ignored.

    Args:
        num_envs: N.
        decisions: what the learner decides: `all`, the `play` (an agent discards), or one `discard` an episode.
        autoreset_mode: NEXT_STEP (the step after the last begins the next episode, with reward 0), SAME_STEP (the last
            step does; info holds final_obs and final_info) or DISABLED (`reset(options={"reset_mask": mask})` does).
        copy: fresh arrays of observations and masks with every step; False: the same ones are overwritten.
        options: see `GameOptions`, `PlayOptions` and `DiscardOptions`.
    """

    def __init__(
        self,
        num_envs: int = 1,
        decisions: str = "all",
        *,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        render_mode: None = None,
        **options: Any,
    ) -> None:
        if render_mode is not None:
            raise OptionError(f"render_mode={render_mode!r}: expected None, a vector environment is not drawn")
        self.num_envs = num_envs
        self.episodes = Episodes(num_envs, game_options(decisions, options), copy=copy)
        self.autoreset_mode = _mode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = observation_space(self.episodes.num_players)
        self.single_action_space = action_space(self.episodes.num_players)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._started = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Begin episodes: with a seed its first ones, without one the next of the seed before.

        options: reset_mask, bool [N], begins those environments only.
        """
        super().reset(seed=seed)
        rows = self._rows_to_reset(options)
        if seed is not None or not self._started:
            if len(rows) < self.num_envs:
                raise OptionError("reset_mask: expected no seed with it, and a reset of all environments before")
            self.episodes.begin(int(self.np_random.integers(MAX_SEED)) if seed is None else seed)
            self._started = True
        else:
            self.episodes.begin_next(rows, fresh=True)
        told = np.zeros(self.num_envs, dtype=bool)
        told[rows] = True
        return self._observations(), _masked(self.episodes.info(), told)

    def step(
        self, actions: ArrayLike
    ) -> tuple[Observations, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Carry out actions [N] and the opponents' answers.

        Raises ResetNeeded before `reset` and, in mode DISABLED, where an episode is over; IllegalActionError with
        `on_illegal="raise"`.
        """
        over = self.episodes.over
        if not self._started or (self.autoreset_mode == AutoresetMode.DISABLED and over.any()):
            raise ResetNeeded(f"environment {int(over.argmax())}: reset it before a step")
        rewards = self.episodes.step(actions)
        over = self.episodes.over
        info: dict[str, Any] = {}
        if self.autoreset_mode == AutoresetMode.SAME_STEP and over.any():
            info = self._final(over)
            self.episodes.begin_next(np.flatnonzero(over), fresh=False)
        info |= _masked(self.episodes.info(), np.ones(self.num_envs, dtype=bool))
        return self._observations(), rewards, over, np.zeros(self.num_envs, dtype=bool), info

    def action_masks(self) -> NDArray[np.bool_]:
        """bool [N, A]: the actions that may be chosen."""
        return self.episodes.masks.astype(bool)

    def ask(self, agent: Agent) -> NDArray[np.int64]:
        """Actions [N] of an agent in the learners' places, 0 where an episode is over."""
        return self.episodes.choose(agent)

    def _observations(self) -> Observations:
        # The order is that of the space, which sorts its keys.
        return {"action_mask": self.episodes.masks, "observation": self.episodes.observations}

    def _rows_to_reset(self, options: dict[str, Any] | None) -> Rows:
        mask = (options or {}).get("reset_mask")
        if mask is None:
            return np.arange(self.num_envs)
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != bool or not mask.any():
            raise OptionError(f"reset_mask={mask!r}: expected a bool array [{self.num_envs}] that is true somewhere")
        return np.flatnonzero(mask)

    def _final(self, over: NDArray[np.bool_]) -> dict[str, Any]:
        """What the last step of an episode showed, as Gymnasium's own vector environments tell it."""
        observations = np.full(self.num_envs, None, dtype=object)
        for row in np.flatnonzero(over):
            observations[row] = {name: values[row].copy() for name, values in self._observations().items()}
        return {
            "final_obs": observations,
            "_final_obs": over.copy(),
            "final_info": _masked(self.episodes.info(), over),
            "_final_info": over.copy(),
        }


def _mode(mode: str | AutoresetMode) -> AutoresetMode:
    for known in AutoresetMode:
        if mode in (known, known.value, known.name):
            return known
    raise OptionError(f"autoreset_mode={mode!r}: expected one of {', '.join(known.value for known in AutoresetMode)}")


def _masked(info: dict[str, Any], told: NDArray[np.bool_]) -> dict[str, Any]:
    """Infos with the mask `_key` that Gymnasium puts beside every key."""
    return info | {f"_{name}": told.copy() for name in info}
