"""Leads beside experts' rules as a figure: python -m benchmarks.people.expert_figure [FILE] [--to experts.png].

FILE is one that `expert_rules.py --to FILE` wrote; without one, the group `expert_rules` of `long_runs.py`. One panel
a rule: by agent its share, its best response's with 95% intervals, and what any card would make. The tables of
docs/expert_rules.md are of the same group: `tables.py` writes them.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from benchmarks.long_runs import finished
from benchmarks.pages import interval
from benchmarks.people.expert_rules import RULES, Rule
from benchmarks.people.probes import Probe, rank_label
from deepcrib.analysis.figures import save_png
from deepcrib.files.runs import read_json
from deepcrib.intervals import Interval

COLUMNS = 3
NAMES = {"greedy": "greedy", "deterministic": "deterministic", "best_response(greedy)": "best response"}
"""Of agents in docs/expert_rules.md; others have their own, as code."""
RULE_NAMES = dict(
    zip(
        (rule.name for rule in RULES), ("five", "ten-card", "five or ten-card", "bait", "pair", "low pair"), strict=True
    )
)
PAPERS_ORDER = {"A45T": "10 4 A 5"}
"""By value, of the paper's agent, where section 4.6 prints it."""
EXACT_DISCARDS = "greedy_minimax"
"""Whose hands are those of `expected_value`: of these are any card's share and the best response's."""
Rows = list[dict[str, str]]


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


# --- tables ---------------------------------------------------------------------------------------------------------


def nested(figures: Mapping[str, Any]) -> dict[str, Any]:
    """The content of the script's file, from figures by names such as `rules.greedy.hands`."""
    found: dict[str, Any] = {}
    for name, value in figures.items():
        *way, last = name.split(".")
        place = found
        for part in way:
            place = place.setdefault(part, {})
        place[last] = value
    return found


def probe_rows(runs: Mapping[str, Any], hand: Probe) -> Rows:
    """How often each rank of a hand is led, and at what mean value, by agent."""
    ranks = [rank_label(rank) for rank in dict.fromkeys(hand.ranks)]
    title, order = " ".join(hand.name).replace("T", "10"), PAPERS_ORDER.get(hand.name, "")
    columns = [column for rank in ranks for column in (f"{rank} %", f"{rank} value")]
    led = {"paper's agent": hand.paper, "experts": hand.experts}
    if hand.paper == hand.experts and not order:
        led = {"paper's agent, experts": hand.paper}
    rows = [
        {title: who, **dict.fromkeys(columns, ""), f"{rank} %": "led", "by value": order * ("paper" in who)}
        for who, rank in led.items()
    ]
    for name, found in nested(runs["all"]["figures"])["probes"].items():
        one, row = found[hand.name], {title: NAMES.get(name, f"`{name}`")}
        for rank in ranks:
            row[f"{rank} %"] = f"{100 * one['leads'][rank]:.0f}"
            row[f"{rank} value"] = f"{one['values'][rank]:.2f}" if one["values"] else ""
        rows.append(row | {"by value": " ".join(one["order"] or [])})
    return rows


def rule_rows(runs: Mapping[str, Any]) -> Rows:
    """By agent, how often it leads as each rule names, and what its leads cost it."""
    rows = []
    for name, found in nested(runs["all"]["figures"])["rules"].items():
        row = {"agent": NAMES.get(name, f"`{name}`")}
        for rule, title in RULE_NAMES.items():
            hidden = "_" * (rule == "five_or_ten")  # data alone
            row |= _share(f"{hidden}{title}", found["rules"][rule]["agent"])
        rows.append(row | _points("points lost by a lead", found["lost"], ".2f"))
    return rows


def worth_rows(runs: Mapping[str, Any]) -> Rows:
    """By rule, how often any card is of it, how often the best response leads so, and what that gains."""
    rules, rows = nested(runs["all"]["figures"])["rules"][EXACT_DISCARDS]["rules"], []
    for rule, title in RULE_NAMES.items():
        found = rules[rule]
        row = {"rule's lead": title, "any card %": f"{100 * found['random']:.1f}"}
        rows.append(row | _share("best response", found["best"]) | _points("gain, points", found["gain"], "+.2f"))
    return rows


def _share(title: str, found: Mapping[str, Any]) -> dict[str, str]:
    share = Interval(found["share"], found["ci_low"], found["ci_high"])
    return interval(f"{title} %", share, ".1f") | {f"{title} n": str(found["hands"])}


def _points(title: str, found: Mapping[str, Any], form: str) -> dict[str, str]:
    return interval(title, Interval(found["points"], found["ci_low"], found["ci_high"]), form)


def main(words: Sequence[str] | None = None) -> None:
    """Draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--to", type=Path, default=Path("experts.png"))
    options = parser.parse_args(words)
    found = nested(finished("expert_rules")["all"]["figures"]) if options.file is None else read_json(options.file)
    if "rules" not in found:
        parser.error(f"{options.file}: expected a file that expert_rules.py wrote")
    save_png(expert_figure(found["rules"]), options.to)
    print(options.to)


if __name__ == "__main__":
    main()
