"""From hands to samples: the targets of every algorithm against a slow recomputation with a toy value function."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from deepcrib.agents import make_agent
from deepcrib.agents.q_network import QFunction
from deepcrib.game.engine import Games
from deepcrib.learners.replay.batch import legal_plays
from deepcrib.learners.replay.rewards import up_to_the_win, winning_pegs
from deepcrib.matches import Recorder, play_hand
from deepcrib.matches.trajectories import Trajectories, self_play
from deepcrib.networks.encoders.states import COUNT, DISCARD_OWN_SCORE, OWN_RANKS, PLAY_COLUMNS, SEAT
from tests.support.reference import pips
from tests.support.replaying import Backup, discard_samples, play_samples

ALGORITHMS = ("monte_carlo", "sarsa", "expected_sarsa", "q_learning")
STEPS = dict.fromkeys(ALGORITHMS, 1) | {"monte_carlo": 8}
EPSILON = 0.25
# Whole numbers: sums of them are exact in float32, whatever their order.
_DRAWN = np.random.default_rng(7).integers(-9, 10, (2, 4, SEAT))  # of the columns after it, who played what, none
WEIGHTS, OTHERS = np.pad(_DRAWN, ((0, 0), (0, 0), (0, PLAY_COLUMNS - SEAT))).astype(np.float32)


class Columns:
    """An encoder of nothing: the state, and the action beside it."""

    def indices(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        return np.concatenate([states, actions[:, None]], axis=1)

    def expand(self, indices: np.ndarray, device: object) -> torch.Tensor:
        return torch.as_tensor(indices, dtype=torch.float32, device=device)


class Toy(torch.nn.Module):
    """A whole number for every state and action; counts what it is asked."""

    def __init__(self, weights: np.ndarray = WEIGHTS) -> None:
        super().__init__()
        self.asked = 0
        self.weights = weights

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        self.asked += len(rows)
        weights = torch.from_numpy(self.weights)[rows[:, -1].long()]
        return (weights * rows[:, :-1]).sum(dim=1)


def toy_value(state: list[int], action: int, weights: np.ndarray = WEIGHTS) -> float:
    return float(sum(w * s for w, s in zip(weights[action].tolist(), state, strict=True)))


def toy() -> QFunction:
    return QFunction(Columns(), Toy())


@pytest.fixture(scope="module")
def hands() -> Trajectories:
    return self_play(make_agent("random"), 0, 250, 701, unit="hands")


def lawful(state: list[int]) -> list[int]:
    """Slots of cards still held that bring the count to 31 at most."""
    held = state[OWN_RANKS : OWN_RANKS + 4]
    return [slot for slot, rank in enumerate(held) if rank >= 0 and state[COUNT] + pips(4 * rank) <= 31]


def own_reward(points: list[int], seats: list[int], play: int) -> int:
    """Points of the card minus the opponent's until one's own next card or the end of the hand."""
    reward = points[play]
    for later in range(play + 1, 8):
        if seats[later] == seats[play]:
            break
        reward -= points[later]
    return reward


@pytest.mark.parametrize("reward", ["offensive", "offensive_defensive", "game", "game_ties", "margin"])
def test_monte_carlo_asks_for_no_value(hands: Trajectories, reward: str) -> None:
    """Its targets are returns; for `offensive` one's own points of the play from the card on."""
    network = Toy()
    samples = play_samples(hands, "monte_carlo", reward, QFunction(Columns(), network), EPSILON)
    assert network.asked == 0
    if reward == "offensive":
        points, seats = hands.play_points.tolist(), hands.play_seats.tolist()
        expected = [
            sum(p[k] for k in range(play, 8) if s[k] == s[play])
            for p, s in zip(points, seats, strict=True)
            for play in range(8)
        ]
        assert samples.targets.tolist() == expected


# --- networks that see the score ----------------------------------------------------------------------------


def last_hands() -> Trajectories:
    """The hands in which 400 games end, played out, of which 45% or so end before the last card."""
    hands = self_play(make_agent("random"), 0, 400, 702)
    return hands.take(np.flatnonzero(winning_pegs(hands)[0] >= 0))


def cards_before_the_end(hands: Trajectories, hand: int) -> tuple[int, list[int]]:
    """(cards played, points of each) by counting from the scores at the discard: heels, then card by card."""
    scores = hands.discard_states[hand, :, DISCARD_OWN_SCORE].tolist()
    scores[hands.dealer[hand]] += int(hands.heels[hand])
    points = hands.play_points[hand].tolist()
    for play in range(8):
        if max(scores) >= 121:
            return play, points[:play]
        scores[hands.play_seats[hand, play]] += points[play]
    return 8, points


