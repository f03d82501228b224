"""How often agents discard as people do (Lang 2018, table 4): python -m benchmarks.people.human_choices FILE [AGENT].

FILE: people's discards as CSV (docs/human_choices.md), or a file or folder of recorded games.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml
from numpy.typing import NDArray
from rich import print as show
from rich.table import Table

from deepcrib.agents.asking import ask
from deepcrib.analysis.tables import Cell, percent, table_of
from deepcrib.errors import OptionError, UserError
from deepcrib.evaluation.recorded import whole_games
from deepcrib.exact.strategies.names import THESIS_STRATEGIES
from deepcrib.files.runs import write_json
from deepcrib.game.cards import RANKS, CardError, format_cards, parse_cards
from deepcrib.game.engine.phases import DISCARD
from deepcrib.game.observations import DiscardObservation
from deepcrib.game.randomness import hash_key
from deepcrib.game.rules import DISCARD_SLOTS_6, MAX_SCORE
from deepcrib.intervals import Interval, wilson
from deepcrib.jobs.shared.common import chosen_agents, use_threads
from deepcrib.records import GameRecord, RecordError, find_files, read_games, recorded_choices

if TYPE_CHECKING:
    from deepcrib.agents import Agent

AGENTS = (*THESIS_STRATEGIES, "random_weights")
"""Those of table 4, but for the trained weights."""
REQUIRED = ("hand", "dealer", "own_score", "opponent_score", "choices")
OPTIONAL = ("source",)
BY = ("cards", "ranks")
"""What makes two discards the same: the very cards, or their ranks."""
TOP = (1, 2, 3)
"""Table 4's columns."""
HAND_CARDS = 6
NUM_DISCARDS = len(DISCARD_SLOTS_6)
NO_ACTION = -1

_ACTION_OF = {tuple(slots): action for action, slots in enumerate(DISCARD_SLOTS_6.tolist())}


class ChoicesError(UserError):
    """A file of people's choices that cannot be read; the message names file, line, value and expectation."""


@dataclass(frozen=True)
class HumanChoices:
    """N records of what people threw from a hand.

    hands: int8 [N, 6], sorted cards. dealer: bool [N], whether the person deals. own_score, opponent_score: int8 [N],
    points 0..120. actions: int8 [N, K], discards in the engine's order, the most chosen first, padded with -1.
    counts: int64 [N, K], by how many people each was chosen; -1 where the file does not say. sources: [N] texts.
    """

    hands: NDArray[np.int8]
    dealer: NDArray[np.bool_]
    own_score: NDArray[np.int8]
    opponent_score: NDArray[np.int8]
    actions: NDArray[np.int8]
    counts: NDArray[np.int64]
    sources: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.hands)

    def observation(self, seed: int) -> DiscardObservation:
        """The records as decisions of seat 0; whatever an agent leaves to chance follows from the seed."""
        return DiscardObservation(
            hand=self.hands,
            seat=np.zeros(len(self), dtype=np.int8),
            dealer=np.where(self.dealer, 0, 1).astype(np.int8),
            scores=np.stack([self.own_score, self.opponent_score], axis=1),
            key=np.array([hash_key(seed, record, 0, 0, 0) for record in range(len(self))], dtype=np.uint64),
        )


@dataclass(frozen=True)
class _Record:
    hand: list[int]
    dealer: bool
    own_score: int
    opponent_score: int
    actions: list[int]
    counts: list[int]
    source: str


def read_choices(path: Path | str) -> HumanChoices:
    """Read a CSV file of records. Raises ChoicesError, about the first line that is not as it should be."""
    path = Path(path)
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            records = list(_records(path, file))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise ChoicesError(f"{path}: cannot be read: {reason}") from error
    if not records:
        raise ChoicesError(f"{path}: no records: expected one or more lines below the header")
    return _human_choices(records)


