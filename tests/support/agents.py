"""Agents made for tests, what they see, and how often they choose what."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from deepcrib.agents import make_agent
from deepcrib.agents.q_network import QFunction, QNetworkAgent
from deepcrib.game.engine import Games
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.networks import DiscardNetworkConfig, PlayNetworkConfig, make_discard_network, make_play_network
from deepcrib.networks.encoders import make_discard_encoder, make_play_encoder
from tests.support.reference import assert_drawn


def observations(
    num_games: int, seed: int, num_players: int = 2, plays: int = 0
) -> tuple[DiscardObservation, PlayObservation]:
    """What both seats see at the discard of random games, and after `plays` random cards who must play."""
    games = Games(np.arange(num_games), seed, num_players=num_players, stop_at_121=False)
    random = make_agent("random")
    rows = games.deal()
    seats = np.arange(num_games) % num_players
    discards = games.discard_observation(rows, seats)
    for seat in range(num_players):
        seen = games.discard_observation(rows, np.full(num_games, seat))
        games.discard(rows, seen.seat, random.discard(seen))
    games.start_play()
    for _ in range(plays):
        games.play(games.to_play, random.play(games.play_observation(games.to_play)))
    return discards, games.play_observation(games.to_play)


def network_agent(seed: int = 1, epsilon: float = 0.0) -> QNetworkAgent:
    """Random weights, small."""
    torch.manual_seed(seed)
    discard_encoder, play_encoder = make_discard_encoder("basic"), make_play_encoder("basic")
    discard = make_discard_network(DiscardNetworkConfig("mlp", [16]), discard_encoder.spec)
    play = make_play_network(PlayNetworkConfig("mlp", [16]), play_encoder.spec)
    return QNetworkAgent(QFunction(discard_encoder, discard), QFunction(play_encoder, play), epsilon)


def check_frequencies(probabilities: np.ndarray, choices: np.ndarray) -> None:
    """Chi-square of how often each action was chosen, over rows with probabilities of their own.

    Rows with other probabilities only make the sum smaller: the variance of a sum of such draws is at most that of
    draws from their mean.
    """
    assert (probabilities[np.arange(len(choices)), choices] > 0).all()
    assert_drawn(np.bincount(choices, minlength=probabilities.shape[1]), probabilities.sum(axis=0))


class Leader:
    """Keeps the first four cards dealt, leads by a preference for ranks, and values cards by it."""

    name = "leader"
    num_players = frozenset({2})

    def __init__(self, liking: NDArray[np.float64]) -> None:
        self.liking = liking

    def discard(self, observation: DiscardObservation) -> NDArray[np.int8]:
        """[N] the last two cards."""
        return np.full(len(observation), 14, dtype=np.int8)

    def play_values(self, observation: PlayObservation) -> NDArray[np.float64]:
        """[N, 4] the liking for the cards' ranks."""
        return self.liking[observation.hand // 4]

    def play(self, observation: PlayObservation) -> NDArray[np.int8]:
        """[N] the slot that is liked best, the lowest of equal ones."""
        return self.play_values(observation).argmax(axis=1).astype(np.int8)


LOWEST = Leader(-np.arange(13.0))
