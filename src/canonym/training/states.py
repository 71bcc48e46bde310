"""Weights and optimizer states as plain arrays, and back into the torch objects."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from canonym.errors import Mismatch, ReadError
from canonym.types import Encoder

__all__ = [
    "all_finite",
    "encoder_digest",
    "module_arrays",
    "module_digest",
    "optimizer_arrays",
    "restore_module",
    "restore_optimizer",
]

Arrays = Mapping[str, np.ndarray[Any, Any]]


def module_arrays(module: Any) -> dict[str, np.ndarray[Any, Any]]:
    """Return a copy of every weight and buffer of a torch module, by name."""
    return {
        name: tensor.detach().cpu().numpy().copy() for name, tensor in module.state_dict().items()
    }


def module_digest(module: Any) -> str:
    """Hash the weights of a torch module with SHA-256 and return the digest in hexadecimal."""
    digest = hashlib.sha256()
    for name, tensor in sorted(module.state_dict().items()):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(tensor.detach().cpu().numpy()).view(np.uint8).data)
    return digest.hexdigest()


def encoder_digest(encoder: Encoder) -> str:
    """Return the SHA-256 of an encoder's settings: those of ours tell the digests of its files."""
    settings = getattr(encoder, "settings", {})
    return hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode()).hexdigest()


def all_finite(module: Any) -> bool:
    """Say whether no weight of a torch module is NaN or infinite."""
    import torch

    return all(bool(torch.isfinite(p).all()) for p in module.parameters())


def restore_module(module: Any, arrays: Arrays, *, source: Path) -> None:
    """Put weights back.

    Raises
    ------
    Mismatch
        If a weight is missing, unknown or of another shape; nothing is changed then.
    """
    import torch

    own = module.state_dict()
    for name in sorted({*own, *arrays}):
        there = tuple(arrays[name].shape) if name in arrays else "nothing"
        here = tuple(own[name].shape) if name in own else "nothing"
        if there != here:
            raise Mismatch(
                f"{source}: {name} has shape {there} there and {here} here; the encoder or what is "
                "trained besides it is another one: train anew in another folder"
            )
    with torch.no_grad():
        for name, tensor in own.items():
            tensor.copy_(torch.from_numpy(np.array(arrays[name])))


def optimizer_arrays(optimizer: Any) -> dict[str, np.ndarray[Any, Any]]:
    """Return what an optimizer remembers of each weight: ``"12.exp_avg"`` and the like."""
    import torch

    return {
        f"{number}.{name}": torch.as_tensor(value).detach().cpu().numpy().copy()
        for number, entry in optimizer.state_dict()["state"].items()
        for name, value in entry.items()
    }


def restore_optimizer(optimizer: Any, arrays: Arrays, *, source: Path) -> None:
    """Put back what an optimizer remembers; its groups stay as they are.

    Raises
    ------
    ReadError
        If an entry belongs to no weight.
    """
    import torch

    state: dict[int, dict[str, Any]] = {}
    try:
        for key, array in arrays.items():
            number, _, name = key.partition(".")
            # A copy, and one that numpy does not own: the optimizer writes to it.
            state.setdefault(int(number), {})[name] = torch.from_numpy(np.array(array)).clone()
        optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
    except (ValueError, KeyError, IndexError, RuntimeError) as error:
        raise ReadError(
            source, f"the state of the optimizer is damaged ({error}); train anew"
        ) from error
