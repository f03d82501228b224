"""The run folder of a job: its options, where it ran, and what came out.

    config.yaml       every option, resolved
    environment.json  command, start, commit, versions, machine, overrides of a sweep; seconds and `commands` of all
    JOB.log           what the job said
    summary.json      the metrics that the job prints last; present only once the job has finished
    error.json        in a sweep, why the run failed; gone once it goes on

Each file appears whole or not at all: it is written to a temporary name, flushed to disk and renamed.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from deepcrib import __version__
from deepcrib.errors import RunError
from deepcrib.files import TEMPORARY, write_atomic, writing

CONFIG, ENVIRONMENT, SUMMARY, ERROR = "config.yaml", "environment.json", "summary.json", "error.json"
REFUSED, LOCK = "refused.json", "run.lock"
"""In the folder of a sweep's run: why it was left alone; while a process is at work on it, which one."""
_LEFT = (ERROR, REFUSED, LOCK)  # what may lie in a run folder before the run begins
_OF_A_START = ("time", "command", "seconds", "summary")
"""What stands in each entry of `commands`; beside it, what was not as at the first start."""
_PACKAGE = Path(__file__).resolve().parents[1]
_RECORDED_VERSIONS = ("torch", "numpy", "numba", "hydra-core", "omegaconf", "tensorboard", "safetensors")


def conf_folder() -> Path:
    """The folder of the configs: inside an installed package, beside it in a checkout."""
    return (repository() or _PACKAGE) / "conf"


def repository() -> Path | None:
    """The root of the checkout that this package runs from; None when it was installed from a wheel."""
    return None if (_PACKAGE / "conf" / "train.yaml").is_file() else _PACKAGE.parent


def outputs_folder() -> Path:
    """Where run folders go: `outputs/` of the checkout, or of the current folder when installed."""
    return (repository() or Path.cwd()) / "outputs"


def new_folder(job: str) -> Path:
    """Create and return `outputs/<job>/<date>/<time>`, with a number behind when that name is taken.

    Creating it here, rather than only naming it, keeps two runs started in the same second apart.
    """
    base = outputs_folder() / job / datetime.now().strftime("%Y-%m-%d/%H-%M-%S")
    folder, number = base, 1
    while True:
        try:
            folder.mkdir(parents=True)
            return folder
        except FileExistsError:
            if not folder.is_dir():  # a file is in the way; whoever writes there reports it
                return folder
            number += 1
            folder = base.with_name(f"{base.name}_{number}")
        except OSError:
            return folder


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a mapping as indented JSON, atomically."""
    write_atomic(path, json.dumps(content, indent=2, allow_nan=True) + "\n")


@dataclass
class RunFolder:
    """One run's folder. `start` and `resume` claim it, `finish` marks it as complete, `fail` says why it is not.

    overrides: those that a sweep gives this run, to be recorded with it. varied: those of them that have several values
    in the sweep.
    """

    path: Path
    resumable: bool = False
    overrides: Sequence[str] = ()
    varied: Sequence[str] = ()
    _begun: float | None = field(default=None, init=False)

    def start(self, config: str) -> None:
        """Claim the folder for a new run and record its options (`config`, YAML text)."""
        self.create()
        if held := self._held():
            raise RunError(f"run folder {self.path} {held}name a new or an empty one with hydra.run.dir=FOLDER")
        self._record(config, environment())

    def resume(self, config: str) -> None:
        """Go on with the run in this folder; what it was told and came to so far stays listed."""
        recorded, now = read_json(self.path / ENVIRONMENT), environment()
        before = starts(recorded)
        if before and "seconds" not in before[-1]:
            before[-1]["seconds"] = self._seconds_since(before[-1])
        if before and (summary := read_json(self.path / SUMMARY)):
            before[-1]["summary"] = summary
        (self.path / SUMMARY).unlink(missing_ok=True)  # until it has finished again
        first = {name: value for name, value in (before or [now])[0].items() if name not in ("seconds", "summary")}
        entries = [
            {name: value for name, value in one.items() if name in _OF_A_START or first.get(name) != value}
            for one in (*before, now)
        ]
        self._record(config, first | ({"commands": entries} if before else {}))

    def stop(self) -> None:
        """Record how long this process, and all of the run's, have worked on it; nothing where it has not begun."""
        if not self.begun or not (recorded := read_json(self.path / ENVIRONMENT)):
            return
        entries = recorded.get("commands", [recorded])
        entries[-1]["seconds"] = round(time.monotonic() - (self._begun or 0.0), 1)
        told = [one["seconds"] for one in entries if is_number(one.get("seconds"))]
        write_json(self.path / ENVIRONMENT, recorded | {"seconds": round(sum(told), 1)})

    def finish(self, summary: Mapping[str, Any]) -> None:
        """Write the job's summary; from here on the folder counts as a finished run."""
        self.stop()
        write_json(self.path / SUMMARY, summary)

    def fail(self, error: str, exit_code: int) -> None:
        """Write why the run ended: one line, and the exit code that it stands for."""
        self.create()
        now = datetime.now().astimezone().isoformat(timespec="seconds")
        content = {"error": error, "exit_code": exit_code, "time": now, "host": platform.node()}
        write_json(self.path / ERROR, content | self._recorded_overrides())

    def remove_if_empty(self) -> None:
        """Leave nothing behind of a job that ended before it wrote anything."""
        with contextlib.suppress(OSError):  # holds files, or never existed: both are as they should be
            self.path.rmdir()

    @property
    def begun(self) -> bool:
        """Whether this process has claimed the folder."""
        return self._begun is not None

    @property
    def finished(self) -> bool:
        """Whether the folder holds the summary of a run."""
        return bool(read_json(self.path / SUMMARY))

    def create(self) -> None:
        """Make the folder where there is none. Raises RunError."""
        with writing(self.path):
            self.path.mkdir(parents=True, exist_ok=True)

    def _held(self) -> str:
        """What stands in the way of a new run, and what may be done about it."""
        if (self.path / SUMMARY).exists():
            return f"already holds a finished run ({SUMMARY}): "
        if (self.path / CONFIG).exists():
            more = "continue it with resume=FOLDER, or " if self.resumable else ""
            return f"already holds an unfinished run: {more}"
        names = sorted(path.name for path in self.path.iterdir() if not path.name.startswith("."))
        logs = [name for name in names if name.endswith(".log") and not (self.path / name).is_symlink()]
        others = [name for name in names if name not in (*_LEFT, *logs)]
        return f"holds {others[0]}, which is of no run: " if others else ""

    def _seconds_since(self, start: Mapping[str, Any]) -> float:
        """From a start to the last modification of a file; the process was killed."""
        with contextlib.suppress(KeyError, TypeError, ValueError):
            written = max(path.stat().st_mtime for path in self.path.iterdir() if not path.name.endswith(".lock"))
            return max(0.0, round(written - datetime.fromisoformat(start["time"]).timestamp(), 1))
        return 0.0

    def _record(self, config: str, told: Mapping[str, Any]) -> None:
        self._begun = time.monotonic()
        for left in self.path.rglob(f".*{TEMPORARY}"):  # by a process that was killed
            left.unlink(missing_ok=True)
        write_atomic(self.path / CONFIG, config)
        write_json(self.path / ENVIRONMENT, {**told, **self._recorded_overrides()})
        (self.path / ERROR).unlink(missing_ok=True)

    def _recorded_overrides(self) -> dict[str, Any]:
        return {"overrides": list(self.overrides)} if self.overrides else {}


