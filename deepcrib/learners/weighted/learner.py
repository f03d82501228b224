"""Training of weighted strategies (Lang 2018, chapter 3): Monte Carlo over games, with exploring starts.

The weights change after each game, so a training is one compiled loop on one core; updates by batches would have been
faster and another algorithm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.exact.discards import plain_statistics, uniform_sums
from deepcrib.exact.pegging import PeggingRecords, exact_records, sampled_records
from deepcrib.exact.strategies.discards import strategy_codes
from deepcrib.game.engine.state import new_games
from deepcrib.game.randomness import PRETRAINING, SELF_PLAY, derive
from deepcrib.kernels import seconds_running
from deepcrib.learners.weighted.agent import NEIGHBOURS, WeightedAgent, initial_weights
from deepcrib.learners.weighted.games import learn_games
from deepcrib.learners.weighted.options import WeightedOptions
from deepcrib.learners.weighted.state import READINGS, Method, StrategyTables, Training, new_log
from deepcrib.training.learner import Learner, Metrics, Setting
from deepcrib.training.options import as_numbers
from deepcrib.training.run_files import require_like

CHARTS = {
    "Weights": {
        "mean weights as pone": "weights_pone/(?!largest$|change$).*",
        "mean weights as dealer": "weights_dealer/(?!largest$|change$).*",
        "largest weight, mean over scores": "weights_.*/largest",
        "change since the last checkpoint": "weights_.*/change",
    },
    "Throughput": {"games a second": "speed/games_per_second"},
}
"""On the Custom Scalars page of TensorBoard, by category and title: patterns of whole tags."""


class WeightedLearner(Learner):
    """Steps are games of a pool of K members, of whom member 0 is the run's agent.

    pool: float64 [K, 121, 121, 2, m], of m strategies by score location and role. hands: played so far. gained, given:
    pegging records, which grow with `update_records`; pegging: what is read of them.
    """

    unit = "games"
    saved = ("sort", "pool", "hands", "gained", "given")

    def __init__(self, options: WeightedOptions, setting: Setting) -> None:
        """Raises OptionError for initial weights and strategies that there are not."""
        super().__init__(setting)
        self.options, self.hands = options, 0
        self.num_steps, self.checkpoint_every = options.games, options.checkpoint_every
        self.sort = {"strategies": options.strategies}
        self._codes = strategy_codes(options.strategies)
        members = [options.initial, *options.opponents]
        self.pool = np.stack(
            [initial_weights(name, options.strategies, setting.seed, i) for i, name in enumerate(members)]
        )
        sampled, records_seed = options.records == "sampled", derive(setting.seed, PRETRAINING)
        records = (sampled_records(options.record_hands, records_seed) if sampled else exact_records()).pooled()
        self.gained, self.given, self.pegging = records.gained, records.given, records.summary()

    def step(self) -> Metrics:
        """Play and learn up to the next checkpoint."""
        start, begin, before = self.steps_done, seconds_running(), self.pool[0].copy()
        game, run = new_games(np.zeros(1, dtype=np.int64), 2), self.training()
        for first, last in self.pieces():
            self.hands += learn_games(game, first, last, run)
        rate = (self.steps_done - start) / (seconds_running() - begin)
        return {"speed/games_per_second": rate} | _weight_metrics(self.pool[0], before, self.options.strategies)

    def training(self) -> Training:
        """What compiled games read and change: this learner's own arrays."""
        options = self.options
        learns = np.array([True] + [options.opponents_learn] * (len(self.pool) - 1))
        records = self.gained, self.given, self.pegging
        return Training(
            weighted_method(options, derive(self.setting.seed, SELF_PLAY), self.setting.dealing),
            self.pool,
            learns,
            self._codes,
            StrategyTables(uniform_sums(), plain_statistics(), *records),
            new_log(),
        )

    def agent(self, member: int = 0) -> WeightedAgent:
        """A member of the pool as it is now; without a number, the run's agent."""
        options = self.options
        return WeightedAgent(
            "trained",
            self.pool[member].astype(np.float32),
            tuple(options.strategies),
            self.pegging.copy(),
            options.neighbours,
            options.neighbour_share,
            self.setting.metadata(options.name, games=self.steps_done, member=member),
        )

    def finish(self, folder: Path) -> dict[str, Any]:
        """Write the weights of the opponents beside, if they learn."""
        if self.options.opponents_learn:
            for member in range(1, len(self.pool)):
                self.agent(member).save(folder / f"opponent_{member}.safetensors")
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over such a pool. Raises ValueError for one of another size or of other strategies."""
        require_like(state, self.state_dict(), "the state")  # before anything is worked out from it
        super().load_state_dict(state)
        self.pegging = PeggingRecords(self.gained, self.given).summary()  # not saved: it may hold what is no number
        if np.isinf(self.pegging).any():
            raise ValueError("its pegging records are of no hands that can be")


def weighted_method(options: WeightedOptions, seed: int, dealing: str = "acc") -> Method:
    """The options as the compiled games read them."""
    return as_numbers(
        Method,
        options,
        seed=seed,
        reading=READINGS[options.reading],
        cap=np.inf if options.cap is None else options.cap,
        by_variance=options.exploration == "variance",
        by_preference=options.explore_by == "preference",
        neighbours=NEIGHBOURS.index(options.neighbours),
        random_pairs=options.pairs == "random",
        random_dealer=dealing == "random_dealer",
    )


def _weight_metrics(weights: NDArray[np.float64], before: NDArray[np.float64], strategies: Sequence[str]) -> Metrics:
    """Means over score locations, by role: each strategy's weight, the largest weight, and how much changed."""
    metrics = Metrics()
    for role, name in enumerate(("pone", "dealer")):
        for i, strategy in enumerate(strategies):
            metrics[f"weights_{name}/{strategy}"] = float(weights[:, :, role, i].mean())
        metrics[f"weights_{name}/largest"] = float(weights[:, :, role].max(axis=2).mean())
        metrics[f"weights_{name}/change"] = float(np.abs(weights - before)[:, :, role].sum(axis=2).mean())
    return metrics
