"""`deepcrib train`: a learner trains an agent, which then meets fixed opponents."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from deepcrib.agents import Agent, make_agent, name_agents
from deepcrib.agents.q_network import QNetworkAgent
from deepcrib.analysis.tables import hands_table, win_rates_table
from deepcrib.evaluation.evaluate import Evaluation, evaluate
from deepcrib.evaluation.hands import HandsWon, hands_won
from deepcrib.game.randomness import FINAL_MATCHES, derive
from deepcrib.jobs import Outcome, Run
from deepcrib.jobs.hydra.variants import unread
from deepcrib.jobs.shared.common import summary_writer, use_threads
from deepcrib.jobs.shared.console import Bars
from deepcrib.jobs.train.config import Config
from deepcrib.jobs.train.learners import TRAINERS
from deepcrib.jobs.train.learners.common import Match
from deepcrib.jobs.train.monitoring import final_figures, layout, write_options
from deepcrib.training.checkpointing import STATE_FILE, evaluation_seed


def run(config: Config, run: Run) -> Outcome:
    """Train, or go on training, and measure the final agent against every opponent."""
    use_threads(config.threads)
    trainer = TRAINERS[config.learner.name]
    opponents = _opponents(config)
    saved = _saved_state(run)
    done = trainer.prepare(config, saved)  # what cannot be trained is refused before the folder is touched
    run.start()
    folder, options = run.folder.path, _read_options(config)
    write_options(folder, options)
    with closing(summary_writer(folder, _purge_step(run, None if saved is None else done))) as writer:
        writer.add_custom_scalars(layout(config, opponents))
        trained = trainer.train(config, run, _match(config), writer, resume=saved is not None)
    agent = trained.agent
    matches = {} if agent is None else _final_matches(config, run, agent, opponents)
    explored = _exploring_matches(config, run, trained.exploring, opponents)
    hands = {} if agent is None else _final_hands(config, agent, opponents)
    write_options(folder, options, final_figures(matches, trained.summary, trained.seconds), trained.steps)
    epsilon = None if trained.exploring is None else trained.exploring.epsilon
    summary = {
        name: figures.to_dict()
        | ({"hands_won": hands[name].to_dict()} if name in hands else {})
        | ({"exploring": explored[name].to_dict() | {"epsilon": epsilon}} if name in explored else {})
        for name, figures in matches.items()
    }
    summary |= trained.summary
    tables = [*trained.tables]
    if matches or not tables:
        rows = matches | {f"{name}, agent explores": found for name, found in explored.items()}
        tables.append(win_rates_table(f"trained agent ({trained.account})", rows))
    if hands:
        tables.insert(0, hands_table("hands won on play points", hands))
    return Outcome(summary, tables)


def _opponents(config: Config) -> dict[str, Agent]:
    return name_agents([make_agent(spec, device=config.device) for spec in config.evaluation.opponents])


def _saved_state(run: Run) -> Path | None:
    """The training state that a resumed run goes on from; None when there is none and it starts from 0."""
    path: Path = run.folder.path / STATE_FILE
    return path if run.resuming and path.exists() else None


def _purge_step(run: Run, done: int | None) -> int | None:
    """The first step whose events the killed process may have written beyond the saved state."""
    if not run.resuming:
        return None
    return 0 if done is None else done + 1


def _match(config: Config) -> Match:
    def match(agent: Agent, opponent: Any, games: int, seed: int) -> Evaluation:
        return evaluate(agent, opponent, games, seed, dealing=config.rules.name, device=config.device)

    return match


def _read_options(config: Config) -> dict[str, Any]:
    """The options without the groups that this run's learner does not read."""
    left_out = set(unread(Config, "learner", config.learner.name))
    return {name: value for name, value in asdict(config).items() if name not in left_out}


def _exploring_matches(
    config: Config, run: Run, agent: QNetworkAgent | None, opponents: Mapping[str, Agent]
) -> dict[str, Evaluation]:
    """The same matches of the agent as it explored when training ended, if they are asked for."""
    if agent is None or not config.evaluation.exploring:
        return {}
    return _final_matches(config, run, agent, opponents, f", epsilon {agent.epsilon:.2g}")


def _final_matches(
    config: Config, run: Run, agent: Agent, opponents: Mapping[str, Agent], how: str = ""
) -> dict[str, Evaluation]:
    """Matches of the final agent, on a seed that monitoring never uses."""
    games, matches = config.evaluation.final_games, {}
    with Bars(run.show_progress) as bars:
        for name, opponent in opponents.items():
            matches[name] = evaluate(
                agent,
                opponent,
                games,
                _final_seed(config),
                dealing=config.rules.name,
                progress=bars.counter(f"games against {name}{how}", games),
            )
    return matches


def _final_hands(config: Config, agent: Agent, opponents: Mapping[str, Agent]) -> dict[str, HandsWon]:
    hands, seed = config.evaluation.hands, _final_seed(config)
    if not hands:
        return {}
    return {name: hands_won(agent, opponent, hands, seed) for name, opponent in opponents.items()}


def _final_seed(config: Config) -> int:
    return derive(evaluation_seed(config), FINAL_MATCHES)
