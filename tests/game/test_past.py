"""What observations say of the match so far: all that both players have seen, and nothing else."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from deepcrib.agents import make_agent
from deepcrib.game.engine import Games
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.past import Past, PastHands
from deepcrib.game.past_decisions import past_discards, past_plays
from deepcrib.game.rules import MAX_SCORE
from deepcrib.matches.games import Recorder, play_hand, play_match
from tests.support.hidden import shuffled_behind


class Watching:
    """Plays as another agent does, and keeps what it has seen."""

    num_players, uses_past = frozenset({2}), True

    def __init__(self, name: str) -> None:
        self.by, self.name = make_agent(name), f"watching {name}"
        self.seen: list[DiscardObservation | PlayObservation] = []

    def discard(self, observation: DiscardObservation) -> np.ndarray:
        self.seen.append(observation)
        return self.by.discard(observation)

    def play(self, observation: PlayObservation) -> np.ndarray:
        self.seen.append(observation)
        return self.by.play(observation)


class Noted(Recorder):
    """Every decision of a hand, with the cards that were chosen."""

    def __init__(self) -> None:
        self.discard, self.turns = [], []

    def discards(self, rows: np.ndarray, observation: DiscardObservation, actions: np.ndarray) -> None:
        self.discard.append((rows, observation, actions))

    def plays(self, rows: np.ndarray, observation: PlayObservation, slots: np.ndarray) -> None:
        self.turns.append((rows, observation, slots))


AGENTS = [make_agent("random"), make_agent("greedy")]


def hands_noted(games: int = 60, seed: int = 3) -> tuple[PastHands, list[Any]]:
    """The past of games, each a match, and of each of their hands what the engine knew: state, decisions."""
    past = PastHands(games)
    table = Games(range(games), seed, past=past)
    seating, hands = np.tile([0, 1], (games, 1)), []
    while len(table.unfinished):
        scores, recorder = table.scores.copy(), Noted()
        rows = play_hand(table, AGENTS, seating, recorder)
        hands.append((rows, scores, table.state.copy(), recorder))
    return past, hands


def test_a_finished_hand_is_what_lay_on_the_table() -> None:
    """Scores before it, cards in the order played, discards only where the crib was counted."""
    past, hands = hands_noted()
    hidden = cut = 0
    for number, (rows, scores, state, _) in enumerate(hands):
        for row in rows:
            hand, game = past.records[row, number], state[row]
            assert (hand["game"], hand["hand_number"], hand["dealer"]) == (0, number, game.dealer)
            assert hand["scores"].tolist() == scores[row].tolist()
            assert hand["history"].tolist() == game.history.tolist()
            for seat in range(2):
                played = [c for c, s in zip(game.history, game.history_seats, strict=True) if s == seat]
                assert hand["kept"][seat].tolist() == played + [-1] * (4 - len(played))
                cut += len(played) < 4
            thrown = hand["discards"]
            if (thrown < 0).any():
                assert (thrown == -1).all() and game.finished and game.crib_points == 0
                hidden += 1
            else:
                assert (thrown == game.discards).all()
    assert (past.lengths == [sum(row in rows for rows, *_ in hands) for row in range(60)]).all()
    assert hidden > 20 and cut > 20  # most games end before the crib


def test_no_hidden_card_changes_what_is_noted() -> None:
    """Whatever the other player held that was not shown."""
    rng = np.random.default_rng(2)
    past = PastHands(200)
    table = Games(range(200), 9, past=past)
    ended = np.zeros(200, dtype=bool)
    while len(table.unfinished):
        rows = table.deal()
        for seat in range(2):
            seats = np.full(len(rows), seat, dtype=np.int8)
            table.discard(rows, seats, AGENTS[seat].discard(table.discard_observation(rows, seats)))
        table.start_play()
        while len(turns := table.to_play):
            who = table.turn[turns]
            choices = [AGENTS[seat].play(table.play_observation(turns[who == seat])) for seat in range(2)]
            for seat in range(2):
                table.play(turns[who == seat], choices[seat])
        early = table.finished & ~ended  # before any hand was shown
        other = shuffled_behind(table, np.zeros(200, dtype=np.int8), rng)
        other.past = copy.deepcopy(past)
        table.show()
        table.note_hands(rows)
        other.note_hands(np.flatnonzero(early))
        assert other.past.seen(np.flatnonzero(early)) == past.seen(np.flatnonzero(early))
        ended |= table.finished
    assert ended.all()


def test_decisions_of_the_past_are_those_that_were_made() -> None:
    """Every shown choice, with what its player saw; the score apart, which is that before the hand."""
    past, hands = hands_noted()
    compared = 0
    for number, (rows, scores, _, recorder) in enumerate(hands):
        records = past.records[rows, number]
        for seat in range(2):
            found = past_discards(records, np.full(len(rows), seat, dtype=np.int8))
            made, seen, actions = next(one for one in recorder.discard if one[1].seat[0] == seat)
            assert made.tolist() == rows.tolist()
            expected = seen.take(found.hands)
            assert found.actions.tolist() == actions[found.hands].tolist()
            for name in ("hand", "seat", "dealer", "scores"):
                assert (getattr(found.seen, name) == getattr(expected, name)).all()
            turns = past_plays(records, np.full(len(rows), seat, dtype=np.int8))
            at = {
                (int(rows[h]), int((h_ >= 0).sum())): i
                for i, (h, h_) in enumerate(zip(turns.hands, turns.seen.history, strict=True))
            }
            for table_rows, observation, slots in recorder.turns:
                for i, row in enumerate(table_rows):
                    place = at.get((int(row), int((observation.history[i] >= 0).sum())))
                    if place is None or observation.seat[i] != seat:
                        continue
                    compared += 1
                    assert turns.slots[place] == slots[i]
                    assert (turns.seen.scores[place] == np.minimum(scores[row], MAX_SCORE)).all()
                    for name in (
                        "hand",
                        "seat",
                        "dealer",
                        "starter",
                        "history",
                        "history_seats",
                        "series_start",
                        "goes",
                        "count",
                    ):
                        assert (getattr(turns.seen, name)[place] == getattr(observation, name)[i]).all(), name
    assert compared > 2000


@pytest.mark.parametrize("duplicate", [False, True])
def test_a_match_is_seen_hand_by_hand(duplicate: bool) -> None:
    """Who asks for it sees all hands of the games before, and of this one; a match of one game its own game alone."""
    watching = Watching("greedy")
    result = play_match([watching, make_agent("random")], 24, 5, duplicate=duplicate, games_per_match=6)
    for observation in watching.seen:
        for decision in range(len(observation)):
            hands = observation.past.of(decision)
            here = hands[hands["game"] == hands["game"].max(initial=0)]
            assert (np.diff(hands["game"]) >= 0).all()
            if observation.hand_number[decision]:
                assert here["hand_number"].tolist() == list(range(observation.hand_number[decision]))
    last = watching.seen[-1].past
    assert [len(last.of(i)) for i in range(len(last.rows))] and last.hands.lengths.sum() == result.hands.sum()


def test_matches_are_the_same_games() -> None:
    """A past that nobody uses changes nothing, and matches of games of one are those of before."""
    pair = [make_agent("greedy"), make_agent("deterministic")]
    one, again = play_match(pair, 48, 7), play_match(pair, 48, 7, games_per_match=1)
    assert (one.winner == again.winner).all() and (one.pair == np.arange(48)).all()
    plain = play_match(pair, 48, 7, games_per_match=6, duplicate=True)
    watched = play_match([Watching("greedy"), pair[1]], 48, 7, games_per_match=6, duplicate=True)
    for name in ("winner", "scores", "hands", "pair", "points", "first_dealer"):
        assert (getattr(plain, name) == getattr(watched, name)).all(), name
    assert (plain.pair.reshape(4, 12) == plain.pair[::12, None]).all() and len(set(plain.pair)) == 4
    assert (plain.first_dealer.reshape(8, 6)[:, ::2] != plain.first_dealer.reshape(8, 6)[:, 1::2]).all()
    with pytest.raises(ValueError, match="games=10: expected whole matches of games_per_match=4 games"):
        play_match(pair, 10, 7, games_per_match=4)


def test_decisions_of_no_match_have_no_past() -> None:
    observation = Games([0], 1, first_dealer=[0])
    observation.deal()
    seen = observation.discard_observation(np.array([0]), [0])
    assert len(seen.past.of(0)) == 0 and seen.past == Past.nothing(1)
    assert DiscardObservation.concatenate([seen, seen]).past == Past.nothing(2)


def test_pasts_of_several_tables_are_joined() -> None:
    (one, _), (two, _) = hands_noted(4, seed=1), hands_noted(3, seed=2)
    parts = [one.seen(np.array([3, 1])), two.seen(np.array([2])), Past.nothing(1)]
    joined = Past.concatenate(parts)
    assert joined[:2] == parts[0] and joined[2:3] == parts[1] and len(joined.of(3)) == 0
