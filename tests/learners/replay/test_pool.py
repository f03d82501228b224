"""Whom the learner meets, what it learns from such games, and what a teacher leaves in the networks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from deepcrib.agents import AgentError, make_agent
from deepcrib.game.randomness import PRETRAINING, derive
from deepcrib.kernels.workers import use_workers
from deepcrib.learners.pretraining.options import PretrainingOptions
from deepcrib.learners.pretraining.teacher import LESSONS, Exploring, TeacherPretraining, make_teacher
from deepcrib.learners.replay import play
from deepcrib.learners.replay.batch import PlayTargets, legal_plays
from deepcrib.learners.replay.monitoring import playing_metrics
from deepcrib.learners.replay.options import AlgorithmOptions, ReplayOptions, RewardOptions, contradictions
from deepcrib.learners.replay.play import Episodes, Pool
from deepcrib.learners.replay.update import LearnedNetwork
from deepcrib.matches.trajectories import Trajectories, learning_games, self_play
from deepcrib.networks import FeedForward, PlayNetworkConfig
from deepcrib.networks.encoders import compact_discard, compact_play
from deepcrib.networks.encoders.states import DISCARD_IS_DEALER, OWN_RANKS
from deepcrib.training.learner import Setting
from tests.support.checkpoints import load_weights
from tests.support.replay_runs import assert_same_runs, run, same, small
from tests.support.replaying import complete, discard_samples, learner_of, play_samples, restored, saved


class Asked:
    """An agent that writes down what it was shown and what it then did."""

    num_players = frozenset({2})

    def __init__(self, agent: Any) -> None:
        self.name, self.agent = agent.name, agent
        self.discards: list[tuple[int, ...]] = []
        self.plays: list[tuple[int, ...]] = []

    def discard(self, observation: Any) -> np.ndarray:
        actions = self.agent.discard(observation)
        self.discards += map(tuple, np.column_stack([compact_discard(observation), actions]).tolist())
        return actions

    def play(self, observation: Any) -> np.ndarray:
        slots = self.agent.play(observation)
        self.plays += map(tuple, np.column_stack([compact_play(observation), slots]).tolist())
        return slots


def meeting(opponents: Sequence[Any], **learner: Any) -> Any:
    """Settings of a small run that meets others; `small` calls those of its matches opponents."""
    settings = small(**learner)
    settings.learner.opponents = list(opponents)
    return settings


def rows_of(samples: Any) -> Counter:
    return Counter(map(tuple, np.column_stack([samples.states, samples.actions]).tolist()))


# --- whose decisions are experience -------------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["games", "hands"])
def test_samples_are_the_decisions_that_the_learner_was_asked_for(unit: str) -> None:
    """All of them, and none of the others' at the table, in games of different lengths."""
    learner = Asked(make_agent("random"))
    seating = np.array([[0, 1], [1, 0], [0, 0], [2, 0], [0, 2], [1, 0], [0, 0], [0, 1]] * 3)
    agents = [learner, make_agent("greedy"), make_agent("deterministic")]
    hands = learning_games(agents, seating, 0, 3_001, unit=unit)
    assert rows_of(discard_samples(hands, "own")) == Counter(learner.discards)
    assert rows_of(play_samples(hands, "monte_carlo", "margin", None, 0.0)) == Counter(learner.plays)
    unforced = play_samples(hands, "monte_carlo", "margin", None, 0.0, False)
    choices = [row for row in learner.plays if legal_plays(np.array(row[:-1], np.int8)).sum() > 1]
    assert rows_of(unforced) == Counter(choices)
    assert 0.5 < len(learner.discards) / (2 * len(hands)) < 0.7  # 10 of 16 seats


