"""Figures of docs/results/evolution.md, and rows of its tables for `tables.py`: python -m benchmarks.evolution.page.

The trainings are those of the groups `evolution` and `evolution_references` of `long_runs.py`. `--to FILE` measures the
second, fractions of fixed players, and draws nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.evolution.runs import CLIMBS, OPPONENTS, evolved
from benchmarks.long_runs import DATA, finished
from benchmarks.pages import interval
from deepcrib.agents import make_agent
from deepcrib.files.runs import write_json
from deepcrib.intervals import Interval, mean_interval, t_quantile
from deepcrib.learners.evolution.deals import ShowDeals

DEALS_SEED, HELD_OUT = 20_021, 10_000
"""Of the fixed players: seed and number of deals, two hands each."""
REFERENCES = {name: name for name in ("random", "greedy", "hand_max_avg", "expected_value")} | {
    "evolutionary": "`evolution_pairs` (agent `evolutionary`)"
}
CARDS = {
    "optimal": "against the optimal keep",
    "same": "two players, same cards",
    "different": "two players, different cards",
}
PLAYERS = {
    "merge_optimal_1": "`merge` against the optimal keep, at its end",
    "merge_optimal_100": "`merge` against the optimal keep, after 100 generations",
    "merge_same_1": "`merge`, two players, same cards",
    "merge_different_1": "`merge`, two players, different cards",
    "population_ranks_1": "population, `ranks`, 150 generations",
    "evolution_pairs": "`evolution_pairs` (agent `evolutionary`)",
    "pollack_blair": "`pollack_blair/games`, 200,000 games",
    "pollack_blair_hands": "`pollack_blair/hands`, 900,000 hands",
    "pollack_blair_random": "`pollack_blair/hands` from random weights, 2,700,000 hands",
    "pollack_blair_play": "`pollack_blair/play`, 900,000 hands (agent `hill_climber`)",
}
"""Of the full games, by run."""
LEARNED = {"pollack_blair_play": "play, greedy discards"}
CONTEST = 200
"""Games or hands of one: 100 pairs."""
Runs = Mapping[str, Any]


def label(curve: str) -> str:
    """Its name in tables and figures."""
    form, _, rest = curve.partition("_")
    if form == "population":
        return f"population, `{rest}`"
    return f"`{form}`, {CARDS[rest]}" + (f" (`kendall_shaw2002/{rest}`)" if form == "merge" else "")


# --- tables ---------------------------------------------------------------------------------------------------------


def references() -> dict[str, Any]:
    """Fractions of the best points that fixed players and the strongest evolved one reach, with intervals."""
    deals, found = ShowDeals.deal(DEALS_SEED, HELD_OUT), {}
    for name in REFERENCES:
        chances = deals.probabilities(make_agent(name))
        kinds = {"hand": False, "with_crib": True}
        found[name] = {kind: deals.fraction(chances, crib=crib)._asdict() for kind, crib in kinds.items()}
    return found


def reference_table(runs: Runs) -> list[dict[str, str]]:
    """Rows of the fixed players."""
    titles = {"hand": "hand, % of the best", "with_crib": "with the crib (plus as dealer, less as pone)"}
    rows = []
    for name, shown in REFERENCES.items():
        row = {"player": shown}
        for kind, title in titles.items():
            share = [100 * runs["all"]["figures"][f"{name}.{kind}.{end}"] for end in Interval._fields]
            row |= interval(title, Interval(*share), ".1f")
        rows.append(row)
    return rows


def curve_table(runs: Runs) -> list[dict[str, str]]:
    """Rows of the curves: per cent of the best points first, where their mean is highest, and last; what changed."""
    rows = []
    for name, (seeds, _) in evolved().items():
        steps, hand, spread = curve_of(runs, name)
        best = int(hand.mean(axis=0).argmax())
        columns = {"first": hand[:, 0], "highest mean (generation)": hand[:, best], "last (generation)": hand[:, -1]}
        columns |= {"highest - last": hand[:, best] - hand[:, -1], "_last - first": hand[:, -1] - hand[:, 0]}
        row = {"run": label(name), "n": str(seeds)}
        for title, values in columns.items():
            row |= interval(title, mean_interval(100 * values), ".1f")
            if "generation" in title:
                row[f"{title} n"] = str(steps[best if "highest" in title else -1])
        first, last = (f"{spread[:, i].mean():.2f}" for i in (0, -1))
        rows.append(row | {"_deviation of the values, first": first, "_deviation, last": last})
    return rows


def curve_of(runs: Runs, name: str) -> tuple[list[int], NDArray[np.float64], NDArray[np.float64]]:
    """(generations [T], fraction of the best points [seeds, T], deviation of the values [seeds, T])."""
    found = [runs[f"{name}_{seed}"]["curve"] for seed in range(1, evolved()[name][0] + 1)]
    return found[0]["step"], *(np.array([one[tag] for one in found]) for tag in ("held_out/hand", "weights/spread"))


def game_table(runs: Runs) -> list[dict[str, str]]:
    """Rows of the full games: win rates with Wilson's interval, and points a game."""
    rows = []
    for name, player in PLAYERS.items():
        row, figures = {"player": player}, runs[name]["figures"]
        for opponent in OPPONENTS:
            share = Interval(*(figures[f"{opponent}.{end}"] for end in ("win_rate", "ci_low", "ci_high")))
            row |= interval(f"{opponent}: wins %", share, ".1f")
            row[f"_{opponent}: points"] = f"{figures[f'{opponent}.margin']:+.2f}"
        rows.append(row)
    return rows


