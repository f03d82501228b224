"""A study: Orion's experiment in a database, asked for trials and told what came of them."""

from __future__ import annotations

import contextlib
import json
import logging
import pickle
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from orion.client.experiment import ExperimentClient
from orion.core.io.database import DatabaseError, DatabaseTimeout, DuplicateKeyError
from orion.core.io.database.ephemeraldb import EphemeralDB
from orion.core.io.experiment_builder import ExperimentBuilder
from orion.core.utils.exceptions import (
    BrokenExperiment,
    CompletedExperiment,
    RaceCondition,
    ReservationRaceCondition,
    WaitingForTrials,
)
from orion.core.worker.producer import Producer
from orion.core.worker.trial import AlreadyReleased

from deepcrib.errors import OptionError, RunError
from hydra_plugins.deepcrib_orion._space import Parameter
from hydra_plugins.deepcrib_orion._storage import DATABASE_ERRORS, Pacemaker, StudyStorage, shown, this_process
from hydra_plugins.deepcrib_orion._trials import TrialRow

RECORD = "deepcrib"  # key of a study's record among the metadata of its experiment
FINISHED = ("completed", "broken")
_MONGO = "mongodb://"


@dataclass(frozen=True)
class Record:
    """What makes a study one study: trials with another one of these cannot be compared.

    space: priors by key. fixed: the overrides that are the same for every trial.
    """

    job: str
    space: dict[str, str]
    algorithm: str
    settings: dict[str, Any]
    objective: str
    direction: str
    fixed: list[str]


@dataclass(frozen=True)
class Plan:
    """A search as it was asked for. database: a file, or `mongodb://...`."""

    name: str
    database: str
    record: Record
    parameters: Sequence[Parameter]
    max_trials: int
    max_broken: int
    heartbeat: float


class _Producer(Producer):
    """Suggests one trial at a time, and none beyond `max_trials`, however many processes ask."""

    def produce(self, pool_size: int, timeout: float = 0, retry_interval: float = 0) -> int:
        """The number of new trials, 0 or 1. The algorithm hears first of results whose worker was killed before."""
        with self.experiment.acquire_algorithm_lock() as algorithm:
            trials = self.experiment.fetch_trials()
            algorithm.observe([t for t in trials if t.status in FINISHED and not algorithm.has_observed(t)])
            if len(trials) >= self.experiment.max_trials:
                return 0
            try:
                for trial in algorithm.suggest(1):
                    self.experiment.register_trial(trial)
                    return 1
            except DuplicateKeyError:  # suggested before by a process that was killed before it could say so
                pass
        return 0


class _Client(ExperimentClient):
    """Orion's client with our producer and pacemaker."""

    def __init__(self, experiment: Any) -> None:
        super().__init__(experiment)
        self._producer = _Producer(experiment)

    def _maintain_reservation(self, trial: Any) -> None:
        self._pacemakers[trial.id] = Pacemaker(trial, self.storage, self.storage.heartbeat)
        self._pacemakers[trial.id].start()


