"""The agent that learns whom it plays: what it believes, and what it makes of it."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from deepcrib.agents import make_agent
from deepcrib.agents.base import AgentError
from deepcrib.game.cards import RANKS
from deepcrib.game.engine import Games
from deepcrib.game.past import PastHands
from deepcrib.matches.games import play_hand, play_match
from deepcrib.search import opponents as whom
from deepcrib.search.adaptive import OWN, AdaptiveAgent
from deepcrib.search.opponents import DISCARDS, NOISES, PLAYS, Opponents

SCRIPTED = ("random", "deterministic", "greedy")


def pasts(seats: tuple[Any, Any], hands: int, matches: int = 40, seed: int = 5) -> PastHands:
    """Matches of two agents of so many hands each, every one of which is played out."""
    past = PastHands(matches)
    table = Games(range(matches), seed, stop_at_121=False, past=past)
    for _ in range(hands):
        table.state.scores[:] = 0
        table.state.finished[:] = False
        play_hand(table, seats, np.tile([0, 1], (matches, 1)))
    return past


def test_beliefs_are_bayes_rule() -> None:
    """Of three models whose choices are counted by hand: products of chances, and a share that changes sides."""
    models = [make_agent(name) for name in SCRIPTED]
    past = pasts((make_agent("greedy"), make_agent("random")), 3, matches=6)
    found = Opponents(models).beliefs(past.seen(np.arange(6)), np.zeros(6, dtype=np.int8))
    priors = np.array([1 / 2, 1 / 4, 1 / 4])[:, None] / len(NOISES) * np.ones(len(NOISES))
    for row in range(6):
        apart = []
        for kind in (DISCARDS, PLAYS):
            believed = priors
            for hand in past.records[row, :3]:
                believed = believed * np.array(
                    [[chance(model, hand, kind, noise) for noise in NOISES] for model in models]
                )
                believed = believed / believed.sum()
                believed = (1 - whom._CHANGE) * believed + whom._CHANGE * priors
            apart.append(believed)
        joint = np.zeros((len(models), len(NOISES), len(models), len(NOISES)))  # by model and noise of both
        for d, p in np.ndindex(len(models), len(models)):
            together = 1 / 2 + (d == p) / 2 / priors[d].sum()
            joint[d, :, p] = apart[DISCARDS][d][:, None] * apart[PLAYS][p] * together
        joint /= joint.sum()
        np.testing.assert_allclose(found.discards[row], joint.sum(axis=(2, 3)), rtol=1e-9)
        np.testing.assert_allclose(found.plays[row], joint.sum(axis=(0, 1)), rtol=1e-9)


def chance(model: Any, hand: Any, kind: int, noise: float) -> float:
    """Of what seat 1 threw, or played, in a hand, by asking decision by decision in a game that is played again."""
    table = Games([0], 0, first_dealer=[int(hand["dealer"])], stop_at_121=False)
    kept, thrown = hand["kept"].astype(int), hand["discards"].astype(int)
    dealt = np.concatenate([kept, thrown], axis=1)
    unseen = next(card for card in range(52) if card not in dealt and card != hand["starter"])
    table.deal()
    table.state.dealt[0] = np.sort(dealt, axis=1)
    table.state.hidden[0] = hand["starter"], unseen
    product = 1.0
    for seat in range(2):
        observation = table.discard_observation(np.array([0]), [seat])
        six = observation.hand[0].tolist()
        slots = sorted(six.index(card) for card in thrown[seat])
        pairs = [(a, b) for a in range(6) for b in range(a + 1, 6)]
        if seat == 1 and kind == DISCARDS:
            ranks = [sorted(RANKS[[six[a], six[b]]].tolist()) for a, b in pairs]
            same = [pair == ranks[pairs.index(tuple(slots))] for pair in ranks]
            product *= mixed(model.discard_probabilities(observation)[0], same, [True] * 15, noise)
        table.discard(np.array([0]), [seat], [pairs.index(tuple(slots))])
    table.start_play()
    for card in hand["history"]:
        observation = table.play_observation(np.array([0]))
        held = observation.hand[0].tolist()
        if observation.seat[0] == 1 and kind == PLAYS:
            same = [c >= 0 and c // 4 == card // 4 for c in held]
            product *= mixed(model.play_probabilities(observation)[0], same, observation.legal[0].tolist(), noise)
        table.play(np.array([0]), [held.index(card)])
    return product


def mixed(chances: np.ndarray, same: list[bool], legal: list[bool], noise: float) -> float:
    chosen = [s and ok for s, ok in zip(same, legal, strict=True)]
    return float((1 - noise) * chances[chosen].sum() + noise * sum(chosen) / sum(legal))


@pytest.mark.parametrize(("name", "kinds"), [("greedy", (DISCARDS, PLAYS)), ("deterministic", (PLAYS,))])
def test_an_opponent_is_found(name: str, kinds: tuple[int, ...]) -> None:
    """After twenty hands nearly all is believed of who it is; greedy and deterministic throw alike."""
    models = [make_agent(other) for other in ("quick", *SCRIPTED)]
    past = pasts((make_agent("random"), make_agent(name)), 20)
    found = Opponents(models).beliefs(past.seen(np.arange(40)), np.zeros(40, dtype=np.int8))
    for kind in kinds:
        posterior = (found.discards, found.plays)[kind].sum(axis=2)
        alike = [
            1 + SCRIPTED.index(other) for other in ("greedy", "deterministic") if kind == DISCARDS or other == name
        ]
        assert posterior[:, alike].sum(axis=1).min() > 0.8 and posterior[:, alike].sum(axis=1).mean() > 0.95


def test_what_is_believed_follows_from_the_past_alone() -> None:
    """Asked hand by hand, at the end, or about some of the matches: the same; and of no past, the prior."""
    models = [make_agent(name) for name in SCRIPTED]
    past, asked, seats = PastHands(12), Opponents(models), np.zeros(12, dtype=np.int8)
    table = Games(range(12), 8, past=past)
    seen = []
    while len(table.unfinished):
        seen.append(past.seen(np.arange(12)))
        step = asked.beliefs(seen[-1], seats)
        play_hand(table, [make_agent("greedy"), make_agent("random")], np.tile([0, 1], (12, 1)))
    np.testing.assert_array_equal(Opponents(models).beliefs(seen[-1], seats).plays, step.plays)
    some = np.array([7, 2])
    np.testing.assert_array_equal(Opponents(models).beliefs(seen[-1][some], seats[:2]).plays, step.plays[some])
    earlier = asked.beliefs(seen[3], seats)
    np.testing.assert_array_equal(earlier.plays, Opponents(models).beliefs(seen[3], seats).plays)
    assert not np.array_equal(earlier.plays, step.plays)
    first = asked.beliefs(seen[0], seats).discards.sum(axis=2)
    np.testing.assert_allclose(first, np.tile([1 / 2, 1 / 4, 1 / 4], (12, 1)))


def test_it_keeps_to_its_own_way_where_nobody_predicts_better() -> None:
    """Of matches of its own networks against themselves, hardly any leaves it at the odds of twenty."""
    own = make_agent("quick")
    past = pasts((own, own), 12, matches=150)
    agent = AdaptiveAgent(own, library=[make_agent(name) for name in (*SCRIPTED, "expected_value")])
    left = 0
    table = Games(range(150), 1, past=past)
    table.deal()
    believed = agent.believed(table.discard_observation(np.arange(150), np.zeros(150, dtype=np.int8)))
    left = int((believed != OWN).any(axis=1).sum())
    assert left <= 150 / 20 + 3 * math.sqrt(150 / 20)


def test_it_wins_more_of_those_it_knows() -> None:
    """Against greedy, whom its networks alone beat less often: in the second half of matches on the same deals."""
    own = make_agent("quick")
    agent = AdaptiveAgent(own, library=[make_agent(name) for name in SCRIPTED], hands=8, late=121)
    games, greedy = 240, make_agent("greedy")
    wins = [
        (play_match([player, greedy], games, 3, duplicate=True, games_per_match=10).winner == 0).reshape(-1, 10)[:, 2:]
        for player in (agent, own)
    ]
    gain = wins[0].mean(axis=1) - wins[1].mean(axis=1)
    assert gain.mean() > 2 * gain.std() / len(gain) ** 0.5


def test_the_same_match_whatever_the_batch() -> None:
    own = make_agent("quick")
    agent = AdaptiveAgent(own, library=[make_agent(name) for name in SCRIPTED], hands=4)
    whole = play_match([agent, make_agent("greedy")], 24, 6, games_per_match=3)
    parts = [play_match([agent, make_agent("greedy")], 12, 6, games_per_match=3, first_game=first) for first in (0, 12)]
    assert whole.scores.tolist() == [row for part in parts for row in part.scores.tolist()]
    assert all(a <= b for a, b in pairwise(whole.pair.tolist()))


def test_what_is_no_option_is_refused() -> None:
    with pytest.raises(AgentError, match="odds=0: expected a number from 1 to"):
        AdaptiveAgent(make_agent("quick"), odds=0)
    with pytest.raises(AgentError, match="within=-1: expected a number from 0 to 100"):
        AdaptiveAgent(make_agent("quick"), within=-1)
    with pytest.raises(AgentError, match="unknown agent 'gredy'"):
        make_agent({"name": "adaptive", "library": ["gredy"]})
