"""Checkpoints of Q-networks read back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deepcrib.files.weights import read_weights
from deepcrib.networks import QNetwork
from deepcrib.networks.checkpoints import make_networks
from deepcrib.networks.encoders import Encoder


@dataclass
class Checkpoint:
    """Networks with the encoders of their input, None where the run did not train one, and the metadata."""

    discard_network: QNetwork | None
    play_network: QNetwork | None
    discard_encoder: Encoder | None
    play_encoder: Encoder | None
    metadata: dict[str, Any]


def load_weights(path: Path | str) -> Checkpoint:
    """A checkpoint by its file, or by its run folder. Raises CheckpointError."""
    saved = read_weights(path, "q_network")
    pairs = [one or (None, None) for one in make_networks(saved, "discard", "play")]
    (discard, discard_encoder), (play, play_encoder) = pairs
    metadata = {name: value for name, value in saved.metadata.items() if name != "networks"}
    return Checkpoint(discard, play, discard_encoder, play_encoder, metadata)
