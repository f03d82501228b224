"""What makes networks fast, and may be skipped: the same values as plain code gives, in less time.

- `linear_of_columns`: a first layer that adds up the weights of the few channels that are there, in place of a product
  with rows of zeros and ones (1.8 times as fast as `torch.nn.EmbeddingBag`).
- `distinct_rows`: of inputs that look the same to a network each is evaluated once (with fewer discards to search, what
  a best responder gains on a network is found ten times as fast).
- `adam_step`: Adam without the hooks and checks around it (a training step in 5 to 13% less time).
- `PackedLSTM`: an LSTM over packed sequences of a few steps, on a CPU. torch unrolls them step by step and, on the way
  back, fills a whole tensor with zeros for every step's part of it. Here everything that does not depend on the step
  before is one product over all steps of all sequences, and what lies between the products on the way back is compiled.
  A GPU has torch's own kernels.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence
from torch.optim.adam import adam

from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows

PIECE = 4096
"""Rows of inputs that are worth a thread."""


# --- first layers of index columns -----------------------------------------------------------------------------------


def linear_of_columns(layer: nn.Linear, columns: np.ndarray, scales: np.ndarray) -> Tensor:
    """float32 [M, outputs] of int16 columns [M, C], of which the last S = len(scales) are scalars to be multiplied.

    Terms are added in the order of the channels and the bias at last, as the matrix product does that
    `layer(encoder.expand(columns))` is: the same numbers, as a rule to the last bit.
    """
    weight, bias = layer.weight.detach().t().contiguous(), layer.bias.detach()
    outputs = torch.zeros(len(columns), layer.out_features)
    _fill(columns, scales, weight.numpy(), bias.numpy(), outputs.numpy())
    return outputs


@jit
def _fill(columns: np.ndarray, scales: np.ndarray, weight: np.ndarray, bias: np.ndarray, outputs: np.ndarray) -> None:
    """Add to outputs, which are zero."""
    num_hot, num_outputs = columns.shape[1] - len(scales), weight.shape[1]
    channels = np.empty(num_hot + 4, dtype=np.int64)
    for r in range(len(columns)):
        count = _sort(columns[r], num_hot, channels)
        channels[count:] = len(weight)
        first = 0
        while first < count:
            a, b, c, d = channels[first], channels[first + 1], channels[first + 2], channels[first + 3]
            if a < b < c < d < channels[min(first + 4, count + 3)]:  # together they read and write the outputs less
                for k in range(num_outputs):
                    outputs[r, k] = outputs[r, k] + weight[a, k] + weight[b, k] + weight[c, k] + weight[d, k]
                first += 4
                continue
            same = 1
            while channels[first + same] == a:
                same += 1
            _add(outputs, r, weight, a, same)
            first += same
        for k in range(len(scales)):
            value = np.float32(columns[r, num_hot + k] * scales[k])
            _add(outputs, r, weight, len(weight) - len(scales) + k, float(value))
        for k in range(num_outputs):
            outputs[r, k] += bias[k]


@jit
def _sort(columns: np.ndarray, num_hot: int, channels: np.ndarray) -> int:
    """Put the channels of a row in order, of which -1 is none; returns how many there are."""
    count = 0
    for column in range(num_hot):
        channel = columns[column]
        if channel >= 0:
            place = count
            while place > 0 and channels[place - 1] > channel:
                channels[place] = channels[place - 1]
                place -= 1
            channels[place] = channel
            count += 1
    return count


@jit
def _add(outputs: np.ndarray, r: int, weight: np.ndarray, channel: int, times: float) -> None:
    """Add so many times the weights of a channel, rounding once (in float64, where that takes a product)."""
    if times == 1:
        for k in range(weight.shape[1]):
            outputs[r, k] += weight[channel, k]
    else:
        for k in range(weight.shape[1]):
            outputs[r, k] = np.float64(times) * weight[channel, k] + outputs[r, k]


# --- inputs that are the same ----------------------------------------------------------------------------------------


def distinct_rows(columns: np.ndarray, num_hot: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """first [U]: where each distinct row of int16 columns [M, C] stands first; again [M]: the number of each row's own.

    The first num_hot columns are channels, of `width`, in any order; the others are scalars. Rows are told apart by a
    sum of random 64-bit words of their channels (Zobrist): that two of a million different ones have the same has a
    chance of 3e-8.
    """
    words = np.random.default_rng(0).integers(-(1 << 63), 1 << 63, size=width + 1, dtype=np.int64)
    keys, first, again = np.empty((3, len(columns)), dtype=np.int64)
    run_rows(_fill_keys, len(columns), columns, words, num_hot, keys, piece=PIECE)
    slots = np.full(1 << (2 * len(columns)).bit_length(), -1, dtype=np.int64)
    return first[: _number_keys(keys, slots, first, again)], again


@jit
def _fill_keys(part: Part, indices: np.ndarray, words: np.ndarray, num_hot: int, keys: np.ndarray) -> None:
    """keys [M]: sums of the words [width + 1] of a row's channels (-1: the last), whatever their order."""
    for r in range(*part):
        key = 0
        for column in range(num_hot):
            key += words[indices[r, column]]
        for column in range(num_hot, indices.shape[1]):
            key += words[column - indices.shape[1] - 1] * indices[r, column]
        keys[r] = key


@jit
def _number_keys(keys: np.ndarray, slots: np.ndarray, first: np.ndarray, again: np.ndarray) -> int:
    """again [M]: the number of each key among the distinct ones, in the order met; first: where each is met first.

    Returns how many there are. slots: a hash table of -1, a power of two long.
    """
    found = 0
    for r in range(len(keys)):
        slot = keys[r] & (len(slots) - 1)
        while slots[slot] >= 0 and keys[first[slots[slot]]] != keys[r]:
            slot = (slot + 1) & (len(slots) - 1)
        if slots[slot] < 0:
            slots[slot], first[found] = found, r
            found += 1
        again[r] = slots[slot]
    return found


# --- Adam ------------------------------------------------------------------------------------------------------------


def adam_step(optimizer: torch.optim.Optimizer) -> None:
    """Update the weights and forget their gradients.

    As `step` and `zero_grad` do, without the hooks and checks around them, which take as long as the update of a small
    network. The first step makes the optimiser's state; other optimisers than Adam take all of theirs so.
    """
    (group,) = optimizer.param_groups
    learned = [parameter for parameter in group["params"] if parameter.grad is not None]
    if not isinstance(optimizer, torch.optim.Adam) or any(parameter not in optimizer.state for parameter in learned):
        optimizer.step()
        optimizer.zero_grad()
        return
    states = [optimizer.state[parameter] for parameter in learned]
    beta1, beta2 = group["betas"]
    with torch.no_grad():
        adam(
            learned,
            [parameter.grad for parameter in learned],
            [state["exp_avg"] for state in states],
            [state["exp_avg_sq"] for state in states],
            [],
            [state["step"] for state in states],
            fused=group["fused"],
            amsgrad=group["amsgrad"],
            beta1=beta1,
            beta2=beta2,
            lr=group["lr"],
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            maximize=group["maximize"],
        )
    for parameter in learned:
        parameter.grad = None


# --- an LSTM over short sequences ------------------------------------------------------------------------------------


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
