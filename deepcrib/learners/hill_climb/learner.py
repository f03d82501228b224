"""Hill-climbing by play alone (Pollack and Blair 1997, as told by Lang 2018, section 2.1).

The champion's weights plus noise make a mutant. The two meet in pairs with the same deals and seats swapped, so that
equals win one half each. A mutant that wins enough draws the champion a small step towards itself.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import Agent, make_agent, name_agents
from deepcrib.files.weights import WEIGHTS_FILE
from deepcrib.game.engine import Games
from deepcrib.game.randomness import MINIBATCHES, SELF_PLAY, derive
from deepcrib.kernels import seconds_running
from deepcrib.learners.hill_climb.climbers import Climber, ClimbSettings, Vector, make_climber
from deepcrib.learners.hill_climb.options import HillClimbOptions
from deepcrib.matches import play_hand, play_match
from deepcrib.training.checkpointing import (
    STATE_FILE,
    Match,
    Progress,
    fitting_state,
    monitor,
    next_checkpoint,
    save_and_measure,
    weights_file,
)
from deepcrib.training.options import EvaluationOptions


class Settings(ClimbSettings, Protocol):
    """What the training reads: the config of the job `train`."""

    evaluation: EvaluationOptions


@dataclass
class LearnerState:
    """The champion's weights [P], the contests that it has had and how many of them moved it, and the games played."""

    climber: Climber
    champion: Vector
    contests: int = 0
    moves: int = 0
    games: int = 0
    seconds: float = 0.0

    def state(self) -> dict[str, Any]:
        """For `checkpoints.save_state`."""
        return {name: getattr(self, name) for name in ("champion", "contests", "moves", "games", "seconds")}


@dataclass
class HillClimbResult:
    """The champion, what it took, and the file of its weights."""

    agent: Agent
    games: int
    contests: int
    moves: int
    seconds: float
    weights: Path


def prepare(settings: Settings, state: Path | None = None) -> LearnerState:
    """The champion of a new run, or of the training state in a file.

    Raises OptionError where networks and states do not go together, AgentError for an agent that there is not,
    CheckpointError for a state that cannot be read or does not fit the options.
    """
    climber = make_climber(settings)
    start = climber.start()
    run = LearnerState(climber, start if settings.learner.start == "random" else np.zeros_like(start))
    if state is None:
        return run
    with fitting_state(state) as saved:
        if tuple(saved["champion"].shape) != start.shape:
            raise ValueError(f"its champion has {tuple(saved['champion'].shape)} weights, expected {start.shape}")
        run.champion = saved["champion"].numpy()
        run.contests, run.moves = saved["contests"], saved["moves"]
        run.games, run.seconds = saved["games"], saved["seconds"]
    return run


def train(
    settings: Settings,
    folder: Path,
    match: Match,
    *,
    dealing: str = "acc",
    writer: Any = None,
    progress: Progress | None = None,
    resume: bool = False,
) -> HillClimbResult:
    """Climb, with checkpoints; with `resume`, from the state in the folder.

    match(agent, opponent, games, seed) measures the champion at every `evaluation.every`-th checkpoint; writer is a
    TensorBoard SummaryWriter or None. The same seed gives the same weights. Raises as `prepare` does.
    """
    run = prepare(settings, folder / STATE_FILE if resume else None)
    opponents = name_agents([make_agent(spec, settings.device) for spec in settings.evaluation.opponents])
    options = settings.learner
    if run.games == 0:
        _save(run, settings, folder, dealing)
    begin = time.perf_counter() - run.seconds
    while run.games < options.games:
        last = next_checkpoint(run.games, options.checkpoint_every, options.games)
        figures = _climb_to(run, last, settings, dealing, progress)
        run.seconds = time.perf_counter() - begin
        _save(run, settings, folder, dealing)
        # Whole contests are played, so that a checkpoint may be up to a contest late: rounding up would count it twice.
        number = run.games // options.checkpoint_every
        champion = partial(run.climber.agent, run.champion)
        matches = partial(monitor, settings, number, champion, opponents, match)
        figures = save_and_measure(folder, run.games, run.state(), figures, matches, writer)
        if progress is not None:
            progress(run.games, figures)
    weights = folder / WEIGHTS_FILE
    run.climber.save(run.champion, weights, _metadata(run, settings, dealing))
    agent = run.climber.agent(run.champion)
    return HillClimbResult(agent, run.games, run.contests, run.moves, run.seconds, weights)