class Study:
    """One worker's hold on a study."""

    def __init__(self, plan: Plan, say: Callable[[str], None]) -> None:
        """Open the study, or create it. Raises OptionError or RunError for what cannot be gone on with."""
        self.plan = plan
        logging.getLogger("orion").setLevel(logging.ERROR)
        self._parameters = {parameter.name: parameter for parameter in plan.parameters}
        with failures_told(plan.database):
            self._storage = StudyStorage(database_config(plan.database), plan.heartbeat, say)
            self._refuse_another()
            self._client = _Client(self._build())
            self._storage.release_stale_lock(self._client.id)
            self._storage.recover(self._client._experiment)

    @property
    def client(self) -> ExperimentClient:
        """Orion's client, for its plots."""
        return self._client

    def trials(self) -> list[Any]:
        """All trials, by the time at which they were suggested."""
        trials: list[Any] = self._client.fetch_trials()
        return trials

    def is_over(self) -> bool:
        """Whether nothing is left to do, for any worker. Raises RunError when too many trials are broken."""
        trials = self.trials()
        broken = [trial for trial in trials if trial.status == "broken"]
        if len(broken) >= self.plan.max_broken:
            raise RunError(
                f"study {self.plan.name}: {len(broken)} broken trials "
                f"(hydra.sweeper.max_broken={self.plan.max_broken}), the last of them: {error_of(broken[-1])}"
            )
        if any(trial.status not in FINISHED for trial in trials):
            return False
        return len(trials) >= self.plan.max_trials or bool(self._client._experiment.algorithm.is_done)

    def is_idle(self) -> bool:
        """Whether no worker has a trial, and none waits for one."""
        return all(trial.status in FINISHED for trial in self.trials())

    def ask(self) -> Any | None:
        """A reserved trial, or None while there is nothing to do but wait for those of other workers."""
        self._storage.recover(self._client._experiment)
        try:
            return self._client.suggest(pool_size=1)
        except (WaitingForTrials, ReservationRaceCondition, CompletedExperiment, BrokenExperiment):
            return None

    def overrides(self, trial: Any) -> list[str]:
        """A trial's values as overrides, groups first, which their options then change."""
        values = self.values(trial)
        return [
            item.override(values[item.key]) for item in sorted(self.plan.parameters, key=lambda p: p.key.count("."))
        ]

    def values(self, trial: Any) -> dict[str, Any]:
        """A trial's values by the keys of their options."""
        return {self._parameters[item.name].key: item.value for item in trial._params}

    def complete(self, trial: Any, value: float, standard_error: float | None) -> None:
        """Tell Orion, which minimises, what came out."""
        sign = -1.0 if self.plan.record.direction == "maximize" else 1.0
        results = [{"name": self.plan.record.objective, "type": "objective", "value": sign * value}]
        if standard_error is not None:
            results.append({"name": "standard_error", "type": "statistic", "value": standard_error})
        with _lost_to_another():
            self._client.observe(trial, results)

    def fail(self, trial: Any, reason: str) -> None:
        """Mark a trial as broken, with the reason."""
        where = {"status": "reserved", "worker": this_process()}
        error = {"name": "error", "type": "statistic", "value": reason}
        self._storage.update_trial(trial, results=[error], where=where)
        with _lost_to_another():
            self._client.release(trial, status="broken")

    def give_back(self, trial: Any) -> None:
        """Let any worker go on with a trial, unless this one had to let it go already."""
        if trial.id not in self._client._pacemakers:
            return
        with _lost_to_another():
            self._client.release(trial, status="interrupted")

    def rows(self, folder: Path) -> list[TrialRow]:
        """The trials for people: real values and names. folder: the study's."""
        return [self._row(number, trial, folder) for number, trial in enumerate(self.trials())]

    def close(self) -> None:
        """End this worker's hold; trials that could not be given back are no longer kept alive."""
        while self._client._pacemakers:
            self._client._pacemakers.popitem()[1].stop()
        self._client.close()

    def _row(self, number: int, trial: Any, folder: Path) -> TrialRow:
        sign = -1.0 if self.plan.record.direction == "maximize" else 1.0
        errors = [item.value for item in trial.results if item.name == "standard_error"]
        end = trial.end_time or trial.heartbeat
        return TrialRow(
            number=number,
            id=trial.id,
            state=trial.status,
            values=self.values(trial),
            objective=None if trial.objective is None else sign * trial.objective.value,
            standard_error=errors[0] if errors else None,
            seconds=(end - trial.start_time).total_seconds() if trial.start_time and end else None,
            worker=shown(trial.worker),
            folder=str(folder / subdir(trial)),
            error=error_of(trial),
        )

    def _refuse_another(self) -> None:
        """Raise OptionError when the database holds another study of this name."""
        found = self._storage.fetch_experiments({"name": self.plan.name})
        if not found:
            return
        text = found[-1].get("metadata", {}).get(RECORD)
        place = f"hydra.sweeper.name={self.plan.name}: {_without_password(self.plan.database)} holds"
        if text is None:
            raise OptionError(f"{place} an experiment of that name which is no study of deepcrib; choose another name")
        ours, theirs = asdict(self.plan.record), json.loads(text)
        for part, value in ours.items():
            if theirs.get(part) != value:
                raise OptionError(
                    f"{place} a study with another {part}, {_difference(theirs.get(part), value)}; "
                    "a new study needs another hydra.sweeper.name"
                )

    def _build(self) -> Any:
        record = self.plan.record
        builder = ExperimentBuilder(self._storage)
        arguments = {
            "space": {parameter.name: parameter.prior for parameter in self.plan.parameters},
            "algorithm": {record.algorithm: record.settings},
            "max_trials": self.plan.max_trials,
            "max_broken": self.plan.max_broken,
            "metadata": {RECORD: json.dumps(asdict(record))},
        }
        try:
            with contextlib.suppress(RaceCondition):
                return builder.build(self.plan.name, **arguments)
            return builder.build(self.plan.name, **arguments)
        except (NotImplementedError, TypeError, ValueError, RuntimeError) as error:
            reason = str(error).strip().splitlines()[0]
            if "fidelity" in reason:
                reason = "expected an option with fidelity(low,high,base) among those searched"
            raise OptionError(f"hydra.sweeper.algorithm={record.algorithm}: {reason}") from error