@pytest.mark.parametrize("forced", [True, False])
@pytest.mark.parametrize(("steps", "decay"), [(1, 0.0), (3, 0.0), (1, 0.5)])
@pytest.mark.parametrize("algorithm", ["sarsa", "expected_sarsa", "q_learning"])
def test_nothing_follows_a_won_game(algorithm: str, steps: int, decay: float, forced: bool) -> None:
    """Where networks see the score, the last decision before the winning peg is a hand's last."""
    hands = last_hands()
    backup = Backup(n_steps=steps, trace_decay=decay)
    ended = up_to_the_win(hands)
    found = play_samples(ended, algorithm, "offensive_defensive", toy(), EPSILON, forced, backup)
    played = [cards_before_the_end(hands, hand)[0] for hand in range(len(hands))]
    assert 50 < sum(number < 8 for number in played) < len(hands) - 50
    expected = slow_far_targets(hands, algorithm, forced, steps, decay, played=played)
    np.testing.assert_allclose(found.targets, expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("forced", [True, False])
def test_plays_after_the_win_are_no_samples(forced: bool) -> None:
    """Nor are rewards of theirs anybody's, also where forced plays are skipped; the discards all stay."""
    hands = last_hands()
    ended = up_to_the_win(hands)
    samples = play_samples(ended, "monte_carlo", "offensive", toy(), EPSILON, forced, newest=30)
    expected = []
    for hand in range(len(hands)):
        number, points = cards_before_the_end(hands, hand)
        seats = hands.play_seats[hand].tolist()
        for play in range(number):
            if forced or len(lawful(hands.play_states[hand, play].tolist())) > 1:
                expected.append((hand, sum(points[k] for k in range(play, number) if seats[k] == seats[play])))
    assert samples.targets.tolist() == [value for _, value in expected]
    assert samples.newest == sum(hand >= len(hands) - 30 for hand, _ in expected)
    discards = discard_samples(ended, "own")
    assert len(discards) == 2 * len(hands)
    assert discards.targets.sum() < discard_samples(hands, "own").targets.sum()


def test_single_hands_end_where_they_end(hands: Trajectories) -> None:
    """They begin at 0-0, so that nobody wins a game; nothing is left out."""
    ended = up_to_the_win(hands)
    assert all(np.array_equal(one, two) for one, two in zip(vars(ended).values(), vars(hands).values(), strict=True))


# --- further ahead, and another network's choice ------------------------------------------------------------


def slow_value(algorithm: str, state: list[int], action: int, double: bool) -> tuple[float, bool]:
    """What a decision is worth, and whether the action taken there is a best one of whoever chooses."""
    values = {slot: toy_value(state, slot) for slot in lawful(state)}
    choosing = {slot: toy_value(state, slot, OTHERS) for slot in lawful(state)} if double else values
    best = max(choosing.values()) == choosing[action]
    if algorithm == "sarsa":
        return values[action], best
    if algorithm == "expected_sarsa":
        mean = sum(values.values()) / len(values)
        return (1 - EPSILON) * max(values.values()) + EPSILON * mean, best
    return values[max(choosing, key=lambda slot: (choosing[slot], -slot))], best


def slow_far_targets(
    hands: Trajectories,
    algorithm: str,
    forced: bool,
    steps: int = 1,
    decay: float = 0.0,
    double: bool = False,
    played: list[int] | None = None,
) -> list[float]:
    """By definition: n rewards and a value, or the mean of all n-step returns that a trace which may end weighs.

    Of each hand's cards the first `played`, by default all, are part of a game.
    """
    targets = []
    for hand, number in enumerate(played or [8] * len(hands)):
        points, seats = hands.play_points[hand].tolist(), hands.play_seats[hand].tolist()
        states, actions = hands.play_states[hand].tolist(), hands.play_actions[hand].tolist()
        points[number:] = [0] * (8 - number)
        free = [play for play in range(number) if forced or len(lawful(states[play])) > 1]
        for play in free:
            own = [later for later in range(play, number) if seats[later] == seats[play]]
            ahead = [later for later in own[1:] if later in free]
            limits = [*ahead, 8]  # the n-step return for n = 1, 2, ... sums up the rewards before these
            returns = []
            for limit in limits:
                value = slow_value(algorithm, states[limit], actions[limit], double)[0] if limit < 8 else 0.0
                returns.append(sum(own_reward(points, seats, k) for k in own if k < limit) + value)
            if not decay:
                targets.append(returns[min(steps, len(returns)) - 1])
                continue
            total, left = 0.0, 1.0
            for later, found in zip(ahead, returns, strict=False):
                goes_on = algorithm != "q_learning" or slow_value(algorithm, states[later], actions[later], double)[1]
                total += left * (1 - decay * goes_on) * found
                left *= decay * goes_on
            targets.append(total + left * returns[-1])
    return targets


@pytest.mark.parametrize("forced", [True, False])
@pytest.mark.parametrize(("steps", "decay"), [(1, 0.0), (2, 0.0), (3, 0.0), (7, 0.0), (1, 0.5), (1, 1.0)])
@pytest.mark.parametrize("algorithm", ["sarsa", "expected_sarsa", "q_learning"])
def test_targets_are_those_of_their_definition(
    hands: Trajectories, algorithm: str, steps: int, decay: float, forced: bool
) -> None:
    some = hands.take(slice(0, 80))
    backup = Backup(n_steps=steps, trace_decay=decay)
    samples = play_samples(some, algorithm, "offensive_defensive", toy(), EPSILON, forced, backup)
    expected = slow_far_targets(some, algorithm, forced, steps, decay)
    np.testing.assert_allclose(samples.targets, expected, rtol=1e-5, atol=1e-3)
    states = some.play_states.reshape(-1, PLAY_COLUMNS)
    free = np.array([forced or len(lawful(state)) > 1 for state in states.tolist()])
    assert (samples.states == states[free]).all() and (samples.actions == some.play_actions.reshape(-1)[free]).all()
    if steps > 4 or (decay == 1 and algorithm != "q_learning"):
        returns = play_samples(some, "monte_carlo", "offensive_defensive", toy(), EPSILON, forced)
        assert (samples.targets == returns.targets).all()


@pytest.mark.parametrize(("steps", "decay"), [(1, 0.0), (2, 0.0), (1, 0.5)])
def test_double_q_targets(hands: Trajectories, steps: int, decay: float) -> None:
    """The other network chooses, and says which actions were the best; the frozen one values."""
    some = hands.take(slice(0, 80))
    chooser = QFunction(Columns(), Toy(OTHERS))
    backup = Backup(n_steps=steps, trace_decay=decay, chooser=chooser)
    found = play_samples(some, "q_learning", "margin", toy(), EPSILON, True, backup).targets
    np.testing.assert_allclose(found, slow_far_targets(some, "q_learning", True, steps, decay, double=True), rtol=1e-5)
    single = play_samples(some, "q_learning", "margin", toy(), EPSILON, True, Backup(steps, decay)).targets
    assert (found != single).mean() > 0.1
    if not decay:
        assert (found <= single).all()  # no action is worth more than the best one
    itself = Backup(steps, decay, chooser=toy())
    assert (play_samples(some, "q_learning", "margin", toy(), EPSILON, True, itself).targets == single).all()


@pytest.mark.parametrize("forced", [True, False])
def test_the_newest_samples_are_those_of_the_last_hands(hands: Trajectories, forced: bool) -> None:
    few = hands.take(slice(0, 20))
    every = play_samples(few, "sarsa", "margin", toy(), EPSILON, forced, newest=6)
    last = play_samples(few.take(slice(14, None)), "sarsa", "margin", toy(), EPSILON, forced)
    assert every.newest == len(last) and last.newest == 0
    assert (every.states[-every.newest :] == last.states).all()
    assert discard_samples(few, "own", newest=6).newest == 12


# --- legality -----------------------------------------------------------------------------------------------


class LegalSlots(Recorder):
    """Keeps what the engine calls legal, by game and number of the card."""

    def __init__(self, num_games: int) -> None:
        self.legal = np.zeros((num_games, 8, 4), dtype=bool)

    def plays(self, rows: np.ndarray, observation: object, slots: np.ndarray) -> None:
        self.legal[rows, (observation.history >= 0).sum(axis=1)] = observation.legal


def test_legal_plays_are_the_engines(hands: Trajectories) -> None:
    """From the stored states, against what the engine said at the time and what it takes without an error."""
    table = Games(np.arange(250), 701, first_dealer=np.arange(250) % 2, stop_at_121=False)
    recorder = LegalSlots(250)
    play_hand(table, [make_agent("random")], np.zeros((250, 2), dtype=np.int64), recorder)
    found = legal_plays(hands.play_states)
    assert found.shape == (250, 8, 4)
    assert (found == recorder.legal).all()
    expected = [
        [slot in lawful(state) for slot in range(4)] for state in hands.play_states.reshape(-1, PLAY_COLUMNS).tolist()
    ]
    assert found.reshape(-1, 4).tolist() == expected


# --- discards -----------------------------------------------------------------------------------------------
