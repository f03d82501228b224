"""Arrays that follow from the sources alone and take long to compute, kept beside the compiled code."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from tokenize import TokenError
from typing import Any

from numpy.lib import format as npy
from numpy.typing import NDArray

from deepcrib.errors import RunError
from deepcrib.files import write_atomic
from deepcrib.kernels.cache import cache_folder

# What NumPy raises for a file that is no sound .npy.
_DAMAGE = (ValueError, EOFError, TypeError, OverflowError, SyntaxError, TokenError)


def kept_array(module: str, name: str, compute: Callable[[], NDArray[Any]]) -> NDArray[Any]:
    """What follows from a module's sources alone, kept in a file of that name beside its compiled code.

    Computed by the first process that asks for it, and anew after any change of the sources. Where nothing can be
    written it stays in memory. module: its `__file__`.
    """
    folder = cache_folder(Path(module))
    if folder is None:
        return compute()
    with contextlib.suppress(OSError, *_DAMAGE):
        return npy.open_memmap(folder / name, mode="r")
    array, content = compute(), BytesIO()
    npy.write_array(content, array, allow_pickle=False)
    with contextlib.suppress(RunError):
        write_atomic(folder / name, content.getbuffer())
    return array
