"""Verdicts on options: their statistics against worked examples and tables, the queue, and the page."""

import json
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("scipy")

import verdicts
import verdicts_page
from verdicts import Runner, queue
from verdicts_options import OPPONENTS, SEEDS, Option, options
from verdicts_page import Comparison, all_tests, holm, page

from deepcrib.files.runs import read_json
from tests.composing import composed

OPTIONS = {option.name: option for option in options()}
DEFAULT, SARSA = OPTIONS["default"], OPTIONS["sarsa"]
CENTRED, ERROR = (0.48, 0.49, 0.50, 0.51, 0.52), (0.00025 / 5) ** 0.5
"""Five rates, and the standard error of their mean."""


def compared(*rates: float) -> Comparison:
    return Comparison(SARSA, DEFAULT, rates)


def figures(option: Option, seed: int, rate: float = 0.5, seconds: float = 100.0) -> dict:
    matches = dict.fromkeys((*option.bases, *OPPONENTS), {"win_rate": rate, "ci_low": 0.49, "ci_high": 0.51})
    run = {"command": option.command(seed), "commit": "0123456789", "processor": "some"}
    return run | {
        "seconds": seconds,
        "hands": 1000,
        "matches": matches,
        "base_seconds": dict.fromkeys(option.bases, 100.0),
    }


def test_holm_multiplies_the_smallest_by_their_number_and_never_falls() -> None:
    # 0.005 x 4, 0.01 x 3, 0.03 x 2, and 0.04 x 1, which is raised to the one before
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.4, 0.6]) == pytest.approx([0.8, 0.8])
    assert holm([0.9, 1.0]) == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize(("quantile", "p"), [(2.132, 0.1), (2.776, 0.05), (4.604, 0.01), (8.610, 0.001)])
def test_p_is_that_of_the_table_of_students_t_with_four_degrees_of_freedom(quantile: float, p: float) -> None:
    assert compared(*(rate + quantile * ERROR for rate in CENTRED)).p == pytest.approx(p, rel=1e-3)
    assert compared(*(rate - quantile * ERROR for rate in CENTRED)).p == pytest.approx(p, rel=1e-3)


@pytest.mark.parametrize(("tests", "quantile"), [(1, 2.776), (5, 4.604), (10, 5.598), (50, 8.610)])
def test_the_bound_of_a_difference_is_the_tables_quantile_corrected_for_the_tests(tests: int, quantile: float) -> None:
    found = compared(*CENTRED).verdict(1.0, tests)
    assert found == f"no difference larger than {100 * quantile * ERROR:.1f}%"


def test_verdicts_follow_the_corrected_p_value_and_the_side_of_a_half() -> None:
    assert compared(0.52, 0.53, 0.54, 0.55, 0.56).verdict(0.05, 10) == "**beats its base**"
    assert compared(0.48, 0.47, 0.46, 0.45, 0.44).verdict(0.05, 10) == "**loses to its base**"
    assert compared(0.48, 0.47, 0.46, 0.45, 0.44).verdict(0.051, 10).startswith("no difference larger than")
    assert compared().verdict(1.0, 10) == "not run yet"
    assert compared(0.9, 0.9).verdict(1.0, 10) == f"2 of {SEEDS} seeds run"
    assert compared(0.9, 0.9).p == 1.0


def test_every_option_comes_after_its_bases() -> None:
    names = list(OPTIONS)
    assert names[0] == "default"
    for number, option in enumerate(OPTIONS.values()):
        assert set(option.bases) <= set(names[:number])


@pytest.mark.parametrize("name", ["default", "double", "game_bonus", "buffer"])
def test_it_is_quick_at_a_quarter_of_its_length_to_the_same_epsilon_and_measured_afterwards_alone(name: str) -> None:
    config = composed("train", *OPTIONS[name].command(1)[1:])
    learner, whole = config.learner, composed("train", "experiment=quick").learner
    assert config.evaluation.opponents == []
    assert learner.schedule(learner.iterations).epsilon == pytest.approx(whole.schedule(360).epsilon, abs=2e-4)
    if learner.buffer_size is None:
        assert 4 * learner.iterations == whole.iterations
    else:  # 8 cards of a hand
        hands = learner.buffer_size * learner.replacement / 8
        assert 4 * learner.iterations * hands == pytest.approx(whole.iterations * whole.episodes, rel=1e-3)


def test_no_seed_is_that_of_the_base_that_it_repeats() -> None:
    again = OPTIONS["default_again"]
    seeds = [option.command(seed)[-1] for option in (DEFAULT, again) for seed in range(1, SEEDS + 1)]
    assert seeds == [f"seed={seed}" for seed in range(1, 2 * SEEDS + 1)]


def test_the_queue_skips_what_is_measured_with_the_same_words_and_opponents() -> None:
    known = {option.run(seed): figures(option, seed) for option in (DEFAULT, SARSA) for seed in (1, 2, 3, 4, 5)}
    assert not list(queue(known, ["default", "sarsa"]))
    known["default_seed2"]["command"] = ["train", "seed=2"]
    del known["sarsa_seed4"]["matches"]["default"]
    assert list(queue(known, ["default", "sarsa"])) == [(DEFAULT, 2), (SARSA, 4)]
    assert [option.name for option, _ in queue({})][::SEEDS] == list(OPTIONS)


