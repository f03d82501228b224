"""People's choices are read as written or refused with one line, and agreement with them is counted by hand."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchmarks.people.human_choices import ChoicesError, HumanChoices, agreement, choices_of, main, read_choices
from deepcrib.game.observations import DiscardObservation
from deepcrib.records import Event, RecordError
from tests.support.recorded import played, write
from tests.support.reference import thrown_by

HEADER = "hand,dealer,own_score,opponent_score,choices"
GOOD = "5H 5S JD 2C 3C KH,1,0,0,2C KH;3C KH;2C 3C"
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "human_choices.md"


class Fixed:
    """An agent that throws what it is told, and remembers what it saw."""

    num_players = frozenset({2})

    def __init__(self, actions: list[int], name: str = "fixed") -> None:
        self.actions = np.array(actions, dtype=np.int8)
        self.name = name
        self.seen: DiscardObservation | None = None

    def discard(self, observation: DiscardObservation) -> NDArray[np.int8]:
        self.seen = observation
        return self.actions

    def play(self, observation: object) -> NDArray[np.int8]:
        raise AssertionError("nothing is played")


def written(folder: Path, *lines: str) -> Path:
    path = folder / "records.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


# --- recorded games ---


def test_recorded_discards_are_those_that_were_made() -> None:
    record = played(4, person=1)
    found = choices_of([record, played(5, person=0)])
    deals = [event for event in record.events if event.kind == "deal"]
    thrown = [set(event.cards) for event in record.events if event.kind == "discard" and event.seat == 1]
    assert len(found) > len(deals) and found.hands[: len(deals)].tolist() == [list(deal.hands[1]) for deal in deals]
    for row, cards in enumerate(thrown):
        assert {*thrown_by(found.hands[row].tolist(), int(found.actions[row, 0]))} == cards
    assert found.dealer[: len(deals)].tolist() == [deal.seat == 1 for deal in deals]
    own, other, scores = 0, 0, []
    for event in record.events:  # points of a hand add up to the score before the next one
        if event.kind == "deal":
            scores.append((own, other))
        own += event.points * (event.seat == 1)
        other += event.points * (event.seat == 0)
    rows = slice(len(deals))
    assert list(zip(found.own_score[rows].tolist(), found.opponent_score[rows].tolist(), strict=True)) == scores
    assert found.sources[0].endswith(", hand 0") and (found.counts == -1).all()


def test_discards_after_a_hint_are_not_the_persons_own() -> None:
    record = played(4, person=1)
    deals = [place for place, event in enumerate(record.events) if event.kind == "deal"]
    before, after = deals[1] + 1, deals[2] + 3  # a hint before the discards of hand 1, another after those of hand 2
    events = (*record.events[:before], Event("hint", 1), *record.events[before:after], Event("hint", 1))
    found = choices_of([replace(record, events=(*events, *record.events[after:]))])
    hands = [int(source.rsplit(" ", 1)[1]) for source in found.sources]
    assert hands == [hand for hand in range(len(deals)) if hand != 1]


def test_games_without_discards_of_people_are_refused() -> None:
    with pytest.raises(ChoicesError, match="no discards of people: expected recorded games"):
        choices_of([played(4)])
    assert len(choices_of([played(4)], name="greedy"))
    with pytest.raises(ChoicesError, match="no discards of Eve"):
        choices_of([played(4, person=0)], name="Eve")
    with pytest.raises(RecordError, match="3 players, expected a game of two"):
        choices_of([played(4, 3, person=0)])


# --- reading ---


def test_records_are_read_in_the_engines_terms(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "choices, opponent_score ,own_score,dealer,hand,source",
        "2C KH:57; 3C KH:12 ;2C 3C:12,30,120,1,5H 5S JD 2C 3C KH,an example",
        "",
        "10h as,0,7,0,AS 10h JS QS KC KS,",
    )
    choices = read_choices(path)
    # cards are 4 * rank + suit in the order C D H S, sorted; discards count the pairs of slots (0,1), (0,2), ...
    assert choices.hands.tolist() == [[4, 8, 18, 19, 41, 50], [3, 38, 43, 47, 48, 51]]
    assert choices.actions.tolist() == [[4, 8, 0], [0, -1, -1]]
    assert choices.counts.tolist() == [[57, 12, 12], [-1, -1, -1]]
    assert choices.dealer.tolist() == [True, False]
    assert (choices.own_score.tolist(), choices.opponent_score.tolist()) == ([120, 7], [30, 0])
    assert choices.sources == ("an example", "")
    assert choices.hands.dtype == choices.actions.dtype == np.int8


def test_the_documents_example_is_read(tmp_path: Path) -> None:
    block = re.search(r"```csv\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    choices = read_choices(written(tmp_path, block.group(1)))
    assert len(choices) == 2 and choices.counts[0].tolist() == [57, 12, 12]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("5H 5S JD 2C 3C 1H,1,0,0,2C 3C", "hand: not a card: '1H'"),
        ("5H 5S JD 2C 3C,1,0,0,2C 3C", "hand '5H 5S JD 2C 3C': 5 cards, expected 6"),
        ("5H 5S JD 2C 3C KH,2,0,0,2C KH", "dealer=2: expected 1 where the person deals"),
        ("5H 5S JD 2C 3C KH,1,121,0,2C KH", "own_score=121: expected a whole number from 0 to 120"),
        ("5H 5S JD 2C 3C KH,1,0,0,", "choices: none, expected one or more"),
        ("5H 5S JD 2C 3C KH,1,0,0,2C KD", "choice '2C KD': expected two cards of the hand 2C 3C 5H 5S JD KH"),
        ("5H 5S JD 2C 3C KH,1,0,0,2C KH;3C KH;KH 2C", "choice 'KH 2C' stands twice"),
        ("5H 5S JD 2C 3C KH,1,0,0,2C KH:3;3C KH", "expected a count behind each choice, or behind none"),
        ("5H 5S JD 2C 3C KH,1,0,0,2C KH:3;3C KH:4", "expected the most chosen first"),
    ],
)
def test_a_malformed_record_is_refused_in_one_line(line: str, problem: str, tmp_path: Path) -> None:
    path = written(tmp_path, HEADER, GOOD, line)
    with pytest.raises(ChoicesError) as refusal:
        read_choices(path)
    text = str(refusal.value)
    assert text.startswith(f"{path}, line 3: ") and problem in text and "\n" not in text


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (["hand,dealer,own_score,choices", GOOD], "line 1: no column opponent_score"),
        ([f"{HEADER},score", f"{GOOD},1"], "line 1: column 'score': expected hand, dealer"),
        ([HEADER], "no records"),
    ],
)
def test_a_file_without_what_is_needed_is_refused(lines: list[str], problem: str, tmp_path: Path) -> None:
    path = written(tmp_path, *lines)
    with pytest.raises(ChoicesError, match=re.escape(problem)) as refusal:
        read_choices(path)
    assert str(refusal.value).startswith(str(path))


# --- agreement ---


def four_records(folder: Path) -> HumanChoices:
    """From each, people threw actions 4, 8 and 0 in this order."""
    return read_choices(written(folder, HEADER, *[GOOD] * 4))


def test_agreement_counts_places_with_wilsons_intervals(tmp_path: Path) -> None:
    found = agreement(Fixed([4, 8, 0, 14]), four_records(tmp_path))
    assert (found.records, found.top, found.counts) == (4, (1, 2, 3), (1, 2, 3))
    assert [share.estimate for share in found.shares] == [0.25, 0.5, 0.75]
    # 1 of 4: (0.25 + 1.96^2/8 -+ 1.96 sqrt(0.25 * 0.75 / 4 + 1.96^2 / 64)) / (1 + 1.96^2 / 4)
    assert (found.shares[0].low, found.shares[0].high) == pytest.approx((0.0456, 0.6994), abs=1e-4)


def test_the_agent_sees_each_record_from_the_persons_side(tmp_path: Path) -> None:
    lines = ["5H 5S JD 2C 3C KH,1,100,30,2C KH", "5H 5S JD 2C 3C KH,0,7,120,2C KH"]
    agent = Fixed([4, 4])
    agreement(agent, read_choices(written(tmp_path, HEADER, *lines)))
    seen = agent.seen
    assert seen is not None
    assert seen.is_dealer.tolist() == [True, False]
    own, opponent = seen.scores[[0, 1], seen.seat], seen.scores[[0, 1], 1 - seen.seat]
    assert (own.tolist(), opponent.tolist()) == ([100, 7], [30, 120])
    assert seen.hand.tolist() == [[4, 8, 18, 19, 41, 50]] * 2
    assert len(set(seen.key.tolist())) == 2


@given(seed=st.integers(0, 2**32), width=st.integers(1, 6), by=st.sampled_from(["cards", "ranks"]))
def test_places_are_those_of_a_plain_walk_down_the_list(seed: int, width: int, by: str) -> None:
    rng = np.random.default_rng(seed)
    n = 20
    hands = np.sort([rng.permutation(16)[:6] for _ in range(n)], axis=1).astype(np.int8)  # four ranks: many are equal
    actions = np.array([rng.permutation(15)[:width] for _ in range(n)], dtype=np.int8)
    for row in actions:
        row[rng.integers(1, width + 1) :] = -1
    thrown = rng.integers(0, 15, n)
    zeros = np.zeros(n, dtype=np.int8)
    choices = HumanChoices(hands, zeros.astype(bool), zeros, zeros, actions, actions.astype(np.int64), ("",) * n)
    counts = [0, 0, 0]
    for hand, ranked, own in zip(hands.tolist(), actions.tolist(), thrown.tolist(), strict=True):
        cards = [tuple(card // (4 if by == "ranks" else 1) for card in thrown_by(hand, action)) for action in range(15)]
        different = list(dict.fromkeys(cards[action] for action in ranked if action >= 0))
        for place in range(3):
            counts[place] += cards[own] in different[: place + 1]
    assert agreement(Fixed(thrown.tolist()), choices, by=by).counts == tuple(counts)


# --- the script ---


def test_the_script_reads_recorded_games_as_it_reads_a_table(tmp_path: Path) -> None:
    """Greedy in a person's place: of ties it takes any, but the best of them is among its discards."""
    path = write(tmp_path / "games" / "a.jsonl", played(1, person=0))
    for place in (path, path.parent):
        main([str(place), "greedy", "random", "--by", "ranks", "--to", str(tmp_path / "found.json")])
        found = json.loads((tmp_path / "found.json").read_text())
        hands = sum(event.kind == "discard" and event.seat == 0 for event in played(1).events)
        assert found["records"] == hands
        assert found["agents"]["greedy"]["counts"][0] > hands / 2 > found["agents"]["random"]["counts"][0]


@pytest.mark.parametrize(
    ("words", "problem"),
    [("{tmp}/none.csv greedy", "none.csv: cannot be read"), ("{tmp} greedy", "no games: expected files *.jsonl")],
)
def test_a_wrong_call_ends_with_one_line(
    words: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(words.format(tmp=tmp_path).split())
    assert stopped.value.code == 2 and problem in capsys.readouterr().err.splitlines()[-1]
