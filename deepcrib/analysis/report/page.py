"""The page of a report: sections of Markdown with tables, figures and the commands behind them."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from deepcrib.analysis.figures import save_png
from deepcrib.analysis.tables import NONE, bounds, percent
from deepcrib.errors import OptionError
from deepcrib.files import write_atomic, writing
from deepcrib.intervals import Interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARK = "<!-- a page of `deepcrib report`: it may be written anew -->"
"""First line of a page, by which it is known. What runs say stands below it as text: no HTML, no end of a code."""


def share(value: Interval) -> str:
    """A share in per cent with its interval, or without where there is none."""
    return f"{100 * value.estimate:.1f}%" if math.isnan(value.low) else percent(*value)


def number(digits: int) -> Callable[[Interval], str]:
    """Text of a number of so many digits, with its interval or without."""
    return lambda value: bounds(*value, f".{digits}f")


def _cell(value: Any) -> str:
    if value is None or value == "" or value != value:
        return NONE
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _plain(value: Any) -> Any:
    """For `summary.json`: an interval as a list, None for what is nan."""
    if isinstance(value, Interval):
        return [_plain(part) for part in value]
    return None if value != value else value


@dataclass(frozen=True)
class Table:
    """Rows of cells by column; formats: how a column's intervals become text."""

    rows: Sequence[Mapping[str, Any]]
    formats: Mapping[str, Callable[[Interval], str]] = field(default_factory=dict)

    def __str__(self) -> str:
        """As Markdown, without columns in which nothing stands."""
        frame = pd.DataFrame(self.rows, dtype=object)
        texts = {
            name: [
                self.formats[name](value) if isinstance(value, Interval) else _cell(value).replace("|", "\\|")
                for value in column
            ]
            for name, column in frame.items()
        }
        cells = pd.DataFrame(texts)
        return str(cells.loc[:, (cells != NONE).any()].to_markdown(index=False, disable_numparse=True))

    def records(self) -> list[dict[str, Any]]:
        """The rows as plain values."""
        return [{name: _plain(value) for name, value in row.items()} for row in self.rows]


@dataclass(frozen=True)
class Section:
    """A part of the page: paragraphs, tables, and the lines that show figures."""

    title: str
    parts: Sequence[str | Table]

    @property
    def data(self) -> list[Any]:
        """Its tables, each a list of rows as plain values."""
        return [part.records() for part in self.parts if isinstance(part, Table)]


@dataclass
class Page:
    """What sections share: the folder that links to figures name, the figures, and the commands by their numbers."""

    links: str
    figures: dict[str, Figure | bytes] = field(default_factory=dict)
    commands: dict[str, str] = field(default_factory=dict)

    def figure(self, name: str, figure: Figure | bytes, description: str) -> str:
        """Add a figure, or the content of its PNG file; returns the line that shows it."""
        self.figures[f"{name}.png"] = figure
        return f"![{description}]({self.links}/{name}.png)"

    def command(self, commands: Iterable[Sequence[Sequence[str]]]) -> str:
        """Numbers of the commands [words] that started and resumed each run, as in the list at the end of the page."""
        texts = dict.fromkeys(" ".join([first, *map(shlex.quote, rest)]) for run in commands for first, *rest in run)
        return ", ".join(self.commands.setdefault(text, f"c{len(self.commands) + 1}") for text in texts) or NONE

    def text(self, title: str, sections: Sequence[Section]) -> str:
        """All of it as Markdown."""
        parts = [f"# {title}"]
        for section in sections:
            parts += [f"## {section.title}", *filter(None, map(str, section.parts))]
        text = "\n\n".join(parts).replace("<", "&lt;")
        if self.commands:
            code = {name: command.replace("`", "'") for command, name in self.commands.items()}
            text += "\n\n## Commands\n\n" + "\n".join(f"- {name}: `{command}`" for name, command in code.items())
        return f"{MARK}\n\n{text}\n"


def check_page_path(path: Path, overwrite: bool) -> None:
    """Raise OptionError for a page that could not be written there, or would take the place of something else."""
    if path.suffix != ".md":
        raise OptionError(f"path={path}: expected a file name that ends in .md")
    if path.is_dir():
        raise OptionError(f"path={path}: expected a file, not a folder")
    for folder in (path.with_suffix(""), *path.absolute().parents):
        if folder.exists() and not folder.is_dir():
            raise OptionError(f"path={path}: {folder} would be a folder, but a file is there")
    if path.exists() and not overwrite and not _is_page(path):
        raise OptionError(f"path={path}: there is a file, not written by deepcrib report: overwrite=true replaces it")


def _is_page(path: Path) -> bool:
    try:
        return path.read_text(encoding="utf-8").startswith(MARK)
    except (OSError, ValueError):
        return False


def write_page(path: Path, folder: Path, title: str, sections: Sequence[Section], page: Page) -> None:
    """Write the figures into `folder`, then the page. Raises RunError."""
    with writing(path):
        (folder if page.figures else path.parent).mkdir(parents=True, exist_ok=True)
    for name, figure in page.figures.items():
        if isinstance(figure, bytes):
            write_atomic(folder / name, figure)
        else:
            save_png(figure, folder / name)
    write_atomic(path, page.text(title, sections))
