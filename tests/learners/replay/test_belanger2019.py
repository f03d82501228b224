"""The networks and the published agent of Bélanger et al. 2019, held against torch's own layers."""

from math import tanh
from pathlib import Path

import numpy as np
import pytest
import torch
from omegaconf import OmegaConf
from torch import nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_sequence

from benchmarks.paper2019.published import Published
from deepcrib.errors import OptionError
from deepcrib.files.weights import CheckpointError
from deepcrib.game.engine import Games
from deepcrib.game.rules import KEPT_SLOTS_6
from deepcrib.networks import DiscardNetworkConfig, PlayNetworkConfig, make_discard_network, make_play_network
from deepcrib.networks.bodies.series import FEW, packed_windows, shared_windows
from deepcrib.networks.encoders import compact_discard, make_discard_encoder, make_play_encoder
from deepcrib.networks.fast import PackedLSTM
from deepcrib.networks.layers import SummedConvolutions

CONF = Path(__file__).parents[3] / "conf"
DEAL = make_discard_encoder("basic")
CNN_LSTM, FEED_FORWARD = (make_play_encoder(f"belanger2019_{name}") for name in ("cnn_lstm", "mlp"))


def published(group: str, name: str):
    """The network of a YAML file, for its state."""
    options = OmegaConf.to_container(OmegaConf.load(CONF / group / f"{name}.yaml"))
    if group == "discard_network":
        return make_discard_network(DiscardNetworkConfig(**options), DEAL.spec)
    return make_play_network(PlayNetworkConfig(**options), make_play_encoder(name).spec)


@pytest.mark.parametrize(
    ("group", "name", "parameters"),
    [
        ("discard_network", "belanger2019", 561_824),
        ("play_network", "belanger2019_cnn_lstm", 184_152),
        ("play_network", "belanger2019_mlp", 28_801),
    ],
)
def test_the_networks_have_the_published_numbers_of_parameters(group: str, name: str, parameters: int) -> None:
    assert sum(parameter.numel() for parameter in published(group, name).parameters()) == parameters


def test_the_feed_forward_network_begins_with_zero_biases_and_xavier_weights() -> None:
    network = published("play_network", "belanger2019_mlp")
    for layer in network.modules():
        if isinstance(layer, nn.Linear):
            bound = (6 / sum(layer.weight.shape)) ** 0.5
            assert not layer.bias.any()
            assert 0.9 * bound < layer.weight.abs().max() <= bound or layer.out_features == 1


def fill(network, value: float = 1.0) -> None:
    for name, parameter in network.named_parameters():
        nn.init.constant_(parameter, 0.0 if "bias" in name else value)


def test_a_deal_value_worked_by_hand() -> None:
    """Keep A A 2 K, of which the aces are of clubs and diamonds, the others of spades, as dealer; all weights are 1.

    Summed ranks 2 1 0 ... 0 1. Kernel 2: windows A2 3, 23 1, nothing, QK 1: 5 in all. Kernel 3: A23 3, 234 1, JQK 1: 5.
    Kernel 4: 3, 1, 1: 5. The layers over ranks: each of 13 units is tanh(4), each of 13 outputs 13 tanh(4). Suits
    1 1 0 2 by five channels: 20. The dealer: 1. Then two layers of one unit and the value: the sum of it all.
    """
    network = make_discard_network(DiscardNetworkConfig("belanger2019", hidden=[1, 1], channels=1), DEAL.spec)
    fill(network)
    states = np.array([[0, 1, 7, 20, 24, 51, 1, 0, 0]], dtype=np.int8)  # AC AD 2S 6C 7C KS
    action = [set(kept) for kept in KEPT_SLOTS_6.tolist()].index({0, 1, 2, 5})
    value = network(DEAL.encode(states, np.array([action], dtype=np.int8)))
    assert value.item() == pytest.approx(5 + 5 + 5 + 13 * 13 * tanh(4) + 20 + 1, rel=1e-6)


