"""Supervised pretraining of the discard network on the show value of every four-card hand.

Bélanger et al. 2019, section 3.6.4: all 270,725 combinations, minibatches of 64, three epochs. The network
sees four kept cards and no thrown ones; role and scores, which do not matter to a show, are random. Of the head
`dueling` the advantages alone learn the show, since there are no other discards of the same hand to compare with.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from deepcrib.exact.shows import NUM_STARTERS, all_hands, bare_hand_values, starter_means, starter_values
from deepcrib.game.cards import NO_CARD
from deepcrib.game.rules import DISCARD_SLOTS_6, HAND_SIZE, MAX_SCORE
from deepcrib.learners.pretraining.options import PretrainingOptions, stated
from deepcrib.networks import QNetwork
from deepcrib.networks.checkpoints import load_optimizer
from deepcrib.networks.encoders import DISCARD_COLUMNS, Encoder
from deepcrib.networks.encoders.states import DISCARD_IS_DEALER, DISCARD_OPPONENT_SCORE, DISCARD_OWN_SCORE, HAND
from deepcrib.networks.fast import adam_step
from deepcrib.training.learner import Learner, Metrics, Setting, Writer

KEEP_FIRST_FOUR = len(DISCARD_SLOTS_6) - 1
"""The discard action that throws the last two slots, which are empty here."""
REPORT_EVERY = 200
"""Minibatches of a step of the show's pretraining, whose mean loss TensorBoard shows."""
MOMENTUM = 0.9
"""Of `sgd`, as in the published code of 2019."""
MEAN_OF_STARTERS = "mean value over the 48 starters"
WARM_UP = 0.1
"""Share of the steps in which the learning rate rises to its peak, before it falls to zero along a cosine."""


