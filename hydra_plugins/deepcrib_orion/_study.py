"""A study: Orion's experiment in a database, asked for trials and given their results."""

from __future__ import annotations

import contextlib
import json
import logging
import pickle
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

from orion.algo.base import algo_factory
from orion.core.io.database import DatabaseTimeout, DuplicateKeyError
from orion.core.io.experiment_builder import ExperimentBuilder
from orion.core.utils.exceptions import RaceCondition

from deepcrib.errors import OptionError, RunError, UserError
from deepcrib.files import writing
from hydra_plugins.deepcrib_orion._options import OrionSweeperConf
from hydra_plugins.deepcrib_orion._pickles import DataPickledDB, require_plain_study
from hydra_plugins.deepcrib_orion._space import Parameter
from hydra_plugins.deepcrib_orion._storage import DATABASE_ERRORS, StudyStorage, shown
from hydra_plugins.deepcrib_orion._trials import TrialRow

RECORD = "deepcrib"  # key of a study's record among the metadata of its experiment
FINISHED = ("completed", "broken")
_MONGO = "mongodb://"


class Study:
    """One worker's hold on a study."""

    def __init__(
        self,
        options: OrionSweeperConf,
        database: str,
        parameters: Sequence[Parameter],
        record: Mapping[str, Any],
        say: Callable[[str], None],
    ) -> None:
        """Open the study in `database`, a file or `mongodb://...`, or create it. Raises OptionError or RunError.

        record: what makes it one study, plain values by name: trials with another one cannot be compared.
        """
        self.options, self.database, self.record = options, database, record
        self.parameters = {parameter.name: parameter for parameter in parameters}
        logging.getLogger("orion").setLevel(logging.ERROR)
        with self.failures_in_one_line():
            self.storage = StudyStorage(database_config(database), options.heartbeat, say)
            with self._damage_in_one_line():
                self._refuse_another()
                self.experiment = self._build()
                self._recover()
                self._require_own_trials()
        self.storage.give_signs()

    def trials(self) -> list[Any]:
        """All trials, by the time at which they were suggested."""
        trials: list[Any] = self.experiment.fetch_trials()
        return trials

    def is_over(self) -> bool:
        """Whether nothing is left to do, for any worker. Raises RunError when too many trials are broken."""
        trials, most = self.trials(), self.options.max_broken
        broken = [trial for trial in trials if trial.status == "broken"]
        if len(broken) >= most:
            raise RunError(
                f"study {self.options.name}: {len(broken)} broken trials "
                f"(hydra.sweeper.max_broken={most}), the last of them: {error_of(broken[-1])}"
            )
        if any(trial.status not in FINISHED for trial in trials):
            return False
        return len(trials) >= self.options.max_trials or bool(self.experiment.algorithm.is_done)

    def is_idle(self) -> bool:
        """Whether no worker has a trial, and none waits for one."""
        return all(trial.status in FINISHED for trial in self.trials())

    def ask(self) -> Any | None:
        """A reserved trial, or None while there is nothing to do but wait for those of other workers."""
        self._recover()
        trial = self.storage.reserve_trial(self.experiment)
        if trial is None:
            self._suggest()
            trial = self.storage.reserve_trial(self.experiment)
        return trial

    def overrides(self, trial: Any) -> list[str]:
        """A trial's values as overrides, groups first, which their options then change.

        Raises RunError for what is not searched: a database may be anybody's, and words are worked out.
        """
        values = {item.name: item.value for item in trial._params}
        for name, parameter in self.parameters.items():
            if not parameter.holds(values.get(name)):
                said = f"{parameter.key}={values.get(name)!r:.60}"
                raise RunError(f"{self.database}: trial {trial.id} has {said}, expected {parameter.prior}")
        ordered = sorted(self.parameters.values(), key=lambda parameter: parameter.key.count("."))
        return [parameter.override(values[parameter.name]) for parameter in ordered]

    def complete(self, trial: Any, value: float, standard_error: float | None) -> None:
        """Give Orion, which minimises, the result."""
        sign = -1.0 if self.options.direction == "maximize" else 1.0
        results = [{"name": self.options.objective, "type": "objective", "value": sign * value}]
        if standard_error is not None:
            results.append({"name": "standard_error", "type": "statistic", "value": standard_error})
        self.storage.release(trial, "completed", results)

    def fail(self, trial: Any, reason: str) -> None:
        """Mark a trial as broken, with the reason."""
        self.storage.release(trial, "broken", [{"name": "error", "type": "statistic", "value": reason}])

    def give_back(self, trial: Any) -> None:
        """Let any worker run a trial."""
        self.storage.release(trial, "interrupted")

    def rows(self, folder: Path) -> list[TrialRow]:
        """The trials for people: real values and names. folder: the study's."""
        return [self._row(number, trial, folder) for number, trial in enumerate(self.trials())]

    @contextlib.contextmanager
    def failures_in_one_line(self) -> Iterator[None]:
        """Raise RunError for a database that is locked, cannot be reached or cannot be written."""
        try:
            yield
        except DATABASE_ERRORS as error:
            raise RunError(failure_line(self.database, error)) from error
        except (pickle.UnpicklingError, EOFError) as error:
            raise RunError(f"{self.database} cannot be read: {error}") from error

    @contextlib.contextmanager
    def _damage_in_one_line(self) -> Iterator[None]:
        """Raise RunError for a database whose documents are not as Orion writes them."""
        try:
            yield
        except UserError:
            raise
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:100]
            raise RunError(f"{_without_password(self.database)} cannot be read: it is damaged ({reason})") from error

    def _require_own_trials(self) -> None:
        """Refuse trials with other values than are searched, or under another name than their values give them."""
        for document, trial in self.storage.stored_trials(self.experiment):
            self.overrides(trial)
            if (document["id"], document["status"]) != (trial.id, trial.status):  # it would be waited for without end
                raise ValueError(f"trial {document['id']!r:.40} has the values of {trial.id}")
        self.rows(Path())

    def _row(self, number: int, trial: Any, folder: Path) -> TrialRow:
        sign = -1.0 if self.options.direction == "maximize" else 1.0
        errors = [item.value for item in trial.results if item.name == "standard_error"]
        end = trial.end_time or trial.heartbeat
        return TrialRow(
            number=number,
            id=trial.id,
            state=trial.status,
            values={self.parameters[item.name].key: item.value for item in trial._params},
            objective=None if trial.objective is None else sign * trial.objective.value,
            standard_error=errors[0] if errors else None,
            seconds=(end - trial.start_time).total_seconds() if trial.start_time and end else None,
            worker=shown(trial.worker),
            folder=str(folder / subdir(trial)),
            error=error_of(trial),
        )

    def _recover(self) -> None:
        self.storage.release_stale_lock(self.experiment.id)
        self.storage.recover(self.experiment)

    def _suggest(self) -> None:
        """Suggest one trial, and none beyond `max_trials`, however many workers ask.

        The algorithm observes first what came out since, also of workers that were killed.
        """
        with contextlib.ExitStack() as held:
            with self._damage_in_one_line():  # of the algorithm's state
                algorithm = held.enter_context(self.experiment.acquire_algorithm_lock())
            trials = self.trials()
            algorithm.observe([t for t in trials if t.status in FINISHED and not algorithm.has_observed(t)])
            if len(trials) < self.options.max_trials:
                for trial in algorithm.suggest(1):
                    with contextlib.suppress(DuplicateKeyError):  # suggested by a process that was killed then
                        self.experiment.register_trial(trial)

    @property
    def _space(self) -> dict[str, str]:
        """Priors by Orion's names."""
        return {parameter.name: parameter.prior for parameter in self.parameters.values()}

    def _refuse_another(self) -> None:
        """Raise OptionError when the database holds another study of this name."""
        found = self.storage.fetch_experiments({"name": self.options.name})
        if not found:
            return
        text = found[-1].get("metadata", {}).get(RECORD)
        place = f"hydra.sweeper.name={self.options.name}: {_without_password(self.database)} holds"
        if text is None:
            raise OptionError(f"{place} an experiment of that name which is no study of deepcrib; choose another name")
        theirs = json.loads(text)
        for part, value in self.record.items():
            if theirs.get(part) != value:
                raise OptionError(
                    f"{place} a study with another {part}, {_difference(theirs.get(part), value)}; "
                    "a new study needs another hydra.sweeper.name"
                )
        for document in found:  # all of it, since Orion evaluates what stands there
            require_plain_study(document, self.options.algorithm, self._space)

    def _build(self) -> Any:
        builder, algorithm = ExperimentBuilder(self.storage), self.options.algorithm
        arguments = {
            "space": self._space,
            "algorithm": {algorithm: self.record["settings"]},
            "max_trials": self.options.max_trials,
            "max_broken": self.options.max_broken,
            "metadata": {RECORD: json.dumps(self.record)},
        }
        try:
            with contextlib.suppress(RaceCondition):
                return builder.build(self.options.name, **arguments)
            return builder.build(self.options.name, **arguments)
        except (NotImplementedError, TypeError, ValueError, RuntimeError) as error:
            reason = str(error).strip().splitlines()[0]
            if "fidelity" in reason:
                reason = "expected an option with fidelity(low,high,base) among those searched"
            raise OptionError(f"hydra.sweeper.algorithm={algorithm}: {reason}") from error


