"""A study: a file of what happened to its trials, and Orion's algorithm, which is told its history.

`study.json` holds what is searched, where the study began, and `events`: a trial's values as it is suggested, then each
change of its state. It is data, which nothing evaluates. Workers change it under a lock, and each keeps an algorithm of
its own, which goes through all events in their order: the same questions and answers bring it to the same state.

A trial names the worker that reserved it. Every worker holds a lock of its own, which the system releases when its
process ends; then its trials are given back.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import logging
import os
import platform
import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any, Literal

import msgspec
from filelock import FileLock
from msgspec import Struct
from msgspec.structs import replace
from orion.algo.base import algo_factory
from orion.core.io.space_builder import SpaceBuilder
from orion.core.utils.format_trials import dict_to_trial
from orion.core.worker.primary_algo import create_algo
from orion.core.worker.trial import Trial as OrionTrial

from deepcrib.errors import OptionError, RunError, UserError
from deepcrib.files import writing
from deepcrib.files.runs import environment, write_json
from deepcrib.jobs.hydra.sweep_runs import is_locked
from deepcrib.plugins import one_line
from hydra_plugins.deepcrib_orion._options import OrionSweeperConf
from hydra_plugins.deepcrib_orion._space import Parameter

State = Literal["new", "interrupted", "reserved", "completed", "broken"]
WAITING, RESERVED, FINISHED = ("new", "interrupted"), "reserved", ("completed", "broken")
PATIENCE = 60.0  # seconds that a worker waits for the file's lock, which others hold for moments


class Trial(Struct, frozen=True, forbid_unknown_fields=True):
    """A trial as its events leave it. values: by option. worker: `host:pid:token`. start, end: seconds since 1970."""

    id: str
    values: dict[str, int | float | str]
    state: State = "new"
    worker: str = ""
    start: float | None = None
    end: float | None = None
    objective: float | None = None
    standard_error: float | None = None
    error: str = ""

    def process(self) -> str:
        """Its worker as people read it: `host:pid`."""
        return self.worker.rpartition(":")[0]

    def seconds(self) -> float | None:
        """That it took; None while it has not ended."""
        return self.end - self.start if self.start and self.end else None


def trial_id(values: Mapping[str, Any]) -> str:
    """The name of a trial, and of its folder, by its values: the same on every machine."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:12]


