"""What the job hands every learner, and what it gets back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from deepcrib.agents import Agent
from deepcrib.agents.q_network import QNetworkAgent
from deepcrib.evaluation.evaluate import Evaluation
from deepcrib.jobs.shared.console import Bars
from deepcrib.jobs.train.config import Config

if TYPE_CHECKING:
    from rich.console import RenderableType
    from torch.utils.tensorboard import SummaryWriter

    from deepcrib.jobs import Run

Result = TypeVar("Result")
Match = Callable[[Agent, Any, int, int], Evaluation]
"""(agent, opponent's spec, games, seed) -> figures, under the rules and on the device of the run."""


@dataclass
class Trained:
    """A trained agent, or None where what was trained can play no games: there are then no final matches.

    steps: what the steps of its TensorBoard events count, all of them: iterations, games.
    seconds: as the learner counts them: of learning, with or without the matches on the way.
    account: what it took, for the title of the final table: `500 iterations, 100,000 hands, 75 s`.
    summary and tables: what else the learner measured at the end.
    exploring: the agent as it explored when training ended; None where the learner has no such one.
    """

    agent: Agent | None
    steps: int
    seconds: float
    account: str
    summary: Mapping[str, Any] = field(default_factory=dict)
    tables: Sequence[RenderableType] = ()
    exploring: QNetworkAgent | None = None


def run_learner(
    train: Callable[..., Result],
    config: Config,
    steps: int,
    run: Run,
    match: Match,
    writer: SummaryWriter,
    resume: bool,
) -> Result:
    """What a learner's `train` returns, run in the run's folder, with a bar of its steps."""
    with Bars(run.show_progress) as bars:
        return train(
            config,
            run.folder.path,
            match,
            dealing=config.rules.name,
            writer=writer,
            progress=training_bar(bars, steps),
            resume=resume,
        )


def training_bar(bars: Bars, total: int) -> Callable[[int, Mapping[str, float]], None]:
    """A callback (steps done, figures by TensorBoard tag) that draws them, with the win rates of monitoring matches.

    The bar is there at once, at zero.
    """
    bars.show("training", 0, total)

    def advance(done: int, figures: Mapping[str, float]) -> None:
        rates = {tag.rpartition("/")[0]: 100 * rate for tag, rate in figures.items() if tag.endswith("/win_rate")}
        text = ", ".join(f"{name} {rate:.1f}%" for name, rate in rates.items())
        bars.show("training", done, total, f"({text})" if text else None)

    return advance
