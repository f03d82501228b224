"""Runs beside Bélanger et al. 2019: python benchmarks/paper2019_report.py RUNS... [--to paper2019.md].

The page of `deepcrib report runs=RUNS` with columns of what the paper prints: hours (table 2), wins and claims about
them (sections 4.1 and 4.2), hands won (table 3), relations of hyperparameters (section 4.3), figures 5 and 6.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from paper2019_values import (
    ALGORITHMS,
    ARCHITECTURES,
    FIGURES,
    GAMES,
    HOURS,
    ITERATIONS,
    PREDICTED,
    PUBLISHED,
    PUBLISHED_AGENT,
    RELATIONS,
    TABLE_3,
    TABLE_3_SETUP,
    WORKLOAD,
)

from deepcrib.analysis.report.page import Page, Section, Table, check_page_path, number, share, write_page
from deepcrib.analysis.report.runs import load_runs
from deepcrib.analysis.report.sections import report_sections
from deepcrib.analysis.report.setups import SECONDS_EACH
from deepcrib.errors import UserError
from deepcrib.evaluation.recorded import paper_baseline
from deepcrib.intervals import Interval

HOUR = 3600
SMALL = "a small boost (4.1)"
NO_DIFFERENCE = "no clear difference (4.2)"
Row = dict[str, Any]


def _pair(row: Row) -> tuple[str, str]:
    return row["play network"].removeprefix(PUBLISHED), row["algorithm"]


def _hours(row: Row) -> Row:
    published, base = HOURS.get(_pair(row)), HOURS.get((_pair(row)[0], "monte_carlo"))
    ours = Interval(*(value * ITERATIONS / HOUR for value in row[SECONDS_EACH]))
    return {
        f"paper, hours for {ITERATIONS}": published,
        f"ours, hours for {ITERATIONS}": ours,
        "paper, times monte_carlo": f"{published / base:.2f}" if published and base else None,
        "paper, times mlp": _times_mlp(*_pair(row)),
    }


def _times_mlp(architecture: str, algorithm: str) -> str | None:
    published = HOURS.get((architecture, algorithm))
    known = published is not None and architecture == "cnn_lstm"
    return f"{published / HOURS['mlp', algorithm]:.2f}" if known else None


def _wins(row: Row) -> Row:
    found = PUBLISHED_AGENT.get(_pair(row))
    claims = {"less monte_carlo, t over seeds": NO_DIFFERENCE, "less mlp, t over seeds": SMALL}
    claimed = "; ".join(f"{name.split(',')[0]}: {claim}" for name, claim in claims.items() if row.get(name))
    rate = None if found is None else f"{share(Interval(*found[:3]))}, {found[3]:,} games"
    return {"published agent, by us": rate, "the paper says": claimed}


def _relation(row: Row) -> Row:
    told = {f"{one.first}, {one.second}": one for one in RELATIONS}[row["hyperparameters"]]
    return {"the paper saw": f"{'positive' if told.sign > 0 else 'negative'}: {told.words}"}


def _predicted(row: Row) -> Row:
    convolutions, starter = " without " not in row["network"], row["true value"] != "no starter"
    known = row["network"].startswith("belanger2019")
    return {"paper": PREDICTED.get((convolutions, starter)) if known else None}


def _hands(rows: Sequence[Row]) -> list[Row]:
    """Each row of table 3 above ours with its reward and state; ours of other ones last."""
    rest, found = list(rows), []
    for row in TABLE_3:
        own = [one for one in rest if (one["reward"], one["state"]) == (row.reward, row.state)]
        rest = [one for one in rest if one not in own]
        rates = {name: f"{getattr(row, name):g}" for name in ("lr_decay", "epsilon_decay")}
        published = {"reward": row.reward, "state": row.state, "setup": "paper", "runs": f"{row.trials} trials"}
        published |= {"wins / 1,000, t over runs": str(row.wins), "play_lr": f"{row.lr:g}", **rates}
        found += [published | {"buffer": f"{row.buffer:,}", "replaced": f"{row.replacement:.0%}"}, *own]
    columns = list(dict.fromkeys(name for one in (*rows, *found) for name in one))
    return [{name: one.get(name) for name in columns} for one in (*found, *rest)]


BESIDE: dict[str, tuple[Callable[[Row], Row], str]] = {
    "Seconds of an iteration": (_hours, "Table 2 of the paper; one run each, on another machine."),
    "Final strength": (_wins, "The paper prints no final win rates."),
    "Relations": (_relation, "Section 4.3 of the paper, in words."),
    "Predicted against true": (_predicted, "Figures 5 and 6 of the paper."),
}
"""By the beginning of a section's title: the columns that its rows get, and a sentence."""


