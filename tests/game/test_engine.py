"""The engine: hands worked by hand, whole games replayed through `reference`, deals, purity and refusals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from deepcrib.game.engine import Games, IllegalActionError
from deepcrib.game.policies import DETERMINISTIC, GREEDY, RANDOM, pick
from deepcrib.kernels.workers import use_workers
from tests.support import reference
from tests.support.reference import Deal, PlayedHand, cards, drive, plain_discards, plain_plays, thrown_by
from tests.support.worked import ALONE, GO, GO_THEN_31, THIRTY_ONE, THREE, WORKED, lay_hand, seat_hand, throw_hand

HANDS, PLAYERS = {2: 6, 3: 5, 4: 5}, (2, 3, 4)


# --- hands worked by hand -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WORKED)
def test_worked_hands(name: str) -> None:
    """Every point of the hand; the reference is then held to the engine, in whole games."""
    worked = WORKED[name]
    players, dealer = len(worked.kept), worked.dealer
    games = seat_hand(worked, [[0] * players])
    throw_hand(games, worked)
    games.start_play()
    assert games.scores[0, dealer] == worked.heels
    lay_hand(games, worked)
    games.show()
    state = games.state[0]
    assert state.history.tolist() == [card for _, card, _ in worked.sequence]
    assert state.history_seats.tolist() == [seat for seat, _, _ in worked.sequence]
    assert state.play_points.tolist() == [points for _, _, points in worked.sequence]
    assert state.heels == worked.heels
    assert state.hand_points.tolist() == worked.hands
    assert state.crib_points == worked.crib
    totals = np.array(worked.hands)
    totals[dealer] += worked.heels + worked.crib
    for seat, _, points in worked.sequence:
        totals[seat] += points
    assert games.scores[0].tolist() == totals.tolist()
    assert not games.finished[0] and games.winner[0] == -1


# --- the end of a game --------------------------------------------------------------------------------------

ENDS = [
    # the GO hand (player 1 deals): scores before, after, winner, cards laid, hands and crib counted
    ([120, 120], [121, 120], 0, 4, [0, 0], 0),  # at the go, before the other has led
    ([110, 120], [111, 121], 1, 8, [0, 0], 0),  # at the last card: nobody counts
    ([110, 114], [121, 115], 0, 8, [10, 0], 0),  # pone counts first, though the dealer holds enough
    ([119, 119], [121, 120], 0, 8, [10, 0], 0),  # the peg stops in the last hole
    ([109, 114], [120, 121], 1, 8, [10, 6], 0),  # the dealer's hand before the crib
    ([109, 107], [120, 121], 1, 8, [10, 6], 7),  # the crib
    ([109, 106], [120, 120], -1, 8, [10, 6], 7),  # one short each: the game goes on
]


def test_games_end_at_the_very_peg() -> None:
    """All of them in lockstep. The next deal goes to the other player; a finished game stays as it is."""
    before, after, winners, laid, hands, cribs = zip(*ENDS, strict=True)
    games = seat_hand(GO, list(before))
    throw_hand(games, GO)
    games.start_play()
    lay_hand(games, GO)
    games.show()
    over = np.array(winners) >= 0
    assert games.scores.tolist() == list(after)
    assert games.winner.tolist() == list(winners) and (games.finished == over).all()
    assert games.state.num_played.tolist() == list(laid)
    assert games.state.hand_points.tolist() == list(hands) and games.state.crib_points.tolist() == list(cribs)
    assert (games.unfinished == np.flatnonzero(~over)).all()
    frozen = games.state.copy()
    games.deal()
    assert (games.state[over] == frozen[over]).all()
    assert (games.dealer[~over] == 0).all() and (games.state.hand_number[~over] == 1).all()


def test_heels_can_end_the_game_before_a_card_is_laid() -> None:
    games = seat_hand(ALONE, [[119, 0], [120, 120], [118, 120]])
    throw_hand(games, ALONE)
    games.start_play()
    assert games.scores.tolist() == [[121, 0], [121, 120], [120, 120]]
    assert games.winner.tolist() == [0, 0, -1]
    assert games.to_play.tolist() == [2]
    assert games.state.heels.tolist() == [2, 2, 2]
    assert games.state.num_played.tolist() == [0, 0, 0]


def test_a_pair_can_end_the_game() -> None:
    """Player 1 pairs the first ten: not a card is laid after it."""
    games = seat_hand(GO_THEN_31, [[120, 119]])
    throw_hand(games, GO_THEN_31)
    games.start_play()
    for seat, card, _ in GO_THEN_31.sequence[:2]:
        games.play(games.to_play, [sorted(cards(GO_THEN_31.kept[seat])).index(card)])
    assert games.scores[0].tolist() == [120, 121]
    assert games.winner[0] == 1 and games.turn[0] == -1


def test_three_players_count_from_the_dealers_left() -> None:
    """Player 2 deals; with the play points each of them would reach 121 in the show."""
    # Play points of THREE: 7, 0, 11. Hands 7, 6, 4; crib 6.
    before = [[107, 115, 106], [106, 115, 106], [106, 114, 106], [106, 114, 100], [106, 114, 99]]
    games = seat_hand(THREE, before)
    throw_hand(games, THREE)
    games.start_play()
    lay_hand(games, THREE)
    games.show()
    assert games.winner.tolist() == [0, 1, 2, 2, -1]
    assert games.scores.tolist() == [
        [121, 115, 117],
        [120, 121, 117],
        [120, 120, 121],
        [120, 120, 121],
        [120, 120, 120],
    ]
    assert games.state.crib_points.tolist() == [0, 0, 0, 6, 6]


def test_without_the_stop_a_hand_is_played_out() -> None:
    games = seat_hand(GO, [[120, 120], [110, 120], [0, 0]], stop_at_121=False)
    throw_hand(games, GO)
    games.start_play()
    lay_hand(games, GO)
    games.show()
    # Player 0: go 1, hand 10. Player 1: last card 1, hand 6, crib 7.
    assert games.scores.tolist() == [[131, 134], [121, 134], [11, 14]]
    assert games.finished.tolist() == [True, True, False]
    assert games.state.hand_points.tolist() == [[10, 6]] * 3 and games.state.crib_points.tolist() == [7] * 3


# --- whole games against the reference ----------------------------------------------------------------------


def reference_game(games: Games, hands: list[PlayedHand], row: int) -> tuple[list[int], list[reference.HandRecord]]:
    """Game `row` once more, with the same cards and choices; whose turn it is, is the reference's word."""
    mine = [hand for hand in hands if row in hand.rows]
    laid = [iter(hand.laid[row]) for hand in mine]
    deals, thrown = [], []
    for hand in mine:
        dealt = hand.state.dealt[row].tolist()
        thrown.append([thrown_by(held, int(action)) for held, action in zip(dealt, hand.actions[row], strict=True)])
        deals.append(Deal(dealt, int(hand.state.starter[row]), [int(hand.state.hidden[row, 1])] * (len(dealt) == 3)))

    def choose(number: int, player: int, legal: tuple[int, ...]) -> int:
        seat, card = next(laid[number])
        assert seat == player, f"game {row}, hand {number}: the engine gives seat {seat} the turn"
        return card

    dealers = [int(hand.state.dealer[row]) for hand in mine] if games.random_dealer else None
    result = reference.play_game(deals, int(mine[0].state.dealer[row]), thrown.__getitem__, choose, dealers)
    assert all(next(rest, None) is None for rest in laid), "the engine laid cards after the end"
    return result


