"""The environments show what a player may see, pay what the engine counts, and keep the rules of their libraries."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, render_test, seed_test

from deepcrib.agents import make_agent
from deepcrib.envs import ENVIRONMENTS, PolicyAgent, cribbage_v1, deepcrib_action, encode, observation_spec
from deepcrib.envs.observation import BlockStarts, block_starts, fill_rows, num_actions, num_discards
from deepcrib.errors import OptionError, UserError
from deepcrib.exact.experts import experts
from deepcrib.game.engine import Games, IllegalActionError, Turns
from deepcrib.game.engine.phases import DISCARD, OVER, PLAY
from deepcrib.game.engine.state import game_dtype
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.policies import POLICIES
from deepcrib.matches import play_match
from tests.support import brute_force, reference
from tests.support.hidden import shuffled_behind
from tests.support.turns import settle

PLAYERS = (2, 3, 4)
COMPILED_PLAYERS = (2, 3, pytest.param(4, marks=pytest.mark.slow))  # each compiles its own kernels, half a minute
GAME, PLAY_ONLY, BANDIT = ENVIRONMENTS


def make(name: str, **options: Any) -> gymnasium.Env:
    return gymnasium.make(name, **options)


# --- the observation ----------------------------------------------------------------------------------------------


def seen_by(games: Games, rows: np.ndarray, seats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vectors and masks of games `rows` for seats."""
    players = games.num_players
    vectors = np.empty((len(rows), observation_spec(players).width), dtype=np.int8)
    masks = np.empty((len(rows), num_actions(players)), dtype=np.int8)
    records = games.state.view(game_dtype(players), np.ndarray)[rows]
    fill_rows((0, len(records)), records, seats, 0, block_starts(players), vectors, masks)
    return vectors, masks


def decisions(games: Games) -> Any:
    """Every decision of games, asked seat by seat: (rows, the engine's observation)."""
    turns = Turns(games)
    settle(turns)
    while (turns.phase != OVER).any():
        for phase, observe in ((DISCARD, turns.discard_observation), (PLAY, turns.play_observation)):
            rows = np.flatnonzero(turns.phase == phase)
            if len(rows):
                shown = observe(rows)
                yield rows, shown
                turns.choose(rows, reference.by_key(shown))
                settle(turns)


def ones(vector: np.ndarray, spec: Any, block: str) -> list[list[int]]:
    """Channels with a 1 in each row of a block."""
    b = spec[block]
    return [np.flatnonzero(row).tolist() for row in vector[b.slice].reshape(-1, len(b.channels))]


def decoded(vector: np.ndarray, players: int) -> dict[str, Any]:
    """What a vector says, in the engine's terms, with seats from the observer."""
    spec = observation_spec(players)
    ranks, suits = ones(vector, spec, "hand_ranks"), ones(vector, spec, "hand_suits")
    assert all(len(r) == len(s) <= 1 for r, s in zip(ranks, suits, strict=True))
    tens, units = ones(vector, spec, "score_tens"), ones(vector, spec, "score_units")
    for row in tens + units:
        assert row == list(range(len(row)))  # as a thermometer
    return {
        "hand": [4 * r[0] + s[0] if r else -1 for r, s in zip(ranks, suits, strict=True)],
        "discards": ones(vector, spec, "discards")[0],
        "starter": ones(vector, spec, "starter")[0],
        "series": [row[0] for row in ones(vector, spec, "series") if row],
        "count": ones(vector, spec, "count")[0],
        "played": ones(vector, spec, "played"),
        "left": [row[0] for row in ones(vector, spec, "cards_left")],
        "goes": ones(vector, spec, "goes")[0],
        "dealer": ones(vector, spec, "dealer")[0],
        "phase": ones(vector, spec, "phase")[0],
        "scores": [10 * len(ten) + len(unit) for ten, unit in zip(tens, units, strict=True)],
    }


