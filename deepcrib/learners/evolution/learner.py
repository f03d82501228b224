"""Evolution of values of cards that choose the discard (Kendall and Shaw 2002, as told by Lang 2018, section 2.2).

`update: threshold` is the published variant: two players adjust their weights hand by hand, whenever a hand scores too
little. `update: population` is a plain evolution strategy: a generation of mutants of one mean on a batch of deals, the
mean of the fittest as the next one's, for each role by itself, since no hand belongs to both.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import DivergenceError, make_agent, name_agents
from deepcrib.errors import OptionError
from deepcrib.exact.cribs import NUM_DISCARDS
from deepcrib.files.weights import WEIGHTS_FILE
from deepcrib.game.cards import NUM_RANKS
from deepcrib.game.randomness import MINIBATCHES, MONITORING, NETWORKS, SELF_PLAY, derive
from deepcrib.kernels.workers import run_rows
from deepcrib.learners.evolution.agent import GENOMES, EvolutionaryAgent
from deepcrib.learners.evolution.deals import DEALT, ShowDeals
from deepcrib.learners.evolution.options import EvolutionOptions
from deepcrib.learners.evolution.steps import ADJUSTMENTS, PLAYERS, Method, fill_batch, fill_fitness, learn_from_deals
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
from deepcrib.training.options import EvaluationOptions, refuse_unread

_HELD_OUT = 1  # index of `derive`: deals of no training and of no match
_MOST_VALUES = 11  # summed for a discard: four ranks and six pairs kept, a pair thrown


class Settings(Protocol):
    """What the training reads: the config of the job `train`."""

    seed: int
    learner: EvolutionOptions
    evaluation: EvaluationOptions


@dataclass
class LearnerState:
    """Weights [players, 2 roles, G] (of a population: one player, its mean), sigma [2] by role, and progress."""

    weights: NDArray[np.float64]
    sigma: NDArray[np.float64]
    generation: int = 0
    deals: int = 0
    seconds: float = 0.0

    def state(self) -> dict[str, Any]:
        """For `checkpoints.save_state`."""
        return {name: getattr(self, name) for name in ("weights", "sigma", "generation", "deals", "seconds")}


@dataclass
class EvolutionResult:
    """The evolved agent, what it took, the file of its weights, and its fraction of the best hand points."""

    agent: EvolutionaryAgent
    generations: int
    deals: int
    seconds: float
    weights: Path
    hand_fraction: float


def prepare(settings: Settings, state: Path | None = None) -> LearnerState:
    """Weights of a new run, uniform numbers in [0, 1), or of the training state in a file.

    Raises OptionError for options that do not go together, CheckpointError for a state that cannot be read or does not
    fit the options.
    """
    options = settings.learner
    _require_options(options)
    shape = (PLAYERS if options.update == "threshold" else 1, 2, GENOMES[options.genome])
    weights = np.stack(
        [np.random.default_rng(derive(settings.seed, NETWORKS, i)).random(shape[1:]) for i in range(shape[0])]
    )
    run = LearnerState(weights, np.full(2, float(options.sigma)))
    if state is None:
        return run
    with fitting_state(state) as saved:
        if tuple(saved["weights"].shape) != shape:
            raise ValueError(f"its weights have the shape {tuple(saved['weights'].shape)}, expected {shape}")
        run.weights, run.sigma = saved["weights"].numpy(), saved["sigma"].numpy()
        run.generation, run.deals, run.seconds = saved["generation"], saved["deals"], saved["seconds"]
    return run


def _require_options(options: EvolutionOptions) -> None:
    if options.update == "population":
        refuse_unread(options, ("against", "threshold", "adjust", "rate"), "learner.update=threshold")
        if options.parents > options.population:
            raise OptionError(
                f"learner.parents={options.parents}: expected at most learner.population={options.population}"
            )
        return
    refuse_unread(options, ("population", "parents", "adaptive"), "learner.update=population")
    if options.adjust == "merge" and options.rate > 1:  # the gap becomes |1 - 2 rate| times as wide with every hand
        raise OptionError(
            f"learner.rate={options.rate:g}: with learner.adjust=merge values diverge above 1, expected at most 1"
        )


def train(
    settings: Settings,
    folder: Path,
    match: Match,
    *,
    dealing: str = "acc",
    writer: Any = None,
    progress: Progress | None = None,
    resume: bool = False,
) -> EvolutionResult:
    """Evolve, with checkpoints; with `resume`, from the state in the folder. The first player is the agent.

    match(agent, opponent, games, seed) measures the agent at every `evaluation.every`-th checkpoint; writer is a
    TensorBoard SummaryWriter or None. The same seed gives the same weights. Raises as `prepare` does, and
    DivergenceError where values grow beyond all numbers.
    """
    run = prepare(settings, folder / STATE_FILE if resume else None)
    opponents = name_agents([make_agent(spec) for spec in settings.evaluation.opponents])
    options = settings.learner
    held_out = ShowDeals.deal(derive(evaluation_seed(settings), MONITORING, _HELD_OUT), -(-options.held_out // 2))
    if run.generation == 0:
        _save(run, settings, folder, dealing)
        write_scalars(writer, 0, _measure(run, held_out))
    begin = time.perf_counter() - run.seconds
    while run.generation < options.generations:
        figures = generation(run, settings)
        last = run.generation == options.generations
        run.seconds = time.perf_counter() - begin
        measured = last or run.generation % options.measure_every == 0
        if measured:
            figures |= _measure(run, held_out)
        if last or run.generation % options.checkpoint_every == 0:
            _save(run, settings, folder, dealing)
            number = -(-run.generation // options.checkpoint_every)
            agent_now = partial(agent_of, run, settings, dealing)
            matches = partial(monitor, settings, number, agent_now, opponents, match)
            written = figures if measured else {}
            figures |= save_and_measure(folder, run.generation, run.state(), written, matches, writer)
        elif measured:
            write_scalars(writer, run.generation, figures)
        if progress is not None:
            progress(run.generation, figures)
    agent, weights = agent_of(run, settings, dealing), folder / WEIGHTS_FILE
    agent.save(weights)
    for player in range(1, len(run.weights)):
        agent_of(run, settings, dealing, player).save(folder / f"opponent_{player}.safetensors")
    fraction = _measure(run, held_out)["held_out/hand"]
    return EvolutionResult(agent, run.generation, run.deals, run.seconds, weights, fraction)


def generation(run: LearnerState, settings: Settings) -> dict[str, float]:
    """One generation; returns figures by TensorBoard tag. Raises DivergenceError where values leave the numbers."""
    step = _population_step if settings.learner.update == "population" else _threshold_step
    figures = step(run, settings)
    _require_finite(run.weights)
    return figures


def _require_finite(weights: NDArray[np.float64]) -> None:
    """Refuse weights of which a discard's sum may overflow, though each is finite."""
    with np.errstate(over="ignore"):
        most = _MOST_VALUES * np.abs(weights).max()
    if not np.isfinite(most):
        raise DivergenceError("values of cards diverged: they are not finite; lower learner.rate or learner.sigma")


