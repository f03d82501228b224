"""Compiled episodes: the learner's action, the answers of scripted opponents, the reward, and the next episode.

Beside its game (a record of the engine) every environment has a record of `episode_dtype`. Seats are counted from the
learner, which is 0; the others sit to its left.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deepcrib.envs.observation import Starts, fill_mask, fill_observation
from deepcrib.game.engine.batch import pick_for
from deepcrib.game.engine.phases import begin_game, seat_to_choose, step_on, take_choice
from deepcrib.game.engine.state import Game
from deepcrib.game.policies import discard_choices, play_choices
from deepcrib.game.randomness import LEARNER_SEAT, below, hash_key
from deepcrib.game.rules import DISCARD_SLOTS_5, DISCARD_SLOTS_6, MAX_SCORE, next_seat, show_points
from deepcrib.game.rules import PLAY as PLAY_KIND
from deepcrib.kernels import Part, jit

# What an environment waits for: the learner, the next episode, an agent that must be asked, a hand to be noted.
LEARNER, OVER, ASKED, ENDED = range(4)
# Who decides for a seat, beside the codes of `policies`.
BY_LEARNER, BY_AGENT = -2, -1
POINTS, MARGIN, WIN = range(3)
REWARDS = {"points": POINTS, "margin": MARGIN, "win": WIN}
# Which points count: all, those of the play, or one's hand and (as pone: minus) the crib, of a hand that ends there.
ALL, PLAYED, SHOWN = range(3)
# What is to be done in a row.
STEP, START, GO_ON = range(3)

Episode = Any
"""A record of `episode_dtype`."""


class Settings(NamedTuple):
    """What a kernel needs to know of the options.

    discards, plays: int8 [P], who decides for each seat. fixed_seat: the learner's, -1: by chance. stride: episodes
    between two of the same environment. illegal_reward: of the action that ends an episode because it is illegal.
    notes: stop where a hand has been counted, so that it can be noted before the next is dealt.
    """

    seed: int
    random_dealer: bool
    hands: int
    reward: int
    counted: int
    discards: np.ndarray
    plays: np.ndarray
    fixed_seat: int
    stride: int
    illegal_reward: float
    games_per_match: int
    notes: bool


def episode_dtype(num_players: int) -> np.dtype:
    """Fields of an episode of P players."""
    fields: list[tuple] = [
        ("number", np.int64),  # with the seed it decides every card, and in a match's first game the learner's seat
        ("place", np.int64),  # of the game in its match, from 0
        ("first_dealer", np.int8),
        ("seat", np.int8),
        ("status", np.int8),
        ("asked", np.int8),  # seat, from the learner's, whose agent must be asked
        ("illegal", np.bool_),  # the last action was
        ("begins", np.bool_),  # the first decision is still to come: what is pegged before it counts for the next
        ("reward", np.float64),  # since the learner's last decision
        ("scores", np.int16, (num_players,)),  # as last shown, by the learner's seats
        ("before", np.int32, (num_players,)),  # points counted at the learner's last decision, by its seats
    ]
    return np.dtype(fields, align=True)


# --- one environment ------------------------------------------------------------------------------------------------


@jit
def choose_action(g: Game, action: int, hands: int) -> bool:
    """Carry out an action of the seat that must choose; False, and nothing has changed, where it is not allowed."""
    discards = len(DISCARD_SLOTS_6) if g.dealt.shape[1] == 6 else len(DISCARD_SLOTS_5)
    discarding = g.starter < 0
    if (action < discards) != discarding:
        return False
    return take_choice(g, action if discarding else action - discards, True, hands)


@jit
def _points_of(g: Game, seat: int, counted: int) -> int:
    if counted == PLAYED:
        return int(g.points[seat, 0, PLAY_KIND] + g.points[seat, 1, PLAY_KIND])
    if counted == SHOWN:
        if g.starter < 0:
            return 0
        points = show_points(g.kept[seat], g.starter, False)
        crib = show_points(g.crib[:], g.starter, True)
        return int(points + crib if seat == g.dealer else points - crib)
    return int(min(g.scores[seat], MAX_SCORE))


@jit
def _pay(g: Game, e: Episode, settings: Settings) -> None:
    """Set the reward since the learner's last decision, and begin to count the next."""
    num_players = g.dealt.shape[0]
    own, others = 0.0, 0.0
    for relative in range(num_players):
        points = _points_of(g, (e.seat + relative) % num_players, settings.counted)
        if relative == 0:
            own = points - e.before[0]
        else:
            others += points - e.before[relative]
        e.before[relative] = points
    e.reward = own
    if settings.reward == MARGIN:
        e.reward = own - others / (num_players - 1)
    elif settings.reward == WIN:
        e.reward = 0.0 if e.status != OVER else 1.0 if g.winner == e.seat else -1.0


