"""`deepcrib evaluate`: what one agent does against another."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from deepcrib.agents import Agent, make_agent
from deepcrib.analysis.tables import match_table, points_table
from deepcrib.errors import OptionError
from deepcrib.evaluation.evaluate import check_games, evaluate
from deepcrib.evaluation.sequential import StoppingRule, check_pairs, evaluate_until
from deepcrib.jobs import Outcome, Run
from deepcrib.jobs.evaluate.config import GAMES, Config
from deepcrib.jobs.shared.common import use_threads
from deepcrib.jobs.shared.console import Bars


def run(config: Config, run: Run) -> Outcome:
    """Measure `agent` against `opponent` in the way that the task names."""
    if config.task not in _READ:
        raise OptionError(f"task={config.task}: expected one of {', '.join(_READ)}")
    _refuse_unread(config)
    agent, opponent = (make_agent(spec, device=config.device) for spec in (config.agent, config.opponent))
    use_threads(config.threads)
    task = _games if config.task == GAMES else _other_tasks().TASKS[config.task]
    return task(config, run, agent, opponent)


def _other_tasks() -> ModuleType:
    """Of best responders and the like, whose imports a match of full games does not wait for."""
    return import_module("deepcrib.jobs.evaluate.tasks")


def _refuse_unread(config: Config) -> None:
    """Refuse options that the task, or the match without exploit, does not read."""
    default = Config()
    read = _READ[config.task]
    if not config.exploit:
        read = read - {"deals"}
    for name in sorted(set().union(*_READ.values()) - read):
        value = getattr(config, name)
        if value != getattr(default, name):
            readers = [task for task, names in _READ.items() if name in names]
            where = "exploit=true" if name == "deals" else f"the task {' or '.join(readers)}"
            raise OptionError(f"{name}={value}: only for {where}")


def _games(config: Config, run: Run, agent: Agent, opponent: Agent) -> Outcome:
    """Play the match and summarise it for `agent`."""
    check_games(config.games, config.duplicate)
    rule = _rule(config)
    if config.exploit:
        _other_tasks().check_exploit(config, agent)
    run.start()
    if rule is not None:
        return _until(config, run, rule, agent, opponent)
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
    title = _title(config, agent, opponent, config.games)
    outcome = Outcome(figures.to_dict(), (points_table("points", figures), match_table(title, figures)))
    return _with_exploit(config, run, agent, outcome)


def _with_exploit(config: Config, run: Run, agent: Agent, outcome: Outcome) -> Outcome:
    found: Outcome = _other_tasks().with_exploit(config, run, agent, outcome) if config.exploit else outcome
    return found


def _title(config: Config, agent: Agent, opponent: Agent, games: int) -> str:
    return f"{agent.name} against {opponent.name}: {games:,} games, seed {config.seed}"


def _rule(config: Config) -> StoppingRule | None:
    """When the match may stop; options that the rule does not read are refused."""
    unread = {None: ("difference", "alpha", "beta"), "significant": ("beta",)}.get(config.until, ())
    for name in unread:
        if getattr(config, name) != getattr(StoppingRule, name):
            expected = "until=sprt" if name == "beta" else "until=significant or until=sprt"
            raise OptionError(f"{name}={getattr(config, name)}: only with {expected}")
    if config.until is None:
        return None
    rule = StoppingRule(config.until, config.difference, config.alpha, config.beta)
    check_pairs(config.games, rule)
    return rule


def _until(config: Config, run: Run, rule: StoppingRule, agent: Agent, opponent: Agent) -> Outcome:
    """Play until the rule has decided, and summarise that."""
    with Bars(run.show_progress) as bars:
        found = evaluate_until(
            agent,
            opponent,
            config.games,
            config.seed,
            rule,
            duplicate=config.duplicate,
            dealing=config.rules.name,
            progress=bars.counter("games, at most", config.games),
        )
    run.notes.append(found.sentence())
    unit = f"{100 * (1 - rule.alpha):g}%, always valid"
    table = match_table(_title(config, agent, opponent, found.figures.games), found.figures, unit)
    outcome = Outcome(found.to_dict(), (points_table("points", found.figures), table))
    return _with_exploit(config, run, agent, outcome)


_MATCH = {"games", "exploit", "deals", "duplicate", "until", "difference", "alpha", "beta"}
_READ: dict[str, set[str]] = {
    GAMES: _MATCH,
    "play": {"hands", "duplicate"},
    "pairs": {"pairs"},
    "audit": {"hands", "worst"},
}
"""By task, options that not every task reads."""
