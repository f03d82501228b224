"""What a fresh interpreter imports."""

from __future__ import annotations

import json
import subprocess
import sys

HEAVY = ("numba", "scipy", "torch", "tensorboard", "matplotlib", "textual", "hydra")


def modules_after(code: str) -> set[str]:
    """Modules that a fresh interpreter holds once it has run some lines."""
    lines = f"{code}\nimport json, sys\nprint(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))
