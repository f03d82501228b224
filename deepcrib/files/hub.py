"""Weights on the Hugging Face Hub: `hf:OWNER/NAME`, and `hf:OWNER/NAME@REVISION`, wherever a path of weights is taken.

Of a repository the weights are fetched, and those that may lie beside them, and nothing else: they are read as any
file's from a stranger is. Only a person names one: what a file names is looked for beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from deepcrib.errors import FailureError, MissingExtraError, OptionError

HUB = "hf:"
WANTED = ["weights.safetensors", *(f"{depth * 'agents/'}{16 * '[0-9a-f]'}.safetensors" for depth in (1, 2))]
"""Patterns of the files that make an agent: `agents.specs.travel.kept_spec` gives those beside weights their names."""


@cache
def fetched(place: str) -> Path:
    """The folder with the weights of `hf:OWNER/NAME`, as they now are. Raises OptionError, FailureError."""
    if not re.fullmatch(r"hf:\w[\w.-]*/\w[\w.-]*(@\w[\w.-]*)?", place):
        raise OptionError(f"{place}: expected hf:OWNER/NAME or hf:OWNER/NAME@REVISION")
    name, _, revision = place.removeprefix(HUB).partition("@")
    with reaching(place) as hub:
        from huggingface_hub import constants

        folder = Path(constants.HF_HOME) / "deepcrib" / place.removeprefix(HUB)  # files, not links to a cache
        hub.snapshot_download(name, revision=revision or None, local_dir=folder, allow_patterns=WANTED)
    return folder


@contextmanager
def reaching(place: str) -> Iterator[Any]:
    """The module `huggingface_hub`, whose errors end in one line."""
    try:
        import huggingface_hub
    except ImportError:
        raise MissingExtraError(place, "huggingface-hub", "hub") from None
    try:
        yield huggingface_hub
    except Exception as error:  # of its own, of httpx and of the system
        kind = OptionError if isinstance(error, ValueError) else FailureError
        raise kind(f"{place}: {' '.join(str(error).split())[:300] or type(error).__name__}") from error
