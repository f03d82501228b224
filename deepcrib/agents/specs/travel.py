"""What is said of agents in files: which of it counts, and the files that weights need beside them.

A spec that a person wrote (on the command line, in Python, in a YAML of one's own) may name code and any file. One that
a file holds may be anybody's.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from deepcrib.agents.specs.registry import BUILDERS, LOADED, is_name
from deepcrib.files import write_atomic
from deepcrib.files.hub import HUB
from deepcrib.files.trust import FromFile, UntrustedError, is_trusting, lies_in, refused, trusting
from deepcrib.files.weights import CheckpointError, read_weights, weights_path
from deepcrib.plugins import is_place

KEPT = "agents"
"""Folder beside weights that holds those of the agents that they name."""
PATH, COMMAND, AGENT, OTHER = "path", "command", "agent", "other"
"""What a text in a spec is: a path, a program's command, an agent's name or path, or what only its agent knows."""
_NAMING = {
    "name",
    "initial",
    *(option for made in (BUILDERS, LOADED) for one in made.values() for option in one.agents),
}
"""Options of a mapping whose values are agents again, or may be."""


def spec_of_file(said: FromFile) -> Any:
    """What a file says of an agent, as a spec whose paths hold anywhere. The one place that decides what it may say.

    That is an agent of the package, and weights beside the file or below its folder, links followed. Code from outside,
    and files that lie elsewhere, are for a person to name: only where the reader trusts the file do they count, and
    what is not beside it is then looked for from the current folder. Raises UntrustedError, which names file and part.
    """

    def allowed(text: str, kind: str) -> str:
        if kind == AGENT and is_name(text):
            return text
        if kind == COMMAND or (kind != PATH and is_place(text)):
            if is_trusting(text):
                return text
            raise refused(said, f"{text}, which is code from outside of deepcrib")
        beside = said.file.parent / text
        if kind == OTHER or (kind == AGENT and not is_path(text) and not exists(beside)):
            return text
        if not text.startswith(HUB) and lies_in(said.file.parent, beside) and (exists(beside) or not is_trusting()):
            return str(beside.absolute())
        if is_trusting():
            return text
        raise refused(said, f"{text}, which does not lie beside it")

    try:
        return _each_text(said.spec, allowed)
    except RecursionError:
        raise refused(said, "an agent within an agent, too deeply") from None


def needs_trust(said: FromFile, read: Callable[[FromFile], Any] = spec_of_file) -> bool:
    """Whether a file that says so has to be trusted; read: what decides about it."""
    with trusting(False):
        try:
            read(said)
        except UntrustedError:
            return True
    return False


def _each_text(spec: Any, change: Callable[[str, str], str], kind: str = AGENT) -> Any:
    """A spec with every text in it changed, by what it is: PATH, COMMAND, AGENT or OTHER."""
    if isinstance(spec, Mapping):
        kinds = {PATH: PATH, COMMAND: COMMAND} | dict.fromkeys(_NAMING, AGENT)
        return {str(key): _each_text(value, change, kinds.get(str(key), OTHER)) for key, value in spec.items()}
    if isinstance(spec, list | tuple):
        return [_each_text(value, change, kind) for value in spec]
    return change(str(spec), kind) if isinstance(spec, str | os.PathLike) else spec


def kept_spec(spec: Any, folder: Path) -> Any:
    """A spec in plain JSON values, for a file in a folder: all weights that it names are copied there, into `agents/`.

    So what the folder holds needs nothing else, wherever it is moved. What can no longer be read is named by where it
    was. Raises RunError where nothing can be written.
    """

    def keep(text: str, kind: str) -> str:
        word = kind in (COMMAND, OTHER) or (kind == AGENT and (is_name(text) or is_place(text) or not is_path(text)))
        return text if word else _kept(Path(text), folder)

    return _each_text(spec, keep)


def _kept(path: Path, folder: Path) -> str:
    """Where a file of weights is kept in a folder, with those that it names; relative to the folder."""
    try:
        file = weights_path(path)
        content = file.read_bytes()
    except (CheckpointError, OSError):
        return str(path.absolute())
    kept = Path(KEPT) / f"{hashlib.sha256(content).hexdigest()[:16]}{file.suffix}"
    copy_weights(file, content, folder / kept)
    return str(kept)


def copy_weights(file: Path, content: bytes, target: Path) -> None:
    """Write a file of weights again, with those beside it that it names in the same places."""
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(target, content)

    def follow(text: str, kind: str) -> str:
        beside = file.parent / text
        if kind not in (COMMAND, OTHER) and not is_name(text) and beside.is_file() and lies_in(file.parent, beside):
            place = os.path.relpath(os.path.realpath(beside), os.path.realpath(file.parent))
            copy_weights(beside, beside.read_bytes(), target.parent / place)
        return text

    with suppress(CheckpointError):  # of another format, which names none
        if said := read_weights(file).discards_by:
            _each_text(said.spec, follow)


def is_path(text: str) -> bool:
    """Whether a text that is no name is meant as the path of a checkpoint."""
    return os.sep in text or text.endswith(".safetensors") or exists(text)


def exists(path: Path | str) -> bool:
    """Whether there is such a file or folder; no name that no file can have is an error."""
    try:
        return str(path) != "" and Path(path).exists()
    except OSError:  # longer than a file name can be
        return False
