"""What an import or a command pulls in: nothing that it does not use."""

from __future__ import annotations

from inspect import signature
from pathlib import Path

import pytest

from deepcrib.agents.specs.registry import BUILDERS, LOADED, SCRIPTED_NAMES, Builder
from deepcrib.game.policies import POLICIES
from tests.support.imports import HEAVY, modules_after


def test_agents_are_imported_when_they_are_asked_for() -> None:
    loaded = modules_after("import deepcrib.agents")
    assert not loaded.intersection(HEAVY)
    of_agents = {name for name in loaded if name.startswith("deepcrib.agents.")}
    specs = {f"specs.{name}" for name in ("making", "registry", "travel")}
    assert of_agents == {f"deepcrib.agents.{name}" for name in ("base", "outside", "packaged", "specs", *specs)}


def test_a_scripted_player_needs_no_other_one_and_no_pytorch() -> None:
    loaded = modules_after("from deepcrib.agents import make_agent\nmake_agent('greedy')")
    assert "deepcrib.agents.scripted" in loaded and "torch" not in loaded
    rooms = ("networks", "search", "learners", "training")
    assert not [name for name in loaded if name.startswith(tuple(f"deepcrib.{room}" for room in rooms))]
    assert "deepcrib.agents.q_network" not in loaded


def test_a_match_of_scripted_players_needs_no_pytorch() -> None:
    code = "from deepcrib.matches import play_match\nfrom deepcrib.evaluation.evaluate import evaluate"
    assert "torch" not in modules_after(code)


def test_help_needs_neither_numba_nor_pytorch() -> None:
    code = "from deepcrib.cli import main\nassert main(['--help']) == 0"
    assert not modules_after(code).intersection(HEAVY)


@pytest.mark.parametrize(
    "builder", [*BUILDERS.values(), *LOADED.values()], ids=[*BUILDERS, *(f"weights of {name}" for name in LOADED)]
)
def test_every_entry_names_what_takes_its_options(builder: Builder) -> None:
    assert {*builder.fixed, *builder.agents} <= set(signature(builder.function()).parameters)


def test_scripted_names_are_the_policies() -> None:
    assert tuple(POLICIES) == SCRIPTED_NAMES


def test_a_match_of_scripted_players_by_command_needs_no_pytorch(tmp_path: Path) -> None:
    words = ["evaluate", "agent=greedy", "opponent=deterministic", "games=10", f"hydra.run.dir={tmp_path}"]
    loaded = modules_after(f"from deepcrib.cli import main\nassert main({words}) == 0")
    assert not loaded.intersection(("torch", "tensorboard", "matplotlib", "textual"))
    assert not [
        name
        for name in loaded
        if name.startswith(("deepcrib.training", "deepcrib.learners")) or "best_response" in name
    ]
