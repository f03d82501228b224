"""Encoders: exact encodings of positions written by hand, and what must hold for every encoder."""

import runpy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from deepcrib.game.cards import RANKS, parse_card, parse_cards
from deepcrib.game.engine import Games
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.rules import DISCARD_SLOTS_6
from deepcrib.networks.encoders import (
    DISCARD_ENCODERS,
    PLAY_ENCODERS,
    Encoder,
    compact_discard,
    compact_play,
    make_discard_encoder,
    make_play_encoder,
)
from deepcrib.networks.encoders.states import DISCARD_OPPONENT_SCORE, DISCARD_OWN_SCORE, OPPONENT_SCORE, OWN_SCORE
from tests.support.encoded import DISCARDS, PLAYS, part, sample
from tests.support.reference import pegs

OPTIONS = [(dealer, scores) for dealer in (False, True) for scores in (False, True)]
ENCODERS = [make_play_encoder(name, *o) for name in PLAY_ENCODERS for o in OPTIONS] + [
    make_discard_encoder(name, *o) for name in DISCARD_ENCODERS for o in OPTIONS
]


def label(encoder) -> str:
    return f"{part(encoder)}-{encoder.name}-{encoder.spec.dealer:d}{encoder.spec.scores:d}"


def int8(*values) -> np.ndarray:
    return np.array([values], dtype=np.int8)


def slots(text: str) -> np.ndarray:
    """Cards of a hand's slots; `--` for a played one."""
    return int8(*(-1 if name == "--" else parse_card(name) for name in text.split()))


def play_observation(
    hand, discards, starter, history, seats, series_start, count, seat=0, dealer=0, scores=(0, 0), goes=(0, 0)
) -> PlayObservation:
    played = parse_cards(history)
    padding = [-1] * (8 - len(played))
    return PlayObservation(
        hand=slots(hand),
        seat=np.array([seat], dtype=np.int8),
        dealer=np.array([dealer], dtype=np.int8),
        scores=int8(*scores),
        key=np.array([1], dtype=np.uint64),
        discards=slots(discards),
        starter=np.array([parse_card(starter)], dtype=np.int8),
        history=int8(*played, *padding),
        history_seats=int8(*seats, *padding),
        series_start=np.array([series_start], dtype=np.int8),
        goes=int8(*goes),
        count=np.array([count], dtype=np.int8),
    )


def discard_observation(hand: str, seat=0, dealer=0, scores=(0, 0)) -> DiscardObservation:
    return DiscardObservation(
        hand=slots(hand),
        seat=np.array([seat], dtype=np.int8),
        dealer=np.array([dealer], dtype=np.int8),
        scores=int8(*scores),
        key=np.array([1], dtype=np.uint64),
    )


def channels(encoder, states: np.ndarray, action: int) -> dict[str, float]:
    """Encode one row and return its channels that are not zero, by name."""
    row = encoder.encode(states, np.array([action], dtype=np.int8))[0].tolist()
    return {name: value for name, value in zip(encoder.spec.channel_names(), row, strict=True) if value != 0.0}


def ones(*names: str) -> dict[str, float]:
    """Count how often each channel is named."""
    return {name: float(names.count(name)) for name in names}


# The second series of a hand, seat 1 (pone) to play: 10 7 9 made 26, a go; 5 then 5 began anew. Seat 1 holds
# 5 and 6 yet; seat 0 has two cards left and has said go in this series (by hand: the flag is what is tested).
SECOND_SERIES = dict(
    hand="5C 6D -- --",
    discards="KD KS",
    starter="6H",
    history="10H 7S 9C 5H 5S",
    seats=(1, 0, 1, 0, 1),
    series_start=3,
    count=10,
    seat=1,
    dealer=0,
    scores=(60, 11),
    goes=(1, 0),
)


def second_series() -> np.ndarray:
    return compact_play(play_observation(**SECOND_SERIES))


def test_compact_play_holds_the_observation_in_its_columns() -> None:
    assert second_series().tolist() == [
        [4, 5, -1, -1, 9, 6, 8, 4, 4, -1, -1, 3, 12, 12, 5, 0, 11, 60, 2, 10, 1, 5, 1, 10]
    ]


def test_compact_discard_holds_the_observation_in_its_columns() -> None:
    states = compact_discard(discard_observation("AC 2D 5H 5S JC KS", seat=1, dealer=1, scores=(7, 120)))
    assert states.tolist() == [[0, 5, 18, 19, 40, 51, 1, 120, 7]]