def choices_of(records: Iterable[GameRecord], name: str | None = None) -> HumanChoices:
    """The discards of people in recorded games of two, or of the players of a name; one choice a record.

    Those before which the player was shown a hint in that hand are left out, and so is a record that is the beginning
    of another one (an interrupted game that went on there). Raises RecordError where a game breaks the
    rules or has more players, ChoicesError where nothing is left.
    """
    found: list[_Record] = []
    for record in whole_games(list(records)):
        if len(record.players) != 2:
            raise RecordError(f"{record.source}: {len(record.players)} players, expected a game of two")
        players = record.players
        seats = record.humans if name is None else [seat for seat in (0, 1) if players[seat].name == name]
        found += _discards(record, seats)
    if not found:
        raise ChoicesError(f"no discards of {name or 'people'}: expected recorded games with some made without a hint")
    return _human_choices(found)


def _discards(record: GameRecord, seats: Sequence[int]) -> Iterator[_Record]:
    advised = _advised(record)
    for turns, seat, action in recorded_choices(record):
        if turns.phase[0] == DISCARD and seat in seats:
            state = turns.games.state[0]
            if (hand := int(state.hand_number), seat) not in advised:
                own, other = (int(state.scores[place]) for place in (seat, 1 - seat))
                cards, deals = state.dealt[seat].tolist(), bool(state.dealer == seat)
                yield _Record(cards, deals, own, other, [action], [NO_ACTION], f"{record.source}, hand {hand}")


def _advised(record: GameRecord) -> set[tuple[int, int]]:
    """(hand, seat) where a hint was shown before the seat's discard."""
    advised: set[tuple[int, int]] = set()
    hand, thrown = -1, set[int]()
    for event in record.events:
        if event.kind == "deal":
            hand, thrown = event.hand, set()
        elif event.kind == "discard":
            thrown.add(event.seat)
        elif event.kind == "hint" and event.seat not in thrown:
            advised.add((hand, event.seat))
    return advised


def _human_choices(records: Sequence[_Record]) -> HumanChoices:
    return HumanChoices(
        hands=np.array([record.hand for record in records], dtype=np.int8),
        dealer=np.array([record.dealer for record in records]),
        own_score=np.array([record.own_score for record in records], dtype=np.int8),
        opponent_score=np.array([record.opponent_score for record in records], dtype=np.int8),
        actions=_padded([record.actions for record in records]).astype(np.int8),
        counts=_padded([record.counts for record in records]),
        sources=tuple(record.source for record in records),
    )


def _records(path: Path, lines: Iterable[str]) -> Iterator[_Record]:
    reader = csv.reader(lines, skipinitialspace=True, strict=True)
    columns: list[str] = []
    try:
        for values in reader:
            if not any(value.strip() for value in values):
                continue
            if columns:
                yield _record(columns, values)
            else:
                columns = _header(values)
    except (csv.Error, ChoicesError) as error:
        raise ChoicesError(f"{path}, line {reader.line_num}: {error}") from error


def _header(values: Sequence[str]) -> list[str]:
    columns = [value.strip() for value in values]
    for name in columns:
        if name not in (*REQUIRED, *OPTIONAL) or columns.count(name) > 1:
            raise ChoicesError(f"column {name!r}: expected {', '.join(REQUIRED)} and, if wanted, source, once each")
    for name in REQUIRED:
        if name not in columns:
            raise ChoicesError(f"no column {name}: expected a header with {', '.join(REQUIRED)}")
    return columns


def _record(columns: Sequence[str], values: Sequence[str]) -> _Record:
    if len(values) != len(columns):
        raise ChoicesError(f"{len(values)} values: expected {len(columns)}, as many as the header has columns")
    row = dict(zip(columns, (value.strip() for value in values), strict=True))
    hand = _cards("hand", row["hand"], HAND_CARDS)
    actions, counts = _choices(row["choices"], sorted(hand))
    if row["dealer"] not in ("0", "1"):
        raise ChoicesError(f"dealer={row['dealer']}: expected 1 where the person deals, else 0")
    own, opponent = (
        _whole(row[name], 0, MAX_SCORE - 1, f"{name}={row[name]}: expected a whole number from 0 to {MAX_SCORE - 1}")
        for name in ("own_score", "opponent_score")
    )
    return _Record(sorted(hand), row["dealer"] == "1", own, opponent, actions, counts, row.get("source", ""))


