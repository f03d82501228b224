"""What is wrong with a YAML file of the user's, in one line with its place."""

from __future__ import annotations

from pathlib import Path

from yaml import MarkedYAMLError, SafeLoader  # type: ignore[import-untyped]
from yaml.reader import ReaderError  # type: ignore[import-untyped]


def yaml_problem(error: BaseException, folder: str | None) -> str | None:
    """`FILE, line N: what`, of an error in reading one; None where no file is to blame.

    folder: where the user's lie, to find the one of an error that names none.
    """
    if isinstance(error, MarkedYAMLError) and error.problem_mark is not None:
        return f"{error.problem_mark.name}, line {error.problem_mark.line + 1}: {error.problem}"
    if isinstance(error, ReaderError):
        line = Path(error.name).read_bytes()[: error.position].count(10) + 1
        return f"{error.name}, line {line}: character {error.character:#04x} is not allowed"
    looks = {UnicodeDecodeError: _not_utf8, RecursionError: _endless}
    look = next((look for kind, look in looks.items() if isinstance(error, kind)), None)
    files = sorted(filter(Path.is_file, Path(folder).rglob("*.yaml"))) if folder and look else []
    return next((f"{file}, {problem}" for file in files if look and (problem := look(file.read_bytes()))), None)


def _not_utf8(content: bytes) -> str | None:
    try:
        content.decode()
    except UnicodeDecodeError as error:
        return f"line {content[: error.start].count(10) + 1}: expected UTF-8"
    return None


def _endless(content: bytes) -> str | None:
    """Whether a node is within itself, which can be read, but not merged."""
    try:
        loader = SafeLoader(content)
        loader.construct_object(loader.get_single_node(), deep=True)
    except MarkedYAMLError as error:
        mark = error.problem_mark
        return f"line {mark.line + 1}: it holds itself" if mark and "recursive" in str(error.problem) else None
    except RecursionError:
        return "nested too deeply"
    except Exception:  # an empty file, or wrong in another way than the one that is looked for
        pass
    return None
