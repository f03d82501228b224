"""The perceptron of the full game: its network, its inputs, what it learns from each move, its runs, pairs of hands."""

from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from statistics import mean
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from deepcrib.agents import make_agent
from deepcrib.evaluation.hands import hand_pairs
from deepcrib.game.engine import Games
from deepcrib.game.randomness import MONITORING, derive
from deepcrib.jobs import train as job
from deepcrib.learners.td.agent import TdPerceptronAgent
from deepcrib.learners.td.features import FEATURES, State, read_plays
from deepcrib.learners.td.inputs import FEATURE, MOST_INPUTS, WIDTHS, discard_means, fill_entries, new_deal, set_discard
from deepcrib.learners.td.learner import TdLearner, learn_hands, td_run
from deepcrib.learners.td.options import TdOptions
from deepcrib.learners.td.perceptron import add_gradient, backward, forward, layer_sizes, new_weights
from deepcrib.training.fit import fit
from deepcrib.training.learner import Setting
from deepcrib.training.options import EvaluationOptions
from tests.support.figures import match_of
from tests.support.reference import cards, drive, pegs, pips, rank, show, thrown_by


def new_agent(hidden: tuple[int, ...] = (6,), inputs: str = "raw", move_points: str = "learned", seed: int = 1) -> Any:
    weights = new_weights(layer_sizes(WIDTHS[inputs], hidden), seed)
    return TdPerceptronAgent("new", weights, hidden, inputs, move_points)


def torch_network(weights: np.ndarray, sizes: list[int]) -> torch.nn.Sequential:
    """Linear layers with the same weights: rows of inputs and a row of biases in `weights`, layer by layer."""
    layers: list[torch.nn.Module] = []
    start = 0
    for below, above in zip(sizes, sizes[1:], strict=False):
        block = torch.from_numpy(weights[start : start + (below + 1) * above].reshape(below + 1, above))
        linear = torch.nn.Linear(below, above, dtype=torch.float64)
        linear.weight.data, linear.bias.data = block[:below].T.clone(), block[below].clone()
        layers += [linear, torch.nn.Sigmoid()]
        start += (below + 1) * above
    return torch.nn.Sequential(*layers[:-1])


def dense(entries: dict[int, float], width: int) -> torch.Tensor:
    x = torch.zeros(width, dtype=torch.float64)
    for place, value in entries.items():
        x[place] = value
    return x


# --- the perceptron ---


@pytest.mark.parametrize("hidden", [(20,), (7, 5), (4, 3, 2)])
def test_value_and_gradient_are_those_of_torch(hidden: tuple[int, ...]) -> None:
    sizes, generator = layer_sizes(30, hidden), np.random.default_rng(3)
    weights = new_weights(sizes, 5)
    network = torch_network(weights, sizes.tolist())
    index, x = np.arange(0, 30, 4), generator.normal(size=8)
    units, slopes, stepped = np.empty(sum(hidden)), np.empty(sum(hidden)), weights.copy()
    value = network(dense(dict(zip(index.tolist(), x.tolist(), strict=True)), 30))
    value.backward()
    assert forward(weights, sizes, index, x, len(index), units) == pytest.approx(value.item(), abs=1e-12)
    backward(weights, sizes, units, slopes)
    add_gradient(stepped, sizes, index, x, len(index), units, slopes, 0.5)
    linear = [layer for layer in network if isinstance(layer, torch.nn.Linear)]
    parts = [torch.cat([layer.weight.grad.T, layer.bias.grad[None]]).flatten() for layer in linear]
    np.testing.assert_allclose(stepped - weights, 0.5 * torch.cat(parts).numpy(), atol=1e-12)


# --- inputs ---


def raw_entries(
    is_dealer: bool, kept: list[int], thrown: list[int], starter: int, laid: list[tuple[int, int]], seat: int
) -> dict[int, float]:
    """The paper's 209 inputs written out; laid: (seat, card) in order."""
    places = {0} if is_dealer else set()
    places |= {1 + card for card in kept}
    known = [*thrown, *[card for player, card in laid if player != seat], *([starter] if starter >= 0 else [])]
    places |= {53 + card for card in known}
    places |= {105 + 13 * k + rank(card) for k, (_, card) in enumerate(laid)}
    return dict.fromkeys(places, 1.0)


def with_deal(six: list[int], thrown: list[int], is_dealer: bool) -> Any:
    hand, deal = np.array(sorted(six)), new_deal(int(is_dealer))
    action = [sorted(thrown_by(sorted(six), a)) for a in range(15)].index(sorted(thrown))
    set_discard(hand, action, discard_means("features", hand[None], np.array([is_dealer]))[0], deal)
    return deal


