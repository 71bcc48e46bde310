"""Torch devices by their names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from canonym.errors import InvalidInput

if TYPE_CHECKING:
    import torch

DEVICE = "CANONYM_DEVICE"
"""Variable of the environment: the device that ``"auto"`` stands for, if it is set."""

CPU = ("auto", "cpu")
"""Names of no other device than the CPU, for what is no transformer."""


def torch_device(name: str) -> torch.device:
    """Return a device by its name; for ``"auto"`` that of `DEVICE`, or the best one."""
    import torch

    if name == "auto":
        name = os.environ.get(DEVICE) or "auto"
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise InvalidInput(
            f"device={name!r} cannot be used here ({str(error).splitlines()[0]}); try 'cpu'"
        ) from error
    return device


def named_device() -> str | None:
    """Return the device that `DEVICE` names, unless that may be the CPU."""
    name = os.environ.get(DEVICE) or "auto"
    return None if name in CPU else name
