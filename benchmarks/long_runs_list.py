"""What `long_runs.py` runs, in its order: a group a question, a run a training."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import oconnor2000_values as oconnor
from paper2019_values import ALGORITHMS, TABLE_3, Searched

CODE = "cd3919c284654493d5aa41887dd19a70331e45b5"
"""The commit that runs are made with, unless they name another one."""
SETUPS_CODE = "7f0a845bd666afdc909e4013493ffd3687129ebc"
"""Of the eight setups: the first one whose `progress.csv` has processor seconds."""

OCONNOR_CODE = "95e0d181c99127c0c37aa5a0814e1e5b3e9ebee9"
"""Of O'Connor 2000."""
PARTIDA_CODE = "8236c4f96164ba6329f0172195f9af75ef031590"
"""Of Partida 2022."""


@dataclass(frozen=True)
class LongRun:
    """A training, or a script. group: the file that keeps its figures. common: words that its group shares.

    options: its own words. hours: of a core, about. keeps: beginnings of the names in its summary that are kept.
    match: words of `deepcrib evaluate` that measure the trained agent, or none; RUN is its folder in them. curve:
    columns of `progress.csv` that are kept, with the seconds of training alone. script: a file of benchmarks/ that is
    run in place of a training. It gets the words and `--to FILE`, where it writes its figures as JSON; what of it is to
    survive an interruption it keeps itself, beside that file.
    """

    group: str
    name: str
    common: tuple[str, ...]
    options: tuple[str, ...]
    hours: float
    keeps: tuple[str, ...]
    commit: str = CODE
    match: tuple[str, ...] = ()
    curve: tuple[str, ...] = ()
    script: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """All of its command, behind `program`."""
        return self.common + self.options

    @property
    def program(self) -> str:
        """How its command begins."""
        return f"python benchmarks/{self.script}" if self.script else "deepcrib train"


def long_runs(finished: Callable[[str], Mapping[str, Any]] = lambda group: {}) -> Iterator[LongRun]:
    """All of them. finished: what is kept of a group's runs, by name, on which some that follow stand."""
    for row in TABLE_3:
        yield from trials(row)
    for row in TABLE_3:
        yield from best_again(row, finished(table_3_group(row)))
    yield from setups(1)
    yield from oconnor_checks()
    yield from oconnor_grid()
    yield from oconnor_game()
    yield from oconnor_discards()
    yield from partida()


def table_3_group(row: Searched) -> str:
    """The trials behind a row of table 3."""
    return f"table3_{row.reward}_{row.state}"


def hands_won(run: Mapping[str, Any]) -> tuple[float, float]:
    """Of a kept run that counts hands won on play points: shares of the decided ones, and of all."""
    wins, losses, hands = (run["figures"][f"deterministic.hands_won.{name}"] for name in ("wins", "losses", "hands"))
    return wins / (wins + losses), wins / hands


def trials(row: Searched) -> Iterator[LongRun]:
    """Those behind a row of table 3 of Bélanger et al. 2019: random values within table 4, each with a seed of its own.

    At random, since the table prints averages over trials, which a search that learns would raise.
    """
    group = table_3_group(row)
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


def best_again(row: Searched, found: Mapping[str, Any]) -> Iterator[LongRun]:
    """The best trial of a row, by decided hands, when all have run: three seeds of their own, on hands of their own.

    The best of many is the luckiest, too, so its own figure is too high.
    """
    if len(found) < row.trials:
        return
    best = max(found, key=lambda name: hands_won(found[name])[0])
    (trial,) = (run for run in trials(row) if run.name == best)
    for seed in range(1001, 1004):
        options = (*trial.options[:-1], f"seed={seed}", "evaluation.hands=100000")
        yield replace(trial, group="table3_best", name=f"{trial.group}_{seed}", options=options, hours=0.03)


