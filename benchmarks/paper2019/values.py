"""What Bélanger, Tremblay, Vachon and Viviano 2019 printed, as data, each with its place in the paper.

"Mastering Cribbage using Deep Reinforcement Learning". The curves of figures 9 and 10 have no numbers in the text.
"""

from __future__ import annotations

from dataclasses import dataclass

ALGORITHMS = {
    "monte_carlo": "Monte Carlo",
    "sarsa": "SARSA",
    "q_learning": "Q-learning",
    "expected_sarsa": "Expected SARSA",
}
"""Names of the option `algorithm`, in the order of table 2."""
ARCHITECTURES = {"mlp": "feed-forward", "cnn_lstm": "CNN+LSTM"}
"""Names of the option `play_network`, in the order of table 2; before them `belanger2019_` for the published sizes."""
FIGURES = {"cnn_lstm": 9, "mlp": 10}
"""The learning curves of each architecture."""

ITERATIONS = 500
"""Replay iterations of table 2 and figures 9 and 10 (section 4.1)."""

HOURS = {
    ("mlp", "monte_carlo"): 6.5,
    ("mlp", "sarsa"): 10.75,
    ("mlp", "q_learning"): 13.25,
    ("mlp", "expected_sarsa"): 15.5,
    ("cnn_lstm", "monte_carlo"): 12.5,
    ("cnn_lstm", "sarsa"): 33.75,
    ("cnn_lstm", "q_learning"): 34.5,
    ("cnn_lstm", "expected_sarsa"): 34.75,
}
"""Table 2: hours for 500 replay iterations, one run each, by (architecture, algorithm)."""


TABLE_1 = {1000: 0.0304, 3000: 0.0175, 5000: 0.0136}
"""Table 1: half the width of the 95% interval of a win rate of TABLE_1_RATE, by games."""
TABLE_1_RATE = 0.6
PAPER_ORDER = "10 4 A 5"
"""Section 4.6: the order of its agent's cards of A 4 5 10; of the other hands the lead alone is printed."""


@dataclass(frozen=True)
class Searched:
    """A row of table 3: hands won on play points, and the hyperparameters that the search found.

    wins: of 1,000 hands, "the average over all trials" (section 4.3). buffer: experiences. trials: models trained.
    """

    reward: str
    state: str
    wins: int
    lr: float
    lr_decay: float
    epsilon_decay: float
    buffer: int
    replacement: float
    trials: int


TABLE_3 = (
    Searched("offensive", "basic", 531, 0.0045, 0.941, 0.927, 45_000, 0.2, 97),
    Searched("offensive_defensive", "basic", 560, 0.0099, 0.956, 0.988, 45_000, 0.5, 141),
    Searched("offensive_defensive", "full", 567, 0.0008, 0.957, 0.995, 45_000, 0.1, 30),
    Searched("game", "full", 456, 0.0042, 0.951, 0.951, 45_000, 0.2, 26),
    Searched("game_ties", "full", 462, 0.0011, 0.971, 0.910, 90_000, 0.2, 24),
)
"""Table 3, by our names of rewards and states: SARSA, feed-forward, epsilon 0.1, the play alone (section 4.4)."""


@dataclass(frozen=True)
class Relation:
    """A relation between two hyperparameters that section 4.3 reports in words, by our names; sign: +1 or -1."""

    first: str
    second: str
    sign: int
    words: str


RELATIONS = (
    Relation("learner.play_lr", "learner.replacement", +1, "faster learning rates, higher replacement rates"),
    Relation("learner.lr_decay", "learner.buffer_size", -1, "the decay factor negatively with the buffer size"),
    Relation("learner.epsilon_decay", "learner.buffer_size", -1, "less exploration over time, a larger buffer"),
)
"""Section 4.3. "The decay factor" is not named there; the next sentence speaks of exploration, so both are shown."""
