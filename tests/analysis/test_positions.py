"""`deepcrib analyse play` and `starters=true`: positions by the cards seen, lines of records, values by the starter."""

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deepcrib.agents import make_agent
from deepcrib.analysis.hand_values import hand_values
from deepcrib.analysis.positions import play_position, recorded_position
from deepcrib.cli import main
from deepcrib.exact.beliefs.cribs import values_by_starter
from deepcrib.game.cards import CardError, parse_card, parse_cards
from deepcrib.records import GameWriter, read_games, recorded_choices
from deepcrib.records.replay import ROW
from deepcrib.search.best_response import BestResponseAgent
from tests.support.recorded import played

pytestmark = pytest.mark.usefixtures("known_models")
HAND = "5H 5S JD 2C 3C KH"


def position(history: str, is_dealer: bool = True, thrown: str = "2C 3C", starter: str = "7H") -> Any:
    hand = sorted(parse_cards(HAND))
    return play_position(hand, parse_cards(thrown), parse_card(starter), parse_cards(history), is_dealer, (112, 115), 1)


def test_a_position_is_what_was_seen_in_a_recorded_game_at_that_turn() -> None:
    """Every turn of a game, built again from the cards that its player had seen."""
    turns_seen = 0
    for turns, seat, _ in recorded_choices(played(6, person=0, hands=3)):
        state = turns.games.state[0]
        if state.kept[seat][0] < 0:
            continue
        seen = turns.play_observation(ROW)
        history = [int(card) for card in seen.history[0] if card >= 0]
        thrown = seen.discards[0].tolist()
        hand = sorted([*seen.kept[0].tolist(), *thrown])
        own = int(seen.scores[0, seat]), int(seen.scores[0, 1 - seat])
        found = play_position(hand, thrown, int(seen.starter[0]), history, bool(seen.is_dealer[0]), own, 1)
        for name in ("hand", "discards", "starter", "history", "series_start", "count"):
            assert getattr(found, name).tolist() == getattr(seen, name).tolist(), name
        for name in ("goes", "scores"):
            assert getattr(found, name)[0].tolist() == getattr(seen, name)[0, [seat, 1 - seat]].tolist(), name
        turns_seen += 1
    assert turns_seen > 15


@pytest.mark.parametrize(
    ("history", "options", "problem"),
    [
        ("TD 5S 5D", {"is_dealer": False}, "no hand of the opponent's"),  # the pone leads
        ("", {}, "no hand of the opponent's"),
        ("TD 5S TD", {}, "the card TD"),
        ("TD 2C", {}, "the card 2C"),
        ("TD 7H", {}, "the card 7H"),
        ("TD", {"thrown": "2C 4C"}, "thrown=2C 4C: expected two cards of"),
        ("TD 5S 9D KD", {}, "no hand of the opponent's"),  # the other five could be played
        ("TD JD 9D KD", {}, "no hand of the opponent's"),  # over 31
    ],
)
def test_positions_that_no_play_leads_to_are_refused(history: str, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(CardError, match=problem):
        position(history, **options)


def summary_of(command: str, folder: Path) -> dict[str, Any]:
    assert main([*shlex.split(command), f"hydra.run.dir={folder}"]) == 0
    return json.loads((folder / "summary.json").read_text())


def test_the_command_values_each_card(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = "analyse play 5H5SJD2C3CKH thrown=2C3C starter=7H history=TD5S5D dealer=true score=112-115"
    found = summary_of(f"{words} agents=[greedy,td_perceptron] opponent=greedy", tmp_path / "run")
    exact = BestResponseAgent(make_agent("greedy")).play_values(position("TD 5S 5D"))[0]
    assert list(found["win"]) == ["5H", "JD", "KH"] and found["opponent"] == "greedy"
    assert list(found["values"]["exact"].values()) == pytest.approx(exact[exact > -np.inf])
    assert found["values"]["greedy"] is None and found["choices"]["greedy"] == found["choices"]["exact"] == ["5H"]
    assert all(0 < chance < 1 for chance in found["win"].values())
    text = capsys.readouterr().out
    assert "as dealer at 112-115" in text and "series TD 5S 5D = 20" in text and "pair royal for 6" in text


def test_a_line_of_a_record_is_a_position(tmp_path: Path) -> None:
    path, record = tmp_path / "game.jsonl", played(6, person=0, hands=2)
    GameWriter(path).begin(record)
    (read,) = read_games(path)
    lines = {kind: next(e.line for e in read.events if e.kind == kind and e.seat == 0) for kind in ("discard", "play")}
    found = summary_of(f"analyse games={path} line={lines['discard']} agents=[greedy]", tmp_path / "discard")
    assert list(found["roles"]) == ["dealer" if read.events[0].seat == 0 else "pone"]
    found = summary_of(f"analyse games={path} line={lines['play']} agents=[greedy]", tmp_path / "play")
    seen = recorded_position(path, lines["play"])
    assert len(found["win"]) == seen.legal.sum()  # type: ignore[union-attr]
    for line, task in ((1, []), (lines["play"], ["discard"]), (10_000, [])):
        assert main(["analyse", *task, f"games={path}", f"line={line}", f"hydra.run.dir={tmp_path / 'x'}"]) == 2


@pytest.mark.parametrize("is_dealer", [True, False])
def test_values_by_starter_have_the_total_for_their_mean(is_dealer: bool) -> None:
    """And a third five makes the hand of J K 5 5 20 points, or 21 with the jack's suit."""
    hand = sorted(parse_cards(HAND))
    responder = BestResponseAgent(make_agent("expected_value"), None)
    found, rows = values_by_starter(hand, is_dealer, responder.model), hand_values(hand, is_dealer, (0, 0), {}).discards
    left = np.bincount([card // 4 for card in range(52) if card not in hand], minlength=13) / 46
    means = np.array([row.hand_mean + row.crib_mean for row in rows])
    assert found @ left == pytest.approx(means, abs=0.1)  # the opponent's cards make some starters likelier
    kept = next(action for action, row in enumerate(rows) if row.discard == "2C 3C")
    crib = (found[kept, 4] - 20.5) * (1 if is_dealer else -1)
    assert 3 < crib < 12
