"""`deepcrib pretrain`: the discard network learns the show value of every four-card hand."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, dataclass, field

import torch
from rich.table import Table

from deepcrib.analysis.figures import predicted_against_true
from deepcrib.analysis.tables import plain_table
from deepcrib.errors import OptionError
from deepcrib.files.weights import WEIGHTS_FILE
from deepcrib.jobs import Outcome, Run
from deepcrib.jobs.shared.common import summary_writer, working
from deepcrib.jobs.shared.options import torch_device
from deepcrib.learners.pretraining.options import PretrainingOptions
from deepcrib.learners.pretraining.show import PretrainingResult, ShowPretraining
from deepcrib.learners.replay.options import StateOptions
from deepcrib.networks import DiscardNetworkConfig, make_discard_network
from deepcrib.networks.checkpoints import save_weights
from deepcrib.networks.encoders import make_discard_encoder
from deepcrib.options import at_least, option, seed_value
from deepcrib.training.learner import Setting
from deepcrib.training.run_files import write_scalars


@dataclass
class Config:
    """The schema of `conf/pretrain.yaml`."""

    seed: int = option(1, "of everything random", seed_value)
    device: str = option("cpu", "where networks run: cpu, cuda, cuda:1, mps", torch_device)
    threads: int = option(0, "number of threads; 0: all that this process may use", at_least(0))
    state: StateOptions = field(default_factory=StateOptions)
    discard_network: DiscardNetworkConfig = field(default_factory=DiscardNetworkConfig)
    pretraining: PretrainingOptions = field(default_factory=PretrainingOptions)


def run(config: Config, run: Run) -> Outcome:
    """Pretrain a new network, measure it over all hands and save it."""
    if config.pretraining.teacher is not None:
        raise OptionError(
            f"pretraining.teacher={config.pretraining.teacher}: expected none here, deepcrib train has teachers"
        )
    encoder = make_discard_encoder(config.state.discard, scores=config.state.scores)
    torch.manual_seed(config.seed)
    network = make_discard_network(config.discard_network, encoder.spec).to(config.device)
    setting = Setting(config.seed, device=config.device, figure=predicted_against_true)
    stage = ShowPretraining(network, encoder, config.pretraining, setting)
    with working(run, config.threads) as bars, closing(summary_writer(run.folder.path)) as writer:
        stage.tick = lambda done: bars.show("minibatches", done, stage.num_steps)
        while stage.result is None:
            metrics = stage.step()
            write_scalars(writer, stage.steps_done - stage.num_steps - 1, metrics)
        stage.show(writer, -1)
    found = asdict(stage.result) | {"seconds": stage.seconds}
    path = run.folder.path / WEIGHTS_FILE
    metadata = {"learner": "pretraining", "seed": config.seed, "pretraining": asdict(config.pretraining)}
    save_weights(path, network, None, metadata)
    return Outcome(found, (_table(config, stage.result, stage.seconds),))


def _table(config: Config, result: PretrainingResult, seconds: float) -> Table:
    starter = config.pretraining.starter
    exact = "-" if result.exact_share is None else f"{100 * result.exact_share:.2f}%"
    rows = [
        ("hands", f"{result.hands:,}"),
        ("mean absolute error (points)", f"{result.mean_absolute_error:.4f}"),
        ("exact after rounding", exact),
        ("mean absolute error, one random starter", f"{result.sample_error:.4f}" if starter else "-"),
        ("seconds", f"{seconds:.1f}"),
    ]
    value = "mean over starters" if starter else "without a starter"
    title = f"{config.discard_network.name} on state {config.state.discard}: show value, {value}"
    return plain_table(title, ("metric", "value"), rows)
