"""Compiled code is cached wherever there is a place to write, never stale, and kept through edits of other things."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest

from deepcrib import kernels
from deepcrib.kernels import cache as kernel_cache
from deepcrib.kernels import jit, sources, workers

CALLEE = """
import numpy as np
from deepcrib.kernels import jit

TABLE = np.array([10, 20])
LIMIT = 3

@jit
def plus(x):
    return x + TABLE[0] + LIMIT
"""
CALLER = """
from deepcrib import callee
from deepcrib.callee import plus
from deepcrib.kernels import jit

@jit
def twice(x):
    '''Twice.'''
    return plus(callee.plus(x))
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A small package of the same name in which `caller` calls a function of `callee`."""
    folder = tmp_path / "sources" / "deepcrib"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "callee.py").write_text(CALLEE)
    (folder / "caller.py").write_text(CALLER)
    (folder / "kernels").mkdir()
    for module in (kernels, kernel_cache, sources, workers):
        shutil.copy(str(module.__file__), folder / "kernels")
    return folder


def run(package: Path, cache: Path, caller: str = "deepcrib.caller", *places: Path) -> list[str]:
    """Call a kernel in a process of its own, which looks for modules there; its result and the number of cache hits."""
    path = os.pathsep.join(map(str, places or [package.parent]))
    environment = os.environ | {"PYTHONPATH": path, "NUMBA_CACHE_DIR": str(cache)}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"  # two versions of equal length within a second would share a file
    code = f"from {caller} import twice; print(twice(1), sum(twice.stats.cache_hits.values()))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=package.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def edit(file: Path, before: str, after: str) -> None:
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))


def test_a_second_process_loads_what_no_edit_has_touched(package: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert run(package, cache) == ["27", "0"]
    assert run(package, cache) == ["27", "1"]
    edit(package / "callee.py", "x + TABLE[0]", "x - TABLE[0]")
    assert run(package, cache) == ["-13", "0"]
    edit(package / "callee.py", "x - TABLE[0]", "x + TABLE[0]")
    assert run(package, cache) == ["27", "1"]


@pytest.mark.parametrize(
    ("file", "before", "after"),
    [
        ("callee.py", "[10, 20]", "[10, 30]"),
        ("callee.py", "LIMIT = 3", "LIMIT = 3  # at most"),
        ("caller.py", "'''Twice.'''", "'''Two times.'''"),
        ("kernels/workers.py", "PIECE = 16384", "PIECE = 16383"),
    ],
)
def test_any_edit_of_what_is_imported_compiles_anew(
    package: Path, tmp_path: Path, file: str, before: str, after: str
) -> None:
    cache = tmp_path / "cache"
    assert run(package, cache) == ["27", "0"]
    edit(package / file, before, after)
    assert run(package, cache) == ["27", "1" if "workers" in file else "0"]  # which nothing here imports


def test_a_module_of_ones_own_follows_those_beside_it(tmp_path: Path) -> None:
    """Found by its bare name, as in a folder of scripts."""
    (tmp_path / "callee.py").write_text(CALLEE)
    caller = CALLER.replace("from deepcrib import", "import").replace("deepcrib.callee", "callee")
    (tmp_path / "caller.py").write_text(caller)

    def said() -> list[str]:
        return run(tmp_path / "none", tmp_path / "cache", "caller", kernel_cache.PACKAGE.parent, tmp_path)

    assert [said(), said()] == [["27", "0"], ["27", "1"]]
    edit(tmp_path / "callee.py", "x + TABLE[0]", "x - TABLE[0]")
    assert said() == ["-13", "0"]


def test_functions_made_with_other_values_are_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_cache, "cache_root", lambda: tmp_path)
    kernel_cache.cache_folder.cache_clear()

    def adding(number: int) -> Callable[[int], int]:
        @jit
        def add(x: int) -> int:
            return x + number

        return add

    def twice(function: Callable[[int], int]) -> Callable[[int], int]:
        @jit
        def apply(x: int) -> int:
            return function(function(x))

        return apply

    assert [adding(number)(1) for number in (1, 2, 1)] == [2, 3, 2]
    assert [twice(adding(number))(1) for number in (1, 2, 1)] == [3, 5, 3]
    kernel_cache.cache_folder.cache_clear()


class Sides(NamedTuple):
    left: int
    right: int


class Turned(NamedTuple):
    right: int
    left: int


def test_tuples_of_other_fields_are_other_arguments() -> None:
    """Compiled code knows fields by their places; Numba's own key of both is the same but for the class."""
    one, other = numba.typeof(Sides(1, 2)), numba.typeof(Turned(1, 2))
    assert kernel_cache._fields((one,)) != kernel_cache._fields((other,))
    assert kernel_cache._fields((numba.typeof((1, Sides(1, 2))),)) != kernel_cache._fields(
        (numba.typeof((1, Turned(1, 2))),)
    )
    assert kernel_cache._fields((numba.int64, numba.typeof(np.zeros(2)))) == ((), ())


