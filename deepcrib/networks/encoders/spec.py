"""The named description of every input channel of an encoder: its table, from which all else about them follows."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deepcrib.game.cards import RANK_NAMES, SUIT_NAMES

RANK_CHANNELS = tuple(RANK_NAMES)
SUIT_CHANNELS = tuple(SUIT_NAMES)
ONE_HOT, COUNT, FLAG, SCALAR = "one-hot", "count", "flag", "scalar"


@dataclass(frozen=True)
class Block:
    """Adjacent channels of one meaning: an entry of an encoder's table.

    kind: ONE_HOT (at most one 1 a row), COUNT (how often each thing is there), FLAG (0 or 1), SCALAR (a number times
        `scale`).
    channels: the names of the channels of a row. rows: of the same channels; None: one without a number.
    fill: says which channels get a 1 (see `Encoder`). None: of no encoder.
    ones: at most, as many as there are index columns; 0: one a row.
    option: the option of the encoder without which the block is left out, `dealer` or `scores`.
    start: the first channel, which `lay_out` sets.
    """

    name: str
    kind: str
    channels: tuple[str, ...]
    meaning: str
    fill: Callable[..., None] | None = None
    rows: int | None = None
    ones: int = 0
    scale: float = 1.0
    option: str | None = None
    start: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """(channels,) or (rows, channels)."""
        return (len(self.channels),) if self.rows is None else (self.rows, len(self.channels))

    @property
    def size(self) -> int:
        """Number of channels."""
        return math.prod(self.shape)

    @property
    def slice(self) -> slice:
        """Where the block stands in a row of the encoded input."""
        return slice(self.start, self.start + self.size)

    @property
    def columns(self) -> int:
        """Number of index columns."""
        return self.ones or self.rows or 1

    @property
    def row_names(self) -> list[str]:
        """The name of each row, numbered where the block has several."""
        return [self.name] if self.rows is None else [f"{self.name}[{row + 1}]" for row in range(self.rows)]


def ranks(name: str, meaning: str, fill: Callable[..., None], *, ones: int = 0, rows: int | None = None) -> Block:
    """Channels of the ranks: how many of `ones` cards at most have each, or a card a row; see `Block`."""
    kind = COUNT if ones and rows is None else ONE_HOT
    return Block(name, kind, RANK_CHANNELS, meaning, fill, rows, ones)


@dataclass(frozen=True)
class Spec:
    """All blocks of an encoder, in order, without gaps; and the arguments that make the encoder again."""

    name: str
    dealer: bool
    scores: bool
    blocks: tuple[Block, ...]

    @property
    def width(self) -> int:
        """Number of channels."""
        return sum(block.size for block in self.blocks)

    @property
    def scales(self) -> np.ndarray:
        """float32 [S]: factors of the scalar channels, which are the last S channels."""
        return np.array([block.scale for block in self.blocks if block.kind == SCALAR], dtype=np.float32)

    def __contains__(self, name: str) -> bool:
        """Whether there is a block of this name."""
        return any(block.name == name for block in self.blocks)

    def __getitem__(self, name: str) -> Block:
        """Return the block of this name."""
        for block in self.blocks:
            if block.name == name:
                return block
        raise KeyError(f"the encoding {self.name} has no block {name!r}")

    def channel_names(self) -> list[str]:
        """Name every channel, in order."""
        return [f"{row}: {channel}" for b in self.blocks for row in b.row_names for channel in b.channels]

    def hash(self) -> str:
        """SHA-256 in hex of all that decides what a channel holds; wording of the meanings is left out."""
        content = [[b.name, b.start, list(b.shape), b.kind, list(b.channels), b.scale] for b in self.blocks]
        return hashlib.sha256(json.dumps([self.name, content]).encode()).hexdigest()


def is_table(found: Any) -> str | None:
    """A check: the blocks of an encoder, which have their fills."""
    blocks = found if isinstance(found, tuple | list) else ()
    known = all(isinstance(block, Block) and callable(block.fill) for block in blocks)
    return None if blocks and known else "expected a tuple of deepcrib.networks.encoders.Block, each with its fill"


def lay_out(name: str, table: Iterable[Block], dealer: bool = True, scores: bool = True) -> Spec:
    """The spec of a table: its blocks one after another, scalars last, without those of options that are off."""
    options = {None: True, "dealer": dealer, "scores": scores}
    blocks: list[Block] = []
    for block in sorted((b for b in table if options[b.option]), key=lambda b: b.kind == SCALAR):
        blocks.append(replace(block, start=blocks[-1].slice.stop if blocks else 0))
    return Spec(name, dealer, scores, tuple(blocks))