def takes_seed(algorithm: str) -> bool:
    """Whether an algorithm of Orion has a seed; `gridsearch` leaves nothing to chance."""
    found = algo_factory.get_classes().get(algorithm.lower())
    return found is None or "seed" in signature(found).parameters


def subdir(trial: Any) -> str:
    """The name of a trial's folder: the same in every start and on every machine."""
    return str(trial.id)[:12]


def error_of(trial: Any) -> str:
    """Why a trial is broken; empty where it is not."""
    return next((str(item.value) for item in trial.results if item.name == "error"), "")


def database_config(database: str) -> dict[str, Any]:
    """Orion's arguments for a database. Raises OptionError for a file that Orion did not write."""
    if database.startswith(_MONGO):
        return {"type": "mongodb", "host": database}
    if "://" in database:
        raise OptionError(f"hydra.sweeper.database={database}: expected a file, or mongodb://USER:PASSWORD@HOST/NAME")
    path = Path(database)
    if path.exists() and not _is_orions(path):
        raise OptionError(f"hydra.sweeper.database={database}: expected a database that Orion wrote, or a new file")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    return {"type": DataPickledDB.__name__, "host": database}


def _is_orions(path: Path) -> bool:
    """Whether a file begins as a pickle of Orion's database does; nothing in it is executed to find out."""
    if not path.is_file():  # a pipe, say, which nobody may ever write to
        return False
    with path.open("rb") as file:
        head = file.read(100)
    return head.startswith(pickle.PROTO) and b"orion.core.io.database.ephemeraldb" in head


def failure_line(database: str, error: Exception) -> str:
    """What a database could not do, without what follows in MongoDB's messages."""
    if isinstance(error, OSError):
        return f"cannot write {error.filename or database}: {error.strerror or error}"
    if isinstance(error, DatabaseTimeout) and not database.startswith(_MONGO):
        return f"{database}: locked for a minute; remove {database}.lock if no worker is"
    text = str(error.__cause__ or error).strip() or "no answer in time"
    reason = re.split(r" [(]configured|, full error|, Timeout|$", text, flags=re.M)[0]
    return f"hydra.sweeper.database={_without_password(database)}: {reason}"


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
