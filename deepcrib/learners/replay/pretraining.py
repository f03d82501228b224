"""Supervised pretraining of the discard network on the show value of every four-card hand.

Bélanger et al. 2019, section 3.6.4: all 270,725 combinations, minibatches of 64, three epochs. The network
sees four kept cards and no thrown ones; role and scores, which do not matter to a show, are random. Of the head
`dueling` the advantages alone learn the show, since there are no other discards of the same hand to compare with.

A supervised start: both networks learn what a teacher's decisions were worth, before the first iteration. O'Connor 2000
names "supervised learning on expert data" as the other way, and its limits: expert data are costly and the learner is
"no better than the human expert". Here the expert is an agent, so its games cost nothing, and what is learned are no
moves but values, the returns of its decisions, which replay iterations then improve on.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from deepcrib.agents import Agent, make_agent, require_players
from deepcrib.exact.shows import NUM_STARTERS, all_hands, hand_values, starter_means, starter_values
from deepcrib.game.cards import NO_CARD
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.randomness import PRETRAINING, derive, uniform
from deepcrib.game.rules import DISCARD_SLOTS_6, HAND_SIZE, MAX_SCORE
from deepcrib.kernels import jit
from deepcrib.kernels.workers import run_pieces
from deepcrib.learners.replay.batch import Batch
from deepcrib.learners.replay.options import PretrainingOptions
from deepcrib.learners.replay.update import LearnedNetwork
from deepcrib.networks import QNetwork
from deepcrib.networks.checkpoints import load_optimizer
from deepcrib.networks.encoders import DISCARD_COLUMNS, Encoder
from deepcrib.networks.encoders.states import DISCARD_IS_DEALER, DISCARD_OPPONENT_SCORE, DISCARD_OWN_SCORE, HAND
from deepcrib.networks.fast import adam_step
from deepcrib.training.run_files import fitting, write_scalars

KEEP_FIRST_FOUR = len(DISCARD_SLOTS_6) - 1
"""The discard action that throws the last two slots, which are empty here."""
REPORT_EVERY = 200
"""Minibatches between two losses in TensorBoard and two calls of the progress callback."""
MOMENTUM = 0.9
"""Of `sgd`, as in the published code of 2019."""
MEAN_OF_STARTERS = "mean value over the 48 starters"
WARM_UP = 0.1
"""Share of the steps in which the learning rate rises to its peak, before it falls to zero along a cosine."""
PRETRAINING_LEFT = "what the training state holds of its pretraining"


@dataclass(frozen=True)
class PretrainingResult:
    """How well the network knows the show after pretraining, over all hands; errors in points.

    exact_share is the share of hands exact after rounding. With a random starter the value is an expectation:
    mean_absolute_error then compares with the mean over the 48 starters and exact_share is None. sample_error is the
    mean absolute error against the value with one random starter (figure 6), or mean_absolute_error without one.
    """

    mean_absolute_error: float
    exact_share: float | None
    sample_error: float
    loss: float  # mean of the last minibatches, points squared (head `categorical`: nats)
    hands: int
    seconds: float


def pretrain(
    network: QNetwork,
    encoder: Encoder,
    options: PretrainingOptions,
    seed: int,
    writer: Any = None,
    progress: Callable[[int, int], None] | None = None,
    figure: Callable[..., Any] | None = None,
    stops: Callable[[], bool] = bool,
    left: dict[str, Any] | None = None,
) -> PretrainingResult | None:
    """Train the network in place and measure it over all hands; None where `stops()` ended it between two minibatches.

    writer: a TensorBoard SummaryWriter; its steps are minibatches, up to -1. progress(done, total) is called with
    minibatches. figure(predicted, true, title=, truth=) draws predictions against what can be known of the hands, as
    `truth` says; written unless it is None. left: where it begins, and where it was stopped.
    """
    begin = time.perf_counter()
    generator = torch.Generator().manual_seed(seed)
    hands = all_hands()
    shown = _Shown(network, encoder, hands, generator)
    network.train()
    loss = _fit(shown, hands, options, generator, writer, progress, stops, {} if left is None else left)
    if loss is None:
        return None
    predicted = shown.predict()
    samples = _targets(hands, options, generator)
    expected = starter_means(hands) if options.starter else samples
    result = PretrainingResult(
        mean_absolute_error=float(np.abs(predicted - expected).mean()),
        exact_share=None if options.starter else float(np.mean(np.round(predicted) == expected)),
        sample_error=float(np.abs(predicted - samples).mean()),
        loss=loss,
        hands=len(hands),
        seconds=time.perf_counter() - begin,
    )
    if writer is not None:
        found = {name: getattr(result, name) for name in ("mean_absolute_error", "exact_share", "sample_error")}
        write_scalars(writer, -1, {f"pretraining/{name}": value for name, value in found.items() if value is not None})
        truth = MEAN_OF_STARTERS if options.starter else "true value"
        title = f"Value of all {len(hands):,} four-card hands after pretraining"
        if figure is not None and (drawn := figure(predicted, expected, title=title, truth=truth)) is not None:
            writer.add_figure("pretraining/predicted_against_true", drawn, -1)
    return result


def predicted_values(network: QNetwork, encoder: Encoder, seed: int) -> np.ndarray:
    """float32 [270725]: a network's values of `all_hands` as pretraining shows them, none thrown, by random roles."""
    return _Shown(network, encoder, all_hands(), torch.Generator().manual_seed(seed)).predict()