def beside_the_paper(section: Section, opponent: str) -> Section:
    """A section with the paper's values in its tables."""
    if section.title.startswith("Hands won"):
        setup = ", ".join(f"{name}={value}" for name, value in TABLE_3_SETUP.items())
        words = f"Table 3 of the paper: {setup}; averages over the trials of a search."
        return _with(section, words, _hands)
    if section.title.startswith("Learning curves"):
        figure = FIGURES.get(section.title.split(": ")[1].removeprefix(PUBLISHED))
        words = f"As figure {figure} of the paper, which shows one run an algorithm over {ITERATIONS} iterations."
        return _with(section, words if figure else "", list)
    for title, (columns, words) in BESIDE.items():
        if section.title.startswith(title):
            if title == "Final strength" and opponent == "deterministic":
                words += f" {_people()}"
            return _with(section, words, lambda rows, columns=columns: [row | columns(row) for row in rows])
    return section


def _with(section: Section, words: str, change: Callable[[Sequence[Row]], list[Row]]) -> Section:
    parts = [
        replace(part, rows=change(part.rows), formats={**part.formats, f"ours, hours for {ITERATIONS}": number(2)})
        if isinstance(part, Table)
        else part
        for part in section.parts
    ]
    return Section(section.title, [words, *parts])


def _people() -> str:
    people = paper_baseline()
    rate = share(Interval(*(people[name] for name in ("win_rate", "ci_low", "ci_high"))))
    return (
        "Its published agent (480 iterations) was loaded and measured here. People in the paper: "
        f"{rate}, {people['games']} games."
    )


def about(options: Sequence[str]) -> str:
    """The paper, and what an iteration was there."""
    names = "; ".join(f"{key} is {name}" for key, name in (ARCHITECTURES | ALGORITHMS).items())
    workload = ", ".join(f"{name}={value}" for name, value in WORKLOAD.items())
    differ = f" **An iteration is not the paper's here**: {', '.join(options)}." if options else ""
    return (
        "Paper: Bélanger, Tremblay, Vachon and Viviano, Mastering Cribbage using Deep Reinforcement Learning, 2019; "
        f"{ITERATIONS} iterations, one run each, {GAMES:,} games an evaluation. Its iteration: {workload}.{differ} "
        f"{names}."
    )


def _other_workload(runs: Any) -> list[str]:
    """Options of the runs in which an iteration is not the paper's."""
    found = {name: runs[f"learner.{name}"].dropna().unique() for name in WORKLOAD if f"learner.{name}" in runs}
    return [f"{name}={'/'.join(map(str, values))}" for name, values in found.items() if {*values} - {WORKLOAD[name]}]


def main(words: Sequence[str] | None = None) -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", help="folders of run folders, or patterns")
    parser.add_argument("--to", type=Path, default=Path("paper2019.md"), help="the page; its figures go beside it")
    parser.add_argument("--opponent", default="deterministic")
    parser.add_argument("--no-networks", action="store_true", help="leave out the values of trained discard networks")
    options = parser.parse_args(words)
    page, folder = Page(options.to.stem), options.to.with_suffix("")
    try:
        check_page_path(options.to, overwrite=False)
        runs = load_runs(options.runs)
        sections = report_sections(runs, options.opponent, page, not options.no_networks)
        first, *others = [beside_the_paper(section, options.opponent) for section in sections]
        paper = Section("The paper", [about(_other_workload(runs))])
        write_page(options.to, folder, "Training runs beside Bélanger et al. 2019", [first, paper, *others], page)
    except UserError as error:
        parser.error(str(error))
    print(options.to)


if __name__ == "__main__":
    main()
