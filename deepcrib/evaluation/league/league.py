"""A league: every agent against every other one on duplicate deals, a pairing a file, so that it can be resumed.

A pairing's games follow from the seed and the two names, as in a round robin, whoever else takes part. It is played in
parts, and after each the sums over its games are written; an interrupted league resumes with identical results.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from deepcrib.agents import Agent
from deepcrib.agents.command import command_hash
from deepcrib.agents.outside import file_of
from deepcrib.agents.packaged import packaged_weights
from deepcrib.agents.specs.registry import BUILDERS
from deepcrib.agents.specs.travel import spec_of_file
from deepcrib.errors import OptionError, RunError
from deepcrib.evaluation.evaluate import check_games
from deepcrib.evaluation.league.pair_sums import Sums, sum_up
from deepcrib.evaluation.league.tournament import pairing_seed
from deepcrib.exact.strategies.names import STRATEGIES
from deepcrib.files.runs import read_json, write_json
from deepcrib.files.trust import FromFile
from deepcrib.files.weights import CheckpointError, read_weights, weights_path
from deepcrib.kernels import seconds_running
from deepcrib.kernels.sources import source_hash
from deepcrib.matches import Progress, play_match
from deepcrib.plugins import is_place

PAIRINGS = "pairings"
"""Folder of a league's run that holds a file a pairing."""
LEAST_GAMES = 4
"""Two pairs: of one alone nothing is known of the error."""
_PARTS, _CYCLE = 8, 4  # a pairing is written so many times; seats and first deals repeat every so many games


MEMBERS: dict[str, int | None] = {
    "random": None,
    "deterministic": None,
    "greedy": None,
    "expected_value": None,
    "expected_value_pegging": None,
    "minimax": 2000,
    "greedy_minimax": 2000,
    "champion": 1000,
    "random_weights": None,
    **dict.fromkeys(STRATEGIES),
}
"""Every agent of the package that a name tells, weights that come with it apart: a new one is a line here.

With it at most so many games a pairing, for one that takes long to choose. A best response is one to some opponent, and
`adaptive` learns in matches of several games: `agents=[...]` takes them like any other agent.
"""


def all_members() -> list[str]:
    """MEMBERS, and the weights that come with the package."""
    return [*MEMBERS, *packaged_weights()]


# --- pairings ---------------------------------------------------------------------------------------------------


@dataclass
class Pairing:
    """The match between two agents: `terms`, which decide its games, and what they came to.

    terms: a, b (names), specs of the two, games, seed (of the league), dealing, and the hash of the sources that decide
    them.
    """

    terms: dict[str, Any]
    sums: Sums = field(default_factory=Sums)
    seconds: float = 0.0

    @property
    def names(self) -> tuple[str, str]:
        """A and B."""
        return self.terms["a"], self.terms["b"]

    @property
    def complete(self) -> bool:
        """Whether all of its games have been played."""
        return self.sums.games == self.terms["games"]

    def to_dict(self) -> dict[str, Any]:
        """As plain values: what its file holds, and metrics for the reader."""
        plain = {"terms": self.terms, "complete": self.complete, "seconds": self.seconds, "sums": asdict(self.sums)}
        return plain | ({"win_rate": self.sums.win_rate, "gain": self.sums.gain} if self.sums.games else {})


# --- what is to be played ---------------------------------------------------------------------------------------


def plan_pairings(
    specs: Mapping[str, Any],
    games: int,
    seed: int,
    *,
    limits: Mapping[str, int] | None = None,
    dealing: str = "acc",
    games_per_match: int = 1,
    device: str = "cpu",
) -> list[Pairing]:
    """All pairings of agents, specs by name, with nothing played yet; limits: by name, at most so many games a pairing.

    games_per_match: games of which agents may remember what they saw; a limit counts whole pairs of matches. Raises
    OptionError for counts that cannot be played in pairs, or fewer than two agents.
    """
    if len(specs) < 2:
        raise OptionError(f"agents={list(specs)}: expected two or more agents")
    limits = limits or {}
    for count in (games, *limits.values()):
        check_games(count, True, games_per_match)
        if count < LEAST_GAMES:
            raise OptionError(f"games={count}: expected at least {LEAST_GAMES} in a pairing of a league")
    known = {name: identity(spec) for name, spec in specs.items()}
    sources = source_hash(Path(__file__).resolve())
    return [
        Pairing(
            {
                "a": a,
                "b": b,
                "agents": [known[a], known[b]],
                "games": min(games, limits.get(a, games), limits.get(b, games)),
                "games_per_match": games_per_match,
                "seed": seed,
                "dealing": dealing,
                "device": device,
                "sources": sources,
            }
        )
        for a, b in combinations(sorted(specs), 2)
    ]


