"""A training of Lang 2018 and what its summary does not hold: python -m benchmarks.lang2018.runs WORD ... --to FILE.

WORD: of `deepcrib train`, which trains in a folder beside FILE. Kept are the agent's matches against its opponents and
its own start, and its weights by the lead. `--winners-of 1 2` first trains these two pairs of round 1, whose winners
the training begins with. `long_runs.py` runs it.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.lang2018.rows import LEADS, MATCH_GAMES, MATCH_SEED, OPPONENTS, ROUND_1, ROWS, START, WINNING_HALF
from deepcrib.cli import main as deepcrib
from deepcrib.evaluation.evaluate import ROLES, evaluate
from deepcrib.evaluation.league.tournament import against_checkpoints, repeated_matches
from deepcrib.exact.strategies.discards import SCORES
from deepcrib.files.runs import SUMMARY, read_json, write_json
from deepcrib.files.weights import WEIGHTS_FILE
from deepcrib.game.cards import NUM_CARDS
from deepcrib.game.observations import DiscardObservation
from deepcrib.learners.weighted.agent import WeightedAgent, load_weighted
from deepcrib.training.run_files import checkpoint_files

CONTEST_GAMES, CONTEST_SEED = 101, 20_182
"""Of the draft: who of a pair goes on."""
CHECKPOINT_GAMES = 10_000
SITUATIONS, K, SPREAD = 40_000, 0.3, 60
"""Random hands and scores at which exploration is computed; its chance is K less a variance (section 3.3)."""


def main(words: Sequence[str] | None = None) -> None:
    """Train, measure, and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="+", metavar="WORD")
    parser.add_argument("--to", type=Path, required=True, help="the file of the figures")
    parser.add_argument("--winners-of", nargs=2, type=int, metavar="PAIR", help="pairs of round 1 whose winners meet")
    parser.add_argument("--checkpoints", action="store_true", help="also against the checkpoints (figure 14d)")
    parser.add_argument("--exploration", action="store_true", help="also how often it explores, at its start and end")
    parser.add_argument("--share", type=float, default=1.0, help="of the games of pairs and matches, to try the script")
    options = parser.parse_args(words)
    place, share = options.to.resolve().parent, options.share
    extra = _winners(options.winners_of, place, share) if options.winners_of else []
    run = train([*options.words, *extra, f"evaluation.final_games={_games(MATCH_GAMES, share)}"], place / "run")
    seed = next(int(word.partition("=")[2]) for word in options.words if word.startswith("seed="))
    found = measured(run, MATCH_SEED + seed, share)
    if options.checkpoints:
        found["checkpoints"] = _spreads(run, MATCH_SEED + seed, share)
    if options.exploration:
        found["exploration"] = {"start": exploration(_start(run)), "end": exploration(load_weighted(run))}
    write_json(options.to, found)


def train(words: Sequence[str], folder: Path) -> Path:
    """Train in a folder, anew if there is a half-done one; returns it."""
    shutil.rmtree(folder, ignore_errors=True)
    with redirect_stdout(StringIO()):
        code = deepcrib(["train", *words, f"hydra.run.dir={folder}"])
    if code:
        raise SystemExit(f"the training ended with exit code {code}")
    return folder


def _games(number: int, share: float) -> int:
    return max(2, round(number * share))


def _winners(pairs: Sequence[int], place: Path, share: float) -> list[str]:
    """Words of a training that begins with the winners of pairs, each the better one of an ACC match of 101 games."""
    row, found = ROWS[ROUND_1], []
    for pair in pairs:
        short = (f"learner.games={_games(row.games, share)}", "evaluation.opponents=[]")
        folder = train([*row.train(pair), *short], place / f"pair_{pair}")
        paths = [folder / WEIGHTS_FILE, folder / "opponent_1.safetensors"]
        first, second = (load_weighted(path) for path in paths)
        contest = repeated_matches(first, second, CONTEST_GAMES, 1, CONTEST_SEED)
        found.append(paths[contest.total.winner])
    return [f"learner.initial={found[0]}", f"learner.opponents=[{found[1]}]"]