def method(options: EvolutionOptions) -> Method:
    """The options of `update: threshold` as the compiled steps read them."""
    return Method(
        adjust=ADJUSTMENTS.index(options.adjust),
        same=options.cards == "same",
        rival=options.against == "opponent",
        crib=options.score == "crib",
        threshold=float(options.threshold),
        sigma=float(options.sigma),
        rate=float(options.rate),
    )


def _threshold_step(run: LearnerState, settings: Settings) -> dict[str, float]:
    options, seed = settings.learner, derive(settings.seed, SELF_PLAY)
    last = run.deals + options.deals
    hands, adjusted = learn_from_deals(seed, run.deals, last, run.weights, method(options))
    run.generation, run.deals = run.generation + 1, last
    return {"update/adjusted": adjusted / hands, "update/deals": last}


def _population_step(run: LearnerState, settings: Settings) -> dict[str, float]:
    """Mutants of the mean, ranked by fitness; then the mean of the parents, and of the logarithms of their sigmas."""
    options, size, apart = settings.learner, run.weights.shape[2], settings.learner.cards == "different"
    generator = np.random.default_rng(derive(settings.seed, MINIBATCHES, run.generation))
    noise = generator.standard_normal((options.population, 2, size))
    # Learning rate of a self-adapted step size (Schwefel 1981): 1 / sqrt(2 n) for one sigma of n values.
    turns = np.exp(generator.standard_normal((options.population, 2)) / np.sqrt(2 * size)) if options.adaptive else 1.0
    sigmas = run.sigma * turns * np.ones((options.population, 2))
    with np.errstate(over="ignore"):
        population = run.weights[0] + sigmas[:, :, None] * noise
    _require_finite(population)
    count = options.deals * (options.population if apart else 1)
    hands = np.empty((count, 2, DEALT), dtype=np.int8)
    points = np.empty((count, 2, NUM_DISCARDS), dtype=np.int16)
    run_rows(
        fill_batch,
        len(hands),
        derive(settings.seed, SELF_PLAY),
        run.deals,
        run.weights[0],
        options.score == "crib",
        hands,
        points,
        piece=16,
    )
    fitness = np.empty((options.population, 2))
    run_rows(fill_fitness, len(population), hands, points, population, apart, fitness, piece=1)
    for role in range(2):
        parents = np.argsort(-fitness[:, role], kind="stable")[: options.parents]
        run.weights[0, role] = population[parents, role].mean(axis=0)
        run.sigma[role] = np.exp(np.log(sigmas[parents, role]).mean())
    run.generation, run.deals = run.generation + 1, run.deals + count
    return {"update/fitness": float(fitness.mean()), "update/sigma": float(run.sigma.mean()), "update/deals": run.deals}


# --- measuring ----------------------------------------------------------------------------------------------------


def _measure(run: LearnerState, held_out: ShowDeals) -> dict[str, float]:
    """Fractions of the best points on held-out hands, of each player, and how far apart the values of ranks are."""
    figures: dict[str, float] = {}
    for player, weights in enumerate(run.weights):
        probabilities = held_out.probabilities(EvolutionaryAgent("measured", weights))
        prefix = "held_out" if player == 0 else f"held_out_opponent_{player}"
        figures[f"{prefix}/hand"] = held_out.fraction(probabilities, crib=False).estimate
        figures[f"{prefix}/with_crib"] = held_out.fraction(probabilities, crib=True).estimate
    figures["weights/spread"] = float(run.weights[0, :, :NUM_RANKS].std(axis=1).mean())
    return figures


def agent_of(run: LearnerState, settings: Settings, dealing: str, player: int = 0) -> EvolutionaryAgent:
    """One of the players as an agent."""
    options = settings.learner
    metadata = {
        "learner": options.name,
        "generations": run.generation,
        "deals": run.deals,
        "seed": settings.seed,
        "rules": dealing,
        "update": options.update,
        "cards": options.cards,
        "score": options.score,
        "player": player,
    }
    return EvolutionaryAgent("trained", run.weights[player].copy(), metadata)


def _save(run: LearnerState, settings: Settings, folder: Path, dealing: str) -> None:
    """The weights after so many generations, in the folder of checkpoints."""
    agent_of(run, settings, dealing).save(weights_file(folder, f"generation_{run.generation:06d}"))
