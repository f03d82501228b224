"""What an environment is made with, checked: each option with its default, and one clear line where it is wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import Agent, make_agent, require_players
from deepcrib.agents.base import uses_past
from deepcrib.agents.scripted import ScriptedAgent
from deepcrib.envs.observation import observation_spec
from deepcrib.envs.stepping import ALL, BY_AGENT, BY_LEARNER, PLAYED, REWARDS, SHOWN, Settings
from deepcrib.errors import OptionError, did_you_mean
from deepcrib.game.engine import DEALING, Games
from deepcrib.game.rules import MAX_SCORE
from deepcrib.options import one_of, option, optional, problems

MAX_SEED = 2**63
_Made = TypeVar("_Made", bound="TableOptions")


def _finite(value: Any) -> str | None:
    return None if isinstance(value, int | float | np.number) and math.isfinite(float(value)) else "expected a number"


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """What every environment can be made with. Raises OptionError on values that there are not."""

    counted: ClassVar[int] = ALL

    num_players: int = option(2, "2, 3 or 4")
    episode: str = option("game", "game (to 121) or hand (one hand from 0 to 0)", one_of("game", "hand"))
    reward: str = option(
        "points",
        "points (own points since the last own decision), margin (these minus the mean of the others': the rewards of "
        "all players sum to 0) or win (1 or -1 at the end of a game)",
        one_of(*REWARDS),
    )
    dealing: str = option("acc", "acc (the deal alternates, the low cut first) or random_dealer", one_of(*DEALING))
    on_illegal: str = option(
        "penalty",
        "penalty (the episode ends with illegal_reward) or raise (the engine's IllegalActionError)",
        one_of("penalty", "raise"),
    )
    games_per_match: int = option(
        1,
        "so many episodes, one after another, are a match: the seats stay, the first deal alternates, and agents that "
        "use the past of their match see its hands",
        lambda value: (
            None if isinstance(value, int | np.integer) and value >= 1 else "expected a whole number, 1 or more"
        ),
    )
    illegal_reward: float | None = option(
        None, "None: -1 with reward win, else -121 points, so that nobody gains by it", optional(_finite)
    )

    def __post_init__(self) -> None:
        observation_spec(self.num_players)  # refuses other numbers
        for problem in problems(self):
            raise OptionError(problem)
        if self.reward == "win" and self.episode == "hand":
            raise OptionError("reward='win': expected episode='game', since nobody wins a hand")

    @property
    def hands(self) -> int:
        """Hands of an episode, 0: until somebody has 121."""
        return int(self.episode == "hand")

    @property
    def penalty(self) -> float:
        """Reward of an illegal action."""
        if self.illegal_reward is not None:
            return float(self.illegal_reward)
        return -1.0 if self.reward == "win" else -float(MAX_SCORE)


@dataclass(frozen=True, kw_only=True)
class GameOptions(TableOptions):
    """Options of an environment of whole games or hands against agents: those of `TableOptions`, and these."""

    opponent: Any = option(
        "greedy",
        "any agent spec (`agents.make_agent`), or an agent; or a list of num_players - 1 of them, which sit one after "
        "the other to the learner's left",
    )
    seat: int | None = option(None, "the learner's seat, or None: random in each episode")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.seat is not None and self.seat not in range(self.num_players):
            raise OptionError(f"seat={self.seat!r}: expected None or 0..{self.num_players - 1}")


@dataclass(frozen=True, kw_only=True)
class PlayOptions(GameOptions):
    """Options of the play alone; rewards count the points of the play only (and `win` the game)."""

    counted: ClassVar[int] = PLAYED
    discards: Any = option(
        None, "spec of the agent that discards for the learner; None: expected_value, with more players greedy"
    )


@dataclass(frozen=True, kw_only=True)
class DiscardOptions(GameOptions):
    """Options of the discard alone, one decision an episode."""

    counted: ClassVar[int] = SHOWN
    episode: str = option("hand", check=one_of("hand"))
    reward: str = option(
        "sampled",
        "sampled (points of one's hand plus, as pone minus, the crib's, as the cards fall and the opponents throw) or "
        "exact (the same in expectation over the 46 starters and an opponent who throws as experts do; two players)",
        one_of("sampled", "exact"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reward == "exact" and self.num_players != 2:
            raise OptionError(f"reward='exact': expected num_players=2, not {self.num_players}")


DECISIONS: dict[str, type[GameOptions]] = {"all": GameOptions, "play": PlayOptions, "discard": DiscardOptions}
"""The learner's decisions, with the options of their environment."""


