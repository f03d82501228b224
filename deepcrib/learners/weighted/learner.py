"""Training of weighted strategies (Lang 2018, chapter 3): Monte Carlo over games, with exploring starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.exact.pegging import PeggingRecords, exact_records, sampled_records
from deepcrib.exact.strategies.discards import SCORES, strategy_codes
from deepcrib.exact.strategies.plays import PLAY_STRATEGIES
from deepcrib.exact.table import cached_table
from deepcrib.game.engine.state import new_games
from deepcrib.game.randomness import PRETRAINING, SELF_PLAY, derive
from deepcrib.kernels import seconds_running
from deepcrib.learners.weighted.agent import NEIGHBOURS, WeightedAgent, initial_weights
from deepcrib.learners.weighted.games import play_games
from deepcrib.learners.weighted.options import WeightedOptions
from deepcrib.learners.weighted.state import READINGS, Method, Tables, new_memory, new_scratch
from deepcrib.training.learner import Learner, Metrics, Setting

PIECE = 10_000  # games between two updates of the progress bar


class WeightedLearner(Learner):
    """Steps are games of a pool of K members, of whom member 0 is the run's agent.

    pool: float64 [K, 121, 121, 2, m], of m strategies by score location and role. play_pool: [K, 121, 121, 2, 2].
    hands: played so far. records: of pegging, which grow with `update_records`; pegging: what is read of them.
    outcomes: what `baseline` goes by (`state.Memory`).
    """

    unit = "games"

    def __init__(self, options: WeightedOptions, setting: Setting) -> None:
        """Raises OptionError for initial weights and strategies that there are not."""
        super().__init__(setting)
        self.options = options
        self.num_steps, self.checkpoint_every = options.games, options.checkpoint_every
        self._codes = strategy_codes(options.strategies)
        members = [options.initial, *options.opponents]
        weights = [initial_weights(name, options.strategies, setting.seed, i) for i, name in enumerate(members)]
        plays = [
            initial_weights("random", PLAY_STRATEGIES, setting.seed, len(members) + i) for i in range(len(members))
        ]
        self.pool, self.play_pool = np.stack(weights), np.stack(plays)
        self.records = _records(options, setting.seed)
        self.pegging = self.records.summary()
        self.outcomes = np.zeros((SCORES, SCORES, 2, 2))
        self.hands = 0

    def step(self) -> Metrics:
        """Play and learn up to the next checkpoint."""
        last, first, begin = self.next_checkpoint(), self.steps_done, seconds_running()
        game, scratch = new_games(np.zeros(1, dtype=np.int64), 2), new_scratch(len(self._codes))
        memory = new_memory()._replace(outcomes=self.outcomes)
        learns = np.array([True] + [self.options.opponents_learn] * (len(self.pool) - 1))
        seed, how = derive(self.setting.seed, SELF_PLAY), method(self.options, self.setting.dealing)
        before = self.pool[0].copy()
        while self.learns_until(last):
            end = min(self.steps_done + PIECE, last)
            self.hands += play_games(
                game,
                self.steps_done,
                end,
                seed,
                self.pool,
                self.play_pool,
                learns,
                self.options.switch_every,
                self._codes,
                self._tables(),
                how,
                memory,
                scratch,
            )
            self.steps_done = end
            self.tick(end)
        rate = (self.steps_done - first) / (seconds_running() - begin)
        return {"speed/games_per_second": rate} | _weight_metrics(self.pool[0], before, self.options.strategies)

    def _tables(self) -> Tables:
        table = cached_table()
        return Tables(
            np.asarray(table.rows),
            table.classes.keys,
            table.classes.starts,
            self.records.gained,
            self.records.given,
            self.pegging,
        )

    def agent(self, member: int = 0) -> WeightedAgent:
        """A member of the pool as it is now; without a number, the run's agent."""
        options, setting = self.options, self.setting
        metadata = {"learner": options.name, "games": self.steps_done, "seed": setting.seed}
        return WeightedAgent(
            "trained",
            self.pool[member].astype(np.float32),
            tuple(options.strategies),
            self.pegging.copy(),
            self.play_pool[member].copy() if options.play == "weighted" else None,
            options.neighbours,
            options.neighbour_share,
            metadata | {"rules": setting.dealing, "member": member},
        )

    def save(self, path: Path) -> None:
        """Write the weights of member 0."""
        self.agent().save(path)

    def finish(self, folder: Path) -> dict[str, Any]:
        """Write the weights of the opponents beside, if they learn."""
        if self.options.opponents_learn:
            for member in range(1, len(self.pool)):
                self.agent(member).save(folder / f"opponent_{member}.safetensors")
        return {}

    def state_dict(self) -> dict[str, Any]:
        """The pool, of which strategies it is, and what has been recorded of its games."""
        names = ("pool", "play_pool", "hands", "pegging", "outcomes")
        records = {"gained": self.records.gained, "given": self.records.given}
        return {name: getattr(self, name) for name in names} | records | {"strategies": list(self.options.strategies)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over such a pool. Raises ValueError for one of another size or of other strategies."""
        if tuple(state["pool"].shape) != self.pool.shape:
            raise ValueError(f"its pool has the shape {tuple(state['pool'].shape)}, expected {self.pool.shape}")
        if state["strategies"] != list(self.options.strategies):
            raise ValueError(f"it weighs {', '.join(state['strategies'])}")
        self.pool, self.play_pool = state["pool"].numpy(), state["play_pool"].numpy()
        self.records = PeggingRecords(state["gained"].numpy(), state["given"].numpy())
        self.pegging, self.outcomes = state["pegging"].numpy(), state["outcomes"].numpy()
        self.hands = state["hands"]

    def description(self) -> str:
        """Games and hands."""
        return f"{super().description()}, {self.hands:,} hands"


def method(options: WeightedOptions, dealing: str = "acc") -> Method:
    """The options as the compiled games read them."""
    return Method(
        reading=READINGS[options.reading],
        scaling=float(options.scaling),
        decay=float(options.decay),
        punishment=float(options.punishment),
        baseline=bool(options.baseline),
        cap=np.inf if options.cap is None else float(options.cap),
        by_variance=options.exploration == "variance",
        epsilon=float(options.epsilon),
        by_preference=options.explore_by == "preference",
        neighbours=NEIGHBOURS.index(options.neighbours),
        neighbour_share=float(options.neighbour_share),
        exploring_starts=bool(options.exploring_starts),
        spread=int(options.start_spread),
        update_records=bool(options.update_records),
        weighted_play=options.play == "weighted",
        random_pairs=options.pairs == "random",
        random_dealer=dealing == "random_dealer",
    )


def _records(options: WeightedOptions, seed: int) -> PeggingRecords:
    if options.records == "sampled":
        return sampled_records(options.record_hands, derive(seed, PRETRAINING)).pooled()
    return exact_records().pooled()


def _weight_metrics(weights: NDArray[np.float64], before: NDArray[np.float64], strategies: Sequence[str]) -> Metrics:
    """Means over score locations, by role: each strategy's weight, the largest weight, and how much changed."""
    metrics = Metrics()
    for role, name in enumerate(("pone", "dealer")):
        for i, strategy in enumerate(strategies):
            metrics[f"weights_{name}/{strategy}"] = float(weights[:, :, role, i].mean())
        metrics[f"weights_{name}/largest"] = float(weights[:, :, role].max(axis=2).mean())
        metrics[f"weights_{name}/change"] = float(np.abs(weights - before)[:, :, role].sum(axis=2).mean())
    return metrics
