"""A hand's discards and what agents throw from it, as rich tables of at most 80 characters with a handful of agents."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from deepcrib.analysis.hand_values import AgentChoice, HandValues
from deepcrib.analysis.tables import plain_table

_DISCARDS_NOTE = (
    "points on average. hand: over 46 starters; range: its lowest and highest. crib: {whose}, against an expert's "
    "discards. play: own minus the opponent's between two greedy players, over all fours that the opponent may hold. "
    "total: their sum; score, heels and the opponent's hand are left out"
)
_WHOSE = {"dealer": "one's own", "pone": "the opponent's"}
_AGENTS_NOTE = (
    "gives up: points of total. chance: of this discard, where an agent may throw others too. "
    "its value: what the agent itself counts it at"
)


def discards_table(values: HandValues) -> Table:
    """One row a discard, the best first, with the numbers that the agents have in `agents_table`."""
    numbers = {name: str(number) for number, name in enumerate(values.agents, start=1)}
    rows = []
    for action in values.best_first:
        figures = values.discards[action]
        means = (f"{figures.crib_mean:+.2f}", f"{figures.pegging:+.2f}", f"{figures.total:.2f}")
        hand = (f"{figures.hand_mean:.2f}", f"{figures.hand_min}-{figures.hand_max}")
        rows.append(
            (figures.toss, figures.keep, *hand, *means, " ".join(numbers[name] for name in values.thrown_by(action)))
        )
    own, other = values.score
    title = f"{values.hand} as {values.role} at {own}-{other}: best first"
    columns = ("toss", "keep", "hand\nmean", "hand\nrange", "crib", "play", "total", "thrown by")
    table = _with_note(plain_table(title, columns, rows), _DISCARDS_NOTE.format(whose=_WHOSE[values.role]))
    table.columns[0].no_wrap = True
    table.columns[-1].justify, table.columns[-1].no_wrap = "left", False
    return table


def agents_table(values: HandValues) -> Table:
    """One row an agent, in the order given."""
    rows = []
    for number, (name, choice) in enumerate(values.agents.items(), start=1):
        toss = values.discards[choice.action].toss
        figures = (str(choice.place), f"{choice.gives_up:.2f}", _chance(choice), _value(choice))
        rows.append((f"{number} {escape(name)}", toss, *figures))
    title = f"what each agent throws as {values.role}"
    columns = ("agent", "throws", "place\nof 15", "gives\nup", "chance", "its value")
    table = _with_note(plain_table(title, columns, rows), _AGENTS_NOTE)
    table.columns[0].overflow = "fold"  # a path has no spaces to break it at
    return table


def _chance(choice: AgentChoice) -> str:
    return "-" if choice.probabilities is None else f"{100 * choice.probabilities[choice.action]:.0f}%"


def _value(choice: AgentChoice) -> str:
    value = None if choice.values is None else choice.values[choice.action]
    return "-" if value is None else f"{value:+.2f} {choice.unit}"


def _with_note(table: Table, note: str) -> Table:
    table.caption, table.caption_justify, table.caption_style = note, "left", "dim"
    return table


def hand_tables(values: HandValues) -> Sequence[Table]:
    """Both."""
    return discards_table(values), agents_table(values)
