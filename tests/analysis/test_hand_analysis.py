"""`deepcrib analyse CARDS`: what discards are worth, counted card by card, and what agents throw."""

import json
import shlex
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from deepcrib.agents import AgentError, make_agent
from deepcrib.agents.expected_value import expectations_of
from deepcrib.analysis.hand_values import HandValues, decision, hand_tables, hand_values
from deepcrib.cli import main
from deepcrib.exact.experts import experts
from deepcrib.game.observations import DiscardObservation
from deepcrib.jobs import analyse
from deepcrib.learners.evolution.agent import EvolutionaryAgent
from deepcrib.search.best_response import BestResponseAgent
from tests.support import brute_force
from tests.support.reference import cards

pytestmark = pytest.mark.usefixtures("known_models")

HAND = "5H 5S JD 2C 3C KH"
QUICK = "agents=[greedy,expected_value]"
TIED = "5C 5D 6H 6S 7C 7D"
"""Its dealer throws a five and a six of two and two, all alike."""


class Stub:
    """An agent that throws one discard and remembers what it saw."""

    name = "stub"
    num_players = frozenset({2})

    def __init__(self, action: int = 0, values: list[float] | None = None, unit: str = "points") -> None:
        self.action, self.seen = action, list[DiscardObservation]()
        if values is not None:
            self.discard_unit = unit
            self.discard_values = lambda observation: np.array([values])

    def discard(self, observation: DiscardObservation) -> np.ndarray:
        self.seen.append(observation)
        return np.full(len(observation), self.action, dtype=np.int8)

    def play(self, observation: Any) -> np.ndarray:
        raise NotImplementedError


def summary_of(command: str, folder: Path) -> dict[str, Any]:
    assert main([*shlex.split(command), f"hydra.run.dir={folder}"]) == 0
    return json.loads((folder / "summary.json").read_text())


def values_of(hand: str, is_dealer: bool = True, **agents: Any) -> HandValues:
    return hand_values(sorted(cards(hand)), is_dealer, (0, 0), agents)


# --- what discards are worth --------------------------------------------------------------------------------


@pytest.mark.parametrize("is_dealer", [True, False])
def test_every_figure_is_counted_card_by_card(is_dealer: bool) -> None:
    """46 starters; 45,540 cribs as often as an expert throws them, who looks at no suits and at none of our cards."""
    held = sorted(cards(HAND))
    points = brute_force.hand_points(held)
    cribs, total = brute_force.crib_sums(held, experts().pone if is_dealer else experts().dealer)
    found = hand_values(held, is_dealer, (100, 95), {})
    best = BestResponseAgent(make_agent("expected_value"), None).discard_values(decision(held, is_dealer, (0, 0), 1))
    assert [sorted(cards(f"{row.discard} {row.keep}")) for row in found.discards] == [held] * 15
    assert found.opponent == "expected_value" and len(best[0]) == 15
    for action, row in enumerate(found.discards):
        assert row.hand_mean == pytest.approx(points[action].mean(), abs=1e-12)
        assert (row.hand_min, row.hand_max) == (points[action].min(), points[action].max())
        assert row.crib_mean == pytest.approx((1 if is_dealer else -1) * cribs[action] / total, abs=0.45)
        assert row.total == pytest.approx(row.hand_mean + row.crib_mean + row.pegging, abs=1e-12)
        assert row.total == pytest.approx(best[0, action], abs=1e-12)


def test_the_chance_to_win_goes_by_the_score() -> None:
    """At 120-0 any discard wins, at 0-120 none; at 117-120 the pone must count four before the dealer pegs one."""
    held = sorted(cards("4S 5S 6H 9D JC QC"))
    ahead, behind, close = (hand_values(held, False, s, {}).discards for s in ((120, 0), (0, 120), (117, 120)))
    assert min(row.win for row in ahead) > 0.999 and max(row.win for row in behind) < 0.001
    assert all(0 <= row.win <= 0.25 for row in close)


# --- what agents throw --------------------------------------------------------------------------------------


