"""Verdicts on options: their statistics against worked examples and tables, what is run for them, and the page."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("scipy")

from benchmarks.verdicts import measure as verdicts
from benchmarks.verdicts import page as verdicts_page
from benchmarks.verdicts.comparisons import Comparison, Spread, holm, judged
from benchmarks.verdicts.options import OPPONENTS, SEEDS, Option, options, second, together
from benchmarks.verdicts.page import first_edition, page
from deepcrib.files.runs import read_json

LISTS = {"first": [*options()], "again": [*second()], "together": [*together()]}
DEFAULT, SARSA = LISTS["first"][:2]
TOGETHER = {option.name: option for option in LISTS["together"]}
CENTRED, ERROR = (0.48, 0.49, 0.50, 0.51, 0.52), (0.00025 / 5) ** 0.5
"""Five rates, and the standard error of their mean by their own spread."""


def compared(*rates: float) -> Comparison:
    return Comparison(SARSA, DEFAULT, rates)


def verdict(*tests: Comparison, pool: bool = True) -> str:
    return judged(tests, pool=pool)[0].verdict


def test_holm_multiplies_the_smallest_by_their_number_and_never_falls() -> None:
    # 0.005 x 4, 0.01 x 3, 0.03 x 2, and 0.04 x 1, which is raised to the one before
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.4, 0.6]) == pytest.approx([0.8, 0.8])
    assert holm([0.9, 1.0]) == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize(
    ("tests", "quantile", "p"),
    [(1, 2.776, 0.05), (1, 4.604, 0.01), (1, 8.610, 0.001), (2, 2.306, 0.05), (2, 3.355, 0.01), (3, 3.055, 0.01)],
)
def test_p_is_that_of_the_table_of_students_t_with_four_degrees_a_comparison(
    tests: int, quantile: float, p: float
) -> None:
    spread = Spread.pooled([compared(*(rate + shift for rate in CENTRED)) for shift in (0.0, 0.1, -0.3)[:tests]])
    for side in (-1, 1):
        assert spread.p([rate + side * quantile * ERROR for rate in CENTRED]) == pytest.approx(p, rel=2e-3)


def test_the_pooled_spread_is_the_root_of_the_mean_variance() -> None:
    wide = compared(*(0.5 + 3 * (rate - 0.5) for rate in CENTRED))
    spread = Spread.pooled([compared(*CENTRED), wide])
    # 0.00025 and 0.00225
    assert (spread.deviation, spread.freedom) == (pytest.approx(0.00125**0.5), 8)


@pytest.mark.parametrize(("tests", "quantile"), [(1, 2.776), (5, 4.604), (10, 5.598), (50, 8.610)])
def test_the_bound_of_a_difference_is_the_tables_quantile_corrected_for_the_tests(tests: int, quantile: float) -> None:
    found = verdict(compared(*CENTRED), *[compared()] * (tests - 1))
    assert found == f"no difference larger than {100 * quantile * ERROR:.1f}%"


def test_verdicts_follow_the_side_of_a_half_and_a_quiet_one_is_judged_by_the_noise_of_all() -> None:
    quiet, noise = compared(0.5041, 0.5040, 0.5042, 0.5040, 0.5041), compared(*CENTRED)
    assert verdict(quiet) == verdict(quiet, noise, pool=False) == "**beats its base**"
    assert verdict(compared(*(1 - rate for rate in quiet.rates))) == "**loses to its base**"
    assert verdict(quiet, noise).startswith("no difference larger than")
    assert verdict(compared(0.9, 0.9), quiet) == f"2 of {SEEDS} seeds"


@pytest.mark.parametrize("name", LISTS)
def test_every_option_comes_after_its_bases(name: str) -> None:
    names = [option.name for option in LISTS[name]]
    assert len(set(names)) == len(names)
    for number, option in enumerate(LISTS[name]):
        assert set(option.bases) <= set(names[:number])


def test_no_seed_is_that_of_its_base_or_of_the_edition_before() -> None:
    def seeds(option: Option) -> set[str]:
        return {option.command(number)[-1] for number in range(1, SEEDS + 1)}

    first, again = ({option.name: seeds(option) for option in LISTS[name]} for name in ("first", "again"))
    assert not first["default"] & first["default_again"] and not again["default"] & again["default_again"]
    assert not set.union(*first.values()) & set.union(*again.values())


class Trainings:
    """Stands for trainings and matches: notes what was asked for, and leaves what a training leaves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[Any] = []
        monkeypatch.setattr(verdicts, "processor_seconds", self.train)
        monkeypatch.setattr(verdicts, "match", self.match)
        monkeypatch.setattr(verdicts, "gain", lambda agent, seed: {"gain": 0.4, "ci_low": 0.3, "ci_high": 0.5})
        monkeypatch.setattr(verdicts, "use_threads", lambda threads: None)
        monkeypatch.setattr(verdicts.signal, "signal", lambda *_: None)

    def train(self, words: list[str]) -> float:
        place = Path(words[-1].partition("=")[2])
        place.mkdir()
        (place / "progress.csv").write_text("step,progress/hands\n0,0\n90,1000\n")
        self.asked.append((place.parent.name, words[-2]))
        return 100.0

    def match(self, agent: str, rival: str, games: int, seed: int) -> dict[str, float]:
        own, other = (Path(name).parent.name or name for name in (agent, rival))
        self.asked.append((own, other, games, seed))
        return {"win_rate": 0.5, "ci_low": 0.49, "ci_high": 0.51}


def test_a_seed_is_trained_and_measured_and_its_bases_only_where_they_are_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = Trainings(monkeypatch)
    file = tmp_path / "scores" / "summary.json"
    (tmp_path / "scores" / "training").mkdir(parents=True)  # of a training that was interrupted
    verdicts.main(["scores", "2", "--to", str(file)])
    assert known.asked[:3] == [("scores", "seed=12"), ("games", "seed=12"), ("scores", "games", 100_000, 30_262)]
    panel = [("scores", name, 20_000, 30_262) for name in OPPONENTS]
    assert known.asked[3:] == panel
    found = read_json(file)
    assert (found["seconds"], found["hands"], found["base_seconds"]) == (100.0, 1000, {"games": 100.0})
    assert set(found["matches"]) == {"games", *OPPONENTS} and found["gain"]["gain"] == 0.4
    known.asked.clear()
    verdicts.main(["games", "2", "--to", str(tmp_path / "games" / "summary.json")])
    assert [one for one in known.asked if len(one) == 2] == [("default", "seed=12")]


def test_the_figures_of_the_first_edition_are_of_these_words() -> None:
    runs = first_edition().runs
    assert len(runs) == SEEDS * len(LISTS["first"])
    for option in LISTS["first"]:
        assert [runs[option.name, seed]["command"] for seed in range(1, 6)] == [option.command(n) for n in range(1, 6)]


def test_the_second_edition_is_read_from_what_the_queue_keeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {"runs": {"passes": {"figures": {"matches.default.win_rate": 0.51}}}}
    (tmp_path / "verdicts2_options_seed3.json").write_text(json.dumps(kept))
    monkeypatch.setattr("benchmarks.long_runs.DATA", tmp_path)
    found = verdicts_page.second_edition("options", LISTS["again"])
    assert found.runs == {("passes", 3): {"matches.default.win_rate": 0.51}}
    assert [test.rates for test in found.tests() if test.option.name == "passes"] == [(0.51,)]


def test_the_published_page_is_that_of_the_published_figures() -> None:
    text = verdicts_page.PAGE.read_text(encoding="utf-8")
    assert page(text) == text
