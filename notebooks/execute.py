"""Execute the notebooks and keep their outputs: `python notebooks/execute.py [NAME.ipynb ...]`.

With `--short` they are only tried, with the small numbers that comments in their first cell give, such as
`GAMES = 2000  # short: 20`. They run in an empty folder: each needs the installed package alone, not a clone.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parent
_SHORT = re.compile(r"^(\w+) = .*  # short: (.*)$", flags=re.MULTILINE)
_COLOR = re.compile(r"\x1b\[[0-9;]*m")
TIMEOUT = 1200
"""Seconds that a cell may take."""


def shortened(source: str) -> str:
    """The source of a cell with the short form of its numbers."""
    return _SHORT.sub(r"\1 = \2", source)


def execute(path: Path, short: bool = False, kernel: Any = None) -> Any:
    """The notebook in a file after its execution, outputs included; the file stays as it is.

    kernel: the manager of one that runs already; by default a new one. Raises
    nbclient.exceptions.CellExecutionError where a cell fails.
    """
    notebook: Any = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code" and short:
            cell.source = shortened(cell.source)
    with tempfile.TemporaryDirectory() as empty:
        resources = {"metadata": {"path": empty}}
        NotebookClient(notebook, kernel, timeout=TIMEOUT, kernel_name="python3", resources=resources).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times, which differ from run to run
        for output in cell.get("outputs", []):
            _without_colors(output)
    return notebook


def _without_colors(output: Any) -> None:
    """Take terminal escape sequences out of an output's text: code hosts show them as they are."""
    if "text" in output:
        output.text = _COLOR.sub("", output.text)
    if "text/plain" in output.get("data", {}):
        output.data["text/plain"] = _COLOR.sub("", output.data["text/plain"])


def main(words: Sequence[str] | None = None) -> None:
    """Execute the named notebooks, or all."""
    parser = argparse.ArgumentParser(description="Execute the notebooks and keep their outputs.")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--short", action="store_true", help="only try them, with small numbers")
    arguments = parser.parse_args(words)
    for path in [FOLDER / name for name in arguments.names] or sorted(FOLDER.glob("*.ipynb")):
        print(path.name, flush=True)
        executed = execute(path, arguments.short)
        if not arguments.short:
            nbformat.write(executed, path)


if __name__ == "__main__":
    main()
