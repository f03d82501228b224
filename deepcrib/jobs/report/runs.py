"""`deepcrib report runs=FOLDERS`: a page of tables and figures from run folders, beside the 2019 paper's values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from deepcrib.analysis.report.discards import has_discard_network, pretraining_section, trained_section
from deepcrib.analysis.report.overview import overview_section, paper_line
from deepcrib.analysis.report.page import Page, Section, check_page_path, write_page
from deepcrib.analysis.report.pairs import curves_section, hours_section, in_order, strength_section
from deepcrib.analysis.report.paper2019 import FIGURES
from deepcrib.analysis.report.run_folders import (
    FINISHED,
    TRAIN,
    FoundRun,
    Group,
    find_runs,
    group_runs,
    without_repeats,
)
from deepcrib.analysis.report.searches import relations_section, rewards_section, samples
from deepcrib.analysis.tables import plain_table
from deepcrib.errors import OptionError
from deepcrib.jobs import Outcome, Run
from deepcrib.jobs.shared.common import need_matplotlib
from deepcrib.jobs.shared.console import Bars

REPORT, FIGURES_FOLDER = "report.md", "figures"
OPPONENT = "deterministic"


@dataclass(frozen=True)
class Wanted:
    """What a report is made of and where it goes."""

    runs: Sequence[FoundRun]
    path: Path | None
    title: str
    opponent: str
    networks: bool


def plan(runs: Any, path: str | None, overwrite: bool, title: str, opponent: Any, networks: bool) -> Callable[..., Any]:
    """Read the run folders; returns what makes the report, given the run and its bars. Raises OptionError, RunError."""
    need_matplotlib()
    places = runs if isinstance(runs, list) else [runs]
    if not places or not all(isinstance(place, str) and place for place in places):
        raise OptionError(f"runs={runs}: expected a folder of runs, or a list of them")
    if opponent is not None and not isinstance(opponent, str):
        raise OptionError(f"opponent={opponent}: expected the name of an opponent that the runs met")
    if path is not None:
        check_page_path(Path(path), overwrite)
    found = find_runs(places)
    return partial(_report, Wanted(found, None if path is None else Path(path), title, opponent or OPPONENT, networks))


def _report(wanted: Wanted, run: Run, bars: Bars) -> Outcome:
    path = wanted.path or run.folder.path / REPORT
    folder = path.with_suffix("") if wanted.path else path.parent / FIGURES_FOLDER
    page = Page(folder.name)
    sections = list(_sections(wanted, page, bars))
    write_page(path, folder, wanted.title, sections, page)
    run.notes.append(f"page: {path}")
    summary = {
        "task": "runs",
        "page": str(path),
        "figures": sorted(page.figures),
        "sections": {section.title: section.data for section in sections},
    }
    states = Counter(found.state for found in wanted.runs)
    title = f"report of {len(wanted.runs)} runs: {', '.join(f'{number} {state}' for state, number in states.items())}"
    rows = [(section.title, str(sum(page.links in part for part in section.parts))) for section in sections]
    return Outcome(summary, (plain_table(title, ("section", "figures"), rows),))


def _sections(wanted: Wanted, page: Page, bars: Bars) -> Iterator[Section]:
    runs, repeats = without_repeats(wanted.runs)
    finished = [run for run in runs if run.state == FINISHED]
    groups = group_runs([run for run in finished if run.job == TRAIN and run.study is None])
    made = [
        *(curves_section(groups, wanted.opponent, architecture, page) for architecture in FIGURES),
        hours_section(groups, page),
        strength_section(groups, wanted.opponent, page),
    ]
    compared = samples(groups, finished, wanted.opponent)
    made += [rewards_section(compared, wanted.opponent, page), relations_section(compared, wanted.opponent, page)]
    made.append(pretraining_section(finished, page))
    if wanted.networks:
        made.append(trained_section(groups, page, bars.counter("discard networks", _num_networks(groups))))
    yield overview_section(runs, repeats, page, [paper_line()])
    yield from (section for section in made if section is not None)


def _num_networks(groups: Sequence[Group]) -> int:
    return sum(len(group.runs) for group in in_order(groups) if has_discard_network(group))
