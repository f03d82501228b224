"""Learn Kuhn and Leduc poker with the learners `mirror` and `nfsp`: how far from an equilibrium they come.

The games and the exact exploitability (NashConv / 2) are OpenSpiel's; networks, memories and rules of learning are
deepcrib's own, the same objects that learn cribbage.

    python -m benchmarks.equilibrium.small_games game=leduc_poker learner=mirror seeds=3
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyspiel
import torch
from numpy.typing import NDArray

from benchmarks.equilibrium.ppo import ProximalNetwork, ProximalPolicy, Proximity
from deepcrib.game.mixed import epsilon_greedy_probabilities, softmax
from deepcrib.game.randomness import MINIBATCHES, derive
from deepcrib.learners.mirror.descent import MirrorDescent
from deepcrib.learners.nfsp.fictitious import FictitiousSelfPlay
from deepcrib.learners.nfsp.memory import Rows
from deepcrib.learners.policies.learning import LearnedPolicy, PassRates, all_action_values
from deepcrib.learners.replay.batch import Batch
from deepcrib.learners.replay.update import LearnedNetwork
from deepcrib.networks import PlayNetworkConfig, make_play_network
from deepcrib.networks.encoders import Block, Encoder
from deepcrib.networks.encoders.spec import COUNT, is_table
from deepcrib.plugins import Registry

Policy = NDArray[np.float64]
"""[S, A] chances of the actions of every information state."""
CHANCE, TERMINAL = -1, -4  # of OpenSpiel


class SmallGame:
    """A two-player zero-sum game of OpenSpiel as tables, so that episodes are played side by side.

    player, info: [N] of each node, its information state or -1. children: [N, B], -1: none. chances: [N, B] of chance
    nodes. values: [N] of terminal ones, to player 0. states: int8 [S, K + A], what a player sees in an information
    state, and its legal actions.
    """

    def __init__(self, name: str) -> None:
        self.game = pyspiel.load_game(name)
        self.actions = self.game.num_distinct_actions()
        self._nodes: list[tuple[int, int, dict[int, int], dict[int, float], float]] = []
        self._infos: dict[str, tuple[int, list[int]]] = {}
        self._add(self.game.new_initial_state())
        width = max(self.actions, max(max(node[2], default=0) for node in self._nodes) + 1)
        count = len(self._nodes)
        self.player, self.info, self.values = (np.array([node[k] for node in self._nodes]) for k in (0, 1, 4))
        self.children, self.chances = np.full((count, width), -1), np.zeros((count, width))
        for number, (_, _, children, chances, _) in enumerate(self._nodes):
            self.children[number, list(children)] = list(children.values())
            self.chances[number, list(chances)] = list(chances.values())
        self.states = np.array([seen for _, seen in self._infos.values()], dtype=np.int8)

    def _add(self, state: Any) -> int:
        """Add a node and all that follow it; returns its number."""
        number, player, info = len(self._nodes), state.current_player(), -1
        chances = dict(state.chance_outcomes()) if player == CHANCE else {}
        if player >= 0:
            key = state.information_state_string()
            seen = [*map(int, state.information_state_tensor()), *state.legal_actions_mask()]
            info = self._infos.setdefault(key, (len(self._infos), seen))[0]
        children: dict[int, int] = {}
        value = state.returns()[0] if player == TERMINAL else 0.0
        self._nodes.append((player, info, children, chances, value))
        for action in [] if player == TERMINAL else state.legal_actions():
            children[action] = self._add(state.child(action))
        return number

    def encoder(self) -> Encoder:
        """Inputs are what a player sees, for each action in channels of its own."""
        bits, actions = self.states.shape[1] - self.actions, self.actions

        def legal(states: NDArray[np.int8]) -> NDArray[np.bool_]:
            return states[..., bits:] > 0

        def fill(states: NDArray[np.int8], chosen: NDArray[np.int8], start: int, columns: NDArray[np.int16]) -> None:
            numbers = start + np.arange(bits) * actions + chosen[:, None]
            columns[:] = np.where(states[:, :bits] > 0, numbers, -1)

        names = tuple(f"{bit}/{action}" for bit in range(bits) for action in range(actions))
        table = {"seen": (Block("seen", COUNT, names, "what is seen, by action", fill, ones=bits),)}
        return Encoder(Registry("encoder", table, is_table), legal, "seen", False, False)

    def exploitability(self, policy: Policy) -> float:
        """Half of NashConv: what a player's best response gains, on average over the seats."""
        legal = self.states[:, -self.actions :] > 0
        rows = zip(self._infos, policy, legal, strict=True)
        table = {key: [(int(a), float(row[a])) for a in np.flatnonzero(allowed)] for key, row, allowed in rows}
        return float(pyspiel.exploitability(self.game, pyspiel.TabularPolicy(table)))

    def play(
        self, policies: Policy, episodes: int, generator: np.random.Generator, chosen: NDArray[Any] | None = None
    ) -> Episodes:
        """Episodes by a policy [S, A], or by those of several [P, S, A] that are `chosen`, [2, E] by seat."""
        node, turns = np.zeros(episodes, dtype=np.int64), []
        while len(rows := np.flatnonzero(self.player[node] != TERMINAL)):
            at = node[rows]
            chances, deciding = self.chances[at], self.player[at] >= 0
            seats, infos = self.player[at[deciding]], self.info[at[deciding]]
            own = policies if chosen is None else policies[chosen[seats, rows[deciding]]]
            chances[deciding, : self.actions] = own[infos] if chosen is None else own[np.arange(len(infos)), infos]
            ends = chances.cumsum(axis=1)
            taken = (ends <= generator.random(len(rows))[:, None] * ends[:, -1:]).sum(axis=1)
            turns.append((rows[deciding], seats, infos, taken[deciding]))
            node[rows] = self.children[at, taken]
        return Episodes(*(np.concatenate(column) for column in zip(*turns, strict=True)), self.values[node])


