"""What sources a result follows from: the hash of a module and of all that it imports from this package.

Kernels have a finer one of their own (see `kernels.cache`); this serves tables and matches that are kept because
nothing that decides them has changed.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import os
import re
import shutil
from functools import cache
from pathlib import Path

from deepcrib.kernels.cache import KEPT_VERSIONS, PACKAGE, cache_root

_LATE = re.compile(rf"{PACKAGE.name}(\.\w+)+(:\w+)?")
"""How a registry names what it imports when that is asked for."""


@cache
def cache_folder(path: Path) -> Path | None:
    """Folder for what one module computes from the sources alone, or None if nothing can be written.

    An edit of the module, or of anything that it imports, begins an empty one.
    """
    root, path = cache_root(), path.resolve()
    if root is None:
        return None
    module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
    folder = root / f"{module}-{source_hash(path, PACKAGE)[:16]}"
    try:
        folder.mkdir(exist_ok=True)
        os.utime(folder)
    except OSError:
        return None
    remove_old_folders(root, module, KEPT_VERSIONS)
    return folder


def source_hash(path: Path, package: Path) -> str:
    """SHA-256, in hex, of the code of a module and of all it imports from the package, directly or not.

    What a registry imports by its name, "package.module:name", counts as imported. Comments and docstrings do not.
    """
    files, queue = {path}, [path]
    while queue:
        imported = _imported_files(queue.pop(), package) - files
        files |= imported
        queue.extend(imported)
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.relative_to(package).as_posix().encode() + b"\0")
        digest.update(_file_hash(file))
    return digest.hexdigest()


def remove_old_folders(root: Path, module: str, kept: int) -> None:
    """Remove all but the `kept` most recently used folders of one module; another run then makes its own anew."""
    with contextlib.suppress(OSError):  # another process may be removing them too
        folders = [folder for folder in root.iterdir() if folder.name.rpartition("-")[0] == module]
        folders.sort(key=lambda folder: folder.stat().st_mtime, reverse=True)
        for folder in folders[kept:]:
            shutil.rmtree(folder, ignore_errors=True)


@cache
def _file_hash(path: Path) -> bytes:
    """Kept, as many modules' hashes hold those of the same files, and a league asks for one at every pairing."""
    return hashlib.sha256(ast.dump(_tree(path)).encode()).digest()


@cache
def _tree(path: Path) -> ast.Module:
    """What a file does: its syntax tree without strings that stand alone."""
    tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [part for part in node.body if not _is_text(part)]
    return tree


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


@cache
def _imported_files(path: Path, package: Path) -> frozenset[Path]:
    """Files of the package that one file imports (absolutely: relative imports are not used)."""
    names: set[str] = set()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _LATE.fullmatch(node.value):
            names.add(node.value.replace(":", "."))
    files: set[Path] = set()
    for name in names:
        parts = name.split(".")
        if parts[0] == package.name:
            # `import a.b.c` runs a and a.b as well; the last part may be a function, which has no file.
            for end in range(1, len(parts) + 1):
                module = package.joinpath(*parts[1:end])
                files.update((module.with_suffix(".py"), module / "__init__.py"))
    return frozenset(file for file in files if file.is_file())
