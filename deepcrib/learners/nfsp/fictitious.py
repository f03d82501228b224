"""Neural fictitious self-play: what it learns from, and how, whatever the game.

Heinrich and Silver 2016, "Deep reinforcement learning from self-play in imperfect-information games", algorithm 1. A
best response to the others' average policies is learned by Q-learning off a circular buffer of all decisions; the
average policy imitates the best response's own decisions, of which a reservoir keeps a fair sample.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.kernels.workers import run_pieces
from deepcrib.learners.nfsp.memory import Circular, Reservoir
from deepcrib.learners.policies.learning import LearnedPolicy
from deepcrib.learners.replay.batch import Batch
from deepcrib.learners.replay.update import LearnedNetwork


@dataclass(frozen=True)
class Decisions:
    """E decisions of all players.

    states: compact [E, K]. actions: [E]. rewards: [E] up to the player's next decision, or the end. next_states: [E, K]
    of that decision. last: bool [E], whether there is none. best: bool [E], whether the player followed its best
    response, not its average policy.
    """

    states: NDArray[np.int8]
    actions: NDArray[np.int8]
    rewards: NDArray[np.float32]
    next_states: NDArray[np.int8]
    last: NDArray[np.bool_]
    best: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.actions)


@dataclass(frozen=True)
class Rates:
    """Of a step. draws: decisions drawn from each memory for each new one."""

    best_lr: float
    average_lr: float
    batch_size: int
    draws: float


class FictitiousSelfPlay:
    """The values of a best response, the average policy, and their memories."""

    def __init__(self, best: LearnedNetwork, average: LearnedPolicy, recent: int, reservoir: int) -> None:
        """recent, reservoir: capacities."""
        self.best, self.average = best, average
        self.recent, self.own = Circular(recent), Reservoir(reservoir)

    def learn(self, decisions: Decisions, rates: Rates, seed: int) -> dict[str, float]:
        """Remember decisions, then learn both networks side by side. Targets come from the values as they are now."""
        remember, drawing, *generators = [np.random.default_rng((seed, stream)) for stream in range(4)]
        columns = asdict(decisions)
        best = columns.pop("best")
        self.recent.add(columns, remember)
        self.own.add({name: columns[name][best] for name in ("states", "actions")}, remember)
        count = max(1, round(rates.draws * len(decisions)))
        samples = self._targets(self.recent.draw(count, drawing))
        own = self.own.draw(count, drawing)
        chosen = np.arange(self.average.encoder.legal(own["states"][:1]).shape[1]) == own["actions"][:, None]
        passes: list[Any] = [
            partial(self.best.train_pass, samples, rates.best_lr, rates.batch_size, 1.0, generators[0]),
            partial(self.average.imitate, own["states"], chosen, rates.average_lr, rates.batch_size, generators[1]),
        ]
        passed, average_loss = run_pieces(passes)
        return {"loss/best_response": passed.loss, "loss/average": average_loss}

    def _targets(self, rows: dict[str, NDArray[Any]]) -> Batch:
        """Q-learning, undiscounted: rewards and the highest value of the player's next decision."""
        follows, targets = ~rows["last"], rows["rewards"].copy()
        states = rows["next_states"][follows]
        values = self.best.q_function().all_values(states, self.best.encoder.legal(states))
        targets[follows] += values.max(axis=1)
        return Batch(rows["states"], rows["actions"], targets)

    def state(self) -> dict[str, Any]:
        """Networks and memories."""
        parts: dict[str, Any] = {"best": self.best, "average": self.average, "recent": self.recent, "own": self.own}
        return {name: part.state() for name, part in parts.items()}

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a saved state. Raises ValueError for one of other capacities."""
        self.best.load(state["best"])
        self.average.load(state["average"])
        self.recent.load(state["recent"])
        self.own.load(state["own"])
