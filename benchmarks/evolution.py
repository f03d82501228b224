"""Figures and tables of docs/results/evolution.md: python benchmarks/evolution.py FOLDER [--parts curves,matches,..].

`curves`: the evolved discarders by generation, over several seeds. `references`: the same fractions of fixed players.
`climbs`: the hill-climbs, each a `deepcrib train` in a process of its own, and `pairs`: the strongest evolved
discarder. `matches`: full games of all trained players. `tables`: FOLDER/results.md. `figures`: the two PNG files. A
part whose file is there is not repeated, nor is a training whose folder is complete.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from deepcrib.agents import make_agent
from deepcrib.analysis.curves import read_scalar
from deepcrib.evaluation.evaluate import evaluate
from deepcrib.files import runs
from deepcrib.game.randomness import FINAL_MATCHES, derive
from deepcrib.intervals import mean_interval, t_quantile, wilson
from deepcrib.jobs import JOBS
from deepcrib.jobs.hydra.schema import register_schema
from deepcrib.learners.evolution.deals import ShowDeals
from deepcrib.learners.evolution.learner import EvolutionLearner
from deepcrib.training.fit import fit
from deepcrib.training.learner import Setting

FIRST_SEED, DEALS_SEED, MATCH_SEED = 1, 20_021, 20_022
HELD_OUT = 10_000  # deals: 20,000 hands
GAMES = 50_000
OPPONENTS = ("greedy", "deterministic", "hand_max_avg")
REFERENCES = ("random", "greedy", "hand_max_avg", "expected_value")
# Folder: experiment and overrides.
CLIMBS: dict[str, tuple[str, ...]] = {
    "pollack_blair": ("experiment=pollack_blair",),
    "pollack_blair_hands": ("experiment=pollack_blair_hands",),
    "pollack_blair_play": ("experiment=pollack_blair_play",),
    "pollack_blair_random": (
        "experiment=pollack_blair_hands",
        "learner.start=random",
        "learner.games=2700000",
        "learner.checkpoint_every=300000",
    ),
}
TRAININGS = {"evolution_pairs": ("experiment=evolution_pairs",), **CLIMBS}
EXPERIMENTS = {
    "against the optimal keep": "kendall_shaw2002_optimal",
    "two players, same cards": "kendall_shaw2002_same",
    "two players, different cards": "kendall_shaw2002_different",
}
# Label: number of seeds, experiment and overrides.
CURVES: dict[str, tuple[int, tuple[str, ...]]] = {
    **{label: (10, (f"experiment={name}", "learner.measure_every=20")) for label, name in EXPERIMENTS.items()},
    **{
        f"{form}, against the optimal keep": (
            5,
            (
                *("experiment=kendall_shaw2002_optimal", f"learner.adjust={form}"),
                *("learner.rate=0.02", "learner.measure_every=20"),
            ),
        )
        for form in ("toward", "punish", "mutate", "select")
    },
    **{
        f"{form}, {cards} cards": (
            5,
            (
                *(f"experiment=kendall_shaw2002_{cards}", f"learner.adjust={form}"),
                *("learner.rate=0.02", "learner.measure_every=20"),
            ),
        )
        for form in ("toward",)
        for cards in ("same", "different")
    },
    **{
        f"population, {genome}": (
            3,
            (
                *("learner=evolution", "learner.update=population", f"learner.genome={genome}"),
                *("learner.generations=150", "learner.deals=200", "learner.checkpoint_every=150"),
            ),
        )
        for genome in ("ranks", "pairs")
    },
}


class Recorder:
    """In the place of a TensorBoard writer: keeps the curves."""

    def __init__(self) -> None:
        self.curves: dict[str, list[tuple[int, float]]] = {}

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        """Keep a value."""
        self.curves.setdefault(tag, []).append((step, float(value)))

    def flush(self) -> None:
        """Nothing is buffered."""


def settings(overrides: tuple[str, ...], seed: int) -> Any:
    """The options of the job `train`."""
    register_schema(JOBS["train"])
    with initialize_config_dir(version_base="1.3", config_dir=str(runs.conf_folder())):
        config = compose("train", overrides=[*overrides, f"seed={seed}"])
    found = OmegaConf.to_object(config)
    found.evaluation.opponents, found.evaluation.every = [], 0
    return found


def _no_match(*_: Any) -> Any:
    raise AssertionError("no match was asked for")


def curves(root: Path, share: float) -> dict[str, Any]:
    """{label: {steps [T], hand [S][T], with_crib [S][T], spread [S][T]}}: fractions of the best points, by seed."""
    part, found = root / "curves_so_far.json", dict[str, Any]()
    if part.is_file():
        found = json.loads(part.read_text())
    for label, (count, overrides) in CURVES.items():
        if label in found:
            continue
        rows: dict[str, list[list[float]]] = {"hand": [], "with_crib": [], "spread": []}
        for seed in range(FIRST_SEED, FIRST_SEED + max(1, round(count * share))):
            recorder, folder = Recorder(), root / "curves" / label.replace(", ", "_").replace(" ", "_") / str(seed)
            config = settings(overrides, seed)
            fit(EvolutionLearner(config.learner, Setting(seed, config.evaluation)), folder, _no_match, writer=recorder)
            for name, tag in (
                ("hand", "held_out/hand"),
                ("with_crib", "held_out/with_crib"),
                ("spread", "weights/spread"),
            ):
                rows[name].append([value for _, value in recorder.curves[tag]])
            steps = [step for step, _ in recorder.curves["held_out/hand"]]
        found[label] = {"steps": steps, **rows}
        part.write_text(json.dumps(found))
        means = np.array(rows["hand"]).mean(axis=0)
        print(label, f"{means[0]:.4f} -> {means.max():.4f} -> {means[-1]:.4f}", flush=True)
    return found


def references(root: Path, share: float) -> dict[str, Any]:
    """Fractions of fixed players and of the strongest evolved one, with intervals."""
    deals, found = ShowDeals.deal(DEALS_SEED, max(100, round(HELD_OUT * share))), {}
    for name in (*REFERENCES, str(root / "evolution_pairs")):
        chances = deals.probabilities(make_agent(name))
        fractions = {kind: deals.fraction(chances, crib=kind == "with_crib") for kind in ("hand", "with_crib")}
        found[Path(name).name] = {kind: fraction._asdict() for kind, fraction in fractions.items()}
    return found


def train(name: str, root: Path, share: float) -> None:
    """`deepcrib train` of TRAININGS, or on from where it was interrupted, unless its folder is complete."""
    folder, overrides = root / name, TRAININGS[name]
    if (folder / "summary.json").is_file():
        return
    words = ["train", *overrides, f"hydra.run.dir={folder}", f"seed={FIRST_SEED}"]
    if share < 1:
        steps = "generations" if name == "evolution_pairs" else "games"
        options = settings(overrides, FIRST_SEED).learner
        words.append(f"learner.{steps}={max(2, round(getattr(options, steps) * share))}")
        words.append(f"evaluation.final_games={max(2, round(GAMES * share))}")
    if folder.exists():
        words = ["train", f"resume={folder}"]
    environment = os.environ | {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-m", "deepcrib", *words], env=environment, check=True)


def matches(root: Path, share: float) -> dict[str, Any]:
    """Full games of all trained players against fixed ones."""
    agents = {label: str(root / "curves" / label.replace(", ", "_").replace(" ", "_") / "1") for label in EXPERIMENTS}
    early = agents["against the optimal keep"]
    agents["the same after 100 generations"] = f"{early}/checkpoints/generations_00000100.safetensors"
    agents["population, ranks"] = str(root / "curves" / "population_ranks" / "1")
    agents |= {name: str(root / name) for name in ("evolution_pairs", *CLIMBS)}
    found: dict[str, Any] = {}
    for label, path in agents.items():
        if not Path(path).is_file() and not (Path(path) / "weights.safetensors").is_file():
            continue
        found[label] = {}
        for opponent in OPPONENTS:
            figures = evaluate(path, opponent, max(2, round(GAMES * share)), derive(MATCH_SEED, FINAL_MATCHES))
            found[label][opponent] = figures.to_dict()
            rate, low, high = (100 * value for value in (figures.win_rate, figures.ci_low, figures.ci_high))
            print(f"{label} | {opponent} | {rate:.1f} [{low:.1f}, {high:.1f}], {figures.margin:+.2f}", flush=True)
    return found


# --- tables ---------------------------------------------------------------------------------------------------------


def seeds_cell(values: np.ndarray, digits: int = 1, scale: float = 100.0) -> str:
    """Mean over seeds [S] with its 95% interval by Student's t, in per cent."""
    found = mean_interval(scale * values)
    return f"{found.estimate:.{digits}f} [{found.low:.{digits}f}, {found.high:.{digits}f}]"


