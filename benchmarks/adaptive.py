"""Whom one plays, measured: python -m benchmarks.adaptive FOLDER [--only ROW ...] | --page.

A row is an opponent in duplicate matches of so many games; every agent of a row plays the same deals. FOLDER keeps the
wins and the points of each match, and what is there is not played again; several processes share the rows by --only.
What is small goes to docs/results/data/adaptive.json, and `--page` writes the tables of docs/results/adaptive.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from benchmarks.clones import REPOSITORY
from benchmarks.pages import filled, line
from deepcrib.agents import Agent, make_agent
from deepcrib.agents.packaged import LIBRARY
from deepcrib.files import write_atomic
from deepcrib.files.runs import processor_name
from deepcrib.game.engine import Games
from deepcrib.game.observations import DiscardObservation, PlayObservation
from deepcrib.game.past import PastHands
from deepcrib.intervals import mean_interval, pairs_interval, ratio_interval
from deepcrib.kernels import seconds_running
from deepcrib.matches.games import play_hand
from deepcrib.search.adaptive import AdaptiveAgent

PAGE = REPOSITORY / "docs" / "results" / "adaptive.md"
DATA = REPOSITORY / "docs" / "results" / "data" / "adaptive.json"
SEED = 36
SEEN = (0, 1, 2, 4, 8, 16, 32, 64, 128)
"""Hands seen: bins from each number to the next."""
GROUP = 20  # pairs of matches that are played together
CONTROLS = 60
"""Pairs of matches, at most, of agents that are neither `champion` nor `adaptive`."""


def without(*names: str) -> dict[str, Any]:
    """The agent with a library that lacks some."""
    return {"name": "adaptive", "library": [name for name in LIBRARY if name not in names]}


def known(agent: Any) -> dict[str, Any]:
    """Looks ahead with a fixed model."""
    return {"name": "lookahead", "opponent": agent}


class Changing:
    """Plays as one agent in the first half of a match of ten games, and as another in the second."""

    num_players, name = frozenset({2}), "greedy, then td_perceptron"

    def __init__(self) -> None:
        self._agents = [make_agent("greedy"), make_agent("td_perceptron")]

    def discard(self, observation: DiscardObservation) -> NDArray[np.int8]:
        """[N]."""
        return self._agents[int(observation.game[0]) % 10 >= 5].discard(observation)

    def play(self, observation: PlayObservation) -> NDArray[np.int8]:
        """[N]."""
        return self._agents[int(observation.game[0]) % 10 >= 5].play(observation)


class Uniform(AdaptiveAgent):
    """Believes one of the library at random, decision by decision, whatever it sees."""

    def believed(self, observation: DiscardObservation | PlayObservation) -> NDArray[np.int64]:
        """[N, 2]."""
        models = (observation.key >> np.uint64(7)) % np.uint64(len(self.opponents.models) - 1)
        return np.stack([models, models], axis=1).astype(np.int64)


def uniform() -> Agent:
    """With the library of `adaptive`."""
    agent: Any = make_agent("adaptive")
    return Uniform(agent.agent, rollouts=make_agent("champion_rollouts"), library=agent.opponents.models[1:])


@dataclass(frozen=True)
class Row:
    """An opponent, the agents that meet it on the same deals, games a match, and the pairs of matches, numbered."""

    opponent: Any
    agents: dict[str, Any]
    games: int = 10
    pairs: int = 60
    first: int = 0


BOTH = {"champion": "champion", "adaptive": "adaptive"}
TEMPERATURE = {"name": "champion_networks", "temperature": 0.5}
EPSILON = {"name": "champion_networks", "epsilon": 0.1}
ROWS = {
    "greedy": Row("greedy", BOTH | {"truth": known("greedy"), "wrong": known("td_perceptron")}),
    "deterministic": Row("deterministic", BOTH | {"truth": known("deterministic"), "wrong": known("greedy")}),
    "td_perceptron": Row("td_perceptron", BOTH | {"truth": known("td_perceptron"), "wrong": known("greedy")}),
    "greedy_minimax": Row("greedy_minimax", BOTH),
    "expected_value": Row("expected_value", BOTH | {"truth": known("expected_value")}),
    "quick": Row("quick", BOTH | {"truth": known("quick")}),
    "champion": Row("champion", {"adaptive": "adaptive"}),
    "belanger2019": Row("belanger2019_cnn_lstm", BOTH | {"truth": known("belanger2019_cnn_lstm")}, pairs=120),
    "partida_network": Row("partida_network", BOTH | {"truth": known("partida_network")}),
    "evolutionary": Row("evolutionary", {"champion": "champion", "adaptive": without("evolutionary")}),
    "temperature": Row(TEMPERATURE, BOTH | {"truth": known(TEMPERATURE)}, pairs=240),
    "epsilon": Row(EPSILON, BOTH | {"truth": known(EPSILON)}),
    "greedy, its family unknown": Row(
        "greedy",
        {"champion": "champion", "adaptive": without("greedy", "deterministic", "expected_value", "evolutionary")},
    ),
    "greedy, uniform": Row("greedy", {"champion": "champion", "uniform": uniform}),
    "greedy, other deals": Row("greedy", BOTH, pairs=120, first=1000),
    "deterministic, other deals": Row("deterministic", BOTH, pairs=120, first=1000),
    "changing": Row(Changing, BOTH),
    "greedy, 1 game": Row("greedy", BOTH, 1, 600),
    "deterministic, 1 game": Row("deterministic", BOTH, 1, 600),
    "td_perceptron, 1 game": Row("td_perceptron", BOTH, 1, 600),
    "greedy, 30 games": Row("greedy", BOTH, 30, 20),
    "deterministic, 30 games": Row("deterministic", BOTH, 30, 20),
    "td_perceptron, 30 games": Row("td_perceptron", BOTH, 30, 20),
}


def main(words: Sequence[str] | None = None) -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="where wins and points are kept")
    rows = f"by default all: {', '.join(ROWS)}"
    parser.add_argument("--only", nargs="+", choices=tuple(ROWS), default=tuple(ROWS), metavar="ROW", help=rows)
    parser.add_argument("--agents", nargs="+", metavar="NAME", help="of each row these alone; by default all")
    parser.add_argument("--page", action="store_true", help="write the tables from what is kept")
    options = parser.parse_args(words)
    if options.folder:
        for name in options.only:
            measure(options.folder, name, options.agents)
    if options.page:
        write_page()


# --- measuring ----------------------------------------------------------------------------------------------------


def made(spec: Any) -> Agent:
    """An agent of a spec, or of what makes one."""
    agent: Agent = spec() if callable(spec) else make_agent(spec)
    return agent


def measure(folder: Path, name: str, agents: Sequence[str] | None) -> None:
    """Play what is missing of a row, or of some agents in it, and keep its figures."""
    row, found = ROWS[name], {}
    folder.mkdir(parents=True, exist_ok=True)
    for label in row.agents if agents is None else [label for label in row.agents if label in agents]:
        spec = row.agents[label]
        part = row if label in BOTH else replace(row, pairs=min(row.pairs, CONTROLS))
        found[label] = played(folder / f"{name}-{label}", part, spec)
    figures = {label: figures_of(row, arrays, found.get("champion")) for label, arrays in found.items()}
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    about = {"games_per_match": row.games, "commit": commit.stdout.strip(), "processor": processor_name()}
    with FileLock(folder / "lock"):
        kept = json.loads(DATA.read_text()) if DATA.exists() else {}
        rows = kept | {name: {**about, "agents": figures}}
        lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(rows[key])}" for key in ROWS if key in rows)
        write_atomic(DATA, f"{{\n{lines}\n}}\n")


def played(path: Path, row: Row, spec: Any) -> dict[str, NDArray[Any]]:
    """won [U, 2, G] by pair of matches, match and game; margin, hands [U, B] by hands seen; seconds [groups]."""
    agents, groups = [made(spec), made(row.opponent)], []
    size = GROUP * max(1, 10 // row.games)
    end = row.first + row.pairs
    for first in range(row.first, end, size):
        file = path.with_name(f"{path.name}-{first}.npz")
        if not file.exists():
            arrays = played_group(agents, np.arange(first, min(first + size, end)), row.games)
            np.savez(file.with_suffix(".part.npz"), **arrays)
            file.with_suffix(".part.npz").rename(file)
        groups.append(dict(np.load(file)))
        done, wins = sum(len(group["won"]) for group in groups), np.concatenate([group["won"] for group in groups])
        print(f"{path.name}: {done} pairs of matches, {100 * wins.mean():.1f}%", flush=True)
    return {name: np.concatenate([group[name] for group in groups]) for name in groups[0]}


def played_group(agents: Sequence[Agent], pairs: NDArray[np.int64], games: int) -> dict[str, NDArray[Any]]:
    """Two matches a pair on the same deals, the agent at seat 0 of one and at seat 1 of the other."""
    matches, start = 2 * len(pairs), seconds_running()
    past, seats = PastHands(matches), np.arange(matches) % 2
    seating = (np.arange(2) + seats[:, None]) % 2
    won = np.empty((matches, games), dtype=np.int8)
    for game in range(games):
        deals = np.repeat(pairs, 2) * games + game
        table = Games(deals, SEED, first_dealer=deals % 2, past=past)
        while len(table.unfinished):
            play_hand(table, agents, seating)
        won[:, game] = table.winner == seats
        past.next_game()
    return {"won": won.reshape(-1, 2, games), **margins(past, seats), "seconds": np.array([seconds_running() - start])}


def margins(past: PastHands, seats: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """margin, hands [U, B]: points, own minus the opponent's, and hands, by hands seen before; last hands left out."""
    margin, hands = np.zeros((2, len(seats), len(SEEN)))
    for match, seat in enumerate(seats):
        records = past.records[match, : past.lengths[match]]
        follows = np.flatnonzero(np.diff(records["game"]) == 0)
        gained = np.diff(records["scores"].astype(np.int64), axis=0)[follows]
        bins = np.searchsorted(SEEN, follows, side="right") - 1
        np.add.at(margin[match], bins, gained[:, seat] - gained[:, 1 - seat])
        np.add.at(hands[match], bins, 1)
    return {name: array.reshape(-1, 2, len(SEEN)).sum(axis=1) for name, array in (("margin", margin), ("hands", hands))}