@dataclass(frozen=True)
class Episodes:
    """Decisions of all episodes, in order: episode, seat, information state and action of each, [D]; values [E]."""

    episode: NDArray[np.int64]
    seat: NDArray[np.int64]
    info: NDArray[np.int64]
    action: NDArray[np.int64]
    values: NDArray[np.float64]

    def returns(self) -> NDArray[np.float32]:
        """[D] what the player of each decision got in the end."""
        return (np.where(self.seat == 0, 1, -1) * self.values[self.episode]).astype(np.float32)

    def following(self) -> NDArray[np.int64]:
        """[D] number of the same player's next decision in the episode, -1 after its last."""
        order = np.lexsort((np.arange(len(self.seat)), self.seat, self.episode))
        owner = (2 * self.episode + self.seat)[order]
        following = np.full(len(order), -1)
        following[order[:-1]] = np.where(owner[1:] == owner[:-1], order[1:], -1)
        return following


def network(game: SmallGame, made: type[LearnedNetwork], hidden: list[int]) -> Any:
    """A network of either kind for a game."""
    encoder = game.encoder()
    config = PlayNetworkConfig("mlp", hidden=hidden)
    return made(encoder, make_play_network(config, encoder.spec), torch.device("cpu"))


@dataclass
class Options:
    """What the command line sets, `name=value`. Learning rates fall to 0, but for that of mirror's values."""

    game: str = "kuhn_poker"
    learner: str = "mirror"
    seed: int = 1
    seeds: int = 3
    iterations: int = 1500
    episodes: int = 1024
    hidden: int = 64
    batch_size: int = 512
    policy_lr: float = 1e-4
    value_lr: float = 2e-3
    eta: float = 5.0
    tau: float = 0.2
    final_tau: float = 0.03
    following: float = 0.01
    anticipatory: float = 0.1
    epsilon: float = 0.06
    draws: float = 1.0
    clip: float = 0.1
    entropy: float = 0.1
    final_entropy: float = 0.02
    divergence: float = 0.0
    averaged: int = 0
    passes: int = 2
    recent: int = 200_000
    reservoir: int = 2_000_000
    shown: int = 10


def mirror(game: SmallGame, options: Options, seed: int) -> Iterator[Policy]:
    """The policy of the slow copy after every iteration."""
    nets = [network(game, kind, [options.hidden] * 2) for kind in (LearnedPolicy, LearnedNetwork)]
    core = MirrorDescent(*nets, options.eta, options.following, bool(options.averaged))

    def learn(samples: Batch, rates: PassRates, done: float, seed: int) -> None:
        core.learn(samples, rates, options.tau * (options.final_tau / options.tau) ** done, seed)

    return followed(game, options, seed, core, learn)


