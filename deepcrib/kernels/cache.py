"""Where compiled functions, and tables that follow from the sources alone, are kept: a folder a version of a module.

Numba by itself compares only the file of the cached function, and would run old code after an edit of a function that
is called from another file. So the folder's name holds the hash of the module and of all that it imports.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from functools import cache, cached_property, partial
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any

from numba.core import caching, config, serialize
from numba.core.dispatcher import Dispatcher
from numba.core.types.containers import BaseTuple

from deepcrib.kernels.sources import PACKAGE, source_hash

KEPT_VERSIONS = 8  # versions of a module whose folders stay on disk; those used longest ago are removed


class KernelCache:
    """What Numba asks for the compiled code of a function. Nothing is hashed or looked for before the first call.

    Files that cannot be read are as good as none, and where nothing can be written nothing is kept; a process says so.
    """

    def __init__(self, compiled: Dispatcher) -> None:
        self._function: Any = compiled.py_func

    @cached_property
    def _disk(self) -> _DiskCache | None:
        module, code = sys.modules.get(self._function.__module__), Path(self._function.__code__.co_filename)
        own = Path(getattr(module, "__file__", None) or code)
        if not (own.is_file() and code.is_file()):  # typed into a notebook or an interpreter
            return None
        folder = cache_folder(*dict.fromkeys((own, code)))
        return None if folder is None else _DiskCache(self._function, folder)

    @property
    def cache_path(self) -> str | None:
        """Folder of the files, if there is one."""
        return None if self._disk is None else self._disk.cache_path

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Compiled code for argument types, or None."""
        if self._disk is None:
            return None
        try:
            return self._disk.load_overload(signature, context)
        except Exception:  # what a damaged file raises may be anything
            _say_once(f"in {self.cache_path} cannot be read, and is made anew")
            with contextlib.suppress(OSError):
                self._disk.flush()
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep compiled code, if there is room for it."""
        if self._disk is not None:
            try:
                self._disk.save_overload(signature, compiled)
            except Exception as error:  # the index that it adds to is read first
                _say_once(f"cannot be kept in {self.cache_path}: {getattr(error, 'strerror', None) or error}")


@cache
def _say_once(what: str) -> None:
    """A line on stderr, the first time."""
    if _say_once.cache_info().currsize == 0:
        print(f"deepcrib: compiled code {what}", file=sys.stderr)


class _Files(caching.CompileResultCacheImpl):
    def __init__(self, folder: Path, function: FunctionType) -> None:
        self._lineno = function.__code__.co_firstlineno
        self._locator = SimpleNamespace(
            _py_file=function.__code__.co_filename,  # read by Numba in a warning
            ensure_cache_path=lambda: folder.mkdir(exist_ok=True),
            get_cache_path=lambda: str(folder),
            get_source_stamp=lambda: "",  # the folder's name says all of the version
        )
        version = f"py{sys.version_info[0]}{sys.version_info[1]}{getattr(sys, 'abiflags', '')}"
        self._filename_base = f"{function.__qualname__}.{version}".replace("<", "").replace(">", "")


class _DiskCache(caching.FunctionCache):
    def __init__(self, function: FunctionType, folder: Path) -> None:
        self._impl_class = partial(_Files, folder)
        super().__init__(function)

    def _index_key(self, signature: Any, codegen: Any) -> tuple[Any, ...]:
        """Numba's types and machine; the names of fields, which tell apart tuples that are alike to it.

        And what a function made within another one holds, without what makes Numba's key of that another one in every
        process.
        """
        types, machine, _ = super()._index_key(signature, codegen)
        return types, machine, _fields(signature), _held(self._py_func)


def _fields(kind: Any) -> tuple[Any, ...]:
    """Names of the fields of named tuples among argument types, however deep."""
    parts = kind if isinstance(kind, tuple) else kind.types if isinstance(kind, BaseTuple) else ()
    return (*getattr(kind, "fields", ()), *map(_fields, parts)) if parts else ()


def _held(function: FunctionType) -> tuple[Any, ...]:
    """Values of the variables of an outer function; of a compiled one its name, and what it holds itself."""
    values = [cell.cell_contents for cell in function.__closure__ or ()]
    return tuple(
        (value.__module__, value.py_func.__qualname__, _held(value.py_func))
        if isinstance(value, Dispatcher)
        else serialize.dumps(value)
        for value in values
    )


# --- the folders -----------------------------------------------------------------------------------------------------


@cache
def cache_folder(*paths: Path) -> Path | None:
    """Folder for what a module computes from the sources alone, or None if nothing can be written.

    An edit of the module, or of anything that it imports, begins an empty one. paths: its file, and those of what it
    is made with that it need not import.
    """
    root, own = cache_root(), paths[0].resolve()
    if root is None:
        return None
    module = ".".join(own.relative_to(PACKAGE).with_suffix("").parts) if own.is_relative_to(PACKAGE) else own.stem
    module = module.replace("-", "_")  # of a script
    folder = root / "-".join((module, *(source_hash(path.resolve(), late=False)[:16] for path in paths)))
    try:
        folder.mkdir(exist_ok=True)
        os.utime(folder)
    except OSError as error:
        _say_once(f"cannot be kept in {folder}: {error.strerror}")
        return None
    remove_old_folders(root, module, KEPT_VERSIONS)
    return folder


def remove_old_folders(root: Path, module: str, kept: int) -> None:
    """Remove all but the `kept` most recently used folders of one module; another run then makes its own anew."""
    with contextlib.suppress(OSError):  # another process may be removing them too
        folders = [folder for folder in root.iterdir() if folder.name.partition("-")[0] == module]
        folders.sort(key=lambda folder: folder.stat().st_mtime, reverse=True)
        for folder in folders[kept:]:
            shutil.rmtree(folder, ignore_errors=True)


@cache
def cache_root() -> Path | None:
    """Folder of everything that follows from the sources alone, or None, said once, if nothing can be written there.

    `$NUMBA_CACHE_DIR/deepcrib`, else `~/.cache/deepcrib` (or below `$XDG_CACHE_HOME`).
    """
    try:
        root = Path(config.CACHE_DIR or os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / PACKAGE.name
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=root):
            return root
    except (OSError, RuntimeError) as error:  # the latter of a user without a home folder
        _say_once(f"cannot be kept: {error}; NUMBA_CACHE_DIR may name a folder for it")
        return None
