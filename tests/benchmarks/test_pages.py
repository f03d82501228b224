"""Pages of measurements: their tables are those of the data files beside them, and of no other numbers."""

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchmarks import league_page, pages, tables
from benchmarks.evolution.page import climb_table, curve_table, game_table
from benchmarks.evolution.runs import OPPONENTS, evolved
from benchmarks.long_runs_list import long_runs
from benchmarks.oconnor2000 import page as oconnor2000
from benchmarks.paper2019 import page as paper2019
from benchmarks.partida2022 import page as partida2022
from benchmarks.partida2022.network import table as partida_table
from benchmarks.people.expert_figure import nested, probe_rows, rule_rows, worth_rows
from benchmarks.people.probes import PROBES

DOCS = Path(__file__).parents[2] / "docs"


def written_by(script: Any) -> str:
    """The page of a script, as it would write it."""
    page: str = script.page(script.PAGE.read_text(encoding="utf-8"))
    return page


WRITTEN: dict[str, Callable[[], str]] = {
    **{script.PAGE.stem: partial(written_by, script) for script in (league_page, paper2019, oconnor2000, partida2022)},
    **{page: partial(tables.written, page) for page in tables.pages()},
}
INTERVAL = re.compile(r"^\|.*\[[+-]?[\d.]+, [+-]?[\d.]+\]", re.MULTILINE)
DATA_TABLE = re.compile(r"<!-- table: (.+?) -->.*?<!-- end: \1 -->", re.DOTALL)


@pytest.mark.parametrize("page", WRITTEN)
def test_a_pages_tables_are_those_of_its_data(page: str) -> None:
    made = WRITTEN[page]() == tables.page_file(page).read_text(encoding="utf-8")
    assert made, (
        f"edit docs/results/data/, not {page}.md, and run `python -m benchmarks.tables {page}`, or what writes it"
    )


def test_every_table_with_an_interval_has_data() -> None:
    found = [*(DOCS / "results").glob("*.md"), DOCS / "expert_rules.md", DOCS / "human_choices.md"]
    without = {page.stem for page in found if INTERVAL.search(DATA_TABLE.sub("", page.read_text(encoding="utf-8")))}
    assert not without


def test_a_page_without_a_place_for_a_table_is_refused() -> None:
    with pytest.raises(SystemExit, match="expected one place for a table in the page, <!-- table: x --> to"):
        pages.filled("no place", {"x": "| a |"})
    text = "before\n<!-- table: x -->\nold\n<!-- end: x -->\nafter"
    assert pages.filled(text, {"x": r"| \1 |"}) == (
        "before\n<!-- table: x -->\n\n" + r"| \1 |" + "\n\n<!-- end: x -->\nafter"
    )


