"""PettingZoo's environment (AEC) of 2 to 4 players: `from deepcrib.envs import cribbage_v1; cribbage_v1.env()`.

Agents are `player_0` and so on, by seat; one may act twice in a row. `observe` gives `observation` and `action_mask`,
which is zero but for who must choose. Raises OptionError where PettingZoo is not installed.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from deepcrib.agents import Agent
from deepcrib.agents.asking import ask
from deepcrib.envs.observation import (
    action_space,
    block_starts,
    fill_mask,
    fill_observation,
    illegal_action,
    num_actions,
    num_discards,
    observation_space,
    observation_spec,
)
from deepcrib.envs.options import MAX_SEED, TableOptions, check_number, needs_noting, read_options, settings_of
from deepcrib.envs.rendering import RENDER_MODES, Picture, Screen
from deepcrib.envs.stepping import LEARNER, choose_action, episode_dtype, go_on, start
from deepcrib.errors import MissingExtraError
from deepcrib.game.engine import Games
from deepcrib.game.engine.phases import seat_to_choose
from deepcrib.game.past import PastHands

try:
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers
except ModuleNotFoundError as error:
    raise MissingExtraError("deepcrib.envs.cribbage_v1", "PettingZoo", "envs") from error

Observation = dict[str, NDArray[np.int8]]
_ROW = np.array([0])


def env(*, render_mode: str | None = None, **options: Any) -> AECEnv[str, Any, Any]:
    """The environment in PettingZoo's wrappers: order, bounds and, with `on_illegal="penalty"`, illegal actions.

    Args:
        render_mode: `ansi`, `human` or `rgb_array`: the table as a spectator sees it, with every hand open.
        options: see `TableOptions`. Raises OptionError.
    """
    made: Any = raw_env(render_mode=render_mode, **options)
    if made.options.on_illegal == "penalty":
        made = wrappers.TerminateIllegalWrapper(made, illegal_reward=made.options.penalty)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(made))


def raw_env(*, render_mode: str | None = None, **options: Any) -> CribbageAEC:
    """The environment alone, which raises IllegalActionError on an illegal action; arguments as those of `env`."""
    return CribbageAEC(read_options(TableOptions, options), render_mode)


class CribbageAEC(AECEnv[str, Any, Any]):
    """One game whose players are asked in turn; rewards are those of the step, for every player."""

    metadata: dict[str, Any] = {
        "name": "cribbage_v1",
        "render_modes": list(RENDER_MODES),
        "render_fps": 2,
        "is_parallelizable": False,
    }

    def __init__(self, options: TableOptions, render_mode: str | None = None) -> None:
        super().__init__()
        self.options = options
        self.render_mode = render_mode
        self.possible_agents = [f"player_{seat}" for seat in range(options.num_players)]
        self.observation_spaces = {name: observation_space(options.num_players) for name in self.possible_agents}
        self.action_spaces = {name: action_space(options.num_players) for name in self.possible_agents}
        self._screen = Screen(render_mode)
        self._width, self._num_actions = observation_spec(options.num_players).width, num_actions(options.num_players)
        self._starts = block_starts(options.num_players)
        self.games = Games([0], 0, num_players=options.num_players, dealing=options.dealing, first_dealer=[0])
        self._settings = settings_of(options, [None] * options.num_players, [None] * options.num_players)
        if self._settings.notes:
            self.games.past = PastHands(1, options.num_players)
        self._episode = np.zeros(1, dtype=episode_dtype(options.num_players))[0]
        self._episode["number"] = self._seat = -1

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of what an agent sees."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode: with a seed its first, without one the next of the seed before, and of its match.

        options: `episode` is the number of the episode to play, in a new match; with the seed it decides every card.
        """
        number = (options or {}).get("episode")
        for name, given in (("seed", seed), ("episode", number)):
            if given is not None:
                check_number(name, given)
        if seed is None and self._episode["number"] < 0:
            seed = int(np.random.default_rng().integers(MAX_SEED))
        following = int(self._episode["number"]) + 1 if seed is None else 0
        self.games.seed = self.games.seed if seed is None else int(seed)
        self._begin(following if number is None else int(number), seed is not None or number is not None)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {name: {} for name in self.agents}
        self._skip_agent_selection = None
        self.agent_selection = self.possible_agents[self._seat]
        self._screen.follow(self._game["scores"], self.render, begins=True)

    def step(self, action: Any) -> None:
        """The action of the agent whose turn it is. Raises IllegalActionError; TypeError on what is no whole number."""
        chosen = self.agent_selection
        if self.terminations[chosen] or self.truncations[chosen]:
            self._was_dead_step(action)
            return
        action, hands, before = operator.index(action), self.options.hands, self._game["scores"].astype(np.int64)
        if not choose_action(self._game, action, hands):
            raise illegal_action(self._game, self._seat, action, self.observe(chosen)["action_mask"])
        self._go_on()
        self._cumulative_rewards[chosen] = 0.0
        self.rewards = dict(zip(self.agents, self._rewards(self._game["scores"] - before), strict=True))
        self._accumulate_rewards()
        if self._seat < 0:
            self.terminations = dict.fromkeys(self.agents, True)
            self._deads_step_first()
        else:
            self.agent_selection = self.possible_agents[self._seat]
        self._screen.follow(self._game["scores"], self.render)

    def observe(self, agent: str) -> Observation:
        """What an agent may see now, and what it may do: nothing unless it must choose."""
        observation, mask = np.empty(self._width, dtype=np.int8), np.empty(self._num_actions, dtype=np.int8)
        seat = self.possible_agents.index(agent)
        fill_observation(self._game, seat, self.options.hands, self._starts, observation)
        fill_mask(self._game, seat, self.options.hands, mask)
        return {"action_mask": mask, "observation": observation}

    def ask(self, agent: Agent) -> int | None:
        """The action of an agent of deepcrib in the place of `agent_selection`; None when its game is over.

        Raises OptionError as `needs_noting` does.
        """
        if self.terminations[self.agent_selection] or self.truncations[self.agent_selection]:
            return None
        if needs_noting(agent, self.games, _ROW):
            self.games.past = PastHands(1, self.options.num_players)
            self._settings = self._settings._replace(notes=True)
        if self._game["starter"] < 0:
            return int(ask(agent, self.games.discard_observation(_ROW, [self._seat]))[0])
        return int(ask(agent, self.games.play_observation(_ROW))[0]) + num_discards(self.options.num_players)

    def render(self) -> Picture:
        """The table with every hand open: text, a picture, or None in mode `human`, which prints it."""
        return self._screen.draw(self._game, None, self.possible_agents, self._seat if self._seat >= 0 else None)

    def close(self) -> None:
        """There is nothing to release; PettingZoo asks for it of an environment that can be drawn."""

    @property
    def _game(self) -> np.void:
        return self.games.records[0]

    def _begin(self, number: int, new_match: bool) -> None:
        """Begin the game of this number: the next of its match or, where that is over, of another."""
        if new_match:
            self._episode["place"] = self.options.games_per_match - 1
        if self.games.past is not None:
            self.games.past.next_game()
            if self._episode["place"] + 1 == self.options.games_per_match:
                self.games.past = PastHands(1, self.options.num_players)
        self._settings = self._settings._replace(seed=self.games.seed)
        start(self._game, self._episode, number, self._settings)
        self._seat = seat_to_choose(self._game, self.options.hands)

    def _go_on(self) -> None:
        """Carry out what takes no choice, and note hands as they end; the seat is -1 where the game is over."""
        go_on(self._game, self._episode, self._settings)
        if self._episode["status"] != LEARNER:  # a hand has ended, and with it perhaps the game
            self.games.note_hands(_ROW)
            go_on(self._game, self._episode, self._settings)
        self._seat = seat_to_choose(self._game, self.options.hands)

    def _rewards(self, gained: NDArray[np.int64]) -> list[float]:
        """Rewards [P] of a step in which the players gained points [P]."""
        if self.options.reward == "win":
            winner = int(self._game["winner"])
            return [0.0 if winner < 0 else 1.0 if seat == winner else -1.0 for seat in range(len(gained))]
        if self.options.reward == "margin":
            gained = gained - (gained.sum() - gained) / (len(gained) - 1)
        return [float(points) for points in gained]
