"""`deepcrib play`: its options, its run folder, what ends it, and a real terminal that goes away."""

import json
import os
import pty
import re
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from contextlib import suppress
from fcntl import ioctl
from pathlib import Path
from select import select
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest

from deepcrib.agents import AgentError
from deepcrib.app import Session, Setup
from deepcrib.cli import main
from deepcrib.files import runs
from deepcrib.jobs import play as job
from deepcrib.records import read_games, replay

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "has_terminal", lambda: True)


def play(*words: str, out: Path) -> int:
    return main(["play", *words, f"hydra.run.dir={out}"])


def only_line(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    assert captured.err.startswith("deepcrib: ") and captured.err.count("\n") == 1, captured.err
    return captured.err


def test_without_a_terminal_one_line_and_nothing_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert play(out=tmp_path / "run") == 2
    assert "needs a terminal" in only_line(capsys) and not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("pace=-1", "pace=-1"),
        ("suits=runes", "symbols, letters"),
        ("dealer=you", "cut, me, opponent"),
        ("name=''", "name="),
        ("opponent=gredy", "unknown agent"),
        ("hints=[gredy]", "unknown agent"),
        ("hints=[greedy,greedy,greedy,greedy,greedy]", "at most 4"),
        ("resume=nowhere.jsonl", "nowhere.jsonl"),
        ("resume=nowhere.jsonl seed=3", "seed=3: with resume"),
        ("game=1", "game=1: only with resume"),
    ],
)
def test_wrong_options_are_refused(
    words: str, said: str, terminal: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert play(*words.split(), out=tmp_path / "run") == 2
    assert said in only_line(capsys) and not (tmp_path / "run").exists()


def fake_evening(setup: Setup) -> None:
    """A person who plays a hand of the first game, without a screen."""
    setup.games.append(setup.start(0))
    play_on(setup.games[0], lambda session: bool(session.game["hand_number"] >= 1))


def play_on(session: Session, until: Callable[[Session], bool]) -> None:
    """The person throws the first two cards and plays the first that may be played."""
    while not until(session):
        if session.to_choose is None:
            session.step()
        elif session.to_choose == session.person:
            session.choose(next(a for a in range(4) if session.phase == "discard" or session.observation().legal[0, a]))
        else:
            session.answer()


def test_the_run_folder_holds_record_and_summary_and_the_game_goes_on(
    terminal: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(job, "run_app", fake_evening)
    words = ("opponent=greedy", "hints=[]", "seed=4", "name=Ann", "dealer=me")
    assert play(*words, out=tmp_path / "run") == 0
    assert {"game.jsonl", "summary.json", "config.yaml"} <= {path.name for path in (tmp_path / "run").iterdir()}
    (record,) = read_games(tmp_path / "run" / "game.jsonl")
    assert (record.seed, record.players[0].name, record.events[0].seat) == (4, "Ann", 0)
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    (game,) = summary["games"]
    assert (game["finished"], game["winner"], game["hands"]) == (False, None, 2)
    assert summary["record"] == str(tmp_path / "run" / "game.jsonl")
    assert f"resume={runs.Path(tmp_path / 'run' / 'game.jsonl')}" in capsys.readouterr().out.replace("\n", "")
    assert play(f"resume={tmp_path / 'run'}", out=tmp_path / "more") == 0
    (more,) = read_games(tmp_path / "more" / "game.jsonl")
    again = str(runs.Path(tmp_path / "more" / "game.jsonl"))
    assert f"to go on: deepcrib play resume={again}" in capsys.readouterr().out.replace("\n", "")  # and again
    assert more.events[: len(record.events)] == record.events and more.seed == 4


def test_of_a_folder_of_games_the_newest_goes_on(
    terminal: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The one written last, whatever its folder is called; a folder without games says what was expected."""
    monkeypatch.setattr(job, "run_app", fake_evening)
    place = tmp_path / "games"
    for seed, name in ((5, "b"), (6, "a"), (7, "c")):
        assert play("opponent=greedy", "hints=[]", f"seed={seed}", out=place / name) == 0
        written = {5: 300, 6: 500, 7: 400}[seed]
        os.utime(place / name / "game.jsonl", (written, written))
    assert play(f"resume={place}", "hints=[]", out=tmp_path / "more") == 0
    assert [record.seed for record in read_games(tmp_path / "more" / "game.jsonl")] == [6]
    (tmp_path / "none").mkdir()
    capsys.readouterr()
    assert play(f"resume={tmp_path / 'none'}", out=tmp_path / "again") == 2
    assert "expected files *.jsonl" in only_line(capsys) and not (tmp_path / "again").exists()


def test_who_learns_says_what_it_believes_of_the_person(
    terminal: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """After two games, of both: the first slot, always, is nobody's way but random's."""

    def two_games(setup: Setup) -> None:
        for number in range(2):
            setup.games.append(setup.start(number))
            play_on(setup.games[-1], lambda session: session.over)

    monkeypatch.setattr(job, "run_app", two_games)
    opponent = "opponent={name: adaptive, agent: quick, library: [greedy, random], hands: 2, late: 121}"
    assert play(opponent, "hints=[]", "seed=4", out=tmp_path / "run") == 0
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    hands = sum(game["hands"] for game in summary["games"])
    said = " ".join(capsys.readouterr().out.split())
    random = r"random \(\d+% sure\)"
    taken = f"after {hands} hands it takes you, of those it knows, for {random} in discards and {random} in play"
    assert re.search(f"adaptive: {taken}", said)


@pytest.mark.parametrize(
    ("failure", "code", "said"),
    [
        (AgentError("the opponent x failed"), 2, "the game up to there is in"),
        (None, 130, "interrupted; to go on: deepcrib play resume="),
    ],
)
def test_what_ends_an_evening_is_said_in_one_line(
    failure: Exception | None,
    code: int,
    said: str,
    terminal: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def evening(setup: Setup) -> None:
        fake_evening(setup)
        setup.failure, setup.interrupted = failure, failure is None

    monkeypatch.setattr(job, "run_app", evening)
    assert play("opponent=greedy", "hints=[]", out=tmp_path / "run") == code
    assert said in only_line(capsys)
    assert not (tmp_path / "run" / "summary.json").exists()
    replay(read_games(tmp_path / "run" / "game.jsonl")[0])


def test_without_textual_one_line_names_the_extra(
    terminal: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "textual", None)
    assert play(out=tmp_path / "run") == 2
    assert "pip install -e '.[play]'" in only_line(capsys) and not (tmp_path / "run").exists()


def test_a_page_runs_the_same_call_and_a_missing_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "textual_serve", None)
    assert play("web=true", "opponent=greedy", "hints=[]", out=tmp_path / "run") == 2
    assert "pip install -e '.[web]'" in only_line(capsys)
    monkeypatch.delitem(sys.modules, "textual_serve")
    pytest.importorskip("textual_serve")
    found: list[list[str]] = []
    monkeypatch.setattr("deepcrib.app.screens.browser.serve", lambda command, port: found.append([*command, str(port)]))
    words = ("opponent=greedy", "hints=[]", "seed=4")
    assert play("web=true", *words, "port=8099", out=tmp_path / "run") == 130
    assert found == [[sys.executable, "-m", "deepcrib", "play", *words, f"hydra.run.dir={tmp_path / 'run'}", "8099"]]
    assert only_line(capsys) == "deepcrib: interrupted\n" and not (tmp_path / "run").exists()


def test_a_browser_of_this_machine_gets_the_page_and_no_other_site_a_game(tmp_path: Path) -> None:
    pytest.importorskip("textual_serve")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    words = ["play", "web=true", f"port={port}", "opponent=greedy", "hints=[]", f"hydra.run.dir={tmp_path / 'run'}"]
    command, environment = [sys.executable, "-m", "deepcrib", *words], {**os.environ, "PYTHONPATH": str(ROOT)}
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert server.stdout is not None and f"http://127.0.0.1:{port} " in server.stdout.readline()
        page, end = None, time.monotonic() + 60
        while page is None:
            with suppress(URLError):  # it begins to listen a moment later
                page = urlopen(f"http://127.0.0.1:{port}/")
            assert time.monotonic() < end
        assert f"ws://127.0.0.1:{port}/ws" in page.read().decode()
        again = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert (again.returncode, again.stderr.count("\n")) == (2, 1) and f"port={port}: " in again.stderr
        with pytest.raises(HTTPError, match="403"):
            urlopen(Request(f"http://127.0.0.1:{port}/ws", headers={"Origin": "http://example.org"}))
        server.send_signal(signal.SIGINT)
        assert server.communicate() == ("", "deepcrib: interrupted\n") and server.returncode == 130
    finally:
        server.kill()
    assert not (tmp_path / "run").exists()


def test_the_screens_alone_import_textual() -> None:
    """So that every other job, and help, work without it: the package imports no screen before one is shown."""
    folder = ROOT / "deepcrib" / "app"
    importing = {path for path in folder.rglob("*.py") if re.search("^from textual", path.read_text(), re.MULTILINE)}
    assert folder / "screens" / "game.py" in importing
    assert {path.parent.name for path in importing} == {"screens"}
    for path in (*folder.glob("*.py"), Path(job.__file__)):
        named = r"^(?:from|import) (?:deepcrib\.app\.screens|textual)"
        assert not re.findall(named, path.read_text(), re.MULTILINE), path


# --- a real terminal --------------------------------------------------------------------------------------------


def test_a_kill_leaves_a_record_that_can_be_read(tmp_path: Path) -> None:
    """In a pseudo-terminal: a card is thrown by the keyboard, then the process is asked to end."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    words = ["play", "opponent=greedy", "hints=[]", "seed=2", "pace=0", f"hydra.run.dir={tmp_path / 'run'}"]
    environment = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-m", "deepcrib", *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        cwd=ROOT,
    )
    os.close(theirs)
    try:
        read_until(ours, b"mark 2 cards")
        os.write(ours, b"12\r")
        read_until(ours, b"your turn")
        process.send_signal(signal.SIGTERM)
        rest = read_until(ours, b"interrupted")
    finally:
        process.kill()
    assert b"\x1b[?1049l" in rest  # the screen before the game is back
    (record,) = read_games(tmp_path / "run" / "game.jsonl")
    assert [event.seat for event in record.events if event.kind == "discard"].count(0) == 1
    replay(record)


def read_until(terminal: int, text: bytes, seconds: float = 200) -> bytes:
    """What a terminal shows until a text comes."""
    shown, end = b"", time.monotonic() + seconds
    while text not in shown:
        assert time.monotonic() < end, shown[-2000:]
        if select([terminal], [], [], 1)[0]:
            shown += os.read(terminal, 65536)
    return shown
