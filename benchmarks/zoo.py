"""The trained agents that come with the package: trains, chooses, ships, and writes their cards and the tables of them.

    python -m benchmarks.zoo choose quick experiment=quick --seeds 1 2 3 --runs outputs/zoo --what "..."
    python -m benchmarks.zoo league outputs/league

`choose` trains `deepcrib train EXPERIMENT seed=SEED` into RUNS/NAME_seedSEED, or takes and resumes what is there. Of
several seeds it ships the one with the highest mean win rate against the others, duplicate deals, GAMES games a pair;
the lower seed of two that are equal. No other opponent has a say. `league` takes the figures of a finished league into
the cards, its standings into docs/results/league.csv and the README, and its pairings beside them (`league_page.py`
writes the league's page). Both write weights/README.md.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from deepcrib.agents import make_agent
from deepcrib.agents.packaged import WEIGHTS, Card, LeaguePlace, read_cards
from deepcrib.analysis.agent_cards import card_facts
from deepcrib.analysis.tables import bounds, percent
from deepcrib.evaluation.league.tournament import RoundRobin, round_robin
from deepcrib.files import write_atomic
from deepcrib.files.runs import ENVIRONMENT, SUMMARY, read_json, starts, write_json
from deepcrib.files.weights import WEIGHTS_FILE

REPOSITORY = Path(__file__).resolve().parents[1]
STANDINGS = REPOSITORY / "docs" / "results" / "league.csv"
PAIRINGS = REPOSITORY / "docs" / "results" / "data" / "league_pairings.csv"
README = REPOSITORY / "README.md"
GAMES, SEED = 100_000, 1
TOP = 6
"""Rows of the README's table."""


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    jobs = parser.add_subparsers(required=True)
    choosing = jobs.add_parser("choose")
    choosing.add_argument("name")
    choosing.add_argument("experiment", help="options of deepcrib train: experiment=quick")
    choosing.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    choosing.add_argument("--runs", type=Path, default=REPOSITORY / "outputs" / "zoo")
    choosing.add_argument("--games", type=int, default=GAMES, help="of a pair")
    choosing.add_argument("--what", required=True, help="what the agent is, in words")
    choosing.add_argument("--busy", action="store_true", help="the machine had other work: the card says so")
    choosing.set_defaults(job=choose)
    taking = jobs.add_parser("league")
    taking.add_argument("folder", type=Path, help="run folder of deepcrib tournament league")
    taking.set_defaults(job=take_league)
    arguments = vars(parser.parse_args(words))
    arguments.pop("job")(**arguments)


# --- choosing ---------------------------------------------------------------------------------------------------


def choose(name: str, experiment: str, seeds: Sequence[int], runs: Path, games: int, what: str, busy: bool) -> None:
    """Train what is not trained yet, play the seeds against each other, and ship the best."""
    folders = {seed: trained(experiment, seed, runs / f"{name}_seed{seed}") for seed in seeds}
    seed, reason = seeds[0], f"the only run: seed {seeds[0]}"
    if len(seeds) > 1:
        agents = {str(seed): make_agent(str(folder)) for seed, folder in folders.items()}
        found = round_robin(agents, games, SEED, duplicate=True)
        seed, reason = best_of(found), described(found, games)
    print(f"{name}: seed {seed}, {reason}")
    shutil.copyfile(folders[seed] / WEIGHTS_FILE, WEIGHTS / f"{name}.safetensors")
    write_card(name, card_of(name, folders[seed], f"deepcrib train {experiment} seed={seed}", what, reason, busy))
    write_page()


def trained(experiment: str, seed: int, folder: Path) -> Path:
    """The folder of a finished run, which is trained first, or resumed, where it is not finished."""
    if not read_json(folder / SUMMARY):
        begun = (folder / ENVIRONMENT).exists()
        words = [f"resume={folder}"] if begun else [experiment, f"seed={seed}", f"hydra.run.dir={folder}"]
        subprocess.run([sys.executable, "-m", "deepcrib", "train", *words], check=True)
    return folder


def mean_rates(found: RoundRobin) -> dict[int, float]:
    """By seed, the mean of its win rates against the others, 0..1."""
    rates: dict[int, list[float]] = {}
    for (a, b), series in found.pairings.items():
        rates.setdefault(int(a), []).append(series.total.win_rate)
        rates.setdefault(int(b), []).append(1 - series.total.win_rate)
    return {seed: sum(own) / len(own) for seed, own in sorted(rates.items())}


def best_of(found: RoundRobin) -> int:
    """The seed with the highest mean win rate, the lowest of equal ones."""
    rates = mean_rates(found)
    return max(rates, key=lambda seed: rates[seed])


def described(found: RoundRobin, games: int) -> str:
    """The rule, and what each seed came to."""
    rates = ", ".join(f"{100 * rate:.2f}% (seed {seed})" for seed, rate in mean_rates(found).items())
    return f"mean win rate against the other seeds, {games:,} games a pair on duplicate deals: {rates}"


