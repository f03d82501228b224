"""What `deepcrib benchmark` measures of sampled search (Partida 2022) and of the best response."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from deepcrib.agents import make_agent
from deepcrib.analysis.tables import plain_table
from deepcrib.game.engine import Games
from deepcrib.game.observations import PlayObservation
from deepcrib.kernels.workers import num_workers
from deepcrib.matches import Recorder, play_hand
from deepcrib.search.minimax import SAMPLES, has_choice

SEARCHES: Mapping[str, tuple[Any, int]] = {
    "minimax": ("minimax", 2_000),
    "greedy_minimax": ("greedy_minimax", 2_000),
    "minimax, hands: kept": ({"name": "minimax", "hands": "kept"}, 2_000),
    "best response to greedy": ({"name": "best_response", "to": "greedy"}, 200),
}
"""Agent by label, and the hands that it is given decisions of."""
FIRST, MIX = "first plays", "all plays with a choice"


class _Plays(Recorder):
    """Keeps the hands' rows and the observations of all their plays that are a choice."""

    def __init__(self) -> None:
        self.seen: list[tuple[NDArray[np.int64], PlayObservation]] = []

    def plays(self, rows: NDArray[np.int64], observation: PlayObservation, slots: Any) -> None:
        choices = has_choice(observation)
        self.seen.append((rows[choices], observation.take(choices)))


def time_search(seed: int) -> tuple[dict[str, Any], Table]:
    """Decisions a second of the searches: first plays of expected-value hands, and all plays with a choice.

    Positions are those of the expected-value player against itself; forced ranks are not counted.
    """
    most = max(hands for _, hands in SEARCHES.values())
    table, recorder = Games(np.arange(most), seed, stop_at_121=False), _Plays()
    player = make_agent("expected_value")
    play_hand(table, [player, player], np.zeros((most, 2), dtype=np.int64), recorder)
    found: dict[str, Any] = {"samples": SAMPLES, "threads": num_workers()}
    for name, (spec, hands) in SEARCHES.items():
        agent = make_agent(spec)
        agent.play(recorder.seen[0][1].take(slice(0, 2)))  # compiles, and learns how the opponent discards
        decisions, seconds = {FIRST: 0, MIX: 0}, {FIRST: 0.0, MIX: 0.0}
        for rows, observation in recorder.seen:
            chosen = observation.take(rows < hands)
            if not len(chosen):
                continue
            start = time.perf_counter()
            agent.play(chosen)
            spent = time.perf_counter() - start
            first = bool(((chosen.hand >= 0).sum(axis=1) == 4).all())
            for kind in (FIRST, MIX) if first else (MIX,):
                decisions[kind] += len(chosen)
                seconds[kind] += spent
        found[name] = {kind: decisions[kind] / seconds[kind] for kind in (FIRST, MIX)}
    lines = [(name, *(f"{found[name][kind]:,.0f}" for kind in (FIRST, MIX))) for name in SEARCHES]
    title = f"search, decisions a second: {SAMPLES} sampled hands, {num_workers()} threads"
    return found, plain_table(title, ("agent", FIRST, MIX), lines)
