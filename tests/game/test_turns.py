"""Games asked seat by seat go as they do phase by phase, and stop where a seat must choose."""

import numpy as np
import pytest

from deepcrib.agents import make_agent
from deepcrib.game.engine import Games, IllegalActionError, Turns
from deepcrib.game.engine.phases import DEAL, DISCARD, OVER, PLAY, SHOW, STARTER, begin_game
from deepcrib.matches import play_hand
from tests.support.turns import settle


def ask(turns: Turns, agent) -> None:
    """One choice in every game that waits for one."""
    rows = np.flatnonzero(turns.phase == DISCARD)
    if len(rows):
        turns.choose(rows, agent.discard(turns.discard_observation(rows)))
        settle(turns)
    rows = np.flatnonzero(turns.phase == PLAY)
    if len(rows):
        turns.choose(rows, agent.play(turns.play_observation(rows)))
        settle(turns)


@pytest.mark.parametrize("num_players", [2, 3, 4])
@pytest.mark.parametrize("stop", [True, False])
def test_seat_by_seat_is_the_same_game_as_phase_by_phase(num_players: int, stop: bool) -> None:
    agent = make_agent("random")
    options = {"num_players": num_players, "stop_at_121": stop}
    phased, asked = (Games(np.arange(50), 3, **options) for _ in range(2))
    seating = np.zeros((50, num_players), dtype=np.int64)
    while len(phased.unfinished):
        play_hand(phased, [agent], seating)
    turns = Turns(asked)
    settle(turns)
    while (turns.phase != OVER).any():
        assert ((turns.phase == DISCARD) | (turns.phase == PLAY) | (turns.phase == OVER)).all()
        ask(turns, agent)
    for name in ("scores", "winner", "hand_number", "points", "counts", "dealer"):
        assert (asked.state[name] == phased.state[name]).all(), name


def test_steps_come_in_the_order_of_the_rules() -> None:
    turns = Turns(Games([5], 1, first_dealer=[1]))
    rows, seen = np.array([0]), []
    while not turns.games.state.shown[0]:
        seen.append((int(turns.phase[0]), int(turns.seat[0])))
        if turns.phase[0] == DISCARD:
            turns.choose(rows, [0])
        elif turns.phase[0] == PLAY:
            turns.choose(rows, turns.play_observation(rows).legal.argmax(axis=1))
        else:
            turns.step(rows)
    assert seen[:4] == [(DEAL, -1), (DISCARD, 0), (DISCARD, 1), (STARTER, -1)]  # the pone, then the dealer
    assert seen[4] == (PLAY, 0)
    assert len(seen) == 13 and seen[-1] == (SHOW, -1)
    assert turns.games.state.hand_number[0] == 0 and turns.seat[0] == -1


def test_choices_out_of_turn_are_refused() -> None:
    turns = Turns(Games([7], 2))
    with pytest.raises(IllegalActionError, match="game 7: nobody chooses now .deal."):
        turns.choose(np.array([0]), [0])
    settle(turns)
    with pytest.raises(IllegalActionError, match="discard action 15 is not one of 0..14"):
        turns.choose(np.array([0]), [15])


def test_a_record_begins_anew_as_a_new_game_does() -> None:
    used, fresh = Games([1], 4), Games([8], 4)
    turns = Turns(used)
    settle(turns)
    for _ in range(30):
        ask(turns, make_agent("greedy"))
    begin_game(used.state.view(np.ndarray)[0], 8, 4, -1)
    again, first = Turns(used), Turns(fresh)
    settle(again)
    settle(first)
    assert (again.discard_observation(np.array([0])).hand == first.discard_observation(np.array([0])).hand).all()
    for name in ("game", "dealer", "scores", "points", "counts", "kept", "starter", "turn", "hand_number"):
        assert (used.state[name] == fresh.state[name]).all(), name


def test_given_cards_are_dealt() -> None:
    games = Games([0], 1)
    cards = np.arange(12).reshape(1, 2, 6)[:, :, ::-1]
    games.deal_cards(np.array([0]), cards, [[40, 51]], [1])
    assert games.dealer[0] == 1
    assert games.state.dealt[0].tolist() == [list(range(6)), list(range(6, 12))]
    games.discard(np.array([0, 0]), [0, 1], [0, 0])
    games.start_play()
    assert games.state.starter[0] == 40 and games.turn[0] == 0
    for wrong, hidden in ((cards, [[40, 40]]), (cards, [[40, 52]]), (cards * 0, [[40, 51]])):
        with pytest.raises(ValueError, match="distinct"):
            games.deal_cards(np.array([0]), wrong, hidden, [1])
