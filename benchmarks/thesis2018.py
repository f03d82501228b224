"""The programme of Lang 2018, chapter 4, at its own length: python benchmarks/thesis2018.py FOLDER [--share 1.0].

Round 1 (16 pairs), round 2 (winners' and losers' bracket, a static opponent), every experiment of section 4.2 and the
draft's round robin, five seeds of each, one `deepcrib train` after another in this process; then the figures. What is
complete is not repeated, what was interrupted goes on. Tables are written to FOLDER/results.md after every run, of what
is finished; `--tables` writes them and trains nothing. `--share` shortens games and matches.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from thesis2018_figures import main as draw_figures

from deepcrib.agents import make_agent
from deepcrib.cli import main as deepcrib
from deepcrib.evaluation.evaluate import evaluate
from deepcrib.evaluation.league.tournament import against_checkpoints, play_acc_match
from deepcrib.exact.strategies.names import THESIS_STRATEGIES
from deepcrib.files.weights import WEIGHTS_FILE
from deepcrib.game.randomness import FINAL_MATCHES, derive
from deepcrib.intervals import mean_interval
from deepcrib.learners.weighted.agent import load_weighted
from deepcrib.training.run_files import STATE_FILE

PAIRS_1, SEEDS = 16, 5
CONTEST_GAMES, CONTEST_SEED = 101, 20_182  # of the draft: who of a pair goes on
MATCH_GAMES, CHECKPOINT_GAMES, MATCH_SEED = 20_000, 10_000, 20_181
CHECKPOINT = 100_000  # games between two
OPPONENTS = ("random_weights", "hand_max_avg", "greedy", "deterministic")
START = "own start"
BASE, HALF, LOSERS, WINNERS = "decay_0.1", "decay_0.1 at 500,000", "round_2_losers", "round_2_winners"
REVERSED = "list_reversed"  # ours: the strategies in the opposite order, which decides who answers for equal values
"""The common parameters have d = 0.1, so that their runs are a row of figure 25 as well."""
LEADS = ((-60, -16), (-15, -1), (0, 15), (16, 60))


@dataclass(frozen=True)
class Run:
    """A training: its group and number there (1 has the name that the figures look for), experiment and options."""

    group: str
    number: int
    experiment: str
    games: int
    overrides: tuple[str, ...]

    def folder(self, root: Path) -> Path:
        """Where it lies."""
        return root / (self.group if self.number == 1 else f"more/{self.group}_{self.number:02d}")


# --- what is run ----------------------------------------------------------------------------------------------------

Experiments = Mapping[str, tuple[str, int, tuple[str, ...]]]
HEADLINES: Experiments = {
    "text": ("text", 1_000_000, ()),
    **{f"cap_{cap}": (f"cap_{cap}", 500_000, ()) for cap in (50, 60, 70, 80)},
    "neighbours": ("neighbours", 500_000, ()),
    "neighbours_average": ("neighbours_average", 500_000, ()),
    "punishment": ("punishment", 1_000_000, ()),
    REVERSED: ("base", 1_000_000, (f"learner.strategies=[{','.join(reversed(THESIS_STRATEGIES))}]",)),
}
OTHERS: Experiments = {
    "round_2_static": ("round_2_static", 350_000, ()),
    "s_10": ("base", 1_000_000, ("learner.scaling=10",)),
    "round_robin": ("round_robin", 1_000_000, ()),
    **{f"scaling_{s}": ("base", 1_000_000, (f"learner.scaling={s}",)) for s in ("0.25", "0.5", "0.75", "1.5")},
    **{f"decay_{d}": ("base", 1_000_000, (f"learner.decay={d}",)) for d in ("0", "0.25", "0.5")},
    **{
        f"semi_pure_{start}": (f"semi_pure_{start}", 1_000_000, ())
        for start in ("min", "avg", "med", "poss", "avg_random")
    },
    "baseline_alone": ("base", 1_000_000, ("learner.baseline=true",)),
    "baseline_small_steps": ("base", 1_000_000, ("learner.baseline=true", "learner.scaling=0.1")),
}


def programme() -> Iterator[Run]:
    """All trainings, those first of which most is said: five seeds of each, and the 16 pairs of round 1."""
    for number in range(1, SEEDS + 1):
        yield _run(BASE, number, "base", 1_000_000)
    yield _run(REVERSED, 1, *HEADLINES[REVERSED])
    yield from _pairs(1, 1)
    for number in range(1, SEEDS + 1):
        yield _run(LOSERS, number, "round_2", 1_000_000, seed=300 + number)
    yield from _pairs(2, SEEDS)
    yield from _seeds(HEADLINES)
    yield from _pairs(SEEDS + 1, 2 * SEEDS)
    for number in range(1, SEEDS + 1):
        yield _run(WINNERS, number, "round_2", 1_000_000, seed=200 + number)
    yield from _seeds(OTHERS)
    yield from _pairs(2 * SEEDS + 1, PAIRS_1)
    yield _run("baseline", 1, "baseline", 20_000_000, ("learner.checkpoint_every=2000000",))


def _pairs(first: int, last: int) -> Iterator[Run]:
    return (_run("round_1", pair, "round_1", 1_000_000) for pair in range(first, last + 1))


def _seeds(part: Experiments) -> Iterator[Run]:
    """The first seed of all, then the others."""
    for number in range(1, SEEDS + 1):
        for group, (experiment, games, overrides) in part.items():
            yield _run(group, number, experiment, games, overrides)


def _run(
    group: str, number: int, experiment: str, games: int, overrides: Sequence[str] = (), seed: int | None = None
) -> Run:
    return Run(group, number, f"lang2018_{experiment}", games, (*overrides, f"seed={seed or number}"))


def _starts(run: Run, root: Path) -> list[str]:
    """Winners of round 1 meet in its order: those of pairs 1 and 2, of 3 and 4, and so on."""
    if run.group != WINNERS:
        return []
    first, second = (_winner(pair.folder(root)) for pair in _pairs(2 * run.number - 1, 2 * run.number))
    return [f"learner.initial={first}", f"learner.opponents=[{second}]"]


def _winner(folder: Path) -> Path:
    """The weights of a pair's better agent, by an ACC match of 101 games."""
    paths = [folder / WEIGHTS_FILE, folder / "opponent_1.safetensors"]
    agents = [load_weighted(path) for path in paths]
    return paths[play_acc_match(agents[0], agents[1], CONTEST_GAMES, CONTEST_SEED).winner]


