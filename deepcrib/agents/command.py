"""An agent in any language: a program that a person names, asked in lines of JSON over its standard input and output.

`docs/tutorials/your_own_bot.md` is the protocol. A request is a line, with the observations of a batch in the words of
game records; the program answers every request with one line.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import signal
import time
import weakref
from collections import deque
from contextlib import suppress
from pathlib import Path
from subprocess import PIPE, Popen, TimeoutExpired
from threading import Lock, Thread, Timer
from typing import IO, Annotated, Any, Literal, TypeVar

import numpy as np
from msgspec import Meta, Struct
from msgspec.json import decode
from numpy.typing import NDArray

from deepcrib.agents.asking import FaultError
from deepcrib.agents.base import AgentError
from deepcrib.game.cards import NO_CARD, CardError, format_card, format_cards, parse_cards
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.rules import discard_slots

PROTOCOL = 1
"""The next one is for what a program that knows this one would misread; a new key is not, which it passes over."""
_LONGEST_LINE = 1 << 26  # bytes
_PATIENCE = 1.0  # seconds in which a program ends by itself when its input has ended
_Answer = TypeVar("_Answer", bound=Struct)


class _Hello(Struct):
    """The answer to the first request."""

    protocol: Literal[1]
    name: Annotated[str, Meta(pattern=r"^[\w .,:'()/+-]{1,40}\Z")] = ""
    players: Annotated[frozenset[Literal[2, 3, 4]], Meta(min_length=1)] = frozenset({2})
    deterministic: bool = False


class _Choices(Struct):
    """The answer to any other request: the cards chosen in each observation."""

    answers: list[str]


class CommandAgent:
    """A process that lives as long as the agent. It gets one request at a time, and is never started again.

    command: words as a shell splits them, which no shell sees. timeout: seconds that it may take over a request.
    Raises AgentError where it cannot be started, and FaultError.
    """

    def __init__(self, command: str, timeout: float = 60.0) -> None:
        words = command_words(command)
        self.name, self.timeout, self._lock = " ".join(words), timeout, Lock()
        try:
            self._process = Popen(words, stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise AgentError(f"agent command={command!r} cannot be started: {reason} (expected a program)") from error
        self._stderr: deque[bytes] = deque(maxlen=1)
        listener = Thread(target=_listen, args=(self._process.stderr, self._stderr), daemon=True)
        listener.start()
        self.close = weakref.finalize(self, _end, self._process, listener)  # at the latest when Python ends
        hello = self._ask("hello", {"protocol": PROTOCOL}, _Hello)
        self.name = hello.name or self.name
        self.num_players, self.deterministic = hello.players, hello.deterministic

    def discard(self, observation: DiscardObservation) -> NDArray[np.int8]:
        """[N] discard actions. Raises FaultError."""
        slots = discard_slots(observation.hand.shape[1])
        actions = {tuple(thrown): action for action, thrown in enumerate(slots.tolist())}
        chosen = self._choose("discard", observation, observation.hand, slots.shape[1])
        return np.array([actions[thrown] for thrown in chosen], dtype=np.int8)

    def play(self, observation: PlayObservation) -> NDArray[np.int8]:
        """[N] slots. Raises FaultError."""
        legal = np.where(observation.legal, observation.hand, np.int8(NO_CARD))
        return np.array([slot for (slot,) in self._choose("play", observation, legal, 1)], dtype=np.int8)

    def _choose(
        self, ask: str, seen: DiscardObservation | PlayObservation, allowed: NDArray[np.int8], number: int
    ) -> list[tuple[int, ...]]:
        """Of each observation the places of so many of its allowed cards [N, H], ascending."""
        answers = self._ask(ask, {"observations": seen_by(seen)}, _Choices).answers
        if len(answers) != len(allowed):
            raise self._fault(f"{ask} gave {len(answers)} answers, expected {len(allowed)}")
        chosen = []
        for answer, cards in zip(answers, allowed.tolist(), strict=True):
            try:
                found = parse_cards(answer)
            except CardError:
                found = []
            if len(found) != number or not set(found) <= set(cards) - {NO_CARD}:
                raise self._fault(
                    f"{ask} answered {answer!r:.60}, expected {number} of the cards {format_cards(cards)}"
                )
            chosen.append(tuple(sorted(map(cards.index, found))))
        return chosen

    def _ask(self, ask: str, more: dict[str, Any], kind: type[_Answer]) -> _Answer:
        line = self._exchange(ask, json.dumps({"ask": ask} | more).encode() + b"\n")
        try:
            return decode(line, type=kind)
        except (ValueError, RecursionError) as error:
            found, needed = line[:80].decode(errors="replace").strip(), kind.__struct_fields__[0]
            raise self._fault(f"{ask} answered {found!r}, expected JSON with {needed}: {error}") from error

    def _exchange(self, ask: str, request: bytes) -> bytes:
        """The line that answers a request. When time is up the process is killed, which ends the reading."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        with self._lock:
            if not self.close.alive:
                raise FaultError(self.name, "its process has ended, and is not started again")
            start, limit = time.monotonic(), Timer(self.timeout, _kill, [self._process])
            limit.start()
            try:
                with suppress(BrokenPipeError):  # then it has ended, and there is no answer
                    stdin.write(request)
                    stdin.flush()
                line = stdout.readline(_LONGEST_LINE)
            except BaseException:  # Ctrl-C: its answer would be taken for the next one's
                self.close()
                raise
            finally:
                limit.cancel()
            if time.monotonic() - start >= self.timeout:
                raise self._fault(f"{ask} has no answer after timeout={self.timeout:g} seconds (unflushed output?)")
            if not line:
                self.close()
                raise self._fault(f"{ask} has no answer: the process ended with exit code {self._process.returncode}")
        return line

    def _fault(self, what: str) -> FaultError:
        """What it did, and the last line of its stderr. The process is ended."""
        self.close()
        said = b"".join(self._stderr)[:200].decode(errors="replace").strip()
        return FaultError(self.name, f"{what} (stderr: {said})" if said else what)


