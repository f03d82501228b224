"""The cards of series, each with the ones before it, as the steps of an LSTM.

A series is [rows, ranks], a row a card: one 1, or none in the rows after its last card, which are left out. A window
is a card's row and the rows before it (zeros above the first), side by side.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.utils.rnn import PackedSequence

from deepcrib.kernels import jit
from deepcrib.networks.fast import Steps

FEW = 8
"""Rows of a matrix product below which the library takes other ways through it, and rounds a row differently."""


def packed_windows(cards: Tensor, window: int) -> PackedSequence:
    """Pack the window of every card of the series [B, rows, ranks]; one without any card keeps its first row."""
    order, there = _lengths(cards)
    step, place = np.nonzero(there)
    rows = _windows(cards, window, order.numpy()[place], step, len(there))
    return PackedSequence(rows, torch.from_numpy(there.sum(axis=1)), order.to(cards.device))


def shared_windows(cards: Tensor, window: int) -> tuple[Tensor, Steps]:
    """Windows [M, window * ranks] of the series [B, rows, ranks] on a CPU, once for all that begin alike so far.

    What an LSTM has read by then is the same. A step keeps all its rows where few would be left (see `FEW`), so that
    its values are those of `packed_windows` to the last bit.
    """
    order, there = _lengths(cards)
    shared = _share(cards.float().numpy(), order.numpy(), there.sum(axis=1), FEW)
    series, before, last, sizes = shared
    step = np.repeat(np.arange(len(sizes)), sizes)
    parts = torch.from_numpy(before).split(sizes.tolist())
    return _windows(cards, window, series, step, len(sizes)), Steps(sizes.tolist(), torch.from_numpy(last), parts[1:])


def _lengths(cards: Tensor) -> tuple[Tensor, np.ndarray]:
    """The series by falling length, [B] on the CPU, and whether each of them has so many cards, bool [longest, B]."""
    lengths, order = cards.flatten(1).sum(dim=1).clamp(min=1).long().cpu().sort(descending=True)
    return order, lengths.numpy() > np.arange(int(lengths[0]))[:, None]


def _windows(cards: Tensor, window: int, series: np.ndarray, step: np.ndarray, longest: int) -> Tensor:
    """[M, window * ranks] of the cards number step [M] of the series of numbers [M]."""
    num_ranks = cards.shape[2]
    padded = functional.pad(cards[:, :longest], (0, 0, window - 1, 0))
    windows = padded.flatten().unfold(0, window * num_ranks, num_ranks)
    rows = torch.from_numpy(series * padded.shape[1] + step)
    return windows.index_select(0, rows.to(cards.device))


@jit
def _share(
    cards: np.ndarray, order: np.ndarray, alive: np.ndarray, few: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(series [M], before [M], last [B], sizes [steps]) of the rows that are left: see `Steps`, and whose card it is.

    order [B]: the series by falling length, of which alive [steps] have so many cards.
    """
    num_ranks = cards.shape[2]
    series, before = np.empty(alive.sum(), dtype=np.int64), np.empty(alive.sum(), dtype=np.int64)
    last, sizes = np.empty(len(order), dtype=np.int64), np.zeros(len(alive), dtype=np.int64)
    at = np.zeros(len(order), dtype=np.int64)  # row of each series in the step before
    follows = np.empty((len(order), num_ranks + 1), dtype=np.int64)
    start = 0
    for step in range(len(alive)):
        for shares in (True, False):
            follows[:] = -1
            size = 0
            for place in range(alive[step]):
                rank = 0
                while rank < num_ranks and cards[order[place], step, rank] == 0:
                    rank += 1
                row = follows[at[place], rank]
                if row < 0 or not shares:
                    row = size
                    follows[at[place], rank] = row
                    series[start + row], before[start + row] = order[place], at[place]
                    size += 1
                last[order[place]] = start + row
            if size >= few:
                break
        for place in range(alive[step]):
            at[place] = last[order[place]] - start
        sizes[step] = size
        start += size
    return series[:start], before[:start], last, sizes
