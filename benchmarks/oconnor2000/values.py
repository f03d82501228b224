"""What is trained for docs/results/td_perceptron.md: the full game of O'Connor 2000, and its further work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.long_run import LongRun

OCONNOR_CODE = "95e0d181c99127c0c37aa5a0814e1e5b3e9ebee9"
"""Of O'Connor 2000."""
SEEDS = (1, 2, 3)
MEASURED = ("learner.pairs=20000", "evaluation.seed=2000", "evaluation.games=2")
"""Of all trainings: pairs of hands against each opponent at a checkpoint, the same hands whatever learns."""
OPPONENTS = ("random", "greedy", "deterministic")
DISCARD_UNITS = (20, 40)
FUNCTIONS = ("constant", "sum", "sine")


@dataclass(frozen=True)
class Row:
    """A line of the table. words: of `deepcrib train`. hands: of self-play. minutes: of a core, a run, about.

    games: whether full games are played at the end, as the experiment says.
    """

    label: str
    words: tuple[str, ...]
    hands: int
    minutes: float
    seeds: tuple[int, ...] = SEEDS
    games: bool = False

    @property
    def name(self) -> str:
        """Its runs', before the seed."""
        return self.label.replace(", ", "_").replace(" ", "_")


FEW = "evaluation.final_games=100"
LONGER = ("learner.hands=2000000", "learner.checkpoint_every=200000", FEW)
LAYERS = "learner.hidden=[40,40]"
ROWS = (
    Row("20 units", ("experiment=oconnor2000_20", FEW), 200_000, 0.4),
    Row("40 units", ("experiment=oconnor2000_40", FEW), 200_000, 0.5),
    Row("two layers of 40", ("experiment=oconnor2000_40", LAYERS, FEW), 200_000, 0.8),
    Row("20 units, lambda 0.7", ("experiment=oconnor2000_lambda", FEW), 200_000, 0.4),
    Row(
        "20 units, points added",
        ("experiment=oconnor2000_20", "learner.move_points=added", "learner.lr=0.01", FEW),
        *(200_000, 0.4),
    ),
    Row("20 units, longer", ("experiment=oconnor2000_20", *LONGER), 2_000_000, 2),
    Row("40 units, longer", ("experiment=oconnor2000_40", *LONGER), 2_000_000, 3),
    Row("features", ("experiment=oconnor2000_features", FEW), 100_000, 0.8),
    Row("td_perceptron", ("experiment=td_perceptron",), 150_000, 1.5, games=True),
    Row("td_perceptron, two layers", ("experiment=td_perceptron", LAYERS), 150_000, 2, (1,), games=True),
    Row(
        "td_perceptron, longer",
        ("experiment=td_perceptron", "learner.hands=1000000", "learner.checkpoint_every=100000"),
        *(1_000_000, 5),
        (1,),
        games=True,
    ),
)

RATES = (0.001, 0.003, 0.01)
UNITS = (20, 40, 80)
GRID_POINTS = "evaluation.every=5"
"""Of a cell: after 100,000 and 200,000 hands."""
ROW_OF_CELL = {(20, 0.003): "20 units", (40, 0.003): "40 units"}
"""Cells that are lines of the table: the experiments' rate is 0.003."""
CELLS = tuple((units, rate) for rate in RATES for units in UNITS if (units, rate) not in ROW_OF_CELL)
"""(units, rate) that are trained beside them."""


# --- in the queue -------------------------------------------------------------------------------------------------

PAIR_MARGINS = tuple(f"{name}/pair_margin" for name in OPPONENTS)
OCONNOR_KEEPS = ("mse.", "measured.", "exact.", "counted.", "curve.")
"""Of the scripts."""


def oconnor2000() -> Iterator[LongRun]:
    """All of it."""
    yield from oconnor_checks()
    yield from oconnor_grid()
    yield from oconnor_game()
    yield from oconnor_discards()


def oconnor_script(group: str, name: str, script: str, *words: str) -> LongRun:
    """A run of a script."""
    return LongRun(f"oconnor_{group}", name, (), words, 0.003, OCONNOR_KEEPS, OCONNOR_CODE, script=script)


def oconnor_checks() -> Iterator[LongRun]:
    """Its network on three functions."""
    for function in FUNCTIONS:
        for seed in SEEDS:
            words = function, "--seed", str(seed)
            yield oconnor_script("checks", f"{function}_seed{seed}", "perceptron_checks.py", *words)


def oconnor_discards() -> Iterator[LongRun]:
    """The players and the networks of the simple discard game."""
    yield oconnor_script("discard", "players", "discard_game.py", "players")
    for units in DISCARD_UNITS:
        for seed in SEEDS:
            words = "network", "--hidden", str(units), "--seed", str(seed)
            yield oconnor_script("discard", f"{units}_units_seed{seed}", "discard_game.py", *words)


def oconnor_grid() -> Iterator[LongRun]:
    """The full game by learning rate and hidden units, but for the cells that `oconnor_game` has."""
    common = ("experiment=oconnor2000_20", *MEASURED, GRID_POINTS, FEW)
    for units, rate in CELLS:
        for seed in SEEDS:
            options = (f"learner.hidden=[{units}]", f"learner.lr={rate:g}", f"seed={seed}")
            name = f"{units}_units_lr{rate:g}_seed{seed}"
            yield LongRun("oconnor_grid", name, common, options, 0.005, (), OCONNOR_CODE, curve=PAIR_MARGINS)


def oconnor_game() -> Iterator[LongRun]:
    """The rows of the full game's table."""
    rates = tuple(f"{name}.{figure}" for name in OPPONENTS for figure in ("games", "win_rate", "ci_"))
    for row in ROWS:
        for seed in row.seeds:
            name, options, keeps = f"{row.name}_seed{seed}", (*row.words, f"seed={seed}"), rates if row.games else ()
            group = "oconnor_game", name, MEASURED, options, row.minutes / 60, keeps
            yield LongRun(*group, OCONNOR_CODE, curve=PAIR_MARGINS)
