"""Options that several jobs have."""

from __future__ import annotations

from dataclasses import dataclass

from deepcrib.game.engine import DEALING
from deepcrib.options import one_of, option

TRUST = "files that are read may name code, and files anywhere (docs/security.md)"
"""Help of the option `trust`, which counts for one call: no file can say it, and none keeps it."""


@dataclass
class RulesOptions:
    """Group `rules`: `acc`, the deal alternates after a cut; `random_dealer`, a coin before every hand."""

    name: str = option(
        "acc", "who deals: acc (turns, as in the rules) or random_dealer (a coin for every hand)", one_of(*DEALING)
    )


def torch_device(value: str) -> str | None:
    """A check: a device that PyTorch can use here."""
    if value == "cpu":
        return None
    import torch  # seconds, which those who name no other device do not wait

    try:
        device = torch.device(value)
    except RuntimeError:
        return "expected a PyTorch device such as cpu, cuda or cuda:1"
    if device.type not in ("cpu", "cuda"):
        return "expected cpu or cuda"
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    known = device.type == "cpu" or (device.index or 0) < count
    return None if known else f"expected a device of this machine ({count} GPUs)"
