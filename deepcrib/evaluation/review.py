"""A recorded game looked at again: what each choice of a seat cost, in expected points.

Values are those of `regrets`: whoever sat there, if the opponent answers as one named player does (as in hints and
`analyse`), and at 0-0, so that a choice that was made for the score (to peg out, or to keep the other from it) may seem
to cost points. The hand that ends a game is priced as if it were played out. Beside points stands the chance to win at
the score of the game: on hands drawn (`usual_rollouts`), both going on simply, and by the choice that wins most often
on half of them counted on the other half, so that chance makes no losses (a small gain may come out).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.errors import OptionError
from deepcrib.evaluation.evaluate import ROLES
from deepcrib.evaluation.luck import BEYOND, MARGIN, recorded_luck
from deepcrib.evaluation.regrets import KINDS, NOTHING, Decision, price, worst_of
from deepcrib.game.engine.phases import DISCARD
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.intervals import Interval, mean_interval
from deepcrib.matches import Progress
from deepcrib.records import GameRecord, recorded_choices
from deepcrib.records.replay import ROW
from deepcrib.search.best_response import BestResponseAgent
from deepcrib.search.minimax import has_choice
from deepcrib.search.rollouts import Rollouts, usual_responder, usual_rollouts

SCALE = (
    "points: expected, own minus the opponent's, exact if the opponent chooses as {0} does and the best cards follow"
)
CHANCE = "win%: chance to win the game at its score, by 5,000 drawn hands of expected_value against {0}"
"""What hints, `analyse` and reviews show, with the name of the opponent that is assumed."""


@dataclass(frozen=True)
class HandReview:
    """A hand of a reviewed game: its number, the seat's role, own and opponent's score before it; points lost."""

    number: int
    role: str
    scores: tuple[int, int]
    decisions: list[Decision]

    @property
    def lost(self) -> float:
        """Expected points that the hand's choices cost."""
        return sum(decision.regret for decision in self.decisions)

    @property
    def chance_lost(self) -> float:
        """Chance to win that they cost."""
        return sum(decision.chance_lost or 0.0 for decision in self.decisions)


@dataclass(frozen=True)
class Loss:
    """Of one kind of decision: their number, the share 0..1 that lost nothing (less than 1e-6), points lost a hand.

    per_hand, and the chance to win lost a hand, come with 95% intervals, Student's t on hands (nan for a single one).
    """

    decisions: int
    right: float
    per_hand: Interval
    chance_lost: Interval


@dataclass(frozen=True)
class Review:
    """The choices of a seat in a game. opponent: as whom the other is taken to answer, which need not be who it was.

    hands: those in which the seat has chosen something, in order; their decisions are those that were a choice.
    worst: the costliest of all decisions that lost something, these first. beyond: points of the final margin that each
    hand played to its end brought beyond the luck of its cards (`luck`).
    """

    player: str
    seat: int
    opponent: str
    hands: list[HandReview]
    worst: list[Decision]
    beyond: list[float]

    @property
    def lost(self) -> float:
        """Expected points lost in the game."""
        return sum(hand.lost for hand in self.hands)

    @property
    def per_hand(self) -> float:
        """Expected points lost a hand, 0 where there was none."""
        return self.lost / len(self.hands) if self.hands else 0.0

    @property
    def right(self) -> str:
        """`22 of 27`: the choices that lost nothing, of all."""
        decisions = [decision for hand in self.hands for decision in hand.decisions]
        return f"{sum(decision.regret < NOTHING for decision in decisions)} of {len(decisions)}"

    @property
    def chance_lost(self) -> float:
        """Games lost in the game, of what each choice cost in the chance to win."""
        return sum(hand.chance_lost for hand in self.hands)

    def to_dict(self) -> dict[str, Any]:
        """All metrics as plain values, for `summary.json`."""
        hands = [asdict(hand) | {"lost": hand.lost, "chance_lost": hand.chance_lost} for hand in self.hands]
        sums = {"lost": self.lost, "per_hand": self.per_hand, "chance_lost": self.chance_lost}
        return asdict(self) | {"hands": hands} | sums