def climb_table(runs: Runs) -> list[dict[str, str]]:
    """Rows of the hill climbs."""
    rows = []
    for name in CLIMBS:
        curve = runs[name]["curve"]
        ends = [0, *curve["step"]]
        moves = sum(share * (ends[k + 1] - ends[k]) / CONTEST for k, share in enumerate(curve["contest/moved"]))
        row = {
            "run": PLAYERS[name].partition(", ")[0].partition(" (")[0],
            "learned": LEARNED.get(name, "discard and play"),
        }
        row |= {"budget": PLAYERS[name].split(", ")[1].partition(" (")[0], "contests": f"{ends[-1] // CONTEST}"}
        row |= {"moves": f"{moves:.0f}", "first weights": "random" if "random" in name else "0"}
        rows.append(row | {"seconds": f"{runs[name]['training_seconds']:.0f}"})
    return rows


# --- figures --------------------------------------------------------------------------------------------------------


def draw_curves(runs: Runs, fixed: Runs, path: Path) -> None:
    """Mean fraction by generation, with its 95% interval over seeds (Student's t)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4), layout="constrained")
    groups = {
        "Merging values: three readings": [name for name in evolved() if name.startswith("merge")],
        "Other forms, against the optimal keep": [
            f"{form}_optimal" for form in ("toward", "punish", "mutate", "select")
        ],
        "A population": ["population_ranks", "population_pairs"],
    }
    for axes, (title, names) in zip(figure.subplots(1, 3), groups.items(), strict=True):
        for name in names:
            steps, hand, _ = curve_of(runs, name)
            mean, half = hand.mean(axis=0), t_quantile(len(hand) - 1) * hand.std(axis=0, ddof=1) / len(hand) ** 0.5
            shown = label(name).replace("`", "").partition(" (")[0].removesuffix(", against the optimal keep")
            (line,) = axes.plot(steps, 100 * mean, label=shown)
            axes.fill_between(steps, 100 * (mean - half), 100 * (mean + half), color=line.get_color(), alpha=0.2, lw=0)
        for name in ("random", "hand_max_avg") if title == "A population" else ("random",):
            level = 100 * fixed["all"]["figures"][f"{name}.hand.estimate"]
            axes.axhline(level, color="0.4", lw=0.8, ls="--")
            axes.annotate(f"{name} discards", (0.98, level), fontsize=8, ha="right",
                          va="bottom", xycoords=("axes fraction", "data"), color="0.3")  # fmt: skip
        axes.set(xlabel="generation", ylabel="hand points, % of the best", title=title)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    figure.savefig(path, dpi=90)


def draw_climbs(runs: Runs, path: Path) -> None:
    """The win rate against greedy by games, with Wilson's intervals."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    for name in CLIMBS:
        curve = {tag: np.array(values) for tag, values in runs[name]["curve"].items()}
        games = curve["step"] if name == "pollack_blair" else curve["step"] / 9
        rate, low, high = (100 * curve[f"greedy/win_rate{end}"] for end in ("", "_low", "_high"))
        (line,) = axes.plot(games, rate, marker="o", markersize=3, label=name)
        axes.fill_between(games, low, high, color=line.get_color(), alpha=0.2, lw=0)
    axes.axhline(50, color="0.4", lw=0.8, ls="--")
    axes.set(xlabel="games of climbing (nine hands count as one)", ylabel="win rate against greedy, %")
    axes.set_title("Hill-climbing: from zeros, and from random weights")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=90)


def main(words: Sequence[str] | None = None) -> None:
    """Draw the figures, or measure the fixed players."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, help="JSON for the fractions of fixed players")
    options = parser.parse_args(words)
    if options.to is not None:
        write_json(options.to, references())
        return
    runs = finished("evolution")
    draw_curves(runs, finished("evolution_references"), DATA.parent / "evolution_generations.png")
    draw_climbs(runs, DATA.parent / "hill_climb.png")


if __name__ == "__main__":
    main()
