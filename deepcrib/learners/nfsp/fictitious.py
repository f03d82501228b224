"""Neural fictitious self-play: what it learns from, and how, whatever the game.

Heinrich and Silver 2016, "Deep reinforcement learning from self-play in imperfect-information games", algorithm 1. A
best response to the others' average policies is learned by Q-learning off a circular buffer of all decisions; the
average policy imitates the best response's own decisions, of which a reservoir keeps a fair sample.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deepcrib.learners.nfsp.memory import Memory, Rows
from deepcrib.learners.policies.learning import LearnedPolicy, PassRates, PolicyAndValues, all_action_values
from deepcrib.learners.replay.batch import Batch
from deepcrib.learners.replay.update import LearnedNetwork


class FictitiousSelfPlay(PolicyAndValues):
    """The average policy, the values of the best response, and the memory of each."""

    parts = ("policy", "values", "recent", "own")

    def __init__(self, policy: LearnedPolicy, values: LearnedNetwork, recent: int, reservoir: int) -> None:
        """recent, reservoir: capacities."""
        super().__init__(policy, values)
        self.recent, self.own = Memory(recent), Memory(reservoir, fair=True)

    def learn(
        self, played: Rows, best: NDArray[np.bool_], rates: PassRates, draws: float, seed: int
    ) -> dict[str, float]:
        """Remember all players' decisions, then learn both networks. Targets come from the values as they are now.

        played: states, compact [E, K]; actions [E]; rewards [E] up to the player's next decision, or the end;
        next_states [E, K] of that decision; last, bool [E], whether there is none. best: bool [E], whether the player
        followed its best response, not its average policy. draws: decisions drawn from each memory for each new one.
        """
        remember, drawing, *generators = [np.random.default_rng((seed, stream)) for stream in range(4)]
        self.recent.add(played, remember)
        self.own.add({name: played[name][best] for name in ("states", "actions")}, remember)
        count = max(1, round(draws * len(best)))
        valued = self._targets(self.recent.draw(count, drawing))
        own = self.own.draw(count, drawing)
        chosen = np.arange(self.policy.encoder.legal(own["states"][:1]).shape[1]) == own["actions"][:, None]
        average, response = self.passes((own["states"], chosen), valued, rates, generators[::-1])
        return {"loss/best_response": response, "loss/average": average}

    def _targets(self, rows: Rows) -> Batch:
        """Q-learning, undiscounted: rewards and the highest value of the player's next decision."""
        follows, targets = ~rows["last"], rows["rewards"].copy()
        targets[follows] += all_action_values(self.values, rows["next_states"][follows]).max(axis=1)
        return Batch(rows["states"], rows["actions"], targets)
