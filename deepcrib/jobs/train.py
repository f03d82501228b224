"""`deepcrib train`: self-play training, then matches against fixed opponents."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing, nullcontext
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepcrib.agents import Agent, make_agent, name_agents
from deepcrib.analysis.figures import predicted_against_true
from deepcrib.analysis.tables import hands_table, win_rates_table
from deepcrib.evaluation.evaluate import Evaluation, evaluate
from deepcrib.evaluation.hands import HandsWon, hands_won
from deepcrib.jobs import Outcome, Run
from deepcrib.jobs.common import summary_writer, use_threads, write_hyperparameters
from deepcrib.jobs.console import Bars
from deepcrib.jobs.options import RulesOptions
from deepcrib.networks import DiscardNetworkConfig, PlayNetworkConfig
from deepcrib.randomness import FINAL_MATCHES, derive
from deepcrib.training.options import (
    AlgorithmOptions,
    EvaluationOptions,
    LearnerOptions,
    PretrainingOptions,
    RewardOptions,
    StateOptions,
)
from deepcrib.training.replay import STATE_FILE, TrainResult, prepare, train

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


@dataclass
class Config:
    """The schema of `conf/train.yaml`."""

    seed: int = 1
    device: str = "cpu"
    threads: int = 1  # that networks work on; the weights do not depend on it
    resume: str | None = None  # the folder of an unfinished run, which then goes on
    learner: LearnerOptions = field(default_factory=LearnerOptions)
    algorithm: AlgorithmOptions = field(default_factory=AlgorithmOptions)
    reward: RewardOptions = field(default_factory=RewardOptions)
    state: StateOptions = field(default_factory=StateOptions)
    discard_network: DiscardNetworkConfig = field(default_factory=DiscardNetworkConfig)
    play_network: PlayNetworkConfig = field(default_factory=PlayNetworkConfig)
    rules: RulesOptions = field(default_factory=RulesOptions)
    pretraining: PretrainingOptions = field(default_factory=PretrainingOptions)
    evaluation: EvaluationOptions = field(default_factory=EvaluationOptions)


def run(config: Config, run: Run) -> Outcome:
    """Train, or go on training, and measure the final agent against every opponent."""
    use_threads(config.threads)
    opponents = _opponents(config)
    saved = _saved_state(run)
    iteration = prepare(config, saved).iteration  # what cannot be trained is refused before the folder is touched
    run.start()
    with closing(summary_writer(run.folder.path, _purge_step(run, None if saved is None else iteration))) as writer:
        result = _train(config, run, writer, resume=saved is not None)
        matches = _final_matches(config, run, result.agent, opponents)
        hands = _final_hands(config, result.agent, opponents)
        metrics = {f"final/{name}/win_rate": figures.win_rate for name, figures in matches.items()}
        write_hyperparameters(writer, asdict(config), metrics, result.iterations)
    summary = {
        name: figures.to_dict() | ({"hands_won": hands[name].to_dict()} if name in hands else {})
        for name, figures in matches.items()
    }
    done = f"{result.iterations:,} iterations, {result.hands:,} hands, {result.seconds:,.0f} s"
    tables = [win_rates_table(f"trained agent ({done})", matches)]
    if hands:
        tables.insert(0, hands_table("hands won on play points", hands))
    return Outcome(summary, tables)


def _opponents(config: Config) -> dict[str, Agent]:
    return name_agents([make_agent(spec, device=config.device) for spec in config.evaluation.opponents])


def _saved_state(run: Run) -> Path | None:
    """The training state that a resumed run goes on from; None when there is none and it starts from 0."""
    path: Path = run.folder.path / STATE_FILE
    return path if run.resuming and path.exists() else None


def _purge_step(run: Run, iteration: int | None) -> int | None:
    """The first step whose events the killed process may have written beyond the saved state."""
    if not run.resuming:
        return None
    return 0 if iteration is None else iteration + 1


def _train(config: Config, run: Run, writer: SummaryWriter, resume: bool) -> TrainResult:
    def match(agent: Agent, opponent: Any, games: int, seed: int) -> Evaluation:
        return evaluate(agent, opponent, games, seed, dealing=config.rules.name, device=config.device)

    def advance(done: int, figures: Mapping[str, float]) -> None:
        rates = {tag.rpartition("/")[0]: 100 * rate for tag, rate in figures.items() if tag.endswith("/win_rate")}
        text = ", ".join(f"{name} {rate:.1f}%" for name, rate in rates.items())
        bars.show("training", done, config.learner.iterations, f"({text})" if text else None)

    pretrains = config.pretraining.enabled and config.learner.discard_agent is None and not resume
    own_events = _pretraining_events(run) if pretrains else nullcontext()
    with Bars(run.show_progress) as bars, own_events as pretraining_writer:
        return train(
            config,
            run.folder.path,
            match,
            dealing=config.rules.name,
            writer=writer,
            pretraining_writer=pretraining_writer,
            progress=advance,
            pretraining_progress=partial(bars.show, "pretraining"),
            figure=predicted_against_true,
            resume=resume,
        )


def _pretraining_events(run: Run) -> closing[SummaryWriter]:
    """A writer apart, since steps are minibatches here; what a killed pretraining wrote is dropped."""
    return closing(summary_writer(run.folder.path / "pretraining", 0 if run.resuming else None))


def _final_matches(config: Config, run: Run, agent: Agent, opponents: Mapping[str, Agent]) -> dict[str, Evaluation]:
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
                progress=bars.counter(f"games against {name}", games),
            )
    return matches


def _final_hands(config: Config, agent: Agent, opponents: Mapping[str, Agent]) -> dict[str, HandsWon]:
    hands, seed = config.evaluation.hands, _final_seed(config)
    if not hands:
        return {}
    return {name: hands_won(agent, opponent, hands, seed) for name, opponent in opponents.items()}


def _final_seed(config: Config) -> int:
    return derive(config.seed if config.evaluation.seed is None else config.evaluation.seed, FINAL_MATCHES)
