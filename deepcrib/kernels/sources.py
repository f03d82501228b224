"""What sources a result follows from: the hash of a module and of all that it imports from its package.

Compiled code, tables and matches of a league are kept by it, because nothing that decides them has changed. Imports
are found by their form, not parsed: a process asks for the hash of fifty modules before its first result.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]

_IMPORT = re.compile(
    r"^\s*from ([\w.]+) import (\([^)]*\)|.*)"  # of a module, or of members that may be modules, on several lines
    r"|^\s*import (\w+(?:\.\w+)+)"
    r"|[\"'](\w+(?:\.\w+)+)(?::\w+)?[\"']",  # how a registry names what it imports when that is asked for
    re.MULTILINE,
)


@cache
def source_hash(path: Path, package: Path = PACKAGE, *, late: bool = True) -> str:
    """SHA-256, in hex, of a module and of all it imports from its package and from this one, directly or not.

    late: what a registry imports by its name, "package.module:name", counts as well. Of a module of another package
    those beside it count, too: it may import them by their bare names.
    """
    files = {path} if path.is_relative_to(package) else {path, *path.parent.glob("*.py")}
    queue = list(files)
    while queue:
        file = queue.pop()
        imported = (_imported_files(file, PACKAGE, late) | _imported_files(file, package, late)) - files
        files |= imported
        queue.extend(imported)
    digest = hashlib.sha256()
    for file in sorted(files, key=lambda file: (file.name, _file_hash(file))):  # wherever the package lies
        digest.update(file.name.encode() + b"\0" + _file_hash(file))
    return digest.hexdigest()


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


@cache
def _file_hash(path: Path) -> bytes:
    return hashlib.sha256(_text(path).encode()).digest()


@cache
def _imported_files(path: Path, package: Path, late: bool) -> frozenset[Path]:
    """Files of a package that one file imports (absolutely: relative imports are not used)."""
    files: set[Path] = set()
    for start, members, module, place in _IMPORT.findall(_text(path)):
        names = [f"{start}.{name}" for name in re.findall(r"\w+", members)] if start else [module or place * late]
        for parts in (name.split(".") for name in names):
            if parts[0] == package.name:
                # `import a.b.c` runs a and a.b as well; the last part may be a function, which has no file.
                for end in range(1, len(parts) + 1):
                    stem = package.joinpath(*parts[1:end])
                    files.update((stem.with_suffix(".py"), stem / "__init__.py"))
    return frozenset(file for file in files if file.is_file())
