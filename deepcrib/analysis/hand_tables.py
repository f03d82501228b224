"""A hand's discards and what agents throw from it, as rich tables of at most 80 characters with a handful of agents."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from deepcrib.analysis.hand_values import AgentChoice, HandValues
from deepcrib.analysis.tables import NONE, Cell, table_of

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


def hand_tables(values: HandValues) -> Sequence[Table]:
    """The discards, and the agents."""
    return discards_table(values), agents_table(values)


def discards_table(values: HandValues) -> Table:
    """One row a discard, the best first, with the numbers that the agents have in `agents_table`."""
    numbers = {name: str(number) for number, name in enumerate(values.agents, start=1)}
    columns: dict[str, Cell] = {
        "toss": "{1.toss}",
        "keep": "{1.keep}",
        "hand\nmean": "{1.hand_mean:.2f}",
        "hand\nrange": "{1.hand_min}-{1.hand_max}",
        "crib": "{1.crib_mean:+.2f}",
        "play": "{1.pegging:+.2f}",
        "total": "{1.total:.2f}",
        "thrown by": lambda action, _: " ".join(numbers[name] for name in values.thrown_by(action)),
    }
    own, other = values.score
    title = f"{values.hand} as {values.role} at {own}-{other}: best first"
    table = table_of(title, [(action, values.discards[action]) for action in values.best_first], columns)
    table.columns[0].no_wrap = True
    table.columns[-1].justify, table.columns[-1].no_wrap = "left", False
    return _with_note(table, _DISCARDS_NOTE.format(whose=_WHOSE[values.role]))


def agents_table(values: HandValues) -> Table:
    """One row an agent, in the order given."""
    columns: dict[str, Cell] = {
        "agent": lambda number, name, _: f"{number} {escape(name)}",
        "throws": lambda number, _, choice: values.discards[choice.action].toss,
        "place\nof 15": "{2.place}",
        "gives\nup": "{2.gives_up:.2f}",
        "chance": lambda number, _, choice: _chance(choice),
        "its value": lambda number, _, choice: _value(choice),
    }
    rows = [(number, *agent) for number, agent in enumerate(values.agents.items(), start=1)]
    table = table_of(f"what each agent throws as {values.role}", rows, columns)
    table.columns[0].overflow = "fold"  # a path has no spaces to break it at
    return _with_note(table, _AGENTS_NOTE)


def _chance(choice: AgentChoice) -> str:
    return NONE if choice.probabilities is None else f"{100 * choice.probabilities[choice.action]:.0f}%"


def _value(choice: AgentChoice) -> str:
    value = None if choice.values is None else choice.values[choice.action]
    return NONE if value is None else f"{value:+.2f} {choice.unit}"


def _with_note(table: Table, note: str) -> Table:
    table.caption, table.caption_justify, table.caption_style = note, "left", "dim"
    return table