def test_a_play_value_worked_by_hand() -> None:
    """The second card of a series, 2 on an ace, with one card left; all weights are 1 but those from step to step.

    The last step's input: kernel 2 counts the ace once for each of the positions that see it, of which there is 1 (the
    rank at the edge), and the two 2 times: 3; kernels 3 and 4 likewise 3; and the card itself: 10. Every gate of the
    first layer is s = sigmoid(10) or t = tanh(10); the cell adds what the first step left: its input is the ace
    alone, 1 for each kernel and 1: 4. In the second layer the one unit below is the input.
    """
    config = PlayNetworkConfig("belanger2019_cnn_lstm", hidden=[1, 1], channels=1, lstm_hidden=1)
    network = make_play_network(config, CNN_LSTM.spec)
    fill(network)
    for name, parameter in network.named_parameters():
        if "weight_hh" in name:
            nn.init.zeros_(parameter)

    def layer(inputs: list[float]) -> list[float]:
        outputs, cell = [], 0.0
        for value in inputs:
            sigmoid = 1 / (1 + np.exp(-value))
            cell = sigmoid * cell + sigmoid * tanh(value)
            outputs.append(sigmoid * tanh(cell))
        return outputs

    states = np.full((1, 24), -1, dtype=np.int8)
    states[0, [0, 1]] = 1, 9  # a two, which is played, and a ten
    states[0, 4] = 0  # the ace
    states[0, 11:] = [0, 4, 4, 12, 0, 0, 0, 3, 1, 0, 1, 1, 1]  # thrown 5 5; seat 1; the opponent played the ace
    value = network(CNN_LSTM.encode(states, np.array([0], dtype=np.int8)))
    others = 1 + 2  # the ten and the two thrown fives
    assert value.item() == pytest.approx(layer(layer([4.0, 10.0]))[-1] + others, rel=1e-6)
    negative = -value.item()
    with torch.no_grad():
        network.head.layers[0].weight.neg_()
    leaky = network(CNN_LSTM.encode(states, np.array([0], dtype=np.int8))).item()
    assert leaky == pytest.approx(0.01 * 0.01 * negative, rel=1e-5)  # LeakyReLU twice


def test_a_feed_forward_value_worked_by_hand() -> None:
    """Of the same play, all weights 1: in hand 2 and ten; the opponent's ace; 5, 5 and starter; the series; the 2."""
    network = make_play_network(PlayNetworkConfig("belanger2019_mlp", hidden=[1, 1, 1]), FEED_FORWARD.spec)
    fill(network)
    states = np.full((1, 24), -1, dtype=np.int8)
    states[0, [0, 1]] = 1, 9
    states[0, 4] = 0
    states[0, 11:] = [0, 4, 4, 12, 0, 0, 0, 3, 1, 0, 1, 1, 1]
    assert network(FEED_FORWARD.encode(states, np.array([0], dtype=np.int8))).item() == 2 + 1 + 3 + 1 + 1


@pytest.mark.parametrize("lengths", [(3, 1, 8, 2, 5, 5), (1, 1), (4,), (2, 2, 2)])
def test_the_packed_lstm_is_torchs_with_its_gradients(lengths) -> None:
    torch.manual_seed(0)
    ours, reference = (nn_class(5, 7, 2).double() for nn_class in (PackedLSTM, nn.LSTM))
    reference.load_state_dict(ours.state_dict())
    sequences = [torch.randn(length, 5, dtype=torch.float64, requires_grad=True) for length in lengths]
    packed = pack_sequence(sequences, enforce_sorted=False)
    found, expected = ours(packed), reference(packed)[1][0][-1]
    torch.testing.assert_close(found, expected)
    weights = torch.randn_like(found)
    gradients = [
        torch.autograd.grad((out * weights).sum(), [*module.parameters(), *sequences], retain_graph=True)
        for out, module in ((found, ours), (expected, reference))
    ]
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("num_series", [1, 7, 40, 600])
def test_series_that_begin_alike_share_their_steps_and_keep_their_values(num_series) -> None:
    rng = np.random.default_rng(num_series)
    ranks = rng.integers(13, size=(num_series, 8))
    ranks[np.arange(8) >= rng.integers(9, size=(num_series, 1))] = -1  # the last cards of each, or all, are not there
    cards = torch.from_numpy((ranks[:, :, None] == np.arange(13)).astype(np.float32))
    lstm = PackedLSTM(4 * 13, 5, 2)
    windows, steps = shared_windows(cards, 4)
    with torch.no_grad():
        torch.testing.assert_close(lstm.values(windows, steps), lstm(packed_windows(cards, 4)))
    sizes = []
    for step in range(len(steps.sizes)):
        there = ranks[(ranks[:, step] >= 0) | (step == 0), : step + 1]
        distinct = len(np.unique(there, axis=0))
        sizes.append(distinct if min([distinct, *sizes]) >= FEW else len(there))
    assert steps.sizes == sizes


