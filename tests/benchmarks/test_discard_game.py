"""The simple discard game of O'Connor 2000: its players, what they score, and the network that learns it."""

from statistics import mean

import numpy as np
import pytest

from benchmarks.exact.discard_game import (
    DiscardNetwork,
    cheating_player,
    deal_hands,
    exact_means,
    ideal_player,
    mean_points,
    random_player,
)
from deepcrib.errors import OptionError
from tests.support.reference import kept_by, show


def kept(hand: np.ndarray, action: int) -> list[int]:
    return kept_by(hand.tolist(), action)


def shown(hand: np.ndarray, starter: int) -> list[int]:
    """Points of each of the 15 discards, by the slow rules."""
    return [show(kept(hand, action), int(starter)) for action in range(15)]


def test_deals_are_seven_different_cards_each_as_likely_as_another() -> None:
    hands, starters, keys = deal_hands(1, 20_000)
    assert (np.diff(hands, axis=1) > 0).all() and (hands != starters[:, None]).all()
    assert len(np.unique(keys)) == 20_000
    for cards in (hands, starters[:, None]):  # each card in a share of its hands; five standard errors
        share = np.bincount(cards.ravel(), minlength=52) / 20_000
        assert np.abs(share - cards.shape[1] / 52).max() < 5 * np.sqrt(0.12 / 20_000)
    later, _, _ = deal_hands(1, 10, first=500)
    np.testing.assert_array_equal(later, hands[500:510])


def test_the_players_do_what_they_are_called() -> None:
    hands, starters, keys = deal_hands(7, 25)
    ideal, cheating = (player(hands, starters, keys) for player in (ideal_player, cheating_player))
    for hand, starter, best, seen in zip(hands, starters, ideal, cheating, strict=True):
        others = [card for card in range(52) if card not in hand]
        means = np.mean([shown(hand, card) for card in others], axis=0)
        assert means[best] == pytest.approx(means.max())
        points = shown(hand, starter)
        assert points[seen] == max(points)
    choices = random_player(*deal_hands(7, 15_000))
    assert np.abs(np.bincount(choices, minlength=15) - 1000).max() < 5 * np.sqrt(1000)


def test_only_the_cheating_player_looks_at_the_starter() -> None:
    hands, starters, keys = deal_hands(3, 2000)
    other = starters[::-1].copy()
    for player in (random_player, ideal_player, DiscardNetwork([5], 1)):
        np.testing.assert_array_equal(player(hands, starters, keys), player(hands, other, keys))
    assert (cheating_player(hands, starters, keys) != cheating_player(hands, other, keys)).any()


def test_mean_points_are_the_slow_rules_means() -> None:
    hands, starters, keys = deal_hands(5, 300)
    for player in (random_player, ideal_player, cheating_player):
        actions = player(hands, starters, keys)
        points = [shown(*hand)[a] for hand, a in zip(zip(hands, starters, strict=True), actions, strict=True)]
        result = mean_points(player, 300, 5)
        assert result.mean == pytest.approx(mean(points)) and result.hands == 300
        assert result.high - result.mean == pytest.approx(1.968 * np.std(points, ddof=1) / np.sqrt(300), rel=1e-3)


def test_means_of_many_hands() -> None:
    """Random: the mean of all 12,994,800 shows, 4.7692. The others: our exact means; four standard errors."""
    for player, exact in ((random_player, 4.7692), (ideal_player, 8.2939), (cheating_player, 8.9919)):
        result = mean_points(player, 50_000, 11)
        assert abs(result.mean - exact) < 4 / 1.96 * (result.high - result.mean)


@pytest.mark.slow
def test_exact_means() -> None:
    means = exact_means()
    assert means["random"] == pytest.approx(4.7692, abs=5e-5)
    for player, name in ((ideal_player, "ideal"), (cheating_player, "cheating")):
        result = mean_points(player, 1_000_000, 12)
        assert abs(result.mean - means[name]) < 4 / 1.96 * (result.high - result.mean)


# --- the network ---


def values_of(weights: np.ndarray, hidden: int, cards: list[int]) -> float:
    """The paper's network written out: 52 inputs, sigmoid hidden units, a linear output."""
    first, rest = weights[: 53 * hidden].reshape(53, hidden), weights[53 * hidden :]
    x = np.zeros(52)
    x[cards] = 1
    units = 1 / (1 + np.exp(-(x @ first[:52] + first[52])))
    return float(units @ rest[:hidden] + rest[hidden])


def test_the_network_values_the_four_cards_kept() -> None:
    network, (hands, starters, keys) = DiscardNetwork([6], 2), deal_hands(4, 20)
    expected = [[values_of(network.weights, 6, kept(hand, action)) for action in range(15)] for hand in hands]
    np.testing.assert_allclose(network.values(hands), expected)
    np.testing.assert_array_equal(network(hands, starters, keys), np.argmax(expected, axis=1))


def test_a_hand_moves_the_value_of_the_chosen_cards_along_its_gradient() -> None:
    network = DiscardNetwork([3], 9)
    network.learn(4, lr=0.05)
    before, (hands, starters, _) = network.weights.copy(), deal_hands(9, 1, first=4)
    options = [values_of(before, 3, kept(hands[0], action)) for action in range(15)]
    chosen = kept(hands[0], int(np.argmax(options)))
    gradient = np.empty_like(before)
    for i in range(len(before)):
        step = np.zeros_like(before)
        step[i] = 1e-5
        gradient[i] = (values_of(before + step, 3, chosen) - values_of(before - step, 3, chosen)) / 2e-5
    network.learn(1, lr=0.05)
    error = show(chosen, int(starters[0])) - max(options)
    np.testing.assert_allclose(network.weights, before + 0.05 * error * gradient, atol=1e-8)


def test_it_learns_and_the_same_seed_learns_the_same() -> None:
    whole, parts = DiscardNetwork([20], 5), DiscardNetwork([20], 5)
    untrained = mean_points(whole, 20_000, 99)
    whole.learn(100_000)
    for hands in (30_000, 70_000):
        parts.learn(hands)
    np.testing.assert_array_equal(whole.weights, parts.weights)
    trained = mean_points(whole, 20_000, 99)
    assert untrained.high < 6 and trained.low > 7 and trained.high < 8.2939
    assert not np.array_equal(DiscardNetwork([20], 6).weights, DiscardNetwork([20], 5).weights)


def test_a_learning_rate_too_high_is_refused() -> None:
    with pytest.raises(OptionError, match=r"lr=1e\+06: the network's weights are no longer finite"):
        DiscardNetwork([4], 1).learn(3000, lr=1e6)