# --- tables from CSV files ----------------------------------------------------------------------------------------


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the place of docs/results/data."""
    monkeypatch.setattr("benchmarks.long_runs.DATA", tmp_path)
    monkeypatch.setattr(tables, "DATA", tmp_path)
    (tmp_path / "some").mkdir()
    return tmp_path


def test_columns_are_joined(data: Path) -> None:
    (data / "some" / "one.csv").write_text(
        "who,games,wins %,wins low,wins high,wins n,gain,gain ±,bold,commit\n"
        'a,4000,53.8,53.1,54.4,1200,+0.02,0.05,wins;gain,abc\n"b, 2",12,led,,,,,,,abc\n'
    )
    (data / "some" / "two.csv").write_text('to,that %\nx,"=some/one; a; wins %"\ny,=some/one; a; gain\n')
    assert tables.markdown(tables.rows("some/one")).split("\n") == [
        "| who | games | wins [95%] | gain |",
        "|---|---|---|---|",
        "| a | 4,000 | **53.8%** [53.1, 54.4] (1,200) | **+0.02** ± 0.05 |",
        "| b, 2 | 12 | led |  |",
    ]
    assert [tables.cell(row, "that %") for row in tables.rows("some/two")] == [
        "53.8% [53.1, 54.4] (1,200)",
        "+0.02 ± 0.05",
    ]


def test_a_group_counts_once_all_of_its_runs_are_done(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (data / "some" / "one.csv").write_text("x\nrecorded\n")
    monkeypatch.setattr(tables, "MEASURED", {"some/one": ("partida_network", lambda runs: [{"x": str(len(runs))}])})
    names = [run.name for run in long_runs() if run.group == "partida_network"]
    for done, shown in ((0, "recorded"), (12, "recorded"), (13, "13")):
        (data / "partida_network.json").write_text(json.dumps({"runs": dict.fromkeys(names[:done], {})}))
        assert tables.rows("some/one") == [{"x": shown}]


def test_evolution_by_hand() -> None:
    curve = {"step": [0, 10, 20], "held_out/hand": [0.5, 0.6, 0.55], "weights/spread": [0.3, 0.2, 0.1]}
    runs: dict[str, Any] = {}
    for name, (seeds, _) in evolved().items():
        for seed in range(1, seeds + 1):
            hand = [0.5, 0.6 + seed / 100, 0.55]
            runs[f"{name}_{seed}"] = {"curve": curve | {"held_out/hand": hand}}
    row = next(row for row in curve_table(runs) if row["run"] == "population, `pairs`")
    # 61, 62, 63: t 4.303 x 1 / sqrt(3) = 2.484
    assert tables.cell(row, "highest mean (generation)") == "62.0 [59.5, 64.5] (10)"
    assert tables.cell(row, "highest - last") == "7.0 [4.5, 9.5]"
    figures = {f"{one}.{end}": 0.25 for one in OPPONENTS for end in ("win_rate", "ci_low", "ci_high", "margin")}
    climb = {"step": [400, 1000], "contest/moved": [0.5, 1 / 3]}
    for run in long_runs():
        if run.group == "evolution":
            runs[run.name] = {"curve": climb, "figures": figures, "training_seconds": 12.3}
    # one of two contests, and one of three
    assert [row["moves"] for row in climb_table(runs)] == ["2"] * 4
    assert [row["contests"] for row in climb_table(runs)] == ["5"] * 4
    assert tables.cell(game_table(runs)[5], "greedy: wins %") == "25.0% [25.0, 25.0]"


def test_partida_by_hand() -> None:
    steps = [0, *range(10, 101, 10)]
    runs: dict[str, Any] = {}
    for run in long_runs():
        if run.group == "partida_network":
            seed = int(run.name[-1])
            found = {"play_only.difference": -0.5, "play_only.ci_low": -0.55, "play_only.ci_high": -0.45}
            if "evaluation.opponents=[]" not in run.options:
                found["greedy.win_rate"] = 0.4 + seed / 100
            values = [-1.0 - seed / 10, *(-0.5 if step == 70 else -0.9 for step in steps[1:])]
            runs[run.name] = {"figures": found, "curve": {"step": steps, "play_only/difference": values}}
    paper, blind, tuned = partida_table(runs)
    assert (tables.cell(paper, "best tenth"), paper["of sessions"]) == ("-0.50 [-0.50, -0.50]", "61 to 70")
    assert tables.cell(tuned, "untrained") == "-1.20 [-1.45, -0.95]"  # 4.303 x 0.1 / sqrt(3) = 0.248
    assert tables.cell(tuned, "win rate %") == "42.0% [39.5, 44.5]"  # over seeds, not games
    assert tables.cell(blind, "win rate %") == "no agent"
    assert blind["end, each seed"] == "-0.50, -0.50, -0.50, -0.50, -0.50 (± 0.05 each)"


def test_leads_by_hand() -> None:
    share, points = {"share": 0.25, "ci_low": 0.2, "ci_high": 0.3, "hands": 1200}, {"ci_low": -1.0, "ci_high": 2.0}
    figures: dict[str, Any] = {}
    for agent in ("greedy", "greedy_minimax"):
        of = f"rules.{agent}"
        figures |= {f"{of}.lost.{name}": value for name, value in {**points, "points": 0.5}.items()}
        for rule in ("five", "ten_card", "five_or_ten", "bait", "pair", "low_pair"):
            for name, content in {"agent": share, "best": share, "gain": {**points, "points": 1.0}}.items():
                figures |= {f"{of}.rules.{rule}.{name}.{end}": value for end, value in content.items()}
            figures[f"{of}.rules.{rule}.random"] = 0.4
    figures |= {f"probes.greedy.88QA.leads.{rank}": 0.5 for rank in "A8Q"}
    figures |= {f"probes.greedy.88QA.values.{rank}": -1.0 for rank in "A8Q"} | {"probes.greedy.88QA.order": ["A", "8"]}
    runs = {"all": {"figures": figures}}
    assert nested({"a.b.c": 1, "a.d": 2}) == {"a": {"b": {"c": 1}, "d": 2}}
    first, second = rule_rows(runs)
    assert tables.cell(first, "ten-card %") == "25.0% [20.0, 30.0] (1,200)"
    assert (second["agent"], tables.cell(second, "points lost by a lead")) == ("`greedy_minimax`", "0.50 [-1.00, 2.00]")
    assert tables.cell(worth_rows(runs)[3], "gain, points") == "+1.00 [-1.00, +2.00]"
    published, greedy = probe_rows(runs, next(hand for hand in PROBES if hand.name == "88QA"))
    assert published["8 %"] == "led" and published["A %"] == ""
    assert (greedy["8 8 Q A"], tables.cell(greedy, "8 %"), greedy["by value"]) == ("greedy", "50% (-1.00)", "A 8")