def figures_of(row: Row, arrays: dict[str, NDArray[Any]], champion: dict[str, NDArray[Any]] | None) -> dict[str, Any]:
    """Win rate, the difference to the champion on the same deals, both by game and by hands seen, with intervals."""
    won, seen = arrays["won"].mean(axis=1), arrays["hands"].sum(axis=0) > 0
    found: dict[str, Any] = {
        "games": int(arrays["won"].size),
        "seconds": round(float(arrays["seconds"].sum()), 1),
        "win_rate": pairs_interval(won.mean(axis=1)),
        "by_game": won.mean(axis=0).round(4).tolist(),
        "margin": [
            ratio_interval(m, n) for m, n in zip(arrays["margin"].T[seen], arrays["hands"].T[seen], strict=True)
        ],
    }
    if champion is not None and champion is not arrays:
        champion = {key: array[: len(won)] for key, array in champion.items()}
        found["gain"] = mean_interval(won.mean(axis=1) - champion["won"].mean(axis=(1, 2)))
        found["margin_gain"] = [
            mean_interval(ratios(arrays, place) - ratios(champion, place)) for place in np.flatnonzero(seen)
        ]
    return found


def ratios(arrays: dict[str, NDArray[Any]], place: int) -> NDArray[np.float64]:
    """[U] points a hand of a bin in each pair of matches, 0 where no hand is of it."""
    ratio: NDArray[np.float64] = arrays["margin"][:, place] / np.maximum(arrays["hands"][:, place], 1)
    return ratio


