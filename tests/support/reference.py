"""Cribbage once more, slowly: the American Cribbage Congress rules in plain Python, for tests only.

Nothing here is shared with `deepcrib`: no code, no tables. Every combination is enumerated and the table is
walked round seat by seat, so that this file can be read beside the rulebook. The one common convention is the
number of a card, `4 * rank + suit` with rank 0 = ace .. 12 = king and suits clubs, diamonds, hearts, spades.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import combinations
from statistics import NormalDist
from typing import Any

import numpy as np

GAME = 121
LIMIT = 31
JACK = 10
HAND_SIZE = {2: 6, 3: 5, 4: 5}
THROWN = {2: 2, 3: 1, 4: 1}
FROM_DECK = {2: 0, 3: 1, 4: 0}


def int8(values: object) -> np.ndarray:
    return np.array(values, dtype=np.int8)


def rank(card: int) -> int:
    """Rank of a card, 0 = ace to 12 = king."""
    return card // 4


def suit(card: int) -> int:
    """Suit of a card, 0 to 3."""
    return card % 4


@cache
def pips(card: int) -> int:
    """What a card counts for: ace 1, court cards 10."""
    return min(rank(card) + 1, 10)


def cards(text: str) -> list[int]:
    """Card numbers of a text such as ``5H TS 10d``."""
    faces = {"A": 0, "T": 9, "10": 9, "J": 10, "Q": 11, "K": 12} | {str(n): n - 1 for n in range(2, 10)}
    return [4 * faces[word[:-1].upper()] + "cdhs".index(word[-1].lower()) for word in text.split()]


# --- the show -----------------------------------------------------------------------------------------------


def fifteens(held: Sequence[int]) -> int:
    """Two points for each set of cards that counts fifteen."""
    sets = (chosen for size in range(2, len(held) + 1) for chosen in combinations(held, size))
    return sum(2 for chosen in sets if sum(map(pips, chosen)) == 15)


def pairs(held: Sequence[int]) -> int:
    """Two points for each two cards of one rank."""
    return sum(2 for a, b in combinations(held, 2) if rank(a) == rank(b))


def in_sequence(held: Iterable[int]) -> bool:
    """Whether ranks follow each other without gap or repeat, however they lie; the king is the end."""
    ranks = sorted(map(rank, held))
    return all(high - low == 1 for low, high in zip(ranks, ranks[1:], strict=False))


def runs(held: Sequence[int]) -> int:
    """A point a card for each run of three or more; a run inside a longer one is not counted again."""
    for size in range(len(held), 2, -1):
        found = sum(in_sequence(chosen) for chosen in combinations(held, size))
        if found:
            return found * size
    return 0


def flush(held: Sequence[int], starter: int, is_crib: bool) -> int:
    """Four of one suit in the hand 4, five with the starter 5; in the crib only the five count."""
    suits = {suit(card) for card in held}
    if len(suits) > 1:
        return 0
    if suit(starter) in suits:
        return 5
    return 0 if is_crib else 4


def nobs(held: Sequence[int], starter: int) -> int:
    """One for the jack of the starter's suit."""
    return sum(rank(card) == JACK and suit(card) == suit(starter) for card in held)


@cache
def of_ranks(ranks: tuple[int, ...]) -> int:
    """Fifteens, pairs and runs, for which suits do not matter: counted once for all cards of the same ranks."""
    held = [4 * rank for rank in ranks]
    return fifteens(held) + pairs(held) + runs(held)


def show(held: Sequence[int], starter: int, is_crib: bool = False) -> int:
    """All points of four cards with the starter."""
    points = of_ranks(tuple(sorted(map(rank, (*held, starter)))))
    return points + flush(held, starter, is_crib) + nobs(held, starter)


def four_cards(held: Sequence[int]) -> int:
    """Points of four cards by themselves: fifteens, pairs, runs and the flush of four."""
    same_suit = 4 if len({suit(card) for card in held}) == 1 else 0
    return of_ranks(tuple(sorted(map(rank, held)))) + same_suit


# --- the play -----------------------------------------------------------------------------------------------


