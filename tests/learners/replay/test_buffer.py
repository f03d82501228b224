"""The replay buffer: which hands it keeps, and that a saved one is the same."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from deepcrib.agents import make_agent
from deepcrib.learners.replay.buffer import ReplayBuffer
from deepcrib.learners.replay.options import ReplayOptions
from deepcrib.learners.replay.play import Episodes
from deepcrib.matches.trajectories import Trajectories, self_play
from deepcrib.networks.checkpoints import load_state, save_state
from deepcrib.training.learner import Setting

NAMES = [field.name for field in fields(Trajectories)]


def epoch(number: int, num_hands: int) -> Trajectories:
    """Different hands for every number."""
    return self_play(make_agent("random"), 1_000 * number, num_hands, 601, unit="hands")


def assert_same(one: Trajectories, two: Trajectories) -> None:
    for name in NAMES:
        a, b = getattr(one, name), getattr(two, name)
        assert a.dtype == b.dtype == np.int8 and (a.shape == b.shape) and (a == b).all(), name


def test_the_newest_epochs_are_kept_in_order() -> None:
    """Epochs of different sizes, as games are of different lengths."""
    epochs = [epoch(number, size) for number, size in enumerate([3, 5, 2, 7, 4])]
    buffer = ReplayBuffer(epochs=3)
    for number, hands in enumerate(epochs):
        buffer.add(hands)
        kept = epochs[max(0, number - 2) : number + 1]
        assert_same(buffer.hands(), Trajectories.concatenate(kept))
    assert len(buffer.hands()) == 2 + 7 + 4


def test_how_many_hands_are_the_newest() -> None:
    """Those added last, and no more than the buffer holds."""
    by_epochs, by_size = ReplayBuffer(epochs=3), ReplayBuffer(epochs=1, experiences=80)
    assert by_epochs.newest == by_size.newest == 0
    for number, size in enumerate([3, 5, 12, 4]):
        for buffer, newest in ((by_epochs, size), (by_size, min(size, 10))):
            hands = epoch(number, size)
            buffer.add(hands)
            assert buffer.newest == newest
            assert_same(buffer.hands().take(slice(-newest, None)), hands.take(slice(-newest, None)))


def test_a_state_of_other_columns_is_refused() -> None:
    buffer = ReplayBuffer(epochs=2)
    buffer.add(epoch(0, 3))
    state = buffer.state()
    state[0]["play_states"] = state[0]["play_states"][:, :, :22]
    with pytest.raises(ValueError, match=r"its play_states are int8 \[3, 8, 22\], expected int8 \[3, 8, 24\]"):
        ReplayBuffer(epochs=2).load(state)


@pytest.mark.parametrize("experiences", [80, 87])  # ten whole hands of eight plays, what is over is no hand
def test_a_size_keeps_the_newest_hands_whole(experiences: int) -> None:
    epochs = [epoch(number, 4) for number in range(5)]
    buffer = ReplayBuffer(epochs=2, experiences=experiences)
    for number, hands in enumerate(epochs):
        buffer.add(hands)
        every = Trajectories.concatenate(epochs[: number + 1])
        assert len(buffer.hands()) == min(10, 4 * (number + 1))
        assert_same(buffer.hands(), every.take(slice(-min(10, len(every)), None)))
    assert (buffer.hands().play_seats >= 0).all()


@pytest.mark.parametrize(("experiences", "sizes", "kept"), [(None, (4, 4, 4), 4), (24, (2, 9), 3), (5, (3,), 1)])
def test_a_small_buffer_holds_the_last_hands(experiences: int | None, sizes: tuple[int, ...], kept: int) -> None:
    """The last of several epochs; a part of a large one; and one hand where there is room for none."""
    buffer = ReplayBuffer(epochs=1, experiences=experiences)
    epochs = [epoch(number, size) for number, size in enumerate(sizes)]
    for hands in epochs:
        buffer.add(hands)
    assert_same(buffer.hands(), epochs[-1].take(slice(-kept, None)))


@pytest.mark.parametrize(
    ("size", "replacement", "hands"),
    [
        (45_000, 0.2, 1125),  # 9,000 new experiences of 8 plays a hand
        (45_000, 0.5, 2812),  # 2,812.5, to the even
        (10_000, 0.1, 125),
        (90_000, 0.2, 2250),
        (8, 0.01, 1),  # at least one
        (80, 1.0, 10),
    ],
)
def test_the_share_replaced(size: int, replacement: float, hands: int) -> None:
    """Table 4 of Bélanger et al. 2019: 10k, 45k and 90k experiences, 10, 20 and 50% of them replaced."""
    episodes = Episodes(ReplayOptions(buffer_size=size, replacement=replacement), Setting())
    assert (episodes.unit, episodes.count) == ("hands", hands)


@pytest.mark.parametrize("experiences", [None, 56])
def test_a_saved_buffer_goes_on_like_the_one_that_was_saved(experiences: int | None, tmp_path: Path) -> None:
    """Through a file: the same hands, and the same ones dropped later."""
    buffer = ReplayBuffer(epochs=2, experiences=experiences)
    for number in range(3):
        buffer.add(epoch(number, 3 + number))
    save_state(tmp_path / "state", {"buffer": buffer.state()})
    restored = ReplayBuffer(epochs=2, experiences=experiences)
    restored.load(load_state(tmp_path / "state")["buffer"])
    assert_same(restored.hands(), buffer.hands())
    for number in (3, 4, 5):
        for one in (buffer, restored):
            one.add(epoch(number, 2))
        assert_same(restored.hands(), buffer.hands())
