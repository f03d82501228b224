"""The task `league` of `deepcrib tournament`: all agents of the package against each other, and the page about it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from deepcrib.agents import Agent, make_agent, name_agents
from deepcrib.agents.asking import knows_probabilities
from deepcrib.agents.base import play_policy_of
from deepcrib.analysis.figures import save_png
from deepcrib.analysis.league import (
    Ceiling,
    Ceilings,
    league_figure,
    league_of,
    league_tables,
    pairings_csv,
    standings_csv,
)
from deepcrib.errors import OptionError, RunError
from deepcrib.evaluation.exploit import __file__ as exploit_file
from deepcrib.evaluation.exploit import check_deals, exploit
from deepcrib.evaluation.league.league import (
    MEMBERS,
    all_members,
    file_name,
    identity,
    plan_pairings,
    play_pairing,
    reopen,
)
from deepcrib.files import write_atomic
from deepcrib.files.runs import read_json, write_json
from deepcrib.jobs import Outcome, Run
from deepcrib.jobs.shared.common import working
from deepcrib.jobs.shared.console import Bars
from deepcrib.jobs.tournament.config import ALL, Config
from deepcrib.kernels.sources import source_hash

GAMES = 20_000
ASKED_DEALS = 40
"""At most so many deals for the gain on an agent that has to be asked for every play: half a second each, or more."""
FIGURE = "league.png"
CEILINGS, RESPONSES = "ceilings.json", "responses"


def run_league(config: Config, run: Run) -> Outcome:
    """Play what is left of the league in the run's folder."""
    if config.matches != 1:
        raise OptionError(f"matches={config.matches}: a pairing of a league is one match, expected 1")
    specs = all_members() if config.agents in (ALL, []) else config.agents
    agents = name_agents([make_agent(spec, device=config.device) for spec in specs])
    named, folder = dict(zip(agents, specs, strict=True)), run.folder.path
    known = {name: MEMBERS.get(spec) for name, spec in named.items() if isinstance(spec, str)}
    most = {name: games for name, games in known.items() if games}
    pairings = plan_pairings(
        named,
        GAMES if config.games is None else config.games,
        config.seed,
        limits=most | _limits("games_of", config.games_of or {}, named, 2, "games"),
        dealing=config.rules.name,
        games_per_match=config.games_per_match,
        device=config.device,
    )
    pairings = [reopen(pairing, folder) for pairing in pairings]
    plan = _ceiling_terms(config, agents, named)
    with working(run, config.threads) as bars:
        count = bars.counter("games", sum(pairing.terms["games"] for pairing in pairings))
        count(sum(pairing.sums.games for pairing in pairings))
        for pairing in pairings:
            play_pairing(pairing, agents, folder, count)
        gains = ceilings(agents, named, plan, folder, bars)
    league = league_of(pairings)
    if (figure := league_figure(league)) is not None:
        save_png(figure, folder / FIGURE, dpi=110)
    write_atomic(folder / "league.csv", standings_csv(league, gains))
    write_atomic(folder / "pairings.csv", pairings_csv(pairings))
    title = f"{len(agents)} agents, {len(pairings)} pairings, seed {config.seed}"
    run.notes.append(f"tables with intervals, and the figure: *.csv, {FIGURE} in the run folder")
    summary = {"task": config.task, **league.to_dict(), "pairings": [pairing.to_dict() for pairing in pairings]}
    return Outcome(summary, league_tables(title, league, gains))


def _limits(option: str, given: Any, specs: Mapping[str, Any], least: int, unit: str) -> dict[str, int]:
    """The numbers of an option {agent: number}, by agents' names; an agent's key is its name or that of its spec."""
    if not isinstance(given, Mapping):
        raise OptionError(f"{option}={given}: expected {unit} by agent, as {{minimax: 2000}}")
    kinds = {name: str(spec.get("name") if isinstance(spec, Mapping) else spec) for name, spec in specs.items()}
    for key, limit in given.items():
        if key not in kinds and key not in kinds.values():
            raise OptionError(f"{option}.{key}: no such agent plays, expected one of {', '.join(specs)}")
        if not isinstance(limit, int) or limit < least or limit % 2:
            raise OptionError(f"{option}.{key}={limit}: expected an even number of {unit}, {least} or more")
    return {name: given.get(name, given.get(kind)) for name, kind in kinds.items() if name in given or kind in given}


def _ceiling_terms(config: Config, agents: Mapping[str, Agent], specs: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What the gain on each agent is to be measured with; where it has `hands`, networks learn from so many."""
    limits, plan = _limits("deals_of", config.deals_of or {}, specs, 4, "deals"), dict[str, dict[str, Any]]()
    if config.deals:
        check_deals(config.deals)
        sources = source_hash(Path(exploit_file).resolve())
        for name, agent in agents.items():
            if knows_probabilities(agent):  # which can be answered
                most = limits.get(name, config.deals if play_policy_of(agent) is not None else ASKED_DEALS)
                plan[name] = {"deals": min(config.deals, most), "sources": sources}
    if config.hands_of is not None:
        from deepcrib.jobs import learned_response as learned

        sources = source_hash(Path(learned.__file__).resolve())
        own = {"deals": learned.DEALS, "device": config.device, "sources": sources}
        hands = _limits("hands_of", config.hands_of, specs, learned.LEAST_HANDS, "hands")
        plan |= {name: {"hands": number, **own} for name, number in hands.items()}
    return {name: {**own, "seed": config.seed, "agent": identity(specs[name])} for name, own in plan.items()}


def ceilings(
    agents: Mapping[str, Agent], specs: Mapping[str, Any], plan: Mapping[str, dict[str, Any]], folder: Path, bars: Bars
) -> Ceilings:
    """Points a hand that a responder gains on each agent of the plan, by the responder's role and in both.

    What an earlier league in this folder found, by the same terms, is not measured again.
    """
    path = folder / CEILINGS
    if not plan:
        return {}
    try:
        known = msgspec.convert(read_json(path), dict[str, Ceiling])
    except msgspec.ValidationError:
        raise RunError(f"{path} is damaged: remove it, and its gains are measured again") from None
    count = bars.counter("deals", sum(terms["deals"] for terms in plan.values()))
    for name, terms in plan.items():
        if name in known and known[name].terms == terms:
            count(terms["deals"])
            continue
        if "hands" in terms:
            from deepcrib.jobs.learned_response import learned_response, make_responder

            learner = make_responder(specs[name], terms["hands"], terms["seed"], terms["device"])
            place = folder / RESPONSES / file_name(name)
            measured = learned_response(learner, agents[name], terms["deals"], place, bars)
            count(terms["deals"])
        else:
            measured = exploit(agents[name], terms["deals"], terms["seed"], progress=count)
        roles = {"both": measured.total, **measured.roles}
        known[name] = Ceiling(terms, {r: (g.gain, g.ci_low, g.ci_high) for r, g in roles.items()})
        write_json(path, msgspec.to_builtins(known))
    return {name: known[name] for name in plan}
