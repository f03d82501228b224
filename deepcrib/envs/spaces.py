"""The spaces of the environments, and what `info` tells beside the observation."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from deepcrib.envs.episodes import Episodes
from deepcrib.envs.observation import num_actions, observation_spec


def observation_space(num_players: int) -> spaces.Dict:
    """`observation` int8 [W] of 0 and 1 (`observation_spec`), `action_mask` int8 [A], 1 for what may be chosen."""
    return spaces.Dict(
        {
            "observation": spaces.Box(0, 1, (observation_spec(num_players).width,), np.int8),
            "action_mask": spaces.Box(0, 1, (num_actions(num_players),), np.int8),
        }
    )


def action_space(num_players: int) -> spaces.Discrete:
    """Discards, then slots of the play: `observation`."""
    return spaces.Discrete(num_actions(num_players))


def infos_of(episodes: Episodes) -> dict[str, Any]:
    """What `info` tells of N environments, [N, ...] each.

    action_mask: as in the observation. seat: the learner's. scores: [N, P] points, the learner's first. illegal:
    whether the last action was. episode_number: which with the seed decides every card.
    """
    return {
        "action_mask": episodes.masks.copy(),
        "seat": episodes.state["seat"].copy(),
        "scores": episodes.scores,
        "illegal": episodes.state["illegal"].copy(),
        "episode_number": episodes.state["number"].copy(),
    }
