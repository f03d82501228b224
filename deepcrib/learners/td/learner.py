"""Training of a perceptron of the full game by temporal differences, in self-play hand by hand (O'Connor 2000)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from deepcrib.agents import DivergenceError
from deepcrib.game.engine.state import new_games
from deepcrib.game.randomness import NETWORKS, SELF_PLAY, derive
from deepcrib.kernels import seconds_running
from deepcrib.learners.td.agent import TdPerceptronAgent, make_network
from deepcrib.learners.td.games import ABSOLUTE, ERROR, STEPS, VALUE, Method, Trace, new_trace, play_hands
from deepcrib.learners.td.inputs import WIDTHS, tables
from deepcrib.learners.td.options import TdOptions
from deepcrib.learners.td.perceptron import layer_sizes, new_weights
from deepcrib.training.learner import Learner, Metrics, Setting

PIECE = 10_000  # hands between two updates of the progress bar
FIRST_STATES = 2  # of a hand: one a player


class TdLearner(Learner):
    """Steps are hands. weights: float64 [W], of all layers."""

    unit = "hands"

    def __init__(self, options: TdOptions, setting: Setting) -> None:
        super().__init__(setting)
        self.options = options
        self.num_steps, self.checkpoint_every = options.hands, options.checkpoint_every
        sizes = layer_sizes(WIDTHS[options.inputs], options.hidden)
        self.weights = new_weights(sizes, derive(setting.seed, NETWORKS), options.initial_deviation)

    def step(self) -> Metrics:
        """Play and learn up to the next checkpoint. Raises DivergenceError where the learning rate is too high."""
        options, last, first, begin = self.options, self.next_checkpoint(), self.steps_done, seconds_running()
        network = make_network(self.weights, tuple(options.hidden), options.inputs, options.move_points)
        game, trace = new_games(np.zeros(1, dtype=np.int64), 2), new_trace(sum(options.hidden))
        seed, method = derive(self.setting.seed, SELF_PLAY), method_of(options)
        while self.learns_until(last):
            end = min(self.steps_done + PIECE, last)
            play_hands(game, self.steps_done, end, seed, network, tables(options.inputs), trace, method)
            self.steps_done = end
            if not math.isfinite(trace.totals.sum()):
                raise DivergenceError(
                    f"learning diverged: errors are not finite at learning rate {options.lr:g}; lower it"
                )
            self.tick(end)
        learned = self.steps_done - first
        return metrics_of(trace, learned) | {"speed/hands_per_second": learned / (seconds_running() - begin)}

    def agent(self) -> TdPerceptronAgent:
        """The player that the weights now make."""
        options = self.options
        metadata = {
            "learner": options.name,
            "hands": self.steps_done,
            "seed": self.setting.seed,
            "rules": self.setting.dealing,
        }
        return TdPerceptronAgent(
            "trained", self.weights.copy(), tuple(options.hidden), options.inputs, options.move_points, metadata
        )

    def save(self, path: Path) -> None:
        """Write the weights."""
        self.agent().save(path)

    def state_dict(self) -> dict[str, Any]:
        """The weights, and of what network they are."""
        return {"weights": self.weights, "what": self._what()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over weights of such a network. Raises ValueError for another one's."""
        if state["what"] != self._what() or tuple(state["weights"].shape) != self.weights.shape:
            raise ValueError(f"it has hidden, inputs and move_points {state['what']}, expected {self._what()}")
        self.weights = state["weights"].numpy()

    def _what(self) -> list[Any]:
        return [list(self.options.hidden), self.options.inputs, self.options.move_points]


def method_of(options: TdOptions) -> Method:
    """The options as the compiled games read them."""
    return Method(
        lr=float(options.lr),
        linear=options.lr_schedule == "linear",
        hands=options.hands,
        decay=float(options.trace_decay),
        epsilon=float(options.epsilon),
    )


def metrics_of(trace: Trace, hands: int) -> Metrics:
    """Means of so many hands."""
    return {
        "loss/squared_error": float(trace.totals[ERROR] / trace.totals[STEPS]),
        "value/after_discard": float(trace.totals[VALUE] / (FIRST_STATES * hands)),
        "value/after_discard_absolute": float(trace.totals[ABSOLUTE] / (FIRST_STATES * hands)),
    }
