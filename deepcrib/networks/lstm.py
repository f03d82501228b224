"""An LSTM over packed sequences of a few steps, for a CPU: torch's layer, computed with fewer and larger operations.

torch unrolls packed sequences step by step and, on the way back, fills a whole tensor with zeros for every step's part
of it. Here everything that does not depend on the step before is one product over all steps of all sequences.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence


class PackedLSTM(nn.LSTM):
    """nn.LSTM whose result is the last output of each sequence, [B, hidden]; the same numbers up to rounding."""

    def forward(self, packed: PackedSequence) -> Tensor:  # type: ignore[override]
        """Last outputs [B, hidden] of the top layer, in the order in which the sequences were packed."""
        sizes = packed.batch_sizes.tolist()
        outputs = packed.data
        for layer in range(self.num_layers):
            w_ih, w_hh, b_ih, b_hh = (getattr(self, name) for name in self._all_weights[layer])
            outputs = _Layer.apply(outputs, w_ih, w_hh, b_ih + b_hh, sizes)
        return outputs[_last_rows(packed)]


class _Layer(torch.autograd.Function):
    """Outputs [M, H] of the rows [M, F] of all steps, of which the first sizes[0] are the first step, and so on."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, w_ih: Tensor, w_hh: Tensor, bias: Tensor, sizes: list[int]) -> Tensor:
        gates = torch.addmm(bias, inputs, w_ih.t())
        width = w_hh.shape[1]
        cells, squashed, hidden = (inputs.new_empty(len(inputs), width) for _ in range(3))
        before = None
        for rows in _steps(sizes):
            step = gates[rows]
            if before is not None:
                step.addmm_(hidden[before][: len(step)], w_hh.t())
            step[:, : 2 * width].sigmoid_()
            step[:, 2 * width : 3 * width].tanh_()
            step[:, 3 * width :].sigmoid_()
            i, f, g, o = step.split(width, dim=1)
            cell = torch.mul(i, g, out=cells[rows])
            if before is not None:
                cell.addcmul_(f, cells[before][: len(step)])
            torch.mul(o, torch.tanh(cell, out=squashed[rows]), out=hidden[rows])
            before = rows
        ctx.save_for_backward(inputs, w_ih, w_hh, gates, cells, squashed, hidden)
        ctx.sizes = sizes
        return hidden

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        inputs, w_ih, w_hh, gates, cells, squashed, hidden = ctx.saved_tensors
        steps, width = _steps(ctx.sizes), w_hh.shape[1]
        first = ctx.sizes[0]
        previous = _previous_rows(ctx.sizes, inputs.device)  # of every row but those of the first step
        i, f, g, o = gates.split(width, dim=1)
        # What the gradient of a row's cell (of its output, for the last) is multiplied by for that of each gate.
        factors = torch.zeros_like(gates).view(-1, 4, width)
        torch.mul(g, i * (1 - i), out=factors[:, 0])
        torch.mul(cells[previous], (f * (1 - f))[first:], out=factors[first:, 1])
        torch.mul(i, 1 - g * g, out=factors[:, 2])
        torch.mul(squashed, o * (1 - o), out=factors[:, 3])
        to_cell = o * (1 - squashed * squashed)
        d_hidden, d_gates = grads[0].clone(), torch.empty_like(factors)
        carried: Tensor | None = None
        for step in reversed(range(len(steps))):
            rows = steps[step]
            d_cell = d_hidden[rows] * to_cell[rows]
            if carried is not None:
                d_cell[: len(carried)] += carried
            torch.mul(d_cell[:, None], factors[rows, :3], out=d_gates[rows, :3])
            torch.mul(d_hidden[rows], factors[rows, 3], out=d_gates[rows, 3])
            if step:
                before = d_hidden[steps[step - 1]]
                before[: len(d_cell)].addmm_(d_gates[rows].flatten(1), w_hh)
                carried = d_cell * f[rows]
        flat = d_gates.flatten(1)
        return flat @ w_ih, flat.t() @ inputs, flat[first:].t() @ hidden[previous], flat.sum(dim=0), None


def _steps(sizes: list[int]) -> list[slice]:
    """The rows of each step."""
    ends = list(accumulate(sizes))
    return [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]


def _previous_rows(sizes: list[int], device: torch.device) -> Tensor:
    """[M - sizes[0]] of every row after the first step that of the same sequence one step before."""
    steps = [torch.arange(rows.start, rows.start + size) for rows, size in zip(_steps(sizes), sizes[1:], strict=False)]
    return torch.cat(steps).to(device) if steps else torch.zeros(0, dtype=torch.int64, device=device)


def _last_rows(packed: PackedSequence) -> Tensor:
    """[B] of each sequence the row of its last step, in the order before packing."""
    sizes = packed.batch_sizes
    lengths = (sizes[:, None] > torch.arange(int(sizes[0]))).sum(dim=0)
    starts = sizes.cumsum(0) - sizes
    rows = (starts[lengths - 1] + torch.arange(int(sizes[0]))).to(packed.data.device)
    return rows if packed.unsorted_indices is None else rows[packed.unsorted_indices]
