"""What is measured of a trained agent: full games, hands on play points, and what its learner measures itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from deepcrib.agents import Agent
from deepcrib.analysis.tables import hands_table, plain_table, win_rates_table
from deepcrib.evaluation.evaluate import Evaluation
from deepcrib.evaluation.hands import HandsWon, hands_won
from deepcrib.files.runs import flat
from deepcrib.game.randomness import FINAL_MATCHES, derive
from deepcrib.jobs.shared.console import Bars
from deepcrib.training.learner import Learner

Match = Callable[..., Evaluation]  # `evaluate`, under the rules of a run


@dataclass
class Finals:
    """Matches by opponent: of the final agent, of it as it explored with `epsilon`, and hands on play points alone.

    own: what the learner measured itself, of the summary.
    """

    matches: Mapping[str, Evaluation]
    explored: Mapping[str, Evaluation]
    hands: Mapping[str, HandsWon]
    epsilon: float
    own: Mapping[str, Any]

    def summary(self) -> dict[str, Any]:
        """The content of `summary.json`."""
        found = {name: match.to_dict() for name, match in self.matches.items()}
        for name, won in self.hands.items():
            found[name]["hands_won"] = won.to_dict()
        for name, match in self.explored.items():
            found[name]["exploring"] = match.to_dict() | {"epsilon": self.epsilon}
        return {**found, **self.own}

    def tables(self, training: str) -> list[Table]:
        """What is printed; training: how long it was."""
        tables = [hands_table("hands won on play points", self.hands)] if self.hands else []
        if self.own:
            own = [(name, f"{value:,.4g}") for name, value in flat(self.own) if isinstance(value, int | float)]
            tables.append(plain_table("measured in training", ("metric", "value"), [("after", training), *own]))
        if self.matches or not tables:
            rows = {**self.matches, **{f"{name}, agent explores": found for name, found in self.explored.items()}}
            tables.append(win_rates_table(f"trained agent ({training})", rows))
        return tables


def measure(learner: Learner, agent: Agent | None, opponents: Mapping[str, Agent], match: Match, bars: Bars) -> Finals:
    """Play the final matches, whose deals those during training never have; none where there is no agent."""
    options = learner.setting.evaluation
    seed = derive(learner.setting.evaluation_seed, FINAL_MATCHES)
    explore = getattr(learner, "exploring_agent", None)
    exploring = explore() if options.exploring and explore else None
    epsilon = float(getattr(exploring, "epsilon", 0.0))

    def play(player: Agent | None, suffix: str = "") -> dict[str, Evaluation]:
        if player is None:
            return {}
        games, found = options.final_games, {}
        for name, opponent in opponents.items():
            progress = bars.counter(f"games against {name}{suffix}", games)
            found[name] = match(player, opponent, games, seed, progress=progress)
        return found

    matches, explored = play(agent), play(exploring, f", epsilon {epsilon:.2g}")
    hands: dict[str, HandsWon] = {}
    if agent is not None and options.hands:
        hands = {name: hands_won(agent, other, options.hands, seed) for name, other in opponents.items()}
    return Finals(matches, explored, hands, epsilon, learner.summary)
