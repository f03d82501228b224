"""The play alone between random hands: the same cards for everybody, points as a plain play has them."""

from __future__ import annotations

import numpy as np
import pytest

from deepcrib.agents import make_agent
from deepcrib.cli import main
from deepcrib.errors import OptionError
from deepcrib.evaluation.hands import deal_table, play_only
from deepcrib.exact.pegging import deal_kept, sampled_records
from tests.support.agents import network_agent
from tests.support.plays import plain_play
from tests.support.reference import assert_drawn


def test_hands_are_those_of_the_seed_with_a_starter_from_the_rest() -> None:
    table = deal_table(np.arange(3_000), seed=8)
    state = table.state
    for hand in range(200):
        pone, dealer = deal_kept(8, hand)
        assert state.kept[hand].tolist() == [pone.tolist(), dealer.tolist()]
    assert (state.dealer == 1).all() and (table.turn == 0).all() and (state.discards == -1).all()
    eight = np.concatenate([state.kept.reshape(-1, 8), state.starter[:, None]], axis=1)
    assert (np.diff(np.sort(eight, axis=1), axis=1) > 0).all()
    assert_drawn(np.bincount(state.starter, minlength=52))


def test_greedy_against_itself_is_played_as_by_hand() -> None:
    greedy, hands, seed = make_agent("greedy"), 300, 3
    points = [plain_play(*(cards.tolist() for cards in deal_kept(seed, hand))) for hand in range(hands)]
    figures = play_only(greedy, greedy, hands, seed)
    own = [pair[hand % 2] for hand, pair in enumerate(points)]
    other = [pair[1 - hand % 2] for hand, pair in enumerate(points)]
    margins = np.array(own) - np.array(other)
    assert figures.points == np.mean(own) and figures.opponent_points == np.mean(other)
    assert figures.difference == pytest.approx(margins.mean())
    assert figures.as_pone == margins[::2].mean() and figures.as_dealer == margins[1::2].mean()
    pairs = (margins[::2] + margins[1::2]) / 2
    half = 1.976 * pairs.std(ddof=1) / (hands / 2) ** 0.5  # the t quantile of 149 degrees of freedom
    assert (figures.ci_low, figures.ci_high) == pytest.approx((margins.mean() - half, margins.mean() + half), abs=1e-3)
    records = sampled_records(hands, seed)
    totals = (records.gained.sum(axis=(0, 1)) * np.arange(records.gained.shape[2])).sum()
    assert totals == sum(map(sum, points))


def test_duplicate_deals_cancel_the_cards() -> None:
    """Equal players differ by nothing over a pair; and a difference is known better than without pairs."""
    greedy = make_agent("greedy")
    same = play_only(greedy, greedy, 400, 4, duplicate=True)
    assert same.difference == same.ci_low == same.ci_high == 0 and same.points == same.opponent_points
    paired = play_only(make_agent("random"), greedy, 4_000, 4, duplicate=True)
    plain = play_only(make_agent("random"), greedy, 4_000, 4)
    assert paired.ci_high - paired.ci_low < plain.ci_high - plain.ci_low


def test_random_loses_about_as_published() -> None:
    """-1.14 points a hand, over 10,000: ours, -1.05, is 3 standard errors away. 0.13 is 4 of 20,000 hands and those."""
    figures = play_only(make_agent("random"), make_agent("greedy"), 20_000, 1)
    assert figures.difference == pytest.approx(-1.14, abs=0.13)


def test_batches_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    players = make_agent("random"), make_agent("deterministic")
    whole = play_only(*players, 500, 6, duplicate=True)
    seen: list[int] = []
    monkeypatch.setattr("deepcrib.evaluation.hands.BATCH", 7)
    assert play_only(*players, 500, 6, duplicate=True, progress=seen.append) == whole
    assert sum(seen) == 500


def test_every_kind_of_agent_plays() -> None:
    """Networks and weighted players too, for whom no discards are like any other absent card."""
    agents = [make_agent(name) for name in ("random", "deterministic", "expected_value", "hand_max_avg", "minimax")]
    for agent in (*agents, network_agent()):
        figures = play_only(agent, make_agent("greedy"), 50, 2)
        assert -6 < figures.difference < 6 and figures.points > 0


def test_what_cannot_be_played() -> None:
    greedy = make_agent("greedy")
    for hands in (-2, 0, 2, 7):
        with pytest.raises(OptionError, match=f"hands={hands}: .* expected an even number, 4 or more"):
            play_only(greedy, greedy, hands, 1)


def test_the_task_of_evaluate(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    run = f"hydra.run.dir={tmp_path / 'run'}"
    assert main(["evaluate", "play", "agent=random", "opponent=greedy", "hands=200", "seed=3", run]) == 0
    figures = play_only(make_agent("random"), make_agent("greedy"), 200, 3)
    assert f"{figures.difference:+.3f} [{figures.ci_low:+.3f}, {figures.ci_high:+.3f}]" in capsys.readouterr().out
