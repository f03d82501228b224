"""Orion's storage, in which every reservation and every lock names the process that holds it.

Orion's own leaves a study locked when a process is killed while it holds the lock, and tells a lost trial by comparing
the clocks of two machines. Here whoever waits finds out whether the holder has ended: on one machine by its process
number and start, between machines by a sign of life that has stood still for some time by the clock of the one that
waits. What a process takes over, it takes from the very holder that it judged, in one step of the database; and who
has lost a lock or a reservation meanwhile can no longer write what belonged to it. So two never both hold either.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import pickle
import platform
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from orion.core.io.database import DatabaseError
from orion.core.worker.trial import Trial
from orion.core.worker.trial_pacemaker import TrialPacemaker
from orion.storage.base import FailedUpdate, LockedAlgorithmState, get_uid
from orion.storage.legacy import Legacy
from pymongo.errors import PyMongoError

PENDING = ("new", "interrupted", "suspended")
MISSED_SIGNS = 5  # signs of life that another machine's process may miss before it counts as ended
LOCK_POLL = 0.2  # seconds between two attempts to get the lock
DATABASE_ERRORS = (DatabaseError, PyMongoError, OSError)
"""What databases raise that are busy, cannot be reached or have no room: Orion passes some of MongoDB's on as is."""
_ZOMBIE = b"Z"
_log = logging.getLogger(__name__)


def this_process() -> str:
    """`host:pid:start:place`; the place tells machines (and containers) of one name apart."""
    pid = os.getpid()
    return f"{platform.node()}:{pid}:{_started(pid)}:{_place()}"


def has_ended(owner: str | None) -> bool | None:
    """Whether the process that `this_process` named has ended; None where that cannot be told from here."""
    parts = (owner or "").rsplit(":", 3)
    if len(parts) != 4 or parts[0] != platform.node() or parts[3] != _place() or not parts[1].isdigit():
        return None
    return _started(int(parts[1])) != parts[2]


def shown(owner: str | None) -> str:
    """An owner as people read it: `host:pid`."""
    return ":".join((owner or "").rsplit(":", 3)[:2])


def _started(pid: int) -> str:
    """When a process was started, in the system's ticks; empty when it has ended, `?` where the system does not say."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return "" if Path("/proc/self/stat").exists() or not _exists(pid) else "?"
    return "" if fields[0] == _ZOMBIE else fields[19].decode()


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _place() -> str:
    """Eight characters for this start of this machine, and this container."""
    marks = [platform.node()]
    with contextlib.suppress(OSError):
        marks += [Path("/proc/sys/kernel/random/boot_id").read_text(), os.readlink("/proc/self/ns/pid")]
    return hashlib.sha256("".join(marks).encode()).hexdigest()[:8]


class Watch:
    """How long what others write has stood still, by this process's own clock."""

    def __init__(self, patience: float) -> None:
        self._patience = patience  # seconds
        self._seen: dict[str, tuple[Any, float]] = {}

    def stands_still(self, key: str, value: Any) -> bool:
        """Whether every call of the last `patience` seconds was told the same value."""
        now = time.monotonic()
        before = self._seen.get(key)
        if before is None or before[0] != value:
            self._seen[key] = (value, now)
            return False
        return now - before[1] >= self._patience


class Beat(threading.Thread):
    """Gives a sign of life every so many seconds until it is stopped."""

    def __init__(self, sign: Callable[[], object], seconds: float) -> None:
        super().__init__(daemon=True)
        self._sign, self._seconds = sign, seconds
        self._stopped = threading.Event()

    def run(self) -> None:
        """Until `stop`."""
        while not self._stopped.wait(self._seconds):
            with contextlib.suppress(*DATABASE_ERRORS):  # what cannot be written now may be at the next sign
                self._sign()

    def stop(self) -> None:
        """Return once no further sign can follow."""
        self._stopped.set()
        self.join()


class Pacemaker(TrialPacemaker):
    """Orion's, which a database that fails once does not stop, and which does not keep a process alive."""

    def __init__(self, trial: Any, storage: StudyStorage, seconds: float) -> None:
        super().__init__(trial, storage, wait_time=seconds)
        self.daemon = True

    def _monitor_trial(self) -> None:
        with contextlib.suppress(*DATABASE_ERRORS):
            super()._monitor_trial()


