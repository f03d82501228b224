"""Supervised pretraining of the discard network on the show value of every four-card hand.

Bélanger et al. 2019, section 3.6.4: all 270,725 combinations, minibatches of 64, three epochs. The network
sees four kept cards and no thrown ones; role and scores, which do not matter to a show, are random. Of the head
`dueling` the advantages alone learn the show, since there are no other discards of the same hand to compare with.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import torch
from torch import Tensor

from deepcrib.game.cards import NO_CARD, NUM_CARDS
from deepcrib.game.rules import DISCARD_SLOTS_6, HAND_SIZE, MAX_SCORE, hand_points, show_points
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows
from deepcrib.learners.replay.learning import adam_step
from deepcrib.learners.replay.options import PretrainingOptions
from deepcrib.networks import QNetwork
from deepcrib.networks.encoders import DISCARD_COLUMNS, Encoder
from deepcrib.networks.encoders.states import DISCARD_IS_DEALER, DISCARD_OPPONENT_SCORE, DISCARD_OWN_SCORE, HAND

NUM_STARTERS = NUM_CARDS - HAND_SIZE
KEEP_FIRST_FOUR = len(DISCARD_SLOTS_6) - 1
"""The discard action that throws the last two slots, which are empty here."""
REPORT_EVERY = 200
"""Minibatches between two losses in TensorBoard and two calls of the progress callback."""
MOMENTUM = 0.9
"""Of `sgd`, as in the published code of 2019."""
WARM_UP = 0.1
"""Share of the steps in which the learning rate rises to its peak, before it falls to zero along a cosine."""


@dataclass(frozen=True)
class PretrainingResult:
    """How well the network knows the show after pretraining, over all hands; errors in points.

    exact_share is the share of hands exact after rounding. With a random starter the value is an expectation:
    mean_absolute_error then compares with the mean over the 48 starters and exact_share is None.
    sample_error is the mean absolute error against the value with one random starter (figure 6), or
    the same as mean_absolute_error without a starter.
    """

    mean_absolute_error: float
    exact_share: float | None
    sample_error: float
    loss: float  # mean of the last minibatches, points squared (head `categorical`: nats)
    hands: int
    seconds: float


def all_hands() -> np.ndarray:
    """int8 [270725, 4]: every combination of four cards, sorted."""
    return np.array(list(combinations(range(NUM_CARDS), HAND_SIZE)), dtype=np.int8)


def pretrain(
    network: QNetwork,
    encoder: Encoder,
    options: PretrainingOptions,
    seed: int,
    writer: Any = None,
    progress: Callable[[int, int], None] | None = None,
    figure: Callable[..., Any] | None = None,
) -> PretrainingResult:
    """Train the network in place and measure it over all hands.

    writer: a TensorBoard SummaryWriter. progress(done, total) is called with minibatches. figure(predicted,
    true, title=...) makes the predicted-against-true figure that is then written, unless it returns None.
    """
    begin = time.perf_counter()
    generator = torch.Generator().manual_seed(seed)
    hands = all_hands()
    inputs = _encoded(hands, encoder, generator).to(next(network.parameters()).device)
    network.train()
    loss = _fit(network, encoder, inputs, hands, options, generator, writer, progress)
    network.eval()
    predicted = _predict(network, encoder, inputs)
    samples = _targets(hands, options, generator)
    expected = starter_means(hands) if options.starter else samples
    errors = np.abs(predicted - expected)
    exact_share = None if options.starter else float(np.mean(np.round(predicted) == expected))
    result = PretrainingResult(
        mean_absolute_error=float(errors.mean()),
        exact_share=exact_share,
        sample_error=float(np.abs(predicted - samples).mean()),
        loss=loss,
        hands=len(hands),
        seconds=time.perf_counter() - begin,
    )
    if writer is not None:
        _write(writer, result, predicted, samples, figure)
    return result


def predicted_values(network: QNetwork, encoder: Encoder, seed: int) -> np.ndarray:
    """float32 [270725]: a network's values of `all_hands` as pretraining shows them, none thrown, by random roles."""
    generator = torch.Generator().manual_seed(seed)
    return _predict(network, encoder, _encoded(all_hands(), encoder, generator))


def _encoded(hands: np.ndarray, encoder: Encoder, generator: torch.Generator) -> Tensor:
    """int16 [H, columns]: hands as four kept cards and none thrown, with random role and scores."""
    states = np.full((len(hands), DISCARD_COLUMNS), NO_CARD, dtype=np.int8)
    states[:, HAND : HAND + HAND_SIZE] = hands
    states[:, DISCARD_IS_DEALER] = torch.randint(2, (len(hands),), generator=generator).numpy()
    for column in (DISCARD_OWN_SCORE, DISCARD_OPPONENT_SCORE):
        states[:, column] = torch.randint(MAX_SCORE, (len(hands),), generator=generator).numpy()
    actions = np.full(len(hands), KEEP_FIRST_FOUR, dtype=np.int8)
    return torch.from_numpy(encoder.indices(states, actions))


