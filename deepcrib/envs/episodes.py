"""`Episodes`: N games side by side as a learner meets them, the one engine of the Gymnasium environments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deepcrib.agents import Agent
from deepcrib.agents.asking import ask, named
from deepcrib.agents.expected_value import ExpectedValueAgent
from deepcrib.envs import stepping
from deepcrib.envs.observation import block_starts, num_actions, num_discards, observation_spec
from deepcrib.envs.options import GameOptions, discarder_of, opponents_of, settings_of
from deepcrib.envs.stepping import ASKED, GO_ON, LEARNER, OVER, START, STEP
from deepcrib.errors import OptionError
from deepcrib.game.engine import Games, IllegalActionError, Turns
from deepcrib.kernels.workers import run_rows

PIECE = 128  # environments whose step is worth a thread
MAX_SEED = 2**63

Rows = NDArray[np.int64]


class Episodes:
    """N environments: games, who sits where, what the learner sees and is paid.

    Environment i plays the episodes i, i + N, i + 2N ... of its seed; seed and episode decide every card, the cut, the
    learner's seat and every agent's chance. `observations` int8 [N, W] and `masks` int8 [N, A] are what the learner
    sees, filled by `begin` and `step`.

    Args:
        num_envs: N.
        options: what is played, against whom, and for what.
        copy: `begin` and `step` set new arrays; False: they overwrite those of the step before.
    """

    def __init__(self, num_envs: int, options: GameOptions, *, copy: bool = True) -> None:
        if not isinstance(num_envs, int | np.integer) or num_envs < 1:
            raise OptionError(f"num_envs={num_envs!r}: expected 1 or more")
        self.options = options
        self.num_players = options.num_players
        nobody = np.zeros(num_envs, dtype=np.int64)  # `begin` sets the numbers, and cuts for the deal
        self.games = Games(nobody, 0, num_players=options.num_players, dealing=options.dealing, first_dealer=nobody)
        self.state = np.zeros(num_envs, dtype=stepping.episode_dtype(options.num_players))
        self.state["status"] = OVER
        opponents = opponents_of(options)
        discarders: list[Agent | None] = [discarder_of(options), *opponents]
        players: list[Agent | None] = [None, *opponents]
        self.names = [agent.name for agent in opponents]
        """Names of the opponents, from the learner's left."""
        self._settings = settings_of(options, discarders, players)
        self._agents = {True: discarders, False: players}  # by seat, from the learner's
        self._asks = any(
            (codes == stepping.BY_AGENT).any() for codes in (self._settings.discards, self._settings.plays)
        )
        self._exact = ExpectedValueAgent() if options.reward == "exact" else None
        self._starts = block_starts(self.num_players)
        self._every = np.arange(num_envs, dtype=np.int64)
        self._copy = copy
        self.observations = np.zeros((num_envs, observation_spec(self.num_players).width), dtype=np.int8)
        self.masks = np.ones((num_envs, num_actions(self.num_players)), dtype=np.int8)

    def __len__(self) -> int:
        return len(self.state)

    @property
    def seed(self) -> int:
        """The seed of all episodes."""
        return self._settings.seed

    @property
    def over(self) -> NDArray[np.bool_]:
        """[N] whether the episode is over."""
        return self.state["status"] == OVER

    def info(self) -> dict[str, Any]:
        """What `info` says of the environments, [N, ...] each.

        action_mask: as in the observation. seat: the learner's. scores: [N, P] points, the learner's first, then by
        seats to its left. illegal: whether the last action was. episode_number: which with the seed decides every card.
        """
        names = {"seat": "seat", "scores": "scores", "illegal": "illegal", "episode_number": "number"}
        return {"action_mask": self.masks.copy(), **{key: self.state[name].copy() for key, name in names.items()}}

    def begin(self, seed: int, numbers: ArrayLike | None = None) -> None:
        """Begin episodes of a seed: by default the first of each environment. Raises OptionError on another seed."""
        check_number("seed", seed)
        self.games.seed = int(seed)
        self._settings = self._settings._replace(seed=int(seed), stride=len(self))
        self._set_arrays()
        self._run(self._every, START, self._every if numbers is None else np.asarray(numbers, dtype=np.int64))

    def begin_next(self, rows: Rows, *, fresh: bool) -> None:
        """Begin the next episode of environments `rows`; `fresh`: in new arrays, which keep the other rows."""
        if fresh and self._copy:
            self.observations, self.masks = self.observations.copy(), self.masks.copy()
        self._run(rows, START, self.state["number"][rows] + len(self))

    def step(self, actions: ArrayLike) -> NDArray[np.float64]:
        """Rewards [N] of the learner's actions [N]; where an episode was over the next begins, with reward 0.

        Raises IllegalActionError where options say so, or ValueError on actions of another shape, or that are no whole
        numbers: then nothing has been done.
        """
        chosen = np.asarray(actions)
        if chosen.shape != self._every.shape or chosen.dtype.kind not in "iu":
            got = f"got actions of shape {chosen.shape} and type {chosen.dtype}"
            raise ValueError(f"{got}, expected whole numbers {self._every.shape}")
        chosen = chosen.astype(np.int64)
        if self.options.on_illegal == "raise":
            self._refuse_illegal(chosen)
        self._set_arrays()
        values = self._exact_values(chosen)
        self._run(self._every, STEP, chosen)
        if values is not None:
            legal = ~np.isnan(values) & ~self.state["illegal"]
            self.state["reward"][legal] = values[legal]
        return self.state["reward"].copy()

    def choose(self, agent: Agent) -> NDArray[np.int64]:
        """Actions [N] of an agent in the learner's place, 0 where the learner need not choose."""
        actions = np.zeros(len(self), dtype=np.int64)
        for rows, discarding in self._split(np.flatnonzero(self.state["status"] == LEARNER)):
            if discarding:
                actions[rows] = ask(agent, self.games.discard_observation(rows, self.state["seat"][rows]))
            else:
                slots = ask(agent, self.games.play_observation(rows))
                actions[rows] = slots.astype(np.int64) + num_discards(self.num_players)
        return actions

    def _set_arrays(self) -> None:
        """New arrays, of which every row is to be filled."""
        if self._copy:
            self.observations, self.masks = np.empty_like(self.observations), np.empty_like(self.masks)

    def _run(self, rows: Rows, work: int, arguments: NDArray[np.int64]) -> None:
        """Do a work in rows, and let the agents answer that must be asked until the learner's turn."""
        shown = self._settings, self._starts, self.observations, self.masks
        while len(rows):
            episodes = self.games.records, self.state
            run_rows(stepping.advance_rows, len(rows), *episodes, rows, work, arguments, *shown, piece=PIECE)
            if not self._asks:
                return
            rows = rows[self.state["status"][rows] == ASKED]
            self._answer(rows)
            work, arguments = GO_ON, rows

    def _split(self, rows: Rows) -> Iterable[tuple[Rows, bool]]:
        """Those of rows that discard, and those that play."""
        discarding = self.games.records["starter"][rows] < 0
        for part, of_discard in ((rows[discarding], True), (rows[~discarding], False)):
            if len(part):
                yield part, of_discard

    def _answer(self, rows: Rows) -> None:
        """Ask the agents of rows for one choice each."""
        for asked, discarding in self._split(rows):
            relative = self.state["asked"][asked]
            seats = (self.state["seat"][asked] + relative) % self.num_players
            agents = self._agents[discarding]
            for agent in {id(agents[seat]): agents[seat] for seat in set(relative.tolist())}.values():
                assert agent is not None
                mine = np.array([one is agent for one in agents])[relative]
                with named(agent):
                    if discarding:
                        observation = self.games.discard_observation(asked[mine], seats[mine])
                        self.games.discard(asked[mine], seats[mine], ask(agent, observation))
                    else:
                        self.games.play(asked[mine], ask(agent, self.games.play_observation(asked[mine])))

    def _exact_values(self, actions: NDArray[np.int64]) -> NDArray[np.float64] | None:
        """Exact rewards [N] of discards, NaN where none is made; None where rewards are not exact."""
        if self._exact is None:
            return None
        values = np.full(len(self), np.nan)
        legal = (self.state["status"] == LEARNER) & (actions >= 0) & (actions < num_discards(2))
        rows = np.flatnonzero(legal)
        if len(rows):
            observation = self.games.discard_observation(rows, self.state["seat"][rows])
            values[rows] = self._exact.discard_values(observation)[np.arange(len(rows)), actions[rows]]
        return values

    def _refuse_illegal(self, actions: NDArray[np.int64]) -> None:
        hands = self.options.hands
        row = stepping.first_fault(self.games.records, self.state, actions, hands, np.empty_like(self.masks[0]))
        if row >= 0:
            refuse(Turns(self.games, hands), row, int(actions[row]))


def check_number(name: str, number: Any) -> None:
    """Raise OptionError unless a seed, or the number of an episode, is a whole number 0..2^63 - 1."""
    if not isinstance(number, int | np.integer) or not 0 <= number < MAX_SEED:
        raise OptionError(f"{name}={number!r}: expected 0..2^63 - 1")


def refuse(turns: Turns, row: int, action: int) -> NoReturn:
    """Raise IllegalActionError for an environment's action in game `row`, in the engine's words where it has some."""
    discards, actions = num_discards(turns.games.num_players), num_actions(turns.games.num_players)
    state = turns.games.state
    discarding = state.starter[row] < 0
    if 0 <= action < actions and discarding == (action < discards):
        turns.choose(np.array([row]), [action if discarding else action - discards])
    expected = f"a discard 0..{discards - 1}" if discarding else f"a play {discards}..{actions - 1}"
    where = f"game {state.game[row]}, hand {state.hand_number[row]}, seat {turns.seat[row]}"
    raise IllegalActionError(f"{where}: action {action}: expected {expected}")
