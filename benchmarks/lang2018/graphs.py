"""Strategy graphs of a weighted run: python -m benchmarks.lang2018.graphs RUN [--strategy NAME] [--to FOLDER].

The weights as images over score locations (Lang 2018, section 4.1), in both roles, their difference, and how each
strategy (or one) evolved over the checkpoints. RUN: a run folder, or a checkpoint alone. White is weight 0, black
weight 1; the agent's own score increases downwards and the opponent's to the right, from the origin at the top left.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.analysis.figures import save_png
from deepcrib.errors import OptionError, RunError, UserError
from deepcrib.evaluation.evaluate import ROLES
from deepcrib.files.weights import WEIGHTS_FILE
from deepcrib.game.rules import MAX_SCORE
from deepcrib.learners.weighted.agent import WeightedAgent, load_weighted
from deepcrib.training.run_files import CHECKPOINTS, checkpoint_files

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.floating[Any]]

SCORE_TICKS = (0, 30, 60, 90, 120)
DEALER_RED, PONE_BLUE = "#b2182b", "#2166ac"
SHEET_PANELS = 6  # of an evolution: the start, four between, the end
PANEL_INCHES = 1.9


@dataclass(frozen=True)
class Panel:
    """One image of a sheet. values: [121 own score, 121 opponent's score], weights or differences of two."""

    title: str
    values: Floats


def strategy_graph(weights: Floats, names: Sequence[str], strategy: str, role: str) -> Figure:
    """One strategy in one role, of weights [121, 121, 2, m]. Raises OptionError on an unknown strategy or role."""
    values = weights_of(weights, names, strategy, role)
    return draw_sheet([[Panel("", values)]], f"{strategy}, as the {role}", panel_inches=4.0)


def role_sheet(weights: Floats, names: Sequence[str], role: str, title: str) -> Figure:
    """All strategies in one role, of weights [121, 121, 2, m] (figures 3, 4, 9, 10, 13, 15-17, 20, 23)."""
    return draw_sheet(_in_rows([Panel(name, weights_of(weights, names, name, role)) for name in names]), title)


def difference_sheet(weights: Floats, names: Sequence[str], title: str) -> Figure:
    """The pone's weight minus the dealer's, of weights [121, 121, 2, m] (figure 5).

    Blue where the pone prefers the strategy, red where the dealer does, white where they are equal.
    """
    panels = []
    for name in names:
        pone, dealer = (weights_of(weights, names, name, role) for role in ROLES)
        panels.append(Panel(name, pone - dealer))
    return draw_sheet(_in_rows(panels), title, difference=True)


def evolution(by_games: Mapping[int, Floats], names: Sequence[str], strategy: str, role: str, title: str) -> Figure:
    """One strategy in one role after so many games of training (figures 2, 11, 12).

    by_games: weights [121, 121, 2, m] by number of games; of more than six the ends and four between are shown.
    """
    return draw_sheet(
        _in_rows(
            [
                Panel(games_text(games), weights_of(by_games[games], names, strategy, role))
                for games in pick_evenly(sorted(by_games))
            ],
            most=3,
        ),
        title,
    )


def comparison_grid(
    values: Sequence[Sequence[Floats]], row_labels: Sequence[str], column_labels: Sequence[str], title: str
) -> Figure:
    """Graphs [R][C], each [121, 121], in labelled rows and columns (figures 18, 21, 24, 25)."""
    rows = [
        [Panel(label if number == 0 else "", graph) for label, graph in zip(column_labels, row, strict=True)]
        for number, row in enumerate(values)
    ]
    return draw_sheet(rows, title, row_labels=row_labels)


def weights_of(weights: Floats, names: Sequence[str], strategy: str, role: str) -> Floats:
    """[121, 121] weights of one strategy in one role. Raises OptionError on an unknown strategy or role."""
    if role not in ROLES:
        raise OptionError(f"role={role}: expected {' or '.join(ROLES)}")
    if strategy not in names:
        raise OptionError(f"strategy={strategy}: expected one of {', '.join(names)}")
    expected = (MAX_SCORE, MAX_SCORE, len(ROLES), len(names))
    if weights.shape != expected:
        raise ValueError(f"weights {weights.shape}: expected {expected}")
    graph: Floats = weights[:, :, ROLES.index(role), list(names).index(strategy)]
    return graph


def pick_evenly(games: Sequence[int], most: int = SHEET_PANELS) -> list[int]:
    """At most `most` of ascending numbers of games: the first, the last, and others evenly between them."""
    if len(games) <= most:
        return list(games)
    places = np.linspace(0, len(games) - 1, most).round().astype(int)
    return [games[place] for place in places]


def games_text(games: int) -> str:
    """`start` or `200,000 games`."""
    return f"{games:,} games" if games else "start"


def draw_sheet(
    rows: Sequence[Sequence[Panel]],
    title: str,
    *,
    row_labels: Sequence[str] | None = None,
    difference: bool = False,
    panel_inches: float = PANEL_INCHES,
) -> Figure:
    """Panels in rows with one colour bar; the last row may be shorter. `difference`: values from -1 to 1."""
    from matplotlib.figure import Figure

    width = max(map(len, rows))
    title_inches = 0.2 if rows[-1][0].title else 0.0
    size = (width * panel_inches + 1.4, len(rows) * (panel_inches + title_inches) + 0.7)
    figure = Figure(figsize=size, layout="compressed")
    figure.suptitle(title, fontsize=11)
    axes = figure.subplots(len(rows), width, squeeze=False, sharex=True, sharey=True)
    style = _difference_style() if difference else {"cmap": "gray_r", "vmin": 0.0, "vmax": 1.0}
    for number, row in enumerate(rows):
        for place, panel in enumerate(row):
            image = axes[number, place].imshow(panel.values, interpolation="nearest", origin="upper", **style)
            axes[number, place].set_title(panel.title, fontsize=8)
        for spare in axes[number, len(row) :]:
            spare.set_axis_off()
            axes[number - 1, list(axes[number]).index(spare)].tick_params(labelbottom=True)
    for number, left in enumerate(axes[:, 0]):
        left.set_yticks(SCORE_TICKS)
        left.set_xticks(SCORE_TICKS)
        if row_labels is not None:
            left.set_ylabel(row_labels[number], fontsize=9)
    for part in axes.flat:
        part.tick_params(labelsize=7, length=2)
    figure.supxlabel("opponent's score (points)", fontsize=9)
    figure.supylabel("own score (points)", fontsize=9)
    _colour_bar(figure, image, axes, difference)
    return figure


def _in_rows(panels: Sequence[Panel], most: int = 5) -> list[list[Panel]]:
    """Panels in two rows, or more where a row would hold more than `most`; up to three stand in one."""
    rows = 1 if len(panels) <= 3 else max(2, -(-len(panels) // most))
    width = -(-len(panels) // rows)
    return [list(panels[low : low + width]) for low in range(0, len(panels), width)]


def _difference_style() -> dict[str, Any]:
    from matplotlib.colors import LinearSegmentedColormap

    # an odd number of colours, so that a difference of 0 is the white in the middle
    colours = LinearSegmentedColormap.from_list("roles", [DEALER_RED, "white", PONE_BLUE], N=257)
    return {"cmap": colours, "vmin": -1.0, "vmax": 1.0}


def _colour_bar(figure: Figure, image: Any, axes: NDArray[Any], difference: bool) -> None:
    bar = figure.colorbar(image, ax=axes, aspect=35, pad=0.02)
    bar.ax.tick_params(labelsize=7)
    label = "weight as pone - weight as dealer" if difference else "weight of the strategy"
    bar.set_label(label, fontsize=9)
    bar.set_ticks([-1, -0.5, 0, 0.5, 1] if difference else [0, 0.25, 0.5, 0.75, 1])


# --- a run ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WeightedRun:
    """A finished training: its final weights, and its checkpoints by number of games; loaded when asked for."""

    name: str
    final_path: Path
    checkpoints: Mapping[int, Path]

    def final(self) -> WeightedAgent:
        """The agent that the training ended with."""
        return load_weighted(self.final_path)

    def at(self, games: int) -> WeightedAgent:
        """The agent after so many games. Raises RunError where there is no such checkpoint."""
        if games not in self.checkpoints:
            raise RunError(f"run {self.name} has no checkpoint after {games:,} games")
        return load_weighted(self.checkpoints[games])

    def games(self) -> int:
        """Games of the last checkpoint. Raises RunError where there is none."""
        if not self.checkpoints:
            raise RunError(f"run {self.name} has no checkpoints, which its figures need")
        return max(self.checkpoints)


def weighted_run(path: Path) -> WeightedRun:
    """A run folder, or a checkpoint alone. Raises RunError where it holds no weights."""
    if path.is_file():
        return WeightedRun(path.stem, path, {})
    weights = path / WEIGHTS_FILE
    if not weights.is_file():
        raise RunError(f"run={path}: expected a checkpoint, or the folder of a finished run with {WEIGHTS_FILE}")
    checkpoints = checkpoint_files(path) if (path / CHECKPOINTS).is_dir() else {}
    return WeightedRun(path.name, weights, checkpoints)


def figures_of(run: WeightedRun, strategy: str | None = None) -> dict[str, Figure]:
    """By file name: sheets by role, their difference, and the evolution of a strategy or all. Raises OptionError."""
    agent = run.final()
    weights, names = agent.weights, agent.strategies
    drawn = {f"{role}.png": role_sheet(weights, names, role, f"{run.name}: weights as the {role}") for role in ROLES}
    title = f"{run.name}: weights as the pone minus as the dealer"
    drawn["difference.png"] = difference_sheet(weights, names, title)
    by_games = {games: run.at(games).weights for games in pick_evenly(sorted(run.checkpoints))}
    for name in names if strategy is None else [strategy]:
        for role in ROLES:
            weights_of(weights, names, name, role)  # an unknown strategy is refused
            if by_games:
                title = f"{run.name}: {name} as the {role} during training"
                drawn[f"evolution_{name}_{role}.png"] = evolution(by_games, names, name, role, title)
    return drawn


def main(words: Sequence[str] | None = None) -> None:
    """Draw the graphs of a run into a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--strategy", help="the one whose evolution is drawn; by default each")
    parser.add_argument("--to", type=Path, default=Path("strategy_graphs"), help="the folder of the images")
    options = parser.parse_args(words)
    try:
        drawn = figures_of(weighted_run(options.run), options.strategy)
    except UserError as error:
        parser.error(str(error))
    options.to.mkdir(parents=True, exist_ok=True)
    for name, figure in drawn.items():
        save_png(figure, options.to / name)
        print(options.to / name)


if __name__ == "__main__":
    main()