def entries(deal: Any, starter: int, laid: list[tuple[int, int]], seat: int) -> dict[int, float]:
    history, seats = np.zeros(8, dtype=np.int64), np.zeros(8, dtype=np.int64)
    for k, (player, card) in enumerate(laid):
        history[k], seats[k] = card, player
    index, x = np.zeros(MOST_INPUTS, dtype=np.int64), np.zeros(MOST_INPUTS)
    n = fill_entries(FEATURE, State(deal, starter, history, seats, len(laid), seat), index, x)
    assert len(set(index[:n].tolist())) == n  # no input twice
    return dict(zip(index[:n].tolist(), x[:n].tolist(), strict=True))


def features(text: str, thrown: str, laid: str = "", starter: str = "", *, dealer: bool = False) -> dict[str, Any]:
    """Features by name after the last card of `laid`, in which one's own cards are the ones of `text`."""
    kept = cards(text)
    played = [(0 if card in kept else 1, card) for card in cards(laid)]
    deal = with_deal(kept + cards(thrown), cards(thrown), dealer)
    found = entries(deal, cards(starter)[0] if starter else -1, played, 0)
    named: dict[str, Any] = {}
    place = 0
    for name, width, _ in FEATURES:
        values = [found.get(place + i, 0.0) for i in range(width)]
        named[name] = values[0] if width == 1 else values
        place += width
    return named


def test_features_after_the_discard() -> None:
    """5 5 J Q kept: its mean over 46 starters one by one; own crib counts for the dealer and against the pone."""
    hand, thrown = cards("5H 5S JD QC"), cards("2C 3C")
    pone, dealer = (features("5H 5S JD QC", "2C 3C", dealer=role) for role in (False, True))
    starters = [card for card in range(52) if card not in hand + thrown]
    assert pone["hand"] == pytest.approx(mean(show(hand, starter) for starter in starters) / 10)
    assert dealer["crib"] > 1 and pone["crib"] < -1  # two and three are worth 7 points to an expert
    assert (pone["dealer"], dealer["dealer"], pone["discarded"]) == (0, 1, 1)
    assert pone["left"] == [0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 1, 1, 0]
    assert pone["unseen"] == [1, 0.75, 0.75, 1, 0.5, 1, 1, 1, 1, 1, 0.75, 0.75, 1]
    assert pone["own_cards"] == pone["their_cards"] == [0, 0, 0, 0, 1]
    assert sum(pone["count"] + pone["last"] + pone["before"]) == 0


def test_features_of_a_reply() -> None:
    """An eight led: what the opponent's four of 45 unseen cards may reply, counted over all its hands by rank."""
    found = features("8H 8S 4D KC", "2C 3C", "8H", "9D")
    unseen = [card for card in range(52) if card not in cards("8H 8S 4D KC 2C 3C 9D")]
    points = {card: pegs([cards("8H")[0], card]) for card in unseen}
    scoring = sum(value > 0 for value in points.values())
    assert scoring == 4 + 2  # sevens and eights
    none = np.prod([(45 - scoring - i) / (45 - i) for i in range(4)])
    assert found["reply_chance"] == pytest.approx(1 - none)
    best = [max(points[card] for card in held) for held in list(combinations(unseen, 4))[::97]]
    assert abs(found["reply"] * 4 - mean(best)) < 5 * np.std(best) / np.sqrt(len(best))
    assert found["fifteens"] == pytest.approx(4 * 2 / 45 / 2) and found["pairs"] == pytest.approx(2 * 2 / 45 / 2)
    assert found["runs"] == found["go"] == found["points"] == found["said_go"] == found["floor"] == 0
    own = cards("8S 4D KC")
    answers = [max(pegs([cards("8H")[0], card, mine]) for mine in own) for card in unseen]
    assert found["answer"] == pytest.approx(mean(answers) / 4)
    assert found["hand"] == pytest.approx(show(cards("8H 8S 4D KC"), cards("9D")[0]) / 10)
    assert found["left"] == [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1] and found["playable"] == 3 / 4
    assert found["count"].index(1) == 8 and found["last"].index(1) == 7 and sum(found["before"]) == 0


