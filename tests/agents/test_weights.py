"""The files of all agents with weights: one format; what is changed in them is refused in one clear line."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
from safetensors.torch import save_file as save_tensors

from deepcrib.agents import make_agent
from deepcrib.agents.packaged import packaged_weights
from deepcrib.agents.specs.registry import LOADED
from deepcrib.errors import UserError
from deepcrib.files.trust import UntrustedError
from deepcrib.files.weights import CheckpointError, read_weights, write_weights
from deepcrib.networks import PlayNetworkConfig, make_play_network
from deepcrib.networks.checkpoints import save_weights
from deepcrib.networks.encoders import make_play_encoder

PACKAGED = {
    **{"q_network": "hill_climber", "partida": "partida_network"},
    **{"td": "td_perceptron", "evolution": "evolutionary"},
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A file of each agent that has weights, by the agent's name."""
    folder = tmp_path_factory.mktemp("weights")
    make_agent("hand_max_avg").save(folder / "weighted.safetensors")
    spec = make_play_encoder("afterstate").spec
    policy = make_play_network(PlayNetworkConfig("mlp", hidden=[4]), spec)
    save_weights(folder / "policy_network.safetensors", {"discards_by": "greedy"}, policy=policy)
    made = {name: folder / f"{name}.safetensors" for name in ("weighted", "policy_network")}
    return made | {name: packaged_weights()[stem] for name, stem in PACKAGED.items()}


def header_of(path: Path) -> dict[str, str]:
    with safe_open(path, framework="np") as file:
        return dict(file.metadata())


def refusal(path: Path, read: Callable[[str], Any] = make_agent) -> str:
    with pytest.raises((CheckpointError, UntrustedError)) as caught:
        read(str(path))
    message = str(caught.value)
    assert "\n" not in message and str(path) in message
    return message


def test_every_agent_with_weights_has_a_file_here(files: dict[str, Path]) -> None:
    assert sorted(files) == sorted(LOADED)
    assert set(PACKAGED.values()) <= set(packaged_weights())


@pytest.mark.parametrize("agent", LOADED)
def test_a_file_is_one_format_that_names_its_agent(files: dict[str, Path], agent: str, tmp_path: Path) -> None:
    path = files[agent]
    header = header_of(path)
    assert sorted(header.keys() - {"digest"}) == ["agent", "format", "format_version", "metadata"]
    assert ("digest" in header) == (agent not in PACKAGED)  # which are older
    assert (header["agent"], header["format"], header["format_version"]) == (agent, "deepcrib weights", "2")
    saved, arrays = read_weights(path), load_file(path)
    assert (saved.agent, saved.metadata) == (agent, json.loads(header["metadata"]))
    write_weights(tmp_path / "weights.safetensors", agent, saved.arrays, saved.metadata)
    again = load_file(tmp_path / "weights.safetensors")
    assert sorted(again) == sorted(arrays)
    for name, array in arrays.items():
        assert again[name].dtype == array.dtype and np.array_equal(again[name], array)
    assert type(make_agent(tmp_path)) is type(make_agent(path))
    assert make_agent(tmp_path).name == str(tmp_path)


def test_equal_weights_are_equal_files(tmp_path: Path) -> None:
    """Whose header is padded to eight bytes, as the format has it."""
    arrays = {name: np.arange(5.0) for name in "cab"}
    written = set()
    for _ in range(8):
        write_weights(tmp_path / "one.safetensors", "td", arrays, {"number": 1})
        written.add((tmp_path / "one.safetensors").read_bytes())
    assert len(written) == 1 and int.from_bytes(written.pop()[:8], "little") % 8 == 0


def test_arrays_of_any_layout_come_back(tmp_path: Path) -> None:
    """Also those that are no block of memory, and numbers without a dimension."""
    columns = np.arange(12, dtype=np.int8).reshape(3, 4)
    written = {
        "columns": columns.T,
        "every other": columns[:, ::2],
        "number": np.float32(2.5),
        "none": np.zeros((0, 3)),
    }
    write_weights(tmp_path / "x.safetensors", "td", written, {"seed": 1})
    arrays = read_weights(tmp_path / "x.safetensors").arrays
    assert sorted(arrays) == sorted(written)
    for name, array in written.items():
        assert arrays[name].shape == array.shape and (arrays[name] == array).all()