@pytest.mark.parametrize(("made", "kept"), [(120, 120), (121, 121), (127, 121), (128, 121), (171, 121)])
def test_a_score_past_the_end_is_kept_as_the_end(made: int, kept: int) -> None:
    """Learning games are played out; 128 would be -128 in a column of eight bits."""
    scores = np.array([[made, 60]], dtype=np.int16)
    play = compact_play(replace(play_observation(**SECOND_SERIES), scores=scores))
    assert play[0, [OPPONENT_SCORE, OWN_SCORE]].tolist() == [kept, 60]
    discard = compact_discard(replace(discard_observation("AC 2D 5H 5S JC KS"), scores=scores))
    assert discard[0, [DISCARD_OWN_SCORE, DISCARD_OPPONENT_SCORE]].tolist() == [kept, 60]


def test_observations_of_more_players_are_refused() -> None:
    games = Games(np.arange(2), seed=3, num_players=3)
    with pytest.raises(ValueError, match="two players, not 3"):
        compact_discard(games.discard_observation(games.deal(), np.zeros(2, dtype=np.int8)))


def test_play_basic_is_the_sorted_hand_without_the_candidate_and_the_series_with_it() -> None:
    encoder = make_play_encoder("basic")
    assert encoder.width == 156
    five = ones("hand[1]: 6", "series[1]: 5", "series[2]: 5", "series[3]: 5")
    six = ones("hand[1]: 5", "series[1]: 5", "series[2]: 5", "series[3]: 6")
    assert channels(encoder, second_series(), 0) == five
    assert channels(encoder, second_series(), 1) == six


def test_play_full_adds_played_cards_discards_and_starter() -> None:
    encoder = make_play_encoder("full", dealer=True, scores=True)
    assert make_play_encoder("full").width == 195
    expected = ones("hand[1]: 6", "series[1]: 5", "series[2]: 5", "series[3]: 5")
    expected |= ones("played: T", "played: 7", "played: 9", "played: 5", "played: 5")
    expected |= ones("discards: K", "discards: K", "starter: 6")
    expected |= {"own_score: own": pytest.approx(11 / 121), "opponent_score: opponent": pytest.approx(60 / 121)}
    assert channels(encoder, second_series(), 0) == expected


def test_play_afterstate_of_a_pair_royal() -> None:
    encoder = make_play_encoder("afterstate")
    assert encoder.width == 170
    expected = ones("own_left: 6", "candidate: 5", "series_before[1]: 5", "series_before[2]: 5", "count: 15")
    expected |= ones("seen: 5", "seen: 6", "seen: T", "seen: 7", "seen: 9", "seen: K", "seen: K")
    expected |= {"seen: 5": 3.0, "seen: 6": 2.0}
    expected |= ones("opponent_cards: 2", "opponent_go: go")
    expected |= {"points: points": 8.0}  # three fives: 6 for the pair royal, 2 for fifteen
    assert channels(encoder, second_series(), 0) == expected


def test_play_afterstate_reads_the_series_backwards_and_knows_the_dealer() -> None:
    states = compact_play(play_observation("-- 3D 4H 9S", "JC QC", "KC", "AC 2C 5S", (1, 0, 1), 0, 8, seat=0, dealer=0))
    expected = ones("own_left: 3", "own_left: 9", "candidate: 4", "count: 12", "opponent_cards: 2")
    expected |= ones("series_before[1]: 5", "series_before[2]: 2", "series_before[3]: A", "dealer: dealer")
    expected |= ones(*(f"seen: {rank}" for rank in "A25349JQK"))
    assert channels(make_play_encoder("afterstate"), states, 2) == expected
    run = channels(make_play_encoder("afterstate"), states, 1)
    assert "points: points" not in run  # A 2 5 3 is no run


# 5H 5S kept with the jack and queen of hearts, AC and 2H thrown; sorted: AC 2H 5H 5S JH QH.
DEALT = "AC 2H 5H 5S JH QH"
THROW_FIRST_TWO = 0


