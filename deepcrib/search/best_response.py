"""The best response to an opponent whose ways are known: what a perfect reader of one player would do.

It knows how the opponent discards and plays, never what it holds. In the play it takes the card of the highest exact
mean of own minus opponent's points over all hands that the opponent may hold (`expectimax`); in the discard, the
highest mean of hand, crib and play together, the play's before the starter is known. It plays for points, not for the
game: its win rate is only a lower bound of what a responder who looks at the score could reach.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents.asking import Probabilities, knows_probabilities
from deepcrib.agents.base import Agent, AgentError, play_policy_of, require_players
from deepcrib.agents.masks import best_masks, pick_rows, uniform_over
from deepcrib.agents.scripted import ScriptedAgent
from deepcrib.errors import RunError
from deepcrib.exact.beliefs.discards import DiscardArrays, DiscardModel, discard_model
from deepcrib.exact.beliefs.plays import SETS_4, seen_cards_of
from deepcrib.exact.cribs import NUM_DISCARDS
from deepcrib.exact.discards import HAND_STARTERS, discard_statistics
from deepcrib.files import write_atomic
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.rank_sets import NUM_RANK_SETS_4
from deepcrib.game.rules import HAND_SIZE
from deepcrib.kernels.sources import cache_folder
from deepcrib.kernels.workers import run_rows
from deepcrib.search.any_opponent.replies import add_play_values_of, play_values_of
from deepcrib.search.scripted_opponent.values import add_crib_means, add_play_values, fill_play_table, fill_play_values

WITHIN = 0.3
"""Points; see `BestResponseAgent`."""
NO_TABLE = np.zeros(0)


class BestResponseAgent:
    """Plays the best response to one fixed opponent. For two players.

    Args:
        to: the opponent, which must know the probabilities of its choices, or be `deterministic`. Its discards are
            taken to be those at 0-0.
            One that plays as a player of `policies` does is answered by compiled code; any other one is asked what it
            would do at every turn of every hand (`any_opponent.replies`), some hundred times slower.
        within: points; discards that seem so much worse than the best one, by exact hand and crib and the play's value
            when only the kept cards are known (`play_table`), are not searched. None searches all, many times slower.
            Of 300 discards against greedy none was another one for it, and the widest gap was 0.13 points.
    """

    num_players = frozenset({2})
    discard_unit = "points"

    def __init__(self, to: Agent, within: float | None = WITHIN) -> None:
        """Raises AgentError for an opponent that cannot be answered, or a `within` that is no number of points."""
        require_players(to, 2)
        if not knows_probabilities(to):
            expected = "expected an agent that knows its probabilities, or says deterministic = True"
            raise AgentError(f"no best response to {to.name}: {expected}")
        is_number = isinstance(within, int | float) and not isinstance(within, bool)
        if within is not None and not (is_number and within >= 0):
            raise AgentError(f"within={within!r}: expected points, 0 or more, or null")
        self.name = f"best_response({to.name})"
        self.to = to
        self.policy = play_policy_of(to)
        self.within = np.inf if within is None else float(within)
        self._model: DiscardModel | None = None
        self.discards_of = Probabilities(to).discard_probabilities
        self.plays_of = Probabilities(to).play_probabilities

    @property
    def model(self) -> DiscardModel:
        """How the opponent discards; worked out when first needed, in some seconds."""
        if self._model is None:
            self._model = discard_model(self.discards_of)
        return self._model

    @cached_property
    def play_table(self) -> NDArray[np.float64]:
        """[2, 1820] what each rank multiset is worth in the play, as pone and as dealer, when nothing else is known.

        Worked out when first needed, in a minute or several, and then kept beside the compiled code. Against a player
        that is no scripted one it is that against greedy, which serves to choose what is searched.
        """
        if self.policy is None:
            return BestResponseAgent(ScriptedAgent("greedy")).play_table
        folder = cache_folder(Path(__file__))
        path = folder / f"play_{self._digest()}.npy" if folder is not None else None
        if path is not None:
            with contextlib.suppress(OSError, ValueError, EOFError):
                table: NDArray[np.float64] = np.load(path, allow_pickle=False)
                if table.shape == (2, NUM_RANK_SETS_4):
                    return table
        table = self._new_play_table(self.policy)
        if path is not None:
            content = io.BytesIO()
            np.save(content, table)
            with contextlib.suppress(RunError):
                write_atomic(path, content.getvalue())
        return table

    def _digest(self) -> str:
        content = hashlib.blake2b(str(self.policy).encode(), digest_size=12)
        for arrays in self.model.arrays:
            for array in arrays:
                content.update(np.ascontiguousarray(array).tobytes())
        return content.hexdigest()

    def _new_play_table(self, policy: int) -> NDArray[np.float64]:
        table = np.empty((2, NUM_RANK_SETS_4))
        for is_dealer in (False, True):
            run_rows(
                fill_play_table,
                len(SETS_4),
                policy,
                SETS_4,
                is_dealer,
                self.against(is_dealer),
                table[int(is_dealer)],
                piece=1,
            )
        return table

    def discard_values(
        self, observation: DiscardObservation, shown: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """[N, 15] mean own minus opponent's points from hand, crib and play; -inf for those given up by `within`.

        The opponent's hand and heels, which no discard changes, are left out. Where `within` leaves one discard alone,
        that has the value by which it was chosen. shown: `show_values`, where they are known already.
        """
        values = self.show_values(observation) if shown is None else shown.copy()
        exact = np.isinf(self.within)
        if self.policy is None:
            table = None if exact else self.play_table
            add_play_values_of(observation, self.model, self.plays_of, table, self.within, values)
            return values
        for is_dealer in (False, True):
            rows = np.flatnonzero(observation.is_dealer == is_dealer)
            table = NO_TABLE if exact else self.play_table[int(is_dealer)]
            model = self.against(is_dealer)
            run_rows(
                add_play_values,
                len(rows),
                rows,
                self.policy,
                SETS_4,
                observation.hand,
                is_dealer,
                model,
                table,
                self.within,
                values,
                piece=1,
            )
        return values

    def show_values(self, observation: DiscardObservation) -> NDArray[np.float64]:
        """[N, 15] mean points of hand and crib, the crib's negative to the pone."""
        values = discard_statistics(observation.hand)["hand_sum"] / HAND_STARTERS
        for is_dealer in (False, True):
            rows = np.flatnonzero(observation.is_dealer == is_dealer)
            run_rows(
                add_crib_means, len(rows), rows, observation.hand, is_dealer, self.against(is_dealer), values, piece=16
            )
        return values

    def play_values(self, observation: PlayObservation) -> NDArray[np.float64]:
        """[N, 4] mean own minus opponent's points from the play of each slot on; -inf for what may not be played."""
        o, values = observation, np.empty((len(observation), HAND_SIZE))
        if self.policy is None:
            return play_values_of(o, self.model, self.plays_of)
        seen, own = seen_cards_of(o), o.kept
        for is_dealer in (False, True):
            rows = np.flatnonzero(o.is_dealer == is_dealer)
            places = (o.history, o.history_seats, o.seat, o.series_start, o.count)
            run_rows(
                fill_play_values,
                len(rows),
                rows,
                self.policy,
                SETS_4,
                self.against(is_dealer),
                seen,
                own,
                o.hand,
                *places,
                values,
                piece=1,
            )
        return values

    def discard(self, observation: DiscardObservation) -> NDArray[np.int8]:
        """[N] discard actions."""
        return pick_rows(best_masks(self.discard_values(observation)), observation.key)

    def discard_probabilities(self, observation: DiscardObservation) -> NDArray[np.float64]:
        """[N, 15]: uniform over the best discards."""
        return uniform_over(best_masks(self.discard_values(observation)), NUM_DISCARDS)

    def play(self, observation: PlayObservation) -> NDArray[np.int8]:
        """[N] slots."""
        return pick_rows(best_masks(self.play_values(observation)), observation.key)

    def play_probabilities(self, observation: PlayObservation) -> NDArray[np.float64]:
        """[N, 4]: uniform over the best cards."""
        return uniform_over(best_masks(self.play_values(observation)), HAND_SIZE)

    def against(self, is_dealer: bool) -> DiscardArrays:
        """How the opponent of a dealer (or pone) discards."""
        return self.model.arrays[0 if is_dealer else 1]
