"""Observations -> network input: compact storage form, encoders, and the spec of every channel."""

from deepcrib.networks.encoders.discard import DISCARD_ENCODERS, DiscardEncoder, make_discard_encoder
from deepcrib.networks.encoders.expansion import expand
from deepcrib.networks.encoders.legal import legal_discards, legal_plays
from deepcrib.networks.encoders.play import PLAY_ENCODERS, PlayEncoder, make_play_encoder
from deepcrib.networks.encoders.spec import Block, Spec
from deepcrib.networks.encoders.states import DISCARD_COLUMNS, PLAY_COLUMNS, compact_discard, compact_play

__all__ = [
    "DISCARD_COLUMNS",
    "DISCARD_ENCODERS",
    "PLAY_COLUMNS",
    "PLAY_ENCODERS",
    "Block",
    "DiscardEncoder",
    "PlayEncoder",
    "Spec",
    "compact_discard",
    "compact_play",
    "expand",
    "legal_discards",
    "legal_plays",
    "make_discard_encoder",
    "make_play_encoder",
]
