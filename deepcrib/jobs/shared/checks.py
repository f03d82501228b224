"""What jobs alone check of an option's value."""

from __future__ import annotations


def torch_device(value: str) -> str | None:
    """A device that PyTorch can use here."""
    if value == "cpu":
        return None
    import torch  # seconds, which those who name no other device do not wait

    try:
        device = torch.device(value)
    except RuntimeError:
        return "expected a PyTorch device such as cpu, cuda or cuda:1"
    if device.type == "cpu":
        return None
    if device.type != "cuda":
        return "expected cpu or cuda"
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return None if (device.index or 0) < count else f"expected a device of this machine ({count} GPUs)"
