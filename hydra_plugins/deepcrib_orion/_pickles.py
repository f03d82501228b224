"""Orion's database of one file, and the states of its algorithms, read as data: both are pickles.

So is what a study in it says of itself: Orion evaluates priors, and opens other databases that an experiment names.
"""

from __future__ import annotations

import io
import pickle
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from orion.core.io.database.ephemeraldb import EphemeralDB
from orion.core.io.database.pickleddb import PickledDB
from orion.core.io.space_builder import SpaceBuilder

from deepcrib.files.trust import is_trusting

_DATA = {
    "builtins": {"set", "frozenset"},
    "collections": {"OrderedDict", "defaultdict"},
    "datetime": {"datetime", "timedelta"},
    "orion.core.io.database.ephemeraldb": {"EphemeralDB", "EphemeralCollection", "EphemeralDocument"},
    "orion.core.worker.trial": {"Trial", "Trial.Param", "Trial.Result"},
    "orion.core.utils.tree": {"TreeNode"},
    "orion.algo.hyperband.hyperband": {"BudgetTuple"},
    "orion.algo.pbt.pbt": {"Lineages", "LineageNode"},
}
"""By module, what databases of Orion's own algorithms consist of beside arrays: data. Anything else may be code."""
_METADATA = {"deepcrib", "user", "orion_version", "datetime"}
_EXPERIMENT = {"_id", "name", "version", "max_trials", "max_broken", "working_dir", "knowledge_base"}
"""What a study of ours consists of beside its space, algorithm, metadata and what it refers to."""
_PLAIN = re.compile(r"[iuf][1248]|b1|[SU]\d{1,6}")
"""Types of arrays without pointers: an object or a record that a pickle describes is any address in memory."""


class _Type:
    """A NumPy type as a pickle describes it, of numbers or text alone."""

    def __init__(self, code: str, *_: object) -> None:
        if not (isinstance(code, str) and _PLAIN.fullmatch(code)):
            raise pickle.UnpicklingError(f"it holds an array of {code!r:.40}, expected numbers or text")
        self.dtype = np.dtype(code)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        """Of version, byte order, fields and sizes, the byte order; sizes are those of the code."""
        if state[1] in ("<", ">"):
            self.dtype = self.dtype.newbyteorder(state[1])


class _Array(np.ndarray):
    """An array that is filled with bytes of a plain type. It is pickled as any other."""

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        version, shape, kind, fortran, data = state
        if not (isinstance(kind, _Type) and isinstance(data, bytes)):
            raise pickle.UnpicklingError("it holds an array of something else than bytes")
        super().__setstate__((version, shape, kind.dtype, fortran, data))

    def __reduce__(self) -> Any:
        return self.view(np.ndarray).__reduce__()


def _empty_array(*_: object) -> _Array:
    return _Array((0,), np.int8)


def _scalar(kind: _Type, data: bytes) -> Any:
    (value,) = np.frombuffer(data, kind.dtype)
    return value


_NAMED = {("numpy", "dtype"): _Type, ("numpy", "ndarray"): "ndarray"}
"""What stands for NumPy's own names, which make anything of bytes."""
_NAMED |= {(f"numpy.{core}.multiarray", "_reconstruct"): _empty_array for core in ("core", "_core")}
_NAMED |= {(f"numpy.{core}.multiarray", "scalar"): _scalar for core in ("core", "_core")}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """What a pickle names. Raises UnpicklingError for what is no data."""
        if (module, name) in _NAMED:
            return _NAMED[module, name]
        if name in _DATA.get(module, ()):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"it names {module}.{name}, expected data of Orion's own (trust=true reads it)")


def read_pickle(content: bytes) -> Any:
    """What a pickle of Orion's holds. Raises UnpicklingError for one that is no data, where files are not trusted."""
    if is_trusting():
        return pickle.loads(content)
    try:
        return _Unpickler(io.BytesIO(content)).load()
    except (pickle.UnpicklingError, EOFError, MemoryError):
        raise
    except Exception as error:  # of whatever kind: the pickle is not as Orion writes it
        raise pickle.UnpicklingError(f"it is damaged ({type(error).__name__}: {error!s:.80})") from error


class DataPickledDB(PickledDB):
    """Orion's database of one file, which may come from anybody. Its type is `datapickleddb`."""

    def _get_database(self) -> Any:
        path = Path(self.host)
        content = path.read_bytes() if path.exists() else b""
        return read_pickle(content) if content else EphemeralDB()


def require_plain_study(document: Mapping[str, Any], algorithm: str, space: Mapping[str, str]) -> None:
    """Refuse an experiment that says else than a study of ours, of an algorithm over a space of priors, does.

    Raises UnpicklingError with the part, or what a document of another form makes fail.
    """
    if is_trusting():
        return
    metadata, refers = document["metadata"], document["refers"]
    parts = {
        "space": document["space"] == SpaceBuilder().build(dict(space)).configuration,
        "algorithm": [name.lower() for name in document["algorithm"]] == [algorithm.lower()],
        "refers": refers["parent_id"] is None and refers["adapter"] == [],
        "metadata": set(metadata) <= _METADATA,
        "knowledge_base": document.get("knowledge_base") is None,
    }
    parts = {str(name): name in _EXPERIMENT for name in document} | parts
    for part, fits in parts.items():
        if not fits:
            what = f"it holds a study with a {part} that deepcrib does not write"
            raise pickle.UnpicklingError(f"{what} (trust=true reads it)")
