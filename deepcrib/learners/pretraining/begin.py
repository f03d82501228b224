"""How `learner=replay` begins: with the weights of `learner.initial`, or with the stages of the group `pretraining`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from deepcrib.agents import make_agent
from deepcrib.agents.q_network import QNetworkAgent
from deepcrib.errors import OptionError
from deepcrib.game.randomness import PRETRAINING, derive
from deepcrib.learners.pretraining.options import PretrainingOptions
from deepcrib.learners.pretraining.show import ShowPretraining
from deepcrib.learners.pretraining.teacher import TeacherPretraining, make_teacher
from deepcrib.learners.replay.learner import ReplayLearner
from deepcrib.networks import QNetwork
from deepcrib.networks.checkpoints import description
from deepcrib.training.learner import Learner


def begin(learner: ReplayLearner, options: PretrainingOptions) -> list[Learner]:
    """Stages before the first iteration: the discard network learns the show, then all networks learn from a teacher.

    Networks that begin with given weights leave out the show. Raises OptionError where the weights do not fit, and what
    `make_agent` does.
    """
    stages: list[Learner] = []
    setting, initial = learner.setting, learner.options.initial
    if initial is not None:
        _begin_with(initial, learner)
    elif options.enabled and learner.discard is not None:
        seeded = replace(setting, seed=derive(setting.seed, PRETRAINING))
        stages.append(ShowPretraining(learner.discard.network, learner.discard.encoder, options, seeded))
    if options.teacher is not None:
        teacher = make_teacher(options, setting.device, learner.discards_by)
        stages.append(TeacherPretraining(learner, teacher, options))
    return stages


def _begin_with(spec: Any, learner: ReplayLearner) -> None:
    """Let networks take over the weights of an agent's, given by its spec; a resumed run then loads its own."""
    given, agent = f"learner.initial={spec}", make_agent(spec, learner.setting.device)
    if not isinstance(agent, QNetworkAgent):
        raise OptionError(f"{given}: expected networks that learner=replay has trained")
    for part, learned in learner.networks.items():
        if part not in agent.functions:
            raise OptionError(f"{given}: it has no {part} network; expected one, or learner.discard_agent")
        network = agent.functions[part].network
        own, expected = _described(network), _described(learned.network)
        if differ := [name for name in expected if own.get(name) != expected[name]]:
            own_values, values = (", ".join(f"{name}={made.get(name)}" for name in differ) for made in (own, expected))
            raise OptionError(f"{given}: its {part} network has {own_values} (expected {values})")
        learned.network.load_state_dict(network.state_dict())


def _described(network: QNetwork) -> dict[str, Any]:
    """What a network is made of, and its inputs."""
    made = description(network)
    return {**made["network"], "state": made["encoder"].pop("name"), **made["encoder"]}
