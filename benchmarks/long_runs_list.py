"""What `long_runs.py` runs, in its order: a group a question, a run a training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from paper2019_values import TABLE_3, Searched

CODE = "cd3919c284654493d5aa41887dd19a70331e45b5"
"""The commit that runs are made with, unless they name another one."""


@dataclass(frozen=True)
class LongRun:
    """A training. group: the file that keeps its figures. common: words of its command that its group shares.

    options: its own words. hours: of a core, about. keeps: beginnings of the names in its summary that are kept.
    """

    group: str
    name: str
    common: tuple[str, ...]
    options: tuple[str, ...]
    hours: float
    keeps: tuple[str, ...]
    commit: str = CODE

    @property
    def words(self) -> tuple[str, ...]:
        """All of its command, behind `deepcrib train`."""
        return self.common + self.options


def long_runs() -> Iterator[LongRun]:
    """All of them."""
    for row in TABLE_3:
        yield from trials(row)


def trials(row: Searched) -> Iterator[LongRun]:
    """Those behind a row of table 3 of Bélanger et al. 2019: random values within table 4, each with a seed of its own.

    At random, since the table prints averages over trials, which a search that learns would raise.
    """
    group = f"table3_{row.reward}_{row.state}"
    common = ("experiment=paper2019_search", f"reward={row.reward}", f"state={row.state}")
    for number in range(1, row.trials + 1):
        random = np.random.default_rng([TABLE_3.index(row), number])
        values = {
            "learner.play_lr": f"{10 ** random.uniform(-4, -1):.4g}",
            "learner.lr_decay": f"{random.uniform(0.9, 1):.4g}",
            "learner.epsilon_decay": f"{random.uniform(0.9, 1):.4g}",
            "learner.buffer_size": random.choice([10_000, 45_000, 90_000]),
            "learner.replacement": random.choice([0.1, 0.2, 0.5]),
            "seed": number,
        }
        options = tuple(f"{name}={value}" for name, value in values.items())
        yield LongRun(group, f"{number:03d}", common, options, 0.015, ("deterministic.hands_won",))
