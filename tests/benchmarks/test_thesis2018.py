"""The page of Lang 2018 and what it is written from: its runs, their figures and its tests."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from statistics import variance
from typing import Any

import numpy as np
import pytest

pytest.importorskip("matplotlib")


from benchmarks.lang2018 import page as thesis2018
from benchmarks.lang2018 import runs as thesis2018_runs
from benchmarks.lang2018.rows import COMPARED, HALF, OPPONENTS, ROWS, lang2018, orders
from benchmarks.long_run import LongRun
from deepcrib.exact.strategies.names import THESIS_STRATEGIES
from deepcrib.files.runs import flat
from deepcrib.learners.weighted.agent import WeightedAgent, weighted_agent
from tests.support.composing import composed_today

RUNS = {(run.group, run.name): run for run in lang2018()}


def row_run(name: str, number: int = 1) -> LongRun:
    return RUNS[ROWS[name].group, f"{name}_{number}"]


# --- what is run ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMPARED)
def test_a_row_differs_from_what_it_is_compared_with_in_one_thing(name: str) -> None:
    allowed = {
        "scaling": {"learner.scaling"},
        "large": {"learner.scaling"},
        "decay": {"learner.decay"},
        "punishment": {"learner.punishment"},
        "cap": {"learner.cap"},
        "neighbours": {"learner.neighbours"},
        "semi": {"learner.initial", "learner.opponents", "learner.opponents_learn", "learner.strategies"},
    }
    for number in (1, 5):
        runs = row_run(name, number), row_run(COMPARED[name], number)
        one, other = (dict(flat(asdict(composed_today(run.words)))) for run in runs)
        assert {key for key in one if one[key] != other[key]} <= allowed[name.partition("_")[0]]
        assert one != other and one["seed"] == number
        assert runs[0].match == runs[1].match and f"seed={20_181 + number}" in runs[0].match


# --- what a run's script measures -------------------------------------------------------------------------------------


def test_mean_weights_are_those_of_the_locations_with_such_a_lead() -> None:
    agent = weighted_agent("random", 3)
    found = thesis2018_runs.mean_weights(agent, "dealer", (-2, 1))
    cells = [(own, other) for own in range(121) for other in range(121) if -2 <= own - other <= 1]
    expected = np.mean([agent.weights[own, other, 1] for own, other in cells], axis=0)
    assert list(found) == list(THESIS_STRATEGIES)
    assert list(found.values()) == pytest.approx(expected, abs=6e-5)


def test_situations_are_those_at_which_games_of_training_begin() -> None:
    found = thesis2018_runs.situations(4000, np.random.default_rng(1))
    assert all(len(set(hand)) == 6 and list(hand) == sorted(hand) for hand in found.hand.tolist())
    own, other = found.scores.T.astype(int)
    assert np.abs(own - other).max() == 60 and own.min() == other.min() == 0 and own.max() == other.max() == 120
    assert 0.45 < found.is_dealer.mean() < 0.55 and set(found.hand.ravel()) == set(range(52))


def test_exploration_is_that_of_the_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thesis2018_runs, "SITUATIONS", 50)
    pure = weighted_agent("hand_max_avg")
    found = thesis2018_runs.exploration(pure)
    assert [found["weights"], found["least_by_weights"]] == pytest.approx([0.3 - 1 / 8] * 2)
    observation = thesis2018_runs.situations(50, np.random.default_rng(20_181))
    chances = [0.3 - variance(preferences) for preferences in pure.preferences(observation).tolist()]
    assert found["preferences"] == pytest.approx(np.mean(chances))
    uniform = WeightedAgent("uniform", np.full((121, 121, 2, 8), 1 / 8), THESIS_STRATEGIES, pure.pegging)
    assert thesis2018_runs.exploration(uniform)["weights"] == pytest.approx(0.3)


def test_a_run_leaves_its_figures(tmp_path: Path) -> None:
    words = "--checkpoints --exploration --share 0.001 experiment=lang2018/round_1 learner.records=exact seed=1"
    short = "learner.games=60 learner.checkpoint_every=20 evaluation.opponents=[random_weights,greedy]"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thesis2018_runs, "OPPONENTS", ("random_weights", "greedy"))
        patch.setattr(thesis2018_runs, "SITUATIONS", 50)
        thesis2018_runs.main([*words.split(), *short.split(), "--to", str(tmp_path / "summary.json")])
    found = json.loads((tmp_path / "summary.json").read_text())
    assert list(found["checkpoints"]) == ["0", "20", "40"]
    assert found["greedy"]["games"] == found["own_start"]["games"] == 20
    assert set(found["exploration"]) == {"start", "end"}
    for lead in range(4):
        assert sum(weights[lead] for weights in found["weights"]["pone"].values()) == pytest.approx(1, abs=1e-3)


# --- the page ---------------------------------------------------------------------------------------------------------


def test_the_pages_tables_are_those_of_its_data() -> None:
    text = thesis2018.PAGE.read_text(encoding="utf-8")
    assert thesis2018.page(text) == text


@pytest.fixture
def keep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, dict[str, Any]], None]:
    """Writes runs of a group, in place of those that are kept."""
    monkeypatch.setattr("benchmarks.long_runs.DATA", tmp_path)
    monkeypatch.setattr(thesis2018, "DATA", tmp_path)

    def write(group: str, runs: dict[str, Any]) -> None:
        (tmp_path / f"{group}.json").write_text(json.dumps({"runs": runs}))

    return write


def kept(rate: float, start: float) -> dict[str, Any]:
    figures = {f"{opponent}.win_rate": rate for opponent in OPPONENTS}
    return {"figures": figures, "match_figures": {"win_rate": start}, "commit": "abcdef0123"}


def test_a_row_has_the_interval_over_its_seeds(keep: Callable[[str, dict[str, Any]], None]) -> None:
    runs = {f"decay_0_{number}": kept(rate, 0.5) for number, rate in enumerate((0.4, 0.4, 0.5, 0.6, 0.6), 1)}
    keep("lang2018_rows", runs | {"decay_50_1": kept(0.5, 0.25)})
    all_seeds, one_seed = [*thesis2018.rows()][2:]
    # t(4) 2.776 x 0.1 / sqrt(5) = 0.124
    cells = " | ".join(["50.0 [37.6, 62.4]"] * 2)
    assert all_seeds == f"| d = 0 | 5 x 1,000,000 | 50.0 [50.0, 50.0] | {cells} | `abcdef0` |"
    assert one_seed.startswith("| d = 0.5 | 1 x 1,000,000 | 25.0 | 50.0 |")


def test_comparisons_are_paired_and_corrected_for_all_of_them(keep: Callable[[str, dict[str, Any]], None]) -> None:
    assert len(thesis2018.compared()) == 40 and not [*thesis2018.comparisons()]
    luck = (0.40, 0.45, 0.50, 0.55, 0.60)  # of a seed, which both rows share
    gains = (0.019, 0.020, 0.021, 0.020, 0.020)
    runs = {f"half_length_{number}": kept(own, own) for number, own in enumerate(luck, 1)}
    runs |= {
        f"cap_50_{n}": kept(own + gain, own * 1.01) for n, (own, gain) in enumerate(zip(luck, gains, strict=True), 1)
    }
    runs |= {f"semi_pure_min_{number}": kept(own, 0.5 + 0.001 * number) for number, own in enumerate(luck, 1)}
    keep("lang2018_rows", {name: run for name, run in runs.items() if name != "cap_50_5"})
    assert {one.p for one in thesis2018.compared() if one.name == "cap_50"} == {1}
    keep("lang2018_rows", runs)
    assert COMPARED["cap_50"] == HALF
    tests = {(one.name, one.measure): one for one in thesis2018.compared()}
    # t = 0.02 / (sqrt(5e-7) / sqrt(5)) = 63.2; p = 3.7e-7, times 40
    assert tests["cap_50", "fixed opponents"].p == pytest.approx(3.74e-7, rel=0.02)
    assert tests["semi_pure_min", "own start"].differences == pytest.approx([0.001 * n for n in range(1, 6)])
    (row,) = [line for line in thesis2018.comparisons() if line.startswith("| cap r = 0.50 |")]
    assert "| 500,000 games | **+2.0 [+1.9, +2.1]** | < 0.001 |" in row


def test_orders_are_told_by_place_and_by_strategy(keep: Callable[[str, dict[str, Any]], None]) -> None:
    runs = {}
    for name, order in orders().items():
        weights = [0.5, 0.2, 0.1, 0.08, 0.06, 0.03, 0.02, 0.01]
        if name == "random_02":
            weights = weights[::-1]
        found: dict[str, Any] = {f"winning_half.{one}": weight for one, weight in zip(order, weights, strict=True)}
        found |= {f"weights.pone.{one}": [place, 9, 9, 9] for place, one in enumerate(order)}
        for seed in (1, 2, 3):
            if (name, seed) != ("random_03", 2):
                runs[f"{name}_{seed}"] = {"figures": found | {"own_start.win_rate": 0.4}, "commit": "abcdef0123"}
    keep("lang2018_orders", runs)
    lines = [*thesis2018.order_rows()]
    assert lines[2].startswith("| thesis | max_min, ") and lines[2].endswith(
        "| max_min (1) | 0.50 | -1.00 | +1.00 | 40.0 [40.0, 40.0] |"
    )
    assert not [line for line in lines if line.startswith("| random 03 ")]
    # eight of -1 and one of +1: mean -7/9, t(8) 2.306 x 2/3 / 3
    assert lines[-3].startswith("Over 9 random orders") and "-0.78 [-1.29, -0.27]" in lines[-3]
    assert lines[-2].startswith("winning half and +1.00 [+1.00, +1.00] in the losing one")
    assert lines[-1].startswith("In 8 of them one of the first two leads. They win 40.0")
    first, last = [line for line in thesis2018.places() if line.startswith(("| 1 |", "| 8 |"))]
    assert first.startswith("| 1 | 0.45 [") and last.startswith("| 8 | 0.06 [")
