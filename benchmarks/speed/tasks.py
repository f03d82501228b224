"""What the scripts of speed share: measure the tasks that are named, print a table of each, keep the figures."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import print as show
from rich.table import Table

from deepcrib.files.runs import write_json

Tasks = Mapping[str, Callable[[Namespace], tuple[Any, Table]]]
"""By name what measures it: (options) -> what is kept, and a table of it."""


def measure(parser: ArgumentParser, tasks: Tasks, default: Collection[str], words: Sequence[str] | None) -> None:
    """Measure the tasks among the words, or the default ones. parser: with the options that they read."""
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=f"of {', '.join(tasks)}")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--to", type=Path)
    options = parser.parse_args(words)
    for task in options.tasks:
        if task not in tasks:
            parser.error(f"{task}: expected some of {', '.join(tasks)}")
    found: dict[str, Any] = {}
    for task in options.tasks or default:
        found[task], table = tasks[task](options)
        show(table)
    found["load"] = os.getloadavg()[0]
    print(f"load of the last minute: {found['load']:.1f} (1 to {os.cpu_count()} when nothing else runs)")
    if options.to is not None:
        write_json(options.to, found)