def pegs(series: Sequence[int], with_31: bool = True) -> int:
    """Points of a series' last card (no go): 15, 31, pairs to double pair royal, runs of three or more."""
    return pegs_of_ranks(tuple(map(rank, series)), with_31)


@cache
def pegs_of_ranks(ranks: tuple[int, ...], with_31: bool) -> int:
    """As `pegs`: suits do not matter in the play, so the same ranks are counted once."""
    series = [4 * rank for rank in ranks]
    count = sum(map(pips, series))
    points = 2 if count == 15 or (with_31 and count == LIMIT) else 0
    alike = 1
    while alike < len(series) and rank(series[-1 - alike]) == rank(series[-1]):
        alike += 1
    points += alike * (alike - 1)  # 2 alike: 2; 3 alike: 3 pairs, 6; 4 alike: 6 pairs, 12
    for size in range(len(series), 2, -1):
        if in_sequence(series[-size:]):
            return points + size
    return points


@dataclass(frozen=True)
class Peg:
    """One movement of a peg: who, for what (heels, play, go, hand, crib), how many points were made."""

    player: int
    kind: str
    points: int
    number: int = -1  # of the card in the hand's play that made them


@dataclass(frozen=True)
class Turn:
    """One card laid, and what its player saw: the series before it, its lawful cards, who had said go."""

    player: int
    card: int
    before: tuple[int, ...]
    legal: tuple[int, ...]
    goes: frozenset[int]
    number: int  # of the card in the hand's play, from 0
    series_start: int  # number of the first card of this series
    scores: tuple[int, ...]


@dataclass
class Board:
    """The pegging board. `peg` raises `GameOverError` at the very peg that reaches the end of the game.

    The winning peg stops in the last hole: `scores` says 121 whatever was made, `pegged` what was made.
    """

    scores: list[int]
    game: int | None = GAME
    pegged: list[Peg] = field(default_factory=list)

    def peg(self, player: int, kind: str, points: int, number: int = -1) -> None:
        if points == 0:
            return
        self.pegged.append(Peg(player, kind, points, number))
        self.scores[player] += points
        if self.game is not None and self.scores[player] >= self.game:
            self.scores[player] = self.game
            raise GameOverError(player)


class GameOverError(Exception):
    """Somebody has reached the end of the game."""

    def __init__(self, winner: int) -> None:
        super().__init__(f"player {winner} has won")
        self.winner = winner


ChooseCard = Callable[[int, tuple[int, ...]], int]


def play(kept: Sequence[Sequence[int]], dealer: int, choose: ChooseCard, board: Board, turns: list[Turn]) -> None:
    """The play of one hand; `choose(player, lawful cards)` names the card laid. Appends to `turns`."""
    players = len(kept)
    hands = [list(cards_of) for cards_of in kept]
    leader = (dealer + 1) % players
    while any(hands):
        while not hands[leader]:
            leader = (leader + 1) % players
        leader = (play_series(hands, leader, choose, board, turns) + 1) % players


def play_series(hands: list[list[int]], leader: int, choose: ChooseCard, board: Board, turns: list[Turn]) -> int:
    """One series up to 31, a go by all, or the last card. Returns who laid its last card."""
    players = len(hands)
    series: list[int] = []
    out: set[int] = set()  # cannot lay another card in this series
    said_go: set[int] = set()  # those of them who still hold cards and so had to say it
    player, last, start = leader, leader, len(turns)
    while len(out) < players:
        legal = tuple(card for card in hands[player] if sum(map(pips, series)) + pips(card) <= LIMIT)
        if legal:
            card = choose(player, legal)
            assert card in legal
            goes, scores = frozenset(said_go), tuple(board.scores)
            turns.append(Turn(player, card, tuple(series), legal, goes, len(turns), start, scores))
            hands[player].remove(card)
            series.append(card)
            last = player
            board.peg(player, "play", pegs(series), turns[-1].number)
            if sum(map(pips, series)) == LIMIT:
                return last  # thirty-one ends the series: two points and never also a go
        else:
            out.add(player)
            if hands[player]:
                said_go.add(player)
        player = (player + 1) % players
    board.peg(last, "go", 1, turns[-1].number)  # everybody is stuck, or this was the last card of all
    return last


