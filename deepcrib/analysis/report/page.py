"""The page of a report: sections of Markdown with tables, figures and the commands behind them."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from jinja2 import Template

from deepcrib.analysis.figures import save_png
from deepcrib.analysis.tables import NONE, percent
from deepcrib.errors import OptionError
from deepcrib.files import write_atomic, writing
from deepcrib.intervals import Interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARK = "<!-- a page of `deepcrib report`: it may be written anew -->"
"""First line of a page, by which it is known. What runs say stands below it as text: no HTML, no end of a code."""
TEMPLATE = Template(
    """\
{{ mark }}

# {{ title }}
{% for section in sections %}
## {{ section.title }}
{% for part in section.parts if part %}
{{ part | string | replace("<", "&lt;") }}
{% endfor %}{% endfor %}{% if commands %}
## Commands

{% for text, name in commands.items() %}- {{ name }}: `{{ text | replace('`', "'") }}`
{% endfor %}{% endif %}"""
)


# --- cells --------------------------------------------------------------------------------------------------


def share(found: Interval) -> str:
    """A share in per cent with its interval, or without where there is none."""
    return f"{100 * found.estimate:.1f}%" if math.isnan(found.low) else percent(*found)


def number(digits: int, kind: str = "", scale: float = 1.0) -> Callable[[Interval], str]:
    """Text of a number of so many digits, times `scale`, with its interval or without; `-` for nan; kind: `+`, `,`."""

    def text(found: Interval) -> str:
        if math.isnan(found.estimate):
            return NONE
        estimate, low, high = (f"{scale * value:{kind}.{digits}f}" for value in found)
        return estimate if math.isnan(found.low) else f"{estimate} [{low}, {high}]"

    return text


def _cell(value: Any) -> str:
    if value is None or value == "" or value != value:
        return NONE
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _plain(value: Any) -> Any:
    """For `summary.json`: an interval as a list, None for what is nan."""
    if isinstance(value, Interval):
        return [None if math.isnan(part) else part for part in value]
    return None if value != value else value


@dataclass(frozen=True)
class Table:
    """Rows of cells by column; formats: how a column's intervals become text. unseen: columns of the summary alone."""

    rows: Sequence[Mapping[str, Any]]
    formats: Mapping[str, Callable[[Interval], str]] = field(default_factory=dict)
    unseen: tuple[str, ...] = ()

    def __str__(self) -> str:
        """As Markdown, without columns in which nothing stands."""
        cells = [
            {
                name: self.formats[name](value) if isinstance(value, Interval) else _cell(value)
                for name, value in row.items()
                if name not in self.unseen
            }
            for row in self.rows
        ]
        frame = pd.DataFrame(cells).fillna(NONE).map(lambda cell: cell.replace("|", "\\|"))
        frame = frame.loc[:, (frame != NONE).any()]
        return str(frame.to_markdown(index=False, disable_numparse=True))

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

    def figure(self, name: str, figure: Figure | bytes, words: str) -> str:
        """Add a figure, or what a PNG file of it holds; returns the line that shows it."""
        self.figures[f"{name}.png"] = figure
        return f"![{words}]({self.links}/{name}.png)"

    def origin(self, runs: pd.DataFrame) -> dict[str, str]:
        """The last columns of every table: mean seconds of how many runs, and the numbers of their commands."""
        mean = f"{runs.spent.mean():,.0f}"
        seconds = mean if len(runs) == 1 else f"{len(runs)} x {mean}"
        return {"seconds a run": seconds, "command": self.command(runs)}

    def command(self, runs: pd.DataFrame) -> str:
        """Numbers of the commands that started and resumed these runs, as in the list at the end of the page."""
        own = [] if runs.study.notna().any() else _own_command(runs)
        told = [command for commands in runs.commands for command in commands]  # a sweep's resume with no such word
        resumes = [command for command in told if any(word.startswith("resume=") for word in command)]
        texts = dict.fromkeys([*own, *map(_text, resumes if own else told)])
        return ", ".join(self.commands.setdefault(text, f"c{len(self.commands) + 1}") for text in texts) or NONE


def _own_command(runs: pd.DataFrame) -> list[str]:
    """The one command that starts these runs of sweeps and nothing else; none where their overrides are not known."""
    told = [dict(word.split("=", 1) for word in overrides if "=" in word) for overrides in runs.overrides]
    if not all(told) or any(values.keys() != told[0].keys() for values in told):
        return []
    words = [(name, list(dict.fromkeys(values[name] for values in told))) for name in told[0]]
    if math.prod(len(values) for _, values in words) != len(runs):
        return []
    sweep = ["-m"] if len(runs) > 1 else []
    return [_text([f"deepcrib {runs.job.iloc[0]}", *sweep, *(f"{name}={','.join(values)}" for name, values in words)])]


def _text(words: Sequence[str]) -> str:
    """A command as it can be typed; its first word is `deepcrib <job>`."""
    return " ".join([words[0], *map(shlex.quote, words[1:])])


# --- writing ------------------------------------------------------------------------------------------------


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
    write_atomic(path, TEMPLATE.render(mark=MARK, title=title, sections=sections, commands=page.commands) + "\n")
