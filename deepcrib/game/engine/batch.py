"""Kernels over many games: one step of each in lockstep, or whole games of scripted players."""

from __future__ import annotations

from typing import Any

import numpy as np

from deepcrib.game.engine.state import Game, cut, deal, discard, new_games, play, show, start_play
from deepcrib.game.observations import DiscardObservation, PlayColumns, PlayObservation
from deepcrib.game.policies import discard_choices, lowest, pick, play_choices
from deepcrib.game.randomness import Word, hash_key
from deepcrib.game.rules import HAND_SIZE, MAX_SCORE
from deepcrib.kernels import Part, jit
from deepcrib.kernels.workers import run_rows


@jit
def cut_rows(part: Part, games: np.ndarray, seed: int) -> None:
    """Set the first dealer of every game by a cut."""
    for i in range(*part):
        cut(games[i], seed)


@jit
def deal_rows(part: Part, games: np.ndarray, rows: np.ndarray, seed: int, random_dealer: bool) -> None:
    """Begin the next hand of games `rows`."""
    for r in range(*part):
        deal(games[rows[r]], seed, random_dealer)


@jit
def throw_rows(
    part: Part, games: np.ndarray, rows: np.ndarray, seats: np.ndarray, actions: np.ndarray, done: np.ndarray
) -> None:
    """Throw cards; done [R] receives whether that was allowed."""
    for r in range(*part):
        done[r] = discard(games[rows[r]], seats[r], actions[r])


@jit
def start_play_rows(part: Part, games: np.ndarray, rows: np.ndarray, stop: bool, done: np.ndarray) -> None:
    """Turn up the starters of games `rows`."""
    for r in range(*part):
        done[r] = start_play(games[rows[r]], stop)


@jit
def play_rows(part: Part, games: np.ndarray, rows: np.ndarray, slots: np.ndarray, stop: bool, done: np.ndarray) -> None:
    """Play one card in each of games `rows`."""
    for r in range(*part):
        done[r] = play(games[rows[r]], slots[r], stop)


@jit
def show_rows(part: Part, games: np.ndarray, rows: np.ndarray, stop: bool, done: np.ndarray) -> None:
    """Count hands and cribs of games `rows`."""
    for r in range(*part):
        done[r] = show(games[rows[r]], stop)


@jit
def decision_key(g: Game, seat: int, seed: int) -> Word:
    """Key of the decision that a seat now faces: decision 0 is the discard, 1 to 4 are its plays."""
    decision = 0
    if g.starter >= 0:
        decision = HAND_SIZE + 1
        for slot in range(HAND_SIZE):
            if g.left[seat, slot] >= 0:
                decision -= 1
    return hash_key(seed, g.game, g.hand_number, seat, decision)


@jit
def _observe(
    part: Part,
    games: np.ndarray,
    rows: np.ndarray,
    seats: np.ndarray,
    seed: int,
    dealer: np.ndarray,
    scores: np.ndarray,
    key: np.ndarray,
    number: np.ndarray,
    hand_number: np.ndarray,
) -> None:
    for r in range(*part):
        game = games[rows[r]]
        dealer[r] = game.dealer
        number[r], hand_number[r] = game.game, game.hand_number
        for player in range(scores.shape[1]):
            scores[r, player] = min(game.scores[player], MAX_SCORE)
        key[r] = decision_key(game, seats[r], seed)


@jit
def _copy(values: np.ndarray, to: np.ndarray) -> None:
    """An assignment of one array to another would compile what it says of shapes that differ, for seconds."""
    for i in range(len(to)):
        to[i] = values[i]


@jit
def _observe_dealt(part: Part, games: np.ndarray, rows: np.ndarray, seats: np.ndarray, hand: np.ndarray) -> None:
    for r in range(*part):
        _copy(games[rows[r]].dealt[seats[r]], hand[r])


@jit
def _observe_play(part: Part, games: np.ndarray, rows: np.ndarray, o: PlayColumns) -> None:
    for r in range(*part):
        game, seat = games[rows[r]], o.seat[r]
        _copy(game.left[seat], o.hand[r])
        _copy(game.discards[seat], o.discards[r])
        o.starter[r] = game.starter
        _copy(game.history[:], o.history[r])
        _copy(game.history_seats[:], o.history_seats[r])
        o.series_start[r] = game.series_start
        _copy(game.goes[:], o.goes[r])
        o.counts[r] = game.count