# --- hand and game ------------------------------------------------------------------------------------------


@dataclass
class Deal:
    """The cards of one hand: `hands[player]`, the starter, what the deck adds to the crib (three players)."""

    hands: list[list[int]]
    starter: int
    added: list[int] = field(default_factory=list)


@dataclass
class HandRecord:
    """What happened in a hand; `winner` is None where nobody reached the end of the game."""

    dealer: int
    pegged: list[Peg]
    turns: list[Turn]
    crib: list[int]
    kept: list[list[int]]
    winner: int | None = None


def play_hand(
    deal: Deal,
    dealer: int,
    thrown: Sequence[Sequence[int]],
    choose: ChooseCard,
    scores: list[int],
    game: int | None = GAME,
) -> HandRecord:
    """One hand: discards, heels, play, the show from the dealer's left, the crib last. Moves `scores`."""
    players = len(deal.hands)
    for dealt, away in zip(deal.hands, thrown, strict=True):
        assert len(dealt) == HAND_SIZE[players] and len(away) == THROWN[players] and set(away) <= set(dealt)
    kept = [[card for card in dealt if card not in away] for dealt, away in zip(deal.hands, thrown, strict=True)]
    crib = [card for away in thrown for card in away] + list(deal.added)
    assert len(crib) == 4 and all(len(four) == 4 for four in kept) and len(deal.added) == FROM_DECK[players]
    board, turns, winner = Board(scores, game), [], None
    try:
        if rank(deal.starter) == JACK:
            board.peg(dealer, "heels", 2)
        play(kept, dealer, choose, board, turns)
        for step in range(1, players + 1):
            player = (dealer + step) % players
            board.peg(player, "hand", show(kept[player], deal.starter))
        board.peg(dealer, "crib", show(crib, deal.starter, is_crib=True))
    except GameOverError as over:
        winner = over.winner
    return HandRecord(dealer, board.pegged, turns, crib, kept, winner)


def play_game(
    deals: Iterable[Deal],
    first_dealer: int,
    throw: Callable[[int], Sequence[Sequence[int]]],
    choose: Callable[[int, int, tuple[int, ...]], int],
    dealers: Sequence[int] | None = None,
) -> tuple[list[int], list[HandRecord]]:
    """Hands until somebody wins or no deal is left: the scores and what happened in each.

    The deal passes to the left, unless `dealers` names who deals each hand. `throw(hand number)` gives every
    player's discards, `choose(hand number, player, lawful cards)` a card.
    """
    records: list[HandRecord] = []
    scores: list[int] = []
    for number, deal in enumerate(deals):
        scores = scores or [0] * len(deal.hands)
        dealer = (first_dealer + number) % len(deal.hands) if dealers is None else dealers[number]
        records.append(play_hand(deal, dealer, throw(number), partial(choose, number), scores))
        if records[-1].winner is not None:
            break
    return scores, records


# --- discard actions and the scripted players ---------------------------------------------------------------


def thrown_by(dealt: Sequence[int], action: int) -> list[int]:
    """Cards that a discard action throws: the combinations of the sorted hand, in order."""
    size = len(dealt)
    return [sorted(dealt)[slot] for slot in list(combinations(range(size), size - 4))[action]]


def kept_by(dealt: Sequence[int], action: int) -> list[int]:
    """Cards that a discard action keeps."""
    thrown = thrown_by(dealt, action)
    return [card for card in sorted(dealt) if card not in thrown]


def plain_discards(policy: str, dealt: list[int]) -> set[int]:
    """Discard actions that a policy is indifferent between."""
    actions = list(combinations(range(len(dealt)), len(dealt) - 4))
    if policy == "random":
        return set(range(len(actions)))
    points = [four_cards([card for slot, card in enumerate(dealt) if slot not in away]) for away in actions]
    return {action for action, worth in enumerate(points) if worth == max(points)}


