"""Environments over the engine: Gymnasium's, for one game or for many at once, and PettingZoo's.

Importing this registers `deepcrib/Cribbage-v1`, `deepcrib/CribbagePlay-v1` and `deepcrib/CribbageDiscard-v1` with
Gymnasium; `gymnasium.make("deepcrib.envs:deepcrib/Cribbage-v1")` imports it. The environment of PettingZoo is
`deepcrib.envs.cribbage_v1`. Raises MissingExtraError where Gymnasium is not installed.
"""

from deepcrib.errors import MissingExtraError

try:
    import gymnasium
except ModuleNotFoundError as error:
    raise MissingExtraError("deepcrib.envs", "Gymnasium", "envs") from error

from deepcrib.envs.observation import num_actions, num_discards, observation_spec
from deepcrib.envs.players import PolicyAgent, deepcrib_action, encode, random_actions
from deepcrib.envs.single import CribbageEnv
from deepcrib.envs.vector import CribbageVectorEnv

__all__ = [
    "CribbageEnv",
    "CribbageVectorEnv",
    "ENVIRONMENTS",
    "PolicyAgent",
    "deepcrib_action",
    "encode",
    "num_actions",
    "num_discards",
    "observation_spec",
    "random_actions",
]

ENVIRONMENTS = ("deepcrib/Cribbage-v1", "deepcrib/CribbagePlay-v1", "deepcrib/CribbageDiscard-v1")
"""Ids, as Gymnasium knows them."""

for _id, _decisions in zip(ENVIRONMENTS, ("all", "play", "discard"), strict=True):
    gymnasium.register(
        _id,
        entry_point="deepcrib.envs.single:CribbageEnv",
        vector_entry_point="deepcrib.envs.vector:CribbageVectorEnv",
        kwargs={"decisions": _decisions},
    )
