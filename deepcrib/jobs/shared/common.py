"""What several jobs need besides options."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepcrib.agents import Agent, make_agent, name_agents
from deepcrib.errors import MissingExtraError, OptionError
from deepcrib.jobs import Outcome, Run
from deepcrib.jobs.shared.console import Bars
from deepcrib.kernels.workers import use_workers

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


def shown_tag(tag: str) -> str:
    """`Win_rate/greedy` for `greedy/win_rate`, but of final matches: capital letters come first in TensorBoard."""
    return re.sub(r"^(?!final/)(.+)/win_rate$", r"Win_rate/\1", tag)


def use_threads(threads: int) -> None:
    """Work on so many threads, each of which does whole pieces (see `kernels.workers`); 0: on all that there are.

    Called once the agents are made: where none of them has imported PyTorch, there is nothing to tell it.
    """
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    use_workers(threads or None)


@contextmanager
def working(run: Run, threads: int) -> Iterator[Bars]:
    """Claim the run folder, and work on so many threads, with progress bars where they can be seen."""
    use_threads(threads)
    run.start()
    with Bars(run.show_progress, run.show_lines) as bars:
        yield bars


def chosen_agents(specs: Sequence[Any] | None, default: Sequence[Any], device: str) -> dict[str, Agent]:
    """Agents of the option `agents` by name; None: the default ones. Raises OptionError or what `make_agent` does."""
    chosen = default if specs is None else specs
    if not chosen:
        raise OptionError("agents=[]: expected one or more agents")
    return name_agents([make_agent(spec, device=device) for spec in chosen])


def need_modules(user: str, extra: str, *names: str) -> None:
    """Raise MissingExtraError where what `user` needs is not installed; extra: the one that brings these."""
    for name in names:
        if find_spec(name.lower().replace("-", "_")) is None:
            raise MissingExtraError(user, name, extra)


def chosen_task(
    config: Any, tasks: Mapping[str, tuple[Callable[..., Outcome], Collection[str]]]
) -> Callable[..., Outcome]:
    """What runs the option `task`. Refuses an unknown one, and options that another task alone reads.

    tasks: by name what runs it, and the options that not every task reads.
    """
    if config.task not in tasks:
        raise OptionError(f"task={config.task}: expected one of {', '.join(tasks)}")
    for item in fields(config):
        readers = [task for task, (_, names) in tasks.items() if item.name in names]
        if readers and config.task not in readers:
            refuse_given(config, [item.name], f"only for {' and '.join(readers)}, not for {config.task}")
    return tasks[config.task][0]


def refuse_given(config: Any, names: Iterable[str], reason: str) -> None:
    """Refuse options that have another value than their default, where nothing reads them."""
    default = type(config)()
    for name in names:
        if getattr(config, name) != getattr(default, name):
            raise OptionError(f"{name}={getattr(config, name)}: {reason}")


def summary_writer(folder: Path, purge_step: int | None = None, suffix: str = "") -> SummaryWriter:
    """TensorBoard events in a run folder; those of an interrupted run from `purge_step` on are dropped."""
    from torch.utils.tensorboard import SummaryWriter  # a second to import, and not every job writes events

    class Writer(SummaryWriter):
        def add_scalar(self, tag: str, *args: Any, **kwargs: Any) -> None:
            super().add_scalar(shown_tag(tag), *args, **kwargs)

    threading.excepthook = _unless_disk_is_full
    return Writer(str(folder), purge_step=purge_step, filename_suffix=suffix)


def _unless_disk_is_full(args: threading.ExceptHookArgs) -> None:
    """Show what ends a thread, but TensorBoard's own, whose error its next call raises."""
    if not (isinstance(args.exc_value, OSError) and type(args.thread).__name__ == "_AsyncWriterThread"):
        threading.__excepthook__(args)
