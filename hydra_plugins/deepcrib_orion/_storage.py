"""Orion's storage, in which whoever holds a trial or the algorithm's lock says so and gives signs of life.

Orion's own leaves a study locked when a process is killed while it holds the lock, and two workers that find the same
trial lost may both run it. Here what a process takes over, it takes from the very holder that it judged, in one step of
the database; and who has lost something meanwhile can no longer write it. So two never both hold either.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import platform
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextvars import copy_context
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
from orion.core.io.database import DatabaseError
from orion.core.worker.trial import Trial
from orion.storage.base import LockedAlgorithmState, get_uid
from orion.storage.legacy import Legacy
from pymongo.errors import PyMongoError

from hydra_plugins.deepcrib_orion._pickles import read_pickle

MISSED_SIGNS = 5  # signs of life that a worker may miss before it counts as ended
LOCK_POLL = 0.2  # seconds between two attempts to get the lock
DATABASE_ERRORS = (DatabaseError, PyMongoError, OSError)
"""What databases raise that are busy, cannot be reached or have no room: Orion passes some of MongoDB's on as is."""


def new_worker() -> str:
    """A name for a worker of this process: `host:pid:place:token`; places are machines and containers."""
    return f"{platform.node()}:{os.getpid()}:{_place()}:{uuid.uuid4().hex[:8]}"


def has_ended(worker: str | None) -> bool:
    """Whether the process of a worker is known to have ended, which only its own machine can tell."""
    parts = (worker or "").split(":")
    return len(parts) == 4 and parts[2] == _place() and not psutil.pid_exists(int(parts[1]))


def shown(worker: str | None) -> str:
    """A worker as people read it: `host:pid`."""
    return ":".join((worker or "").split(":")[:2])


def _place() -> str:
    """Eight characters for this start of this machine, and this container."""
    marks = [platform.node()]
    with contextlib.suppress(OSError):
        marks += [Path("/proc/sys/kernel/random/boot_id").read_text(), os.readlink("/proc/self/ns/pid")]
    return hashlib.sha256("".join(marks).encode()).hexdigest()[:8]


class StudyStorage(Legacy):
    """One worker's view of the database. `say` prints a line about everything taken over from a worker that ended."""

    def __init__(self, database: dict[str, Any], heartbeat: float, say: Callable[[str], None]) -> None:
        super().__init__(database=dict(database))
        self.worker = new_worker()
        self._heartbeat, self._say = heartbeat, say
        self._seen: dict[str, tuple[Any, float]] = {}
        self._closed = threading.Event()
        self._signs = threading.Thread(target=copy_context().run, args=(self._give_signs,), daemon=True)

    def give_signs(self) -> None:
        """Give signs of life, until `close`, for what this worker holds."""
        self._signs.start()

    def close(self) -> None:
        """End the signs of life: another worker may take over what is still held."""
        self._closed.set()
        self._signs.join()

    def _give_signs(self) -> None:
        while not self._closed.wait(self._heartbeat):
            with contextlib.suppress(*DATABASE_ERRORS):  # what cannot be written now may be at the next sign
                for collection, held in (("trials", {"status": "reserved"}), ("algo", {"locked": 1})):
                    self._db.write(collection, {"heartbeat": _now()}, {"worker": self.worker, **held})

    def change(self, collection: str, query: dict[str, Any], new: dict[str, Any]) -> dict[str, Any] | None:
        """Change the first document that fits, in one step and with a sign of life; the changed document, or None."""
        changed: dict[str, Any] | None = self._db.read_and_write(
            collection, query=query, data={"heartbeat": _now(), **new}
        )
        return changed

    # trials

    def stored_trials(self, experiment: Any) -> list[tuple[dict[str, Any], Trial]]:
        """All trials, as the database has them, and as Orion reads them."""
        return [(one, Trial(**one)) for one in self._db.read("trials", {"experiment": experiment._id})]

    def reserve_trial(self, experiment: Any) -> Trial | None:
        """A trial that waits, now reserved by this worker."""
        waiting = {"experiment": experiment._id, "status": {"$in": ["new", "interrupted", "suspended"]}}
        new = {"status": "reserved", "start_time": _now(), "end_time": None, "worker": self.worker}
        found = self.change("trials", waiting, new)
        return None if found is None else Trial(**found)

    def release(self, trial: Any, status: str, results: Sequence[dict[str, Any]] = ()) -> bool:
        """Give back or end a trial of this worker; False when another one took it for lost and has it now."""
        ours = {"experiment": trial.experiment, "id": trial.id, "status": "reserved", "worker": self.worker}
        return self.change("trials", ours, {"status": status, "end_time": _now(), "results": list(results)}) is not None

    def recover(self, experiment: Any) -> None:
        """Give back the trials of workers that have ended."""
        for trial in self.fetch_trials_by_status(experiment, "reserved"):
            holder = {"worker": trial.worker, "heartbeat": trial.heartbeat}
            query = {"experiment": experiment._id, "id": trial.id, "status": "reserved", **holder}
            if self._is_gone(trial.id, **holder) and self.change("trials", query, {"status": "interrupted"}):
                self._say(f"trial {trial.id} is given back: its process {shown(trial.worker)} has ended")

    # the algorithm's lock

    @contextlib.contextmanager
    def acquire_algorithm_lock(
        self, experiment: Any = None, uid: Any = None, timeout: float = 0, retry_interval: float = LOCK_POLL
    ) -> Iterator[LockedAlgorithmState]:
        """Orion's, waiting for as long as the holder is alive, whatever `timeout` says."""
        uid, ours = get_uid(experiment, uid), {"locked": 1, "worker": self.worker}
        while (held := self.change("algo", {"experiment": uid, "locked": 0}, ours)) is None:
            self.release_stale_lock(uid)
            time.sleep(LOCK_POLL)
        state = None if held["state"] is None else read_pickle(held["state"])
        locked = LockedAlgorithmState(state=state, configuration=held["configuration"], locked=True)
        try:
            yield locked
        except BaseException:
            locked.reset()
            raise
        finally:
            new = {} if locked.state is None else {"state": pickle.dumps(locked.state)}
            self.change("algo", {"experiment": uid, **ours}, {"locked": 0, **new})

    def release_stale_lock(self, uid: Any) -> None:
        """Release the lock when the worker that holds it has ended."""
        (lock,) = self._db.read("algo", {"experiment": uid})
        holder = {name: lock.get(name) for name in ("worker", "heartbeat")}
        if lock["locked"] and self._is_gone("lock", **holder):
            fits = {name: value for name, value in holder.items() if value is not None}
            if self.change("algo", {"experiment": uid, "locked": lock["locked"], **fits}, {"locked": 0}) is not None:
                self._say(f"the study's lock is released: its process {shown(holder['worker'])} has ended")

    def _is_gone(self, key: str, worker: str | None, heartbeat: Any) -> bool:
        """Whether a holder has ended, or its sign of life has stood still, by this process's own clock."""
        now = time.monotonic()
        seen, since = self._seen.setdefault(key, (heartbeat, now))
        if seen != heartbeat:
            self._seen[key] = heartbeat, now
            since = now
        return has_ended(worker) or now - since >= MISSED_SIGNS * self._heartbeat


def _now() -> datetime:
    """As Orion writes it: UTC, without a time zone."""
    return datetime.now(UTC).replace(tzinfo=None)