def assert_same_hand(state: np.record, record: reference.HandRecord) -> None:
    """Every logged point of a hand; after the end of the game there are none."""
    players = len(state.scores)
    expected = {"heels": 0, "crib": 0, "hand": [0] * players, "play": [0] * (4 * players)}
    for peg in record.pegged:
        if peg.number >= 0:
            expected["play"][peg.number] += peg.points
        elif peg.kind == "hand":
            expected["hand"][peg.player] += peg.points
        else:
            assert peg.player == state.dealer
            expected[peg.kind] += peg.points
    rest = [-1] * (4 * players - len(record.turns))
    assert state.dealer == record.dealer
    assert state.history.tolist() == [turn.card for turn in record.turns] + rest
    assert state.history_seats.tolist() == [turn.player for turn in record.turns] + rest
    assert state.play_points.tolist() == expected["play"]
    assert state.hand_points.tolist() == expected["hand"]
    assert (state.heels, state.crib_points) == (expected["heels"], expected["crib"])
    assert sorted(state.crib.tolist()) == sorted(record.crib)
    assert state.kept.tolist() == record.kept


@pytest.mark.parametrize("dealing", ["acc", "random_dealer"])
@pytest.mark.parametrize(("players", "count"), [(2, 400), (3, 200), (4, 120)])
def test_whole_games_against_the_reference(players: int, count: int, dealing: str) -> None:
    games = Games(range(count), 101, num_players=players, dealing=dealing)
    hands = drive(games)
    assert games.finished.all()
    winners = set()
    for row in range(count):
        scores, records = reference_game(games, hands, row)
        assert len(records) == games.state.hand_number[row] + 1
        for number, record in enumerate(records):
            assert_same_hand(hands[number].state[row], record)
        assert games.scores[row].tolist() == scores
        assert games.winner[row] == records[-1].winner == int(np.argmax(scores))
        assert max(scores) == 121 and sum(score == 121 for score in scores) == 1
        winners.add(records[-1].winner)
    assert winners == set(range(players))


