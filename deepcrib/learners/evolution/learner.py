"""Evolution of values of cards that choose the discard (Kendall and Shaw 2002, as told by Lang 2018, section 2.2).

`update: threshold` is the published variant: two players adjust their weights hand by hand, whenever a hand scores too
little. `update: population` is a plain evolution strategy: a generation of mutants of one mean on a batch of deals, the
mean of the fittest as the next one's, for each role by itself, since no hand belongs to both.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.base import require_finite
from deepcrib.errors import OptionError
from deepcrib.game.cards import NUM_RANKS
from deepcrib.game.randomness import EVOLUTION_STEP, MINIBATCHES, MONITORING, NETWORKS, SELF_PLAY, derive
from deepcrib.kernels.workers import run_rows
from deepcrib.learners.evolution.agent import GENOMES, MOST_VALUES, EvolutionaryAgent
from deepcrib.learners.evolution.deals import ShowDeals
from deepcrib.learners.evolution.options import EvolutionOptions
from deepcrib.learners.evolution.steps import ADJUSTMENTS, PLAYERS, ThresholdUpdate, fill_fitness, learn_from_deals
from deepcrib.training.learner import Learner, Metrics, Setting
from deepcrib.training.options import as_numbers, refuse_unread

_HELD_OUT = 1  # index of `derive`: deals of no training and, since `ShowDeals` are dealt apart, of no match

CHARTS = {
    "Discards": {
        "share of the best points, held-out hands": "held_out.*/hand",
        "the same with the crib": "held_out.*/with_crib",
    },
    "Evolution": {"updates": "update/(?!deals$).*", "spread of the values of ranks": "weights/spread"},
}
"""On the Custom Scalars page of TensorBoard, by category and title: patterns of whole tags."""


class EvolutionLearner(Learner):
    """Steps are generations. The first player is the agent.

    weights: float64 [players, 2 roles, G] (of a population: one player, its mean), at first uniform in [0, 1).
    sigma: [2] by role. deals: those played so far.
    """

    unit = "generations"
    saved = ("weights", "sigma", "deals")

    def __init__(self, options: EvolutionOptions, setting: Setting) -> None:
        """Raises OptionError for options that do not go together."""
        super().__init__(setting)
        _require_options(options)
        self.options, self.deals = options, 0
        self.num_steps, self.checkpoint_every = options.generations, options.checkpoint_every
        players = PLAYERS if options.update == "threshold" else 1
        generators = (np.random.default_rng(derive(setting.seed, NETWORKS, i)) for i in range(players))
        self.weights = np.stack([generator.random((2, GENOMES[options.genome])) for generator in generators])
        self.sigma = np.full(2, float(options.sigma))

    def first_metrics(self) -> Metrics:
        """What the first weights obtain."""
        return self.measure()

    def step(self) -> Metrics:
        """One generation. Raises DivergenceError where values leave the numbers."""
        metrics = self._breed() if self.options.update == "population" else self._adjust()
        _require_finite(self.weights)
        self.steps_done += 1
        return metrics | self.measure() if self.is_due(self.options.measure_every) else {}

    def _adjust(self) -> Metrics:
        """Deals hand by hand."""
        options, first, last = self.options, self.deals, self.deals + self.options.deals
        same, rival, crib = options.cards == "same", options.against == "opponent", options.score == "crib"
        adjust, seed = ADJUSTMENTS.index(options.adjust), derive(self.setting.seed, SELF_PLAY)
        update = as_numbers(ThresholdUpdate, options, adjust=adjust, same=same, rival=rival, crib=crib)
        hands, adjusted = learn_from_deals(seed, first, last, self.weights, update)
        self.deals = last
        return {"update/adjusted": adjusted / hands, "update/deals": last}

    def _breed(self) -> Metrics:
        """Mutants of the mean, ranked by fitness; then the mean of the parents, and of their sigmas' logarithms."""
        parents, sigmas, population = self.options.parents, *self._mutants()
        _require_finite(population)
        fitness = self._fitness(population)
        for role in range(2):
            fittest = np.argsort(-fitness[:, role], kind="stable")[:parents]
            self.weights[0, role] = population[fittest, role].mean(axis=0)
            self.sigma[role] = np.exp(np.log(sigmas[fittest, role]).mean())
        return {
            "update/fitness": float(fitness.mean()),
            "update/sigma": float(self.sigma.mean()),
            "update/deals": self.deals,
        }

    def _mutants(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(sigmas [N, 2], weights [N, 2, G]) of a population around the mean."""
        count, size = self.options.population, self.weights.shape[2]
        generator = np.random.default_rng(derive(self.setting.seed, MINIBATCHES, self.steps_done))
        noise = generator.standard_normal((count, 2, size))
        # Learning rate of a self-adapted step size (Schwefel 1981): 1 / sqrt(2 n) for one sigma of n values.
        sigmas = self.sigma * np.exp(generator.standard_normal((count, 2)) / np.sqrt(2 * size))
        with np.errstate(over="ignore"):
            return sigmas, self.weights[0] + sigmas[:, :, None] * noise

    def _fitness(self, population: NDArray[np.float64]) -> NDArray[np.float64]:
        """[N, 2] by role, on the next deals."""
        seed, count = derive(self.setting.seed, SELF_PLAY), self.options.deals
        deals = ShowDeals.deal(seed, count, self.deals, EVOLUTION_STEP)
        crib = self.options.score == "crib"
        points = deals.points_against(EvolutionaryAgent("mean", self.weights[0])) if crib else deals.hand_points
        fitness = np.empty((len(population), 2))
        run_rows(fill_fitness, len(population), deals.hands, points, population, fitness, piece=1)
        self.deals += count
        return fitness

    @cached_property
    def _held_out(self) -> ShowDeals:
        seed = derive(self.setting.evaluation_seed, MONITORING, _HELD_OUT)
        return ShowDeals.deal(seed, -(-self.options.held_out // 2))

    def measure(self) -> Metrics:
        """Fractions of the best points on held-out hands, of each player, and how far apart the values of ranks are."""
        metrics = Metrics()
        for player, weights in enumerate(self.weights):
            probabilities = self._held_out.probabilities(EvolutionaryAgent("measured", weights))
            prefix = "held_out" if player == 0 else f"held_out_opponent_{player}"
            metrics[f"{prefix}/hand"] = self._held_out.fraction(probabilities, crib=False).estimate
            metrics[f"{prefix}/with_crib"] = self._held_out.fraction(probabilities, crib=True).estimate
        metrics["weights/spread"] = float(self.weights[0, :, :NUM_RANKS].std(axis=1).mean())
        return metrics

    def agent(self, player: int = 0) -> EvolutionaryAgent:
        """One of the players as an agent."""
        options = self.options
        chosen = {name: getattr(options, name) for name in ("update", "cards", "score")}
        own = {"generations": self.steps_done, "deals": self.deals, "player": player, **chosen}
        metadata = self.setting.metadata(options.name, **own)
        return EvolutionaryAgent("trained", self.weights[player].copy(), metadata)

    def finish(self, folder: Path) -> dict[str, Any]:
        """Write the weights of the other players, each to a file of its own."""
        for player in range(1, len(self.weights)):
            self.agent(player).save(folder / f"opponent_{player}.safetensors")
        return {}


def _require_options(options: EvolutionOptions) -> None:
    if options.update == "population":
        refuse_unread(options, ("cards", "against", "threshold", "adjust", "rate"), "learner.update=threshold")
        if options.parents > options.population:
            raise OptionError(
                f"learner.parents={options.parents}: expected at most learner.population={options.population}"
            )
        return
    refuse_unread(options, ("population", "parents"), "learner.update=population")
    if options.adjust == "merge" and options.rate > 1:  # the gap becomes |1 - 2 rate| times as wide with every hand
        raise OptionError(
            f"learner.rate={options.rate:g}: with learner.adjust=merge values diverge above 1, expected at most 1"
        )


def _require_finite(weights: NDArray[np.float64]) -> None:
    """Refuse weights of which a discard's sum may overflow, though each is finite. Raises DivergenceError."""
    with np.errstate(over="ignore"):
        require_finite(MOST_VALUES * np.abs(weights).max(), lower="learner.rate or learner.sigma")
