"""The script of the full-length runs: what it runs in which order, and that it goes on where it stopped."""

import json
from pathlib import Path

import pytest

from benchmarks import paper2019
from benchmarks.paper2019 import Runner, Step, steps
from deepcrib.files.weights import WEIGHTS_FILE
from tests.composing import composed

STEPS = list(steps())
MATCH = {"win_rate": 0.63, "ci_low": 0.61, "ci_high": 0.65}


def test_the_steps_are_the_papers_in_the_promised_order() -> None:
    names = [step.name for step in STEPS]
    assert len(set(names)) == len(names) == 8 + 5 + 16 + 15
    assert names[0] == "cnn_lstm_sarsa_seed1"
    assert all(name.endswith("seed1") for name in names[:8])
    assert [step.trials for step in STEPS[8:13]] == [97, 141, 30, 26, 24]  # table 3
    assert {name[-5:] for name in names[13:29]} == {"seed2", "seed3"}
    assert all(step.search in names[8:13] for step in STEPS[29:])


@pytest.mark.parametrize("step", STEPS[:14] + STEPS[29:30], ids=lambda step: step.name)
def test_their_options_are_those_of_the_configs(step: Step) -> None:
    words = [word for word in step.words if not word.startswith(("-m", "hydra."))]
    options = composed("train", *words)
    assert options.learner.iterations == (100 if "table3" in step.name else 500)
    if "table3" in step.name:
        assert (options.play_network.name, options.play_network.hidden) == ("belanger2019_mlp", [128, 64, 32])
        assert (options.learner.discard_agent, options.learner.epsilon) == ("deterministic", 0.1)
        assert step.name.startswith(f"table3_{options.reward.play}_{options.state.play}")
    else:
        assert options.evaluation.exploring
        assert f"{options.play_network.name}_{options.algorithm.name}" in f"belanger2019_{step.name}"


def write(path: Path, content) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


def trial(share: float | None, state: str = "completed", rate: float = 1e-3) -> dict:
    return {"state": state, "objective": share, "values": {"learner.play_lr": rate}, "seconds": 60, "error": ""}


def test_a_run_is_started_then_resumed_then_left_alone(tmp_path: Path) -> None:
    runner, step = Runner(tmp_path), STEPS[0]
    place = tmp_path / "runs" / step.name
    assert runner.command(step) == ["train", *step.words, f"hydra.run.dir={place}"]
    write(place / "config.yaml", "seed: 1")
    assert runner.command(step) == ["train", f"resume={place}"]
    assert not runner.is_done(step)
    write(place / "summary.json", {})
    assert runner.is_done(step)


def test_a_search_is_done_when_all_its_trials_have_ended_broken_ones_too(tmp_path: Path) -> None:
    runner, step = Runner(tmp_path), Step("some", ("-m", "experiment=paper2019_search"), trials=3)
    trials = tmp_path / "runs" / "some" / "trials.json"
    assert not runner.is_done(step)
    write(trials, [trial(0.4), trial(None, "broken"), trial(None, "reserved")])
    assert not runner.is_done(step)
    assert runner.command(step) == ["train", "-m", "experiment=paper2019_search", f"hydra.sweep.dir={trials.parent}"]
    write(trials, [trial(0.4), trial(None, "broken"), trial(0.5)])
    assert runner.is_done(step)


def test_the_best_of_a_search_is_trained_with_its_values(tmp_path: Path) -> None:
    runner, step = Runner(tmp_path), STEPS[29]
    with pytest.raises(SystemExit, match="expected trials that ended"):
        runner.command(step)
    found = [trial(0.4, rate=0.1), trial(0.6, rate=0.02), trial(0.9, "reserved", rate=0.3)]
    write(tmp_path / "runs" / step.search / "trials.json", found)
    assert "learner.play_lr=0.02" in runner.command(step)


def test_finished_runs_leave_small_results_and_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def finish(runner: Runner, step: Step) -> None:
        place = runner.place(step)
        done.append(step.name)
        hands = {"hands_won": {"win_rate": 0.51, "ci_low": 0.5, "ci_high": 0.52}}
        summary = {"deterministic": MATCH | hands | {"exploring": MATCH | {"epsilon": 0.004, "win_rate": 0.62}}}
        write(place / "summary.json", summary)
        write(place / "environment.json", {"machine": {"host": "a name", "cores": 2}, "versions": {}})
        write(place / "curve.csv", "iteration,win_rate,ci_low,ci_high,seconds\n0,.4,.3,.5,60\n500,.6,.5,.7,5400\n")
        write(place / WEIGHTS_FILE, "large")
        write(place / "trials.json", [trial(0.4 + 0.002 * number) for number in range(step.trials)])

    results = tmp_path / "results"
    monkeypatch.setattr(paper2019, "RESULTS", results)
    monkeypatch.setattr(paper2019, "BASELINE_HANDS", 2000)
    monkeypatch.setattr(paper2019.os, "nice", lambda more: more)
    monkeypatch.setattr(paper2019.signal, "signal", lambda *_: None)
    monkeypatch.setattr(Runner, "run", finish)
    first, search = STEPS[0].name, STEPS[10].name
    paper2019.main([str(tmp_path), "--only", first, search])
    paper2019.main([str(tmp_path), "--only", first, search])
    assert done == [first, search]  # the second call finds both done
    assert {path.name for path in results.iterdir()} == {
        "README.md", "curves.png", "table3_baseline.json", f"{first}.json", f"{first}.csv", f"{search}.json"
    }  # fmt: skip
    assert "a name" not in (results / f"{first}.json").read_text()
    table = (results / "README.md").read_text()
    assert "| CNN+LSTM, SARSA | 1 | 63.0% [61.0, 65.0] | 62.0% [61.0, 65.0] | 1.50 | 33.75 | 63.6% +- 0.8 |" in table
    assert "| offensive_defensive, full | 30 of 30 | 42.9% [42.2, 43.6] | 45.8% |  | 56.7% |" in table
    assert "| deterministic against itself |" in table


def test_unknown_steps_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        paper2019.main([str(tmp_path), "--only", "cnn_lstm"])
    assert caught.value.code == 2
    assert "--only cnn_lstm: expected names that --list shows" in capsys.readouterr().err
