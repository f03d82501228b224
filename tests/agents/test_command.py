"""Agents in other languages: the lines that they are asked, what they may answer, and how their processes end."""

from __future__ import annotations

import gc
import json
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import deepcrib.envs  # noqa: F401  registers the environments
from deepcrib.agents import AgentError, UntrustedError, kept_spec, make_agent
from deepcrib.agents import command as command_module
from deepcrib.agents.asking import FaultError, knows_probabilities
from deepcrib.agents.command import CommandAgent
from deepcrib.cli import main
from deepcrib.evaluation.league.league import identity
from deepcrib.files.trust import FromFile
from deepcrib.game.cards import RANKS, VALUES, format_cards, parse_cards
from deepcrib.jobs import play
from deepcrib.matches import play_match
from tests.support.agents import observations
from tests.support.commands import refused
from tests.support.recorded import played

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "bot.pl"
needs_perl = pytest.mark.skipif(shutil.which("perl") is None, reason="the example is a program in Perl")

BOT = f"""#!{sys.executable} -S
import json, os, signal, sys, time

def answer(cards, number):
    return " ".join(cards.split()[:number])

def say(line):
    sys.stdout.write(line + "\\n")
    sys.stdout.flush()

hello = {{"protocol": 1, "players": [2, 3, 4]}}
for line in sys.stdin:
    request = json.loads(line)
    if request["ask"] == "hello":
        HELLO
        say(json.dumps(hello))
        continue
    seen = request["observations"]
    if request["ask"] == "discard":
        answers = [answer(o["cards"], 2 if len(o["scores"]) == 2 else 1) for o in seen]
    else:
        answers = [answer(o["legal"], 1) for o in seen]
    ANSWERS
    say(json.dumps({{"answers": answers, "thoughts": None}}))
"""
"""Throws its lowest cards and plays the lowest; HELLO and ANSWERS stand for what a test adds."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder. Whatever agents started in it has ended, and has been waited for."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*words: Any, **options: Any) -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen(*words, **options))
        return started[-1]

    monkeypatch.setattr(command_module, "Popen", start)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    gc.collect()
    assert all(process.returncode is not None for process in started)


def program(text: str, name: str = "bot") -> str:
    """A program in the current folder, as a command."""
    path = Path(name)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return f"./{name}"


def bot(answers: str = "pass", hello: str = "pass") -> str:
    return program(BOT.replace("ANSWERS", answers).replace("HELLO", hello))


def alive(pid: int, seconds: float = 0.0) -> bool:
    """Whether a process still runs after so many seconds; one that nobody has waited for does not."""
    deadline = time.monotonic() + seconds
    try:
        while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
            if time.monotonic() >= deadline:
                return True
            time.sleep(0.02)
    except (FileNotFoundError, ProcessLookupError):
        pass
    return False


# --- the example ------------------------------------------------------------------------------------------------


class High:
    """What the example does, in Python: equal ranks in the order of their suits."""

    name, num_players = "high", frozenset({2})

    def discard(self, observation: Any) -> Any:
        order = np.argsort(-RANKS[observation.hand].astype(int), axis=1, kind="stable")
        pairs = [(a, b) for a in range(6) for b in range(a + 1, 6)]
        return np.array([pairs.index((min(pair), max(pair))) for pair in order[:, :2].tolist()])

    def play(self, observation: Any) -> Any:
        return np.where(observation.legal, RANKS[observation.hand], -1).argmax(axis=1)


@needs_perl
@pytest.mark.parametrize("command", [str(EXAMPLE), f"perl {EXAMPLE}"])
def test_the_example_plays_what_it_says(command: str) -> None:
    """Every card of some hundred games is that of the same player in Python."""
    agent = make_agent({"command": command})
    assert (agent.name, agent.num_players) == ("high cards", {2})
    found, expected = (play_match([one, make_agent("greedy")], 200, 5, duplicate=True) for one in (agent, High()))
    for column in ("winner", "scores", "hands", "points"):
        assert (getattr(found, column) == getattr(expected, column)).all()
    assert 0.05 < (found.winner == 0).mean() < 0.3
    assert knows_probabilities(agent)


@needs_perl
@pytest.mark.parametrize(
    "words",
    [
        "evaluate agent=BOT opponent=greedy games=8",
        "tournament agents=[BOT,greedy,random] games=8",
        "tournament league agents=[BOT,greedy] games=8 deals=0",
        "analyse 5H 5S JD 2C 3C KH agents=[BOT,greedy]",
        "evaluate agent='{name: minimax, samples: 2, discards: BOT}' opponent=BOT games=4",
    ],
)
def test_it_is_an_agent_wherever_one_is_asked_for(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    spec = f"{{command: {EXAMPLE}}}"
    assert main([word.replace("BOT", spec) for word in [*shlex.split(words), "hydra.run.dir=run"]]) == 0
    assert "minimax" in words or "high cards" in capsys.readouterr().out


def test_it_sits_in_environments_and_opposite_a_person(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = {"command": bot()}
    env = gymnasium.make("deepcrib/Cribbage-v1", opponent=spec, episode="hand")
    observation, _ = env.reset(seed=1)
    over = False
    while not over:
        observation, _, over, _, _ = env.step(int(observation["action_mask"].argmax()))
    env.close()
    monkeypatch.setattr(play, "has_terminal", lambda: True)
    monkeypatch.setattr(play, "run_app", lambda setup: setup.games.append(setup.start(0)))
    assert main(["play", "opponent={command: ./bot}", "hints=[]", "seed=1", "hydra.run.dir=game"]) == 0
    assert "deepcrib play resume=game/game.jsonl trust=true" in capsys.readouterr().out
    line = refused(["play", "resume=game/game.jsonl", "hints=[]", "hydra.run.dir=more"], capsys)
    assert "game/game.jsonl: player ./bot names ./bot, which is code from outside of deepcrib" in line
    assert main(["play", "resume=game/game.jsonl", "hints=[]", "trust=true", "hydra.run.dir=more"]) == 0


# --- what is asked ----------------------------------------------------------------------------------------------


def test_requests_say_what_the_record_of_the_game_says() -> None:
    bot()
    agent = CommandAgent("sh -c 'tee requests.jsonl | ./bot'")
    record = played(7, agents=(agent, "greedy"))
    agent.close()  # then all is written
    first, *requests = map(json.loads, Path("requests.jsonl").read_text().splitlines())
    assert first == {"ask": "hello", "protocol": 1}
    asked = iter(requests)
    keys = []
    for place, event in enumerate(record.events):
        if event.kind not in ("discard", "play") or event.seat != 0:
            continue
        request = next(asked)
        assert request["ask"] == event.kind
        (seen,) = request["observations"]
        keys.append(seen["key"])
        start = max(n for n in range(place) if record.events[n].kind == "deal")
        deal, hand = record.events[start], record.events[start:place]
        points = [sum(e.points for e in record.events[:place] if e.seat == seat) for seat in range(2)]
        mine = {card for e in hand if e.seat == 0 and e.kind in ("discard", "play") for card in e.cards}
        left = format_cards(card for card in deal.hands[0] if card not in mine)
        expected = {"game": 3, "hand": deal.hand, "seat": 0, "dealer": deal.seat, "scores": points, "cards": left}
        if event.kind == "play":
            expected |= play_of(hand, left)
        assert seen == expected | {"key": seen["key"]}
    assert next(asked, None) is None
    assert len(set(keys)) == len(keys) and all(0 <= int(key) < 2**64 for key in keys)


def play_of(hand: list[Any], left: str) -> dict[str, Any]:
    """What the events of a hand so far say about the play, to whoever sits at 0 and holds these cards."""
    plays = [event for event in hand if event.kind == "play"]
    (starter,) = (event for event in hand if event.kind == "starter")
    thrown = {event.seat: event.cards for event in hand if event.kind == "discard"}
    held = [set(cards) - set(thrown[seat]) for seat, cards in enumerate(hand[0].hands)]
    series: list[Any] = []
    for event in plays:
        held[event.seat] -= set(event.cards)
        series.append(event)
        count = sum(value(other.cards[0]) for other in series)
        if all(count + value(card) > 31 for card in held[0] | held[1]):
            series = []
    count = sum(value(event.cards[0]) for event in series)
    said_go = bool(series) and series[-1].seat == 0 and bool(held[1])  # else it would have played
    return {
        "discards": format_cards(thrown[0]),
        "starter": format_cards(starter.cards),
        "plays": [{"seat": event.seat, "card": format_cards(event.cards)} for event in plays],
        "series": " ".join(format_cards(event.cards) for event in series),
        "count": count,
        "goes": [1] if said_go else [],
        "legal": " ".join(card for card in left.split() if count + value(parse_cards(card)[0]) <= 31),
    }


def value(card: int) -> int:
    return int(VALUES[RANKS[card]])


def test_three_and_four_players_throw_one_card() -> None:
    agent = make_agent({"command": bot()})
    assert agent.num_players == {2, 3, 4}
    for players in (3, 4):
        found = play_match([agent, *[make_agent("greedy")] * (players - 1)], 4, 1)
        assert found.scores.max(axis=1).tolist() == [121] * 4


def test_a_batch_is_one_line_and_threads_wait_for_each_other() -> None:
    bot()
    agent = CommandAgent("sh -c 'tee requests.jsonl | ./bot'")
    discards, plays = observations(6000, 1, plays=2)  # a megabyte, more than a pipe holds
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(agent.discard, discards) for _ in range(3)] + [pool.submit(agent.play, plays)]
        found = [one.result() for one in asked]
    assert all((actions == 0).all() for actions in found[:3])  # the first pair of the sorted hand
    assert (found[3] == plays.legal.argmax(axis=1)).all()
    assert agent.discard(discards.take(np.arange(0))).tolist() == []
    agent.close()
    lines = Path("requests.jsonl").read_text().splitlines()
    assert [len(json.loads(line)["observations"]) for line in lines[1:]] == [6000] * 4 + [0]


def test_what_it_says_of_itself() -> None:
    assert CommandAgent(bot()).name == "./bot"
    agent = CommandAgent(bot(hello='hello.update(name="Böt", deterministic=True, players=[2], level=3)'))
    assert (agent.name, agent.num_players, agent.deterministic) == ("Böt", {2}, True)
    with pytest.raises(AgentError, match="agent Böt plays with 2 players, not 3"):
        play_match([agent, agent, agent], 3, 1)


# --- what is wrong ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        (
            "{command: ./no_bot}",
            "agent command='./no_bot' cannot be started: No such file or directory .expected a pro",
        ),
        ("{command: ./file}", "agent command='./file' cannot be started: Permission denied"),
        ("{command: ./text}", "agent command='./text' cannot be started: Exec format error"),
        ("{command: ''}", "command='': expected a program and its words, such as ./bot --level 3"),
        ("{command: 5}", "command=5: expected a program"),
        ("{command: [./bot]}", r"command=\['./bot'\]: expected a program"),
        ('{command: "./bot \'a"}', 'command="./bot \'a": expected a program'),
        ("command", "agent 'command' needs the option command"),
        ("{command: ./bot, level: 3}", "agent 'command' has no option 'level' .expected one of command, timeout"),
        ("{command: ./bot, timeout: 0}", "timeout=0: expected seconds, above 0 and at most 86400"),
        ("{command: ./bot, timeout: soon}", "timeout='soon': expected seconds"),
    ],
)
def test_what_cannot_be_started(spec: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    bot()
    Path("file").touch()
    program("no program\n", "text")
    found = refused(["evaluate", f"agent={spec}", "games=4", "hydra.run.dir=run"], capsys)
    assert re.search(f"^deepcrib: {line}", found) and not Path("run").exists()


HELLO = {
    'say("ready")': "hello answered 'ready', expected JSON with protocol: JSON is malformed",
    'say("")': "hello answered '', expected JSON with protocol: ",
    "hello = {}": "hello answered '{}', expected JSON with protocol: Object missing required field `protocol`",
    'hello["protocol"] = 2': "Invalid enum value 2 - at `$.protocol`",
    'hello["players"] = []': "Expected `array` of length >= 1 - at `$.players`",
    'hello["players"] = [5]': "Invalid enum value 5 - at `$.players",
    'hello["name"] = "\\x1b[2J"': "Expected `str` matching regex",
    'hello["name"] = "Bob" + chr(10)': "Expected `str` matching regex",
    'hello["name"] = 41 * "a"': "Expected `str` matching regex",
    "sys.exit(3)": "hello has no answer: the process ended with exit code 3",
    'sys.exit("no licence\\nor two")': "the process ended with exit code 1 (stderr: or two)",
    "os.kill(os.getpid(), 9)": "hello has no answer: the process ended with exit code -9",
    "time.sleep(60)": "hello has no answer after timeout=0.3 seconds (unflushed output?)",
    "os.fork(); time.sleep(60)": "hello has no answer after timeout=0.3 seconds",
}


@pytest.mark.parametrize(("code", "line"), HELLO.items(), ids=HELLO)
def test_a_wrong_hello(code: str, line: str) -> None:
    with pytest.raises(FaultError) as raised:
        CommandAgent(bot(hello=code), 0.3 if "sleep" in code else 60)
    assert str(raised.value).startswith("agent ./bot: hello ") and line in str(raised.value)


OF_TWO = "expected 2 of the cards "
STRANGER = 'next(card for card in ("2C 3D", "AC 2D", "3C AS") if card[:2] not in seen[0]["cards"])'
PLAYS = 'if request["ask"] == "play": '
ANSWERS = {
    'say("what?")': "agent Bob: discard answered 'what?', expected JSON with answers: JSON is malformed",
    'say("[]")': "discard answered '[]', expected JSON with answers: Expected `object`, got `array`",
    'say("{}")': "Object missing required field `answers`",
    'say(100000 * "[")': "discard answered '[[[[",
    "answers = [5 for _ in answers]": "Expected `str`, got `int` - at `$.answers[0]`",
    "answers.pop()": "discard gave 1 answers, expected 2",
    "answers += answers": "discard gave 4 answers, expected 2",
    'answers[1] = "2C"': f"discard answered '2C', {OF_TWO}",
    'answers[0] = ""': f"discard answered '', {OF_TWO}",
    'answers[0] = "5X 6C"': f"discard answered '5X 6C', {OF_TWO}",
    'answers[0] = "-- --"': f"discard answered '-- --', {OF_TWO}",
    'answers[0] = " ".join(2 * [seen[0]["cards"][:2]])': OF_TWO,
    'answers[0] = seen[0]["cards"]': OF_TWO,
    f"answers[0] = {STRANGER}": OF_TWO,
    PLAYS + "answers[0] = seen[0]['discards'][:2]": "expected 1 of the cards ",
    PLAYS + "answers = [(set(o['cards'].split()) - set(o['legal'].split())).pop() for o in seen]": "expected 1 of the",
    PLAYS + "answers[0] = '--'": "play answered '--', expected 1 of the cards ",
    PLAYS + "sys.exit('gone')": "play has no answer: the process ended with exit code 1 (stderr: gone)",
    PLAYS + "os.close(1); time.sleep(0.2); os._exit(4)": "play has no answer: the process ended with exit code 4",
    PLAYS + "time.sleep(60)": "play has no answer after timeout=0.5 seconds (unflushed output?)",
    PLAYS + "os.fork(); time.sleep(60)": "play has no answer after timeout=0.5 seconds",
    "sys.stdout.write(5 * 10 ** 6 * ' '); time.sleep(60)": "discard has no answer after timeout=0.5 seconds",
}


@pytest.mark.parametrize(("code", "line"), ANSWERS.items(), ids=ANSWERS)
def test_a_wrong_answer(code: str, line: str) -> None:
    agent = CommandAgent(bot(code, 'hello["name"] = "Bob"'))
    agent.timeout = 0.5 if "sleep(60)" in code else 60
    discards, plays = observations(400, 1, plays=3)
    barred = np.flatnonzero((~plays.legal & (plays.hand >= 0)).any(axis=1))[:2]  # who holds a card too high to play
    with pytest.raises(FaultError) as raised:
        agent.discard(discards.take(np.arange(2)))
        agent.play(plays.take(barred))
    assert str(raised.value).startswith("agent Bob: ") and line in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_command_ends_with_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    command = bot(PLAYS + "print('first\\nlast', file=sys.stderr); answers[-1] = 'KX'")
    found = refused(["evaluate", f"agent={{command: {command}}}", "games=2", "hydra.run.dir=run"], capsys)
    line = r"deepcrib: agent \./bot: play answered 'KX', expected 1 of the cards (.. ){3}.. \(stderr: last\)"
    assert re.fullmatch(line, found)


def test_a_dead_one_is_not_started_again() -> None:
    agent = CommandAgent(bot(PLAYS + "sys.exit(1)"))
    discards, plays = observations(4, 1)
    assert (agent.discard(discards) == 0).all()
    with pytest.raises(FaultError, match="ended with exit code 1"):
        agent.play(plays)
    for _ in range(2):
        with pytest.raises(FaultError, match="^agent ./bot: its process has ended, and is not started again$"):
            agent.discard(discards)
    discards, _ = observations(6000, 1)
    for code, status in (
        ("say(json.dumps(hello)); sys.exit(3)", 3),
        ("say(json.dumps(hello)); os.kill(os.getpid(), 9)", -9),
    ):
        with pytest.raises(FaultError, match=f"discard has no answer: the process ended with exit code {status}$"):
            CommandAgent(bot(hello=code)).discard(discards)  # which it does not read to the end


# --- how it ends ------------------------------------------------------------------------------------------------


def test_it_ends_with_the_agent() -> None:
    agent = CommandAgent(bot())
    pid = agent._process.pid
    assert alive(pid)
    del agent
    gc.collect()
    assert not alive(pid)
    agent = CommandAgent(bot())
    agent.close()
    assert not alive(agent._process.pid) and agent._process.returncode == 0


CHILD = "child = os.fork() or [time.sleep(60), os._exit(0)]; open('child', 'w').write(str(child))"


@pytest.mark.parametrize("ends", ["sys.exit(5)", "os.kill(os.getpid(), 9)", "None"])
def test_it_ends_with_python(ends: str) -> None:
    bot()
    code = "import os, sys; from deepcrib.agents import make_agent; agent = make_agent({'command': './bot'})\n"
    code += f"print(agent._process.pid, flush=True)\n{ends}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert not alive(int(done.stdout), 10) and not done.stderr


@pytest.mark.parametrize("code", [CHILD, "say(json.dumps(hello)); time.sleep(60)"])
def test_what_ignores_the_end_is_killed(code: str) -> None:
    agent = CommandAgent(bot(hello=code))
    agent.close()
    assert agent._process.returncode == (0 if code == CHILD else -9)
    assert code != CHILD or not alive(int(Path("child").read_text()), 10)


def test_one_that_talks_on_stderr_goes_on() -> None:
    agent = CommandAgent(bot("sys.stderr.write(10 ** 6 * 'x' + chr(10))"))
    discards, _ = observations(4, 1)
    for _ in range(5):
        assert (agent.discard(discards) == 0).all()


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_ends_it(times: int) -> None:
    """And the answer that comes too late is nobody's."""
    agent = CommandAgent(bot(f"for _ in range({times}): os.kill(os.getppid(), 2); time.sleep(0.5)"))
    discards, _ = observations(4, 1)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            agent.discard(discards)
    finally:
        signal.signal(signal.SIGINT, before)
    assert not alive(agent._process.pid)
    with pytest.raises(FaultError, match="is not started again"):
        agent.discard(discards)


