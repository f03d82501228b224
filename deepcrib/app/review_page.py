"""Reviewed games as one HTML page, which needs no other file; what it looks like stands in `review_page.html`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count, zip_longest
from pathlib import Path
from typing import Any

import jinja2

from deepcrib.app.table import Table
from deepcrib.app.words import card_names, suited
from deepcrib.board.pegboard import FIRST_HOLE, LAST_HOLE, MARKED_HOLES, peg_holes, place_of
from deepcrib.board.view import labels_of
from deepcrib.evaluation.evaluate import ROLES
from deepcrib.evaluation.luck import CHANCE, LUCK, VALUE, recorded_luck
from deepcrib.evaluation.regrets import NOTHING
from deepcrib.evaluation.review import CHANCE as CHANCE_NOTE
from deepcrib.evaluation.review import SCALE, HandReview, Review
from deepcrib.game.cards import NUM_SUITS
from deepcrib.records import Event, GameRecord


def review_page(games: Mapping[str, tuple[GameRecord, Review]]) -> str:
    """The page of games by their titles; the seat that is reviewed is called `you`, and every text is escaped."""
    models = dict.fromkeys(review.opponent for _, review in games.values())
    notes = [note.format(model) for model in models for note in (SCALE, CHANCE_NOTE)]
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters["suited"] = suited
    template = environment.from_string(Path(__file__).with_name("review_page.html").read_text(encoding="utf-8"))
    holes = [_at(seat, hole) for seat in (0, 1) for hole in range(FIRST_HOLE, LAST_HOLE + 1)]
    marks = [(hole, _at(0, hole)) for hole in (*MARKED_HOLES[1::2], LAST_HOLE)]
    shown = {title: _game(*game) for title, game in games.items()}
    return template.render(games=shown, notes=notes, holes=holes, marks=marks, nothing=NOTHING)


def _at(seat: int, hole: int) -> tuple[float, float]:
    """Where a hole is drawn: a column is one wide, a line two high."""
    line, column = place_of(2, seat, hole)
    return column + 0.5, 2 * line + 1.5


def _game(record: GameRecord, review: Review) -> dict[str, Any]:
    """What the page shows of a game. Luck is None of a hand that was not played to its end."""
    seat, parts = review.seat, recorded_luck(record)[:, :, review.seat]
    chances = [*parts[VALUE, :, CHANCE], *parts[:, -1:, CHANCE].sum(axis=0)]
    reviewed = {hand.number: hand for hand in review.hands}
    table = Table([player.name for player in record.players], seat)
    scores, hands = [(0, 0)], []
    for events, luck, chance in zip_longest(record.hands, parts[LUCK], chances[: parts.shape[1]]):
        number, role = events[0].hand, ROLES[int(events[0].seat == seat)]
        found = reviewed.get(number, HandReview(number, role, scores[-1], []))
        told = _told(table, events, found)
        scores.append((table.scores[seat], table.scores[1 - seat]))
        after = {"score": scores[-1], "scores": tuple(table.scores), "pegs": _pegs(table)}
        hands.append({"found": found, "luck": luck, "chance": chance, **told, **after})
    own, other = zip(*scores, strict=True)
    charts = [
        ("Score", LAST_HOLE, [("you", _line(own, LAST_HOLE)), (table.names[1 - seat], _line(other, LAST_HOLE))]),
        ("Win%", 100, [("you", _line(chances, 1))]),
    ]
    return {"review": review, "luck": parts[LUCK].sum(axis=0), "hands": hands, "charts": charts, "names": table.names}


def _told(table: Table, events: Sequence[Event], found: HandReview) -> dict[str, Any]:
    """The cards of a hand with their places, and its lines as the table tells them with the prices of own choices."""
    seat, plays, lines = table.person, count(1), []
    prices = {decision.kind: decision for decision in found.decisions}
    places = dict.fromkeys(events[0].hands[seat], "")
    for event in events:
        start, price = len(table.log), None
        table.tell(event)
        if event.kind == "starter" or (event.kind, event.seat) == ("discard", seat):
            places |= dict.fromkeys(event.cards, "crib" if event.kind == "discard" else "starter")
        if event.kind in ("discard", "play") and event.seat == seat:
            price = prices.get("discard" if event.kind == "discard" else f"play {next(plays)}")
        lines += [(line.plain, f"{event.kind} {line.style}", price) for line in table.log[start:]]
    cards = [(card_names([card]), card % NUM_SUITS, place) for card, place in places.items()]
    return {"cards": cards, "lines": lines[1:]}  # the first tells who deals


def _pegs(table: Table) -> list[tuple[str, str, list[float], list[tuple[float, float]]]]:
    """Of each seat: whose it is, its sign and where that stands beside its track, its front and its back peg."""
    found = []
    for seat, label in enumerate(labels_of(table.names)):
        pegs = [_at(seat, hole) for hole in peg_holes(table.scores[seat], table.previous[seat])]
        rows = [_at(seat, hole)[1] for hole in (1, LAST_HOLE)]
        found.append(("you" if seat == table.person else "other", label, rows, pegs))
    return found


def _line(values: Sequence[float], top: float) -> str:
    """Points of a chart's line, before the first hand and after each, from 0 to top."""
    step = 276 / max(len(values) - 1, 1)
    return " ".join(f"{22 + step * number:.1f},{95 - 90 * value / top:.1f}" for number, value in enumerate(values))