@pytest.mark.parametrize("players", PLAYERS)
def test_sums_over_the_game_by_seat_role_and_kind(players: int) -> None:
    count = 40
    games = Games(range(count), 102, num_players=players)
    hands = drive(games)
    kinds = {"heels": 0, "play": 1, "go": 1, "hand": 2, "crib": 3}
    for row in range(count):
        points = np.zeros((players, 2, 4), dtype=int)
        _, records = reference_game(games, hands, row)
        for record in records:
            for peg in record.pegged:
                points[peg.player, int(peg.player == record.dealer), kinds[peg.kind]] += peg.points
        assert games.state.points[row].tolist() == points.tolist()
        counts = games.state.counts[row]
        deals = [sum(record.dealer == seat for record in records) for seat in range(players)]
        assert counts[:, 1, 0].tolist() == deals  # heels are looked for in every hand one deals
        assert counts[:, 0, 0].sum() == counts[:, 0, 3].sum() == 0  # a pone has neither heels nor crib
        # Only in the last hand may a kind not be reached.
        for kind in (1, 2):
            assert (np.array(deals) - counts[:, 1, kind] <= 1).all() and (counts[:, 1, kind] <= deals).all()
        assert 0 <= sum(deals) - counts[:, 1, 3].sum() <= 1


@pytest.mark.parametrize("players", PLAYERS)
def test_hands_played_out_against_the_reference(players: int) -> None:
    """Without the stop at 121, as in training: every hand to the end of its show."""
    count = 60
    games = Games(range(count), 103, num_players=players, stop_at_121=False)
    hands = drive(games, max_hands=3)
    for hand in hands:
        for row in hand.rows.tolist():
            state, laid = hand.state[row], iter(hand.laid[row])
            dealt = state.dealt.tolist()
            thrown = [thrown_by(held, int(action)) for held, action in zip(dealt, hand.actions[row], strict=True)]
            deal = Deal(dealt, int(state.starter), [int(state.hidden[1])] * (players == 3))
            record = reference.play_hand(
                deal, int(state.dealer), thrown, lambda player, legal, laid=laid: next(laid)[1], [0] * players, None
            )
            assert_same_hand(state, record)
            assert sum(hand.state.play_points[row]) > 0