def curve_table(found: dict[str, Any]) -> list[str]:
    """Rows of the curves: fractions at the start, where their mean is highest and at the end, and what changed."""
    rows = [
        "| run | n | first | highest mean (generation) | last (generation) | highest - last | last - first "
        "| deviation of the values, first -> last |",
        "|---" * 8 + "|",
    ]
    for label, curve in found.items():
        hand, spread, steps = np.array(curve["hand"]), np.array(curve["spread"]), curve["steps"]
        best = int(hand.mean(axis=0).argmax())
        cells = [label, str(len(hand)), seeds_cell(hand[:, 0])]
        cells += [f"{seeds_cell(hand[:, i])} ({steps[i]})" for i in (best, -1)]
        cells += [seeds_cell(hand[:, best] - hand[:, -1]), seeds_cell(hand[:, -1] - hand[:, 0])]
        cells.append(f"{spread[:, 0].mean():.2f} -> {spread[:, -1].mean():.2f}")
        rows.append("| " + " | ".join(cells) + " |")
    return rows


def match_table(found: dict[str, Any]) -> list[str]:
    """Rows of the full games: win rates with Wilson's interval, and points a game."""
    rows = ["| player | " + " | ".join(OPPONENTS) + " |", "|---" * (1 + len(OPPONENTS)) + "|"]
    for label, figures in found.items():
        cells = []
        for opponent in OPPONENTS:
            rate, low, high = (100 * figures[opponent][key] for key in ("win_rate", "ci_low", "ci_high"))
            cells.append(f"{rate:.1f} [{low:.1f}, {high:.1f}], {figures[opponent]['margin']:+.2f}")
        rows.append(f"| {label} | " + " | ".join(cells) + " |")
    return rows


