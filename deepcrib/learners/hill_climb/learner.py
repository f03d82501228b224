"""Hill-climbing by play alone (Pollack and Blair 1997, as told by Lang 2018, section 2.1).

The champion's weights plus noise make a mutant. The two meet in pairs with the same deals and seats swapped, so that
equals win one half each. A mutant that wins enough draws the champion a small step towards itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from deepcrib.agents import Agent, kept_spec, make_agent
from deepcrib.agents.q_network import QFunction, QNetworkAgent
from deepcrib.game.engine import Games
from deepcrib.game.randomness import MINIBATCHES, NETWORKS, SELF_PLAY, derive
from deepcrib.kernels import seconds_running
from deepcrib.learners.hill_climb.options import HillClimbOptions
from deepcrib.learners.replay.options import StateOptions
from deepcrib.learners.replay.update import untrained
from deepcrib.matches import play_hand, play_match
from deepcrib.networks import DiscardNetworkConfig, PlayNetworkConfig
from deepcrib.networks.checkpoints import save_weights
from deepcrib.training.learner import Learner, Metrics, Setting
from deepcrib.training.options import refuse_unread

Vector = NDArray[np.float64]

CHARTS = {
    "Contests": {
        "share of the pairs' points, and what is required": "contest/(share|required)",
        "share of contests that moved the champion": "contest/moved",
        "norm of the weights": "weights/norm",
    },
    "Throughput": {"games a second": "speed/games_per_second"},
}
"""On the Custom Scalars page of TensorBoard, by category and title: patterns of whole tags."""


class HillClimbLearner(Learner):
    """Steps are games, or single hands. champion: weights [P]; contests: those that it has had, moves: that moved it.

    The weights are those of both Q-networks, or of that of the play, for which a fixed agent discards. Whole contests
    are played, so that a checkpoint may be up to a contest late.
    """

    saved = ("champion", "contests", "moves")

    def __init__(
        self,
        options: HillClimbOptions,
        setting: Setting,
        *,
        state: StateOptions,
        discard_network: DiscardNetworkConfig,
        play_network: PlayNetworkConfig,
    ) -> None:
        """Raises OptionError for options that do not go together or are not read, AgentError for another agent."""
        super().__init__(setting)
        if options.climb == "both":
            refuse_unread(options, ("discards_by",), "learner.climb=play")
        self.options, self.unit, self.contests, self.moves = options, options.unit, 0, 0
        self.num_steps, self.checkpoint_every = options.games, options.checkpoint_every
        discard_q = None
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(setting.seed, NETWORKS))
            if options.climb == "both":
                discard_q = QFunction(*untrained("discard", state, discard_network), setting.device)
            play_q = QFunction(*untrained("play", state, play_network), setting.device)
        discards_by = None if options.climb == "both" else make_agent(options.discards_by, setting.device)
        self._first = QNetworkAgent(discard_q, play_q, discards_by=discards_by)
        start = torch.nn.utils.parameters_to_vector(_parameters(self._first)).detach().cpu().numpy()
        self.champion: Vector = start.astype(np.float64) if options.start == "random" else np.zeros(len(start))

    def player(self, vector: Vector) -> QNetworkAgent:
        """The agent of weights, rounded to single precision."""
        player = self._first.frozen("climbing")
        torch.nn.utils.vector_to_parameters(torch.from_numpy(vector.astype(np.float32)), _parameters(player))
        return player

    @property
    def checkpoint_number(self) -> int:
        """Rounded down: a checkpoint that comes late is still that one."""
        return self.steps_done // self.checkpoint_every

    def is_due(self, every: int) -> bool:
        """Also after the contest that a multiple of `every` came in."""
        return self.steps_done % every < 2 * self.options.pairs or self.steps_done >= self.num_steps

    def step(self) -> Metrics:
        """Contests up to the next checkpoint."""
        last, first, contests, moves = self.next_checkpoint(), self.steps_done, self.contests, self.moves
        begin, shares = seconds_running(), []
        while self.learns_until(last):
            shares.append(self.contest())
            self.tick(self.steps_done)
        return {
            "contest/share": float(np.mean(shares)),
            "contest/share_std": float(np.std(shares)),
            "contest/moved": (self.moves - moves) / (self.contests - contests),
            "contest/required": self.options.share,
            "weights/norm": float(np.linalg.norm(self.champion)),
            "speed/games_per_second": (self.steps_done - first) / (seconds_running() - begin),
        }

    def contest(self) -> float:
        """One mutant against the champion, and the champion's move if there is one; returns the mutant's share."""
        options, games = self.options, 2 * self.options.pairs
        generator = np.random.default_rng(derive(self.setting.seed, MINIBATCHES, self.contests))
        mutant = self.champion + options.sigma * generator.standard_normal(self.champion.shape)
        agents = self.player(mutant), self.player(self.champion)
        seed, first, dealing = derive(self.setting.seed, SELF_PLAY), self.steps_done // 2, self.setting.dealing
        if options.unit == "hands":
            share = hands_share(agents, options.pairs, seed, first)
        else:
            result = play_match(agents, games, seed, duplicate=True, dealing=dealing, first_game=first)
            share = float((result.winner == 0).mean())
        if share > options.share:
            self.champion = (1 - options.step) * self.champion + options.step * mutant
            self.moves += 1
        self.contests += 1
        self.steps_done += games
        return share

    def agent(self) -> QNetworkAgent:
        """The champion."""
        return self.player(self.champion)

    def save(self, path: Path) -> None:
        """Write the champion, and beside it the agent that discards for it."""
        options, champion = self.options, self.player(self.champion)
        own: dict[str, Any] = {"climb": options.climb, "unit": options.unit, "games": self.steps_done}
        own |= {"contests": self.contests, "moves": self.moves}
        if options.climb == "play":
            own["discards_by"] = kept_spec(options.discards_by, path.parent)
        networks: dict[str, Any] = {part: one.network for part, one in champion.functions.items()}
        save_weights(path, self.setting.metadata(options.name, **own), **{"discard": None, **networks})


def _parameters(player: QNetworkAgent) -> list[torch.nn.Parameter]:
    return [parameter for one in player.functions.values() for parameter in one.network.parameters()]


def hands_share(agents: tuple[Agent, Agent], pairs: int, seed: int, first: int = 0) -> float:
    """Share of pairs of single hands at 0-0 that the first agent wins, an equal pair being half won.

    The two hands of a pair have the same cards, each agent once in either seat; it wins that has more points in both
    together, of all kinds. Seat 1 deals every other pair.
    """
    margins = pair_margins(agents, pairs, seed, first)
    return float(((margins > 0) + 0.5 * (margins == 0)).mean())


def pair_margins(agents: tuple[Agent, Agent], pairs: int, seed: int, first: int = 0) -> NDArray[np.int64]:
    """[pairs] the first agent's points minus the second's, in both hands of each pair first, first + 1, .."""
    numbers = first + np.repeat(np.arange(pairs, dtype=np.int64), 2)
    table = Games(numbers, seed, first_dealer=(numbers % 2).astype(np.int8), stop_at_121=False)
    seating = np.tile(np.array([[0, 1], [1, 0]]), (pairs, 1))
    play_hand(table, agents, seating)
    scores = table.state.scores.astype(np.int64)
    margins = np.where(seating[:, 0] == 0, 1, -1) * (scores[:, 0] - scores[:, 1])
    return margins.reshape(pairs, 2).sum(axis=1)
