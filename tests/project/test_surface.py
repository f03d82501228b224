"""The names of `deepcrib` itself: imported when they are used, typed, documented."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import deepcrib
from deepcrib.errors import UserError
from tests.support.imports import HEAVY, modules_after

STUB = Path(deepcrib.__file__).with_suffix(".pyi")


def test_importing_the_package_imports_nothing_else() -> None:
    loaded = modules_after("import deepcrib")
    assert not loaded.intersection(HEAVY) and not [name for name in loaded if name.startswith("deepcrib.")]


@pytest.mark.parametrize("name", [name for name in deepcrib.__all__ if name != "__version__"])
def test_each_name_is_there_and_says_what_it_is(name: str) -> None:
    assert name in dir(deepcrib)
    assert len(getattr(deepcrib, name).__doc__) > 20


def test_type_checkers_know_the_same_names() -> None:
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    imported = {alias.asname for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert imported | {"__version__"} == set(deepcrib.__all__)


def test_other_names_are_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'deepcrib' has no attribute 'trian'"):
        _ = deepcrib.trian  # type: ignore[attr-defined]


def test_train_returns_a_folder_that_is_an_agent(tmp_path: Path) -> None:
    """Options as words of a command or by name."""
    options = {"learner": {"iterations": 1}, "evaluation": {"final_games": 20, "opponents": ["random"]}}
    run = deepcrib.train("pretraining.enabled=false", experiment="smoke", **options, folder=tmp_path / "run")
    assert run == tmp_path / "run" and (run / "summary.json").exists()
    found = deepcrib.evaluate(run, "random", games=20)
    assert found.games == 20 and found.ci_low <= found.win_rate <= found.ci_high
    assert f"{100 * found.win_rate:.1f}% [{100 * found.ci_low:.1f}" in str(found) and "agent as dealer" in str(found)


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
    assert run.is_relative_to(tmp_path / "train") and (run / "weights.safetensors").exists()
    assert deepcrib.train(f"resume={run}", "learner.iterations=2") == run


@pytest.mark.parametrize(
    ("word", "meant"), [("experiment=quik", "quick"), ("algorithm.name=sarsaa", "sarsa"), ("learner=replai", "replay")]
)
def test_a_mistyped_choice_is_answered_with_the_nearest(word: str, meant: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=rf"did you mean {meant}\?"):
        deepcrib.train(word, folder=tmp_path / "run")
