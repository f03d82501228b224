"""The rulebook: worked examples, the count of all hands and starters, and the brute force of `reference`."""

from collections.abc import Sequence
from itertools import combinations, combinations_with_replacement, permutations, product

import numba
import numpy as np
import pytest

from deepcrib.game import rules
from deepcrib.kernels import jit
from tests.support import reference
from tests.support.reference import cards, int8


def ranks_of(text: str) -> list[int]:
    """Ranks of a text such as `A 5 T K`."""
    return ["A23456789TJQK".index(name) for name in text.split()]


# --- the show by example ------------------------------------------------------------------------------------

SHOWS = [
    # hand, starter: fifteens, pairs, runs, flush in hand, flush in crib, nobs; worked by hand
    ("2C 4D 6H 8S", "TC", 0, 0, 0, 0, 0, 0),  # all even, nothing follows
    ("5H 5S 5D JC", "5C", 16, 12, 0, 0, 0, 1),  # twenty-nine: four of 5+J, four of 5+5+5
    ("5H 5S 5D 5C", "JC", 16, 12, 0, 0, 0, 0),  # the same cards with the jack turned: twenty-eight
    ("5H 5S 5D JC", "JD", 14, 8, 0, 0, 0, 0),  # six of 5+J, one of 5+5+5; pair royal and pair
    ("KC KD KH 5S", "5C", 12, 8, 0, 0, 0, 0),
    ("JC JD JH JS", "5C", 8, 12, 0, 0, 0, 1),
    ("3C 3D 3H 3S", "9C", 12, 12, 0, 0, 0, 0),  # six of 3+3+9
    ("7C 7D 7H 7S", "AC", 12, 12, 0, 0, 0, 0),  # six of 7+7+A
    ("3C 3D 3H 6S", "6D", 10, 8, 0, 0, 0, 0),  # three of 3+6+6, two of 3+3+3+6
    ("AC AD 7H 7S", "8C", 8, 4, 0, 0, 0, 0),  # 7+8 twice, A+7+7 twice
    ("AC 4D TH JS", "5H", 8, 0, 0, 0, 0, 0),  # 5+T, 5+J, A+4+T, A+4+J
    ("4C 5D 6H 6S", "5C", 8, 4, 12, 0, 0, 0),  # quadruple run of three
    ("6C 7D 8H 8S", "7C", 8, 4, 12, 0, 0, 0),
    ("4C 5D 5H 6S", "TC", 8, 2, 6, 0, 0, 0),  # double run of three
    ("2C 3D 3H 3S", "4C", 2, 6, 9, 0, 0, 0),  # triple run; the fifteen is all five cards
    ("6C 6D 7H 8S", "9C", 6, 2, 8, 0, 0, 0),  # double run of four
    ("AC 2D 3H 4S", "6C", 2, 0, 4, 0, 0, 0),  # run of four, 2+3+4+6
    ("2C 3D 4H 5S", "6C", 4, 0, 5, 0, 0, 0),  # run of five, 4+5+6 and 2+3+4+6
    ("AC 2D 3H 4S", "5C", 2, 0, 5, 0, 0, 0),
    ("TC JD QH KS", "9C", 0, 0, 5, 0, 0, 0),
    ("KS TC QH JD", "9C", 0, 0, 5, 0, 0, 0),  # in whatever order they are held
    ("JC QD KH AS", "2C", 0, 0, 3, 0, 0, 1),  # the ace does not follow the king
    ("QC KD AH 2S", "6C", 0, 0, 0, 0, 0, 0),  # nor lie between king and two
    ("QC KD AH 2S", "3C", 4, 0, 3, 0, 0, 0),  # A 2 3 alone; Q+2+3, K+2+3
    ("2C 4C 6C 8C", "TC", 0, 0, 0, 5, 5, 0),
    ("2C 4C 6C 8C", "TD", 0, 0, 0, 4, 0, 0),  # a flush of four counts in the hand, never in the crib
    ("2C 4C 6C 8D", "TC", 0, 0, 0, 0, 0, 0),  # four of one suit with the starter's help are none
    ("2C 4C 6C JC", "8C", 0, 0, 0, 5, 5, 1),
    ("2C 4C 6C JC", "8D", 0, 0, 0, 4, 0, 0),
    ("AC 2C 3C 8C", "KD", 2, 0, 3, 4, 0, 0),
    ("2C 4D 6H JC", "8C", 0, 0, 0, 0, 0, 1),
    ("2C 4D 6H JC", "8H", 0, 0, 0, 0, 0, 0),  # a jack of another suit
    ("2C 4D 6H 8S", "JS", 0, 0, 0, 0, 0, 0),  # a jack turned up is heels, not nobs
]


