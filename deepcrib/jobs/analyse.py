"""`deepcrib analyse`: what the discards of a hand, or the cards of a position in the play, are worth, and to whom."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.markup import escape

from deepcrib.agents import Agent, make_agent, require_players
from deepcrib.agents.packaged import CHAMPION, CHAMPION_NETWORKS
from deepcrib.analysis.hand_values import hand_tables, hand_values, starters_table
from deepcrib.analysis.positions import play_position, recorded_position
from deepcrib.analysis.tables import plain_table
from deepcrib.app.hints import play_hint, with_exact
from deepcrib.errors import OptionError
from deepcrib.evaluation.evaluate import ROLES
from deepcrib.evaluation.regrets import seen_of
from deepcrib.evaluation.review import CHANCE, SCALE
from deepcrib.game.cards import format_card, format_cards, parse_card, parse_cards
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.rules import MAX_SCORE
from deepcrib.jobs import Outcome, Run
from deepcrib.jobs.shared.common import chosen_agents, chosen_task, working
from deepcrib.jobs.shared.options import TRUST, torch_device
from deepcrib.options import at_least, option, seed_value
from deepcrib.search.best_response import BestResponseAgent
from deepcrib.search.rollouts import usual_responder

AGENTS = ("greedy", "evolutionary", "expected_value", "expected_value_pegging", "td_perceptron")
"""All that answer within seconds."""
PLAYERS = (CHAMPION, CHAMPION_NETWORKS, "td_perceptron")
"""Who is asked of the play: what each card is worth to it."""
_PLAY_NOTE = (
    f"exact: from here to the end of the play; {SCALE}. {CHANCE}. *: what a player would play; its values are in "
    "its own units, champion's in points or, near the end of a game, chances to win"
)


@dataclass
class Config:
    """The schema of `conf/analyse.yaml`."""

    task: str | None = option(None, "discard or play; also as an argument; by default what the other options imply")
    hand: str | None = option(None, "the six cards dealt; also as arguments: deepcrib analyse 5H 5S JD 2C 3C KH")
    dealer: bool | None = option(None, "whether the hand's holder deals; null: both, in the play the pone")
    score: str = option("0-0", "own and opponent's points, before the hand or now in the play, 0 to 120 each")
    thrown: str | None = option(None, "play: the two cards that went into the crib")
    starter: str | None = option(None, "play: the starter")
    history: str = option("", "play: the cards played in this hand so far, in order, own ones among them")
    games: str | None = option(None, "a file of recorded games, in place of cards; with `line`")
    line: int = option(0, "number of the line of `games` that is the discard or the play in question", at_least(0))
    starters: bool = option(False, "discard: a table of the best ones by the rank of the starter")
    agents: list[Any] | None = option(None, "who is asked; null: some quick ones, in the play champion, too", spec=True)
    opponent: Any = option(None, "as whom the opponent is taken to choose; null: expected_value", spec=True)
    seed: int = option(1, "of everything random", seed_value)
    device: str = option("cpu", "where networks run: cpu, cuda, cuda:1, mps", torch_device)
    threads: int = option(0, "to work on; 0: all that this process may use", at_least(0))
    trust: bool = option(False, TRUST)


def run(config: Config, run: Run) -> Outcome:
    """Look at a hand in each role, or at a position."""
    seen = recorded_position(Path(config.games), config.line) if config.games else None
    found = "play" if isinstance(seen, PlayObservation) or (config.thrown or config.starter) else "discard"
    config.task = config.task or found
    task = chosen_task(config, _TASKS)
    is_play = config.task == "play"
    if seen is not None and isinstance(seen, PlayObservation) != is_play:
        raise OptionError(f"line={config.line}: expected a {config.task}")
    agents = chosen_agents(config.agents, PLAYERS if is_play else AGENTS, config.device)
    for agent in agents.values():
        require_players(agent, 2)
    opponent = None if config.opponent is None else make_agent(config.opponent, device=config.device)
    return task(config, run, seen, agents, usual_responder(opponent))


def _discard(
    config: Config, run: Run, seen: DiscardObservation | None, agents: Mapping[str, Agent], best: BestResponseAgent
) -> Outcome:
    if seen is None:
        hand, score = _hand(config), read_score(config.score)
        roles = (True, False) if config.dealer is None else (config.dealer,)
    else:
        hand, seat, roles = seen.hand[0].tolist(), int(seen.seat[0]), (bool(seen.is_dealer[0]),)
        score = int(seen.scores[0, seat]), int(seen.scores[0, 1 - seat])
    with working(run, config.threads):
        found = [hand_values(hand, is_dealer, score, agents, config.seed, best) for is_dealer in roles]
    tables = [table for values in found for table in hand_tables(values)]
    tables += [starters_table(values, hand, best) for values in found] * config.starters
    summary = {
        "hand": format_cards(hand),
        "score": list(score),
        "seed": config.seed,
        "opponent": best.to.name,
        "roles": {values.role: values.to_dict() for values in found},
    }
    return Outcome(summary, tables)


def _play(
    config: Config, run: Run, seen: PlayObservation | None, agents: Mapping[str, Agent], best: BestResponseAgent
) -> Outcome:
    if seen is None:
        if config.thrown is None or config.starter is None:
            raise OptionError("play: expected thrown= (two cards), starter= and history= (the cards played so far)")
        given = _hand(config), parse_cards(config.thrown), parse_card(config.starter), parse_cards(config.history)
        seen = play_position(*given, bool(config.dealer), read_score(config.score), config.seed)
    with working(run, config.threads):
        hint = with_exact(play_hint(seen, agents), seen, best)
    assert hint.chances is not None
    cards = [format_card(card) for card in hint.cards]
    heads = ["card", "now", "win%", *map(escape, hint.values)]
    rows = []
    for place in hint.best_first:
        now, *opinions = hint.cells(place)
        rows.append((cards[place], now, f"{100 * hint.chances[place]:.1f}", *opinions))
    score = f"{seen.scores[0, seen.seat[0]]}-{seen.scores[0, 1 - seen.seat[0]]}"
    title = f"{format_cards(seen.hand[0])} as {ROLES[int(seen.is_dealer[0])]} at {score}, {seen_of(seen, 0)}"
    table = plain_table(title, heads, rows)
    table.caption = _PLAY_NOTE.format(best.to.name)
    values = {name: found and dict(zip(cards, found, strict=True)) for name, found in hint.values.items()}
    choices = {name: [cards[hint.slots.index(slot)] for slot in slots] for name, slots in hint.choices.items()}
    summary = {"position": title, "seed": config.seed, "opponent": best.to.name, "values": values, "choices": choices}
    return Outcome(summary | {"win": dict(zip(cards, hint.chances, strict=True))}, [table])


def _hand(config: Config) -> list[int]:
    if config.hand is None:
        raise OptionError("option hand is missing: expected six cards")
    cards = sorted(parse_cards(config.hand))
    if len(cards) != 6:
        raise OptionError(f"hand={config.hand}: expected six cards, found {len(cards)}")
    return cards


def read_score(text: str) -> tuple[int, int]:
    """Own and opponent's points of a text such as `100-95`. Raises OptionError."""
    found = re.fullmatch(r"([0-9]{1,3})-([0-9]{1,3})", text)
    own, other = map(int, found.groups()) if found else (MAX_SCORE, MAX_SCORE)
    if max(own, other) >= MAX_SCORE:
        raise OptionError(
            f"score={text}: expected own and opponent's points before the hand, 0 to {MAX_SCORE - 1} each, as 100-95"
        )
    return own, other


_TASKS: Any = {"discard": (_discard, ("starters",)), "play": (_play, ("thrown", "starter", "history"))}
