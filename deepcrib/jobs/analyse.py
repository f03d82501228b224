"""`deepcrib analyse`: a hand's discards, agreement with people's discards, leads beside experts' rules."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import Agent, make_agent, require_players
from deepcrib.analysis.hand_tables import hand_tables
from deepcrib.analysis.hand_values import hand_values
from deepcrib.analysis.study_tables import agreement_table, expert_tables
from deepcrib.errors import OptionError
from deepcrib.evaluation.studies.expert_rules import ExpertRules, deal_leads, expert_rules, in_parts
from deepcrib.evaluation.studies.experts import probe
from deepcrib.evaluation.studies.humans import BY, HumanChoices, agreements, choices_of, read_choices
from deepcrib.exact.strategies.names import THESIS_STRATEGIES
from deepcrib.game.cards import format_cards
from deepcrib.game.observations import PlayObservation
from deepcrib.game.rules import MAX_SCORE
from deepcrib.jobs import JOBS, Outcome, Run
from deepcrib.jobs.shared.common import check_task, chosen_agents, six_cards, use_threads
from deepcrib.jobs.shared.console import Bars
from deepcrib.jobs.shared.options import torch_device
from deepcrib.options import at_least, one_of, option, seed_value
from deepcrib.records import find_files, read_games
from deepcrib.search.best_response import BestResponseAgent

Plan = Callable[[Run, Bars], Outcome]
"""A task whose input has been read: does its work."""


@dataclass
class Config:
    """The schema of `conf/analyse.yaml`."""

    task: str = option("hand", "or humans, experts; also as a bare word: deepcrib analyse experts")
    hand: str | None = option(None, "hand: six cards; also as bare words: deepcrib analyse 5H 5S JD 2C 3C KH")
    dealer: bool | None = option(None, "hand: whether its holder deals; null: both")
    score: str = option("0-0", "hand: own and opponent's points before it, 0 to 120 each")
    agents: list[Any] | None = option(None, "who is asked; null: some quick ones, or table 4's")
    choices: str | None = option(
        None, "humans: people's choices, CSV (docs/human_choices.md) or recorded games (*.jsonl)"
    )
    by: str = option("cards", "humans: discards are the same by their cards, or by their ranks", one_of(*BY))
    hands: int = option(10_000, "experts: of which each agent leads", at_least(1))
    discards: Any = option(None, "experts: the agent whose kept cards all lead from; null: each from its own")
    deals: int = option(200, "experts: of each of the three hands of Bélanger et al. 2019", at_least(1))
    to: Any = option("greedy", "experts: the opponent of the best response that leads are held against")
    best_response_hands: int = option(
        500, "experts: of the hands, how many it is asked about; some ms each; 0: none", at_least(0)
    )
    seed: int = option(1, "of everything random", seed_value)
    device: str = option("cpu", "where networks run: cpu, cuda, cuda:1, mps", torch_device)
    threads: int = option(0, "to work on; 0: all that this process may use", at_least(0))


def run(config: Config, run: Run) -> Outcome:
    """Do what the task names."""
    check_task(config, {task: reads for task, (_, reads) in _TASKS.items()})
    plan = _TASKS[config.task][0](config)
    use_threads(config.threads)
    run.start()
    with Bars(run.show_progress) as bars:
        return plan(run, bars)


# --- a hand -------------------------------------------------------------------------------------------------

_HAND_AGENTS = ("greedy", "evolutionary", "expected_value", "expected_value_pegging", "td_perceptron")
"""All that answer within seconds."""


def _plan_hand(config: Config) -> Plan:
    if config.hand is None:
        tasks = ", ".join(JOBS["analyse"].tasks)
        raise OptionError(f"option hand is missing: expected six cards, or one of the tasks {tasks}")
    hand, score = six_cards(config.hand), read_score(config.score)
    agents = _agents_of_two(config, _HAND_AGENTS)
    return partial(_show_hand, config, hand, score, agents)


def read_score(text: str) -> tuple[int, int]:
    """Own and opponent's points of a text such as `100-95`. Raises OptionError."""
    found = re.fullmatch(r"([0-9]{1,3})-([0-9]{1,3})", text)
    own, other = map(int, found.groups()) if found else (MAX_SCORE, MAX_SCORE)
    if max(own, other) >= MAX_SCORE:
        raise OptionError(
            f"score={text}: expected own and opponent's points before the hand, 0 to {MAX_SCORE - 1} each, as 100-95"
        )
    return own, other


def _agents_of_two(config: Config, default: tuple[str, ...]) -> dict[str, Agent]:
    agents = chosen_agents(config.agents, default, config.device)
    for agent in agents.values():
        require_players(agent, 2)
    return agents