def reference_table(found: dict[str, Any]) -> list[str]:
    """Rows of the fixed players."""
    rows = ["| player | hand, % of the best | with the crib |", "|---|---|---|"]
    for name, kinds in found.items():
        shares = ((100 * value for value in kinds[kind].values()) for kind in ("hand", "with_crib"))
        cells = ["{:.1f} [{:.1f}, {:.1f}]".format(*share) for share in shares]
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
    return rows


def tables(root: Path) -> str:
    """All tables of the parts that are there, as Markdown."""
    parts = (("references", reference_table), ("curves", curve_table), ("matches", match_table))
    found = [
        (json.loads(path.read_text()), table) for name, table in parts if (path := root / f"{name}.json").is_file()
    ]
    return "\n\n".join("\n".join(table(figures)) for figures, table in found) + "\n"


# --- figures --------------------------------------------------------------------------------------------------------


def band(rows: list[list[float]]) -> tuple[np.ndarray, np.ndarray]:
    """(mean [T], half width of its 95% interval [T]) over seeds: Student's t."""
    values = np.array(rows)
    count = len(values)
    half = t_quantile(count - 1) * values.std(axis=0, ddof=1) / np.sqrt(count) if count > 1 else 0 * values[0]
    return values.mean(axis=0), half


def figures(root: Path, out: Path) -> None:
    """docs/results/evolution_generations.png and hill_climb.png."""
    from matplotlib.figure import Figure

    found, fixed = (json.loads((root / f"{part}.json").read_text()) for part in ("curves_so_far", "references"))
    figure = Figure(figsize=(11, 4), layout="constrained")
    groups = (
        ("Merging values: three readings", [label for label in CURVES if label in EXPERIMENTS]),
        (
            "Other forms, against the optimal keep",
            [label for label in CURVES if label.endswith("the optimal keep")][1:],
        ),
        ("A population", [label for label in CURVES if label.startswith("population")]),
    )
    for axes, (title, labels) in zip(figure.subplots(1, 3), groups, strict=True):
        for label in (label for label in labels if label in found):
            mean, half = band(found[label]["hand"])
            steps = found[label]["steps"]
            (line,) = axes.plot(steps, 100 * mean, label=label.removesuffix(", against the optimal keep"))
            axes.fill_between(steps, 100 * (mean - half), 100 * (mean + half), color=line.get_color(), alpha=0.2, lw=0)
        names = ("random", "hand_max_avg") if title == "A population" else ("random",)
        for name in names:
            axes.axhline(100 * fixed[name]["hand"]["estimate"], color="0.4", lw=0.8, ls="--")
            axes.annotate(f"{name} discards", (0.98, 100 * fixed[name]["hand"]["estimate"]), fontsize=8, ha="right",
                          va="bottom", xycoords=("axes fraction", "data"), color="0.3")  # fmt: skip
        axes.set(xlabel="generation", ylabel="hand points, % of the best", title=title)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    figure.savefig(out / "evolution_generations.png", dpi=90)
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    for name in CLIMBS:
        if not (root / name / "summary.json").is_file():
            continue
        steps, rates = read_scalar(root / name, "greedy/win_rate")
        games = steps if name == "pollack_blair" else steps / 9
        matched = OmegaConf.load(root / name / "config.yaml").evaluation.games
        bounds = np.array([wilson(rate * matched, matched) for rate in rates])
        (line,) = axes.plot(games, 100 * rates, marker="o", markersize=3, label=name)
        axes.fill_between(games, 100 * bounds[:, 1], 100 * bounds[:, 2], color=line.get_color(), alpha=0.2, lw=0)
    axes.axhline(50, color="0.4", lw=0.8, ls="--")
    axes.set(xlabel="games of climbing (nine hands count as one)", ylabel="win rate against greedy, %")
    axes.set_title("Hill-climbing: from zeros, and from random weights")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(out / "hill_climb.png", dpi=90)


def main() -> None:
    """Run the parts that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--parts", default="pairs,curves,references,climbs,matches,tables,figures")
    parser.add_argument("--share", type=float, default=1.0, help="of seeds, games and hands")
    parser.add_argument("--out", type=Path, default=Path("docs/results"), help="where the figures go")
    options = parser.parse_args()
    root, parts = options.folder.resolve(), options.parts.split(",")
    root.mkdir(parents=True, exist_ok=True)
    for name in (["evolution_pairs"] if "pairs" in parts else []) + (list(CLIMBS) if "climbs" in parts else []):
        train(name, root, options.share)
    for name, part in (("curves", curves), ("references", references), ("matches", matches)):
        path = root / f"{name}.json"
        if name in parts and not path.is_file():
            path.write_text(json.dumps(part(root, options.share)))
    if "tables" in parts:
        text = tables(root)
        (root / "results.md").write_text(text)
        print(text)
    if "figures" in parts:
        figures(root, options.out)


if __name__ == "__main__":
    main()