def test_play_of_the_published_cnn_lstm_splits_earlier_series_by_seat_and_adds_the_thrown_to_ones_own() -> None:
    encoder = make_play_encoder("belanger2019_cnn_lstm")
    assert encoder.width == 143
    expected = ones("hand: 6", "series[1]: 5", "series[2]: 5", "series[3]: 5", "seat_0_played: 7")
    expected |= ones("seat_1_played: T", "seat_1_played: 9", "seat_1_played: K", "seat_1_played: K")
    assert channels(encoder, second_series(), 0) == expected
    other_seat = dict(SECOND_SERIES, seat=0, seats=(0, 1, 0, 1, 0), goes=(0, 1))
    expected = ones("hand: 6", "series[1]: 5", "series[2]: 5", "series[3]: 5", "seat_1_played: 7")
    expected |= ones("seat_0_played: T", "seat_0_played: 9", "seat_0_played: K", "seat_0_played: K")
    assert channels(encoder, compact_play(play_observation(**other_seat)), 0) == expected


def test_play_of_the_published_feed_forward_network_is_the_playable_hand_and_all_that_is_seen() -> None:
    encoder = make_play_encoder("belanger2019_mlp")
    assert encoder.width == 143
    expected = ones("hand: 5", "hand: 6", "opponent_played: 7", "opponent_played: 5", "candidate: 5")
    expected |= ones("series_before[1]: 5", "series_before[2]: 5")
    expected |= ones("own_seen: T", "own_seen: 9", "own_seen: 5", "own_seen: K", "own_seen: K", "own_seen: 6")
    assert channels(encoder, second_series(), 0) == expected


def test_the_published_networks_see_no_card_that_is_blocked() -> None:
    """At a count of 25 a king may not be played."""
    states = compact_play(play_observation("2C 6D KD --", "AD AS", "6H", "KH 5S JC", (0, 1, 0), 0, 25, seat=1))
    six = ones("hand: 2", "series[1]: K", "series[2]: 5", "series[3]: J", "series[4]: 6")
    assert channels(make_play_encoder("belanger2019_cnn_lstm"), states, 1) == six | ones(
        "seat_1_played: A", "seat_1_played: A"
    )
    shown = channels(make_play_encoder("belanger2019_mlp"), states, 1)
    assert {name for name in shown if name.startswith("hand")} == {"hand: 2", "hand: 6"}


def test_discard_basic_sums_the_kept_cards() -> None:
    states = compact_discard(discard_observation(DEALT, seat=0, dealer=0))
    expected = {"kept_ranks: 5": 2.0, "kept_suits: H": 3.0}
    expected |= ones("kept_ranks: J", "kept_ranks: Q", "kept_suits: S", "dealer: dealer")
    assert channels(make_discard_encoder("basic"), states, THROW_FIRST_TWO) == expected
    without = channels(make_discard_encoder("basic", dealer=False), states, THROW_FIRST_TWO)
    assert without == {name: value for name, value in expected.items() if name != "dealer: dealer"}


def test_discard_full_adds_the_thrown_cards() -> None:
    states = compact_discard(discard_observation(DEALT, seat=1, dealer=0, scores=(121, 60)))
    expected = {"kept_ranks: 5": 2.0, "kept_suits: H": 3.0, "opponent_score: opponent": pytest.approx(1.0)}
    expected |= ones("kept_ranks: J", "kept_ranks: Q", "kept_suits: S")
    expected |= ones("thrown_ranks: A", "thrown_ranks: 2", "thrown_suits: C", "thrown_suits: H")
    expected |= {"own_score: own": pytest.approx(60 / 121)}
    assert channels(make_discard_encoder("full", scores=True), states, THROW_FIRST_TWO) == expected


def test_discard_afterstate_by_role() -> None:
    encoder = make_discard_encoder("afterstate")
    kept = ones("kept_ranks: 5", "kept_ranks: 5", "kept_ranks: J", "kept_ranks: Q", "nobs: 4")
    kept |= ones("kept_pairs: 55", *2 * ["kept_pairs: 5J"], *2 * ["kept_pairs: 5Q"], "kept_pairs: JQ")
    own = compact_discard(discard_observation(DEALT, seat=0, dealer=0))
    other = compact_discard(discard_observation(DEALT, seat=0, dealer=1))
    thrown = ones("own_crib: A", "own_crib: 2", "own_crib_pair: A2", "dealer: dealer")
    assert channels(encoder, own, THROW_FIRST_TWO) == kept | thrown
    assert channels(encoder, other, THROW_FIRST_TWO) == kept | ones(
        "other_crib: A", "other_crib: 2", "other_crib_pair: A2"
    )


