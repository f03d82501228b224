"""Training of the small network of Partida 2022 (section 2.2, algorithm 4) on plays of random four-card hands."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from deepcrib.agents import DivergenceError
from deepcrib.agents.expected_value import ExpectedValueAgent
from deepcrib.errors import OptionError
from deepcrib.exact.pegging import DEALER, PONE, deal_kept
from deepcrib.exact.strategies.discards import best_or_any
from deepcrib.game.policies import GREEDY, pick, play_choices
from deepcrib.game.randomness import (
    FINAL_MATCHES,
    MINIBATCHES,
    MONITORING,
    NETWORKS,
    SELF_PLAY,
    derive,
    hash_key,
    uniform,
)
from deepcrib.game.rules import HAND_SIZE, is_legal_play, play_step
from deepcrib.intervals import mean_interval
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows
from deepcrib.learners.partida.agent import HIDDEN, Form, Layers, PartidaAgent, card_values, make_form, save_partida
from deepcrib.learners.partida.fitting import Fit, fit_positions, new_fit
from deepcrib.learners.partida.inputs import INPUTS, PLAYS, STATE, fill_state, input_width
from deepcrib.learners.partida.options import PartidaOptions
from deepcrib.networks import MLP
from deepcrib.training.learner import Learner, Metrics, Setting

_EXPLORE = 1  # counter of a key's word; `pick` takes word 0
_UNSEEN = -1  # role of a card that is not learned from


@dataclass(frozen=True)
class Plays:
    """E positions after a card, in the order of hands and cards, and what came of them; N hands.

    states: int8 [E, STATE] as the player sees them. whole: float32 [E], the player's points of the whole play less the
    opponent's. rest: float32 [E], those of them that neither came before the card nor are the fifteen, thirty-one,
    pairs or run that it made. differences: int64 [N], the learner's points of each hand less those of its opponent.
    """

    states: NDArray[np.int8]
    whole: NDArray[np.float32]
    rest: NDArray[np.float32]
    differences: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.states)


def play_hands(
    layers: Layers, form: Form, first: int, number: int, seed: int, *, epsilon: float = 0.0, self_play: bool = False
) -> Plays:
    """Play hands first, first + 1, .. of a seed (`deal_kept`); the learner is pone of even ones, dealer of odd ones.

    It takes the card of the highest value, ties uniform, or with chance epsilon any. Against greedy, its own positions
    are learned from; in `self_play` those of both players. Raises DivergenceError where the network, whose weights may
    be finite, gives a value that is not.
    """
    states = np.zeros((number, PLAYS, STATE), dtype=np.int8)
    roles = np.full((number, PLAYS), _UNSEEN, dtype=np.int8)
    gained = np.zeros((number, PLAYS, 3), dtype=np.int64)
    totals = np.zeros((number, 2), dtype=np.int64)
    finite = np.ones(number, dtype=np.bool_)
    run_rows(
        _play_hands,
        len(states),
        layers,
        form,
        first,
        seed,
        epsilon,
        self_play,
        states,
        roles,
        gained,
        totals,
        finite,
        piece=16,
    )
    if not finite.all():
        raise DivergenceError("learning diverged: the values of cards are not finite; lower the learning rate")
    hand, card = np.nonzero(roles != _UNSEEN)
    role = roles[hand, card]
    whole = totals[hand, role] - totals[hand, 1 - role]
    before = gained[hand, card, role] - gained[hand, card, 1 - role]
    learner = (first + np.arange(number)) % 2
    each = np.arange(number)
    return Plays(
        states[hand, card],
        whole.astype(np.float32),
        (whole - before - gained[hand, card, 2]).astype(np.float32),
        totals[each, learner] - totals[each, 1 - learner],
    )


@jit
def _choose(
    hands: np.ndarray,
    seat: int,
    history: np.ndarray,
    played: int,
    start: int,
    count: int,
    layers: Layers,
    form: Form,
    epsilon: float,
    key: int,
) -> tuple[int, bool]:
    """(the slot that the learner plays, whether what it was chosen by is finite)."""
    if epsilon > 0 and uniform(key, _EXPLORE) < epsilon:
        mask = 0
        for slot in range(HAND_SIZE):
            if is_legal_play(count, hands[seat, slot]):
                mask |= 1 << slot
        return pick(mask, key), True
    values = np.empty(HAND_SIZE)
    card_values(hands[seat], hands[1 - seat], history, played, start, count, layers, form, values)
    finite = True
    for slot in range(HAND_SIZE):
        if is_legal_play(count, hands[seat, slot]) and not np.isfinite(values[slot]):
            finite = False
    return pick(best_or_any(values), key), finite


@jit
def _play_hands(
    part: Part,
    layers: Layers,
    form: Form,
    first: int,
    seed: int,
    epsilon: float,
    self_play: bool,
    states: np.ndarray,
    roles: np.ndarray,
    gained: np.ndarray,
    totals: np.ndarray,
    finite: np.ndarray,
) -> None:
    """states [N, 8, STATE], roles [N, 8] by card; gained [N, 8, 3], both players' points before it and its own.

    finite [N]: whether all values that cards were chosen by are.
    """
    for r in range(*part):
        hand = first + r
        left = np.empty((2, HAND_SIZE), dtype=np.int8)
        left[PONE], left[DEALER] = deal_kept(seed, hand)
        goes, history = np.zeros(2, dtype=np.int8), np.zeros(PLAYS, dtype=np.int8)
        seat, series, start, count = PONE, 0, 0, 0
        for played in range(PLAYS):
            learns = self_play or seat == hand % 2
            key = hash_key(seed, hand, 0, seat, played)
            if learns:
                slot, known = _choose(left, seat, history, played, start, count, layers, form, epsilon, key)
                finite[r] = finite[r] and known
                fill_state(left[seat], slot, left[1 - seat], history, played, start, states[r, played])
                roles[r, played] = seat
            else:
                slot = pick(play_choices(GREEDY, left[seat], series, count), key)
            gained[r, played, :2] = totals[r]
            history[played] = left[seat, slot] >> 2
            points, last, following, series, count = play_step(left, goes, series, count, seat, slot)
            start = played + 1 if series == 0 else start
            gained[r, played, 2] = points
            totals[r, seat] += points + last
            seat = following


DIFFERENCE = "play_only/difference"


@dataclass(frozen=True)
class PlayOnly:
    """Mean of own minus opponent's play points a hand against greedy, with its 95% interval, over random hands."""

    hands: int
    difference: float
    ci_low: float
    ci_high: float


