"""The hint on the screen: worked out in the thread, shown as it comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from textwrap import wrap
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from deepcrib.analysis.hand_values import HandValues
from deepcrib.app.hints import EXACT, PlayHint, discard_hint, marked, play_hint, with_exact
from deepcrib.app.screens.dialogs import Dialog
from deepcrib.app.session import Session
from deepcrib.app.setup import Setup
from deepcrib.app.words import card_names, colored, grid, suited
from deepcrib.evaluation.review import CHANCE, SCALE
from deepcrib.game.observations import DiscardObservation

WORKING = "working it out (the first time its code is compiled, which may take some seconds) ..."
NAME_WIDTHS = (13, 8)
"""Columns of an agent's name: where there are up to two agents, and where there are more."""
_SCALE, _CHANCE = (text.format("expected_value") for text in (SCALE, CHANCE))
DISCARD_NOTE = (
    f"{_SCALE}; total: hand, crib and play, without the opponent's hand. {_CHANCE}; "
    "(3): so many alike but for suits; * what a player would throw; its values have its own units"
)
PLAY_NOTE = "now: scored at once."
EXACT_NOTE = f" exact: from here to the end of the play; {_SCALE}. {_CHANCE}; * what a player would play"


async def fill_hint(setup: Setup, session: Session, dialog: Dialog) -> None:
    """Show what is known of the choice as soon as it is, in the thread; what nobody looks at any more is left out."""
    seen: Any = await setup.worker.do(session.observation)
    hint: Any = None
    opinions = [{}, setup.hints] if setup.hints else [{}]  # known at once, then what players think
    ask: Any = discard_hint if isinstance(seen, DiscardObservation) else play_hint
    draw: Any = discard_grid if ask is discard_hint else play_grid
    stages: list[Callable[[], Any]] = [partial(ask, seen, agents) for agents in opinions]
    if ask is play_hint:
        stages.append(lambda: with_exact(hint, seen))
    for number, stage in enumerate(stages, start=1):
        if dialog.is_attached:
            hint = await setup.worker.do(stage)
            dialog.show(draw(hint, setup.suits), WORKING if number < len(stages) else "")


def discard_grid(values: HandValues, suits: str) -> RenderableType:
    """The 15 discards, best first, those alike in one row; the cards kept give way to a second agent."""
    rows: list[list[Text | str]] = []
    columns = ("throw", "keep")[: 1 if len(values.agents) > 1 else 2]
    most, alike = max(one.win for one in values.discards), dict[tuple[str, ...], list[int]]()
    for action in values.best_first:
        one = values.discards[action]
        means = f"{one.hand_mean:.2f}", f"{one.crib_mean:+.2f}", f"{one.pegging:+.2f}", f"{one.total:.2f}"
        alike.setdefault((one.discard[::3], *means), []).append(action)
    for (_, *figures), actions in alike.items():
        one, choices = values.discards[actions[0]], values.agents.values()
        thrown = one.discard + f" ({len(actions)})" * (len(actions) > 1)
        opinions = []
        for choice in choices:
            taken = next((action for action in actions if action in choice.likeliest), None)
            opinions.append(marked(choice.values, actions[0] if taken is None else taken, taken is not None))
        cards = [colored(suited(text, suits), suits) for text in (thrown, one.keep)[: len(columns)]]
        rows.append([*cards, *figures[:3], Text(figures[3], "bold"), _win(one.win, most), *opinions])
    return _grid((*columns, "hand", "crib", "play", "total", "win%"), list(values.agents), rows, DISCARD_NOTE)


def play_grid(hint: PlayHint, suits: str) -> RenderableType:
    """The cards that may be played, best first."""
    rows: list[list[Text | str]] = []
    for place in hint.best_first:
        card = colored(card_names([hint.cards[place]], suits), suits)
        now, *opinions = hint.cells(place)
        win = [] if hint.chances is None else [_win(hint.chances[place], max(hint.chances))]
        rows.append([card, now, *win, *opinions])
    columns = ("card", "now") if hint.chances is None else ("card", "now", "win%")
    return _grid(columns, list(hint.values), rows, PLAY_NOTE + EXACT_NOTE * (EXACT in hint.values))


def _win(chance: float, most: float) -> Text:
    return Text(f"{100 * chance:.1f}", "bold" if chance == most else "")


def _grid(
    columns: Sequence[str], agents: Sequence[str], rows: Sequence[Sequence[Text | str]], note: str
) -> RenderableType:
    ends = [name.rstrip("/").removesuffix("/weights.safetensors").split("/")[-1] for name in agents]  # those of paths
    names = ["\n".join(wrap(end.replace("_", " "), NAME_WIDTHS[len(agents) > 2])) for end in ends]
    return Group(grid((*columns, *names), rows, gap=1 if len(agents) > 1 else 2), Text(note, "dim"))