class ShowPretraining(Learner):
    """Steps are minibatches. The network is trained in place, and measured over all hands after the last one.

    seconds: of all steps.
    """

    unit = "minibatches"
    saved = ("sort",)

    def __init__(self, network: QNetwork, encoder: Encoder, options: PretrainingOptions, setting: Setting) -> None:
        super().__init__(setting)
        self.options, self.sort = options, stated(options)
        self.hands, self.generator = all_hands(), torch.Generator().manual_seed(setting.seed)
        self.network, self.encoder, self.states = network, encoder, shown_states(self.hands, self.generator)
        self.checkpoint_every = math.ceil(len(self.hands) / options.batch_size)
        self.num_steps = options.epochs * self.checkpoint_every
        self.sgd, parameters = options.optimizer == "sgd", network.parameters()
        self.optimizer: torch.optim.Optimizer = (
            torch.optim.SGD(parameters, options.lr, MOMENTUM) if self.sgd else torch.optim.Adam(parameters, fused=True)
        )
        self.losses = torch.zeros((), device=setting.device)  # their sum since the last report
        self._drawn: tuple[Tensor, Tensor] | None = None
        self._end_epoch()

    def step(self) -> Metrics:
        """Minibatches up to the next report or the end of the epoch; metrics where a report is due."""
        begin, metrics = time.perf_counter(), Metrics()
        self.network.train()
        last = min(self.next_checkpoint(), (self.steps_done // REPORT_EVERY + 1) * REPORT_EVERY)
        while self.learns_until(last):
            self._learn()
            self.tick(self.steps_done)
        if self.is_due(REPORT_EVERY):
            loss = float(self.losses) / ((self.steps_done - 1) % REPORT_EVERY + 1)
            self.losses.zero_()
            metrics = {"pretraining/loss": loss, "pretraining/lr": self.optimizer.param_groups[0]["lr"]}
            if self.steps_done == self.num_steps:
                metrics |= {f"pretraining/{name}": value for name, value in self._measure().items()}
        self.seconds += time.perf_counter() - begin
        return metrics

    def agent(self) -> None:
        """None."""

    def _learn(self) -> None:
        options, minibatch = self.options, self.steps_done % self.checkpoint_every
        if self._drawn is None:
            order = torch.randperm(len(self.hands), generator=self.generator)
            self._drawn = order, torch.from_numpy(_targets(self.hands, options, self.generator)).float()
        order, targets = self._drawn
        rows = order[minibatch * options.batch_size :][: options.batch_size]
        factor = 1.0 if self.sgd else _lr_factor(self.steps_done / self.num_steps)
        self.optimizer.param_groups[0]["lr"] = options.lr * factor
        inputs = _inputs(self.encoder, self.states[rows.numpy()], self.setting.device)
        _, losses = self.network.losses(inputs, targets[rows].to(self.setting.device))
        loss = losses.mean()
        loss.backward()
        adam_step(self.optimizer)
        self.losses += loss.detach()
        self.steps_done += 1
        if minibatch + 1 == self.checkpoint_every:
            self._end_epoch()

    def _end_epoch(self) -> None:
        """The next one begins with what the generator then draws."""
        self._epoch, self._drawn = self.generator.get_state(), None

    def _measure(self) -> Metrics:
        """How well the network knows the show, over all hands; errors in points.

        exact_share: of hands exact after rounding. With a random starter the value is an expectation: the mean absolute
        error is then that from the mean over the 48 starters, and sample_error (figure 6) that from the value with one.
        """
        predicted = predicted_values(self.network, self.encoder, self.states)
        samples = _targets(self.hands, self.options, self.generator)
        expected = starter_means(self.hands) if self.options.starter else samples
        self._values = predicted, expected
        compared = {"mean_absolute_error": expected, "sample_error": samples}
        errors = {name: float(np.abs(predicted - values).mean()) for name, values in compared.items()}
        if self.options.starter:
            return errors
        return errors | {"exact_share": float((predicted.round() == expected).mean())}

    def show(self, writer: Writer, step: int) -> None:
        """The figure of what was measured."""
        truth = MEAN_OF_STARTERS if self.options.starter else "true value"
        title = f"Value of all {len(self.hands):,} four-card hands after pretraining"
        if self.setting.figure and (drawn := self.setting.figure(*self._values, title=title, truth=truth)) is not None:
            writer.add_figure("pretraining/predicted_against_true", drawn, step)

    def state_dict(self) -> dict[str, Any]:
        """The optimiser, the losses not yet reported, and how the generator was as the epoch began."""
        own = {"optimizer": self.optimizer.state_dict(), "epoch": self._epoch, "losses": self.losses}
        return super().state_dict() | own

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over a saved state. Raises ValueError for one of other options."""
        super().load_state_dict(state)
        load_optimizer(self.optimizer, state["optimizer"])
        self.generator.set_state(state["epoch"])
        self.losses.copy_(state["losses"])
        self._end_epoch()


def shown_states(hands: np.ndarray, generator: torch.Generator) -> NDArray[np.int8]:
    """[H, 9], what a network sees of hands [H, 4]: four kept cards and none thrown, with random roles and scores."""
    states = np.full((len(hands), DISCARD_COLUMNS), NO_CARD, dtype=np.int8)
    states[:, HAND : HAND + HAND_SIZE] = hands
    states[:, DISCARD_IS_DEALER] = torch.randint(2, (len(hands),), generator=generator).numpy()
    for column in (DISCARD_OWN_SCORE, DISCARD_OPPONENT_SCORE):
        states[:, column] = torch.randint(MAX_SCORE, (len(hands),), generator=generator).numpy()
    return states


@torch.inference_mode()
def predicted_values(network: QNetwork, encoder: Encoder, states: NDArray[np.int8]) -> np.ndarray:
    """float32 [H] values of `shown_states`, of the network in evaluation mode."""
    device = next(network.parameters()).device
    network.eval()
    chunks = np.split(states, range(4096, len(states), 4096))
    return torch.cat([network(_inputs(encoder, chunk, device)) for chunk in chunks]).cpu().numpy()


def _inputs(encoder: Encoder, states: NDArray[np.int8], device: torch.device | str) -> Tensor:
    """float32 [B, width]."""
    return encoder.encode(states, np.full(len(states), KEEP_FIRST_FOUR, dtype=np.int8), device)


def _lr_factor(done: float) -> float:
    """Factor of the peak learning rate at a share 0..1 of the steps: warm-up, then a cosine to zero."""
    if done < WARM_UP:
        return 0.1 + 0.9 * done / WARM_UP
    return 0.5 * (1.0 + math.cos(math.pi * (done - WARM_UP) / (1.0 - WARM_UP)))


def _targets(hands: np.ndarray, options: PretrainingOptions, generator: torch.Generator) -> np.ndarray:
    """int16 [H] points of the hands by themselves, or with a random starter for each."""
    if not options.starter:
        return bare_hand_values(hands)
    return starter_values(hands, torch.randint(NUM_STARTERS, (len(hands),), generator=generator).numpy())