def test_agents_see_role_score_and_seed() -> None:
    stub = Stub()
    for is_dealer in (True, False):
        for seed in (1, 2):
            hand_values(sorted(cards(HAND)), is_dealer, (100, 95), {"stub": stub}, seed)
    assert [bool(seen.is_dealer[0]) for seen in stub.seen] == [True, True, False, False]
    assert all(seen.scores[0, seen.seat[0]] == 100 and seen.scores[0, 1 - seen.seat[0]] == 95 for seen in stub.seen)
    assert all(seen.hand.tolist() == [sorted(cards(HAND))] and seen.hand.dtype == np.int8 for seen in stub.seen)
    assert stub.seen[0].key != stub.seen[1].key and stub.seen[0].key == stub.seen[2].key


def test_the_score_decides_where_an_agent_goes_by_it() -> None:
    """Weights for the highest hand at 0-0 and for the poorest crib at 120-0."""
    weights = np.zeros((121, 121, 2, 2))
    weights[..., 0] = 1
    weights[120, 0] = 0, 1
    agent = make_agent({"name": "weighted", "initial": "hand_max_avg", "strategies": ["hand_max_avg", "crib_min_avg"]})
    agent.weights = weights  # type: ignore[attr-defined]
    thrown = [
        values.discards[values.agents["weighted"].action].discard
        for score in ((0, 0), (120, 0))
        for values in [hand_values(sorted(cards(HAND)), False, score, {"weighted": agent})]
    ]
    assert thrown == ["2C 3C", "2C KH"]  # 12.43 in the hand; 3.42 in a crib of any cards, the least of all


def test_place_and_points_given_up() -> None:
    """By the totals, in which the 7th and the 8th are equal: fives of two suits with a deuce."""
    best = values_of(HAND, False).best_first
    totals = [values_of(HAND, False).discards[action].total for action in best]
    for place, expected in ((0, 1), (1, 2), (7, 7), (14, 15)):
        choice = values_of(HAND, False, stub=Stub(best[place])).agents["stub"]
        assert choice.place == expected
        assert choice.gives_up == pytest.approx(totals[0] - totals[place], abs=1e-12)
        assert (choice.probabilities, choice.values, choice.unit) == (None, None, None)


def test_ties_share_their_place_and_are_marked_each() -> None:
    found = values_of(TIED, agent=make_agent("expected_value"))
    choice = found.agents["agent"]
    assert len(choice.likeliest) == 4 and choice.probabilities is not None
    assert [choice.probabilities[action] for action in choice.likeliest] == [0.25] * 4
    marked = [row["discard"] for row in found.to_dict()["discards"] if row["chosen_by"]]
    assert sorted(marked) == ["5C 6H", "5C 6S", "5D 6H", "5D 6S"]
    agents = {"agent": make_agent("expected_value")}
    tossed = [hand_values(sorted(cards(TIED)), True, (0, 0), agents, seed).agents["agent"] for seed in range(30)]
    assert {choice.action for choice in tossed} == set(choice.likeliest)
    assert len({choice.place for choice in tossed}) == 1


def test_an_agents_own_values_have_their_unit() -> None:
    found = values_of(
        HAND,
        exact=make_agent("expected_value"),
        evolved=EvolutionaryAgent("evolved", np.ones((2, 13))),
        greedy=make_agent("greedy"),
        searching=make_agent("minimax"),
        own=Stub(3, [*range(14), -np.inf], "goats"),
        play_only=make_agent("hill_climber"),  # discards by another agent
    )
    agents = found.agents
    units = {name: choice.unit for name, choice in agents.items() if choice.unit is not None}
    assert units == {"exact": "points", "evolved": "own scale", "own": "goats"}
    expected = expectations_of(np.array([sorted(cards(HAND))]), np.array([True]))
    assert agents["exact"].values == pytest.approx((expected.hand_mean + expected.crib_mean)[0], abs=1e-12)
    assert agents["own"].values == (*range(14), None)
    assert agents["searching"].probabilities is None and agents["play_only"].probabilities is not None
    json.dumps(found.to_dict(), allow_nan=False)


