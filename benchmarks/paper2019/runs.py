"""The queue's runs of Bélanger et al. 2019: the trials of table 3, the eight setups, figures 5 and 6, leads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.long_run import LongRun
from benchmarks.paper2019.values import ALGORITHMS, TABLE_3, Searched

TRIALS_CODE = "cd3919c284654493d5aa41887dd19a70331e45b5"
"""The commit of the trials of table 3."""
SETUPS_CODE = "7f0a845bd666afdc909e4013493ffd3687129ebc"
"""Of the eight setups: the first one whose `progress.csv` has processor seconds."""
SHEETS_CODE = "6bdcdc759289055896f969c0fc3b73e5ffc4ed16"
"""Of figures 5 and 6, of leads and of the ideal agent: the first one with their scripts and the published networks."""


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
        yield LongRun(group, f"{number:03d}", common, options, 0.015, ("deterministic.hands_won",), TRIALS_CODE)


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
                1.7,
                ("deterministic.",),
                SETUPS_CODE,
                ("opponent=deterministic", "games=25000", "duplicate=true", f"seed={seed}"),
                rates,
            )


def ideal() -> LongRun:
    """The agent of section 4.7, with the points and matches of the setups."""
    (other,) = (run for run in setups(1) if run.name == "cnn_lstm_monte_carlo")
    options = ("experiment=paper2019_ideal", *other.options[1:])
    return replace(other, group="paper2019_ideal", name="seed1", options=options, hours=1.0, commit=SHEETS_CODE)


def deal_causes(seed: int) -> Iterator[LongRun]:
    """One setup with one thing of its deal network changed: it sees what it throws, or learns ten times as fast."""
    (other,) = (run for run in setups(seed) if run.name == "mlp_sarsa")
    for name, word in (("thrown", "state.discard=full"), ("rate", "learner.discard_lr=5e-4")):
        yield replace(other, group="paper2019_deal_causes", name=f"{name}_seed{seed}", options=(*other.options, word))


def leads(agent: str, name: str) -> LongRun:
    """What an agent leads of the hands of section 4.6."""
    script, keeps = "paper2019_leads.py", ("probes.", "rules.")
    return LongRun("paper2019_leads", name, (), (agent,), 0.01, keeps, SHEETS_CODE, script=script)


def deals() -> Iterator[LongRun]:
    """Pretrained deal networks of figures 5a, 5b and 6, three seeds each; densities are drawn of the first ones."""
    keeps = ("all.", "flushes.", "rest.", "mean.", "starters.", "best_")
    for seed in (1, 2, 3):
        for figure in ("5a", "5b", "6", "5b_adam"):
            kept = (*keeps, *(["density."] if seed == 1 else []))
            names, words = ("paper2019_deal", f"{figure}_seed{seed}"), (figure, "--seed", str(seed))
            yield LongRun(*names, (), words, 0.025, kept, SHEETS_CODE, script="paper2019_deal.py")