def test_files_of_an_earlier_deepcrib_are_refused(files: dict[str, Path], tmp_path: Path) -> None:
    path, found = tmp_path / "old.safetensors", "deepcrib weighted strategies"
    save_file(load_file(files["td"]), path, {"format": found, "format_version": "1", "metadata": "{}"})
    for read in (make_agent, read_weights, lambda path: make_agent({"path": path, "epsilon": 0.1})):
        assert f"was written by another deepcrib, in {found!r} version '1'" in refusal(path, read)


HEADERS: dict[str, tuple[dict[str, str | None], str]] = {
    "no header": (dict.fromkeys(("format", "format_version", "agent", "metadata")), "not of a deepcrib agent"),
    "no format": ({"format": None}, "not of a deepcrib agent"),
    "another program": ({"format": "pt"}, "not of a deepcrib agent"),
    "no version": ({"format_version": None}, "another deepcrib, in 'deepcrib weights' version None; this one reads"),
    "later version": ({"format_version": "3"}, "another deepcrib, in 'deepcrib weights' version '3'; this one reads"),
    "several lines": ({"format_version": "1\n2"}, r"version '1\n2'; this one"),
    "no agent": ({"agent": None}, "cannot read: KeyError('agent')"),
    "no such agent": ({"agent": "a\nb"}, r"holds weights of 'a\nb', expected one of q_network, weighted, "),
    "an agent of before": ({"agent": "weighted_network"}, "holds weights of 'weighted_network', expected one of q_"),
    "a module": ({"agent": "os:getcwd"}, "agent names os:getcwd, which is code from outside of deepcrib: expected"),
    "no metadata": ({"metadata": None}, "cannot read: KeyError('metadata')"),
    "no JSON": ({"metadata": "{"}, "cannot read: JSONDecodeError"),
    "a list": ({"metadata": "[1]"}, "cannot read: expected a mapping"),
    "depth": ({"metadata": "[" * 100_000}, "cannot read: RecursionError"),
}


@pytest.mark.parametrize("agent", LOADED)
@pytest.mark.parametrize("case", HEADERS)
def test_headers_that_are_changed_are_refused(files: dict[str, Path], agent: str, case: str, tmp_path: Path) -> None:
    change, words = HEADERS[case]
    changed = header_of(files[agent]) | change | {"digest": None}
    header = {name: text for name, text in changed.items() if text is not None}
    save_file(load_file(files[agent]), tmp_path / "x.safetensors", header)
    assert words in refusal(tmp_path / "x.safetensors")


@pytest.mark.parametrize("agent", LOADED)
def test_weights_under_another_agents_name_are_refused(files: dict[str, Path], agent: str, tmp_path: Path) -> None:
    saved = read_weights(files[agent])
    for other in LOADED:
        if other != agent:
            write_weights(tmp_path / "x.safetensors", other, saved.arrays, saved.metadata)
            assert f"has {other} weights that cannot be used: " in refusal(tmp_path / "x.safetensors")
            with pytest.raises(CheckpointError, match=f"holds weights of the agent '{agent}', expected '{other}'"):
                read_weights(files[agent], other)


def weighted(places: dict[tuple[int, ...], float]) -> dict[str, np.ndarray]:
    """The weights of `hand_max_avg` alone, 1 everywhere, but for some places."""
    weights = np.ones((121, 121, 2, 1))
    for place, value in places.items():
        weights[place] = value
    return {"weights": weights}


CONTRADICTIONS: list[tuple[str, dict[str, Any], dict[str, np.ndarray], str]] = [
    ("td", {"hidden": [4]}, {}, "weights for features inputs and hidden="),
    ("td", {"inputs": "all"}, {}, "inputs=all"),
    ("td", {"move_points": "no"}, {}, "move_points=no"),
    ("evolution", {}, {"weights": np.zeros((2, 14))}, r"expected \(2, 13\)"),
    ("partida", {"inputs": 16}, {}, r"w1 is \(130, 24\), expected finite numbers \(\d+, 24\)"),
    ("partida", {"inputs": 13}, {}, "no such network: inputs=13"),
    ("partida", {"target": None}, {}, "target=None"),
    ("weighted", {}, {"weights": np.ones((120, 121, 2, 1))}, r"\(120, 121, 2, 1\), expected \(121, 121, 2, 1\)"),
    ("weighted", {}, {"weights": np.ones((121, 121, 2, 2))}, r"\(121, 121, 2, 2\), expected \(121, 121, 2, 1\)"),
    ("weighted", {}, weighted({(3, 4, 1): 1.2}), r"weights at \(3, 4, 1\) are \[1.2\], expected"),
    ("weighted", {}, weighted({(9, 4, 0): -0.25}), r"weights at \(9, 4, 0\) are \[-0.25\], expected"),
    ("weighted", {}, weighted({(0, 0, 0): np.inf}), r"weights at \(0, 0, 0\) are \[inf\], expected"),
    ("weighted", {}, {"play_weights": np.ones(1)}, "they weigh its plays too"),
    ("weighted", {}, {"pegging": np.zeros((1819, 2, 3))}, r"pegging records have the shape \(1819, 2, 3\), expected"),
    ("weighted", {}, {"pegging": np.full((1820, 2, 3), np.inf)}, "pegging records are not all finite"),
    ("weighted", {"strategies": ["crib_min"]}, {}, "strategy 'crib_min': expected one of"),
    ("weighted", {"strategies": ["hand_max_avg"] * 2}, {}, "each once"),
    ("weighted", {"neighbours": "some"}, {}, "neighbours 'some': expected one of none, average, sum"),
    ("weighted", {"share": 1.5}, {}, "share 1.5: expected 0 to 1"),
]


