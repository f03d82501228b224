"""The named description of every input channel of an encoder, from which its documentation is generated."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass

import numpy as np

from deepcrib.game.cards import RANK_NAMES, SUIT_NAMES

RANK_CHANNELS = tuple(RANK_NAMES)
SUIT_CHANNELS = tuple(SUIT_NAMES)
ONE_HOT, COUNT, FLAG, SCALAR = "one-hot", "count", "flag", "scalar"


@dataclass(frozen=True)
class Block:
    """Adjacent channels of one meaning.

    shape is (channels,) or (rows, channels); `channels` names the channels of a row. `kind` is one of
    ONE_HOT (at most one 1 a row), COUNT (how often each thing is there), FLAG (0 or 1) and SCALAR (a number
    times `scale`).
    """

    name: str
    start: int
    shape: tuple[int, ...]
    kind: str
    meaning: str
    channels: tuple[str, ...]
    scale: float = 1.0

    @property
    def size(self) -> int:
        """Number of channels."""
        return math.prod(self.shape)

    @property
    def slice(self) -> slice:
        """Where the block stands in a row of the encoded input."""
        return slice(self.start, self.start + self.size)


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

    def start(self, name: str) -> int:
        """First channel of a block, or -1 when the encoding lacks it."""
        return self[name].start if name in self else -1

    def channel_names(self) -> list[str]:
        """Name every channel, in order."""
        names = []
        for block in self.blocks:
            rows = block.shape[0] if len(block.shape) == 2 else 1
            for row in range(rows):
                prefix = f"{block.name}[{row + 1}]" if len(block.shape) == 2 else block.name
                names += [f"{prefix}: {channel}" for channel in block.channels]
        return names

    def hash(self) -> str:
        """SHA-256 in hex of all that decides what a channel holds; wording of the meanings is left out."""
        content = [[b.name, b.start, list(b.shape), b.kind, list(b.channels), b.scale] for b in self.blocks]
        return hashlib.sha256(json.dumps([self.name, content]).encode()).hexdigest()

    def table(self) -> str:
        """Markdown table of every channel, one line for each row of a block."""
        lines = ["| inputs | block | channels | kind | meaning |", "|---|---|---|---|---|"]
        for block in self.blocks:
            rows = block.shape[0] if len(block.shape) == 2 else 1
            for row in range(rows):
                first = block.start + row * len(block.channels)
                last = first + len(block.channels) - 1
                name = f"{block.name} [{row + 1}]" if len(block.shape) == 2 else block.name
                where = f"{first}-{last}" if last > first else f"{first}"
                kind = block.kind if block.scale == 1.0 else f"{block.kind} x {block.scale:.6g}"
                meaning = block.meaning if row == 0 else "as above"
                lines.append(f"| {where} | {name} | {' '.join(block.channels)} | {kind} | {meaning} |")
        return "\n".join(lines)


class SpecBuilder:
    """Lays blocks one after another; scalars must come last."""

    def __init__(self) -> None:
        """Start without blocks."""
        self.blocks: list[Block] = []

    def add(
        self,
        name: str,
        kind: str,
        channels: tuple[str, ...],
        meaning: str,
        rows: int | None = None,
        scale: float = 1.0,
    ) -> None:
        """Append a block of one row, or of `rows` rows of the same channels."""
        start = self.blocks[-1].slice.stop if self.blocks else 0
        shape = (len(channels),) if rows is None else (rows, len(channels))
        self.blocks.append(Block(name, start, shape, kind, meaning, channels, scale))

    def build(self, name: str, dealer: bool, scores: bool) -> Spec:
        """Return the finished spec of an encoder of these arguments."""
        return Spec(name, dealer, scores, tuple(self.blocks))
