"""`deepcrib practise`: the costliest choices of one's own games, or of a drawn one, asked again; the score is kept."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from deepcrib.agents import make_agent
from deepcrib.agents.asking import ask
from deepcrib.board import text_of, view_of
from deepcrib.errors import UserError
from deepcrib.evaluation.recorded import whole_games
from deepcrib.evaluation.regrets import NOTHING
from deepcrib.evaluation.review import Choice, chosen_in
from deepcrib.files import runs
from deepcrib.game.cards import NO_CARD, format_cards, parse_cards
from deepcrib.game.engine import Games, Turns
from deepcrib.game.engine.batch import games_seen
from deepcrib.game.engine.phases import DISCARD, OVER
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.rules import DISCARD_SLOTS_6, HAND_SIZE
from deepcrib.jobs import Outcome, Run
from deepcrib.jobs.shared.console import Bars, show_line
from deepcrib.options import at_least, option, seed_value
from deepcrib.records import find_files, read_games
from deepcrib.records.replay import ROW
from deepcrib.search.minimax import has_choice
from deepcrib.search.rollouts import usual_responder

DRAWN_BY, DRAWN_HANDS = "greedy", 6
"""Who plays a drawn game against itself, as people do who look at their points alone; and how many hands."""


@dataclass
class Config:
    """The schema of `conf/practise.yaml`."""

    games: str | None = option(None, "a file of recorded games, or a folder of such files; default: outputs/play")
    newest: int = option(3, "how many of the games are looked at, the newest ones", at_least(1))
    questions: int = option(10, "how many choices are asked", at_least(1))
    seed: int = option(1, "of the game that is drawn where none is recorded", seed_value)
    score: str | None = option(None, "file of the score; default: outputs/practise/score.json")


class Question(NamedTuple):
    """A choice to make again: what was seen, its name in the score, points lost by cards to choose, and those taken."""

    seen: DiscardObservation | PlayObservation
    key: str
    costs: dict[str, float]
    taken: str


def run(config: Config, run: Run) -> Outcome:
    """Ask until there are enough answers, or an empty one."""
    with Bars(run.show_progress, run.show_lines) as bars:
        found = [one for one in _own(config, bars) or _drawn(config.seed) if one.costs[one.taken] >= NOTHING]
    path = Path(config.score) if config.score else runs.outputs_folder() / "practise" / "score.json"
    score = runs.read_json(path)  # how often a choice was made right, and asked
    found.sort(key=lambda one: (score.get(one.key, [0])[0], -one.costs[one.taken]))
    run.start()
    lost: list[float] = []
    for one in found[: config.questions]:
        if not (said := _answer(one)):
            break
        lost.append(one.costs[said])
        right, asked = score.get(one.key, (0, 0))
        score[one.key] = right + (lost[-1] < NOTHING), asked + 1
        runs.write_json(path, score)
        best = min(one.costs, key=one.costs.__getitem__)
        show_line(f"{said} costs {lost[-1]:.2f} points; best {best}; then {one.taken}, {one.costs[one.taken]:.2f}")
    right, ever = sum(cost < NOTHING for cost in lost), np.sum([(0, 0), *score.values()], axis=0)
    run.notes.append(
        f"right: {right} of {len(lost)}, {sum(lost):.2f} points lost; ever: {ever[0]} of {ever[1]} ({path})"
    )
    return Outcome({"asked": len(lost), "right": right, "lost": sum(lost)})


def _own(config: Config, bars: Bars) -> list[Question]:
    """Of the newest games of people against one other."""
    place, found = config.games or runs.outputs_folder() / "play", list[Question]()
    if config.games is None and not Path(place).is_dir():
        return found
    records = whole_games([record for path in find_files([place]) for record in read_games(path)])
    of_two = sorted((one for one in records if one.humans and len(one.players) == 2), key=lambda one: one.started)
    count = bars.counter("games", len(of_two[-config.newest :]))
    for record in of_two[-config.newest :]:
        for seat in record.humans:
            found += _questions([choice for _, hand in chosen_in(record, seat) for choice in hand])
        count(1)
    return found


def _drawn(seed: int) -> Iterator[Question]:
    show_line(f"no choices in recorded games: those of {DRAWN_BY} in a drawn one, seed {seed}")
    turns, agent, choices = Turns(Games([0], seed)), make_agent(DRAWN_BY), []
    while turns.phase[0] != OVER and turns.games.state.hand_number[0] < DRAWN_HANDS:
        if turns.seat[0] < 0:
            turns.step(ROW)
        else:
            seen = turns.discard_observation(ROW) if turns.phase[0] == DISCARD else turns.play_observation(ROW)
            choices.append((seen, int(ask(agent, seen)[0])))
            turns.choose(ROW, [choices[-1][1]])
    open_ones = [one for one in choices if isinstance(one[0], DiscardObservation) or has_choice(one[0])[0]]
    return _questions(open_ones)


def _questions(choices: Sequence[Choice]) -> Iterator[Question]:
    """Priced as reviews do."""
    responder = usual_responder()
    for kind, slots in (DiscardObservation, DISCARD_SLOTS_6), (PlayObservation, np.arange(HAND_SIZE)[:, None]):
        of: list[Any] = [one for one in choices if isinstance(one[0], kind)]
        value: Any = responder.discard_values if kind is DiscardObservation else responder.play_values
        for (o, action), row in zip(of, value(kind.concatenate([one for one, _ in of])) if of else [], strict=True):
            cards = [format_cards(o.hand[0][own]) for own in slots]
            costs = {text: float(row.max() - worth) for text, worth in zip(cards, row, strict=True) if worth > -np.inf}
            played = [*o.starter, *o.history[0]] if kind is PlayObservation else []
            key = f"{'dealer' if o.is_dealer[0] else 'pone'} {format_cards([*o.hand[0], *played])}"
            yield Question(o, key, costs, cards[action])


def _answer(question: Question) -> str:
    """The cards that are chosen now; none where the person leaves."""
    o, seat = question.seen, int(question.seen.seat[0])
    games, names = games_seen(o), ["opponent", "opponent"]
    games["hand_number"], names[seat] = np.maximum(o.hand_number, 0), "you"
    numbers = {str(slot): format_cards([card]) for slot, card in enumerate(o.hand[0], 1) if card != NO_CARD}
    print("\n" + text_of(view_of(games[0], seat, o.scores[0], names, seat), sys.stdout.isatty(), first=1))
    while True:
        try:
            words = input("your cards, or their numbers (Enter alone leaves): ").replace(",", " ").split()
            said = format_cards(sorted(parse_cards(" ".join(numbers.get(word, word) for word in words))))
            if not said or said in question.costs:
                return said
            show_line(f"{said}: expected one of {', '.join(question.costs)}")
        except EOFError:
            return ""
        except UserError as error:
            show_line(str(error))
