"""Tests of the tests' own lock around compilation."""

from __future__ import annotations

import select
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.compile_once import alone

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(sys.platform == "win32", reason="no locks there")
def test_one_process_at_a_time_and_none_for_ever(tmp_path: Path) -> None:
    """The second gets in once the first is out, or dead; a process gets into its own lock at once."""
    code = (
        "import sys; from pathlib import Path; from tests.support.compile_once import alone\n"
        "print('here', flush=True)\n"
        f"with alone(Path({str(tmp_path / 'lock')!r})):\n  print('in', flush=True); sys.stdin.read()"
    )
    with alone(tmp_path / "lock"), alone(tmp_path / "lock"):
        other = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert other.stdout is not None and other.stdout.readline() == b"here\n"
        assert not select.select([other.stdout], [], [], 0.3)[0]
    assert other.stdout.readline() == b"in\n"
    other.kill()
    other.communicate()
    with alone(tmp_path / "lock"):
        pass
