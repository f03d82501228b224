"""A study: Orion's experiment in a database, asked for trials and given their results."""

from __future__ import annotations

import contextlib
import json
import logging
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

import pandas
from orion.algo.base import algo_factory
from orion.core.io.database import DatabaseTimeout, DuplicateKeyError
from orion.core.io.experiment_builder import ExperimentBuilder
from orion.core.utils.exceptions import RaceCondition

from deepcrib.errors import OptionError, RunError, UserError
from deepcrib.files import writing
from deepcrib.plugins import one_line
from hydra_plugins.deepcrib_orion._options import OrionSweeperConf
from hydra_plugins.deepcrib_orion._pickles import require_plain_study
from hydra_plugins.deepcrib_orion._space import Parameter
from hydra_plugins.deepcrib_orion._storage import DATABASE_ERRORS, StudyStorage, shown
from hydra_plugins.deepcrib_orion._trials import HEAD, TAIL

RECORD = "deepcrib"  # key of a study's record among the metadata of its experiment
FINISHED = ("completed", "broken")


class Study:
    """One worker's hold on a study."""

    def __init__(
        self,
        options: OrionSweeperConf,
        database: Path,
        parameters: Sequence[Parameter],
        record: Mapping[str, Any],
        say: Callable[[str], None],
    ) -> None:
        """Open the study in `database`, a file, or create it. Raises OptionError or RunError.

        record: what makes it one study, plain values by name: trials with another one cannot be compared.
        """
        self.options, self.database, self.record = options, database, record
        self.parameters = {parameter.name: parameter for parameter in parameters}
        self.sign = -1.0 if options.direction == "maximize" else 1.0  # Orion minimises
        logging.getLogger("orion").setLevel(logging.ERROR)
        _require_database(database)
        with self.failures_in_one_line(), self._damage_in_one_line():
            self.storage = StudyStorage(database, say)
            try:
                self._refuse_another()
                self.experiment = self._build()
                self._require_own_trials()
            except BaseException:
                self.storage.close()
                raise

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
                f"(hydra.sweeper.max_broken={most}), the last of them: {_statistic(broken[-1], 'error')}"
            )
        if any(trial.status not in FINISHED for trial in trials):
            return False
        return len(trials) >= self.options.max_trials or bool(self.experiment.algorithm.is_done)

    def is_idle(self) -> bool:
        """Whether no worker has a trial, and none waits for one."""
        return all(trial.status in FINISHED for trial in self.trials())

    def ask(self) -> Any | None:
        """A reserved trial, or None while there is nothing to do but wait for those of other workers."""
        self.storage.recover(self.experiment)
        trial = self.storage.reserve_trial(self.experiment)
        if trial is None:
            self._suggest()
            trial = self.storage.reserve_trial(self.experiment)
        return trial

    def overrides(self, trial: Any) -> list[str]:
        """A trial's values as overrides, groups first, which their options then change.

        Raises RunError for what is not searched: a database may be anybody's, and overrides are resolved by Hydra.
        """
        values = {item.name: item.value for item in trial._params}
        for name, parameter in self.parameters.items():
            if not parameter.holds(values.get(name)):
                said = f"{parameter.key}={values.get(name)!r:.60}"
                raise RunError(f"{self.database}: trial {trial.id} has {said}, expected {parameter.prior}")
        ordered = sorted(self.parameters.values(), key=lambda parameter: parameter.key.count("."))
        return [parameter.override(values[parameter.name]) for parameter in ordered]

    def complete(self, trial: Any, value: float, standard_error: float | None) -> None:
        """Give Orion the result."""
        results = [{"name": self.options.objective, "type": "objective", "value": self.sign * value}]
        if standard_error is not None:
            results.append({"name": "standard_error", "type": "statistic", "value": standard_error})
        self.storage.release(trial, "completed", results)

    def fail(self, trial: Any, reason: str) -> None:
        """Mark a trial as broken, with the reason."""
        self.storage.release(trial, "broken", [{"name": "error", "type": "statistic", "value": reason}])

    def give_back(self, trial: Any) -> None:
        """Let any worker run a trial."""
        self.storage.release(trial, "interrupted")

    def table(self, folder: Path) -> pandas.DataFrame:
        """A row a trial, with real values and names; columns HEAD, the options, TAIL. folder: the study's."""
        rows = [self._row(number, trial, folder) for number, trial in enumerate(self.trials())]
        return pandas.DataFrame(rows, columns=[*HEAD, *sorted(item.key for item in self.parameters.values()), *TAIL])

    def _row(self, number: int, trial: Any, folder: Path) -> dict[str, Any]:
        end = trial.end_time
        return {
            **{"number": number, "id": trial.id, "state": trial.status},
            **{self.parameters[item.name].key: item.value for item in trial._params},
            "objective": None if trial.objective is None else self.sign * trial.objective.value,
            "standard_error": _statistic(trial, "standard_error"),
            "seconds": (end - trial.start_time).total_seconds() if trial.start_time and end else None,
            "worker": shown(trial.worker),
            "folder": str(folder / subdir(trial)),
            "error": _statistic(trial, "error"),
        }

    @contextlib.contextmanager
    def failures_in_one_line(self) -> Iterator[None]:
        """Raise RunError for a database that is locked or cannot be read or written."""
        try:
            yield
        except DatabaseTimeout as error:
            line = f"{self.database}: locked for a minute; remove {self.database}.lock if no worker is"
            raise RunError(line) from error
        except OSError as error:
            raise RunError(f"cannot write {error.filename or self.database}: {error.strerror or error}") from error
        except (*DATABASE_ERRORS, pickle.UnpicklingError, EOFError) as error:
            raise RunError(f"{self.database} cannot be read: {error}") from error

    @contextlib.contextmanager
    def _damage_in_one_line(self) -> Iterator[None]:
        """Raise RunError for a database whose documents are not as Orion writes them."""
        try:
            yield
        except UserError:
            raise
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            reason = one_line(error)[:100]
            raise RunError(f"{self.database} cannot be read: it is damaged ({reason})") from error

    def _require_own_trials(self) -> None:
        """Refuse trials with other values than are searched, or under another name than their values give them."""
        for document, trial in self.storage.stored_trials(self.experiment):
            self.overrides(trial)
            if (document["id"], document["status"]) != (trial.id, trial.status):  # it would be waited for without end
                raise ValueError(f"trial {document['id']!r:.40} has the values of {trial.id}")
        self.table(Path())

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
        place = f"hydra.sweeper.name={self.options.name}: {self.database} holds"
        if text is None:
            raise OptionError(f"{place} an experiment of that name which is no study of deepcrib; choose another name")
        theirs = json.loads(text)
        for part, value in self.record.items():
            if theirs.get(part) != value:
                raise OptionError(
                    f"{place} a study with another {part}, {theirs.get(part)} instead of {value}; "
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
            raise OptionError(f"hydra.sweeper.algorithm={algorithm}: {reason}") from error


def takes_seed(algorithm: str) -> bool:
    """Whether an algorithm of Orion has a seed; `gridsearch` leaves nothing to chance."""
    found = algo_factory.get_classes().get(algorithm.lower())
    return found is None or "seed" in signature(found).parameters


def subdir(trial: Any) -> str:
    """The name of a trial's folder: the same in every start and on every machine."""
    return str(trial.id)[:12]


def _statistic(trial: Any, name: str) -> Any:
    """What was noted beside a trial's objective; None where nothing was."""
    return next((item.value for item in trial.results if item.name == name), None)


def _require_database(path: Path) -> None:
    """Refuse a file that does not begin as a pickle of Orion's database does; nothing in it is executed to find out."""
    if path.exists():
        head = b""
        if path.is_file():  # not a pipe, say, which nobody may ever write to
            with path.open("rb") as file:
                head = file.read(100)
        if not (head.startswith(pickle.PROTO) and b"orion.core.io.database.ephemeraldb" in head):
            raise OptionError(f"hydra.sweeper.database={path}: expected a database that Orion wrote, or a new file")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
