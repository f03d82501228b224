"""The screen of a game: it asks the person, lets the agents choose, and tells what happens, one thing after another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, Vertical, VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Static

from deepcrib.app.screens.dialogs import BACK, HELP, TOO_SMALL, Dialog
from deepcrib.app.screens.hinting import WORKING, fill_hint
from deepcrib.app.screens.reports import after_game
from deepcrib.app.screens.widgets import Hand
from deepcrib.app.session import Session
from deepcrib.app.setup import Setup
from deepcrib.app.table import SHOWN, Table, held_words
from deepcrib.board import TableView
from deepcrib.board.canvas import Canvas
from deepcrib.board.pegboard import draw_board
from deepcrib.board.scene import PLAY_LINES, draw_play, draw_player
from deepcrib.game.cards import NO_CARD
from deepcrib.game.rules import DISCARD_SLOTS_6
from deepcrib.records import Event

DISCARD, PLAY, HELD, COUNT, GO_ON, PAUSE = "discard", "play", "held", "count", "go on", "pause"
"""What the screen waits for: cards to throw, a card to play, a choice to stand, points, a key, a moment to look."""
THROWN = DISCARD_SLOTS_6.shape[1]
GO, UNDO = -1, -2
"""Answers besides actions."""
WAITING = "waiting for the hint, which is still being worked out"
"""Said where the game stands still since the thread that carries it on has a hint to finish, which nobody reads now."""


class GameScreen(Screen[bool]):
    """One game, from the deal, or from where it was interrupted, to its end; returns whether another is wanted."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "confirm", "Go on", key_display="Enter"),
        Binding("h", "hint", "Hint"),
        Binding("u", "undo", "Undo"),
        Binding("question_mark", "help", "Help", key_display="?"),
        Binding("q", "quit_game", "Quit"),
        Binding("space", "take", show=False),
        Binding("left", "move(-1)", show=False),
        Binding("right", "move(1)", show=False),
        *(Binding(str(number), f"slot({number - 1})", show=False) for number in range(10)),
    ]

    def __init__(self, session: Session, setup: Setup) -> None:
        super().__init__()
        self.session = session
        self.setup = setup
        names = [player.name for player in session.header.players]
        self.table = Table(names, session.person, setup.suits)
        for event in session.events:
            self.table.tell(event)
        self.table.counted = None
        self.waiting = ""
        self.recent = ""  # what has just been played, or turned up, in words
        self.question = self.typed = ""  # how many points a hand has, and the answer so far
        self.held: int | None = None
        """The person's choice that does not count yet: nothing that follows from it can be seen."""
        self.seen: TableView | None = None  # the table before that choice
        self._answer: asyncio.Future[int] | None = None

    def compose(self) -> ComposeResult:
        """Board, opponent, cards played, own cards and log, message, keys."""
        with Container(classes="whole"):
            for part in ("title", "board", "opponent", "play"):
                yield Static(id=part)
            with Horizontal(id="lower"):
                with Vertical(id="mine"):
                    yield Static(id="person")
                    yield Hand(id="hand")
                with VerticalScroll(id="log", can_focus=False):
                    yield Static()
            yield Static(id="message")
            yield Footer(show_command_palette=False)
        yield Static(TOO_SMALL, classes="notice")

    def on_mount(self) -> None:
        """Begin."""
        self.run_worker(self.setup.or_end(self._drive(), self.app.exit), exclusive=True)

    # --- the game -------------------------------------------------------------------------------------------

    async def _drive(self) -> None:
        for_review = self.session.over
        while not self.session.over:
            seat = self.session.to_choose
            if seat is None:
                await self._tell(await self.setup.worker.do(self.session.step))
            elif seat == self.session.person:
                await self._let_person_choose()
            else:
                self.say(WAITING if self.setup.worker.busy else f"{self.table.names[seat]} is thinking")
                self.draw()
                await self._tell(await self.setup.worker.do(self.session.answer))
        self.say("the game is over")
        self.draw()
        if not for_review:
            await self.wait_for(GO_ON)
        self.dismiss(await after_game(self.app, self.setup, self.session, for_review))

    async def _let_person_choose(self) -> None:
        """Until a choice stands."""
        discarding = self.session.phase == DISCARD
        hand = self.query_one(Hand)
        self.say(self._prompt())
        action = await self.wait_for(DISCARD if discarding else PLAY)
        if action < 0:
            return
        assert self.seen is not None and self.seen.legal is not None
        if not discarding and action not in self.seen.legal:
            self.notify("that card would go over 31", timeout=2)
            return
        words = held_words(self.table, self.seen, action)
        self.held = action
        if self.setup.pace > 0:
            self.say(f"{words}: u takes it back, Enter lets it stand")
            marked, hand.chosen = hand.chosen, []
            if await self.wait_for(HELD, self.setup.pace) == UNDO:
                self.held, hand.chosen = None, marked
                return
        hand.chosen = []
        self.say(WAITING if self.setup.worker.busy else words)
        await self._tell(await self.setup.worker.do(self._choose, action))

    def _choose(self, action: int) -> list[Event]:
        """In the thread, the person's choice counts."""
        self.held = None
        return self.session.choose(action)

    async def _tell(self, events: list[Event]) -> None:
        """Tell events one after another; a count waits for a key."""
        for event in events:
            own = self.setup.counts and event.kind in SHOWN and event.seat == self.session.person
            said = await self._ask_count(event) if own else 0
            self.table.tell(event)
            if event.kind == "deal":
                self.query_one(Hand).chosen = []
            if event.kind in SHOWN and self.table.counted is not None:
                self.say(self.table.judge_count(event, said) if own else self.table.counted[0])
                await self.wait_for(GO_ON)
            elif event.kind in ("play", "starter"):
                said = len(self.table.log) - 1
                goes = self.table.tell_goes([bool(go) for go in self.session.game["goes"]])
                self.recent = "; ".join(line.plain for line in self.table.log[said:])
                self.say(self.recent)
                self.draw()
                if self.session.to_choose != self.session.person and (event.seat != self.session.person or goes):
                    await self.wait_for(PAUSE, self.setup.pace)
        self.draw()

    async def _ask_count(self, event: Event) -> int:
        """The points that the person counts."""
        self.question, self.typed = self.table.ask_count(event), ""
        self.say(self.question)
        said = await self.wait_for(COUNT)
        self.session.missed.append(event.points - said)
        return said

    def _prompt(self) -> str:
        game = self.session.game
        if self.session.phase == DISCARD:
            whose = self.table.whose(int(game["dealer"]))
            return f"mark {THROWN} cards for {whose} crib with 1-6 or the mouse, then Enter"
        return f"{self.recent}; your turn on {game['count']}".removeprefix("; ")

    # --- asking the person ----------------------------------------------------------------------------------

    async def wait_for(self, waiting: str, timeout: float | None = None) -> int:
        """An action, GO or UNDO; GO also when the time, in seconds, is over."""
        self._answer = asyncio.get_running_loop().create_future()
        self.waiting = waiting
        self.draw()
        try:
            return await asyncio.wait_for(self._answer, timeout)
        except TimeoutError:
            return GO
        finally:
            self.waiting = ""

    def give(self, answer: int) -> None:
        """Answer what is waited for."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(answer)

    def action_slot(self, slot: int) -> None:
        """A card's key: mark it for the crib, or play it; a digit where points are counted."""
        if self.waiting == COUNT:
            self.typed = f"{self.typed}{slot + 1}"[-2:]
            self.say(self.question + self.typed)
            return
        hand = self.query_one(Hand)
        held = () if self.seen is None else self.seen.hands[self.session.person]
        if self.waiting not in (DISCARD, PLAY) or not 0 <= slot < len(held) or held[slot] == NO_CARD:
            return
        hand.cursor = slot
        if self.waiting == PLAY:
            self.give(slot)
            return
        hand.toggle(slot, THROWN)
        self.draw()

    def action_move(self, step: int) -> None:
        """The cursor to the next card."""
        self.query_one(Hand).move(step)
        self.draw()

    def action_take(self) -> None:
        """Space: mark or play the card at the cursor, or go on."""
        if self.waiting in (DISCARD, PLAY):
            self.action_slot(self.query_one(Hand).cursor)
        else:
            self.action_confirm()

    def action_confirm(self) -> None:
        """Enter: throw the marked cards, play the card at the cursor, say the points that are typed, or go on."""
        hand = self.query_one(Hand)
        if self.waiting == PLAY:
            self.give(hand.cursor)
        elif self.waiting == COUNT:
            self.give(int(self.typed)) if self.typed else self.say(f"{self.question}0 to 29")
        elif self.waiting != DISCARD:
            self.give(GO)
        elif len(hand.chosen) < THROWN:
            self.say(f"{len(hand.chosen)} of {THROWN} cards are marked: 1-6, arrows and space, or click")
        else:
            self.give(DISCARD_SLOTS_6.tolist().index(sorted(hand.chosen)))

    def action_undo(self) -> None:
        """Take the choice back that does not count yet."""
        if self.waiting == HELD:
            self.give(UNDO)
        else:
            self.say("nothing is thrown yet" if self.waiting == DISCARD else "too late: nothing can be taken back now")

    def action_hint(self) -> None:
        """What each choice is worth."""
        if self.waiting in (DISCARD, PLAY):
            self.session.hint()
            dialog = Dialog("hint", Text(WORKING), BACK, ("h", "back", ""))
            self.app.push_screen(dialog)
            self.app.run_worker(self.setup.or_end(fill_hint(self.setup, self.session, dialog), self.app.exit))
        else:
            self.say("hints are for your own choices")

    def action_help(self) -> None:
        """The keys."""
        self.app.push_screen(Dialog("help", Text.from_markup(HELP), BACK, ("?", "back", "")))

    def action_quit_game(self) -> None:
        """Ask whether to leave."""
        question = Text("Leave the game? It is saved, and can be resumed.")
        dialog = Dialog("quit", question, ("y", "yes, quit", "yes"), ("n", "no, play on", ""), BACK)
        self.app.push_screen(dialog, lambda answer: self.app.exit() if answer else None)

    # --- drawing --------------------------------------------------------------------------------------------

    def say(self, text: str) -> None:
        """The line over the keys."""
        self.query_one("#message", Static).update(Text(text, no_wrap=True, overflow="ellipsis"))

    def draw(self) -> None:
        """Everything as it is now."""
        session, table = self.session, self.table
        view = table.view(session.game, session.to_choose if session.phase == DISCARD else None, self.held)
        if self.held is None:
            self.seen = view
        title = f"Hand {view.hand_number + 1}, {table.whose(view.dealer)} crib"
        self.query_one("#title", Static).update(Text(f"{title}   {self.setup.heading}"))
        self._put("#board", 2 * view.num_players + 3, draw_board, view)
        self._put("#opponent", 1, draw_player, view, 1 - table.person)
        self._put("#play", PLAY_LINES, draw_play, view, table.counted)
        self._put("#person", 1, draw_player, view, table.person, False)
        self.query_one(Hand).show(view, table.person, table.suits)
        log = self.query_one("#log", VerticalScroll)
        log.query_one(Static).update(Text("\n").join(table.log))
        log.anchor()  # at its end, also where it has another size only after the next layout

    def _put(self, where: str, lines: int, draw: Callable[..., None], *arguments: Any) -> None:
        canvas = Canvas(lines, self.table.suits)
        draw(canvas, *arguments)
        self.query_one(where, Static).update(canvas.text)
