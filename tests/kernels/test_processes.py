"""Pieces of work shared among processes: the same results, errors, deaths, and what cannot be shared."""

import os
import signal
import threading
from functools import partial
from pathlib import Path

import pytest

from deepcrib.kernels.processes import WorkerError, Workers
from deepcrib.kernels.workers import available_threads

pytest.importorskip("joblib")
TWO = Workers(2)


def square(number: int) -> tuple[int, int]:
    if number == 13:
        raise ZeroDivisionError("thirteen")
    return number**2, os.getpid()


def die_once(folder: Path, number: int) -> int:
    """The first process to get number 3 is killed, as for want of memory; of a folder that is not there, all are."""
    if number == 3 and not (folder / "died").exists():
        if folder.is_dir():
            (folder / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return -number


def test_results_come_in_order_from_other_processes() -> None:
    told = []
    found = TWO.run(square, [(n,) for n in range(12)], lambda number, result: told.append((number, result[0])))
    assert [value for value, _ in found] == [n**2 for n in range(12)]
    assert sorted(told) == [(n, n**2) for n in range(12)]
    assert os.getpid() not in {process for _, process in found}
    assert TWO.run(square, []) == [] and TWO.run(square, [(5,)]) == [(25, os.getpid())]


def test_errors_of_a_piece_are_raised() -> None:
    with pytest.raises(ZeroDivisionError, match="thirteen"):
        TWO.run(square, [(n,) for n in range(10, 20)])


def test_the_threads_are_divided() -> None:
    assert set(TWO.run(available_threads, [()] * 4)) == {max(1, available_threads() // 2)}


def test_what_a_dead_process_has_not_done_is_done_by_others(tmp_path: Path) -> None:
    assert TWO.run(partial(die_once, tmp_path), [(n,) for n in range(8)]) == [-n for n in range(8)]
    assert (tmp_path / "died").exists()


def test_work_that_kills_whoever_does_it_ends_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(WorkerError, match=r"^workers=2: they died 3 times without a result \(TerminatedWorkerError: "):
        TWO.run(partial(die_once, tmp_path / "nothing"), [(3,), (3,)])


def test_what_cannot_be_sent_is_refused() -> None:
    with pytest.raises(WorkerError, match="cannot be sent to other processes .*expected one that can be pickled"):
        TWO.run(partial(print, threading.Lock()), [(1,), (2,)])