# --- who may name one -------------------------------------------------------------------------------------------


def test_a_file_names_none_unless_it_is_trusted(folder: Path) -> None:
    """`test_travelling_files` tries every way in."""
    spec = {"name": "minimax", "samples": 2, "discards": {"command": bot()}}
    said = FromFile(spec, folder / "config.yaml", "agents")
    line = "config.yaml: agents names ./bot, which is code from outside of deepcrib: .*trust=true allows it"
    with pytest.raises(UntrustedError, match=line):
        make_agent(said)
    agent: Any = make_agent(said, trust=True)
    assert agent.discards_by.name == "./bot"
    assert kept_spec(spec, folder / "run") == spec and not (folder / "run").exists()


def test_a_league_knows_its_files() -> None:
    spec = {"command": f"{bot()} settings 3", "timeout": 5}
    before = identity(spec)
    assert before["command"] == spec["command"] and before["timeout"] == 5
    assert identity({"name": "command"} | spec) == before | {"name": "command"}
    Path("settings").write_text("3")
    assert identity(spec)["sha256"] != before["sha256"]
    Path("settings").unlink()
    bot("pass  # changed")
    assert identity(spec)["sha256"] != before["sha256"]
    assert identity({"command": "sh"})["sha256"] != identity({"command": "cat"})["sha256"]