def _cards(what: str, text: str, number: int) -> list[int]:
    try:
        cards = parse_cards(text)
    except CardError as error:
        raise ChoicesError(f"{what}: {error}") from error
    if len(cards) != number:
        raise ChoicesError(f"{what} {text!r}: {len(cards)} cards, expected {number}")
    return cards


def _choices(text: str, hand: list[int]) -> tuple[list[int], list[int]]:
    """Actions and counts of a text such as `2C KH:57;3C KH:12`, -1 for a count that is not given."""
    if not text:
        raise ChoicesError("choices: none, expected one or more discards such as 2C KH;3C KH")
    actions: list[int] = []
    counts: list[int] = []
    for part in text.split(";"):
        cards_text, colon, count_text = (piece.strip() for piece in part.partition(":"))
        cards = _cards("choice", cards_text, 2)
        if not set(cards) <= set(hand):
            raise ChoicesError(f"choice {cards_text!r}: expected two cards of the hand {format_cards(hand)}")
        action = _ACTION_OF[tuple(sorted(hand.index(card) for card in cards))]
        if action in actions:
            raise ChoicesError(f"choice {cards_text!r} stands twice: expected each discard once")
        actions.append(action)
        expected = f"choice {part.strip()!r}: expected a whole number of people, 1 or more, behind the colon"
        counts.append(_whole(count_text, 1, 10**9 - 1, expected) if colon else NO_ACTION)
    if NO_ACTION in counts and max(counts) != NO_ACTION:
        raise ChoicesError(f"choices {text!r}: expected a count behind each choice, or behind none")
    if counts != sorted(counts, reverse=True):
        raise ChoicesError(f"choices {text!r}: expected the most chosen first")
    return actions, counts


def _whole(text: str, low: int, high: int, problem: str) -> int:
    """The number that digits stand for, within bounds. Raises ChoicesError."""
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and low <= int(text) <= high):
        raise ChoicesError(problem)
    return int(text)


