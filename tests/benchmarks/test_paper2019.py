"""The tables of the page of Bélanger et al. 2019, by hand."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.paper2019 import page as paper2019


def test_shares_by_either_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def trial(wins: int, losses: int, lr: float, replacement: float) -> dict:
        won = {"hands": 100, "wins": wins, "ties": 100 - wins - losses, "losses": losses}
        options = [f"learner.play_lr={lr}", f"learner.replacement={replacement}"]
        options += ["learner.lr_decay=0.9", "learner.epsilon_decay=0.9", "learner.buffer_size=10000"]
        return {"options": options, "figures": {f"deterministic.hands_won.{k}": v for k, v in won.items()}}

    runs = {"001": trial(40, 40, 0.1, 0.5), "002": trial(60, 20, 0.2, 0.6), "003": trial(50, 30, 0.3, 0.7)}
    (tmp_path / "table3_game_full.json").write_text(json.dumps({"runs": runs}))
    monkeypatch.setattr("benchmarks.long_runs.DATA", tmp_path)
    (row,) = [line for line in paper2019.searches() if line.startswith("| game, full")]
    # decided 0.5, 0.75, 0.625: mean 0.625, t 4.303 x 0.125 / sqrt(3) = 0.3105; all 0.4, 0.6, 0.5: 0.5 +- 0.2484
    assert row == "| game, full | 3 of 26 | 62.5% [31.4, 93.6] | 50.0% [25.2, 74.8] | 75.0% |  | 45.6% |"
    found = [line for line in paper2019.relations() if "faster learning rates" in line]
    assert "| 3 |" in found[0]


def test_table_1_comes_out_to_the_printed_digit() -> None:
    (text,) = paper2019.half_widths()
    here, paper = (re.findall(r"±(0\.\d+)", part) for part in text.split("; paper: "))
    assert here == paper == ["0.0304", "0.0175", "0.0136"]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=5, max_size=30))
def test_rank_correlation_is_that_of_concordant_order(pairs: list[tuple[int, int]]) -> None:
    """Against the mean ranks counted one by one, and blind to any growing transformation."""
    x, y = (np.array(values, dtype=float) for values in zip(*pairs, strict=True))
    found = paper2019.rank_correlation(x, y)
    ranks = [np.array([(v < a).sum() + ((v == a).sum() + 1) / 2 for a in v]) for v in (x, y)]
    if any(len(set(values)) == 1 for values in (x, y)):
        assert math.isnan(found.estimate)
        return
    assert found.estimate == pytest.approx(np.corrcoef(*ranks)[0, 1], abs=1e-12)
    assert paper2019.rank_correlation(np.exp(x), y**3) == pytest.approx(found, nan_ok=True)


def test_a_rank_correlation_has_fishers_interval() -> None:
    r = float(np.corrcoef(range(5), [1.5, 1.5, 3, 4.5, 4.5])[0, 1])
    half = 1.959964 * math.sqrt((1 + r * r / 2) / 2)
    bounds = [math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)]
    assert paper2019.rank_correlation(range(5), [0.1, 0.1, 0.2, 0.5, 0.5]) == pytest.approx([r, *bounds], abs=1e-6)
