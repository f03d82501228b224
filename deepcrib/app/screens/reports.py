"""After a game: its result, a review, and what next."""

from __future__ import annotations

from functools import partial
from typing import Any

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.text import Text
from textual.app import App

from deepcrib.app.screens.dialogs import BACK, Dialog
from deepcrib.app.session import Session
from deepcrib.app.setup import Setup
from deepcrib.app.words import colored, grid, margin_word, suited
from deepcrib.evaluation.review import CHANCE, SCALE, Review, review
from deepcrib.game.rules import KINDS
from deepcrib.intervals import mean_interval

REVIEWING = "Looking at every choice again; the first time this may take some minutes ..."


class _LeftError(Exception):
    """The person does not wait for the review any more."""


async def after_game(app: App[Any], setup: Setup, session: Session, for_review: bool = False) -> bool:
    """Show the result, and reviews, for which a finished game is opened; returns whether another game is wanted."""
    while True:
        next_keys = ("r", "review", "review"), ("n", "new game", "new"), ("q", "quit", "quit")
        if not for_review:
            answer = await app.push_screen_wait(Dialog("the game is over", result_text(session), *next_keys))
            if answer != "review":
                return answer == "new"
        for_review = False
        dialog = Dialog("review", _bar(session, 0), BACK)
        left = app.push_screen(dialog, wait_for_dismiss=True)
        await _fill_review(setup, session, dialog)
        await left


async def _fill_review(setup: Setup, session: Session, dialog: Dialog) -> None:
    """Price the person's choices in the thread, showing how far that is."""
    priced = 0

    def progress(done: int) -> None:  # in the worker's thread
        nonlocal priced
        priced += done
        if not (dialog.app.is_running and dialog.is_attached):
            raise _LeftError
        dialog.app.call_from_thread(dialog.show, _bar(session, priced))

    try:
        judged = await setup.worker.do(partial(review, session.record, session.person, progress=progress))
    except _LeftError:
        return
    dialog.show(review_text(judged, setup.suits))


def _bar(session: Session, done: int) -> RenderableType:
    hands = int(session.game["hand_number"]) + 1
    return Group(REVIEWING, "", f"{done} of {hands} hands", ProgressBar(hands, done, width=60))


def result_text(session: Session) -> RenderableType:
    """Who won and how, and everybody's points by kind."""
    summary, winner = session.summary(), int(session.game["winner"])
    players, hints = summary["players"], summary["hints"]
    scores = [player["score"] for player in players]
    who = "You win" if winner == session.person else f"{summary['winner']} wins"
    skunk = margin_word(scores, winner)
    title = Text(f"{who}, {max(scores)} to {min(scores)}" + (f": a {skunk}!" if skunk else "."), "bold")
    rows = [(player["name"], str(player["score"]), *map(str, player["points"].values())) for player in players]
    points = grid(("points", "score", *KINDS), rows, left=(0,), gap=2)
    right, cost = session.missed.count(0), sum(missed for missed in session.missed if missed > 0)
    counted = f"{right} of {len(session.missed)} counts were right; muggins would have cost you {cost} points"
    counted += " (since the game was resumed)" if session.header.events else ""
    last = f"{summary['hands']} hands, {hints} hint{'' if hints == 1 else 's'}; points past 121 are in the columns"
    return Group(title, "", points, "", last, counted if session.missed else "")


def review_text(review: Review, suits: str) -> RenderableType:
    """The costliest choices, and what all of them cost."""
    title = f"{review.right} choices were the best. The others cost {review.lost:.2f} expected points "
    title += f"({review.per_hand:.2f} a hand) against {review.opponent}, and {100 * review.chance_lost:.1f}% of a game."
    a_hand, low, high = mean_interval(review.beyond)
    luck = f"You played {a_hand:+.2f} [{low:+.2f}, {high:+.2f}] points a hand better than your cards (95% interval)."
    rows: list[list[Text | str]] = []
    for decision in review.worst:
        cells = decision.taken, decision.best, f"{decision.cards}\n{decision.seen}".rstrip()
        cards = [colored(suited(cell, suits), suits) for cell in cells]
        chance = "" if decision.chance_lost is None else f"{100 * decision.chance_lost:.1f}"
        kind = "throw" if decision.kind == "discard" else decision.kind
        rows.append([f"{decision.regret:.2f}", chance, str(decision.hand + 1), kind, *cards])
    costs = grid(("points", "win%", "hand", "", "you chose", "better", "you held"), rows, left=range(3, 7))
    costs.columns[-1].no_wrap = False  # what lay on the table may be long, and costs are to be read whole
    measure = f"Costs in {SCALE.format(review.opponent)}, whoever you met; and in {CHANCE.format(review.opponent)}"
    return Group(Text(title, "bold"), Text(luck), Text(measure, "dim"), "", costs)
