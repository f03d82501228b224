"""Classes of hands under renaming of suits against plain orbits and Burnside's count; the table made by class."""

from itertools import permutations
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepcrib.errors import StatisticsError
from deepcrib.exact import table as table_module
from deepcrib.exact.classes import NUM_CLASSES, class_hands, class_sizes, find_class, suit_classes
from deepcrib.exact.discards import DISCARD_DTYPE, discard_statistics
from deepcrib.exact.table import DiscardTable, cached_table, load_table, save_table
from deepcrib.game.rank_sets import rank_sets
from tests.support.brute_force import DISCARDS, varied_hands

RENAMINGS = list(permutations(range(4)))
HANDS = st.lists(st.integers(0, 51), min_size=6, max_size=6, unique=True).map(sorted)
ACTIONS = st.integers(0, 14)


def renamed(hand: list[int], suits: tuple[int, ...]) -> list[int]:
    """The cards of a hand in their order, with other suits."""
    return [card // 4 * 4 + suits[card % 4] for card in hand]


def orbit(hand: list[int]) -> set[tuple[int, ...]]:
    """All hands that renaming suits makes of one."""
    return {tuple(sorted(renamed(hand, suits))) for suits in RENAMINGS}


def found_class(hand: list[int]) -> tuple[int, list[int]]:
    classes, actions = suit_classes(), np.empty(15, dtype=np.int64)
    return int(find_class(np.array(hand), classes.keys, classes.starts, actions)), actions.tolist()


# --- classes ------------------------------------------------------------------------------------------------


def test_as_many_classes_as_burnside_counts() -> None:
    """The mean, over the 24 renamings, of how many hands each leaves as they are.

    Such a hand has, in each rank, all suits of a cycle of the renaming or none; so it is counted by the coefficient of
    x^6 in the 13th power of the product of 1 + x^length over the cycles.
    """
    fixed = 0
    for suits in RENAMINGS:
        cycles = {frozenset(iterate(suits, suit)) for suit in range(4)}
        rank = np.array([1], dtype=object)
        for cycle in cycles:
            rank = np.convolve(rank, [1] + [0] * (len(cycle) - 1) + [1])
        every = np.array([1], dtype=object)
        for _ in range(13):
            every = np.convolve(every, rank)
        fixed += every[6]
    assert fixed == 24 * 962_988 and NUM_CLASSES == 962_988
    assert len(suit_classes().keys) == 962_988


def iterate(suits: tuple[int, ...], start: int) -> list[int]:
    """The cycle of a renaming in which a suit lies."""
    cycle = [start]
    while suits[cycle[-1]] != start:
        cycle.append(suits[cycle[-1]])
    return cycle


def test_every_hand_is_in_one_class() -> None:
    classes = suit_classes()
    hands = class_hands(classes.keys)
    assert class_sizes(classes.keys).sum() == comb(52, 6) == 20_358_520
    assert (np.diff(hands, axis=1) > 0).all() and hands.min() == 0 and hands.max() == 51
    assert len(np.unique(hands.astype(np.int64) @ 64 ** np.arange(6))) == NUM_CLASSES
    of_ranks = np.diff(classes.starts)
    assert len(of_ranks) == 18_564 and (of_ranks > 0).sum() == 18_395
    assert np.array_equal(hands // 4, np.repeat(rank_sets(6), of_ranks, axis=0))


def test_classes_are_orbits() -> None:
    """Every hand of an orbit, and no other, has its class, which knows how many they are."""
    classes = suit_classes()
    hands, sizes = class_hands(classes.keys), class_sizes(classes.keys)
    orbits: dict[int, set[tuple[int, ...]]] = {}
    for hand in varied_hands(500, seed=1).tolist():
        members = orbit(hand)
        (number,) = {found_class([*member])[0] for member in members}
        assert orbits.setdefault(number, members) == members
        assert len(members) == sizes[number] and tuple(hands[number].tolist()) in members
    assert len({len(members) for members in orbits.values()}) >= 3


@given(HANDS)
def test_actions_throw_the_same_cards(hand: list[int]) -> None:
    """Some renaming takes a hand to its class's, and each discard to the one that it is said to be."""
    number, actions = found_class(hand)
    classes = suit_classes()
    (own,) = class_hands(classes.keys[number : number + 1]).tolist()
    assert sorted(actions) == list(range(15))
    thrown = [{own[slot] for slot in DISCARDS[action]} for action in actions]
    assert any(
        [{renamed(hand, suits)[slot] for slot in slots} for slots in DISCARDS.tolist()] == thrown for suits in RENAMINGS
    )


@given(HANDS, st.sampled_from(RENAMINGS), ACTIONS)
def test_suits_have_no_names(hand: list[int], suits: tuple[int, ...], action: int) -> None:
    """A hand with other suits has the same class, and each discard the same statistics."""
    cards_now = renamed(hand, suits)
    other = sorted(cards_now)
    assert found_class(other)[0] == found_class(hand)[0]
    slots = sorted(other.index(cards_now[slot]) for slot in DISCARDS[action])
    same = DISCARDS.tolist().index(slots)
    assert discard_statistics([other])[0, same] == discard_statistics([hand])[0, action]
    assert cached_table().lookup([other])[0, same] == cached_table().lookup([hand])[0, action]


# --- looking up ---------------------------------------------------------------------------------------------


def test_the_table_holds_what_would_be_worked_out() -> None:
    hands = np.concatenate([varied_hands(3_000, seed=2), varied_hands(1_000, seed=3)])
    assert np.array_equal(cached_table().lookup(hands), discard_statistics(hands))
    rng = np.random.default_rng(4)
    hands = np.sort(rng.random((50_000, 52)).argpartition(6, axis=1)[:, :6], axis=1)
    assert np.array_equal(cached_table().lookup(hands), discard_statistics(hands))


def test_each_class_finds_its_own_row() -> None:
    table = cached_table()
    assert np.array_equal(table.lookup(class_hands(table.classes.keys)), table.rows)


# --- files --------------------------------------------------------------------------------------------------


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> DiscardTable:
    """A table of nine classes, where the whole one takes 130 MB."""
    monkeypatch.setattr(table_module, "NUM_CLASSES", 9)
    return DiscardTable(cached_table().rows[5_000:5_009].copy(), suit_classes())


def test_a_table_is_read_as_it_was_written(small: DiscardTable, tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "discards.npy"
    save_table(small, path)
    assert np.array_equal(load_table(path).rows, small.rows) and load_table(str(path)).rows.dtype == DISCARD_DTYPE
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (None, "no table at .*: deepcrib statistics build writes one"),
        (np.zeros(0), "truncated or not a table"),
        (np.zeros((9, 15)), r"holds \(9, 15\) of float64, expected \(9, 15\)"),
        (np.zeros((8, 15), DISCARD_DTYPE), r"holds \(8, 15\) of .*, expected"),
        (np.array([[{}]]), "truncated or not a table"),
    ],
)
def test_other_files_are_refused(array: np.ndarray | None, message: str, small: DiscardTable, tmp_path: Path) -> None:
    path = tmp_path / "discards.npy"
    if array is not None:
        np.save(path, array)
        path.write_bytes(path.read_bytes()[: -1 if array.size == 0 else None])
    with pytest.raises(StatisticsError, match=message) as caught:
        load_table(path)
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)


def test_the_table_is_made_once(small: DiscardTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And again when what was kept is damaged; where nothing can be kept, it is made all the same."""
    made: list[int] = []

    def made_anew() -> DiscardTable:
        made.append(1)
        return small

    monkeypatch.setattr(table_module, "build_table", made_anew)
    monkeypatch.setattr(table_module, "cache_folder", lambda path: tmp_path)
    fresh = cached_table.__wrapped__
    assert np.array_equal(fresh().rows, fresh().rows) and len(made) == 1
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(kept.read_bytes()[:-1])
    assert np.array_equal(fresh().rows, small.rows) and len(made) == 2
    assert np.array_equal(fresh().rows, small.rows) and len(made) == 2
    monkeypatch.setattr(table_module, "cache_folder", lambda path: None)
    assert np.array_equal(fresh().rows, small.rows) and len(made) == 3
