"""What `evaluation.studies` count, as rich tables: leads beside experts' rules, agreement with people's discards."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table

from deepcrib.analysis.tables import percent, plain_table
from deepcrib.evaluation.studies.expert_rules import RULES, ExpertRules, Points, Rule, RuleFigures, Share
from deepcrib.evaluation.studies.experts import PROBES, Probe, ProbeResult, rank_label
from deepcrib.evaluation.studies.humans import TOP, Agreement

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


def agreement_table(title: str, found: Mapping[str, Agreement]) -> Table:
    """Lang 2018, table 4, with intervals, in the order given."""
    rows = [
        (name, *(f"{count:,}" for count in result.counts), percent(*result.shares[-1]))
        for name, result in found.items()
    ]
    columns = ("agent", *(f"top {place}" for place in TOP), f"share in top {TOP[-1]} [95%]")
    return plain_table(title, columns, rows)
