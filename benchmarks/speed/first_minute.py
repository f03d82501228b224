"""What somebody waits for who has just installed: python -m benchmarks.speed.first_minute [--warm]. On Linux and macOS.

Each figure is of a process of its own, by the clock, with an empty cache of compiled code (--warm: with one that the
same commands have filled before). `play` is driven in a terminal of 80 columns: to the first board, until a discard can
be chosen; from a key to the first hint for a discard, from that discard to one's turn to play, and from a key to a
hint for a card, what it scores at once and its exact value.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time

COMMANDS = {
    "import deepcrib.agents": [sys.executable, "-c", "import deepcrib.agents"],
    "deepcrib --help": [sys.executable, "-m", "deepcrib", "--help"],
    "evaluate greedy deterministic": [
        *(sys.executable, "-m", "deepcrib", "evaluate"),
        *("agent=greedy", "opponent=deterministic", "games=1000"),
    ],
}
PATIENCE = 180
"""Seconds after which a screen that does not come is given up."""


def main() -> None:
    """Measure and print one JSON line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--warm", action="store_true", help="with a cache that holds what the commands need")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found: dict[str, float] = {}
        for _ in range(2 if arguments.warm else 1):
            found = measure(folder, cold=not arguments.warm)
    print(json.dumps({name: round(seconds, 2) for name, seconds in found.items()}))


def measure(folder: str, cold: bool) -> dict[str, float]:
    """Seconds by what is waited for; the caches and the runs lie in a folder."""
    found = {}
    for number, (name, command) in enumerate(COMMANDS.items()):
        begin = time.perf_counter()
        subprocess.run(command, cwd=folder, env=environment(folder, number, cold), check=True, capture_output=True)
        found[name] = time.perf_counter() - begin
    return found | play(folder, environment(folder, len(COMMANDS), cold))


def environment(folder: str, number: int, cold: bool) -> dict[str, str]:
    """That of a process, whose cache is its own if it is to be cold."""
    place = {"NUMBA_CACHE_DIR": os.path.join(folder, f"cache{number if cold else ''}")}
    return os.environ | place | {"TERM": "xterm-256color"}


def play(folder: str, variables: dict[str, str]) -> dict[str, float]:
    """Seconds to the first board, and from a key to each hint."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    command = [sys.executable, "-m", "deepcrib", "play", "seed=7", "pace=0"]
    begin = time.perf_counter()
    game = subprocess.Popen(command, cwd=folder, env=variables, stdin=child, stdout=child, stderr=child)
    try:
        board, turn = wait(parent, "Hand 1", "with 1-6")
        found = {"play: first board": board - begin, "play: person's turn": turn - begin}
        (found["play: first hint"],) = press(parent, "h", "total")
        for key in ("\x1b", "1", "2"):
            time.sleep(1)
            os.write(parent, key.encode())
        time.sleep(1)
        (found["play: from the throw to a card"],) = press(parent, "\r", "your turn on")
        points, exact = press(parent, "h", "scored at once", "from here to")
        found |= {"play: first play hint, points": points, "play: first play hint, exact": exact}
    finally:
        game.kill()
        game.wait()
        os.close(parent)
        os.close(child)
    return found


def press(terminal: int, key: str, *words: str) -> list[float]:
    """Seconds from a key to each of some words on the screen."""
    begin = time.perf_counter()
    os.write(terminal, key.encode())
    return [end - begin for end in wait(terminal, *words)]


def wait(terminal: int, *words: str) -> list[float]:
    """When each of some words has come. Raises TimeoutError."""
    screen, limit, found = "", time.perf_counter() + PATIENCE, dict[str, float]()
    while time.perf_counter() < limit:
        if select.select([terminal], [], [], 0.05)[0]:
            screen += os.read(terminal, 65536).decode("utf-8", "replace")
            text = re.sub(r"\s+", " ", re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", " ", screen))
            found = {word: time.perf_counter() for word in words if word in text} | found
        if len(found) == len(words):
            return [found[word] for word in words]
    raise TimeoutError(f"not all of {words} within {PATIENCE} seconds")


if __name__ == "__main__":
    main()
