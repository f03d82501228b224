"""Arrays kept beside the compiled code."""

from pathlib import Path

import numpy as np
import pytest

from deepcrib.exact import kept
from deepcrib.exact.kept import kept_array


def test_an_array_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And again when what was kept is damaged; where nothing can be kept, it is made all the same."""
    made: list[int] = []

    def compute() -> np.ndarray:
        made.append(1)
        return np.arange(12.0).reshape(3, 4)

    def found() -> list[list[float]]:
        array: list[list[float]] = kept_array(__file__, "array.npy", compute).tolist()
        return array

    expected = [[0.0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    monkeypatch.setattr(kept, "cache_folder", lambda path: tmp_path)
    assert found() == found() == expected and len(made) == 1
    path = tmp_path / "array.npy"
    path.write_bytes(path.read_bytes()[:-1])
    assert found() == found() == expected and len(made) == 2
    monkeypatch.setattr(kept, "cache_folder", lambda path: None)
    assert found() == expected and len(made) == 3
