"""The trained agents that come with the package: whole, small, as their cards and their experiments say."""

import hashlib
import shlex
from dataclasses import replace
from itertools import pairwise
from math import inf
from typing import Any

import pytest

from deepcrib.agents import make_agent
from deepcrib.agents.base import AgentError
from deepcrib.agents.packaged import CHAMPIONS_OWN, LEVELS, WEIGHTS, packaged_weights, read_cards
from deepcrib.cli import main
from deepcrib.evaluation.evaluate import evaluate
from deepcrib.files.runs import flat
from deepcrib.files.weights import read_weights
from tests.support.composing import composed

NAMES = list(packaged_weights())
MOST_BYTES = 6_000_000
AS_CONFIGURED = {
    **{name: f"learner.{name}" for name in ("hands", "generations", "sessions", "games_per_fit", "games", "climb")},
    **{name: f"learner.{name}" for name in ("genome", "hidden", "inputs", "opponent", "unit", "discards_by")},
    **{"learner": "learner.name", "seed": "seed", "rules": "rules.name", "iteration": "learner.iterations"},
    **{"algorithm": "algorithm.name", "reward_play": "reward.play", "reward_discard": "reward.discard"},
}
"""What metadata of weights say, and which option of their training said it."""


def test_each_has_its_card_and_all_are_small() -> None:
    assert sorted(read_cards()) == NAMES == sorted(path.stem for path in WEIGHTS.glob("*.json"))
    assert sum(path.stat().st_size for path in WEIGHTS.iterdir()) < MOST_BYTES


@pytest.mark.parametrize("name", NAMES)
def test_a_card_is_of_its_file(name: str) -> None:
    card, content = read_cards()[name], packaged_weights()[name].read_bytes()
    assert (card.sha256, card.size) == (hashlib.sha256(content).hexdigest(), len(content))
    assert card.seconds > 0 and len(card.commit) == 40 and card.what and card.chosen_by and card.machine


@pytest.mark.parametrize("name", NAMES)
def test_metadata_are_those_of_the_training_that_the_card_names(name: str) -> None:
    """Its options, composed anew from the command: an experiment that has changed since is found out."""
    program, job, *words = shlex.split(read_cards()[name].command)
    options: dict[str, Any] = dict(flat(plain(composed(job, *words))))
    told = read_weights(packaged_weights()[name]).metadata
    if told["learner"] == "replay":
        told["hands"] = told["iteration"]  # counted, not given
    compared = {key for key, option in AS_CONFIGURED.items() if key in told and option in options}
    assert program == "deepcrib" and {"learner", "seed", "rules"} < compared
    assert {key: told[key] for key in compared} == {key: options[AS_CONFIGURED[key]] for key in compared}


def test_levels_are_agents_by_name_and_each_is_steadier_than_the_one_before() -> None:
    """The first against the last: even at 12% against 44% a share of 70% is eight standard errors away from chance."""
    agents = {name: make_agent(name) for name in LEVELS}
    assert [(agent.name, agent.temperature, agent.epsilon) for agent in agents.values()] == [
        (name, temperature, epsilon) for name, (temperature, epsilon) in LEVELS.items()
    ]
    for weaker, stronger in pairwise(LEVELS.values()):
        assert weaker[0] > stronger[0] and weaker[1] > stronger[1]
    found = evaluate(agents["expert"], agents["beginner"], games=400, seed=8, duplicate=True)
    assert found.win_rate > 0.7
    with pytest.raises(AgentError, match="no option 'temperature'"):
        make_agent({"name": "easy", "temperature": 1})


def plain(options: Any) -> Any:
    """Options as nested mappings."""
    return {key: plain(value) for key, value in vars(options).items()} if hasattr(options, "__dict__") else options


@pytest.mark.parametrize("name", NAMES)
def test_it_plays_by_the_rules_and_wins(name: str) -> None:
    """The engine refuses an illegal choice; and against random none of them loses more than a few games."""
    assert make_agent(name).name == name
    assert evaluate(name, "random", games=20).wins >= 15


def test_the_strongest_come_first() -> None:
    """By the league, which the champion leads; those that have not played in it come last."""
    cards = read_cards()
    places = [inf if card.league is None else card.league.rank for card in cards.values()]
    assert places == sorted(places) and places[0] == 2 and next(iter(cards)) == "champion_networks"


def test_the_champion_looks_ahead_by_its_own_networks() -> None:
    """Under its name; with options like any other that looks ahead."""
    champion: Any = make_agent({"name": "champion", "hands": 20})
    assert (champion.name, champion.agent.name, champion.rollouts.by.name) == ("champion", *CHAMPIONS_OWN.values())
    assert champion.rollouts.hands == 20 and evaluate(champion, "random", games=4).wins >= 3


def test_the_champion_looks_ahead_near_the_end_alone() -> None:
    """Before, its choices are those of its networks; `within` is not the caller's."""
    champion: Any = make_agent({"name": "champion", "hands": 5, "late": 121})
    networks = make_agent("champion_networks")
    matches = [evaluate(agent, "greedy", games=20, seed=3, duplicate=True) for agent in (champion, networks)]
    told, expected = (replace(match, seconds=0).to_dict() for match in matches)
    assert told == expected
    with pytest.raises(AgentError, match="'champion' has no option 'within'"):
        make_agent({"name": "champion", "within": 1})


def test_help_prints_every_card(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "agents"]) == 0
    text = capsys.readouterr().out
    for name, card in read_cards().items():
        assert f"{name}  " in text and card.command in text and card.sha256 in text
    assert "greedy_minimax" in text
