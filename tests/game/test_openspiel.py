"""The engine against OpenSpiel's cribbage, a second implementation of the rules: every change of every score."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pyspiel")

from deepcrib.game.engine import Games  # noqa: E402
from tests.support.openspiel_replay import Comparison, VariedGames, compare, played_by  # noqa: E402

PAIRINGS = (("random", "random"), ("greedy", "greedy"), ("random", "greedy"))
EVERY_PAIRING = pytest.mark.parametrize("names", PAIRINGS, ids="-".join)


def compared(names: tuple[str, str], number: int, seed: int, kind: type[Games]) -> Comparison:
    """Hands at 0-0, far from 121, a game each."""
    ids = np.arange(number)
    return compare(played_by(names, kind(ids, seed, first_dealer=ids % 2, stop_at_121=False)))


@EVERY_PAIRING
@pytest.mark.parametrize("kind", [Games, VariedGames])
def test_every_event_of_a_hand_scores_the_same(names: tuple[str, str], kind: type[Games]) -> None:
    found = compared(names, 1500, 11, kind)
    assert found.differences == []
    assert found.compared["heels"] == 1500
    assert found.compared["card"] + found.compared["31 and show"] == 8 * 1500
    assert found.compared["go and show"] + found.compared["31 and show"] == 1500
    assert found.flushes or kind is Games


@pytest.mark.slow
@pytest.mark.timeout(900)  # seconds; about 70 on an idle core
@EVERY_PAIRING
@pytest.mark.parametrize("kind", [Games, VariedGames])
def test_many_hands_score_the_same(names: tuple[str, str], kind: type[Games]) -> None:
    assert compared(names, 75_000, 100, kind).differences == []
