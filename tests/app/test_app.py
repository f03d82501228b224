"""The screens driven as a person would: keys, mouse and windows that change."""

import asyncio
import io
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console, RenderableType
from textual.pilot import Pilot

from deepcrib.agents import AgentError, make_agent, name_agents
from deepcrib.app import Session, Setup, new_header
from deepcrib.app.screens import reports as reports_module
from deepcrib.app.screens.application import PlayApp
from deepcrib.app.screens.game import GameScreen
from deepcrib.app.screens.reports import result_text
from deepcrib.app.screens.widgets import Hand
from deepcrib.evaluation.regrets import Decision
from deepcrib.evaluation.review import HandReview, Review
from deepcrib.records import GameRecord, GameWriter, Player, read_games, replay
from deepcrib.search.best_response import BestResponseAgent
from tests.support.recorded import played

ROOT = Path(__file__).resolve().parents[2]
SIZE = (80, 24)
Script = Callable[["Person"], Awaitable[None]]


class Person:
    """Hands and eyes: presses, clicks, and reads the screen."""

    def __init__(self, app: PlayApp, pilot: Pilot) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def screen(self) -> str:
        """The text that is seen."""
        strips = self.app.screen._compositor.render_strips(self.app.size)
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)

    @property
    def game(self) -> GameScreen:
        return next(screen for screen in self.app.screen_stack if isinstance(screen, GameScreen))

    @property
    def waiting(self) -> str:
        """What the game waits for, `dialog` where something lies over it."""
        if not isinstance(self.app.screen, GameScreen):
            return "dialog" if len(self.app.screen_stack) > 1 else ""
        return self.app.screen.waiting

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def until(self, *states: str, text: str = "") -> str:
        """Wait for one of some states, and a text on the screen."""
        end = time.monotonic() + 200
        while self.waiting not in states or (text and text not in self.screen):
            assert self.app.setup.failure is None, self.app.setup.failure
            assert time.monotonic() < end and self.app.is_running, self.screen
            await self.pilot.pause(0.01)
        return self.waiting

    async def sees(self, *texts: str) -> None:
        """Wait until texts are on the screen, which follows what happens in a moment."""
        end = time.monotonic() + 60
        while not all(text in self.screen for text in texts):
            assert time.monotonic() < end, (texts, self.screen)
            await self.pilot.pause(0.01)

    async def play_on(self, choose: Script, until: Callable[["Person"], bool], look: Script | None = None) -> None:
        """Choose and go on until a state of the game, or a dialog; look: done whenever there is something to do."""
        while True:
            state = await self.until("discard", "play", "count", "go on", "pause", "dialog")
            await self.pilot.pause()  # what has been updated is painted a moment later
            if self.waiting != state:
                continue
            if state == "dialog" or (state != "pause" and until(self)):
                return
            if look is not None and state != "pause":
                await look(self)
            if state in ("go on", "pause"):
                await self.press("enter")
            else:
                await choose(self)


async def by_keys(person: Person) -> None:
    seen = person.game.seen
    assert seen is not None and seen.legal is not None
    await person.press(*(("1", "2", "enter") if seen.phase == "discard" else (str(seen.legal[-1] + 1),)))


async def by_arrows(person: Person) -> None:
    if person.waiting == "discard":
        await person.press("right", "space", "right", "right", "space", "enter")
    else:
        legal, hand = person.game.seen.legal, person.game.query_one(Hand)  # type: ignore[union-attr]
        while hand.cursor not in legal:  # type: ignore[operator]
            await person.press("left")
        await person.press("space")


async def by_mouse(person: Person) -> None:
    hand, seen = person.game.query_one(Hand), person.game.seen
    assert seen is not None and seen.legal is not None
    if seen.phase == "discard":
        for slot in (5, 3):
            await person.pilot.click(hand, offset=(6 * slot + 2, 1))
        await person.pilot.click("FooterKey")  # the first one: Enter
    else:
        await person.pilot.click(hand, offset=(6 * seen.legal[0] + 1, 2))


