"""A recorded game looked at again: what each choice of a seat cost, in expected points.

Values are those of `regrets`: against the recorded opponent, or a stand-in where that cannot be answered quickly, and
at 0-0, so that a choice that was made for the score (to peg out, or to keep the other from it) may seem to cost points.
The hand that ends a game is priced as if it were played out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from deepcrib.agents import Agent, UntrustedError, make_agent
from deepcrib.agents.asking import knows_probabilities
from deepcrib.agents.base import play_policy_of
from deepcrib.errors import OptionError, UserError
from deepcrib.evaluation.evaluate import ROLES
from deepcrib.evaluation.regrets import KINDS, NOTHING, Decision, price
from deepcrib.files.trust import FromFile
from deepcrib.game.engine.phases import DISCARD
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.intervals import Interval, mean_interval
from deepcrib.records import GameRecord, choices
from deepcrib.records.replay import ROW
from deepcrib.search.best_response import BestResponseAgent
from deepcrib.search.minimax import has_choice

STAND_IN = "expected_value"
"""Answered in place of a person, or of an agent whose play would have to be asked for: greedy play, expert discards."""
BATCH = 4  # hands that are priced at once, between two reports of progress


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


@dataclass(frozen=True)
class Loss:
    """Of one kind of decision: their number, the share 0..1 that lost nothing (less than 1e-6), points lost a hand.

    per_hand comes with its 95% interval, Student's t on hands (nan for a single one).
    """

    decisions: int
    right: float
    per_hand: Interval


@dataclass(frozen=True)
class Review:
    """The choices of a seat in a game. opponent: who the best response answers; stand_in: not who really sat there.

    hands: those in which the seat has chosen something, in order; their decisions are those that were a choice.
    worst: the costliest of all decisions that lost something, these first.
    """

    player: str
    seat: int
    opponent: str
    stand_in: bool
    hands: list[HandReview]
    worst: list[Decision]

    @property
    def lost(self) -> float:
        """Expected points lost in the game."""
        return sum(hand.lost for hand in self.hands)

    @property
    def per_hand(self) -> float:
        """Expected points lost a hand, 0 where there was none."""
        return self.lost / len(self.hands) if self.hands else 0.0

    def to_dict(self) -> dict[str, Any]:
        """All metrics as plain values, for `summary.json`."""
        hands = [asdict(hand) | {"lost": hand.lost} for hand in self.hands]
        return asdict(self) | {"hands": hands, "lost": self.lost, "per_hand": self.per_hand}


def review(
    record: GameRecord,
    seat: int,
    *,
    worst: int = 10,
    opponent: Agent | None = None,
    progress: Callable[[int], None] | None = None,
) -> Review:
    """Price every choice of a seat in a recorded game of two, finished or not; deterministic.

    opponent: who is to be answered in place of the recorded one (`responder_to`); one that plays as no player of
    `policies` does takes minutes. progress: called with the number of hands priced since its last call. Raises
    RecordError where the record breaks the rules, OptionError for another seat or more players.
    """
    check_seat(record, seat)
    if worst < 0:
        raise OptionError(f"worst={worst}: expected 0 or more decisions")
    responder, stand_in = (BestResponseAgent(opponent, None), False) if opponent else responder_to(record, 1 - seat)
    hands = _hands(record, seat)
    reviewed: list[HandReview] = []
    for low in range(0, len(hands), BATCH):
        part = hands[low : low + BATCH]
        reviewed += _reviewed(responder, part)
        if progress is not None:
            progress(len(part))
    decisions = [decision for hand in reviewed for decision in hand.decisions]
    costly = [decision for decision in decisions if decision.regret >= NOTHING]
    costliest = sorted(costly, key=lambda decision: -decision.regret)[:worst]
    name = record.players[seat].name
    return Review(name, seat, responder.to.name, stand_in, reviewed, costliest)


def check_seat(record: GameRecord, seat: int) -> None:
    """Refuse a game of more than two, and a seat that it does not have. Raises OptionError."""
    if len(record.players) != 2:
        raise OptionError(f"a game of {len(record.players)} players: expected one of two, which alone can be priced")
    if seat not in (0, 1):
        raise OptionError(f"seat={seat}: expected 0 or 1")


def responder_to(record: GameRecord, seat: int) -> tuple[BestResponseAgent, bool]:
    """The best response to who sat at a seat, or to the stand-in; and whether it is the stand-in.

    An agent is answered itself if it knows its probabilities and plays as a player of `policies` does, for which there
    is compiled code; not a person, any other agent, or one that cannot be made from its spec here. Raises
    UntrustedError where the record's file names what it may not.
    """
    player, spec = record.players[seat], record.spec_of(seat)
    said = replace(spec, spec=None) if isinstance(spec, FromFile) else None
    responder = None if player.kind != "agent" else _quick_responder(json.dumps(player.spec, sort_keys=True), said)
    if responder is not None:
        return responder, False
    stand_in = _quick_responder(json.dumps(STAND_IN))
    assert stand_in is not None
    return stand_in, True


@lru_cache(maxsize=8)
def _quick_responder(spec: str, said: FromFile | None = None) -> BestResponseAgent | None:
    """To the agent of a spec (JSON); kept, since its model of the opponent takes seconds. None where there is none.

    said: where a file says so, its spec left out.
    """
    plain = json.loads(spec)
    try:
        agent = make_agent(replace(said, spec=plain) if said else plain)
        quick = play_policy_of(agent) is not None and knows_probabilities(agent)
        return BestResponseAgent(agent, None) if quick else None
    except UntrustedError:
        raise
    except UserError:
        return None


def losses_by_kind(hands: Sequence[HandReview]) -> dict[str, Loss]:
    """By kind, and over all of them ("all"), what one loses in one or more hands."""
    found = {}
    for kind in (*KINDS, "all"):
        by_hand = [[d.regret for d in hand.decisions if kind in (d.kind, "all")] for hand in hands]
        losses = np.array([loss for part in by_hand for loss in part])
        if len(losses):
            found[kind] = Loss(len(losses), float((losses < NOTHING).mean()), mean_interval(list(map(sum, by_hand))))
    return found


# --- gathering and pricing ----------------------------------------------------------------------------------


Chosen = tuple[HandReview, list[tuple[DiscardObservation, int]], list[tuple[PlayObservation, int]]]
"""A hand, its decisions still to be priced; its discard, if that was the seat's, and the plays that were a choice."""


