"""Version 1 of the record of a game: between lines of JSON and events. `docs/game_records.md` is its description."""

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Union

from msgspec import Meta, Struct, defstruct, structs, to_builtins
from msgspec.json import Decoder

from deepcrib.errors import UserError
from deepcrib.files.trust import FromFile
from deepcrib.game.cards import format_cards, parse_cards
from deepcrib.game.rules import MAX_PLAYERS, MAX_SCORE
from deepcrib.records.events import Event

FORMAT = "deepcrib.game"
VERSION = 1
_Whole = Annotated[int, Meta(ge=0, le=2**63 - 1)]  # chance is worked out from seed and game, in 64 bits


class RecordError(UserError):
    """A file of games that cannot be read or written, or a game that the rules do not allow."""


class Player(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Who sat at a seat. kind: human or agent. spec: that of an agent, as `make_agent` takes it."""

    name: str
    kind: Literal["human", "agent"]
    spec: Any = None

    def __post_init__(self) -> None:
        """Raises ValueError on a name with characters that a terminal would obey."""
        if not self.name.isprintable():
            raise ValueError("expected a name of characters that can be printed")


class _Header(Struct, forbid_unknown_fields=True, tag_field="event", tag="game"):
    """The first line of a game, as it is read."""

    format: Literal["deepcrib.game"]
    version: Literal[1]
    players: Annotated[tuple[Player, ...], Meta(min_length=2, max_length=MAX_PLAYERS)]
    rules: Literal["acc", "random_dealer"]
    seed: _Whole | None = None
    game: _Whole | None = None
    started: str = ""
    package: str = ""


@dataclass(frozen=True)
class GameRecord:
    """A game: its header and its events in order.

    players: by seat. rules: how the dealer is chosen, acc or random_dealer. seed, game: what the deals follow from,
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

    @property
    def hands(self) -> list[tuple[Event, ...]]:
        """The events of each hand, its deal first."""
        deals = [number for number, event in enumerate(self.events) if event.kind == "deal"]
        return [self.events[low:high] for low, high in pairwise([*deals, len(self.events)])]

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
    content = {"event": "game", "format": FORMAT, "version": VERSION, "players": to_builtins(record.players)}
    optional = {name: getattr(record, name) for name in ("seed", "game", "started", "package")}
    known = {name: value for name, value in optional.items() if value not in (None, "")}
    return json.dumps(content | {"rules": record.rules} | known)


def event_line(event: Event) -> str:
    """The line of an event."""
    content: dict[str, Any] = {"event": event.kind}
    for field, key in _KEYS[event.kind].items():
        value = getattr(event, field)
        if field == "hands":
            value = [format_cards(hand) for hand in value]
        elif field == "cards":
            value = format_cards(value)
        if value != "":  # no card of the deck for the crib
            content[key] = value
    return json.dumps(content)


# --- reading ------------------------------------------------------------------------------------------------


def parse_line(text: bytes, num_players: int) -> GameRecord | Event:
    """The header of a game, or an event of one of so many players. Raises RecordError."""
    try:
        line = _decoder(num_players).decode(text)
    except (ValueError, RecursionError) as error:
        problem = "nested too deep" if isinstance(error, RecursionError) else f"{error}{_value_there(text, error)}"
        printable = "".join(character if character.isprintable() else "?" for character in problem)
        raise RecordError(f"no line of a game record: {printable[:200]}") from error
    said = structs.asdict(line)
    if isinstance(line, _Header):
        return GameRecord(**{name: value for name, value in said.items() if name not in ("format", "version")})
    return Event(str(line.__struct_config__.tag), **said)


def _value_there(text: bytes, error: ValueError) -> str:
    """The value at the place that msgspec names, as words of its error."""
    place = re.search(r"at `\$((?:\.\w+|\[\d+\])+)`$", str(error))
    if place is None:
        return ""
    with suppress(ValueError, LookupError, RecursionError):  # of numbers too long, or what only msgspec reads
        value = json.loads(text)
        for key, index in re.findall(r"\.(\w+)|\[(\d+)\]", place[1]):
            value = value[key or int(index)]
        return f", which is {value!r:.60}"
    return ""


class _Cards(tuple[int, ...]):
    """Card ids, sorted; a text in the file."""


class _Card(_Cards):
    """One of them."""


@cache
def _decoder(players: int) -> Decoder[Any]:
    """Reads the lines of a game of so many: headers, and of every kind of event what it may say, by fields of Event."""
    each = Meta(min_length=players, max_length=players)
    types: dict[str, Any] = {
        "hand": _Whole,
        "points": _Whole,
        "seat": Annotated[int, Meta(ge=0, lt=players)],
        "hands": Annotated[tuple[_Cards, ...], each],
        "scores": Annotated[tuple[Annotated[int, Meta(ge=0, le=MAX_SCORE)], ...], each],
    }
    kinds: list[type[Struct]] = [_Header]
    for kind, names in _KEYS.items():
        keys = {field: key for field, key in names.items() if key != "crib_card" or players == 3}
        fields = [(field, types.get(field, _Cards if key == "cards" else _Card)) for field, key in keys.items()]
        kinds.append(defstruct(kind, fields, rename=keys, tag_field="event", tag=kind, forbid_unknown_fields=True))
    return Decoder(Union[tuple(kinds)], dec_hook=_from_text)  # noqa: UP007 - of types that are made here


def _from_text(type_: type[_Cards], value: Any) -> _Cards:
    """Cards from their text. Raises ValueError, to which msgspec adds the place."""
    if not isinstance(value, str):
        raise ValueError("expected cards as text, such as 5H JD")
    cards = type_(sorted(parse_cards(value)))
    if type_ is _Card and len(cards) != 1:
        raise ValueError("expected one card, such as 5H")
    return cards
