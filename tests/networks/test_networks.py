"""Networks: shapes, agreement with plain torch layers, and what each may and may not see."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from deepcrib.networks import (
    Convolutions,
    DiscardNetworkConfig,
    PlayNetworkConfig,
    make_discard_network,
    make_play_network,
)
from deepcrib.networks.bodies.belanger2019 import RANK_KERNELS
from deepcrib.networks.encoders import DISCARD_ENCODERS, PLAY_ENCODERS, Encoder, make_discard_encoder, make_play_encoder
from deepcrib.networks.fast import linear_of_columns
from tests.support.encoded import sample

DISCARD_CASES = [("belanger2019", "basic"), ("belanger2019", "full")] + [("mlp", name) for name in DISCARD_ENCODERS]
PUBLISHED = ("belanger2019_cnn_lstm", "belanger2019_mlp")
PLAY_CASES = [(name, name) for name in PUBLISHED] + [("mlp", name) for name in PLAY_ENCODERS]
CASES = [("discard", *case) for case in DISCARD_CASES] + [("play", *case) for case in PLAY_CASES]


def build(part: str, name: str, state: str, options: bool = False, **sizes):
    torch.manual_seed(0)
    if part == "discard":
        spec = make_discard_encoder(state, scores=options).spec
        return make_discard_network(DiscardNetworkConfig(name, hidden=[32, 16], **sizes), spec)
    spec = make_play_encoder(state, dealer=options, scores=options).spec
    return make_play_network(PlayNetworkConfig(name, hidden=[32, 16], **sizes), spec)


def inputs_of(network, num_rows: int) -> torch.Tensor:
    """Encoded positions of random play."""
    spec = network.spec
    make = make_discard_encoder if "kept_ranks" in spec else make_play_encoder
    encoder = make(spec.name, spec.dealer, spec.scores)
    states, actions = sample(encoder)
    every = len(states) // num_rows
    return encoder.encode(states[::every][:num_rows], actions[::every][:num_rows])


@pytest.mark.parametrize("options", [False, True])
@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_a_network_gives_a_value_a_row_whatever_the_batch(case, options: bool) -> None:
    network = build(*case, options=options)
    inputs = inputs_of(network, 50)
    values = network(inputs)
    assert values.shape == (50,)
    assert network(inputs[:0]).shape == (0,)
    singly = torch.cat([network(row) for row in inputs.split(1)])
    torch.testing.assert_close(values, singly)
    order = torch.randperm(50, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(network(inputs[order]), values[order])


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_every_parameter_learns(case) -> None:
    network = build(*case, options=True)
    network(inputs_of(network, 200)).square().sum().backward()
    without = [name for name, value in network.named_parameters() if not value.grad.abs().sum() > 0]
    assert not without


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_every_input_is_read(case) -> None:
    network = build(*case, options=True)
    inputs = inputs_of(network, 400).requires_grad_()
    network(inputs).sum().backward()
    used = inputs.grad.abs().sum(dim=0) > 0
    present = (inputs != 0).any(dim=0)
    assert bool(used[present].all())


def kernel(convolutions: Convolutions, index: int, height: int, width: int, kernels) -> torch.Tensor:
    """Weights of one kernel in the layout of torch's conv2d."""
    first = sum(h * w for h, w in kernels[:index])
    return convolutions.weight[:, first : first + height * width].view(-1, 1, height, width)


@pytest.mark.parametrize(
    ("rows", "columns", "kernels"),
    [(1, 13, [(1, length) for length in RANK_KERNELS]), (1, 4, [(1, 1)]), (4, 13, [(2, 2), (3, 3), (4, 4)])],
)
def test_convolutions_are_those_of_torch(rows: int, columns: int, kernels) -> None:
    torch.manual_seed(0)
    layer = Convolutions(rows, columns, kernels, channels=3)
    grids = torch.randn(20, rows, columns)
    parts = []
    for index, (height, width) in enumerate(kernels):
        part = grids[:, None, rows - height :]
        parts.append(functional.conv2d(part, kernel(layer, index, height, width, kernels), layer.bias[:, index]))
    expected = torch.cat([part.flatten(2) for part in parts], dim=2).flatten(1)
    assert layer.num_features == expected.shape[1]
    torch.testing.assert_close(layer(grids.flatten(1)), expected)


