"""The hint on the screen: worked out in the thread, shown as it comes."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from deepcrib.analysis.hand_values import HandValues
from deepcrib.app.hints import EXACT, PlayHint, discard_hint, play_hint, with_exact
from deepcrib.app.screens.dialogs import Dialog, hint_dialog
from deepcrib.app.screens.drawing import log_text
from deepcrib.app.screens.host import Host
from deepcrib.app.session import Session
from deepcrib.app.table import Line
from deepcrib.app.words import card_name, card_names
from deepcrib.game.cards import parse_cards
from deepcrib.game.observations import DiscardObservation, PlayObservation

WORKING = "working it out (the first time its code is compiled, which may take some seconds) ..."
NAME_WIDTHS = (13, 8)
"""Columns of an agent's name: where there are up to two agents, and where there are more."""
DISCARD_NOTE = (
    "hand, crib and play: exact means in points, the opponent's crib negative; * what a player would throw; "
    "a player's own values are in its own units"
)
PLAY_NOTE = (
    "now: scored at once. exact: own minus the opponent's points from here to the end of the play, against a greedy "
    "player; * what a player would play"
)


def show_hint(app: Host, session: Session) -> None:
    """Open the hint for the choice that the person has, and record that it was asked for."""
    session.hint()
    dialog = hint_dialog(WORKING)
    app.push_screen(dialog)
    app.run_worker(_fill(app, session, dialog))


async def _fill(app: Host, session: Session, dialog: Dialog) -> None:
    try:
        observation = await app.worker.do(session.observation)
        if isinstance(observation, DiscardObservation):
            await _fill_discard(app, observation, dialog)
        else:
            await _fill_play(app, observation, dialog)
    except Exception as error:
        app.fail(error)


async def _fill_discard(app: Host, observation: DiscardObservation, dialog: Dialog) -> None:
    """The exact figures, and then what players think."""
    suits, hints = app.setup.suits, app.setup.hints
    values = await app.worker.do(discard_hint, observation, {})
    dialog.show(discard_grid(values, suits, Text(WORKING, "dim") if hints else None))
    if hints and dialog.is_attached:
        values = await app.worker.do(discard_hint, observation, hints)
        dialog.show(discard_grid(values, suits))


async def _fill_play(app: Host, observation: PlayObservation, dialog: Dialog) -> None:
    """What scores at once, then what players think, then the exact values."""
    suits, hints, note = app.setup.suits, app.setup.hints, Text(WORKING, "dim")
    hint = play_hint(observation, {})
    dialog.show(play_grid(hint, suits, note))
    if hints:
        hint = await app.worker.do(play_hint, observation, hints)
        dialog.show(play_grid(hint, suits, note))
    if dialog.is_attached:
        hint = await app.worker.do(lambda: with_exact(hint, observation, app.exact()))
        dialog.show(play_grid(hint, suits))


def _grid(columns: Sequence[str], agents: Sequence[str]) -> Grid:
    crowded = len(agents) > 2
    grid = Grid(box=None, padding=(0, 1 if crowded else 2, 0, 0), header_style="bold")
    names = [name if name == EXACT else short_name(name, NAME_WIDTHS[crowded]) for name in agents]
    for number, column in enumerate((*columns, *names)):
        grid.add_column(column, justify="left" if number < 2 else "right", no_wrap=True)
    return grid


def _cards(text: str, suits: str) -> Text:
    return log_text([Line(card_names(parse_cards(text), suits))], suits)


def discard_grid(values: HandValues, suits: str, note: Text | None = None) -> RenderableType:
    """The 15 discards, best first."""
    grid = _grid(("throw", "keep", "hand", "crib", "play", "total"), list(values.agents))
    for action in values.best_first:
        figures = values.discards[action]
        means = (f"{figures.hand_mean:.2f}", f"{figures.crib_mean:+.2f}", f"{figures.pegging:+.2f}")
        grid.add_row(
            _cards(figures.toss, suits),
            _cards(figures.keep, suits),
            *means,
            Text(f"{figures.total:.2f}", "bold"),
            *(
                marked(None if choice.values is None else choice.values[action], action in choice.likeliest)
                for choice in values.agents.values()
            ),
        )
    return Group(grid, Text(DISCARD_NOTE, "dim"), note or "")


def play_grid(hint: PlayHint, suits: str, note: Text | None = None) -> RenderableType:
    """The cards that may be played, best first."""
    grid = _grid(("card", "now"), list(hint.values))
    for place in hint.best_first:
        why = ", ".join(map(str, hint.parts[place])) or "-"
        grid.add_row(
            log_text([Line(card_name(hint.cards[place], suits))], suits),
            why,
            *(
                marked(None if values is None else values[place], hint.slots[place] in hint.choices[name])
                for name, values in hint.values.items()
            ),
        )
    return Group(grid, Text(PLAY_NOTE if EXACT in hint.values else PLAY_NOTE.split(" exact")[0], "dim"), note or "")


def marked(value: float | None, chosen: bool) -> str:
    """`+1.23*`: a value if there is one, and a star on what would be chosen."""
    return ("" if value is None else f"{value:+.2f}") + ("*" if chosen else " ")


def short_name(name: str, width: int) -> str:
    """An agent's name in a column; of a path its end."""
    last = name.rstrip("/").removesuffix("/weights.safetensors").split("/")[-1]
    return last if len(last) <= width else f"{last[: width - 1]}~"
