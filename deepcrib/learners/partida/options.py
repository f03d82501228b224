"""Options of `learner=partida`."""

from __future__ import annotations

from dataclasses import dataclass

from deepcrib.options import at_least, between, one_in, one_of, option, positive
from deepcrib.training.options import LearnerOptions


@dataclass
class PartidaOptions(LearnerOptions):
    """`learner=partida`: a small network for the play, trained on random four-card hands (Partida 2022, section 2.2).

    Defaults are the paper's; their help says where it leaves a choice open. How cards are laid before the network is
    open as well: hands in ascending order, what is played in its order, 0 behind both (`learners.partida.inputs`).
    """

    name: str = option("partida", "what learns")
    inputs: int = option(
        12,
        "own hand and all cards played; 16: also the opponent's hand, for measurement only, not an agent",
        one_in("deepcrib.learners.partida.inputs:INPUTS"),
    )
    encoding: str = option(
        "numbers",
        "ranks 1..13 as they are, or `one_hot` (not in the paper)",
        one_in("deepcrib.learners.partida.inputs:ENCODINGS"),
    )
    sessions: int = option(2000, "sessions of games_per_fit hands, each learned from once", at_least(1))
    games_per_fit: int = option(
        10, "hands per session, played with one network that then learns from them once", at_least(1)
    )
    target: str = option(
        "whole",
        "own minus opponent's points of the play, or `rest`: from the card on (not in the paper)",
        one_of("whole", "rest"),
    )
    epsilon: float = option(0.0, "probability of a random card (the paper names none)", between(0, 1))
    batch_size: int = option(1, "positions per step; the paper fits one at a time", at_least(1))
    lr: float = option(1e-3, "open in the paper", positive)
    lr_schedule: str = option(
        "constant", "or `linear`: down to 0 at the last session (open in the paper)", one_of("linear", "constant")
    )
    measure_every: int = option(10, "sessions between measurements against greedy", at_least(1))
    hands: int = option(2000, "hands per measurement", at_least(2))
    final_hands: int = option(20_000, "hands of the last measurement, on other hands", at_least(2))
    checkpoint_every: int = option(100, "sessions between checkpoints", at_least(1))
