"""Agents: specs and their errors, scripted ones against their descriptions, epsilon-greedy Q-networks."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from deepcrib.agents import AgentError, HasProbabilities, kept_spec, make_agent, name_agents
from deepcrib.agents.q_network import QFunction, QNetworkAgent
from deepcrib.agents.scripted import ScriptedAgent
from deepcrib.files.weights import CheckpointError
from deepcrib.game.engine import Games, IllegalActionError
from deepcrib.matches import play_match
from deepcrib.networks.checkpoints import save_weights
from deepcrib.networks.encoders import compact_discard, compact_play, make_play_encoder
from tests.support.agents import check_frequencies, network_agent, observations
from tests.support.reference import chi_square_limit, plain_discards, plain_plays

ERROR_LEVEL = 1e-6
NAMES = ("random", "deterministic", "greedy")
CHECKPOINT = "CHECKPOINT"
"""In a spec, the folder that the fixture makes."""


# --- toy values ---------------------------------------------------------------------------------------------


class ByAction:
    """An encoder of the action alone."""

    def indices(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        return actions

    def expand(self, indices: np.ndarray, device: object) -> torch.Tensor:
        return torch.as_tensor(indices, dtype=torch.long, device=device)


class Table(torch.nn.Module):
    """A value for every action, whatever the state; remembers the sizes of its batches."""

    def __init__(self, values: list[float]) -> None:
        super().__init__()
        self.table = torch.tensor(values)
        self.batches: list[int] = []

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        self.batches.append(len(rows))
        return self.table[rows]


# Action 9, then 3, is the best discard; slot 2, then 0, 3, 1 the best play.
DISCARD_VALUES = [0.0, 1, -2, 6, 3, 2, 5, -7, 4, 8, 1, 0, 2, -1, 7.5]
PLAY_VALUES = [3.0, -1, 5, 2]


def toy_agent(epsilon: float = 0.0) -> QNetworkAgent:
    return QNetworkAgent(
        QFunction(ByAction(), Table(DISCARD_VALUES)), QFunction(ByAction(), Table(PLAY_VALUES)), epsilon
    )


# --- specs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_agents_by_name(name: str) -> None:
    for spec in (name, {"name": name}):
        agent = make_agent(spec)
        assert isinstance(agent, ScriptedAgent) and agent.name == name
        assert agent.num_players == {2, 3, 4}
        assert isinstance(agent, HasProbabilities)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder with both networks of `network_agent`."""
    folder = tmp_path_factory.mktemp("run")
    agent = network_agent()
    save_weights(
        folder / "weights.safetensors", {"rules": "acc"}, discard=agent.discard_q.network, play=agent.play_q.network
    )
    return folder