def command_words(command: Any) -> list[str]:
    """The program and its words. Raises AgentError."""
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:  # a quotation without an end
        words = []
    if not words or not "".join(words).isprintable():
        raise AgentError(f"command={command!r:.60}: expected a program and its words, such as ./bot --level 3")
    return words


def command_hash(command: str) -> str:
    """SHA-256 of the program's file, and of the files that its other words name."""
    program, *others = command_words(command)
    files = [path for path in (shutil.which(program), *others) if path and os.path.isfile(path)]
    return hashlib.sha256(b"".join(Path(path).read_bytes() for path in files)).hexdigest()


def seen_by(o: DiscardObservation | PlayObservation) -> list[dict[str, Any]]:
    """[N] observations in the words of game records, as plain values; cards and key are texts."""
    columns: dict[str, Any] = {"game": o.game, "hand": o.hand_number, "seat": o.seat, "dealer": o.dealer}
    columns |= {"scores": o.scores, "cards": map(format_cards, o.hand), "key": map(str, o.key.tolist())}
    if isinstance(o, PlayObservation):
        in_series = np.arange(o.history.shape[1]) >= o.series_start[:, None]
        columns |= {
            "discards": map(format_cards, o.discards),
            "starter": map(format_card, o.starter),
            "plays": map(_plays, o.history_seats.tolist(), o.history.tolist()),
            "series": map(format_cards, np.where(in_series, o.history, NO_CARD)),
            "count": o.count,
            "goes": [np.flatnonzero(said).tolist() for said in o.goes],
            "legal": map(format_cards, np.where(o.legal, o.hand, NO_CARD)),
        }
    plain = [column.tolist() if isinstance(column, np.ndarray) else column for column in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*plain, strict=True)]


def _plays(seats: list[int], cards: list[int]) -> list[dict[str, Any]]:
    return [{"seat": seat, "card": format_card(card)} for seat, card in zip(seats, cards, strict=True) if card >= 0]


def _listen(stderr: IO[bytes], last: deque[bytes]) -> None:
    """Read what a process complains of, so that it can go on."""
    with stderr:
        last.extend(filter(bytes.strip, stderr))


def _end(process: Popen[bytes], listener: Thread) -> None:
    """End its input, and after a moment whatever is left."""
    assert process.stdin is not None and process.stdout is not None
    try:
        with suppress(OSError):  # of a request that nobody read
            process.stdin.close()
        with suppress(TimeoutExpired):
            process.wait(_PATIENCE)
    finally:  # also after a second Ctrl-C
        _kill(process)
        process.wait()
        listener.join(_PATIENCE)
        process.stdout.close()


def _kill(process: Popen[bytes]) -> None:
    """And what it started, which may hold its output open."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
