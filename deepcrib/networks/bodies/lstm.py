"""An LSTM over packed sequences of a few steps, for a CPU: torch's layer, computed with fewer and larger operations.

torch unrolls packed sequences step by step and, on the way back, fills a whole tensor with zeros for every step's part
of it. Here everything that does not depend on the step before is one product over all steps of all sequences, and
what lies between the products on the way back is compiled. A GPU has torch's own kernels.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from deepcrib.kernels import jit


class PackedLSTM(nn.LSTM):
    """nn.LSTM whose result is the last output of each sequence, [B, hidden]; the same numbers up to rounding."""

    def forward(self, packed: PackedSequence) -> Tensor:  # type: ignore[override]
        """Last outputs [B, hidden] of the top layer, in the order in which the sequences were packed."""
        if packed.data.device.type != "cpu":
            return super().forward(packed)[1][0][-1]
        return _Layers.apply(packed.data, _steps_of(packed), *self._weights())

    def values(self, rows: Tensor, steps: Steps) -> Tensor:
        """The same [B, hidden] of the rows [M, F] of steps that sequences share, without gradients."""
        for w_ih, w_hh, b_ih, b_hh in zip(*[iter(self._weights())] * 4, strict=True):
            rows = _outputs(rows, steps, w_ih, w_hh, b_ih + b_hh).hidden
        return rows.index_select(0, steps.last)

    def _weights(self) -> list[Tensor]:
        return [getattr(self, name) for names in self._all_weights for name in names]


class Steps(NamedTuple):
    """The M rows of all steps: sizes[0] of the first, and so on; last [B] is that of each sequence's last step.

    before: for each step but the first, the rows [size] of the step before that its own follow; None: the first ones.
    """

    sizes: list[int]
    last: Tensor
    before: list[Tensor] | None = None


def _steps_of(packed: PackedSequence) -> Steps:
    sizes: list[int] = packed.batch_sizes.tolist()
    columns = np.arange(sizes[0])
    steps = (columns < np.array(sizes)[:, None]).sum(axis=0)
    last = torch.from_numpy(np.cumsum([0, *sizes])[steps - 1] + columns)
    return Steps(sizes, last if packed.unsorted_indices is None else last[packed.unsorted_indices])


class _Saved(NamedTuple):
    """What a layer's gradients are made of: inputs [M, F], gates [M, 4H]; cells, their tanh and the outputs [M, H]."""

    inputs: Tensor
    gates: Tensor
    cells: Tensor
    squashed: Tensor
    hidden: Tensor


class _Layers(torch.autograd.Function):
    """Last outputs [B, H] of the rows [M, F] of all steps, from w_ih, w_hh, b_ih and b_hh of each layer."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, steps: Steps, *weights: Tensor) -> Tensor:
        layers = []
        for w_ih, w_hh, b_ih, b_hh in zip(*[iter(weights)] * 4, strict=True):
            layers.append(_outputs(inputs, steps, w_ih, w_hh, b_ih + b_hh))
            inputs = layers[-1].hidden
        ctx.save_for_backward(*weights, *(saved for layer in layers for saved in layer))
        ctx.steps = steps
        return inputs.index_select(0, steps.last)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        num_layers = len(ctx.saved_tensors) // (4 + len(_Saved._fields))
        weights, saved = ctx.saved_tensors[: 4 * num_layers], ctx.saved_tensors[4 * num_layers :]
        layers = [_Saved(*tensors) for tensors in zip(*[iter(saved)] * len(_Saved._fields), strict=True)]
        d_hidden = torch.zeros_like(layers[-1].hidden).index_copy_(0, ctx.steps.last, grads[0])
        found: list[Tensor] = []
        for number in reversed(range(num_layers)):
            w_ih, w_hh = weights[4 * number : 4 * number + 2]
            d_gates, before = _gradients(layers[number], ctx.steps, w_hh, d_hidden)
            recurrent, bias = d_gates[ctx.steps.sizes[0] :].t() @ before, d_gates.sum(dim=0)
            found = [d_gates.t() @ layers[number].inputs, recurrent, bias, bias, *found]
            d_hidden = d_gates @ w_ih
        return d_hidden, None, *found


def _outputs(inputs: Tensor, steps: Steps, w_ih: Tensor, w_hh: Tensor, bias: Tensor) -> _Saved:
    """A layer's outputs, and all that it computes on the way."""
    gates, recurrent, width = torch.addmm(bias, inputs, w_ih.t()), w_hh.t(), w_hh.shape[1]
    cells, squashed, hidden = (inputs.new_empty(len(inputs), width) for _ in range(3))
    sizes = steps.sizes
    i, f, g, o = (gate.split(sizes) for gate in gates.split(width, dim=1))
    sigmoids, products = gates[:, : 2 * width].split(sizes), gates.split(sizes)
    cell, squash, out = (tensor.split(sizes) for tensor in (cells, squashed, hidden))
    for step in range(len(sizes)):
        if step:
            earlier = steps.before[step - 1] if steps.before else slice(sizes[step])
            products[step].addmm_(out[step - 1][earlier], recurrent)
        sigmoids[step].sigmoid_()
        g[step].tanh_()
        o[step].sigmoid_()
        torch.mul(i[step], g[step], out=cell[step])
        if step:
            cell[step].addcmul_(f[step], cell[step - 1][earlier])
        torch.mul(o[step], torch.tanh(cell[step], out=squash[step]), out=out[step])
    return _Saved(inputs, gates, cells, squashed, hidden)


