"""Training of the small network of Partida 2022 (section 2.2, algorithm 4) on plays of random four-card hands."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from deepcrib.agents import Agent, DivergenceError, make_agent, name_agents
from deepcrib.agents.expected_value import ExpectedValueAgent
from deepcrib.errors import OptionError
from deepcrib.files.weights import WEIGHTS_FILE
from deepcrib.game.randomness import FINAL_MATCHES, MINIBATCHES, MONITORING, NETWORKS, SELF_PLAY, derive
from deepcrib.intervals import mean_interval
from deepcrib.learners.partida.agent import HIDDEN, Form, Layers, PartidaAgent, make_form, save_partida
from deepcrib.learners.partida.fitting import Fit, fit_positions, new_fit
from deepcrib.learners.partida.games import Plays, play_hands
from deepcrib.learners.partida.inputs import INPUTS, input_width
from deepcrib.learners.partida.options import PartidaOptions
from deepcrib.networks import MLP
from deepcrib.training.checkpointing import (
    STATE_FILE,
    Match,
    Progress,
    evaluation_seed,
    fitting_state,
    monitor,
    save_and_measure,
    weights_file,
    write_scalars,
)
from deepcrib.training.options import EvaluationOptions

DIFFERENCE = "play_only/difference"


class Settings(Protocol):
    """What the training reads: the config of the job `train`."""

    seed: int
    device: str
    learner: PartidaOptions
    evaluation: EvaluationOptions


@dataclass
class LearnerState:
    """The network with its optimiser, what it reads and means, and how far they are."""

    fit: Fit
    form: Form
    sessions: int = 0
    hands: int = 0
    seconds: float = 0.0

    def state(self) -> dict[str, Any]:
        """For `checkpoints.save_state`."""
        parts = {"layers": self.fit.layers, "first": self.fit.first, "second": self.fit.second}
        arrays = {name: part._asdict() for name, part in parts.items()}
        figures = {name: getattr(self, name) for name in ("sessions", "hands", "seconds")} | {"form": list(self.form)}
        return {**arrays, "steps": self.fit.steps, **figures}

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a saved state."""
        if state["form"] != list(self.form):
            raise ValueError(f"it is of a network of inputs, encoding and rest {state['form']}, not {list(self.form)}")
        layers, first, second = (
            Layers(**{name: tensor.numpy() for name, tensor in state[part].items()})
            for part in ("layers", "first", "second")
        )
        self.fit = Fit(layers, first, second, state["steps"])
        self.sessions, self.hands, self.seconds = state["sessions"], state["hands"], state["seconds"]