def card_of(name: str, run: Path, command: str, what: str, reason: str, busy: bool) -> Card:
    """What the run's folder says of the weights that lie in the package."""
    environment, content = read_json(run / ENVIRONMENT), (WEIGHTS / f"{name}.safetensors").read_bytes()
    first = starts(environment)[0]
    machine = f"{first['machine']['cores']} cores of {first['machine']['processor']}"
    return Card(
        what=what,
        command=command,
        commit=first["commit"],
        machine=machine + ", shared with other work" * busy,
        seconds=environment["seconds"],
        chosen_by=reason,
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
    )


def write_card(name: str, card: Card) -> None:
    """Beside its weights."""
    league = None if card.league is None else {key: value for key, value in asdict(card.league).items() if value}
    content = {key: value for key, value in (asdict(card) | {"league": league}).items() if value is not None}
    write_json(WEIGHTS / f"{name}.json", content)


# --- the league -------------------------------------------------------------------------------------------------


def take_league(folder: Path) -> None:
    """Take a league's figures into the cards of those that played, and its standings into the documents."""
    shutil.copyfile(folder / "league.csv", STANDINGS)
    shutil.copyfile(folder / "pairings.csv", PAIRINGS)
    measured, rows = read_json(folder / "ceilings.json"), standings()
    for name, card in read_cards().items():
        if name in rows:
            deals = measured.get(name, {}).get("terms", {}).get("deals", 0)
            write_card(name, replace(card, league=standing(rows[name], len(rows), deals)))
    write_page()
    text = README.read_text(encoding="utf-8")
    write_atomic(README, re.sub(r"\| +\| agent \|.*?\n\n", lambda _: f"{top_table(rows)}\n", text, flags=re.DOTALL))


def standings(path: Path = STANDINGS) -> dict[str, dict[str, str]]:
    """The rows of a league's standings by agent, the best first."""
    with path.open(encoding="utf-8", newline="") as file:
        return {row["agent"]: row for row in csv.DictReader(file)}


def standing(row: Mapping[str, str], agents: int, deals: int) -> LeaguePlace:
    """A row of it, as a card has it."""
    exploited = estimate(row, "ceiling_both") if row["ceiling_both"] and not row["ceiling_hands"] else None
    figures: dict[str, Any] = {name: estimate(row, name) for name in ("rating", "win_rate", "gain")}
    return LeaguePlace(int(row["rank"]), agents, **figures, exploited=exploited, deals=deals if exploited else 0)


def estimate(row: Mapping[str, str], name: str) -> tuple[float, float, float]:
    """A figure of a row with its interval."""
    low, high = (float(row[f"{name}_{bound}"]) for bound in ("low", "high"))
    return float(row[name]), low, high


def ceiling(row: Mapping[str, str]) -> str:
    """What a best responder gains on the agent of a row, or at least what networks do; nothing where none has tried."""
    least = "at least " if row["ceiling_hands"] else ""
    return least + bounds(*estimate(row, "ceiling_both")) if row["ceiling_both"] else ""


# --- tables for people ------------------------------------------------------------------------------------------


def top_table(rows: Mapping[str, Mapping[str, str]]) -> str:
    """The README's: the league's first agents."""
    lines = [
        "| | agent | rating [95%] | win rate [95%] | points a hand [95%] | a best responder gains |",
        "|--:|---|--:|--:|--:|--:|",
    ]
    for name, row in list(rows.items())[:TOP]:
        gained = ceiling(row) or "not known"
        figures = (bounds(*estimate(row, "rating"), ".0f"), percent(*estimate(row, "win_rate")))
        lines.append(
            f"| {row['rank']} | `{name}` | {' | '.join(figures)} | {bounds(*estimate(row, 'gain'))} | {gained} |"
        )
    return "\n".join(lines) + "\n"


INTRO = """# Trained agents

Each file of weights here is an agent by its name: `deepcrib evaluate agent=NAME`. Its metadata say what it was trained
with; the card beside it, `NAME.json`, where it comes from and how strong it is. `deepcrib help agents` prints what
follows, which `python -m benchmarks.zoo` writes from the cards. Times are of the whole command, its matches included.
The four oldest were trained again at the commit that is named, with the same weights to the bit. Commands are those
of this version: at the commits, experiments of papers had names with `_` (`paper2019_...`), not folders.
"""


def cards_page() -> str:
    """weights/README.md: every card as a list."""
    parts = [INTRO]
    for name, card in read_cards().items():
        facts = card_facts(card) | {"trained by": f"`{card.command}`"}
        lines = "\n".join(f"- {about}: {fact}" for about, fact in facts.items())
        parts.append(f"## {name}\n\n{card.what[0].upper()}{card.what[1:]}.\n\n{lines}\n")
    return "\n".join(parts)


def write_page() -> None:
    write_atomic(WEIGHTS / "README.md", cards_page())


if __name__ == "__main__":
    main()
