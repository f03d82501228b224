"""What scripts of long runs share: a clone of this repository at one commit, and commands of it, one at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

REPOSITORY = Path(__file__).resolve().parents[1]
DEEPCRIB = ("-m", "deepcrib")
"""The command, behind `python`."""


def clone_at(path: Path, commit: str) -> Path:
    """The repository at a commit, cloned to a path where that is not done yet. Raises SystemExit for another one."""
    if not path.exists():
        _git("clone", "-q", str(REPOSITORY), str(path))
        _git("-C", str(path), "checkout", "-q", commit)
    if (found := _git("-C", str(path), "rev-parse", "HEAD")) != commit:
        raise SystemExit(f"{path} is at commit {found[:7]}, expected {commit[:7]}: remove it, or name another folder")
    return path


def run_python(clone: Path, words: Sequence[str], output: IO[str]) -> int:
    """The exit code of `python WORDS` in a clone, on one thread and with the niceness of this process.

    Where this process is stopped, the command is told to end, and saves what it can.
    """
    own = dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    own["PYTHONPATH"] = str(clone)  # before the package that this interpreter has installed
    process = subprocess.Popen(
        [sys.executable, *words],
        cwd=clone, env=os.environ | own, stdout=output, stderr=output, start_new_session=True,
    )  # fmt: skip
    with suppress(OSError):  # where sessions share the processor, niceness counts within each alone
        Path(f"/proc/{process.pid}/autogroup").write_text(str(os.nice(0)))
    try:
        return process.wait()
    except BaseException:
        process.terminate()
        process.wait()
        raise


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout.strip()