# --- figures ----------------------------------------------------------------------------------------------------------


def measured(run: Path, seed: int, share: float) -> dict[str, Any]:
    """Of a finished run: what it wins, and its weights by role, strategy and lead."""
    summary, agent = read_json(run / SUMMARY), load_weighted(run)
    own = evaluate(agent, _start(run), _games(MATCH_GAMES, share), seed).to_dict()
    matches = {name: summary[name] for name in OPPONENTS} | {START: own}
    wanted = ("games", "win_rate", "hand_margin")
    return {
        **{name: {key: match[key] for key in wanted} for name, match in matches.items()},
        "weights": weights_by_lead(agent),
        "winning_half": mean_weights(agent, "pone", WINNING_HALF),
    }


def _start(run: Path) -> WeightedAgent:
    return load_weighted(checkpoint_files(run)[0])


def weights_by_lead(agent: WeightedAgent) -> dict[str, dict[str, list[float]]]:
    """By role and strategy, in the order of the list: mean weights over the score locations of each of LEADS."""
    found = {role: [mean_weights(agent, role, lead) for lead in LEADS] for role in ROLES}
    return {role: {name: [part[name] for part in parts] for name in agent.strategies} for role, parts in found.items()}


def mean_weights(agent: WeightedAgent, role: str, leads: tuple[int, int]) -> dict[str, float]:
    """By strategy, in the order of the list: its mean weight over the score locations with such a lead."""
    lead = np.subtract.outer(np.arange(SCORES), np.arange(SCORES))
    chosen = agent.weights[(lead >= leads[0]) & (lead <= leads[1])][:, ROLES.index(role)]
    return {name: round(float(mean), 4) for name, mean in zip(agent.strategies, chosen.mean(axis=0), strict=True)}


def exploration(agent: WeightedAgent) -> dict[str, float]:
    """Chance of exploring in round 1 over random hands and starting scores: K less the variance of 15 preferences.

    So it is in the author's program; in the text it is that of the 8 weights, whose mean and least follow.
    """
    observation = situations(SITUATIONS, np.random.default_rng(MATCH_SEED))
    own, other = observation.scores.T
    weights = agent.weights[own, other, observation.is_dealer.astype(np.int8)]
    by_weights = K - weights.var(axis=1, ddof=1)
    return {
        "preferences": float(np.mean(K - agent.preferences(observation).var(axis=1, ddof=1))),
        "weights": float(by_weights.mean()),
        "least_by_weights": float(by_weights.min()),
    }


def situations(number: int, random: np.random.Generator) -> DiscardObservation:
    """Random hands in either role, at the scores at which the games of training begin."""
    hands = random.permuted(np.tile(np.arange(NUM_CARDS, dtype=np.int8), (number, 1)), axis=1)[:, :6]
    own = random.integers(SCORES, size=number)
    other = random.integers(np.maximum(0, own - SPREAD), np.minimum(SCORES - 1, own + SPREAD) + 1)
    scores: NDArray[np.int8] = np.stack([own, other], axis=1).astype(np.int8)
    seats = np.zeros(number, dtype=np.int8)
    dealers = random.integers(2, size=number).astype(np.int8)
    return DiscardObservation(np.sort(hands, axis=1), seats, dealers, scores, np.arange(number, dtype=np.uint64))


def _spreads(run: Path, seed: int, share: float) -> Mapping[str, float]:
    """Points a game of the trained agent beyond its checkpoints but the last, by games of training (figure 14d)."""
    others = {number: load_weighted(path) for number, path in list(checkpoint_files(run).items())[:-1]}
    series = against_checkpoints(load_weighted(run), others, _games(CHECKPOINT_GAMES, share), 1, seed)
    return {str(number): one.total.spread_per_game for number, one in series.items()}


if __name__ == "__main__":
    main()