class _Shown:
    """What a network sees of hands [H, 4]: four kept cards and none thrown, with random roles and scores."""

    def __init__(self, network: QNetwork, encoder: Encoder, hands: np.ndarray, generator: torch.Generator) -> None:
        states = np.full((len(hands), DISCARD_COLUMNS), NO_CARD, dtype=np.int8)
        states[:, HAND : HAND + HAND_SIZE] = hands
        states[:, DISCARD_IS_DEALER] = torch.randint(2, (len(hands),), generator=generator).numpy()
        for column in (DISCARD_OWN_SCORE, DISCARD_OPPONENT_SCORE):
            states[:, column] = torch.randint(MAX_SCORE, (len(hands),), generator=generator).numpy()
        columns = encoder.indices(states, np.full(len(hands), KEEP_FIRST_FOUR, dtype=np.int8))
        self.network, self.device, self._encoder = network, next(network.parameters()).device, encoder
        # On the CPU an array, which the compiled expansion takes.
        self._columns: Any = columns if self.device.type == "cpu" else torch.from_numpy(columns).to(self.device)

    def inputs(self, rows: Tensor) -> Tensor:
        """float32 [B, width] of hands of numbers `rows` [B]."""
        number = rows.numpy() if self.device.type == "cpu" else rows.to(self.device)
        return self._encoder.expand(self._columns[number], self.device)

    @torch.inference_mode()
    def predict(self) -> np.ndarray:
        """float32 [H] values of all hands, of the network in evaluation mode."""
        self.network.eval()
        values = [self.network(self.inputs(rows)) for rows in torch.arange(len(self._columns)).split(4096)]
        return torch.cat(values).cpu().numpy()


def _fit(
    shown: _Shown,
    hands: np.ndarray,
    options: PretrainingOptions,
    generator: torch.Generator,
    writer: Any,
    progress: Callable[[int, int], None] | None,
    stops: Callable[[], bool],
    left: dict[str, Any],
) -> float | None:
    """All epochs of minibatches; returns the mean loss of the last ones, None where it is stopped."""
    batches_per_epoch = math.ceil(len(hands) / options.batch_size)
    total = options.epochs * batches_per_epoch
    sgd, parameters = options.optimizer == "sgd", shown.network.parameters()
    optimizer: torch.optim.Optimizer = (
        torch.optim.SGD(parameters, options.lr, MOMENTUM) if sgd else torch.optim.Adam(parameters, fused=True)
    )
    recent, loss, begin = torch.zeros((), device=shown.device), math.nan, 0
    if left:
        with fitting(PRETRAINING_LEFT):
            load_optimizer(optimizer, left["optimizer"])
            generator.set_state(left["epoch"])
            recent += float(left["recent"])
            loss, begin = float(left["loss"]), left["step"]
    for step in range(begin, total):
        if step == begin or step % batches_per_epoch == 0:
            epoch = generator.get_state()
            order = torch.randperm(len(hands), generator=generator)
            targets = torch.from_numpy(_targets(hands, options, generator)).float()
        if stops():
            left |= {"optimizer": optimizer.state_dict(), "epoch": epoch, "recent": recent, "loss": loss}
            left |= {"step": step, "total": total}
            return None
        first = step % batches_per_epoch * options.batch_size
        rows = order[first : first + options.batch_size]
        optimizer.param_groups[0]["lr"] = lr = options.lr * (1.0 if sgd else _lr_factor(step / total))
        _, losses = shown.network.losses(shown.inputs(rows), targets[rows].to(shown.device))
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
            write_scalars(writer, step - total, {"pretraining/loss": loss, "pretraining/lr": lr})
            if progress is not None:
                progress(step + 1, total)
    return loss


def _lr_factor(done: float) -> float:
    """Factor of the peak learning rate at a share 0..1 of the steps: warm-up, then a cosine to zero."""
    if done < WARM_UP:
        return 0.1 + 0.9 * done / WARM_UP
    return 0.5 * (1.0 + math.cos(math.pi * (done - WARM_UP) / (1.0 - WARM_UP)))


