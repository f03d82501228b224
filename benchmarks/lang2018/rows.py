"""What is run of Lang 2018, for the queue (`lang2018`) and for the page of its results (`lang2018/page.py`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from benchmarks.long_run import LongRun
from deepcrib.exact.strategies.names import THESIS_STRATEGIES

LANG_CODE = "5c24855f7bed1c5ba19698ce03be62932336aa76"
"""Of Lang 2018: the first one with `lang2018/runs.py`."""
OPPONENTS = ("random_weights", "hand_max_avg", "greedy", "deterministic")
START = "own_start"
MATCH_GAMES, MATCH_SEED = 20_000, 20_181
"""Of every match; training seed i meets its own start on deals of seed MATCH_SEED + i."""
LEADS = ((-60, -16), (-15, -1), (0, 15), (16, 60))
WINNING_HALF = (0, 60)
"""Leads of the pone, in points: from the lowest to the highest."""


@dataclass(frozen=True)
class Row:
    """A row of the main table: one setup, with several seeds from `first_seed` on.

    words: behind the experiment's, for `deepcrib train`. measures: words of `lang2018/runs.py` where that script
    makes the run, since it keeps more than a summary holds; else a plain training does.
    """

    title: str
    experiment: str
    games: int = 1_000_000
    words: tuple[str, ...] = ()
    seeds: int = 5
    first_seed: int = 1
    group: str = "lang2018_rows"
    measures: tuple[str, ...] = ()

    def train(self, number: int) -> tuple[str, ...]:
        """Words of `deepcrib train` for its seed `number`, counted from 1."""
        games, seed = f"learner.games={self.games}", f"seed={self.first_seed + number - 1}"
        return (f"experiment=lang2018_{self.experiment}", *self.words, games, seed)


COMMON, HALF, ROUND_1, LOSERS, WINNERS = "decay_10", "half_length", "round_1", "round_2_losers", "round_2_winners"
"""Names as `lang2018/figures.py` looks for; the common parameters have d = 0.1, which figure 25 shows."""
_ROUND_2 = "lang2018_round_2"
_STARTS = {"min": "hand_max_min", "avg": "hand_max_avg", "med": "hand_max_med", "poss": "hand_max_poss"}


def _semi_pure() -> dict[str, Row]:
    rows = {f"semi_pure_{short}": Row(f"semi-pure {name}", f"semi_pure_{short}") for short, name in _STARTS.items()}
    return rows | {"semi_pure_avg_random": Row("semi-pure hand_max_avg against random", "semi_pure_avg_random")}


ROWS: Mapping[str, Row] = {
    ROUND_1: Row("**round 1** (s = 10)", "round_1", seeds=16, group="lang2018_round_1", measures=("--exploration",)),
    LOSERS: Row("**round 2, losers' bracket**", "round_2", first_seed=301, group=_ROUND_2, measures=("--checkpoints",)),
    WINNERS: Row("round 2, winners' bracket", "round_2", first_seed=201, group=_ROUND_2, measures=("--winners-of",)),
    COMMON: Row("**the common parameters** (s = 2, d = 0.1)", "base"),
    HALF: Row("the same for 500,000 games", "base", 500_000),
    **{
        f"scaling_{round(100 * s)}": Row(f"s = {s:g}", "base", words=(f"learner.scaling={s:g}",))
        for s in (0.25, 0.5, 0.75, 1.5)
    },
    "large_steps": Row("s = 10", "base", words=("learner.scaling=10",)),
    **{f"decay_{round(100 * d)}": Row(f"d = {d:g}", "base", words=(f"learner.decay={d:g}",)) for d in (0, 0.25, 0.5)},
    "punishment": Row("a quarter of the punishment", "punishment"),
    **{f"cap_{cap}": Row(f"cap r = 0.{cap}", f"cap_{cap}", 500_000) for cap in (50, 60, 70, 80)},
    "neighbours": Row("neighbours, 0.4 of their sum (the program)", "neighbours", 500_000),
    "neighbours_average": Row("neighbours, 0.4 of their mean (the text)", "neighbours_average", 500_000),
    **_semi_pure(),
    "round_2_static": Row("round 2 against a static random agent", "round_2_static", 350_000),
    "round_robin": Row("round robin, a pool of four", "round_robin"),
    "text": Row("`learner.reading=text`: the former reading", "text"),
    "baseline": Row("with a baseline", "base", words=("learner.baseline=true",)),
    "baseline_small": Row("with a baseline, s = 0.1", "base", words=("learner.baseline=true", "learner.scaling=0.1")),
    "baseline_long": Row(
        "the same, twenty times the games", "baseline", 20_000_000, ("learner.checkpoint_every=2000000",), seeds=1
    ),
}
COMPARED: Mapping[str, str] = {
    **dict.fromkeys((*(f"scaling_{s}" for s in (25, 50, 75, 150)), "large_steps"), COMMON),
    **dict.fromkeys((f"decay_{d}" for d in (0, 25, 50)), COMMON),
    "punishment": COMMON,
    **dict.fromkeys((f"cap_{cap}" for cap in (50, 60, 70, 80)), HALF),
    **dict.fromkeys(("neighbours", "neighbours_average"), HALF),
    **dict.fromkeys(_semi_pure(), COMMON),
}
"""What is tested, named before it was run: a row, and the row of as many games that it differs from in one thing."""

ORDER_SEEDS, RANDOM_ORDERS = 3, 10


def orders() -> dict[str, tuple[str, ...]]:
    """Lists of the eight strategies by name: the thesis's, its reverse, and random ones, all different."""
    random = np.random.default_rng(2018)
    drawn = [tuple(map(str, random.permutation(THESIS_STRATEGIES))) for _ in range(RANDOM_ORDERS)]
    known = {"thesis": THESIS_STRATEGIES, "reversed": tuple(reversed(THESIS_STRATEGIES))}
    return known | {f"random_{number:02d}": order for number, order in enumerate(drawn, 1)}


