"""What is seen, and what is counted, while code is compiled and before the first work is done."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numba
import pytest

from deepcrib import kernels
from deepcrib.jobs.hydra import launch
from deepcrib.jobs.shared import console
from deepcrib.jobs.shared.console import Bars


def test_a_bar_is_there_before_the_first_step(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[str, int, int]] = []
    monkeypatch.setattr(Bars, "show", lambda self, name, done, total: shown.append((name, done, total)))
    advance = Bars(drawn=False).counter("games", 10)
    assert shown == [("games", 0, 10)]
    advance(4)
    assert shown[1:] == [("games", 4, 10)]


def test_a_pipe_is_never_silent_for_long(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Before the first step, too; nothing is said where something else was."""
    monkeypatch.setattr(console, "SECONDS", 0.3)
    with Bars(drawn=False, told=True) as bars:
        bars.counter("games", 1000)
        for _ in range(8):
            time.sleep(0.1)
            console.show_line("other")
        assert set(capsys.readouterr().out.splitlines()) == {"other"}
        time.sleep(1)
    assert set(capsys.readouterr().out.splitlines()) == {"games 0 of 1,000"}


@pytest.mark.parametrize("terminal", [True, False])
def test_compiling_is_announced_on_a_terminal(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    callbacks: list[Callable[[], None]] = []
    monkeypatch.setattr(kernels, "on_compile", callbacks.append)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    launch._announce_compiling.__wrapped__()
    assert capsys.readouterr().err == "" and len(callbacks) == terminal
    for about_to_compile in callbacks:
        about_to_compile()
    assert capsys.readouterr().err == terminal * "compiling, once for this version: some seconds ...\n"


def test_the_clock_of_speeds_stands_still_while_something_is_compiled() -> None:
    callbacks: list[float] = []
    kernels.on_compile(lambda: callbacks.append(kernels.seconds_running()))

    compiled = kernels._clock.seconds
    assert numba.njit(lambda x: 3 * x)(2) == 6  # not kept on disk
    (began,) = callbacks
    assert kernels.seconds_running() - began < kernels._clock.seconds - compiled
