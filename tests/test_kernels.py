"""Compiled code is cached, never stale, and wherever there is a place to write."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from deepcrib import kernels, rules

CALLEE = "from deepcrib.kernels import jit\n\n@jit\ndef plus(x):\n    return x + {number}\n"
CALLER = """
from deepcrib.callee import plus
from deepcrib.kernels import jit

@jit
def twice(x):
    return plus(plus(x))
"""
RUN = "from deepcrib.caller import twice; print(twice(1), sum(twice.stats.cache_hits.values()))"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A small package of the same name in which `caller` calls a function of `callee`."""
    folder = tmp_path / "sources" / "deepcrib"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "other.py").touch()
    (folder / "callee.py").write_text(CALLEE.format(number=1))
    (folder / "caller.py").write_text(CALLER)
    shutil.copy(kernels.__file__, folder / "kernels.py")
    return folder


def run(package: Path, cache: Path) -> list[str]:
    """Call the package's kernel in a process of its own; return its result and the number of cache hits."""
    environment = os.environ | {"PYTHONPATH": str(package.parent), "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", RUN], env=environment, cwd=package.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_second_process_loads_compiled_code_and_an_edited_callee_is_noticed(package: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert run(package, cache) == ["3", "0"]
    assert run(package, cache) == ["3", "1"]
    (package / "callee.py").write_text(CALLEE.format(number=5))
    assert run(package, cache) == ["11", "0"]


def test_hash_follows_imports_and_nothing_else(package: Path) -> None:
    caller = package / "caller.py"

    def changes(name: str) -> bool:
        kernels._imported_files.cache_clear()
        before = kernels.source_hash(caller, package)
        with open(package / name, "a") as file:
            file.write("# edited\n")
        kernels._imported_files.cache_clear()
        return kernels.source_hash(caller, package) != before

    assert changes("caller.py")
    assert changes("callee.py")
    assert changes("kernels.py")
    assert changes("__init__.py")
    assert not changes("other.py")


def fresh_folder(monkeypatch: pytest.MonkeyPatch, **environment: str) -> Path | None:
    """The cache folder that a new process with this environment would take for the rules."""
    monkeypatch.setattr(numba.core.config, "CACHE_DIR", "")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return kernels.cache_folder.__wrapped__(Path(rules.__file__))


def test_home_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = fresh_folder(monkeypatch, HOME=os.devnull)
    assert folder is not None
    assert folder.is_relative_to(tmp_path)


def test_cache_home_is_respected(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = fresh_folder(monkeypatch, XDG_CACHE_HOME=str(tmp_path))
    assert folder is not None
    assert folder.parent == tmp_path / "deepcrib"
    assert folder.name.startswith("rules-")


def test_nowhere_to_write_means_no_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    assert fresh_folder(monkeypatch, HOME=os.devnull) is None


@pytest.mark.skipif(os.name == "nt", reason="modes are those of POSIX")
def test_temporary_folder_that_others_can_write_is_not_trusted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    own = kernels._own_temporary_folder()
    assert own is not None
    own.chmod(0o777)
    assert kernels._own_temporary_folder() is None


def test_oldest_versions_of_the_same_module_are_removed(tmp_path: Path) -> None:
    for age in range(5):
        for module in ("rules", "engine.rules"):
            folder = tmp_path / f"{module}-{age}"
            folder.mkdir()
            os.utime(folder, (1000 - age, 1000 - age))
    kernels.remove_old_versions(tmp_path, "rules", kept=2)
    left = {folder.name for folder in tmp_path.iterdir()}
    assert left == {"rules-0", "rules-1"} | {f"engine.rules-{age}" for age in range(5)}


def test_numba_is_left_as_it_was() -> None:
    folder_before = numba.core.config.CACHE_DIR

    @kernels.jit
    def double(x: int) -> int:
        return 2 * x

    assert double(4) == 8
    assert folder_before == numba.core.config.CACHE_DIR
    assert double.stats.cache_path is None  # not of this package: its imports are not known
