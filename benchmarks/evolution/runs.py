"""The queue's runs for docs/results/evolution.md: evolved discarders and hill climbers."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.long_run import LongRun

EVOLUTION_CODE = "346428dd132a71fa2dae5f695d633a40f6446d94"
"""The commit that they are made with."""
OPPONENTS = ("greedy", "deterministic", "hand_max_avg")
"""Of the evolved players and the hill climbers, in full games."""
CLIMBS = {
    "pollack_blair": ("experiment=pollack_blair",),
    "pollack_blair_hands": ("experiment=pollack_blair_hands",),
    "pollack_blair_random": (
        *("experiment=pollack_blair_hands", "learner.start=random"),
        *("learner.games=2700000", "learner.checkpoint_every=300000"),
    ),
    "pollack_blair_play": ("experiment=pollack_blair_play",),
}
"""Hill climbs, of seed 1 each."""


def evolved() -> dict[str, tuple[int, tuple[str, ...]]]:
    """Curves of evolved discarders: by name how many seeds, and their words."""
    found = {}
    for form, cards, seeds in (
        *(("merge", cards, 10) for cards in ("optimal", "same", "different")),
        *((form, "optimal", 5) for form in ("toward", "punish", "mutate", "select")),
        *(("toward", cards, 5) for cards in ("same", "different")),
    ):
        words = (f"experiment=kendall_shaw2002_{cards}", "learner.measure_every=20")
        other = () if form == "merge" else (f"learner.adjust={form}", "learner.rate=0.02")
        found[f"{form}_{cards}"] = seeds, words + other
    for genome in ("ranks", "pairs"):
        words = ("learner=evolution", "learner.update=population", f"learner.genome={genome}", "evaluation.every=0")
        found[f"population_{genome}"] = 3, (*words, "learner.generations=150", "learner.deals=200")
    return found


def evolution() -> Iterator[LongRun]:
    """What docs/results/evolution.md shows; seed 1 of four curves plays full games, as do the others of one seed."""
    games = (f"evaluation.opponents=[{','.join(OPPONENTS)}]", "evaluation.final_games=50000")
    keeps = tuple(f"{name}.{figure}" for name in OPPONENTS for figure in ("win_rate", "ci_", "margin"))
    for name, (seeds, words) in evolved().items():
        for seed in range(1, seeds + 1):
            plays = seed == 1 and name in ("merge_optimal", "merge_same", "merge_different", "population_ranks")
            more = (f"seed={seed}", *(games if plays else ("evaluation.opponents=[]",)))
            tags = ("held_out/hand", "weights/spread")
            yield LongRun("evolution", f"{name}_{seed}", (), words + more, 0.002, keeps, EVOLUTION_CODE, curve=tags)
    for name, words, hours in (
        ("merge_optimal_100", (*evolved()["merge_optimal"][1], "learner.generations=100"), 0.01),
        ("evolution_pairs", ("experiment=evolution_pairs",), 0.06),
    ):
        yield LongRun("evolution", name, (), (*words, "seed=1", *games), hours, keeps, EVOLUTION_CODE)
    tags = ("contest/moved", *(f"greedy/win_rate{end}" for end in ("", "_low", "_high")))
    for name, words in CLIMBS.items():
        yield LongRun("evolution", name, (), (*words, "seed=1", *games), 0.13, keeps, EVOLUTION_CODE, curve=tags)