def _fit(
    network: QNetwork,
    encoder: Encoder,
    inputs: Tensor,
    hands: np.ndarray,
    options: PretrainingOptions,
    generator: torch.Generator,
    writer: Any,
    progress: Callable[[int, int], None] | None,
) -> float:
    """All epochs of minibatches; returns the mean loss of the last ones."""
    batches_per_epoch = math.ceil(len(hands) / options.batch_size)
    total = options.epochs * batches_per_epoch
    optimizer = _optimizer(network, options)
    recent = torch.zeros((), device=inputs.device)
    loss, lr = math.nan, 0.0
    for step in range(total):
        if step % batches_per_epoch == 0:
            order = torch.randperm(len(hands), generator=generator)
            targets = torch.from_numpy(_targets(hands, options, generator)).float()
        first = step % batches_per_epoch * options.batch_size
        rows = order[first : first + options.batch_size]
        optimizer.param_groups[0]["lr"] = lr = options.lr * (
            1.0 if options.optimizer == "sgd" else _lr_factor(step / total)
        )
        known = targets[rows].to(inputs.device)
        _, losses = network.losses(encoder.expand(_rows(inputs, rows), inputs.device), known)
        batch_loss = losses.mean()
        batch_loss.backward()
        if isinstance(optimizer, torch.optim.Adam):
            adam_step(optimizer)
        else:
            optimizer.step()
            optimizer.zero_grad()
        recent += batch_loss.detach()
        if (step + 1) % REPORT_EVERY == 0 or step + 1 == total:
            loss = float(recent) / (step % REPORT_EVERY + 1)
            recent.zero_()
            _report(step + 1, total, loss, lr, writer, progress)
    return loss


def _optimizer(network: QNetwork, options: PretrainingOptions) -> torch.optim.Optimizer:
    if options.optimizer == "sgd":
        return torch.optim.SGD(network.parameters(), lr=options.lr, momentum=MOMENTUM)
    return torch.optim.Adam(network.parameters(), lr=options.lr, fused=True)


def _rows(inputs: Tensor, rows: Tensor) -> Tensor | np.ndarray:
    """Some rows of the index columns: on the CPU as an array, which the compiled expansion takes."""
    return inputs[rows].numpy() if inputs.device.type == "cpu" else inputs[rows.to(inputs.device)]


def _lr_factor(done: float) -> float:
    """Factor of the peak learning rate at a share 0..1 of the steps: warm-up, then a cosine to zero."""
    if done < WARM_UP:
        return 0.1 + 0.9 * done / WARM_UP
    return 0.5 * (1.0 + math.cos(math.pi * (done - WARM_UP) / (1.0 - WARM_UP)))


def _report(
    step: int,
    total: int,
    loss: float,
    lr: float,
    writer: Any,
    progress: Callable[[int, int], None] | None,
) -> None:
    if writer is not None:
        writer.add_scalar("pretraining/loss", loss, step)
        writer.add_scalar("pretraining/lr", lr, step)
    if progress is not None:
        progress(step, total)


@torch.inference_mode()
def _predict(network: QNetwork, encoder: Encoder, inputs: Tensor) -> np.ndarray:
    """float32 [H] values of all hands."""
    chunks = torch.arange(len(inputs)).split(4096)
    values = [network(encoder.expand(_rows(inputs, rows), inputs.device)) for rows in chunks]
    return torch.cat(values).cpu().numpy()


def _targets(hands: np.ndarray, options: PretrainingOptions, generator: torch.Generator) -> np.ndarray:
    """int16 [H] points of the hands by themselves, or with a random starter for each."""
    if not options.starter:
        return hand_values(hands)
    draws = torch.randint(NUM_STARTERS, (len(hands),), generator=generator).numpy()
    return starter_values(hands, draws)


def _write(
    writer: Any,
    result: PretrainingResult,
    predicted: np.ndarray,
    true: np.ndarray,
    figure: Callable[..., Any] | None,
) -> None:
    for name in ("mean_absolute_error", "exact_share", "sample_error"):
        value = getattr(result, name)
        if value is not None:
            writer.add_scalar(f"pretraining/{name}", value, 0)
    if figure is not None:
        title = f"Value of all {len(true):,} four-card hands after pretraining"
        drawn = figure(predicted, true, title=title)
        if drawn is not None:
            writer.add_figure("pretraining/predicted_against_true", drawn, 0)


# --- targets ------------------------------------------------------------------------------------------------


def hand_values(hands: np.ndarray) -> np.ndarray:
    """int16 [H] points of four-card hands [H, 4] by themselves."""
    values = np.empty(len(hands), dtype=np.int16)
    run_rows(_fill_hand_values, len(hands), hands, values)
    return values


@jit
def _fill_hand_values(part: Part, hands: np.ndarray, values: np.ndarray) -> None:
    for i in range(*part):
        values[i] = hand_points(hands[i])


@jit
def unseen_card(hand: np.ndarray, draw: int) -> int:
    """Return the `draw`-th (0..47) of the cards that are not in a sorted hand of four."""
    card = draw
    for held in hand:
        if held <= card:
            card += 1
    return card


def starter_values(hands: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """int16 [H] show points of hands [H, 4], each with the starter of its draw [H] in 0..47."""
    values = np.empty(len(hands), dtype=np.int16)
    run_rows(_fill_starter_values, len(hands), hands, draws, values)
    return values


@jit
def _fill_starter_values(part: Part, hands: np.ndarray, draws: np.ndarray, values: np.ndarray) -> None:
    for i in range(*part):
        values[i] = show_points(hands[i], unseen_card(hands[i], draws[i]), False)


def starter_means(hands: np.ndarray) -> np.ndarray:
    """float64 [H] mean show points of hands [H, 4] over the 48 starters."""
    values = np.empty(len(hands), dtype=np.float64)
    run_rows(_fill_starter_means, len(hands), hands, values, piece=256)
    return values


@jit
def _fill_starter_means(part: Part, hands: np.ndarray, values: np.ndarray) -> None:
    for i in range(*part):
        total = 0
        for draw in range(NUM_STARTERS):
            total += show_points(hands[i], unseen_card(hands[i], draw), False)
        values[i] = total / NUM_STARTERS
