"""What compiles and loads the code that a game needs, behind the board; run as a module, in a process beside it.

The threads of one process compile one after another, so a second process fills the cache of compiled code, too.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Mapping
from subprocess import DEVNULL, PIPE, Popen
from threading import Thread

from deepcrib.agents import Agent, make_agent
from deepcrib.app.hints import discard_hint, exact_player, play_hint
from deepcrib.app.words import play_parts, show_parts
from deepcrib.game.engine import Games, Turns
from deepcrib.game.engine.phases import DISCARD
from deepcrib.game.rules import is_legal_play
from deepcrib.records.replay import ROW


def prepare_words() -> None:
    """Compile and load what the screen itself calls: it would stand still while the worker compiles something else."""
    play_parts([0, 4, 8], 0, is_last=False)
    show_parts((0, 4, 8, 12), 16, is_crib=False)
    is_legal_play(0, 0)


def preparations(opponent: Agent, hints: Mapping[str, Agent]) -> list[Callable[[], object]]:
    """What compiles and loads the code of hints and of an opponent of two-player games, in the order of their need.

    The figures that a first hint shows, the opponent's discard, what hints say of it, then the same of the play.
    """
    return [
        lambda: discard_hint(_sample().discard_observation(ROW), {}),
        lambda: opponent.discard(_sample().discard_observation(ROW)),
        lambda: discard_hint(_sample().discard_observation(ROW), hints),
        lambda: opponent.play(_sample(0, 0).play_observation(ROW)),
        lambda: play_hint(_sample(0, 0).play_observation(ROW), hints),
        lambda: exact_player().play_values(_sample(0, 0).play_observation(ROW)),
    ]


def _sample(*discards: int) -> Turns:
    """Some hand after the first discards."""
    turns = Turns(Games([0], 0, first_dealer=[0]), hands=1)
    turns.settle()
    for action in discards:
        assert turns.phase[0] == DISCARD
        turns.choose(ROW, [action])
        turns.settle()
    return turns


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
    preparations(make_agent("greedy"), {})[-1]()


if __name__ == "__main__":
    _help()
