"""Positions that players meet who choose at random, as encoders are given them."""

from __future__ import annotations

import numpy as np

from deepcrib.game.engine import Games
from deepcrib.networks.encoders import Encoder, compact_discard, compact_play, legal_plays


def random_play_states(num_games: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """States and legal slots met by players who choose at random."""
    rng = np.random.default_rng(seed)
    games = Games(np.arange(num_games), seed=seed)
    rows = games.deal()
    for seat in (0, 1):
        games.discard(rows, np.full(len(rows), seat), rng.integers(0, 15, len(rows)))
    games.start_play()
    states, actions = [], []
    while len(rows := games.to_play):
        observation = games.play_observation(rows)
        slot = np.argmax(observation.legal * rng.random((len(rows), 4)), axis=1).astype(np.int8)
        states.append(compact_play(observation))
        actions.append(slot)
        games.play(rows, slot)
    return np.concatenate(states), np.concatenate(actions)


def random_discard_states(num_hands: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    games = Games(np.arange(num_hands), seed=seed)
    states = compact_discard(games.discard_observation(games.deal(), rng.integers(0, 2, num_hands)))
    states[:, 7:] = rng.integers(0, 121, (num_hands, 2))
    return states, rng.integers(0, 15, num_hands).astype(np.int8)


PLAYS = random_play_states(500, seed=11)
DISCARDS = random_discard_states(4000, seed=12)


def part(encoder: Encoder) -> str:
    return "play" if encoder.legal is legal_plays else "discard"


def sample(encoder: Encoder) -> tuple[np.ndarray, np.ndarray]:
    return PLAYS if part(encoder) == "play" else DISCARDS
