"""`deepcrib evaluate`: what one agent does against another.

Best responders, which take a while to import, are imported by what needs them: a match does not wait for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from omegaconf import MISSING

from deepcrib.agents import Agent, make_agent
from deepcrib.analysis.tables import (
    audit_table,
    exploit_table,
    match_table,
    pairs_table,
    plain_table,
    points_table,
    worst_table,
)
from deepcrib.errors import OptionError
from deepcrib.evaluation.evaluate import Evaluation, check_games, evaluate
from deepcrib.evaluation.hands import check_hands, hand_pairs, play_only
from deepcrib.evaluation.metrics import Exploitability
from deepcrib.evaluation.sequential import SequentialEvaluation, StoppingRule, check_pairs, evaluate_until
from deepcrib.files.weights import WEIGHTS_FILE
from deepcrib.jobs import Outcome, Run
from deepcrib.jobs.shared.common import chosen_task, refuse_given, working
from deepcrib.jobs.shared.console import Bars, short_path
from deepcrib.jobs.shared.options import TRUST, RulesOptions, torch_device
from deepcrib.matches import Progress
from deepcrib.options import at_least, one_of, option, optional, seed_value

GAMES, PLAY, LEARNED = "games", "play", "learned"
PLAY_HANDS, AUDIT_HANDS, DEALS = 20_000, 200, 1000
RESPONSE = "response"  # folder of a run with the networks of exploit=learned


@dataclass
class Config:
    """The schema of `conf/evaluate.yaml`."""

    task: str = option(GAMES, "full games to 121; or play, pairs, audit; also as an argument: deepcrib evaluate play")
    agent: Any = option(MISSING, "a name, a checkpoint path or {name: NAME, option: value}", spec=True)
    opponent: Any = option("deterministic", "the same forms as agent", spec=True)
    games: int = option(10000, "number of games; the maximum with until", at_least(1))
    hands: int | None = option(
        None, "of play (20,000), audit (200), or the training of exploit=learned (1,000,000)", optional(at_least(2))
    )
    pairs: int = option(20000, "pairs of hands of the task pairs; each player deals once in a pair", at_least(2))
    exploit: Any = option(
        False,
        "true: also measure what the agent loses to its best responder, points per hand; play: in the play alone, after"
        " the agent's own discards; learned: at least, by networks that train against it, of any agent",
        one_of(False, True, PLAY, LEARNED),
    )
    deals: int | None = option(None, "deals that exploit is measured on; default 1,000, with exploit=learned 20,000")
    worst: int = option(20, "number of decisions that audit lists", at_least(0))
    seed: int = option(1, "of everything random", seed_value)
    duplicate: bool = option(
        False, "play games in pairs, the same cards with seats swapped; the interval is over pairs"
    )
    games_per_match: int = option(
        1,
        "so many games are a match, of which agents may remember what they saw; the interval is over matches",
        at_least(1),
    )
    luck: bool = option(
        False, "also show win rate and points a hand without the luck of the cards; with until that win rate decides"
    )
    until: str | None = option(
        None, "significant: stop when the interval excludes 50%, or lies close to it", optional(one_of("significant"))
    )
    difference: float = option(0.02, "until: also stop when the interval lies within 50% +- difference")
    alpha: float = option(0.05, "until: 1 - confidence level of the interval")
    rules: RulesOptions = field(default_factory=RulesOptions)
    device: str = option("cpu", "where networks run: cpu, cuda, cuda:1, mps", torch_device)
    threads: int = option(0, "number of threads; 0: all that this process may use", at_least(0))
    trust: bool = option(False, TRUST)


def run(config: Config, run: Run) -> Outcome:
    """Measure `agent` against `opponent` in the way that the task names."""
    task = chosen_task(config, _TASKS)
    agent, opponent = (make_agent(spec, device=config.device) for spec in (config.agent, config.opponent))
    return task(config, run, agent, opponent)


def _games(config: Config, run: Run, agent: Agent, opponent: Agent) -> Outcome:
    """Play the match, or play until it is decided, and summarise it for `agent`."""
    play = prepare_match(config, agent, opponent)
    with working(run, config.threads) as bars:
        found = play(bars, run.folder.path, None)
    matches = f" in matches of {found.games_per_match}" if found.games_per_match > 1 else ""
    title = f"{agent.name} against {opponent.name}: {found.games:,} games{matches}, seed {config.seed}"
    if isinstance(found, SequentialEvaluation):
        run.notes.append(found.sentence())
    tables = [points_table("points", found), match_table(title, found)]
    if found.exploit is not None:
        responder = f"its best responder{' in the play alone' if config.exploit == PLAY else ''}"
        if (hands := found.exploit.hands) is not None:
            responder = f"networks that learned from {hands:,} hands against it, {found.exploit.seconds:,.0f} s"
            run.notes.append(f"the responder, an agent: {short_path(run.folder.path / RESPONSE / WEIGHTS_FILE)}")
        title = f"what {agent.name} loses to {responder}: {found.exploit.deals:,} deals, seed {config.seed}"
        tables.append(exploit_table(title, found.exploit))
    return Outcome(found.to_dict(), tables)


def prepare_match(config: Config, agent: Agent, opponent: Agent) -> Callable[[Bars, Path, Progress | None], Evaluation]:
    """What plays the match that the options say, and measures what the agent loses, with files in a folder.

    Options that cannot be are refused at once, before anything is played. Raises OptionError or AgentError.
    """
    if not config.exploit:
        refuse_given(config, ["deals"], "only for exploit=true, exploit=play and exploit=learned")
    check_games(config.games, config.duplicate, config.games_per_match)
    rule, measure = _rule(config), _exploiting(config, agent)
    match = (agent, opponent, config.games, config.seed)
    options: dict[str, Any] = {"duplicate": config.duplicate, "dealing": config.rules.name, "luck": config.luck}

    def play(bars: Bars, folder: Path, progress: Progress | None = None) -> Evaluation:
        options["progress"] = progress or bars.counter("games" if rule is None else "games, at most", config.games)
        if rule is None:
            found = evaluate(*match, **options, games_per_match=config.games_per_match)
        else:
            found = evaluate_until(*match, rule, **options)
        return replace(found, exploit=None if measure is None else measure(bars, folder))

    return play


def _rule(config: Config) -> StoppingRule | None:
    """When the match may stop; options of the rule are refused where there is none."""
    if config.until is None:
        refuse_given(config, ["difference", "alpha"], "only with until=significant")
        return None
    check_pairs(config.games)
    if config.games_per_match > 1:
        raise OptionError(f"games_per_match={config.games_per_match}: until stops after pairs of games, expected 1")
    return StoppingRule(config.difference, config.alpha)


def _play(config: Config, run: Run, agent: Agent, opponent: Agent) -> Outcome:
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


def _pairs(config: Config, run: Run, agent: Agent, opponent: Agent) -> Outcome:
    """Play pairs of hands, in each of which both deal once (O'Connor 2000)."""
    with working(run, config.threads) as bars:
        counter = bars.counter("pairs of hands", config.pairs)
        found = hand_pairs(agent, opponent, config.pairs, config.seed, progress=counter)
    title = f"{agent.name} against {opponent.name}: {config.pairs:,} pairs of hands, seed {config.seed}"
    return Outcome(found.to_dict(), (pairs_table(title, found),))


def _audit(config: Config, run: Run, agent: Agent, opponent: Agent) -> Outcome:
    """Price every decision of the agent against the opponent, and list the worst."""
    from deepcrib.evaluation.regrets import audit
    from deepcrib.search.best_response import BestResponseAgent

    hands = AUDIT_HANDS if config.hands is None else config.hands
    BestResponseAgent(opponent)
    with working(run, config.threads) as bars:
        found = audit(agent, opponent, hands, config.seed, worst=config.worst, progress=bars.counter("hands", hands))
    title = f"decisions of {agent.name} against {opponent.name}: {hands:,} hands, seed {config.seed}"
    worst = (worst_table("the worst of them", found.worst),) if found.worst else ()
    return Outcome(found.to_dict(), (*worst, audit_table(title, found)))


def _exploiting(config: Config, agent: Agent) -> Callable[[Bars, Path], Exploitability] | None:
    """What measures, with files in a folder, the loss to a responder; what cannot be is refused before a match."""
    if config.exploit != LEARNED:
        refuse_given(config, ["hands"], "only for play, audit and exploit=learned")
    if not config.exploit:
        return None
    from deepcrib.evaluation.exploit import check_deals, exploit

    if config.exploit == LEARNED:
        from deepcrib.jobs import learned_response as learned

        deals = learned.DEALS if config.deals is None else config.deals
        check_deals(deals)
        hands = learned.HANDS if config.hands is None else config.hands
        learner = learned.make_responder(config.agent, hands, config.seed, config.device)
        respond = partial(learned.learned_response, learner, agent, deals)
        return lambda bars, folder: replace(respond(folder / RESPONSE, bars), hands=hands, seconds=learner.seconds)
    from deepcrib.search.best_response import BestResponseAgent

    deals = DEALS if config.deals is None else config.deals
    check_deals(deals)
    BestResponseAgent(agent)
    gains = partial(exploit, agent, deals, config.seed, discards=config.exploit != PLAY)
    return lambda bars, _: gains(progress=bars.counter("deals", deals))


_TASKS = {
    GAMES: (
        _games,
        {"games", "hands", "exploit", "deals", "duplicate", "games_per_match", "luck", "until", "difference", "alpha"},
    ),
    PLAY: (_play, {"hands", "duplicate"}),
    "pairs": (_pairs, {"pairs"}),
    "audit": (_audit, {"hands", "worst"}),
}
