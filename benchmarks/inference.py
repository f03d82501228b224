"""What bfloat16 changes: python benchmarks/inference.py RUN_FOLDER_OR_WEIGHTS... [--hands 2000] [--games 20000].

Each trained pair of networks chooses in float32 and in bfloat16: how often both choose alike over the same decisions of
self-play, what the other choices cost by float32's own values, and how often each wins against greedy on the same
deals, seats and dealers, every deal played from both seats.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

from deepcrib.agents import make_agent
from deepcrib.agents.q_network import INFERENCE, QFunction, QNetworkAgent
from deepcrib.evaluation.evaluate import pair_means
from deepcrib.intervals import Interval, mean_interval, pairs_interval, wilson
from deepcrib.matches import play_match
from deepcrib.matches.trajectories import self_play
from deepcrib.networks.checkpoints import Checkpoint, load_weights
from deepcrib.networks.encoders import legal_discards, legal_plays


def agent_of(checkpoint: Checkpoint, inference: str) -> QNetworkAgent:
    """The checkpoint's agent, its networks computing as named."""
    discard, play = (
        QFunction(encoder, network, "cpu", inference)
        for encoder, network in (
            (checkpoint.discard_encoder, checkpoint.discard_network),
            (checkpoint.play_encoder, checkpoint.play_network),
        )
        if encoder is not None and network is not None
    )
    return QNetworkAgent(discard, play, name=inference)


def compare_choices(
    exact: QFunction | None, half: QFunction | None, states: NDArray[np.int8], legal: NDArray[np.bool_]
) -> str:
    """Share of states [N, K] with a choice among `legal` [N, A] in which both choose alike, and the others' cost."""
    assert exact is not None and half is not None
    free = legal.sum(axis=1) > 1
    values, rounded = (function.all_values(states[free], legal[free]) for function in (exact, half))
    rows, chosen = np.arange(len(values)), rounded.argmax(axis=1)
    alike = int((values.argmax(axis=1) == chosen).sum())
    cost = values.max(axis=1) - values[rows, chosen]
    error = np.abs(values[legal[free]] - rounded[legal[free]]).max()
    share = shown(wilson(alike, len(values)))
    return f"{share} of {len(values):,} alike; cost {cost.mean():.5f} points; largest error {error:.3f} points"


def shown(interval: Interval) -> str:
    """In per cent."""
    return f"{100 * interval.estimate:.2f}% [{100 * interval.low:.2f}, {100 * interval.high:.2f}]"


def main() -> None:
    """Print the comparison of each checkpoint."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weights", nargs="+")
    parser.add_argument("--hands", type=int, default=2000)
    parser.add_argument("--games", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for path in options.weights:
        agents = [agent_of(load_weights(path), inference) for inference in INFERENCE]
        hands = self_play(agents[0], 0, options.hands, options.seed, unit="hands")
        discards = hands.discard_states.reshape(-1, hands.discard_states.shape[-1])
        plays = hands.play_states.reshape(-1, hands.play_states.shape[-1])
        print(path)
        exact, half = agents
        print("  discards:", compare_choices(exact.discard_q, half.discard_q, discards, legal_discards(discards)))
        print("  plays:   ", compare_choices(exact.play_q, half.play_q, plays, legal_plays(plays)))
        won = []
        for agent in agents:
            result = play_match([agent, make_agent("greedy")], options.games, options.seed, duplicate=True)
            won.append(pair_means(np.asarray(result.winner) == 0, result.pair))
            print(f"  {agent.name} against greedy: {shown(pairs_interval(won[-1]))} of {options.games:,} games")
        print(f"  bfloat16 - float32, pair by pair: {shown(mean_interval(won[1] - won[0]))}")


if __name__ == "__main__":
    main()
