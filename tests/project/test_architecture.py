"""The package is as docs/architecture.md says: one direction of imports, one table, small parts."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "deepcrib"
DOCUMENT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")

MAX_FUNCTION_LINES = 60
MAX_MODULE_LINES = 350
TO_COME = "to come"


def import_line() -> list[list[str]]:
    """The places of the line in the document, left to right; each with the modules that share it."""
    block = re.search(r"```text\n(.*?)```", DOCUMENT, re.DOTALL)
    assert block is not None
    return [[name.strip() for name in place.split(",")] for place in block.group(1).split("->")]


def module_table() -> dict[str, str]:
    return dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", DOCUMENT, re.MULTILINE))


PLACE = {name: place for place, names in enumerate(import_line()) for name in names}
SOURCES = sorted(PACKAGE.rglob("*.py"))
PLUGINS = sorted((ROOT / "hydra_plugins").rglob("*.py"))  # beside the package; only Hydra imports them


def module_of(path: Path) -> str:
    """The module, in the sense of the line, that a file belongs to."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Every node of a file's syntax tree."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imported_names(path: Path) -> Iterator[tuple[int, str]]:
    """Line number and full dotted name of every import in a file, those within functions included."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def imported_modules(path: Path) -> Iterator[tuple[int, str]]:
    """Line number and module of this package of every import from it."""
    for line, name in imported_names(path):
        parts = name.split(".")
        if parts[0] == PACKAGE.name and len(parts) > 1 and not parts[1].startswith("__"):
            yield line, parts[1]


def label(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def importers(paths: list[Path], *packages: str) -> list[Path]:
    """The files that import something from one of some packages outside this one."""
    return [path for path in paths if any(name.split(".")[0] in packages for _, name in imported_names(path))]


def labels(paths: list[Path]) -> list[str]:
    return [label(path) for path in paths]


LINED_UP = [path for path in SOURCES if not module_of(path).startswith("__")]


def test_every_module_has_its_place_in_the_line_and_a_row_in_the_table() -> None:
    present = {module_of(path) for path in LINED_UP}
    assert list(module_table()) == [name for place in import_line() for name in place]
    described = {name for name, text in module_table().items() if not text.startswith(TO_COME)}
    assert described == present


def test_a_module_imports_only_from_its_left() -> None:
    wrong = [
        f"{label(path)}:{line} imports {name}"
        for path in LINED_UP
        for line, name in imported_modules(path)
        if name != module_of(path) and PLACE[name] >= PLACE[module_of(path)]
    ]
    assert not wrong


def test_the_package_itself_imports_nothing() -> None:
    assert not list(imported_names(PACKAGE / "__init__.py"))


def test_only_jobs_and_cli_import_hydra() -> None:
    importing = importers(LINED_UP, "hydra")
    assert importing
    assert not labels([path for path in importing if module_of(path) not in ("jobs", "cli")])


def test_the_game_does_not_need_torch() -> None:
    importing = importers(LINED_UP, "torch")
    assert importing
    assert not labels([path for path in importing if PLACE[module_of(path)] < PLACE["encoders"]])


def test_the_package_does_not_import_its_plugins() -> None:
    assert not labels(importers(SOURCES, "hydra_plugins", "orion"))
    assert importers(PLUGINS, "orion")


def test_functions_are_small() -> None:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    long = [
        f"{label(path)}: {node.name} has {node.end_lineno - node.lineno + 1} lines"
        for path in [*SOURCES, *PLUGINS]
        for node in nodes(path)
        if isinstance(node, functions) and node.end_lineno - node.lineno >= MAX_FUNCTION_LINES
    ]
    assert not long


def test_modules_are_small() -> None:
    sizes = {label(path): len(path.read_text(encoding="utf-8").splitlines()) for path in [*SOURCES, *PLUGINS]}
    assert not {name: size for name, size in sizes.items() if size > MAX_MODULE_LINES}
