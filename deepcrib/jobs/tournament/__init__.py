"""`deepcrib tournament`: matches of several games between agents, or with its checkpoints; the league."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from deepcrib.agents import Agent, make_agent, name_agents
from deepcrib.analysis.tables import bracket_table, series_table, standings_table
from deepcrib.errors import OptionError
from deepcrib.evaluation.evaluate import check_games
from deepcrib.evaluation.league.tournament import (
    Bracket,
    MatchOptions,
    MatchScore,
    against_checkpoints,
    play_acc_match,
    round_robin,
    winners_and_losers,
)
from deepcrib.jobs import Outcome, Run
from deepcrib.jobs.shared.common import use_threads
from deepcrib.jobs.shared.console import Bars
from deepcrib.jobs.tournament.config import Config
from deepcrib.jobs.tournament.league import ALL, plan_league
from deepcrib.training.checkpointing import checkpoint_files

Plan = Callable[[Bars], Outcome]
"""A task whose agents have been made: plays its matches."""
GAMES = 100
LEAGUE = "league"


def run(config: Config, run: Run) -> Outcome:
    """Play the matches that the task names."""
    if config.task not in (*_PLANS, LEAGUE):
        raise OptionError(f"task={config.task}: expected one of {', '.join((*_PLANS, LEAGUE))}")
    if config.agents != ALL and not isinstance(config.agents, list):
        raise OptionError(f"agents={config.agents}: expected a list, as agents=[greedy,random]")
    for name in ("run", "against"):
        value = getattr(config, name)
        if value is not None and config.task != "checkpoints":
            raise OptionError(f"{name}={value}: only for the task checkpoints, {config.task} takes agents=[A,B]")
    plan = plan_league(config, run) if config.task == LEAGUE else _plan(config, run)
    use_threads(config.threads)
    run.start()
    with Bars(run.show_progress) as bars:
        return plan(bars)


def _plan(config: Config, run: Run) -> Plan:
    """A task that is no league."""
    if run.resuming:
        raise OptionError(f"resume={config.resume}: only a league can be resumed, not the task {config.task}")
    for name in ("deals", "deals_of"):
        if getattr(config, name):
            raise OptionError(f"{name}={getattr(config, name)}: only for the task {LEAGUE}")
    if config.games_of:
        raise OptionError(f"games_of={config.games_of}: only for the task {LEAGUE}, {config.task} takes games=NUMBER")
    check_games(_games(config), config.duplicate)
    return _PLANS[config.task](config)


def _games(config: Config) -> int:
    return GAMES if config.games is None else config.games


def _options(config: Config, bars: Bars, matches: int) -> MatchOptions:
    progress = bars.counter("games", matches * _games(config))
    return MatchOptions(duplicate=config.duplicate, dealing=config.rules.name, progress=progress)


def _title(config: Config, what: str) -> str:
    matches = "a match" if config.matches == 1 else f"{config.matches:,} matches"
    return f"{what}: {matches} of {_games(config):,} games, seed {config.seed}"


# --- among agents -------------------------------------------------------------------------------------------


def _entrants(config: Config) -> dict[str, Agent]:
    if config.agents == ALL or len(config.agents) < 2:
        raise OptionError(f"agents={config.agents}: expected two or more agents, as agents=[greedy,random]")
    return name_agents([make_agent(spec, device=config.device) for spec in config.agents])


def _plan_round_robin(config: Config) -> Plan:
    return partial(_play_round_robin, config, _entrants(config))


def _play_round_robin(config: Config, agents: Mapping[str, Agent], bars: Bars) -> Outcome:
    num_pairings = len(agents) * (len(agents) - 1) // 2
    options = _options(config, bars, num_pairings * config.matches)
    found = round_robin(agents, _games(config), config.seed, matches=config.matches, **options)
    pairings = {" - ".join(pair): series for pair, series in found.pairings.items()}
    tables = (
        series_table(_title(config, "every pair"), "pair", pairings),
        standings_table("standings", found.standings),
    )
    return Outcome({"task": config.task, **found.to_dict()}, tables)


def _plan_bracket(config: Config) -> Plan:
    if config.matches != 1:
        raise OptionError(f"matches={config.matches}: a contest of a bracket is one match, expected 1")
    return partial(_play_bracket, config, _entrants(config))


def _play_bracket(config: Config, agents: Mapping[str, Agent], bars: Bars) -> Outcome:
    num_contests = len(agents) - 1 + max(0, len(agents) // 2 - 1)
    options = _options(config, bars, num_contests)

    def contest(first: str, second: str, seed: int) -> tuple[int, MatchScore]:
        score = play_acc_match(agents[first], agents[second], _games(config), seed, **options)
        return score.winner, score

    winners, losers = winners_and_losers(list(agents), contest, config.seed)
    brackets = {"winners": winners, "losers": losers}
    tables = [
        bracket_table(_title(config, f"{name}' bracket, won by {bracket.champion}"), bracket)
        for name, bracket in reversed(brackets.items())
        if bracket.rounds
    ]
    return Outcome({"task": config.task, **{name: _plain(bracket) for name, bracket in brackets.items()}}, tables)


def _plain(bracket: Bracket[str, MatchScore]) -> dict[str, Any]:
    rounds = [[asdict(pairing) for pairing in played.pairings] for played in bracket.rounds]
    return {"champion": bracket.champion, "rounds": rounds}


# --- against checkpoints ------------------------------------------------------------------------------------


def _plan_checkpoints(config: Config) -> Plan:
    if config.run is None:
        raise OptionError("option run is missing: expected run=FOLDER, the run whose checkpoints are to be played")
    if config.agents:
        raise OptionError(f"agents={config.agents}: the task checkpoints takes run=FOLDER and against=AGENT")
    files = checkpoint_files(Path(config.run))
    agent = make_agent(str(Path(config.run).absolute()) if config.against is None else config.against, config.device)
    checkpoints = {number: make_agent(str(path), config.device) for number, path in files.items()}
    return partial(_play_checkpoints, config, agent, checkpoints)


def _play_checkpoints(config: Config, agent: Agent, checkpoints: Mapping[int, Agent], bars: Bars) -> Outcome:
    options = _options(config, bars, len(checkpoints) * config.matches)
    found = against_checkpoints(agent, checkpoints, _games(config), config.matches, config.seed, **options)
    name = "the final agent" if config.against is None else agent.name
    table = series_table(
        _title(config, f"{name} against each checkpoint"),
        "checkpoint",
        {f"{number:,}": series for number, series in found.items()},
    )
    summary = {"task": config.task, "run": config.run, "agent": agent.name}
    return Outcome({**summary, "checkpoints": {str(number): s.to_dict() for number, s in found.items()}}, (table,))


_PLANS: dict[str, Callable[[Config], Plan]] = {
    "round_robin": _plan_round_robin,
    "bracket": _plan_bracket,
    "checkpoints": _plan_checkpoints,
}