@pytest.mark.parametrize(("hand", "starter", "fifteens", "pairs", "runs", "flush", "flush_crib", "nobs"), SHOWS)
def test_show_examples(
    hand: str, starter: str, fifteens: int, pairs: int, runs: int, flush: int, flush_crib: int, nobs: int
) -> None:
    held, turned = cards(hand), cards(starter)[0]
    five = int8([card // 4 for card in [*held, turned]])
    held_cards = int8(held)
    assert rules.fifteen_points(five) == fifteens
    assert rules.pair_points(five) == pairs
    assert rules.run_points(five) == runs
    assert rules.rank_points(five) == fifteens + pairs + runs
    assert rules.flush_points(held_cards, turned, False) == flush
    assert rules.flush_points(held_cards, turned, True) == flush_crib
    assert rules.nobs_points(held_cards, turned) == nobs
    assert rules.show_points(held_cards, turned, False) == fifteens + pairs + runs + flush + nobs
    assert rules.show_points(held_cards, turned, True) == fifteens + pairs + runs + flush_crib + nobs
    assert reference.show(held, turned) == fifteens + pairs + runs + flush + nobs
    assert reference.show(held, turned, is_crib=True) == fifteens + pairs + runs + flush_crib + nobs


FOURS = [
    ("5C 5D 5H 5S", 20),  # four of 5+5+5, double pair royal
    ("4C 5D 5H 6S", 12),  # 4+5+6 twice, pair, double run
    ("AC 2C 3C 4C", 8),  # run of four, flush
    ("2C 4C 6C JC", 4),  # flush; nobs is not known without a starter
    ("2C 4C 6C JD", 0),
    ("7C 8D KH 2S", 2),
    ("TC JD QH KS", 4),
]


@pytest.mark.parametrize(("hand", "points"), FOURS)
def test_four_cards_by_themselves(hand: str, points: int) -> None:
    assert reference.four_cards(cards(hand)) == points
    for order in permutations(cards(hand)):
        assert rules.hand_points(int8(order)) == points


def test_heels() -> None:
    assert [rules.heels_points(card) for card in range(52)] == [
        2 if card in cards("JC JD JH JS") else 0 for card in range(52)
    ]
    assert rules.HEELS_POINTS == 2


# --- the show, exhaustively ---------------------------------------------------------------------------------

# How many hands with a starter count 0, 1, ... 29 points; the same cards as a crib. The sum, the mean, the 76
# of 28, the 4 of 29 and the four impossible totals are published; a second program counted both rows too.
HAND_COUNTS = [
    1009008, 99792, 2813796, 505008, 2855676, 697508, 1800268, 751324, 1137236, 361224, 388740, 51680, 317340,
    19656, 90100, 9168, 58248, 11196, 2708, 0, 8068, 2496, 444, 356, 3680, 0, 0, 0, 76, 4,
]  # fmt: skip
CRIB_COUNTS = [
    1022208, 99792, 2839800, 508908, 2868960, 703496, 1787176, 755320, 1118336, 358368, 378240, 43880, 310956,
    16548, 88132, 9072, 57288, 11196, 2264, 0, 7828, 2472, 444, 356, 3680, 0, 0, 0, 76, 4,
]  # fmt: skip


@jit
def count_all_shows(is_crib: bool) -> np.ndarray:
    """Shows by their points, [52, 30]: row a counts the hands whose highest card is a."""
    counts = np.zeros((52, 30), dtype=np.int64)
    for a in range(52):
        hand = np.empty(4, dtype=np.int8)
        hand[0] = a
        for b in range(a):
            hand[1] = b
            for c in range(b):
                hand[2] = c
                for d in range(c):
                    hand[3] = d
                    for starter in range(52):
                        if starter != a and starter != b and starter != c and starter != d:
                            counts[a, rules.show_points(hand, starter, is_crib)] += 1
    return counts


@pytest.mark.parametrize(("is_crib", "expected"), [(False, HAND_COUNTS), (True, CRIB_COUNTS)])
def test_all_hands_and_starters(is_crib: bool, expected: list[int]) -> None:
    counts = count_all_shows(is_crib).sum(axis=0)
    assert counts.tolist() == expected
    assert counts.sum() == 12_994_800


def test_published_figures_of_all_hands() -> None:
    points = sum(points * count for points, count in enumerate(HAND_COUNTS))
    assert round(points / 12_994_800, 4) == 4.7692
    assert HAND_COUNTS[28:] == [76, 4]
    assert [points for points, count in enumerate(HAND_COUNTS) if count == 0] == [19, 25, 26, 27]
    # Hand and crib differ by the flushes of four alone: 4 suits, 4 of 13 cards, 39 starters of other suits.
    in_crib = sum(points * count for points, count in enumerate(CRIB_COUNTS))
    assert points - in_crib == 4 * (4 * 715 * 39)


def test_rank_tables_hold_every_multiset() -> None:
    """All 6,175 fives and 1,820 fours of ranks in a deck, in several orders, against the brute force."""
    rng = np.random.default_rng(7)
    for size, table in ((4, rules.RANK_POINTS_4), (5, rules.RANK_POINTS_5)):
        assert table.dtype == np.int8 and len(table) == 13**size
        multisets = [m for m in combinations_with_replacement(range(13), size) if max(map(m.count, m)) <= 4]
        assert len(multisets) == {4: 1820, 5: 6175}[size]
        for multiset in multisets:
            held = [4 * rank + multiset[:i].count(rank) for i, rank in enumerate(multiset)]
            expected = reference.fifteens(held) + reference.pairs(held) + reference.runs(held)
            for order in (multiset, multiset[::-1], rng.permutation(multiset)):
                index = 0
                for rank in order:
                    index = 13 * index + int(rank)
                assert table[index] == expected, (multiset, order)


@pytest.mark.parametrize("one_suit", [False, True])
def test_random_shows_in_bulk(one_suit: bool) -> None:
    """Random hands seldom hold a flush: those of one suit always do, and a jack as often as not."""
    rng = np.random.default_rng(9)
    for number in range(3_000):
        held = [4 * int(rank) + number % 4 for rank in rng.permutation(13)[:4]] if one_suit else rng.permutation(52)[:4]
        starter = int(rng.choice(np.setdiff1d(range(52), held)))
        for is_crib in (False, True):
            assert rules.show_points(int8(held), starter, is_crib) == reference.show(list(held), starter, is_crib)
        assert rules.hand_points(int8(held)) == reference.four_cards(list(held))


# --- the play by example ------------------------------------------------------------------------------------

PLAYS = [
    # the series in order, the points of each card (no go, no last card); worked by hand
    ("5 T", [0, 2]),  # fifteen
    ("7 7 A", [0, 2, 2]),  # pair, fifteen
    ("A 7 7", [0, 0, 4]),  # fifteen with a pair
    ("J K", [0, 0]),  # court cards of different rank are no pair
    ("4 4", [0, 2]),
    ("4 4 4", [0, 2, 6]),  # pair royal
    ("4 4 4 4", [0, 2, 6, 12]),  # double pair royal
    ("5 5 5", [0, 2, 8]),  # pair royal making fifteen
    ("7 2 2 2 2", [0, 0, 2, 6, 14]),  # double pair royal making fifteen
    ("3 7 7 7 7", [0, 0, 2, 6, 14]),  # and thirty-one
    ("9 4 9 9", [0, 0, 0, 4]),  # a pair broken by another card; then a pair making thirty-one
    ("6 4 6", [0, 0, 0]),
    ("8 8 7 8", [0, 2, 0, 2]),  # thirty-one; the three eights do not lie together
    ("6 7 8", [0, 0, 3]),
    ("4 6 5", [0, 0, 5]),  # a run in any order, making fifteen
    ("7 8 9", [0, 2, 3]),
    ("8 7 6 9", [0, 2, 3, 4]),
    ("4 6 5 7", [0, 0, 5, 4]),
    ("9 6 8 7", [0, 2, 0, 4]),  # the fourth card joins all
    ("A 3 2 5 4", [0, 0, 3, 0, 7]),  # run of five making fifteen
    ("A 2 3 4 5 6 7", [0, 0, 3, 4, 7, 6, 7]),  # up to the longest run that fits under thirty-one
    ("7 A 6 2 5 3 4", [0, 0, 0, 0, 0, 0, 7]),  # and all seven at a stroke
    ("4 5 5 6", [0, 0, 2, 0]),  # the second five breaks the run
    ("4 5 5 6 4", [0, 0, 2, 0, 3]),  # 5 6 4 lie together again
    ("2 3 4 3 2 4", [0, 0, 3, 0, 3, 3]),
    ("3 4 5 5 4 3", [0, 0, 3, 2, 0, 3]),
    ("2 3 4 9 5", [0, 0, 3, 0, 0]),  # the nine stands between
    ("9 2 3 4", [0, 0, 0, 3]),  # a card before the run does no harm
    ("J K Q", [0, 0, 3]),
    ("Q K A", [0, 0, 0]),  # no run round the corner
    ("K A 2", [0, 0, 0]),
    ("K A 2 3", [0, 0, 0, 3]),
    ("T J Q A", [0, 0, 3, 2]),  # thirty-one alone
    ("T 8 6 7", [0, 0, 0, 5]),  # thirty-one with a run of three
    ("T 5 6 T", [0, 2, 0, 2]),
    ("T J Q", [0, 0, 3]),  # thirty is nothing by itself
    ("A A A A 2 2 2 2 3 3 3 3", [0, 2, 6, 12, 0, 2, 6, 12, 2, 2, 6, 12]),  # a fifteen on the way
    ("6 5 4 3 2 A", [0, 0, 5, 4, 5, 6]),
    ("5 3 A 4 2", [0, 0, 0, 0, 7]),
]


def pegged(ranks: Sequence[int]) -> int:
    """What the rules say of the last of a series of ranks."""
    series = rules.pack_series(int8(ranks), len(ranks))
    return int(rules.play_points(series, rules.series_count(series)))


@pytest.mark.parametrize(("series", "points"), PLAYS)
def test_play_examples(series: str, points: list[int]) -> None:
    ranks = ranks_of(series)
    assert [pegged(ranks[: n + 1]) for n in range(len(ranks))] == points
    assert [reference.pegs([4 * rank for rank in ranks[: n + 1]]) for n in range(len(ranks))] == points


@numba.njit
def _plain_points(series: np.ndarray, n: int, count: int) -> int:
    """Points of the n-th of the ranks of a series, by looking at all of its ends."""
    points, alike = 2 if count == 15 or count == 31 else 0, 1
    while alike < n and series[n - 1 - alike] == series[n - 1]:
        alike += 1
    for size in range(n, 2, -1):
        low, high, distinct = 13, -1, True
        for i in range(n - size, n):
            low, high = min(low, series[i]), max(high, series[i])
            for j in range(n - size, i):
                distinct = distinct and series[i] != series[j]
        if distinct and high - low == size - 1:
            return points + size
    return points + alike * (alike - 1)


@numba.njit
def _compare_all(series: np.ndarray, n: int, packed: int, count: int, used: np.ndarray) -> int:
    """Series compared, all that extend this one; -1 when points differ somewhere."""
    compared = 0
    for r in range(13):
        value = min(r + 1, 10)
        if used[r] == 4 or count + value > 31:
            continue
        series[n] = r
        longer = rules.add_rank(packed, r)
        if rules.play_points(longer, count + value) != _plain_points(series, n + 1, count + value):
            return -1
        compared += 1
        if n < 7:
            used[r] += 1
            more = _compare_all(series, n + 1, longer, count + value, used)
            used[r] -= 1
            if more < 0:
                return -1
            compared += more
    return compared


def test_points_are_those_of_the_rules_for_every_series() -> None:
    """Every series of up to eight cards that counts 31 or less."""
    compared = _compare_all(np.zeros(8, dtype=np.int8), 0, 0, 0, np.zeros(13, dtype=np.int64))
    assert compared > 1_000_000


# --- legality and turns -------------------------------------------------------------------------------------


def test_a_card_is_legal_up_to_31() -> None:
    for count, card in product(range(32), range(52)):
        assert bool(rules.is_legal_play(count, card)) == (count + min(card // 4 + 1, 10) <= 31)
    for count in range(32):
        assert not rules.is_legal_play(count, -1)


def hands_left(*texts: str) -> np.ndarray:
    """[P, 4] of what players hold, in slots; `--` where a card has been played."""
    return int8([[-1 if word == "--" else cards(word)[0] for word in text.split()] for text in texts])


TURNS = [
    # hands left, who played, count -> who plays next in the series (-1 none), who has said go
    (["KC -- -- --", "5C -- -- --"], 0, 10, 1, []),
    (["KC -- -- --", "5C -- -- --"], 0, 26, 1, []),  # 31 exactly is allowed
    (["KC AC -- --", "5C -- -- --"], 0, 27, 0, [1]),  # player 1 says go, player 0 goes on with the ace
    (["KC 6C -- --", "5C -- -- --"], 0, 27, -1, [0, 1]),  # neither can: go
    (["KC AC -- --", "-- -- -- --"], 0, 20, 0, []),  # who has no cards says nothing
    (["-- -- -- --", "-- -- -- --"], 0, 20, -1, []),  # last card
    (["AC -- -- --", "AD -- -- --"], 0, 31, -1, []),  # nobody says go on a thirty-one
    (["AC -- -- --", "KD -- -- --", "QD -- -- --"], 2, 22, 0, []),
    (["KC -- -- --", "KD -- -- --", "AD -- -- --"], 2, 22, 2, [0, 1]),  # round the table back to who played
    (["KC -- -- --", "-- -- -- --", "2D -- -- --"], 0, 22, 2, []),
    (["KC -- -- --", "KD -- -- --", "9D -- -- --", "-- -- -- --"], 1, 22, 2, []),
    (["KC -- -- --", "KD -- -- --", "TD -- -- --", "-- -- -- --"], 1, 22, -1, [0, 1, 2]),
]


@pytest.mark.parametrize(("hands", "seat", "count", "following", "said_go"), TURNS)
def test_who_plays_next_in_the_series(
    hands: list[str], seat: int, count: int, following: int, said_go: list[int]
) -> None:
    goes = np.zeros(len(hands), dtype=np.int8)
    assert rules.next_in_series(hands_left(*hands), goes, seat, count) == following
    if following >= 0:
        assert np.flatnonzero(goes).tolist() == said_go
    else:
        assert set(np.flatnonzero(goes)) <= set(said_go)


@pytest.mark.parametrize(
    ("hands", "seat", "leads"),
    [
        (["KC -- -- --", "5C -- -- --"], 0, 1),
        (["KC -- -- --", "5C -- -- --"], 1, 0),
        (["KC -- -- --", "-- -- -- --"], 0, 0),  # the other has no cards: one leads again
        (["-- -- -- --", "-- -- -- --"], 0, -1),
        (["KC -- -- --", "-- -- -- --", "5C -- -- --"], 0, 2),
        (["KC -- -- --", "-- -- -- --", "-- -- -- --", "-- -- -- --"], 1, 0),
        (["-- -- -- --", "KC -- -- --", "-- -- -- --", "5C -- -- --"], 1, 3),
    ],
)
def test_who_leads_the_next_series(hands: list[str], seat: int, leads: int) -> None:
    assert rules.next_lead(hands_left(*hands), seat) == leads


# --- tables of actions --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dealt", "thrown"), [(6, 2), (5, 1)])
def test_discard_actions_are_combinations_of_the_sorted_hand(dealt: int, thrown: int) -> None:
    slots, kept = rules.discard_slots(dealt), {6: rules.KEPT_SLOTS_6, 5: rules.KEPT_SLOTS_5}[dealt]
    assert slots.dtype == kept.dtype == np.int8
    assert [tuple(row) for row in slots.tolist()] == list(combinations(range(dealt), thrown))
    for away, stay in zip(slots.tolist(), kept.tolist(), strict=True):
        assert sorted(away + stay) == list(range(dealt)) and stay == sorted(stay)
