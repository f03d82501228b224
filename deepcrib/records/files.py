"""Files of games: written line by line while a game goes on, read whole."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from deepcrib.errors import RunError
from deepcrib.files import writing
from deepcrib.records.events import Event
from deepcrib.records.schema import FORMAT, GameRecord, RecordError, event_line, header_line, parse_line

_BEGINNING = f'{{"event": "game", "format": "{FORMAT}"'.encode()  # of `header_line`


class GameWriter:
    """Appends games to a file, an event a line, each on the disk before the game goes on.

    A file that is interrupted holds everything but, at most, the end of its last line, which `read_games` leaves out
    and the next writer removes. Raises RunError where the file cannot be written, or holds something else.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        with writing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            _drop_half_line(self.path)

    def begin(self, record: GameRecord) -> None:
        """The header of a game, and the events that it has already."""
        self._append([header_line(record), *map(event_line, record.events)])

    def add(self, events: Iterable[Event]) -> None:
        """Further events of the game that was begun last."""
        self._append(list(map(event_line, events)))

    def _append(self, lines: list[str]) -> None:
        if not lines:
            return
        with writing(self.path), open(self.path, "ab") as file:
            file.write("".join(f"{line}\n" for line in lines).encode())
            file.flush()
            os.fsync(file.fileno())


def _drop_half_line(path: Path) -> None:
    """Cut a file that does not end with a line's end back to the last one that there is.

    A file that neither is empty nor begins with a game, or with a part of its header, is left alone.
    """
    if path.is_file():
        content = path.read_bytes()
        if not (content.strip().startswith(_BEGINNING) or _BEGINNING.startswith(content.lstrip())):
            raise RunError(f"cannot write {path}: it holds something else than games")
        if content and not content.endswith(b"\n"):
            os.truncate(path, content.rfind(b"\n") + 1)


def read_games(path: Path | str) -> list[GameRecord]:
    """The games of a file, unfinished ones included. Raises RecordError, which names file, line and value.

    What the lines say is checked, not yet whether the rules allow it: see `replay`.
    """
    path = Path(path)
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror}") from error
    rest = lines.pop()  # what follows the last line's end: nothing, or the half line of an interrupted game
    games: list[tuple[GameRecord, list[Event]]] = []
    for number, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        try:
            line = parse_line(text, len(games[-1][0].players) if games else 2)
            if not games and not isinstance(line, GameRecord):
                raise RecordError('this is no game record: expected a first line with "event": "game"')
        except RecordError as error:
            raise RecordError(f"{path}, line {number}: {error}") from error
        if isinstance(line, GameRecord):
            games.append((replace(line, file=path, line=number), []))
        else:
            games[-1][1].append(replace(line, line=number))
    if not games:
        raise RecordError(f"{path}: no games" + (f" but the half line {rest[:40]!r}" if rest.strip() else ""))
    return [replace(header, events=tuple(events)) for header, events in games]


def find_files(places: Iterable[Path | str]) -> list[Path]:
    """Files of games: those named, and all *.jsonl below folders that are, by name; each once. Raises RecordError."""
    found: dict[Path, Path] = {}
    for place in map(Path, places):
        inside = sorted(filter(Path.is_file, place.rglob("*.jsonl"))) if place.is_dir() else [place]
        if not inside:
            raise RecordError(f"{place}: no games: expected files *.jsonl in this folder, or below it")
        for path in inside:
            found.setdefault(path.resolve(), path)
    return list(found.values())
