"""`deepcrib <job> [task] [name=value ...]`."""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from typing import Any, NoReturn

from rich.table import Table

from deepcrib import __version__
from deepcrib.errors import OptionError, UserError, did_you_mean
from deepcrib.files.runs import conf_folder
from deepcrib.jobs import JOBS, Job
from deepcrib.jobs.shared.console import console, error_line

WRONG_CALL, INTERRUPTED, TERMINATED = 2, 130, 143  # exit codes; the last two as a shell reports Ctrl-C and SIGTERM

# Read when Numba and PyTorch start their threads. By default these spin while they wait for each other, and with
# another busy process on the machine a match in lockstep then runs three to thirty times slower.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


class _Terminated(KeyboardInterrupt):
    """SIGTERM came."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command (by default that of the command line) and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    try:
        if wrong := [word for word in words if re.search("[\ud800-\udfff]", word)]:
            raise OptionError(f"{os.fsencode(wrong[0])!r}: expected UTF-8")
        with _orderly_end():
            code = _run(words)
        sys.stdout.flush()  # here what cannot be written is one line
        return code
    except UserError as error:
        error_line(str(error))
        return WRONG_CALL
    except KeyboardInterrupt as interrupt:
        terminated = isinstance(interrupt, _Terminated)
        error_line("; ".join(["terminated" if terminated else "interrupted", *map(str, interrupt.args)]))
        return TERMINATED if terminated else INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        _write_nowhere()
        return 0
    except OSError as error:
        error_line(f"cannot write {error.filename or 'the output'}: {error.strerror}")
        _write_nowhere()
        return WRONG_CALL


def _write_nowhere() -> None:
    """Let what is left of our output go, which Python writes at the end."""
    with suppress(OSError, ValueError):  # a stdout of no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _orderly_end() -> Iterator[None]:
    """Let the first SIGTERM end a command as Ctrl-C does: a sweep's workers go with it, and trials are given back."""
    handled = (
        threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    )

    def end(number: int, frame: Any) -> None:
        signal.signal(number, signal.SIG_DFL)  # the second one ends it at once
        raise _Terminated

    if handled:
        signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        if handled:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _run(words: list[str]) -> int:
    if words in (["help", "agents"], ["help", "experiments"]):
        from deepcrib.jobs.hydra.help import print_agents, print_experiments

        (print_agents if words[1] == "agents" else print_experiments)()
        return 0
    if words and words[0] == "help":  # `help train` is `train --help`
        words = [*words[1:], "--help"]
    if not words or words[0] in ("-h", "--help"):
        _print_overview()
        return 0
    if words[0] in ("-V", "--version"):
        print(f"deepcrib {__version__}")
        return 0
    if (job := JOBS.get(words[0])) is None:
        raise OptionError(f"unknown job {words[0]}: {did_you_mean(words[0], JOBS)}expected one of {', '.join(JOBS)}")
    arguments = _parser(job).parse_intermixed_args(words[1:])
    from deepcrib.jobs.hydra.launch import explain, launch

    return (explain if arguments.help else launch)(job, _with_task(job, arguments.words), arguments)


def _print_overview() -> None:
    """The jobs with one line each, and examples."""
    out = console()
    out.print("[bold]deepcrib <job> \\[task] \\[name=value ...][/]   deep-RL agents for cribbage\n")
    jobs = Table.grid(padding=(0, 3))
    for job in JOBS.values():
        jobs.add_row(f"  [cyan]{job.name}[/]", job.summary)
        if job.tasks:
            jobs.add_row("", f"tasks: {', '.join(job.tasks)}")
    out.print(jobs)
    out.print("\nExamples")
    for job in JOBS.values():
        out.print(f"  {job.examples[0]}", markup=False)
    out.print(
        "\ndeepcrib help <job> lists a job's options, deepcrib help agents the agents that have a name, "
        "deepcrib help experiments the setups; deepcrib --version prints the version."
    )


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage on several lines."""
        if found := re.match(r"unrecognized arguments: -+([\w./]+)", message):
            message += f": options are written as {found[1]}=VALUE"
        raise OptionError(f"{self.prog}: {message} (see deepcrib {self.prog} --help)")


def _parser(job: Job) -> argparse.ArgumentParser:
    """The part of Hydra's command line that a job takes."""
    parser = _Parser(prog=job.name, add_help=False, allow_abbrev=False)
    parser.add_argument("words", nargs="*")
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("-m", "--multirun", action="store_true")
    parser.add_argument("-c", "--cfg", choices=("job", "hydra", "all"))
    parser.add_argument("-cd", "--config-dir")
    return parser


def _guess(job: Job, word: str) -> str:
    """`did you mean experiment=quick? ` for a word that is, or almost, the name of an experiment, of an algorithm."""
    if job.name != "train":
        return ""
    folder = conf_folder()
    files = [file.relative_to(folder).with_suffix("").parts for file in sorted(folder.rglob("*/*.yaml"), reverse=True)]
    groups = {"/".join(choice): group for group, *choice in files if group != "hydra"}
    near = did_you_mean(word, groups)
    return near and near.replace("mean ", f"mean {groups[near.split()[-1][:-1]]}=")


def _with_task(job: Job, words: Sequence[str]) -> list[str]:
    """Turn bare words into the override that they stand for: a task, or the value of the option `job.bare`."""
    bare = [word for word in words if "=" not in word and not word.startswith("~")]
    overrides = [word for word in words if word not in bare]
    if not bare:
        return overrides
    if bare[0] in job.tasks and (len(bare) == 1 or job.bare):
        return [f"task={bare[0]}", *_with_task(job, [*bare[1:], *overrides])]
    if job.bare and bare[0] not in job.tasks and not (len(bare) == 1 and get_close_matches(bare[0], job.tasks)):
        text = " ".join(bare).replace("'", "\\'")
        return [f"{job.bare}='{text}'", *overrides]
    wrong = bare[0] if bare[0] not in job.tasks else bare[1]
    tasks = f"one of the tasks {', '.join(job.tasks)}, then " if job.tasks else ""
    other = f"a {job.bare} or " if job.bare else ""
    near = _guess(job, wrong)
    raise OptionError(f"{job.name}: cannot read {wrong!r}: {near}expected {other}{tasks}options as name=value")