@pytest.mark.parametrize("forced", [True, False])
@pytest.mark.parametrize("reward", ["margin", "offensive_defensive", "offensive"])
def test_the_others_points_still_count(reward: str, forced: bool) -> None:
    """Targets are those of the same hands in which every seat learns."""
    agents = [make_agent("random"), make_agent("greedy")]
    hands = learning_games(agents, np.array([[0, 1], [1, 0]] * 40), 0, 3_002, unit="hands")
    both = Trajectories(**{f.name: getattr(hands, f.name) for f in fields(hands)} | {"learned": np.ones((80, 2))})
    arguments = ("monte_carlo", reward, None, 0.0, forced)
    every, own = play_samples(both, *arguments), play_samples(hands, *arguments)
    chosen = np.ones((80, 8), bool) if forced else legal_plays(hands.play_states).sum(axis=2) > 1
    mine = (hands.play_seats == np.array([0, 1] * 40)[:, None])[chosen]
    assert (own.targets == every.targets[mine]).all() and len(own) == mine.sum() < len(every)
    seats = np.arange(160) % 4 % 3 == 0  # seat 0 of even hands, seat 1 of odd ones
    for kind in ("own", "difference"):
        assert (discard_samples(hands, kind).targets == discard_samples(both, kind).targets[seats]).all()


@pytest.mark.parametrize("unit", ["games", "hands"])
def test_a_table_of_one_agent_is_self_play(unit: str) -> None:
    agent = make_agent("greedy")
    own = self_play(agent, 6, 10, 3_003, unit=unit)
    other = learning_games([agent, make_agent("random")], np.zeros((10, 2), int), 6, 3_003, unit=unit)
    assert all((getattr(own, f.name) == getattr(other, f.name)).all() for f in fields(own))
    assert (own.learned == 1).all()


@pytest.mark.usefixtures("many_parts")
def test_games_against_others_do_not_depend_on_batches_and_threads() -> None:
    agents = [make_agent("random"), make_agent("greedy")]
    seating = np.array([[0, 1], [1, 0], [0, 0]] * 8)
    whole = learning_games(agents, seating, 4, 3_004, unit="hands")
    use_workers(1)
    parts = [learning_games(agents, seating[k : k + 6], 4 + k, 3_004, unit="hands") for k in range(0, 24, 6)]
    joined = Trajectories.concatenate(parts)
    assert all((getattr(whole, f.name) == getattr(joined, f.name)).all() for f in fields(whole))


def test_figures_are_the_learners() -> None:
    """In self-play as means over both seats; against others, of the learner's seat alone."""
    hands = self_play(make_agent("greedy"), 0, 30, 3_005)
    assert playing_metrics(hands) == {
        "self_play/play_points_per_hand": float(hands.play_points.sum() / len(hands) / 2),
        "self_play/hand_points_per_hand": float(hands.hand_points.mean()),
        "self_play/crib_points_per_hand": float(hands.crib_points.mean()),
    }
    seating = np.array([[0, 1]] * 30 + [[0, 0]] * 10)
    met = learning_games([make_agent("greedy"), make_agent("random")], seating, 0, 3_006, unit="hands")
    found = playing_metrics(met)
    own = np.array([points[seats == 0].sum() for points, seats in zip(met.play_points, met.play_seats, strict=True)])
    other = met.play_points.sum(axis=1) - own
    assert found["self_play/play_points_per_hand"] == (own.sum() + other[30:].sum()) / 50
    ahead = own - other + met.hand_points[:, 0] - met.hand_points[:, 1]
    ahead += np.where(met.dealer == 0, met.crib_points, -met.crib_points.astype(int))
    assert found["opponents/points_ahead_per_hand"] == pytest.approx(ahead[:30].mean())
    assert found["opponents/share_of_hands"] == 0.75


# --- whom it meets ------------------------------------------------------------------------------------------


def pool(past: int = 0, **options: Any) -> Pool:
    """A pool with that many past players, which nobody asks to play."""
    made = Pool(ReplayOptions(**options), "cpu")
    made.past = {number: f"past {number}" for number in range(past)}
    return made


def met_names(made: Pool, seed: int, iteration: int, episodes: int) -> tuple[list[str], np.ndarray]:
    """(name of each episode's opponent, the learner's seat in each, -1 in self-play)."""
    players, seating = made.seating(seed, iteration, episodes)
    assert seating.shape == (episodes, 2) and (seating == 0).any(axis=1).all()
    names = ["self", *(getattr(player, "name", player) for player in players)]
    met = [names[number] for number in seating.max(axis=1)]
    return met, np.where(seating.max(axis=1) > 0, seating.argmin(axis=1), -1)


