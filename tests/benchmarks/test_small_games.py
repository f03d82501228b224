"""The small games: tables that are OpenSpiel's game, and learners that come nearer to its equilibrium."""

import numpy as np
import pytest

pytest.importorskip("pyspiel")

from benchmarks.equilibrium.small_games import Options, SmallGame, curve  # noqa: E402


@pytest.fixture(scope="module")
def kuhn() -> SmallGame:
    return SmallGame("kuhn_poker")


def test_uniform_play_of_kuhn_poker(kuhn: SmallGame) -> None:
    """12 information states; NashConv 11/12; the first player wins 1/8 of a chip (all by enumeration)."""
    legal = kuhn.encoder().legal(kuhn.states)
    uniform = legal / legal.sum(axis=1, keepdims=True)
    assert len(uniform) == 12 and kuhn.exploitability(uniform) == pytest.approx(11 / 24)
    played = kuhn.play(uniform, 20_000, np.random.default_rng(1))
    assert played.values.mean() == pytest.approx(0.125, abs=5 * 1.3 / np.sqrt(20_000))


@pytest.mark.parametrize("learner", ["mirror", "nfsp", "ppo"])
def test_a_short_training_is_nearer_to_the_equilibrium(kuhn: SmallGame, learner: str) -> None:
    options = Options(learner=learner, iterations=60, episodes=512, policy_lr=2e-3, hidden=32, following=0.1, shown=1)
    ((_, _, found),) = curve(kuhn, options, 1)
    assert found < 0.35
