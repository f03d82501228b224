"""`deepcrib play`: a person against an agent, in a terminal."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from rich.table import Table

from deepcrib.agents import make_agent, name_agents
from deepcrib.agents.packaged import CHAMPION, CHAMPION_NETWORKS
from deepcrib.agents.specs.travel import needs_trust
from deepcrib.analysis.tables import plain_table
from deepcrib.app import Session, Setup, check_resumable, new_header, run_app
from deepcrib.board.canvas import SIGNS
from deepcrib.errors import OptionError, RunError, UserError
from deepcrib.files.trust import FromFile
from deepcrib.game.engine import IllegalActionError
from deepcrib.game.past import PastHands
from deepcrib.jobs import Outcome, Run
from deepcrib.jobs.shared.common import need_modules, refuse_given, use_threads
from deepcrib.jobs.shared.console import short_path
from deepcrib.jobs.shared.options import TRUST, RulesOptions, torch_device
from deepcrib.options import at_least, between, one_of, option, optional, seed_value
from deepcrib.records import GameRecord, GameWriter, Player, find_files, read_games
from deepcrib.records.replay import ROW

IN_PAGE = "TEXTUAL_DRIVER" in os.environ  # the process of a page, which has no terminal
DEALERS = {"cut": None, "me": 0, "opponent": 1}  # seats
LONGEST_NAME, MOST_HINTS = 40, 4


@dataclass
class Config:
    """The schema of `conf/play.yaml`."""

    opponent: Any = option(CHAMPION, "a name, a checkpoint path or {name: NAME, option: value}", spec=True)
    hints: list[Any] = option([CHAMPION_NETWORKS], "agents whose choices hints show, up to 4", spec=True)
    name: str = option("you", "your name in the record")
    seed: int | None = option(
        None, "seed of the deals and of the opponent's random choices; null: from the clock", optional(seed_value)
    )
    dealer: str = option("cut", "who deals first: cut, me or opponent", one_of(*DEALERS))
    pace: float = option(
        1.5, "seconds in which a choice can be undone, and between an opponent's cards; 0: none", at_least(0)
    )
    suits: str = option("symbols", "or letters: 5H, and only ASCII on the table", one_of(*SIGNS))
    count: str = option("table", "who counts your hands and cribs at the show: table or me", one_of("table", "me"))
    resume: str | None = option(
        None, "a game.jsonl, or a folder (its newest): resume its last game, with its opponent and rules, or review it"
    )
    game: int | None = option(None, "with resume: another game of the file, from 1", optional(at_least(1)))
    rules: RulesOptions = field(default_factory=RulesOptions)
    device: str = option("cpu", "where networks run: cpu, cuda, cuda:1, mps", torch_device)
    threads: int = option(0, "number of threads; 0: all that this process may use", at_least(0))
    trust: bool = option(False, TRUST)
    web: bool = option(False, "in a browser of this machine in place of the terminal; needs the extra web")
    port: int = option(8000, "web: where this machine's browsers find it", between(1, 65535))


def run(config: Config, run: Run) -> Outcome:
    """Play until the person leaves."""
    _check(config)
    resumed = None if config.resume is None else _interrupted(config)
    hints = name_agents([make_agent(spec, device=config.device) for spec in config.hints])
    path = run.folder.path / "game.jsonl"
    setup = Setup(_starter(config, resumed, path), hints, config.suits, config.pace, config.count == "me")
    if config.web:
        _serve(config, run)
    use_threads(config.threads)
    run.start()
    run_app(setup)
    unfinished = any(not session.over for session in setup.games)
    signs = "" if config.suits == "symbols" else f" suits={config.suits}"  # the record has all but what is shown
    signs += " count=me" if setup.counts else ""
    specs = [player.spec for game in setup.games for player in game.header.players if player.kind == "agent"]
    signs += " trust=true" if any(needs_trust(FromFile(spec, path, "")) for spec in specs) else ""
    signs += " web=true" if IN_PAGE else ""
    goal = "go on" if unfinished else "see the review again"
    resume = [f"to {goal}: deepcrib play resume={shlex.quote(short_path(path))}{signs}"] if setup.games else []
    if isinstance(setup.failure, UserError | IllegalActionError):
        kept = f"; the game up to there is in {short_path(path)}" if path.is_file() else ""
        raise RunError(f"{setup.failure}{kept}") from setup.failure
    if setup.failure is not None:
        raise setup.failure
    if setup.interrupted or (unfinished and IN_PAGE):  # where stderr alone is passed on
        raise KeyboardInterrupt(*resume)
    run.notes += resume
    if setup.games:  # what an opponent that learns whom it plays believes of the person
        last: Any = setup.games[-1]
        seen, learners = last.turns.games.past.seen(ROW), [one for one in last.agents if hasattr(one, "believes")]
        run.notes += [f"{agent.name}: {agent.believes(seen, last.person)}" for agent in learners]
    games = [session.summary() for session in setup.games]
    return Outcome({"record": str(path), "games": games}, _tables(games))


def _check(config: Config) -> None:
    if not 0 < len(config.name.strip()) <= LONGEST_NAME or not config.name.isprintable():
        raise OptionError(f"name={config.name[:LONGEST_NAME]!r}: expected 1 to {LONGEST_NAME} characters")
    if len(config.hints) > MOST_HINTS:
        raise OptionError(f"hints names {len(config.hints)} agents: expected at most {MOST_HINTS}, or []")
    if config.resume is None:
        refuse_given(config, ["game"], "only with resume")
    if not (config.web or IN_PAGE or has_terminal()):
        raise OptionError("play needs a terminal: expected stdin, stdout and stderr to be one, not a pipe or a file")
    need_modules("play", "play", "Textual")


def has_terminal() -> bool:
    """Whether somebody can be seen and heard; Textual draws on stderr."""
    return all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))


def _serve(config: Config, run: Run) -> NoReturn:
    """Every page plays with the options of this call, in a run folder of its own."""
    need_modules("play web=true", "web", "textual-serve")
    from deepcrib.app.screens import browser

    words = [word for word in sys.argv[1:] if word.partition("=")[0] not in ("web", "port")]
    try:
        browser.serve([sys.executable, "-m", "deepcrib", "play", *words], config.port)
    finally:
        run.folder.remove_if_empty()
    raise KeyboardInterrupt


def _interrupted(config: Config) -> GameRecord:
    """The game to go on with, or to look at again. Raises RecordError and OptionError."""
    of_the_game = ("opponent", "name", "seed", "dealer", "rules")
    refuse_given(config, of_the_game, "with resume it is that of the interrupted game")
    path = Path(str(config.resume))
    path = max(find_files([path]), key=os.path.getmtime) if path.is_dir() else path
    records = read_games(path)
    if config.game is not None and config.game > len(records):
        raise OptionError(f"game={config.game}: expected 1 to {len(records)}, the games of {path}")
    record = records[-1 if config.game is None else config.game - 1]
    check_resumable(record)
    if len(record.players) != 2:
        raise OptionError(f"resume={path}: a game of {len(record.players)} players, expected 2")
    return record


def _starter(config: Config, resumed: GameRecord | None, path: Path) -> Callable[[int], Session]:
    """What makes the n-th game. Agents are made here, so that a wrong one is refused before anything is written."""
    seed = config.seed if config.seed is not None else time.time_ns() // 1_000_000
    first = resumed or new_header(config.name.strip(), [], config.rules.name, seed, 0)
    seat = first.humans[0]
    spec = config.opponent if resumed is None else resumed.spec_of(1 - seat)
    agent, past = make_agent(spec, device=config.device), PastHands(1)
    opponent = Player(agent.name, "agent", spec if resumed is None else resumed.players[1 - seat].spec)
    of_all = first.players[seat].name, [opponent], first.rules, first.seed or 0

    def start(number: int) -> Session:
        if number:
            past.next_game()
        if resumed is not None and number == 0:
            agents = [None if player.kind == "human" else agent for player in resumed.players]
            return Session(resumed, agents, GameWriter(path), past=past)
        header = new_header(*of_all, (first.game or 0) + number)
        return Session(header, [None, agent], GameWriter(path), None if number else DEALERS[config.dealer], past)

    return start


def _tables(games: Sequence[dict[str, Any]]) -> list[Table]:
    rows = []
    for number, game in enumerate(games, start=1):
        shown = ", ".join(f"{player['name']} {player['score']}" for player in game["players"])
        result = f"{game['winner']} won" if game["finished"] else "unfinished"
        rows.append((str(number), result, shown, str(game["hands"])))
    return [plain_table("games", ("game", "result", "scores", "hands"), rows)] if rows else []