def _show_hand(
    config: Config, hand: list[int], score: tuple[int, int], agents: dict[str, Agent], run: Run, bars: Bars
) -> Outcome:
    roles = (True, False) if config.dealer is None else (config.dealer,)
    found = []
    for number, is_dealer in enumerate(roles):
        bars.show("roles", number, len(roles))
        found.append(hand_values(hand, is_dealer, score, agents, config.seed))
    summary = {
        "task": "hand",
        "hand": format_cards(hand),
        "score": list(score),
        "seed": config.seed,
        "roles": {values.role: values.to_dict() for values in found},
    }
    return Outcome(summary, [table for values in found for table in hand_tables(values)])


# --- people -------------------------------------------------------------------------------------------------

_HUMANS_AGENTS = (*THESIS_STRATEGIES, "random_weights")
"""Those of Lang 2018, table 4, but for the trained weights."""


def _plan_humans(config: Config) -> Plan:
    if config.choices is None:
        what = "a CSV file of people's choices (docs/human_choices.md) or recorded games"
        raise OptionError(f"option choices is missing: expected choices=FILE, {what}")
    choices = _read_choices(Path(config.choices))
    return partial(_compare, config, choices, chosen_agents(config.agents, _HUMANS_AGENTS, config.device))


def _read_choices(path: Path) -> HumanChoices:
    """From a CSV file, or from a file or folder of recorded games."""
    if path.suffix == ".jsonl" or path.is_dir():
        return choices_of(record for file in find_files([path]) for record in read_games(file))
    return read_choices(path)


def _compare(config: Config, choices: HumanChoices, agents: dict[str, Agent], run: Run, bars: Bars) -> Outcome:
    found = agreements(agents, choices, by=config.by, seed=config.seed)
    summary = {"task": "humans", "records": len(choices), "by": config.by}
    title = f"people's choices compared by {config.by}, records: {len(choices):,}"
    rows = {name: result.to_dict() for name, result in found.items()}
    return Outcome({**summary, "agents": rows}, (agreement_table(title, found),))


# --- experts ------------------------------------------------------------------------------------------------

_EXPERTS_AGENTS = ("greedy", "deterministic", "td_perceptron", "partida_network", "hill_climber", "greedy_minimax")
"""The fixed opponents, and each that learned or searches its play within seconds."""
_RESPONSE_BATCH = 32  # leads between two reports of progress


def _plan_experts(config: Config) -> Plan:
    if config.best_response_hands > config.hands:
        raise OptionError(f"best_response_hands={config.best_response_hands}: expected at most hands={config.hands}")
    agents = chosen_agents(config.agents, _EXPERTS_AGENTS, config.device)
    discards = None if config.discards is None else make_agent(config.discards, device=config.device)
    responder = None
    if config.best_response_hands:
        responder = BestResponseAgent(make_agent(config.to, device=config.device))
    for agent in agents.values():
        require_players(agent, 2)
    return partial(_lead, config, agents, discards, responder)


def _lead(
    config: Config,
    agents: dict[str, Agent],
    discards: Agent | None,
    responder: BestResponseAgent | None,
    run: Run,
    bars: Bars,
) -> Outcome:
    known: dict[bytes, NDArray[np.float64]] = {}
    rules: dict[str, ExpertRules] = {}
    for name, agent in agents.items():
        leads = deal_leads(discards or agent, config.hands, config.seed)
        best = None if responder is None else _best_values(responder, leads, config.best_response_hands, known, bars)
        rules[name] = expert_rules(agent, leads, best, bars.counter(f"leads of {name}", config.hands))
    probed = agents if responder is None else {**agents, responder.name: responder}
    probes = {name: probe(agent, config.deals, config.seed) for name, agent in probed.items()}
    summary = {name: getattr(config, name) for name in ("task", "hands", "best_response_hands", "discards", "deals")}
    summary |= {"to": None if responder is None else config.to, "seed": config.seed}
    summary["probes"] = {name: {hand: asdict(one) for hand, one in found.items()} for name, found in probes.items()}
    summary["rules"] = {name: asdict(found) for name, found in rules.items()}
    return Outcome(summary, expert_tables(probes, rules))


def _best_values(
    responder: BestResponseAgent,
    leads: PlayObservation,
    hands: int,
    known: dict[bytes, NDArray[np.float64]],
    bars: Bars,
) -> NDArray[np.float64]:
    """[hands, 4] of the first leads; worked out once for agents that kept the same cards, and held in `known`."""
    first = leads.take(slice(hands))
    seen = b"".join(getattr(first, column.name).tobytes() for column in fields(first))
    if seen not in known:
        done = bars.counter(f"best response, hands {len(known) + 1}", len(first))
        known[seen] = in_parts(responder.play_values, first, _RESPONSE_BATCH, done)
    return known[seen]


_TASKS: dict[str, tuple[Callable[[Config], Plan], tuple[str, ...]]] = {
    "hand": (_plan_hand, ("hand", "dealer", "score")),
    "humans": (_plan_humans, ("choices", "by")),
    "experts": (_plan_experts, ("hands", "discards", "deals", "to", "best_response_hands")),
}
"""Each task with the options that it reads and not all others do."""