@pytest.mark.parametrize("scales", [[], [1 / 121, 0.3]])
def test_a_layer_of_index_columns_is_the_layer_of_the_rows_they_stand_for(scales: list[float]) -> None:
    """Random columns in any order, with channels that are there none to five times, and scalars of either sign."""
    rng = np.random.default_rng(0)
    columns = rng.integers(-1, 12, size=(200, 9)).astype(np.int16)
    columns[:50] = columns[:50, :1]
    numbers = rng.integers(-30, 120, size=(200, len(scales))).astype(np.int16)
    columns = np.concatenate([columns, numbers], axis=1)
    factors = np.array(scales, dtype=np.float32)
    encoder: Any = SimpleNamespace(width=12 + len(scales), scales=factors)
    layer = torch.nn.Linear(encoder.width, 37)
    with torch.no_grad():
        expected = layer(Encoder.expand(encoder, columns))
    torch.testing.assert_close(linear_of_columns(layer, columns, factors), expected)


@pytest.mark.parametrize("options", [False, True])
@pytest.mark.parametrize("state", PLAY_ENCODERS)
def test_values_of_columns_are_those_of_the_inputs(state: str, options: bool) -> None:
    network = build("play", "mlp", state, options)
    encoder = make_play_encoder(state, dealer=options, scores=options)
    states = np.random.default_rng(1).integers(0, 7, (100, 24)).astype(np.int8)
    columns = encoder.indices(states, np.arange(100, dtype=np.int8) % 4)
    with torch.no_grad():
        values = network.values_of_columns(columns, encoder.spec.scales)
        torch.testing.assert_close(values, network(encoder.expand(columns)))


@pytest.mark.parametrize("state", ["basic", "full"])
def test_without_suit_convolution_suits_change_nothing(state: str) -> None:
    blind = build("discard", "belanger2019", state, suit_convolution=False)
    seeing = build("discard", "belanger2019", state)
    inputs = inputs_of(blind, 100)
    suits = [block.slice for block in blind.spec.blocks if block.name.endswith("_suits")]
    assert len(suits) == (2 if state == "full" else 1)
    for part in suits:
        flush = inputs.clone()
        flush[:, part] = torch.tensor([4.0, 0.0, 0.0, 0.0])
        assert torch.equal(blind(flush), blind(inputs))
        assert not torch.equal(seeing(flush), seeing(inputs))


def test_unknown_networks_and_unfit_states_are_refused() -> None:
    play, discard = make_play_encoder("afterstate").spec, make_discard_encoder("afterstate").spec
    with pytest.raises(ValueError, match="unknown play network 'cnn'.*mlp, belanger2019_cnn_lstm"):
        make_play_network(PlayNetworkConfig("cnn"), play)
    with pytest.raises(ValueError, match="unknown discard network 'lstm'.*mlp, belanger2019"):
        make_discard_network(DiscardNetworkConfig("lstm"), discard)
    with pytest.raises(ValueError, match="belanger2019_cnn_lstm needs the state belanger2019_cnn_lstm"):
        make_play_network(PlayNetworkConfig("belanger2019_cnn_lstm"), play)
    with pytest.raises(ValueError, match="belanger2019 needs the state basic or full"):
        make_discard_network(DiscardNetworkConfig("belanger2019"), discard)


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_a_gpu_gives_the_same_values(case) -> None:
    network = build(*case)
    inputs = inputs_of(network, 300)
    values = network(inputs)
    torch.testing.assert_close(network.cuda()(inputs.cuda()).cpu(), values, rtol=1e-3, atol=1e-4)
