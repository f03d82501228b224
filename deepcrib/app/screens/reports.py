"""The result of a game, and its review, as they are shown."""

from __future__ import annotations

import re

from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from deepcrib.app.screens.drawing import log_text
from deepcrib.app.session import Session
from deepcrib.app.table import Line
from deepcrib.app.words import card_name, margin_word
from deepcrib.evaluation.review import Review
from deepcrib.game.cards import parse_card
from deepcrib.game.rules import KINDS


def result_text(session: Session) -> RenderableType:
    """Who won and how, and everybody's points by kind."""
    game, names = session.game, [player.name for player in session.header.players]
    winner, scores = int(game["winner"]), [int(score) for score in game["scores"]]
    who = "You win" if winner == session.person else f"{names[winner]} wins"
    skunk = margin_word(scores, winner)
    lines = [Text(f"{who}, {max(scores)} to {min(scores)}" + (f": a {skunk}!" if skunk else "."), "bold")]
    grid = Grid(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for number, column in enumerate(("points", "score", *KINDS)):
        grid.add_column(column, justify="right" if number else "left")
    for seat, name in enumerate(names):
        kinds = game["points"][seat].sum(axis=0)
        grid.add_row(name, str(scores[seat]), *(str(int(points)) for points in kinds))
    hints = sum(event.kind == "hint" for event in session.events)
    notes = [f"{int(game['hand_number']) + 1} hands, {hints} hint{'' if hints == 1 else 's'}"]
    return Group(*lines, "", grid, "", *notes)


def review_text(review: Review, suits: str) -> RenderableType:
    """The costliest choices, and what all of them cost."""
    title = f"Your choices cost {review.lost:.2f} expected points, {review.per_hand:.2f} a hand."
    grid = Grid(box=None, padding=(0, 1, 0, 0), header_style="bold")
    for column in ("cost", "hand", "", "you held", "you chose", "better"):
        grid.add_column(column, justify="right" if column in ("cost", "hand") else "left")
    for decision in review.worst:
        if decision.regret <= 0:
            continue
        held = f"{decision.cards}\n{decision.seen}".rstrip()
        cells = (held, decision.taken, decision.best)
        grid.add_row(
            f"{decision.regret:.2f}",
            str(decision.hand + 1),
            decision.kind,
            *(log_text([Line(_suited(cell, suits))], suits) for cell in cells),
        )
    return Group(Text(title, "bold"), Text(_measure(review), "dim"), "", grid)


def _measure(review: Review) -> str:
    stand_in = ", in place of your opponent, whose play takes too long to ask for" if review.stand_in else ""
    return (
        f"Cost: expected points less than the best choice, exact, if all that follows is the best answer to "
        f"{review.opponent}{stand_in}. The score is not looked at."
    )


def _suited(text: str, suits: str) -> str:
    """Cards such as 5H in a text, written with the suits that were asked for."""
    return re.sub(r"\b[A2-9TJQK][CDHS]\b", lambda found: card_name(parse_card(found[0]), suits), text)
