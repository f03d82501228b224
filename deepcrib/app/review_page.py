"""Reviewed games as one HTML page, which needs no other file: no script, font or picture.

It is built of elements, whose texts are escaped when they are written: names in records come from strangers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count, zip_longest
from pathlib import Path
from xml.etree.ElementTree import Element, tostring

from deepcrib.app.table import Table
from deepcrib.app.words import card_names, suited
from deepcrib.board.pegboard import FIRST_HOLE, LAST_HOLE, MARKED_HOLES, peg_holes, place_of
from deepcrib.board.view import labels_of
from deepcrib.evaluation.evaluate import ROLES
from deepcrib.evaluation.luck import CHANCE, LUCK, MARGIN, VALUE, recorded_luck
from deepcrib.evaluation.regrets import NOTHING, Decision
from deepcrib.evaluation.review import CHANCE as CHANCE_NOTE
from deepcrib.evaluation.review import SCALE, HandReview, Review
from deepcrib.game.cards import NUM_SUITS
from deepcrib.records import Event, GameRecord

_STYLE = Path(__file__).with_name("review_page.css")
_POLICY = {"http-equiv": "Content-Security-Policy", "content": "default-src 'none'; style-src 'unsafe-inline'"}
_LUCK = (
    "Luck: what the cards dealt and turned up were worth to you, less to the other, against the average. Skill: what "
    "your choices cost against the best ones. They do not add up to the result: the rest is what the other gave away, "
    "and chance in the play."
)
_HEADS = ("hand", "win% before", "luck, points", "luck, win%", "given away, points", "given away, win%", "score")


def review_page(games: Mapping[str, tuple[GameRecord, Review]]) -> str:
    """The page of games by their titles; each is reviewed for the seat that the page calls `you`."""
    models = dict.fromkeys(review.opponent for _, review in games.values())
    notes = [_LUCK, *(note.format(model) for model in models for note in (SCALE, CHANCE_NOTE))]
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", **_POLICY),
        tag("title", "Games of cribbage, reviewed"),
        tag("style", _STYLE.read_text(encoding="utf-8")),
    ]
    links = [tag("li", tag("a", title, href=f"#game{n}")) for n, title in enumerate(games)] if len(games) > 1 else []
    sections = [_game(f"game{n}", title, *game) for n, (title, game) in enumerate(games.items())]
    body = [tag("ul", *links), _holes(), *sections, *(tag("p", note, class_="note") for note in notes)]
    page = tag("html", tag("head", *head), tag("body", *body), lang="en")
    return f"<!DOCTYPE html>\n{tostring(page, encoding='unicode', method='html')}\n"


def tag(name: str, /, *content: str | Element, **attributes: object) -> Element:
    """An element with texts and elements in order, and attributes (`class_` for class)."""
    element = Element(name, {key.rstrip("_"): str(value) for key, value in attributes.items()})
    for part in content:
        if isinstance(part, Element):
            element.append(part)
        elif len(element):
            element[-1].tail = (element[-1].tail or "") + part
        else:
            element.text = (element.text or "") + part
    return element


def _game(name: str, title: str, record: GameRecord, review: Review) -> Element:
    seat, parts = review.seat, recorded_luck(record)[:, :, review.seat]
    reviewed = {hand.number: hand for hand in review.hands}
    table = Table([player.name for player in record.players], seat)
    scores, hands, rows = [(0, 0)], [], []
    chances = [100 * chance for chance in [*parts[VALUE, :, CHANCE], *parts[:, -1:, CHANCE].sum(axis=0)]]
    for events, luck, chance in zip_longest(record.hands, parts[LUCK], chances[: len(parts[LUCK])]):
        hand = reviewed.get(events[0].hand, HandReview(events[0].hand, "", (0, 0), []))
        figures, role = _figures(luck, hand.lost, hand.chance_lost), ROLES[int(events[0].seat == seat)]
        title_of_hand = "{}, {}, at {} - {}".format(hand.number + 1, role, *scores[-1])
        hands.append(_hand(table, events, hand.decisions, title_of_hand, figures))
        scores.append((table.scores[seat], table.scores[1 - seat]))
        before = "" if chance is None else f"{chance:.0f}"
        rows.append((f"{hand.number + 1} {role}", before, *figures, "{} - {}".format(*scores[-1])))
    total = _figures(parts[LUCK].sum(axis=0), review.lost, review.chance_lost)
    rows.append(("all", "", *total, "{} - {}".format(*scores[-1])))
    words = _luck_and_skill(total), tag("p", f"{review.right} choices were the best.")
    own, other = zip(*scores, strict=True)
    score = _chart("Score", LAST_HOLE, ("you", own), (table.names[1 - seat], other))
    charts = tag("div", score, _chart("Win%", 100, ("you", chances)), class_="charts")
    body = [tag("tr", *(tag("td", cell) for cell in row)) for row in rows]
    every = tag("table", tag("tr", *(tag("th", head) for head in _HEADS)), *body)
    return tag("section", tag("h2", title), *words, charts, every, *hands, id=name)


def _luck_and_skill(figures: Sequence[str]) -> Element:
    cards, chance, lost, chance_lost = figures
    luck = ("Luck: your cards brought ", tag("b", f"{cards} points"), f" and {chance}% of a game. ") if cards else ()
    return tag("p", *luck, "Skill: you gave away ", tag("b", f"{lost} points"), f" and {chance_lost}% of a game.")


def _figures(luck: Sequence[float] | None, lost: float, chance_lost: float) -> tuple[str, str, str, str]:
    """Points and win% of the cards, which an unfinished hand has not, and of what was given away."""
    cards = ("", "") if luck is None else (f"{luck[MARGIN]:+.1f}", f"{100 * luck[CHANCE]:+.1f}")
    return *cards, f"{lost:.1f}", f"{round(100 * chance_lost, 1) + 0:.1f}"  # no -0.0


# --- a hand ---------------------------------------------------------------------------------------------------


def _hand(
    table: Table, events: Sequence[Event], decisions: Sequence[Decision], title: str, figures: Sequence[str]
) -> Element:
    """What happened as the table tells it, with the price of each choice; the table is then as after the hand."""
    seat, plays = table.person, count(1)
    prices = {decision.kind: decision for decision in decisions}
    thrown = [card for event in events if (event.kind, event.seat) == ("discard", seat) for card in event.cards]
    notes = [(card, "crib" if card in thrown else "") for card in events[0].hands[seat]]
    notes += [(card, "starter") for event in events if event.kind == "starter" for card in event.cards]
    cards = [
        tag("span", card_names([card]), tag("small", note), class_=f"card suit{card % NUM_SUITS} {note}")
        for card, note in notes
    ]
    told = []
    for event in events:
        start = len(table.log)
        table.tell(event)
        lines = [tag("li", line.plain, class_=f"{event.kind} {line.style}") for line in table.log[start:]]
        if event.seat == seat and event.kind in ("discard", "play"):
            price = prices.get("discard" if event.kind == "discard" else f"play {next(plays)}")
            lines[-1].extend([_price(price)] if price else [])
        told += lines if event.kind != "deal" else []
    shown = tag("div", *cards, class_="cards"), tag("ol", *told), _board(table)
    return tag("article", tag("h3", f"Hand {title}"), _luck_and_skill(figures), *shown)


def _price(decision: Decision) -> Element:
    if decision.regret < NOTHING:
        return tag("span", " - the best", class_="best")
    _, _, *cost = _figures(None, decision.regret, decision.chance_lost or 0.0)
    text = " - gave away {} points and {}% of a game: better {} than {}".format(*cost, decision.best, decision.taken)
    return tag("span", suited(text), class_="cost")


# --- drawings -------------------------------------------------------------------------------------------------

_BOX = "0 0 79 15"  # of the board: a column is one wide, a line two high


def _at(seat: int, hole: int) -> tuple[float, float]:
    line, column = place_of(2, seat, hole)
    return column + 0.5, 2 * line + 1.5


def _circle(seat: int, hole: int, radius: float, kind: str) -> Element:
    x, y = _at(seat, hole)
    return tag("circle", cx=x, cy=y, r=radius, class_=kind)


def _holes() -> Element:
    """The board without pegs and names, which every board on the page uses."""
    holes = [_circle(seat, hole, 0.22, "hole") for seat in (0, 1) for hole in range(FIRST_HOLE, LAST_HOLE + 1)]
    for hole in (*MARKED_HOLES[1::2], LAST_HOLE):
        x, y = _at(0, hole)
        holes.append(tag("text", str(hole), x=x, y=1.6 if hole <= LAST_HOLE // 2 else y + 2.2, class_="mark"))
    return tag("svg", tag("symbol", *holes, id="holes", viewBox=_BOX), class_="shared")


def _board(table: Table) -> Element:
    """The board with the pegs where they stand."""
    drawn = [tag("use", href="#holes")]
    for seat, label in enumerate(labels_of(table.names)):
        who = "you" if seat == table.person else "other"
        for hole in (1, LAST_HOLE):
            drawn.append(tag("text", label, x=0.6, y=_at(seat, hole)[1] + 0.6, class_=who))
        front, back = peg_holes(table.scores[seat], table.previous[seat])
        drawn += [_circle(seat, back, 0.55, f"back {who}"), _circle(seat, front, 0.7, f"front {who}")]
    pegs = ", ".join(f"{name} {score}" for name, score in zip(table.names, table.scores, strict=True))
    return tag("svg", tag("title", f"Pegs: {pegs}"), *drawn, viewBox=_BOX, class_="board")


def _chart(title: str, top: int, *lines: tuple[str, Sequence[float]]) -> Element:
    """Names with values before the first hand and after each, 0 to top, as lines; the first is the person's."""
    drawn: list[Element] = []
    names: list[str | Element] = []
    for tick in (0, top // 2, top):
        y = 95 - 90 * tick / top
        drawn += [tag("line", x1=22, x2=298, y1=y, y2=y, class_="grid"), tag("text", str(tick), x=19, y=y + 3)]
    for (name, values), who in zip(lines, ("you", "other"), strict=False):
        steps = max(len(values) - 1, 1)
        points = " ".join(f"{22 + 276 * n / steps:.1f},{95 - 90 * value / top:.1f}" for n, value in enumerate(values))
        drawn.append(tag("polyline", points=points, class_=who))
        names += [tag("span", name, class_=who), " "]
    return tag("figure", tag("figcaption", f"{title}: ", *names), tag("svg", *drawn, viewBox="0 0 300 100"))
