"""The published agent of Bélanger et al. 2019, read from its checkpoint (atremblay/agent-cribbage, commit c022dc5)."""

from __future__ import annotations

import pickle
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from deepcrib.agents.q_network import QFunction, QNetworkAgent
from deepcrib.files.weights import CheckpointError, fitting
from deepcrib.networks import DiscardNetworkConfig, PlayNetworkConfig, QNetwork, make_discard_network, make_play_network
from deepcrib.networks.encoders import make_discard_encoder, make_play_encoder

SPEC = '{name: "benchmarks.paper2019.published:Published", path: FILE.tar}'
"""The agent, as the option `agent` takes it."""
SUITS = (3, 2, 0, 1)
"""Our suits in the authors' order: spades, hearts, clubs, diamonds."""
_EXPECTED = "a checkpoint of Conv and ConvLstm, as the code of Bélanger et al. 2019 saves it"


class Published(QNetworkAgent):
    """The agent of a file `*.tar` whose `model_state_dict` lists the weights of Conv and of ConvLstm.

    Its plays are the original's but for exact ties. Raises CheckpointError.
    """

    def __init__(self, path: str) -> None:
        discard_weights, play_weights = _read(path)
        discard_encoder, play_encoder = make_discard_encoder("basic"), make_play_encoder("belanger2019_cnn_lstm")
        with fitting(f"{path} has other weights than {_EXPECTED}"):
            discard_config, discard = _discard_weights(discard_weights)
            play_config, play = _play_weights(play_weights)
            discard_network = make_discard_network(discard_config, discard_encoder.spec)
            play_network = make_play_network(play_config, play_encoder.spec)
            _fill(discard_network, discard)
            _fill(play_network, play)
        functions = QFunction(discard_encoder, discard_network.eval()), QFunction(play_encoder, play_network.eval())
        super().__init__(*functions, name="belanger2019")


def _read(path: str) -> tuple[Mapping[str, Tensor], Mapping[str, Tensor]]:
    """State dicts of the deal and of the play network; nothing in the file is executed."""
    if not Path(path).is_file():
        raise CheckpointError(f"no checkpoint at {path}")
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, ValueError, EOFError, KeyError, pickle.UnpicklingError, zipfile.BadZipFile) as error:
        raise CheckpointError(f"{path} is damaged or not {_EXPECTED}") from error
    found = content.get("model_state_dict") if isinstance(content, dict) else None
    if not isinstance(found, list) or len(found) != 2 or not all(isinstance(part, Mapping) for part in found):
        raise CheckpointError(f"{path} is not {_EXPECTED}: expected two state dicts in model_state_dict")
    return found[0], found[1]


def _fill(network: QNetwork, weights: dict[str, Tensor]) -> None:
    network.load_state_dict({name: value.float() for name, value in weights.items()})


def _discard_weights(conv: Mapping[str, Tensor]) -> tuple[DiscardNetworkConfig, dict[str, Tensor]]:
    """Config and weights of our network from those of Conv."""
    kernels = [conv[f"tarot{length}.0.weight"].squeeze(1) for length in (2, 3, 4)]
    channels = len(kernels[0])
    ours = {
        "over_ranks.weight": torch.cat(kernels, dim=1),
        "over_ranks.bias": torch.stack([conv[f"tarot{length}.0.bias"] for length in (2, 3, 4)], dim=1),
        "over_suits.weight": conv["suit.weight"].squeeze(1),
        "over_suits.bias": conv["suit.bias"][:, None],
    }
    ours |= {f"ranks.{name}": conv[f"ranks.{name}"] for name in ("0.weight", "0.bias", "2.weight", "2.bias")}
    ours |= _head(conv)
    ours["head.layers.0.weight"] = ours["head.layers.0.weight"][:, _columns_of_conv(channels, len(conv["suit.bias"]))]
    hidden = [len(conv["clf.0.bias"]), len(conv["clf.2.bias"])]
    return DiscardNetworkConfig("belanger2019", hidden=hidden, channels=channels), ours


def _columns_of_conv(channels: int, suit_channels: int) -> Tensor:
    """Of each feature of our network, in our order, the place that Conv has it at.

    Conv: by kernel, channel and position; then ranks; suits by channel, in its order of suits; the dealer. Ours: by
    channel, kernel and position; then ranks; suits by channel; the dealer.
    """
    kernels, first = [], 0
    for positions in (12, 11, 10):
        kernels.append(first + torch.arange(channels * positions).reshape(channels, positions))
        first += channels * positions
    over_ranks, ranks = torch.cat(kernels, dim=1).flatten(), first + torch.arange(13)
    suits = first + 13 + torch.arange(4 * suit_channels + 1)  # and the dealer
    places = suits[:-1].reshape(suit_channels, 4)[:, [SUITS.index(suit) for suit in range(4)]]
    return torch.cat([over_ranks, ranks, places.flatten(), suits[-1:]])


def _play_weights(conv_lstm: Mapping[str, Tensor]) -> tuple[PlayNetworkConfig, dict[str, Tensor]]:
    """Config and weights of our network from those of ConvLstm, whose features stand in the same order."""
    kernels = [conv_lstm[f"conv{side}.1.weight"].flatten(1) for side in (2, 3, 4)]
    ours = {"over_series.weight": torch.cat(kernels, dim=1)}
    ours |= {name: value for name, value in conv_lstm.items() if name.startswith("lstm.")}
    ours |= _head(conv_lstm)
    config = PlayNetworkConfig(
        "belanger2019_cnn_lstm",
        hidden=[len(conv_lstm["clf.0.bias"]), len(conv_lstm["clf.2.bias"])],
        channels=len(kernels[0]),
        lstm_hidden=conv_lstm["lstm.weight_hh_l0"].shape[1],
    )
    return config, ours


def _head(weights: Mapping[str, Any]) -> dict[str, Tensor]:
    return {f"head.layers.{name.removeprefix('clf.')}": weights[name] for name in weights if name.startswith("clf.")}
