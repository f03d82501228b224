"""Hill-climbing: contests in pairs, the champion's move, what is climbed, checkpoints, and runs."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deepcrib.agents import make_agent
from deepcrib.files.weights import read_weights
from deepcrib.game.engine import Games
from deepcrib.learners.evolution.agent import EvolutionaryAgent
from deepcrib.learners.hill_climb.learner import HillClimbLearner, hands_share, pair_margins
from deepcrib.learners.hill_climb.options import HillClimbOptions
from deepcrib.learners.replay.options import StateOptions
from deepcrib.matches import play_match
from deepcrib.networks import DiscardNetworkConfig, PlayNetworkConfig
from deepcrib.training.fit import fit, restore
from deepcrib.training.learner import Setting
from deepcrib.training.options import EvaluationOptions
from deepcrib.training.run_files import STATE_FILE
from tests.support.agents import observations
from tests.support.figures import NO_MATCHES, match_of


def new_learner(seed: int = 1, evaluation: EvaluationOptions = NO_MATCHES, **options: Any) -> HillClimbLearner:
    small = {"games": 240, "unit": "hands", "pairs": 20, "checkpoint_every": 80}
    return HillClimbLearner(
        HillClimbOptions(**{**small, **options}),
        Setting(seed, evaluation),
        state=StateOptions("afterstate", "afterstate", True, False),
        discard_network=DiscardNetworkConfig("mlp", [4]),
        play_network=PlayNetworkConfig("mlp", [4]),
    )


def toy(vector: np.ndarray) -> EvolutionaryAgent:
    """A player of two values of cards: of aces to nines, and of tens and court cards."""
    return EvolutionaryAgent("toy", np.tile(np.repeat(vector, [9, 4])[None], (2, 1)))


# --- contests ---


def test_equals_win_one_half_of_their_pairs() -> None:
    """Of single hands, and of games: whoever plays like its twin gets the same cards once in each seat."""
    twins = make_agent("hand_max_avg"), make_agent("hand_max_avg")
    margins = pair_margins(twins, 300, 3)
    # Ties are broken by the key of seat and game, which the two share: every pair comes out even.
    assert not margins.any() and hands_share(twins, 300, 3) == 0.5
    result = play_match(twins, 200, 3, duplicate=True)
    assert (result.winner == 0).mean() == 0.5


def test_margins_of_pairs_are_the_points_of_both_hands() -> None:
    """Against the engine, hand by hand; the better player wins more than half, and its rival the rest."""
    agents = make_agent("greedy"), make_agent("random")
    margins = pair_margins(agents, 200, 9, first=7)
    numbers = np.arange(7, 207)
    expected = np.zeros(200, dtype=np.int64)
    for seats in ((0, 1), (1, 0)):
        table = Games(numbers, 9, first_dealer=numbers % 2, stop_at_121=False)
        rows = table.deal()
        for seat in range(2):
            observation = table.discard_observation(rows, np.full(200, seat, dtype=np.int8))
            table.discard(rows, observation.seat, agents[seats[seat]].discard(observation))
        table.start_play()
        while len(turns := table.to_play):
            observation = table.play_observation(turns)
            first = np.array([seats[seat] == 0 for seat in observation.seat])
            table.play(turns, np.where(first, agents[0].play(observation), agents[1].play(observation)))
        table.show()
        expected += (1 if seats == (0, 1) else -1) * (
            table.state.scores[:, 0].astype(np.int64) - table.state.scores[:, 1]
        )
    np.testing.assert_array_equal(margins, expected)
    share = hands_share(agents, 200, 9)
    assert share > 0.8 and hands_share((agents[1], agents[0]), 200, 9) == pytest.approx(1 - share)


# --- the move ---


def toy_learner(champion: np.ndarray, seed: int = 1, **options: Any) -> Any:
    """A climber of two values of cards."""
    learner: Any = new_learner(seed, **options)
    learner.player, learner.champion = toy, champion.copy()
    return learner


def test_the_champion_moves_a_step_towards_a_mutant_that_wins() -> None:
    """The mutant is the champion plus noise times sigma: a step moves by `step` times that, or not at all."""
    moved = stayed = 0
    for seed in range(6):
        for start in (np.array([0.01, 0.0]), np.array([0.0, 0.01])):  # one of them is the better player
            run, replaced = (toy_learner(start, seed, sigma=1.0, step=step, pairs=100) for step in (0.05, 1.0))
            share = run.contest()
            assert replaced.contest() == share
            np.testing.assert_allclose(run.champion - start, 0.05 * (replaced.champion - start), atol=1e-15)
            assert (run.champion != start).all() == (share > 0.5)
            assert (run.contests, run.moves, run.steps_done) == (1, int(share > 0.5), 200)
            moved, stayed = moved + run.moves, stayed + 1 - run.moves
    assert moved and stayed


def test_of_two_players_the_better_is_found() -> None:
    """Which of two sets of values is the better is known by 2,000 pairs; from the worse one, contests lead there."""
    better, worse = toy(np.array([1.0, 0.0])), toy(np.array([0.0, 1.0]))
    share = hands_share((better, worse), 2000, 5)
    sign = 1 if share > 0.5 else -1
    assert abs(share - 0.5) > 4 * 0.5 / np.sqrt(2000)
    run = toy_learner(np.array([-0.2, 0.2]) * sign, pairs=200, sigma=0.5, step=0.5)
    for _ in range(30):
        run.contest()
    assert sign * (run.champion[0] - run.champion[1]) > 0 and 0 < run.moves < 30


# --- what is climbed ---


@pytest.mark.parametrize("climb", ["both", "play"])
def test_a_saved_champion_is_made_again(climb: str, tmp_path: Path) -> None:
    """By its path alone, with the agent that takes the other decisions."""
    learner = new_learner(climb=climb, **({} if climb == "both" else {"discards_by": "hand_max_avg"}))
    learner.champion += np.random.default_rng(1).normal(size=len(learner.champion))
    learner.save(tmp_path / "weights.safetensors")
    again, agent = make_agent(str(tmp_path)), learner.agent()
    seen, to_play = observations(100, 3)
    np.testing.assert_array_equal(again.discard(seen), agent.discard(seen))
    np.testing.assert_allclose(again.play_probabilities(to_play), agent.play_probabilities(to_play))
    if climb == "play":
        np.testing.assert_array_equal(again.discard(seen), make_agent("hand_max_avg").discard(seen))
        other = make_agent({"path": str(tmp_path), "discards": "greedy"})
        np.testing.assert_array_equal(other.discard(seen), make_agent("greedy").discard(seen))


def test_weights_of_who_discards_are_kept_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_agent("hand_max_avg").save(tmp_path / "first.safetensors")
    new_learner(climb="play", discards_by="first.safetensors").save(tmp_path / "second.safetensors")
    (kept,) = (tmp_path / "agents").iterdir()
    assert kept.read_bytes() == (tmp_path / "first.safetensors").read_bytes()
    assert read_weights(tmp_path / "second.safetensors").metadata["discards_by"] == f"agents/{kept.name}"


# --- runs ---


def restored(folder: Path, **options: Any) -> HillClimbLearner:
    learner = new_learner(**options)
    restore(learner, folder / STATE_FILE)
    return learner


def test_checkpoints_are_counted_as_they_are_though_contests_end_late(tmp_path: Path) -> None:
    """Contests of 40 hands and checkpoints from 100 on: at 120, 200 and 320; every second one is 200."""
    options, measured = {"games": 320, "checkpoint_every": 100}, []

    def match(agent: Any, *_: Any) -> Any:
        measured.append(restored(tmp_path, **options).steps_done)  # saved before the match
        return match_of()

    def stop(games: int, metrics: Any) -> None:
        if games == 160:
            raise KeyboardInterrupt

    matches = EvaluationOptions(opponents=["random"], every=2, games=2)
    with pytest.raises(KeyboardInterrupt):
        fit(new_learner(evaluation=matches, **options), tmp_path, match, progress=stop)
    fit(new_learner(evaluation=matches, **options), tmp_path, match, resume=True)  # the one at 120 is the first still
    names = sorted(path.name for path in (tmp_path / "checkpoints").iterdir())
    assert names == [f"hands_{games:08d}.safetensors" for games in (0, 120, 200, 320)]
    assert measured == [200]
