"""Looking ahead at the table: choices are tried on hands that the opponent may hold, and played on by networks.

The model of the opponent is another agent, or one's own networks. What it may hold is weighted exactly by how that
model would have discarded and played (`beliefs`), some hands are drawn from it, and each choice is played to the end of
the hand on them, round by round while it is not behind. In most of a game the choice with the most points is taken,
near its end the one with the best chance to win. Against a model that plays as one of `policies` does, points are exact
(`replies`), and nothing is drawn for them. The own discards answer the model's by what these leave in the crib.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.base import Agent, AgentError, play_policy_of
from deepcrib.exact.beliefs.cribs import expected_cribs
from deepcrib.game.cards import RANKS
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.rules import HAND_SIZE, MAX_SCORE
from deepcrib.search.minimax import has_choice
from deepcrib.search.opponents import discards_of
from deepcrib.search.replies.values import reply_values
from deepcrib.search.rollouts import DOUBT, HANDS, Rollouts
from deepcrib.search.win_chances import PLAIN_WINS, WIN

WITHIN = 1.0
LATE = 85
_LATE_CARDS, _LATE_DISCARDS = 3.0, 1.5
"""In place of `within` near the end of a game, where a choice may be the right one that gives away so many points."""
_TIE = 1e-6
"""Weight of the networks' values beside what was found, so that they decide where nothing else does."""
_BLOCK = 64  # decisions whose hands are played out together
_FIRST, _BEHIND = 32, 2.0
"""The first round of a decision has so many hands at least; each round leaves out what is so many standard errors
behind."""
Observation = TypeVar("Observation", DiscardObservation, PlayObservation)
Choices = NDArray[np.int8]
Find = Callable[[NDArray[np.intp], NDArray[np.bool_], NDArray[np.int64]], NDArray[np.float64]]
"""(rows [R], tried [R, A], numbers [K]) -> what those choices come to on the hands of these numbers [R, A, K]."""


class LookaheadAgent:
    """Plays the card, and near the end of a game discards the cards, that do best on drawn hands; for two players.

    agent: whose networks choose what is tried. opponent: the model of the opponent; the agent itself where none is
    given. rollouts: who plays each hand on to its end, for oneself and, in place of the agent, for the opponent; the
    same agent, or a faster one. hands: drawn at most for each decision, the same for all choices; what is behind after
    a part of them is tried no further. within: points; before the end of a game choices whose value is so much below
    the best one are not tried, with 0 none is. doubt: the chance that the opponent's discard was any one, and that each
    of its plays was any card that it may play, instead of what the model would have chosen. late: from this score on,
    of either player, the chance to win counts (`win_chances`) in place of points, in discards too; 121 for never.
    objective: `win`, or in place of the chance to win `game_points`, won less lost: 2 a game, 3 with a skunk. Raises
    AgentError for what is out of range, and for an agent that has no values of its cards.
    """

    num_players = frozenset({2})

    def __init__(
        self,
        agent: Agent,
        *,
        name: str = "lookahead",
        opponent: Agent | None = None,
        rollouts: Agent | None = None,
        hands: int = HANDS,
        within: float = WITHIN,
        doubt: float = DOUBT,
        late: int = LATE,
        objective: str = WIN,
    ) -> None:
        check_numbers(hands=(hands, int, 1, 1_000_000), within=(within, float, 0, 100), doubt=(doubt, float, 0, 1))
        check_numbers(late=(late, int, 0, MAX_SCORE))
        if objective not in PLAIN_WINS:
            raise AgentError(f"objective={objective!r}: expected {' or '.join(PLAIN_WINS)}")
        if not (hasattr(agent, "play_values") and hasattr(agent, "play_probabilities")):
            raise AgentError(
                f"agent {agent.name} has no values of its cards, expected one with networks to look ahead by"
            )
        if rollouts is not None and not hasattr(rollouts, "play_probabilities"):
            raise AgentError(f"rollouts: agent {rollouts.name} does not give the probabilities of its cards")
        self.name = name
        self.agent: Any = agent
        self.opponent = opponent or agent
        self.rollouts = Rollouts(agent, opponent=opponent, by=rollouts, hands=hands, doubt=doubt, objective=objective)
        self._policy = None if opponent is None else play_policy_of(opponent)
        self.within, self.late = within, late

    def discard(self, observation: DiscardObservation) -> Choices:
        """[N] discard actions: the agent's own, but for another opponent's cribs, and near the end of a game."""
        has_values = bool(getattr(self.agent, "discard_unit", ""))
        if has_values and self.opponent is not self.agent:
            actions = self.discard_values(observation).argmax(axis=1).astype(np.int8)
        else:
            actions = self.agent.discard(observation)
        for rows, part in _blocks(observation, np.flatnonzero(self._is_late(observation) & has_values)):
            values = self.discard_values(part)
            tried = values >= values.max(axis=1, keepdims=True) - _LATE_DISCARDS
            actions[rows] = self._settle(values, tried, partial(self.rollouts.discard_chances, part))
        return actions

    def discard_values(self, observation: DiscardObservation) -> NDArray[np.float64]:
        """[N, 15] points: the agent's values, and how much more a crib is worth with what the opponent throws."""
        o, values = observation, self.agent.discard_values(observation)
        if self.opponent is self.agent:
            return values
        models = self.rollouts.model, discards_of(self.agent)  # its values learned to expect its own discards in a crib
        theirs, own = (expected_cribs(model, o.hand, o.is_dealer) for model in models)
        return values + theirs - own

    def play(self, observation: PlayObservation) -> Choices:
        """[N] slots."""
        slots, late = self.agent.play(observation), self._is_late(observation)
        if self._policy is not None:
            rows = np.flatnonzero(has_choice(observation) & ~late)
            part = observation.take(rows)
            found = reply_values(part, self.rollouts.hand_weights(part), self._policy)
            values = self.agent.play_values(part)
            slots[rows] = _best(found, values, np.isfinite(found))
        for is_late, within in ((False, self.within), (True, _LATE_CARDS)):
            asked = has_choice(observation) & (late == is_late) & (within > 0) & (is_late or self._policy is None)
            for rows, part in _blocks(observation, np.flatnonzero(asked)):
                values = self.agent.play_values(part)
                tried = _distinct(part, values >= values.max(axis=1, keepdims=True) - within)
                open_rows = np.flatnonzero(tried.sum(axis=1) > 1)
                if len(open_rows):
                    part, tried, values = part.take(open_rows), tried[open_rows], values[open_rows]
                    find = partial(self.rollouts.play_values, part, self.rollouts.hand_weights(part), is_late)
                    slots[rows[open_rows]] = self._settle(values, tried, find)
        return slots

    def play_values(self, observation: PlayObservation) -> NDArray[np.float64]:
        """[N, 4] what each card comes to on all hands drawn; -inf for what may not be played.

        Points of the rest of the play, own minus the opponent's; near the end of a game the chance to win.
        """
        o, late, found = observation, self._is_late(observation), np.full(observation.hand.shape, -np.inf)
        for is_late in (False, True):
            for rows, part in _blocks(o, np.flatnonzero(late == is_late)):
                asked = np.arange(len(part)), part.legal, np.arange(self.rollouts.hands)
                means = self.rollouts.play_values(part, self.rollouts.hand_weights(part), is_late, *asked).mean(axis=2)
                found[rows] = np.where(part.legal, means, -np.inf)
        return found

    def _settle(self, values: NDArray[np.floating], tried: NDArray[np.bool_], find: Find) -> Choices:
        """[N] the best of the choices tried, by what is found on hands drawn; the networks' values decide ties."""
        best = np.where(tried, values, -np.inf).argmax(axis=1).astype(np.int8)
        rows, tried, found = np.arange(len(values)), tried.copy(), np.empty((*values.shape, 0))
        for numbers in rounds(self.rollouts.hands):
            found = np.concatenate([found, find(rows, tried, numbers)], axis=2)
            leaders = _best(found.mean(axis=2), values[rows], tried)
            best[rows] = leaders
            tried &= ~_behind(found, leaders)
            tried[np.arange(len(rows)), leaders] = True
            open_rows = np.flatnonzero(tried.sum(axis=1) > 1)
            rows, tried, found = rows[open_rows], tried[open_rows], found[open_rows]
            if not len(rows):
                break
        return best

    def _is_late(self, observation: DiscardObservation | PlayObservation) -> NDArray[np.bool_]:
        return (observation.scores.max(axis=1) >= self.late) & (self.late < MAX_SCORE)


