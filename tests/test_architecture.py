"""The package is as docs/architecture.md says: one direction of imports, one table, small parts."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
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


def imported_names(path: Path) -> Iterator[tuple[int, str]]:
    """Line number and full dotted name of every import in a file, those within functions included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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
    return path.relative_to(PACKAGE).as_posix()


LINED_UP = [path for path in SOURCES if not module_of(path).startswith("__")]


def test_every_module_has_its_place_in_the_line_and_a_row_in_the_table() -> None:
    present = {module_of(path) for path in LINED_UP}
    assert list(module_table()) == [name for place in import_line() for name in place]
    described = {name for name, text in module_table().items() if not text.startswith(TO_COME)}
    assert described == present


@pytest.mark.parametrize("path", LINED_UP, ids=label)
def test_a_module_imports_only_from_its_left(path: Path) -> None:
    own = module_of(path)
    wrong = [
        f"{label(path)}:{line} imports {name}"
        for line, name in imported_modules(path)
        if name != own and PLACE[name] >= PLACE[own]
    ]
    assert not wrong


def test_the_package_itself_imports_nothing() -> None:
    assert not list(imported_names(PACKAGE / "__init__.py"))


@pytest.mark.parametrize("path", LINED_UP, ids=label)
def test_only_jobs_and_cli_import_hydra(path: Path) -> None:
    found = [name for _, name in imported_names(path) if name.split(".")[0] == "hydra"]
    assert not found or module_of(path) in ("jobs", "cli")


@pytest.mark.parametrize("path", LINED_UP, ids=label)
def test_the_game_does_not_need_torch(path: Path) -> None:
    found = [name for _, name in imported_names(path) if name.split(".")[0] == "torch"]
    assert not found or PLACE[module_of(path)] >= PLACE["encoders"]


@pytest.mark.parametrize("path", SOURCES, ids=label)
def test_the_package_does_not_import_its_plugins(path: Path) -> None:
    assert not [name for _, name in imported_names(path) if name.split(".")[0] in ("hydra_plugins", "orion")]


@pytest.mark.parametrize("path", [*SOURCES, *PLUGINS], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_parts_are_small(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    long = [
        f"{node.name}: {node.end_lineno - node.lineno + 1} lines"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, functions) and node.end_lineno - node.lineno >= MAX_FUNCTION_LINES
    ]
    assert not long
    assert len(text.splitlines()) <= MAX_MODULE_LINES
