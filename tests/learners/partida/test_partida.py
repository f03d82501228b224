"""The small network of Partida 2022: what it reads, how it is computed, what it learns from, its agent and its runs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from deepcrib.agents import AgentError, DivergenceError, make_agent
from deepcrib.exact.pegging import deal_kept
from deepcrib.files.weights import write_weights
from deepcrib.game.engine import Games
from deepcrib.game.observations import PlayObservation
from deepcrib.learners.partida.agent import HIDDEN, Layers, PartidaAgent, make_form, network_value
from deepcrib.learners.partida.fitting import fit_positions, new_fit
from deepcrib.learners.partida.inputs import STATE, fill_position, input_width
from deepcrib.learners.partida.learner import PartidaLearner, layers_of
from deepcrib.learners.partida.options import PartidaOptions
from deepcrib.learners.partida.plays import KeptPlays, play_kept_hands
from deepcrib.matches import Recorder, play_hand
from deepcrib.networks import MLP
from deepcrib.training.fit import fit
from deepcrib.training.learner import Setting
from tests.support import reference
from tests.support.agents import observations
from tests.support.figures import NO_MATCHES, no_match
from tests.support.reference import Board, cards, rank

FORMS = [(inputs, encoding) for inputs in (12, 16) for encoding in ("numbers", "one_hot")]


def position(own: str, other: str, played: str, earlier: int) -> np.ndarray:
    """A position as it is stored: ranks 1..13, both hands, the play, how many of it are in series that are over."""
    parts = [[rank(card) + 1 for card in cards(text)] for text in (own, other, played)]
    filled = [part + [0] * (size - len(part)) for part, size in zip(parts, (4, 4, 8), strict=True)]
    return np.array([*filled[0], *filled[1], *filled[2], earlier], dtype=np.int8)


TABLE = position("5H 5S KD", "2C 8H", "10H JS AC 7D", 3)


def new_network(form: Any, seed: int = 1) -> MLP:
    torch.manual_seed(seed)
    network = MLP(input_width(form.inputs, form.encoding), list(HIDDEN))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter *= 3  # so that values differ by points, as those of a trained network do
    return network


def blank(value: float = 0.0) -> Layers:
    """A network of 12 numbers that sees `value` everywhere."""
    arrays = [np.zeros(shape, dtype=np.float32) for shape in ((12, 24), 24, (24, 24), 24, (24, 24), 24, 24, 1)]
    arrays[-1][0] = value
    return Layers(*arrays)


def new_learner(**options: Any) -> PartidaLearner:
    small = {"sessions": 20, "measure_every": 10, "hands": 50, "final_hands": 100, "checkpoint_every": 10}
    return PartidaLearner(PartidaOptions(**{**small, **options}), Setting(1, NO_MATCHES))


# --- input and network ---


def network_inputs(states: np.ndarray, inputs: int, encoding: int) -> np.ndarray:
    """[E, input_width] of positions [E, STATE]."""
    x = np.empty((len(states), input_width(inputs, encoding)), dtype=np.float32)
    for state, row in zip(states, x, strict=True):
        fill_position(state, inputs, encoding, row)
    return x


def test_numbers_are_the_hands_and_the_play_as_they_stand() -> None:
    whole = [5, 5, 13, 0, 2, 8, 0, 0, 10, 11, 1, 7, 0, 0, 0, 0]
    assert network_inputs(TABLE[None], 16, 0).tolist() == [whole]
    assert network_inputs(TABLE[None], 12, 0).tolist() == [whole[:4] + whole[8:]]


def test_indicators_are_counts_of_hands_the_series_from_its_end_and_the_earlier_cards() -> None:
    for inputs, hands in ((12, [{4: 2, 12: 1}]), (16, [{4: 2, 12: 1}, {1: 1, 7: 1}])):
        (x,) = network_inputs(TABLE[None], inputs, 1)
        blocks = x.reshape(-1, 13)
        expected = np.zeros((len(hands) + 9, 13))
        for row, counts in enumerate(hands):
            for held, number in counts.items():
                expected[row, held] = number
        expected[len(hands), 6] = 1  # the seven is the whole series
        expected[-1, [9, 10, 0]] = 1
        np.testing.assert_array_equal(blocks, expected)
    (x,) = network_inputs(position("5H", "2C", "4H 4S AC", 0)[None], 12, 1)
    assert np.argwhere(x.reshape(-1, 13)[1:]).tolist() == [[0, 0], [1, 3], [2, 3]]


@pytest.mark.parametrize(("inputs", "encoding"), FORMS)
def test_compiled_layers_are_torchs(inputs: int, encoding: str) -> None:
    form = make_form(inputs, encoding, "whole")
    network = new_network(form)
    states = play_kept_hands(layers_of(network), form, 0, 200, 3).states
    x = network_inputs(states, form.inputs, form.encoding)
    with torch.no_grad():
        expected = network(torch.from_numpy(x)).numpy()
    found = [network_value(row, layers_of(network)) for row in x]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4)
    assert np.std(expected) > 0.01


# --- plays ---


def test_positions_and_targets_are_those_of_the_slow_rules() -> None:
    """Recorded hands once more by the independent rules: positions, both kinds of target, greedy's choices."""
    form = make_form(16, "one_hot", "rest")
    found = play_kept_hands(layers_of(new_network(form)), form, 7, 60, 11, epsilon=0.5)
    checked = 0
    assert len(found) == 60 * 4
    for number, hand in enumerate(range(7, 67)):
        mine = slice(number * 4, (number + 1) * 4)
        order = [int(played) for played in found.states[mine][-1, 8:16] if played]
        kept = [[int(card) for card in held] for held in deal_kept(11, hand)]
        unplayed = [rank(card) + 1 for held in kept for card in held]
        for played in order:
            unplayed.remove(played)
        if len(set(unplayed)) > 1:  # the opponent had several cards to end with
            continue
        checked += 1
        turns, pegged = replayed(kept, iter([*order, *unplayed]))
        learners = [turn for turn in turns if turn.player == hand % 2]
        for turn, row in zip(learners, range(mine.start, mine.stop), strict=True):
            check_turn(turn, turns, pegged, kept, found, row)
        for turn in (turn for turn in turns if turn not in learners):
            held = [card for card in kept[turn.player] if card not in [t.card for t in turns[: turn.number]]]
            best = reference.plain_plays("greedy", held, list(turn.before))
            assert turn.card in {held[slot] for slot in best}
        totals = [sum(peg.points for peg in pegged if peg.player == player) for player in (0, 1)]
        assert found.differences[number] == totals[hand % 2] - totals[1 - hand % 2]
    assert checked > 45


