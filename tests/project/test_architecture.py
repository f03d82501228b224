"""The package is as docs/architecture.md says: one direction of imports, no circles, one table, small parts."""

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
MAX_FILES = 12
"""In a folder that has no folders."""


def import_line() -> list[list[str]]:
    """The places of the line in the document, left to right; each with the rooms that share it."""
    block = re.search(r"```text\n(.*?)```", DOCUMENT, re.DOTALL)
    assert block is not None
    return [[name.strip() for name in place.split(",")] for place in block.group(1).split("->")]


def room_table() -> list[str]:
    return re.findall(r"^\| `(\w+)` \| .* \| .* \|$", DOCUMENT, re.MULTILINE)


PLACE = {name: place for place, names in enumerate(import_line()) for name in names}
SOURCES = sorted(PACKAGE.rglob("*.py"))
CAP = 31_980
PLUGINS = sorted((ROOT / "hydra_plugins").rglob("*.py"))  # beside the package; only Hydra imports them


def room_of(path: Path) -> str:
    """The room that a file belongs to."""
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


def module_of(path: Path) -> str:
    """The dotted name of a file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_of(path): path for path in [*SOURCES, *PLUGINS]}


def imported_files(path: Path) -> Iterator[tuple[int, Path]]:
    """Line number and file of every import from package and plugins, those for types and within functions included."""
    for line, name in imported_names(path):
        found = FILES.get(name) or FILES.get(name.rpartition(".")[0])
        if found is not None and found != path:
            yield line, found


def label(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def importers(paths: list[Path], *packages: str) -> list[Path]:
    """The files that import something from one of some packages outside this one."""
    return [path for path in paths if any(name.split(".")[0] in packages for _, name in imported_names(path))]


def labels(paths: list[Path]) -> list[str]:
    return [label(path) for path in paths]


LINED_UP = [path for path in SOURCES if not room_of(path).startswith("__")]


def test_every_room_has_its_place_in_the_line_and_a_row_in_the_table() -> None:
    assert room_table() == [name for place in import_line() for name in place]
    assert set(room_table()) == {room_of(path) for path in LINED_UP}


def test_a_file_imports_only_from_its_room_and_from_rooms_to_its_left() -> None:
    wrong = [
        f"{label(path)}:{line} imports {label(found)}"
        for path in LINED_UP
        for line, found in imported_files(path)
        if not room_of(found).startswith("__")
        and room_of(found) != room_of(path)
        and PLACE[room_of(found)] >= PLACE[room_of(path)]
    ]
    assert not wrong


def test_no_files_import_each_other_in_a_circle() -> None:
    """Files that import nothing but files without a circle are taken away until none is left."""
    left = {path: {found for _, found in imported_files(path)} for path in [*SOURCES, *PLUGINS]}
    while free := [path for path, needed in left.items() if not needed & set(left)]:
        for path in free:
            del left[path]
    assert not left, f"a circle: {' imports '.join(labels(circle_of(left)))}"


def circle_of(needs: dict[Path, set[Path]]) -> list[Path]:
    """The shortest circle of files each of which needs another one, its first file again at the end."""
    found = []
    for start in sorted(needs):
        ways, met = [[start]], {start}
        for way in ways:  # by their length: it grows while it is gone through
            for path in sorted(needs[way[-1]] & set(needs)):
                if path == start:
                    found.append([*way, start])
                elif path not in met:
                    met.add(path)
                    ways.append([*way, path])
    return min(found, key=len)


def test_the_circle_that_is_named_is_the_circle_alone() -> None:
    a, b, c, outer = map(Path, "abco")
    assert circle_of({outer: {a}, a: {b}, b: {c}, c: {a, b}}) == [b, c, b]


def test_a_folder_of_many_files_has_folders() -> None:
    crowded = []
    for folder in {path.parent for path in SOURCES}:
        files = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
        if len(files) > MAX_FILES and not list(folder.glob("*/__init__.py")):
            crowded.append(label(folder))
    assert not crowded


def test_tests_stand_in_rooms_of_the_package() -> None:
    places = {path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("test_*.py")}
    strange = [
        place for place in places if not (PACKAGE / place).exists() and not PACKAGE.joinpath(f"{place}.py").exists()
    ]
    assert sorted(strange) == [Path("benchmarks"), Path("project")]


def test_the_package_itself_imports_nothing_of_its_own() -> None:
    assert not list(imported_files(PACKAGE / "__init__.py"))


def test_only_jobs_and_cli_import_hydra() -> None:
    importing = importers(LINED_UP, "hydra")
    assert importing
    assert not labels([path for path in importing if room_of(path) not in ("jobs", "cli")])


def test_the_game_does_not_need_torch() -> None:
    importing = importers(LINED_UP, "torch")
    assert importing
    assert not labels([path for path in importing if PLACE[room_of(path)] < PLACE["networks"]])


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


def test_the_package_grows_no_more() -> None:
    """Lines of package and plugins. What comes makes room for itself: the number below only falls."""
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in [*SOURCES, *PLUGINS])
    assert lines <= CAP, f"{lines - CAP} lines too many: take out what your change makes dead (CONTRIBUTING, Few lines)"


def test_modules_are_small() -> None:
    sizes = {label(path): len(path.read_text(encoding="utf-8").splitlines()) for path in [*SOURCES, *PLUGINS]}
    assert not {name: size for name, size in sizes.items() if size > MAX_MODULE_LINES}
