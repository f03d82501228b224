"""`deepcrib train`: a learner trains an agent, which then meets fixed opponents."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from shlex import quote

from deepcrib.agents import Agent, make_agent, name_agents
from deepcrib.analysis.figures import predicted_against_true
from deepcrib.evaluation.evaluate import evaluate
from deepcrib.evaluation.hands import hand_pairs
from deepcrib.files import write_atomic
from deepcrib.files.runs import ENVIRONMENT
from deepcrib.files.weights import WEIGHTS_FILE, CheckpointError
from deepcrib.jobs import CALLBACK, Outcome, Run
from deepcrib.jobs.hydra.resume import resume_words
from deepcrib.jobs.shared.common import summary_writer, use_threads
from deepcrib.jobs.shared.console import LOG, Bars, say, short_path
from deepcrib.jobs.train.config import Config, unread
from deepcrib.jobs.train.final import measure
from deepcrib.jobs.train.monitoring import FINAL, FINAL_METRICS, final_metrics, layout, write_options
from deepcrib.jobs.train.progress import Lines
from deepcrib.learners.registry import make_learner
from deepcrib.learners.td.options import TdOptions
from deepcrib.training.fit import Probe, fit, next_event, restore
from deepcrib.training.learner import Learner, Setting
from deepcrib.training.options import LearnerOptions
from deepcrib.training.run_files import STATE_FILE, require_state, weights_file


def run(config: Config, run: Run) -> Outcome:
    """Train, or go on training, and measure the final agent against every opponent."""
    use_threads(config.threads)
    opponents = name_agents([make_agent(spec, device=config.device) for spec in config.evaluation.opponents])
    setting = Setting(config.seed, config.evaluation, config.rules.name, config.device, predicted_against_true)
    learner = make_learner(config.learner, setting, vars(config))
    if run.resuming and require_state(run.folder.path):
        restore(learner, run.folder.path / STATE_FILE)  # what cannot be trained is refused before the folder is touched
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


def _keep_finished(folder: Path, learner: Learner) -> None:
    """Keep the weights of a finished run that goes on, and say so."""
    kept = weights_file(folder, learner.unit, learner.steps_done)
    if not kept.exists() and (folder / WEIGHTS_FILE).exists():
        write_atomic(kept, (folder / WEIGHTS_FILE).read_bytes())
    words = f"its weights stay in {short_path(kept)}, its matches in {ENVIRONMENT}"
    say(f"a finished run of {learner.description()} goes on: {words}")


def _train_and_measure(config: Config, run: Run, learner: Learner, opponents: Mapping[str, Agent]) -> Outcome:
    if run.show_lines or run.show_progress:
        place = short_path(run.folder.path)
        say(f"run folder: {place}")
        say(f"tensorboard --logdir {quote(place)} (tab Custom Scalars)")
    others = unread(config.learner.name)
    options = {part: value for part, value in asdict(config).items() if part not in others}
    searched = [word for word in run.folder.overrides if word not in sys.argv]  # others are the same in a whole sweep
    varied = run.folder.varied or searched or run.folder.overrides or sys.argv[1:]  # what sets this run apart
    write_table = partial(write_options, run.folder.path, options, varied)
    write_table([f"{FINAL}{opponent}/{tag}" for opponent in opponents for tag in FINAL_METRICS] + [f"{FINAL}hours"])
    match = partial(evaluate, dealing=config.rules.name, device=config.device)
    with closing(summary_writer(run.folder.path, next_event(learner) if run.resuming else None)) as writer:
        writer.add_custom_scalars(layout(config.learner, opponents, config.evaluation.monitored))
        with Bars(run.show_progress, run.show_lines) as bars:
            agent = fit(
                learner,
                run.folder.path,
                match,
                opponents=opponents,
                writer=writer,
                progress=_progress(run, learner, bars),
                probe=_probe_of(config.learner, opponents),
            )
    if run.show_lines and agent:
        say(f"final matches: {config.evaluation.final_games:,} games against {', '.join(opponents)}")
    with Bars(run.show_progress, run.show_lines) as bars:
        finals = measure(learner, agent, opponents, match, bars)
    metrics = final_metrics(finals.matches, finals.own, learner.seconds)
    write_table(metrics, metrics, learner.steps_done)
    return Outcome(finals.summary(), finals.tables(f"{learner.description()}, {learner.seconds:,.0f} s"))


def _progress(run: Run, learner: Learner, bars: Bars) -> Callable[[int, Mapping[str, float]], None]:
    """What `fit` calls with the steps done: draws a bar, says a line now and then, or writes that into the log.

    A row of `progress.csv` also goes to the callback.
    """
    teller = say if run.show_lines else LOG.info
    lines = Lines(learner.steps_done, learner.num_steps, learner.unit, say=teller, bars=bars)
    callback = CALLBACK.get()

    def show(done: int, metrics: Mapping[str, float]) -> None:
        begun = [stage for stage in learner.stages if stage.steps_done and done <= 0]
        for stage in begun[-1:]:
            bars.show("pretraining", stage.steps_done, stage.num_steps)
        if done >= 0:
            lines(done, metrics)
        if metrics and callback is not None:
            callback(learner, metrics)

    return show


def _probe_of(options: LearnerOptions, opponents: Mapping[str, Agent]) -> Probe | None:
    """What else is measured where matches are played: of `td` margins of pairs of hands, as its paper has them."""
    if not isinstance(options, TdOptions) or options.pairs < 2:  # one has no interval
        return None
    return lambda agent, seed: {
        f"{name}/pair_margin": hand_pairs(agent, other, options.pairs, seed).margin for name, other in opponents.items()
    }
