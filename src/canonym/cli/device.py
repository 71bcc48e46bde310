"""``--device``: where the transformers of an index compute, and what searches all vectors."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from canonym.linker import Linker

_KNOWN = ("auto", "cpu", "mps", "cuda")


def _use(ctx: click.Context, _option: click.Parameter, device: str | None) -> str | None:
    """Check that the device is there, and make it the one of encoders opened by this command."""
    from canonym.errors import require
    from canonym.io.devices import CPU, DEVICE, torch_device

    if device is None:
        return None
    is_numbered = device.startswith("cuda:") and device[5:].isdecimal()
    if device not in _KNOWN and not is_numbered:
        raise click.BadParameter(f"{device!r} is none of auto, cpu, cuda, cuda:N and mps.")
    if device not in CPU:
        require("torch", f"--device {device}", "torch")
        torch_device(device)
    # Until the command ends, in this process and in those that it starts.
    ctx.call_on_close(partial(_set, os.environ.get(DEVICE)))
    _set(device)
    return device


def _set(device: str | None) -> None:
    """Let ``"auto"`` stand for a device; None for none in particular."""
    from canonym.io.devices import DEVICE

    os.environ.pop(DEVICE, None)
    if device is not None:
        os.environ[DEVICE] = device


device_option = click.option(
    "--device",
    metavar="DEVICE",
    callback=_use,
    help="Where transformers compute: cpu, cuda, cuda:1 or mps.  [default: a GPU if there is one]",
)


def check_device(
    device: str | None, encoders: Iterable[Any] = (), linker: Linker | None = None
) -> None:
    """Refuse a device that none of the encoders, or of what describes them, would compute on.

    Those of a linker are its own. One with an exact index of dense vectors is searched there in any
    case.
    """
    from canonym.encoders import make_encoder
    from canonym.errors import InvalidInput
    from canonym.io.devices import CPU

    if device is None or device in CPU:
        return
    if linker is not None:
        if any(encoder["index"] in ("exact", "inner") for encoder in linker.manifest["encoders"]):
            return
        encoders = (weighted.encoder for weighted in linker.pipeline.search.encoders)
    opened = [
        make_encoder(encoder) if isinstance(encoder, str) else encoder for encoder in encoders
    ]
    if not any(hasattr(getattr(encoder, "base", encoder), "device") for encoder in opened):
        kinds = ", ".join(dict.fromkeys(type(encoder).__name__ for encoder in opened)) or "none"
        raise InvalidInput(
            f"--device {device} is for transformers and exact indexes, and the encoders here are "
            f"others ({kinds}), which compute on the CPU: leave it out"
        )
