"""The page of O'Connor 2000: its runs are what they are called, and its statistics right."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.exact import discard_game
from benchmarks.long_run import LongRun
from benchmarks.oconnor2000 import checks as perceptron_checks
from benchmarks.oconnor2000 import page as oconnor2000
from benchmarks.oconnor2000.values import ROWS, oconnor_game, oconnor_grid
from tests.support.composing import composed_today
from tests.support.reference import kept_by, show

TRAININGS = [*oconnor_game(), *oconnor_grid()]


@pytest.mark.parametrize("run", TRAININGS[::3], ids=lambda run: f"{run.group}_{run.name}")
def test_trainings_are_what_they_are_called(run: LongRun) -> None:
    options = composed_today(run.words)
    units, seed = run.name.split("_")[0], int(run.name.rpartition("_seed")[2])
    assert options.seed == seed and options.learner.pairs == 20_000 and options.evaluation.seed == 2000
    if units.isdigit():
        assert options.learner.hidden == [int(units)] and options.learner.inputs == "raw"
    if "_lr" in run.name:
        assert f"_lr{options.learner.lr:g}_" in run.name
    rows = [row for row in ROWS if f"{row.name}_seed{seed}" == run.name]
    assert options.learner.hands == (rows[0].hands if rows else 200_000)
    assert options.learner.hands % options.learner.checkpoint_every == 0  # measured at the end


def test_the_grid_is_three_by_three_with_the_tables_own_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.long_runs.DATA", tmp_path)
    assert oconnor2000.whole_table(oconnor2000.grid) is None
    for group, runs in (("oconnor_game", oconnor_game()), ("oconnor_grid", oconnor_grid())):
        kept = {}
        for run in runs:
            units, seed = composed_today(run.words).learner.hidden[0], int(run.name[-1])
            margin = 100 * (group == "oconnor_game") + units + seed
            curve = {f"{name}/pair_margin": [-1, margin] for name in oconnor2000.OPPONENTS}
            figures = {name: seed / 10 for name in run.keeps if name.endswith("win_rate")}
            kept[run.name] = {"curve": curve, "figures": figures}
        (tmp_path / f"{group}.json").write_text(json.dumps({"runs": kept}))
    assert oconnor2000.cells()[:, :, 0].tolist() == [[21, 41, 81], [121, 141, 81], [21, 41, 81]]
    (row,) = [line for line in oconnor2000.full_game() if line.startswith("| 20 units |")]
    assert "| 200,000 | 3 | +122.00 [+119.52, +124.48] |" in row  # 4.303 / sqrt(3)
    (row,) = [line for line in oconnor2000.games() if line.startswith("| td_perceptron |")]
    assert row.startswith("| td_perceptron | 3 | 20.0 [-4.8, 44.8] |")
    (row,) = [line for line in oconnor2000.comparisons() if line.startswith("| 40 units |")]
    assert row.startswith("| 40 units | 20 units | +20.0 [+17.7, +22.3] |")  # 2.776 * sqrt(2 / 3)


def test_analysis_of_variance_by_hand() -> None:
    """Cell means 2, 3, 6, 11: squares 72, 18 and 8 on one degree each, 8 within cells on four."""
    values = np.array([[[1.0, 3.0], [2.0, 4.0]], [[5.0, 7.0], [10.0, 12.0]]])
    found = oconnor2000.analysis(values)
    assert [(a, b, round(f, 9)) for a, b, f, _ in found.values()] == [(1, 4, 36), (1, 4, 9), (1, 4, 4)]
    assert found["interaction"][-1] == pytest.approx(0.1161, abs=1e-4)  # t of 2 on four degrees, both sides


def test_welchs_interval_of_equal_spreads_is_students() -> None:
    """Two pairs, each of standard deviation sqrt(2) / 2: two degrees, t 4.303, standard error sqrt(1 / 2)."""
    found = oconnor2000.welch([1.0, 2.0], [0.0, 1.0])
    assert found == pytest.approx((1, 1 - 4.3027 * 0.5**0.5, 1 + 4.3027 * 0.5**0.5), abs=1e-3)


# --- the checks of the network, and what is counted in a hand ---


def test_the_network_learns_a_sum_and_begins_from_its_weights() -> None:
    errors = perceptron_checks.learn("sum", 1, (0, 100_000))
    network = perceptron_checks.new_weights(perceptron_checks.layer_sizes(2, [10]), perceptron_checks.derive(1, 2000))
    first, out = network[:30].reshape(3, 10), network[30:]
    x = perceptron_checks.points(2)
    output = 1 / (1 + np.exp(-(x @ first[:2] + first[2]))) @ out[:10] + out[10]
    assert errors[0] == pytest.approx(((x.sum(axis=1) - output) ** 2).mean())
    assert errors[100_000] < 1e-3


def test_hands_are_counted_without_flush_and_nobs() -> None:
    """Four hearts with their jack under a heart: a flush of five and nobs; the slow rules count the same less these."""
    hands = np.array([[4 * rank + 2 for rank in (1, 3, 7, 10)] + [4 * 12, 4 * 12 + 1]], dtype=np.int8)
    starters = np.array([4 * 5 + 2], dtype=np.int8)
    hands.sort(axis=1)
    action = int(np.argmax(discard_game._counted(hands, starters, ("nobs",))[0]))
    points = [discard_game._counted(hands, starters, left_out)[0, action] for left_out in discard_game.WAYS.values()]
    kept = [int(card) for card in hands[0] if card // 4 != 12]
    assert points[0] == show(kept, int(starters[0]))
    assert [points[0] - other for other in points] == [0, 1, 5, 6]


def test_players_by_what_is_counted_are_the_players_when_everything_is() -> None:
    found = discard_game.counted_means(300, 5)["everything"]
    cards, starters, _ = discard_game.deal_hands(5, 300)
    means = {name: points.mean for name, points in found.items()}
    assert means["cheating"] == pytest.approx(discard_game.mean_points(discard_game.cheating_player, 300, 5).mean)
    random = [show(kept_by(h, a), s) for h, s in zip(cards.tolist(), starters.tolist(), strict=True) for a in range(15)]
    assert means["random"] == pytest.approx(np.mean(random))
