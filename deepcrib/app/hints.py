"""Hints: what every discard, and every card that may be played, is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deepcrib.agents import Agent
from deepcrib.agents.asking import ask
from deepcrib.analysis.hand_values import HandValues, hand_values
from deepcrib.analysis.tables import NONE
from deepcrib.app.words import Part, play_parts
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.search.best_response import BestResponseAgent
from deepcrib.search.rollouts import usual_responder, usual_rollouts

EXACT = "exact"
"""The column of the best response (`usual_responder`)."""
_SAME = 1e-9
"""Points by which exact values may differ through rounding alone."""


@dataclass(frozen=True)
class PlayHint:
    """The cards that may be played, by slot.

    cards: ids. parts: what each would score at once, a go or last card left out. values: by the name of an agent, or
    EXACT, what it counts each at; None for one that has no values. choices: the slot that each would play; of EXACT
    all that are best. chances: to win the game, by `usual_rollouts`; None before they are known.
    """

    slots: tuple[int, ...]
    cards: tuple[int, ...]
    parts: tuple[tuple[Part, ...], ...]
    values: Mapping[str, tuple[float, ...] | None]
    choices: Mapping[str, tuple[int, ...]]
    chances: tuple[float, ...] | None = None

    @property
    def best_first(self) -> list[int]:
        """Places in `slots`: by the exact values where there are any, else by the points scored at once."""
        exact = self.values.get(EXACT)
        points = [sum(part.points for part in parts) for parts in self.parts]
        return sorted(range(len(self.slots)), key=lambda place: (-(exact or points)[place], self.cards[place]))

    def cells(self, place: int) -> list[str]:
        """What a card scores now, and its values, with a star on what would be chosen."""
        now = ", ".join(map(str, self.parts[place])) or NONE
        opinions = ((values, self.slots[place] in self.choices[name]) for name, values in self.values.items())
        return [now, *(marked(values, place, chosen) for values, chosen in opinions)]


def discard_hint(observation: DiscardObservation, agents: Mapping[str, Agent]) -> HandValues:
    """Exact figures of the 15 discards of a two-player hand, and what agents think of them."""
    own, seat = observation.scores[0], int(observation.seat[0])
    score = (int(own[seat]), int(own[1 - seat]))
    return hand_values([int(card) for card in observation.hand[0]], bool(observation.is_dealer[0]), score, agents)


def play_hint(observation: PlayObservation, agents: Mapping[str, Agent]) -> PlayHint:
    """What each card that may be played scores now, and what agents think of it."""
    slots = tuple(int(slot) for slot in np.flatnonzero(observation.legal[0]))
    cards = tuple(int(observation.hand[0, slot]) for slot in slots)
    start, end = int(observation.series_start[0]), int((observation.history[0] >= 0).sum())
    series = [int(card) for card in observation.history[0, start:end]]
    parts = tuple(tuple(play_parts([*series, card], 0, is_last=False)) for card in cards)
    valued: dict[str, Any] = {name: getattr(agent, "play_values", None) for name, agent in agents.items()}
    values = {name: of and tuple(of(observation)[0][[*slots]].tolist()) for name, of in valued.items()}
    choices: dict[str, tuple[int, ...]] = {name: (int(ask(agent, observation)[0]),) for name, agent in agents.items()}
    return PlayHint(slots, cards, parts, values, choices)


def with_exact(hint: PlayHint, observation: PlayObservation, responder: BestResponseAgent | None = None) -> PlayHint:
    """The same and, first, the best response's values, by default `usual_responder`'s; and the chances to win."""
    responder = responder or usual_responder()
    means = responder.play_values(observation)[0]
    best = tuple(int(slot) for slot in np.flatnonzero(means > means.max() - _SAME))
    wins = usual_rollouts(responder.to).all_chances(observation)[0].mean(axis=1)
    worth, chances = (tuple(found[[*hint.slots]].tolist()) for found in (means, wins))
    values, choices = {EXACT: worth, **hint.values}, {EXACT: best, **hint.choices}
    return replace(hint, values=values, choices=choices, chances=chances)


def marked(values: Sequence[float | None] | None, place: int, chosen: bool) -> str:
    """`+1.23*`: the value at a place if there is one, and a star on what would be chosen."""
    value = None if values is None else values[place]
    return ("" if value is None else f"{value:+.2f}") + ("*" if chosen else " ")