class PartidaLearner(Learner):
    """Steps are sessions: hands played with one network, which then learns from them once.

    fit: the network with its optimiser. form: what it reads and means. hands: those played so far.
    """

    unit = "sessions"

    def __init__(self, options: PartidaOptions, setting: Setting) -> None:
        """Raises OptionError for matches of a network that makes no agent."""
        super().__init__(setting)
        if options.inputs != min(INPUTS) and setting.evaluation.opponents:
            raise OptionError(
                f"learner.inputs={options.inputs}: a network that sees the opponent's cards plays no matches, "
                "expected evaluation.opponents=[]"
            )
        self.options, self.hands = options, 0
        self.num_steps, self.checkpoint_every = options.sessions, options.checkpoint_every
        self.form = make_form(options.inputs, options.encoding, options.target)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(setting.seed, NETWORKS))
            network = MLP(input_width(self.form.inputs, self.form.encoding), list(HIDDEN))
        self.fit = new_fit(layers_of(network))

    def first_metrics(self) -> Metrics:
        """The play of the untrained network."""
        return self._measured()

    def step(self) -> Metrics:
        """One session. Raises DivergenceError where the learning rate is too high."""
        options = self.options
        plays = play_hands(
            self.fit.layers,
            self.form,
            self.hands,
            options.games_per_fit,
            derive(self.setting.seed, SELF_PLAY),
            epsilon=options.epsilon,
            self_play=options.opponent == "self",
        )
        learned = self.learn(plays)
        self.steps_done, self.hands = self.steps_done + 1, self.hands + options.games_per_fit
        return learned | self._measured() if self.is_due(options.measure_every) else {}

    def learn(self, plays: Plays) -> Metrics:
        """One pass over positions in random minibatches. Raises DivergenceError where the loss is no number."""
        options, fit = self.options, self.fit
        rate = options.lr * (1 - self.steps_done / options.sessions if options.lr_schedule == "linear" else 1.0)
        targets = plays.rest if self.form.rest else plays.whole
        generator = np.random.default_rng(derive(self.setting.seed, MINIBATCHES, self.steps_done))
        order = generator.permutation(len(plays))
        mean = fit_positions(
            fit, self.form, plays.states[order], targets[order], options.batch_size, rate, options.optimizer
        )
        if not math.isfinite(mean) or not all(np.isfinite(array).all() for array in fit.layers):
            raise DivergenceError(f"learning diverged: values are not finite at learning rate {rate:g}; lower it")
        return {
            "loss/value": mean,
            "target/mean": float(targets.mean()),
            "target/std": float(targets.std()),
            "schedule/lr": rate,
        }

    def measure(self, hands: int, seed: int) -> PlayOnly:
        """The network's play against greedy, without exploration, each being pone in every second hand."""
        differences = play_hands(self.fit.layers, self.form, 0, hands, seed).differences
        return PlayOnly(hands, *mean_interval(differences))

    def _measured(self) -> Metrics:
        seed = derive(self.setting.evaluation_seed, MONITORING)
        return {DIFFERENCE: self.measure(self.options.hands, seed).difference}

    @cached_property
    def play_only(self) -> PlayOnly:
        """The play of the finished network, on hands of no other measurement."""
        return self.measure(self.options.final_hands, derive(self.setting.evaluation_seed, FINAL_MATCHES))

    def finish(self, folder: Path) -> dict[str, Any]:
        """The play alone."""
        return {"play_only": asdict(self.play_only)}

    def description(self) -> str:
        """Sessions and hands."""
        return f"{super().description()}, {self.hands:,} hands"

    def agent(self) -> PartidaAgent | None:
        """The player of the network; None where it sees hidden cards."""
        if self.form.inputs != min(INPUTS):
            return None
        metadata = self._metadata()
        return PartidaAgent("trained", self.fit.layers, metadata, ExpectedValueAgent(), metadata)

    def save(self, path: Path) -> None:
        """Write the network, whether or not it makes an agent."""
        save_partida(path, self.fit.layers, self._metadata())

    def state_dict(self) -> dict[str, Any]:
        """The network with its optimiser, the hands, and of what form it is."""
        parts = {"layers": self.fit.layers, "first": self.fit.first, "second": self.fit.second}
        arrays = {name: part._asdict() for name, part in parts.items()}
        return {**arrays, "steps": self.fit.steps, "hands": self.hands, "form": list(self.form)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over a network of this form. Raises ValueError for another one."""
        if state["form"] != list(self.form):
            raise ValueError(f"it is of a network of inputs, encoding and rest {state['form']}, not {list(self.form)}")
        layers, first, second = (
            Layers(**{name: tensor.numpy() for name, tensor in state[part].items()})
            for part in ("layers", "first", "second")
        )
        self.fit, self.hands = Fit(layers, first, second, state["steps"]), state["hands"]

    def _metadata(self) -> dict[str, Any]:
        options = self.options
        return {
            "learner": options.name,
            "inputs": options.inputs,
            "encoding": options.encoding,
            "target": options.target,
            "opponent": options.opponent,
            "sessions": self.steps_done,
            "games_per_fit": options.games_per_fit,
            "seed": self.setting.seed,
            "rules": self.setting.dealing,
        }


def layers_of(network: MLP) -> Layers:
    """The weights of a network for compiled code."""
    arrays = []
    for tensor in network.state_dict().values():
        array = tensor.detach().cpu().numpy()
        arrays.append(np.ascontiguousarray(array.T) if array.ndim == 2 else array.copy())
    arrays[-2] = arrays[-2][:, 0].copy()
    return Layers(*arrays)
