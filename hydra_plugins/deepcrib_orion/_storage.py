"""Orion's storage on one file, in which a worker holds a lock that the system releases when its process ends.

Orion's own leaves a study locked when a process is killed while it holds the lock, and two workers that find the same
trial lost may both run it. Here a trial names the worker that reserved it, and goes back once that worker's lock is
free; a change names the holder that it was decided for, so nobody writes what another one has taken over meanwhile.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import platform
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from orion.core.io.database import DatabaseError
from orion.core.worker.trial import Trial
from orion.storage.base import LockedAlgorithmState, get_uid
from orion.storage.legacy import Legacy

from hydra_plugins.deepcrib_orion._pickles import DataPickledDB, read_pickle

DATABASE_ERRORS = (DatabaseError, OSError)
"""What a database raises that is busy, cannot be reached or has no room."""


def shown(worker: str | None) -> str:
    """A worker as people read it: `host:pid`."""
    return ":".join((worker or "").split(":")[:2])


class StudyStorage(Legacy):
    """One worker's view of the database. `say` prints a line about a trial taken over from a worker that ended."""

    def __init__(self, database: Path, say: Callable[[str], None]) -> None:
        super().__init__(database={"type": DataPickledDB.__name__, "host": str(database)})
        token = uuid.uuid4().hex[:8]
        self.worker = f"{platform.node()}:{os.getpid()}:{token}"
        self._path, self._say = database, say
        self._lock = FileLock(self._lock_of(token))
        self._lock.acquire()

    def close(self) -> None:
        """Give up what is still held: another worker may take it over."""
        Path(self._lock.lock_file).unlink(missing_ok=True)
        self._lock.release()

    def _lock_of(self, token: str) -> Path:
        return self._path.with_name(f"{self._path.name}.{token}")

    def has_ended(self, worker: str | None) -> bool:
        """Whether the process of a worker holds its lock no longer."""
        token = (worker or "").rpartition(":")[2]
        if not re.fullmatch("[0-9a-f]{8}", token) or not self._lock_of(token).exists():
            return True
        with contextlib.suppress(Timeout), FileLock(self._lock_of(token), timeout=0):
            self._lock_of(token).unlink(missing_ok=True)
            return True
        return False

    # trials

    def stored_trials(self, experiment: Any) -> list[tuple[dict[str, Any], Trial]]:
        """All trials, as the database has them, and as Orion reads them."""
        return [(one, Trial(**one)) for one in self._db.read("trials", {"experiment": experiment._id})]

    def reserve_trial(self, experiment: Any) -> Trial | None:
        """A trial that waits, now reserved by this worker."""
        waiting = {"experiment": experiment._id, "status": {"$in": ["new", "interrupted", "suspended"]}}
        new = {"status": "reserved", "start_time": _now(), "end_time": None, "worker": self.worker}
        found = self._db.read_and_write("trials", query=waiting, data=new)
        return None if found is None else Trial(**found)

    def release(self, trial: Any, status: str, results: Sequence[dict[str, Any]] = ()) -> None:
        """Give back or end a trial of this worker; nothing where another one has it now."""
        ours = {"experiment": trial.experiment, "id": trial.id, "status": "reserved", "worker": self.worker}
        self._db.read_and_write(
            "trials", query=ours, data={"status": status, "end_time": _now(), "results": list(results)}
        )

    def recover(self, experiment: Any) -> None:
        """Give back the trials of workers that have ended."""
        for trial in self.fetch_trials_by_status(experiment, "reserved"):
            query = {"experiment": experiment._id, "id": trial.id, "status": "reserved", "worker": trial.worker}
            given_back = {"status": "interrupted"}
            if self.has_ended(trial.worker) and self._db.read_and_write("trials", query=query, data=given_back):
                self._say(f"trial {trial.id} is given back: its process {shown(trial.worker)} has ended")

    # the algorithm

    @contextlib.contextmanager
    def acquire_algorithm_lock(self, experiment: Any = None, uid: Any = None, **_: Any) -> Iterator[Any]:
        """The algorithm's state, for one process at a time; what is raised here leaves the saved state as it was."""
        query = {"experiment": get_uid(experiment, uid)}
        with FileLock(self._path.with_name(f"{self._path.name}.algorithm")):
            (stored,) = self._db.read("algo", query)
            state = None if stored["state"] is None else read_pickle(stored["state"])
            held = LockedAlgorithmState(state=state, configuration=stored["configuration"], locked=True)
            yield held
            if held.state is not None:
                self._db.write("algo", {"state": pickle.dumps(held.state)}, query)


def _now() -> datetime:
    """As Orion writes it: UTC, without a time zone."""
    return datetime.now(UTC).replace(tzinfo=None)
