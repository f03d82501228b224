"""A process that compiles code of hints beside the board: the threads of one process compile one after another."""

from __future__ import annotations

import contextlib
import os
import sys
from subprocess import DEVNULL, PIPE, Popen
from threading import Thread

from deepcrib.agents import make_agent
from deepcrib.app.hints import exact_player
from deepcrib.app.setup import preparations


def start_helper() -> Popen[bytes] | None:
    """Fill the cache of compiled code with that of exact values of cards, the longest; None if it cannot.

    The process leaves when that is done, or with this one, however this one ends.
    """
    with contextlib.suppress(OSError, ValueError):
        command = [sys.executable, "-P", "-m", __name__]
        return Popen(command, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True)
    return None


def _help() -> None:
    Thread(target=lambda: (os.read(0, 1), os._exit(0)), daemon=True).start()  # at the end of the input nobody is there
    if hasattr(os, "nice"):
        os.nice(5)  # whoever waits for the screen comes first
    preparations(make_agent("greedy"), {}, exact_player)[-1]()


if __name__ == "__main__":
    _help()