def replayed(kept: list[list[int]], order: Iterator[int]) -> tuple[list[Any], list[Any]]:
    """A play of two hands by the slow rules, every card being the next rank of `order`: its turns and pegs."""
    board, turns = Board([0, 0], None), []

    def choose(player: int, legal: tuple[int, ...]) -> int:
        wanted = next(order)
        return next(card for card in legal if rank(card) + 1 == wanted)

    reference.play(kept, 1, choose, board, turns)  # player 0 is pone
    return turns, board.pegged


def check_turn(turn: Any, turns: Any, pegged: Any, kept: Any, found: KeptPlays, row: int) -> None:
    """A recorded position and its targets."""
    state, before = found.states[row], turns[: turn.number + 1]
    hands = [[rank(card) + 1 for card in held] for held in kept]
    for earlier in before:
        hands[earlier.player].remove(rank(earlier.card) + 1)
    assert [int(r) for r in state[0:4] if r] == sorted(hands[turn.player])
    assert [int(r) for r in state[4:8] if r] == sorted(hands[1 - turn.player])
    assert [int(r) for r in state[8:16] if r] == [rank(earlier.card) + 1 for earlier in before]
    assert state[16] == turn.series_start
    signed = [(peg, peg.points if peg.player == turn.player else -peg.points) for peg in pegged]
    later = [points for peg, points in signed if (peg.number, peg.kind == "go") >= (turn.number, True)]
    assert (found.whole[row], found.rest[row]) == (sum(points for _, points in signed), sum(later))


def test_the_points_of_a_card_count_beside_what_is_to_come() -> None:
    """Where nothing is expected afterwards, `rest` takes the most points at once, as greedy does but for its ties."""
    form = make_form(12, "numbers", "rest")
    found = play_kept_hands(blank(), form, 0, 40_000, 7).differences
    assert abs(found.mean()) < 0.25  # greedy's preference of high cards is worth something less
    whole = play_kept_hands(blank(), make_form(12, "numbers", "whole"), 0, 40_000, 7).differences
    assert found.mean() > whole.mean() + 0.5


# --- learning ---


@pytest.mark.parametrize(("inputs", "encoding"), FORMS)
@pytest.mark.parametrize("batch_size", [1, 7, 64])
def test_fitting_is_torchs(inputs: int, encoding: str, batch_size: int) -> None:
    """Steps over the same positions by autograd and torch's Adam: the same weights and the same loss."""
    form = make_form(inputs, encoding, "rest")
    network = new_network(form)
    found = new_fit(layers_of(network))
    plays = play_kept_hands(found.layers, form, 0, 30, 3, epsilon=0.2)
    # Adam's first steps divide by the gradient's size: where it is almost 0, rounding decides the step's sign.
    rate = 1e-4
    torchs = torch.optim.Adam(network.parameters(), rate)
    x, targets = torch.from_numpy(network_inputs(plays.states, *form[:2])), torch.from_numpy(plays.rest)
    losses = []
    for rows in torch.arange(len(plays)).split(batch_size):
        loss = ((network(x[rows]) - targets[rows]) ** 2).mean()
        torchs.zero_grad()
        loss.backward()
        torchs.step()
        losses += [loss.item()] * len(rows)
    loss = fit_positions(found, form, plays.states, plays.rest, batch_size, rate)
    assert loss == pytest.approx(np.mean(losses), rel=1e-4)
    for ours, theirs in zip(found.layers, layers_of(network), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=2e-5)


