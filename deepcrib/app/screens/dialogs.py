"""What is shown over the table: help, hints, the question whether to quit, the result and the review."""

from __future__ import annotations

from typing import ClassVar

from rich.console import Group, RenderableType
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Footer, Static

MIN_WIDTH, MIN_HEIGHT = 80, 24
TOO_SMALL = f"deepcrib needs {MIN_WIDTH}x{MIN_HEIGHT}\nCtrl-C leaves; the game is saved"
KEY_NAMES = {"Esc": "escape", "?": "question_mark"}
BACK = ("Esc", "back", "")

HELP = """\
[b]Discard[/]   1-6 mark a card for the crib (or arrows and space, or click);
          Enter throws the two marked ones
[b]Play[/]      1-4 plays a card (or arrows and Enter, or click);
          a go is said for you when no card fits under 31
[b]Go on[/]     Enter or space goes on after a count, and does not wait
          while a choice could still be taken back

[b]h[/]  hint  what each choice is worth     [b]u[/]  undo  before the choice counts
[b]?[/]  help  this page                     [b]q[/]  quit  the game is saved

Points are counted for both players, always and in full: no muggins.
The deal alternates; the low cut deals first. 121 points win; a loser
with 90 or fewer is skunked.

The full peg stands at the score, the empty one at the score before.
Words under cards: [b]crib[/], marked to be thrown; [b]over[/], would go over 31.
The keys at the bottom of the screen can be clicked as well."""


class Dialog(ModalScreen[str]):
    """A box with a title and a text that scrolls; the keys that leave it stand at the bottom of the screen.

    answers: (key as shown, word, what the dialog returns).
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key, f"scroll({lines})", show=False)
        for key, lines in (("up", -1), ("down", 1), ("pageup", -10), ("pagedown", 10))
    ]

    def __init__(self, title: str, body: RenderableType, *answers: tuple[str, str, str]) -> None:
        super().__init__()
        self.dialog_title = title
        self.body = body
        for key, word, answer in answers:
            self._bindings.bind(KEY_NAMES.get(key, key), f"dismiss('{answer}')", word, key_display=key)

    def compose(self) -> ComposeResult:
        """The box, and what a small terminal shows in its place."""
        with Container(classes="whole") as box:
            box.border_title = self.dialog_title
            with VerticalScroll(id="body", can_focus=False):
                yield Static(self.body, id="text")
        yield Footer(show_command_palette=False)
        yield Static(TOO_SMALL, classes="notice")

    def show(self, body: RenderableType, note: str = "") -> None:
        """Another text in the box, if it is still there, and a faint line under it."""
        self.body = Group(body, Text(note, "dim")) if note else body
        for text in self.query("#text").results(Static):
            text.update(self.body)

    def action_scroll(self, lines: int) -> None:
        """Move the text."""
        self.query_one("#body", VerticalScroll).scroll_relative(y=lines, animate=False)