def train(run: Run, root: Path, share: float) -> None:
    """Run one training, or go on with it, and its matches; nothing where all is there."""
    folder = run.folder(root)
    if not (folder / "summary.json").is_file():
        every = max(1, round(CHECKPOINT * share))
        words = [
            *("train", f"experiment={run.experiment}", f"learner.checkpoint_every={every}"),
            *(*run.overrides, *_starts(run, root)),
            *(f"hydra.run.dir={folder}", f"learner.games={max(1, round(run.games * share))}"),
            f"evaluation.final_games={max(2, round(MATCH_GAMES * share))}",
        ]
        _deepcrib(["train", f"resume={folder}"] if (folder / STATE_FILE).is_file() else words, run.group)
    _against_start(run, root, share)
    if run.group == BASE:
        _half_way(run, root, share)
    if run.group in (LOSERS, "round_1") and run.number <= SEEDS:
        _against_checkpoints(run, root, share)


def _deepcrib(words: Sequence[str], what: str) -> None:
    with redirect_stdout(StringIO()):
        code = deepcrib(words)
    if code:
        raise SystemExit(f"{what} ended with exit code {code}")


# --- matches that a training does not play --------------------------------------------------------------------------


def _kept(path: Path, make: Callable[[], Any]) -> Any:
    """What a JSON file holds, which is made first if it is not there."""
    if not path.is_file():
        path.write_text(json.dumps(make()))
    return json.loads(path.read_text())


