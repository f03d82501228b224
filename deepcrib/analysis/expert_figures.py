"""Leads beside experts' rules: tables and a figure of what `experts` and `expert_rules` in `evaluation.studies` count.

The figure needs matplotlib, an optional dependency.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.table import Table

from deepcrib.analysis.tables import percent, plain_table
from deepcrib.evaluation.studies.expert_rules import RULES, ExpertRules, Points, Rule, RuleFigures, Share
from deepcrib.evaluation.studies.experts import PROBES, Probe, ProbeResult, rank_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Probes = Mapping[str, Mapping[str, ProbeResult]]
"""By agent, by the name of the probe."""


def expert_tables(probes: Probes, rules: Mapping[str, ExpertRules]) -> list[Table]:
    """One table a probe, one a rule, and what the leads cost where that is known."""
    tables = [probe_table(hand, probes) for hand in PROBES]
    tables += [rule_table(rule, rules) for rule in RULES]
    lost = {name: found.lost for name, found in rules.items() if found.lost is not None}
    if lost:
        rows = [(name, f"{points.hands:,}", _points(points).replace("+", "")) for name, points in lost.items()]
        tables.append(plain_table("what a lead costs", ("agent", "hands", "points lost [95%]"), rows))
    return tables


def probe_table(hand: Probe, probes: Probes) -> Table:
    """One row an agent: how often it leads each rank, the mean value of that, and the order by value."""
    ranks = [rank_label(rank) for rank in dict.fromkeys(hand.ranks)]
    rows = []
    for name, found in probes.items():
        result = found[hand.name]
        cells = [_led(result, rank) for rank in ranks]
        rows.append((name, *cells, " ".join(result.order) if result.order else "-"))
    cards = " ".join(map(rank_label, hand.ranks))
    title = f"{cards}: led (value); the agent of 2019 led {hand.paper}, experts lead {hand.experts}"
    return plain_table(title, ("agent", *ranks, "by value"), rows)


def _led(result: ProbeResult, rank: str) -> str:
    value = "" if result.values is None else f" ({result.values[rank]:+.2f})"
    return f"{100 * result.leads[rank]:.0f}%{value}"


def rule_table(rule: Rule, rules: Mapping[str, ExpertRules]) -> Table:
    """One row an agent: its share, that of any card, and the best response's share and gain in the first hands."""
    rows = []
    for name, found in rules.items():
        figures = found.rules[rule.name]
        rows.append((name, *_share(figures.agent), _random(figures), *_share(figures.best), _points(figures.gain)))
    title = f"{rule.title} ({'experts do' if rule.experts_seek else 'experts do not'}); counted: {rule.counted}"
    columns = (
        "agent",
        "led [95%]",
        "hands",
        "random",
        "best response\n[95%]",
        "hands",
        "its gain by it\n(points) [95%]",
    )
    return plain_table(title, columns, rows)


def _share(share: Share | None) -> tuple[str, str]:
    if share is None:
        return "-", "-"
    return percent(share.share, share.ci_low, share.ci_high), f"{share.hands:,}"


def _random(figures: RuleFigures) -> str:
    return "-" if figures.random is None else f"{100 * figures.random:.1f}%"


def _points(points: Points | None) -> str:
    return "-" if points is None else f"{points.points:+.2f} [{points.ci_low:+.2f}, {points.ci_high:+.2f}]"


# --- the figure -------------------------------------------------------------------------------------------------


def expert_figure(rules: Mapping[str, ExpertRules]) -> Figure:
    """One panel a rule: by agent its share, its best response's with 95% intervals, and what any card would make."""
    from matplotlib.figure import Figure

    columns = 3
    rows = -(-len(RULES) // columns)
    figure = Figure(figsize=(11, rows * (1.1 + 0.32 * len(rules)) + 0.6), dpi=150, layout="constrained")
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for part, rule in zip(axes.flat, RULES, strict=False):
        _draw(part, rule, rules)
    for part in axes[-1]:
        part.set_xlabel("share of hands in which it is a choice", fontsize=8)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=8, loc="outside lower center", ncols=3, frameon=False)
    return figure


def _draw(axes: Any, rule: Rule, rules: Mapping[str, ExpertRules]) -> None:
    from matplotlib.ticker import PercentFormatter

    found = [figures.rules[rule.name] for figures in rules.values()]
    _draw_shares(axes, [figures.best for figures in found], 0.18, "D", "tab:orange", "best response, same hands")
    _draw_shares(axes, [figures.agent for figures in found], -0.18, "o", "tab:blue", "agent")
    expected = [(figures.random, row) for row, figures in enumerate(found) if figures.random is not None]
    if expected:
        axes.plot(*zip(*expected, strict=True), "|", color="0.3", ms=17, mew=1.2, label="any card", zorder=1)
    axes.set_yticks(range(len(rules)), list(rules), fontsize=8)
    axes.set_ylim(len(rules) - 0.5, -0.5)
    axes.set_xlim(-0.03, 1.03)
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.tick_params(axis="x", labelsize=7)
    axes.set_title(f"{rule.title}\n({'experts do' if rule.experts_seek else 'experts do not'})", fontsize=9)
    axes.grid(axis="x", alpha=0.3)


def _draw_shares(axes: Any, shares: list[Share | None], shift: float, marker: str, color: str, label: str) -> None:
    shown = [(row + shift, share) for row, share in enumerate(shares) if share is not None]
    if not shown:
        return
    middles = [share.share for _, share in shown]
    low = [share.share - share.ci_low for _, share in shown]
    high = [share.ci_high - share.share for _, share in shown]
    axes.errorbar(
        middles, [y for y, _ in shown], xerr=[low, high], fmt=marker, ms=4, lw=1.2, capsize=2, color=color, label=label
    )
