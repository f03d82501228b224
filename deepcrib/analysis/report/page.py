"""The page of a report: sections of Markdown with tables, figures and the commands behind them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from deepcrib.analysis.figures import save_png
from deepcrib.analysis.report import write_page
from deepcrib.analysis.tables import NONE
from deepcrib.files import writing


def table(rows: pd.DataFrame | Sequence[Mapping[str, Any]]) -> str:
    """Rows of cells by column as Markdown, without columns in which nothing stands."""
    cells = pd.DataFrame(rows, dtype=object).map(_cell)
    return str(cells.loc[:, (cells != NONE).any()].to_markdown(index=False, disable_numparse=True))


def _cell(value: Any) -> str:
    if value is None or value == "" or value != value:
        return NONE
    return f"{value:,}" if type(value) is int else str(value).replace("|", "\\|")


@dataclass
class Page:
    """Sections, and what they share: the folder that links to figures name, figures, commands by their numbers."""

    links: str
    sections: dict[str, list[str]] = field(default_factory=dict)
    figures: dict[str, Figure] = field(default_factory=dict)
    commands: dict[str, str] = field(default_factory=dict)

    def figure(self, name: str, figure: Figure, description: str) -> str:
        """Add a figure; returns the line that shows it."""
        self.figures[f"{name}.png"] = figure
        return f"![{description}]({self.links}/{name}.png)"

    def command(self, commands: Iterable[Sequence[Sequence[str]]]) -> str:
        """Numbers of the commands [words] that started and resumed each run, as in the list at the end of the page."""
        texts = dict.fromkeys(" ".join([first, *map(shlex.quote, rest)]) for run in commands for first, *rest in run)
        return ", ".join(self.commands.setdefault(text, f"c{len(self.commands) + 1}") for text in texts)

    def text(self, title: str) -> str:
        """All of it as Markdown. What runs say stands in it as text: no HTML, no end of a code."""
        parts = [f"# {title}"]
        for head, section in self.sections.items():
            parts += [f"## {head}", *section]
        text = "\n\n".join(parts).replace("<", "&lt;")
        if self.commands:
            code = {name: command.replace("`", "'") for command, name in self.commands.items()}
            text += "\n\n## Commands\n\n" + "\n".join(f"- {name}: `{command}`" for name, command in code.items())
        return f"\n{text}\n"

    def write(self, path: Path, folder: Path, title: str) -> None:
        """Write the figures into `folder`, then the page. Raises RunError."""
        with writing(path):
            (folder if self.figures else path.parent).mkdir(parents=True, exist_ok=True)
        for name, figure in self.figures.items():
            save_png(figure, folder / name)
        write_page(path, self.text(title))