# --- threads, batches, scripted players ---------------------------------------------------------------------


def scripted(ids: np.ndarray, policies: list[int], players: int) -> Games:
    games = Games(ids, 116, num_players=players)
    games.play_scripted(np.tile(np.array(policies, dtype=np.int8), (len(ids), 1)))
    return games


def driven(ids: np.ndarray, policies: list[int], players: int) -> Games:
    games = Games(ids, 115, num_players=players)
    drive(games)
    return games


@pytest.mark.usefixtures("many_parts")
@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize(("play", "count"), [(driven, 100), (scripted, 2_000)])
def test_split_batches_and_threads_play_the_same_games(
    play: Callable[[np.ndarray, list[int], int], Games], count: int, players: int
) -> None:
    ids, policies = np.arange(300, 300 + count), [GREEDY, DETERMINISTIC, RANDOM, GREEDY][:players]
    whole = play(ids, policies, players).state
    assert whole.finished.all()
    for threads in (1, 2):
        use_workers(threads)
        assert (play(ids, policies, players).state == whole).all()
    parts = [play(part, policies, players).state for part in np.array_split(ids, [1, 37])]
    assert (np.concatenate(parts) == whole).all()
    assert (play(ids[::-1], policies, players).state[::-1] == whole).all()


def plain_choice(policies: list[int], observation: object) -> np.ndarray:
    """The scripted players' choices, worked out in plain Python; ties fall by the key as theirs do."""
    names = {RANDOM: "random", DETERMINISTIC: "deterministic", GREEDY: "greedy"}
    out = []
    for row in range(len(observation)):
        name = names[policies[int(observation.seat[row])]]
        hand = observation.hand[row].tolist()
        if hasattr(observation, "legal"):
            history = observation.history[row]
            series = history[int(observation.series_start[row]) :]
            tied = plain_plays(name, hand, series[series >= 0].tolist())
        else:
            tied = plain_discards(name, hand)
        out.append(pick(sum(1 << choice for choice in tied), observation.key[row]))
    return np.array(out)


@pytest.mark.parametrize(
    ("players", "policies"),
    [
        (2, [GREEDY, DETERMINISTIC]),
        (2, [RANDOM, GREEDY]),
        (3, [GREEDY, RANDOM, DETERMINISTIC]),
        (4, [DETERMINISTIC, GREEDY, DETERMINISTIC, RANDOM]),
    ],
)
def test_scripted_games_are_the_lockstep_games(players: int, policies: list[int]) -> None:
    """Whole games in one kernel against phase by phase with plain-Python players: the same in every field."""
    ids = np.arange(12)
    games = Games(ids, 116, num_players=players)
    drive(games, lambda observation: plain_choice(policies, observation))
    kernel = scripted(ids, policies, players)
    for name in kernel.state.dtype.names:
        np.testing.assert_array_equal(kernel.state[name], games.state[name], err_msg=name)


# --- refusals -----------------------------------------------------------------------------------------------


def one(value: int) -> np.ndarray:
    return np.array([value])


@pytest.fixture
def two_games() -> Games:
    """Games 70 and 71 at the deal of the GO hand, player 1 dealing."""
    games = seat_hand(GO, [[0, 0], [0, 0]])
    games.state.game[:] = [70, 71]
    return games


@pytest.fixture
def at_play(two_games: Games) -> Games:
    throw_hand(two_games, GO)
    two_games.start_play()
    return two_games


def assert_refused(games: Games, call: Callable[[Games], object], *words: str) -> None:
    """One line that names game, seat and what was wrong; nothing has changed."""
    before = games.state.copy()
    with pytest.raises(IllegalActionError) as error:
        call(games)
    text = str(error.value)
    assert "\n" not in text and all(word in text for word in words), text
    assert (games.state == before).all()