@pytest.fixture(scope="module")
def play_only(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder without a discard network."""
    folder = tmp_path_factory.mktemp("play_only")
    save_weights(folder / "weights.safetensors", {"rules": "acc"}, discard=None, play=network_agent().play_q.network)
    return folder


def test_agents_by_path(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = checkpoint / "weights.safetensors"
    for spec in (checkpoint, file, str(checkpoint), str(file), {"path": str(file)}, {"name": str(file)}):
        agent = make_agent(spec)
        assert isinstance(agent, QNetworkAgent)
        assert agent.epsilon == 0 and agent.discards_by is None and agent.num_players == {2}
    monkeypatch.chdir(checkpoint.parent)
    assert isinstance(make_agent(checkpoint.name), QNetworkAgent)  # a path without a folder in it
    monkeypatch.chdir(checkpoint)
    assert isinstance(make_agent("weights.safetensors"), QNetworkAgent)


def test_options_of_a_q_network(checkpoint: Path) -> None:
    spec = {"name": "q_network", "path": str(checkpoint), "epsilon": "0.25", "discards": "greedy"}
    before = dict(spec)
    agent = make_agent(spec)
    assert agent.epsilon == 0.25 and agent.discards_by.name == "greedy"
    assert spec == before  # a spec is not used up
    nested = make_agent({"path": str(checkpoint), "discards": {"path": str(checkpoint), "epsilon": 1}})
    assert nested.epsilon == 0 and nested.discards_by.epsilon == 1


@pytest.mark.parametrize("name", ["expected_value", "semi_pure_crib_min_avg", "random_weights"])
def test_discards_of_another_kind_of_agent(play_only: Path, name: str) -> None:
    """A play network with the discards of an agent that has no network."""
    discards, _ = observations(60, 802)
    alone = make_agent(name)
    agent = make_agent({"path": str(play_only), "discards": {"name": name}})
    assert isinstance(agent, QNetworkAgent) and agent.discards_by.name == name
    assert (agent.discard(discards) == alone.discard(discards)).all()
    assert (agent.discard_probabilities(discards) == alone.discard_probabilities(discards)).all()


def test_the_discard_agent_that_a_checkpoint_names(tmp_path: Path) -> None:
    play_q, metadata = network_agent().play_q.network, {"rules": "acc", "discards_by": "hand_max_avg"}
    save_weights(tmp_path / "weights.safetensors", metadata, discard=None, play=play_q)
    discards, _ = observations(60, 803)
    assert (make_agent(tmp_path).discard(discards) == make_agent("hand_max_avg").discard(discards)).all()
    other = make_agent({"name": "q_network", "path": str(tmp_path), "discards": "greedy"})
    assert (other.discard(discards) == make_agent("greedy").discard(discards)).all()
    save_weights(
        tmp_path / "both.safetensors", {"discards_by": None}, discard=network_agent().discard_q.network, play=play_q
    )
    assert make_agent(tmp_path / "both.safetensors").discards_by is None


def test_the_weights_that_a_spec_names_are_kept_beside(
    play_only: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names stay, also where a file has the same; options that are no agents are left alone."""
    monkeypatch.chdir(play_only.parent)
    folder = play_only.name
    (play_only.parent / "greedy").touch()
    (play_only.parent / "hand_max_avg").touch()
    inner = {"name": "weighted", "initial": "hand_max_avg", "strategies": ["hand_max_avg"]}
    for plain in (None, "greedy", "hill_climber", "hand_max_avg", "random_weights", inner, "my_agent:Mine"):
        assert kept_spec(plain, tmp_path) == plain
    assert not list(tmp_path.iterdir())
    for spec in (folder, Path(folder), f"./{folder}"):
        kept = kept_spec(spec, tmp_path)
        assert (tmp_path / kept).read_bytes() == (play_only / "weights.safetensors").read_bytes()
    assert len(list((tmp_path / "agents").iterdir())) == 1
    assert kept_spec("later/run.safetensors", tmp_path) == str(play_only.parent / "later" / "run.safetensors")
    nested = {"path": folder, "epsilon": 0.5, "discards": {"name": "best_response", "to": folder, "within": 2}}
    assert kept_spec(nested, tmp_path) == {
        "path": kept,
        "epsilon": 0.5,
        "discards": {"name": "best_response", "to": kept, "within": 2},
    }


def test_agents_of_one_name_are_numbered() -> None:
    agents = [make_agent(name) for name in ("greedy", "hand_max_avg", "greedy", "greedy")]
    named = name_agents(agents)
    assert list(named) == ["greedy", "hand_max_avg", "greedy (2)", "greedy (3)"]
    assert list(named.values()) == agents


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("gredy", ["gredy", "random, deterministic, greedy", "path of a checkpoint"]),
        ({"name": "greedy", "epsilon": 0.1}, ["greedy", "epsilon", "none"]),
        ({"name": "q_network"}, ["q_network", "path"]),
        ({"path": "x", "epsilonn": 0.1}, ["epsilonn", "path, epsilon, temperature, discards"]),
        ({"path": 5}, ["path=5", "path of a checkpoint"]),
        ({"name": "random_weights", "seed": -1}, ["seed=-1", "2^63"]),
        (17, ["17", "name", "checkpoint path"]),
        (["greedy"], ["greedy", "name", "checkpoint path"]),
        *(({"path": CHECKPOINT, "epsilon": x}, ["epsilon=", "0 to 1"]) for x in (-0.1, 1.5, "much", math.nan, None)),
        *(
            ({"path": CHECKPOINT, "temperature": x}, ["temperature=", "points, 0"])
            for x in (-0.1, "warm", math.inf, None)
        ),
        ({"path": CHECKPOINT, "discards": "gredy"}, ["gredy"]),
    ],
)
def test_mistaken_specs(spec: object, words: list[str], checkpoint: Path) -> None:
    if isinstance(spec, dict) and spec.get("path") == CHECKPOINT:
        spec = {**spec, "path": str(checkpoint)}
    with pytest.raises(AgentError) as error:
        make_agent(spec)
    assert "\n" not in str(error.value)
    for word in words:
        assert word in str(error.value)


