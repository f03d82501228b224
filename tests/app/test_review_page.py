"""The page of reviewed games: what it says is what was reviewed, and names are text."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser

import pytest

from deepcrib.app.review_page import review_page
from deepcrib.evaluation.luck import LUCK, MARGIN, recorded_luck
from deepcrib.evaluation.review import Review, review
from deepcrib.records import GameRecord, Player
from tests.support.recorded import played

SCRIPT = '"><script>alert(1)</script>&amp;'
SIGNS = dict(zip("CDHS", "♣♦♥♠", strict=True))


class Page(HTMLParser):
    """Every element with its attributes, and the text of each cell, line and heading."""

    KEPT = ("h2", "h3", "td", "li", "title", "p", "span", "style")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {name: [] for name in self.KEPT}
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in self.KEPT:
            self.open.append(tag)
            self.texts[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in self.KEPT:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in self.open:
            self.texts[tag][-1] += data

    def of_class(self, name: str, wanted: str) -> list[dict[str, str | None]]:
        return [found for tag, found in self.elements if tag == name and wanted in (found.get("class") or "").split()]


@cache
def game(hands: int) -> tuple[GameRecord, Review]:
    """Greedy, said to be a person, at seat 1."""
    record = played(7, agents=("deterministic", "greedy"), person=1, hands=hands)
    return record, review(record, 1)


@cache
def page(hands: int = 2) -> Page:
    return Page(review_page({"a game": game(hands)}))


def test_every_hand_has_its_cards_its_pegs_and_its_luck_and_skill() -> None:
    record, judged = game(2)
    luck = recorded_luck(record)[LUCK, :, 1, MARGIN]
    rows = [page().texts["td"][7 * number :][:7] for number in range(3)]
    assert [row[2] for row in rows] == [f"{points:+.1f}" for points in (*luck, luck.sum())]
    assert [row[4] for row in rows] == [
        f"{points:.1f}" for points in (*(one.lost for one in judged.hands), judged.lost)
    ]
    scores = [sum(event.points for event in record.events if event.seat == seat) for seat in (1, 0)]
    assert [row[6] for row in rows[1:]] == 2 * [f"{scores[0]} - {scores[1]}"]
    assert page().texts["h3"][1].endswith(rows[0][6]) and page().texts["h3"][0].endswith("at 0 - 0")
    assert len(page().of_class("span", "card")) == 2 * 7 and len(page().of_class("span", "crib")) == 2 * 2
    assert len(page().of_class("circle", "front")) == len(page().of_class("circle", "back")) == 2 * 2


def test_each_costly_choice_stands_at_its_line_with_what_was_better() -> None:
    _, judged = game(2)
    decisions = [decision for hand in judged.hands for decision in hand.decisions]
    costly = [decision for decision in decisions if decision.regret > 1e-6]
    lines = [line for line in page().texts["li"] if "gave away" in line]
    assert len(lines) == len(costly) > 0
    for line, decision in zip(lines, costly, strict=True):
        better, taken = (re.sub("([2-9TJQKA])([CDHS])", in_signs, text) for text in (decision.best, decision.taken))
        assert line.startswith("you throw" if decision.kind == "discard" else "you: ")
        assert re.sub(r"\s+", " ", line).rstrip().endswith(f"better {better} than {taken}")
    assert sum("- the best" in line for line in page().texts["li"]) == len(decisions) - len(costly)


def in_signs(card: re.Match[str]) -> str:
    return card[1].replace("T", "10") + SIGNS[card[2]]


def test_pegs_stand_in_the_hole_of_the_score() -> None:
    """The hole of a score is that of the shared drawing, where the holes lie seat by seat from -1 on."""
    record, _ = game(1)
    holes = [(hole["cx"], hole["cy"]) for hole in page(1).of_class("circle", "hole")]
    assert len(holes) == len(set(holes)) == 2 * 123
    for seat, who in enumerate(("other", "you")):
        score = sum(event.points for event in record.events if event.seat == seat)
        (peg,) = [peg for peg in page(1).of_class("circle", "front") if who in (peg["class"] or "")]
        assert holes.index((peg["cx"], peg["cy"])) == 123 * seat + 1 + score


def test_names_of_strangers_are_text() -> None:
    record, judged = game(1)
    players = (Player(SCRIPT, "agent"), Player(SCRIPT, "human"))
    text = review_page({f"1: {SCRIPT}": (replace(record, players=players), judged), "2: again": game(1)})
    found = Page(text)
    assert "<script" not in text and not any(name.startswith("on") for _, one in found.elements for name in one)
    assert found.texts["h2"][0] == found.texts["li"][0] == f"1: {SCRIPT}"
    assert any(line.startswith(f"{SCRIPT} throws") for line in found.texts["li"])


def test_it_fetches_nothing() -> None:
    places = [value for _, one in page().elements for name, value in one.items() if name in ("src", "href")]
    assert places and all(str(place).startswith("#") for place in places)
    assert "url(" not in page().texts["style"][0] and "@import" not in page().texts["style"][0]
    policies = [one["content"] for _, one in page().elements if one.get("http-equiv") == "Content-Security-Policy"]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'"]


@pytest.mark.parametrize("left", [1, 2, 8])
def test_a_game_that_stopped_in_a_hand_has_no_luck_there(left: int) -> None:
    record, _ = game(2)
    second = next(number for number, event in enumerate(record.events) if event.kind == "deal" and event.hand == 1)
    cut = replace(record, events=record.events[: second + left])
    found = Page(review_page({"cut": (cut, review(cut, 1))}))
    assert found.texts["td"][7 + 1 : 7 + 4] == ["", "", ""] and len(found.texts["h3"]) == 2