def _gradients(layer: _Saved, steps: Steps, w_hh: Tensor, d_hidden: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients [M, 4H] of the gates, and the outputs [M - B, H] before each row but those of the first step.

    d_hidden: those of the outputs [M, H], to which it adds what the steps after them say.
    """
    sizes, starts = steps.sizes, [0, *accumulate(steps.sizes)]
    d_gates = torch.empty_like(layer.gates)
    before = layer.hidden.new_empty(len(d_gates) - sizes[0], w_hh.shape[1])
    carried = torch.empty_like(layer.hidden[: sizes[0]])
    arrays = [tensor.numpy() for tensor in (*layer[1:], d_hidden, carried, d_gates, before)]
    for step in reversed(range(len(sizes))):
        first, previous = starts[step], starts[step - 1] if step else -1
        _step_gradients(first, sizes[step], sizes[step + 1] if step + 1 < len(sizes) else 0, previous, *arrays)
        if step:
            earlier = d_hidden[previous : previous + sizes[step]]
            earlier.addmm_(d_gates[first : starts[step + 1]], w_hh)
    return d_gates, before


@jit
def _step_gradients(
    first: int,
    size: int,
    num_carried: int,
    previous: int,
    gates: np.ndarray,
    cells: np.ndarray,
    squashed: np.ndarray,
    hidden: np.ndarray,
    d_hidden: np.ndarray,
    carried: np.ndarray,
    d_gates: np.ndarray,
    before: np.ndarray,
) -> None:
    """Fill the rows of one step of d_gates and before.

    first, previous: first row of the step and of the one before it (-1: none). carried: gradients of the cells from the
    step after it, num_carried rows, and then of those of the step before.
    """
    one = np.float32(1)
    width = cells.shape[1]
    num_first = len(d_gates) - len(before)
    for j in range(size):
        r = first + j
        for k in range(width):
            i, f = gates[r, k], gates[r, width + k]
            g, o = gates[r, 2 * width + k], gates[r, 3 * width + k]
            s = squashed[r, k]
            d_cell = d_hidden[r, k] * (o * (one - s * s))
            if j < num_carried:
                d_cell += carried[j, k]
            d_gates[r, k] = d_cell * (g * (i * (one - i)))
            d_gates[r, 2 * width + k] = d_cell * (i * (one - g * g))
            d_gates[r, 3 * width + k] = d_hidden[r, k] * (s * (o * (one - o)))
            if previous < 0:
                d_gates[r, width + k] = 0
            else:
                d_gates[r, width + k] = d_cell * (cells[previous + j, k] * (f * (one - f)))
                carried[j, k] = d_cell * f
                before[r - num_first, k] = hidden[previous + j, k]