def identity(spec: Any) -> Any:
    """A spec as plain JSON values, with the SHA-256 of every file of weights that it names.

    And of those that the agent in such a file names for the part of its decisions that it did not learn. An agent from
    outside the package has the hash of its module, and of what that imports from its own package; a command that of its
    files.
    """
    if isinstance(spec, FromFile):
        spec = spec_of_file(spec)
    if isinstance(spec, Mapping):
        own = _own_weights(spec.get("name"))
        kept = {"name"} if own else set()
        if spec.get("name", "command") == "command" and "command" in spec:
            own, kept = {"sha256": command_hash(spec["command"])}, {"name", "command"}
        return own | {str(key): value if key in kept else identity(value) for key, value in spec.items()}
    if isinstance(spec, list | tuple):
        return [identity(value) for value in spec]
    if not isinstance(spec, str) or spec in BUILDERS:
        own = _own_weights(spec)
        return {"name": spec} | own if own else json.loads(json.dumps(spec))
    if is_place(spec) and (places := file_of(spec)):
        return {"module": spec, "sha256": source_hash(*places)}
    path = packaged_weights().get(spec, Path(spec))
    try:
        file = weights_path(path)
        found = {"weights": spec, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    except (CheckpointError, OSError):  # no file: a word
        return spec
    with contextlib.suppress(CheckpointError):  # no checkpoint: another error will say so
        if said := read_weights(file).discards_by:
            found["discards_by"] = identity(said)
    return found


def _own_weights(name: Any) -> dict[str, Any]:
    """The identities of the packaged weights by which a named agent plays unless it is told others."""
    agents = BUILDERS[name].agents if isinstance(name, str) and name in BUILDERS else {}
    return {
        option: identity(agent)
        for option, agent in agents.items()
        if isinstance(agent, tuple) or agent in packaged_weights()
    }


def reopen(pairing: Pairing, folder: Path) -> Pairing:
    """The pairing as far as an earlier league in this folder played it.

    Raises RunError where its file is damaged, or is of other games.
    """
    path = pairing_file(folder, pairing)
    if not path.exists():
        return pairing
    saved = read_json(path)
    try:
        terms = dict(saved["terms"])
        sums = Sums(**{name: int(value) for name, value in saved["sums"].items()})
        seconds = float(saved["seconds"])
        whole = sums.games == 2 * pairing.terms["games_per_match"] * sums.pairs
        if not (whole and 0 <= sums.wins <= sums.games <= pairing.terms["games"]):
            raise ValueError
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError):
        raise RunError(f"{path} is damaged: remove it, and its games are played again") from None
    for name, expected in pairing.terms.items():
        if terms.get(name) != expected:
            what = "code" if name == "sources" else f"{name}={_short(terms.get(name))}, not {_short(expected)}"
            raise RunError(f"{path} was played with other {what}: start a league in another folder, or remove the file")
    return Pairing(pairing.terms, sums, seconds)


def pairing_file(folder: Path, pairing: Pairing) -> Path:
    """Where a pairing is kept in a league's run folder."""
    return folder / PAIRINGS / f"{file_name('--'.join(pairing.names))}.json"


def file_name(text: str) -> str:
    """The names of agents as that of a file; those that no file can have get a hash."""
    plain = re.sub(r"[^\w.()-]+", "_", text)
    return plain if plain == text else f"{plain[-80:]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


# --- playing ----------------------------------------------------------------------------------------------------


def play_pairing(pairing: Pairing, agents: Mapping[str, Agent], folder: Path, progress: Progress | None = None) -> None:
    """Play what is missing of a pairing and write it after every part; `progress` gets the games of each."""
    path = pairing_file(folder, pairing)
    path.parent.mkdir(parents=True, exist_ok=True)
    players = [agents[name] for name in pairing.names]
    games, seed = pairing.terms["games"], pairing_seed(pairing.terms["seed"], *pairing.names)
    together = pairing.terms["games_per_match"]
    cycle = _CYCLE * together
    size = max(cycle, games // _PARTS // cycle * cycle)
    while not pairing.complete:
        first, start = pairing.sums.games, seconds_running()
        count = min(size, games - first)
        dealing = pairing.terms["dealing"]
        how: dict[str, Any] = {"dealing": dealing, "games_per_match": together, "first_game": first // 2}
        pairing.sums.add(sum_up(play_match(players, count, seed, duplicate=True, **how), together))
        pairing.seconds += seconds_running() - start
        write_json(path, pairing.to_dict())
        if progress is not None:
            progress(count)
