"""Elimination: rounds of contests, whatever a contest is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from deepcrib.errors import OptionError
from deepcrib.game.randomness import FINAL_MATCHES, derive

Contest = Callable[[Any, Any, int], tuple[int, Any]]
"""`contest(a, b, seed)`: who won, 0 for a and 1 for b, and by which score."""


@dataclass(frozen=True)
class Pairing:
    """Two entrants, who won (0 or 1) and the score; or one who had no opponent (a bye) and so goes on without one."""

    entrants: tuple[Any, ...]
    winner: int = 0
    score: Any = None


@dataclass(frozen=True)
class Round:
    """The pairings of a round, in the order of the entrants."""

    pairings: tuple[Pairing, ...]

    @property
    def winners(self) -> list[Any]:
        """Who goes on, in order."""
        return [pairing.entrants[pairing.winner] for pairing in self.pairings]

    @property
    def losers(self) -> list[Any]:
        """Who was beaten, in order."""
        return [pairing.entrants[1 - pairing.winner] for pairing in self.pairings if len(pairing.entrants) == 2]


@dataclass(frozen=True)
class Bracket:
    """Rounds from all entrants to the one who is left."""

    rounds: tuple[Round, ...]
    champion: Any


def play_round(entrants: Sequence[Any], contest: Contest, seed: int) -> Round:
    """Pair neighbours: 0 with 1, 2 with 3, and so on; the last of an odd number has a bye.

    Every contest gets a seed of its own. Whoever trains between rounds calls this and trains `winners` and `losers`.
    """
    pairings: list[Pairing] = []
    for low in range(0, len(entrants) - 1, 2):
        first, second = entrants[low], entrants[low + 1]
        winner, score = contest(first, second, derive(seed, FINAL_MATCHES, low // 2))
        if winner not in (0, 1):
            raise ValueError(f"winner {winner} of a contest: expected 0 or 1")
        pairings.append(Pairing((first, second), winner, score))
    if len(entrants) % 2:
        pairings.append(Pairing((entrants[-1],)))
    return Round(tuple(pairings))


def single_elimination(entrants: Sequence[Any], contest: Contest, seed: int) -> Bracket:
    """Rounds of winners until one is left; a single entrant has won without a round. Raises OptionError for none."""
    if not entrants:
        raise OptionError("entrants=0: expected one or more")
    left = list(entrants)
    rounds: list[Round] = []
    while len(left) > 1:
        rounds.append(play_round(left, contest, derive(seed, FINAL_MATCHES, len(rounds))))
        left = rounds[-1].winners
    return Bracket(tuple(rounds), left[0])


def winners_and_losers(entrants: Sequence[Any], contest: Contest, seed: int) -> tuple[Bracket, Bracket]:
    """The bracket of all entrants, and one in which the losers of its first round start over among themselves.

    So it was in round 2 of the thesis (section 4.1); the losers' winner does not meet the winners'. Raises OptionError
    for fewer than two entrants.
    """
    if len(entrants) < 2:
        raise OptionError(f"entrants={len(entrants)}: expected two or more")
    winners = single_elimination(entrants, contest, seed)
    losers = single_elimination(winners.rounds[0].losers, contest, derive(seed, FINAL_MATCHES, len(winners.rounds)))
    return winners, losers
