"""What the drawings say in words: names, labels, and what is to be done."""

from __future__ import annotations

from deepcrib.board.view import TableView
from deepcrib.game.cards import NUM_SUITS, RANK_NAMES
from deepcrib.game.rules import HAND_SIZE

LONGEST_NAME = 12


def shortened(name: str) -> str:
    """A name of at most 12 characters, the rest cut off; what cannot be printed is left out."""
    name = "".join(character for character in name if character.isprintable())
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "~"


def rank_text(card: int) -> str:
    """`10` for tens, one letter or digit else."""
    rank = card // NUM_SUITS
    return "10" if RANK_NAMES[rank] == "T" else RANK_NAMES[rank]


def labels_of(names: tuple[str, ...]) -> tuple[str, ...]:
    """One character a player: the first of each name where these differ, else the number of the seat."""
    first = tuple(shortened(name).strip().upper()[:1] for name in names)
    return first if all(first) and len(set(first)) == len(names) else tuple(str(seat) for seat in range(len(names)))


def last_points(view: TableView, seat: int) -> str:
    """`+4` for what a seat pegged last, empty before its first points."""
    points = view.scores[seat] - view.previous_scores[seat]
    return f"+{points}" if points else ""


def role(view: TableView, seat: int) -> str:
    """`dealer`; of two players the other one is the `pone`."""
    if seat == view.dealer:
        return "dealer"
    return "pone" if view.num_players == 2 else ""


def headline(view: TableView) -> str:
    """The hand, and whose crib it is."""
    dealer = shortened(view.names[view.dealer])
    return f"Hand {view.hand_number + 1}, dealer and crib: {dealer}" if view.hand_number >= 0 else f"Dealer: {dealer}"


def task(view: TableView) -> str:
    """What is to be done, by whom; or how the game has ended."""
    if view.phase == "over":
        return _ending(view)
    if view.phase == "show":
        return "The hands and the crib have been counted"
    if view.turn is None:
        waiting = "All have discarded" if view.hand_number >= 0 else "Nothing has been dealt"
        return "All cards have been played" if view.phase == "play" else waiting
    name = shortened(view.names[view.turn])
    if view.phase == "discard":
        thrown = len(view.hands[view.turn]) - HAND_SIZE
        return f"{name}: throw {'two cards' if thrown == 2 else 'one card'} to the crib"
    return f"{name}: play a card on {view.count}" if view.count else f"{name}: lead a card"


def _ending(view: TableView) -> str:
    if view.winner is None:
        return "The game is over"
    others = [score for seat, score in enumerate(view.scores) if seat != view.winner]
    result = ":".join(str(score) for score in [view.scores[view.winner], *others])
    return f"Winner: {shortened(view.names[view.winner])}, {result}"
