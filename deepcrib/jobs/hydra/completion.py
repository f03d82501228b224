"""Completion of commands, tasks, groups and options in a shell: Hydra's, which knows one program with one config."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence

from deepcrib.errors import OptionError
from deepcrib.jobs import JOBS
from deepcrib.jobs.hydra.launch import composing
from deepcrib.jobs.hydra.schema import register_schema

SHELLS = ("bash", "fish", "zsh")


def complete(words: Sequence[str]) -> int:
    """`install=bash` prints what the shell evaluates; the shell then asks with `query=bash`, the line in COMP_LINE."""
    asked = words[0] if len(words) == 1 else ""
    if asked not in [f"{verb}={shell}" for verb in ("install", "uninstall", "query") for shell in SHELLS]:
        raise OptionError(f"-sc {' '.join(words)}: expected install=SHELL, one of {', '.join(SHELLS)}")
    program, *typed = os.environ.get("COMP_LINE", "deepcrib").split(" ")
    name, *rest = [word for word in typed if word] or [""]
    if asked.startswith("query=") and (name not in JOBS or len(typed) == 1):
        print("\n".join([*JOBS, "help"]))
        return 0
    job = JOBS.get(name, JOBS["train"])
    register_schema(job)
    if job.tasks and asked.startswith("query=") and not any("=" in word for word in rest):
        print("\n".join(job.tasks))
    os.environ["COMP_LINE"] = " ".join([program, *typed[1:]])
    with composing(job, Namespace(config_dir=None)) as hydra:
        hydra.shell_completion(job.name, [asked])
    return 0