def _padded(rows: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """[N, K] of rows of up to K numbers, filled up with -1."""
    width = max(map(len, rows))
    return np.array([[*row, *[NO_ACTION] * (width - len(row))] for row in rows], dtype=np.int64)


# --- agreement ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Agreement:
    """How often an agent threw what people did. top: places; counts: records whose discard was within that place.

    shares: counts over all records, 0..1, with 95% intervals (Wilson).
    """

    records: int
    top: tuple[int, ...]
    counts: tuple[int, ...]
    shares: tuple[Interval, ...]

    def to_dict(self) -> dict[str, Any]:
        """All metrics as plain values, for `summary.json`."""
        return asdict(self) | {"shares": [share._asdict() for share in self.shares]}


def agreement(
    agent: Agent, choices: HumanChoices, top: Sequence[int] = TOP, *, by: str = "cards", seed: int = 1
) -> Agreement:
    """Records in which the agent's discard is among people's first, first two and so on.

    `by="cards"` compares the very cards; `by="ranks"` their ranks, so that KH and KD are the same to throw whatever
    that does to flushes and nobs. Discards of the same ranks are then one choice, at the place of the first of them.
    Raises OptionError.
    """
    if by not in BY:
        raise OptionError(f"by={by}: expected {' or '.join(BY)}")
    if not top or min(top) < 1 or max(top) > NUM_DISCARDS:
        raise OptionError(f"top={list(top)}: expected places from 1 to {NUM_DISCARDS}")
    thrown = ask(agent, choices.observation(seed))
    places = _places(_labels(choices) if by == "ranks" else None, thrown, choices.actions)
    counts = tuple(int((places < place).sum()) for place in top)
    shares = tuple(wilson(count, len(choices)) for count in counts)
    return Agreement(len(choices), tuple(top), counts, shares)


def agreements(
    agents: Mapping[str, Agent], choices: HumanChoices, top: Sequence[int] = TOP, *, by: str = "cards", seed: int = 1
) -> dict[str, Agreement]:
    """`agreement` of several agents by name, in table 4's order: the fewest within the last place first."""
    found = {name: agreement(agent, choices, top, by=by, seed=seed) for name, agent in agents.items()}
    return dict(sorted(found.items(), key=lambda item: item[1].counts[::-1]))


def _labels(choices: HumanChoices) -> NDArray[np.int64]:
    """[N, 15]: the same number for discards of the same ranks."""
    ranks = RANKS[choices.hands].astype(np.int64)  # ascending, as the cards are
    return ranks[:, DISCARD_SLOTS_6[:, 0]] * 16 + ranks[:, DISCARD_SLOTS_6[:, 1]]


def _places(labels: NDArray[np.int64] | None, thrown: NDArray[np.int8], ranked: NDArray[np.int8]) -> NDArray[np.int64]:
    """[N]: 0 where the discard thrown [N] is the first among those ranked [N, K], and so on; 15 where it is none.

    With labels [N, 15] discards of the same label are one.
    """
    width = ranked.shape[1]
    rows = np.arange(len(ranked))
    if labels is None:
        own, theirs = thrown.astype(np.int64), ranked.astype(np.int64)
    else:
        own = labels[rows, thrown]
        theirs = np.where(ranked < 0, NO_ACTION, labels[rows[:, None], ranked])
    same = theirs == own[:, None]
    earlier = np.tril(np.ones((width, width), dtype=bool), -1)  # [k, j]: j stands before k
    repeated = ((theirs[:, :, None] == theirs[:, None, :]) & earlier).any(axis=2)  # [N, K], never true for cards
    before = np.cumsum(~repeated, axis=1) - ~repeated  # different choices before each
    first = same.argmax(axis=1)
    return np.where(same.any(axis=1), before[rows, first], NUM_DISCARDS)


# --- the script ----


def agreement_table(title: str, found: Mapping[str, Agreement]) -> Table:
    """Lang 2018, table 4, with intervals, in the order given."""
    columns: dict[str, Cell] = {"agent": "{0}"}
    columns |= {f"top {top}": f"{{1.counts[{place}]:,}}" for place, top in enumerate(TOP)}
    columns[f"share in top {TOP[-1]} [95%]"] = lambda _, result: percent(*result.shares[-1])
    return table_of(title, found.items(), columns)


def main(words: Sequence[str] | None = None) -> None:
    """Compare the agents, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("choices", type=Path)
    parser.add_argument("agents", nargs="*", type=yaml.safe_load, help=f"by default {', '.join(AGENTS)}")
    parser.add_argument("--by", default="cards", choices=BY, help="what makes two discards the same")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--to", type=Path, help="JSON")
    options = parser.parse_args(words)
    try:
        choices = _read(options.choices)
        agents = chosen_agents(options.agents or None, AGENTS, "cpu")
        use_threads(0)
        found = agreements(agents, choices, by=options.by, seed=options.seed)
    except UserError as error:
        parser.error(str(error))
    show(agreement_table(f"people's choices compared by {options.by}, records: {len(choices):,}", found))
    if options.to is not None:
        rows = {name: result.to_dict() for name, result in found.items()}
        write_json(options.to, {"records": len(choices), "by": options.by, "agents": rows})


def _read(path: Path) -> HumanChoices:
    if path.suffix == ".jsonl" or path.is_dir():
        return choices_of(record for file in find_files([path]) for record in read_games(file))
    return read_choices(path)


if __name__ == "__main__":
    main()