def subdir(trial: Any) -> str:
    """The name of a trial's folder: the same in every start and on every machine."""
    return str(trial.id)[:12]


def error_of(trial: Any) -> str:
    """Why a trial is broken; empty where it is not."""
    return next((str(item.value) for item in trial.results if item.name == "error"), "")


def database_config(database: str) -> dict[str, Any]:
    """Orion's words for a database. Raises OptionError for a file that Orion did not write."""
    if database.startswith(_MONGO):
        return {"type": "mongodb", "host": database}
    if "://" in database:
        raise OptionError(f"hydra.sweeper.database={database}: expected a file, or mongodb://USER:PASSWORD@HOST/NAME")
    path = Path(database)
    if path.exists() and not _is_orions(path):
        raise OptionError(f"hydra.sweeper.database={database}: expected a database that Orion wrote, or a new file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"cannot write {database}: {error.strerror}") from error
    return {"type": "pickleddb", "host": database}


class _Unpickler(pickle.Unpickler):
    """Reads what databases of Orion consist of, and nothing that could do anything else."""

    def find_class(self, module: str, name: str) -> Any:
        """Refuse other classes and functions."""
        if module.split(".")[0] in ("orion", "datetime", "collections", "_codecs", "numpy"):
            return super().find_class(module, name)
        if module == "builtins" and name in ("set", "frozenset", "complex", "bytearray"):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name}")


def _is_orions(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return isinstance(_Unpickler(file).load(), EphemeralDB)
    except Exception:  # whatever reading another program's bytes ends in
        return False


def _difference(theirs: Any, ours: Any) -> str:
    """Both, or of mappings and lists what differs."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        keys = [key for key in sorted({*theirs, *ours}) if theirs.get(key) != ours.get(key)]
        theirs, ours = ({key: side[key] for key in keys if key in side} for side in (theirs, ours))
    if isinstance(theirs, list) and isinstance(ours, list):
        theirs, ours = [v for v in theirs if v not in ours], [v for v in ours if v not in theirs]
    return f"{theirs or 'nothing'} instead of {ours or 'nothing'}"


def _without_password(database: str) -> str:
    """A database's address as it may be shown."""
    head, at, tail = database.rpartition("@")
    return f"{_MONGO}...@{tail}" if at and head.startswith(_MONGO) else database


@contextlib.contextmanager
def failures_told(database: str) -> Any:
    """Raise RunError, in one line, for a database that is locked, cannot be reached or cannot be written."""
    place = f"hydra.sweeper.database={_without_password(database)}"
    try:
        yield
    except OSError as error:
        raise RunError(f"cannot write {error.filename or database}: {error.strerror or error}") from error
    except DATABASE_ERRORS as error:
        if isinstance(error, DatabaseTimeout) and not database.startswith(_MONGO):
            raise RunError(f"{database}: locked for a minute; remove {database}.lock if no worker is") from error
        words = str(error.__cause__ or error).strip() or "no answer in time"  # of MongoDB, where Orion has its own
        raise RunError(
            f"{place}: {re.split(r' [(]configured|, full error|, Timeout|$', words, flags=re.M)[0]}"
        ) from error


@contextlib.contextmanager
def _lost_to_another() -> Any:
    """Another worker took this trial for lost and has it now; what comes of it there counts."""
    try:
        yield
    except DatabaseError:  # a RuntimeError too, and no word about the trial
        raise
    except (AlreadyReleased, RuntimeError) as error:
        logging.getLogger(__name__).warning("%s", error)
