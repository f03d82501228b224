"""Who asks for the past of its match finds in an environment what the same games show anywhere else."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import gymnasium
import numpy as np
import pytest

from deepcrib.agents import make_agent
from deepcrib.envs import cribbage_v1, deepcrib_action
from deepcrib.errors import OptionError
from deepcrib.game.engine import Games
from deepcrib.game.observations import PlayObservation
from deepcrib.game.past import PastHands
from deepcrib.matches.games import play_hand, play_match
from tests.game.test_past import Watching

SEED = 18
Seen = dict[tuple[int, ...], bytes]


def seen_by(*agents: Watching) -> Seen:
    """The past before each decision, by game, hand, seat and cards on the table."""
    found: Seen = {}
    for observation in (observation for agent in agents for observation in agent.seen):
        played = (observation.history >= 0).sum(axis=1) if isinstance(observation, PlayObservation) else None
        for row in range(len(observation)):
            numbers = observation.game[row], observation.hand_number[row], observation.seat[row]
            cards = -1 if played is None else played[row]
            found[(*map(int, numbers), int(cards))] = observation.past.of(row).tobytes()
    return found


def played_apart(episodes: list[int], first_dealer: int, agents: list[Any]) -> np.ndarray:
    """The hands of a match of these games, agents by seat, as the engine notes them when no environment drives it."""
    past = PastHands(1)
    for place, number in enumerate(episodes):
        games = Games([number], SEED, first_dealer=[(first_dealer + place) % 2], past=past)
        while len(games.unfinished):
            play_hand(games, agents, np.array([[0, 1]]))
        past.next_game()
    return past.records[0, : past.lengths[0]]


def checked(seen: Seen, episodes: list[int], first_dealer: int, agents: list[Any]) -> np.ndarray:
    """The hands of a match, of which those that were finished were seen at each decision, and nothing else."""
    hands = played_apart(episodes, first_dealer, agents)
    decisions = [key for key in seen if key[0] in episodes]
    assert {key[0] for key in decisions} == set(episodes)
    for game, hand, *which in decisions:
        before = (hands["game"] < episodes.index(game)) | (
            (hands["game"] == episodes.index(game)) & (hands["hand_number"] < hand)
        )
        assert seen[game, hand, *which] == hands[before].tobytes()
    return hands


def test_a_match_is_that_of_play_match() -> None:
    """Where an environment's cut and seat are those of `play_match`, so is all that both agents see, and the result."""
    learner, opponent = Watching("greedy"), Watching("deterministic")
    env = gymnasium.make("deepcrib/Cribbage-v1", opponent=opponent, games_per_match=3)
    scores, seats, dealers = [], [], []
    _, info = env.reset(seed=SEED)
    for number in range(36):
        assert (info["episode_number"], info["game"]) == (number, number % 3)
        seats.append(info["seat"])
        dealers.append(int(env.unwrapped.vector.state["first_dealer"][0]))
        over = False
        while not over:
            _, _, over, _, info = env.step(deepcrib_action(env, learner))
        scores.append(info["scores"].tolist())
        _, info = env.reset()
    assert (np.reshape(seats, (12, 3)) == np.array(seats[::3])[:, None]).all() and set(seats) == {0, 1}
    assert (np.diff(np.reshape(dealers, (12, 3))) != 0).all()
    two = Watching("greedy"), Watching("deterministic")
    result = play_match(two, 36, SEED, games_per_match=3)
    seen, expected = seen_by(learner, opponent), seen_by(*two)
    same = [m for m in range(12) if seats[3 * m] == m % 2 and dealers[3 * m] == m // 2 * 3 % 2]
    assert len(same) == 6
    for game in (3 * match + place for match in same for place in range(3)):
        assert scores[game] == result.scores[game].tolist()
        keys = [key for key in expected if key[0] == game]
        assert len(keys) > 50 and all(seen[key] == expected[key] for key in keys)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
@pytest.mark.parametrize("games_per_match", [1, 2])
def test_matches_side_by_side(mode: str, games_per_match: int) -> None:
    """Environments end their matches at different times, and more matches are played than a store has rows."""
    learner, opponent = Watching("greedy"), Watching("deterministic")
    options: dict[str, Any] = {"opponent": opponent, "autoreset_mode": mode, "games_per_match": games_per_match}
    env = gymnasium.make_vec("deepcrib/Cribbage-v1", num_envs=3, **options)
    _, info = env.reset(seed=SEED)
    begun: dict[int, tuple[int, int]] = {}
    while info["episode_number"].min() < 3 * 5 * games_per_match:
        state = env.unwrapped.state
        for number, seat, dealer in zip(state["number"], state["seat"], state["first_dealer"], strict=True):
            begun[int(number)] = int(seat), int(dealer)
        _, _, over, _, info = env.step(deepcrib_action(env, learner))
        if mode == "Disabled" and over.any():
            _, info = env.reset(options={"reset_mask": over})
    seen, stores = seen_by(learner, opponent), {id(each.past.hands): each.past.hands for each in opponent.seen}
    thrown = []
    for first in (i + 3 * games_per_match * match for match in range(5) for i in range(3)):
        seat, dealer = begun[first]
        agents = [make_agent("greedy"), make_agent("deterministic")][:: -1 if seat else 1]
        hands = checked(seen, [first + 3 * place for place in range(games_per_match)], dealer, agents)
        thrown += [min(max(cards), 0) for cards in hands["discards"].reshape(len(hands), -1).tolist()]
    assert set(thrown) == {-1, 0}  # a crib that was never shown is not told
    assert len(stores) > 2 and {store.records.shape[0] for store in stores.values()} == {6}


def test_a_match_in_pettingzoo() -> None:
    """The seats stay, `reset` begins the next game, a seed another match."""
    agents = Watching("greedy"), Watching("deterministic")
    env = cribbage_v1.env(games_per_match=2)
    dealers: dict[int, int] = defaultdict(int)
    for number in range(4):
        env.reset(seed=SEED if number == 0 else None)
        dealers[number] = int(env.unwrapped.games.dealer[0])
        for name in env.agent_iter():
            env.step(deepcrib_action(env, agents[int(name[-1])]))
    seen = seen_by(*agents)
    for first in (0, 2):
        checked(seen, [first, first + 1], dealers[first], [agents[0].by, agents[1].by])
    env.reset(seed=SEED)
    again = Watching("greedy")
    deepcrib_action(env, again)
    assert len(again.seen[0].past.of(0)) == 0


def test_a_match_of_hands_from_nothing_to_nothing() -> None:
    """Each hand is a game of its own, and all of them are shown whole."""
    watching = Watching("random")
    env = gymnasium.make_vec("deepcrib/CribbagePlay-v1", 4, opponent=watching, episode="hand", games_per_match=5)
    env.reset(seed=SEED)
    for _ in range(40):
        env.step(env.unwrapped.masks.argmax(axis=1))
    places = {tuple(each.past.of(i)["game"].tolist()) for each in watching.seen for i in range(len(each))}
    assert places == {tuple(range(length)) for length in range(5)}
    assert all((each.past.of(i)["discards"] >= 0).all() for each in watching.seen for i in range(len(each)))


def test_matches_show_no_other_cards() -> None:
    """The first game of a match is what it is without one; later ones have its cards."""
    one, many = (
        gymnasium.make_vec("deepcrib/Cribbage-v1", 40, games_per_match=number, autoreset_mode="Disabled")
        for number in (1, 3)
    )
    (first, told), (again, info) = one.reset(seed=SEED), many.reset(seed=SEED)
    assert (first["observation"] == again["observation"]).all() and set(info) - set(told) == {"game", "_game"}
    assert one.unwrapped.games.past is None
    one.reset(), many.reset()
    assert (one.unwrapped.games.state.dealt == many.unwrapped.games.state.dealt).all()


def test_an_agent_that_is_asked_late_is_refused() -> None:
    """It would miss hands; from the next reset on it misses none."""
    env, asked = gymnasium.make("deepcrib/Cribbage-v1"), Watching("greedy")
    env.reset(seed=SEED)
    while env.unwrapped.vector.games.state.hand_number[0] == 0:
        env.step(deepcrib_action(env, make_agent("greedy")))
    for _ in range(2):
        with pytest.raises(OptionError, match="watching greedy uses the past: expected to be asked from the first"):
            deepcrib_action(env, asked)
    env.reset()
    while env.unwrapped.vector.games.state.hand_number[0] < 3:
        env.step(deepcrib_action(env, asked))
    deepcrib_action(env, asked)
    assert asked.seen[-1].past.of(0)["hand_number"].tolist() == [0, 1, 2]
    table = cribbage_v1.env()
    table.reset(seed=SEED)
    while table.unwrapped.games.state.hand_number[0] == 0:
        table.step(deepcrib_action(table, make_agent("greedy")))
    with pytest.raises(OptionError, match="watching greedy uses the past"):
        deepcrib_action(table, asked)
    for number in (0, 2.5):
        with pytest.raises(OptionError, match=f"games_per_match={number}: expected a whole number, 1 or more"):
            gymnasium.make("deepcrib/Cribbage-v1", games_per_match=number)