@pytest.mark.parametrize(("agent", "metadata", "arrays", "words"), CONTRADICTIONS)
def test_files_that_contradict_themselves_are_refused(
    agent: str,
    metadata: dict[str, Any],
    arrays: dict[str, np.ndarray],
    words: str,
    files: dict[str, Path],
    tmp_path: Path,
) -> None:
    saved, path = read_weights(files[agent]), tmp_path / "x.safetensors"
    write_weights(path, agent, {**saved.arrays, **arrays}, {**saved.metadata, **metadata})
    assert re.search(words, refusal(path))


@pytest.mark.parametrize("agent", LOADED)
def test_metadata_of_any_value_is_taken_or_refused_in_one_line(
    files: dict[str, Path], agent: str, tmp_path: Path
) -> None:
    """What an agent is made with is refused; what only tells of its training may be anything."""
    saved, path = read_weights(files[agent]), tmp_path / "x.safetensors"
    networks = dict.fromkeys(("q_network", "policy_network"), "networks")
    needed = {**networks, "weighted": "share", "partida": "inputs"}
    refused = set()
    for name in saved.metadata:
        for value in (None, -1, 10**30, float("inf"), float("nan"), "x\ny", [], [10**30], ["x"], {}, {"a": []}):
            write_weights(path, agent, saved.arrays, {**saved.metadata, name: value})
            try:
                make_agent(path)
            except UserError as error:
                assert "\n" not in str(error) and str(path) in str(error)
                refused.add(name)
    assert agent == "evolution" or needed.get(agent, "hidden") in refused
    assert refused.isdisjoint({"learner", "seed", "rules", "games", "genome"})


@pytest.mark.parametrize("agent", LOADED)
def test_arrays_that_are_missing_or_of_other_numbers_are_refused(
    files: dict[str, Path], agent: str, tmp_path: Path
) -> None:
    saved, path = read_weights(files[agent]), tmp_path / "x.safetensors"
    for name, array in saved.arrays.items():
        for changed in ({}, {name: array.ravel()[:-1]}, {name: np.zeros((3, 0, 2))}):
            rest = {other: found for other, found in saved.arrays.items() if other != name}
            write_weights(path, agent, rest | changed, saved.metadata)
            refusal(path)
    for kind in (torch.bfloat16, torch.float8_e4m3fn):  # which NumPy does not have
        tensors = {name: torch.zeros(array.shape).to(kind) for name, array in saved.arrays.items()}
        save_tensors(tensors, path, header_of(files[agent]))
        assert "damaged or not a deepcrib checkpoint" in refusal(path)


@pytest.mark.parametrize("agent", LOADED)
def test_files_cut_anywhere_are_refused(files: dict[str, Path], agent: str, tmp_path: Path) -> None:
    content, path = files[agent].read_bytes(), tmp_path / "x.safetensors"
    for kept in (0, 7, 8, 100, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:kept])
        assert "damaged or not a deepcrib checkpoint" in refusal(path)


@pytest.mark.parametrize(
    ("agent", "option"),
    [
        *((agent, "epsilon") for agent in ("weighted", "td", "evolution", "partida", "policy_network")),
        *((agent, "discards") for agent in ("weighted", "td", "evolution")),
    ],
)
def test_options_that_an_agent_of_weights_does_not_take(files: dict[str, Path], agent: str, option: str) -> None:
    value = 0.1 if option == "epsilon" else "greedy"
    with pytest.raises(UserError, match=f"{files[agent]} has no option '{option}' .expected "):
        make_agent({"path": str(files[agent]), option: value})
    make_agent({"path": str(files[agent]), "epsilon": 0.0})  # as all of them do
