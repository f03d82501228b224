"""Metrics as plain values."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any


class Metrics:
    """What a dataclass of metrics inherits."""

    def to_dict(self) -> dict[str, Any]:
        """All metrics as plain values, for `summary.json`."""
        return asdict(self)  # type: ignore[call-overload]
