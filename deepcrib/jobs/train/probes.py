"""What is measured of some learners' agents besides matches."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from rich.table import Table

from deepcrib.agents import Agent
from deepcrib.analysis.tables import plain_table
from deepcrib.evaluation.hands import hand_pairs
from deepcrib.evaluation.studies.experts import probe_figures
from deepcrib.training.fit import Probe
from deepcrib.training.options import LearnerOptions


def probe_of(options: LearnerOptions, opponents: Mapping[str, Agent]) -> Probe | None:
    """What is measured where matches are played: leads in experts' positions, or margins of pairs of hands."""
    if options.name == "replay":
        return lambda agent, seed: probe_figures(agent)
    pairs = getattr(options, "pairs", 0)
    if options.name == "td" and pairs >= 2:  # one has no interval
        return partial(_pair_margins, opponents, pairs)
    return None


def _pair_margins(opponents: Mapping[str, Agent], pairs: int, agent: Agent, seed: int) -> dict[str, float]:
    return {f"{name}/pair_margin": hand_pairs(agent, other, pairs, seed).margin for name, other in opponents.items()}


def play_only_table(account: str, figures: Mapping[str, Any]) -> Table:
    """The play of a network that was trained on plays of four-card hands, against greedy."""
    interval = f"{figures['difference']:+.3f} [{figures['ci_low']:+.3f}, {figures['ci_high']:+.3f}]"
    columns = ("opponent", "play points a hand, own - opponent's [95%]", "hands")
    return plain_table(
        f"play of random four-card hands ({account})", columns, [("greedy", interval, f"{figures['hands']:,}")]
    )