def expected(shown: DiscardObservation | PlayObservation, row: int, players: int) -> dict[str, Any]:
    """The same from the engine's observation."""
    seat = int(shown.seat[row])
    hand = shown.hand[row].tolist()
    said = {
        "hand": hand + [-1] * ({2: 6, 3: 5, 4: 5}[players] - len(hand)),
        "discards": [],
        "starter": [],
        "series": [],
        "count": [0],
        "played": [[] for _ in range(players)],
        "left": [4] * players,
        "goes": [],
        "dealer": [(int(shown.dealer[row]) - seat) % players],
        "phase": [0],
        "scores": np.roll(shown.scores[row], -seat).tolist(),
    }
    if isinstance(shown, PlayObservation):
        laid = [card for card in shown.history[row].tolist() if card >= 0]
        seats = [(int(who) - seat) % players for who in shown.history_seats[row][: len(laid)]]
        played = [sorted(card for card, who in zip(laid, seats, strict=True) if who == p) for p in range(players)]
        said |= {
            "discards": sorted(shown.discards[row].tolist()),
            "starter": [int(shown.starter[row])],
            "series": [card // 4 for card in laid[int(shown.series_start[row]) :]][::-1][:7],
            "count": [int(shown.count[row])],
            "played": played,
            "left": [4 - len(cards) for cards in played],
            "goes": sorted((seat_ - seat) % players for seat_ in np.flatnonzero(shown.goes[row]).tolist()),
            "phase": [1],
        }
    return said


@pytest.mark.parametrize("players", COMPILED_PLAYERS)
def test_the_vector_says_what_the_engine_shows_and_nothing_hidden_changes_it(players: int) -> None:
    rng = np.random.default_rng(40)
    games = Games(np.arange(6), 11, num_players=players)
    for number, (rows, shown) in enumerate(decisions(games)):
        vectors, masks = seen_by(games, rows, shown.seat)
        assert set(np.unique(vectors)) == {0, 1}
        discards = num_discards(players)
        if isinstance(shown, PlayObservation):
            assert (masks[:, discards:] == shown.legal).all() and not masks[:, :discards].any()
        else:
            assert masks[:, :discards].all() and not masks[:, discards:].any()
        assert decoded(vectors[number % len(rows)], players) == expected(shown, number % len(rows), players)
        again, masks_again = encode(shown)  # from the engine's observation alone, which holds nothing hidden
        assert (again == vectors).all() and (masks_again == masks).all()
        if number % 10 == 0:
            seats = np.zeros(len(games), dtype=np.int8)
            seats[rows] = shown.seat
            other = shuffled_behind(games, seats, rng)
            assert (other.state.dealt[rows] != games.state.dealt[rows]).any()
            assert (seen_by(other, rows, shown.seat)[0] == vectors).all()


def test_the_page_shows_the_table_of_the_vector() -> None:
    page = (Path(__file__).parents[2] / "docs" / "environments.md").read_text(encoding="utf-8")
    specs = [observation_spec(players) for players in PLAYERS]
    lines = ["| block | kind | 2 players | 3 players | 4 players | meaning |", "|---|---|---|---|---|---|"]
    for blocks in zip(*(spec.blocks for spec in specs), strict=True):
        places = [f"{block.start}: {' x '.join(map(str, block.shape))}" for block in blocks]
        (head,) = {(block.name, block.kind, block.meaning) for block in blocks}
        lines.append(f"| {head[0]} | {head[1]} | {' | '.join(places)} | {head[2]} |")
    assert "\n".join(lines) + "\n" in page
    assert "of {}, {} or {} channels".format(*(spec.width for spec in specs)) in page
    assert all(tuple(block.name for block in spec.blocks) == BlockStarts._fields for spec in specs)


# --- one game -------------------------------------------------------------------------------------------------------


def played(env: gymnasium.Env, agent: Any, seed: int, episode: int = 0) -> tuple[float, dict[str, Any]]:
    """Sum of the rewards of an episode played as an agent does, and the last info."""
    env.reset(seed=seed, options={"episode": episode})
    total, over = 0.0, False
    while not over:
        _, reward, over, _, info = env.step(deepcrib_action(env, agent))
        total += reward
    return total, info


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_gymnasium_finds_no_fault(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(name).unwrapped)
    assert "learner" in capsys.readouterr().out  # render_mode="human"


@pytest.mark.parametrize("players", COMPILED_PLAYERS)
def test_a_game_is_the_engines(players: int) -> None:
    """The same agents on the same cards play the same game, whoever sits in the environment's chair."""
    codes = ["greedy", "deterministic", "random"]
    others = [make_agent(name) for name in codes[: players - 1]]
    env = make(GAME, num_players=players, opponent=others)
    for episode in range(20):
        total, info = played(env, make_agent("greedy"), 5, episode)
        table = Games([episode], 5, num_players=players)
        seats = np.roll(["greedy", *codes[: players - 1]], info["seat"])
        table.play_scripted(np.array([[POLICIES[name] for name in seats]], dtype=np.int8))
        assert info["scores"].tolist() == np.roll(table.scores[0], -info["seat"]).tolist()
        assert total == info["scores"][0]


def test_a_policy_is_measured_as_an_agent() -> None:
    first = PolicyAgent(lambda vectors, masks: masks.argmax(axis=1), discards="greedy")
    result = play_match([first, make_agent("random")], 40, 3)
    assert (result.winner == 0).mean() > 0.5  # greedy discards against random ones


@pytest.mark.parametrize("players", COMPILED_PLAYERS)
@pytest.mark.parametrize("name", [GAME, PLAY_ONLY])
def test_margins_and_wins(name: str, players: int) -> None:
    for episode in range(4):
        points, info = played(make(name, num_players=players, seat=1), make_agent("random"), 6, episode)
        assert info["seat"] == 1
        margin, same = played(
            make(name, num_players=players, seat=1, reward="margin"), make_agent("random"), 6, episode
        )
        assert same["scores"].tolist() == info["scores"].tolist()
        won, _ = played(make(name, num_players=players, seat=1, reward="win"), make_agent("random"), 6, episode)
        assert won == (1 if info["scores"][0] == 121 else -1)
        if name == GAME:
            assert points == info["scores"][0]
            assert margin == pytest.approx(points - info["scores"][1:].mean())


def test_the_play_alone_pays_the_points_of_the_play() -> None:
    env = make(PLAY_ONLY, episode="hand", num_players=3, discards="random", opponent="random")
    for episode in range(20):
        total, info = played(env, make_agent("random"), 2, episode)
        games = env.unwrapped.vector.games
        game, seat = games.records[0], info["seat"]
        assert total == game["play_points"][game["history_seats"] == seat].sum()
        assert games.state.hand_number[0] == 0 and info["scores"][0] >= total
        assert games.state.discards[0, seat, 0] >= 0


# --- the discard alone ----------------------------------------------------------------------------------------------


def test_exact_rewards_are_counted_card_by_card() -> None:
    """46 starters for the hand; 45,540 cribs, each as often as an expert throws its two ranks."""
    env = make(BANDIT, reward="exact")
    for episode, action in ((0, 3), (1, 14)):
        env.reset(seed=1, options={"episode": episode})
        state, seat = env.unwrapped.vector.games.state, int(env.unwrapped.vector.state["seat"][0])
        hand, dealer = state.dealt[0, seat].tolist(), bool(state.dealer[0] == seat)
        _, reward, over, _, _ = env.step(action)
        points, cribs = brute_force.crib_sums(hand, experts().pone if dealer else experts().dealer)
        own = brute_force.hand_points(hand).mean(axis=1)
        assert over and reward == pytest.approx((own + (1 if dealer else -1) * points / cribs)[action])


@pytest.mark.parametrize("players", COMPILED_PLAYERS)
def test_sampled_rewards_are_the_hand_and_the_crib(players: int) -> None:
    env = make(BANDIT, num_players=players)
    roles = set()
    for episode in range(20):
        env.reset(seed=4, options={"episode": episode})
        _, reward, over, _, info = env.step(episode % num_discards(players))
        state, seat = env.unwrapped.vector.games.state[0], info["seat"]
        thrown = [card for cards in state.discards.tolist() for card in cards]
        crib = thrown + [int(state.hidden[1])] * (players == 3)
        dealer = state.dealer == seat
        own = reference.show(state.kept[seat].tolist(), int(state.starter))
        assert reward == own + (1 if dealer else -1) * reference.show(crib, int(state.starter), True)
        assert over
        roles.add(bool(dealer))
    assert roles == {True, False}


# --- wrong calls ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_an_illegal_action_ends_the_episode_or_is_refused(name: str) -> None:
    for wrong in (16, 18) if name != PLAY_ONLY else (0, 14):
        env = make(name)
        env.reset(seed=1)
        observation, reward, over, _, info = env.step(wrong)
        assert (reward, over, info["illegal"]) == (-121, True, True)
        assert observation["action_mask"].all()
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step(0)
        assert env.reset()[1]["illegal"] is False
        env = make(name, on_illegal="raise")
        before, _ = env.reset(seed=1)
        with pytest.raises(IllegalActionError, match=f"game 0, hand 0, seat .*{wrong}: expected one of"):
            env.step(wrong)
        assert (env.unwrapped.vector.observations[0] == before["observation"]).all()
        assert not env.unwrapped.vector.over[0]
        _, _, _, _, info = env.step(int(before["action_mask"].argmax()))  # it goes on
        assert info["illegal"] is False
    env = make(name, illegal_reward=-7.5)
    env.reset(seed=1)
    assert env.step(wrong)[1] == -7.5


def test_a_mask_that_was_written_into_allows_and_forbids_nothing() -> None:
    """What a step may do is the game's to say, not the array's that a wrapper has narrowed or widened."""
    env = make(GAME, on_illegal="raise")
    observation, _ = env.reset(seed=1)
    illegal = int(observation["action_mask"].argmin())
    observation["action_mask"][:] = 1
    with pytest.raises(IllegalActionError, match=f"action {illegal}: expected"):
        env.step(illegal)
    observation["action_mask"][:] = 0
    _, _, _, _, info = env.step(0)
    assert info["illegal"] is False


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (GAME, {"num_players": 5}, "num_players=5: expected 2, 3 or 4"),
        (GAME, {"num_players": 2.0}, "num_players=2.0: expected 2, 3 or 4"),
        (GAME, {"reward": "win", "episode": "hand"}, "reward='win': expected episode='game'"),
        (GAME, {"dealing": "low"}, "dealing=low: expected one of acc, random_dealer"),
        (GAME, {"opponent": "gredy"}, "unknown agent 'gredy'"),
        (GAME, {"opponent": "expected_value", "num_players": 3}, "plays with 2 players, not 3"),
        (GAME, {"illegal_reward": float("nan")}, "illegal_reward=nan: expected a number"),
        (GAME, {"seat": 2}, "seat=2: expected None or 0..1"),
        (GAME, {"opponents": "greedy"}, "unknown option 'opponents' of the environment"),
        (GAME, {"opponent": ["greedy", "greedy"]}, "opponent has 2 agents, expected 1"),
        (GAME, {"render_mode": "svg"}, "render_mode='svg': expected None or one of ansi, human, rgb_array"),
        (GAME, {"discards": "greedy"}, "unknown option 'discards'"),
        (GAME, {"decisions": "bids"}, "decisions=bids: expected one of all, play, discard"),
        (BANDIT, {"reward": "exact", "num_players": 3}, "reward='exact': expected num_players=2, not 3"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*render_mode")
def test_options_that_there_are_not(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        make(name, **options)


@pytest.mark.parametrize("number", [-1, 1.5, "x", 2**63])
def test_numbers_of_episodes_are_checked(number: Any) -> None:
    for env in (make(GAME), cribbage_v1.env()):
        with pytest.raises(OptionError, match=f"episode={number!r}: expected 0"):
            env.reset(seed=1, options={"episode": number})
    with pytest.raises(OptionError, match="expected 0"):
        cribbage_v1.env().reset(seed=number)
    with pytest.raises(OptionError, match="seed=9223372036854775808"):
        make(GAME).reset(seed=2**63)


@pytest.mark.parametrize("action", [0.7, 3.0, float("nan"), None, "3"])
def test_actions_that_are_no_whole_numbers_are_refused_not_rounded(action: Any) -> None:
    env, table = make(GAME).unwrapped, cribbage_v1.raw_env()
    for one in (env, table):
        one.reset(seed=1)
    with pytest.raises(ValueError, match="expected whole numbers"):
        env.step(action)
    with pytest.raises(TypeError):
        table.step(action)
    assert env.step(np.int8(3))[4]["illegal"] is False


def test_what_is_not_installed_is_named() -> None:
    """The game needs neither library; the environments say what to install."""
    code = """
import sys
import deepcrib.matches
from deepcrib.errors import OptionError
assert not {"gymnasium", "pettingzoo"} & set(sys.modules)
for missing in ("gymnasium", "pettingzoo"):
    sys.modules[missing] = None
    try:
        from deepcrib.envs import cribbage_v1
    except OptionError as error:
        print(error)
    del sys.modules[missing]
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    advice = "which is not installed: pip install -e '.[envs]' in the repository of deepcrib"
    assert first == f"deepcrib.envs: expected Gymnasium, {advice}"
    assert second == f"deepcrib.envs.cribbage_v1: expected PettingZoo, {advice}"


def test_the_board_is_drawn() -> None:
    for new in (make(GAME, render_mode="ansi").unwrapped, cribbage_v1.raw_env(render_mode="ansi")):
        with pytest.raises(gymnasium.error.ResetNeeded):
            new.render()
    render_test(cribbage_v1.env)
    env = make(GAME, render_mode="ansi", opponent="random")
    env.reset(seed=1)
    text = env.render()
    assert "learner" in text and "random" in text
    picture = make(GAME, render_mode="rgb_array")
    picture.reset(seed=1)
    assert picture.render().dtype == np.uint8
    assert make(GAME).unwrapped.render() is None


def test_masks_reach_through_wrappers() -> None:
    env = gymnasium.wrappers.TimeLimit(make(GAME), 100)
    observation, info = env.reset(seed=1)
    masks = env.get_wrapper_attr("action_masks")()
    assert masks.dtype == bool
    assert (masks == observation["action_mask"]).all() and (masks == info["action_mask"]).all()


# --- PettingZoo -----------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:Observation")
@pytest.mark.parametrize("players", COMPILED_PLAYERS)
@pytest.mark.parametrize("reward", ["points", "win"])
def test_pettingzoo_finds_no_fault(players: int, reward: str, capfd: pytest.CaptureFixture[str]) -> None:
    api_test(cribbage_v1.env(num_players=players, reward=reward), num_cycles=60)
    api_test(cribbage_v1.raw_env(num_players=players, episode="hand"), num_cycles=20)
    seed_test(lambda: cribbage_v1.env(num_players=players, reward=reward), num_cycles=20)
    assert "illegal" not in capfd.readouterr().out.lower()


@pytest.mark.parametrize("players", COMPILED_PLAYERS)
@pytest.mark.parametrize("reward", ["points", "margin", "win"])
def test_rewards_of_all_players(players: int, reward: str) -> None:
    agent = make_agent("greedy")
    env = cribbage_v1.env(num_players=players, reward=reward)
    env.reset(seed=8, options={"episode": 3})
    totals = dict.fromkeys(env.agents, 0.0)
    for name in env.agent_iter():
        observation, gained, over, _, _ = env.last()
        assert observation["action_mask"].any() != over
        totals[name] += gained
        others = [other for other in env.agents if other != name]
        assert not any(env.observe(other)["action_mask"].any() for other in others)
        env.step(deepcrib_action(env, agent))
    table = Games([3], 8, num_players=players)
    table.play_scripted(np.full((1, players), POLICIES["greedy"], dtype=np.int8))
    scores = table.scores[0].astype(float)
    wanted = {
        "points": scores,
        "margin": scores - (scores.sum() - scores) / (players - 1),
        "win": np.where(np.arange(players) == table.winner[0], 1.0, -1.0),
    }[reward]
    assert list(totals.values()) == pytest.approx(wanted.tolist())
    assert reward != "margin" or sum(totals.values()) == pytest.approx(0)


def test_illegal_actions_in_pettingzoo() -> None:
    env = cribbage_v1.env()
    env.reset(seed=1)
    chosen = env.agent_selection
    env.step(18)
    assert all(env.terminations.values())
    assert env.rewards == {name: -121.0 if name == chosen else 0 for name in env.agents}
    env = cribbage_v1.env(on_illegal="raise")
    env.reset(seed=1)
    with pytest.raises(IllegalActionError, match=r"action 18: expected one of \[0, 1, .* 14\]"):
        env.step(18)
    with pytest.raises(AssertionError, match="not in action space"):
        env.step(19)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked on this system")
def test_a_forked_process_makes_threads_of_its_own() -> None:
    """Those of its parent do not outlive the fork: a process that waited for them would never end."""
    code = """
import os
import numpy as np
from deepcrib.envs import ENVIRONMENTS, CribbageVectorEnv, random_actions
from deepcrib.kernels.workers import _workers
def steps():
    env = CribbageVectorEnv(600, opponent="expected_value")
    observation, _ = env.reset(seed=1)
    for _ in range(20):
        observation = env.step(random_actions(observation["action_mask"], np.random.default_rng(0)))[0]
    return int(observation["observation"].sum())
before = steps()
print(_workers()._max_workers)
if os.fork():
    os.wait()
else:
    print(steps() == before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.split() == ["2", "True"]


# --- copies ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("opponent", ["greedy", "expected_value"])
def test_a_copy_goes_on_alone_and_as_the_original_would(copied: Callable[[Any], Any], opponent: str) -> None:
    """At every step the lowest legal action."""

    def go_on(env: gymnasium.Env, steps: int) -> list[tuple[Any, ...]]:
        taken: list[tuple[Any, ...]] = []
        for _ in range(steps):
            observation, reward, over, _, info = env.step(int(env.unwrapped.action_masks().argmax()))
            taken.append((observation["observation"].tolist(), reward, over, info["scores"].tolist()))
        return taken

    env = make(GAME, opponent=opponent)
    env.reset(seed=3)
    go_on(env, 7)
    branch = copied(env)
    there = go_on(branch, 30)
    assert go_on(env, 30) == there