def _checkpoint(folder: Path, games: int) -> Path:
    return folder / "checkpoints" / f"games_{games:08d}.safetensors"


def _against_start(run: Run, root: Path, share: float) -> dict[str, Any]:
    """The trained agent against the weights that it started from."""
    folder = run.folder(root)
    games, seed = max(2, round(MATCH_GAMES * share)), MATCH_SEED + run.number

    def play() -> dict[str, Any]:
        return evaluate(load_weighted(folder), load_weighted(_checkpoint(folder, 0)), games, seed).to_dict()

    return dict(_kept(folder / "against_start.json", play))


def _half_way(run: Run, root: Path, share: float) -> dict[str, Any]:
    """The agent after 500,000 games, of which several experiments have no more, against its start and all opponents."""
    folder, games = run.folder(root), max(2, round(MATCH_GAMES * share))

    def play() -> dict[str, Any]:
        agent = load_weighted(_checkpoint(folder, round(500_000 * share)))
        others = {START: load_weighted(_checkpoint(folder, 0))} | {name: make_agent(name) for name in OPPONENTS}
        return {
            name: evaluate(agent, other, games, derive(MATCH_SEED + run.number, FINAL_MATCHES, index)).to_dict()
            for index, (name, other) in enumerate(others.items())
        }

    return dict(_kept(folder / "half_way.json", play))


def _against_checkpoints(run: Run, root: Path, share: float) -> dict[str, Any]:
    """The trained agent against its checkpoints (table 3, figure 14d): scores by games of training, as text."""
    folder = run.folder(root)

    def play() -> dict[str, Any]:
        step = max(1, round(CHECKPOINT * share))
        others = {number * CHECKPOINT: load_weighted(_checkpoint(folder, number * step)) for number in range(10)}
        games = max(2, round(CHECKPOINT_GAMES * share))
        series = against_checkpoints(load_weighted(folder), others, games, 1, MATCH_SEED + run.number)
        return {str(number): asdict(one.total) for number, one in series.items()}

    return dict(_kept(folder / "against_checkpoints.json", play))


# --- tables ---------------------------------------------------------------------------------------------------------


