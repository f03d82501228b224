"""Pretraining: its targets, its repeatability, and that a network learns the show in a short form."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from deepcrib.analysis.figures import predicted_against_true
from deepcrib.exact import shows
from deepcrib.exact.shows import all_hands, bare_hand_values, starter_means, starter_values
from deepcrib.game.cards import parse_cards
from deepcrib.learners.pretraining import show as pretraining
from deepcrib.learners.pretraining.options import PretrainingOptions
from deepcrib.networks import DiscardNetworkConfig, make_discard_network
from deepcrib.networks.encoders import make_discard_encoder
from tests.support.replaying import pretrain

SHORT = PretrainingOptions(epochs=1, batch_size=128, lr=3e-3)


def hands(*texts: str) -> np.ndarray:
    return np.array([sorted(parse_cards(text)) for text in texts], dtype=np.int8)


def network_of(name: str, state: str, **sizes):
    torch.manual_seed(1)
    encoder = make_discard_encoder(state)
    return make_discard_network(DiscardNetworkConfig(name, **sizes), encoder.spec), encoder


def test_every_four_card_hand_is_there_once() -> None:
    found = all_hands()
    assert found.shape == (270725, 4)
    assert found[:3].tolist() == [[0, 1, 2, 3], [0, 1, 2, 4], [0, 1, 2, 5]]
    assert len(np.unique(found.astype(np.int64) @ 52 ** np.arange(4))) == 270725
    assert (np.diff(found, axis=1) > 0).all()


def test_values_without_a_starter_are_the_four_cards_own() -> None:
    cards = hands("5C 5D 5H 5S", "AC 2C 3C 4C", "2C 4D 6H 8S", "5C JC QC KC", "7C 7D 8H 9S", "JC JD JH 5S")
    # four fives: 12 in pairs, 8 in fifteens (four threes of a kind); run 4 + flush 4; nothing;
    # 6 fifteens + 3 run + 4 flush; 2 runs of 3, a pair, two fifteens; 6 pairs + 6 fifteens
    assert bare_hand_values(cards).tolist() == [20, 8, 0, 13, 12, 12]


def test_draws_are_the_unseen_cards() -> None:
    hand = hands("AC 2D JS KS")[0]
    draws = [shows.unseen_card(hand, draw) for draw in range(48)]
    assert sorted([*draws, *hand.tolist()]) == list(range(52))


def test_starter_values_and_means() -> None:
    # The example of the paper's section 3.6.4, which misses the fifteen 3 6 6: 2 for it and 2 for the pair
    # make 4 (not 2); a five adds two runs of four and two fifteens, 16 in all (not 14).
    hand = hands("3C 4D 6H 6S")
    assert bare_hand_values(hand).tolist() == [4]
    values = [int(starter_values(hand, np.array([draw]))[0]) for draw in range(48)]
    assert values.count(16) == 4 and max(values) == 16
    assert starter_means(hand)[0] == pytest.approx(np.mean(values))
    # over all hands and starters: 4.7692 points, the known mean of the 12,994,800
    assert starter_means(all_hands()).mean() == pytest.approx(4.7692, abs=5e-5)


def test_learning_rate_rises_then_falls_to_zero() -> None:
    factors = [pretraining._lr_factor(done) for done in np.linspace(0, 1, 101)]
    assert max(factors) == pytest.approx(1.0, abs=1e-3)
    assert factors[0] == pytest.approx(0.1) and factors[-1] == pytest.approx(0.0)
    assert all(a >= b for a, b in zip(factors[10:], factors[11:], strict=False))


def test_the_same_seed_gives_the_same_network(monkeypatch: pytest.MonkeyPatch) -> None:
    some = all_hands()[::10]
    monkeypatch.setattr(pretraining, "all_hands", lambda: some)
    results, weights = [], []
    for seed in (3, 3):
        network, encoder = network_of("mlp", "afterstate", hidden=[64, 64])
        results.append(pretrain(network, encoder, SHORT, seed))
        weights.append(torch.cat([value.flatten() for value in network.parameters()]))
    assert torch.equal(weights[0], weights[1])
    assert results[0]["mean_absolute_error"] == results[1]["mean_absolute_error"]


def test_a_short_form_already_knows_nine_hands_of_ten() -> None:
    scalars: dict[str, list[float]] = {}
    figures: dict[str, object] = {}
    writer, calls = SimpleNamespace(), []
    writer.add_scalar = lambda name, value, step: scalars.setdefault(name, []).append(value)
    writer.add_figure = lambda name, figure, step: figures.update({name: figure})
    network, encoder = network_of("mlp", "afterstate", hidden=[64, 64])
    options = dict(writer=writer, progress=calls.append, figure=predicted_against_true)
    result = pretrain(network, encoder, SHORT, 3, **options)
    assert result["mean_absolute_error"] < 0.2
    assert result["exact_share"] > 0.9
    assert calls == list(range(1, 2117))
    assert len(scalars["pretraining/loss"]) == 11
    assert scalars["pretraining/exact_share"] == [result["exact_share"]]
    figure = figures["pretraining/predicted_against_true"]
    figure.canvas.draw()
    assert figure.axes[0].get_xlabel() == "true value (points)"


def test_without_suit_convolution_flushes_are_mispredicted() -> None:
    network, encoder = network_of("belanger2019", "basic", hidden=[64, 64], channels=4, suit_convolution=False)
    pretrain(network, encoder, PretrainingOptions(epochs=1, batch_size=1024, lr=3e-3), seed=1)
    flush, plain = hands("2C 4C 6C 8C", "2C 4D 6H 8S")
    states = np.full((2, 9), -1, dtype=np.int8)
    states[:, :4] = [flush, plain]
    states[:, 6:] = 0
    with torch.no_grad():
        values = network(encoder.encode(states, np.full(2, 14, dtype=np.int8)))
    assert float(values[0]) == pytest.approx(float(values[1]))
    assert float(values[0]) < 2.0  # the flush is worth 4


@pytest.mark.parametrize("name,state", [("belanger2019", "full"), ("mlp", "afterstate")])
def test_a_random_starter_is_learnt_as_an_expectation(name: str, state: str) -> None:
    network, encoder = network_of(name, state, hidden=[64, 64])
    options = PretrainingOptions(epochs=1, batch_size=256, lr=3e-3, starter=True)
    result = pretrain(network, encoder, options, seed=2)
    assert "exact_share" not in result
    assert result["mean_absolute_error"] < 0.9 < result["sample_error"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "state"), [("belanger2019", "basic"), ("belanger2019", "full"), ("mlp", "afterstate")]
)
def test_pretraining_reaches_its_figures(name: str, state: str) -> None:
    network, encoder = network_of(name, state)
    result = pretrain(network, encoder, PretrainingOptions(), seed=1)
    assert result["mean_absolute_error"] <= 0.02
    assert result["exact_share"] >= 0.999
