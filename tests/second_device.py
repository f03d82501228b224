"""A device that is not the CPU, for tests: its tensors hold CPU tensors, and PyTorch takes them for another device's.

Operations on tensors of both devices are refused as PyTorch refuses them on a GPU (numbers, and indices on the CPU, are
allowed there too), and so is reading one from NumPy without a copy back.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

NAME = "second"
_setup_privateuseone_for_python_backend(NAME)  # of the whole process: a device that nothing else names
DEVICE = torch.device(NAME, 0)
_MOVES = {torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default}
_INDEXED = {
    torch.ops.aten.index.Tensor,
    torch.ops.aten.index_put_.default,
    torch.ops.aten.index_put.default,
    torch.ops.aten._index_put_impl_.default,
}


class Elsewhere(torch.Tensor):
    """A tensor of `DEVICE`, whose numbers are in `held`, on the CPU."""

    held: torch.Tensor

    @staticmethod
    def __new__(cls, held: torch.Tensor) -> Elsewhere:
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            held.size(),
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=DEVICE,
        )
        made.held = held
        return made

    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _compute(function, args, kwargs or {})

    __torch_function__ = torch._C._disabled_torch_function_impl


class _Factories(TorchDispatchMode):
    """Makes tensors there that are asked for there."""

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _compute(function, args, kwargs or {})


def _compute(function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    found: list[torch.Tensor] = []

    def take(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            found.append(value)
        return value.held if isinstance(value, Elsewhere) else value

    inner_args, inner_kwargs = tree_map(take, args), tree_map(take, kwargs)
    there = [tensor for tensor in found if isinstance(tensor, Elsewhere)]
    here = [tensor for tensor in found if not isinstance(tensor, Elsewhere) and tensor.dim()]
    wanted = kwargs.get("device")
    if function in _MOVES:
        stays = wanted is None
        result_there = isinstance(args[0], Elsewhere) if stays else torch.device(wanted).type == DEVICE.type
    elif wanted is not None:
        result_there = torch.device(wanted).type == DEVICE.type
    else:
        result_there = bool(there)
        if there and here and not (function in _INDEXED and isinstance(args[0], Elsewhere)) and function not in ALLOWED:
            raise RuntimeError(f"Expected all tensors to be on the same device: {function}")
    if wanted is not None:
        inner_kwargs = inner_kwargs | {"device": torch.device("cpu")}
    result = function(*inner_args, **inner_kwargs)
    if not result_there:
        return result
    if function is torch.ops.aten._pack_padded_sequence.default:
        return Elsewhere(result[0]), result[1]  # lengths stay on the CPU on every device
    return tree_map(lambda value: _wrap(value, args), result)


def _wrap(value: Any, args: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    for arg in args:  # what was changed in place
        if isinstance(arg, Elsewhere) and arg.held is value:
            return arg
    return Elsewhere(value)


ALLOWED = {torch.ops.aten._pack_padded_sequence.default}


@contextmanager
def second_device() -> Iterator[torch.device]:
    """The device, for as long as it is there."""
    with _Factories():
        yield DEVICE
