"""A recorded game played again through the engine, which holds every line to the rules."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import takewhile

import numpy as np

from deepcrib.game.cards import NUM_CARDS, format_cards
from deepcrib.game.engine import Games, Turns
from deepcrib.game.engine.phases import DEAL, DISCARD, OVER, PLAY, SHOW, STARTER
from deepcrib.game.past import PastHands
from deepcrib.game.rules import COUNT_LIMIT, discard_slots, is_legal_play, num_dealt
from deepcrib.records.events import CHOICES, Event, events_of
from deepcrib.records.schema import GameRecord, RecordError, event_line

ROW = np.array([0])


def replay(
    record: GameRecord, first_dealer: int | None = None, *, redeal: bool = False, past: PastHands | None = None
) -> Turns:
    """The game as its record leaves it. Raises RecordError at the first line that the rules do not allow.

    first_dealer: seat, where no deal is recorded; None: the low cut deals. redeal: deal from the seed, which alone
    knows a starter that has not been turned up; a record of other cards is refused. past: of the games before it in
    its match, one and the same two at the table; its own hands are added.
    """
    turns = new_turns(record, first_dealer, past)
    for _ in recorded_choices(record, turns, redeal):
        pass
    return turns


def new_turns(record: GameRecord, first_dealer: int | None = None, past: PastHands | None = None) -> Turns:
    """The game of a record before its first deal; later deals than those recorded follow from its seed, if any."""
    past = PastHands(1, len(record.players)) if past is None else past
    first = next((event.seat for event in record.events if event.kind == "deal"), first_dealer)
    dealer = None if first is None else [first]
    options = {"num_players": len(record.players), "dealing": record.rules, "first_dealer": dealer, "past": past}
    return Turns(Games([record.game or 0], record.seed or 0, **options))  # type: ignore[arg-type]


def recorded_choices(
    record: GameRecord, turns: Turns | None = None, redeal: bool = False
) -> Iterator[tuple[Turns, int, int]]:
    """(the game before a choice, the seat, the action that it took) for every choice, in order. Raises RecordError.

    The game is one and the same object, which goes on when the next choice is asked for. turns: the game before its
    first deal, for whoever looks at it afterwards. redeal: as in `replay`.
    """
    turns = turns or new_turns(record)
    rest = deque(event for event in record.events if event.kind != "hint")
    told = 0  # events of the current hand that have been compared
    while rest:
        event = rest[0]
        _check_place(record, turns, event)
        if event.kind == "deal":
            told = 0
        if event.kind in CHOICES:
            action = _action(record, turns, event)
            yield turns, event.seat, action
            turns.choose(ROW, [action])
        elif event.kind == "deal" and not redeal:
            hand = takewhile(lambda event: event.kind != "deal", list(rest)[1:])
            starter = next((event.cards[0] for event in hand if event.kind == "starter"), None)  # None: not turned up
            _deal(record, turns, event, starter)
        else:
            turns.step(ROW)
        happened = list(events_of(turns.games.state[0]))
        for expected in happened[told:]:
            if not rest:
                break  # a game that was interrupted between a choice and what follows from it
            if rest[0] != expected:
                if redeal and event.kind in ("deal", "starter"):
                    raise RecordError(f"{record.source}: its deals do not follow from seed {record.seed}")
                raise _wrong(record, rest[0], f"expected {event_line(expected)}")
            rest.popleft()
        told = len(happened)


def _check_place(record: GameRecord, turns: Turns, event: Event) -> None:
    """Refuse an event that cannot come next."""
    phase = turns.phase[0]
    if phase == OVER:
        raise _wrong(record, event, "the game is over, expected a new game")
    wanted = {DEAL: "deal", DISCARD: "discard", STARTER: "starter", PLAY: "play", SHOW: "hand"}[int(phase)]
    if event.kind != wanted or (wanted in CHOICES and event.seat != turns.seat[0]):
        who = f" by seat {turns.seat[0]}" if wanted in CHOICES else ""
        raise _wrong(record, event, f"expected a {wanted}{who}")


def _deal(record: GameRecord, turns: Turns, event: Event, starter: int | None) -> None:
    games, num_players = turns.games, len(record.players)
    for hand in event.hands:
        if len(hand) != num_dealt(num_players):
            raise _wrong(record, event, f"{len(hand)} cards, expected {num_dealt(num_players)} for each player")
    dealer = int(games.dealer[0])
    if games.state.hand_number[0] >= 0 and record.rules == "acc":
        dealer = (dealer + 1) % num_players
        if event.seat != dealer:
            raise _wrong(record, event, f"expected dealer {dealer}, the deal alternates")
    taken = {card for hand in event.hands for card in hand}
    unseen = (card for card in range(NUM_CARDS) if card not in taken | {starter, *event.cards})
    starter = next(unseen) if starter is None else starter  # one that nobody will see
    hidden = [starter, event.cards[0] if event.cards else next(unseen)]
    try:
        games.deal_cards(ROW, [event.hands], [hidden], [event.seat])
    except ValueError as error:
        raise _wrong(record, event, "expected distinct cards, the starter among them") from error
    turns.look()


def _action(record: GameRecord, turns: Turns, event: Event) -> int:
    """The action by which a seat throws or plays the cards of an event. Raises RecordError where it may not."""
    state = turns.games.state[0]
    hand = (state.dealt if event.kind == "discard" else state.left)[event.seat].tolist()
    slots = [hand.index(card) if card in hand else -1 for card in event.cards]
    if event.kind == "play" and slots[0] >= 0:
        if not is_legal_play(state["count"], event.cards[0]):
            raise _wrong(record, event, f"over {COUNT_LIMIT} on a count of {state['count']}")
        return slots[0]
    if event.kind == "discard":
        thrown = discard_slots(len(hand)).tolist()
        if sorted(slots) in thrown:
            return thrown.index(sorted(slots))
    number = "a card" if event.kind == "play" else f"{discard_slots(len(hand)).shape[1]} cards"
    raise _wrong(record, event, f"expected {number} of {format_cards(hand)}")


def _wrong(record: GameRecord, event: Event, expectation: str) -> RecordError:
    place = f"{record.file}, line {event.line}: " if event.line else ""
    return RecordError(f"{place}{event_line(event)}: {expectation}")