def _climb_to(
    run: LearnerState, last: int, settings: Settings, dealing: str, progress: Progress | None
) -> dict[str, float]:
    """Contests until `last` games are played; returns figures of them."""
    first, contests, moves, begin = run.games, run.contests, run.moves, seconds_running()
    shares = []
    while run.games < last:
        shares.append(contest(run, settings, dealing))
        if progress is not None:
            progress(run.games, {})
    return {
        "contest/share": float(np.mean(shares)),
        "contest/share_std": float(np.std(shares)),
        "contest/moved": (run.moves - moves) / (run.contests - contests),
        "contest/required": required_share(settings.learner, run.games),
        "weights/norm": float(np.linalg.norm(run.champion)),
        "speed/games_per_second": (run.games - first) / (seconds_running() - begin),
    }


def contest(run: LearnerState, settings: Settings, dealing: str) -> float:
    """One mutant against the champion, and the champion's move if there is one; returns the mutant's share."""
    options = settings.learner
    generator = np.random.default_rng(derive(settings.seed, MINIBATCHES, run.contests))
    mutant = run.champion + options.sigma * generator.standard_normal(run.champion.shape)
    agents = run.climber.agent(mutant), run.climber.agent(run.champion)
    seed, first = derive(settings.seed, SELF_PLAY), run.games // 2
    if options.unit == "hands":
        share = hands_share(agents, options.pairs, seed, first)
    else:
        games = 2 * options.pairs
        result = play_match(agents, games, seed, duplicate=True, dealing=dealing, first_game=first)
        share = float((result.winner == 0).mean())
    if share > required_share(options, run.games):
        run.champion = (1 - options.step) * run.champion + options.step * mutant
        run.moves += 1
    run.contests += 1
    run.games += 2 * options.pairs
    return share


def required_share(options: HillClimbOptions, games: int) -> float:
    """What a mutant must win more than, after so many games."""
    final = options.share if options.final_share is None else options.final_share
    return options.share + (final - options.share) * min(games / options.games, 1.0)


def hands_share(agents: tuple[Agent, Agent], pairs: int, seed: int, first: int = 0) -> float:
    """Share of pairs of single hands at 0-0 that the first agent wins, an equal pair being half won.

    The two hands of a pair have the same cards, each agent once in either seat; it wins that has more points in both
    together, of all kinds. Seat 1 deals every other pair.
    """
    margins = pair_margins(agents, pairs, seed, first)
    return float(((margins > 0) + 0.5 * (margins == 0)).mean())


def pair_margins(agents: tuple[Agent, Agent], pairs: int, seed: int, first: int = 0) -> NDArray[np.int64]:
    """[pairs] the first agent's points minus the second's, in both hands of each pair first, first + 1, .."""
    numbers = first + np.repeat(np.arange(pairs, dtype=np.int64), 2)
    table = Games(numbers, seed, first_dealer=(numbers % 2).astype(np.int8), stop_at_121=False)
    seating = np.tile(np.array([[0, 1], [1, 0]]), (pairs, 1))
    play_hand(table, agents, seating)
    scores = table.state.scores.astype(np.int64)
    margins = np.where(seating[:, 0] == 0, 1, -1) * (scores[:, 0] - scores[:, 1])
    return margins.reshape(pairs, 2).sum(axis=1)


# --- what a run leaves ----------------------------------------------------------------------------------------------


def _metadata(run: LearnerState, settings: Settings, dealing: str) -> dict[str, Any]:
    options = settings.learner
    return {
        "learner": options.name,
        "climb": options.climb,
        "unit": options.unit,
        "games": run.games,
        "contests": run.contests,
        "moves": run.moves,
        "seed": settings.seed,
        "rules": dealing,
    }


def _save(run: LearnerState, settings: Settings, folder: Path, dealing: str) -> None:
    """The champion after so many games, in the folder of checkpoints."""
    path = weights_file(folder, f"games_{run.games:08d}")
    run.climber.save(run.champion, path, _metadata(run, settings, dealing))