def test_windows_hold_a_card_and_those_before_it() -> None:
    """Two series: 3 then 5, and 3 alone; what they begin with is a window each where rows are few."""
    cards = torch.zeros(2, 8, 13)
    cards[0, 0, 3] = cards[0, 1, 5] = cards[1, 0, 3] = 1
    for windows in (packed_windows(cards, 2).data, shared_windows(cards, 2)[0]):
        assert [row.nonzero().flatten().tolist() for row in windows] == [[13 + 3], [13 + 3], [3, 13 + 5]]


def test_summed_convolutions_are_torchs_summed_over_the_positions() -> None:
    torch.manual_seed(0)
    layer = SummedConvolutions(4, 13, (2, 3, 4), channels=6)
    nn.init.normal_(layer.weight)
    grids = torch.randn(20, 1, 4, 13)
    weights = zip((2, 3, 4), layer.weight.split([4, 9, 16], dim=1), strict=True)
    parts = [functional.conv2d(grids[:, :, 4 - side :], w.reshape(6, 1, side, side)).sum(-1) for side, w in weights]
    torch.testing.assert_close(layer(grids.flatten(1)), torch.cat([part.flatten(1) for part in parts], dim=1))


def test_other_heads_than_the_authors_are_refused() -> None:
    with pytest.raises(OptionError, match=r"play_network\.head=dueling.*belanger2019_mlp.*expected value"):
        make_play_network(PlayNetworkConfig("belanger2019_mlp", head="dueling"), FEED_FORWARD.spec)


# --- the published checkpoint, of random weights ----------------------------------------------------------------


