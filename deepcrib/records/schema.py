"""Version 1 of the record of a game: between lines of JSON and events. `docs/game_records.md` is its description."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeVar

from msgspec import Meta, Struct, ValidationError, convert, defstruct, to_builtins

from deepcrib.errors import UserError
from deepcrib.files.trust import FromFile
from deepcrib.game.cards import CardError, format_cards, parse_cards
from deepcrib.game.engine import DEALING
from deepcrib.game.rules import MAX_PLAYERS, MAX_SCORE
from deepcrib.records.events import Event

FORMAT = "deepcrib.game"
VERSION = 1
KINDS_OF_PLAYER = ("human", "agent")
LONGEST_CARDS = 1000  # characters, far more than a deck's
LONGEST_PROBLEM = 200  # characters of an error, which may name a key of the file
_T = TypeVar("_T")
_Whole = Annotated[int, Meta(ge=0, le=2**63 - 1)]  # chance is worked out from seed and game, in 64 bits


class RecordError(UserError):
    """A file of games that cannot be read or written, or a game that the rules do not allow."""


class Player(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Who sat at a seat. kind: human or agent. spec: that of an agent, as `make_agent` takes it."""

    name: str
    kind: str
    spec: Any = None

    def __post_init__(self) -> None:
        """Raises ValueError on a name with characters that a terminal would obey, and another kind."""
        if not self.name.isprintable():
            raise ValueError(f"name={_shortened(self.name)}: expected characters that can be printed")
        if self.kind not in KINDS_OF_PLAYER:
            raise ValueError(f"kind={_shortened(self.kind)}: expected {' or '.join(KINDS_OF_PLAYER)}")


class _Header(Struct, forbid_unknown_fields=True):
    """The first line of a game, as it is read."""

    event: str
    format: str
    version: Annotated[int, Meta(ge=VERSION, le=VERSION)]
    players: Annotated[tuple[Player, ...], Meta(min_length=2, max_length=MAX_PLAYERS)]
    rules: str
    seed: _Whole | None = None
    game: _Whole | None = None
    started: str = ""
    package: str = ""

    def __post_init__(self) -> None:
        if self.rules not in DEALING:
            raise ValueError(f"rules={_shortened(self.rules)}: expected one of {', '.join(DEALING)}")


@dataclass(frozen=True)
class GameRecord:
    """A game: its header and its events in order.

    players: by seat. rules: how the dealer is chosen, one of `engine.DEALING`. seed, game: what the deals follow from,
    if known. started: ISO 8601 time. package: the version of deepcrib that wrote it. file, line: where it was read; no
    file for a game that is played here.
    """

    players: tuple[Player, ...]
    rules: str = "acc"
    seed: int | None = None
    game: int | None = None
    started: str = ""
    package: str = ""
    events: tuple[Event, ...] = ()
    file: Path | None = None
    line: int = 0

    @property
    def source(self) -> str:
        """File and line, as errors name them."""
        return f"{self.file}, line {self.line}" if self.file else ""

    def spec_of(self, seat: int) -> Any:
        """Who sat at a seat, as `make_agent` takes it: of a game that was read, what its file says."""
        spec = self.players[seat].spec
        return spec if self.file is None else FromFile(spec, self.file, f"player {self.players[seat].name}")

    @property
    def winner(self) -> int:
        """Seat of the winner, -1 in an unfinished game."""
        last = next((event for event in reversed(self.events) if event.kind != "hint"), None)
        return last.seat if last is not None and last.kind == "end" else -1

    @property
    def finished(self) -> bool:
        """Whether somebody won."""
        return self.winner >= 0

    @property
    def humans(self) -> list[int]:
        """Seats of people."""
        return [seat for seat, player in enumerate(self.players) if player.kind == "human"]

    def hints(self, seat: int) -> int:
        """How often a seat was shown a hint."""
        return sum(event.kind == "hint" and event.seat == seat for event in self.events)


# Of every kind of event: field of Event -> key in the file.
_KEYS = {
    "deal": {"hand": "hand", "seat": "dealer", "hands": "cards", "cards": "crib_card"},
    "discard": {"seat": "seat", "cards": "cards"},
    "starter": {"seat": "dealer", "cards": "card", "points": "points"},
    "play": {"seat": "seat", "cards": "card", "points": "points"},
    "hand": {"seat": "seat", "cards": "cards", "points": "points"},
    "crib": {"seat": "dealer", "cards": "cards", "points": "points"},
    "hint": {"seat": "seat"},
    "end": {"seat": "winner", "scores": "scores"},
}


# --- writing ------------------------------------------------------------------------------------------------


def header_line(record: GameRecord) -> str:
    """The first line of a game."""
    optional = {name: getattr(record, name) for name in ("seed", "game", "started", "package")}
    content = {"event": "game", "format": FORMAT, "version": VERSION, "players": to_builtins(record.players)}
    known = {name: value for name, value in optional.items() if value not in (None, "")}
    return json.dumps(content | {"rules": record.rules} | known)


