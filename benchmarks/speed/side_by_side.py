"""Scripts that use the Python interface side by side: python -m benchmarks.speed.side_by_side [--scripts 2].

Each plays matches between two networks, as a user's script does who has heard of no option. Printed are the games a
second of one script alone, of each of several at a time, and that share of its rate alone. With as many scripts as
cores, scripts that share them fairly keep one part in so many each of a rate that used all cores, or all of a rate
that used one.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time

GAMES = 200
"""Of a match: the smallest that people play, whose steps are short."""


def main() -> None:
    """Measure and print one JSON line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scripts", type=int, default=2, help="at a time")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each measurement")
    parser.add_argument("--script", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.script:
        play(arguments.seconds)
        return
    before = rates(1, arguments.seconds)[0]
    together = rates(arguments.scripts, arguments.seconds)
    alone = (before + rates(1, arguments.seconds)[0]) / 2
    print(json.dumps({"alone": alone, "together": together, "shares": [rate / alone for rate in together]}))


def rates(scripts: int, seconds: float) -> list[float]:
    """Games a second of each of so many scripts that begin to play at the same moment."""
    command = [sys.executable, __file__, "--script", "--seconds", str(seconds)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    running = [subprocess.Popen(command, **pipes) for _ in range(scripts)]  # type: ignore[call-overload]
    for process in running:
        assert process.stdout.readline() == "ready\n"
    for process in running:
        process.stdin.write("go\n")
        process.stdin.flush()
    return [float(process.communicate()[0]) for process in running]


def play(seconds: float) -> None:
    """Say that all is compiled, wait for the start, and print the games a second."""
    from deepcrib.agents import make_agent
    from deepcrib.matches import play_match

    agents = [make_agent({"name": "random_weights", "seed": seed}) for seed in (1, 2)]
    play_match(agents, GAMES, 0)
    print("ready", flush=True)
    sys.stdin.readline()
    games, begin = 0, time.perf_counter()
    while (spent := time.perf_counter() - begin) < seconds:
        play_match(agents, GAMES, 1 + games)
        games += GAMES
    print(games / spent)


if __name__ == "__main__":
    main()