def tables(runs: Sequence[Run], root: Path, share: float) -> str:
    """All tables, for the runs that are finished."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        if (run.folder(root) / "against_start.json").is_file():
            groups.setdefault(run.group, []).append(run)
    parts = [_win_rates(groups, root, share)]
    for group in (LOSERS, "round_1"):
        found = [run for run in groups.get(group, []) if (run.folder(root) / "against_checkpoints.json").is_file()]
        if found:
            parts.append(_by_checkpoint(group, [_against_checkpoints(run, root, share) for run in found]))
    for group in ("round_1", LOSERS, BASE, REVERSED, "text"):
        if group in groups:
            parts.append(_weights_by_lead(group, [run.folder(root) for run in groups[group]]))
    if "round_1" in groups:
        parts.append(_small_matches(groups["round_1"][0].folder(root)))
    return "\n".join(parts)


def _win_rates(groups: Mapping[str, Sequence[Run]], root: Path, share: float) -> str:
    """Win rate in per cent over seeds with Student's t interval, and the mean margin in points a game."""
    lines = [
        "| run | seeds x games of training | " + " | ".join((START, *OPPONENTS)) + " |",
        "|---" * (3 + len(OPPONENTS)) + "|",
    ]
    rows = {
        name: [{START: _against_start(run, root, share)} | _summary(run.folder(root)) for run in runs]
        for name, runs in groups.items()
    }
    sizes = {name: runs[0].games for name, runs in groups.items()}
    if BASE in groups:
        rows[HALF], sizes[HALF] = [_half_way(run, root, share) for run in groups[BASE]], 500_000
    for name, results in rows.items():
        cells = [_over_seeds([result[opponent] for result in results]) for opponent in (START, *OPPONENTS)]
        lines.append(f"| {name} | {len(results)} x {sizes[name]:,} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _summary(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "summary.json").read_text()))


def _over_seeds(figures: Sequence[Mapping[str, Any]]) -> str:
    rate, low, high = (100 * value for value in mean_interval([one["win_rate"] for one in figures]))
    margin = np.mean([one["margin"] for one in figures])
    interval = f" [{low:.1f}, {high:.1f}]" if len(figures) > 1 else ""
    return f"{rate:.1f}{interval}, {margin:+.2f}"


def _by_checkpoint(group: str, scores: Sequence[Mapping[str, Any]]) -> str:
    """Mean points a game of the final agent beyond its checkpoints, with Student's t interval over seeds."""
    lines = [
        f"| {group}, {len(scores)} seeds: checkpoint after | final agent's points a game | seeds |",
        "|---|---|---|",
    ]
    for games in scores[0]:
        margins = [one[games]["spread_per_game"] for one in scores]
        mean, low, high = mean_interval(margins)
        each = ", ".join(f"{margin:+.2f}" for margin in margins)
        lines.append(f"| {int(games):,} | {mean:+.2f} [{low:+.2f}, {high:+.2f}] | {each} |")
    return "\n".join(lines) + "\n"


def _weights_by_lead(group: str, folders: Sequence[Path]) -> str:
    """Mean final weights as the pone over the score locations with a lead in a range, of all runs of a group."""
    agents = [load_weighted(folder) for folder in folders]
    lead = np.subtract.outer(np.arange(121), np.arange(121))
    titles = " | ".join(f"lead {low} to {high}" for low, high in LEADS)
    lines = [f"| {group}, {len(agents)} runs: pone's weight of | {titles} |", "|---" * (1 + len(LEADS)) + "|"]
    for strategy, name in enumerate(agents[0].strategies):
        weights = np.mean([agent.weights[:, :, 0, strategy] for agent in agents], axis=0)
        cells = [f"{weights[(lead >= low) & (lead <= high)].mean():.2f}" for low, high in LEADS]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _small_matches(folder: Path) -> str:
    """Tables 2 and 3 in their own form: nine games against random weights, 100 against each checkpoint."""
    agent = load_weighted(folder)

    def play() -> dict[str, Any]:
        nine = play_acc_match(make_agent("random_weights"), agent, 9, MATCH_SEED)
        others = {games: load_weighted(path) for games, path in _checkpoints(folder)[:-1]}
        hundreds = against_checkpoints(agent, others, 100, 1, MATCH_SEED)
        return {"random weights": asdict(nine)} | {f"{games:,}": asdict(s.total) for games, s in hundreds.items()}

    lines = ["| opponent | games | its score - ours | its spread | its wins - ours |", "|---|---|---|---|---|"]
    for name, score in _kept(folder / "small_matches.json", play).items():
        ours = 1 if name == "random weights" else 0  # who is named first
        points, wins, sign = score["game_points"], score["wins"], 1 if ours else -1
        lines.append(
            f"| {name} | {score['games']} | {points[1 - ours]} - {points[ours]} | {sign * score['spread']:+d} "
            f"| {wins[1 - ours]} - {wins[ours]} |"
        )
    return "\n".join(lines) + "\n"


def _checkpoints(folder: Path) -> list[tuple[int, Path]]:
    return [(int(path.stem.removeprefix("games_")), path) for path in sorted((folder / "checkpoints").iterdir())]


def main() -> None:
    """Train everything, draw the figures, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--share", type=float, default=1.0, help="of the thesis's games, and of ours in matches")
    parser.add_argument("--tables", action="store_true", help="of what is finished; train nothing")
    options = parser.parse_args()
    root, share = options.folder.resolve(), options.share
    runs = list(dict.fromkeys(programme()))
    for run in runs if not options.tables else []:
        train(run, root, share)
        print(run.group, run.number, "done", flush=True)
        (root / "results.md").write_text(tables(runs, root, share))
    (root / "results.md").write_text(tables(runs, root, share))
    if not options.tables and not (root / "figures" / "summary.json").is_file():
        draw_figures([str(root)])
    print((root / "results.md").read_text())


if __name__ == "__main__":
    main()
