"""What `evaluation.studies` count, as rich tables: leads beside experts' rules, agreement with people's discards."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table

from deepcrib.analysis.tables import NONE, Cell, bounds, percent, plain_table, table_of
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
    columns: dict[str, Cell] = {
        "agent": "{0}",
        "hands": "{1.hands:,}",
        "points lost [95%]": lambda _, points: _points(points, ".2f"),
    }
    return [*tables, table_of("what a lead costs", lost.items(), columns)] if lost else tables


def probe_table(hand: Probe, probes: Probes) -> Table:
    """One row an agent: how often it leads each rank, the mean value of that, and the order by value."""
    ranks = [rank_label(rank) for rank in dict.fromkeys(hand.ranks)]
    found = {name: results[hand.name] for name, results in probes.items()}
    rows = [
        (name, *(_led(result, rank) for rank in ranks), " ".join(result.order or [NONE]))
        for name, result in found.items()
    ]
    cards = " ".join(map(rank_label, hand.ranks))
    title = f"{cards}: led (value); the agent of 2019 led {hand.paper}, experts lead {hand.experts}"
    return plain_table(title, ("agent", *ranks, "by value"), rows)


def _led(result: ProbeResult, rank: str) -> str:
    value = "" if result.values is None else f" ({result.values[rank]:+.2f})"
    return f"{100 * result.leads[rank]:.0f}%{value}"


def rule_table(rule: Rule, rules: Mapping[str, ExpertRules]) -> Table:
    """One row an agent: its share, that of any card, and the best response's share and gain in the first hands."""
    found = {name: agent.rules[rule.name] for name, agent in rules.items()}
    rows = [(name, *_rule_cells(figures)) for name, figures in found.items()]
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


def _rule_cells(figures: RuleFigures) -> tuple[str, ...]:
    random = NONE if figures.random is None else f"{100 * figures.random:.1f}%"
    return (*_share(figures.agent), random, *_share(figures.best), _points(figures.gain))


def _share(share: Share | None) -> tuple[str, str]:
    return (NONE, NONE) if share is None else (percent(share.share, share.ci_low, share.ci_high), f"{share.hands:,}")


def _points(points: Points | None, form: str = "+.2f") -> str:
    return NONE if points is None else bounds(points.points, points.ci_low, points.ci_high, form)


def agreement_table(title: str, found: Mapping[str, Agreement]) -> Table:
    """Lang 2018, table 4, with intervals, in the order given."""
    columns: dict[str, Cell] = {"agent": "{0}"}
    columns |= {f"top {top}": f"{{1.counts[{place}]:,}}" for place, top in enumerate(TOP)}
    columns[f"share in top {TOP[-1]} [95%]"] = lambda _, result: percent(*result.shares[-1])
    return table_of(title, found.items(), columns)
