"""What is kept is known by the code that it follows from."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from deepcrib.game import rules
from deepcrib.kernels import cache, sources


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package whose module `top` imports `near`, which imports `far`, and names `late` to be imported when asked."""
    folder = tmp_path / "deepcrib"
    folder.mkdir()
    files = {
        "__init__": "",
        "top": '"""Top."""\nfrom deepcrib.near import x\nPLACE = "deepcrib.late:make"\n',
        "near": "from deepcrib import far\n\ndef x():\n    '''X.'''\n    return far.y\n",
        "far": "y = 1\n",
        "late": "def make():\n    return 1\n",
        "other": "z = 1\n",
    }
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def hash_of(package: Path) -> str:
    caches: tuple[Any, ...] = (sources.source_hash, sources._text, sources._file_hash, sources._imported_files)
    for cached in caches:
        cached.cache_clear()
    return sources.source_hash(package / "top.py", package)


@pytest.mark.parametrize("name", ["top", "near", "far", "late", "__init__"])
def test_an_edit_of_what_is_imported_changes_the_hash(package: Path, name: str) -> None:
    before = hash_of(package)
    with open(package / f"{name}.py", "a") as file:
        file.write("w = 2\n")
    assert hash_of(package) != before


def test_other_files_do_not(package: Path) -> None:
    before = hash_of(package)
    with open(package / "other.py", "a") as file:
        file.write("w = 2\n")
    assert hash_of(package) == before


def test_the_place_of_the_package_does_not(package: Path) -> None:
    """Two clones share what is kept."""
    moved = package.parent / "elsewhere" / package.name
    shutil.copytree(package, moved)
    assert hash_of(package) == hash_of(moved)


def test_a_folder_of_its_own_for_every_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "cache_root", lambda: tmp_path)
    folder = cache.cache_folder.__wrapped__(Path(rules.__file__))
    assert folder is not None
    assert folder.parent == tmp_path and folder.name.startswith("game.rules-")
    monkeypatch.setattr(cache, "cache_root", lambda: None)
    assert cache.cache_folder.__wrapped__(Path(rules.__file__)) is None


def test_oldest_versions_of_the_same_module_are_removed(tmp_path: Path) -> None:
    for age in range(5):
        for module in ("rules", "engine.rules"):
            folder = tmp_path / f"{module}-{age}"
            folder.mkdir()
            os.utime(folder, (1000 - age, 1000 - age))
    cache.remove_old_folders(tmp_path, "rules", kept=2)
    left = {folder.name for folder in tmp_path.iterdir()}
    assert left == {"rules-0", "rules-1"} | {f"engine.rules-{age}" for age in range(5)}