# --- in the queue -------------------------------------------------------------------------------------------------


def lang2018() -> Iterator[LongRun]:
    """The rows of Lang 2018, seed by seed and the longest training last, and orders of its list of strategies."""
    for number in range(1, max(row.seeds for row in ROWS.values()) + 1):
        yield from (_lang2018_row(name, number) for name in ROWS if number <= ROWS[name].seeds > 1)
        if number <= ORDER_SEEDS:
            for name, order in orders().items():
                options = ("experiment=lang2018_base", f"learner.strategies=[{','.join(order)}]", f"seed={number}")
                yield _lang2018_script("lang2018_orders", f"{name}_{number}", options, 0.008)
    yield from (_lang2018_row(name, 1) for name, row in ROWS.items() if row.seeds == 1)


def _lang2018_row(name: str, number: int) -> LongRun:
    row = ROWS[name]
    million = row.games / 1_000_000
    if row.measures:
        pairs = (str(2 * number - 1), str(2 * number)) if name == WINNERS else ()
        words = (*row.measures, *pairs, *row.train(number))
        return _lang2018_script(row.group, f"{name}_{number}", words, 0.008 * (1 + len(pairs)))
    match = ("opponent=RUN/checkpoints/games_00000000.safetensors", f"games={MATCH_GAMES}")
    return LongRun(
        row.group,
        f"{name}_{number}",
        (f"evaluation.final_games={MATCH_GAMES}",),
        row.train(number),
        0.003 + 0.004 * million,
        tuple(f"{opponent}.{figure}" for opponent in OPPONENTS for figure in ("games", "win_rate", "hand_margin")),
        LANG_CODE,
        (*match, f"seed={MATCH_SEED + row.first_seed + number - 1}"),
    )


def _lang2018_script(group: str, name: str, words: tuple[str, ...], hours: float) -> LongRun:
    """Of a script that writes nothing but what is kept."""
    return LongRun(group, name, (), words, hours, ("",), LANG_CODE, script="thesis2018_runs.py")
