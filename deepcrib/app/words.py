"""What a play and a show score and why, and how cards are written."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import combinations, groupby
from typing import NamedTuple

import numpy as np
from rich.table import Table
from rich.text import Text

from deepcrib.board.canvas import SIGNS, SUIT_STYLES, card_name
from deepcrib.game import rules
from deepcrib.game.cards import JACK, NUM_SUITS, RANKS, SUITS, VALUES, parse_card

PAIRS = {2: "pair", 6: "pair royal", 12: "double pair royal"}
COUNTS = {15: "fifteen", rules.COUNT_LIMIT: "thirty-one"}
_WORDS = (
    "no one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_NUMBERS = [*_WORDS.split(), *(f"twenty-{word}" for word in _WORDS.split()[1:10])]
_Cards = tuple[int, ...]


class Part(NamedTuple):
    """Points with their reason, and the cards that score them."""

    reason: str
    points: int
    cards: _Cards = ()

    def __str__(self) -> str:
        return f"{self.reason} for {self.points}"


def play_parts(series: Sequence[int], points: int, is_last: bool) -> list[Part]:
    """Why the last card of a series scored.

    series: card ids from where the series begins. points: all that the card pegged, a go or last card included.
    is_last: whether all cards of the hand have been played with it.
    """
    ranks = RANKS[list(series)]
    count, packed = int(VALUES[ranks].sum()), rules.pack_series(ranks, len(ranks))
    pairs, run = rules.play_pair_points(packed), rules.play_run_points(packed)
    parts = [Part(COUNTS[count], 2)] if count in COUNTS else []
    parts += [Part(PAIRS[pairs], pairs)] if pairs else []
    parts += [Part(f"run of {run}", run)] if run else []
    rest = points - sum(part.points for part in parts)
    return [*parts, Part("last card" if is_last else "go", rest)] if rest > 0 else parts


def show_parts(hand: Sequence[int], starter: int, is_crib: bool) -> list[Part]:
    """Every fifteen, pair and run of a hand or crib with the starter, the flush and nobs: in the order of counting."""
    every = tuple(sorted((*hand, starter)))
    subsets = [cards for size in range(2, len(every) + 1) for cards in combinations(every, size)]
    parts = [Part("fifteen", 2, cards) for cards in subsets if VALUES[RANKS[list(cards)]].sum() == 15]
    parts += [Part("pair", 2, cards) for cards in subsets if len(cards) == 2 and rules.pair_points(RANKS[list(cards)])]
    runs = [cards for cards in subsets if len(cards) > 2 and _is_run(cards)]
    longest = max(map(len, runs), default=0)
    parts += [Part(f"run of {longest}", longest, cards) for cards in runs if len(cards) == longest]
    own = np.array(hand, dtype=np.int64)
    if flush := rules.flush_points(own, starter, is_crib):
        parts.append(Part("flush", flush, tuple(sorted(hand)) if flush == len(hand) else every))
    if nobs := rules.nobs_points(own, starter):
        parts.append(Part("nobs", nobs, (JACK * NUM_SUITS + int(SUITS[starter]),)))
    return parts


def missed_parts(parts: Sequence[Part], missed: int) -> list[Part]:
    """Parts that come to so many points, late ones first: which were missed nobody can tell; all if none come to it."""
    found: list[Part] = []
    for part in reversed(parts):
        if part.points <= missed - sum(one.points for one in found):
            found.insert(0, part)
    return found if sum(part.points for part in found) == missed else list(parts)


def _is_run(cards: _Cards) -> bool:
    """Whether cards, one of each rank, follow one another: their points are one for each."""
    ranks = RANKS[list(cards)]
    return len(set(ranks.tolist())) == len(cards) and rules.run_points(ranks) == len(cards)


def spoken(parts: Sequence[Part]) -> list[tuple[str, list[_Cards]]]:
    """What players say of each kind, and its cards: `fifteen two, fifteen four`, then `and a pair is six`."""
    said, total = [], 0
    for reason, same in groupby(parts, key=lambda part: part.reason):
        groups, start = list(same), "and " if total else ""
        number = len(groups)
        total += sum(part.points for part in groups)
        several = reason.replace("run", "runs") if reason.startswith("run") else f"{reason}s"
        what = f"{_NUMBERS[number]} {several} are" if number > 1 else f"{'' if reason == 'nobs' else 'a '}{reason} is"
        text = f"{start}{what} {_NUMBERS[total]}"
        if reason == "fifteen":
            text = ", ".join(f"fifteen {_NUMBERS[2 * (place + 1)]}" for place in range(number))
        said.append((text, [part.cards for part in groups]))
    return said


def card_names(cards: Sequence[int], suits: str = "symbols") -> str:
    """`5♥ 10♣`, or `5H 10C` with suits=letters."""
    return " ".join(card_name(card, SIGNS[suits].suits) for card in cards)


def suited(text: str, suits: str = "symbols") -> str:
    """Cards such as 5H in a text, written with the suits that were asked for."""
    return re.sub(r"\b[A2-9TJQK][CDHS]\b", lambda match: card_names([parse_card(match[0])], suits), text)


def colored(text: str, suits: str, style: str = "") -> Text:
    """A text whose cards stand in the colours of their suits."""
    line = Text(text, style)
    for sign, color in zip(SIGNS[suits].suits, SUIT_STYLES, strict=True):
        line.highlight_regex(rf"(?:10|[A2-9JQK]){sign}", color)
    return line


def grid(
    columns: Sequence[str], rows: Iterable[Iterable[Text | str]], left: Collection[int] = (0, 1), gap: int = 1
) -> Table:
    """A table without lines; left: the columns that are aligned on the left. gap: blanks between columns."""
    table = Table(box=None, padding=(0, gap, 0, 0), header_style="bold")
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number in left else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table


def margin_word(scores: Sequence[int], winner: int) -> str:
    """`skunk` where a loser is 31 or more points behind, and lost two games for one; else empty."""
    return "skunk" if scores[winner] - min(scores) >= rules.SKUNK_MARGIN else ""
