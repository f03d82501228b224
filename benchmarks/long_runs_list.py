"""What `long_runs.py` runs, in its order: a group a question, a run a training."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import oconnor2000_values as oconnor
from paper2019_values import ALGORITHMS, TABLE_3, Searched
from thesis2018_rows import MATCH_GAMES, MATCH_SEED, OPPONENTS, ORDER_SEEDS, ROWS, WINNERS, orders
from verdicts_options import SEEDS, second, together

CODE = "cd3919c284654493d5aa41887dd19a70331e45b5"
"""The commit that runs are made with, unless they name another one."""
SETUPS_CODE = "7f0a845bd666afdc909e4013493ffd3687129ebc"
"""Of the eight setups: the first one whose `progress.csv` has processor seconds."""
LANG_CODE = "5c24855f7bed1c5ba19698ce03be62932336aa76"
"""Of Lang 2018: the first one with `thesis2018_runs.py`."""
PAGES_CODE = "346428dd132a71fa2dae5f695d633a40f6446d94"
"""Of what fills docs/results/evolution.md, partida_network.md and best_response.md, and docs/expert_rules.md."""
EVOLVED_AGAINST = ("greedy", "deterministic", "hand_max_avg")
"""Of the evolved players and the hill climbers, in full games."""
PARTIDA = {
    "paper_12": (5, ("experiment=partida2022", "evaluation.final_games=4000")),
    "paper_16": (5, ("experiment=partida2022", "learner.inputs=16", "evaluation.opponents=[]")),
    "tuned_12": (3, ("experiment=partida2022_tuned", "evaluation.final_games=6667")),
}
"""By setup: how many seeds, and its words."""
CLIMBS = {
    "pollack_blair": ("experiment=pollack_blair",),
    "pollack_blair_hands": ("experiment=pollack_blair_hands",),
    "pollack_blair_random": (
        *("experiment=pollack_blair_hands", "learner.start=random"),
        *("learner.games=2700000", "learner.checkpoint_every=300000"),
    ),
    "pollack_blair_play": ("experiment=pollack_blair_play",),
}
"""Hill climbs, of seed 1 each."""

VERDICTS_CODE = "d987941c049172bce7f4488984f27b349d61ab62"
"""Of the second edition of the verdicts."""
OCONNOR_CODE = "95e0d181c99127c0c37aa5a0814e1e5b3e9ebee9"
"""Of O'Connor 2000."""
SEARCH_CODE = "8236c4f96164ba6329f0172195f9af75ef031590"
"""Of the search of Partida 2022."""


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
    yield from oconnor2000()
    yield from partida_search()
    yield from lang2018()
    yield from evolution()
    yield from partida()
    yield from scripts()
    yield from verdicts()


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


def evolved() -> dict[str, tuple[int, tuple[str, ...]]]:
    """Curves of evolved discarders: by name how many seeds, and their words."""
    found = {}
    for form, cards, seeds in (
        *(("merge", cards, 10) for cards in ("optimal", "same", "different")),
        *((form, "optimal", 5) for form in ("toward", "punish", "mutate", "select")),
        *(("toward", cards, 5) for cards in ("same", "different")),
    ):
        words = (f"experiment=kendall_shaw2002_{cards}", "learner.measure_every=20")
        other = () if form == "merge" else (f"learner.adjust={form}", "learner.rate=0.02")
        found[f"{form}_{cards}"] = seeds, words + other
    for genome in ("ranks", "pairs"):
        words = ("learner=evolution", "learner.update=population", f"learner.genome={genome}", "evaluation.every=0")
        found[f"population_{genome}"] = 3, (*words, "learner.generations=150", "learner.deals=200")
    return found


def evolution() -> Iterator[LongRun]:
    """What docs/results/evolution.md shows; seed 1 of four curves plays full games, as do the others of one seed."""
    games = (f"evaluation.opponents=[{','.join(EVOLVED_AGAINST)}]", "evaluation.final_games=50000")
    keeps = tuple(f"{name}.{figure}" for name in EVOLVED_AGAINST for figure in ("win_rate", "ci_", "margin"))
    for name, (seeds, words) in evolved().items():
        for seed in range(1, seeds + 1):
            plays = seed == 1 and name in ("merge_optimal", "merge_same", "merge_different", "population_ranks")
            more = (f"seed={seed}", *(games if plays else ("evaluation.opponents=[]",)))
            tags = ("held_out/hand", "weights/spread")
            yield LongRun("evolution", f"{name}_{seed}", (), words + more, 0.002, keeps, PAGES_CODE, curve=tags)
    for name, words, hours in (
        ("merge_optimal_100", (*evolved()["merge_optimal"][1], "learner.generations=100"), 0.01),
        ("evolution_pairs", ("experiment=evolution_pairs",), 0.06),
    ):
        yield LongRun("evolution", name, (), (*words, "seed=1", *games), hours, keeps, PAGES_CODE)
    tags = ("contest/moved", *(f"greedy/win_rate{end}" for end in ("", "_low", "_high")))
    for name, words in CLIMBS.items():
        yield LongRun("evolution", name, (), (*words, "seed=1", *games), 0.13, keeps, PAGES_CODE, curve=tags)


def partida() -> Iterator[LongRun]:
    """Figure 5 of Partida 2022, and the same units trained otherwise; 20,000 games against greedy in all a setup."""
    for name, (seeds, words) in PARTIDA.items():
        for seed in range(1, seeds + 1):
            options, keeps = (*words, f"seed={seed}"), ("greedy.", "play_only.")
            curve = ("play_only/difference",)
            yield LongRun("partida_network", f"{name}_{seed}", (), options, 0.006, keeps, PAGES_CODE, curve=curve)


def scripts() -> Iterator[LongRun]:
    """Others that measure a page's table, or all of its tables, by themselves."""
    agents = ("greedy", "deterministic", "td_perceptron", "partida_network", "hill_climber", "greedy_minimax", "quick")
    for group, words, hours in (
        ("evolution_references", (), 0.02),
        ("best_response_ceiling", ("--deals", "2000", "--seed", "7"), 0.25),
        ("expert_rules", (*agents, "--seed", "1"), 0.1),
    ):
        script = f"{group.removesuffix('_references')}.py"
        yield LongRun(group, "all", words, (), hours, ("",), PAGES_CODE, script=script)


def verdicts() -> Iterator[LongRun]:
    """Verdicts, second edition, seed by seed: what beat its base, together and each left out; then options again."""
    for group, chosen in (("together", together), ("options", second)):
        for number in range(1, SEEDS + 1):
            for option in chosen():
                options = (option.name, str(number))
                name = f"verdicts2_{group}_seed{number}"
                yield LongRun(name, option.name, (), options, option.hours, ("",), VERDICTS_CODE, script="verdicts.py")


# --- O'Connor 2000 ----------------------------------------------------------------------------------------------

PAIR_MARGINS = tuple(f"{name}/pair_margin" for name in oconnor.OPPONENTS)
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


def partida_search() -> Iterator[LongRun]:
    """Search by what the paper may do otherwise, its rows in the play alone, and full games."""
    keeps = ("difference.", "rows.", "compared.", "matches.")
    for group, script, words, hours in (
        ("causes", "partida2022_causes.py", (), 0.05),
        ("rows", "partida2022.py", ("rows",), 0.2),
        ("games", "partida2022.py", ("games",), 0.35),
    ):
        yield LongRun(f"partida_{group}", "all", (), words, hours, keeps, SEARCH_CODE, script=script)
