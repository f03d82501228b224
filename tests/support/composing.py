"""The plain options of a job, composed once by Hydra for all tests that ask for the same."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Any

from hydra import compose, initialize_config_dir

from deepcrib.files import runs
from deepcrib.jobs import JOBS
from deepcrib.jobs.hydra.resume import checked_options
from deepcrib.jobs.hydra.schema import choices, parse, register_schema

FORMER = {"oconnor2000_20": "oconnor2000/hidden_20", "oconnor2000_40": "oconnor2000/hidden_40"}
FORMER |= {"partida2022": "partida2022/published", "pollack_blair": "pollack_blair/games"}


def composed(job: str, *overrides: str) -> Any:
    """The options of a job, checked as the command line checks them; the caller's own, to be changed at will."""
    return deepcopy(_composed(job, overrides))


@cache
def _composed(job: str, overrides: tuple[str, ...]) -> Any:
    register_schema(JOBS[job])
    with initialize_config_dir(version_base="1.3", config_dir=str(runs.conf_folder())):
        config = compose(job, overrides=list(overrides))
    return checked_options(config, parse(overrides))


def composed_today(words: tuple[str, ...]) -> Any:
    """The options of a training whose commit is of before experiments lay in folders, where they still compose."""
    names = {name.replace("/", "_"): name for name in choices("experiment", [runs.conf_folder()])} | FORMER
    kept = [word.partition("experiment=")[::2] for word in words]
    return composed("train", *(f"experiment={names[name]}" if name else word for word, name in kept))
