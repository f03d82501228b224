"""What `long_runs.py` runs, in its order: a group a question, a run a training or a script."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from benchmarks.equilibrium import runs as equilibrium_runs
from benchmarks.evolution import runs as evolution_runs
from benchmarks.lang2018 import rows as thesis2018_rows
from benchmarks.long_run import LongRun
from benchmarks.oconnor2000 import values as oconnor2000_values
from benchmarks.paper2019 import runs as paper2019_runs
from benchmarks.paper2019.values import TABLE_3
from benchmarks.partida2022 import runs as partida2022_runs
from benchmarks.verdicts import options as verdicts_options

SCRIPTS_CODE = "346428dd132a71fa2dae5f695d633a40f6446d94"
"""The commit of `scripts`."""


def long_runs(finished: Callable[[str], Mapping[str, Any]] = lambda group: {}) -> Iterator[LongRun]:
    """All of them. finished: what is kept of a group's runs, by name, on which some that follow stand."""
    for row in TABLE_3:
        yield from paper2019_runs.trials(row)
    for row in TABLE_3:
        yield from paper2019_runs.best_again(row, finished(paper2019_runs.table_3_group(row)))
    yield from setups_with_leads(1)
    yield paper2019_runs.leads("belanger2019_cnn_lstm", "belanger2019_cnn_lstm")
    yield from paper2019_runs.deals()
    yield from oconnor2000_values.oconnor2000()
    yield from partida2022_runs.search()
    yield from thesis2018_rows.lang2018()
    yield from evolution_runs.evolution()
    yield from partida2022_runs.network()
    yield from scripts()
    yield from equilibrium_runs.magnets()
    yield from verdicts_options.verdicts()
    for seed in (2, 3):
        yield from setups_with_leads(seed)
    for seed in (1, 2, 3):
        yield from paper2019_runs.deal_causes(seed)


def setups_with_leads(seed: int) -> Iterator[LongRun]:
    """The setups of Bélanger et al. 2019, each with what it leads of hands of the paper; the ideal agent once."""
    for run in (*paper2019_runs.setups(seed), *([paper2019_runs.ideal()] if seed == 1 else [])):
        yield from (run, paper2019_runs.leads(f"RUNS/{run.group}/{run.name}", f"{run.group}_{run.name}"))


def scripts() -> Iterator[LongRun]:
    """Others that measure a page's table, or all of its tables, by themselves."""
    agents = ("greedy", "deterministic", "td_perceptron", "partida_network", "hill_climber", "greedy_minimax", "quick")
    for group, words, hours in (
        ("evolution_references", (), 0.02),
        ("best_response_ceiling", ("--deals", "2000", "--seed", "7"), 0.25),
        ("expert_rules", (*agents, "--seed", "1"), 0.1),
    ):
        script = f"{group.removesuffix('_references')}.py"
        yield LongRun(group, "all", words, (), hours, ("",), SCRIPTS_CODE, script=script)
