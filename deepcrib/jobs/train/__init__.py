"""`deepcrib train`: a learner trains an agent, which then meets fixed opponents."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from deepcrib.agents import Agent, make_agent, name_agents
from deepcrib.analysis.figures import predicted_against_true
from deepcrib.analysis.tables import hands_table, plain_table, win_rates_table
from deepcrib.evaluation.evaluate import Evaluation, evaluate
from deepcrib.evaluation.experts import probe_metrics
from deepcrib.evaluation.hands import HandsWon, hand_pairs, hands_won
from deepcrib.files import write_atomic
from deepcrib.files.runs import ENVIRONMENT
from deepcrib.files.weights import WEIGHTS_FILE, CheckpointError
from deepcrib.game.randomness import FINAL_MATCHES, derive
from deepcrib.jobs import Outcome, Run
from deepcrib.jobs.hydra.resume import resume_words
from deepcrib.jobs.hydra.variants import unread
from deepcrib.jobs.shared.common import summary_writer, use_threads
from deepcrib.jobs.shared.console import LOG, Bars, say, short_path
from deepcrib.jobs.train.config import Config
from deepcrib.jobs.train.monitoring import FINAL, FINAL_METRICS, final_metrics, layout, write_options
from deepcrib.jobs.train.progress import Lines, training_bar
from deepcrib.learners.registry import LEARNERS, make_learner
from deepcrib.learners.replay.learner import ReplayLearner
from deepcrib.training.fit import Probe, fit, next_event, restore
from deepcrib.training.learner import Learner, Setting
from deepcrib.training.options import LearnerOptions
from deepcrib.training.run_files import STATE_FILE, require_state, weights_file

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


def run(config: Config, run: Run) -> Outcome:
    """Train, or go on training, and measure the final agent against every opponent."""
    use_threads(config.threads)
    opponents = name_agents([make_agent(spec, device=config.device) for spec in config.evaluation.opponents])
    learner = _learner(config, run)  # what cannot be trained is refused before the folder is touched
    extends = run.resuming and run.folder.finished
    run.start()
    if extends:
        _keep_finished(run.folder.path, learner)
    try:
        return _train_and_measure(config, run, learner, opponents)
    except KeyboardInterrupt as interrupt:
        with suppress(CheckpointError):  # a second one loses what has been learned since
            restore(learner, run.folder.path / STATE_FILE)
        words = resume_words(config, run.folder.path)
        interrupt.args = (f"deepcrib train {words} goes on after {learner.description()}",)
        raise


def _train_and_measure(config: Config, run: Run, learner: Learner, opponents: Mapping[str, Agent]) -> Outcome:
    folder, unused = run.folder.path, set(unread(Config, "learner", config.learner.name))
    options = {name: value for name, value in asdict(config).items() if name not in unused}
    if run.show_lines:
        say(f"run folder: {short_path(folder)}")
    searched = [word for word in run.folder.overrides if word not in sys.argv]  # others are the same in the whole sweep
    told = run.folder.varied or searched or run.folder.overrides or sys.argv[1:]
    columns = [f"{FINAL}{name}/{tag}" for name in opponents for tag in FINAL_METRICS]
    write_options(folder, options, [*columns, f"{FINAL}hours"], told)
    with closing(summary_writer(folder, next_event(learner) if run.resuming else None)) as writer:
        writer.add_custom_scalars(layout(config, opponents))
        agent = _train(config, run, learner, opponents, writer)
    seed = derive(learner.setting.evaluation_seed, FINAL_MATCHES)  # which matches during training never have
    explores = config.evaluation.exploring and isinstance(learner, ReplayLearner)
    exploring = learner.exploring_agent() if explores else None
    matches = _final_matches(config, run, agent, opponents, seed)
    explored = _final_matches(config, run, exploring, opponents, seed, f", epsilon {_epsilon(exploring):.2g}")
    hands: dict[str, HandsWon] = {}
    if agent is not None and config.evaluation.hands:
        hands = {name: hands_won(agent, other, config.evaluation.hands, seed) for name, other in opponents.items()}
    summary = learner.summary
    metrics = final_metrics(matches, summary, learner.seconds)
    write_options(folder, options, metrics, told, metrics, learner.steps_done)
    training = f"{learner.description()}, {learner.seconds:,.0f} s"
    tables = [hands_table("hands won on play points", hands)] if hands else []
    if "play_only" in summary:
        tables.append(_play_only_table(training, summary["play_only"]))
    if matches or not tables:
        rows = matches | {f"{name}, agent explores": found for name, found in explored.items()}
        tables.append(win_rates_table(f"trained agent ({training})", rows))
    found = {name: figures.to_dict() for name, figures in matches.items()}
    for name in found:
        if name in hands:
            found[name]["hands_won"] = hands[name].to_dict()
        if name in explored:
            found[name]["exploring"] = explored[name].to_dict() | {"epsilon": _epsilon(exploring)}
    return Outcome(found | summary, tables)


def _learner(config: Config, run: Run) -> Learner:
    """The learner as it begins, or as an interrupted run left it."""
    setting = Setting(config.seed, config.evaluation, config.rules.name, config.device, predicted_against_true)
    learner = make_learner(config.learner, setting, vars(config))
    if run.resuming and require_state(run.folder.path):
        restore(learner, run.folder.path / STATE_FILE)
    return learner


def _keep_finished(folder: Path, learner: Learner) -> None:
    """Keep the weights of a finished run that goes on, and say so."""
    kept = weights_file(folder, learner.unit, learner.steps_done)
    if not kept.exists() and (folder / WEIGHTS_FILE).exists():
        write_atomic(kept, (folder / WEIGHTS_FILE).read_bytes())
    words = f"its weights stay in {short_path(kept)}, its matches in {ENVIRONMENT}"
    say(f"a finished run of {learner.description()} goes on: {words}")


def _train(
    config: Config, run: Run, learner: Learner, opponents: Mapping[str, Agent], writer: SummaryWriter
) -> Agent | None:
    def match(agent: Agent, opponent: Any, games: int, seed: int) -> Evaluation:
        return evaluate(agent, opponent, games, seed, dealing=config.rules.name, device=config.device)

    with Bars(run.show_progress, run.show_lines) as bars:
        lines = Lines(learner.steps_done, learner.num_steps, learner.unit, say=say if run.show_lines else LOG.info)
        bar = training_bar(bars, learner.steps_done, learner.num_steps) if run.show_progress else None

        def progress(done: int, metrics: Mapping[str, float]) -> None:
            begun = [stage for stage in learner.stages if stage.steps_done and done <= 0]
            for stage in begun[-1:]:
                bars.show("pretraining", stage.steps_done, stage.num_steps)
            if done >= 0:
                lines(done, metrics)
                if bar is not None:
                    bar(done, metrics)

        return fit(
            learner,
            run.folder.path,
            match,
            opponents=opponents,
            writer=writer,
            progress=progress,
            probe=_probe_of(config.learner, opponents),
        )


def _probe_of(options: LearnerOptions, opponents: Mapping[str, Agent]) -> Probe | None:
    """What is measured where matches are played: leads in experts' positions, or margins of pairs of hands."""
    measured = LEARNERS[options.name].measured
    if measured == "leads":
        return lambda agent, seed: probe_metrics(agent)
    pairs = getattr(options, "pairs", 0)
    if measured == "pairs" and pairs >= 2:  # one has no interval
        return lambda agent, seed: {
            f"{name}/pair_margin": hand_pairs(agent, other, pairs, seed).margin for name, other in opponents.items()
        }
    return None


def _final_matches(
    config: Config, run: Run, agent: Agent | None, opponents: Mapping[str, Agent], seed: int, how: str = ""
) -> dict[str, Evaluation]:
    """Matches of the final agent, or of it as it explored; none where there is no agent."""
    games, matches = config.evaluation.final_games, {}
    if agent is None:
        return {}
    with Bars(run.show_progress, run.show_lines) as bars:
        for name, opponent in opponents.items():
            progress = bars.counter(f"games against {name}{how}", games)
            matches[name] = evaluate(agent, opponent, games, seed, dealing=config.rules.name, progress=progress)
    return matches


def _epsilon(agent: Agent | None) -> float:
    return float(getattr(agent, "epsilon", 0.0))


def _play_only_table(account: str, figures: Mapping[str, Any]) -> Table:
    """The play of a network that was trained on plays of four-card hands, against greedy."""
    interval = f"{figures['difference']:+.3f} [{figures['ci_low']:+.3f}, {figures['ci_high']:+.3f}]"
    columns = ("opponent", "play points a hand, own - opponent's [95%]", "hands")
    return plain_table(
        f"play of random four-card hands ({account})", columns, [("greedy", interval, f"{figures['hands']:,}")]
    )
