"""`deepcrib analyse`: a hand's discards, strategy graphs, Lang 2018's figures, people's discards, experts' leads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from deepcrib.agents import Agent, make_agent
from deepcrib.analysis.strategy_graphs import difference_sheet, evolution, pick_evenly, role_sheet, save_png
from deepcrib.analysis.tables import percent, plain_table
from deepcrib.analysis.thesis import (
    FIGURES,
    NUMBERS,
    Matches,
    Runs,
    ThesisFigure,
    WeightedRun,
    belongs,
)
from deepcrib.errors import OptionError, RunError
from deepcrib.evaluation.evaluate import ROLES
from deepcrib.evaluation.studies.humans import BY, TOP, Agreement, HumanChoices, agreements, choices_of, read_choices
from deepcrib.exact.strategies.names import THESIS_STRATEGIES
from deepcrib.files.weights import WEIGHTS_FILE
from deepcrib.jobs import Outcome, Run
from deepcrib.jobs.analyse.config import Config, Plan
from deepcrib.jobs.analyse.expert_rules import plan_experts
from deepcrib.jobs.analyse.hand import plan_hand
from deepcrib.jobs.shared.common import check_task, chosen_agents, need_matplotlib, use_threads
from deepcrib.jobs.shared.console import Bars
from deepcrib.learners.weighted.agent import WeightedAgent, load_weighted
from deepcrib.records import find_files, read_games
from deepcrib.training.checkpointing import CHECKPOINTS, checkpoint_files

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def run(config: Config, run: Run) -> Outcome:
    """Do what the task names."""
    check_task(config, {task: reads for task, (_, reads) in _TASKS.items()})
    plan = _TASKS[config.task][0](config)
    use_threads(config.threads)
    run.start()
    with Bars(run.show_progress) as bars:
        return plan(run, bars)


def _need(config: Config, option: str, what: str) -> Path:
    value = getattr(config, option)
    if value is None:
        raise OptionError(f"option {option} is missing: expected {option}={what}")
    return Path(value)


def _weighted_run(path: Path) -> WeightedRun:
    """A run folder, or a checkpoint alone. Raises RunError where it holds no weights."""
    if path.is_file():
        return WeightedRun(path.stem, path, {}, load_weighted)
    weights = path / WEIGHTS_FILE
    if not weights.is_file():
        raise RunError(f"run={path}: expected a checkpoint, or the folder of a finished run with {WEIGHTS_FILE}")
    checkpoints = checkpoint_files(path) if (path / CHECKPOINTS).is_dir() else {}
    return WeightedRun(path.name, weights, checkpoints, load_weighted)


def _text_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A table of words: left-aligned and folded where too long, but for the first column."""
    table = plain_table(title, columns, rows)
    for number, column in enumerate(table.columns):
        column.justify, column.no_wrap = "left", number == 0
    return table


# --- strategies ---------------------------------------------------------------------------------------------


def _plan_strategies(config: Config) -> Plan:
    need_matplotlib()
    weighted = _weighted_run(_need(config, "run", "PATH, a run folder of learner=weighted or one of its checkpoints"))
    agent = weighted.final()
    if config.strategy is not None and config.strategy not in agent.strategies:
        raise OptionError(f"strategy={config.strategy}: expected one of {', '.join(agent.strategies)}")
    evolving = list(agent.strategies) if config.strategy is None else [config.strategy]
    return partial(_draw_strategies, weighted, agent, evolving if weighted.checkpoints else [])


def _draw_strategies(
    weighted: WeightedRun, agent: WeightedAgent, evolving: Sequence[str], run: Run, bars: Bars
) -> Outcome:
    """Sheets by role, their difference, and the evolution of some strategies."""
    weights, names = agent.weights, agent.strategies
    jobs: dict[str, tuple[str, Callable[[str], Figure]]] = {
        role: (f"{weighted.name}: weights as the {role}", partial(role_sheet, weights, names, role)) for role in ROLES
    }
    jobs["difference"] = (
        f"{weighted.name}: weights as the pone minus as the dealer",
        partial(difference_sheet, weights, names),
    )
    by_games = {games: weighted.at(games).weights for games in pick_evenly(sorted(weighted.checkpoints)) if evolving}
    for strategy in evolving:
        for role in ROLES:
            title = f"{weighted.name}: {strategy} as the {role} during training"
            jobs[f"evolution_{strategy}_{role}"] = (title, partial(evolution, by_games, names, strategy, role))
    rows = []
    for number, (name, (title, draw)) in enumerate(jobs.items()):
        bars.show("figures", number, len(jobs))
        save_png(draw(title), run.folder.path / f"{name}.png")
        rows.append((f"{name}.png", title))
    summary = {"task": "strategies", "run": str(weighted.final_path), "files": [file for file, _ in rows]}
    return Outcome(summary, (_text_table("strategy graphs", ("file", "what it shows"), rows),))


# --- the thesis ---------------------------------------------------------------------------------------------


def _plan_thesis(config: Config) -> Plan:
    need_matplotlib()
    folder = _need(config, "runs", "FOLDER, which holds weighted runs by name such as round_1")
    for number in config.figures:
        if number not in NUMBERS:
            raise OptionError(f"figures={number}: expected some of {NUMBERS[0]} to {NUMBERS[-1]}")
    chosen = [figure for figure in FIGURES if figure.number in (config.figures or NUMBERS)]
    return partial(_draw_thesis, config, chosen, _named_runs(folder))


