"""The queue's runs of Partida 2022: its network, and its search."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.long_run import LongRun

NETWORK_CODE = "346428dd132a71fa2dae5f695d633a40f6446d94"
"""Of docs/results/partida_network.md."""
SEARCH_CODE = "8236c4f96164ba6329f0172195f9af75ef031590"
"""Of docs/results/search.md."""
NETWORKS = {
    "paper_12": (5, ("experiment=partida2022", "evaluation.final_games=4000")),
    "paper_16": (5, ("experiment=partida2022", "learner.inputs=16", "evaluation.opponents=[]")),
    "tuned_12": (3, ("experiment=partida2022_tuned", "evaluation.final_games=6667")),
}
"""By setup: how many seeds, and its words."""


def network() -> Iterator[LongRun]:
    """Figure 5 of Partida 2022, and the same units trained otherwise; 20,000 games against greedy in all a setup."""
    for name, (seeds, words) in NETWORKS.items():
        for seed in range(1, seeds + 1):
            options, keeps = (*words, f"seed={seed}"), ("greedy.", "play_only.")
            curve = ("play_only/difference",)
            yield LongRun("partida_network", f"{name}_{seed}", (), options, 0.006, keeps, NETWORK_CODE, curve=curve)


def search() -> Iterator[LongRun]:
    """Search by what the paper may do otherwise, its rows in the play alone, and full games."""
    keeps = ("difference.", "rows.", "compared.", "matches.")
    for group, script, words, hours in (
        ("causes", "partida2022_causes.py", (), 0.05),
        ("rows", "partida2022.py", ("rows",), 0.2),
        ("games", "partida2022.py", ("games",), 0.35),
    ):
        yield LongRun(f"partida_{group}", "all", (), words, hours, keeps, SEARCH_CODE, script=script)
