"""Options of `learner=partida`."""

from __future__ import annotations

from dataclasses import dataclass

from deepcrib.training.options import LearnerOptions


@dataclass
class PartidaOptions(LearnerOptions):
    """`learner=partida`: a small network for the play, trained on random four-card hands (Partida 2022, section 2.2).

    Defaults are the paper's; a comment says where it leaves a choice open. How cards are laid before the network is
    open as well: hands in ascending order, what is played in its order, 0 behind both (`learners.partida.inputs`).
    """

    name: str = "partida"
    inputs: int = 12  # own hand and all cards played; 16: the opponent's hand too, which is no agent but a measurement
    encoding: str = "numbers"  # ranks 1..13 as they are, or `one_hot` (not in the paper)
    opponent: str = "greedy"  # or `self`: both players learn (not in the paper)
    sessions: int = 2000
    games_per_fit: int = 10  # hands of a session, played with one network, which then learns from them once
    target: str = "whole"  # own minus opponent's points of the play, or `rest`: from the card on (not in the paper)
    epsilon: float = 0.0  # chance of any card (the paper names none)
    optimizer: str = "adam"  # or `sgd` (open in the paper)
    batch_size: int = 1  # positions of a step; the paper fits one after the other
    lr: float = 1e-3  # open in the paper
    lr_schedule: str = "constant"  # or `linear`: down to 0 at the last session (open in the paper)
    measure_every: int = 10  # sessions between two measurements against greedy
    hands: int = 2000  # of a measurement
    final_hands: int = 20_000  # of the last one, on other hands
    checkpoint_every: int = 100  # sessions