class Conv(nn.Module):
    """The deal network in the authors' layout of parameters."""

    def __init__(self) -> None:
        super().__init__()
        for length in (2, 3, 4):
            setattr(self, f"tarot{length}", nn.Sequential(nn.Conv1d(1, 15, length), nn.ReLU()))
        self.suit = nn.Conv1d(1, 5, 1)
        self.ranks = nn.Sequential(nn.Linear(13, 13), nn.Tanh(), nn.Linear(13, 13))
        self.clf = nn.Sequential(nn.Linear(529, 529), nn.ReLU(), nn.Linear(529, 529), nn.ReLU(), nn.Linear(529, 1))

    def value(self, kept: list[int], dealer: bool) -> float:
        """Of kept cards; its suits are spades, hearts, clubs, diamonds."""
        ranks = torch.zeros(1, 1, 13)
        suits = torch.zeros(1, 1, 4)
        for card in kept:
            ranks[0, 0, card // 4] += 1
            suits[0, 0, [2, 3, 1, 0][card % 4]] += 1
        parts = [getattr(self, f"tarot{length}")(ranks).flatten() for length in (2, 3, 4)]
        parts += [self.ranks(ranks[0, 0]), self.suit(suits).flatten(), torch.tensor([float(dealer)])]
        return self.clf(torch.cat(parts)).item()


class ConvLstm(nn.Module):
    """The play network in the authors' layout of parameters."""

    def __init__(self) -> None:
        super().__init__()
        for side in (2, 3, 4):
            layers = nn.ZeroPad2d((0, 0, side - 1, 0)), nn.Conv2d(1, 15, side, bias=False)
            setattr(self, f"conv{side}", nn.Sequential(*layers))
        self.lstm = nn.LSTM(58, 104, num_layers=2, batch_first=True)
        layers = nn.Linear(143, 143), nn.LeakyReLU(), nn.Linear(143, 52), nn.LeakyReLU(), nn.Linear(52, 1)
        self.clf = nn.Sequential(*layers)

    def value(self, series: list[int], hand: list[int], played: list[list[int]]) -> float:
        """Of ranks: the series with the candidate last, other playable cards, earlier and thrown ones by seat."""
        cards = functional.one_hot(torch.tensor(series, dtype=torch.int64), 13).float()[None]
        convolved = [getattr(self, f"conv{side}")(cards[:, None]).sum(dim=-1).transpose(1, 2) for side in (2, 3, 4)]
        outputs, _ = self.lstm(torch.cat([*convolved, cards], dim=2))
        counts = [torch.bincount(torch.tensor(ranks, dtype=torch.int64), minlength=13) for ranks in (hand, *played)]
        return self.clf(torch.cat([outputs[0, -1], *counts])).item()


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    torch.manual_seed(5)
    conv, conv_lstm = Conv().eval(), ConvLstm().eval()
    path = tmp_path_factory.mktemp("published") / "agent.tar"
    torch.save({"epoch": 1, "model_state_dict": [conv.state_dict(), conv_lstm.state_dict()]}, path)
    return path, conv, conv_lstm


def test_the_published_agent_values_discards_as_its_layers_do(checkpoint) -> None:
    path, conv, _ = checkpoint
    agent = Published(str(path))
    games = Games(np.arange(40), seed=2)
    observation = games.discard_observation(games.deal(), np.arange(40) % 2)
    found = agent.discard_values(observation)
    states = compact_discard(observation)
    with torch.no_grad():
        expected = [
            [conv.value(state[list(kept)].tolist(), bool(state[6])) for kept in KEPT_SLOTS_6.tolist()]
            for state in states
        ]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    assert (agent.discard(observation) == np.argmax(expected, axis=1)).all()


def test_the_published_agent_values_plays_as_its_layers_do(checkpoint) -> None:
    path, _, conv_lstm = checkpoint
    agent = Published(str(path))
    rng = np.random.default_rng(4)
    games = Games(np.arange(30), seed=3)
    rows = games.deal()
    for seat in (0, 1):
        games.discard(rows, np.full(len(rows), seat), rng.integers(0, 15, len(rows)))
    games.start_play()
    blocked = earlier = 0
    while len(rows := games.to_play):
        seen = games.play_observation(rows)
        values = agent.play_values(seen)
        for row in range(len(rows)):
            seat, played = seen.seat[row], seen.history[row][seen.history[row] >= 0] // 4
            start = seen.series_start[row]
            by_seat = [played[:start][seen.history_seats[row][:start] == who].tolist() for who in (0, 1)]
            by_seat[seat] += (seen.discards[row] // 4).tolist()
            playable = {slot: seen.hand[row, slot] // 4 for slot in np.flatnonzero(seen.legal[row])}
            blocked += len(playable) < (seen.hand[row] >= 0).sum()
            earlier += start > 0
            for slot, rank in playable.items():
                others = [other for at, other in playable.items() if at != slot]
                with torch.no_grad():
                    expected = conv_lstm.value([*played[start:].tolist(), rank], others, by_seat)
                assert values[row, slot] == pytest.approx(expected, rel=1e-4, abs=1e-5)
        slots = np.argmax(seen.legal * rng.random((len(rows), 4)), axis=1).astype(np.int8)
        games.play(rows, slots)
    assert blocked > 10
    assert earlier > 10


def test_what_is_no_published_checkpoint_is_refused_in_one_line(checkpoint, tmp_path) -> None:
    path, conv, conv_lstm = checkpoint
    cases = {"nothing.tar": None, "text.tar": b"no weights", "short.tar": path.read_bytes()[:1000]}
    for content in ([conv.state_dict()], {"deal": 1}, [conv_lstm.state_dict(), conv.state_dict()], [{}, {}]):
        file = tmp_path / f"case{len(cases)}.tar"
        torch.save({"model_state_dict": content}, file)
        cases[file.name] = file.read_bytes()
    for name, content in cases.items():
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(CheckpointError) as caught:
            Published(str(tmp_path / name))
        assert name in str(caught.value)
        assert "\n" not in str(caught.value)


def test_code_in_a_checkpoint_is_not_executed(tmp_path) -> None:
    class Trap:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "executed",))

    torch.save({"model_state_dict": [Trap(), {}]}, tmp_path / "trap.tar")
    with pytest.raises(CheckpointError, match="damaged or not a checkpoint of Conv and ConvLstm"):
        Published(str(tmp_path / "trap.tar"))
    assert not (tmp_path / "executed").exists()