def test_discard_afterstate_sees_flushes_pairs_suits_and_jacks() -> None:
    encoder = make_discard_encoder("afterstate")
    flush = compact_discard(discard_observation("2C 3C 7C JC JD KC", seat=0, dealer=1))
    throw_jacks = 12  # slots 3 and 4
    assert DISCARD_SLOTS_6[throw_jacks].tolist() == [3, 4]
    found = channels(encoder, flush, throw_jacks)
    expected = ones("flush: 1", "other_crib_pair: JJ", "other_crib: J", "other_crib: J")
    assert {name: found.get(name) for name in expected} == expected
    assert "crib_suited: other" not in found
    suited = channels(encoder, flush, 0)  # throws 2C 3C: no flush is kept
    assert suited["crib_suited: other"] == 1.0
    assert not [name for name in suited if name.startswith("flush")]
    assert (suited["nobs: 5"], suited["nobs: 1"]) == (1.0, 1.0)  # JC with four more clubs of six, JD alone


def test_play_afterstate_agrees_with_plain_python() -> None:
    states, actions = (array[:1500] for array in PLAYS)
    encoder = make_play_encoder("afterstate")
    rows = encoder.encode(states, actions).numpy()
    for state, action, row in zip(states, actions, rows, strict=True):
        own = [rank for rank in state[:4] if rank >= 0]
        played = [rank for rank in state[4:11] if rank >= 0]
        series = np.array([*played[state[11] :], state[action]], dtype=np.int64)
        seen = np.bincount([*own, *played, *state[12:15]], minlength=13)
        assert np.array_equal(row[encoder.spec["seen"].slice], seen)
        assert row[encoder.spec["points"].start] == pegs([4 * int(rank) for rank in series])
        count = encoder.spec["count"].start + sum(min(rank + 1, 10) for rank in series)
        assert row[count] == 1.0
        assert row[encoder.spec["opponent_cards"].slice].tolist().index(1.0) == 4 - (len(played) - (4 - len(own)))


def test_play_history_agrees_with_plain_python() -> None:
    """Who played what, in order; and the lowest count at which the opponent could not play."""
    states, actions = (array[1000::2] for array in PLAYS)
    encoder = make_play_encoder("history")
    rows = encoder.encode(states, actions).numpy()
    passed = 0
    for state, row in zip(states, rows, strict=True):
        played = [int(rank) for rank in state[4:11] if rank >= 0]
        theirs = [bool(state[23] >> k & 1) for k in range(len(played))]
        for name, whose in (("opponent_played", True), ("own_played", False)):
            ranks = [rank for rank, their in zip(played, theirs, strict=True) if their == whose]
            found = row[encoder.spec[name].slice].reshape(-1, 13)
            assert found.argmax(axis=1)[: len(ranks)].tolist() == ranks and found.sum() == len(ranks)
        counts, series, last = [31], 0, None
        for rank, their in zip(played, theirs, strict=True):
            value = min(rank + 1, 10)
            if series + value > 31:
                counts.append(series)  # the one who said the last go, and the other before it
                series, last = 0, None
            elif last is False and not their:
                counts.append(series)
            series, last = series + value, their
        counts.append(series if state[20] else 31)
        expected = [float(count == min(counts)) for count in range(31)]
        assert row[encoder.spec["passed"].slice].tolist() == expected
        passed += min(counts) < 31
    assert passed > 100


def test_discard_full_agrees_with_plain_python() -> None:
    states, actions = (array[:500] for array in DISCARDS)
    encoder = make_discard_encoder("full")
    rows = encoder.encode(states, actions).numpy()
    for state, action, row in zip(states, actions, rows, strict=True):
        thrown = state[DISCARD_SLOTS_6[action]]
        kept = np.setdiff1d(state[:6], thrown)
        parts = []
        for cards in (kept, thrown):
            parts += [np.bincount(RANKS[cards], minlength=13), np.bincount(cards % 4, minlength=4)]
        assert np.array_equal(row, np.concatenate([*parts, [state[6]]]))


@pytest.mark.parametrize("encoder", ENCODERS, ids=label)
def test_the_compiled_expansion_equals_the_one_in_torch(encoder) -> None:
    indices = encoder.indices(*sample(encoder))
    assert indices.dtype == np.int16
    assert indices.shape[1] == encoder.columns
    rows = encoder.expand(indices)
    assert rows.dtype == torch.float32
    assert rows.shape == (len(indices), encoder.width)
    assert torch.equal(rows, encoder.expand(torch.from_numpy(indices)))
    assert rows.any(dim=1).all()