def plain_plays(policy: str, hand: list[int], series: list[int]) -> set[int]:
    """Slots that a policy is indifferent between; -1 stands for a card played."""
    count = sum(map(pips, series))
    legal = [slot for slot, card in enumerate(hand) if card >= 0 and count + pips(card) <= 31]
    if policy == "random" or not legal:
        return set(legal)
    points = {slot: pegs([*series, hand[slot]], with_31=policy == "greedy") for slot in legal}
    best = {slot for slot in legal if points[slot] == max(points.values())}
    if policy == "greedy":
        best = {slot for slot in best if rank(hand[slot]) == max(rank(hand[s]) for s in best)}
    return best


# --- driving the engine under test --------------------------------------------------------------------------


@dataclass
class PlayedHand:
    """One hand of N games as the engine played it: what was chosen, and the engine's state after the show."""

    rows: np.ndarray  # [R] the games that were still going
    actions: np.ndarray  # [N, P] discard actions
    laid: list[list[tuple[int, int]]]  # for each of N games, (seat, card) in order
    state: np.ndarray  # [N] copy of the engine's state


def by_key(observation: Any) -> np.ndarray:
    """A lawful choice for each row that looks random and depends on the decision's key alone."""
    keys = np.asarray(observation.key)
    if hasattr(observation, "legal"):
        options = observation.legal.sum(axis=1).astype(np.uint64)
        order = np.argsort(~observation.legal, axis=1, kind="stable")  # lawful slots first
        return order[np.arange(len(keys)), (keys % options).astype(np.int64)]
    return (keys % np.uint64({6: 15, 5: 5}[observation.hand.shape[1]])).astype(np.int64)


def drive(
    games: Any,
    choose: Callable[[Any], np.ndarray] = by_key,
    watch: Callable[[Any, np.ndarray], None] | None = None,
    max_hands: int = 1000,
) -> list[PlayedHand]:
    """Play an engine's games in lockstep, all or some hands; `watch(observation, rows)` sees everything."""
    hands: list[PlayedHand] = []
    while len(games.unfinished) and len(hands) < max_hands:
        rows = games.deal()
        actions = np.full((len(games), games.num_players), -1)
        for seat in range(games.num_players):
            observation = games.discard_observation(rows, np.full(len(rows), seat, dtype=np.int8))
            actions[rows, seat] = choose(observation)
            if watch is not None:
                watch(observation, rows)
            games.discard(rows, observation.seat, actions[rows, seat])
        games.start_play()
        laid: list[list[tuple[int, int]]] = [[] for _ in range(len(games))]
        while len(turns := games.to_play):
            observation = games.play_observation(turns)
            slots = choose(observation)
            if watch is not None:
                watch(observation, turns)
            chosen = observation.hand[np.arange(len(turns)), slots]
            for row, seat, card in zip(turns.tolist(), observation.seat.tolist(), chosen.tolist(), strict=True):
                laid[row].append((seat, card))
            games.play(turns, slots)
        games.show()
        hands.append(PlayedHand(rows, actions, laid, games.state.copy()))
    return hands


# --- statistics of the tests --------------------------------------------------------------------------------


def chi_square_limit(freedom: int, error_level: float) -> float:
    """What a chi-square variable exceeds with a given probability (Wilson and Hilferty; within 2%)."""
    spread = 2 / (9 * freedom)
    return freedom * max(0.0, 1 - spread + NormalDist().inv_cdf(1 - error_level) * spread**0.5) ** 3


def assert_drawn(counts: Any, weights: Any = None) -> None:
    """Counts are as draws with chances in proportion to weights (by default all alike): chi-square at a level of 1e-6.

    What has no weight is never drawn; what is expected fewer than 20 times is one class.
    """
    observed = np.asarray(counts, dtype=float).ravel()
    expected = np.ones(len(observed)) if weights is None else np.asarray(weights, dtype=float).ravel()
    assert not observed[expected == 0].any()
    expected = expected / expected.sum() * observed.sum()
    rare = expected < 20
    observed, expected = (np.append(part[~rare], part[rare].sum()) for part in (observed, expected))
    some = expected > 0
    statistic = ((observed - expected)[some] ** 2 / expected[some]).sum()
    assert statistic < chi_square_limit(max(int(some.sum()) - 1, 1), 1e-6)
