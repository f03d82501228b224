"""Strategy graphs show what they are given, in the colours and the orientation of the thesis."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from benchmarks.lang2018.graphs import difference_sheet, pick_evenly, strategy_graph
from deepcrib.errors import OptionError

NAMES = ("first", "second", "third")
BLACK, WHITE = (0, 0, 0), (255, 255, 255)


def rendered(figure: Figure) -> list[np.ndarray]:
    """Pixels [H, W, 3] from the top left, inside the frame of each strategy graph."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[:, :, :3]
    inside = []
    for axes in graphs(figure):
        box = axes.get_window_extent()
        low, high = round(len(pixels) - box.y1), round(len(pixels) - box.y0)
        inside.append(pixels[low + 2 : high - 2, round(box.x0) + 2 : round(box.x1) - 2])
    return inside


def graphs(figure: Figure) -> list[Axes]:
    return [axes for axes in figure.axes if axes.images]


def at(pixels: np.ndarray, own: int, opponent: int) -> tuple[int, ...]:
    """The colour where a score location lies in a frame that spans 0..120 downwards and to the right."""
    height, width, _ = pixels.shape
    return tuple(int(c) for c in pixels[int((own + 0.5) * height / 121), int((opponent + 0.5) * width / 121)])


def random_weights(seed: int = 0) -> np.ndarray:
    weights = np.random.default_rng(seed).random((121, 121, 2, len(NAMES)))
    return weights / weights.sum(axis=-1, keepdims=True)


def block(value: float, role: int, strategy: int) -> np.ndarray:
    """Weights of 0 but for own scores 90..110 against 10..30, in one role and strategy."""
    weights = np.zeros((121, 121, 2, len(NAMES)))
    weights[90:111, 10:31, role, strategy] = value
    return weights


def test_weight_1_is_black_and_lies_down_and_left_for_a_lead() -> None:
    (pixels,) = rendered(strategy_graph(block(1.0, 0, 1), NAMES, "second", "pone"))
    assert at(pixels, own=100, opponent=20) == BLACK
    assert at(pixels, own=20, opponent=100) == WHITE
    dark = np.argwhere(pixels.sum(axis=2) == 0)
    height, width, _ = pixels.shape
    assert dark.min(axis=0) / (height, width) == pytest.approx((90 / 121, 10 / 121), abs=0.01)
    assert dark.max(axis=0) / (height, width) == pytest.approx((111 / 121, 31 / 121), abs=0.01)


def test_half_a_weight_is_grey_and_roles_and_strategies_are_kept_apart() -> None:
    weights = block(0.5, 1, 1)
    (dealer,) = rendered(strategy_graph(weights, NAMES, "second", "dealer"))
    grey = at(dealer, own=100, opponent=20)
    assert len(set(grey)) == 1 and abs(grey[0] - 127.5) < 2
    for strategy, role in (("second", "pone"), ("first", "dealer")):
        (pixels,) = rendered(strategy_graph(weights, NAMES, strategy, role))
        assert (pixels == 255).all()


def test_differences_are_blue_for_the_pone_red_for_the_dealer_and_white_where_equal() -> None:
    weights = block(1.0, 0, 0)
    weights[90:111, 10:31, 1, 1] = 1.0
    weights[90:111, 10:31, :, 2] = 0.7
    pone, dealer, equal = rendered(difference_sheet(weights, NAMES, "difference"))
    red, _, blue = at(pone, own=100, opponent=20)
    assert blue > red + 60
    red, _, blue = at(dealer, own=100, opponent=20)
    assert red > blue + 60
    assert at(equal, own=100, opponent=20) == WHITE == at(pone, own=20, opponent=100)


@pytest.mark.parametrize("count", (1, 2, 5, 6, 7, 11, 12, 51))
def test_of_many_checkpoints_both_ends_and_even_steps_are_picked(count: int) -> None:
    games = [1000 * number for number in range(count)]
    picked = pick_evenly(games)
    assert len(picked) == min(count, 6) and (picked[0], picked[-1]) == (games[0], games[-1])
    assert set(picked) <= set(games)
    steps = np.diff(picked)
    assert len(steps) == 0 or 0 < steps.max() <= steps.min() + 1000


def test_an_unknown_strategy_or_role_is_refused() -> None:
    with pytest.raises(OptionError, match="strategy=fourth: expected one of first, second, third"):
        strategy_graph(random_weights(), NAMES, "fourth", "pone")
    with pytest.raises(OptionError, match="role=eldest: expected pone or dealer"):
        strategy_graph(random_weights(), NAMES, "first", "eldest")
