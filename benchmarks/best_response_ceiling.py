"""What is left above the best response to greedy: python benchmarks/best_response_ceiling.py [--deals 2000] [--seed 7].

Upper bounds of the points a hand that any player could gain beyond it (`deepcrib.evaluation.ceiling`).
"""

from __future__ import annotations

import argparse
import time

from deepcrib.evaluation.ceiling import ceiling


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--deals", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    start, done = time.perf_counter(), 0

    def progress(deals: int) -> None:
        nonlocal done
        done += deals
        print(f"\r{done} of {arguments.deals} deals", end="", flush=True)

    found = ceiling(arguments.deals, arguments.seed, progress)
    print(f"\n{found.deals} deals, {time.perf_counter() - start:,.0f} s; points a hand at most above the best response")
    for name, interval in (("by ranks", found.by_ranks), ("with sight", found.with_sight)):
        print(f"{name:10} {interval.estimate:.4f} [{interval.low:.4f}, {interval.high:.4f}]")


if __name__ == "__main__":
    main()
