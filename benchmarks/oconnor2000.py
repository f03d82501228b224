"""O'Connor 2000 with intervals: python benchmarks/oconnor2000.py FOLDER [--share 1.0].

The simple discard game (three players, networks of 20 and 40 hidden units: figure 1), the full game (the same sizes:
figure 2), and the further work that the paper proposes: TD(lambda) and features. Each training is a `deepcrib
train`; one that is complete is not repeated, nor is a match. Table and figures go to FOLDER.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from hydra import compose, initialize_config_dir

from deepcrib import runs
from deepcrib.agents import make_agent
from deepcrib.analysis.curves import read_scalar
from deepcrib.analysis.figures import lines_with_bands
from deepcrib.cli import main as main_of_deepcrib
from deepcrib.evaluation.discard_game import (
    DiscardNetwork,
    cheating_player,
    exact_means,
    ideal_player,
    mean_points,
    random_player,
)
from deepcrib.evaluation.evaluate import evaluate
from deepcrib.evaluation.hand_pairs import hand_pairs
from deepcrib.jobs import JOBS
from deepcrib.jobs.schema import register_schema

SEEDS = (1, 2, 3)
MEASURE_SEED = 2000  # of all matches and of the hands that the discard game is measured on
DISCARD_HANDS = 20_000  # the paper's
DISCARD_STEPS = (0, 10_000, 25_000, 50_000, 100_000, 150_000, 200_000, 300_000, 400_000, 500_000)
PAIRS, GAMES = 20_000, 5_000
OPPONENTS = ("random", "greedy", "deterministic")


@dataclass(frozen=True)
class Run:
    """A training: its experiment, seed, what is set beside it, and how many full games are measured too."""

    experiment: str
    seed: int
    overrides: tuple[str, ...] = ()
    games: int = 0

    @property
    def name(self) -> str:
        """Its folder."""
        return f"{self.experiment}_{self.seed}"


RUNS = (
    *(Run("oconnor2000_20", seed) for seed in SEEDS),
    *(Run("oconnor2000_40", seed) for seed in SEEDS),
    Run("td_perceptron", 1, games=GAMES),
    Run("oconnor2000_lambda", 1),
    Run("oconnor2000_features", 1),
)


def kept(path: Path, make: Callable[[], Any]) -> Any:
    """The content of a JSON file, made if it is not there."""
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(make()))
    return json.loads(path.read_text())


# --- the discard game -----------------------------------------------------------------------------------------------


def discard_players() -> dict[str, Any]:
    """Means of the three players, over hands and exactly."""
    players = {"random": random_player, "ideal": ideal_player, "cheating": cheating_player}
    measured = {name: mean_points(player, DISCARD_HANDS, MEASURE_SEED).to_dict() for name, player in players.items()}
    return {"measured": measured, "exact": exact_means()}


def discard_curve(hidden: int, seed: int) -> list[dict[str, float]]:
    """Mean points of a network after each of DISCARD_STEPS hands."""
    network, curve = DiscardNetwork([hidden], seed), []
    for hands in DISCARD_STEPS:
        network.learn(hands - network.hands)
        curve.append(mean_points(network, DISCARD_HANDS, MEASURE_SEED).to_dict())
    return curve


def discard_game(root: Path) -> list[str]:
    """Rows of the table, and figure 1."""
    players = kept(root / "discard_players.json", discard_players)
    rows = []
    for name, paper in (("random", "4.7"), ("ideal", "8.1"), ("cheating", "8.8")):
        rows.append(f"| {name} | {_points(players['measured'][name])} | {players['exact'][name]:.4f} | {paper} |")
    lines = {}
    for hidden in (20, 40):
        curves = [
            kept(root / f"discard_{hidden}_{seed}.json", lambda h=hidden, s=seed: discard_curve(h, s)) for seed in SEEDS
        ]
        lines[f"{hidden} hidden units"] = DISCARD_STEPS, np.array([[p["mean"] for p in curve] for curve in curves])
        for step in (100_000, 500_000):
            at = DISCARD_STEPS.index(step)
            cells = ", ".join(_points(curve[at]) for curve in curves)
            rows.append(f"| network of {hidden}, {step:,} hands, seeds 1, 2, 3 | {cells} | | 7.3 to 7.6 |")
    lines_with_bands(
        lines,
        {"ideal": players["exact"]["ideal"], "random": players["exact"]["random"]},
        title="The simple discard game: networks by hands trained",
        xlabel="hands trained",
        ylabel="mean points over 20,000 hands",
    ).savefig(root / "oconnor_figure_01.png", dpi=80)
    return ["| player | mean of 20,000 hands [95%] | exact | paper |", "|---|---|---|---|", *rows]


def _points(figures: dict[str, Any]) -> str:
    return f"{figures['mean']:.2f} [{figures['low']:.2f}, {figures['high']:.2f}]"


# --- the full game --------------------------------------------------------------------------------------------------


def hands_of(experiment: str) -> int:
    """`learner.hands` of an experiment."""
    register_schema(JOBS["train"])
    with initialize_config_dir(version_base="1.3", config_dir=str(runs.conf_folder())):
        return int(compose("train", overrides=[f"experiment={experiment}"]).learner.hands)


def train(run: Run, root: Path, share: float) -> None:
    """Run one training, unless its folder is complete; monitored by pairs of hands against random alone."""
    folder = root / run.name
    if (folder / "summary.json").is_file():
        return
    words = [
        *("train", f"experiment={run.experiment}", f"seed={run.seed}", *run.overrides, f"hydra.run.dir={folder}"),
        *("evaluation.opponents=[random]", "evaluation.games=100", "evaluation.final_games=100"),
    ]
    if share != 1:
        hands = max(10, round(hands_of(run.experiment) * share))
        words += [f"learner.hands={hands}", f"learner.checkpoint_every={hands // 10}"]
    if folder.exists():
        words = ["train", f"resume={folder}"]
    if main_of_deepcrib(words):
        raise SystemExit(f"{run.name} failed")
    print(run.name, "done", flush=True)


def measure(run: Run, root: Path, share: float) -> dict[str, Any]:
    """Pairs of hands, and full games where the run asks for them, against each opponent."""
    folder, found = root / run.name, {}
    agent = make_agent(str(folder))
    for name in OPPONENTS:
        opponent = make_agent(name)

        def pairs(opponent: Any = opponent) -> Any:
            return hand_pairs(agent, opponent, max(2, round(PAIRS * share)), MEASURE_SEED).to_dict()

        def games(opponent: Any = opponent) -> Any:
            return evaluate(agent, opponent, max(2, round(run.games * share)), MEASURE_SEED).to_dict()

        found[name] = {"pairs": kept(folder / f"pairs_{name}.json", pairs)}
        if run.games:
            found[name]["games"] = kept(folder / f"games_{name}.json", games)
    return found


def full_game(root: Path, share: float) -> list[str]:
    """Rows of the table."""
    rows = ["| run | seed | " + " | ".join(f"against {name}" for name in OPPONENTS) + " |", "|---|---|---|---|---|"]
    for run in RUNS:
        train(run, root, share)
    figure_2(root)
    for run in sorted(RUNS, key=lambda run: run.games):  # full games take longest
        cells = []
        for figures in measure(run, root, share).values():
            pairs = figures["pairs"]
            cell = f"{pairs['margin']:+.2f} [{pairs['low']:+.2f}, {pairs['high']:+.2f}]"
            if "games" in figures:
                games = figures["games"]
                shares = (100 * games[key] for key in ("win_rate", "ci_low", "ci_high"))
                cell += "; {:.1f}% [{:.1f}, {:.1f}]".format(*shares)
            cells.append(cell)
        rows.append(f"| {run.experiment} | {run.seed} | " + " | ".join(cells) + " |")
        print(rows[-1], flush=True)
    return rows


def figure_2(root: Path) -> None:
    """Points a pair of hands against random by hands trained: 1,000 pairs a point."""
    lines = {}
    for hidden in (20, 40):
        read = [read_scalar(root / f"oconnor2000_{hidden}_{seed}", "random/pair_margin") for seed in SEEDS]
        lines[f"{hidden} hidden units"] = read[0][0].tolist(), np.array([values for _, values in read])
    lines_with_bands(
        lines,
        {"the paper after two days": 4.0},
        title="The full game: a perceptron against random",
        xlabel="hands of self-play",
        ylabel="points a pair of hands",
    ).savefig(root / "oconnor_figure_02.png", dpi=80)


def main() -> None:
    """Train and measure everything, then write the tables and figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--share", type=float, default=1.0, help="of the hands, and of those in matches")
    options = parser.parse_args()
    root = options.folder.resolve()
    root.mkdir(parents=True, exist_ok=True)
    rows = [*discard_game(root), "", *full_game(root, options.share)]
    (root / "results.md").write_text("\n".join(rows) + "\n")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