def _named_runs(folder: Path) -> Runs:
    """The runs in a folder whose names have a place in the figures; each one's weights are tried."""
    if not folder.is_dir():
        raise RunError(f"runs={folder}: expected a folder of run folders")
    names = [path.name for path in sorted(folder.iterdir()) if belongs(path.name) and (path / WEIGHTS_FILE).is_file()]
    if not names:
        needs = dict.fromkeys(need for figure in FIGURES for need in figure.needs)
        raise RunError(f"runs={folder}: expected finished runs in folders by some of the names {', '.join(needs)}")
    found = {name: _weighted_run(folder / name) for name in names}
    for name, weighted in found.items():
        lacking = [strategy for strategy in THESIS_STRATEGIES if strategy not in weighted.final().strategies]
        if lacking:
            raise RunError(f"run {name} has no weights of {', '.join(lacking)}: expected the thesis's eight strategies")
    return found


def _draw_thesis(config: Config, chosen: Sequence[ThesisFigure], runs: Runs, run: Run, bars: Bars) -> Outcome:
    matches = Matches(
        partial(make_agent, {"name": "weighted", "initial": "random", "seed": config.seed}),
        config.matches,
        config.games_scale,
        config.seed,
        partial(bars.counter, "games"),
    )
    figures: dict[str, Any] = {}
    rows = []
    for place, figure in enumerate(chosen):
        bars.show("figures", place, len(chosen))
        drawn = _draw_one(figure, runs, matches, run.folder.path)
        figures[str(figure.number)] = drawn
        rows.append((str(figure.number), figure.shows, _account(drawn)))
    drawn_count = sum(drawn["file"] is not None for drawn in figures.values())
    title = f"{drawn_count} of {len(chosen)} figures of the thesis, from the {len(runs)} runs of {config.runs}"
    return Outcome(
        {"task": "thesis", "figures": figures}, (_text_table(title, ("figure", "what it shows", "file"), rows),)
    )


def _draw_one(figure: ThesisFigure, runs: Runs, matches: Matches, folder: Path) -> dict[str, Any]:
    missing = figure.missing(list(runs))
    account: dict[str, Any] = {
        "shows": figure.shows,
        "file": None,
        "runs": figure.found(list(runs)),
        "missing": missing,
    }
    if not account["runs"]:
        return account
    drawn = figure.draw(runs, matches)
    account["file"] = f"figure_{figure.number:02d}.png"
    save_png(drawn.figure, folder / account["file"])
    if drawn.panels:
        account["panels"] = [panel.to_dict() for panel in drawn.panels]
    return account


def _account(drawn: dict[str, Any]) -> str:
    missing = ", ".join(drawn["missing"])
    if drawn["file"] is None:
        return f"no run {missing}"
    return f"{drawn['file']} (no run {missing})" if missing else str(drawn["file"])


# --- people -------------------------------------------------------------------------------------------------


_HUMANS_AGENTS = (*THESIS_STRATEGIES, "random_weights")
"""Those of Lang 2018, table 4, but for the trained weights."""


def _plan_humans(config: Config) -> Plan:
    path = _need(config, "choices", "FILE, a CSV file of people's choices (docs/human_choices.md) or recorded games")
    if config.by not in BY:
        raise OptionError(f"by={config.by}: expected {' or '.join(BY)}")
    agents = chosen_agents(config.agents, _HUMANS_AGENTS, config.device)
    return partial(_compare, config, _read_choices(path), agents)


def _read_choices(path: Path) -> HumanChoices:
    """From a CSV file, or from a file or folder of recorded games."""
    if path.suffix == ".jsonl" or path.is_dir():
        return choices_of(record for file in find_files([path]) for record in read_games(file))
    return read_choices(path)


def _compare(config: Config, choices: HumanChoices, agents: dict[str, Agent], run: Run, bars: Bars) -> Outcome:
    found = agreements(agents, choices, by=config.by, seed=config.seed)
    summary = {"task": "humans", "records": len(choices), "by": config.by}
    return Outcome(
        {**summary, "agents": {name: result.to_dict() for name, result in found.items()}},
        (_humans_table(f"people's choices compared by {config.by}, records: {len(choices):,}", found),),
    )


def _humans_table(title: str, found: dict[str, Agreement]) -> Table:
    """Table 4 with intervals, in its order: the fewest within the last place first."""
    rows = [
        (name, *(f"{count:,}" for count in result.counts), percent(*result.shares[-1]))
        for name, result in found.items()
    ]
    columns = ("agent", *(f"top {place}" for place in TOP), f"share in top {TOP[-1]} [95%]")
    return plain_table(title, columns, rows)


_TASKS: dict[str, tuple[Callable[[Config], Plan], tuple[str, ...]]] = {
    "hand": (plan_hand, ("hand", "dealer", "score", "agents")),
    "strategies": (_plan_strategies, ("run", "strategy")),
    "thesis": (_plan_thesis, ("runs", "figures", "matches", "games_scale")),
    "humans": (_plan_humans, ("choices", "agents", "by")),
    "experts": (plan_experts, ("agents", "hands", "discards", "deals", "to", "best_response_hands")),
}
"""Each task with the options that it reads and not all others do."""