@pytest.mark.usefixtures("many_parts")
@pytest.mark.parametrize("encoder", ENCODERS, ids=label)
def test_an_encoding_does_not_depend_on_the_batch(encoder) -> None:
    states, actions = sample(encoder)
    whole = encoder.encode(states, actions)
    parts = [encoder.encode(states[i : i + 101], actions[i : i + 101]) for i in range(0, len(states), 101)]
    assert torch.equal(whole, torch.cat(parts))
    assert encoder.encode(states[:0], actions[:0]).shape == (0, encoder.width)


@pytest.mark.parametrize("encoder", ENCODERS, ids=label)
def test_distinct_inputs_are_counted_once(encoder) -> None:
    """As many as NumPy finds among the encoded rows, each with its own number."""
    states, actions = sample(encoder)
    columns, again = encoder.distinct(states, actions)
    encoded = encoder.encode(states, actions).numpy()
    assert len(columns) == len(np.unique(encoded, axis=0)) <= len(states)
    np.testing.assert_array_equal(encoder.expand(columns).numpy()[again], encoded)


@pytest.mark.parametrize("encoder", ENCODERS, ids=label)
def test_every_channel_has_one_name_and_one_kind(encoder) -> None:
    spec = encoder.spec
    names = spec.channel_names()
    assert len(set(names)) == len(names) == spec.width == encoder.width
    covered = [channel for block in spec.blocks for channel in range(encoder.width)[block.slice]]
    assert covered == list(range(encoder.width))
    num_scalars = len(spec.scales)
    assert [b.kind for b in spec.blocks if b.start >= spec.width - num_scalars] == ["scalar"] * num_scalars
    rows = encoder.encode(*sample(encoder)).numpy()
    for block in spec.blocks:
        values = rows[:, block.slice].reshape(len(rows), -1, len(block.channels))
        if block.kind in ("one-hot", "flag"):
            assert values.sum(axis=2).max() <= 1.0
        if block.kind in ("one-hot", "flag", "count"):
            assert values.min() >= 0.0


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_expansion_adds_up_equal_indices_and_scales_scalars(device: str) -> None:
    indices = np.array([[0, 2, 2, -1, 30], [-1, -1, -1, -1, -7]], dtype=np.int16)
    encoder: Any = SimpleNamespace(width=4, scales=np.array([0.5], dtype=np.float32))
    expected = torch.tensor([[1.0, 0.0, 2.0, 15.0], [0.0, 0.0, 0.0, -3.5]])
    assert torch.equal(Encoder.expand(encoder, indices, device).cpu(), expected)
    assert torch.equal(Encoder.expand(encoder, torch.from_numpy(indices), device).cpu(), expected)


def test_specs_differ_in_their_hash_and_keep_it() -> None:
    hashes = {}
    for encoder in ENCODERS:
        hashes.setdefault(encoder.spec.hash(), []).append(encoder)
    for same in hashes.values():  # our own have the dealer flag always
        assert len({(part(e), e.name, e.width) for e in same}) == 1
        assert len(same) == (2 if same[0].name in ("afterstate", "history") else 1)
    # A change here makes every saved checkpoint of the encoder unreadable, and must be meant.
    kept = {make_play_encoder(n).spec.hash()[:8] for n in PLAY_ENCODERS}
    kept |= {make_discard_encoder(n).spec.hash()[:8] for n in DISCARD_ENCODERS}
    paper = {"00a9ad3f", "1527f55b", "4209a808", "918b634b", "9552f7ec", "c895690c"}
    known = paper | {"654addf9", "9c4c1b18", "fe4e7ec0"}
    assert kept == known, (
        f"new here: {kept - known}, to be added for a new table; gone: {known - kept}, weights that no longer load"
    )


def test_the_generated_page_names_every_channel() -> None:
    script = Path(__file__).parents[2] / "docs" / "_ext" / "observations_page.py"
    page = runpy.run_path(str(script))["observations_page"]()
    for encoder in ENCODERS:
        for block in encoder.spec.blocks:
            assert f"| {' '.join(block.channels)} | {block.kind}" in page, (encoder.spec.name, block.name)
            assert block.meaning in page