def read_json(path: Path) -> dict[str, Any]:
    """The mapping in a JSON file; empty when there is no such file or it is not a mapping."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def starts(environment: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What `environment.json` holds of each start of a run, the first one first."""
    entries = environment.get("commands")
    if not isinstance(entries, list):
        return [dict(environment)] if environment else []
    told = {name: value for name, value in environment.items() if name not in ("commands", "seconds")}
    return [told | one for one in entries if isinstance(one, dict)]


def is_number(value: Any) -> bool:
    """Whether what a file holds is a finite number."""
    of_kind = isinstance(value, int | float) and not isinstance(value, bool)
    return of_kind and abs(value) <= sys.float_info.max  # no NaN, and no whole number that no float holds


def flat(content: Mapping[Any, Any], prefix: str = "", separator: str = ".") -> Iterator[tuple[str, Any]]:
    """(name, value) of what nested mappings hold, by names such as `learner.games`; an empty mapping is a value."""
    for name, value in content.items():
        if isinstance(value, Mapping) and value:
            yield from flat(value, f"{prefix}{name}{separator}", separator)
        else:
            yield f"{prefix}{name}", value


def differing(options: Sequence[Mapping[str, Any]]) -> list[str]:
    """Names of what does not have the same value in all mappings; a missing one is a value of its own."""
    names = dict.fromkeys(name for found in options for name in found)
    return [name for name in names if len({repr(found[name]) if name in found else "" for found in options}) > 1]


def natural(text: Path | str) -> list[tuple[str, int]]:
    """For sorting with 2 before 10."""
    return [(words, int(digits or 0)) for words, digits in re.findall(r"(\D*)(\d*)", str(text))]


def environment() -> dict[str, Any]:
    """What a result may depend on besides its options: code, versions, machine."""
    versions = {"deepcrib": __version__, "python": platform.python_version()}
    for name in _RECORDED_VERSIONS:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "absent"
    return {
        "time": datetime.now().astimezone().isoformat(timespec="seconds"),
        "command": sys.argv,
        "commit": _git("rev-parse", "HEAD"),
        "changed_files": len((_git("status", "--porcelain") or "").splitlines()),
        "versions": versions,
        "machine": _machine(),
    }


def _git(*arguments: str) -> str | None:
    """Output of a git command on the checkout; None outside of one, or without git."""
    root = repository()
    if root is None or not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _machine() -> dict[str, Any]:
    """Host, system, processor, usable cores, memory in GB and GPUs."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else None
    torch = sys.modules.get("torch")  # a job that has not imported it uses no GPU
    return {
        "host": platform.node(),
        "system": platform.platform(),
        "processor": processor_name(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gb": memory and round(memory / 1e9, 1),
        "gpus": [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())] if torch else [],
    }


def processor_name() -> str:
    """What this machine calls its processor."""
    with contextlib.suppress(OSError):
        if found := re.search(r"(?m)^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8")):
            return found[1].strip()
    return platform.processor()