def run_with(script: Script, start: Callable[[int], Session], size: tuple[int, int] = SIZE, **options: Any) -> Setup:
    """An evening with a person who follows a script."""
    setup = Setup(start, **{"pace": 0.0, **options})

    async def evening() -> None:
        app = PlayApp(setup)
        async with app.run_test(size=size) as pilot:
            await script(Person(app, pilot))

    asyncio.run(evening())
    return setup


def drawn(text: RenderableType) -> str:
    console = Console(width=SIZE[0], file=io.StringIO())
    with console.capture() as captured:
        console.print(text)
    return " ".join(captured.get().split())


def starter(path: Path, seed: int = 1, header: GameRecord | None = None, agent: Any = None) -> Callable[[int], Session]:
    opponent = agent or make_agent("greedy")

    def start(number: int) -> Session:
        players = [Player("greedy", "agent", "greedy")]
        own = header if header and number == 0 else new_header("Ann", players, "acc", seed, number)
        return Session(own, [None, opponent], GameWriter(path))

    return start


@pytest.fixture(scope="module")
def nearly_over(tmp_path_factory: pytest.TempPathFactory) -> GameRecord:
    """A game that lacks its last few events; its last hands were played by keys, to the end."""
    path = tmp_path_factory.mktemp("whole") / "game.jsonl"
    begun = played(1, agents=("random", "greedy"), person=0, hands=5)

    async def script(person: Person) -> None:
        await person.play_on(by_keys, lambda person: False)
        await person.sees("the game is over", "greedy wins, 121 to")

    (session,) = run_with(script, starter(path, header=begun)).games
    (record,) = read_games(path)
    assert record.events[: len(begun.events)] == begun.events
    assert sum(event.kind == "deal" for event in record.events[len(begun.events) :]) > 1
    assert record == replace(session.record, file=record.file, line=record.line) and record.finished
    assert replay(record).games.scores[0].tolist() == list(session.game["scores"])
    last = max(place for place, event in enumerate(record.events) if event.kind == "play" and event.seat == 0)
    return replace(record, events=record.events[: last - 1])


# --- whole games ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("choose", [by_arrows, by_mouse])
def test_a_hand_by_arrows_and_by_mouse(choose: Callable[[Person], Awaitable[None]], tmp_path: Path) -> None:
    async def script(person: Person) -> None:
        await person.play_on(choose, lambda person: person.game.session.game["hand_number"] == 1)

    run_with(script, starter(tmp_path / "game.jsonl", 2), suits="letters")
    (record,) = read_games(tmp_path / "game.jsonl")
    kinds = [event.kind for event in record.events if event.seat == 0 and event.kind in ("discard", "play")]
    assert kinds == ["discard"] + 4 * ["play"]
    thrown = next(event.cards for event in record.events if event.kind == "discard" and event.seat == 0)
    dealt = sorted(record.events[0].hands[0])
    places = (3, 5) if choose is by_mouse else (1, 3)
    assert thrown == tuple(dealt[place] for place in places)
    replay(record)


