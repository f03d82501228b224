"""Environments over the engine: Gymnasium's, for one game or for many at once, and PettingZoo's.

Importing this registers `deepcrib/Cribbage-v1`, `deepcrib/CribbagePlay-v1` and `deepcrib/CribbageDiscard-v1` with
Gymnasium; `gymnasium.make("deepcrib.envs:deepcrib/Cribbage-v1")` imports it. The environment of PettingZoo is
`deepcrib.envs.cribbage_v1`. Raises OptionError where Gymnasium is not installed.
"""

from deepcrib.errors import OptionError

try:
    import gymnasium
except ModuleNotFoundError as error:
    raise OptionError("deepcrib.envs needs Gymnasium, which is not installed: pip install 'deepcrib[envs]'") from error

from deepcrib.envs.observation import num_actions, num_discards, observation_spec
from deepcrib.envs.players import PolicyAgent, deepcrib_action, encode, random_actions
from deepcrib.envs.single import CribbageDiscardEnv, CribbageEnv, CribbagePlayEnv
from deepcrib.envs.vector import CribbageDiscardVectorEnv, CribbagePlayVectorEnv, CribbageVectorEnv

__all__ = [
    "CribbageDiscardEnv",
    "CribbageDiscardVectorEnv",
    "CribbageEnv",
    "CribbagePlayEnv",
    "CribbagePlayVectorEnv",
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

for _id in ENVIRONMENTS:
    _name = _id.removeprefix("deepcrib/").removesuffix("-v1")
    gymnasium.register(
        _id, entry_point=f"deepcrib.envs.single:{_name}Env", vector_entry_point=f"deepcrib.envs.vector:{_name}VectorEnv"
    )
