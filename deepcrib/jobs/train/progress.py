"""How far a training is: a bar in a terminal; elsewhere a line now and then, for logs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import timedelta

from deepcrib.jobs.shared.console import SECONDS, Bars, say


class Lines:
    """A callback (steps done, metrics by TensorBoard tag) that says them now and then, in a log or on stdout.

    `iterations 40 of 360, loss/play 4.81, deterministic 58.2% [56.0, 60.3], 8,123 hands a second, 0:12:30 left`: win
    rates where matches were played since the last line, steps a second where the learner reports no other speed. Time
    left is reckoned from all steps of this process; what comes before its first one is not counted. The bar has the
    latest loss and win rate, of several networks and opponents of the first, to fit into 80 columns.

    done, total, unit: the steps at the start, those of the whole training, and what they are. bars: they draw one more,
    of the training, there at once.
    """

    def __init__(
        self,
        done: int,
        total: int,
        unit: str,
        clock: Callable[[], float] = time.monotonic,
        say: Callable[[str], None] = say,
        bars: Bars | None = None,
    ) -> None:
        self.say, self.bars = say, bars
        self.first, self.total, self.unit, self.clock = done, total, unit, clock
        self.began = self.said = self.last = clock()
        self.latest: dict[str, float] = {}
        self.matches: dict[str, float] = {}
        if bars is not None:
            bars.show("training", done, total)

    def __call__(self, done: int, metrics: Mapping[str, float]) -> None:
        """Take note, and say so where a line is due."""
        now = self.clock()
        if done <= self.first:
            self.began = now
        self.latest.update(metrics)
        self.matches.update({tag: value for tag, value in metrics.items() if "/win_rate" in tag})
        if self.bars is not None:
            rates = [f"{name} {100 * rate:.1f}%" for name, rate in _rates(self.latest).items()]
            texts = _losses(self.latest)[:1] + rates[:1]
            self.bars.show("training", done, self.total, f"({', '.join(texts)})" if texts else None)
        if now - self.said + (now - self.last) > SECONDS:  # a step later it would be too late
            self.say(", ".join(self._texts(done, now - self.began)))
            self.said, self.matches = now, {}
        self.last = now

    def _texts(self, done: int, seconds: float) -> list[str]:
        texts = [f"{self.unit} {done:,} of {self.total:,}", *_losses(self.latest)]
        for name, rate in _rates(self.matches).items():
            low, high = (100 * self.matches[f"{name}/win_rate_{bound}"] for bound in ("low", "high"))
            texts.append(f"{name} {100 * rate:.1f}% [{low:.1f}, {high:.1f}]")
        if done > self.first and seconds > 0:
            speed = (done - self.first) / seconds
            played = {what: self.latest.get(f"speed/{what}_per_second") for what in ("hands", "games")}
            what, rate = next(((what, rate) for what, rate in played.items() if rate), (self.unit, speed))
            texts.append(f"{rate:,.0f} {what} a second" if rate >= 10 else f"{rate:.2g} {what} a second")
            texts.append(f"{timedelta(seconds=round((self.total - done) / speed))} left")
        return texts


def _losses(metrics: Mapping[str, float]) -> list[str]:
    return [f"{tag} {value:.3g}" for tag, value in metrics.items() if tag.startswith("loss/")]


def _rates(metrics: Mapping[str, float]) -> dict[str, float]:
    """Win rates by opponent."""
    return {tag.rpartition("/")[0]: rate for tag, rate in metrics.items() if tag.endswith("/win_rate")}
