"""A learned best response: networks that train against one agent, which is only asked what it does.

What they gain on it is a lower bound of what its best responder gains, whom nobody can work out for an agent that does
not know the probabilities of its own choices. (Timbers et al., "Approximate exploitability", IJCAI 2022, search, too.)
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deepcrib.agents import Agent
from deepcrib.agents.packaged import CHAMPION_NETWORKS
from deepcrib.errors import OptionError
from deepcrib.evaluation.evaluate import evaluate
from deepcrib.evaluation.exploit import reply_gains
from deepcrib.evaluation.metrics import Exploitability
from deepcrib.game.randomness import FINAL_MATCHES, derive
from deepcrib.jobs.shared.console import Bars
from deepcrib.learners.pretraining.options import PretrainingOptions
from deepcrib.learners.registry import make_learner
from deepcrib.learners.replay.options import AlgorithmOptions, ReplayOptions, RewardOptions, StateOptions
from deepcrib.networks import DiscardNetworkConfig, PlayNetworkConfig
from deepcrib.training.fit import fit
from deepcrib.training.learner import Learner, Setting
from deepcrib.training.options import EvaluationOptions

HANDS, LEAST_HANDS = 1_000_000, 64
DEALS = 20_000
"""Each is played three times, and known to a tenth of a point or better."""
_ITERATIONS, _EPISODES = 16, 8192  # at least so many where hands are few, of so many hands at most
_RATE, _EPSILON, _LAST_EPSILON = 1e-3, 0.15, 0.02


def make_responder(spec: Any, hands: int, seed: int, device: str = "cpu") -> Learner:
    """What learns, from so many single hands against the agent of a spec, beginning with the champion's networks.

    Raises OptionError for too few hands, AgentError for an agent that does not play with two.
    """
    if hands < LEAST_HANDS:
        raise OptionError(f"hands={hands}: expected {LEAST_HANDS} or more for a responder to learn from")
    iterations = max(_ITERATIONS, -(-hands // _EPISODES))
    options = ReplayOptions(
        iterations=iterations,
        unit="hands",
        episodes=hands // iterations,
        epochs_kept=1,
        batch_size=1024,
        forced=False,
        epsilon=_EPSILON,
        epsilon_decay=(_LAST_EPSILON / _EPSILON) ** (1 / iterations),
        discard_lr=_RATE,
        play_lr=_RATE,
        lr_schedule="linear",
        initial=CHAMPION_NETWORKS,
        checkpoint_every=iterations,
        opponents=[spec],
        opponent_share=1.0,
    )
    groups = {
        "algorithm": AlgorithmOptions(),
        "reward": RewardOptions("margin", "difference", discard_baseline=True),
        "state": StateOptions("history", "afterstate", dealer=True),
        "discard_network": DiscardNetworkConfig(),
        "play_network": PlayNetworkConfig("mlp", hidden=[512, 256]),
        "pretraining": PretrainingOptions(enabled=False),
    }
    return make_learner(options, Setting(seed, EvaluationOptions([], every=0), device=device), groups)


def learned_response(learner: Learner, agent: Agent, deals: int, folder: Path, bars: Bars) -> Exploitability:
    """What `make_responder` gains on the agent once it has learned, over deals that it has not met.

    Its weights and progress are written into the folder. Raises DivergenceError, RunError.
    """

    def show(done: int, metrics: object) -> None:
        bars.show(f"iterations against {agent.name}", done, learner.num_steps)

    responder = fit(learner, folder, evaluate, opponents={}, progress=show)
    assert responder is not None
    counter = bars.counter(f"deals against {agent.name}", deals)
    return reply_gains(agent, responder, deals, derive(learner.setting.seed, FINAL_MATCHES), progress=counter)
