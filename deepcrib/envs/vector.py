"""The vector environment: N games in one array, a compiled step, and the rules of Gymnasium's `VectorEnv`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from deepcrib.agents import Agent
from deepcrib.agents.asking import ask, named
from deepcrib.agents.expected_value import ExpectedValueAgent
from deepcrib.envs import stepping
from deepcrib.envs.observation import (
    action_space,
    block_starts,
    illegal_action,
    num_actions,
    num_discards,
    observation_space,
    observation_spec,
)
from deepcrib.envs.options import (
    MAX_SEED,
    check_number,
    discarder_of,
    game_options,
    needs_noting,
    opponents_of,
    settings_of,
)
from deepcrib.envs.stepping import ASKED, GO_ON, LEARNER, OVER, START, STEP
from deepcrib.errors import OptionError
from deepcrib.game.engine import Games
from deepcrib.game.past import PastHands
from deepcrib.kernels.workers import run_rows

_PIECE = 128  # environments whose step is worth a thread

Observations = dict[str, NDArray[np.int8]]
Rows = NDArray[np.int64]


class CribbageVectorEnv(VectorEnv[Observations, NDArray[np.int64], NDArray[Any]]):
    """N games of cribbage against agents: `gymnasium.make_vec("deepcrib/Cribbage-v1", num_envs=N)`.

    Environment i plays the episodes i, i + N, i + 2N ... of its seed; seed and episode decide every card, the cut, the
    learner's seat and every agent's chance. The same seed and actions give the same trajectories, on any number of
    threads. When an episode is over every action is let through by its mask, and ignored.

    `info` holds, [N, ...] each: action_mask, as in the observation; seat, the learner's; scores [N, P], the learner's
    first, then by seats to its left; illegal, whether the last action was; episode_number; with games_per_match above
    1 game, the episode's number in its match, from 0.

    Args:
        num_envs: N.
        decisions: what the learner decides: `all`, the `play` (an agent discards), or one `discard` an episode.
        autoreset_mode: NEXT_STEP (the step after the last begins the next episode, with reward 0), SAME_STEP (the last
            step does; info holds final_obs and final_info) or DISABLED (`reset(options={"reset_mask": mask})` does).
        options: see `GameOptions`, `PlayOptions` and `DiscardOptions`.
    """

    def __init__(
        self,
        num_envs: int = 1,
        decisions: str = "all",
        *,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        render_mode: None = None,
        **options: Any,
    ) -> None:
        if render_mode is not None:
            raise OptionError(f"render_mode={render_mode!r}: expected None, a vector environment is not drawn")
        if not isinstance(num_envs, int | np.integer) or num_envs < 1:
            raise OptionError(f"num_envs={num_envs!r}: expected 1 or more")
        self.num_envs = num_envs
        self.options = game_options(decisions, options)
        self.num_players = self.options.num_players
        self.autoreset_mode = _mode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = observation_space(self.num_players)
        self.single_action_space = action_space(self.num_players)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._make_agents()
        self._make_games()

    def _make_agents(self) -> None:
        """Agents by seat from the learner's, which is None; their codes are in the settings of the kernels."""
        opponents = opponents_of(self.options)
        discarders: list[Agent | None] = [discarder_of(self.options), *opponents]
        players: list[Agent | None] = [None, *opponents]
        self.names = [agent.name for agent in opponents]
        """Names of the opponents, from the learner's left."""
        self._agents = {True: discarders, False: players}
        self._settings = settings_of(self.options, discarders, players)
        self._asks = stepping.BY_AGENT in self._settings.discards or stepping.BY_AGENT in self._settings.plays
        self._exact = ExpectedValueAgent() if self.options.reward == "exact" else None

    def _make_games(self) -> None:
        """Games and episodes that are over: the first reset begins others."""
        options, ids = self.options, np.zeros(self.num_envs, dtype=np.int64)
        self.games = Games(ids, 0, num_players=self.num_players, dealing=options.dealing, first_dealer=ids)
        if self._settings.notes:
            self._note_hands()
        self.state = np.zeros(self.num_envs, dtype=stepping.episode_dtype(self.num_players))
        self.state["status"] = OVER
        self.observations = np.zeros((self.num_envs, observation_spec(self.num_players).width), dtype=np.int8)
        self.masks = np.ones((self.num_envs, num_actions(self.num_players)), dtype=np.int8)
        self._every = np.arange(self.num_envs, dtype=np.int64)
        self._started = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Begin episodes: with a seed its first ones, without one the next of the seed before.

        options: reset_mask, bool [N], begins those environments only. episode: the number of environment 0's episode,
        the next one's that of environment 1.
        """
        super().reset(seed=seed)
        rows, number = self._rows_to_reset(options), (options or {}).get("episode")
        if seed is not None or number is not None or not self._started:
            if len(rows) < self.num_envs:
                raise OptionError("reset_mask: expected no seed with it, and a reset of all environments before")
            if number is not None:
                check_number("episode", number)
            if seed is None:
                seed = self._settings.seed if self._started else int(self.np_random.integers(MAX_SEED))
            self._begin(seed, 0 if number is None else int(number))
        else:
            self.observations, self.masks = self.observations.copy(), self.masks.copy()  # those shown stay as they are
            self._begin_next(rows)
        begun = np.zeros(self.num_envs, dtype=bool)
        begun[rows] = True
        return self._shown(), self._info(begun)

    def step(
        self, actions: ArrayLike
    ) -> tuple[Observations, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Carry out actions [N] and the opponents' answers.

        Raises ResetNeeded before `reset` and, in mode DISABLED, where an episode is over; IllegalActionError with
        `on_illegal="raise"`, and ValueError on actions of another shape or that are no whole numbers: then nothing has
        been done.
        """
        over = self.over
        if not self._started or (self.autoreset_mode == AutoresetMode.DISABLED and over.any()):
            raise ResetNeeded(f"environment {int(over.argmax())}: reset it before a step")
        self._act(self._checked(actions))
        rewards, over = self.state["reward"].copy(), self.over
        info: dict[str, Any] = {}
        if self.autoreset_mode == AutoresetMode.SAME_STEP and over.any():
            info = self._final(over)
            self._begin_next(np.flatnonzero(over))
        info |= self._info(np.ones(self.num_envs, dtype=bool))
        return self._shown(), rewards, over, np.zeros(self.num_envs, dtype=bool), info

    @property
    def over(self) -> NDArray[np.bool_]:
        """[N] whether the episode is over."""
        return self.state["status"] == OVER

    def action_masks(self) -> NDArray[np.bool_]:
        """bool [N, A]: the actions that may be chosen."""
        return self.masks.astype(bool)

    def ask(self, agent: Agent) -> NDArray[np.int64]:
        """Actions [N] of an agent in the learner's place, 0 where the learner need not choose.

        Raises OptionError as `needs_noting` does.
        """
        actions, waiting = np.zeros(self.num_envs, dtype=np.int64), np.flatnonzero(self.state["status"] == LEARNER)
        if needs_noting(agent, self.games, waiting):
            self._note_hands()
        for rows, discarding in self._split(waiting):
            if discarding:
                actions[rows] = ask(agent, self.games.discard_observation(rows, self.state["seat"][rows]))
            else:
                slots = ask(agent, self.games.play_observation(rows))
                actions[rows] = slots.astype(np.int64) + num_discards(self.num_players)
        return actions

    # --- what is shown ----------------------------------------------------------------------------------------

    def _shown(self) -> Observations:
        # The order is that of the space, which sorts its keys.
        return {"action_mask": self.masks, "observation": self.observations}

    def _info(self, shown: NDArray[np.bool_]) -> dict[str, Any]:
        """Infos, each with the mask `_key` of Gymnasium's vector environments beside it."""
        names = {"seat": "seat", "scores": "scores", "illegal": "illegal", "episode_number": "number"}
        if self.options.games_per_match > 1:
            names["game"] = "place"
        info = {"action_mask": self.masks.copy(), **{key: self.state[name].copy() for key, name in names.items()}}
        return info | {f"_{key}": shown.copy() for key in info}

    def _final(self, over: NDArray[np.bool_]) -> dict[str, Any]:
        """The observations and infos of the last step of an episode, as Gymnasium's own vector environments give it."""
        observations = np.full(self.num_envs, None, dtype=object)
        for row in np.flatnonzero(over):
            observations[row] = {name: values[row].copy() for name, values in self._shown().items()}
        return {
            "final_obs": observations,
            "_final_obs": over.copy(),
            "final_info": self._info(over),
            "_final_info": over.copy(),
        }

    # --- episodes ---------------------------------------------------------------------------------------------

    def _rows_to_reset(self, options: dict[str, Any] | None) -> Rows:
        mask = (options or {}).get("reset_mask")
        if mask is None:
            return self._every
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != bool or not mask.any():
            raise OptionError(f"reset_mask={mask!r}: expected a bool array [{self.num_envs}] that is true somewhere")
        return np.flatnonzero(mask)

    def _begin(self, seed: int, first: int) -> None:
        """Begin the episodes first, first + 1, .. of a seed."""
        check_number("seed", seed)
        self.games.seed = int(seed)
        self._settings = self._settings._replace(seed=int(seed), stride=self.num_envs)
        self._started = True
        self.state["place"] = self.options.games_per_match - 1  # those that begin are the first of a match
        self._new_arrays()
        self._run(self._every, START, self._every + first)

    def _begin_next(self, rows: Rows) -> None:
        """Begin the next episode of environments `rows`."""
        self._run(rows, START, self.state["number"][rows] + self.num_envs)

    def _act(self, actions: Rows) -> None:
        """Carry out the learner's actions [N]; where an episode was over the next begins, with reward 0."""
        self._new_arrays()
        values = self._exact_values(actions)
        self._run(self._every, STEP, actions)
        if values is not None:
            legal = ~np.isnan(values) & ~self.state["illegal"]
            self.state["reward"][legal] = values[legal]

    def _checked(self, actions: ArrayLike) -> Rows:
        chosen = np.asarray(actions)
        if chosen.shape != self._every.shape or chosen.dtype.kind not in "iu":
            got = f"got actions of shape {chosen.shape} and type {chosen.dtype}"
            raise ValueError(f"{got}, expected whole numbers {self._every.shape}")
        chosen = chosen.astype(np.int64)
        if self.options.on_illegal == "raise":
            mask = np.empty_like(self.masks[0])
            row = stepping.first_illegal(self.games.records, self.state, chosen, self.options.hands, mask)
            if row >= 0:
                raise illegal_action(self.games.records[row], int(self.state["seat"][row]), int(chosen[row]), mask)
        return chosen

    def _exact_values(self, actions: Rows) -> NDArray[np.float64] | None:
        """Exact rewards [N] of discards, NaN where none is made; None where rewards are not exact."""
        if self._exact is None:
            return None
        values = np.full(self.num_envs, np.nan)
        legal = (self.state["status"] == LEARNER) & (actions >= 0) & (actions < num_discards(2))
        rows = np.flatnonzero(legal)
        if len(rows):
            observation = self.games.discard_observation(rows, self.state["seat"][rows])
            values[rows] = self._exact.discard_values(observation)[np.arange(len(rows)), actions[rows]]
        return values

    def _new_arrays(self) -> None:
        """New arrays, of which every row is to be filled."""
        self.observations, self.masks = np.empty_like(self.observations), np.empty_like(self.masks)

    def _run(self, rows: Rows, work: int, arguments: NDArray[np.int64]) -> None:
        """Do a work in rows, note hands that end, and let agents answer that must be asked until the learner's turn."""
        shown = self._settings, block_starts(self.num_players), self.observations, self.masks
        if self.games.past is not None:
            self._note_next_games(rows if work == START else rows[self.over])
        while len(rows):
            episodes = self.games.records, self.state
            run_rows(stepping.advance_rows, len(rows), *episodes, rows, work, arguments, *shown, piece=_PIECE)
            if not self._asks and self.games.past is None:
                return
            self.games.note_hands(rows)
            rows = rows[self.state["status"][rows] >= ASKED]
            self._answer(rows[self.state["status"][rows] == ASKED])
            work, arguments = GO_ON, rows

    def _note_hands(self) -> None:
        """Note hands from now on."""
        self._settings = self._settings._replace(notes=True)
        self.games.past = PastHands(self.num_envs, self.num_players, spare=self.num_envs)

    def _note_next_games(self, rows: Rows) -> None:
        """What is noted from now on in rows is of the episode that begins there."""
        assert self.games.past is not None
        self.games.past.next_game(rows)
        ends = self.state["place"][rows] + 1 == self.options.games_per_match
        self.games.past = self.games.past.next_match(rows[ends])

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


def _mode(mode: str | AutoresetMode) -> AutoresetMode:
    for known in AutoresetMode:
        if mode in (known, known.value, known.name):
            return known
    raise OptionError(f"autoreset_mode={mode!r}: expected one of {', '.join(known.value for known in AutoresetMode)}")
