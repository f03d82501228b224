"""Options of the rules, which all jobs share."""

from __future__ import annotations

from dataclasses import dataclass

from deepcrib.game.engine import DEALING
from deepcrib.options import one_of, option


@dataclass
class RulesOptions:
    """Group `rules`: `acc`, the deal alternates after a cut; `random_dealer`, a coin before every hand."""

    name: str = option("acc", check=one_of(*DEALING))
