"""Agents over many games or hands in lockstep: results, and experience to learn from."""

from deepcrib.matches.games import (
    LOCKSTEP_GAMES,
    MatchResult,
    Progress,
    Recorder,
    Rows,
    match_part,
    play_hand,
    play_match,
)
from deepcrib.matches.trajectories import PLAYS, Trajectories, learning_games, self_play, trajectories_of

__all__ = [
    "LOCKSTEP_GAMES",
    "PLAYS",
    "MatchResult",
    "Progress",
    "Recorder",
    "Rows",
    "Trajectories",
    "learning_games",
    "match_part",
    "play_hand",
    "play_match",
    "self_play",
    "trajectories_of",
]
