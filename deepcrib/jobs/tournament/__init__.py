"""`deepcrib tournament`: matches of several games between agents, or with its checkpoints; the league."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deepcrib.agents import make_agent, name_agents
from deepcrib.analysis.tables import series_table, standings_table
from deepcrib.errors import OptionError
from deepcrib.evaluation.evaluate import check_games
from deepcrib.evaluation.league.tournament import MatchOptions, against_checkpoints, round_robin
from deepcrib.files.trust import require_no_way_out
from deepcrib.jobs import Outcome, Run
from deepcrib.jobs.shared.common import chosen_task, working
from deepcrib.jobs.tournament.config import ALL, Config
from deepcrib.jobs.tournament.league import run_league
from deepcrib.training.run_files import checkpoint_files

GAMES = 100


def run(config: Config, run: Run) -> Outcome:
    """Play the matches that the task names."""
    task = chosen_task(config, _TASKS)
    if config.agents != ALL and not isinstance(config.agents, list):
        raise OptionError(f"agents={config.agents}: expected a list, as agents=[greedy,random]")
    if task is not run_league:
        if run.resuming and not run.folder.overrides:  # in a sweep it is played anew
            raise OptionError(f"resume={config.resume}: only a league can be resumed, not the task {config.task}")
        check_games(_games(config), config.duplicate)
    return task(config, run)


def _games(config: Config) -> int:
    return GAMES if config.games is None else config.games


@contextmanager
def _playing(config: Config, run: Run, matches: int) -> Iterator[MatchOptions]:
    """Play so many matches, with what all of them are played with."""
    with working(run, config.threads) as bars:
        progress = bars.counter("games", matches * _games(config))
        yield MatchOptions(duplicate=config.duplicate, dealing=config.rules.name, progress=progress)


def _title(config: Config, what: str) -> str:
    matches = "a match" if config.matches == 1 else f"{config.matches:,} matches"
    return f"{what}: {matches} of {_games(config):,} games, seed {config.seed}"


def _round_robin(config: Config, run: Run) -> Outcome:
    if config.agents == ALL or len(config.agents) < 2:
        raise OptionError(f"agents={config.agents}: expected two or more agents, as agents=[greedy,random]")
    agents = name_agents([make_agent(spec, device=config.device) for spec in config.agents])
    num_pairings = len(agents) * (len(agents) - 1) // 2
    with _playing(config, run, num_pairings * config.matches) as options:
        found = round_robin(agents, _games(config), config.seed, matches=config.matches, **options)
    pairings = {" - ".join(pair): series for pair, series in found.pairings.items()}
    tables = (
        series_table(_title(config, "every pair"), "pair", pairings),
        standings_table("standings", found.standings),
    )
    return Outcome({"task": config.task, **found.to_dict()}, tables)


def _checkpoints(config: Config, run: Run) -> Outcome:
    if config.run is None:
        raise OptionError("option run is missing: expected run=FOLDER, the run whose checkpoints are to be played")
    require_no_way_out(Path(config.run))
    files = checkpoint_files(Path(config.run))
    agent = make_agent(str(Path(config.run).absolute()) if config.against is None else config.against, config.device)
    checkpoints = {number: make_agent(str(path), config.device) for number, path in files.items()}
    with _playing(config, run, len(checkpoints) * config.matches) as options:
        match = (_games(config), config.matches, config.seed)
        found = against_checkpoints(agent, checkpoints, *match, **options)
    name = "the final agent" if config.against is None else agent.name
    rows = {f"{number:,}": series for number, series in found.items()}
    table = series_table(_title(config, f"{name} against each checkpoint"), "checkpoint", rows)
    summary = {"task": config.task, "run": config.run, "agent": agent.name}
    return Outcome({**summary, "checkpoints": {str(number): s.to_dict() for number, s in found.items()}}, (table,))


_TASKS = {
    "round_robin": (_round_robin, {"agents"}),
    "checkpoints": (_checkpoints, {"run", "against"}),
    "league": (run_league, {"agents", "games_of", "games_per_match", "deals", "deals_of", "hands_of"}),
}