def ppo(game: SmallGame, options: Options, seed: int) -> Iterator[Policy]:
    """The same of proximal policy gradients."""
    nets = [network(game, kind, [options.hidden] * 2) for kind in (ProximalNetwork, LearnedNetwork)]
    core = ProximalPolicy(*nets, 0.0, options.following, bool(options.averaged))

    def learn(samples: Batch, rates: PassRates, done: float, seed: int) -> None:
        entropy = options.entropy * (options.final_entropy / options.entropy) ** done
        core.near(samples, rates, Proximity(options.clip, entropy, options.divergence, options.passes), seed)

    return followed(game, options, seed, core, learn)


def followed(
    game: SmallGame,
    options: Options,
    seed: int,
    core: MirrorDescent,
    learn: Callable[[Batch, PassRates, float, int], None],
) -> Iterator[Policy]:
    """Self-play by the policy of `core`. learn: from samples, with rates, the share of iterations done, and a seed."""
    generator, legal = np.random.default_rng(seed), core.policy.encoder.legal(game.states)
    for iteration in range(options.iterations):
        done = iteration / options.iterations
        played = game.play(softmax(all_action_values(core.policy, game.states)), options.episodes, generator)
        samples = Batch(game.states[played.info], played.action.astype(np.int8), played.returns())
        rates = PassRates(options.policy_lr * (1 - done), options.value_lr, options.batch_size)
        learn(samples, rates, done, derive(seed, MINIBATCHES, iteration))
        yield softmax(core.slow_policy().all_values(game.states, legal))


def nfsp(game: SmallGame, options: Options, seed: int) -> Iterator[Policy]:
    """The average policy after every iteration."""
    hidden, generator = [options.hidden] * 2, np.random.default_rng(seed)
    values_network, policy = network(game, LearnedNetwork, hidden), network(game, LearnedPolicy, hidden)
    core = FictitiousSelfPlay(policy, values_network, options.recent, options.reservoir)
    legal = core.values.encoder.legal(game.states)
    average = softmax(all_action_values(core.policy, game.states))
    for iteration in range(options.iterations):
        left = 1 - iteration / options.iterations
        values = core.values.q_function().all_values(game.states, legal)
        response = epsilon_greedy_probabilities(values, options.epsilon * left)
        by_best = generator.random((2, options.episodes)) < options.anticipatory
        played = game.play(np.stack([average, response]), options.episodes, generator, by_best.astype(int))
        rates = PassRates(options.policy_lr * left, options.value_lr * left, options.batch_size)
        best = by_best[played.seat, played.episode]
        core.learn(transitions_of(game, played), best, rates, options.draws, derive(seed, MINIBATCHES, iteration))
        average = softmax(all_action_values(core.policy, game.states))
        yield average


def transitions_of(game: SmallGame, played: Episodes) -> Rows:
    """What `nfsp` remembers: points come at the end of an episode."""
    following, states = played.following(), game.states[played.info]
    last = following < 0
    rewards = np.where(last, played.returns(), np.float32(0))
    columns = states, played.action.astype(np.int8), rewards, states[following], last
    return dict(zip(("states", "actions", "rewards", "next_states", "last"), columns, strict=True))


def curve(game: SmallGame, options: Options, seed: int) -> Iterator[tuple[int, float, float]]:
    """(episodes, seconds, exploitability) at so many points of a training, evenly spaced."""
    torch.manual_seed(seed)
    learn = {"mirror": mirror, "nfsp": nfsp, "ppo": ppo}[options.learner]
    begin = time.perf_counter()
    for iteration, policy in enumerate(learn(game, options, seed), 1):
        if iteration % max(1, options.iterations // options.shown) == 0:
            yield iteration * options.episodes, time.perf_counter() - begin, game.exploitability(policy)


def main(words: list[str]) -> None:
    options = Options()
    for name, value in (word.split("=", 1) for word in words):
        setattr(options, name, type(getattr(options, name))(value))
    game = SmallGame(options.game)
    for seed in range(options.seed, options.seed + options.seeds):
        for episodes, seconds, found in curve(game, options, seed):
            where = f"{options.game} {options.learner} seed {seed}"
            print(f"{where}: {episodes:>10,} episodes, {seconds:6.0f} s, exploitability {found:.4f}", flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(sys.argv[1:])