def test_mistaken_paths(tmp_path: Path) -> None:
    (tmp_path / "text.safetensors").write_text("not a checkpoint at all")
    (tmp_path / "empty").mkdir()
    for name in ("missing.safetensors", "missing/run", "text.safetensors", "empty"):
        for spec in (str(tmp_path / name), {"name": "q_network", "path": str(tmp_path / name)}):
            with pytest.raises(CheckpointError, match=name) as error:
                make_agent(spec)
            assert "\n" not in str(error.value)


def test_a_q_network_refuses_more_than_two_players() -> None:
    with pytest.raises(AgentError, match="agent q_network plays with 2 players, not 3"):
        play_match([make_agent("greedy"), network_agent(), make_agent("random")], 4, 1)


# --- scripted agents ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_scripted_probabilities_are_uniform_over_what_the_description_allows(name: str, players: int) -> None:
    agent = make_agent(name)
    discards, to_play = observations(150, 811, players, 4)
    for row, found in enumerate(agent.discard_probabilities(discards)):
        allowed = plain_discards(name, discards.hand[row].tolist())
        assert found.tolist() == [(a in allowed) / len(allowed) for a in range(15 if players == 2 else 5)]
    for row, found in enumerate(agent.play_probabilities(to_play)):
        series = [card for card in to_play.history[row, to_play.series_start[row] :].tolist() if card >= 0]
        allowed = plain_plays(name, to_play.hand[row].tolist(), series)
        assert found.tolist() == [(slot in allowed) / len(allowed) for slot in range(4)]


@pytest.mark.parametrize("name", [*NAMES, "hand_max_min", "random_weights", "expected_value"])
def test_choices_of_agents_without_networks_fall_as_likely_as_they_say(name: str) -> None:
    agent = make_agent(name)
    discards, to_play = observations(20_000, 821, plays=2)
    check_frequencies(agent.discard_probabilities(discards), agent.discard(discards))
    check_frequencies(agent.play_probabilities(to_play), agent.play(to_play))


def test_what_may_not_be_played_is_refused_by_the_engine_not_repaired() -> None:
    """An agent asked to play with no card that may be laid answers with something that the engine refuses."""
    games = Games([0], 1, first_dealer=[0])
    games.deal()
    for seat in (0, 1):
        games.discard(np.array([0]), [seat], [0])
    games.start_play()
    seen = games.play_observation(np.array([0]))
    hopeless = replace(seen, count=np.array([31], dtype=np.int8))
    assert not hopeless.legal.any()
    for name in NAMES:
        with pytest.raises(IllegalActionError):
            games.play(np.array([0]), make_agent(name).play(hopeless))


# --- Q-networks ---------------------------------------------------------------------------------------------


def test_without_exploration_the_highest_value_is_chosen() -> None:
    agent = toy_agent()
    discards, to_play = observations(300, 831, plays=4)
    assert (agent.discard(discards) == 9).all()
    order = [2, 0, 3, 1]  # of the slots by value
    expected = [next(slot for slot in order if legal[slot]) for legal in to_play.legal]
    assert agent.play(to_play).tolist() == expected
    assert set(expected) == {0, 1, 2, 3}


def test_equal_values_fall_to_the_first() -> None:
    agent = QNetworkAgent(QFunction(ByAction(), Table([1.0] * 15)), QFunction(ByAction(), Table([1.0] * 4)))
    discards, to_play = observations(100, 832, plays=5)
    assert (agent.discard(discards) == 0).all()
    assert (agent.play(to_play) == to_play.legal.argmax(axis=1)).all()
    assert (agent.discard_probabilities(discards).argmax(axis=1) == 0).all()


