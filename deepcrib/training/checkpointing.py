"""What every learner does at a checkpoint: weights, training state, matches, TensorBoard events."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from deepcrib.agents import Agent
from deepcrib.errors import RunError
from deepcrib.files.weights import CheckpointError
from deepcrib.game.randomness import MONITORING, derive
from deepcrib.networks import checkpoints
from deepcrib.training.monitoring import match_figures
from deepcrib.training.options import EvaluationOptions

STATE_FILE = "state.pt"
"""The training state in a run folder."""
CHECKPOINTS = "checkpoints"
"""Folder of a run with the weights after so many steps."""
Match = Callable[[Agent, Any, int, int], Any]
"""(agent, opponent, games, seed) -> figures: evaluation stands beside training, so the job hands it in."""
Progress = Callable[[int, Mapping[str, float]], None]
"""(steps done, figures by TensorBoard tag)."""


class Evaluated(Protocol):
    """What a learner's matches depend on."""

    seed: int
    evaluation: EvaluationOptions


@contextmanager
def fitting_state(path: Path) -> Iterator[dict[str, Any]]:
    """The training state in a file; whatever fails while it is taken over is a CheckpointError of one line."""
    saved = checkpoints.load_state(path)
    try:
        yield saved
    except (AttributeError, RuntimeError, KeyError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise CheckpointError(f"{path} does not fit the options of this run: {reason}") from error


def weights_file(folder: Path, name: str) -> Path:
    """Where a run keeps the weights of a checkpoint, in a folder that is there."""
    (folder / CHECKPOINTS).mkdir(parents=True, exist_ok=True)
    return folder / CHECKPOINTS / f"{name}.safetensors"


def next_checkpoint(done: int, every: int, last: int) -> int:
    """The step of the checkpoint after `done` steps: a multiple of `every`, or the last one."""
    return min(last, (done // every + 1) * every)


def evaluation_seed(settings: Evaluated) -> int:
    """The seed that matches derive theirs from."""
    return settings.seed if settings.evaluation.seed is None else settings.evaluation.seed


def monitor(
    settings: Evaluated, number: int, agent: Callable[[], Agent], opponents: Mapping[str, Agent], match: Match
) -> dict[str, float]:
    """Figures by TensorBoard tag of an agent's matches, at every `evaluation.every`-th checkpoint; none at others.

    number: the checkpoint's.
    """
    options, figures = settings.evaluation, dict[str, float]()
    if not options.every or number % options.every:
        return figures
    player, seed = agent(), derive(evaluation_seed(settings), MONITORING)
    for name, opponent in opponents.items():
        figures |= match_figures(name, match(player, opponent, options.games, seed))
    return figures


def write_scalars(writer: Any, step: int, figures: Mapping[str, float]) -> None:
    """Write figures by their tags; writer is a TensorBoard SummaryWriter or None."""
    if writer is not None:
        for tag, value in figures.items():
            writer.add_scalar(tag, value, step)


def _write_out(writer: Any, step: int, figures: Mapping[str, float]) -> None:
    """Write figures, and what the writer still holds, to the disk."""
    write_scalars(writer, step, figures)
    if writer is not None:
        writer.flush()


def save_and_measure(
    folder: Path,
    step: int,
    state: dict[str, Any],
    figures: Mapping[str, float],
    measure: Callable[[], dict[str, float]],
    writer: Any,
) -> dict[str, float]:
    """Write the figures of learning, save the state, then play the matches; returns all figures.

    The matches come last because they may take longer than the learning: a run that is killed in them loses their
    points and nothing else. Events are flushed before the state is saved: those after its step are purged on
    resumption, those before it must be there; and after the matches, which a resumed run does not play again.
    """
    _write_out(writer, step, figures)
    checkpoints.save_state(folder / STATE_FILE, state)
    found = measure()
    _write_out(writer, step, found)
    return {**figures, **found}


def checkpoint_files(run: Path) -> dict[int, Path]:
    """Weights in a run folder's `checkpoints/`, by the number at the end of their names, in its order.

    Raises RunError where there are none, or where a name has no number or another one's.
    """
    folder = run / CHECKPOINTS
    files: dict[int, Path] = {}
    for path in folder.glob("*.safetensors"):
        found = re.search(r"\d+$", path.stem)
        if found is None or int(found[0]) in files:
            raise RunError(f"{path}: expected a name with a number of its own at the end, as games_00100000")
        files[int(found[0])] = path
    if not files:
        raise RunError(f"run={run}: expected a run folder with checkpoints, but {folder} holds no .safetensors")
    return dict(sorted(files.items()))
