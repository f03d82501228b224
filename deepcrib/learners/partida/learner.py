"""Training of the small network of Partida 2022 (section 2.2, algorithm 4) on plays of random four-card hands."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from deepcrib.agents.base import require_finite
from deepcrib.agents.expected_value import ExpectedValueAgent
from deepcrib.errors import OptionError
from deepcrib.files.weights import write_weights
from deepcrib.game.randomness import FINAL_MATCHES, MINIBATCHES, MONITORING, NETWORKS, SELF_PLAY, derive
from deepcrib.intervals import Interval, mean_interval
from deepcrib.learners.partida.agent import HIDDEN, Layers, PartidaAgent, make_form
from deepcrib.learners.partida.fitting import fit_positions, new_fit
from deepcrib.learners.partida.inputs import INPUTS, input_width
from deepcrib.learners.partida.options import PartidaOptions
from deepcrib.learners.partida.plays import KeptPlays, play_kept_hands
from deepcrib.networks import MLP
from deepcrib.training.learner import Learner, Metrics, Setting

DIFFERENCE = "play_only/difference"

CHARTS = {
    "Play": {"play points a hand, own less greedy's": "play_only/difference"},
    "Learning": {"loss (points²)": "loss/value", "targets (points)": "target/.*", "learning rate": "schedule/lr"},
}
"""On the Custom Scalars page of TensorBoard, by category and title: patterns of whole tags."""


class PartidaLearner(Learner):
    """Steps are sessions: hands played with one network, which then learns from them once.

    fit: the network with its optimiser. form: what it reads and means. hands: those played so far.
    """

    unit = "sessions"
    saved = ("sort", "hands")

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
        self.sort = {"inputs": options.inputs, "encoding": options.encoding, "target": options.target}
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(setting.seed, NETWORKS))
            network = MLP(input_width(self.form.inputs, self.form.encoding), list(HIDDEN))
        self.fit = new_fit(layers_of(network))

    def first_metrics(self) -> Metrics:
        """The play of the untrained network."""
        return self._measured()

    def step(self) -> Metrics:
        """One session. Raises DivergenceError where the learning rate is too high."""
        options, seed = self.options, derive(self.setting.seed, SELF_PLAY)
        hands = self.hands, options.games_per_fit
        learned = self.learn(play_kept_hands(self.fit.layers, self.form, *hands, seed, epsilon=options.epsilon))
        self.steps_done, self.hands = self.steps_done + 1, sum(hands)
        return learned | self._measured() if self.is_due(options.measure_every) else {}

    def learn(self, plays: KeptPlays) -> Metrics:
        """One pass over positions in random minibatches. Raises DivergenceError where the loss is no number."""
        options, fit = self.options, self.fit
        rate = options.lr * (1 - self.steps_done / options.sessions if options.lr_schedule == "linear" else 1.0)
        targets = plays.rest if self.form.rest else plays.whole
        generator = np.random.default_rng(derive(self.setting.seed, MINIBATCHES, self.steps_done))
        order = generator.permutation(len(plays))
        mean = fit_positions(fit, self.form, plays.states[order], targets[order], options.batch_size, rate)
        for numbers in (mean, fit.weights, fit.second):  # Adam's squares overflow first
            require_finite(numbers, rate)
        return {
            "loss/value": mean,
            "target/mean": float(targets.mean()),
            "target/std": float(targets.std()),
            "schedule/lr": rate,
        }

    def measure(self, hands: int, seed: int) -> Interval:
        """Mean of own minus opponent's play points a hand against greedy, without exploration, over random hands.

        Each is pone in every second hand. Unlike `hands.play_only` it takes a network that sees hidden cards.
        """
        return mean_interval(play_kept_hands(self.fit.layers, self.form, 0, hands, seed).differences)

    def _measured(self) -> Metrics:
        seed = derive(self.setting.evaluation_seed, MONITORING)
        return {DIFFERENCE: self.measure(self.options.hands, seed).estimate}

    def finish(self, folder: Path) -> dict[str, Any]:
        """The play alone of the finished network, on hands of no other measurement."""
        hands = self.options.final_hands
        difference, low, high = self.measure(hands, derive(self.setting.evaluation_seed, FINAL_MATCHES))
        return {"play_only": {"hands": hands, "difference": difference, "ci_low": low, "ci_high": high}}

    def agent(self) -> PartidaAgent | None:
        """The player of the network; None where it sees hidden cards."""
        if self.form.inputs != min(INPUTS):
            return None
        return PartidaAgent("trained", self.fit.layers, self._metadata(), ExpectedValueAgent())

    def save(self, path: Path) -> None:
        """Write the network, whether or not it makes an agent."""
        write_weights(path, "partida", self.fit.layers._asdict(), self._metadata())

    def state_dict(self) -> dict[str, Any]:
        """The network with its optimiser, and the hands."""
        fitted = {name: getattr(self.fit, name) for name in ("weights", "first", "second")}
        return super().state_dict() | fitted | {"steps": int(self.fit.steps[0])}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over a network of this form. Raises ValueError for another one."""
        super().load_state_dict(state)
        for name in ("weights", "first", "second", "steps"):
            getattr(self.fit, name)[:] = state[name]

    def _metadata(self) -> dict[str, Any]:
        options = self.options
        own = {"opponent": "greedy", "sessions": self.steps_done, "games_per_fit": options.games_per_fit}
        return self.setting.metadata(options.name, **own, **self.sort)


def layers_of(network: MLP) -> Layers:
    """The weights of a network for compiled code."""
    arrays = []
    for tensor in network.state_dict().values():
        array = tensor.detach().cpu().numpy()
        arrays.append(np.ascontiguousarray(array.T) if array.ndim == 2 else array.copy())
    arrays[-2] = arrays[-2][:, 0].copy()
    return Layers(*arrays)