def test_whole_numbers_are_of_one_type_in_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_cache, "cache_root", lambda: None)  # what is loaded compiles nothing that it calls

    @jit
    def double(x: int) -> int:
        return 2 * x

    @jit
    def doubles(small: np.ndarray) -> int:
        return double(small[0]) + double(1) + double(2) + double(len(small)) + double(small[0] > 2)

    assert doubles(np.array([3], dtype=np.int8)) == 16
    assert [str(types) for types in double.signatures] == ["(int64,)", "(bool,)"]
    assert kernels._settled(numba.uint64) == numba.uint64  # a key of 64 bits is no int64
    assert kernels._settled(numba.float32) == numba.float32


def test_compiling_is_told_before_it_begins_and_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_cache, "cache_root", lambda: None)
    told: list[float] = []
    kernels.on_compile(lambda: told.append(kernels._clock.seconds))

    @jit
    def plus_one(x: int) -> int:
        return x + 1

    before = kernels._clock.seconds
    assert plus_one(1) == 2
    after = kernels._clock.seconds
    assert told == [before] and after > before
    assert plus_one(2) == 3 and plus_one(1.5) == 2.5
    assert len(told) == 1 and kernels._clock.seconds > after


# --- places ---------------------------------------------------------------------------------------------------------


def fresh_root(monkeypatch: pytest.MonkeyPatch, **environment: str) -> Path | None:
    """The cache folder that a new process with this environment would take."""
    monkeypatch.setattr(numba.core.config, "CACHE_DIR", "")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return kernel_cache.cache_root.__wrapped__()


def test_cache_home_is_respected(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert fresh_root(monkeypatch, XDG_CACHE_HOME=str(tmp_path)) == tmp_path / "deepcrib"


@pytest.mark.usefixtures("unsaid")
def test_nowhere_to_write_means_no_cache(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert fresh_root(monkeypatch, HOME=os.devnull) is None
    assert "NUMBA_CACHE_DIR may name a folder for it" in capsys.readouterr().err


def compiled_in(root: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Compile a function with its cache there; its files. Each call makes it anew, as a new process does."""
    monkeypatch.setattr(kernel_cache, "cache_root", lambda: root)
    kernel_cache.cache_folder.cache_clear()

    @jit
    def triple(x: int) -> int:
        return 3 * x

    assert triple(5) == 15
    return sorted(file for file in root.rglob("*triple*") if file.suffix != ".lock")  # those of the tests' workers


@pytest.fixture
def unsaid() -> None:
    """As in a process that has not yet said that its cache is of no use."""
    kernel_cache._say_once.cache_clear()


@pytest.mark.usefixtures("unsaid")
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("content", [b"", b"\x80\x04K\x01.", b"no pickle", None])
def test_a_damaged_file_is_as_good_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, content: bytes | None, capfd: pytest.CaptureFixture
) -> None:
    """Said once, whatever else is damaged; None: a file that was cut off."""
    files = compiled_in(tmp_path, monkeypatch)
    assert [file.suffix for file in files] == [".nbc", ".nbi"]
    damaged = next(file for file in files if file.suffix == suffix)
    content = damaged.read_bytes()[:-9] if content is None else content
    for _ in range(2):
        damaged.write_bytes(content)
        assert compiled_in(tmp_path, monkeypatch) == files
        assert damaged.read_bytes() != content
    said = capfd.readouterr().err.splitlines()
    if content != b"\x80\x04K\x01." or suffix == ".nbc":  # else the index of another version of Numba
        assert said == [f"deepcrib: compiled code in {damaged.parent} cannot be read, and is made anew"]


@pytest.mark.usefixtures("unsaid")
def test_a_folder_that_cannot_be_made_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture
) -> None:
    (tmp_path / "file").touch()
    assert compiled_in(tmp_path / "file", monkeypatch) == []
    assert re.fullmatch(r"deepcrib: compiled code cannot be kept in .*: Not a directory\n", capfd.readouterr().err)


@pytest.mark.usefixtures("unsaid")
def test_a_full_disk_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile.save", full)
    assert compiled_in(tmp_path, monkeypatch) == compiled_in(tmp_path, monkeypatch) == []
    (line,) = capfd.readouterr().err.splitlines()
    assert re.fullmatch(rf"deepcrib: compiled code cannot be kept in {tmp_path}/.*: No space left on device", line)