def finish(runner: Runner, words: list[str], log: Path) -> float:
    """What a training leaves, in no time; seed 3 of sarsa fails."""
    place = Path(words[-1].partition("=")[2])
    if place.name == "sarsa_seed3":
        raise subprocess.CalledProcessError(1, words)
    place.mkdir(parents=True)
    (place / "environment.json").write_text('{"machine": {"processor": "some", "host": "a name"}}')
    (place / "progress.csv").write_text("step,progress/hands\n0,0\n90,1000\n")
    return 100.0


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, int]]:
    """Matches that were asked for; nothing is trained, played, or known beforehand."""
    found: list[tuple[str, str, int]] = []

    def match(agent: str, rival: str, seed: int) -> dict[str, float]:
        found.append((Path(agent).name, Path(rival).name, seed))
        return {"win_rate": 0.5, "ci_low": 0.49, "ci_high": 0.51}

    monkeypatch.setattr(verdicts, "FIGURES", tmp_path / "none.json")
    monkeypatch.setattr(verdicts, "_match", match)
    monkeypatch.setattr(verdicts.os, "nice", lambda more: more)
    monkeypatch.setattr(verdicts.signal, "signal", lambda *_: None)
    monkeypatch.setattr(Runner, "_run", finish)
    return found


def test_what_is_left_is_measured_once_and_a_failure_stops_nothing_else(
    tmp_path: Path, played: list[tuple[str, str, int]], capsys: pytest.CaptureFixture[str]
) -> None:
    words = [str(tmp_path), "--only", "sarsa"]
    assert verdicts.main(words) == 1
    assert played[:4] == [("sarsa_seed1", rival, 1) for rival in ("default_seed1", *OPPONENTS)]
    assert {name for name, _, _ in played} == {f"sarsa_seed{seed}" for seed in (1, 2, 4, 5)}
    assert "a name" not in (tmp_path / "figures" / "sarsa_seed1.json").read_text()
    played.clear()
    assert verdicts.main(words) == 1 and not played
    assert verdicts.main([*words, "--list"]) == 0
    assert "4 of 5  sarsa: " in capsys.readouterr().out


def test_what_another_process_measures_or_has_measured_is_left_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, played: list[tuple[str, str, int]]
) -> None:
    runner, queued = Runner(tmp_path), list(queue({}, ["default"]))
    with runner.lock("measure_default_seed1"):  # another process is at it
        assert verdicts.main([str(tmp_path), "--only", "default"]) == 0
    assert {name for name, _, _ in played} == {f"default_seed{seed}" for seed in (2, 3, 4, 5)}
    played.clear()
    monkeypatch.setattr(verdicts, "queue", lambda *_: queued)  # as it was before the four were measured
    assert verdicts.main([str(tmp_path), "--only", "default"]) == 0
    assert {name for name, _, _ in played} == {"default_seed1"}


def test_unknown_options_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        verdicts.main([str(tmp_path), "--only", "sarsa", "rainbow"])
    assert caught.value.code == 2
    assert "--only rainbow: expected names that --list shows" in capsys.readouterr().err


def test_a_verdict_stays_when_more_is_measured() -> None:
    rates = (0.540, 0.541, 0.542, 0.543, 0.544)
    few = {SARSA.run(seed): figures(SARSA, seed, rate) for seed, rate in enumerate(rates, 1)}
    more = few | {OPTIONS["combined"].run(s): figures(OPTIONS["combined"], s, r) for s, r in enumerate(CENTRED, 1)}
    for known in (few, more):
        tests = all_tests(known)
        adjusted = holm([test.p for test in tests])
        assert tests[0].verdict(adjusted[0], len(tests)) == "**beats its base**"
        assert len(tests) == sum(len(option.bases) for option in OPTIONS.values())


def test_the_page_says_what_was_found_and_what_was_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rates, seeds = (0.540, 0.541, 0.542, 0.543, 0.544), range(1, SEEDS + 1)
    known = {DEFAULT.run(seed): figures(DEFAULT, seed) for seed in seeds}
    known |= {SARSA.run(seed): figures(SARSA, seed, rates[seed - 1], seconds=150.0) for seed in seeds}
    monkeypatch.setattr(verdicts_page, "FIGURES", tmp_path / "figures.json")
    monkeypatch.setattr(verdicts_page, "PAGE", tmp_path / "page.md")
    verdicts_page.write_report(known | {"gone_seed1": {}})
    assert read_json(tmp_path / "figures.json") == json.loads(json.dumps(known))
    text = (tmp_path / "page.md").read_text()
    assert "- **Beats its base**: `sarsa`.\n- **Loses to its base**: none.\n" in text
    assert "win 4.2 points more than half of these games" in text and "by +4.2 points on average" in text
    # 2.776 x sqrt(0.0000025 / 5) = 0.00196, 150 s of 100
    assert "| `sarsa` | `algorithm=sarsa` | `default` | 54.2% [54.0, 54.4] |" in text
    assert "| **beats its base** | +4.2 [+4.0, +4.4] | +4.2 [+4.0, +4.4] | +4.2 [+4.0, +4.4] | 1.50 |" in text
    assert "| `combined` | `learner.combined=true` | `default` |  |  | not run yet |" in text
    assert (tmp_path / "page.png").read_bytes()[1:4] == b"PNG"


def test_the_published_page_is_that_of_the_published_figures() -> None:
    assert verdicts_page.PAGE.read_text() == page(read_json(verdicts_page.FIGURES))