@dataclass(frozen=True)
class PlayOnly:
    """Mean of own minus opponent's play points a hand against greedy, with its 95% interval, over random hands."""

    hands: int
    difference: float
    ci_low: float
    ci_high: float

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain values, for `summary.json`."""
        return asdict(self)


@dataclass
class PartidaResult:
    """The trained agent (None where the network sees hidden cards), its play alone, what it took, and its weights."""

    agent: PartidaAgent | None
    play_only: PlayOnly
    sessions: int
    hands: int
    seconds: float
    weights: Path


def prepare(settings: Settings, state: Path | None = None) -> LearnerState:
    """The network of a new run, or of the training state in a file.

    Raises OptionError for matches of a network that makes no agent, CheckpointError for a state that cannot be read or
    does not fit the options.
    """
    options = settings.learner
    if options.inputs != min(INPUTS) and settings.evaluation.opponents:
        raise OptionError(
            f"learner.inputs={options.inputs}: a network that sees the opponent's cards plays no matches, "
            "expected evaluation.opponents=[]"
        )
    form = make_form(options.inputs, options.encoding, options.target)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive(settings.seed, NETWORKS))
        network = MLP(input_width(form.inputs, form.encoding), list(HIDDEN))
    run = LearnerState(new_fit(layers_of(network)), form)
    if state is not None:
        with fitting_state(state) as saved:
            run.load(saved)
    return run


def train(
    settings: Settings,
    folder: Path,
    match: Match,
    *,
    dealing: str = "acc",
    writer: Any = None,
    progress: Progress | None = None,
    resume: bool = False,
) -> PartidaResult:
    """Train the network, with checkpoints; with `resume`, from the state in the folder.

    match(agent, opponent, games, seed) measures the agent at every `evaluation.every`-th checkpoint; writer is a
    TensorBoard SummaryWriter or None. The same seed gives the same weights. Raises as `prepare` does, and
    DivergenceError where the learning rate is too high.
    """
    run = prepare(settings, folder / STATE_FILE if resume else None)
    opponents = name_agents([make_agent(spec, settings.device) for spec in settings.evaluation.opponents])
    options = settings.learner
    if run.sessions == 0:
        write_scalars(writer, 0, _at_session(run, settings, {}, folder, dealing))
    begin = time.perf_counter() - run.seconds
    while run.sessions < options.sessions:
        learned = _session(run, settings)
        run.seconds = time.perf_counter() - begin
        figures = _at_session(run, settings, learned, folder, dealing)
        if _is_due(run.sessions, options.checkpoint_every, options):
            matches = partial(_monitor, run, settings, opponents, match, dealing)
            figures = save_and_measure(folder, run.sessions, run.state(), figures, matches, writer)
        else:
            write_scalars(writer, run.sessions, figures)
        if progress is not None:
            progress(run.sessions, figures)
    weights = folder / WEIGHTS_FILE
    save_partida(weights, run.fit.layers, _metadata(run, settings, dealing))
    final = measure(run, options.final_hands, derive(evaluation_seed(settings), FINAL_MATCHES))
    return PartidaResult(_agent(run, settings, dealing), final, run.sessions, run.hands, run.seconds, weights)


def _session(run: LearnerState, settings: Settings) -> dict[str, float]:
    """Play the hands of a session and learn from them; returns figures by TensorBoard tag."""
    options = settings.learner
    plays = play_hands(
        run.fit.layers,
        run.form,
        run.hands,
        options.games_per_fit,
        derive(settings.seed, SELF_PLAY),
        epsilon=options.epsilon,
        self_play=options.opponent == "self",
    )
    figures = learn(run, plays, settings)
    run.sessions, run.hands = run.sessions + 1, run.hands + options.games_per_fit
    return figures


def learn(run: LearnerState, plays: Plays, settings: Settings) -> dict[str, float]:
    """One pass over positions in random minibatches; returns figures by TensorBoard tag.

    Raises DivergenceError where the loss is no number.
    """
    options = settings.learner
    rate = options.lr * (1 - run.sessions / options.sessions if options.lr_schedule == "linear" else 1.0)
    targets = plays.rest if run.form.rest else plays.whole
    order = np.random.default_rng(derive(settings.seed, MINIBATCHES, run.sessions)).permutation(len(plays))
    mean = fit_positions(
        run.fit, run.form, plays.states[order], targets[order], options.batch_size, rate, options.optimizer
    )
    if not math.isfinite(mean) or not all(np.isfinite(array).all() for array in run.fit.layers):
        raise DivergenceError(f"learning diverged: values are not finite at learning rate {rate:g}; lower it")
    return {
        "loss/value": mean,
        "target/mean": float(targets.mean()),
        "target/std": float(targets.std()),
        "schedule/lr": rate,
    }


def layers_of(network: MLP) -> Layers:
    """The weights of a network for compiled code."""
    arrays = []
    for tensor in network.state_dict().values():
        array = tensor.detach().cpu().numpy()
        arrays.append(np.ascontiguousarray(array.T) if array.ndim == 2 else array.copy())
    arrays[-2] = arrays[-2][:, 0].copy()
    return Layers(*arrays)


def measure(run: LearnerState, hands: int, seed: int) -> PlayOnly:
    """The network's play against greedy, without exploration, each being pone in every second hand."""
    differences = play_hands(run.fit.layers, run.form, 0, hands, seed).differences
    return PlayOnly(hands, *mean_interval(differences))


def _at_session(
    run: LearnerState,
    settings: Settings,
    learned: Mapping[str, float],
    folder: Path,
    dealing: str,
) -> dict[str, float]:
    """What a session learned, with the play against greedy, where it is due; saves its weights."""
    options, seed = settings.learner, derive(evaluation_seed(settings), MONITORING)
    figures = dict[str, float]()
    if _is_due(run.sessions, options.measure_every, options):
        figures |= learned
        figures[DIFFERENCE] = measure(run, options.hands, seed).difference
    if _is_due(run.sessions, options.checkpoint_every, options):
        path = weights_file(folder, f"sessions_{run.sessions:06d}")
        save_partida(path, run.fit.layers, _metadata(run, settings, dealing))
    return figures


def _monitor(
    run: LearnerState, settings: Settings, opponents: Mapping[str, Agent], match: Match, dealing: str
) -> dict[str, float]:
    """`checkpointing.monitor` of what is an agent."""
    agent, number = _agent(run, settings, dealing), -(-run.sessions // settings.learner.checkpoint_every)
    return {} if agent is None else monitor(settings, number, lambda: agent, opponents, match)


def _is_due(session: int, every: int, options: PartidaOptions) -> bool:
    return session % every == 0 or session == options.sessions


def _metadata(run: LearnerState, settings: Settings, dealing: str) -> dict[str, Any]:
    options = settings.learner
    return {
        "learner": options.name,
        "inputs": options.inputs,
        "encoding": options.encoding,
        "target": options.target,
        "opponent": options.opponent,
        "sessions": run.sessions,
        "games_per_fit": options.games_per_fit,
        "seed": settings.seed,
        "rules": dealing,
    }


def _agent(run: LearnerState, settings: Settings, dealing: str) -> PartidaAgent | None:
    if run.form.inputs != min(INPUTS):
        return None
    metadata = _metadata(run, settings, dealing)
    return PartidaAgent("trained", run.fit.layers, metadata, ExpectedValueAgent(), metadata)
