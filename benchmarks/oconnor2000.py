"""O'Connor 2000 with intervals: python benchmarks/oconnor2000.py FOLDER [--share 1.0].

The simple discard game (three players, networks of 20 and 40 hidden units: figure 1), the full game (the same sizes:
figure 2), ten times as many hands as that, and the further work that the paper proposes: TD(lambda), several hidden
layers and features. Each training is a `deepcrib train`; one that is complete is not repeated, nor is a match. Table
and figures go to FOLDER.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from discard_game import DiscardNetwork, cheating_player, exact_means, ideal_player, mean_points, random_player
from hydra import compose, initialize_config_dir

from deepcrib.agents import make_agent
from deepcrib.analysis.curves import read_scalar
from deepcrib.analysis.figures import lines_with_bands
from deepcrib.cli import main as main_of_deepcrib
from deepcrib.evaluation.evaluate import evaluate
from deepcrib.evaluation.hands import hand_pairs
from deepcrib.files import runs
from deepcrib.jobs import JOBS
from deepcrib.jobs.hydra.schema import register_schema

SEEDS = (1, 2, 3)
MEASURE_SEED = 2000  # of all matches and of the hands that the discard game is measured on
DISCARD_HANDS = 20_000  # the paper's
DISCARD_STEPS = (0, 10_000, 25_000, 50_000, 100_000, 150_000, 200_000, 300_000, 400_000, 500_000)
PAIRS, GAMES = 20_000, 25_000
OPPONENTS = ("random", "greedy", "deterministic")


@dataclass(frozen=True)
class Run:
    """A training: its experiment, seed, what is set beside it, and how many full games are measured too.

    variant: what the overrides make of the experiment, where there are some.
    """

    experiment: str
    seed: int
    variant: str = ""
    overrides: tuple[str, ...] = ()
    games: int = 0

    @property
    def label(self) -> str:
        """Its name in the table."""
        return f"{self.experiment}, {self.variant}" if self.variant else self.experiment

    @property
    def name(self) -> str:
        """Its folder."""
        return f"{self.label}_{self.seed}".replace(", ", "_").replace(" ", "_")


LONG = ("longer", ("learner.hands=2000000", "learner.checkpoint_every=100000"))
LAYERS = ("two layers", ("learner.hidden=[40,40]",))
LONG_FEATURES = ("longer", ("learner.hands=1000000", "learner.checkpoint_every=100000"))
RUNS = (
    *(Run("oconnor2000_20", seed) for seed in SEEDS),
    *(Run("oconnor2000_40", seed) for seed in SEEDS),
    *(Run("oconnor2000_40", seed, *LAYERS) for seed in SEEDS),
    *(Run("oconnor2000_lambda", seed) for seed in SEEDS),
    *(Run("oconnor2000_20", seed, *LONG) for seed in SEEDS),
    *(Run("oconnor2000_40", seed, *LONG) for seed in SEEDS),
    *(Run("oconnor2000_features", seed) for seed in SEEDS),
    *(Run("td_perceptron", seed, games=GAMES) for seed in SEEDS),
    Run("td_perceptron", 1, *LAYERS, games=GAMES),
    Run("td_perceptron", 1, *LONG_FEATURES, games=GAMES),
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


def hands_of(run: Run) -> int:
    """`learner.hands` of a training."""
    register_schema(JOBS["train"])
    with initialize_config_dir(version_base="1.3", config_dir=str(runs.conf_folder())):
        return int(compose("train", overrides=[f"experiment={run.experiment}", *run.overrides]).learner.hands)


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
        hands = max(10, round(hands_of(run) * share))
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
    header = " | ".join(f"against {name}" for name in OPPONENTS)
    rows = [f"| run | seed | hands of training | {header} |", "|---" * 6 + "|"]
    for run in RUNS:
        train(run, root, share)
    figure_2(root)
    figure_3(root)
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
        hands = round(hands_of(run) * share)
        rows.append(f"| {run.label} | {run.seed} | {hands:,} | " + " | ".join(cells) + " |")
        print(rows[-1], flush=True)
    return rows


def figure_2(root: Path) -> None:
    """Points a pair of hands against random by hands trained: 1,000 pairs a point."""
    lines = {f"{hidden} hidden units": curves(root, f"oconnor2000_{hidden}") for hidden in (20, 40)}
    draw_pairs(lines, "The full game: a perceptron against random").savefig(root / "oconnor_figure_02.png", dpi=80)


def figure_3(root: Path) -> None:
    """The same of ten times as many hands."""
    lines = {f"{hidden} hidden units": curves(root, f"oconnor2000_{hidden}", *LONG) for hidden in (20, 40)}
    draw_pairs(lines, "The full game, ten times as long").savefig(root / "oconnor_figure_03.png", dpi=80)


def curves(root: Path, experiment: str, *options: Any) -> tuple[list[int], np.ndarray]:
    """(hands trained [T], points a pair of hands against random [seeds, T])."""
    read = [read_scalar(root / Run(experiment, seed, *options).name, "random/pair_margin") for seed in SEEDS]
    return read[0][0].tolist(), np.array([values for _, values in read])


def draw_pairs(lines: dict[str, tuple[list[int], np.ndarray]], title: str) -> Any:
    """Curves beside the figure of the paper."""
    return lines_with_bands(
        lines,
        {"the paper after two days": 4.0},
        title=title,
        xlabel="hands of self-play",
        ylabel="points a pair of hands",
    )


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
