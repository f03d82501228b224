"""The hint on the screen: worked out in the thread, shown as it comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

from rich.console import Group, RenderableType
from rich.text import Text

from deepcrib.analysis.hand_values import HandValues
from deepcrib.app.hints import EXACT, PlayHint, discard_hint, play_hint, with_exact
from deepcrib.app.screens.dialogs import Dialog
from deepcrib.app.session import Session
from deepcrib.app.setup import Setup
from deepcrib.app.words import card_names, colored, grid
from deepcrib.evaluation.review import CHANCE, SCALE
from deepcrib.game.cards import parse_cards
from deepcrib.game.observations import DiscardObservation, PlayObservation

WORKING = "working it out (the first time its code is compiled, which may take some seconds) ..."
NAME_WIDTHS = (13, 8)
"""Columns of an agent's name: where there are up to two agents, and where there are more."""
_SCALE, _CHANCE = (text.format("expected_value") for text in (SCALE, CHANCE))
DISCARD_NOTE = (
    f"{_SCALE}; total: hand, crib and play, without the opponent's hand. {_CHANCE}; "
    "* what a player would throw; its own values are in its own units"
)
PLAY_NOTE = "now: scored at once."
EXACT_NOTE = f" exact: from here to the end of the play; {_SCALE}. {_CHANCE}; * what a player would play"


async def fill_hint(setup: Setup, session: Session, dialog: Dialog) -> None:
    """Show what is known of the choice as soon as it is, in the thread; what nobody looks at any more is left out."""
    stages = _stages(setup, await setup.worker.do(session.observation))
    for number, stage in enumerate(stages, start=1):
        if dialog.is_attached:
            dialog.show(await setup.worker.do(stage), WORKING if number < len(stages) else "")


def _stages(setup: Setup, observation: DiscardObservation | PlayObservation) -> list[Callable[[], RenderableType]]:
    """What is known at once, then what players think; of the play then the exact values."""
    hints, suits = setup.hints, setup.suits
    opinions = [{}, hints] if hints else [{}]
    if isinstance(observation, DiscardObservation):
        return [partial(lambda agents: discard_grid(discard_hint(observation, agents), suits), one) for one in opinions]
    asked = [cache(partial(play_hint, observation, agents)) for agents in opinions]  # a player may search for long

    def exact() -> RenderableType:
        return play_grid(with_exact(asked[-1](), observation), suits)

    return [*(partial(lambda hint: play_grid(hint(), suits), hint) for hint in asked), exact]


def discard_grid(values: HandValues, suits: str) -> RenderableType:
    """The 15 discards, best first; the cards kept give way to a second agent."""
    rows: list[list[Text | str]] = []
    columns = ("throw", "keep")[: 1 if len(values.agents) > 1 else 2]
    most = max(one.win for one in values.discards)
    for action in values.best_first:
        one, choices = values.discards[action], values.agents.values()
        texts = (one.discard, one.keep)[: len(columns)]
        cards = [colored(card_names(parse_cards(cards), suits), suits) for cards in texts]
        means = f"{one.hand_mean:.2f}", f"{one.crib_mean:+.2f}", f"{one.pegging:+.2f}", Text(f"{one.total:.2f}", "bold")
        opinions = [marked(choice.values, action, action in choice.likeliest) for choice in choices]
        rows.append([*cards, *means, _win(one.win, most), *opinions])
    columns = *columns, "hand", "crib", "play", "total", "win%"
    return _grid(columns, list(values.agents), rows, DISCARD_NOTE)


def play_grid(hint: PlayHint, suits: str) -> RenderableType:
    """The cards that may be played, best first."""
    rows: list[list[Text | str]] = []
    for place in hint.best_first:
        card = colored(card_names([hint.cards[place]], suits), suits)
        opinions = [
            marked(values, place, hint.slots[place] in hint.choices[name]) for name, values in hint.values.items()
        ]
        win = [] if hint.chances is None else [_win(hint.chances[place], max(hint.chances))]
        rows.append([card, ", ".join(map(str, hint.parts[place])) or "-", *win, *opinions])
    columns = ("card", "now") if hint.chances is None else ("card", "now", "win%")
    return _grid(columns, list(hint.values), rows, PLAY_NOTE + EXACT_NOTE * (EXACT in hint.values))


def _win(chance: float, most: float) -> Text:
    return Text(f"{100 * chance:.1f}", "bold" if chance == most else "")


def _grid(
    columns: Sequence[str], agents: Sequence[str], rows: Sequence[Sequence[Text | str]], note: str
) -> RenderableType:
    names = [short_name(name, NAME_WIDTHS[len(agents) > 2]) for name in agents]
    return Group(grid((*columns, *names), rows, gap=1 if len(agents) > 1 else 2), Text(note, "dim"))


def marked(values: Sequence[float | None] | None, place: int, chosen: bool) -> str:
    """`+1.23*`: the value at a place if there is one, and a star on what would be chosen."""
    value = None if values is None else values[place]
    return ("" if value is None else f"{value:+.2f}") + ("*" if chosen else " ")


def short_name(name: str, width: int) -> str:
    """An agent's name in a column; of a path its end."""
    last = name.rstrip("/").removesuffix("/weights.safetensors").split("/")[-1]
    return last if len(last) <= width else f"{last[: width - 1]}~"
