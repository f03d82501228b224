"""`deepcrib evaluate`: what one agent does against another."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from deepcrib.agents import Agent, make_agent
from deepcrib.analysis.tables import match_table, points_table
from deepcrib.errors import OptionError
from deepcrib.evaluation.evaluate import Evaluation, check_games, evaluate
from deepcrib.evaluation.sequential import StoppingRule, check_pairs, evaluate_until
from deepcrib.jobs import Outcome, Run
from deepcrib.jobs.evaluate.config import GAMES, Config
from deepcrib.jobs.shared.common import check_task, working

_READS: dict[str, set[str]] = {
    GAMES: {"games", "exploit", "deals", "duplicate", "until", "difference", "alpha"},
    "play": {"hands", "duplicate"},
    "pairs": {"pairs"},
    "audit": {"hands", "worst"},
}
"""By task, options that not every task reads."""


def run(config: Config, run: Run) -> Outcome:
    """Measure `agent` against `opponent` in the way that the task names."""
    check_task(config, _READS)
    if config.deals != Config.deals and not config.exploit:
        raise OptionError(f"deals={config.deals}: only for exploit=true and exploit=play")
    agent, opponent = (make_agent(spec, device=config.device) for spec in (config.agent, config.opponent))
    task = _games if config.task == GAMES else _other_tasks().TASKS[config.task]
    outcome: Outcome = task(config, run, agent, opponent)
    return outcome


def _other_tasks() -> ModuleType:
    """Of best responders and the like, whose imports a match of full games does not wait for."""
    return import_module("deepcrib.jobs.evaluate.tasks")


def _games(config: Config, run: Run, agent: Agent, opponent: Agent) -> Outcome:
    """Play the match, or play until it is decided, and summarise it for `agent`."""
    check_games(config.games, config.duplicate)
    rule = _rule(config)
    if config.exploit:
        _other_tasks().check_exploit(config, agent)
    match = (agent, opponent, config.games, config.seed)
    with working(run, config.threads) as bars:
        counter = bars.counter("games" if rule is None else "games, at most", config.games)
        options: dict[str, Any] = {"duplicate": config.duplicate, "dealing": config.rules.name, "progress": counter}
        if rule is None:
            evaluation = evaluate(*match, **options)
            outcome = _outcome(config, agent, opponent, evaluation)
        else:
            found = evaluate_until(*match, rule, **options)
            run.notes.append(found.sentence())
            outcome = _outcome(config, agent, opponent, found.evaluation, f"{100 * (1 - rule.alpha):g}%, always valid")
            outcome.summary = found.to_dict()
    if config.exploit:
        outcome = _other_tasks().with_exploit(config, run, agent, outcome)
    return outcome


def _outcome(
    config: Config, agent: Agent, opponent: Agent, evaluation: Evaluation, interval: str | None = None
) -> Outcome:
    title = f"{agent.name} against {opponent.name}: {evaluation.games:,} games, seed {config.seed}"
    return Outcome(evaluation.to_dict(), (points_table("points", evaluation), match_table(title, evaluation, interval)))


def _rule(config: Config) -> StoppingRule | None:
    """When the match may stop; options of the rule are refused where there is none."""
    if config.until is not None:
        check_pairs(config.games)
        return StoppingRule(config.difference, config.alpha)
    for name in ("difference", "alpha"):
        if getattr(config, name) != getattr(StoppingRule, name):
            raise OptionError(f"{name}={getattr(config, name)}: only with until=significant")
    return None
