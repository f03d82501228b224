"""Where compiled functions are kept, and what tells one version of a function from another.

Numba by itself compares only the file of the cached function: it would run old code after an edit of a function that
is called from another file, and compile anew after an edit of a comment. So what is compiled is known by a hash of the
function's byte code and, in the same way, of every function, table and constant that it reads, directly or not.
"""

from __future__ import annotations

import builtins
import contextlib
import dis
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, cached_property, partial
from pathlib import Path
from threading import RLock
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numba.core import caching, config
from numba.core.dispatcher import Dispatcher
from numba.core.types.containers import BaseTuple

PACKAGE = Path(__file__).resolve().parents[1]
KEPT_VERSIONS = 8
"""Versions of a function that stay on disk; those used longest ago are removed."""


# --- the key of a function -------------------------------------------------------------------------------------------


class UnknownGlobalError(TypeError):
    """A function reads something whose value cannot be told from another one's."""


def function_key(function: Callable[..., Any]) -> str:
    """Hash, in hex, of a function's byte code, of its compiler's options, and of all that it calls and reads.

    Comments, docstrings, annotations and places in the file do not count. Raises UnknownGlobalError.
    """
    digest = hashlib.blake2b(digest_size=12)
    with _key_lock:
        _add(digest, function)
    return digest.hexdigest()


_key_lock = RLock()
_callers: list[FunctionType] = []
"""Functions whose hashes are being made, each called by the one before."""


@cache
def _hash_function(function: FunctionType) -> bytes:
    digest = hashlib.blake2b(digest_size=12)
    _callers.append(function)
    try:
        closure = [cell.cell_contents for cell in function.__closure__ or ()]
        for content in (_code(function.__code__, function.__doc__), function.__defaults__, closure):
            _add(digest, content)
        for place, value in _reads(function):
            digest.update(place.encode())
            _add(digest, value)
    finally:
        _callers.pop()
    return digest.digest()


def _code(code: CodeType, docstring: str | None = None) -> tuple[Any, ...]:
    """What a function does, as plain values; its docstring, always the first constant, is left out."""
    constants = [_code(value) if isinstance(value, CodeType) else value for value in code.co_consts]
    if docstring is not None and constants and constants[0] == docstring:
        constants[0] = None
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return code.co_code, code.co_exceptiontable, code.co_argcount, names, tuple(constants)


