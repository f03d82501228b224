"""Draw the learning curve of the README: python benchmarks/learning_curve.py RUN_FOLDER... (one a seed)."""

import sys
from pathlib import Path

from deepcrib.analysis.curves import learning_curves

TARGET = Path(__file__).parents[1] / "docs" / "learning_curve.png"

if __name__ == "__main__":
    runs = sys.argv[1:]
    tags = ["deterministic/win_rate", "greedy/win_rate"]
    title = f"experiment=quick: mean and range of {len(runs)} seeds"
    learning_curves(runs, tags, title, x_tag="progress/hands", log=True).savefig(TARGET, dpi=110)
    print(TARGET)
