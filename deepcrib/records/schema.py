"""Version 1 of the record of a game: between lines of JSON and events. `docs/game_records.md` is its description."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deepcrib.errors import UserError
from deepcrib.files.trust import FromFile
from deepcrib.game.cards import CardError, format_cards, parse_cards
from deepcrib.game.engine import DEALING
from deepcrib.game.rules import MAX_PLAYERS, MAX_SCORE
from deepcrib.records.events import Event

FORMAT = "deepcrib.game"
VERSION = 1
KINDS_OF_PLAYER = ("human", "agent")
MAX_NUMBER = 2**63 - 1  # of seed and game, which chance is worked out from
LONGEST_CARDS = 1000  # characters, far more than a deck's
_HEADER = ("format", "version", "players", "rules", "seed", "game", "started", "package")


class RecordError(UserError):
    """A file of games that cannot be read or written, or a game that the rules do not allow."""


@dataclass(frozen=True)
class Player:
    """Who sat at a seat. kind: human or agent. spec: that of an agent, as `make_agent` takes it."""

    name: str
    kind: str = "human"
    spec: Any = None


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


# --- writing ------------------------------------------------------------------------------------------------


def header_line(record: GameRecord) -> str:
    """The first line of a game."""
    players = [{"name": p.name, "kind": p.kind} | ({} if p.spec is None else {"spec": p.spec}) for p in record.players]
    optional = {name: getattr(record, name) for name in ("seed", "game", "started", "package")}
    content = {"event": "game", "format": FORMAT, "version": VERSION, "players": players, "rules": record.rules}
    return json.dumps(content | {name: value for name, value in optional.items() if value not in (None, "")})


def event_line(event: Event) -> str:
    """The line of an event."""
    content = {name: write(getattr(event, field)) for name, (field, write, _) in _FIELDS[event.kind].items()}
    return json.dumps({"event": event.kind} | {name: value for name, value in content.items() if value != ""})


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
    version = content.get("version")
    if type(version) is not int or version != VERSION:
        raise RecordError(f"version={_shortened(version)}: expected {VERSION}, the one that this deepcrib reads")
    _only("game", content, _HEADER)
    players = content.get("players")
    if not isinstance(players, list) or not 2 <= len(players) <= MAX_PLAYERS:
        raise RecordError(f"players={_shortened(players)}: expected a list of 2 to {MAX_PLAYERS}")
    rules = content.get("rules")
    if rules not in DEALING:
        raise RecordError(f"rules={_shortened(rules)}: expected one of {', '.join(DEALING)}")
    numbers = {name: _optional_whole(name, content.get(name)) for name in ("seed", "game")}
    texts = {name: _text(name, content.get(name, "")) for name in ("started", "package")}
    return GameRecord(tuple(map(_player, players)), rules, **numbers, **texts)  # type: ignore[arg-type]


def parse_event(content: Mapping[str, Any], num_players: int) -> Event:
    """An event of a game. Raises RecordError."""
    kind = content["event"]
    if kind not in _FIELDS:
        raise RecordError(f"event {_shortened(kind)}: expected one of game, {', '.join(_FIELDS)}")
    fields = _FIELDS[kind]
    _only(kind, content, fields)
    values: dict[str, Any] = {}
    for name, (field, _, read) in fields.items():
        if name not in content and not (kind == "deal" and name == "crib_card"):
            raise RecordError(f"{kind} without {name}: expected {', '.join(fields)}")
        try:
            values[field] = read(content.get(name, ""), num_players)
        except (CardError, ValueError) as error:
            raise RecordError(f"{kind}, {name}={_shortened(content.get(name))}: {error}") from error
    return Event(kind, **values)


def _player(content: Any) -> Player:
    if not isinstance(content, dict) or not isinstance(content.get("name"), str):
        raise RecordError(f"player {_shortened(content)}: expected an object with a name")
    if not content["name"].isprintable():  # it would be printed on terminals, which obey some characters
        raise RecordError(f"name={_shortened(content['name'])}: expected characters that can be printed")
    if content.get("kind") not in KINDS_OF_PLAYER:
        kind, name = _shortened(content.get("kind")), _shortened(content["name"])
        raise RecordError(f"kind={kind} of player {name}: expected human or agent")
    _only("player", content, ("name", "kind", "spec"))
    return Player(content["name"], content["kind"], content.get("spec"))


def _optional_whole(name: str, value: Any) -> int | None:
    if value is None:
        return None
    try:
        number = _whole(value, 0)
    except ValueError as error:
        raise RecordError(f"{name}={_shortened(value)}: {error}") from error
    if number > MAX_NUMBER:
        raise RecordError(f"{name}={_shortened(value)}: expected at most 2^63 - 1")
    return number


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise RecordError(f"{name}={_shortened(value)}: expected a text")
    return value


def _only(kind: str, content: Mapping[str, Any], names: Collection[str]) -> None:
    """Refuse keys that a kind of line does not have."""
    for name in content:
        if name not in names and name != "event":
            raise RecordError(f"{kind} has no {_shortened(name)}: expected {', '.join(names)}")


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


# --- fields -------------------------------------------------------------------------------------------------


def _is_whole(value: Any, most: float) -> bool:
    return type(value) is int and 0 <= value <= most


def _whole(value: Any, _: int) -> Any:
    if not _is_whole(value, math.inf):
        raise ValueError("expected a whole number, 0 or more")
    return value


def _seat(value: Any, num_players: int) -> Any:
    if not _is_whole(value, num_players - 1):
        raise ValueError(f"expected a seat 0..{num_players - 1}")
    return value


def _some_cards(value: Any, _: int) -> tuple[int, ...]:
    if not isinstance(value, str):
        raise ValueError("expected cards as text, such as 5H JD")
    if len(value) > LONGEST_CARDS:
        raise ValueError("expected no more cards than there are")
    return tuple(sorted(parse_cards(value)))


def _one_card(value: Any, num_players: int) -> tuple[int, ...]:
    cards = _some_cards(value, num_players)
    if len(cards) != 1:
        raise ValueError("expected one card, such as 5H")
    return cards


def _crib_card(value: Any, num_players: int) -> tuple[int, ...]:
    if num_players == 3:
        return _one_card(value, num_players)
    if value != "":
        raise ValueError("expected none but with three players")
    return ()


def _hands(value: Any, num_players: int) -> tuple[tuple[int, ...], ...]:
    if not isinstance(value, list) or len(value) != num_players:
        raise ValueError(f"expected a list of {num_players} hands")
    return tuple(_some_cards(hand, num_players) for hand in value)


def _scores(value: Any, num_players: int) -> tuple[int, ...]:
    scores = value if isinstance(value, list) else []
    if len(scores) != num_players or not all(_is_whole(score, MAX_SCORE) for score in scores):
        raise ValueError(f"expected {num_players} scores from 0 to {MAX_SCORE}")
    return tuple(scores)


def _same(value: Any) -> Any:
    return value


_Field = tuple[str, Callable[[Any], Any], Callable[[Any, int], Any]]
_SEAT: _Field = ("seat", _same, _seat)
_POINTS: _Field = ("points", _same, _whole)
_CARDS: _Field = ("cards", format_cards, _some_cards)
_CARD: _Field = ("cards", format_cards, _one_card)

# Of every kind: name in the file -> (field of Event, to JSON, from JSON).
_FIELDS: dict[str, dict[str, _Field]] = {
    "deal": {
        "hand": ("hand", _same, _whole),
        "dealer": _SEAT,
        "cards": ("hands", lambda hands: list(map(format_cards, hands)), _hands),
        "crib_card": ("cards", format_cards, _crib_card),
    },
    "discard": {"seat": _SEAT, "cards": _CARDS},
    "starter": {"dealer": _SEAT, "card": _CARD, "points": _POINTS},
    "play": {"seat": _SEAT, "card": _CARD, "points": _POINTS},
    "hand": {"seat": _SEAT, "cards": _CARDS, "points": _POINTS},
    "crib": {"dealer": _SEAT, "cards": _CARDS, "points": _POINTS},
    "hint": {"seat": _SEAT},
    "end": {"winner": _SEAT, "scores": ("scores", list, _scores)},
}
