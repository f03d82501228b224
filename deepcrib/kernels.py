"""The one way a scalar rule or a batched loop is compiled: `@jit` or `@jit(parallel=True)`.

Compiled code is cached on disk, so only the first run after a change of the sources pays for compiling.
Numba by itself compares only the file of the cached function, and would run old code after an edit of a
function that it calls from another file. So each module's compiled code lies in a folder named by a hash
of the module and of all that it imports from this package, directly or not: an edit of any of them starts
an empty folder, and an edit elsewhere costs nothing.

What a kernel reads as a global (a table, say) is frozen into the cached code, so it must follow from the
sources alone, never from a data file, an option or the environment.
"""

import ast
import contextlib
import hashlib
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, overload

import numba
from numba.core import config

Function = TypeVar("Function", bound=Callable[..., Any])

PACKAGE = Path(__file__).resolve().parent
KEPT_VERSIONS = 8
"""Cache folders kept of each module; those used longest ago are removed."""

_config_lock = threading.Lock()


@overload
def jit(function: Function) -> Function: ...


@overload
def jit(*, parallel: bool = False) -> Callable[[Function], Function]: ...


def jit(function: Function | None = None, *, parallel: bool = False) -> Any:
    """Compile a function with Numba: cached on disk, without the GIL, division by zero as in NumPy.

    With `parallel=True` the iterations of `numba.prange` are shared among threads; each must write to its
    own rows, so that results do not depend on the number of threads. A function defined outside this
    package is compiled too, but not cached, because what it imports is not known.
    """

    def decorate(function: Function) -> Any:
        folder = cache_folder(Path(function.__code__.co_filename))
        # Nobody calls a kernel from C, and without that entry a tenth less is compiled.
        options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
        compile_ = numba.njit(cache=folder is not None, parallel=parallel, **options)
        with _numba_cache_folder(folder):
            return compile_(function)

    return decorate if function is None else decorate(function)


@cache
def cache_folder(path: Path) -> Path | None:
    """Return the folder of the compiled code of one module's file, or None if it is not to be cached.

    Its root is the first of these that can be written: `$NUMBA_CACHE_DIR/deepcrib`, `~/.cache/deepcrib`
    (or below `$XDG_CACHE_HOME`), a folder of the user's own in the temporary directory.
    """
    path = path.resolve()
    if not path.is_relative_to(PACKAGE) or not path.is_file():
        return None
    module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
    for root in _candidate_roots():
        folder = root / f"{module}-{source_hash(path, PACKAGE)[:16]}"
        if _prepare(folder):
            remove_old_versions(root, module, KEPT_VERSIONS)
            return folder
    return None


def source_hash(path: Path, package: Path) -> str:
    """Return the SHA-256, in hex, of a module and of all it imports from the package, directly or not."""
    files, queue = {path}, [path]
    while queue:
        imported = _imported_files(queue.pop(), package) - files
        files |= imported
        queue.extend(imported)
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.relative_to(package).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def remove_old_versions(root: Path, module: str, kept: int) -> None:
    """Remove all but the `kept` most recently used cache folders of one module.

    Another run may still use one of them; Numba then compiles again and makes the folder anew.
    """
    with contextlib.suppress(OSError):  # another process may be removing them too
        folders = [folder for folder in root.iterdir() if folder.name.rpartition("-")[0] == module]
        folders.sort(key=lambda folder: folder.stat().st_mtime, reverse=True)
        for folder in folders[kept:]:
            shutil.rmtree(folder, ignore_errors=True)


@cache
def _imported_files(path: Path, package: Path) -> frozenset[Path]:
    """Return the files of the package that one file imports (absolutely: relative imports are not used)."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    files: set[Path] = set()
    for name in names:
        parts = name.split(".")
        if parts[0] == package.name:
            # `import a.b.c` runs a and a.b as well; the last part may be a function, which has no file.
            for end in range(1, len(parts) + 1):
                module = package.joinpath(*parts[1:end])
                files.update((module.with_suffix(".py"), module / "__init__.py"))
    return frozenset(file for file in files if file.is_file())


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


def _prepare(folder: Path) -> bool:
    """Make the folder and mark it as used now; tell whether files can be written in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@contextlib.contextmanager
def _numba_cache_folder(folder: Path | None) -> Iterator[None]:
    """Point Numba at the folder for one decoration only: it reads the setting at that moment."""
    with _config_lock:
        before = config.CACHE_DIR
        config.CACHE_DIR = before if folder is None else str(folder)
        try:
            yield
        finally:
            config.CACHE_DIR = before