def test_the_learning_rate_falls_to_nothing_on_request() -> None:
    learner = new_learner(lr=0.5, lr_schedule="linear", sessions=4)
    plays = play_kept_hands(learner.fit.layers, learner.form, 0, 1, 3)
    rates = []
    for learner.steps_done in range(4):
        rates.append(learner.learn(plays)["schedule/lr"])
    assert rates == pytest.approx([0.5, 0.375, 0.25, 0.125])


def test_finite_layers_whose_values_are_not_stop_the_run() -> None:
    """Weights of 1e30 are numbers; three layers of them are none, for a positive input and for a difference of two."""
    layers = Layers(*(np.full_like(array, 1e30) for array in blank()))
    mixed = layers._replace(w4=np.where(np.arange(24) % 2, 1e30, -1e30).astype(np.float32))
    for chosen in (layers, mixed):
        with pytest.raises(DivergenceError, match="values are not finite"):
            play_kept_hands(chosen, make_form(12, "numbers", "whole"), 0, 4, 1)


def test_seeing_both_hands_is_worth_points(tmp_path: Path) -> None:
    """Some seconds of training with all cards in view beat greedy, which sees its own alone."""
    learner = new_learner(
        **{"inputs": 16, "encoding": "one_hot", "target": "rest", "sessions": 30, "games_per_fit": 1000},
        **{"batch_size": 64, "lr": 3e-3, "lr_schedule": "linear", "epsilon": 0.1, "final_hands": 5000},
    )
    assert fit(learner, tmp_path, no_match) is None and learner.hands == 30_000
    assert learner.summary["play_only"]["ci_low"] > 0.2


# --- agent and checkpoints ---


class Watched(Recorder):
    """Every observation of the play, with what was chosen."""

    def __init__(self) -> None:
        self.seen: list[tuple[PlayObservation, np.ndarray]] = []

    def plays(self, rows: Any, observation: PlayObservation, slots: Any) -> None:
        self.seen.append((observation, slots))


def metadata(form: tuple[int, str, str]) -> dict[str, Any]:
    return dict(zip(("inputs", "encoding", "target"), form, strict=True))


@pytest.mark.parametrize("form", [(12, "numbers", "whole"), (12, "one_hot", "rest")])
def test_the_agent_takes_the_card_after_which_torch_sees_most(form: tuple[int, str, str], tmp_path: Path) -> None:
    """Positions laid out by hand from what the player sees, valued by torch, in games against greedy."""
    network = new_network(make_form(*form))
    write_weights(tmp_path / "weights.safetensors", "partida", layers_of(network)._asdict(), metadata(form))
    agent, watched = make_agent(str(tmp_path)), Watched()
    assert isinstance(agent, PartidaAgent)
    table = Games(np.arange(60), 3)
    play_hand(table, [agent, make_agent("greedy")], np.tile([0, 1], (60, 1)), watched)
    several = 0
    for seen, slots in watched.seen:
        mine = np.flatnonzero(seen.seat == 0)
        for row, slot in zip(mine, slots[mine], strict=True):
            values = np.array(by_torch(network, form, seen, row))
            found = agent.play_values(seen.take(mine))[list(mine).index(row)]
            np.testing.assert_allclose(found, values, rtol=1e-5, atol=1e-5)
            assert values[slot] >= values.max() - 1e-5
            several += np.isfinite(values).sum() > 1
    assert several > 100


def by_torch(network: MLP, form: tuple[int, str, str], seen: PlayObservation, row: int) -> list[float]:
    """Values of the four slots, -inf where they may not be played."""
    values = []
    for slot in range(4):
        if not seen.legal[row, slot]:
            values.append(-np.inf)
            continue
        card = int(seen.hand[row, slot])
        own = [rank(int(c)) + 1 for i, c in enumerate(seen.hand[row]) if c >= 0 and i != slot]
        laid = [int(c) for c in seen.history[row] if c >= 0] + [card]
        start = int(seen.series_start[row])
        state = np.zeros(STATE, dtype=np.int8)
        state[: len(own)], state[8 : 8 + len(laid)], state[16] = own, [rank(c) + 1 for c in laid], start
        with torch.no_grad():
            x = network_inputs(state[None], 12, 0 if form[1] == "numbers" else 1)
            value = float(network(torch.from_numpy(x))[0])
        values.append(value + (reference.pegs(laid[start:]) if form[2] == "rest" else 0))
    return values


def test_discards_are_another_agents(tmp_path: Path) -> None:
    form = 12, "numbers", "whole"
    write_weights(tmp_path / "weights.safetensors", "partida", blank()._asdict(), metadata(form))
    seen, _ = observations(200, 5)
    for spec, other in ((str(tmp_path), "expected_value"), ({"path": str(tmp_path), "discards": "greedy"}, "greedy")):
        agent = make_agent(spec)
        np.testing.assert_array_equal(agent.discard(seen), make_agent(other).discard(seen))
        np.testing.assert_array_equal(agent.discard_probabilities(seen), make_agent(other).discard_probabilities(seen))


def test_a_network_that_sees_hidden_cards_is_no_agent() -> None:
    with pytest.raises(AgentError, match="sees the opponent's cards is no agent"):
        PartidaAgent("seeing", blank(), metadata((16, "numbers", "whole")), make_agent("greedy"))
