"""What all tests share: few threads each, no time limits on the first call of a kernel, fixed examples."""

import gc
import logging
import os

# Read when OpenMP and Numba start, so before any test imports torch or numba; commands that tests start
# inherit them. Two threads for compiled code even on one core, because tests compare one thread with two.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # else idle threads spin and starve the other workers
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "2")
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.pop("COLUMNS", None)
os.unsetenv("COLUMNS")  # which readline sets behind Python's back: commands print as wide as into any other pipe

import sys  # noqa: E402
from collections.abc import Iterator  # noqa: E402

import hypothesis  # noqa: E402
import pytest  # noqa: E402

from tests.support.compile_once import compile_once  # noqa: E402
from tests.support.compose_faster import compose_faster  # noqa: E402

# A kernel compiles within the first example that calls it, so a deadline would fail at random; the same
# examples every time, so that a failure is seen by everybody.
hypothesis.settings.register_profile("deepcrib", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("deepcrib")


@pytest.fixture(autouse=True)
def _threads_as_before() -> Iterator[None]:
    """Undo what a test, or a job that it ran, did to the number of threads of this process."""
    yield
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    if "deepcrib.kernels.workers" in sys.modules:
        sys.modules["deepcrib.kernels.workers"].use_workers(None)


@pytest.fixture
def many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads share even a few rows, and in parts that do not depend on how many of them there are."""
    monkeypatch.setattr("deepcrib.kernels.workers._num_parts", lambda count, piece: min(count, 5))


@pytest.fixture(autouse=True)
def _log_handlers_as_before() -> Iterator[None]:
    """Take away the log files that Hydra adds in a job: their folders go with the test that made them."""
    before = logging.root.handlers[:]
    yield
    for handler in [handler for handler in logging.root.handlers if handler not in before]:
        logging.root.removeHandler(handler)
        handler.close()


@pytest.fixture(scope="session")
def known_models() -> Iterator[None]:
    """Best responses know how scripted players discard, which takes seconds to work out."""
    from tests.support.models import known_model

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("deepcrib.search.best_response.discard_model", known_model)
        yield


def pytest_configure(config: pytest.Config) -> None:
    """Let workers share what they compile, and commands compose in half the time."""
    compose_faster()
    if hasattr(config, "workerinput"):
        compile_once()


def pytest_collection_finish() -> None:
    """Spare the garbage collector the modules and tests, which stay: it would go through them all again and again."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests marked `gpu` on a machine without one."""
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked:
        import torch

        if not torch.cuda.is_available():
            for item in marked:
                item.add_marker(pytest.mark.skip(reason="no CUDA device"))