def test_probabilities_that_cannot_be_had_are_left_out() -> None:
    class Shy(Stub):
        def discard_probabilities(self, observation: DiscardObservation) -> np.ndarray:
            raise AgentError("agent other does not give the probabilities of its choices")

        def play_probabilities(self, observation: Any) -> np.ndarray:
            raise NotImplementedError

    assert values_of(HAND, shy=Shy(2)).agents["shy"].likeliest == (2,)


# --- the command --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words", [f"'{HAND}'", HAND, "kh,3c 2c jd 5s 5h", "5♥ 5♠ J♦ 2♣ 3♣ K♥", "5H5SJD2C3CKH", f"hand='{HAND}'"]
)
def test_bare_cards_are_the_hand(words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = summary_of(f"analyse {words} dealer=true score=100-95 {QUICK} seed=7", tmp_path / "run")
    assert (found["hand"], found["score"], found["seed"]) == ("2C 3C 5H 5S JD KH", [100, 95], 7)
    (role,) = found["roles"].values()
    assert set(found["roles"]) == {"dealer"} and set(role["agents"]) == {"greedy", "expected_value"}
    best, agent = role["discards"][0], role["agents"]["expected_value"]
    assert (best["discard"], best["keep"], best["chosen_by"]) == ("2C 3C", "5H 5S JD KH", ["greedy", "expected_value"])
    assert (agent["discard"], agent["place"], agent["gives_up"], agent["unit"]) == ("2C 3C", 1, 0.0, "points")
    assert agent["probabilities"]["2C 3C"] == 1 and len(agent["values"]) == 15
    text = capsys.readouterr().out
    assert "2C 3C 5H 5S JD KH as dealer at 100-95: best first" in text and "as pone" not in text
    shown = f"│ 2C 3C   │ 5H 5S JD KH │ 12.43 │ 10-21 │ +6.94 │ +2.40 │ 21.77 │ {100 * best['win']:.1f} │ 1 2 "
    assert shown in text and max(row["win"] for row in role["discards"]) == best["win"]
    assert "│ 2 expected_value │    2C 3C │     1 │  0.00 │   100% │ +19.24 points │" in text


def test_nothing_is_cut_off_at_80_columns() -> None:
    """Of the agents asked by default, and of one with a path for a name."""
    path = "/a/long/path/" + "folder/" * 12 + "weights[1].safetensors"
    agents = {name: make_agent(name) for name in analyse.AGENTS} | {path: make_agent("greedy")}
    console = Console(width=80, file=StringIO(), highlight=False)
    console.print(*hand_tables(hand_values(sorted(cards(HAND)), False, (120, 120), agents)))
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    text = "".join(line.split("│")[1].strip() for line in lines if line.startswith("│"))
    assert max(map(len, lines)) <= 80 and "…" not in text
    assert path in text and "expected_value_pegging" in text


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("'5H 5S JD 2C 3C'", "hand=5H 5S JD 2C 3C: expected six cards, found 5"),
        ("5H 5H JD 2C 3C KH", "the card 5H stands twice"),
        ("5H 5S JD 2C 3C XH", "not a card: 'XH'"),
        (f"{HAND} score=130-0", "score=130-0: expected own and opponent's points before the hand, 0 to 120 each"),
        (f"{HAND} score=100", "score=100: expected"),
        (f"{HAND} agents=[gredy]", "unknown agent 'gredy'"),
        (f"{HAND} agents=[]", "agents=[]: expected one or more agents"),
    ],
)
def test_a_wrong_call_ends_with_one_line(
    words: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyse", *shlex.split(words), f"hydra.run.dir={tmp_path / 'run'}"]) == 2
    text = capsys.readouterr().err
    assert text.startswith("deepcrib: ") and len(text.splitlines()) == 1 and problem in text, text
    assert not (tmp_path / "run").exists()