def rounds(hands: int) -> list[NDArray[np.int64]]:
    """The numbers of hands in the order of trying: few that are spread over all, then three times as many, ..."""
    step = 1
    while hands >= 4 * step * _FIRST:
        step *= 4
    numbers = np.arange(hands)
    found = [numbers[numbers % step == 0]]
    while step > 1:
        step //= 4
        found.append(numbers[(numbers % step == 0) & (numbers % (4 * step) != 0)])
    return found


def _behind(found: NDArray[np.float64], leaders: Choices) -> NDArray[np.bool_]:
    """[R, A] choices that the leader is ahead of, of found [R, A, K], by more than chance makes it; or always."""
    ahead = np.take_along_axis(found, leaders[:, None, None].astype(np.int64), axis=1) - found
    error = ahead.std(axis=2) / max(found.shape[2] - 1, 1) ** 0.5
    return ahead.mean(axis=2) >= _BEHIND * error


def _blocks(observation: Observation, rows: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.intp], Observation]]:
    """Some rows of an observation, a block at a time."""
    for low in range(0, len(rows), _BLOCK):
        block = rows[low : low + _BLOCK]
        yield block, observation.take(block)


def _distinct(o: PlayObservation, slots: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """[N, 4] of slots to be played those of which no earlier one has the same rank."""
    ranks, found = RANKS[o.hand], slots & o.legal
    for slot in range(1, HAND_SIZE):
        found[:, slot] &= ~(found[:, :slot] & (ranks[:, :slot] == ranks[:, slot, None])).any(axis=1)
    return found


def _best(means: NDArray[np.float64], values: NDArray[np.floating], tried: NDArray[np.bool_]) -> Choices:
    """[N] the best of the choices tried."""
    worth = means + _TIE * np.where(tried, values, 0)
    return np.where(tried, worth, -np.inf).argmax(axis=1).astype(np.int8)


def check_numbers(**options: tuple[Any, type, float, float]) -> None:
    """Raises AgentError for what is no number of its type from low to high."""
    for name, (value, kind, low, high) in options.items():
        fits = isinstance(value, int if kind is int else (int, float)) and not isinstance(value, bool)
        if not (fits and low <= value <= high):
            expected = "a whole number" if kind is int else "a number"
            raise AgentError(f"{name}={value!r}: expected {expected} from {low} to {high}")
