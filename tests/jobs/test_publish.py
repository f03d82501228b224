"""`deepcrib publish`, and agents by `hf:OWNER/NAME`, on a hub that is a folder: none is reached."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from deepcrib.agents import UntrustedError, kept_spec, make_agent
from deepcrib.agents.packaged import packaged_weights
from deepcrib.agents.specs.travel import spec_of_file
from deepcrib.cli import main
from deepcrib.errors import FailureError, MissingExtraError, OptionError
from deepcrib.evaluation.league.league import identity
from deepcrib.files import hub
from deepcrib.files.trust import FromFile, trusting
from deepcrib.files.weights import read_weights, write_weights

PLACE = "hf:ann/thrower"


class Hub:
    """Repositories as folders, by the functions of huggingface_hub that are called."""

    def __init__(self, root: Path) -> None:
        self.root, self.constants = root / "hub", SimpleNamespace(HF_HOME=str(root / "home"))

    def create_repo(self, repo_id: str, *, private: bool, exist_ok: bool) -> None:
        (self.root / repo_id).mkdir(parents=True, exist_ok=exist_ok)

    def upload_folder(self, *, repo_id: str, folder_path: Path, allow_patterns: Sequence[str]) -> None:
        copy_matching(folder_path, self.root / repo_id, allow_patterns)

    def snapshot_download(
        self, repo_id: str, *, revision: str | None, local_dir: Path, allow_patterns: Sequence[str]
    ) -> None:
        if not (self.root / repo_id).is_dir():
            raise ConnectionError("no such\nrepository")
        copy_matching(self.root / repo_id, local_dir, allow_patterns)


def copy_matching(source: Path, target: Path, patterns: Sequence[str]) -> None:
    for name in files_in(source):
        if any(fnmatch(name, pattern) for pattern in patterns):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source / name, target / name)


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    found = Hub(tmp_path)
    monkeypatch.setitem(sys.modules, "huggingface_hub", found)
    hub.fetched.cache_clear()
    yield found
    hub.fetched.cache_clear()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A finished run whose agent has another one's weights beside its own, and what is to stay at home."""
    folder = tmp_path / "run"
    folder.mkdir()
    saved = read_weights(packaged_weights()["champion_rollouts"])
    discards = {"discards_by": kept_spec(str(packaged_weights()["td_perceptron"]), folder)}
    write_weights(folder / "weights.safetensors", saved.agent, saved.arrays, saved.metadata | discards)
    (folder / "config.yaml").write_text("seed: 7\n")
    told = {"versions": {"deepcrib": "0.1.0"}, "commit": "abc123", "seconds": 600.0, "machine": {"host": "secret"}}
    (folder / "environment.json").write_text(json.dumps(told | {"command": ["deepcrib train", "seed=7"]}))
    match = {"win_rate": 0.6, "ci_low": 0.59, "ci_high": 0.61, "games": 25_000}
    points = {"points_per_hand": 13.0, "opponent_points_per_hand": 12.0}
    (folder / "summary.json").write_text(json.dumps({"greedy": match | points, "hours": 1}))
    (folder / "state.pt").write_bytes(b"pickle")
    return folder


def test_a_run_is_sent_with_its_card_and_played_from_there(run: Path, fake: Hub, tmp_path: Path) -> None:
    assert main(["publish", str(run), "to=ann/thrower", f"hydra.run.dir={tmp_path}/job"]) == 0
    there = fake.root / "ann" / "thrower"
    [beside] = files_in(run / "agents")
    wanted = [f"agents/{beside}", "weights.safetensors"]
    assert files_in(there) == sorted(["README.md", "config.yaml", *wanted])
    card = (there / "README.md").read_text()
    assert "| greedy | 60.0% [59.0, 61.0] | 25,000 | 13.00 - 12.00 |" in card and "secret" not in card
    assert all(words in card for words in ("commit abc123", "10 minutes", "deepcrib train seed=7\n", PLACE))
    for name in ("evil.py", "pytorch_model.bin", "agents/evil.safetensors", "other.safetensors"):
        (there / name).write_bytes(b"from a stranger")
    agent = make_agent({"path": PLACE, "epsilon": 0.5})
    assert agent.name == PLACE
    assert files_in(Path(fake.constants.HF_HOME)) == [f"deepcrib/ann/thrower/{name}" for name in wanted]
    ours, theirs = read_weights(run).arrays, read_weights(PLACE).arrays
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours | theirs)
    assert identity(PLACE)["sha256"] == identity(str(run))["sha256"]
    kept = tmp_path / kept_spec(PLACE, tmp_path)  # a run that it discards for is whole without the hub
    assert kept.read_bytes() == (run / "weights.safetensors").read_bytes() and (kept.parent / wanted[0]).exists()


def test_nothing_is_sent_unless_asked(run: Path, fake: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["publish", str(run), f"hydra.run.dir={tmp_path}/job"]) == 0
    assert "nothing is sent" in capsys.readouterr().out and not fake.root.exists()
    assert make_agent(str(tmp_path / "job" / "files")).name
    (run / "summary.json").write_text('{"greedy": {"win_rate": 0.5}}')
    for words in ([str(run)], [str(tmp_path)]):
        assert main(["publish", *words, f"hydra.run.dir={tmp_path}/other"]) == 2
        assert capsys.readouterr().err.count("\n") == 1 and not (tmp_path / "other").exists()


def test_a_file_names_no_repository(tmp_path: Path) -> None:
    said = FromFile({"name": "lookahead", "agent": PLACE}, tmp_path / "weights.safetensors", "discards_by")
    with pytest.raises(UntrustedError, match=PLACE):
        spec_of_file(said)
    with trusting():
        assert spec_of_file(said) == said.spec


def test_what_cannot_be_fetched_ends_in_one_line(fake: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FailureError, match="^hf:ann/none: no such repository$"):
        make_agent("hf:ann/none")
    for place in ("hf:ann", "hf:../..", "hf:ann/a/b", "hf:ann/a@../b"):
        with pytest.raises(OptionError, match=f"^{place}: expected hf:OWNER/NAME"):
            read_weights(place)
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match="huggingface-hub, which is not installed"):
        make_agent(PLACE)
