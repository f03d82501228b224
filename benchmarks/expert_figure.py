"""Leads beside experts' rules as a figure: python benchmarks/expert_figure.py FILE [--to experts.png].

FILE is one that `expert_rules.py --to FILE` wrote. One panel a rule: by agent its share, its best response's with 95%
intervals, and what any card would make (docs/expert_rules.md).
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from expert_rules import RULES, Rule
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from deepcrib.analysis.figures import save_png
from deepcrib.files.runs import read_json

COLUMNS = 3


def expert_figure(rules: Mapping[str, Any]) -> Figure:
    """Of the entry `rules` of the file, by agent."""
    rows = -(-len(RULES) // COLUMNS)
    figure = Figure(figsize=(11, rows * (1.1 + 0.32 * len(rules)) + 0.6), layout="constrained")
    axes = figure.subplots(rows, COLUMNS, sharex=True, sharey=True, squeeze=False)
    for part, rule in zip(axes.flat, RULES, strict=False):
        _draw(part, rule, rules)
    for part in axes[-1]:
        part.set_xlabel("share of hands in which it is a choice", fontsize=8)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=8, loc="outside lower center", ncols=3, frameon=False)
    return figure


def _draw(axes: Any, rule: Rule, rules: Mapping[str, Any]) -> None:
    found = [agent["rules"][rule.name] for agent in rules.values()]
    _draw_shares(axes, [one["best"] for one in found], 0.18, "D", "tab:orange", "best response, same hands")
    _draw_shares(axes, [one["agent"] for one in found], -0.18, "o", "tab:blue", "agent")
    expected = [(one["random"], row) for row, one in enumerate(found) if one["random"] is not None]
    if expected:
        axes.plot(*zip(*expected, strict=True), "|", color="0.3", ms=17, mew=1.2, label="any card", zorder=1)
    axes.set_yticks(range(len(rules)), list(rules), fontsize=8)
    axes.set_ylim(len(rules) - 0.5, -0.5)
    axes.set_xlim(-0.03, 1.03)
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.tick_params(axis="x", labelsize=7)
    axes.set_title(f"{rule.title}\n({'experts do' if rule.experts_seek else 'experts do not'})", fontsize=9)
    axes.grid(axis="x", alpha=0.3)


def _draw_shares(
    axes: Any, shares: Sequence[dict[str, float] | None], shift: float, marker: str, color: str, label: str
) -> None:
    shown = [(row + shift, share) for row, share in enumerate(shares) if share is not None]
    if not shown:
        return
    middles = [share["share"] for _, share in shown]
    low = [share["share"] - share["ci_low"] for _, share in shown]
    high = [share["ci_high"] - share["share"] for _, share in shown]
    axes.errorbar(
        middles, [y for y, _ in shown], xerr=[low, high], fmt=marker, ms=4, lw=1.2, capsize=2, color=color, label=label
    )


def main(words: Sequence[str] | None = None) -> None:
    """Draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--to", type=Path, default=Path("experts.png"))
    options = parser.parse_args(words)
    found = read_json(options.file)
    if "rules" not in found:
        parser.error(f"{options.file}: expected a file that expert_rules.py wrote")
    save_png(expert_figure(found["rules"]), options.to)
    print(options.to)


if __name__ == "__main__":
    main()