def test_features_near_thirty_one() -> None:
    """K J on the opponent's Q: 30. It goes unless it has an ace, of which all four are unseen among 44."""
    found = features("KH JS 4D 5C", "2C 3C", "KH QD JS", "9D")
    assert found["points"] == pytest.approx(3 / 4) and found["count"].index(1) == 30
    assert found["go"] == pytest.approx(np.prod([(40 - i) / (44 - i) for i in range(3)]))
    assert found["playable"] == 0 and found["their_cards"].index(1) == 3 and found["own_cards"].index(1) == 2
    after_go = features("KH JS AD 5C", "2C 3C", "KH QD JS AD", "9D")
    assert (after_go["said_go"], after_go["floor"]) == (1, 0.1)  # it passed on 30: its cards all count more than one
    said = features("KH 9S AD 5C", "2C 3C", "KH QD 9S AD", "8D")
    assert (said["said_go"], said["floor"], said["go"]) == (1, 0.2, 0)  # it could not play on 29


@pytest.mark.parametrize("seed", [1, 2])
def test_what_the_plays_tell_is_what_the_engine_knows(seed: int) -> None:
    """Count and series as the engine has them, goes as they were said, and no card left that a go ruled out."""
    games, floors = Games(np.arange(300), seed, stop_at_121=False), []

    def watch(observation: Any, rows: np.ndarray) -> None:
        if not hasattr(observation, "history"):
            return
        for i, row in enumerate(rows):
            one = observation.take(slice(i, i + 1))
            seat, history = int(one.seat[0]), one.history[0].astype(np.int64)
            n = int((history >= 0).sum())
            series, count, floor, said_go = read_plays(history, one.history_seats[0].astype(np.int64), n, seat)
            theirs = games.state.left[row, 1 - seat]
            assert all(pips(int(card)) > floor for card in theirs if card >= 0)
            if one.count[0]:
                assert count == one.count[0]
                codes = [int(series) >> 4 * place & 15 for place in range(n - one.series_start[0])]
                assert series >> 4 * len(codes) == 0
                assert [code - 1 for code in codes[::-1]] == [rank(int(c)) for c in history[one.series_start[0] : n]]
            floors.append(floor)

    drive(games, watch=watch, max_hands=1)
    assert max(floors) > 5 and min(floors) == 0


# --- the agent ---


def test_values_of_the_agent_are_those_of_torch_on_the_papers_inputs() -> None:
    """Every discard and every card of 40 hands; with move_points `added`, the points of the card on top."""
    agents = {kind: new_agent((5, 4), "raw", kind) for kind in ("learned", "added")}
    network = torch_network(agents["learned"].weights, [209, 5, 4, 1])

    def value(*state: Any) -> float:
        with torch.no_grad():
            return float(network(dense(raw_entries(*state), 209)))

    def watch(observation: Any, rows: np.ndarray) -> None:
        for i in range(len(rows)):
            one = observation.take(slice(i, i + 1))
            seat, dealer, hand = int(one.seat[0]), bool(one.is_dealer[0]), one.hand[0].tolist()
            if not hasattr(one, "history"):
                thrown = [thrown_by(hand, action) for action in range(15)]
                expected = [value(dealer, [c for c in hand if c not in two], two, -1, [], seat) for two in thrown]
                for agent in agents.values():
                    np.testing.assert_allclose(agent.discard_values(one)[0], expected)
                continue
            laid = [(int(s), int(c)) for s, c in zip(one.history_seats[0], one.history[0], strict=True) if c >= 0]
            kept = [c for c in hand if c >= 0] + [c for s, c in laid if s == seat]
            series = [c for _, c in laid][int(one.series_start[0]) :]
            for slot, card in enumerate(hand):
                learned, added = (agents[kind].play_values(one)[0, slot] for kind in ("learned", "added"))
                if not one.legal[0, slot]:
                    assert learned == added == -np.inf
                    continue
                state = (dealer, kept, one.discards[0].tolist(), int(one.starter[0]), [*laid, (seat, card)], seat)
                assert learned == pytest.approx(value(*state))
                assert added == pytest.approx(learned + pegs([*series, card]))

    drive(Games(np.arange(40), 5, stop_at_121=False), watch=watch, max_hands=1)


def test_a_saved_agent_is_made_again_from_its_path(tmp_path: Path) -> None:
    agent = new_agent((5, 3), "raw", "added")
    agent.save(tmp_path / "weights.safetensors")
    again = make_agent(str(tmp_path))
    assert (again.hidden, again.inputs, again.move_points) == ((5, 3), "raw", "added")
    np.testing.assert_array_equal(again.weights, agent.weights)


# --- learning ---