def _targets(hands: np.ndarray, options: PretrainingOptions, generator: torch.Generator) -> np.ndarray:
    """int16 [H] points of the hands by themselves, or with a random starter for each."""
    if not options.starter:
        return hand_values(hands)
    return starter_values(hands, torch.randint(NUM_STARTERS, (len(hands),), generator=generator).numpy())


# --- a teacher --------------------------------------------------------------------------------------------------------


LESSONS = 1
"""The index of `derive` for the teacher's games; 0 is the show's pretraining."""
_COIN = 1 << 32
"""Which of a key's random numbers is the coin: one that no agent takes, as a player's choices begin with the first."""


class Exploring:
    """Another agent that makes any legal choice instead of its own with probability epsilon; for two players.

    Without that, values of what a teacher never does would be guesses, and the highest of many guesses is too high.
    """

    num_players = frozenset({2})

    def __init__(self, discards_by: Agent, plays_by: Agent, discard_epsilon: float, play_epsilon: float) -> None:
        self.name = f"exploring {plays_by.name}"
        self.discards_by, self.plays_by = discards_by, plays_by
        self.discard_epsilon, self.play_epsilon = discard_epsilon, play_epsilon
        self._any = make_agent("random")

    def discard(self, observation: DiscardObservation) -> NDArray[np.int8]:
        """[N] discard actions."""
        own, other = self.discards_by.discard(observation), self._any.discard(observation)
        return np.where(_heads(observation.key, self.discard_epsilon), other, own)

    def play(self, observation: PlayObservation) -> NDArray[np.int8]:
        """[N] slots."""
        own, other = self.plays_by.play(observation), self._any.play(observation)
        return np.where(_heads(observation.key, self.play_epsilon), other, own)


@jit
def _heads(keys: np.ndarray, chance: float) -> np.ndarray:
    """[N] whether each key's coin shows heads."""
    heads = np.empty(len(keys), dtype=np.bool_)
    for r in range(len(keys)):
        heads[r] = uniform(keys[r], _COIN) < chance
    return heads


def make_teacher(options: PretrainingOptions, device: str, discards_by: Agent | None = None) -> Exploring:
    """The teacher with its exploration; another agent's discards stand where only the play is learned."""
    agent = make_agent(options.teacher, device)
    require_players(agent, 2)
    epsilon = options.teacher_epsilon
    return Exploring(discards_by or agent, agent, 0.0 if discards_by else epsilon, epsilon)


def learn_lessons(
    networks: Mapping[str, LearnedNetwork],
    samples: Mapping[str, Batch],
    options: PretrainingOptions,
    seed: int,
    writer: Any = None,
    progress: Callable[[int, int], None] | None = None,
    stops: Callable[[], bool] = bool,
    left: dict[str, Any] | None = None,
) -> bool:
    """Let each network learn its samples, with an optimiser of its own, in `options.epochs` passes; False if `stops()`.

    writer: a TensorBoard SummaryWriter; its steps are passes, up to -1, as progress(done, total) is told. left: see
    `pretrain`.
    """
    students = {part: LearnedNetwork(own.encoder, own.network, own.device) for part, own in networks.items()}
    seeds = {"play": 0, "discard": 1}
    generators = {part: np.random.default_rng((derive(seed, PRETRAINING, LESSONS), seeds[part])) for part in students}
    left = {} if left is None else left
    with fitting(PRETRAINING_LEFT):
        for part in left.get("drawn", ()):
            load_optimizer(students[part].optimizer, left["optimizers"][part])
            generators[part].bit_generator.state = left["drawn"][part]
        begun = range(int(left.get("passes", 0)), options.epochs)
    for done in begun:
        if stops():
            drawn = {part: generator.bit_generator.state for part, generator in generators.items()}
            optimizers = {part: student.optimizer.state_dict() for part, student in students.items()}
            left |= {"passes": done, "drawn": drawn, "optimizers": optimizers}
            return False
        lr = options.lr * (1 - done / options.epochs)
        passes = [
            partial(student.train_pass, samples[part], lr, options.batch_size, 1.0, generators[part])
            for part, student in students.items()
        ]
        passed = zip(students, run_pieces(passes), strict=True)
        write_scalars(writer, done - options.epochs, {f"teacher/{part}_loss": found.loss for part, found in passed})
        if progress is not None:
            progress(done + 1, options.epochs)
    return True


def require_left(left: Mapping[str, Any], options: PretrainingOptions, show: Mapping[str, Any] | None) -> None:
    """Refuse what is left of an interrupted pretraining of other options, or of no minibatches. Raises ValueError.

    show: its part about the show value of hands.
    """
    if left and left.get("options", asdict(options)) != asdict(options):
        raise ValueError("its pretraining is not done: expected the same options pretraining.*")
    if show and not (isinstance(show["step"], int) and 0 <= show["step"] <= show["total"] < 2**31):
        raise ValueError(f"its pretraining has done {show['step']} minibatches of {show['total']}")
