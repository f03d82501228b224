"""The page of a report: sections of Markdown with tables, figures and the commands behind them."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepcrib.analysis.figures import save_png
from deepcrib.analysis.report.paper2019 import ALGORITHMS
from deepcrib.analysis.report.run_folders import FoundRun, Group
from deepcrib.analysis.tables import percent
from deepcrib.errors import OptionError, RunError
from deepcrib.files import write_atomic
from deepcrib.intervals import Interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARK = "<!-- a page of `deepcrib report`: it may be written anew -->"
"""First line of a page, by which it is known."""
NONE = "-"


@dataclass(frozen=True)
class Section:
    """A part of the page: paragraphs and tables, and their figures as plain values."""

    title: str
    parts: Sequence[str]
    data: Any


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

    def command(self, runs: Sequence[FoundRun]) -> str:
        """Numbers of the commands that started these runs, as in the list at the end of the page."""
        texts = [] if any(run.study for run in runs) else _own_command(runs)
        texts = texts or list(dict.fromkeys(_text(run.command) for run in runs if run.command))
        return ", ".join(self.commands.setdefault(text, f"c{len(self.commands) + 1}") for text in texts) or NONE


def _own_command(runs: Sequence[FoundRun]) -> list[str]:
    """The one command that starts these runs of sweeps and nothing else; none where their words are not known."""
    told = [dict(word.split("=", 1) for word in run.overrides if "=" in word) for run in runs]
    if not told or not all(told) or any(values.keys() != told[0].keys() for values in told):
        return []
    words = [(name, list(dict.fromkeys(values[name] for values in told))) for name in told[0]]
    if math.prod(len(values) for _, values in words) != len(runs):
        return []
    sweeps = ["-m"] if len(runs) > 1 else []
    return [_text([f"deepcrib {runs[0].job}", *sweeps, *(f"{name}={','.join(values)}" for name, values in words)])]


def _text(words: Sequence[str]) -> str:
    """A command as it can be typed; its first word is `deepcrib <job>`."""
    return " ".join([words[0], *map(shlex.quote, words[1:])])


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [[cell.replace("|", "\\|") for cell in line] for line in (columns, ["---"] * len(columns), *rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def label(group: Group) -> str:
    """`SARSA`, and the options in which it differs from other groups of its pair."""
    extra = [f"{name.rpartition('.')[2]}={_short(value)}" for name, value in group.extra.items()]
    return ", ".join([ALGORITHMS.get(group.algorithm, group.algorithm), *extra])


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def share(found: Interval) -> str:
    """A share in per cent with its interval, or without where there is none."""
    return f"{100 * found.estimate:.1f}%" if math.isnan(found.low) else percent(*found)


def number(found: Interval, digits: int, sign: bool = False) -> str:
    """A number with its interval, or without where there is none; `-` for nan."""
    if math.isnan(found.estimate):
        return NONE
    kind = f"{'+' if sign else ''}.{digits}f"
    text = format(found.estimate, kind)
    return text if math.isnan(found.low) else f"{text} [{format(found.low, kind)}, {format(found.high, kind)}]"


def points(found: Interval) -> str:
    """A difference of shares in points of per cent."""
    return number(Interval(*(100 * value for value in found)), 1, sign=True)


def seconds_text(seconds: Sequence[float]) -> str:
    """Mean seconds of a run, and of how many."""
    mean = sum(seconds) / len(seconds)
    return f"{mean:,.0f}" if len(seconds) == 1 else f"{len(seconds)} x {mean:,.0f}"


def plain(found: Interval) -> list[float | None]:
    """Estimate and bounds for `summary.json`: None where there are none."""
    return [None if math.isnan(value) else value for value in found]


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
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if page.figures:
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"cannot write {path}: {error.strerror or error}") from error
    for name, figure in page.figures.items():
        if isinstance(figure, bytes):
            write_atomic(folder / name, figure)
        else:
            save_png(figure, folder / name)
    write_atomic(path, page_text(title, sections, page.commands))


def page_text(title: str, sections: Sequence[Section], commands: Mapping[str, str]) -> str:
    """The whole page as Markdown."""
    parts = [MARK, f"# {title}"]
    for section in sections:
        parts += [f"## {section.title}", *section.parts]
    if commands:
        listed = "\n".join(f"- {name}: `{text}`" for text, name in commands.items())
        parts += ["## Commands", listed]
    return "\n\n".join(parts) + "\n"
