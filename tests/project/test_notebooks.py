"""The notebooks run, in a short form, and are committed with outputs of their long one."""

import ast
import importlib.util
import json
import re
import subprocess
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from deepcrib.cli import main

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.fixture(scope="module")
def execution() -> ModuleType:
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    spec = importlib.util.spec_from_file_location("execute", FOLDER / "execute.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def code_cells(path: Path) -> list[dict]:
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def text_of(output: dict) -> str:
    data = output.get("data", {})
    return "".join(output.get("text", [])) + "".join(
        "".join(data.get(kind, [])) for kind in ("text/plain", "text/html")
    )


def test_the_four_notebooks_are_there() -> None:
    names = [path.stem for path in NOTEBOOKS]
    assert names == ["01_environment", "02_training", "03_evaluation", "04_strategy_graphs"]


def in_this_process(command: list[str], **options: Any) -> Any:
    """`subprocess.run`, for commands of this package without a process of their own."""
    if command[1:3] != ["-m", "deepcrib"]:
        return PROCESS(command, **options)
    with redirect_stdout(StringIO()) as printed:
        assert main(command[3:]) == 0
    return SimpleNamespace(stdout=printed.getvalue())


PROCESS = subprocess.run


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_runs(execution: ModuleType, path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In its short form, after those before it and without what another notebook named, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(subprocess, "run", in_this_process)
    names: dict[str, Any] = {}
    for cell in code_cells(path):
        source = execution.shortened("".join(cell["source"]))
        body = ast.parse(re.sub("^%matplotlib inline$", "", source, flags=re.MULTILINE)).body
        shown = body.pop() if isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), path.name, "exec"), names)
        assert shown is None or repr(eval(compile(ast.Expression(shown.value), path.name, "eval"), names))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_needs_the_installed_package_alone(path: Path) -> None:
    """A hosted notebook has no clone: its first cell can install the package, and no cell uses what a wheel lacks."""
    sources = ["".join(cell["source"]) for cell in code_cells(path)]
    line = sources[0].splitlines()[1]
    assert line == '# %pip install -q "deepcrib[notebooks] @ git+ADDRESS"'
    tree = ast.parse(re.sub("^%matplotlib inline$", "", "\n".join(sources), flags=re.MULTILINE))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {getattr(node, "module", None) or alias.name for node in imports for alias in node.names}
    beside = {found.name for found in FOLDER.parent.iterdir()} - {"deepcrib"}
    assert not {name.partition(".")[0] for name in names} & beside


def test_a_kernel_executes_the_short_form(execution: ModuleType, tmp_path: Path) -> None:
    cells = ["%matplotlib inline\nGAMES = 2000  # short: 20", "print('\\x1b[31mred\\x1b[0m', GAMES)", "GAMES"]
    parts = dict[str, Any](cell_type="code", execution_count=None, metadata={}, outputs=[])
    content = {"cells": [parts | {"source": source} for source in cells], "metadata": {}}
    (tmp_path / "small.ipynb").write_text(json.dumps(content | {"nbformat": 4, "nbformat_minor": 4}))
    executed = execution.execute(tmp_path / "small.ipynb", short=True).cells
    assert [cell.execution_count for cell in executed] == [1, 2, 3]
    assert [text_of(output) for cell in executed for output in cell.outputs] == ["red 20\n", "20"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_committed_and_name_no_machine(path: Path) -> None:
    cells = code_cells(path)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    texts = [text_of(output) for cell in cells for output in cell["outputs"]]
    assert sum(bool(text) for text in texts) >= 3
    assert not any(output["output_type"] == "error" for cell in cells for output in cell["outputs"])
    assert not re.search(r"/home/|/root/|/tmp/|Traceback|\x1b", "".join(texts))
    assert path.stat().st_size < 1_500_000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_short_form_makes_every_number_smaller_or_shorter(execution: ModuleType, path: Path) -> None:
    source = "".join(code_cells(path)[0]["source"])
    long, short = dict[str, object](), dict[str, object]()
    exec(source, long)  # assignments of numbers alone
    exec(execution.shortened(source), short)
    changed = [name for name in long if not name.startswith("__") and long[name] != short[name]]
    assert changed
    for name in changed:
        before, after = long[name], short[name]
        assert len(after) < len(before) if isinstance(before, list) else after < before  # type: ignore[operator,arg-type]