@pytest.mark.parametrize("action", [-1, 15, 127, 300, -300])
def test_no_such_discard(two_games: Games, action: int) -> None:
    words = "game 71", "seat 0", str(action), "0..14"
    assert_refused(two_games, lambda games: games.discard(one(1), one(0), one(action)), *words)


@pytest.mark.parametrize("players", [3, 4])
def test_no_such_discard_of_five_cards(players: int) -> None:
    games = Games([5], 1, num_players=players)
    games.deal()
    assert_refused(games, lambda games: games.discard(one(0), one(2), one(5)), "game 5", "seat 2", "5", "0..4")


def test_discards_at_the_wrong_time(two_games: Games) -> None:
    assert_refused(Games([9], 1), lambda games: games.discard(one(0), one(0), one(0)), "game 9", "seat 0")
    two_games.discard(one(0), one(1), one(3))
    assert_refused(two_games, lambda games: games.discard(one(0), one(1), one(4)), "game 70", "seat 1")
    assert_refused(two_games, lambda games: games.play(one(1), one(0)), "game 71")
    for seat in (-1, 2, 100):  # compiled code does not check bounds: such a seat is some other place in memory
        assert_refused(two_games, lambda games, seat=seat: games.discard(one(0), one(seat), one(0)))
    two_games.discard(one(0), one(0), one(0))
    with pytest.raises(IllegalActionError, match="71"):  # the starter waits for all discards
        two_games.start_play()


@pytest.mark.parametrize("slot", [-1, 4, 100])
def test_no_such_slot(at_play: Games, slot: int) -> None:
    words = "game 70", "seat 0", f"slot {slot}", "expected 0 ("
    assert_refused(at_play, lambda games: games.play(one(0), one(slot)), *words)
    with pytest.raises(IllegalActionError, match=f"game 71.*{slot}"):  # the first wrong row
        at_play.play(np.arange(2), np.array([0, slot]))


def test_a_card_that_may_not_be_played(at_play: Games) -> None:
    """One that has been played; and on 30, where the king would make 40 and the ace makes 31."""
    at_play.play(one(1), one(3))  # JS
    at_play.play(one(1), one(3))  # TS
    assert_refused(at_play, lambda games: games.play(one(1), one(3)), "game 71", "seat 0", "slot 3", "on a count of 20")
    games = seat_hand(THIRTY_ONE, [[0, 0]])
    throw_hand(games, THIRTY_ONE)
    games.start_play()
    for seat, card in ((1, "TC"), (0, "TH"), (1, "JD")):
        games.play(one(0), one(sorted(cards(THIRTY_ONE.kept[seat])).index(cards(card)[0])))
    words = "game 0, hand 0, seat 0", "slot 3", "expected 0 (AD) on a count of 30"
    assert_refused(games, lambda games: games.play(one(0), one(3)), *words)


def test_steps_out_of_order(at_play: Games) -> None:
    at_play.play(np.arange(2), np.array([3, 3]))
    assert_refused(at_play, lambda games: games.show(), "70")  # before the last card
    assert_refused(at_play, lambda games: games.start_play())
    games = seat_hand(GO, [[0, 0]])
    throw_hand(games, GO)
    games.start_play()
    lay_hand(games, GO)
    assert_refused(games, lambda games: games.play(one(0), one(0)), "game 0")
    games.show()
    assert_refused(games, lambda games: games.show())
    games = seat_hand(ALONE, [[120, 0]])
    throw_hand(games, ALONE)
    games.start_play()
    assert games.finished[0]
    assert_refused(games, lambda games: games.play(one(0), one(0)), "game 0")
    assert_refused(games, lambda games: games.discard(one(0), one(0), one(0)), "game 0")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        *(({"num_players": players}, f"{players}.*2, 3 or 4") for players in (0, 1, 5, -2)),
        ({"dealing": "lottery"}, "lottery"),
        *(({"first_dealer": [0, dealer]}, str(dealer)) for dealer in (-1, 2)),
    ],
)
def test_tables_that_there_are_not(options: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Games([0, 1], 0, **options)
