"""`deepcrib help agents`: the names of agents, and the cards of those that come trained."""

from __future__ import annotations

from rich.table import Table

from deepcrib.agents.packaged import read_cards
from deepcrib.agents.specs.registry import shown_names
from deepcrib.analysis.agent_cards import card_facts
from deepcrib.jobs.shared.console import console


def print_agents() -> None:
    """Each name, then what every card tells."""
    out, cards = console(), read_cards()
    names = [name for name in shown_names() if name not in cards]
    out.print("[bold]Agents[/]  (agent=NAME, or a path, package.module:Class, {name: NAME, option: value})\n")
    out.print(f"{', '.join(names)}\n")
    out.print("[bold]Trained ones that come with the package[/]\n")
    for name, card in cards.items():
        out.print(f"[cyan]{name}[/]  {card.what}")
        grid = Table.grid(padding=(0, 3))
        for about, fact in card_facts(card).items():
            grid.add_row(f"  {about}", fact)
        out.print(grid)
        out.print()
