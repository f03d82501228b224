"""Strategies of the play: offence and defence against a plain count, and the card that they choose."""

from __future__ import annotations

import numpy as np
import pytest

from deepcrib.exact.strategies.plays import choose_play, count_unseen, fill_play_matrix, new_unseen
from deepcrib.game.rules import pack_series
from tests.support import reference
from tests.support.reference import cards, chi_square_limit

ERROR_LEVEL = 1e-6


def matrix_of(hand: list[int], series: list[int], known: list[int]) -> np.ndarray:
    """[2, 4] for the slots of a hand, -1 for a card played; known: all that the player has seen."""
    unseen = new_unseen()
    count_unseen(unseen, np.array(known))
    assert unseen.sum() == 52 - len([card for card in known if card >= 0])
    packed = pack_series(np.array([reference.rank(card) for card in series], dtype=np.int8), len(series))
    matrix = np.full((2, 4), np.nan)
    count = sum(map(reference.pips, series))
    fill_play_matrix(np.array(hand, dtype=np.int8), packed, count, unseen, matrix)
    return matrix


def plain_matrix(hand: list[int], series: list[int], known: list[int]) -> np.ndarray:
    """The same from points counted card by card."""
    unseen = [card for card in range(52) if card not in known]
    values = np.full((2, 4), np.nan)
    for slot, card in enumerate(hand):
        after = [*series, card]
        if card < 0 or sum(map(reference.pips, after)) > 31:
            continue
        replies = [other for other in unseen if sum(map(reference.pips, [*after, other])) <= 31]
        values[0, slot] = reference.pegs(after)
        values[1, slot] = -sum(reference.pegs([*after, other]) for other in replies) / len(unseen)
    low, high = np.nanmin(values, axis=1, keepdims=True), np.nanmax(values, axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        scaled = np.where(high - low > 1e-12, (values - low) / (high - low), 0.0)
    return np.where(np.isnan(values), -1.0, scaled)


def test_by_hand() -> None:
    """After K A J (21): a ten or a king makes 31, which nobody can answer; a 2 leaves 8s and 2s, a 9 aces."""
    hand, series = cards("2C 9D TC KD"), cards("KC AC JC")
    found = matrix_of(hand, series, [*hand, *series, *cards("5C 6C"), *cards("7H")])
    assert found[0].tolist() == [0, 0, 1, 1]
    assert found[1, 2] == found[1, 3] == 1 and found[1].min() == 0
    # of 42 unseen cards: after the 2 four eights (31) and three deuces (a pair), after the 9 three aces (31)
    answers = np.array([4 * 2 + 3 * 2, 3 * 2]) / 42
    assert found[1, :2] == pytest.approx(1 - answers / answers.max())


def test_what_cannot_be_played_is_worth_less_than_anything() -> None:
    hand, series = [*cards("AC 4D"), -1, cards("KD")[0]], cards("KC QC 8C")
    found = matrix_of(hand, series, [*hand, *series])
    assert found[:, 1:].tolist() == [[-1, -1, -1]] * 2 and found[:, 0].tolist() == [0, 0]


@pytest.mark.parametrize("deck", [range(52), range(24), range(12, 40)], ids=["all", "low", "middle"])
def test_matrices_of_random_plays(deck: range) -> None:
    rng = np.random.default_rng(len(deck))
    for _ in range(300):
        drawn = [int(card) for card in rng.permutation(deck)[: 7 + rng.integers(5)]]
        hand, thrown, starter, series = sorted(drawn[:4]), drawn[4:6], drawn[6], drawn[7:]
        while sum(map(reference.pips, series)) > 31:
            series.pop()
        for slot in rng.permutation(4)[: rng.integers(3)]:
            hand[slot] = -1
        known = [card for card in drawn if card in {*hand, *thrown, starter, *series}]
        lawful = [c for c in hand if c >= 0 and sum(map(reference.pips, [*series, c])) <= 31]
        if lawful:
            np.testing.assert_allclose(
                matrix_of(hand, series, known), plain_matrix(hand, series, known), atol=1e-12, err_msg=str(drawn)
            )


def test_offence_alone_is_the_greedy_player() -> None:
    """With weights (1, 0) and ties to the highest rank."""
    rng = np.random.default_rng(5)
    for _ in range(500):
        drawn = [int(card) for card in rng.permutation(52)[:7]]
        hand, series = sorted(drawn[:4]), drawn[4 : 4 + rng.integers(4)]
        allowed = reference.plain_plays("greedy", hand, series)
        if not allowed:
            continue
        count = sum(map(reference.pips, series))
        slot = choose_play(np.array(hand, dtype=np.int8), count, matrix_of(hand, series, drawn)[0], 0.0, 0)
        assert slot in allowed


def test_exploration_is_uniform_over_what_is_lawful() -> None:
    """At a level of 1e-6 over 20,000 keys: chance 0.4 of any of three lawful cards, else the best."""
    hand, count = np.array([*cards("3C 5D"), -1, *cards("6H")], dtype=np.int8), 20
    preference = np.array([0.2, 0.9, -1.0, 0.9])
    keys = np.random.default_rng(1).integers(0, 2**64, 20_000, dtype=np.uint64)
    counts = np.bincount([choose_play(hand, count, preference, 0.4, key) for key in keys], minlength=4)
    expected = len(keys) * np.array([0.4 / 3, 0.4 / 3, 0, 0.4 / 3 + 0.6])
    assert counts[2] == 0
    used = expected > 0
    assert ((counts - expected)[used] ** 2 / expected[used]).sum() < chi_square_limit(2, ERROR_LEVEL)
    only = np.array([cards("AC")[0], -1, *cards("QH KH")], dtype=np.int8)
    assert {choose_play(only, 30, np.array([0.0, -1, -1, -1]), 1.0, key) for key in keys[:100]} == {0}
