"""The agent that learns whom it plays: the champion's way, until the hands of a match say who the opponent is.

Then it looks ahead (`lookahead`) with the likeliest model as the opponent. It leaves its own way only where a model has
predicted this opponent so much better than its own networks that chance would hardly make it so: until then it plays as
the champion does, and against itself it goes on so. What is thrown and what is played are judged apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.asking import OthersDiscards
from deepcrib.agents.base import Agent, play_policy_of
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.past import Past
from deepcrib.search.lookahead import LATE, WITHIN, LookaheadAgent, check_numbers
from deepcrib.search.opponents import NOISES, Opponents, probabilities_of
from deepcrib.search.rollouts import HANDS
from deepcrib.search.win_chances import WIN

ODDS = 20.0
STRANGE = 0.2
OWN = -1
"""In place of a model: nobody has been found, and the own way stands."""


class Pair(OthersDiscards):
    """Discards as one agent and plays as another."""

    def __init__(self, discards: Agent, plays: Agent) -> None:
        self.name = f"{discards.name} and {plays.name}"
        self.discards_by, self.play = discards, plays.play
        self.play_probabilities = probabilities_of(plays).play_probabilities
        self.play_policy = play_policy_of(plays)


class AdaptiveAgent:
    """Learns its opponent within a match; for two players.

    agent, rollouts: whose networks play, and are oneself, as in `LookaheadAgent`. library: whom the opponent may be
    like. odds: how much likelier than oneself the others together must be before the likeliest of them is believed; one
    that this opponent departs from in a fifth of its choices (STRANGE) is not. hands, within, late,
    objective: as in `LookaheadAgent`.
    """

    num_players = frozenset({2})
    uses_past = True

    def __init__(
        self,
        agent: Agent,
        *,
        name: str = "adaptive",
        rollouts: Agent | None = None,
        library: Sequence[Agent] = (),
        odds: float = ODDS,
        hands: int = HANDS,
        within: float = WITHIN,
        late: int = LATE,
        objective: str = WIN,
    ) -> None:
        check_numbers(odds=(odds, float, 1, 1e12), within=(within, float, 0, 100))
        self.name = name
        self.odds = odds
        self.opponents = Opponents([agent, *library])
        self.agent, self.within = agent, within
        self._options: dict[str, Any] = {"rollouts": rollouts, "hands": hands, "late": late, "objective": objective}
        self._against: dict[tuple[int, int], LookaheadAgent] = {}
        self._looks_ahead(OWN, OWN)  # refuses what is no option before a match is played

    def discard(self, observation: DiscardObservation) -> NDArray[np.int8]:
        """[N] discard actions."""
        return self._by_belief(observation, "discard")

    def play(self, observation: PlayObservation) -> NDArray[np.int8]:
        """[N] slots."""
        return self._by_belief(observation, "play")

    def _by_belief(self, observation: Any, method: str) -> NDArray[np.int8]:
        """Each decision by the agent that looks ahead against whom it is believed to be made."""
        choices = np.empty(len(observation), dtype=np.int8)
        believed = self.believed(observation)
        for whom in np.unique(believed, axis=0):
            rows = np.flatnonzero((believed == whom).all(axis=1))
            looks = self._looks_ahead(*whom.tolist())
            choices[rows] = getattr(looks, method)(observation.take(rows))
        return choices

    def believed(self, observation: DiscardObservation | PlayObservation) -> NDArray[np.int64]:
        """[N, 2] the models that discard and play like the opponent, by number in the library, or OWN."""
        beliefs = self.opponents.beliefs(observation.past, observation.seat)
        found = np.full((len(observation), 2), OWN)
        if len(self.opponents.models) == 1:
            return found
        for kind, posterior in enumerate(beliefs):
            models = posterior.sum(axis=2)
            best = models[:, 1:].argmax(axis=1)
            of_best = posterior[np.arange(len(best)), best + 1]
            is_like = of_best @ NOISES < STRANGE * of_best.sum(axis=1)
            left = is_like & (1 - models[:, 0] > self.odds * models[:, 0])
            found[left, kind] = best[left]
        return found

    def believes(self, past: Past, seat: int) -> str:
        """What is believed of the player at a seat, by the past of one decision, in words."""
        names = [model.name for model in self.opponents.models]
        likely = [one[0].sum(axis=1) for one in self.opponents.beliefs(past, np.array([1 - seat], dtype=np.int8))]
        discards, plays = (f"{names[int(p.argmax())]} ({100 * p.max():.0f}% sure)" for p in likely)
        taken = f"{discards} in discards and {plays} in play"
        return f"after {past.lengths[0]} hands it takes you, of those it knows, for {taken}"

    def _looks_ahead(self, discards: int, plays: int) -> LookaheadAgent:
        """Against the models of these numbers; where nobody plays like the opponent, near the end of a game alone."""
        if (discards, plays) not in self._against:
            by = [self.opponents.models[number + 1] for number in (discards, plays)]
            opponent = None if discards == plays == OWN else Pair(*by)
            within = 0 if plays == OWN else self.within
            looks = LookaheadAgent(self.agent, opponent=opponent, within=within, **self._options)
            self._against[discards, plays] = looks
        return self._against[discards, plays]
