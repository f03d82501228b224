"""Records hold a game whole: written, read and replayed it is the same, and nothing that breaks the rules passes."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepcrib.agents import make_agent
from deepcrib.errors import RunError
from deepcrib.game.cards import parse_cards
from deepcrib.game.engine.phases import DISCARD, OVER
from deepcrib.records import Event, GameWriter, RecordError, read_games, recorded_choices, replay
from deepcrib.records.schema import event_line, header_line
from tests.support.recorded import ROW, played, write

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "game_records.md").read_text(encoding="utf-8")


GAME = played(1)


@pytest.mark.parametrize(("num_players", "rules"), [(2, "acc"), (2, "random_dealer"), (3, "acc"), (4, "acc")])
def test_a_game_is_read_as_it_was_written_and_replays_to_its_end(num_players: int, rules: str, tmp_path: Path) -> None:
    games = [played(seed, num_players, rules, ("random", "greedy")) for seed in range(4)]
    found = read_games(write(tmp_path / "games.jsonl", *games))
    assert [replace(game, file=None, line=0) for game in found] == games
    for game in found:
        turns = replay(game)
        assert turns.phase[0] == OVER
        assert tuple(turns.games.scores[0]) == game.events[-1].scores and turns.games.winner[0] == game.winner
        assert max(game.events[-1].scores) == 121


def test_points_of_the_events_add_up_to_the_scores() -> None:
    for seed in range(30):
        game = played(seed)
        sums = [sum(event.points for event in game.events if event.seat == seat) for seat in (0, 1)]
        final = game.events[-1]
        assert sums[1 - final.seat] == final.scores[1 - final.seat]
        assert sums[final.seat] >= 121  # the last count may go beyond


def test_choices_are_those_that_the_agents_made() -> None:
    greedy = make_agent("greedy")
    count = 0
    for turns, seat, action in recorded_choices(GAME):
        assert turns.seat[0] == seat
        if turns.phase[0] == DISCARD:
            assert greedy.discard(turns.discard_observation(ROW))[0] == action
        else:
            assert greedy.play(turns.play_observation(ROW))[0] == action
        count += 1
    assert count == sum(event.kind in ("discard", "play") for event in GAME.events)


@given(st.integers(0, len(GAME.events) - 1))
def test_a_game_may_stop_anywhere(length: int) -> None:
    turns = replay(replace(GAME, events=GAME.events[:length]))
    last_choice = max(place for place, event in enumerate(GAME.events) if event.kind in ("discard", "play"))
    assert length > last_choice or turns.phase[0] != OVER
    assert (turns.games.scores[0] <= GAME.events[-1].scores).all()


@given(st.integers(0, len(GAME.events) - 1), st.integers(-2, 3).filter(bool))
def test_no_wrong_point_passes(place: int, change: int) -> None:
    event = GAME.events[place]
    if event.kind in ("deal", "discard", "end") or event.points + change < 0:
        return
    events = [*GAME.events[:place], replace(event, points=event.points + change), *GAME.events[place + 1 :]]
    with pytest.raises(RecordError, match=f'"points": {event.points}'):
        replay(replace(GAME, events=tuple(events)))


@given(st.integers(0, len(GAME.events) - 2))
def test_no_event_can_be_left_out(place: int) -> None:
    with pytest.raises(RecordError):
        replay(replace(GAME, events=GAME.events[:place] + GAME.events[place + 1 :]))


@given(st.integers(1, len(GAME.events) - 1), st.data())
def test_no_other_card_passes_unless_the_player_might_have_chosen_it(place: int, data: st.DataObject) -> None:
    event = GAME.events[place]
    if len(event.cards) != 1 or event.kind != "play":
        return
    other = data.draw(st.integers(0, 51).filter(lambda card: card != event.cards[0]))
    hands = next(e.hands for e in reversed(GAME.events[:place]) if e.kind == "deal")
    changed = (*GAME.events[:place], replace(event, cards=(other,)), *GAME.events[place + 1 :])
    if other not in hands[event.seat]:
        with pytest.raises(RecordError, match="expected a card of"):
            replay(replace(GAME, events=changed))


@pytest.mark.parametrize("place", [1, len(GAME.events)])
def test_hints_change_nothing_and_are_counted(place: int) -> None:
    with_hint = replace(GAME, events=(*GAME.events[:place], Event("hint", 1), *GAME.events[place:]))
    assert with_hint.finished and with_hint.winner == GAME.winner == replay(with_hint).games.winner[0]
    assert with_hint.hints(1) == 1 and with_hint.hints(0) == 0


def test_a_choice_that_the_rules_do_not_allow_is_never_handed_out() -> None:
    """Whoever looks at choices one by one meets only positions in which that seat chooses, and legal actions."""
    hands = ("AC 2C TC JC QC KC", "3D 4D TD JD QD KD")
    opening = [
        Event("deal", 0, hands=tuple(tuple(parse_cards(hand)) for hand in hands), hand=0),
        Event("discard", 1, tuple(parse_cards("3D 4D"))),
        Event("discard", 0, tuple(parse_cards("2C KC"))),
    ]
    starter = Event("starter", 0, tuple(parse_cards("9H")))
    plays = [Event("play", seat, tuple(parse_cards(card))) for seat, card in ((1, "TD"), (0, "JC"), (1, "KD"))]
    for events, message, legal in (
        ([*opening, plays[0]], "expected a starter", 2),
        ([*opening, starter, *plays, Event("play", 0, tuple(parse_cards("TC")))], "over 31 on a count of 30", 5),
    ):
        handed = 0
        with pytest.raises(RecordError, match=message):
            for turns, seat, _ in recorded_choices(replace(GAME, events=tuple(events))):
                assert turns.seat[0] == seat
                handed += 1
        assert handed == legal


def lines() -> list[str]:
    return [header_line(GAME), *map(event_line, GAME.events)]


def change(number: int, **values: object) -> Callable[[list[str]], None]:
    def apply(text: list[str]) -> None:
        text[number] = json.dumps({k: v for k, v in (json.loads(text[number]) | values).items() if v is not None})

    return apply


def put(number: int, line: str) -> Callable[[list[str]], None]:
    def apply(text: list[str]) -> None:
        text[number] = line

    return apply


PLAYER = {"name": "a", "kind": "human"}
BROKEN = [
    (change(1, dealer="one"), r"line 2: no line of a game record: .* at `\$.dealer`, which is 'one'"),
    (change(1, cards=["5H", 7]), r"at `\$.cards\[1\]`, which is 7"),
    (put(3, "{"), "line 4: no line of a game record: Input data was truncated"),
    (put(0, "hand,dealer,own_score"), "line 1: no line of a game record: JSON is malformed"),
    (
        put(0, '{"event": "hint", "seat": 0}'),
        'line 1: this is no game record: expected a first line with "event": "game"',
    ),
    (put(0, "[1]"), "line 1: .*: Expected `object`, got `array`"),
    (put(0, '{"event": "game", "seed": ' + "9" * 5000 + "}"), "line 1: .*: Integer value out of range"),
    (change(0, event=None), "line 1: .*: Object missing required field `event`"),
    (change(0, format="chess"), r"line 1: .*: Invalid enum value 'chess' - at `\$.format`"),
    (change(0, version=2), r"line 1: .*: Invalid enum value 2 - at `\$.version`"),
    (change(0, version=True), "Expected `int`, got `bool`"),
    (change(0, version=1.0), "Expected `int`, got `float`"),
    (change(0, players=[]), r"line 1: .*: Expected `array` of length >= 2 - at `\$.players`"),
    (change(0, players=[PLAYER, PLAYER | {"kind": "cat"}]), r"Invalid enum value 'cat' - at `\$.players\[1\].kind`"),
    (change(0, players=[PLAYER, {"name": "a"}]), r"Object missing required field `kind` - at `\$.players\[1\]`"),
    (change(0, players=[PLAYER, PLAYER | {"age": 1}]), r"Object contains unknown field `age` - at `\$.players\[1\]`"),
    (change(0, rules="mine"), r"line 1: .*: Invalid enum value 'mine' - at `\$.rules`"),
    (change(0, rules=None), "line 1: .*: Object missing required field `rules`"),
    (change(0, **{"mo\x1bod": 1}), "line 1: .*: Object contains unknown field `mo.od`"),
    (change(0, **{"m" * 1000: 1}), "line 1: .*: Object contains unknown field `m*"),
    (change(0, started=5), r"line 1: .*: Expected `str`, got `int` - at `\$.started`"),
    (change(0, seed=2**63), r"line 1: .*: Expected `int` <= 9223372036854775807 - at `\$.seed`"),
    (change(0, seed=float("nan")), "line 1: .*: JSON is malformed"),
    (change(0, seed=-1), "line 1: .*: Expected `int` >= 0"),
    (change(1, event="shuffle"), r"line 2: .*: Invalid value 'shuffle' - at `\$.event`"),
    (change(1, dealer=2), r"line 2: .*: Expected `int` <= 1 - at `\$.dealer`"),
    (change(1, dealer=True), "line 2: .*: Expected `int`, got `bool`"),
    (change(1, crib_card="5H"), "line 2: .*: Object contains unknown field `crib_card`"),
    (change(1, cards=["5H", 5]), r"line 2: .*: expected cards as text, such as 5H JD - at `\$.cards\[1\]`"),
    (change(2, cards="5H 1Z"), r"line 3: .*: not a card: '1Z' .* - at `\$.cards`"),
    (change(2, cards="5H 5H"), "line 3: .* the card 5H stands twice"),
    (change(2, cards="5H " * 1000), "line 3: .* the card 5H stands twice"),
    (change(5, points=None), "line 6: .*: Object missing required field `points`"),
    (change(5, points=-1), r"line 6: .*: Expected `int` >= 0 - at `\$.points`"),
    (change(5, card="5H 6H"), r"line 6: .*: expected one card, such as 5H - at `\$.card`"),
    (change(-1, scores=[121.0, True]), r"Expected `int`, got `float` - at `\$.scores\[0\]`"),
    (change(-1, scores=[121, 122]), r"Expected `int` <= 121 - at `\$.scores\[1\]`"),
    (change(-1, scores=[121]), r"Expected `array` of length >= 2 - at `\$.scores`"),
]


@pytest.mark.parametrize(("spoil", "message"), BROKEN)
def test_a_broken_line_is_named(spoil: Callable[[list[str]], None], message: str, tmp_path: Path) -> None:
    text = lines()
    spoil(text)
    path = tmp_path / "games.jsonl"
    path.write_text("\n".join(text) + "\n", encoding="utf-8")
    with pytest.raises(RecordError, match=message) as raised:
        read_games(path)
    assert str(path) in str(raised.value) and str(raised.value).isprintable() and len(str(raised.value)) < 400


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (change(1, dealer=1 - GAME.events[0].seat), r"line 3: .*: expected a discard by seat"),
        (change(1, cards=["AC 2C 3C 4C 5C 6C", "6C 7C 8C 9C TC JC"]), "line 2: .*: expected distinct cards"),
        (change(1, cards=["AC 2C 3C 4C 5C", "6C 7C 8C 9C TC JC"]), "line 2: .*: 5 cards, expected 6 for each player"),
        (change(1, hand=1), 'line 2: .*: expected {"event": "deal", "hand": 0'),
        (change(-1, scores=[121, 120]), 'expected {"event": "end"'),
    ],
)
def test_what_the_rules_do_not_allow_is_named(spoil: Callable[[list[str]], None], message: str, tmp_path: Path) -> None:
    text = lines()
    spoil(text)
    path = tmp_path / "games.jsonl"
    path.write_text("\n".join(text) + "\n", encoding="utf-8")
    (game,) = read_games(path)
    with pytest.raises(RecordError, match=message):
        replay(game)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff\xfe\x00", b"PK\x03\x04", b"[" * 100_000 + b"\n"])
def test_foreign_files_are_refused_in_one_line(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    path.write_bytes(content)
    with pytest.raises(RecordError) as raised:
        read_games(path)
    assert str(path) in str(raised.value) and "\n" not in str(raised.value) and len(str(raised.value)) < 250
    with pytest.raises(RecordError, match="No such file"):
        read_games(tmp_path / "absent.jsonl")


def test_an_interrupted_write_costs_its_own_line_only(tmp_path: Path) -> None:
    path = write(tmp_path / "games.jsonl", GAME)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    (found,) = read_games(path)
    assert found.events == GAME.events[:-1] and not found.finished
    write(path, played(2))
    first, second = read_games(path)
    assert first.events == GAME.events[:-1] and second.events == played(2).events


@pytest.mark.parametrize(
    "content",
    [
        "my notes",
        "{}",
        "{\n",
        '{"event": "deal"',
        '{"event": "game", "of": "chess"}\nhalf a line',
        "first\nsecond",
        "[1]\n",
    ],
)
def test_a_file_of_something_else_is_left_alone(content: str, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(RunError, match="holds something else than games"):
        GameWriter(path)
    assert path.read_text(encoding="utf-8") == content


@pytest.mark.parametrize("content", ["", "\n", '{"event"', header_line(GAME)])
def test_an_interrupted_header_is_begun_again(content: str, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text(content, encoding="utf-8")
    assert read_games(write(path, GAME))[0].events == GAME.events


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot write"):
        GameWriter(tmp_path / "file" / "games.jsonl")
    writer = GameWriter(tmp_path / "taken.jsonl")
    (tmp_path / "taken.jsonl").mkdir()
    with pytest.raises(RunError, match="cannot write"):
        writer.begin(GAME)


def document_lines() -> Iterator[str]:
    block = re.search(r"```json\n(.*?)```", DOCUMENT, re.DOTALL)
    assert block is not None
    yield from block.group(1).splitlines()


def test_the_documented_example_is_a_game(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text("\n".join(document_lines()) + "\n", encoding="utf-8")
    (game,) = read_games(path)
    assert replay(game).games.scores[0].tolist() == [2, 0]
    assert game.humans == [0]


def test_the_document_names_every_event_and_key() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", DOCUMENT, re.MULTILINE))
    kinds = {event.kind for event in GAME.events}
    assert kinds < set(rows)
    for line in [*lines(), *map(event_line, played(1, 3).events[:3])]:
        content = json.loads(line)
        assert set(content) - {"event"} <= set(re.findall(r"`(\w+)`", rows[content["event"]]))


@pytest.mark.parametrize("name", ["\x1b[31mAnn", "Ann\x07", "Ann\nBob", "Ann\u202e", "\x9b2J"])
def test_names_that_a_terminal_would_obey_are_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    GameWriter(path).begin(replace(played(7, person=0, name="Ann"), events=()))
    path.write_text(path.read_text().replace('"Ann"', json.dumps(name)))
    with pytest.raises(
        RecordError, match=r"line 1: .*: expected a name of characters that can be printed - at `\$.players\[0\]`"
    ):
        read_games(path)
