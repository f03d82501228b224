"""Mixed policies of the play side by side, three seeds each: what a magnet that is the policy's own mean changes."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.long_run import LongRun

CODE = "aaf56db7edb3f17990680d7857c24f7ad49bd7f3"
"""The commit of these runs."""
LEARNERS = {
    "mirror": ("learner=mirror",),
    "mirror_average": ("learner=mirror", "learner.magnet=average", "learner.final_temperature=0.3"),
    "ppo": ("learner=benchmarks.equilibrium.ppo:PpoLearner",),
    "ppo_last": ("learner=benchmarks.equilibrium.ppo:PpoLearner", "learner.magnet=last"),
}
COMMON = (
    *("learner.iterations=500", "learner.discard_agent=champion_networks", "state=afterstate", "state.play=history"),
    *("play_network=mlp", "play_network.hidden=[512,256]", "evaluation.opponents=[greedy]", "evaluation.games=2000"),
)


def magnets() -> Iterator[LongRun]:
    """Four million hands each; a match against the champion's networks, and what a best responder gains in the play."""
    match = ("opponent=champion_networks", "games=20000", "duplicate=true", "exploit=play", "deals=100", "seed=38")
    for seed in (1, 2, 3):
        for name, words in LEARNERS.items():
            options = (*words, f"seed={seed}")
            yield LongRun("equilibrium_magnets", f"{name}_seed{seed}", COMMON, options, 1.0, ("greedy.",), CODE, match)