def game_options(decisions: str, given: Mapping[str, Any]) -> GameOptions:
    """The options of an environment in which the learner decides this. Raises OptionError."""
    if problem := one_of(*DECISIONS)(decisions):
        raise OptionError(f"decisions={decisions}: {problem}")
    return read_options(DECISIONS[decisions], given)


def read_options(kind: type[_Made], given: Mapping[str, Any]) -> _Made:
    """The options of an environment from keyword arguments. Raises OptionError on an unknown one, or a wrong value."""
    names = [field.name for field in fields(kind)]
    for name in given:
        if name not in names:
            near = did_you_mean(name, names)
            raise OptionError(f"unknown option {name!r} of the environment ({near}expected one of {', '.join(names)})")
    return kind(**given)


def check_number(name: str, number: Any) -> None:
    """Raise OptionError unless a seed, or the number of an episode, is a whole number 0..2^63 - 1."""
    if not isinstance(number, int | np.integer) or not 0 <= number < MAX_SEED:
        raise OptionError(f"{name}={number!r}: expected 0..2^63 - 1")


def discarder_of(options: GameOptions) -> Agent | None:
    """The agent that discards for the learner, None: the learner itself. Raises AgentError."""
    if not isinstance(options, PlayOptions):
        return None
    default = "expected_value" if options.num_players == 2 else "greedy"
    return _agent(default if options.discards is None else options.discards, options.num_players)


def opponents_of(options: GameOptions) -> list[Agent]:
    """The num_players - 1 agents to the learner's left; one spec makes one agent for all of them. Raises AgentError."""
    specs, count = options.opponent, options.num_players - 1
    if not isinstance(specs, list | tuple):
        return [_agent(specs, options.num_players)] * count
    if len(specs) != count:
        raise OptionError(f"opponent has {len(specs)} agents, expected {count} (or one for all)")
    return [_agent(spec, options.num_players) for spec in specs]


def _agent(spec: Any, num_players: int) -> Agent:
    agent = make_agent(spec)
    require_players(agent, num_players)
    return agent


def settings_of(options: TableOptions, discards: Sequence[Agent | None], plays: Sequence[Agent | None]) -> Settings:
    """What the kernels need to know; agents by the learner's seats, None: the learner. Seed and stride are 0."""
    seat = getattr(options, "seat", 0)
    return Settings(
        seed=0,
        random_dealer=options.dealing == "random_dealer",
        hands=options.hands,
        reward=REWARDS.get(options.reward, REWARDS["points"]),
        counted=options.counted,
        discards=np.array([_code(agent) for agent in discards], dtype=np.int8),
        plays=np.array([_code(agent) for agent in plays], dtype=np.int8),
        fixed_seat=-1 if seat is None else int(seat),
        stride=0,
        illegal_reward=options.penalty,
        games_per_match=int(options.games_per_match),
        notes=options.games_per_match > 1 or any(map(uses_past, [*discards, *plays])),
    )


def needs_noting(agent: Agent, games: Games, rows: NDArray[np.int64]) -> bool:
    """Whether hands are to be noted from now on, for an agent that is asked in `rows` and uses the past of its match.

    Raises OptionError where hands have ended there that nobody noted.
    """
    if games.past is not None or not uses_past(agent):
        return False
    if games.records["hand_number"][rows].any():
        raise OptionError(f"agent {agent.name} uses the past: expected to be asked from the first hand on")
    return True


def _code(agent: Agent | None) -> int:
    if agent is None:
        return BY_LEARNER
    return agent.policy if isinstance(agent, ScriptedAgent) else BY_AGENT
