"""Work in pieces gives the same results on any number of threads."""

import threading
from pathlib import Path

import pytest

from deepcrib.kernels.workers import is_worker, run_pieces, use_workers
from tests.support.replay_runs import assert_same_runs, run, small


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_results_come_in_order(workers: int) -> None:
    use_workers(workers)
    assert run_pieces([lambda number=number: number**2 for number in range(50)]) == [n**2 for n in range(50)]
    assert run_pieces([]) == []


def test_pieces_run_side_by_side_and_know_it() -> None:
    use_workers(2)
    meeting = threading.Barrier(2, timeout=20)
    assert run_pieces([lambda: (meeting.wait() >= 0, is_worker())[1]] * 2) == [True, True]
    assert not is_worker()
    use_workers(1)
    assert run_pieces([is_worker, is_worker]) == [False, False]


def test_an_error_in_a_piece_is_raised() -> None:
    use_workers(2)
    with pytest.raises(ZeroDivisionError):
        run_pieces([lambda: 1, lambda: 1 // 0])


@pytest.mark.parametrize(("network", "unit"), [("mlp", "games"), ("belanger2019_cnn_lstm", "games"), ("mlp", "hands")])
def test_the_weights_do_not_depend_on_the_workers(network: str, unit: str, tmp_path: Path) -> None:
    """Chunks of both networks and minibatches beyond the size at which encoders share their rows.

    Of single hands the next iteration's discards are chosen while the play network learns, where a thread is free.
    """
    options = {"episodes": 400, "batch_size": 3000, "iterations": 3 if unit == "hands" else 2, "unit": unit}
    for workers in (1, 2):
        use_workers(workers)
        run(tmp_path / str(workers), small(play=network, algorithm="expected_sarsa", **options))
    assert_same_runs(tmp_path / "1", tmp_path / "2")