def review(
    record: GameRecord,
    seat: int,
    *,
    worst: int = 10,
    responder: BestResponseAgent | None = None,
    progress: Progress | None = None,
) -> Review:
    """Price every choice of a seat in a recorded game of two, finished or not; deterministic.

    responder: to whom the choices answer, by default `usual_responder`; one to an agent that plays as no player of
    `policies` does takes minutes. progress: called with the number of hands priced since its last call. Raises
    RecordError where the record breaks the rules, OptionError for another seat or more players.
    """
    if len(record.players) != 2:
        raise OptionError(f"a game of {len(record.players)} players: expected one of two, which alone can be priced")
    if seat not in (0, 1):
        raise OptionError(f"seat={seat}: expected 0 or 1")
    responder = responder or usual_responder()
    chosen = chosen_in(record, seat)
    rollouts = usual_rollouts(responder.to)
    for hand, choices in chosen:
        _price(responder, rollouts, hand, choices)
        if progress is not None:
            progress(1)
    hands = [hand for hand, _ in chosen]
    costliest = worst_of((decision for hand in hands for decision in hand.decisions), worst)
    beyond = recorded_luck(record)[BEYOND, :, seat, MARGIN].tolist()
    return Review(record.players[seat].name, seat, responder.to.name, hands, costliest, beyond)


def losses_by_kind(hands: Sequence[HandReview]) -> dict[str, Loss]:
    """By kind, and over all of them ("all"), what one loses in one or more hands."""
    found = {}
    for kind in (*KINDS, "all"):
        by_hand = [[d for d in hand.decisions if kind in (d.kind, "all")] for hand in hands]
        losses = np.array([decision.regret for part in by_hand for decision in part])
        if len(losses):
            points = mean_interval([sum(decision.regret for decision in part) for part in by_hand])
            chance = mean_interval([sum(decision.chance_lost or 0.0 for decision in part) for part in by_hand])
            found[kind] = Loss(len(losses), float((losses < NOTHING).mean()), points, chance)
    return found


# --- gathering and pricing ----------------------------------------------------------------------------------


Choice = tuple[DiscardObservation | PlayObservation, int]
Chosen = tuple[HandReview, list[Choice]]
"""A hand, its decisions still to be priced; what was seen and chosen, in order, where there was a choice."""


def chosen_in(record: GameRecord, seat: int) -> list[Chosen]:
    """The hands in which a seat has chosen something, in order."""
    found: dict[int, Chosen] = {}
    for turns, who, action in recorded_choices(record):
        if who != seat:
            continue
        number = int(turns.games.state.hand_number[0])
        if number not in found:
            own, other = turns.games.scores[0][[seat, 1 - seat]]
            role = ROLES[int(turns.games.dealer[0] == seat)]
            found[number] = HandReview(number, role, (int(own), int(other)), []), []
        if turns.phase[0] == DISCARD:
            found[number][1].append((turns.discard_observation(ROW), action))
        elif has_choice(observation := turns.play_observation(ROW))[0]:
            found[number][1].append((observation, action))
    return list(found.values())


def _price(responder: BestResponseAgent, rollouts: Rollouts, hand: HandReview, choices: Sequence[Choice]) -> None:
    """Add to a hand its decisions: the discard, then all plays, which are priced together."""
    for kind in (DiscardObservation, PlayObservation):
        if seen := [choice for choice in choices if isinstance(choice[0], kind)]:
            observations, taken = zip(*seen, strict=True)
            observation, actions = kind.concatenate(observations), np.array(taken, dtype=np.int8)
            priced = price(responder, observation, actions, np.full(len(taken), hand.number))
            lost = _chances_lost(rollouts, observation, actions).tolist()
            hand.decisions.extend(replace(one, chance_lost=chance) for one, chance in zip(priced, lost, strict=True))


def _chances_lost(
    rollouts: Rollouts, observation: DiscardObservation | PlayObservation, taken: NDArray[np.int8]
) -> NDArray[np.float64]:
    """[N] chance to win that the choices cost: of the best on one half of the hands, counted on the other."""
    found = rollouts.all_chances(observation)
    halves = found[:, :, ::2].mean(axis=2), found[:, :, 1::2].mean(axis=2)
    rows, lost = np.arange(len(taken)), np.zeros(len(taken))
    for chosen, counted in (halves, halves[::-1]):
        lost += (counted[rows, chosen.argmax(axis=1)] - counted[rows, taken]) / 2
    return lost
