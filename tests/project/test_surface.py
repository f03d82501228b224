"""The names of `deepcrib` itself: imported when they are used, typed, documented."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import deepcrib
from deepcrib.cli import main
from deepcrib.errors import OptionError, UserError
from deepcrib.evaluation.sequential import SequentialEvaluation
from tests.support.imports import HEAVY, modules_after

STUB = Path(deepcrib.__file__).with_suffix(".pyi")


def test_importing_the_package_imports_nothing_else() -> None:
    loaded = modules_after("import deepcrib")
    assert not loaded.intersection(HEAVY) and not [name for name in loaded if name.startswith("deepcrib.")]


@pytest.mark.parametrize("name", [name for name in deepcrib.__all__ if name != "__version__"])
def test_each_name_is_there_and_says_what_it_is(name: str) -> None:
    assert name in dir(deepcrib) == sorted(deepcrib.__all__)
    assert len(getattr(deepcrib, name).__doc__) > 20


def test_type_checkers_know_the_same_names() -> None:
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    imported = {alias.asname for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert imported | {"__version__"} == set(deepcrib.__all__)


def test_other_names_are_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'deepcrib' has no attribute 'trian'"):
        _ = deepcrib.trian  # type: ignore[attr-defined]


def test_train_returns_its_folder_agent_and_metrics_and_a_callback_can_end_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rows: list[tuple[int, Mapping[str, float]]] = []

    def callback(learner: deepcrib.Learner, metrics: Mapping[str, float]) -> None:
        rows.append((learner.steps_done, metrics))
        if learner.steps_done == 1:
            raise LookupError("enough")

    options: dict[str, Any] = {"experiment": "smoke", "learner": {"iterations": 2, "checkpoint_every": 2}}
    options |= {"evaluation": {"final_games": 20, "opponents": ["random"]}, "pretraining": {"enabled": False}}
    folder = tmp_path / "a, it's"
    with pytest.raises(LookupError, match="enough"):
        deepcrib.train(**options, folder=folder, quiet=True, callback=callback)
    run = deepcrib.train(resume=folder, quiet=True, callback=callback)
    assert capfd.readouterr() == ("", "") and "win rate" in (run / "train.log").read_text()
    assert run.folder == folder == Path(run) == Path(str(run)) and (run / "summary.json").exists()
    assert [step for step, _ in rows] == [0, 1, 2] == run.metrics.index.tolist()
    assert {tag: run.metrics.loc[2, tag] for tag in rows[2][1]} == pytest.approx(rows[2][1])
    found = deepcrib.evaluate(run, run.agent, games=20)
    assert found.games == 20 and found.ci_low <= found.win_rate <= found.ci_high
    assert f"{100 * found.win_rate:.1f}% [{100 * found.ci_low:.1f}" in str(found) and "agent as dealer" in str(found)


def test_evaluate_measures_what_the_command_does(tmp_path: Path) -> None:
    options: dict[str, Any] = {"games": 400, "seed": 3, "until": "significant", "exploit": True, "deals": 4}
    found = deepcrib.evaluate("greedy", "random", **options, threads=1)
    assert isinstance(found, SequentialEvaluation) and found.verdict == "better"
    assert "[95%, always valid]" in str(found) and "responder's role" in str(found)
    words = [f"{name}={value}" for name, value in options.items()]
    assert main(["evaluate", "agent=greedy", "opponent=random", *words, f"hydra.run.dir={tmp_path}"]) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert {**found.to_dict(), "seconds": 0} == {**summary, "seconds": 0} and summary["exploit"]["deals"] == 4


@pytest.mark.parametrize(
    "wrong", [{"until": "now"}, {"exploit": "discards"}, {"hands": 9}, {"alpha": 0.1}, {"games": 0}]
)
def test_a_wrong_option_of_evaluate_is_named(wrong: dict[str, Any]) -> None:
    [(name, value)] = wrong.items()
    with pytest.raises(OptionError, match=f"{name}={value}: "):
        deepcrib.evaluate("greedy", "random", **wrong)


@pytest.mark.parametrize(
    "word", ["experiment=quik", "learner.iterations=x", "learner.iteratons=1", "evaluation.games=0"]
)
def test_a_wrong_override_of_train_is_a_user_error(word: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=word.partition("=")[0]):
        deepcrib.train(word, folder=tmp_path / "run")
    assert not list(tmp_path.rglob("*.*"))


def test_a_refused_override_leaves_no_folder_and_a_run_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deepcrib.files.runs.outputs_folder", lambda: tmp_path)
    with pytest.raises(UserError, match="quik"):
        deepcrib.train("experiment=quik")
    assert not list(tmp_path.iterdir())
    words = ["experiment=smoke", "evaluation.final_games=20", "pretraining.enabled=false"]
    run = deepcrib.train(*words, "learner.iterations=1")
    assert run.folder.is_relative_to(tmp_path / "train") and (run / "weights.safetensors").exists()
    assert deepcrib.train(f"resume={run}", "learner.iterations=2") == run


@pytest.mark.parametrize(
    ("word", "meant"), [("experiment=quik", "quick"), ("algorithm.name=sarsaa", "sarsa"), ("learner=replai", "replay")]
)
def test_a_mistyped_choice_is_answered_with_the_nearest(word: str, meant: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=rf"did you mean {meant}\?"):
        deepcrib.train(word, folder=tmp_path / "run")
