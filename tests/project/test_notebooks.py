"""The notebooks run, in a short form, and are committed with outputs of their long one."""

import importlib.util
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

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


@pytest.fixture(scope="module")
def kernel(execution: ModuleType) -> Iterator[Any]:
    """One for all notebooks, so that it imports once."""
    from jupyter_client.manager import KernelManager

    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(FOLDER))
    yield manager
    manager.shutdown_kernel(now=True)


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


@pytest.mark.timeout(600)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_runs(execution: ModuleType, kernel: Any, path: Path, tmp_path: Path) -> None:
    """Each by itself: what another one named is forgotten before it begins."""
    forget = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": "%reset -f"}
    notebook = {"cells": [forget], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    (tmp_path / "forget.ipynb").write_text(json.dumps(notebook))
    execution.execute(tmp_path / "forget.ipynb", kernel=kernel)
    executed = execution.execute(path, short=True, kernel=kernel)  # raises where a cell fails
    counts = [cell.execution_count for cell in executed.cells if cell.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1))


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
