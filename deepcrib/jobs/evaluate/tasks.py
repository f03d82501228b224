"""The other tasks of `deepcrib evaluate`: the play alone, pairs of hands, decisions, and best responders."""

from __future__ import annotations

from deepcrib.agents import Agent
from deepcrib.analysis.tables import audit_table, exploit_table, pairs_table, plain_table, worst_table
from deepcrib.errors import OptionError
from deepcrib.evaluation.exploit import check_deals, exploit
from deepcrib.evaluation.hands import check_hands, hand_pairs, play_only
from deepcrib.evaluation.regrets import audit
from deepcrib.jobs import Outcome, Run
from deepcrib.jobs.evaluate.config import PLAY, Config
from deepcrib.jobs.shared.common import working
from deepcrib.jobs.shared.console import Bars
from deepcrib.search.best_response import BestResponseAgent

PLAY_HANDS, AUDIT_HANDS = 20_000, 200


def play_alone(config: Config, run: Run, agent: Agent, opponent: Agent) -> Outcome:
    """The play of random hands of four cards (Partida 2022): mean difference of the points pegged."""
    hands = PLAY_HANDS if config.hands is None else config.hands
    check_hands(hands)
    with working(run, config.threads) as bars:
        counter = bars.counter("hands", hands)
        found = play_only(agent, opponent, hands, config.seed, duplicate=config.duplicate, progress=counter)
    title = f"{agent.name} against {opponent.name}, the play alone: {hands:,} hands, seed {config.seed}"
    interval = f"{found.difference:+.3f} [{found.ci_low:+.3f}, {found.ci_high:+.3f}]"
    rows = [
        ("difference [95%]", interval),
        ("points", f"{found.points:.3f}"),
        ("opponent's points", f"{found.opponent_points:.3f}"),
        ("difference as pone", f"{found.as_pone:+.3f}"),
        ("difference as dealer", f"{found.as_dealer:+.3f}"),
    ]
    return Outcome(found.to_dict(), (plain_table(title, ("points a hand", ""), rows),))


def pairs_of_hands(config: Config, run: Run, agent: Agent, opponent: Agent) -> Outcome:
    """Play pairs of hands, in each of which both deal once (O'Connor 2000)."""
    if config.pairs < 2:
        raise OptionError(f"pairs={config.pairs}: expected 2 or more pairs of hands")
    with working(run, config.threads) as bars:
        counter = bars.counter("pairs of hands", config.pairs)
        found = hand_pairs(agent, opponent, config.pairs, config.seed, progress=counter)
    title = f"{agent.name} against {opponent.name}: {config.pairs:,} pairs of hands, seed {config.seed}"
    return Outcome(found.to_dict(), (pairs_table(title, found),))


def audit_decisions(config: Config, run: Run, agent: Agent, opponent: Agent) -> Outcome:
    """Price every decision of the agent against the opponent, and list the worst."""
    hands = AUDIT_HANDS if config.hands is None else config.hands
    if config.worst < 0:
        raise OptionError(f"worst={config.worst}: expected 0 or more decisions")
    BestResponseAgent(opponent)
    if hands < 2:
        raise OptionError(f"hands={hands}: expected at least 2 hands")
    with working(run, config.threads) as bars:
        found = audit(agent, opponent, hands, config.seed, worst=config.worst, progress=bars.counter("hands", hands))
    title = f"decisions of {agent.name} against {opponent.name}: {hands:,} hands, seed {config.seed}"
    worst = (worst_table("the worst of them", found.worst),) if found.worst else ()
    return Outcome(found.to_dict(), (*worst, audit_table(title, found)))


def check_exploit(config: Config, agent: Agent) -> None:
    """Refuse what cannot be measured, before a match is played for it."""
    check_deals(config.deals)
    BestResponseAgent(agent)


def with_exploit(config: Config, run: Run, agent: Agent, outcome: Outcome) -> Outcome:
    """The outcome of a match, and what the agent loses to its best responder."""
    with Bars(run.show_progress, run.show_lines) as bars:
        counter = bars.counter("deals", config.deals)
        discards = config.exploit != PLAY
        found = exploit(agent, config.deals, config.seed, discards=discards, progress=counter)
    where = "" if discards else " in the play alone"
    title = f"what {agent.name} loses to its best responder{where}: {config.deals:,} deals, seed {config.seed}"
    return Outcome({**outcome.summary, "exploit": found.to_dict()}, (*outcome.tables, exploit_table(title, found)))


TASKS = {"play": play_alone, "pairs": pairs_of_hands, "audit": audit_decisions}