def test_opponents_are_met_as_often_as_said() -> None:
    """40,000 episodes in 10,000 groups: within four deviations of the binomial (wrong once in 3,000 seeds)."""
    made = pool(2, opponents=["greedy", "past", "random"], opponent_share=0.3)
    met, _ = met_names(made, 5, 7, 40_000)
    groups = met[::4]
    assert all(met[k::4] == groups for k in range(4))
    expected = {"self": 0.7, "greedy": 0.1, "random": 0.1, "past 0": 0.05, "past 1": 0.05}
    counts = Counter(groups)
    assert counts.keys() == expected.keys()
    for name, share in expected.items():
        assert abs(counts[name] - 10_000 * share) < 4 * (10_000 * share * (1 - share)) ** 0.5, name


def test_seats_and_deals_are_balanced_against_everyone() -> None:
    """Single hands are dealt by seat g mod 2: every opponent is met in each seat and role equally often."""
    made = pool(1, opponents=["greedy", "past"], opponent_share=0.8)
    met, seats = met_names(made, 5, 0, 4_000)
    for name in ("greedy", "past 0"):
        places = [(seats[g], g % 2) for g in range(4_000) if met[g] == name]
        assert set(Counter(places).values()) == {len(places) // 4} and len(places) > 1_000


@pytest.mark.parametrize("episodes", [1, 2, 3, 5, 8])
def test_seats_are_balanced_over_iterations_of_any_size(episodes: int) -> None:
    """The learner is in each seat as often, and dealt the first single hand as often from each."""
    made = pool(priming=["greedy"], priming_iterations=40)
    places: Counter = Counter()
    for iteration in range(40):
        _, seats = met_names(made, 5, iteration, episodes)
        games = iteration * episodes + np.arange(episodes)
        places.update(zip(seats.tolist(), (games % 2).tolist(), strict=True))
    assert places == dict.fromkeys([(0, 0), (0, 1), (1, 0), (1, 1)], 10 * episodes)


def test_who_is_met_follows_from_seed_and_iteration() -> None:
    made = pool(3, opponents=["greedy", "past"])
    found = met_names(made, 5, 2, 400)[0]
    assert met_names(pool(3, opponents=["greedy", "past"]), 5, 2, 400)[0] == found
    assert met_names(made, 5, 2, 90)[0] == found[:90]
    others = [met_names(made, *place, 400)[0] for place in [(5, 3), (6, 2), (5, 1)]]
    assert found not in others


def test_priming_comes_first() -> None:
    """Lang 2018, section 5.1: first the named agents alone, then self-play with the pool, if there is one."""
    names = ["hand_max_avg", "hand_max_min", "hand_max_poss"]
    made = pool(priming=names, priming_iterations=3)
    assert [made.meets_others(iteration) for iteration in range(5)] == [True, True, True, False, False]
    for iteration in range(3):
        assert set(met_names(made, 1, iteration, 400)[0]) == set(names)
    with_pool = pool(priming=["greedy"], priming_iterations=1, opponents=["random"], opponent_share=0.5)
    assert set(met_names(with_pool, 1, 0, 400)[0]) == {"greedy"}
    assert set(met_names(with_pool, 1, 1, 400)[0]) == {"self", "random"}


def test_without_a_past_there_is_self_play() -> None:
    made = pool(opponents=["past"], opponent_share=1.0)
    assert set(met_names(made, 1, 0, 100)[0]) == {"self"}


def test_who_cannot_be_an_opponent() -> None:
    for settings in (meeting(["greedy", "nobody"]), small(priming=["past"], priming_iterations=2)):
        with pytest.raises(AgentError, match=r"unknown agent '(nobody|past)'"):
            learner_of(settings)


def test_what_does_not_go_together() -> None:
    def refused(learner: dict[str, Any], reward: dict[str, Any]) -> list[str]:
        return list(contradictions(AlgorithmOptions("sarsa"), RewardOptions(**reward), ReplayOptions(**learner)))

    assert "learner.priming=[] learner.priming_iterations=3: " in refused({"priming_iterations": 3}, {})[0]
    assert "reward.game_bonus=20: nobody wins" in refused({"unit": "hands"}, {"game_bonus": 20.0})[0]
    sized = {"buffer_size": 80, "replacement": 0.5}
    assert "learner.unit=games and no learner.buffer_size" in refused(sized, {"game_bonus": 20.0})[0]
    assert not refused({}, {"game_bonus": 20.0, "hand_bonus": 1.0})


# --- runs with a pool ---------------------------------------------------------------------------------------


POOL = {"opponents": ("greedy", "past"), "opponent_share": 0.6, "past_every": 2, "past_kept": 2}


def test_past_players_are_the_checkpoints_of_the_run(tmp_path: Path) -> None:
    """Every second iteration joins, the two newest stay; later learning leaves them as they were."""
    run(tmp_path, meeting(iterations=7, checkpoint_every=1, **POOL))
    state = saved(tmp_path)
    assert [past["iteration"] for past in state["past"]] == [4, 6]
    for past in state["past"]:
        kept = load_weights(tmp_path / "checkpoints" / f"iterations_{past['iteration']:08d}.safetensors")
        assert same(past["play"], kept.play_network.state_dict())
        assert same(past["discard"], kept.discard_network.state_dict())
    assert not same(state["past"][0]["play"], state["past"][1]["play"])
    players = restored(meeting(iterations=7, **POOL), tmp_path).episodes.pool.seating(1, 7, 8)[0]
    assert [player.name for player in players] == ["greedy", "past 4", "past 6"]
    assert [player.epsilon for player in players[1:]] == [0.0, 0.0]


def test_a_run_learns_from_its_own_seat_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against others in every hand: half of the decisions are samples, and the buffer says which."""
    learners = []

    def spy(agents: Sequence[Any], *args: Any, **options: Any) -> Trajectories:
        learners.append(Asked(agents[0]))
        return learning_games([learners[-1], *agents[1:]], *args, **options)

    monkeypatch.setattr(play, "learning_games", spy)
    figures: list[dict[str, float]] = []
    settings = meeting(["greedy", "random"], iterations=2, epochs_kept=5, opponent_share=1.0)
    run(tmp_path, settings, progress=lambda done, found: figures.append(dict(found)))
    assert [len(learner.discards) for learner in learners] == [20, 20]
    assert [len(learner.plays) for learner in learners] == [80, 80]
    assert [found["opponents/share_of_hands"] for found in figures] == [1.0, 1.0]
    hands = restored(settings, tmp_path).buffer.hands()
    assert rows_of(discard_samples(hands, "own")) == Counter(learners[0].discards + learners[1].discards)


# --- the teacher --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def seen() -> Any:
    """2,000 discards to make, and agents that make them."""
    observed = []

    class Seen(Asked):
        def discard(self, observation: Any) -> np.ndarray:
            observed.append(observation)
            return self.agent.discard(observation)

    self_play(Seen(make_agent("random")), 0, 1_000, 3_010, unit="hands")
    return observed[0]


def test_a_teacher_makes_its_own_choice_but_for_the_share_that_it_explores(seen: Any) -> None:
    """2,000 decisions: within four deviations (wrong once in 16,000); explored ones are even over the 15."""
    greedy = make_agent("greedy")
    choices = {share: Exploring(greedy, share).discard(seen) for share in (0.0, 0.3, 1.0)}
    assert (choices[0.0] == greedy.discard(seen)).all()
    other = make_agent("random").discard(seen)
    assert (choices[1.0] == other).all()
    differs = (choices[0.3] != choices[0.0]).mean() / (other != choices[0.0]).mean()
    assert abs(differs - 0.3) < 4 * (0.3 * 0.7 / 2_000) ** 0.5
    assert set(choices[0.3][choices[0.3] != choices[0.0]].tolist()) == set(range(15))


class Table:
    """A network with one number for each of so many cases; `case` names that of a state and its action."""

    def __init__(self, size: int, case: Any) -> None:
        self.size, self.case = size, case

    def indices(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        return self.case(states, actions)[:, None].astype(np.int16)

    def expand(self, columns: np.ndarray, device: Any) -> torch.Tensor:
        return torch.eye(self.size)[torch.as_tensor(columns[:, 0]).long()]

    def learned(self) -> LearnedNetwork:
        network = FeedForward(PlayNetworkConfig("mlp", []), SimpleNamespace(width=self.size))
        return LearnedNetwork(self, network, torch.device("cpu"))


def test_a_table_learns_the_mean_returns_of_the_teacher() -> None:
    """A number for each rank played, and for each role: they become the means over the teacher's own games."""
    play = Table(13, lambda states, actions: states[np.arange(len(states)), OWN_RANKS + actions.astype(int)]).learned()
    discard = Table(2, lambda states, actions: states[:, DISCARD_IS_DEALER]).learned()
    settings = small(unit="hands")
    settings.pretraining = PretrainingOptions(
        teacher="greedy", teacher_episodes=60, teacher_epsilon=0.2, epochs=600, batch_size=480, lr=0.5
    )
    settings.reward = RewardOptions("margin", "own")
    losses: dict[str, list[float]] = {}
    writer = SimpleNamespace(add_scalar=lambda tag, value, step: losses.setdefault(tag, []).append(value))
    done: list[int] = []
    teacher = make_teacher(settings.pretraining, "cpu")
    hands = self_play(teacher, 0, 60, derive(settings.seed, PRETRAINING, LESSONS), unit="hands")
    learner = SimpleNamespace(
        setting=Setting(settings.seed),
        networks={"play": play, "discard": discard},
        episodes=Episodes(settings.learner, Setting(settings.seed)),
        targets=PlayTargets(AlgorithmOptions("sarsa"), settings.reward),
    )
    stage = TeacherPretraining(learner, teacher, settings.pretraining)
    complete(stage, writer, done.append)
    returns: dict[tuple[str, int], list[float]] = {}
    for points, seats, states, slots in zip(
        hands.play_points.tolist(), hands.play_seats.tolist(), hands.play_states, hands.play_actions, strict=True
    ):
        for k in range(8):
            margin = sum(points[j] if seats[j] == seats[k] else -points[j] for j in range(k, 8))
            returns.setdefault(("play", int(states[k, OWN_RANKS + slots[k]])), []).append(margin)
    for hand in range(60):
        for seat in (0, 1):
            own = int(hands.play_points[hand, hands.play_seats[hand] == seat].sum() + hands.hand_points[hand, seat])
            deals = bool(hands.dealer[hand] == seat)
            returns.setdefault(("discard", int(deals)), []).append(own + deals * int(hands.crib_points[hand]))
    values_of = {
        part: table.network(torch.eye(table.encoder.size)).tolist()
        for part, table in (("play", play), ("discard", discard))
    }
    assert len(returns) == 15
    for (part, case), values in returns.items():
        assert values_of[part][case] == pytest.approx(np.mean(values), abs=0.02), (part, case)
    assert losses.keys() == {"teacher/play_loss", "teacher/discard_loss"}
    assert all(found[-1] < found[0] for found in losses.values()) and done == list(range(1, 601))


def test_a_taught_run(tmp_path: Path) -> None:
    """Resumed without being taught twice; both networks have learned before the first iteration, or the play alone."""

    def settings(iterations: int, **learner: Any) -> Any:
        made = small(iterations=iterations, **learner)
        made.pretraining = PretrainingOptions(enabled=False, teacher="greedy", teacher_episodes=30, epochs=2)
        return made

    run(tmp_path / "whole", settings(4))
    run(tmp_path / "halves", settings(2))
    run(tmp_path / "halves", settings(4), resume=True)
    assert_same_runs(tmp_path / "whole", tmp_path / "halves")
    taught, plain = (
        run(tmp_path / name, made).agent for name, made in {"taught": settings(0), "plain": small(iterations=0)}.items()
    )
    assert not same(taught.play_q.network.state_dict(), plain.play_q.network.state_dict())
    assert not same(taught.discard_q.network.state_dict(), plain.discard_q.network.state_dict())
    run(tmp_path / "play alone", settings(1, discard_agent="deterministic"))
    with pytest.raises(AgentError, match="unknown agent 'nobody'"):
        wrong = small()
        wrong.pretraining.teacher = "nobody"
        learner_of(wrong)


def test_another_agents_discards_stand_in_the_teachers_games(seen: Any) -> None:
    teacher = make_teacher(PretrainingOptions(teacher="random", teacher_epsilon=1.0), "cpu", make_agent("greedy"))
    assert (teacher.discard(seen) == make_agent("greedy").discard(seen)).all()
