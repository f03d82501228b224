"""Options of the rules, which all jobs share."""

from __future__ import annotations

from dataclasses import dataclass

from deepcrib.game.engine import DEALING
from deepcrib.jobs.shared.checks import Check, one_of


@dataclass
class RulesOptions:
    """Group `rules`: `acc`, the deal alternates after a cut; `random_dealer`, a coin before every hand."""

    name: str = "acc"


RULES_CHECKS: dict[str, Check] = {"name": one_of(DEALING)}
