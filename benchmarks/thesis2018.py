"""The programme of Lang 2018, chapter 4, at its own length: python benchmarks/thesis2018.py FOLDER [--share 1.0].

Round 1 (16 pairs), round 2 (winners' and losers' bracket, a static opponent) and every experiment of section 4.2, each
a `deepcrib train` in a process of its own, two at a time. A run that is complete is not repeated. At the end the
matches that a training cannot play itself, and all tables, in FOLDER/results.md. `--share` shortens games and matches.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deepcrib.agents import load_weighted, make_agent
from deepcrib.checkpoints import WEIGHTS_FILE
from deepcrib.evaluation.evaluate import evaluate
from deepcrib.evaluation.tournament import play_acc_match
from deepcrib.intervals import wilson

PAIRS_1, PAIRS_2 = 16, 5
CONTEST_GAMES = 101  # of the draft: who of a pair goes on
MATCH_GAMES, PAIR_GAMES = 100_000, 20_000
MATCH_SEED, CONTEST_SEED = 20_181, 20_182
OPPONENTS = ("random_weights", "hand_max_avg", "greedy", "deterministic")
START = "own start"


@dataclass(frozen=True)
class Run:
    """A training: folder below the root, experiment, what is set beside it, and games of each final match."""

    name: str
    experiment: str
    games: int
    overrides: tuple[str, ...] = ()
    match_games: int = MATCH_GAMES


def round_1() -> Iterator[Run]:
    """16 pairs of random agents, 32 in all."""
    for pair in range(1, PAIRS_1 + 1):
        yield Run(_named("round_1", pair), "lang2018_round_1", 1_000_000, (f"seed={pair}",), PAIR_GAMES)


def round_2(root: Path) -> Iterator[Run]:
    """Five pairs in each bracket; winners of round 1 meet in its order, the others start over."""
    winners = [_winner(root / _named("round_1", pair)) for pair in range(1, 2 * PAIRS_2 + 1)]
    for pair in range(1, PAIRS_2 + 1):
        first, second = winners[2 * pair - 2 : 2 * pair]
        starts = (f"learner.initial={first}", f"learner.opponents=[{second}]", f"seed={200 + pair}")
        yield Run(_named("round_2_winners", pair), "lang2018_round_2", 1_000_000, starts, PAIR_GAMES)
        losers = (f"seed={300 + pair}",)
        yield Run(_named("round_2_losers", pair), "lang2018_round_2", 1_000_000, losers, PAIR_GAMES)


def experiments() -> Iterator[Run]:
    """Section 4.2, and the static opponent of section 4.1."""
    yield Run("round_2_static", "lang2018_round_2_static", 350_000)
    yield Run("neighbours", "lang2018_neighbours", 500_000)
    for cap in (50, 60, 70, 80):
        yield Run(f"cap_{cap}", f"lang2018_cap_{cap}", 500_000)
    yield Run("punishment", "lang2018_punishment", 1_000_000)
    for start in ("min", "avg", "med", "poss", "avg_random"):
        yield Run(f"semi_pure_{start}", f"lang2018_semi_pure_{start}", 1_000_000)
    for scaling in ("0.5", "1", "2", "5", "10"):
        yield Run(f"scaling_{scaling}", "lang2018_base", 1_000_000, (f"learner.scaling={scaling}",))
    for decay in ("0", "0.1", "0.2", "0.3", "0.4", "0.5"):
        yield Run(f"decay_{decay}", "lang2018_base", 1_000_000, (f"learner.decay={decay}",))


def _named(name: str, pair: int) -> str:
    """The first of several has the name that the figures look for."""
    return name if pair == 1 else f"more/{name}_{pair:02d}"


def train(run: Run, root: Path, share: float) -> None:
    """Run one training, unless its folder is complete."""
    folder = root / run.name
    if (folder / "summary.json").is_file():
        return
    games = max(1, round(run.games * share))
    words = [
        *("train", f"experiment={run.experiment}", *run.overrides, f"hydra.run.dir={folder}"),
        *(f"learner.games={games}", f"learner.checkpoint_every={max(1, round(100_000 * share))}"),
        f"evaluation.final_games={max(2, round(run.match_games * share))}",
    ]
    if folder.exists():
        words = ["train", f"resume={folder}"]
    environment = os.environ | {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-m", "deepcrib", *words], env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{run.name}: {done.stderr or done.stdout}")
    print(run.name, "done", flush=True)


def _winner(folder: Path) -> Path:
    """The weights of a pair's better agent, by an ACC match of 101 games."""
    paths = [folder / WEIGHTS_FILE, folder / "opponent_1.safetensors"]
    agents = [load_weighted(path) for path in paths]
    return paths[play_acc_match(agents[0], agents[1], CONTEST_GAMES, CONTEST_SEED).winner]


# --- results --------------------------------------------------------------------------------------------------------


def against_start(run: Run, root: Path, share: float) -> dict[str, Any]:
    """The trained agent against the weights that it started from."""
    folder = root / run.name
    path = folder / "against_start.json"
    if not path.is_file():
        agent, start = load_weighted(folder), make_agent(str(folder / "checkpoints" / "games_00000000.safetensors"))
        figures = evaluate(agent, start, max(2, round(run.match_games * share)), MATCH_SEED)
        path.write_text(json.dumps(figures.to_dict()))
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def table(groups: dict[str, Sequence[Run]], root: Path, share: float) -> str:
    """Win rates of the trained agents as a Markdown table; the runs of a group are pooled."""
    lines = [
        "| run | games of training | " + " | ".join((START, *OPPONENTS)) + " |",
        "|---" * (3 + len(OPPONENTS)) + "|",
    ]
    for name, runs in groups.items():
        results = [
            {START: against_start(run, root, share)} | json.loads((root / run.name / "summary.json").read_text())
            for run in runs
        ]
        cells = [_pooled([result[opponent] for result in results]) for opponent in (START, *OPPONENTS)]
        lines.append(f"| {name} | {len(runs)} x {runs[0].games:,} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _pooled(figures: Sequence[dict[str, Any]]) -> str:
    games, wins = sum(one["games"] for one in figures), sum(one["wins"] for one in figures)
    margin = sum(one["margin"] * one["games"] for one in figures) / games
    rate, low, high = (100 * value for value in wilson(wins, games))
    return f"{rate:.1f} [{low:.1f}, {high:.1f}], {margin:+.2f}"


def main() -> None:
    """Train everything, then write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--share", type=float, default=1.0, help="of the thesis's games, and of ours in matches")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    root, share = options.folder.resolve(), options.share
    with ThreadPoolExecutor(options.workers) as pool:
        stage_1 = [*round_1(), *experiments()]
        list(pool.map(lambda run: train(run, root, share), stage_1))
        stage_2 = list(round_2(root))
        list(pool.map(lambda run: train(run, root, share), stage_2))
    groups: dict[str, Sequence[Run]] = {"round 1": list(round_1())}
    groups["round 2, winners"] = [run for run in stage_2 if "winners" in run.name]
    groups["round 2, losers"] = [run for run in stage_2 if "losers" in run.name]
    groups |= {run.name: [run] for run in experiments()}
    text = table(groups, root, share)
    (root / "results.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
