"""The plain-Python environment of the benchmarks and the engine score every event alike."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from benchmarks.speed.environments import Sample, rates
from benchmarks.speed.naive_environment import DECK, FIRST_PLAY, GAME, Card, NaiveCribbage
from deepcrib.agents import make_agent
from deepcrib.game.engine import Games
from tests.support.reference import drive


def named(card: int) -> Card:
    return card // 4 + 1, card % 4


def follow(env: NaiveCribbage, state: Any, actions: np.ndarray, scores: list[int]) -> list[int]:
    """Replay one hand of one game; its scores after it by the engine's log, compared card by card."""
    dealer, capped = int(state.dealer), list(scores)

    def peg(seat: int, points: int) -> None:
        if max(capped) < GAME:
            capped[seat] = min(GAME, capped[seat] + points)

    assert env.dealer == dealer
    for seat in range(2):
        assert env.player == seat
        env.step(int(actions[seat]))
    peg(dealer, int(state.heels))
    for number in range(int(state.num_played)):
        seat, card = int(state.history_seats[number]), int(state.history[number])
        assert env.scores == capped and env.player == seat
        env.step(FIRST_PLAY + state.kept[seat].tolist().index(card))
        peg(seat, int(state.play_points[number]))
    if state.shown:
        for seat in (1 - dealer, dealer):
            peg(seat, int(state.hand_points[seat]))
        peg(dealer, int(state.crib_points))
    assert env.scores == capped and (env.winner is not None) == (max(capped) == GAME)
    return capped


@pytest.mark.parametrize("name", ["random", "greedy"])
def test_full_games_score_alike(name: str) -> None:
    agent, num_games = make_agent(name), 60
    games = Games(np.arange(num_games), 21, first_dealer=np.arange(num_games) % 2)
    hands = drive(games, lambda seen: agent.play(seen) if hasattr(seen, "legal") else agent.discard(seen))
    for row in range(num_games):
        played = [hand for hand in hands if row in hand.rows]

        def decks(played: list[Any] = played, row: int = row) -> Iterator[list[Card]]:
            for hand in played:
                one = hand.state[row]
                yield [named(card) for card in [*one.dealt.ravel().tolist(), int(one.hidden[0])]]

        env = NaiveCribbage(shuffle=decks().__next__, dealer=row % 2)
        env.reset()
        scores = [0, 0]
        for hand in played:
            scores = follow(env, hand.state[row], hand.actions[row], scores)
        assert env.winner == games.winner[row] and scores == games.scores[row].tolist()


def test_random_games_end_at_121_and_refuse_illegal_actions() -> None:
    choose = random.Random(3)
    env = NaiveCribbage(seed=4)
    for _ in range(5):
        observation, _ = env.reset()
        over = False
        while not over:
            assert set(observation["hand"]) <= {*DECK, None}
            with pytest.raises(ValueError, match="expected one of"):
                env.step(FIRST_PLAY + 4)
            observation, _, over, _, _ = env.step(choose.choice(observation["legal_actions"]))
        assert max(env.scores) == GAME > min(env.scores) and env.legal_actions() == []


def test_rates_are_those_of_all_processes_together() -> None:
    """Two processes of 2 s: 300 and 100 steps are 200 a second, 3 games 1.5, and 400 steps took 2.5 CPU seconds."""
    samples = [Sample(300, 2, 2.0, 1.5), Sample(100, 1, 2.0, 1.0)]
    assert rates(samples) == (200, 1.5, 160)
