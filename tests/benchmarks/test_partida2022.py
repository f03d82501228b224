"""Search by what Partida 2022 may do otherwise, and matches compared on the same deals."""

from itertools import combinations_with_replacement

import numpy as np
import pytest

from benchmarks.partida2022 import causes
from benchmarks.partida2022 import page as partida2022
from deepcrib.agents import make_agent
from deepcrib.evaluation.hands import pegged_points
from deepcrib.game.rules import play_points as points_of_card

HANDS = 60


def test_matches_on_the_same_deals_are_compared_game_by_game() -> None:
    results = {}
    for label, _, opponents, thousands in partida2022.matches():
        for opponent in opponents:
            margin = np.full(20 * thousands, 3.0 if "pegging" in label else 1.0)
            results[f"{label}|{opponent}"] = np.stack([margin > 1, margin], axis=1).astype(float)
    found = dict(partida2022.compare_matches(results))
    assert found["minimax, hands: kept|minimax|greedy"]["games"] == 40
    both = found["both searches, discards: expected_value_pegging|both searches|deterministic"]
    assert both["games"] == 200 and both["won"].estimate == 1 and both["points"] == (2, 2, 2)


@pytest.mark.parametrize("name", ["minimax", "greedy_minimax"])
def test_by_the_rules_the_variant_is_the_packages_search(name: str) -> None:
    agent = make_agent({"name": name, "hands": "ranks", "samples": causes.SAMPLES})
    expected = pegged_points(agent, make_agent("greedy"), HANDS, causes.SEED)
    found = causes.margins(causes.Variant(name, "consistent", "rules"), HANDS)
    np.testing.assert_array_equal(found[:, 0], expected[:, 0] - expected[:, 1])


def test_points_of_the_cards_leave_out_go_and_last_card() -> None:
    """10, 10, 10: a go at 30; 5, 7, 3, king: fifteen, and a go at 25; a king by itself: the last card."""
    ranks = np.array([[9, 9, 9, 4, 6, 2, 12, 12]])
    points = np.array([[0, 2, 7, 0, 0, 2, 1, 1]])
    assert causes.points_of_cards(4 * ranks, points)[0].tolist() == [0, 2, 6, 0, 0, 2, 0, 0]


def test_any_hand_of_a_size_is_as_likely_as_another() -> None:
    draws = [causes.any_hand(np.uint64(7), number, 2) for number in range(18_200)]
    counts = np.unique(draws, return_counts=True)[1]
    hands = {low + 1 | (high + 1) << 4 for low, high in combinations_with_replacement(range(13), 2)}
    assert set(draws) == hands and np.abs(counts - 200).max() < 5 * np.sqrt(200)


def slow(own: list[int], other: list[int], series: list[int], turn: int, how: tuple[bool, bool]) -> int:
    """Own less the opponent's points of what is left, turns alternating; codes are ranks plus one."""
    greedy, literal = how
    hand = (own, other)[turn]
    if not hand:
        return slow(own, other, series, 1 - turn, how) if own or other else 0
    if not literal and all(sum(min(code, 10) for code in (*series, card)) > 31 for card in hand):
        series = []
    options = []
    for card in sorted(hand):
        longer = [*series, card]
        count = sum(min(code, 10) for code in longer)
        if literal or count <= 31:
            packed = 0
            for code in longer:
                packed = packed << 4 | code
            points = points_of_card(packed, count)
            rest = list(hand)
            rest.remove(card)
            after = [] if count == 31 and not literal else longer
            hands = (rest, other) if turn == 0 else (own, rest)
            value = (1 - 2 * turn) * points + slow(*hands, after, 1 - turn, how)
            options.append((points, card, value))
    if turn == 0:
        return max(value for _, _, value in options)
    return max(options)[2] if greedy else min(value for _, _, value in options)


@pytest.mark.parametrize("how", [(False, False), (True, False), (False, True), (True, True)])
def test_values_of_the_trees_without_go_are_those_of_a_slow_search(how: tuple[bool, bool]) -> None:
    random = np.random.default_rng(3)
    for _ in range(40):
        own, other = (sorted(random.integers(1, 14, size).tolist()) for size in (3, random.integers(2, 5)))
        first = int(random.integers(1, 14))
        placed = [*enumerate(own), *enumerate(other, start=4)]
        cards = sum(code << 4 * place for place, code in placed)
        held = (1 << len(own)) - 1 | ((1 << len(other)) - 1) << 4
        found = causes.tree_value(cards, held, first, min(first, 10), 0, *how)
        assert found == slow(own, other, [first], 0, how)