def test_after_a_game_come_the_result_a_review_and_another_game(
    nearly_over: GameRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = Decision("discard", "pone", 1, "2C 3C 4H 8S TS KD", "", "2C 3C (+1.00)", "8S KD (+3.25)", 2.25, 0.051)

    def review(record: GameRecord, seat: int, *, progress: Callable[[int], None]) -> Review:
        assert record.finished and seat == 0
        progress(3)
        return Review("Ann", 0, "greedy", [HandReview(1, "pone", (0, 0), [lost])], [lost], [1.0, 3.0])

    monkeypatch.setattr(reports_module, "review", review)

    async def script(person: Person) -> None:
        await person.play_on(by_keys, lambda person: False)
        await person.sees("greedy wins, 121 to", "r review")
        await person.press("r")
        await person.until("dialog", text="0 of 1 choices were the best. The others cost 2.25")
        await person.sees("You played +2.00 [-10.71, +14.71]", "2♣ 3♣ 4♥ 8♠ 10♠ K♦", "8♠ K♦ (+3.25)")
        await person.press("escape", "n")
        await person.until("discard")
        await person.sees("Hand 1", "games won 0, lost 1")

    setup = run_with(script, starter(tmp_path / "game.jsonl", header=nearly_over))
    first, second = read_games(tmp_path / "game.jsonl")
    assert first.finished and not second.finished
    assert (second.seed, second.game) == (1, 1) and len(setup.games) == 2


def test_who_counts_is_told_what_was_missed(tmp_path: Path) -> None:
    """Nothing of a count is seen before it is typed; 0, then too many, then what there is."""
    answers, told = ["0", "29", ""], []

    async def count(person: Person) -> None:
        if person.waiting != "count":
            await by_keys(person)
            return
        session, hand = person.game.session, int(person.game.session.game["hand_number"])
        own = [e for e in session.events if e.kind in ("hand", "crib") and e.seat == 0][len(told)]
        await person.sees("how many points has your", f"{own.kind}: ?")
        assert not any(f"your {own.kind}: " in line.plain for line in person.game.table.log[-3:])
        scores = list(person.game.table.scores)
        said = answers.pop(0) or str(own.points)
        await person.press("enter", "space")
        await person.sees("0 to 29")
        await person.press("7", "7", *said.rjust(2, "0"), "enter")
        missed = own.points - int(said)
        verdict = "right" if missed == 0 else f"{missed} missed" if missed > 0 else f"{-missed} too many"
        await person.until("go on", text=f"your {own.kind}: {own.points}; you said {said}, {verdict}")
        assert person.game.table.scores[0] == scores[0] + own.points and hand == session.game["hand_number"]
        if missed > 0:
            assert any(f"missed {missed}, such as" in line.plain for line in person.game.table.log)
        told.append(missed)

    setup = run_with(
        lambda person: person.play_on(count, lambda person: len(told) == 3 or person.app.setup.games[0].over),
        starter(tmp_path / "game.jsonl", 5),
        counts=True,
    )
    assert setup.games[0].missed == told and told[0] > 0 > told[1] and told[2] == 0


def test_the_result_of_a_resumed_game_says_which_counts_it_knows(nearly_over: GameRecord, tmp_path: Path) -> None:
    """Counts are not in the record. Points by kind may come to more than 121."""
    new = replace(nearly_over, events=())
    for header, since in ((nearly_over, " (since the game was resumed)"), (new, "")):
        session = starter(tmp_path / f"{bool(since)}.jsonl", header=header)(0)
        session.missed = [0, 2, -1]
        text = drawn(result_text(session))
        assert text.endswith(f"1 of 3 counts were right; muggins would have cost you 2 points{since}")
        assert "points past 121 are in the columns" in text


@pytest.mark.parametrize("suits", ["symbols", "letters"])
def test_costs_in_a_review_are_whole_at_80_columns(suits: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The longest cells that there are: tens, two figures before the point, all that has been played before a card."""
    seen = "starter 2C, series JH 4S 4D = 18, before 5C TH 6D TS"
    played_on = Decision("play 3", "pone", 11, "TD TC", seen, "TD (-16.23)", "TC (+10.02)", 26.25, 0.123)
    thrown = Decision("discard", "dealer", 9, "TC TD TH TS QC QD", "", "TC TD (+10.24)", "QC QD (+28.15)", 17.91, 0.456)

    def review(record: GameRecord, seat: int, *, progress: Callable[[int], None]) -> Review:
        time.sleep(0.5)  # until the box is there
        return Review("Ann", 0, "greedy", [], [played_on, thrown], [1.0, 3.0])

    monkeypatch.setattr(reports_module, "review", review)
    clubs, diamonds, hearts, spades = "♣♦♥♠" if suits == "symbols" else "CDHS"

    async def script(person: Person) -> None:
        await person.until("dialog", text="points win%")
        lines = [line.strip("│ ").split() for line in person.screen.splitlines()]
        play = f"26.25 12.3 12 play 3 10{diamonds} (-16.23) 10{clubs} (+10.02)".split()
        throw = f"17.91 45.6 10 throw 10{clubs} 10{diamonds} (+10.24) Q{clubs} Q{diamonds} (+28.15)".split()
        for wanted in (play, throw):
            assert any(line[: len(wanted)] == wanted for line in lines), person.screen
        assert "…" not in person.screen and f"J{hearts} 4{spades} 4" in " ".join(person.screen.replace("│", "").split())

    run_with(script, starter(tmp_path / "game.jsonl", header=played(6, person=0)), suits=suits)


def test_a_finished_game_is_opened_again_with_its_review(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = played(6, person=0)

    def review(record: GameRecord, seat: int, *, progress: Callable[[int], None]) -> Review:
        time.sleep(0.5)  # until the box is there
        progress(2)
        return Review("Ann", 0, "greedy", [], [], [1.0])

    monkeypatch.setattr(reports_module, "review", review)

    async def script(person: Person) -> None:
        await person.until("dialog", text="0 of 0 choices were the best")
        await person.press("escape")
        await person.until("dialog", text="r review")
        await person.press("n")
        await person.until("discard")
        await person.sees("Hand 1")

    assert record.finished
    setup = run_with(script, starter(tmp_path / "game.jsonl", header=replace(record, seed=None)))
    assert [session.over for session in setup.games] == [True, False]


# --- what a slip needs ------------------------------------------------------------------------------------------


def test_a_game_that_waits_for_a_hint_says_so(tmp_path: Path) -> None:
    """A hint that was left before it was there holds the next card up: the first one takes a minute to compile."""

    async def script(person: Person) -> None:
        await person.until("discard")
        done = threading.Event()
        hint = asyncio.ensure_future(person.app.setup.worker.do(done.wait))
        await asyncio.sleep(0)
        await person.press("1", "2", "enter")
        await person.until("", text="waiting for the hint")
        assert [event.kind for event in person.game.session.events if event.seat == 0].count("discard") == 0
        done.set()
        await hint
        await person.until("play")

    run_with(script, starter(tmp_path / "game.jsonl", 3))


def test_undo_a_hint_and_windows_of_other_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A choice is on the disk only when it counts. Values of the exact player are made up: working them out is slow."""
    values = np.array([[0.25, 1.5, -0.75, 0.5]])
    monkeypatch.setattr(BestResponseAgent, "play_values", lambda _, seen: np.where(seen.legal, values, -np.inf))
    path = tmp_path / "game.jsonl"

    async def script(person: Person) -> None:
        await person.until("discard")
        await person.press("enter")
        await person.sees("0 of 2 cards are marked")
        await person.press("h")
        await person.until("dialog", text="total")
        await person.sees("expected", "* ", "total  win%", "total: hand, crib and play")
        await person.press("escape")
        await person.until("discard")
        await person.press("1", "2", "u")
        await person.sees("nothing is thrown yet")
        await person.press("enter")
        await person.until("held")
        await person.sees("u takes it back", "own ")
        before = path.read_text()
        await person.press("u")
        await person.until("discard")
        assert path.read_text() == before and '"hint"' in before
        await person.press("2", "3", "enter")
        await person.until("held")
        await person.press("enter")
        await person.play_on(by_keys, lambda person: person.waiting == "play")
        await resized(person)
        await person.press("h")
        await person.until("dialog", text="exact")
        await person.sees("+1.50*", "win%  exact")
        await person.press("escape")
        await by_keys(person)
        await person.until("held")
        await person.press("u")
        await person.until("play")
        await person.press("u")
        await person.sees("too late")

    hints = name_agents([make_agent("expected_value")])
    run_with(script, starter(path, 3), pace=60.0, hints=hints)
    (record,) = read_games(path)
    assert [event.cards for event in record.events if event.kind == "discard" and event.seat == 0] == [
        tuple(sorted(record.events[0].hands[0])[place] for place in (0, 2))
    ]
    assert sum(event.kind == "hint" for event in record.events) == 2


async def resized(person: Person) -> None:
    """Too small, the screen says so in one line; larger and smaller again, it is as it was."""
    before = person.screen
    for size in ((60, 20), (79, 40), (120, 23), (21, 3)):
        await person.pilot.resize_terminal(*size)
        await person.sees("deepcrib needs 80x24")
        assert " ".join(person.screen.split()) == "deepcrib needs 80x24 Ctrl-C leaves; the game is saved"
    for size in ((120, 40), (200, 60), (80, 24)):
        await person.pilot.resize_terminal(*size)
        for text in ("your turn", "starter", " h Hint"):
            await person.until("play", text=text)
    await person.until("play", text=before)


@pytest.mark.parametrize("suits", ["symbols", "letters"])
def test_everything_fits_into_80_columns_and_24_lines(suits: str, tmp_path: Path) -> None:
    """Board, both players, crib, cards, count, log, what is to be done and keys, in every phase."""
    phases = set()

    def missing(person: Person) -> str:
        seen, text = person.game.seen, person.screen.split("\n")
        assert seen is not None and len(text) == 24
        newest = " ".join(person.game.table.log[-1].plain.split(",")[0].split())[:20]
        wanted = {
            "title": text[0].startswith("Hand") and "crib" in text[0],
            "board": "120   115   110" in text[7],
            "opponent": " G greedy" in text[8],
            "cards": text[9].startswith("starter") and len(text[10].split("┌" if suits == "symbols" else "+")) > 1,
            "count": f"count {seen.count}" in text[9] or person.waiting != "play",
            "person": " A Ann (you)" in text[13],
            "log": newest in " ".join("".join(line[38:78] for line in text).split()),
            "what is to be done": bool(text[22].strip()),
            "keys": "Enter Go on  h Hint  u Undo  ? Help  q Quit" in text[23],
            "letters": suits == "symbols" or all(line[:78].isascii() for line in text[:22]),  # then the scroll bar
        }
        return ", ".join(name for name, there in wanted.items() if not there)

    async def look(person: Person) -> None:
        phases.add(person.waiting)
        for _ in range(200):  # the screen follows in a moment
            if not missing(person):
                return
            await person.pilot.pause(0.02)
        raise AssertionError(f"{missing(person)}\n{person.screen}")

    async def script(person: Person) -> None:
        await person.play_on(by_keys, lambda person: person.game.session.game["hand_number"] == 1, look)

    run_with(script, starter(tmp_path / "game.jsonl", 4), suits=suits)
    assert phases == {"discard", "play", "go on"}


# --- ends that are no ends of a game ----------------------------------------------------------------------------


def test_who_quits_is_asked_and_the_record_can_be_read(tmp_path: Path) -> None:
    async def script(person: Person) -> None:
        await person.play_on(by_keys, lambda person: person.waiting == "play")
        await person.press("q")
        await person.sees("Leave the game?")
        await person.press("n")
        await person.until("play")
        await person.press("question_mark")
        await person.sees("no muggins")
        await person.press("escape", "q", "y")
        await person.pilot.pause()
        assert not person.app.is_running or person.app._exit

    setup = run_with(script, starter(tmp_path / "game.jsonl"))
    assert setup.failure is None and not setup.interrupted
    (record,) = read_games(tmp_path / "game.jsonl")
    assert not record.finished and replay(record).games.scores[0].tolist() == list(setup.games[0].game["scores"])


def test_an_opponent_that_fails_ends_the_evening_with_its_error(tmp_path: Path) -> None:
    class Failing:
        """As greedy, until it should play."""

        name = "failing"
        num_players = frozenset({2})
        discard = staticmethod(make_agent("greedy").discard)
        plays = 0

        def play(self, observation: Any) -> np.ndarray:
            self.plays += 1
            if self.plays > 2:
                raise RuntimeError("no idea")
            return make_agent("greedy").play(observation)

    async def script(person: Person) -> None:
        while person.app.setup.failure is None:
            if person.waiting in ("discard", "play"):
                await by_keys(person)
            await person.pilot.pause(0.01)

    setup = run_with(script, starter(tmp_path / "game.jsonl", 2, agent=Failing()))
    assert isinstance(setup.failure, AgentError) and "failing failed: RuntimeError: no idea" in str(setup.failure)
    replay(read_games(tmp_path / "game.jsonl")[0])