@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.4, 1.0])
def test_probabilities_of_a_choice(epsilon: float) -> None:
    """Epsilon spread evenly over the legal actions, the rest on the best of them."""
    agent = toy_agent(epsilon)
    discards, to_play = observations(60, 833, plays=4)
    expected = np.full((60, 15), epsilon / 15)
    expected[:, 9] += 1 - epsilon
    np.testing.assert_allclose(agent.discard_probabilities(discards), expected, rtol=1e-12)
    for found, legal in zip(agent.play_probabilities(to_play), to_play.legal, strict=True):
        best = next(slot for slot in (2, 0, 3, 1) if legal[slot])
        plain = [legal[s] * epsilon / legal.sum() + (1 - epsilon) * (s == best) for s in range(4)]
        np.testing.assert_allclose(found, plain, rtol=1e-12)


@pytest.mark.parametrize("epsilon", [0.05, 0.4, 1.0])
def test_choices_fall_as_likely_as_they_say(epsilon: float) -> None:
    """One position again and again, with the keys of many games: an error level of 1e-6 for each."""
    agent = toy_agent(epsilon)
    size = 40_000
    for plays, num_legal in ((0, 4), (2, 3), (4, 2)):
        discards, to_play = observations(size, 834 + plays, plays=plays)
        check_frequencies(agent.discard_probabilities(discards), agent.discard(discards))
        row = np.flatnonzero(to_play.legal.sum(axis=1) == num_legal)[0]
        again = replace(to_play.take(np.full(size, row)), key=to_play.key)
        check_frequencies(agent.play_probabilities(again), agent.play(again))


@pytest.mark.parametrize("epsilon", [0.0, 0.2])
def test_a_temperature_draws_cards_by_the_softmax(epsilon: float) -> None:
    """Chances by hand; cards fall as often, at an error level of 1e-6 for each, and discards stay as they were."""
    size, values = 40_000, [1.0, 0.7, 1.2, 0.0]
    table = QFunction(ByAction(), Table(values))
    agent = QNetworkAgent(QFunction(ByAction(), Table([0.0] * 9 + [1.0] + [0.0] * 5)), table, epsilon, temperature=0.5)
    for plays in (0, 4):
        discards, to_play = observations(size, 850 + plays, plays=plays)
        powers = np.exp(np.array(values) / 0.5) * to_play.legal
        expected = epsilon * to_play.legal / to_play.legal.sum(axis=1, keepdims=True)
        expected += (1 - epsilon) * powers / powers.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(agent.play_probabilities(to_play), expected, rtol=1e-6)
        row = np.flatnonzero(to_play.legal.sum(axis=1) > 1)[0]
        again = replace(to_play.take(np.full(size, row)), key=to_play.key)
        check_frequencies(agent.play_probabilities(again), agent.play(again))
        assert (agent.discard_probabilities(discards)[:, 9] > 0.7).all()


def test_a_packaged_agent_takes_the_options_of_its_weights() -> None:
    agent = make_agent({"name": "quick", "temperature": "0.1", "discards": "greedy"})
    assert (agent.name, agent.temperature, agent.discards_by.name) == ("quick", 0.1, "greedy")
    with pytest.raises(AgentError, match="quick.* has no option 'hands' .expected one of epsilon, "):
        make_agent({"name": "quick", "hands": 3})
    with pytest.raises(AgentError, match="td_perceptron.* has no option 'temperature' .expected none"):
        make_agent({"name": "td_perceptron", "temperature": 0.1})
    assert make_agent({"name": "td_perceptron", "temperature": 0, "epsilon": 0}).name == "td_perceptron"


