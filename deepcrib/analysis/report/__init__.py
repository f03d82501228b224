"""Pages of `deepcrib report`, and where they may be written; that of runs is made of what lies in run folders."""

from __future__ import annotations

from pathlib import Path

from deepcrib.errors import OptionError
from deepcrib.files import write_atomic, writing

MARK = "<!-- a page of `deepcrib report`: it may be written anew -->"
"""First line of a page, by which it is known."""


def write_page(path: Path, text: str) -> None:
    """Write a page below its mark, in a folder that is made if there is none. Raises RunError."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, f"{MARK}\n{text}")


def check_page_path(path: Path, suffix: str, overwrite: bool) -> None:
    """Raise OptionError for a page that could not be written there, or would take the place of something else."""
    if path.suffix != suffix:
        raise OptionError(f"path={path}: expected a file name that ends in {suffix}")
    if path.is_dir():
        raise OptionError(f"path={path}: expected a file, not a folder")
    for folder in (*([path.with_suffix("")] if suffix == ".md" else []), *path.absolute().parents):
        if folder.exists() and not folder.is_dir():
            raise OptionError(f"path={path}: {folder} would be a folder, but a file is there")
    if path.exists() and not overwrite and not path.read_bytes().startswith(MARK.encode()):
        raise OptionError(f"path={path}: there is a file, not written by deepcrib report: overwrite=true replaces it")
