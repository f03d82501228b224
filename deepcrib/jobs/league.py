"""The task `league` of `deepcrib tournament`: all agents of the package against each other, and the page about it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepcrib.agents import Agent, HasProbabilities, make_agent, name_agents
from deepcrib.analysis.league import (
    Ceilings,
    League,
    league_figure,
    league_of,
    league_tables,
    markdown_page,
    pairings_csv,
    standings_csv,
)
from deepcrib.errors import OptionError
from deepcrib.evaluation.exploit import __file__ as exploit_file
from deepcrib.evaluation.exploit import check_deals, exploit
from deepcrib.evaluation.league import (
    MEMBERS,
    Pairing,
    all_members,
    identity,
    plan_pairings,
    play_pairing,
    reopen,
)
from deepcrib.files import write_atomic
from deepcrib.jobs import Outcome, Run
from deepcrib.jobs.console import Bars
from deepcrib.kernels import PACKAGE, source_hash
from deepcrib.runs import ENVIRONMENT, read_json, write_json

if TYPE_CHECKING:
    from deepcrib.jobs.tournament import Config

ALL = "all"
GAMES = 20_000
FIGURE = "league.png"
CEILINGS = "ceilings.json"


def plan_league(config: Config, run: Run) -> Callable[[Bars], Outcome]:
    """Make the agents and see what is left to play in the run's folder."""
    if config.matches != 1:
        raise OptionError(f"matches={config.matches}: a pairing of a league is one match, expected 1")
    specs = [member.spec for member in all_members()] if config.agents in (ALL, []) else config.agents
    if len(specs) < 2:
        raise OptionError(f"agents={specs}: expected two or more agents, as agents=[greedy,random], or agents=all")
    agents = name_agents([make_agent(spec, device=config.device) for spec in specs])
    named = dict(zip(agents, specs, strict=True))
    games = GAMES if config.games is None else config.games
    planned = plan_pairings(
        named,
        games,
        config.seed,
        limits=_limits(config.games_of or {}, named),
        dealing=config.rules.name,
        device=config.device,
    )
    pairings = [reopen(pairing, run.folder.path) for pairing in planned]
    if config.deals:
        check_deals(config.deals)
    return partial(_play, config, run, agents, named, pairings)


def _limits(games_of: Any, specs: Mapping[str, Any]) -> dict[str, int]:
    """The most games of a pairing by agent: as `games_of` says by its name or its spec's, else as its member has it."""
    if not isinstance(games_of, Mapping):
        raise OptionError(f"games_of={games_of}: expected games by agent, as {{minimax: 2000}}")
    limits: dict[str, int] = {}
    used = set()
    for name, spec in specs.items():
        kind = spec.get("name") if isinstance(spec, Mapping) else spec
        limit = next((member.games for member in MEMBERS if member.spec == spec), None)
        for key in (str(kind), name):
            if key in games_of:
                limit = games_of[key]
                used.add(key)
        if limit is not None:
            if not isinstance(limit, int) or limit < 2 or limit % 2:
                raise OptionError(f"games_of.{name}={limit}: expected an even number of games, 2 or more")
            limits[name] = limit
    for key in games_of:
        if key not in used:
            raise OptionError(f"games_of.{key}: no such agent plays, expected one of {', '.join(specs)}")
    return limits


def _play(
    config: Config,
    run: Run,
    agents: Mapping[str, Agent],
    named: Mapping[str, Any],
    pairings: Sequence[Pairing],
    bars: Bars,
) -> Outcome:
    total = sum(pairing.terms["games"] for pairing in pairings)
    count = bars.counter("games", total)
    count(sum(pairing.sums.games for pairing in pairings))
    for pairing in pairings:
        play_pairing(pairing, agents, run.folder.path, count)
    league, gains = league_of(pairings), ceilings(agents, named, config, run.folder.path, bars)
    _write(run.folder.path, league, pairings, gains, config)
    title = f"{len(agents)} agents, {len(pairings)} pairings, seed {config.seed}"
    run.notes.append(f"tables with intervals, and the figure: league.md, *.csv, {FIGURE} in the run folder")
    faults = [f"{name} in {' - '.join(pair)}: {what}" for pair, (name, what) in league.faults.items()]
    fault = f"agents at fault, their pairings do not count: {'; '.join(faults)}" if faults else None
    summary = {"task": config.task, **league.to_dict(), "pairings": [pairing.to_dict() for pairing in pairings]}
    return Outcome(summary, league_tables(title, league, gains), fault)


