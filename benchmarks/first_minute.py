"""What somebody waits for who has just installed: python benchmarks/first_minute.py [--warm]. On Linux and macOS.

Each figure is of a process of its own, by the clock, with an empty cache of compiled code (--warm: with one that the
same commands have filled before). `play` is driven in a terminal of 80 columns: to the first board, the first hint for
a discard, and for a card to what it scores at once and to its exact value.
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
        found = {"play: first board": wait(parent, "with 1-6") - begin}
        found["play: first hint"] = press(parent, "h", "total")
        for key in ("\x1b", "1", "2", "\r"):
            time.sleep(1)
            os.write(parent, key.encode())
        time.sleep(1)
        press(parent, "\r", "your turn on")
        found["play: first play hint, points"] = press(parent, "h", "scored at once")
        found["play: first play hint, exact"] = found["play: first play hint, points"] + press(
            parent, "", "from here to"
        )
    finally:
        game.kill()
        game.wait()
        os.close(parent)
        os.close(child)
    return found


def press(terminal: int, key: str, words: str) -> float:
    """Seconds from a key to words on the screen."""
    begin = time.perf_counter()
    os.write(terminal, key.encode())
    return wait(terminal, words) - begin


def wait(terminal: int, words: str) -> float:
    """When words come. Raises TimeoutError."""
    screen, limit = "", time.perf_counter() + PATIENCE
    while time.perf_counter() < limit:
        if select.select([terminal], [], [], 0.05)[0]:
            screen += os.read(terminal, 65536).decode("utf-8", "replace")
            if words in re.sub(r"\s+", " ", re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", " ", screen)):
                return time.perf_counter()
    raise TimeoutError(f"no {words!r} within {PATIENCE} seconds")


if __name__ == "__main__":
    main()
