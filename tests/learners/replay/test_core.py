"""The way from the command to the gradient, and what the deep-RL core needs: as docs/core.md says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest
import torch

from deepcrib.cli import main

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "core.md").read_text(encoding="utf-8")


def test_the_core_needs_no_other_learner_no_search_and_no_league() -> None:
    lines = "import deepcrib.learners.replay.learner, json, sys\nprint(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=True)
    loaded = {name for name in json.loads(done.stdout) if name.startswith("deepcrib.")}
    learners = {name.split(".")[2] for name in loaded if name.startswith("deepcrib.learners.")}
    assert learners == {"replay"}
    assert not {"search", "evaluation", "analysis", "jobs", "envs", "app"} & {name.split(".")[1] for name in loaded}


@pytest.mark.parametrize("module", ["rewards", "targets"])
def test_the_equations_need_next_to_nothing(module: str) -> None:
    """Arrays in, arrays out: no agent, no network, no record of what was played."""
    lines = f"import deepcrib.learners.replay.{module}, json, sys\nprint(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=True)
    own = {name for name in json.loads(done.stdout) if name.partition(".")[0] == "deepcrib"}
    assert len(own) <= 12 and not {"torch", "deepcrib.agents", "deepcrib.matches"} & own


def test_eight_files_from_the_command_to_the_gradient(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those on the stack where a loss is differentiated; the page names every one of them."""
    stacks: list[list[str]] = []
    backward = torch.Tensor.backward

    def spy(loss: torch.Tensor, *arguments: Any, **options: Any) -> None:
        stacks.append([frame.filename for frame in traceback.extract_stack()])
        backward(loss, *arguments, **options)

    monkeypatch.setattr(torch.Tensor, "backward", spy)
    words = ["train", "experiment=smoke", "learner.iterations=1", "learner.episodes=4", "pretraining.enabled=false"]
    assert main([*words, "evaluation.every=0", "threads=1", f"hydra.run.dir={tmp_path}"]) == 0
    package = ROOT / "deepcrib"
    for stack in stacks:
        own = {Path(name).relative_to(ROOT).as_posix() for name in stack if Path(name).is_relative_to(package)}
        assert "deepcrib/cli.py" in own and "deepcrib/learners/replay/update.py" in own
        assert len(own) <= 8
        assert all(f"`{name}`" in PAGE for name in own)


def test_every_file_and_function_that_the_page_names_is_there() -> None:
    for file, names in re.findall(r"`(deepcrib/[\w/]+\.py)`((?: ?[:,(]? ?`[\w.]+`)*)", PAGE):
        text = (ROOT / file).read_text(encoding="utf-8")
        for name in re.findall(r"`([\w.]+)`", names):
            kind = r"(?:def|class)" if "." not in name else "def"
            assert re.search(rf"{kind} {name.rpartition('.')[2]}\b", text), (file, name)
