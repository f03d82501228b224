"""`deepcrib analyse`: agreement with people; wrong calls end with one line."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from deepcrib.cli import main
from tests.recorded import played, write


def call(command: str, folder: Path) -> int:
    return main([*shlex.split(command), f"hydra.run.dir={folder}"])


def summary_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "summary.json").read_text())


# --- people ---


def test_humans_prints_table_4_with_intervals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # greedy keeps 5 5 5 J, for 14 points more than any other four cards
    hands = ("5H 5S 5C JD 2C 9H,0,0,0,2C 9H", "5H 5S 5C JD 2C 9H,1,90,3,2C JD;9H JD;2C 9H")
    path = tmp_path / "records.csv"
    path.write_text("\n".join(("hand,dealer,own_score,opponent_score,choices", *hands)))
    assert call(f"analyse humans choices={path} agents=[greedy,random]", tmp_path / "out") == 0
    text = capsys.readouterr().out
    assert re.search(r"greedy +│ +1 │ +1 │ +2 │ 100.0% \[34.2, 100.0\]", text)  # Wilson: 2 of 2
    assert text.index("random") < text.index("greedy")
    summary = summary_of(tmp_path / "out")
    assert (summary["records"], summary["agents"]["greedy"]["counts"]) == (2, [1, 1, 2])


def test_humans_reads_recorded_games_as_it_reads_a_table(tmp_path: Path) -> None:
    """Greedy in a person's place: of ties it takes any, but the best of them is among its discards."""
    path = write(tmp_path / "games" / "a.jsonl", played(1, person=0))
    for number, place in enumerate((path, path.parent)):
        out = tmp_path / str(number)
        assert call(f"analyse humans choices={place} agents=[greedy,random] by=ranks", out) == 0
        summary = summary_of(out)
        hands = sum(event.kind == "discard" and event.seat == 0 for event in played(1).events)
        assert summary["records"] == hands
        assert summary["agents"]["greedy"]["counts"][0] > hands / 2 > summary["agents"]["random"]["counts"][0]


# --- wrong calls ---


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("analyse humans choices={tmp}/none.csv dealer=true", "dealer=True: only for hand, not for humans"),
        ("analyse humans", "option choices is missing: expected choices=FILE"),
        ("analyse task=draw", "task=draw: expected one of hand, humans, experts"),
        ("analyse thesis runs={tmp}/runs", "unknown option runs"),
        ("analyse humans choices={tmp}/none.csv agents=[greedy]", "none.csv: cannot be read"),
        ("analyse humans choices={tmp}/none.jsonl agents=[greedy]", "none.jsonl: cannot be read"),
        ("analyse humans choices={tmp} agents=[greedy]", "no games: expected files *.jsonl"),
        ("analyse humans choices={tmp}/none.csv agents=[greedy] by=suits", "by=suits: expected one of cards, ranks"),
        ("analyse humans choices={tmp}/none.csv agents=[]", "agents=[]: expected one or more agents"),
        ("analyse experts discards=greedy by=ranks", "by=ranks: only for humans, not for experts"),
    ],
)
def test_a_wrong_call_ends_with_one_line(
    command: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if "none.csv agents=[]" in command:
        (tmp_path / "none.csv").write_text(
            "hand,dealer,own_score,opponent_score,choices\n5H 5S 5C JD 2C 9H,0,0,0,2C 9H"
        )
    assert call(command.format(tmp=tmp_path), tmp_path / "out") == 2
    text = capsys.readouterr().err
    assert problem in text and text.count("\n") == 1
    assert not (tmp_path / "out").exists()