# --- the page -----------------------------------------------------------------------------------------------------


def write_page() -> None:
    """Fill the tables of the page."""
    rows = json.loads(DATA.read_text())
    tables = {"agents": agents_table(rows), "games": games_table(rows), "hands": hands_table(rows)}
    write_atomic(PAGE, filled(PAGE.read_text(), tables))


def percent(found: Sequence[float]) -> str:
    """A share with its interval."""
    return f"{100 * found[0]:.1f}% [{100 * found[1]:.1f}, {100 * found[2]:.1f}]"


def gain(found: Sequence[float] | None, unit: float = 100, form: str = "+.1f") -> str:
    """A difference with its interval."""
    return "" if found is None else "{} [{}, {}]".format(*(format(unit * value, form) for value in found))


def agents_table(rows: dict[str, Any]) -> str:
    """Win rates of every row, agent by agent."""
    lines = [
        line("against", "agent", "win rate [95%]", "more than champion", "games", "seconds a game"),
        "|---|---|--:|--:|--:|--:|",
    ]
    for name, row in rows.items():
        for label, found in row["agents"].items():
            rate = found["seconds"] / found["games"]
            cells = percent(found["win_rate"]), gain(found.get("gain")), f"{found['games']:,}", f"{rate:.2f}"
            lines.append(line(name, label, *cells))
    return "\n".join(lines)


def games_table(rows: dict[str, Any]) -> str:
    """Win rates by the number of the game in a match of ten."""
    lines = [line("against", "agent", *range(1, 11)), "|---|---|" + "--:|" * 10]
    for name, row in rows.items():
        if row["games_per_match"] == 10:
            for label in ("champion", "adaptive"):
                if label in row["agents"]:
                    shares = row["agents"][label]["by_game"]
                    lines.append(line(name, label, *(f"{100 * share:.0f}" for share in shares)))
    return "\n".join(lines)


def hands_table(rows: dict[str, Any]) -> str:
    """Points a hand more than the champion, by hands seen."""
    lines = [line("against", *(f"{low}" for low in SEEN)), "|---|" + "--:|" * len(SEEN)]
    for name, row in rows.items():
        found = row["agents"].get("adaptive", {}).get("margin_gain")
        if found:
            cells = [gain(one, 1, "+.2f") for one in found]
            lines.append(line(name, *cells, *[""] * (len(SEEN) - len(cells))))
    return "\n".join(lines)


if __name__ == "__main__":
    main()
