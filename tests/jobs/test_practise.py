"""`deepcrib practise`: what is asked, in which order, what an answer costs, and the score that is kept."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from deepcrib.cli import main
from deepcrib.evaluation.review import review
from deepcrib.files import runs
from deepcrib.records import GameWriter
from tests.support.recorded import played

pytestmark = pytest.mark.usefixtures("known_models")


def practise(folder: Path, answers: str, monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO(answers))
    monkeypatch.setattr(runs, "outputs_folder", lambda: folder)
    count = len(list(folder.glob("run*")))
    return main(["practise", *words, f"score={folder / 'score.json'}", f"hydra.run.dir={folder / f'run{count}'}"])


def test_the_costliest_choices_of_a_game_are_asked_first_and_a_right_one_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The review of the same game says which these are, what they cost and what is best."""
    record = played(3, agents=("random", "greedy"), person=0, hands=2)
    GameWriter(tmp_path / "game.jsonl").begin(record)
    first, second = review(record, 0, worst=2).worst
    cards = first.best.partition(" (")[0]
    assert practise(tmp_path, f"zz\nAC KS\n{cards}\n\n", monkeypatch, f"games={tmp_path}") == 0
    said = capsys.readouterr().out
    assert "not a card: 'zz'" in said and "expected one of " in said
    assert (
        f"{cards} costs 0.00 points; best {cards};" in said and "right: 1 of 1, 0.00 points lost; ever: 1 of 1" in said
    )
    (kept,) = json.loads((tmp_path / "score.json").read_text()).items()
    assert kept[0].startswith(f"{first.role} {first.cards}") and kept[1] == [1, 1]
    taken = second.taken.partition(" (")[0]
    numbers = ",".join(str(second.cards.split().index(card) + 1) for card in taken.split())
    assert practise(tmp_path, f"9\n{numbers}\n", monkeypatch, f"games={tmp_path}") == 0
    said = capsys.readouterr().out
    assert (
        "not a card: '9'" in said and f"{taken} costs {second.regret:.2f} points" in said and f"then {taken}, " in said
    )
    assert "right: 0 of 1" in said and "ever: 1 of 2" in said
    assert json.loads((tmp_path / "run1" / "summary.json").read_text())["lost"] == pytest.approx(second.regret)


def test_without_games_choices_are_drawn_and_a_folder_without_any_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("deepcrib.jobs.practise.DRAWN_HANDS", 1)
    assert practise(tmp_path, "\n", monkeypatch, "seed=2") == 0
    said = capsys.readouterr().out
    assert "a drawn one, seed 2" in said and "you: " in said and "right: 0 of 0" in said
    assert practise(tmp_path, "", monkeypatch, "games=nowhere") == 2
    assert capsys.readouterr().err.count("\n") == 1
