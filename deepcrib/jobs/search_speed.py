"""What `deepcrib benchmark` measures of sampled search (Partida 2022)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numba
import numpy as np
from rich.table import Table

from deepcrib.agents import make_agent
from deepcrib.agents.minimax import MINIMAX_NAMES, SAMPLES, has_choice
from deepcrib.analysis.tables import plain_table
from deepcrib.engine import Games
from deepcrib.matches import Recorder, play_hand
from deepcrib.observations import PlayObservation

HANDS = 2_000
FIRST, MIX = "first plays", "all plays with a choice"


class _Plays(Recorder):
    """Keeps the play observations of a hand."""

    def __init__(self) -> None:
        self.seen: list[PlayObservation] = []

    def plays(self, rows: Any, observation: PlayObservation, slots: Any) -> None:
        self.seen.append(observation)


def time_search(seed: int) -> dict[str, Any]:
    """Decisions a second of both searches: first plays of expected-value hands, and all plays with a choice.

    Positions are those of the expected-value player against itself; forced ranks are not counted.
    """
    table, recorder = Games(np.arange(HANDS), seed, stop_at_121=False), _Plays()
    player = make_agent("expected_value")
    play_hand(table, [player, player], np.zeros((HANDS, 2), dtype=np.int64), recorder)
    found: dict[str, Any] = {"samples": SAMPLES, "numba_threads": numba.get_num_threads()}
    for name in MINIMAX_NAMES:
        agent = make_agent(name)
        agent.play(recorder.seen[0].take(slice(0, 2)))  # compiles
        decisions, seconds = {FIRST: 0, MIX: 0}, {FIRST: 0.0, MIX: 0.0}
        for observation in recorder.seen:
            chosen = observation.take(has_choice(observation))
            start = time.perf_counter()
            agent.play(chosen)
            spent = time.perf_counter() - start
            first = bool(((chosen.hand >= 0).sum(axis=1) == 4).all())
            for kind in (FIRST, MIX) if first else (MIX,):
                decisions[kind] += len(chosen)
                seconds[kind] += spent
        found[name] = {kind: decisions[kind] / seconds[kind] for kind in (FIRST, MIX)}
    return found


def search_table(figures: Mapping[str, Any]) -> Table:
    """Decisions a second."""
    rows = [
        (name, *(f"{figures[name][kind]:,.0f}" for kind in (FIRST, MIX))) for name in MINIMAX_NAMES if name in figures
    ]
    title = f"search, decisions a second: {figures['samples']} sampled hands, {figures['numba_threads']} threads"
    return plain_table(title, ("agent", FIRST, MIX), rows)
