"""Evaluations, tournaments and best responders come to the same to the bit with workers as without."""

from dataclasses import replace
from pathlib import Path

import pytest

from deepcrib.agents import make_agent
from deepcrib.cli import main
from deepcrib.evaluation import exploit as exploit_module
from deepcrib.evaluation.evaluate import evaluate
from deepcrib.evaluation.exploit import exploit
from deepcrib.evaluation.league.league import plan_pairings, play_pairings, reopen
from deepcrib.evaluation.league.pair_sums import Sums
from deepcrib.evaluation.league.tournament import against_checkpoints, round_robin
from deepcrib.kernels.processes import ALONE, Workers

pytest.importorskip("joblib")
TWO = Workers(2)
MINE = """
class Mine:
    name, num_players = "mine", frozenset({2})
    def discard(self, observation):
        return (observation.key % 15).astype("int8")
    def play(self, observation):
        return observation.legal.argmax(axis=1).astype("int8")
"""


@pytest.mark.parametrize("duplicate", [False, True])
def test_an_evaluation(duplicate: bool) -> None:
    told: list[int] = []
    alone, shared = (
        replace(evaluate("greedy", "random", 20_002, 3, duplicate=duplicate, **more), seconds=0)
        for more in ({}, {"workers": TWO, "progress": told.append})
    )
    assert alone == shared and sorted(told) == [20_002 - 2 * 8192, 8192, 8192]


@pytest.mark.usefixtures("known_models")
def test_what_a_best_responder_gains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exploit_module, "BATCH", 2)
    assert exploit(make_agent("greedy"), 4, 5, workers=TWO) == exploit(make_agent("greedy"), 4, 5)


def test_a_round_robin_and_matches_with_checkpoints() -> None:
    agents = {name: make_agent(name) for name in ("greedy", "random", "td_perceptron")}
    told: list[int] = []
    assert round_robin(agents, 20, 5, workers=TWO, progress=told.append) == round_robin(agents, 20, 5)
    assert told == [20] * 3
    match = (agents["greedy"], {3: agents["random"], 8: agents["td_perceptron"]}, 20, 2, 5)
    assert against_checkpoints(*match, workers=TWO) == against_checkpoints(*match)


@pytest.fixture
def specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Of a league with an agent from the current folder."""
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    return {"mine": "mine:Mine", "greedy": "greedy", "random": "random"}


def league(specs: dict[str, str], folder: str, workers: Workers = ALONE) -> list[Sums]:
    """What each pairing came to, as returned and as its file has it."""
    agents = {name: make_agent(spec) for name, spec in specs.items()}
    told: list[int] = []
    played = play_pairings(plan_pairings(specs, 64, 5), agents, Path(folder), told.append, workers)
    assert sum(told) == 3 * 64 and all(pairing.complete for pairing in played)
    assert [reopen(pairing, Path(folder)).sums for pairing in plan_pairings(specs, 64, 5)] == [p.sums for p in played]
    return [pairing.sums for pairing in played]


def test_a_league_with_an_agent_from_the_current_folder(specs: dict[str, str]) -> None:
    assert league(specs, "shared", TWO) == league(specs, "alone")


@pytest.mark.slow
def test_a_league_on_a_ray_cluster(specs: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "local")  # not one that is there already
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        assert league(specs, "shared", Workers(2, "ray")) == league(specs, "alone")
    finally:
        ray.shutdown()


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("evaluate agent=greedy workers=0", "workers=0: expected 1 or more"),
        ("tournament agents=[greedy,random] workers=2 backend=rey", "backend=rey: did you mean ray?"),
        ("evaluate agent=greedy backend=ray", "backend=ray: only with workers=2 or more"),
        ("evaluate agent=greedy workers=2 until=sprt", "workers=2: with until=sprt games follow one another"),
        ("tournament bracket agents=[greedy,random] workers=2", "workers=2: only for round_robin and checkpoints and"),
        (
            "evaluate agent=greedy workers=2 backend=ray",
            "expected ray, which is not installed: pip install -e '.[launchers]'",
        ),
    ],
)
def test_wrong_calls(
    words: str, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("deepcrib.jobs.shared.common.find_spec", lambda name: None if name == "ray" else name)
    assert main(words.split()) == 2
    (error,) = capsys.readouterr().err.splitlines()
    assert line in error