def _common(games: np.ndarray, rows: np.ndarray, seats: np.ndarray, seed: int) -> dict[str, Any]:
    num_players = games.dtype["scores"].shape[0]
    common: dict[str, np.ndarray] = {
        "dealer": np.empty(len(rows), dtype=np.int8),
        "scores": np.empty((len(rows), num_players), dtype=np.int8),
        "key": np.empty(len(rows), dtype=np.uint64),
        "game": np.empty(len(rows), dtype=np.int64),
        "hand_number": np.empty(len(rows), dtype=np.int64),
    }
    run_rows(_observe, len(rows), games, rows, seats, seed, *common.values())
    return {"seat": seats, **common}


def observe_discard(games: np.ndarray, rows: np.ndarray, seats: np.ndarray, seed: int) -> DiscardObservation:
    """What `seats` see in games `rows` before they discard."""
    hand = np.empty((len(rows), games.dtype["dealt"].shape[1]), dtype=np.int8)
    run_rows(_observe_dealt, len(rows), games, rows, seats, hand)
    return DiscardObservation(hand=hand, **_common(games, rows, seats, seed))


def observe_play(games: np.ndarray, rows: np.ndarray, seed: int) -> PlayObservation:
    """What the seats whose turn it is see in games `rows`."""
    seats = games["turn"][rows]
    names = ("starter", "history", "history_seats", "series_start", "goes", "count")
    shapes = {name: games.dtype[name].shape for name in names}
    shapes |= {"hand": (HAND_SIZE,), "discards": games.dtype["discards"].shape[1:]}
    own: dict[str, Any] = {name: np.empty((len(rows), *shape), dtype=np.int8) for name, shape in shapes.items()}
    seen = PlayObservation(**own, **_common(games, rows, seats, seed))
    run_rows(_observe_play, len(rows), games, rows, seen.columns)
    return seen


def games_seen(o: DiscardObservation | PlayObservation) -> np.ndarray:
    """Games [N] of number 0 with what their observers know of them; other cards are absent."""
    rows, games = np.arange(len(o)), new_games(np.zeros(len(o), dtype=np.int64), o.num_players)
    games["dealer"], games["scores"] = o.dealer, o.scores
    if isinstance(o, DiscardObservation):
        games["dealt"][rows, o.seat] = o.hand
        return games
    for name in ("starter", "history", "history_seats", "series_start", "goes", "count"):
        games[name] = getattr(o, name)
    games["turn"], games["num_played"] = o.seat, (o.history >= 0).sum(axis=1)
    games["kept"][rows, o.seat], games["left"][rows, o.seat] = o.kept, o.hand
    games["discards"][rows, o.seat] = o.discards
    return games


@jit
def pick_for(g: Game, seat: int, mask: int, seed: int) -> int:
    """`pick` by the key of the decision that a seat now faces, which a single choice does without."""
    return pick(mask, decision_key(g, seat, seed)) if mask & (mask - 1) else lowest(mask)


@jit
def scripted_plays(g: Game, seed: int, policies: np.ndarray) -> None:
    """Play the cards of a hand by a policy for each seat."""
    while g.turn >= 0:
        seat = g.turn
        choices = play_choices(policies[seat], g.left[seat], g.series, g.count)
        play(g, pick_for(g, seat, choices, seed), True)


@jit
def _scripted_hand(g: Game, seed: int, policies: np.ndarray) -> None:
    num_players = g.dealt.shape[0]
    for seat in range(num_players):
        discard(g, seat, pick_for(g, seat, discard_choices(policies[seat], g.dealt[seat]), seed))
    start_play(g, True)
    scripted_plays(g, seed, policies)
    show(g, True)


@jit
def _scripted_game(g: Game, seed: int, random_dealer: bool, policies: np.ndarray) -> None:
    while not g.finished:
        deal(g, seed, random_dealer)
        _scripted_hand(g, seed, policies)


@jit
def scripted_games(part: Part, games: np.ndarray, seed: int, random_dealer: bool, policies: np.ndarray) -> None:
    """Play every game to 121 between scripted players; policies is [N, P] of codes of `policies`."""
    for i in range(*part):
        _scripted_game(games[i], seed, random_dealer, policies[i])