def test_exploration_differs_between_decisions_of_a_hand() -> None:
    """Of a seat's discard and first play in the same hand one explores whatever the other does."""
    agent = toy_agent(0.5)
    games = Games(np.arange(20_000), 835, first_dealer=np.zeros(20_000, dtype=np.int8), stop_at_121=False)
    rows = games.deal()
    explored = []
    for seat in (0, 1):
        seen = games.discard_observation(rows, np.full(len(rows), seat))
        actions = agent.discard(seen)
        games.discard(rows, seen.seat, actions)
        explored.append(actions != 9)
    games.start_play()
    seen = games.play_observation(rows)
    assert (seen.seat == 1).all()
    explored.append(agent.play(seen) != 2)
    for one in range(3):
        for two in range(one):
            both = np.bincount(2 * explored[one] + explored[two], minlength=4).reshape(2, 2)
            expected = both.sum(axis=1, keepdims=True) * both.sum(axis=0) / len(rows)
            assert ((both - expected) ** 2 / expected).sum() < chi_square_limit(1, ERROR_LEVEL)


def test_a_forced_card_costs_no_evaluation() -> None:
    agent = toy_agent(0.3)
    _, to_play = observations(400, 836, plays=6)
    legal = to_play.legal
    forced = legal.sum(axis=1) == 1
    assert 50 < forced.sum() < 400
    choices = agent.play(to_play)
    assert (choices[forced] == legal[forced].argmax(axis=1)).all()
    assert sum(agent.play_q.network.batches) == legal[~forced].sum()
    assert (agent.play_probabilities(to_play)[forced] == legal[forced]).all()


def test_values_come_in_bounded_batches() -> None:
    """However many rows, and the same as one by one."""
    agent = network_agent()
    discards, _ = observations(500, 838)
    states = compact_discard(discards)
    table = Table(DISCARD_VALUES)
    QFunction(ByAction(), table).values(np.repeat(states, 15, axis=0), np.tile(np.arange(15, dtype=np.int8), 500))
    assert len(table.batches) > 1 and sum(table.batches) == 7500
    whole = agent.discard_values(discards)
    parts = np.concatenate([agent.discard_values(discards.take(np.array([row]))) for row in range(20)])
    np.testing.assert_allclose(whole[:20], parts, rtol=1e-5, atol=1e-5)


def test_values_are_the_networks() -> None:
    agent = network_agent()
    _, to_play = observations(40, 839, plays=3)
    states, legal = compact_play(to_play), to_play.legal
    values = agent.play_values(to_play)
    rows, slots = np.nonzero(legal)
    with torch.no_grad():
        encoded = make_play_encoder("basic").encode(states[rows], slots.astype(np.int8), "cpu")
        expected = agent.play_q.network(encoded).numpy()
    np.testing.assert_allclose(values[rows, slots], expected, rtol=1e-5, atol=1e-6)
    assert (np.isfinite(values) == legal).all()


def test_equal_inputs_have_one_value() -> None:
    """Of rows that repeat, and of hands that differ by suits alone, the values are as those of each on its own."""
    agent = network_agent()
    discards, to_play = observations(300, 844, plays=3)
    often = to_play.take(np.tile(np.arange(300), 3))
    few = agent.play_q.all_values(compact_play(often), often.legal, distinct=True)
    np.testing.assert_allclose(few, agent.play_values(often), rtol=1e-5, atol=1e-6)
    assert (few[:300] == few[300:600]).all() and (few[:300] == few[600:]).all()
    values = agent.discard_values(discards, distinct=True)
    np.testing.assert_allclose(values, agent.discard_values(discards), rtol=1e-5, atol=1e-6)


def test_choices_do_not_depend_on_the_rows_beside_them() -> None:
    agent = toy_agent(0.5)
    discards, to_play = observations(200, 841, plays=3)
    some = np.array([150, 3, 3, 77])
    assert (agent.discard(discards.take(some)) == agent.discard(discards)[some]).all()
    assert (agent.play(to_play.take(some)) == agent.play(to_play)[some]).all()


# --- checkpoints --------------------------------------------------------------------------------------------


def test_a_missing_network_is_named(play_only: Path) -> None:
    with pytest.raises(AgentError, match="has no discard network"):
        play_match([make_agent(play_only), make_agent("random")], 2, 1)
    _, to_play = observations(3, 843)
    with pytest.raises(AgentError, match="half has no play network"):
        QNetworkAgent(None, None, name="half").play(to_play)