@jit
def _answer(g: Game, seat: int, policy: int, settings: Settings) -> None:
    """Let a scripted player choose."""
    if g.starter < 0:
        choices = discard_choices(policy, g.dealt[seat])
    else:
        choices = play_choices(policy, g.left[seat], g.series, g.count)
    take_choice(g, pick_for(g, seat, choices, settings.seed), True, settings.hands)


@jit
def go_on(g: Game, e: Episode, settings: Settings) -> None:
    """Play until the learner must choose or the episode is over, and pay; or to what Python must do before."""
    num_players = g.dealt.shape[0]
    while True:
        if settings.counted == SHOWN and g.starter >= 0:
            e.status = OVER
            break
        if step_on(g, settings.seed, settings.random_dealer, True, settings.hands):
            if g.shown and settings.notes:
                e.status = ENDED
                return
            continue
        seat = seat_to_choose(g, settings.hands)
        if seat < 0:
            e.status = OVER
            break
        relative = (seat - e.seat) % num_players
        by = settings.discards[relative] if g.starter < 0 else settings.plays[relative]
        if by == BY_AGENT:
            e.status = ASKED
            e.asked = relative
            return
        if by == BY_LEARNER:
            e.status = LEARNER
            break
        _answer(g, seat, by, settings)
    if e.begins:
        e.begins = False
    else:
        _pay(g, e, settings)


@jit
def start(g: Game, e: Episode, number: int, settings: Settings) -> None:
    """Begin an episode, the next game of its match or the first of another, and play until its first decision."""
    num_players = g.dealt.shape[0]
    e.number = number
    e.illegal = False
    e.begins = True
    e.reward = 0.0
    e.before[:] = 0
    e.place = (e.place + 1) % settings.games_per_match
    dealer = next_seat(e.first_dealer, num_players)
    if e.place == 0:
        dealer = -1
        e.seat = settings.fixed_seat
        if settings.fixed_seat < 0:
            e.seat = below(hash_key(settings.seed, number, 0, -1, LEARNER_SEAT), 0, num_players)
    begin_game(g, number, settings.seed, dealer)
    e.first_dealer = g.dealer
    go_on(g, e, settings)


@jit
def act(g: Game, e: Episode, action: int, settings: Settings) -> None:
    """The learner's action, or the next episode where the last is over."""
    e.illegal = False
    if e.status == OVER:
        start(g, e, e.number + settings.stride, settings)
        return
    if choose_action(g, action, settings.hands):
        go_on(g, e, settings)
    else:
        e.illegal = True
        e.status = OVER
        e.reward = settings.illegal_reward


@jit
def show_learner(g: Game, e: Episode, settings: Settings, starts: Starts, row: np.ndarray, mask: np.ndarray) -> None:
    """Fill the learner's observation and mask; when the episode is over every action is let through, and ignored."""
    fill_observation(g, e.seat, settings.hands, starts, row)
    seat = e.seat
    for relative in range(g.dealt.shape[0]):
        e.scores[relative] = g.scores[seat]
        seat = next_seat(seat, g.dealt.shape[0])
    if e.status == OVER:
        mask[:] = 1
    else:
        fill_mask(g, e.seat, settings.hands, mask)


# --- many environments ----------------------------------------------------------------------------------------------


@jit
def advance_rows(
    part: Part,
    games: np.ndarray,
    episodes: np.ndarray,
    rows: np.ndarray,
    work: int,
    arguments: np.ndarray,
    settings: Settings,
    starts: Starts,
    observations: np.ndarray,
    masks: np.ndarray,
) -> None:
    """STEP (by actions), START (episodes of these numbers) or GO_ON in rows [R]; fill what the learner sees there.

    observations [N, W] and masks [N, A] are left as they were where Python must do something before.
    """
    for r in range(*part):
        row = rows[r]
        g, e = games[row], episodes[row]
        if work == STEP:
            act(g, e, arguments[r], settings)
        elif work == START:
            start(g, e, arguments[r], settings)
        else:
            go_on(g, e, settings)
        if e.status < ASKED:
            show_learner(g, e, settings, starts, observations[row], masks[row])


@jit
def first_illegal(games: np.ndarray, episodes: np.ndarray, actions: np.ndarray, hands: int, mask: np.ndarray) -> int:
    """First row whose learner must choose and may not do so, and in mask [A] what it may do; or -1.

    By the game, not by the masks that were shown: a wrapper may have written into those.
    """
    for row in range(len(games)):
        if episodes[row].status == LEARNER:
            fill_mask(games[row], episodes[row].seat, hands, mask)
            if not 0 <= actions[row] < len(mask) or mask[actions[row]] == 0:
                return row
    return -1