def _hands(record: GameRecord, seat: int) -> list[Chosen]:
    """The hands in which a seat has chosen something, in order."""
    found: dict[int, Chosen] = {}
    for turns, who, action in choices(record):
        if who != seat:
            continue
        number = int(turns.games.state.hand_number[0])
        if number not in found:
            own, other = turns.games.scores[0][[seat, 1 - seat]]
            role = ROLES[int(turns.games.dealer[0] == seat)]
            found[number] = HandReview(number, role, (int(own), int(other)), []), [], []
        _, discards, plays = found[number]
        if turns.phase[0] == DISCARD:
            discards.append((turns.discard_observation(ROW), action))
        elif has_choice(observation := turns.play_observation(ROW))[0]:
            plays.append((observation, action))
    return list(found.values())


def _reviewed(responder: BestResponseAgent, hands: Sequence[Chosen]) -> list[HandReview]:
    """Some hands priced together."""
    decisions: list[Decision] = []
    discards = [(hand.number, *choice) for hand, choices, _ in hands for choice in choices]
    plays = [(hand.number, *choice) for hand, _, choices in hands for choice in choices]
    for seen in (discards, plays):
        if seen:
            numbers, observations, taken = zip(*seen, strict=True)
            observation = type(observations[0]).concatenate(observations)
            for priced in price(responder, observation, np.array(taken, dtype=np.int8), np.array(numbers)):
                decisions += priced.worst
    decisions.sort(key=lambda decision: (decision.hand, KINDS.index(decision.kind)))
    for hand, _, _ in hands:
        hand.decisions.extend(decision for decision in decisions if decision.hand == hand.number)
    return [hand for hand, _, _ in hands]