def setups(seed: int) -> Iterator[LongRun]:
    """The eight setups of figures 9 and 10 and table 2, with a point every tenth iteration, as the paper's have."""
    rates = tuple(f"deterministic/win_rate{end}" for end in ("", "_low", "_high"))
    for network in ("cnn_lstm", "mlp"):
        for algorithm in ALGORITHMS:
            points = ",".join(map(str, (0, 1, 2, 5, *range(10, 501, 10))))
            yield LongRun(
                f"paper2019_seed{seed}",
                f"{network}_{algorithm}",
                (),
                (f"experiment=paper2019_{network}_{algorithm}", f"seed={seed}", f"evaluation.at=[{points}]"),
                1.3,
                ("deterministic.",),
                SETUPS_CODE,
                ("opponent=deterministic", "games=25000", "duplicate=true", f"seed={seed}"),
                rates,
            )


# --- O'Connor 2000 ----------------------------------------------------------------------------------------------

PAIR_MARGINS = tuple(f"{name}/pair_margin" for name in oconnor.OPPONENTS)
OCONNOR_KEEPS = ("mse.", "measured.", "exact.", "counted.", "curve.")
"""Of the scripts."""


def oconnor_script(group: str, name: str, script: str, *words: str) -> LongRun:
    """A run of a script."""
    return LongRun(f"oconnor_{group}", name, (), words, 0.003, OCONNOR_KEEPS, OCONNOR_CODE, script=script)


def oconnor_checks() -> Iterator[LongRun]:
    """Its network on three functions."""
    for function in oconnor.FUNCTIONS:
        for seed in oconnor.SEEDS:
            words = function, "--seed", str(seed)
            yield oconnor_script("checks", f"{function}_seed{seed}", "perceptron_checks.py", *words)


def oconnor_discards() -> Iterator[LongRun]:
    """The players and the networks of the simple discard game."""
    yield oconnor_script("discard", "players", "discard_game.py", "players")
    for units in oconnor.DISCARD_UNITS:
        for seed in oconnor.SEEDS:
            words = "network", "--hidden", str(units), "--seed", str(seed)
            yield oconnor_script("discard", f"{units}_units_seed{seed}", "discard_game.py", *words)


def oconnor_grid() -> Iterator[LongRun]:
    """The full game by learning rate and hidden units, but for the cells that `oconnor_game` has."""
    common = ("experiment=oconnor2000_20", *oconnor.MEASURED, oconnor.GRID_POINTS, oconnor.FEW)
    for units, rate in oconnor.CELLS:
        for seed in oconnor.SEEDS:
            options = (f"learner.hidden=[{units}]", f"learner.lr={rate:g}", f"seed={seed}")
            name = f"{units}_units_lr{rate:g}_seed{seed}"
            yield LongRun("oconnor_grid", name, common, options, 0.005, (), OCONNOR_CODE, curve=PAIR_MARGINS)


def oconnor_game() -> Iterator[LongRun]:
    """The rows of the full game's table."""
    rates = tuple(f"{name}.{figure}" for name in oconnor.OPPONENTS for figure in ("games", "win_rate", "ci_"))
    for row in oconnor.ROWS:
        for seed in row.seeds:
            name, options, keeps = f"{row.name}_seed{seed}", (*row.words, f"seed={seed}"), rates if row.games else ()
            group = "oconnor_game", name, oconnor.MEASURED, options, row.minutes / 60, keeps
            yield LongRun(*group, OCONNOR_CODE, curve=PAIR_MARGINS)


# --- Partida 2022 -----------------------------------------------------------------------------------------------


def partida() -> Iterator[LongRun]:
    """Search by what the paper may do otherwise, its rows in the play alone, and full games."""
    keeps = ("difference.", "rows.", "compared.", "matches.")
    for group, script, words, hours in (
        ("causes", "partida2022_causes.py", (), 0.05),
        ("rows", "partida2022.py", ("rows",), 0.2),
        ("games", "partida2022.py", ("games",), 0.35),
    ):
        yield LongRun(f"partida_{group}", "all", (), words, hours, keeps, PARTIDA_CODE, script=script)
