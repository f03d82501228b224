"""Ratings of a league: by hand, against another algorithm, against a bootstrap, and where there are none."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepcrib.evaluation.league.pair_sums import Sums
from deepcrib.evaluation.league.ratings import bradley_terry, expected_rate, misfit

Results = dict[tuple[str, str], Sums]


def drawn(strengths: dict[str, float], pairs: int, tied: float, seed: int) -> Results:
    """A league of agents of known ratings; `tied`: how much of each pair the cards decide (0: games independent)."""
    rng = np.random.default_rng(seed)
    results = {}
    for a, b in combinations(strengths, 2):
        p = 1 / (1 + 10 ** ((strengths[b] - strengths[a]) / 400))
        results[a, b] = of_pairs(*rng.multinomial(pairs, split(p, tied)))
    return results


def of_pairs(lost: int, shared: int, won: int) -> Sums:
    """The sums of pairs of games of which no game, one and both were won."""
    pairs = int(lost + shared + won)
    return Sums(2 * pairs, pairs, wins=int(shared + 2 * won), wins_squared=int(shared + 4 * won))


def counts_of(sums: Sums) -> tuple[int, int, int]:
    """What `of_pairs` made it of."""
    won = (sums.wins_squared - sums.wins) // 2
    shared = sums.wins - 2 * won
    return sums.pairs - shared - won, shared, won


def split(p: float, tied: float) -> tuple[float, float, float]:
    """Chances of 0, 1 and 2 games won of a pair with win rate p."""
    won = p * p * (1 - tied) + max(0.0, 2 * p - 1) * tied
    shared = 2 * (p - won)
    return 1 - shared - won, shared, won


def zermelo(results: Results) -> dict[str, float]:
    """Ratings of mean 1500 by the fixed point of Zermelo (1929), a method that shares nothing with the package's."""
    names = sorted({name for pair in results for name in pair})
    strength = dict.fromkeys(names, 1.0)
    for _ in range(4000):
        new = {}
        for name in names:
            wins = weight = 0.0
            for (a, b), result in results.items():
                if name in (a, b):
                    wins += result.games * (result.rate if name == a else 1 - result.rate)
                    weight += result.games / (strength[a] + strength[b])
            new[name] = wins / weight
        scale = math.exp(sum(map(math.log, new.values())) / len(new))
        strength = {name: value / scale for name, value in new.items()}
    return {name: 1500 + 400 * math.log10(value) for name, value in strength.items()}


LEAGUE = {"a": 1700.0, "b": 1560.0, "c": 1500.0, "d": 1490.0, "e": 1250.0}


def test_two_agents_by_hand() -> None:
    """75 of 100 games: odds 3, 400 log10 3 = 190.85 points apart. With independent games the error of the log odds is
    1 / sqrt(100 * .75 * .25), and each rating moves half as much as their distance."""
    ratings = bradley_terry({("a", "b"): of_pairs(3, 19, 28)})
    assert ratings["a"].estimate == pytest.approx(1500 + 190.85 / 2, abs=0.01)
    assert ratings["b"].estimate == pytest.approx(1500 - 190.85 / 2, abs=0.01)
    half = 1.96 * 400 / math.log(10) / math.sqrt(100 * 0.75 * 0.25) / 2
    assert ratings["a"].high - ratings["a"].estimate == pytest.approx(half, rel=0.03)
    assert expected_rate(ratings["a"], ratings["b"]) == pytest.approx(0.75)


@pytest.mark.parametrize("tied", [0.0, 0.8])
def test_the_fit_is_that_of_another_method(tied: float) -> None:
    results = drawn(LEAGUE, 500, tied, seed=1)
    ratings, other = bradley_terry(results), zermelo(results)
    assert sum(rating.estimate for rating in ratings.values()) == pytest.approx(1500 * len(LEAGUE))
    for name, rating in ratings.items():
        assert rating.estimate == pytest.approx(other[name], abs=1e-4)


@pytest.mark.parametrize("tied", [0.0, 0.8])
def test_the_intervals_are_those_of_a_bootstrap_over_pairs(tied: float) -> None:
    results = drawn(LEAGUE, 500, tied, seed=2)
    rng = np.random.default_rng(3)
    again = []
    for _ in range(400):
        draw = {pair: of_pairs(*rng.multinomial(500, np.array(counts_of(r)) / 500)) for pair, r in results.items()}
        again.append({name: rating.estimate for name, rating in bradley_terry(draw).items()})
    for name, rating in bradley_terry(results).items():
        error = np.std([draw[name] for draw in again])
        assert (rating.high - rating.low) / (2 * 1.96 * error) == pytest.approx(1, abs=0.12)  # 400 draws: +- 3.5%


@pytest.mark.parametrize("tied", [0.0, 0.8])
def test_the_intervals_cover(tied: float) -> None:
    """Of 300 leagues, 95% of the intervals hold the true distance to the mean; 1,500 intervals, five of a league."""
    inside = []
    mean = sum(LEAGUE.values()) / len(LEAGUE)
    for seed in range(300):
        for name, rating in bradley_terry(drawn(LEAGUE, 200, tied, seed=100 + seed)).items():
            inside.append(rating.low <= LEAGUE[name] - mean + 1500 <= rating.high)
    assert np.mean(inside) == pytest.approx(0.95, abs=0.03)


def test_a_ring_has_equal_ratings_and_the_misfit_says_so() -> None:
    ring = of_pairs(100, 400, 500)  # 70%
    ratings = bradley_terry({("a", "b"): ring, ("b", "c"): ring, ("c", "a"): ring})
    assert [rating.estimate for rating in ratings.values()] == pytest.approx([1500] * 3)
    assert misfit({("a", "b"): ring, ("b", "c"): ring, ("c", "a"): ring}, ratings) == pytest.approx(0.2)


def test_who_won_or_lost_everything_is_not_rated() -> None:
    even, all_won = of_pairs(20, 60, 20), of_pairs(0, 0, 100)
    results = {("best", "a"): all_won, ("best", "b"): all_won, ("a", "b"): even}
    assert sorted(bradley_terry(results)) == ["a", "b"]
    assert bradley_terry({("a", "b"): all_won}) == {}
    assert bradley_terry({}) == {}
    assert misfit({}, {}) == 0


@given(st.lists(st.tuples(*[st.integers(1, 60)] * 3), min_size=6, max_size=6))
def test_turning_pairings_round_changes_nothing(counts: list[tuple[int, int, int]]) -> None:
    results = {pair: of_pairs(*count) for pair, count in zip(combinations("abcd", 2), counts, strict=True)}
    turned = {(b, a): of_pairs(*counts_of(r)[::-1]) for (a, b), r in results.items()}
    ours, theirs = bradley_terry(results), bradley_terry(turned)
    for name, rating in ours.items():
        assert (rating.estimate, rating.low, rating.high) == pytest.approx(
            (theirs[name].estimate, theirs[name].low, theirs[name].high), abs=1e-6
        )
        # the rated agents win what the model expects of them: the equations that the maximum fulfils
        expected = sum(r.games * expected_rate(ours[a], ours[b]) for (a, b), r in results.items() if a == name)
        expected += sum(r.games * expected_rate(ours[b], ours[a]) for (a, b), r in results.items() if b == name)
        won = sum(r.games * r.rate for (a, b), r in results.items() if a == name)
        won += sum(r.games * (1 - r.rate) for (a, b), r in results.items() if b == name)
        assert won == pytest.approx(expected, abs=1e-4)
