"""`deepcrib pretrain`: the discard network learns the show value of every four-card hand."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import partial

import torch
from rich.table import Table

from deepcrib.analysis.figures import predicted_against_true
from deepcrib.analysis.tables import plain_table
from deepcrib.errors import OptionError
from deepcrib.files.weights import WEIGHTS_FILE
from deepcrib.jobs import Outcome, Run
from deepcrib.jobs.shared.common import summary_writer, working
from deepcrib.jobs.shared.options import torch_device
from deepcrib.learners.replay.options import PretrainingOptions, StateOptions
from deepcrib.learners.replay.pretraining import PretrainingResult, pretrain
from deepcrib.networks import DiscardNetworkConfig, make_discard_network
from deepcrib.networks.checkpoints import save_weights
from deepcrib.networks.encoders import make_discard_encoder
from deepcrib.options import at_least, option, seed_value


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
    with working(run, config.threads) as bars, closing(summary_writer(run.folder.path)) as writer:
        result = pretrain(
            network,
            encoder,
            config.pretraining,
            config.seed,
            writer,
            progress=partial(bars.show, "minibatches"),
            figure=predicted_against_true,
        )
    assert result is not None  # as nothing stops it
    path = run.folder.path / WEIGHTS_FILE
    metadata = {"learner": "pretraining", "seed": config.seed, "pretraining": asdict(config.pretraining)}
    save_weights(path, network, None, metadata)
    return Outcome(asdict(result), (_table(config, result),))


def _table(config: Config, result: PretrainingResult) -> Table:
    starter = config.pretraining.starter
    exact = "-" if result.exact_share is None else f"{100 * result.exact_share:.2f}%"
    rows = [
        ("hands", f"{result.hands:,}"),
        ("mean absolute error (points)", f"{result.mean_absolute_error:.4f}"),
        ("exact after rounding", exact),
        ("mean absolute error, one random starter", f"{result.sample_error:.4f}" if starter else "-"),
        ("seconds", f"{result.seconds:.1f}"),
    ]
    value = "mean over starters" if starter else "without a starter"
    title = f"{config.discard_network.name} on state {config.state.discard}: show value, {value}"
    return plain_table(title, ("metric", "value"), rows)
