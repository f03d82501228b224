"""Observations -> network input: compact storage form, encoders, and the table of every channel."""

from deepcrib.networks.encoders.discard import DISCARD_ENCODERS
from deepcrib.networks.encoders.encoder import Encoder, make_discard_encoder, make_play_encoder
from deepcrib.networks.encoders.play import PLAY_ENCODERS
from deepcrib.networks.encoders.spec import Block, Spec
from deepcrib.networks.encoders.states import DISCARD_COLUMNS, PLAY_COLUMNS, compact_discard, compact_play, legal_plays

__all__ = [
    "DISCARD_COLUMNS",
    "DISCARD_ENCODERS",
    "PLAY_COLUMNS",
    "PLAY_ENCODERS",
    "Block",
    "Encoder",
    "Spec",
    "compact_discard",
    "compact_play",
    "legal_plays",
    "make_discard_encoder",
    "make_play_encoder",
]
