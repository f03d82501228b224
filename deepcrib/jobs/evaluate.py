"""`deepcrib evaluate`: what one agent does against another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from omegaconf import MISSING

from deepcrib.agents import make_agent
from deepcrib.analysis.tables import match_table, pairs_table, plain_table, points_table
from deepcrib.errors import OptionError
from deepcrib.evaluation.evaluate import check_games, evaluate
from deepcrib.evaluation.hand_pairs import hand_pairs
from deepcrib.evaluation.play_only import check_hands, play_only
from deepcrib.jobs import Outcome, Run
from deepcrib.jobs.common import use_threads
from deepcrib.jobs.console import Bars
from deepcrib.jobs.options import RulesOptions


@dataclass
class Config:
    """The schema of `conf/evaluate.yaml`."""

    task: str = "games"  # full games to 121, or pairs of hands; also as a bare word: deepcrib evaluate pairs
    agent: Any = MISSING  # a name, a checkpoint path or {name: NAME, option: value}
    opponent: Any = "deterministic"  # likewise
    games: int = 10000
    hands: int = 20000  # of the task play: the play alone between random hands of four cards
    pairs: int = 20000  # of the task pairs: in each pair of hands both deal once
    seed: int = 1
    duplicate: bool = False  # games in pairs: the same cards with seats swapped; interval over the pairs
    rules: RulesOptions = field(default_factory=RulesOptions)
    device: str = "cpu"
    threads: int = 1  # that networks work on


def run(config: Config, run: Run) -> Outcome:
    """Measure `agent` against `opponent` in the way that the task names."""
    if config.task not in _TASKS:
        raise OptionError(f"task={config.task}: expected one of {', '.join(_TASKS)}")
    use_threads(config.threads)
    return _TASKS[config.task](config, run)


def _games(config: Config, run: Run) -> Outcome:
    """Play the match and summarise it for `agent`."""
    check_games(config.games, config.duplicate)
    agent, opponent = (make_agent(spec, device=config.device) for spec in (config.agent, config.opponent))
    run.start()
    with Bars(run.show_progress) as bars:
        figures = evaluate(
            agent,
            opponent,
            config.games,
            config.seed,
            duplicate=config.duplicate,
            dealing=config.rules.name,
            progress=bars.counter("games", config.games),
        )
    title = f"{agent.name} against {opponent.name}: {config.games:,} games, seed {config.seed}"
    return Outcome(figures.to_dict(), (points_table("points", figures), match_table(title, figures)))


def _play(config: Config, run: Run) -> Outcome:
    """The play of random hands of four cards (Partida 2022): mean difference of the points pegged."""
    check_hands(config.hands, config.duplicate)
    agent, opponent = (make_agent(spec, device=config.device) for spec in (config.agent, config.opponent))
    run.start()
    with Bars(run.show_progress) as bars:
        figures = play_only(
            *(agent, opponent, config.hands, config.seed),
            duplicate=config.duplicate,
            progress=bars.counter("hands", config.hands),
        )
    title = f"{agent.name} against {opponent.name}, the play alone: {config.hands:,} hands, seed {config.seed}"
    interval = f"{figures.difference:+.3f} [{figures.ci_low:+.3f}, {figures.ci_high:+.3f}]"
    rows = [
        ("difference [95%]", interval),
        ("points", f"{figures.points:.3f}"),
        ("opponent's points", f"{figures.opponent_points:.3f}"),
        *((name, f"{value:+.3f}") for name, value in figures.by_role().items()),
    ]
    return Outcome(figures.to_dict(), (plain_table(title, ("points a hand", ""), rows),))


def _pairs(config: Config, run: Run) -> Outcome:
    """Play pairs of hands, in each of which both deal once (O'Connor 2000)."""
    agent, opponent = (make_agent(spec, device=config.device) for spec in (config.agent, config.opponent))
    if config.pairs < 2:
        raise OptionError(f"pairs={config.pairs}: expected 2 or more pairs of hands")
    run.start()
    with Bars(run.show_progress) as bars:
        counter = bars.counter("pairs of hands", config.pairs)
        figures = hand_pairs(agent, opponent, config.pairs, config.seed, progress=counter)
    title = f"{agent.name} against {opponent.name}: {config.pairs:,} pairs of hands, seed {config.seed}"
    return Outcome(figures.to_dict(), (pairs_table(title, figures),))


_TASKS: dict[str, Callable[[Config, Run], Outcome]] = {"games": _games, "play": _play, "pairs": _pairs}
