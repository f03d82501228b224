"""Agents over many games or hands in lockstep: results. `matches.trajectories`: experience to learn from."""

from deepcrib.matches.games import (
    LOCKSTEP_GAMES,
    MatchResult,
    Measure,
    Progress,
    Recorder,
    Rows,
    batches,
    play_cards,
    play_hand,
    play_match,
)

__all__ = [
    "LOCKSTEP_GAMES",
    "MatchResult",
    "Measure",
    "Progress",
    "Recorder",
    "Rows",
    "batches",
    "play_cards",
    "play_hand",
    "play_match",
]