class Study:
    """One worker's hold on a study. `say` prints a line about a trial taken over from a worker that ended."""

    def __init__(
        self,
        options: OrionSweeperConf,
        path: Path,
        parameters: Sequence[Parameter],
        record: Mapping[str, Any],
        say: Callable[[str], None],
    ) -> None:
        """Open the study in a file, or begin it there. Raises OptionError or RunError.

        record: what makes it one study, plain values by name: trials with another one cannot be compared.
        """
        self.options, self.path, self.record, self._say = options, path, record, say
        self.parameters = {parameter.key: parameter for parameter in parameters}
        self.sign = -1.0 if options.direction == "maximize" else 1.0  # Orion minimises
        logging.getLogger("orion").setLevel(logging.ERROR)
        self._space = SpaceBuilder().build({item.name: item.prior for item in parameters})
        self._algorithm = _make_algorithm(options, self._space, record["settings"])
        self._suggested: dict[str, OrionTrial] = {}
        self._heard = 0  # events that the algorithm has gone through
        token = uuid.uuid4().hex[:8]
        self.worker = f"{platform.node()}:{os.getpid()}:{token}"
        self._alive = FileLock(self._lock_of(token))
        with writing(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
        with self._held(), writing(path):
            if not path.exists():
                write_json(path, self._content)
            self._alive.acquire()

    def close(self) -> None:
        """Give up what is still held: another worker may take it over."""
        Path(self._alive.lock_file).unlink(missing_ok=True)
        self._alive.release()

    def trials(self) -> list[Trial]:
        """All trials, by the time at which they were suggested."""
        with self._held():
            return list(self._trials.values())

    def is_over(self) -> bool:
        """Whether nothing is left to do, for any worker. Raises RunError when too many trials are broken."""
        with self._held():
            trials, most = list(self._trials.values()), self.options.max_broken
            broken = [trial for trial in trials if trial.state == "broken"]
            if len(broken) >= most:
                raise RunError(
                    f"study {self.options.name}: {len(broken)} broken trials "
                    f"(hydra.sweeper.max_broken={most}), the last of them: {broken[-1].error}"
                )
            if any(trial.state not in FINISHED for trial in trials):
                return False
            self._hear()
            return len(trials) >= self.options.max_trials or bool(self._algorithm.is_done)

    def ask(self) -> Trial | None:
        """A reserved trial, or None while there is nothing to do but wait for those of other workers."""
        with self._held():
            self._recover()
            trial = next((trial for trial in self._trials.values() if trial.state in WAITING), None) or self._suggest()
            return trial and self._note(trial, state=RESERVED, worker=self.worker, start=time.time(), end=None)

    def release(self, trial: Trial, state: State, **changes: Any) -> None:
        """Give back (`interrupted`) or end a trial of this worker; nothing where another one has it now."""
        with self._held():
            known = self._trials[trial.id]
            if (known.state, known.worker) == (RESERVED, self.worker):
                self._note(known, state=state, **changes, **({"end": time.time()} if state in FINISHED else {}))

    def overrides(self, trial: Trial) -> list[str]:
        """A trial's values as overrides, groups first, which their options then change."""
        ordered = sorted(self.parameters.values(), key=lambda parameter: parameter.key.count("."))
        return [parameter.override(trial.values[parameter.key]) for parameter in ordered]

    # the file

    @contextlib.contextmanager
    def _held(self) -> Iterator[None]:
        """Keep other processes out, and read what stands there now."""
        with writing(self.path), FileLock(f"{self.path}.lock", timeout=PATIENCE):
            self._read()
            yield

    def _read(self) -> None:
        """The file, which may be anybody's: what it says of a trial is of this search, before Hydra resolves it."""
        if self.path.exists() and not self.path.is_file():  # a pipe, say, which nobody may ever write to
            raise OptionError(f"{self.path}: expected a study of deepcrib's, or a new file")
        try:
            self._trials: dict[str, Trial] = {}
            if self.path.exists():
                self._content = msgspec.json.decode(self.path.read_bytes())
                self._require_own()
            else:
                self._content = {"name": self.options.name, **self.record, "environment": environment(), "events": []}
            known: dict[str, dict[str, Any]] = {}
            for event in self._content["events"]:
                known[event["id"]] = known.get(event["id"], {}) | event
                self._trials[event["id"]] = self._checked(msgspec.convert(known[event["id"]], Trial))
        except UserError:
            raise
        except OSError as error:
            raise RunError(f"{self.path} cannot be read: {error.strerror or error}") from error
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise RunError(f"{self.path} cannot be read: it is damaged ({one_line(error)[:100]})") from error

    def _checked(self, trial: Trial) -> Trial:
        """A trial that this search can have suggested. Raises ValueError for any other."""
        searched = trial.values.keys() == self.parameters.keys() and all(
            parameter.holds(trial.values[key]) for key, parameter in self.parameters.items()
        )
        measured = trial.state != "completed" or trial.objective is not None
        if not (searched and measured and trial.id == trial_id(trial.values)):
            raise ValueError(f"trial {trial.id:.20} is none of this search")
        return trial

    def _require_own(self) -> None:
        """Raise OptionError where the file holds another study."""
        place = f"hydra.sweeper.name={self.options.name}: {self.path} holds"
        if "events" not in self._content:
            raise OptionError(f"{place} no study of this version of deepcrib; choose another name")
        for part, value in {"name": self.options.name, **self.record}.items():
            if self._content.get(part) != value:
                raise OptionError(
                    f"{place} a study with another {part}, {self._content.get(part)} instead of {value}; "
                    "a new study needs another hydra.sweeper.name"
                )

    def _note(self, trial: Trial, **changes: Any) -> Trial:
        """Add an event; returns the trial after it."""
        self._content["events"].append({"id": trial.id, **changes})
        write_json(self.path, self._content)
        self._trials[trial.id] = replace(trial, **changes)
        return self._trials[trial.id]

    # who works

    def _recover(self) -> None:
        """Give back the trials of workers that have ended."""
        for trial in list(self._trials.values()):
            if trial.state == RESERVED and self.has_ended(trial.worker):
                self._note(trial, state="interrupted")
                self._say(f"trial {trial.id} is given back: its process {trial.process()} has ended")

    def _lock_of(self, token: str) -> Path:
        return self.path.with_name(f"{self.path.name}.{token}")

    def has_ended(self, worker: str) -> bool:
        """Whether the process of a worker holds its lock no longer."""
        token = worker.rpartition(":")[2]
        return not re.fullmatch("[0-9a-f]{8}", token) or not is_locked(self._lock_of(token))

    # the algorithm

    def _suggest(self) -> Trial | None:
        """A new trial, and none beyond `max_trials`, however many workers ask."""
        self._hear()
        if len(self._trials) >= self.options.max_trials:
            return None
        values = self._next_values()
        if values is None or trial_id(values) in self._trials:
            return None
        trial = self._note(Trial(trial_id(values), values), values=values)
        self._heard = len(self._content["events"])
        return trial

    def _hear(self) -> None:
        """Let the algorithm go through the events since it was asked last."""
        for event in self._content["events"][self._heard :]:
            if "values" in event:
                self._next_values()
            elif event.get("state") in FINISHED:
                self._algorithm.observe([self._as_orions(self._trials[event["id"]])])
        self._heard = len(self._content["events"])

    def _next_values(self) -> dict[str, Any] | None:
        """What the algorithm suggests, by option; None where it has nothing."""
        for found in self._algorithm.suggest(1) or ():
            params = {key: found.params[item.name] for key, item in self.parameters.items()}
            values = {key: value.item() if hasattr(value, "item") else value for key, value in params.items()}
            self._suggested[trial_id(values)] = found
            return values
        return None

    def _as_orions(self, trial: Trial) -> OrionTrial:
        """A finished trial as the algorithm suggested it, which may say of which other one it is a longer version."""
        values = {self.parameters[key].name: value for key, value in trial.values.items()}
        found = copy.deepcopy(self._suggested.get(trial.id)) or dict_to_trial(values, self._space)
        found.status = trial.state
        if trial.objective is not None:
            found.results = [OrionTrial.Result(name="objective", type="objective", value=self.sign * trial.objective)]
        return found


def _make_algorithm(options: OrionSweeperConf, space: Any, settings: Mapping[str, Any]) -> Any:
    try:
        algorithm = create_algo(algo_factory.get_class(options.algorithm), space, **settings)
        algorithm.max_trials = options.max_trials
    except (NotImplementedError, TypeError, ValueError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0]
        raise OptionError(f"hydra.sweeper.algorithm={options.algorithm}: {reason}") from error
    return algorithm


def takes_seed(algorithm: str) -> bool:
    """Whether an algorithm of Orion has a seed; `gridsearch` leaves nothing to chance."""
    found = algo_factory.get_classes().get(algorithm.lower())
    return found is None or "seed" in signature(found).parameters