class StudyStorage(Legacy):
    """See the module. `say` is told, in a line, of everything that is taken over from a process that has ended."""

    def __init__(self, database: dict[str, Any], heartbeat: float, say: Callable[[str], None]) -> None:
        super().__init__(database=dict(database))
        self.heartbeat = heartbeat  # seconds
        self._watch = Watch(MISSED_SIGNS * heartbeat)
        self._say = say

    # trials

    def reserve_trial(self, experiment: Any) -> Trial | None:
        """Orion's, with the name of the process."""
        now = _now()
        found = self._db.read_and_write(
            "trials",
            query={"experiment": experiment._id, "status": {"$in": list(PENDING)}},
            data={"status": "reserved", "start_time": now, "heartbeat": now, "worker": this_process()},
        )
        return None if found is None else Trial(**found)

    def fetch_lost_trials(self, experiment: Any) -> list[Trial]:
        """None: Orion would give them back without asking whether they are still lost; `recover` does it."""
        return []

    def recover(self, experiment: Any) -> None:
        """Give back the trials of processes that have ended."""
        for trial in self._fetch_trials({"experiment": experiment._id, "status": "reserved"}):
            holder = {"worker": trial.worker, "heartbeat": trial.heartbeat}
            if not self._is_gone(trial.id, holder["worker"], holder["heartbeat"]):
                continue
            query = {"experiment": experiment._id, "id": trial.id, "status": "reserved", **holder}
            if self._db.read_and_write("trials", query=query, data={"status": "interrupted"}) is not None:
                self._say(f"trial {trial.id} is given back: its process {shown(trial.worker)} has ended")

    def push_trial_results(self, trial: Any) -> Any:
        """Orion's, for the process alone that has the reservation."""
        where = {"status": "reserved", "worker": this_process()}
        done = self.update_trial(trial, **trial.to_dict(), where=where)
        if not done:
            raise FailedUpdate()
        return done

    def set_trial_status(self, trial: Any, status: str, heartbeat: Any = None, was: str | None = None) -> None:
        """Orion's, and a reserved trial only for the process that has the reservation."""
        was = was or trial.status
        where = {"status": was} | ({"worker": this_process()} if was == "reserved" else {})
        if not self.update_trial(trial, status=status, heartbeat=heartbeat or _now(), where=where):
            raise FailedUpdate()
        trial.status = status

    def update_heartbeat(self, trial: Any) -> Any:
        """Orion's, likewise."""
        return self.update_trial(trial, heartbeat=_now(), where={"status": "reserved", "worker": this_process()})

    # the algorithm's lock

    @contextlib.contextmanager
    def acquire_algorithm_lock(
        self, experiment: Any = None, uid: Any = None, timeout: float = 0, retry_interval: float = LOCK_POLL
    ) -> Iterator[LockedAlgorithmState]:
        """Orion's, waiting for as long as the holder is alive, whatever `timeout` says."""
        uid = get_uid(experiment, uid)
        owner = f"{uuid.uuid4().hex}@{this_process()}"
        document = self._lock(uid, owner)
        state = document["state"]
        locked = LockedAlgorithmState(
            state=None if state is None else pickle.loads(state), configuration=document["configuration"], locked=True
        )
        beat = Beat(lambda: self._change_lock(uid, {"locked": 1, "owner": owner}, {}), self.heartbeat)
        beat.start()
        try:
            yield locked
        except BaseException:
            locked.reset()
            raise
        finally:
            beat.stop()
            self._unlock(uid, owner, locked.state)

    def release_stale_lock(self, uid: Any) -> None:
        """Release the lock when the process that holds it has ended."""
        (document,) = self._db.read("algo", {"experiment": uid})
        owner, heartbeat = document.get("owner"), document["heartbeat"]
        if document["locked"] and self._is_gone("lock", (owner or "").partition("@")[2], heartbeat):
            holder = {"locked": 1, "heartbeat": heartbeat} | ({"owner": owner} if owner else {})
            if self._change_lock(uid, holder, {"locked": 0, "owner": ""}) is not None:
                self._say(f"the study's lock is released: its process {shown(owner).partition('@')[2]} has ended")

    def _lock(self, uid: Any, owner: str) -> dict[str, Any]:
        while True:
            document: dict[str, Any] | None = self._change_lock(uid, {"locked": 0}, {"locked": 1, "owner": owner})
            if document is not None:
                return document
            self.release_stale_lock(uid)
            time.sleep(LOCK_POLL)

    def _unlock(self, uid: Any, owner: str, state: Any) -> None:
        new = {"locked": 0, "owner": ""} | ({} if state is None else {"state": pickle.dumps(state)})
        if self._change_lock(uid, {"locked": 1, "owner": owner}, new) is None:
            _log.warning("the study's lock was taken over meanwhile; the algorithm learns again what it was told")

    def _change_lock(self, uid: Any, held: dict[str, Any], new: dict[str, Any]) -> dict[str, Any] | None:
        """Change the lock if it is held as said, in one step, with a sign of life; the document, else None."""
        changed: dict[str, Any] | None = self._db.read_and_write(
            "algo", query={"experiment": uid, **held}, data={"heartbeat": _now(), **new}
        )
        return changed

    def _is_gone(self, key: str, process: str | None, heartbeat: Any) -> bool:
        ended = has_ended(process)
        return self._watch.stands_still(key, (process, heartbeat)) if ended is None else ended


def _now() -> datetime:
    """As Orion writes it: UTC, without a time zone."""
    return datetime.now(UTC).replace(tzinfo=None)