def ceilings(
    agents: Mapping[str, Agent], specs: Mapping[str, Any], config: Config, folder: Path, bars: Bars
) -> Ceilings:
    """Points a hand that a best responder gains on each agent that knows its probabilities, by the responder's role.

    What an earlier league in this folder found, by the same terms, is not measured again.
    """
    path, found = folder / CEILINGS, {}
    if not config.deals:
        return {}
    known = read_json(path) if path.exists() else {}
    asked = [name for name, agent in agents.items() if isinstance(agent, HasProbabilities)]
    count = bars.counter("deals", config.deals * len(asked))
    for name in asked:
        terms = {
            "deals": config.deals,
            "seed": config.seed,
            "agent": identity(specs[name]),
            "sources": source_hash(Path(exploit_file).resolve(), PACKAGE),
        }
        if known.get(name, {}).get("terms") != terms:
            roles = exploit(agents[name], config.deals, config.seed, progress=count).roles
            known[name] = {"terms": terms, "roles": {r: (g.gain, g.ci_low, g.ci_high) for r, g in roles.items()}}
            write_json(path, known)
        else:
            count(config.deals)
        found[name] = {role: tuple(gain) for role, gain in known[name]["roles"].items()}
    return found


def _write(folder: Path, league: League, pairings: Sequence[Pairing], gains: Ceilings, config: Config) -> None:
    figure = league_figure(league)
    if figure is not None:
        from io import BytesIO

        image = BytesIO()
        figure.savefig(image, format="png", dpi=110)
        write_atomic(folder / FIGURE, image.getvalue())
    page = markdown_page(league, _intro(folder, pairings, config), FIGURE if figure else None, gains)
    write_atomic(folder / "league.md", page)
    write_atomic(folder / "league.csv", standings_csv(league, gains))
    write_atomic(folder / "pairings.csv", pairings_csv(pairings))


def _word(value: Any) -> str:
    """A value as the command line takes it."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_word(item)}" for key, item in value.items()) + "}"
    return "[" + ", ".join(map(_word, value)) + "]" if isinstance(value, list) else str(value)


def _intro(folder: Path, pairings: Sequence[Pairing], config: Config) -> str:
    """How the page came about."""
    found = read_json(folder / ENVIRONMENT)
    given = {"agents": config.agents, "games": config.games, "games_of": config.games_of, "deals": config.deals or None}
    given["seed"] = config.seed
    options = [f"{name}={_word(value)}" for name, value in given.items() if value not in (None, [], {})]
    command = shlex.join(["deepcrib", "tournament", config.task, *options, f"rules={config.rules.name}"])
    changed = f" with {found['changed_files']} changed files" if found.get("changed_files") else ""
    machine = found.get("machine", {})
    counts = sorted({pairing.terms["games"] for pairing in pairings})
    games = " or ".join(f"{count:,}" for count in counts)
    seconds = sum(pairing.seconds for pairing in pairings)
    return (
        "Every agent against every other one, full games to 121 on duplicate deals: each pair of games has the same"
        f" cards with seats swapped. {games} games a pairing, seed {config.seed}, dealing `{config.rules.name}`."
        f" Written by\n\n```sh\n{command} hydra.run.dir=outputs/league\n```\n\n(`league.md` and `{FIGURE}` in the run"
        f" folder), at commit `{str(found.get('commit'))[:7]}`{changed}, on {machine.get('cores')} cores of"
        f" {machine.get('processor')}; {seconds / 60:.1f} minutes of play."
    )
