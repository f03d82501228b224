"""The learners by the choice of the group `learner`, which is also the `name` of their options.

To add a learner: a folder here with its options (a subclass of `LearnerOptions`) and a subclass of
`training.learner.Learner`, a line in `_LEARNERS`, and a YAML of its name in `conf/learner/`, which begins with
`defaults: [<name>_schema, _self_]`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from inspect import signature
from typing import Any, get_type_hints

from deepcrib.errors import OptionError
from deepcrib.learners.evolution.options import EvolutionOptions
from deepcrib.learners.hill_climb.options import HillClimbOptions
from deepcrib.learners.mirror.options import MirrorOptions
from deepcrib.learners.nfsp.options import NfspOptions
from deepcrib.learners.partida.options import PartidaOptions
from deepcrib.learners.replay.options import ReplayOptions
from deepcrib.learners.td.options import TdOptions
from deepcrib.learners.weighted.options import WeightedOptions
from deepcrib.options import object_at
from deepcrib.plugins import Registry, subclass_of
from deepcrib.training.learner import Learner, Setting
from deepcrib.training.options import LearnerOptions


@dataclass(frozen=True)
class Entry:
    """How a learner is made.

    options: the class of the group `learner`. make: its class, `module:Name` in this folder, imported when asked for.
    groups: other groups of the config that it is given, by name. begin: `module:function`, likewise: (learner, options
    of the group pretraining) -> what it learns first.
    """

    options: type[LearnerOptions]
    make: str
    groups: tuple[str, ...] = ()
    begin: str = ""


_LEARNERS = {
    "replay": Entry(
        ReplayOptions,
        "replay.learner:ReplayLearner",
        ("algorithm", "reward", "state", "discard_network", "play_network", "pretraining"),
        "pretraining.begin:begin",
    ),
    "weighted": Entry(WeightedOptions, "weighted.learner:WeightedLearner"),
    "partida": Entry(PartidaOptions, "partida.learner:PartidaLearner"),
    "td": Entry(TdOptions, "td.learner:TdLearner"),
    "evolution": Entry(EvolutionOptions, "evolution.learner:EvolutionLearner"),
    "hill_climb": Entry(
        HillClimbOptions, "hill_climb.learner:HillClimbLearner", ("state", "discard_network", "play_network")
    ),
    "nfsp": Entry(NfspOptions, "nfsp.learner:NfspLearner", ("state", "play_network")),
    "mirror": Entry(MirrorOptions, "mirror.learner:MirrorLearner", ("state", "play_network")),
}


LEARNERS: Registry[Entry] = Registry("learner", _LEARNERS, subclass_of(Learner))


def make_learner(options: LearnerOptions, setting: Setting, groups: Mapping[str, Any]) -> Learner:
    """The learner of these options; groups: what is configured, of which each learner is given its own.

    Raises OptionError where options do not go together, AgentError for an opponent that there is not.
    """
    entry = find_learner(options.name)
    own = {group: groups[group] for group in entry.groups}
    pretraining = own.pop("pretraining") if entry.begin else None
    kind: Any = learner_class(options.name)
    learner: Learner = kind(options, setting, **own)
    if entry.begin:
        learner.stages = object_at(f"deepcrib.learners.{entry.begin}")(learner, pretraining)
    return learner


def learner_class(name: str) -> type[Learner]:
    """The class of a learner, imported. Raises OptionError."""
    found: Any = LEARNERS.find(name)
    return object_at(f"deepcrib.learners.{found.make}") if isinstance(found, Entry) else found


def find_learner(name: str) -> Entry:
    """How the learner of a name is made. Raises OptionError.

    One from outside the package, `module:Class`, says it in its `__init__(self, options: OPTIONS, setting, *, reward,
    ...)`: options of a class of its own, and the groups of the config that it is given. It begins as what it derives
    from does.
    """
    found: Any = LEARNERS.find(name)
    if isinstance(found, Entry):
        return found
    kind: Any = get_type_hints(found.__init__).get("options")
    if not (isinstance(kind, type) and is_dataclass(kind) and issubclass(kind, LearnerOptions)):
        expected = "expected __init__(self, options: OPTIONS, setting), OPTIONS a dataclass that derives from"
        raise OptionError(f"learner {name!r}: {expected} {LearnerOptions.__module__}.LearnerOptions")
    known = {group for entry in LEARNERS.values() for group in entry.groups}
    groups = known.intersection(signature(found.__init__).parameters)
    makes = [f"{base.__module__}:{base.__qualname__}".removeprefix("deepcrib.learners.") for base in found.__mro__]
    begin = next((entry.begin for entry in LEARNERS.values() if entry.begin and entry.make in makes), "")
    return Entry(kind, name, tuple(sorted(groups | ({"pretraining"} if begin else set()))), begin)
