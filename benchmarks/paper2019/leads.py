"""Leads of sections 3.5 and 4.6 of Bélanger et al. 2019: python -m benchmarks.paper2019.leads AGENT [--to FILE.json].

What an agent leads of the three hands, over DEALS deals of suits, starters and discards that the paper leaves open, and
how often it leads as the three rules say, over HANDS hands that it kept itself (docs/expert_rules.md). The authors'
agent is that of `published`; `--published` keeps what is found as that agent's, for the page.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from benchmarks.long_runs import DATA, finished
from benchmarks.pages import line
from benchmarks.paper2019.published import SPEC
from benchmarks.paper2019.values import ALGORITHMS, ARCHITECTURES, FIGURES, PAPER_ORDER
from benchmarks.people.expert_rules import deal_leads, expert_rules
from benchmarks.people.probes import PROBES, Probe, probe, rank_label
from deepcrib.agents import make_agent
from deepcrib.analysis.tables import percent
from deepcrib.files import write_atomic
from deepcrib.files.runs import flat, read_json
from deepcrib.intervals import wilson

GROUP = "paper2019_leads"
PUBLISHED = DATA / "paper2019_published.json"
DEALS, HANDS, SEED = 5_000, 10_000, 1
RULES = {"five_or_ten": "a five or ten-card", "bait": "a bait", "pair": "of a pair"}
"""Of the rules that `expert_rules` counts, those of section 3.5."""


def measure(spec: Any) -> dict[str, Any]:
    """Shares of the leads of each of PROBES with the order of the leads by value, and counts of RULES."""
    agent = make_agent(spec)
    probes = {name: asdict(result) for name, result in probe(agent, DEALS, SEED).items()}
    counted = expert_rules(agent, deal_leads(agent, HANDS, SEED)).rules
    rules = {name: asdict(counted[name]) for name in RULES}
    return {
        "probes": {name: {key: result[key] for key in ("leads", "order")} for name, result in probes.items()},
        "rules": {name: {**(found["agent"] or {}), "any_card": found["random"]} for name, found in rules.items()},
    }


def table(seeds: Sequence[int]) -> Iterator[str]:
    """A line for the paper, for each agent whose leads are known, and for what any card would make of the rules."""
    hands = [f"{hand.paper} of {' '.join(map(rank_label, hand.ranks))}" for hand in PROBES]
    yield line("leads", *hands, "by value", *RULES.values())
    yield f"|---|{'---|' * (len(PROBES) + 1 + len(RULES))}"
    yield line("the paper's agent", *("yes" for _ in PROBES), PAPER_ORDER, *("" for _ in RULES))
    known = _known(seeds)
    for name, found in known.items():
        order = " ".join(found[f"probes.{PROBES[0].name}.order"])
        yield line(name, *(_led(found, hand) for hand in PROBES), order, *(_rule(found, rule) for rule in RULES))
    if known:
        any_card = [np.mean([found[f"rules.{rule}.any_card"] for found in known.values()]) for rule in RULES]
        yield line("any card, same hands", *("" for _ in PROBES), "", *(f"{100 * share:.0f}%" for share in any_card))


def _known(seeds: Sequence[int]) -> dict[str, Mapping[str, Any]]:
    """Figures by agent, in words."""
    kept = finished(GROUP)
    names = {"belanger2019_cnn_lstm": "`belanger2019_cnn_lstm`"}
    for network in FIGURES:
        for algorithm, words in ALGORITHMS.items():
            for seed in seeds:
                names[f"paper2019_seed{seed}_{network}_{algorithm}"] = f"{ARCHITECTURES[network]}, {words}, seed {seed}"
    names["paper2019_ideal_seed1"] = "ideal, seed 1"
    published = dict(flat(read_json(PUBLISHED)))
    found: dict[str, Mapping[str, Any]] = {"the published agent": published} if published else {}
    return found | {words: kept[name]["figures"] for name, words in names.items() if name in kept}


def _led(found: Mapping[str, Any], hand: Probe) -> str:
    """How often the paper's card is led, and the one that is led more often, if there is one."""
    ranks = dict.fromkeys(map(rank_label, hand.ranks))
    shares = {rank: found[f"probes.{hand.name}.leads.{rank}"] for rank in ranks}
    most = max(shares, key=lambda rank: shares[rank])
    other = "" if shares[most] == shares[hand.paper] else f"; {most} {100 * shares[most]:.1f}%"
    return percent(*wilson(round(DEALS * shares[hand.paper]), DEALS)) + other


def _rule(found: Mapping[str, Any], rule: str) -> str:
    return percent(*(found[f"rules.{rule}.{name}"] for name in ("share", "ci_low", "ci_high")))


def main(words: Sequence[str] | None = None) -> None:
    """Measure one agent."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agent", type=yaml.safe_load)
    parser.add_argument("--published", action="store_true", help=f"write {PUBLISHED.name}")
    parser.add_argument("--to", type=Path, help="a JSON file")
    options = parser.parse_args(words)
    found = measure(options.agent)
    if options.published:
        about = {"command": f"python -m benchmarks.paper2019.leads '{SPEC}' --published"}
        write_atomic(PUBLISHED, json.dumps(about | found) + "\n")
    elif options.to is None:
        print(json.dumps(found))
    else:
        write_atomic(options.to, json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