def numeric_gradient(weights: np.ndarray, value: Callable[[np.ndarray], float]) -> np.ndarray:
    gradient = np.empty_like(weights)
    for i in range(len(weights)):
        step = np.zeros_like(weights)
        step[i] = 1e-5
        gradient[i] = (value(weights + step) - value(weights - step)) / 2e-5
    return gradient


def plain_value(weights: np.ndarray, places: dict[int, float], hidden: int, width: int = 209) -> float:
    """U(state) of one hidden layer, in NumPy."""
    first, last = weights[: (width + 1) * hidden].reshape(width + 1, hidden), weights[(width + 1) * hidden :]
    total = first[width] + sum(x * first[place] for place, x in places.items())
    return float(last[:hidden] @ (1 / (1 + np.exp(-total))) + last[hidden])


def learn(weights: np.ndarray, hidden: tuple[int, ...], hands: range, seed: int, **options: Any) -> Any:
    """Hands of self-play that change the weights; returns the trace and the game of the last one."""
    run = td_run(weights, TdOptions(**{"lr": 0.01, "hands": 100, "hidden": list(hidden)} | options), seed)
    return run.trace, learn_hands(hands.start, hands.stop, "raw", run)[-1]


def learn_slowly(weights: np.ndarray, number: int, seed: int, lr: float, decay: float, move_points: str) -> np.ndarray:
    """The weights after one hand of three hidden units by the paper's formula, by numeric gradients."""
    weights, dealer = weights.copy(), number % 2
    table = Games([number], seed, first_dealer=[dealer], stop_at_121=False)
    table.deal()
    states: list[list[dict[int, float]]] = [[], []]
    traces, since = [np.zeros_like(weights), np.zeros_like(weights)], [0.0, 0.0]
    kept: list[list[int]] = [[], []]

    def agent() -> TdPerceptronAgent:
        return TdPerceptronAgent("now", weights, (3,), "raw", move_points)

    def margin(seat: int) -> float:
        return float(table.state.scores[0, seat] - table.state.scores[0, 1 - seat])

    def update(seat: int, reward: float, following: float) -> None:
        state = states[seat][-1]
        gradient = numeric_gradient(weights, lambda w: plain_value(w, state, 3))
        traces[seat] = gradient + decay * traces[seat]
        error = reward + following - plain_value(weights, state, 3)
        weights[:] += lr * error * traces[seat]

    for seat in (1 - dealer, dealer):
        seen = table.discard_observation(np.array([0]), np.array([seat], dtype=np.int8))
        action, hand = int(agent().discard_values(seen)[0].argmax()), seen.hand[0].tolist()
        table.discard(np.array([0]), seen.seat, np.array([action], dtype=np.int8))
        thrown = thrown_by(hand, action)
        kept[seat] = [card for card in hand if card not in thrown]
        states[seat].append(raw_entries(seat == dealer, kept[seat], thrown, -1, [], seat))
    table.start_play()
    while len(table.to_play):
        seen = table.play_observation(np.array([0]))
        seat, values = int(seen.seat[0]), agent().play_values(seen)[0]
        slot = int(values.argmax())
        laid = [(int(s), int(c)) for s, c in zip(seen.history_seats[0], seen.history[0], strict=True) if c >= 0]
        card = int(seen.hand[0, slot])
        series = [c for _, c in laid][int(seen.series_start[0]) :]
        at_once = pegs([*series, card]) if move_points == "added" else 0
        account = margin(seat) + at_once
        known = (int(seen.starter[0]), [*laid, (seat, card)], seat)
        state = raw_entries(seat == dealer, kept[seat], seen.discards[0].tolist(), *known)
        update(seat, account - since[seat], plain_value(weights, state, 3))
        states[seat].append(state)
        since[seat] = account
        table.play(np.array([0]), np.array([slot], dtype=np.int8))
    table.show()
    for seat in (1 - dealer, dealer):
        update(seat, margin(seat) - since[seat], 0.0)
    assert [len(part) for part in states] == [5, 5]
    return weights


@pytest.mark.parametrize(("move_points", "decay"), [("learned", 0.0), ("added", 0.0), ("learned", 0.7)])
def test_a_hand_is_learned_by_the_papers_formula(move_points: str, decay: float) -> None:
    """Both roles: hands 6 and 7 of a seed, ten steps each, against weights worked out from numeric gradients."""
    weights = new_weights(layer_sizes(209, (3,)), 11)
    for number in (6, 7):
        expected = learn_slowly(weights, number, 21, 0.02, decay, move_points)
        learn(weights, (3,), range(number, number + 1), 21, lr=0.02, trace_decay=decay, move_points=move_points)
        np.testing.assert_allclose(weights, expected, atol=1e-7)


