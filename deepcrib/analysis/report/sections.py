"""All sections of the report of runs."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from deepcrib.analysis.report.networks import has_discard_network, pretraining_section, trained_section
from deepcrib.analysis.report.overview import options_sections, overview_section
from deepcrib.analysis.report.page import Page, Section
from deepcrib.analysis.report.result import result_section
from deepcrib.analysis.report.runs import NETWORK, repeated, setups
from deepcrib.analysis.report.searches import hands_section, relations_section, samples
from deepcrib.analysis.report.setups import curves_section, seconds_section, strength_section

Counter = Callable[[str, int], Callable[[int], None]]
"""Given what is counted and how many there are, what to call with the number done since its last call."""


def report_sections(
    runs: pd.DataFrame, opponent: str, page: Page, networks: bool = True, counter: Counter | None = None
) -> list[Section]:
    """Those that the runs have something for; networks: with the values of trained ones. Raises RunError."""
    again = repeated(runs)
    counted = runs[~again]
    found = setups(counted)
    compared = samples(found, counted, opponent)
    names = dict.fromkeys(setup[NETWORK].iloc[0] for setup in found)
    made = [
        result_section(found, opponent),
        *(curves_section(found, opponent, name, page) for name in names),
        strength_section(found, opponent, page),
        seconds_section(found, page),
        hands_section(compared, opponent, page),
        relations_section(compared, opponent, page),
        pretraining_section(counted, page),
    ]
    if networks:
        number = sum(len(setup) for setup in found if has_discard_network(setup))
        made.append(trained_section(found, page, counter("discard networks", number) if counter else lambda done: None))
    return [*filter(None, made), overview_section(counted, runs[again], page), *options_sections(found)]