def _reads(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Globals that a function reads, with their names; of a module of this package the member that it takes."""
    for name, attribute in sorted(set(_loads(function.__code__))):
        value = function.__globals__.get(name, getattr(builtins, name, None))
        if isinstance(value, ModuleType) and value.__name__.split(".")[0] == PACKAGE.name:
            yield f"{name}.{attribute}", getattr(value, attribute)
        else:
            yield name, value


def _loads(code: CodeType) -> Iterator[tuple[str, str]]:
    """Names of the globals that are loaded, each with that of the attribute taken of it, if it is."""
    before = ""
    for instruction in dis.get_instructions(code):
        if before:
            yield before, instruction.argval if instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") else ""
        before = instruction.argval if instruction.opname == "LOAD_GLOBAL" else ""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _loads(constant)


def _add(digest: Any, value: Any) -> None:
    """Add the value of a global, or of a part of one."""
    digest.update(type(value).__name__.encode() + b"\0")
    if isinstance(value, Dispatcher):
        digest.update(repr(sorted(value.targetoptions.items())).encode())  # whether it is inlined, say
    if isinstance(value, Dispatcher | FunctionType):
        function = getattr(value, "py_func", value)
        # A function that calls itself is known by its name.
        digest.update(function.__qualname__.encode() if function in _callers else _hash_function(function))
    elif isinstance(value, np.ndarray):
        digest.update(f"{value.dtype} {value.shape}".encode() + value.tobytes())
    elif isinstance(value, ModuleType):  # of another package: its version is not expected to change what is compiled
        digest.update(f"{value.__name__} {getattr(value, '__version__', '')}".encode())
    elif isinstance(value, tuple | list):
        for item in value:
            _add(digest, item)
    elif isinstance(value, type | BuiltinFunctionType | np.ufunc):
        digest.update(f"{getattr(value, '__module__', '')} {value.__name__} {getattr(value, '_fields', '')}".encode())
    elif value is None or isinstance(value, int | float | str | bytes | np.generic | np.dtype):
        digest.update(repr(value).encode())
    else:
        raise UnknownGlobalError(f"{_callers[-1].__qualname__} reads {value!r}, whose value cannot be hashed")


# --- the place on disk -----------------------------------------------------------------------------------------------


class KernelCache:
    """What Numba asks for the compiled code of a function. Nothing is hashed or looked for before the first call.

    Files that cannot be read are as good as none, and where nothing can be written nothing is kept; a process says so.
    """

    def __init__(self, compiled: Dispatcher) -> None:
        self._compiled = compiled

    @cached_property
    def _disk(self) -> _DiskCache | None:
        root = cache_root()
        try:
            return None if root is None else _DiskCache(self._compiled, root)
        except OSError as error:
            _say_once(f"cannot be kept in {root}: {error.strerror}")
        except UnknownGlobalError:
            pass
        return None

    @property
    def cache_path(self) -> str | None:
        """Folder of the files, if there is one."""
        return None if self._disk is None else self._disk.cache_path

    @property
    def name(self) -> str:
        """That of the files, without what tells argument types apart."""
        return "" if self._disk is None else self._disk.name

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
            else:
                remove_old_versions(Path(self._disk.cache_path), self._disk.name, KEPT_VERSIONS)

    def flush(self) -> None:
        """Forget what is on disk."""
        if self._disk is not None:
            self._disk.flush()


_said = False


def _say_once(what: str) -> None:
    """A line on stderr, the first time."""
    global _said
    if not _said:
        print(f"deepcrib: compiled code {what}", file=sys.stderr)
    _said = True


class _Place:
    """Where Numba keeps what it compiled of a function: a folder a module, a name that ends with the key."""

    def __init__(self, function: FunctionType, key: str, root: Path) -> None:
        self._py_file = function.__code__.co_filename  # read by Numba in a warning
        self.key = key
        self.folder = root / function.__module__
        self.ensure_cache_path()

    def ensure_cache_path(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)

    def get_cache_path(self) -> str:
        return str(self.folder)

    def get_source_stamp(self) -> str:
        return self.key

    def get_disambiguator(self) -> str:
        return self.key


class _Files(caching.CompileResultCacheImpl):
    def __init__(self, key: str, root: Path, function: FunctionType) -> None:
        self._lineno = function.__code__.co_firstlineno
        self._locator = _Place(function, key, root)
        self._filename_base = self.get_filename_base(function.__qualname__, getattr(sys, "abiflags", ""))


class _DiskCache(caching.FunctionCache):
    def __init__(self, compiled: Dispatcher, root: Path) -> None:
        self._impl_class = partial(_Files, function_key(compiled), root)
        super().__init__(compiled.py_func)
        self.name: str = self._impl.filename_base
        with contextlib.suppress(OSError):
            os.utime(Path(self.cache_path, f"{self.name}.nbi"))

    def _index_key(self, signature: Any, codegen: Any) -> tuple[Any, ...]:
        """Numba's, and the names of fields, which tell apart tuples that are alike to it.

        Without its hash of the byte code and of the closure, which is another one in every process where that holds a
        compiled function: both are in the file's name.
        """
        types, machine, _ = super()._index_key(signature, codegen)
        return types, machine, _fields(signature)


def _fields(kind: Any) -> tuple[Any, ...]:
    """Names of the fields of named tuples among argument types, however deep."""
    parts = kind if isinstance(kind, tuple) else kind.types if isinstance(kind, BaseTuple) else ()
    return (*getattr(kind, "fields", ()), *map(_fields, parts)) if parts else ()


def remove_old_versions(folder: Path, name: str, kept: int) -> None:
    """Remove all but the `kept` most recently used versions of a function, whose files' names begin with `name`.

    `name` is that of one version, `FUNCTION-KEY.pyVERSION`.
    """
    function, _, key = name.rpartition("-")
    version = key.partition(".")[2]
    with contextlib.suppress(OSError):  # another process may be removing them too
        indices = [
            file for file in folder.glob(f"{function}-*.{version}.nbi") if file.name.rpartition("-")[0] == function
        ]
        indices.sort(key=lambda file: file.stat().st_mtime, reverse=True)
        for old in indices[kept:]:
            for file in folder.glob(f"{old.stem}.*"):
                file.unlink(missing_ok=True)


@cache
def cache_root() -> Path | None:
    """Folder of everything that follows from the sources alone, or None if nothing can be written anywhere.

    The first of these that can be written: `$NUMBA_CACHE_DIR/deepcrib`, `~/.cache/deepcrib` (or below
    `$XDG_CACHE_HOME`), a folder of the user's own in the temporary directory.
    """
    for root in _candidate_roots():
        with contextlib.suppress(OSError):
            root.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=root):
                return root
    return None


def _candidate_roots() -> Iterator[Path]:
    if config.CACHE_DIR:
        yield Path(config.CACHE_DIR) / PACKAGE.name
    cache_home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if os.path.isabs(cache_home):  # a user without a home folder leaves "~" as it is
        yield Path(cache_home) / PACKAGE.name
    temporary_root = _own_temporary_folder()
    if temporary_root is not None:
        yield temporary_root


def _own_temporary_folder() -> Path | None:
    """Return a folder in the temporary directory that this user alone can write, or None.

    Cached code is executed on load, and anybody may have made a folder of this name.
    """
    user = os.getuid() if hasattr(os, "getuid") else 0
    try:
        folder = Path(tempfile.gettempdir()) / f"{PACKAGE.name}-{user}"
        folder.mkdir(mode=0o700, exist_ok=True)
        info = folder.lstat()
    except OSError:
        return None
    return folder if os.name == "nt" or (info.st_uid == user and not info.st_mode & 0o022) else None