def event_line(event: Event) -> str:
    """The line of an event."""
    content = {key: _written(field, getattr(event, field)) for field, key in _KEYS[event.kind].items()}
    return json.dumps({"event": event.kind} | {key: value for key, value in content.items() if value != ""})


def _written(field: str, value: Any) -> Any:
    if field == "hands":
        return list(map(format_cards, value))
    return format_cards(value) if field == "cards" else value


# --- reading ------------------------------------------------------------------------------------------------


def parse_line(text: str) -> dict[str, Any]:
    """The object in a line of a record. Raises RecordError."""
    try:
        content = json.loads(text, object_pairs_hook=_once_each, parse_constant=_no_number)
    except RecordError:
        raise
    except (ValueError, RecursionError) as error:  # a ValueError also for a number of thousands of digits
        raise RecordError(f"{_shortened(text)} is no JSON, expected a line of a game record") from error
    if not isinstance(content, dict) or not isinstance(content.get("event"), str):
        raise RecordError(f"{_shortened(text)} is no event, expected an object with the key event")
    return content


def parse_header(content: Mapping[str, Any]) -> GameRecord:
    """The header of a game. Raises RecordError."""
    if content.get("event") != "game" or content.get("format") != FORMAT:
        raise RecordError(f'this is no game record: expected a first line with "event": "game", "format": "{FORMAT}"')
    header = _converted("game", content, _Header)
    return GameRecord(header.players, header.rules, header.seed, header.game, header.started, header.package)


def parse_event(content: Mapping[str, Any], num_players: int) -> Event:
    """An event of a game. Raises RecordError."""
    kind = content["event"]
    if kind not in _KEYS:
        raise RecordError(f"event {_shortened(kind)}: expected one of game, {', '.join(_KEYS)}")
    values = {key: value for key, value in content.items() if key != "event"}
    line = _converted(kind, values, _line_type(kind, num_players))
    return Event(kind, **{field: getattr(line, field) for field in line.__struct_fields__})


class _Cards(tuple[int, ...]):
    """Card ids, sorted; a text in the file."""


class _Card(_Cards):
    """One of them."""


@cache
def _line_type(kind: str, players: int) -> type[Struct]:
    """What a kind of event may say in a game of so many: its fields are those of Event."""
    each = Meta(min_length=players, max_length=players)
    types: dict[str, Any] = {
        "hand": _Whole,
        "points": _Whole,
        "seat": Annotated[int, Meta(ge=0, lt=players)],
        "hands": Annotated[tuple[_Cards, ...], each],
        "scores": Annotated[tuple[Annotated[int, Meta(ge=0, le=MAX_SCORE)], ...], each],
    }
    keys = {field: key for field, key in _KEYS[kind].items() if key != "crib_card" or players == 3}
    fields = [(field, types.get(field, _Cards if key == "cards" else _Card)) for field, key in keys.items()]
    return defstruct(kind, fields, rename=keys, forbid_unknown_fields=True)


def _converted(kind: str, content: Mapping[str, Any], type_: type[_T]) -> _T:
    """The content of a line as its type. Raises RecordError, which names the key, its value and what was expected."""
    try:
        return convert(content, type_, dec_hook=_cards)
    except ValidationError as error:
        problem, _, path = str(error).partition(" - at `$")
        value: Any = content
        for key, index in re.findall(r"\.(\w+)|\[(\d+)\]", path):
            value = value[key] if key else value[int(index)]
        where = "" if value is content else f", {path.strip('.`')}={_shortened(value)}"
        keys = ", ".join(getattr(type_, "__struct_encode_fields__", ()))
        expected = f": expected {keys}" if "field `" in problem and value is content else ""
        raise RecordError(f"{kind}{where}: {_printable(problem.replace('`', ''))}{expected}") from error


def _cards(type_: type[_Cards], value: Any) -> _Cards:
    """Cards from their text. Raises ValueError, to which msgspec adds the place."""
    if not isinstance(value, str):
        raise ValueError("expected cards as text, such as 5H JD")
    if len(value) > LONGEST_CARDS:
        raise ValueError("expected no more cards than there are")
    try:
        cards = type_(sorted(parse_cards(value)))
    except CardError as error:
        raise ValueError(str(error)) from error
    if type_ is _Card and len(cards) != 1:
        raise ValueError("expected one card, such as 5H")
    return cards


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are all different; of two equal ones JSON would silently keep the last."""
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise RecordError(f"the key {_shortened(name)} stands twice")
    return dict(pairs)


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")  # NaN and Infinity, which Python reads


def _shortened(value: Any, length: int = 40) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return repr(text if len(text) <= length else f"{text[:length]}...")


def _printable(text: str) -> str:
    """A text without what a terminal would obey, and not too long."""
    return "".join(character if character.isprintable() else "?" for character in text)[:LONGEST_PROBLEM]