@pytest.mark.parametrize("move_points", ["learned", "added"])
def test_each_reward_belongs_to_its_own_hand_and_role(move_points: str) -> None:
    """Accounts from the cards by the slow rules: heels and crib are the dealer's, a go goes with the card before it.

    Rewards are differences of accounts, so they add up to own less opponent's points of the very hand.
    """
    for number in range(12):
        weights = new_weights(layer_sizes(209, (3,)), 4)
        trace, g = learn(weights, (3,), range(number, number + 1), 8, move_points=move_points)
        seats, dealer, starter = g["history_seats"].tolist(), int(g["dealer"]), int(g["starter"])
        assert dealer == number % 2
        crib = [int(card) for seat in (0, 1) for card in g["discards"][seat]]
        shows = [show(g["kept"][seat].tolist(), starter) for seat in (0, 1)]
        shows[dealer] += show(crib, starter, is_crib=True)
        for seat in (0, 1):
            signed = np.where(np.array(seats) == seat, 1, -1) * g["play_points"]
            heels = (2 if rank(starter) == 10 else 0) * (1 if seat == dealer else -1)
            expected = [0]
            for k in (k for k in range(8) if seats[k] == seat):
                at_once = int(g["play_points"][k]) - is_go(g, k) if move_points == "added" else 0
                expected.append(heels + int(signed[:k].sum()) + at_once)
            assert trace.accounts[seat].tolist() == expected
            whole = heels + int(signed.sum()) + shows[seat] - shows[1 - seat]
            assert int(g["scores"][seat]) - int(g["scores"][1 - seat]) == whole


def is_go(g: Any, k: int) -> bool:
    """Whether the k-th card ended its series below 31, and so has a point for go or last card."""
    history, count = g["history"].tolist(), 0
    for n in range(8):
        if count == 31 or count + pips(history[n]) > 31:
            count = 0
        count += pips(history[n])
        if n == k:
            break
    return count < 31 and (k == 7 or count + pips(history[k + 1]) > 31)


def test_self_play_learns_to_beat_random() -> None:
    """Untrained, a perceptron of the paper plays like random; after 40,000 hands it is points a pair better."""
    weights = new_weights(layer_sizes(209, (20,)), 3)
    random = make_agent("random")
    before = hand_pairs(TdPerceptronAgent("new", weights.copy(), (20,)), random, 1500, 9)
    learn(weights, (20,), range(40_000), 3, lr=0.01)
    after = hand_pairs(TdPerceptronAgent("trained", weights, (20,)), random, 1500, 9)
    assert before.high < 1.5 < after.low


def test_a_linear_rate_has_come_down_to_0_at_the_last_hand() -> None:
    weights = new_weights(layer_sizes(209, (4,)), 3)
    learn(weights, (4,), range(100, 101), 3, lr_schedule="linear")
    np.testing.assert_array_equal(weights, new_weights(layer_sizes(209, (4,)), 3))


# --- runs ---


def learner(opponents: Sequence[str] = (), **options: Any) -> TdLearner:
    """A short training, with matches at its checkpoint if there are opponents."""
    evaluation = EvaluationOptions(opponents=list(opponents), every=1 if opponents else 0)
    chosen = TdOptions(**{"hands": 200, "hidden": [4], "checkpoint_every": 200, "pairs": 0} | options)
    return TdLearner(chosen, Setting(1, evaluation))


@pytest.mark.parametrize("pairs", [0, 1, 2])
def test_fewer_than_two_pairs_are_not_measured(pairs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One pair has no interval."""
    chosen, asked = learner(pairs=pairs, opponents=["random"]), []

    def measure(agent: Any, opponent: Any, count: int, seed: int) -> Any:
        asked.append((opponent.name, count, seed))
        return SimpleNamespace(margin=1.5)

    monkeypatch.setattr(job, "hand_pairs", measure)
    shown: dict[int, Any] = {}
    probe = job._probe_of(chosen.options, {"random": make_agent("random")})
    fit(chosen, tmp_path, lambda *_: match_of(), probe=probe, progress=shown.__setitem__)
    assert asked == ([("random", 2, derive(1, MONITORING, 1))] if pairs == 2 else [])
    assert shown[200].get("random/pair_margin") == (1.5 if pairs == 2 else None)
